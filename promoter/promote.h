// SPDX-License-Identifier: Apache-2.0
// Promotes files into a view with `from`, and the ways back: demotions and rollbacks, which need no evidence. The command
// line and the server call it. One thread at a time for each catalog connection.
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "lib/view/view.h"
#include "promoter/promote-answer.h"

struct hook_queue;

// Whether the sender may promote files of this project on this platform. What it must not promote is as if it were not
// there: no row and no message names it.
typedef bool promote_may_fn(void *ctx, const char *platform, const char *project);

// What a promotion or a demotion is asked for. All of it is borrowed for the call.
struct promote_request {
	const char *to;
	const char *from;          // must be the view's own `from`; NULL: that
	const char *const *select; // PROJECT, PROJECT==VERSION (PEP 440) or the name or path of a file; none: all files
	size_t selects;
	const struct evidence *evidence; // given with the request, in any order; kept even if it allows nothing
	size_t evidences;
	const char *evidence_views; // globs of the views for which the given evidence counts
	const char *reason;         // "": none
	const char *override;       // the reason of an override; NULL: none
	const char *by, *address;   // who, and from where ("": on the store's machine)
	promote_may_fn *may;        // NULL: everything
	void *may_ctx;
	struct hook_queue *hooks; // of [view] on-change, for the given evidence that is new; NULL: none are run
	unsigned cpu_ms;          // that the decision may compute; 0: no limit
	bool all_or_nothing, dry_run;
	bool newest; // older versions of what is selected are not looked at
};

// The view of the configuration with this name, borrowed. ERR_NOT_FOUND: there is none; ERR_USAGE: it has no `from`.
const struct config_view *promote_view(const struct config *c, const char *name, struct err *e) MUST_CHECK;

// now: seconds since 1970. A refusal is no error. ERR_USAGE: the view has no `from`, another `from`, or a selection that
// matches nothing; ERR_NOT_FOUND: there is no such view; ERR_INVALID: its membership is damaged; ERR_BUSY: the decision
// took too long; errors of the store. A file that a prune removes at the same moment is refused. Writes a line of the
// audit log for each file that was promoted or refused; a dry run writes nothing, and audit may be NULL. The caller
// releases *out, also on an error.
int promote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	int64_t now, struct promote_answer *out, struct err *e) MUST_CHECK;
// Takes files out of the view `to`: select chooses among its members, at least one. The rows are those of the files that
// went. Errors, a dry run and *out as above.
int demote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	struct promote_answer *out, struct err *e) MUST_CHECK;
// Makes a new generation whose members are those of `generation` (0: none). ERR_NOT_FOUND: there is no such generation.
// The rows are those of the files that came back or went; none: nothing was changed. Errors, a dry run and *out
// as above.
int rollback_run(const struct site *site, struct catalog *c, struct audit *audit, const char *view, int64_t generation,
	const char *reason, const char *by, bool dry_run, struct promote_answer *out, struct err *e) MUST_CHECK;
