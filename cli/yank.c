// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cli/common/mark-common.h"
#include "cli/yank-remote.h"
#include "lib/base/mem.h"
#include "lib/format/escape.h"
#include "lib/state/publish/sidecar-ops.h"

static const struct option_row options[] = {
	{"server", '\0', "URL", "let this server do it: its base URL, https://HOST/", NO_KEY},
	{"reason", 'r', "TEXT", "the reason; pages show it", NO_KEY},
};

struct yank_command {
	struct mark_common mark; // first
	struct record_sender server;
	bool undo;
};

static int take_server_option(struct mark_common *m, const char *name, const char *value, struct err *e)
{
	struct yank_command *x = (struct yank_command *)m;
	const struct command_text texts[] = {{"server", &x->server.url}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0
									: record_sender_take(&x->server, name, value, e);
}

// Names of a server are from outside.
static void report_remote(void *ctx, const char *platform, const char *filename, bool waits_for_release)
{
	const struct yank_command *x = ctx;
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, SIZE_MAX / 2);
	escape_terminal(&line, str_from(platform));
	buf_printf(&line, ": %s ", x->mark.done);
	escape_terminal(&line, str_from(filename));
	if (!x->mark.settings.is_quiet)
		printf("%s%s\n", line.data, waits_for_release ? mark_common_waits : "");
}

static int yank_by_server(struct mark_common *m, struct err *e)
{
	struct yank_command *x = (struct yank_command *)m;
	const struct yank_order order = {m->word, m->platform, m->reason, x->undo};
	if (!x->server.url)
		return 0;
	if (cli_config_has(&m->settings, "store", "path"))
		return err_set(e, ERR_USAGE, "--server: the server has a store of its own, so no STORE is given");
	return yank_remote(&x->server, &order, report_remote, x, e) < 0 ? -1 : 1;
}

static int run_command(struct yank_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	x->mark.take_option = take_server_option;
	x->mark.do_elsewhere = yank_by_server;
	record_sender_init(&x->server);
	int code = mark_common_run(&x->mark, self, argc, argv, e);
	record_sender_release(&x->server);
	return code;
}

static int yank_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_yank(p, c, m->file, m->reason, e);
}

static int run_yank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct yank_command x = {
		.mark = {.action = "yank", .done = "yanked", .mark = yank_file, .needs_reason = true}};
	return run_command(&x, self, argc, argv, e);
}

const struct command command_yank = {
	.name = "yank",
	.arguments = "FILE [STORE]",
	.help = "yank a file: clients install it only if they ask for its exact version",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.run = run_yank,
};

static int unyank_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_unyank(p, c, m->file, e);
}

static int run_unyank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct yank_command x = {
		.mark = {.action = "unyank", .done = "no longer yanked:", .mark = unyank_file}, .undo = true};
	return run_command(&x, self, argc, argv, e);
}

const struct command command_unyank = {
	.name = "unyank",
	.arguments = "FILE [STORE]",
	.help = "undo yank",
	.options = options,
	.option_count = 1, // without the reason
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.run = run_unyank,
};
