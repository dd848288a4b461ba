// SPDX-License-Identifier: Apache-2.0
#include "server/pages/page-frame.h"

#include "lib/base/log.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/store/retired.h"
#include "server/core/build-results.h"
#include "server/pages/builds-data.h"

static bool has_always(struct server_context *s UNUSED, struct catalog *c UNUSED, const struct readable *r UNUSED)
{
	return true;
}

static size_t platforms_in_use(const struct readable *r, const char **name)
{
	const struct store *store = &r->site->store;
	size_t count = 0;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->is_readable[i] && !retired_is(&store->platform[i]))
			name[count++] = store->platform[i].name;
	return count;
}

// Reads one attempt.
static int find_builds(struct server_context *s, const struct builds_query *query, bool *has_any, struct err *e)
{
	CLEANUP(results_cleanup) struct results *results = NULL;
	CLEANUP(builds_data_release) struct builds_data data = {0};
	if (build_results_open(s->build_results, s->search_ms, &results, e) < 0 ||
		builds_data_read(results, query, &data, e) < 0)
		return -1;
	*has_any = data.attempts > 0;
	return 0;
}

static bool has_builds(struct server_context *s, struct catalog *c UNUSED, const struct readable *r)
{
	struct err e = ERR_INIT;
	bool has_any = false;
	const char **name CLEANUP(mem_free) = xcalloc(r->site->store.platform_count + 1, sizeof(const char *));
	const struct builds_query query = {
		.platforms = name,
		.platform_count = platforms_in_use(r, name),
		.limit = 1,
		.only_attempts = true,
	};
	if (find_builds(s, &query, &has_any, &e) < 0 && e.kind != ERR_NOT_FOUND)
		log_error("%s", e.msg);
	return has_any;
}

static bool has_plan(struct server_context *s UNUSED, struct catalog *c, const struct readable *r UNUSED)
{
	return catalog_plan_exists(c);
}

static bool has_coverage(struct server_context *s UNUSED, struct catalog *c UNUSED, const struct readable *r)
{
	const struct store *store = &r->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->is_readable[i] && !retired_is(&store->platform[i]) &&
			store->platform[i].profile.environment_count)
			return true;
	return false;
}

// NULL: no server has it.
static bool (*const has_section[HTML_SECTION_COUNT])(struct server_context *, struct catalog *, const struct readable *) = {
	[HTML_SECTION_HOME] = has_always,
	[HTML_SECTION_COVERAGE] = has_coverage,
	[HTML_SECTION_BUILDS] = has_builds,
	[HTML_SECTION_PLAN] = has_plan,
	[HTML_SECTION_DOCS] = has_always,
};

// The path has a folder for each slash but the first.
static const char *root_from(const char *path)
{
	static const char ups[] = "../../../../../../../../";
	size_t folders = 0;
	for (const char *p = path + 1; *p; p++)
		folders += *p == '/';
	return 3 * folders < sizeof(ups) ? ups + sizeof(ups) - 1 - 3 * folders : "/";
}

struct html_frame page_frame_for(struct server_context *s, struct catalog *c, const char *path, enum html_section here,
	const struct readable *readable)
{
	struct html_frame f = {.root = root_from(path), .here = here, .has_search = true};
	for (int i = 0; i < HTML_SECTION_COUNT; i++)
		if (has_section[i] && has_section[i](s, c, readable))
			f.sections |= 1U << i;
	return f;
}

struct html_frame page_frame(struct server_context *s, struct catalog *c, const char *path, enum html_section here)
{
	CLEANUP(readable_release) struct readable everybody;
	readable_init_public(&everybody, server_context_site(s));
	return page_frame_for(s, c, path, here, &everybody);
}
