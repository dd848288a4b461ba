// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cli/common/promotion-common.h"
#include "cli/promote-remote.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/hook-queue.h"
#include "promoter/promote.h"

static const struct option_row options[] = {
	{"to", '\0', "VIEW", "promote into this view", NO_KEY},
	{"from", '\0', "VIEW", "only if files come into the view from this one", NO_KEY},
	{"evidence", 'e', "FILE...", "records of test runs; they count with those that were sent before", NO_KEY},
	{"override", '\0', "REASON", "promote without the evidence that is required; pages show it", NO_KEY},
	{"all-or-nothing", '\0', NULL, "promote nothing if a file is refused", NO_KEY},
	{"server", '\0', "URL", "let this server promote: its base URL, https://HOST/", NO_KEY},
	{"newest", '\0', NULL, "only the newest version of each project for each Python", NO_KEY},
};

struct promote_command {
	struct promotion_common all;
	const char *to, *from, *reason, *override;
	bool all_or_nothing, newest;
	struct command_words evidence;
	struct evidence *record;
	size_t records, room;
	struct hook_queue *hooks;
	struct record_sender server;
};

static int take_promote_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct promote_command *x = ctx;
	const struct command_flag flags[] = {{"all-or-nothing", &x->all_or_nothing}, {"newest", &x->newest}};
	const struct command_text texts[] = {
		{"to", &x->to}, {"from", &x->from}, {"reason", &x->reason}, {"override", &x->override},
		{"server", &x->server.url}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	if (strcmp(name, "evidence") != 0)
		return record_sender_take(&x->server, name, value, e);
	command_words_add(&x->evidence, value);
	return 0;
}

static int check_promote_line(const struct promote_command *x, struct err *e)
{
	if (!x->to)
		return err_set(e, ERR_USAGE, "--to VIEW is missing");
	if (x->override && !str_trim(str_from(x->override)).len)
		return err_set(e, ERR_USAGE, "--override needs a reason");
	return 0;
}

static int take_given_record(void *ctx, struct evidence *record, struct err *e UNUSED)
{
	struct promote_command *x = ctx;
	GROW(x->record, x->records, x->room);
	x->record[x->records++] = *record;
	*record = (struct evidence){0};
	return 0;
}

static int read_given_file(struct promote_command *x, const char *path, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_EVIDENCE_LIST);
	if (fs_read_regular(path, &text, e) < 0)
		return -1;
	if (evidence_read_each(buf_view(&text), take_given_record, x, e) < 0)
		return err_prefix(e, "%s: ", path);
	return 0;
}

// What cannot be read is no evidence, so nothing is promoted.
static int read_given_records(struct promote_command *x, struct err *e)
{
	for (size_t i = 0; i < x->evidence.count; i++) {
		if (read_given_file(x, x->evidence.item[i], e) == 0)
			continue;
		e->kind = ERR_USAGE;
		return -1;
	}
	return 0;
}

static int promote_here_or_there(struct promote_command *x, const struct promote_request *r, struct promote_answer *out,
	struct err *e)
{
	if (x->server.url)
		return promote_remote(&x->server, r, out, e);
	CLEANUP(strset_release) struct strset select = {0};
	if (promotion_common_check_view(&x->all, r->to, e) < 0 ||
		promotion_common_words(&x->all, r->select, r->selects, &select, e) < 0)
		return -1;
	struct promote_request here = *r;
	here.select = (const char *const *)select.item;
	here.selects = select.count;
	return promote_run(&x->all.site, x->all.catalog, x->all.audit, &here, clock_wall_seconds(), out, e);
}

// Returns the exit code, or -1.
static int promote_words(struct promote_command *x, char **word, size_t words, struct err *e)
{
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	const struct promote_request r = {.to = x->to,
		.from = x->from,
		.select = (const char *const *)word,
		.selects = words,
		.evidence = x->record,
		.evidences = x->records,
		.evidence_views = "*",
		.reason = x->reason ? x->reason : "",
		.override = x->override,
		.by = x->all.by,
		.address = "",
		.hooks = x->hooks,
		.all_or_nothing = x->all_or_nothing,
		.newest = x->newest,
		.dry_run = x->all.settings.is_dry_run};
	if (promote_here_or_there(x, &r, &answer, e) < 0 ||
		promotion_common_print(&x->all, &answer, x->to, e) < 0)
		return -1;
	return answer.count[PROMOTE_REFUSED] || answer.count[PROMOTE_HELD] ? 1 : 0;
}

static void promote_command_release(struct promote_command *x)
{
	for (size_t i = 0; i < x->records; i++)
		evidence_release(&x->record[i]);
	free(x->record);
	command_words_release(&x->evidence);
	record_sender_release(&x->server);
	hook_queue_free(x->hooks, HOOK_QUEUE_SECONDS);
	promotion_common_release(&x->all);
}

static int run_promote(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(promote_command_release) struct promote_command x = {0};
	promotion_common_init(&x.all);
	record_sender_init(&x.server);
	x.hooks = hook_queue_new("[view]");
	int first = cli_config_options(&x.all.settings, self, argc, argv, take_promote_option, &x, e);
	if (first < 0 || check_promote_line(&x, e) < 0 || read_given_records(&x, e) < 0 ||
		(!x.server.url && promotion_common_open(&x.all, !x.all.settings.is_dry_run, e) < 0))
		return err_exit_code(e->kind);
	int code = promote_words(&x, argv + first, (size_t)(argc - first), e);
	return code < 0 ? err_exit_code(e->kind) : code;
}

const struct command command_promote = {
	.name = "promote",
	.arguments = "[PROJECT[==VERSION] | FILE]...",
	.help = "promote tested files into a view",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(REASON) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET) |
		  SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.run = run_promote,
};
