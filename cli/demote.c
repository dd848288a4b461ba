// SPDX-License-Identifier: Apache-2.0
#include "cli/common/promotion-common.h"
#include "promoter/demote.h"

static const struct option_row options[] = {
	{"from", '\0', "VIEW", "take the files out of this view", NO_KEY},
};

struct demote_command {
	struct promotion_common all;
	const char *from, *reason;
};

static int take_demote_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct demote_command *x = ctx;
	const struct command_text texts[] = {{"from", &x->from}, {"reason", &x->reason}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0 : err_set(e, ERR_USAGE, "--%s", name);
}

static int demote_words(struct demote_command *x, char **word, size_t words, struct err *e)
{
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	CLEANUP(strset_release) struct strset select = {0};
	if (promotion_common_check_view(&x->all, x->from, e) < 0 ||
		promotion_common_words(&x->all, (const char *const *)word, words, &select, e) < 0)
		return -1;
	const struct promote_request r = {.to = x->from,
		.select = (const char *const *)select.item,
		.selects = select.count,
		.reason = x->reason ? x->reason : "",
		.by = x->all.by,
		.address = "",
		.dry_run = x->all.settings.is_dry_run};
	if (demote_run(&x->all.site, x->all.catalog, x->all.audit, &r, &answer, e) < 0)
		return -1;
	return promotion_common_print(&x->all, &answer, x->from, e);
}

static void demote_command_release(struct demote_command *x)
{
	promotion_common_release(&x->all);
}

static int run_demote(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(demote_command_release) struct demote_command x = {0};
	promotion_common_init(&x.all);
	int first = cli_config_options(&x.all.settings, self, argc, argv, take_demote_option, &x, e);
	if (first >= 0 && !x.from)
		first = err_set(e, ERR_USAGE, "--from VIEW is missing");
	if (first < 0 || promotion_common_open(&x.all, !x.all.settings.is_dry_run, e) < 0 ||
		demote_words(&x, argv + first, (size_t)(argc - first), e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_demote = {
	.name = "demote",
	.arguments = "PROJECT[==VERSION] | FILE...",
	.help = "take files out of a view",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(REASON) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.run = run_demote,
};
