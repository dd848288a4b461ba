// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/promotion-rules.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/domain/machine/platform.h"
#include "lib/state/config/config-type.h"

static bool read_tests(struct str value, uint64_t *out)
{
	return decimal_parse(value, LIMIT_EVIDENCE_TESTS, out);
}

static bool read_min_tests(struct promotion_rule *r, struct str value)
{
	return read_tests(value, &r->min_tests) && r->min_tests;
}

static bool read_max_skipped(struct promotion_rule *r, struct str value)
{
	return read_tests(value, &r->max_skipped);
}

static bool read_max_age(struct promotion_rule *r, struct str value)
{
	uint64_t seconds;
	CLEANUP(mem_free) char *text = xstrndup(value.ptr ? value.ptr : "", value.len);
	struct str rest = str_from(text);
	if (!config_times_next(&rest, &seconds) || rest.len || !seconds)
		return false;
	r->max_age = (int64_t)seconds;
	return true;
}

static bool read_by(struct promotion_rule *r, struct str value)
{
	r->by_version = true;
	return str_eq(value, STR("version"));
}

const char *const promotion_match_name[PROMOTION_MATCH_COUNT] = {"same-bytes", "equal-contents", "same-commit"};
// "equal contents", "another build from the same commit"; of the same bytes: "the same bytes"
static const char *const match_words[PROMOTION_MATCH_COUNT] = {
	"the same bytes", "equal contents", "another build from the same commit"};

enum promotion_match promotion_match_find(const char *name)
{
	int i = 0;
	while (i < PROMOTION_MATCH_COUNT && (!name || strcmp(name, promotion_match_name[i]) != 0))
		i++;
	return (enum promotion_match)i;
}

void promotion_tested_words(enum promotion_match match, const char *sha256, struct buf *out)
{
	buf_printf(out, "tested as %s, SHA-256 %s", match_words[match], sha256);
}

static const struct {
	const char *name;
	bool (*read)(struct promotion_rule *r, struct str value);
	const char *example;
} settings[] = {
	{"min-tests", read_min_tests, "a number of tests from 1 on"},
	{"max-skipped", read_max_skipped, "a number of tests"},
	{"max-age", read_max_age, "a time as 7d"},
	{"by", read_by, "version"},
};

// Cuts the next word off; words are separated by blanks. False: there is none.
static bool next_word(struct str *rest, struct str *word)
{
	do {
		*word = str_cut(rest, ' ');
	} while (!word->len && rest->ptr);
	return word->len > 0;
}

static int read_setting(struct promotion_rule *r, struct str setting, struct err *e)
{
	struct str value = setting, name = str_cut(&value, '=');
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (!str_eq(name, str_from(settings[i].name)))
			continue;
		if (settings[i].read(r, value))
			return 0;
		return err_set(e, ERR_USAGE, "requires: %s of %s is not %s: \"" STR_FMT "\"", settings[i].name, r->kind,
			settings[i].example, STR_ARG(str_head(value, LIMIT_EVIDENCE_KIND)));
	}
	return err_set(e, ERR_USAGE, "requires: %s has an unknown setting \"" STR_FMT "\"", r->kind,
		STR_ARG(str_head(setting, LIMIT_EVIDENCE_KIND)));
}

static int read_rule(struct promotion_rules *out, struct str word, struct err *e)
{
	struct promotion_rule *r = &out->rule[out->rules];
	struct str rest = word, kind = str_cut(&rest, ':');
	if (!evidence_kind_is_valid(kind))
		return err_set(e, ERR_USAGE, "requires: \"" STR_FMT "\" is no kind of evidence",
			STR_ARG(str_head(kind, LIMIT_EVIDENCE_KIND)));
	*r = (struct promotion_rule){arena_copy(&out->text, kind), 1, UINT64_MAX, INT64_MAX, false};
	for (size_t i = 0; i < out->rules; i++)
		if (strcmp(out->rule[i].kind, r->kind) == 0)
			return err_set(e, ERR_USAGE, "requires: %s stands there twice", r->kind);
	while (rest.ptr)
		if (read_setting(r, str_cut(&rest, ':'), e) < 0)
			return -1;
	out->rules++;
	return 0;
}

