// SPDX-License-Identifier: Apache-2.0
// Temporary files without a name, which all uploads to and all reads from buckets share: together they have at most as
// many bytes as were configured. A copy of an object stays for the next reader, until its room is needed. They lie in
// $TMPDIR, or in /var/tmp. Any thread; one at a time writes to a file.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct spool;

// The bytes that all have together, from now on.
void spool_limit(uint64_t bytes);
// An empty file, of which the caller has the only reference. ERR_IO, ERR_FULL.
struct spool *spool_new(struct err *e) MUST_CHECK;
struct spool *spool_ref(struct spool *s); // returns s
void spool_unref(struct spool *s);        // NULL is fine
int spool_fd(const struct spool *s);      // borrowed; for reading
// Appends bytes. ERR_BUSY: the others have all the room; ERR_LIMIT: the room is too small for this file alone;
// ERR_FULL: of the disk.
int spool_add(struct spool *s, struct str bytes, struct err *e) MUST_CHECK;
// Keeps the file under a name, for spool_find(), as long as there is room.
void spool_keep(struct spool *s, const char *name);
// A reference to the file that was kept last under the name; NULL: none is.
struct spool *spool_find(const char *name);
