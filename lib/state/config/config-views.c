// SPDX-License-Identifier: Apache-2.0
// What the views of a configuration say together: where the files of a view come from, and what a promotion needs.
#include <string.h>

#include "lib/base/mem.h"
#include "lib/state/config/config.h"
#include "lib/state/config/expectations.h"
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

int config_views_complete(struct config *c, struct err *e)
{
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
