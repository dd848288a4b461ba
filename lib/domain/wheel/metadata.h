// SPDX-License-Identifier: Apache-2.0
// Parses the fields of METADATA or PKG-INFO that an index needs (core metadata; PEP 241 to 808). Pure functions; any
// thread.
#pragma once

#include "lib/base/buf.h"
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

// The licence that METADATA or PKG-INFO names (PEP 639): License-Expression, else the first line of License, else the
// last classifier of a licence, without "License :: "; at most 200 bytes. A slice of the text; empty: there is none.
struct str metadata_licence(struct str text);

// The description of a project in METADATA or PKG-INFO (core metadata; PEP 566, 643): the text for people and its type.
// The bytes come from the catalog (catalog_metadata()), which has them of each listed file, so that a page with the
// description opens no file of a platform. Pure functions; any thread.

// Appends the text to out: the body, or else the field Description without the indentation of its lines. The slice is
// what Description-Content-Type says, as it is spelled, and empty without one; it lasts as long as metadata. Nothing is
// appended if there is no description, or if it is "UNKNOWN", which old tools write for none. The
// ceiling of out is LIMIT_METADATA, which no text exceeds.
struct str description_take(struct str metadata, struct buf *out);
