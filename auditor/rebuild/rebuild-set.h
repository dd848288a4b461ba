// SPDX-License-Identifier: Apache-2.0
// The wheels that a document of `wheelcache rebuilds --json` (rebuild-list.h) wants built again. For what is missing
// they count as not there. One thread until it is read; any thread may read it afterwards.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/text/version.h"

struct rebuild_set;

// Reads the file, which may be a pipe. Rows of wheels that are not to be rebuilt are left out. ERR_INVALID names what
// is wrong; ERR_LIMIT; errors of fs_read_file. The caller frees *out.
int rebuild_set_read(const char *path, struct rebuild_set **out, struct err *e) MUST_CHECK;
// The same from such a document of another machine: ERR_INVALID; ERR_LIMIT: LIMIT_REBUILDS_SENT, LIMIT_REBUILD_VALUES.
int rebuild_set_parse(struct str text, struct rebuild_set **out, struct err *e) MUST_CHECK;
// Appends such a document with the rows of one platform and project; project NULL: all. ERR_LIMIT: more than
// LIMIT_REBUILDS_SENT.
int rebuild_set_write(const struct rebuild_set *s, const char *platform, const char *project, struct buf *out,
	struct err *e) MUST_CHECK;
void rebuild_set_free(struct rebuild_set *s);     // NULL is fine
void rebuild_set_cleanup(struct rebuild_set **s); // for CLEANUP

// Whether the platform's wheel of the project is to be rebuilt; s NULL: nothing is.
bool rebuild_set_has(const struct rebuild_set *s, const char *platform, const char *project, const char *filename);
// A wheel of this project and version on the platform that is to be rebuilt: its file name, borrowed, why, and the
// build tag of the new one, the highest of all. False: there is none.
struct rebuild_wanted {
	const char *filename, *why;
	unsigned build;
};
bool rebuild_set_find(const struct rebuild_set *s, const char *platform, const char *project,
	const struct version *version, struct rebuild_wanted *out);
