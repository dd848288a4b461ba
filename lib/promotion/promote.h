// SPDX-License-Identifier: Apache-2.0
// Promotes files into a view with `from`, demotes them, and goes back to an earlier membership. The command line and the
// server call it. One thread at a time for each catalog connection.
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/view/view.h"

enum promote_result {
	PROMOTE_DONE,
	PROMOTE_ALREADY, // the view has it
	PROMOTE_REFUSED,
	PROMOTE_HELD, // it could be promoted, but all-or-nothing and another file is refused
};
extern const char *const promote_result_name[];

struct promote_row {
	const char *platform, *project, *version, *filename;
	uint8_t sha256[SHA256_SIZE];
	enum promote_result result;
	const char *reason; // of a refusal: cell, kind and what is wrong; "" otherwise
	bool is_override;   // an override stands in for evidence
};

// Whether the sender may promote files of this project on this platform. What it must not promote is as if it were not
// there: no row and no message names it.
typedef bool promote_may_fn(void *ctx, const char *platform, const char *project);

struct promote_request {
	const char *to;
	const char *from;          // must be the view's own `from`; NULL: that
	const char *const *select; // PROJECT, PROJECT==VERSION or a file name; none: all files of the source
	size_t selects;
	const struct evidence *evidence; // given with the request; kept even if it allows nothing
	size_t evidences;
	const char *evidence_views; // globs of the views for which the given evidence counts
	const char *reason;         // "": none
	const char *override;       // the reason of an override; NULL: none
	const char *by, *address;   // who, and from where ("": on the store's machine)
	promote_may_fn *may;        // NULL: everything
	void *may_ctx;
	bool all_or_nothing, dry_run;
};

struct promote_answer {
	struct promote_row *row; // by project, version key, file name, platform
	size_t rows;
	size_t done, already, refused, held;
	int64_t generation; // the new one; else the newest
	struct arena text;
};

// now: seconds since 1970. A refusal is no error. ERR_USAGE: the view has no `from`, another `from`, or a selection that
// matches nothing; errors of the store. Writes a line of the audit log for each file. The caller releases *out.
int promote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	int64_t now, struct promote_answer *out, struct err *e) MUST_CHECK;
void promote_answer_release(struct promote_answer *a); // for CLEANUP

// Takes files out of the view: select as above. The rows are those of the files that went.
int demote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	struct promote_answer *out, struct err *e) MUST_CHECK;
// Makes a new generation whose members are those of `generation`.
int rollback_run(const struct site *site, struct catalog *c, struct audit *audit, const char *view, int64_t generation,
	const char *reason, const char *by, bool dry_run, struct promote_answer *out, struct err *e) MUST_CHECK;

// The answer as JSON: {"view", "generation", "dry_run", "counts": {…}, "files": [{"platform", "project", "version",
// "filename", "sha256", "result", "reason", "override"}]}.
void promote_write_json(const struct promote_answer *a, const char *view, bool dry_run, struct buf *out);
