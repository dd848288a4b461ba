// SPDX-License-Identifier: Apache-2.0
// The plan file: the verdicts of "prune plan" for every file of the store, for people to review and for "prune apply".
// It is one JSON object with the files last, one per line: to leave a file out, delete its line. Entries are written as
// they are decided, so that a plan of any size needs little memory. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

enum { PLANFILE_VERSION = 1, PLANFILE_ID = sizeof("20261121T204500Z-0123ab") };

// The file of upstream that pip would take in one environment ("3.11", "3.13t").
struct planfile_cover {
	const char *environment, *filename;
};

// Upstream's replacement: its file for the first environment. filename NULL: none.
struct planfile_evidence {
	const char *filename, *url, *index; // index: the URL of the index that lists it
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	bool is_identical; // it has the same bytes as ours
	int64_t uploaded;  // seconds since 1970; 0: unknown
	int64_t fetched;   // when upstream last confirmed its page
	const char *etag;  // of that page; NULL: none
	const struct planfile_cover *cover;
	size_t covers;
};

// A file of the store. A name that is in several folders of a platform has an entry for each.
struct planfile_entry {
	const char *platform, *filename;
	const char *path;              // below the platform
	const char *project, *version; // NULL: unknown, of a corrupt file
	const char *requires_python;   // NULL: none. Not written to the file
	uint64_t size;
	int64_t mtime_ns;
	bool has_sha256; // false: it was refused before it was hashed
	uint8_t sha256[SHA256_SIZE];
	const char *verdict; // "duplicate" … "keep"
	bool removes;
	const char *why;    // the code of the reason to keep it ("too-young"); NULL: it is removed
	const char *reason; // in words
	struct planfile_evidence evidence;
};

struct planfile_platform {
	const char *name;
	uint64_t files, bytes; // of all entries
};

struct planfile_failure {
	const char *project, *result, *why; // result: "timeout", "429" …
};

// The files of a platform with the same verdict and why.
struct planfile_total {
	const char *platform, *verdict, *why; // why: as in an entry
	bool removes;
	uint64_t files, bytes;
};

// A view whose clients would lose something, and how much.
struct planfile_view {
	const char *view;
	uint64_t projects, versions; // versions: also those that no longer install in some environment
	const char *first;           // "flask 3.0.0"
};

// All but the files. The strings are borrowed: for writing from the caller, after reading from struct planfile.
struct planfile_head {
	const char *id; // of the run, also in tombstones: "<time>-<6 hex>"
	int64_t made;   // seconds since 1970
	const char *store;
	int64_t change;            // the catalog's newest change when it was read
	const char *policy_hash;   // in hex
	const char *policy;        // for people: a JSON object
	const char *const *option; // the requested classes: "pure", "off-list", "unusable", "corrupt"
	size_t options;
	const char *const *glob; // --platform; none: all
	size_t globs;
	const char *file; // only in the catalog: the name of the plan file; NULL: unknown
	uint64_t projects, failed; // look-ups; failed: without a definitive answer
	const struct planfile_failure
		*failure; // look-ups that gave nothing to decide by; a 404 too, which is not counted in failed
	size_t failures;
	const struct planfile_platform *platform;
	size_t platforms;
	const struct planfile_total *total;
	size_t totals;
	const struct planfile_view *view; // that lose something
	size_t views;
};

// Writing: the entries first, then the head, which has their totals. planfile_finish replaces the file at once and
// syncs it; before, or on an error, nothing changes. Errors are ERR_IO and ERR_FULL.
struct planfile_writer;
// path NULL: nothing is written, and nothing fails. Freed with planfile_free.
int planfile_create(const char *path, struct planfile_writer **out, struct err *e) MUST_CHECK;
int planfile_add(struct planfile_writer *w, const struct planfile_entry *entry, struct err *e) MUST_CHECK;
int planfile_finish(struct planfile_writer *w, const struct planfile_head *head, struct err *e) MUST_CHECK;
void planfile_free(struct planfile_writer *w);     // discards a plan that was not finished; NULL is fine
void planfile_cleanup(struct planfile_writer **w); // for CLEANUP

// Appends the head alone, as a JSON document.
void planfile_write_head(const struct planfile_head *head, struct buf *out);
// Makes a new id from now (seconds since 1970).
void planfile_new_id(int64_t now, char out[PLANFILE_ID]);

// Reading: all but the covers. The file may have been edited or rewritten by another program. struct planfile owns
// everything that head and entry point to.
struct planfile {
	struct planfile_head head;
	struct planfile_entry *entry; // in the order of the file
	size_t count;
	struct arena text;
};
// ERR_INVALID where it is no plan, or a plan of another version; ERR_NOT_FOUND, ERR_IO. To be released in any case.
int planfile_read(const char *path, struct planfile *out, struct err *e) MUST_CHECK;
void planfile_release(struct planfile *p);
