// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-setup.h"

#include <string.h>

#include "lib/base/log.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/owned-names.h"
#include "server/core/simple-pages.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/project-list.h"
#include "server/upstream/upstream-files.h"
#include "server/upstream/upstream-pages.h"

enum { PROJECT_LIST_SECONDS = 3600 }; // the list of all projects is requested at most so often

// Before any client gets the answer.
static int learn_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	if (answer->is_changed)
		simple_pages_drop_project(ctx, answer->project);
	return name_guard_learn(ctx, answer, e);
}

static void drop_lists(void *ctx)
{
	simple_pages_drop_lists(ctx);
}

static void drop_page(void *ctx, const char *project)
{
	simple_pages_drop_project(ctx, project);
}

static unsigned project_list_age(const struct config *c)
{
	return (unsigned)(c->upstream_max_age > PROJECT_LIST_SECONDS ? c->upstream_max_age : PROJECT_LIST_SECONDS);
}

static void start_project_list(struct server_context *s, const struct config *c, const char *files)
{
	if (strcmp(c->upstream_root, "all") != 0)
		return;
	s->project_list = project_list_new(&(struct project_list_options){
		.folder = files,
		.url = upstream_first_url(s->upstream),
		.pool = upstream_pool(s->upstream),
		.max_age = project_list_age(c),
		.is_offline = c->upstream_offline,
		.changed = drop_lists,
		.ctx = s,
	});
}

// A view whose platforms' machines are unknown lists all wheels, because any could fit.
static void warn_of_unknown_platforms(const struct site *site)
{
	for (size_t i = 0; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const struct platform *p = v->wheels.unknown;
		if (!v->merges || !v->wheels.is_enabled || v->wheels.tag.count)
			continue;
		CLEANUP(mem_free) char *name = v->name ? xasprintf("view %s", v->name) : xstrdup("the default view");
		if (p)
			log_warn("%s lists all of upstream's wheels: the machines of platform %s are unknown "
				 "([platform %s] pythons, arch and libc describe them)",
				name, p->name, p->name);
		else
			log_warn("%s lists all of upstream's wheels: it has no platform "
				 "([platform NAME] pythons, arch and libc describe its machines)",
				name);
	}
}

int upstream_setup_start(struct server_context *s, const struct config *c, struct err *e)
{
	CLEANUP(mem_free) char *ours = owned_names_path(s->catalog_path);
	CLEANUP(mem_free)
	char *files = c->upstream_files_path ? xstrdup(c->upstream_files_path) : xasprintf("%s.files", s->catalog_path);
	if (!server_context_site(s)->merges)
		return 0;
	warn_of_unknown_platforms(server_context_site(s));
	if (owned_names_open(ours, &s->owned_names, e) < 0)
		return -1;
	owned_names_watch(s->owned_names, drop_page, s);
	if (file_cache_open(files, c->upstream_files_size, &s->file_cache, e) < 0)
		return -1;
	s->upstream_pages = upstream_pages_start(c, s->upstream, s->catalog_pool, s->metrics, learn_answer, s);
	start_project_list(s, c, files);
	s->fetch_pool = upstream_new_pool(c);
	fetch_pool_start(s->fetch_pool);
	s->upstream_files =
		upstream_files_new(s->fetch_pool, (unsigned)c->upstream_concurrency, s->file_cache, s->metrics);
	return 0;
}

void upstream_setup_configure(struct server_context *s, const struct config *c)
{
	if (s->upstream_pages)
		upstream_pages_configure(s->upstream_pages, c);
	if (s->file_cache)
		file_cache_limit(s->file_cache, c->upstream_files_size);
	warn_of_unknown_platforms(server_context_site(s));
	if (s->project_list)
		project_list_configure(s->project_list, project_list_age(c), c->upstream_offline);
}

void upstream_setup_cancel_pages(struct server_context *s)
{
	upstream_pages_cancel(s->upstream_pages);
	project_list_cancel(s->project_list);
}

void upstream_setup_drop_left(struct server_context *s)
{
	if (s->upstream_files)
		upstream_files_drop_left(s->upstream_files);
	if (s->upstream_pages)
		upstream_pages_drop_left(s->upstream_pages);
}

void upstream_setup_cancel(struct server_context *s)
{
	upstream_setup_cancel_pages(s);
	upstream_files_cancel(s->upstream_files);
}

// Freeing the fetch pools ends all requests in flight.
void upstream_setup_stop(struct server_context *s)
{
	upstream_setup_cancel(s);
	fetch_pool_free(s->fetch_pool);
	upstream_files_free(s->upstream_files);
	upstream_pages_free(s->upstream_pages);
	upstream_free(STEAL_PTR(s->upstream));
	project_list_free(s->project_list);
	file_cache_close(s->file_cache);
	owned_names_close(s->owned_names);
}
