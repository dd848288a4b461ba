// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/common/mark-common.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/os/fs.h"
#include "lib/state/publish/attach-ops.h"

static const struct option_row options[] = {
	{"of", '\0', "NAME", "the file that it is about, if it is about several", NO_KEY},
	{"replace", '\0', NULL, "replace another statement that is there", NO_KEY},
};

struct provenance_command {
	struct mark_common mark; // first
	struct buf text;         // of the statement
	char *filename;          // of the wheel or sdist
};

// The name of the only subject, if it is that of a wheel or an sdist.
static int take_only_subject(struct provenance_command *x, struct err *e)
{
	CLEANUP(provenance_release) struct provenance p = {0};
	if (provenance_read(buf_view(&x->text), &p, e) < 0)
		return -1;
	const char *name = p.subjects == 1 ? p.subject[0].name : NULL;
	if (!name || filename_kind(str_from(name)) == FILENAME_OTHER || filename_check(str_from(name), e) < 0)
		return err_set(e, ERR_USAGE, "--of NAME is missing: the statement does not name one wheel or sdist");
	x->filename = xstrdup(name);
	return 0;
}

// Reads the statement, and finds out which file it is for.
static int take_statement_path(struct mark_common *m, const char *path, struct err *e)
{
	struct provenance_command *x = (struct provenance_command *)m;
	if (fs_read_file(path, &x->text, e) < 0)
		return -1;
	if (m->of)
		x->filename = xstrdup(m->of);
	else if (take_only_subject(x, e) < 0)
		return err_prefix(e, "%s: ", path);
	m->file = x->filename;
	return 0;
}

static int add_statement(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct provenance_command *x = (const struct provenance_command *)m;
	const struct attach_request request = {
		.filename = m->file,
		.kind = ATTACHMENT_STATEMENT,
		.text = buf_view(&x->text),
		.waits = m->platform != NULL,
		.replaces = m->replaces,
	};
	return attach_ops_put(p, c, &request, e) < 0 ? err_prefix(e, "platform %s: ", p->name) : 0;
}

static int run_provenance_add(const struct command *self, int argc, char **argv, struct err *e)
{
	struct provenance_command x = {
		.mark = {.action = "provenance",
			.done = "added provenance of",
			.mark = add_statement,
			.take_file = take_statement_path},
	};
	buf_init(&x.text, LIMIT_STATEMENT);
	int code = mark_common_run(&x.mark, self, argc, argv, e);
	buf_release(&x.text);
	mem_free(&x.filename);
	return code;
}

static const struct command command_provenance_add = {
	.name = "provenance add",
	.arguments = "FILE [STORE]",
	.help = "put a statement of provenance beside its wheel",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET),
	.run = run_provenance_add,
};

static const struct command *const rows[] = {
	&command_provenance_add,
	NULL,
};

const struct command command_provenance = {
	.name = "provenance",
	.help = "say where wheels come from: add",
	.rows = rows,
	.run = command_run_row,
};