static int read_cell(struct promotion_rules *out, struct str word, struct err *e)
{
	struct promotion_cell *c = &out->cell[out->cells];
	struct str python = word, platform = str_cut(&python, '/');
	if (!platform_name_is_valid(platform) || !evidence_python_is_valid(python))
		return err_set(e, ERR_USAGE, "cells: \"" STR_FMT "\" is not PLATFORM/PYTHON",
			STR_ARG(str_head(word, LIMIT_FILE_NAME)));
	*c = (struct promotion_cell){arena_copy(&out->text, platform), arena_copy(&out->text, python)};
	for (size_t i = 0; i < out->cells; i++)
		if (strcmp(out->cell[i].platform, c->platform) == 0 && strcmp(out->cell[i].python, c->python) == 0)
			return err_set(e, ERR_USAGE, "cells: %s/%s stands there twice", c->platform, c->python);
	out->cells++;
	return 0;
}

static int read_words(struct promotion_rules *out, struct str text, size_t limit, const char *key,
	int (*read)(struct promotion_rules *, struct str, struct err *), struct err *e)
{
	struct str word;
	for (size_t count = 0; next_word(&text, &word); count++) {
		if (count == limit)
			return err_set(e, ERR_USAGE, "%s: more than %zu", key, limit);
		if (read(out, word, e) < 0)
			return -1;
	}
	return 0;
}

int promotion_rules_read(const char *requires, const char *cells, struct promotion_rules *out, struct err *e)
{
	*out = (struct promotion_rules){0};
	out->rule = arena_alloc_aligned(&out->text, LIMIT_PROMOTION_RULES * sizeof(*out->rule));
	out->cell = arena_alloc_aligned(&out->text, LIMIT_PROMOTION_CELLS * sizeof(*out->cell));
	if (read_words(out, str_from(requires ? requires : ""), LIMIT_PROMOTION_RULES, "requires", read_rule, e) == 0 &&
		read_words(out, str_from(cells ? cells : ""), LIMIT_PROMOTION_CELLS, "cells", read_cell, e) == 0) {
		if (out->rules || !out->cells)
			return 0;
		err_set(e, ERR_USAGE, "cells are named, but no kind of evidence is required");
	}
	promotion_rules_release(out);
	return -1;
}

void promotion_rules_release(struct promotion_rules *r)
{
	arena_release(&r->text);
	*r = (struct promotion_rules){0};
}

// --- the decision ---

// Whether the record satisfies the rule. If not, the reason is appended to why.
static bool is_enough(const struct promotion_rule *rule, const struct promotion_record *r, int64_t now, struct buf *why)
{
	uint64_t ran = r->passed + r->failed;
	int64_t since = r->made < r->received ? r->made : r->received, age = since < now ? now - since : 0;
	if (r->overrides)
		return true;
	if (r->failed)
		buf_printf(why, "%" PRIu64 " of %s failed", r->failed, COUNTED(ran, "test|tests"));
	else if (ran < rule->min_tests)
		buf_printf(why, "%s ran, %s required", COUNTED(ran, "test|tests"), COUNTED(rule->min_tests, "is|are"));
	else if (r->skipped > rule->max_skipped)
		buf_printf(why, "%s skipped, at most %" PRIu64 " may be", COUNTED(r->skipped, "test was|tests were"),
			rule->max_skipped);
	else if (age > rule->max_age)
		buf_printf(why, "the evidence is %s old, at most %s allowed",
			COUNTED((uint64_t)age / 3600, "hour|hours"), COUNTED((uint64_t)rule->max_age / 3600, "is|are"));
	else
		return true;
	buf_printf(why, " (%s%s%s)", rule->kind, r->match ? " of " : "", r->match ? match_words[r->match] : "");
	return false;
}

bool promotion_rule_holds(const struct promotion_rule *rule, const struct promotion_cell *cell, int64_t now,
	promotion_find_fn *find, void *ctx, struct buf *why)
{
	struct promotion_record record = {0};
	CLEANUP(buf_release) struct buf reason = {0};
	buf_init(&reason, 1024);
	if (!find(ctx, rule, cell, &record))
		buf_printf(&reason, "no evidence of kind %s%s%s", rule->kind, record.lack ? "; " : "",
			record.lack ? record.lack : "");
	else if (is_enough(rule, &record, now, &reason))
		return true;
	buf_printf(why, "%s/%s: %s", cell->platform, cell->python, reason.data);
	return false;
}

bool promotion_is_allowed(const struct promotion_rules *rules, const struct promotion_cell *cell, size_t cells,
	int64_t now, promotion_find_fn *find, void *ctx, struct buf *why)
{
	if (!rules->rules)
		return true;
	if (!cells)
		buf_puts(why, "it installs in none of the cells, so that nothing can show that it works");
	for (size_t i = 0; i < cells; i++)
		for (size_t j = 0; j < rules->rules; j++)
			if (!promotion_rule_holds(&rules->rule[j], &cell[i], now, find, ctx, why))
				return false;
	return cells > 0;
}
