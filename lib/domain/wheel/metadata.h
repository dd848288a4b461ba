// SPDX-License-Identifier: Apache-2.0
// Parses the fields of METADATA or PKG-INFO that an index needs (core metadata; PEP 241 to 808). Pure functions; any
// thread.
#pragma once

#include "lib/domain/text/findings.h"

// Slices of the text; empty: the field is absent.
struct metadata {
	struct str metadata_version;
	struct str name;
	struct str version;
	struct str requires_python; // as it is spelled
};

// ERR_INVALID if the major of Metadata-Version is unknown, if Name or Version is missing or, under STRICT, if a field
// occurs twice. Nothing else is validated: PyPI has accepted many files that validators reject.
int metadata_parse(struct str text, enum strictness strictness, struct findings *findings, struct metadata *out,
	struct err *e) MUST_CHECK;
