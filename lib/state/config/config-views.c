// SPDX-License-Identifier: Apache-2.0
// What the views of a configuration say together: where the files of a view come from, and what a promotion needs.
#include "lib/state/config/config-views.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/state/config/config-type.h"
#include "lib/state/config/config.h"
#include "lib/state/config/promotion-rules.h"

const struct config_view *config_view(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (strcmp(c->views[i].name, name) == 0)
			return &c->views[i];
	return NULL;
}

// Without [platform] sections the platforms are the store's folders, which site_init() checks.
static bool may_be_platform(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->platform_count; i++)
		if (strcmp(c->platforms[i].name, name) == 0)
			return true;
	return c->platform_count == 0;
}

// Views lead to their source in fewer steps than there are views, or in a circle.
static int check_source(const struct config *c, const struct config_view *v, struct err *e)
{
	const struct config_view *at = v;
	for (size_t steps = 0; at && at->from; steps++) {
		const struct config_view *next = config_view(c, at->from);
		if (!next && !may_be_platform(c, at->from))
			return err_set(e, ERR_USAGE, "[view %s] from names \"%s\", which is no view and no platform",
				at->name, at->from);
		if (steps == c->view_count)
			return err_set(e, ERR_USAGE, "[view %s] from leads back to itself", v->name);
		at = next;
	}
	return 0;
}

static bool is_among(const char *name, char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

// The source was completed before.
static int take_platforms(struct config *c, struct config_view *v, struct err *e)
{
	const struct config_view *source = config_view(c, v->from);
	char *const *names = source ? source->platforms : &v->from;
	size_t count = source ? source->platform_count : 1;
	for (size_t i = 0; i < v->platform_count; i++)
		if (!is_among(v->platforms[i], names, count))
			return err_set(e, ERR_USAGE, "[view %s] has the platform %s, which %s does not have", v->name,
				v->platforms[i], v->from);
	if (v->platform_count)
		return 0;
	v->platforms = xcalloc(count, sizeof(*v->platforms));
	for (; v->platform_count < count; v->platform_count++)
		v->platforms[v->platform_count] = xstrdup(names[v->platform_count]);
	return 0;
}

// check_source() has shown that this ends.
static int complete_view(struct config *c, struct config_view *v, struct err *e)
{
	for (size_t i = 0; i < c->view_count && v->from; i++)
		if (strcmp(c->views[i].name, v->from) == 0 && complete_view(c, &c->views[i], e) < 0)
			return -1;
	if (v->from)
		return take_platforms(c, v, e);
	return v->platform_count ? 0 : err_set(e, ERR_USAGE, "[view %s] has no platforms", v->name);
}

static int check_rules(const struct config_view *v, struct err *e)
{
	if (!v->from && (v->requires || v->cells || v->expect))
		return err_set(e, ERR_USAGE, "[view %s] %s evidence, but has no from", v->name,
			v->requires || v->cells ? "requires" : "expects");
	CLEANUP(expectations_release) struct expectations expected = {0};
	if (expectations_read(v->expect, &expected, e) < 0)
		return err_prefix(e, "[view %s] ", v->name);
	CLEANUP(promotion_rules_release) struct promotion_rules rules = {0};
	if (promotion_rules_read(v->requires, v->cells, &rules, e) < 0)
		return err_prefix(e, "[view %s] ", v->name);
	for (size_t i = 0; i < rules.cells; i++)
		if (!is_among(rules.cell[i].platform, v->platforms, v->platform_count))
			return err_set(e, ERR_USAGE,
				"[view %s] cells has the platform %s, which the view does not have", v->name,
				rules.cell[i].platform);
	return 0;
}

// --- the upstreams of a view ---

static bool names_upstreams(const struct config_view *v)
{
	return v && v->upstream && strcmp(v->upstream, "merge") != 0 && strcmp(v->upstream, "no") != 0;
}

static void add_all(const struct config *c, struct config_order *out)
{
	for (; out->count < c->upstreams.count; out->count++)
		out->item[out->count] = out->count;
}

// A name that there is not was held back by config_keep_upstreams().
static void add_named(const struct config *c, const char *names, struct config_order *out)
{
	for (struct str rest = str_from(names); rest.len;) {
		struct str name = str_cut(&rest, ' ');
		for (size_t i = 0; i < c->upstreams.count; i++)
			if (str_eq(name, str_from(c->upstreams.item[i].name)))
				out->item[out->count++] = (uint8_t)i;
	}
}

void config_view_order(const struct config *c, const struct config_view *v, struct config_order *out)
{
	const char *indexes = v && v->indexes ? v->indexes : c->upstream_indexes;
	bool merges = v && v->upstream ? strcmp(v->upstream, "no") != 0 : c->upstream_merge;
	*out = (struct config_order){.is_together = indexes && strcmp(indexes, "together") == 0};
	if (names_upstreams(v))
		add_named(c, v->upstream, out);
	else if (merges)
		add_all(c, out);
}

void config_default_order(const struct config *c, struct config_order *out)
{
	config_view_order(c, c->default_view ? config_view(c, c->default_view) : NULL, out);
	if (!out->count)
		add_all(c, out);
}

bool config_order_has_none(const struct config_order *order)
{
	for (size_t i = 0; i < order->count; i++)
		if (!(order->aside & (uint32_t)1 << order->item[i]))
			return false;
	return true;
}

static int refuse_upstream(const struct config *c, const struct config_view *v, struct str name, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	CLEANUP(buf_release) struct buf hint = buf_up_to(ERR_MSG_SIZE);
	name_choice_init(&names, name);
	for (size_t i = 0; i < c->upstreams.count; i++)
		name_choice_add(&names, c->upstreams.item[i].name);
	name_choice_hint(&names, &hint);
	return err_set(e, ERR_USAGE, "[view %s] upstream names \"" STR_FMT "\", which is no [upstream NAME]%s", v->name,
		STR_ARG(name), hint.len ? hint.data : "");
}

static int check_upstreams(const struct config *c, const struct config_view *v, struct err *e)
{
	bool is_named[LIMIT_UPSTREAMS] = {false};
	struct str rest = names_upstreams(v) ? str_from(v->upstream) : (struct str){0};
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		size_t i = 0;
		while (i < c->upstreams.count && !str_eq(name, str_from(c->upstreams.item[i].name)))
			i++;
		if (i == c->upstreams.count)
			return refuse_upstream(c, v, name, e);
		if (is_named[i])
			return err_set(e, ERR_USAGE, "[view %s] upstream names " STR_FMT " twice", v->name, STR_ARG(name));
		is_named[i] = true;
	}
	return 0;
}

