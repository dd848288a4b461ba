// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/status-change.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/suggest.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/publish/marking.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/project-status.h"

int status_change_name(const char *word, enum simplepage_status *out, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(word));
	for (*out = SIMPLEPAGE_ACTIVE; *out < SIMPLEPAGE_UNFAMILIAR; (*out)++) {
		if (strcmp(word, simplepage_status_name[*out]) == 0)
			return 0;
		name_choice_add(&names, simplepage_status_name[*out]);
	}
	return name_choice_refuse(&names, ERR_USAGE, "there is no status", e);
}

// The text of the sidecar; empty: it is active.
static int write_text(const struct status_change *r, struct buf *text, struct err *e)
{
	const struct project_status status = {.status = r->status,
		.reason = r->reason ? r->reason : "",
		.when = clock_wall_seconds(),
		.by = r->who};
	if (r->status == SIMPLEPAGE_ACTIVE)
		return 0;
	if (!*status.reason)
		return err_set(e, ERR_USAGE, "the reason is missing: clients and the log of changes show it");
	return project_status_write(&status, text, e);
}

int status_change_check(const struct status_change *r, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	return write_text(r, &text, e);
}

static int find_known(const struct status_change *r, const struct store *s, struct catalog *c, bool *known, struct err *e)
{
	bool is_anywhere = false;
	for (size_t i = 0; i < s->platform_count; i++) {
		const struct platform *p = &s->platform[i];
		int found = !r->sees || r->sees(r->ctx, p, r->project) ? catalog_knows_project(c, p->id, r->project, e) : 0;
		if (found < 0)
			return -1;
		if (found && r->may && !r->may(r->ctx, p, r->project))
			return err_set(e, ERR_DENIED, "platform %s: the token may not set the status of %s", p->name, r->project);
		known[i] = found;
		is_anywhere = is_anywhere || found;
	}
	return is_anywhere ? 0
			   : err_set(e, ERR_NOT_FOUND, "no platform has, or had, a project %s; [upstream] deny hides files of upstreams",
				     r->project);
}

// The change is made first: a line of one that failed says so.
static int log_change(const struct status_change *r, const struct platform *p, struct audit *audit, int result, struct err *e)
{
	struct err unwritten = ERR_INIT;
	const char *reason = r->reason ? r->reason : "";
	CLEANUP(mem_free)
	char *words = xasprintf("%s%s%s", simplepage_status_name[r->status], *reason ? ": " : "", reason);
	const struct audit_entry entry = {.who = r->who,
		.peer = r->peer,
		.action = "status",
		.platform = p->name,
		.project = r->project,
		.result = marking_result(result, e),
		.reason = result < 0 ? e->msg : words};
	int written = audit_write(audit, &entry, result < 0 ? &unwritten : e);
	return result < 0 || written < 0 ? -1 : 0;
}

// 1: it is set; 0: the platform takes no writes, and never had the project.
static int set_status(const struct status_change *r, const struct platform *p, struct catalog *c, struct audit *audit,
	const char *text, bool is_known, struct err *e)
{
	int result = marking_check_volume(p, e) < 0 ? -1 : sidecar_ops_status(p, c, r->project, text, e);
	if (result < 0 && e->kind == ERR_BUSY && !is_known)
		return 0;
	return log_change(r, p, audit, result, e) < 0 ? -1 : 1;
}

int status_change_make(const struct status_change *r, const struct store *s, struct catalog *c, struct audit *audit,
	status_change_fn *done, void *ctx, struct err *e)
{
	int result = 0;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	bool *known CLEANUP(mem_free) = xcalloc(s->platform_count + 1, sizeof(*known));
	if (write_text(r, &text, e) < 0 || find_known(r, s, c, known, e) < 0)
		return -1;
	for (size_t i = 0; i < s->platform_count; i++) {
		struct err why = ERR_INIT;
		const struct platform *p = &s->platform[i];
		if (!known[i] && ((r->sees && !r->sees(r->ctx, p, r->project)) || (r->may && !r->may(r->ctx, p, r->project))))
			continue;
		int set = set_status(r, p, c, audit, text.len ? text.data : NULL, known[i], &why);
		if (set < 0 || (set && done(ctx, p, &why) < 0)) {
			*e = why;
			result = -1;
		}
	}
	return result;
}
