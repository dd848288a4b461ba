// SPDX-License-Identifier: Apache-2.0
#include "server/upstream/upstream-setup.h"

#include <string.h>

#include "lib/base/log.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/owned-names.h"
#include "server/core/page-key.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/project-list.h"
#include "server/upstream/upstream-files.h"
#include "server/upstream/upstream-pages.h"

enum { ROSTER_SECONDS = 3600 }; // the list of all projects of upstream is not asked for more often

// Before anybody is told.
static int learn(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	if (answer->is_changed)
		page_key_drop_project(ctx, answer->project);
	return owned_learn(ctx, answer, e);
}

static void drop_lists(void *ctx)
{
	page_key_drop_lists(ctx);
}

static void drop_page(void *ctx, const char *project)
{
	page_key_drop_project(ctx, project);
}

static unsigned roster_age(const struct config *c)
{
	return (unsigned)(c->upstream_max_age > ROSTER_SECONDS ? c->upstream_max_age : ROSTER_SECONDS);
}

static void start_roster(struct service *s, const struct config *c, const char *files)
{
	if (strcmp(c->upstream_root, "all") != 0)
		return;
	s->roster = roster_new(&(struct roster_options){
		.folder = files,
		.url = upstream_first_url(s->upstream),
		.pool = upstream_pool(s->upstream),
		.max_age = roster_age(c),
		.is_offline = c->upstream_offline,
		.changed = drop_lists,
		.ctx = s,
	});
}

// Nobody knows what fits a view of which a machine is not known.
static void tell_unknown(const struct site *site)
{
	for (size_t i = 0; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const struct platform *p = v->fitting.unknown;
		if (!v->merges || !v->fitting.is_wanted || v->fitting.tag.count)
			continue;
		CLEANUP(mem_free) char *name = v->name ? xasprintf("view %s", v->name) : xstrdup("the default view");
		if (p)
			log_warn("%s lists all of upstream's wheels: nothing is known of the machines of platform %s ([platform %s] "
				 "pythons, arch, libc would tell)", name, p->name, p->name);
		else
			log_warn("%s lists all of upstream's wheels: it has no platform ([platform NAME] pythons, arch, libc would "
				 "tell of its machines)", name);
	}
}

int merging_start(struct service *s, const struct config *c, struct err *e)
{
	CLEANUP(mem_free) char *ours = ours_path(s->catalog_path);
	CLEANUP(mem_free) char *files = c->upstream_files_path ? xstrdup(c->upstream_files_path)
							       : xasprintf("%s.files", s->catalog_path);
	if (!service_site(s)->merges)
		return 0;
	tell_unknown(service_site(s));
	if (ours_open(ours, &s->ours, e) < 0)
		return -1;
	ours_watch(s->ours, drop_page, s);
	if (depot_open(files, c->upstream_files_size, &s->depot, e) < 0)
		return -1;
	s->gateway = gateway_start(c, s->upstream, s->readers, s->metrics, learn, s);
	start_roster(s, c, files);
	s->files_pool = upstream_new_pool(c);
	fetch_pool_start(s->files_pool);
	s->retrieve = retrieve_new(s->files_pool, (unsigned)c->upstream_concurrency, s->depot, s->metrics);
	return 0;
}

void merging_configure(struct service *s, const struct config *c)
{
	if (s->gateway)
		gateway_configure(s->gateway, c);
	if (s->depot)
		depot_limit(s->depot, c->upstream_files_size);
	tell_unknown(service_site(s));
	if (s->roster)
		roster_configure(s->roster, roster_age(c), c->upstream_offline);
}

void merging_hurry(struct service *s)
{
	gateway_give_up(s->gateway);
	roster_give_up(s->roster);
}

void merging_let_go(struct service *s)
{
	if (s->retrieve)
		retrieve_let_go(s->retrieve);
	if (s->gateway)
		gateway_let_go(s->gateway);
}

void merging_give_up(struct service *s)
{
	merging_hurry(s);
	retrieve_give_up(s->retrieve);
}

// With the pools all that is under way ends.
void merging_stop(struct service *s)
{
	merging_give_up(s);
	fetch_pool_free(s->files_pool);
	retrieve_free(s->retrieve);
	gateway_free(s->gateway);
	upstream_free(STEAL_PTR(s->upstream));
	roster_free(s->roster);
	depot_close(s->depot);
	ours_close(s->ours);
}
