// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/state/access/audit.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/retired.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-file.h"

enum { MAX_WAIT = 24 * 3600 }; // seconds

struct freeze_command {
	struct session s;
	uint64_t wait; // seconds
	bool is_thaw;
	size_t failed;
};

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason, for refused builders", TEXT(session, reason)},
	{"wait", '\0', "TIME", "wait at most TIME for writes in progress; 60s", NUMBER(freeze_command, wait, seconds)},
};

static int freeze_platform(struct freeze_command *x, const struct platform *p, struct err *e)
{
	uint64_t most = x->wait < MAX_WAIT ? x->wait : MAX_WAIT;
	if (freeze_set(p, session_account(&x->s), x->s.reason ? x->s.reason : "", (unsigned)most * 1000, e) < 0)
		return -1;
	printf("%s: frozen\n", p->name);
	return 0;
}

static int thaw_platform(const struct platform *p, struct err *e)
{
	bool was_frozen = false;
	if (freeze_clear(p, &was_frozen, e) < 0)
		return -1;
	printf("%s: %s\n", p->name, was_frozen ? "thawed" : "was not frozen");
	return 0;
}

// failure: NULL: there is none. A failure does not stop the others. -1: the audit log cannot be written.
static int note_change(struct freeze_command *x, const char *platform, const struct err *failure, struct err *e)
{
	if (failure) {
		log_error("%s", failure->msg);
		x->failed++;
	}
	return audit_write(x->s.audit,
		&(struct audit_entry){
			.who = session_account(&x->s),
			.action = x->is_thaw ? "thaw" : "freeze",
			.view = platform ? NULL : "*",
			.platform = platform,
			.result = failure ? "failed" : "done",
			.reason = failure ? failure->msg : x->s.reason,
		},
		e);
}

static int change_platform(struct freeze_command *x, const struct platform *p, struct err *e)
{
	struct err failure = ERR_INIT;
	int result = x->is_thaw ? thaw_platform(p, &failure) : freeze_platform(x, p, &failure);
	return note_change(x, p->name, result < 0 ? &failure : NULL, e);
}

static const struct platform *find_platform(const struct store *s, const char *name, struct err *e)
{
	const struct platform *p = store_platform_named(s, str_from(name));
	if (!p)
		store_refuse_platform(s, name, ERR_USAGE, e);
	return p;
}

static int change_named(struct freeze_command *x, char **names, struct err *e)
{
	const struct store *s = &x->s.store;
	for (char **name = names; *name; name++) // check all names before the first change
		if (!find_platform(s, *name, e))
			return -1;
	for (char **name = names; *name; name++)
		if (change_platform(x, find_platform(s, *name, e), e) < 0)
			return -1;
	return 0;
}

static bool has_memberships(const struct config *c, const char *folder)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].from)
			return true;
	return access(folder, F_OK) == 0;
}

// A retired platform is frozen for good; only a thaw that names it ends the retirement.
static bool stays_retired(const struct platform *p)
{
	if (!retired_is(p))
		return false;
	printf("%s: retired, and stays so\n", p->name);
	return true;
}

static int change_all(struct freeze_command *x, struct err *e)
{
	const struct store *s = &x->s.store;
	for (size_t i = 0; i < s->platform_count; i++)
		if (!stays_retired(&s->platform[i]) && change_platform(x, &s->platform[i], e) < 0)
			return -1;
	// What is promoted into views, and the evidence.
	struct err failure = ERR_INIT;
	CLEANUP(mem_free) char *folder = views_folder_or_none(&x->s.config);
	if (!folder || !has_memberships(&x->s.config, folder))
		return 0;
	bool was_frozen = false;
	uint64_t most = x->wait < MAX_WAIT ? x->wait : MAX_WAIT;
	int result = x->is_thaw ? views_thaw(folder, &was_frozen, &failure)
				: views_freeze(folder, session_account(&x->s), x->s.reason ? x->s.reason : "",
					  (unsigned)most * 1000, &failure);
	if (result == 0)
		printf("views: %s\n", !x->is_thaw ? "frozen" : was_frozen ? "thawed" : "were not frozen");
	return note_change(x, NULL, result < 0 ? &failure : NULL, e);
}

static void begin_freeze(void *self)
{
	struct freeze_command *x = self;
	x->is_thaw = x->s.command == &command_thaw;
	x->wait = FREEZE_WAIT_MS / 1000;
}

static int run_freeze(void *self, struct err *e)
{
	struct freeze_command *x = self;
	if (session_open(&x->s, SESSION_STORE | SESSION_AUDIT, e) < 0)
		return -1;
	retired_look(&x->s.store);
	if ((x->s.words ? change_named(x, x->s.word, e) : change_all(x, e)) < 0)
		return -1;
	if (x->failed)
		return err_set(e, ERR_IO, "%zu failed: see above", x->failed);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

const struct command command_freeze = {
	.name = "freeze",
	.arguments = "[PLATFORM]...",
	.help = "refuse writes to platforms, or to all; reads continue",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(STORE),
	.size = sizeof(struct freeze_command),
	.begin = begin_freeze,
	.run = run_freeze,
};

const struct command command_thaw = {
	.name = "thaw",
	.arguments = "[PLATFORM]...",
	.help = "allow writes to platforms, or to all, again",
	.shared = SHARED_BASE | SHARED(STORE),
	.size = sizeof(struct freeze_command),
	.begin = begin_freeze,
	.run = run_freeze,
};
