// SPDX-License-Identifier: Apache-2.0
// The plan as a file: what "prune plan" decided about every file of the store, for somebody to review and for "prune
// apply" to carry out. One JSON object, with the files last and each on a line of its own: to leave one out, delete its
// line. Written as it is decided, so that a plan of any size needs little memory. Plain values; one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

enum { PLANFILE_VERSION = 1, PLANFILE_ID = sizeof("20261121T204500Z-0123ab") };

// In one environment ("3.11", "3.13t") pip would take this file of upstream's instead.
struct planfile_cover {
	const char *environment, *filename;
};

// What upstream has in its place. filename NULL: nothing. It is the file of the first environment, where they differ.
struct planfile_evidence {
	const char *filename, *url, *index; // index: the URL of the index that lists it
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
	bool is_identical; // its bytes are ours
	int64_t uploaded;  // seconds since 1970; 0: unknown
	int64_t fetched;   // when upstream last confirmed its page
	const char *etag;  // of that page; NULL: none
	const struct planfile_cover *cover;
	size_t covers;
};

// A file of the store. A name that a platform has in several folders is as many entries, each with its own path.
struct planfile_entry {
	const char *platform, *filename;
	const char *path;              // below the platform
	const char *project, *version; // NULL: not known, of a file that is corrupt
	const char *requires_python;   // NULL: none. Not in the file
	uint64_t size;
	int64_t mtime_ns;
	bool has_sha256; // false: it was refused before it was read
	uint8_t sha256[SHA256_SIZE];
	const char *verdict; // "duplicate" … "keep"
	bool removes;
	const char *why;    // why it is kept, as a code ("too-young"); NULL: it is not
	const char *reason; // in words
	struct planfile_evidence evidence;
};

struct planfile_platform {
	const char *name;
	uint64_t files, bytes; // all that have an entry
};

struct planfile_failure {
	const char *project, *result, *why; // result: "timeout", "429" …
};

// How many files of a platform got a verdict, and, where it removes nothing, for the same reason.
struct planfile_total {
	const char *platform, *verdict, *why; // why: as of an entry
	bool removes;
	uint64_t files, bytes;
};

// All but the files. Strings are borrowed where it is written; where it was read they are the planfile's.
struct planfile_head {
	const char *id; // "<time>-<6 hex>": names the run, in tombstones too
	int64_t made;   // seconds since 1970
	const char *store;
	int64_t change;            // the catalog's newest change when it was read
	const char *policy_hash;   // in hex
	const char *policy;        // what the policy was: a JSON object
	const char *const *option; // the classes that were asked for: "pure", "off-list", "unusable", "corrupt"
	size_t options;
	const char *const *glob; // --platform; none: all
	size_t globs;
	uint64_t projects, failed; // look-ups; failed: those that say that something is wrong, with us or upstream
	const struct planfile_failure *failure; // each that gave nothing to decide by: a 404 too, which is no failure
	size_t failures;
	const struct planfile_platform *platform;
	size_t platforms;
	const struct planfile_total *total;
	size_t totals;
};

// Writing: the entries first, then the head, which knows what they add up to. The file appears whole under its name, in
// place of one that was there, and is on the disk then; or nothing changes. Errors are ERR_IO, ERR_FULL.
struct planfile_writer;
// path NULL: nothing is written, and nothing fails.
int planfile_create(const char *path, struct planfile_writer **out, struct err *e) MUST_CHECK;
int planfile_add(struct planfile_writer *w, const struct planfile_entry *entry, struct err *e) MUST_CHECK;
int planfile_finish(struct planfile_writer *w, const struct planfile_head *head, struct err *e) MUST_CHECK;
void planfile_free(struct planfile_writer *w);     // what was not finished is gone; NULL is fine
void planfile_cleanup(struct planfile_writer **w); // for CLEANUP

// The head alone as a JSON document: what the file says before its files.
void planfile_write_head(const struct planfile_head *head, struct buf *out);
// A new id, of now.
void planfile_new_id(int64_t now, char out[PLANFILE_ID]);

// Reading: all of it but who covers what, also with files taken out or written anew by another program. It owns
// everything that head and entry point to.
struct planfile {
	struct planfile_head head;
	struct planfile_entry *entry; // in the order of the file
	size_t count;
	struct arena text;
	struct jsondoc *document; // of the head
};
// ERR_INVALID with "path: " where it is no plan, or one of another version; ERR_NOT_FOUND, ERR_IO. To be released
// whatever it returned.
int planfile_read(const char *path, struct planfile *out, struct err *e) MUST_CHECK;
void planfile_release(struct planfile *p);
