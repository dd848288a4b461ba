// SPDX-License-Identifier: Apache-2.0
#include "server/owned.h"

#include "lib/base/log.h"
#include "lib/state/ours.h"
#include "server/metrics.h"

static bool is_here(struct service *s, const char *project)
{
	const struct site *site = service_site(s);
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (nameset_may_have(s->names, site->store.platform[i].id, str_from(project)))
			return true;
	return false;
}

bool owned_is(struct service *s, const struct upstream_answer *upstream)
{
	struct err e = ERR_INIT;
	const char *project = upstream->project;
	// Not one that it had once: a mirror in disorder, or one that is gone, makes no name ours.
	bool is_unknown = !upstream->fetched &&
		(upstream->standing == UPSTREAM_NOT_FOUND || upstream->standing == UPSTREAM_ABSENT);
	if (rules_find(&service_site(s)->rules, project) != RULE_MERGE)
		return false;
	if (ours_has(s->ours, project))
		return true;
	if (!is_unknown || !is_here(s, project))
		return false;
	if (ours_add(s->ours, project, &e) < 0)
		log_error("that %s is ours is not noted: %s", project, e.msg);
	return true;
}

bool owned_is_known(struct service *s, const char *project)
{
	return rules_find(&service_site(s)->rules, project) == RULE_MERGE && ours_has(s->ours, project);
}

bool owned_is_noted(struct service *s, const char *project)
{
	return s->ours && ours_has(s->ours, project);
}

int owned_learn(void *ctx, const struct upstream_answer *upstream, struct err *e UNUSED)
{
	struct service *s = ctx;
	if (!owned_is(s, upstream) || upstream->result != UPSTREAM_KNOWN)
		return 0;
	metrics_add(s->metrics, METRIC_NAME_CONFLICTS, 1);
	log_warn("upstream has a project %s now, which is ours: its files are not merged ([upstream] shared = %s would)",
		upstream->project, upstream->project);
	return 0;
}
