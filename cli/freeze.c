// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/state/access/audit.h"
#include "lib/state/config/config-type.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/retired.h"
#include "lib/state/views/membership.h"
#include "lib/state/views/views-freeze.h"

enum { MAX_WAIT = 24 * 3600 }; // seconds

struct freeze_command {
	struct cli_config settings;
	struct config config;
	const char *reason;
	uint64_t wait; // seconds
	bool is_thaw;
	struct audit *audit;
	char *who;
	size_t failed;
};

static const struct option_row options[] = {
	{"reason", 'r', "TEXT", "the reason, for refused builders", NO_KEY},
	{"wait", '\0', "TIME", "wait at most TIME for writes in progress; 60s", NO_KEY},
};

static int take_freeze_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct freeze_command *x = ctx;
	const struct command_text texts[] = {{"reason", &x->reason}};
	const struct cli_config_number numbers[] = {{"wait", &config_type_seconds, &x->wait}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static int freeze_platform(struct freeze_command *x, const struct platform *p, struct err *e)
{
	uint64_t most = x->wait < MAX_WAIT ? x->wait : MAX_WAIT;
	if (freeze_set(p, x->who, x->reason ? x->reason : "", (unsigned)most * 1000, e) < 0)
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
	return audit_write(x->audit,
		&(struct audit_entry){
			.who = x->who,
			.action = x->is_thaw ? "thaw" : "freeze",
			.view = platform ? NULL : "*",
			.platform = platform,
			.result = failure ? "failed" : "done",
			.reason = failure ? failure->msg : x->reason,
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

static int change_named(struct freeze_command *x, const struct store *s, char **names, struct err *e)
{
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

static int freeze_or_thaw_views(struct freeze_command *x, const char *folder, struct err *e)
{
	bool was_frozen = false;
	uint64_t most = x->wait < MAX_WAIT ? x->wait : MAX_WAIT;
	int result = x->is_thaw ? views_thaw(folder, &was_frozen, e)
				: views_freeze(folder, x->who, x->reason ? x->reason : "", (unsigned)most * 1000, e);
	if (result == 0)
		printf("views: %s\n", !x->is_thaw ? "frozen" : was_frozen ? "thawed" : "were not frozen");
	return result;
}

// What is promoted into views, and the evidence.
static int change_views(struct freeze_command *x, struct err *e)
{
	struct err failure = ERR_INIT;
	CLEANUP(mem_free) char *folder = views_folder_or_none(&x->config);
	if (!folder || !has_memberships(&x->config, folder))
		return 0;
	int result = freeze_or_thaw_views(x, folder, &failure);
	return note_change(x, NULL, result < 0 ? &failure : NULL, e);
}

// A retired platform is frozen for good; only a thaw that names it ends the retirement.
static bool stays_retired(const struct platform *p)
{
	if (!retired_is(p))
		return false;
	printf("%s: retired, and stays so\n", p->name);
	return true;
}

static int change_all(struct freeze_command *x, const struct store *s, struct err *e)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (!stays_retired(&s->platform[i]) && change_platform(x, &s->platform[i], e) < 0)
			return -1;
	return change_views(x, e);
}

static int change_platforms(struct freeze_command *x, char **names, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0 ||
		cli_config_audit(&x->config, &x->audit, e) < 0)
		return -1;
	x->who = audit_account();
	retired_look(&store);
	int result = *names ? change_named(x, &store, names, e) : change_all(x, &store, e);
	if (result < 0)
		return -1;
	if (x->failed)
		return err_set(e, ERR_IO, "%zu failed: see above", x->failed);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

static void freeze_command_release(struct freeze_command *x)
{
	config_release(&x->config);
	audit_close(x->audit);
	free(x->who);
}

static int run_freeze(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(freeze_command_release)
	struct freeze_command x = {.is_thaw = self == &command_thaw, .wait = FREEZE_WAIT_MS / 1000};
	config_init(&x.config);
	int first = cli_config_options(&x.settings, self, argc, argv, take_freeze_option, &x, e);
	return first >= 0 && change_platforms(&x, argv + first, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_freeze = {
	.name = "freeze",
	.arguments = "[PLATFORM]...",
	.help = "refuse writes to platforms, or to all; reads continue",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(STORE),
	.run = run_freeze,
};

const struct command command_thaw = {
	.name = "thaw",
	.arguments = "[PLATFORM]...",
	.help = "allow writes to platforms, or to all, again",
	.shared = SHARED_BASE | SHARED(STORE),
	.run = run_freeze,
};
