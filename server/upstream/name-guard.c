// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/name-guard.h"

#include "lib/base/log.h"
#include "lib/state/upstream/owned-names.h"
#include "server/http/metrics.h"
#include "server/upstream/upstream-pages.h"

static enum name_rule name_rule_of(struct server_context *s, const char *project)
{
	return name_rules_find(&server_context_site(s)->rules, project);
}

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

int name_guard_lookup(struct server_context *s, struct catalog *c, const char *project, struct name_presence *out,
	struct err *e)
{
	*out = (struct name_presence){0};
	return may_be_here(s, project, false)
		       ? name_owner_look(c, &server_context_site(s)->hidden_platforms, project, out, e)
		       : 0;
}

enum name_owner name_guard_owner(struct server_context *s, const struct name_presence *here,
	const struct upstream_answer *upstream)
{
	struct err e = ERR_INIT;
	const char *project = upstream->project;
	if (name_rule_of(s, project) != NAME_RULE_MERGE)
		return NAME_OWNER_BOTH;
	if (owned_names_has(s->owned_names, project))
		return NAME_OWNER_OURS;
	enum name_owner owner = name_owner_judge(here, upstream);
	if (owner == NAME_OWNER_OURS && owned_names_add(s->owned_names, &project, 1, &e) < 0)
		log_error("%s is ours, which cannot be recorded: %s",
			may_be_here(s, project, true) ? project : "a name", e.msg);
	return owner;
}

int64_t name_guard_since(struct server_context *s, const struct name_presence *here, const char *project)
{
	return here->is_open && name_rule_of(s, project) == NAME_RULE_MERGE && !owned_names_has(s->owned_names, project)
		       ? here->arrived
		       : 0;
}

static int note_if_fetched(void *ctx, const struct upstream_answer *upstream, struct err *e UNUSED)
{
	*(bool *)ctx = upstream->fetched != 0;
	return 0;
}

bool name_guard_is_hidden(struct server_context *s, struct catalog *c, const struct view *v,
	const struct name_presence *here, const char *project)
{
	bool was_fetched = false;
	struct err unsaid = ERR_INIT;
	if (!name_owner_is_hidden(here) || name_rule_of(s, project) != NAME_RULE_MERGE)
		return false;
	if (v && may_be_in(s, v->platform, v->platform_count, project))
		return true;
	return upstream_pages_load_cached(s->upstream_pages, c, project, note_if_fetched, &was_fetched, &unsaid) < 0 ||
	       !was_fetched;
}

bool name_guard_is_ours(struct server_context *s, const char *project)
{
	return name_rule_of(s, project) == NAME_RULE_MERGE && owned_names_has(s->owned_names, project);
}

bool name_guard_is_recorded(struct server_context *s, const char *project)
{
	return s->owned_names && owned_names_has(s->owned_names, project);
}

static void warn_of_conflict(struct server_context *s, enum name_owner owner, const struct upstream_answer *upstream)
{
	const char *project = upstream->project;
	if (upstream->result != UPSTREAM_KNOWN || owner == NAME_OWNER_BOTH)
		return;
	metrics_add(s->metrics, METRIC_NAME_CONFLICTS, 1);
	if (owner == NAME_OWNER_OURS)
		log_warn("upstream now has a project %s, which is ours: its files are not merged "
			 "([upstream] shared = %s would merge them)",
			project, project);
	else
		log_warn(
			"upstream has a project %s, and it is not known whether it had it first: its files are not merged "
			"([upstream] shared = %s would merge them)",
			project, project);
}

int name_guard_learn(void *ctx, const struct upstream_answer *upstream, struct err *e)
{
	struct server_context *s = ctx;
	struct catalog_lease lease;
	struct name_presence here;
	if (name_rule_of(s, upstream->project) != NAME_RULE_MERGE || !may_be_here(s, upstream->project, false))
		return 0;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int looked = name_guard_lookup(s, lease.catalog, upstream->project, &here, e);
	catalog_pool_give(s->catalog_pool, &lease);
	if (looked < 0 || !here.is_open)
		return looked;
	enum name_owner owner = name_guard_owner(s, &here, upstream);
	if (may_be_here(s, upstream->project, true)) // the log must not reveal a private name
		warn_of_conflict(s, owner, upstream);
	return 0;
}
