// SPDX-License-Identifier: Apache-2.0
// Parts of explain.h: what the audit finds in a wheel, its statement of provenance, when wheels of a project were last
// tried, and what the audit log knows. One thread at a time per connection.
#pragma once

#include "lib/audit/wheel-gate.h"
#include "lib/base/arena.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog-row.h"
#include "lib/state/results/results.h"
#include "lib/view/view.h"

// --- the audit ---

struct explain_audit {
	struct wheel_gate *gate; // borrowed; NULL: nothing is judged
	struct catalog *catalog; // borrowed
	size_t judged;
	int64_t end_ms; // 0: not begun
};

// By the facts in the catalog; the number of wheels, the findings of each and the time are bounded. Judges a listed
// wheel, and puts "audit" into its row. Nothing happens if the file is no wheel, or there is no gate.
//
//	{"tag": the lowest platform tag that it keeps, or null; "errors", "warnings": numbers;
//	 "findings": [{"code", "level", "member", "rule", "why"}, …], the first LIMIT_EXPLAIN_FINDINGS}
//	{"unknown": why it could not be judged}
void explain_audit(struct explain_audit *a, const char *platform, const char *filename, const uint8_t *sha256,
	struct jsondoc *row);
// Appends it to out as text, each line behind the indent.
void explain_audit_text(const struct jsondoc *audit, const char *indent, struct buf *out);

// --- provenance ---

// The caller frees the document:
//	{"predicate": type, "build_type"?, "builder"?, "invocation"?, "started"?, "finished"?,
//	 "rows"? (if has_rows): [{"kind": "builder"|"dependency"|"tool"|"machine"|"parameter", "component", "version"?,
//	     "source"?, "digest"?, "path"?, "how"?, "options"?}, …],
//	 "cut"?: true (further rows exceed a limit)}
struct jsondoc *explain_provenance(const struct provenance *p, bool has_rows);
// Puts "provenance" into row, the document of its statement, and "attestations": true, if the file has them. *bytes:
// how much was read so far, with this; many long statements of one project are not all read. Errors of catalog.h.
int explain_provenance_put(struct catalog *c, const struct catalog_history *file, bool has_rows, size_t *bytes,
	struct jsondoc *row, struct err *e) MUST_CHECK;
// Appends the document to out as text for a terminal. indent: before each line. Control bytes stay.
void explain_provenance_text(const struct jsondoc *provenance, const char *indent, struct buf *out);

// --- builds ---

// The newest attempt that ended, for each platform, Python and version, the newest first. The caller frees the
// document:
//	[{"platform", "python", "version", "result", "step", "why", "begun": time, "id",
//	  "running": bool (another attempt is under way),
//	  "failures"?: of this recipe since the last good attempt, "since"?: when the first of them began}, …]
// version: only those that "==version" admits; NULL: all. Errors of results.h.
struct jsondoc *explain_builds(struct results *r, const struct view *view, const char *project, const char *version,
	struct err *e) MUST_CHECK;

// --- the audit log ---

// What a command did with a file.
struct explain_act {
	const char *action, *platform, *filename, *when;
	const char *sha256, *by, *reason; // "": not said
};

// The uploads and removals of a project's files. All zero: the log is not read yet.
struct explain_log {
	bool is_read;
	struct explain_act *act; // the oldest first
	size_t acts, room;
	struct arena text;
};

// Reads the log, if that was not done. path: NULL: nothing is known. A log that cannot be read hides nothing else.
void explain_log_read(struct explain_log *log, const char *path, const char *project);
void explain_log_release(struct explain_log *log);
// The last upload of these bytes, or the last removal of the file (sha256 NULL); NULL: none.
const struct explain_act *explain_log_find(const struct explain_log *log, const char *platform, const char *filename,
	const char *sha256);
