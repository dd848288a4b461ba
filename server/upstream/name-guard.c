// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/name-guard.h"

#include "lib/base/log.h"
#include "lib/state/upstream/owned-names.h"
#include "server/http/metrics.h"
#include "server/upstream/upstream-pages.h"

static enum rule rule_of(struct service *s, const char *project)
{
	return rules_find(&service_site(s)->rules, project);
}

static bool may_be_in(struct service *s, const struct platform *const *platform, size_t count, const char *project)
{
	if (!atomic_load_explicit(&s->names_known, memory_order_acquire))
		return true;
	for (size_t i = 0; i < count; i++)
		if (nameset_may_have(s->names, platform[i]->id, str_from(project)))
			return true;
	return false;
}

static bool may_be_here(struct service *s, const char *project, bool publicly)
{
	const struct store *store = &service_site(s)->store;
	const struct platform *one;
	for (size_t i = 0; i < store->platform_count; i++)
		if (one = &store->platform[i], (!publicly || !one->is_private) && may_be_in(s, &one, 1, project))
			return true;
	return false;
}

int owned_look(struct service *s, struct catalog *c, const char *project, struct presence *out, struct err *e)
{
	*out = (struct presence){0};
	return may_be_here(s, project, false) ? owner_look(c, &service_site(s)->hidden_platforms, project, out, e) : 0;
}

enum owner owned_judge(struct service *s, const struct presence *here, const struct upstream_answer *upstream)
{
	struct err e = ERR_INIT;
	const char *project = upstream->project;
	if (rule_of(s, project) != RULE_MERGE)
		return OWNER_BOTH;
	if (ours_has(s->ours, project))
		return OWNER_OURS;
	enum owner owner = owner_judge(here, upstream);
	if (owner == OWNER_OURS && ours_add(s->ours, project, &e) < 0)
		log_error("that %s is ours is not noted: %s", may_be_here(s, project, true) ? project : "a name", e.msg);
	return owner;
}

int64_t owned_since(struct service *s, const struct presence *here, const char *project)
{
	return here->is_open && rule_of(s, project) == RULE_MERGE && !ours_has(s->ours, project) ? here->arrived : 0;
}

static int see_if_had(void *ctx, const struct upstream_answer *upstream, struct err *e UNUSED)
{
	*(bool *)ctx = upstream->fetched != 0;
	return 0;
}

bool owned_is_hidden(struct service *s, struct catalog *c, const struct view *v, const struct presence *here,
	const char *project)
{
	bool was_had = false;
	struct err unsaid = ERR_INIT;
	if (!owner_is_hidden(here) || rule_of(s, project) != RULE_MERGE)
		return false;
	if (v && may_be_in(s, v->platform, v->platform_count, project))
		return true;
	return gateway_recall(s->gateway, c, project, see_if_had, &was_had, &unsaid) < 0 || !was_had;
}

bool owned_is_known(struct service *s, const char *project)
{
	return rule_of(s, project) == RULE_MERGE && ours_has(s->ours, project);
}

bool owned_is_noted(struct service *s, const char *project)
{
	return s->ours && ours_has(s->ours, project);
}

static void tell(struct service *s, enum owner owner, const struct upstream_answer *upstream)
{
	const char *project = upstream->project;
	if (upstream->result != UPSTREAM_KNOWN || owner == OWNER_BOTH)
		return;
	metrics_add(s->metrics, METRIC_NAME_CONFLICTS, 1);
	if (owner == OWNER_OURS)
		log_warn("upstream has a project %s now, which is ours: its files are not merged ([upstream] shared = %s would)",
			project, project);
	else
		log_warn("upstream has a project %s, and does not say whether it had it before it came here: its files are not merged "
			 "([upstream] shared = %s would)", project, project);
}

int owned_learn(void *ctx, const struct upstream_answer *upstream, struct err *e)
{
	struct service *s = ctx;
	struct reader reader;
	struct presence here;
	if (rule_of(s, upstream->project) != RULE_MERGE || !may_be_here(s, upstream->project, false))
		return 0;
	if (readers_take(s->readers, &reader, e) < 0)
		return -1;
	int looked = owned_look(s, reader.catalog, upstream->project, &here, e);
	readers_give(s->readers, &reader);
	if (looked < 0 || !here.is_open)
		return looked;
	enum owner owner = owned_judge(s, &here, upstream);
	if (may_be_here(s, upstream->project, true)) // else nobody who reads the log may know the name
		tell(s, owner, upstream);
	return 0;
}
