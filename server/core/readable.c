// SPDX-License-Identifier: Apache-2.0
#include "server/core/readable.h"

#include <stdlib.h>

#include "server/core/auth.h"
#include "server/core/server-context.h"

static void note_ids(struct readable *r)
{
	const struct store *store = &r->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].id >= (int64_t)r->ids)
			r->ids = (size_t)store->platform[i].id + 1;
	r->of_id = xcalloc(r->ids + 1, sizeof(*r->of_id));
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].id > 0)
			r->of_id[store->platform[i].id] = i + 1;
}

static void note_platforms(struct readable *r)
{
	const struct store *store = &r->site->store;
	r->is_readable = xcalloc(store->platform_count + 1, sizeof(*r->is_readable));
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		r->is_readable[i] = !p->is_private || token_grant_has(&r->grant, p->name, NULL);
		r->has_private |= p->is_private && r->is_readable[i];
	}
}

void readable_init_public(struct readable *out, const struct site *site)
{
	*out = (struct readable){.site = site};
	note_platforms(out);
	note_ids(out);
}

void readable_init(struct readable *out, struct server_context *s, const struct request *r, const struct site *site)
{
	*out = (struct readable){.site = site};
	if (r->header[HEADER_AUTHORIZATION])
		auth_read_grant(s, r, &out->grant);
	note_platforms(out);
	note_ids(out);
}

void readable_release(struct readable *r)
{
	token_grant_release(&r->grant);
	free(r->is_readable);
	free(r->of_id);
	*r = (struct readable){0};
}

bool readable_has(const struct readable *r, const struct platform *p, const char *project)
{
	size_t i = (size_t)(p - r->site->store.platform);
	return r->is_readable[i] && (!p->is_private || token_grant_has(&r->grant, p->name, project));
}

const struct platform *readable_platform(const struct readable *r, int64_t id, const char *project)
{
	size_t index = id > 0 && (size_t)id < r->ids ? r->of_id[id] : 0;
	const struct platform *p = index ? &r->site->store.platform[index - 1] : NULL;
	return p && readable_has(r, p, project) ? p : NULL;
}

bool readable_has_project(const struct readable *r, const struct project_entry *p)
{
	for (size_t i = 0; i < p->places; i++)
		if (p->place[i].files && readable_platform(r, p->place[i].platform, p->name))
			return true;
	return false;
}

bool readable_has_view(const struct readable *r, const struct view *v, const char *project)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!readable_has(r, v->platform[i], project))
			return false;
	return true;
}

void readable_keep_whole(struct readable *r)
{
	const struct store *store = &r->site->store;
	r->has_private = false;
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		r->is_readable[i] &= !p->is_private || token_grant_reads(&r->grant, p->name, NULL);
		r->has_private |= p->is_private && r->is_readable[i];
	}
}

const struct platform **readable_list(const struct readable *r, const char *project, size_t *count)
{
	const struct store *store = &r->site->store;
	const struct platform **out = xcalloc(store->platform_count + 1, sizeof(const struct platform *));
	*count = 0;
	for (size_t i = 0; i < store->platform_count; i++)
		if (!store->platform[i].is_private || readable_names(r, &store->platform[i], project))
			out[(*count)++] = &store->platform[i];
	return out;
}

bool readable_names(const struct readable *r, const struct platform *p, const char *project)
{
	return token_grant_reads(&r->grant, p->name, project);
}

uint32_t readable_upstreams(const struct readable *r, const char *project)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < r->site->view_count; i++) {
		const struct view *v = &r->site->view[i];
		for (size_t k = 0; k < v->upstreams.count && readable_has_view(r, v, project); k++)
			bits |= (uint32_t)1 << v->upstreams.item[k];
	}
	return bits;
}

uint32_t readable_merged(const struct readable *r, struct owned_names *ours, const char *project)
{
	const struct site *s = r->site;
	uint32_t bits = readable_upstreams(r, project), merged = 0;
	for (size_t i = 0; i < s->config.upstreams.count; i++) {
		enum name_rule rule = name_rules_find(&s->rules, i, project);
		bool is_ours = rule == NAME_RULE_MERGE && ours && owned_names_has(ours, project, s->config.upstreams.item[i].name);
		if (name_rule_asks_upstream(rule) && !is_ours)
			merged |= bits & (uint32_t)1 << i;
	}
	return merged;
}
