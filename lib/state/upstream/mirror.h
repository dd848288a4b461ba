// SPDX-License-Identifier: Apache-2.0
// Mirrors to order: the files of upstreams that the operator keeps here. Each mirror is a record of the state,
// FOLDER/NAME (lib/place/record.h), so that it outlives the catalog and the cache: it names files by their SHA-256, and
// the caches of upstreams' files (file-cache.h) remove none of them. Any thread; any number of processes may change a
// mirror at once. Errors are ERR_IO and ERR_FULL, if not said otherwise.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"

struct mirror_file {
	const char *upstream; // in whose cache it is
	const char *project;  // normal form
	const char *filename; // of a wheel or sdist, or with .metadata behind it (PEP 658)
	int64_t size;         // bytes; -1: not known yet
	uint8_t sha256[SHA256_SIZE];
};

struct mirror {
	const char *name;
	const char *who;       // who changed it last
	int64_t made, changed; // seconds since 1970
	struct mirror_file *file; // by project, filename, upstream, hash
	size_t files;
	struct arena text;
};

bool mirror_name_is_valid(struct str name);
// ERR_NOT_FOUND; ERR_INVALID: the record is damaged. The caller releases *out after success.
int mirror_read(const char *folder, const char *name, struct mirror *out, struct err *e) MUST_CHECK;
// The same of the text of a record.
int mirror_parse(struct str json, const char *name, struct mirror *out, struct err *e) MUST_CHECK;
void mirror_release(struct mirror *m); // for CLEANUP; zeros are allowed
// Calls fn with each mirror, sorted by name, borrowed for the call. A missing folder has none. ERR_INVALID: one is
// damaged.
typedef int mirror_fn(void *ctx, const struct mirror *m, struct err *e);
int mirror_each(const char *folder, mirror_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// A number that differs after each change. 0: there is no folder.
int mirror_mark(const char *folder, uint64_t *mark, struct err *e) MUST_CHECK;

enum mirror_change {
	MIRROR_ADD,    // it has these files too; it is made if it is missing
	MIRROR_EXTEND, // the same; ERR_NOT_FOUND: it has ended
	MIRROR_REPLACE, // it has these files alone; the same
};
// with: its name, who and files, in any order. Of two rows of a file the one with a size stays. ERR_LIMIT:
// LIMIT_MIRRORS or LIMIT_MIRROR_FILES; ERR_BUSY as of record_change(); ERR_INVALID: what is there is damaged.
int mirror_change(const char *folder, enum mirror_change way, const struct mirror *with, struct err *e) MUST_CHECK;
// 1: removed; 0: there was none of this name. A damaged one is removed too.
int mirror_end(const char *folder, const char *name, struct err *e) MUST_CHECK;
