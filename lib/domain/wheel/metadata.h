// SPDX-License-Identifier: Apache-2.0
// The facts of METADATA or PKG-INFO that an index needs (core metadata; PEP 241 to 808). Pure;
// thread-safe.
#pragma once

#include "lib/domain/text/findings.h"

// Slices of the text, empty where the field is absent.
struct metadata {
	struct str metadata_version;
	struct str name;
	struct str version;
	struct str requires_python; // as it is spelled
};

// ERR_INVALID where Metadata-Version's major is unknown, or Name or Version is missing or, under
// STRICT, there twice. Says nothing about the fashion of the rest: PyPI took much that validators
// refuse.
int metadata_parse(struct str text, enum strictness strictness, struct findings *findings, struct metadata *out,
	struct err *e) MUST_CHECK;