int config_views_complete(struct config *c, struct err *e)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (check_upstreams(c, &c->views[i], e) < 0)
			return -1;
	for (size_t i = 0; i < c->view_count; i++)
		if (check_source(c, &c->views[i], e) < 0)
			return -1;
	for (size_t i = 0; i < c->view_count; i++)
		if (complete_view(c, &c->views[i], e) < 0 || check_rules(&c->views[i], e) < 0)
			return -1;
	return 0;
}

bool config_merges_platforms(const struct config *c)
{
	const struct config_view *v = c->default_view ? config_view(c, c->default_view) : NULL;
	return v ? v->platform_count > 1 : !c->default_view;
}

// --- what views expect ---

static int refuse_expected_word(const char *what, struct str word, struct err *e)
{
	return err_set(e, ERR_USAGE, "expect: \"" STR_FMT "\" is %s; it wants times and kinds, as 26h integration",
		STR_ARG(str_head(word, LIMIT_EVIDENCE_KIND)), what);
}

// "TIME KIND", off the front of *rest.
static int read_expectation(struct expectations *out, struct str *rest, struct err *e)
{
	struct expectation *x = &out->item[out->count];
	uint64_t seconds = 0;
	const struct str whole = *rest;
	if (!config_times_next(rest, &seconds) || !seconds)
		return refuse_expected_word("no time", str_cut(&(struct str){whole.ptr, whole.len}, ' '), e);
	*rest = str_trim(*rest);
	struct str kind = str_cut(rest, ' ');
	if (!evidence_kind_is_valid(kind))
		return refuse_expected_word("no kind of evidence", kind, e);
	*x = (struct expectation){arena_copy(&out->text, kind), (int64_t)seconds};
	for (size_t i = 0; i < out->count; i++)
		if (strcmp(out->item[i].kind, x->kind) == 0)
			return err_set(e, ERR_USAGE, "expect: %s stands there twice", x->kind);
	out->count++;
	return 0;
}

int expectations_read(const char *text, struct expectations *out, struct err *e)
{
	struct str rest = str_trim(str_from(text ? text : ""));
	*out = (struct expectations){0};
	while (rest.len) {
		bool has_room = out->count < LIMIT_EXPECTATIONS;
		if (!has_room)
			err_set(e, ERR_USAGE, "expect: more than %d kinds", LIMIT_EXPECTATIONS);
		if (!has_room || read_expectation(out, &rest, e) < 0) {
			expectations_release(out);
			return -1;
		}
		rest = str_trim(rest);
	}
	return 0;
}

void expectations_release(struct expectations *x)
{
	arena_release(&x->text);
	*x = (struct expectations){0};
}
