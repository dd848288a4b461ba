// SPDX-License-Identifier: Apache-2.0
// A record of a test run: which wheels were tested where, and how many tests passed. The wheels are named by SHA-256,
// so that the record says nothing of other bytes, and clocks need not agree. It says nothing of the same bytes as a
// file of another project than that of their file name here. As JSON:
//
//   {"kind": "integration", "platform", "python": "3.12", "made": time, "passed", "failed", "skipped",
//    "failures": [{"name", "message"}], "wheels": [{"filename", "sha256", "content_sha256"?, "commit"?}]}
//
// or, instead of the numbers and failures, "override": reason, in the record of a person who promotes without tests.
// content_sha256 is the digest of what is installed (installed_content_digest()), which builds of equal contents share.
// commit is the one from which the wheel was built, by its provenance. Each is left out where it is not known.
// Pure functions; any thread; any thread may read a record.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/promotion/junit.h"
#include "lib/format/digest.h"
#include "lib/format/jsonmap.h"

struct evidence_wheel {
	const char *filename;
	uint8_t sha256[SHA256_SIZE];
	bool has_content;
	uint8_t content[SHA256_SIZE]; // of its members
	const char *commit;           // provenance_commit(); NULL: not known
};

// Strings and arrays are borrowed: from the caller who makes a record, or from `text` after evidence_read().
struct evidence {
	const char *kind;      // evidence_kind_is_valid()
	const char *platform;  // the cell
	const char *python;    // "3.12", "3.13t", "pp310"
	int64_t made;          // seconds since 1970, by the clock of the machine that tested
	const char *overrides; // the reason of an override; NULL: a test run
	uint64_t passed, failed, skipped;
	const struct junit_failure *failure;
	size_t failures;
	const struct evidence_wheel *wheel;
	size_t wheels;
	struct arena text;
};

// Lower-case letters, digits and single dashes between them, at most LIMIT_EVIDENCE_KIND bytes.
bool evidence_kind_is_valid(struct str kind);
// A Python as evidence and cells name it: the one spelling that python_print() has, so that equal text is the same
// Python.
bool evidence_python_is_valid(struct str python);

// Reads a record. ERR_INVALID names the value that is absent or wrong; ERR_LIMIT: more than LIMIT_EVIDENCE bytes or
// LIMIT_EVIDENCE_WHEELS wheels. The caller releases *out if this returns 0.
int evidence_read(struct str json, struct evidence *out, struct err *e) MUST_CHECK;
// The same of a document that was read.
int evidence_read_json(const struct jsondoc *doc, struct evidence *out, struct err *e) MUST_CHECK;
void evidence_release(struct evidence *r); // for CLEANUP
// The order in which records count that come at once: the older one first, so that the newer one has the last word. Of
// those of one second the better one comes first: a clock must not hide failed tests. For qsort().
int evidence_compare(const void *a, const void *b);
typedef int evidence_record_fn(void *ctx, struct evidence *record, struct err *e);
// Calls fn for the record of a text, or for each of a text with one in each line. fn may take the record over, and then
// makes *record empty. An error of fn, or of evidence_read(), ends it; what fn was called for stays done.
int evidence_read_each(struct str text, evidence_record_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Appends the record in its only form: sorted by key, wheels by file name. Its SHA-256 identifies the record.
void evidence_write(const struct evidence *r, struct buf *out);
