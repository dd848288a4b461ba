// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/channel-judge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-evidence.h"

const char *const channel_result_name[CHANNEL_RESULT_COUNT] = {"untested", "green", "red", "override", "unneeded"};

// A record, copied.
struct found_record {
	struct channel_judge *judge;
	struct promotion_record record;
	struct channel_test test;
	bool is_found;
};

static const char *copy_words(struct channel_judge *j, const char *text)
{
	return text && *text ? arena_copy(j->text, str_from(text)) : "";
}

static int take_record(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct found_record *f = ctx;
	f->is_found = true;
	hex_encode(r->id, SHA256_SIZE, f->test.id);
	f->test.by = copy_words(f->judge, r->by);
	f->record = (struct promotion_record){
		.made = r->made,
		.received = r->received,
		.passed = r->passed,
		.failed = r->failed,
		.skipped = r->skipped,
		.overrides = r->overrides ? copy_words(f->judge, r->overrides) : NULL,
	};
	return 0;
}

static struct found_record find_newest(struct channel_judge *j, const uint8_t sha256[SHA256_SIZE], const char *kind,
	const struct promotion_cell *cell)
{
	struct err e = ERR_INIT;
	struct found_record f = {.judge = j, .test = {.by = "", .why = ""}};
	if (!j->has_failed && catalog_evidence_newest(j->catalog, j->view, kind, cell->platform, cell->python, sha256,
				      take_record, &f, &e) < 0) {
		j->has_failed = true;
		j->error = e;
	}
	f.record.kind = kind;
	f.record.platform = cell->platform;
	f.record.python = cell->python;
	return f;
}

static bool find_for_judge(void *ctx, const uint8_t sha256[SHA256_SIZE], const char *kind,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	struct found_record f = find_newest(ctx, sha256, kind, cell);
	*out = f.record;
	return f.is_found;
}

int channel_judge_init(struct channel_judge *out, const struct site *site, const struct config_view *view,
	struct catalog *c, struct arena *text, int64_t now, struct err *e)
{
	const struct view *v = site_view(site, str_from(view->name));
	*out = (struct channel_judge){.view = view->name, .catalog = c, .text = text};
	if (promotion_judge_init(&out->judge, view->requires, view->cells, v->platform, v->platform_count, now,
		    find_for_judge, out, e) < 0)
		return -1;
	out->needed = xcalloc(out->judge.cells.cells + 1, sizeof(*out->needed));
	return 0;
}

void channel_judge_release(struct channel_judge *j)
{
	promotion_judge_release(&j->judge);
	free(j->needed);
	*j = (struct channel_judge){0};
}

static int check_judge(const struct channel_judge *j, struct err *e)
{
	if (j->has_failed)
		*e = j->error;
	return j->has_failed ? -1 : 0;
}

// The cell of this environment, if the wheel needs evidence there; NULL: it does not.
static const struct promotion_cell *find_cell(struct channel_judge *j, const struct judged_wheel *w,
	const char *platform, const char *python)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_kind(str_from(w->filename)) != FILENAME_WHEEL ||
		filename_parse(str_from(w->filename), &name, &ignored) < 0)
		return NULL;
	size_t count = needed_cells_of(&j->judge.cells, w->platform, &name, w->requires_python, j->needed);
	for (size_t i = 0; i < count; i++)
		if (strcmp(j->needed[i].platform, platform) == 0 && strcmp(j->needed[i].python, python) == 0)
			return &j->needed[i];
	return NULL;
}

static bool give_found(void *ctx, const char *kind UNUSED, const struct promotion_cell *cell UNUSED,
	struct promotion_record *out)
{
	const struct found_record *f = ctx;
	*out = f->record;
	return f->is_found;
}

static struct channel_test judge_record(struct channel_judge *j, const struct promotion_rule *rule,
	const struct promotion_cell *cell, const uint8_t sha256[SHA256_SIZE])
{
	struct found_record f = find_newest(j, sha256, rule->kind, cell);
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, LIMIT_REASON);
	if (!f.is_found)
		return f.test; // CHANNEL_UNTESTED
	bool holds = promotion_rule_holds(rule, cell, j->judge.now, give_found, &f, &why);
	f.test.result = f.record.overrides ? CHANNEL_OVERRIDE : holds ? CHANNEL_GREEN : CHANNEL_RED;
	f.test.why = f.record.overrides ? f.record.overrides : copy_words(j, why.len ? why.data : "");
	return f.test;
}

struct channel_test *channel_judge_tests(struct channel_judge *j, const struct judged_wheel *w, const char *platform,
	const char *python, struct err *e)
{
	const struct promotion_rules *rules = &j->judge.rules;
	const struct promotion_cell *cell = find_cell(j, w, platform, python);
	struct channel_test *out = arena_alloc_aligned(j->text, (rules->rules + 1) * sizeof(*out));
	for (size_t i = 0; i < rules->rules; i++)
		out[i] = cell ? judge_record(j, &rules->rule[i], cell, w->sha256)
			      : (struct channel_test){.result = CHANNEL_UNNEEDED, .by = "", .why = ""};
	return check_judge(j, e) < 0 ? NULL : out;
}

int channel_judge_why(struct channel_judge *j, const struct judged_wheel *w, const char **why, struct err *e)
{
	const struct promotion_file file = {w->platform, w->filename, w->requires_python, w->sha256};
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_REASON);
	bool is_allowed = promotion_judge_allows(&j->judge, &file, &reason);
	*why = is_allowed ? "" : copy_words(j, reason.len ? reason.data : "it is refused");
	return check_judge(j, e);
}
