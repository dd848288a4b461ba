// SPDX-License-Identifier: Apache-2.0
// Statements of provenance as documents for people and programs: a part of explain.h, and what `wheelcache provenance
// show` prints. Any thread.
#pragma once

#include "lib/domain/wheel/provenance.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog-row.h"

// The caller frees the document:
//	{"predicate": type, "build_type"?, "builder"?, "invocation"?, "started"?, "finished"?,
//	 "rows"? (if has_rows): [{"kind": "builder"|"dependency"|"tool"|"machine"|"parameter", "component", "version"?,
//	     "source"?, "digest"?, "path"?, "how"?, "options"?}, …],
//	 "cut"?: true (further rows exceed a limit)}
struct jsondoc *explain_provenance(const struct provenance *p, bool has_rows);
// Puts "provenance" into row, the document of its statement, and "attestations": true, if the file has them. *bytes: how
// much was read so far, with this; many long statements of one project are not all read. Errors of catalog.h.
int explain_provenance_put(struct catalog *c, const struct catalog_history *file, bool has_rows, size_t *bytes,
	struct jsondoc *row, struct err *e) MUST_CHECK;
// Appends the document to out as text for a terminal. indent: before each line. Control bytes stay.
void explain_provenance_text(const struct jsondoc *provenance, const char *indent, struct buf *out);
