// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit-recent.h"
#include "lib/state/config/since.h"

static const struct option_row options[] = {
	{"since", '\0', "TIME", "only changes since this time, such as 2026-11-22, or for so long, such as 7d", NO_KEY},
};

struct log_command {
	struct cli_config settings;
	struct config config;
	const char *since, *file; // NULL: not given
	struct buf project;       // normalised; empty: any
	char from[CLOCK_TEXT];    // --since
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

static int take_subject(struct log_command *x, const char *word, struct err *e)
{
	const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;
	if (filename_kind(str_from(base)) != FILENAME_OTHER) {
		x->file = base;
		return 0;
	}
	if (!name_is_valid(str_from(word)))
		return err_set(e, ERR_USAGE, "%s is not a valid project name, nor the name of a file", word);
	name_normalize(str_from(word), &x->project);
	return 0;
}

static int take_log_line(struct log_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	int64_t since;
	int first = cli_config_options(&x->settings, self, argc, argv, take_log_option, x, e);
	if (first < 0)
		return -1;
	if (argc - first > 1)
		return err_set(e, ERR_USAGE, "expected at most one FILE or PROJECT");
	if (first < argc && take_subject(x, argv[first], e) < 0)
		return -1;
	if (x->since && since_read(x->since, &since, e) < 0)
		return err_prefix(e, "--since: ");
	if (x->since) {
		clock_write(since, x->from);
		x->from[CLOCK_TEXT - 2] = '\0'; // without "Z", as a time in the log has a fraction
	}
	return cli_config_read(&x->settings, &x->config, e);
}

// --- what is printed ---

// The fields of an entry in the order of a line, with what stands before each.
static int print_log_line(void *ctx, const struct audit_entry *a, const char *time, struct err *e)
{
	const struct log_command *x = ctx;
	CLEANUP(buf_release) struct buf out;
	CLEANUP(buf_release) struct buf line;
	const struct {
		const char *before, *text;
	} part[] = {{" ", a->who ? a->who : "-"}, {" from ", a->peer}, {": ", a->action}, {" ", a->platform},
		{" into view ", a->view}, {" ", a->file ? a->file : a->project}, {": ", a->result}, {" (", a->reason}};
	buf_init(&out, SIZE_MAX / 2);
	buf_init(&line, SIZE_MAX / 2);
	buf_puts(&line, time);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i].text)
			buf_printf(&line, "%s%s", part[i].before, part[i].text);
	if (a->reason)
		buf_putc(&line, ')');
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
	const struct audit_query q = {.path = path,
		.project = x->project.len ? x->project.data : NULL,
		.file = x->file,
		.since = x->since ? x->from : NULL};
	if (audit_recent(&q, print_log_line, x, &is_whole, e) < 0)
		return -1;
	if (!is_whole)
		log_warn("older files of %s are not read", path);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the log") : 0;
}

static void log_command_release(struct log_command *x)
{
	buf_release(&x->project);
	config_release(&x->config);
}

static int run_log(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(log_command_release) struct log_command x = {0};
	config_init(&x.config);
	buf_init(&x.project, LIMIT_FILE_NAME);
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
