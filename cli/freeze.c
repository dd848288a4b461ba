// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/state/access/audit.h"
#include "lib/state/config/config-type.h"
#include "lib/state/store/freeze.h"

enum {
	FREEZE_ONLY = 2,       // options
	WAIT_MOST = 24 * 3600, // seconds
};

struct freezing {
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
	// Of freeze alone: thaw begins behind them.
	{"reason", 'r', "TEXT", "why; builders are told"},
	{"wait", '\0', "TIME", "how long to wait for writes that began before; 60s"},
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "the catalog is FILE"},
	{"store", 's', "DIR", "the store is DIR"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
};

static const struct cli_config_option keys[] = {
	{"catalog", "catalog", "path"},
	{"store", "store", "path"},
	{"log-level", "server", "log-level"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct freezing *x = ctx;
	const struct cli_config_number numbers[] = {{"wait", &config_type_seconds, &x->wait}};
	if (strcmp(name, "wait") == 0)
		return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
	if (cli_config_take(&x->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	if (strcmp(name, "reason") != 0)
		return err_set(e, ERR_USAGE, "--%s", name);
	x->reason = value;
	return 0;
}

static int freeze(struct freezing *x, const struct platform *p, struct err *e)
{
	uint64_t most = x->wait < WAIT_MOST ? x->wait : WAIT_MOST;
	if (freeze_set(p, x->who, x->reason ? x->reason : "", (unsigned)most * 1000, e) < 0)
		return -1;
	printf("%s: frozen\n", p->name);
	return 0;
}

static int thaw(const struct platform *p, struct err *e)
{
	bool was_frozen = false;
	if (freeze_clear(p, &was_frozen, e) < 0)
		return -1;
	printf("%s: %s\n", p->name, was_frozen ? "thawed" : "was not frozen");
	return 0;
}

// One that is away holds up no other.
static int change(struct freezing *x, const struct platform *p, struct err *e)
{
	struct err trouble = ERR_INIT;
	int result = x->is_thaw ? thaw(p, &trouble) : freeze(x, p, &trouble);
	if (result < 0) {
		log_error("%s", trouble.msg);
		x->failed++;
	}
	return audit_write(x->audit,
		&(struct audit_entry){
			.who = x->who,
			.action = x->is_thaw ? "thaw" : "freeze",
			.platform = p->name,
			.result = result < 0 ? "failed" : "done",
			.reason = result < 0 ? trouble.msg : x->reason,
		},
		e);
}

static const struct platform *find(const struct store *s, const char *name, struct err *e)
{
	const struct platform *p = store_platform_named(s, str_from(name));
	if (!p)
		err_set(e, ERR_USAGE, "the store has no platform %s", name);
	return p;
}

static int change_named(struct freezing *x, const struct store *s, char **names, struct err *e)
{
	for (char **name = names; *name; name++) // all of them are right before the first is touched
		if (!find(s, *name, e))
			return -1;
	for (char **name = names; *name; name++)
		if (change(x, find(s, *name, e), e) < 0)
			return -1;
	return 0;
}

static int change_all(struct freezing *x, const struct store *s, struct err *e)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (change(x, &s->platform[i], e) < 0)
			return -1;
	return 0;
}

static int run_names(struct freezing *x, char **names, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0 ||
		cli_config_audit(&x->config, &x->audit, e) < 0)
		return -1;
	x->who = audit_account();
	int result = *names ? change_named(x, &store, names, e) : change_all(x, &store, e);
	if (result < 0)
		return -1;
	if (x->failed)
		return err_set(e, ERR_IO, "%zu platforms failed: see above", x->failed);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write what was done") : 0;
}

static void freezing_release(struct freezing *x)
{
	config_release(&x->config);
	audit_close(x->audit);
	free(x->who);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(freezing_release) struct freezing x = {.is_thaw = self == &command_thaw, .wait = FREEZE_WAIT_MS / 1000};
	config_init(&x.config);
	int first = command_options(self, argc, argv, take_option, &x, e);
	return first >= 0 && run_names(&x, argv + first, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_freeze = {
	.name = "freeze",
	.arguments = "[PLATFORM]...",
	.help = "refuse writes to platforms, or to all, while reads go on",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};

const struct command command_thaw = {
	.name = "thaw",
	.arguments = "[PLATFORM]...",
	.help = "let platforms be written again",
	.options = options + FREEZE_ONLY,
	.option_count = ARRAY_SIZE(options) - FREEZE_ONLY,
	.run = run,
};
