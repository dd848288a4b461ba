// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/state/access/audit-recent.h"
#include "lib/state/config/state-files.h"

struct log_command {
	struct session s;
	const char *since; // NULL: not given
	struct audit_asked asked;
};

static int print_log_line(void *ctx, const struct audit_entry *a, const char *time, struct err *e)
{
	const struct log_command *x = ctx;
	CLEANUP(buf_release) struct buf out = buf_up_to(SIZE_MAX / 2);
	CLEANUP(buf_release) struct buf line = buf_up_to(SIZE_MAX / 2);
	audit_entry_text(a, time, &line);
	if (x->s.is_json)
		audit_entry_json(a, time, &out);
	else
		escape_terminal_line(&out, "%s", line.data);
	return fputs(out.data, stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the log") : 0;
}

static int run_log(void *self, struct err *e)
{
	struct log_command *x = self;
	bool is_whole;
	if (x->s.words > 1)
		return err_set(e, ERR_USAGE, "expected at most one FILE or PROJECT");
	if (x->s.words && audit_asked_subject(&x->asked, x->s.word[0], e) < 0)
		return -1;
	if (x->since && audit_asked_since(&x->asked, x->since, e) < 0)
		return err_prefix(e, "--since: ");
	if (session_read(&x->s, &x->s.config, e) < 0 || session_locate(&x->s, false, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = state_file(&x->s.config, x->s.catalog_path, STATE_FILE_AUDIT);
	struct audit_query q = {.path = path};
	audit_asked_query(&x->asked, &q);
	if (audit_recent(&q, print_log_line, x, &is_whole, e) < 0)
		return -1;
	if (!is_whole)
		log_warn("older files of %s are not read", path);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the log") : 0;
}

static void release_log(void *self)
{
	audit_asked_release(&((struct log_command *)self)->asked);
}

static const struct option_row options[] = {
	{"since", '\0', "TIME", "only changes since this time, such as 2026-11-22, or for so long, such as 7d",
		TEXT(log_command, since)},
};

const struct command command_log = {
	.name = "log",
	.arguments = "[FILE | PROJECT]",
	.help = "say who did what to which file",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(JSON),
	.size = sizeof(struct log_command),
	.run = run_log,
	.release = release_log,
};
