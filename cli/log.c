// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/state/access/audit-asked.h"

static const struct option_row options[] = {
	{"since", '\0', "TIME", "only changes since this time, such as 2026-11-22, or for so long, such as 7d", NO_KEY},
};

struct log_command {
	struct cli_config settings;
	struct config config;
	const char *since; // NULL: not given
	struct audit_asked asked;
};

// --- the command line ---

static int take_log_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct log_command *x = ctx;
	const struct command_text texts[] = {{"since", &x->since}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

static int take_log_line(struct log_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	int first = cli_config_options(&x->settings, self, argc, argv, take_log_option, x, e);
	if (first < 0)
		return -1;
	if (argc - first > 1)
		return err_set(e, ERR_USAGE, "expected at most one FILE or PROJECT");
	if (first < argc && audit_asked_subject(&x->asked, argv[first], e) < 0)
		return -1;
	if (x->since && audit_asked_since(&x->asked, x->since, e) < 0)
		return err_prefix(e, "--since: ");
	return cli_config_read(&x->settings, &x->config, e);
}

// --- what is printed ---

static int print_log_line(void *ctx, const struct audit_entry *a, const char *time, struct err *e)
{
	const struct log_command *x = ctx;
	CLEANUP(buf_release) struct buf out;
	CLEANUP(buf_release) struct buf line;
	buf_init(&out, SIZE_MAX / 2);
	buf_init(&line, SIZE_MAX / 2);
	audit_entry_text(a, time, &line);
	if (x->settings.is_json)
		audit_entry_json(a, time, &out);
	else
		escape_terminal_line(&out, "%s", line.data);
	return fputs(out.data, stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the log") : 0;
}

static int print_audit_log(struct log_command *x, struct err *e)
{
	bool is_whole;
	CLEANUP(mem_free) char *catalog = cli_config_catalog(&x->config, e);
	if (!catalog)
		return -1;
	CLEANUP(mem_free) char *path = audit_path(&x->config, catalog);
	struct audit_query q = {.path = path};
	audit_asked_query(&x->asked, &q);
	if (audit_recent(&q, print_log_line, x, &is_whole, e) < 0)
		return -1;
	if (!is_whole)
		log_warn("older files of %s are not read", path);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the log") : 0;
}

static void log_command_release(struct log_command *x)
{
	audit_asked_release(&x->asked);
	config_release(&x->config);
}

static int run_log(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(log_command_release) struct log_command x = {0};
	config_init(&x.config);
	return take_log_line(&x, self, argc, argv, e) < 0 || print_audit_log(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_log = {
	.name = "log",
	.arguments = "[FILE | PROJECT]",
	.help = "say who did what to which file",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(JSON),
	.run = run_log,
};
