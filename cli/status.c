// SPDX-License-Identifier: Apache-2.0
// The status of a project of the store (PEP 792), on all platforms.
#include <stdio.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/suggest.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/project-status.h"

struct status_command {
	struct session s;
	const char *project;
	enum simplepage_status status;
	struct buf text; // of the sidecar; empty: it is active
};

static int read_status_name(struct status_command *x, const char *word, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(word));
	for (x->status = SIMPLEPAGE_ACTIVE; x->status < SIMPLEPAGE_UNFAMILIAR; x->status++) {
		if (strcmp(word, simplepage_status_name[x->status]) == 0)
			return 0;
		name_choice_add(&names, simplepage_status_name[x->status]);
	}
	return name_choice_refuse(&names, ERR_USAGE, "there is no status", e);
}

static int take_status_words(struct status_command *x, struct err *e)
{
	struct session *s = &x->s;
	if (s->words < 2 || s->words > 3)
		return err_set(e, ERR_USAGE, "give PROJECT, a status (active, archived, deprecated or quarantined), and at most one STORE");
	if (!name_is_valid(str_from(s->word[0])))
		return err_set(e, ERR_USAGE, "\"%s\" is no name of a project", s->word[0]);
	if (read_status_name(x, s->word[1], e) < 0)
		return -1;
	x->project = session_project(s, str_from(s->word[0]));
	session_take_store(s, s->word[2]);
	const struct project_status status = {.status = x->status,
		.reason = s->reason ? s->reason : "",
		.when = clock_wall_seconds(),
		.by = session_account(s)};
	if (x->status == SIMPLEPAGE_ACTIVE)
		return 0;
	if (!*status.reason)
		return err_set(e, ERR_USAGE, "--reason TEXT is missing: clients and the log of changes show it");
	return project_status_write(&status, &x->text, e);
}

// The change is made first: a line of one that failed says so.
static int log_status(struct status_command *x, const struct platform *p, int result, struct err *e)
{
	struct err unwritten = ERR_INIT;
	const char *name = simplepage_status_name[x->status], *reason = x->s.reason ? x->s.reason : "";
	const struct audit_entry entry = {.who = session_account(&x->s),
		.action = "status",
		.platform = p->name,
		.project = x->project,
		.result = result == 0 ? "done" : e->kind == ERR_BUSY ? "refused" : "failed",
		.reason = result < 0 ? e->msg
				     : arena_printf(&x->s.arena, "%s%s%s", name, *reason ? ": " : "", reason)};
	int written = audit_write(x->s.audit, &entry, result < 0 ? &unwritten : e);
	return result < 0 || written < 0 ? -1 : 0;
}

// 1: it is set; 0: the platform is frozen, and never had the project.
static int set_status(struct status_command *x, const struct platform *p, bool is_known, struct err *e)
{
	int result = sidecar_ops_status(p, x->s.catalog, x->project, x->text.len ? x->text.data : NULL, e);
	if (result < 0 && e->kind == ERR_BUSY && !is_known)
		return 0;
	if (log_status(x, p, result, e) < 0 || session_release_volume(&x->s, p, "set the status of", x->project, e) < 0)
		return -1;
	return 1;
}

static int find_known(const struct status_command *x, bool *known, bool *is_anywhere, struct err *e)
{
	const struct store *store = &x->s.store;
	for (size_t i = 0; i < store->platform_count; i++) {
		int found = catalog_knows_project(x->s.catalog, store->platform[i].id, x->project, e);
		if (found < 0)
			return -1;
		known[i] = found;
		*is_anywhere = *is_anywhere || found;
	}
	return 0;
}

// A failure on one platform does not stop the others. *e is the last error.
static int run_status(void *self, struct err *e)
{
	struct status_command *x = self;
	struct session *s = &x->s;
	int result = 0;
	bool is_anywhere = false;
	if (take_status_words(x, e) < 0 ||
		session_open(s, SESSION_LOCATE | SESSION_STORE | SESSION_CHANGE | SESSION_AUDIT | SESSION_REGISTER, e) < 0)
		return -1;
	bool *known = ARENA_NEW(&s->arena, bool, s->store.platform_count);
	if (find_known(x, known, &is_anywhere, e) < 0)
		return -1;
	if (!is_anywhere)
		return err_set(e, ERR_NOT_FOUND,
			"no platform has, or had, a project %s; [upstream] deny hides files of upstreams", x->project);
	for (size_t i = 0; i < s->store.platform_count; i++) {
		struct err why = ERR_INIT;
		const struct platform *p = &s->store.platform[i];
		int set = set_status(x, p, known[i], &why);
		if (set < 0) {
			*e = why;
			result = -1;
		} else if (set && !s->is_quiet) {
			bool waits = store_is_split(p) && !p->release;
			printf("%s: %s is %s%s\n", p->name, x->project, simplepage_status_name[x->status],
				waits ? "; the pages show it once its volume is released" : "");
		}
	}
	return result;
}

static void begin_status(void *self)
{
	buf_init(&((struct status_command *)self)->text, LIMIT_SIDECAR);
}

static void release_status(void *self)
{
	buf_release(&((struct status_command *)self)->text);
}

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason, which pages show", TEXT(session, reason)},
};

const struct command command_status = {
	.name = "status",
	.arguments = "PROJECT STATUS [STORE]",
	.help = "say that a project is archived, deprecated, quarantined or active",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(QUIET),
	.size = sizeof(struct status_command),
	.begin = begin_status,
	.run = run_status,
	.release = release_status,
};
