// SPDX-License-Identifier: Apache-2.0
// What POST /-/promote/VIEW is sent, as JSON. All keys may be missing; without `select` all files of the source are
// meant, so an empty array is refused:
//
//   {"select": [PROJECT, PROJECT==VERSION or a file name], "from": a view, "evidence": [records], "reason", "override",
//    "all_or_nothing", "newest", "dry_run"}
//
// Pure; one thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/format/jsondoc.h"
#include "promoter/promote.h"

extern const char *const promote_document_keys[]; // NULL at the end

// Owns what `request` points to; its fields for the sender are the caller's.
struct promote_document {
	struct jsondoc *json; // strings are borrowed from it
	struct arena arena;
	struct evidence *evidence;
	size_t *bytes; // of each record
	struct promote_request request;
};

// ERR_INVALID names the value that is wrong; ERR_LIMIT: more than LIMIT_PROMOTE_SELECTS words or LIMIT_PROMOTE_EVIDENCE
// records. The caller releases *out, also on an error.
int promote_document_read(struct str text, struct promote_document *out, struct err *e) MUST_CHECK;
// For how many records of evidence a promotion counts. refused: 0 before it is decided; else the files that were
// refused, and the number is what it counts beside that.
unsigned promote_document_tries(size_t refused);
void promote_document_release(struct promote_document *d); // for CLEANUP
