// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/name-guard.h"

#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/owned-names.h"
#include "server/http/metrics.h"
#include "server/upstream/upstream-pages.h"

static bool may_be_in(struct server_context *s, const struct platform *const *platform, size_t count,
	const char *project)
{
	if (!atomic_load_explicit(&s->project_filter_is_complete, memory_order_acquire))
		return true;
	for (size_t i = 0; i < count; i++)
		if (project_filter_may_have(s->project_filter, platform[i]->id, str_from(project)))
			return true;
	return false;
}

static bool may_be_here(struct server_context *s, const char *project, bool publicly)
{
	const struct store *store = &server_context_site(s)->store;
	const struct platform *one;
	for (size_t i = 0; i < store->platform_count; i++)
		if (one = &store->platform[i], (!publicly || !one->is_private) && may_be_in(s, &one, 1, project))
			return true;
	return false;
}

static int look_up(struct name_guard *g, struct catalog *c, const char *project, struct err *e)
{
	const struct site *site = server_context_site(g->context);
	return may_be_here(g->context, project, false)
		       ? name_owner_look(c, site->hidden, site->config.upstreams.count, project, g->here, e)
		       : 0;
}

static int note_if_fetched(void *ctx, const struct upstream_answer *upstream, struct err *e UNUSED)
{
	*(bool *)ctx = upstream->fetched != 0;
	return 0;
}

static bool is_merged(struct server_context *s, size_t upstream, const char *project)
{
	return name_rules_find(&server_context_site(s)->rules, upstream, project) == NAME_RULE_MERGE;
}

static bool is_hidden_from(const struct name_guard *g, struct catalog *c, const struct view *v, size_t upstream,
	const char *project)
{
	struct server_context *s = g->context;
	const struct config_order one = {.item = {(uint8_t)upstream}, .count = 1};
	bool was_fetched = false;
	struct err unsaid = ERR_INIT;
	if (!name_owner_is_hidden(&g->here[upstream]) || !is_merged(s, upstream, project))
		return false;
	if (v && may_be_in(s, v->platform, v->platform_count, project))
		return true;
	return upstream_pages_load_cached(s->upstream_pages, c, project, &one, note_if_fetched, &was_fetched, &unsaid) < 0 ||
	       !was_fetched;
}

static bool is_recorded(struct server_context *s, size_t upstream, const char *project)
{
	const struct config_upstreams *u = &server_context_site(s)->config.upstreams;
	return is_merged(s, upstream, project) && owned_names_has(s->owned_names, project, u->item[upstream].name);
}

int name_guard_begin(struct name_guard *g, struct server_context *s, struct catalog *c, const struct view *v,
	const struct config_order *order, const char *project, struct err *e)
{
	*g = (struct name_guard){.context = s, .order = *order};
	g->rule = name_rules_admit(&server_context_site(s)->rules, project, &g->order);
	if (look_up(g, c, project, e) < 0)
		return -1;
	const struct config_order admitted = g->order;
	g->order.count = 0;
	for (size_t i = 0; i < admitted.count; i++) {
		size_t upstream = admitted.item[i];
		if (is_hidden_from(g, c, v, upstream, project))
			continue;
		g->order.item[g->order.count++] = (uint8_t)upstream;
		if (is_recorded(s, upstream, project))
			g->order.aside |= (uint32_t)1 << upstream;
	}
	return 0;
}

struct guard_settling {
	struct name_guard *guard;
	bool is_undecided;
};

static int note_owner(void *ctx, size_t upstream, bool is_ours, const struct upstream_answer *one, struct err *e UNUSED)
{
	struct guard_settling *x = ctx;
	struct server_context *s = x->guard->context;
	struct err why = ERR_INIT;
	x->is_undecided |= !is_ours;
	if (is_ours &&
		owned_names_add(s->owned_names, &one->project, 1, upstream_noted_name(s->upstreams, upstream), &why) < 0)
		log_error("%s is ours, which cannot be recorded: %s",
			may_be_here(s, one->project, true) ? one->project : "a name", why.msg);
	return 0;
}

bool name_guard_settle(struct name_guard *g, const struct upstream_answer *answer)
{
	struct guard_settling x = {.guard = g};
	struct err unused = ERR_INIT;
	const struct name_rules *rules = &server_context_site(g->context)->rules;
	if (upstream_settle_owner(g->context->upstreams, rules, g->here, answer, &g->order, note_owner, &x, &unused) < 0)
		log_error("%s", unused.msg); // note_owner() does not fail
	return x.is_undecided;
}

int64_t name_guard_since(const struct name_guard *g)
{
	int64_t since = 0;
	for (size_t i = 0; i < g->order.count; i++) {
		size_t upstream = g->order.item[i];
		const struct name_presence *here = &g->here[upstream];
		bool counts = here->is_open && !(g->order.aside & (uint32_t)1 << upstream);
		if (counts && here->arrived > since)
			since = here->arrived;
	}
	return since > clock_wall_seconds() ? 0 : since;
}

static void warn_of_conflict(struct server_context *s, bool is_ours, size_t upstream, const char *project)
{
	const char *name = upstream_noted_name(s->upstreams, upstream), *space = name ? " " : "";
	name = name ? name : "";
	metrics_add(s->metrics, METRIC_NAME_CONFLICTS, 1);
	if (!may_be_here(s, project, true)) // the log must not reveal a private name
		return;
	if (is_ours)
		log_warn("upstream%s%s now has a project %s, which is ours: its files are not merged "
			 "([upstream%s%s] shared = %s would merge them)",
			space, name, project, space, name, project);
	else
		log_warn("upstream%s%s has a project %s, and it is not known whether it had it first: its files are not merged "
			 "([upstream%s%s] shared = %s would merge them)",
			space, name, project, space, name, project);
}

int name_guard_learn(void *ctx, const struct upstream_answer *upstream, struct err *e)
{
	struct server_context *s = ctx;
	struct catalog_lease lease;
	size_t number = upstream_home(upstream, NULL).number;
	struct name_guard g = {.context = s,
		.order = {.item = {(uint8_t)number}, .count = 1, .is_together = false}};
	if (!is_merged(s, number, upstream->project) || !may_be_here(s, upstream->project, false))
		return 0;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int looked = look_up(&g, lease.catalog, upstream->project, e);
	catalog_pool_give(s->catalog_pool, &lease);
	if (looked < 0 || !g.here[number].is_open)
		return looked;
	bool is_undecided = false, is_ours = is_recorded(s, number, upstream->project);
	if (!is_ours)
		is_undecided = name_guard_settle(&g, upstream);
	is_ours = is_ours || (g.order.aside && !is_undecided);
	if (upstream->result == UPSTREAM_KNOWN && (is_ours || is_undecided))
		warn_of_conflict(s, is_ours, number, upstream->project);
	return 0;
}
