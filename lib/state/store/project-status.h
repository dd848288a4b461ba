// SPDX-License-Identifier: Apache-2.0
// The status of a project of the store (PEP 792): PROJECT/.status beside its wheels, a sidecar (sidecar.h) with one
// JSON object. Without the file a project is active. Any thread; a catalog is one thread's at a time.
#pragma once

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/index/simplepage.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct project_status {
	enum simplepage_status status;
	const char *reason; // of one line, "" for none
	int64_t when;       // seconds since 1970; 0: unknown
	const char *by;     // the account or token; NULL: unknown
	struct arena text;
};
// Appends the JSON. ERR_LIMIT: the reason is too long.
int project_status_write(const struct project_status *s, struct buf *out, struct err *e) MUST_CHECK;
// Reads it; the caller releases *out, also after an error. ERR_INVALID: it is no status, or one that this wheelcache
// does not know. Then *out is quarantined: a file that was written to withdraw a project never lets it through.
int project_status_read(struct str text, struct project_status *out, struct err *e) MUST_CHECK;
// Of the statuses of a project (normal form) on these platforms, as the catalog has them, the strictest: quarantined,
// then archived, then deprecated. A reader learns of no other platform. The caller releases *out, also after an error
// of the catalog.
int project_status_find(struct catalog *c, const char *project, const struct platform *const *platform, size_t count,
	struct project_status *out, struct err *e) MUST_CHECK;
// Calls fn for each status of a platform (its id in the catalog) that cannot be read, by name: with where it is and
// why.
typedef void project_status_damage_fn(void *ctx, const char *words);
int project_status_damages(struct catalog *c, int64_t platform, project_status_damage_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// {"status", "reason", "when"?, "by"? (if the reader may see names)}; NULL: it is active. The caller frees it.
struct jsondoc *project_status_json(const struct project_status *s, bool sees_names);
// Whether the project takes new files (PEP 792).
bool project_status_takes_files(const struct project_status *s);
void project_status_release(struct project_status *s);
