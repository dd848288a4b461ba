// SPDX-License-Identifier: Apache-2.0
#include "lib/view/view.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/suggest.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/view/site-check.h"

static void view_add(struct view *v, const struct platform *p)
{
	v->platform = xreallocarray(v->platform, v->platform_count + 1, sizeof(struct platform *));
	v->platform[v->platform_count++] = p;
	v->is_private |= p->is_private;
}

// Adds an empty view; name is copied, NULL stays NULL.
static struct view *site_add(struct site *s, const char *name)
{
	s->view = xreallocarray(s->view, s->view_count + 1, sizeof(*s->view));
	struct view *v = &s->view[s->view_count++];
	*v = (struct view){.name = name ? xstrdup(name) : NULL, .base = s->base};
	return v;
}

static void add_configured_view(struct site *s, const struct config_view *c)
{
	struct view *v = site_add(s, c->name);
	for (size_t i = 0; i < c->platform_count; i++)
		view_add(v, site_platform(s, str_from(c->platforms[i])));
}

// The configuration section of this view; NULL: none.
static const struct config_view *config_of_view(const struct config *c, const struct view *v)
{
	for (size_t i = 0; i < c->view_count && v->name; i++)
		if (strcmp(c->views[i].name, v->name) == 0)
			return &c->views[i];
	return NULL;
}

static bool config_filters_wheels(const struct config *c, const struct view *v)
{
	const struct config_view *own = config_of_view(c, v);
	const char *which = own && own->upstream_wheels ? own->upstream_wheels : c->upstream_wheels;
	return which && strcmp(which, "fitting") == 0;
}

// view[0] is named by its path.
static bool config_says_upstream(const struct config *c, const struct view *v)
{
	const char *list = c->prune_clients_have_upstream ? c->prune_clients_have_upstream : "no";
	for (struct str rest = str_from(list); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *glob = xstrndup(word.ptr, word.len);
		if (strcmp(list, "yes") == 0 || fnmatch(glob, v->name ? v->name : VIEW_DEFAULT_PATH, 0) == 0)
			return true;
	}
	return false;
}

static uint32_t bits_of(const struct view *v)
{
	uint32_t bits = 0;
	for (size_t i = 0; i < v->upstreams.count; i++)
		bits |= (uint32_t)1 << v->upstreams.item[i];
	return bits;
}

// The default view has the settings of the view that it is configured to be; where there is none it gives nobody
// anything.
static void mark_merging_views(struct site *s, const struct config *c)
{
	const struct view *same = c->default_view ? site_view(s, str_from(c->default_view)) : NULL;
	uint32_t merged = 0, merged_publicly = 0;
	for (size_t i = s->has_no_default ? 1 : 0; i < s->view_count; i++) {
		struct view *v = &s->view[i];
		const struct view *as = i == 0 && same ? same : v;
		config_view_order(c, config_of_view(c, as), &v->upstreams);
		v->has_upstream = v->upstreams.count || config_says_upstream(c, v) || config_says_upstream(c, as);
		if (v->upstreams.count && config_filters_wheels(c, as))
			wheel_filter_init(&v->wheels, v->platform, v->platform_count);
		merged |= bits_of(v);
		merged_publicly |= v->is_private ? 0 : bits_of(v);
	}
	s->merges = merged;
	s->merges_publicly = merged && merged == merged_publicly;
}

// The view or platform where the chain of `from` begins. config_read() has checked that the chain ends.
static const struct view *first_source(const struct site *s, const struct config_view *own)
{
	const char *name = own->from;
	for (const struct config_view *at; (at = config_view(&s->config, name)) && at->from; name = at->from)
		;
	return site_view(s, str_from(name));
}

// The default view has the membership of the view that it is configured to be.
static void set_memberships(struct site *s, const struct config *c)
{
	const struct view *same = c->default_view ? site_view(s, str_from(c->default_view)) : NULL;
	for (size_t i = 0; i < s->view_count; i++) {
		const struct view *as = i == 0 && same ? same : &s->view[i];
		const struct config_view *own = config_of_view(c, as);
		s->view[i].membership = own && own->from ? as->name : NULL;
		s->view[i].source = own && own->from ? first_source(s, own) : NULL;
		s->view[i].generation = GENERATION_NEWEST;
	}
}

int site_read_generations(struct site *s, struct catalog *catalog, struct err *e)
{
	bool went_back = false;
	for (size_t i = 0; i < s->view_count; i++) {
		struct catalog_view found;
		if (!s->view[i].membership)
			continue;
		if (catalog_view_find(catalog, s->view[i].membership, &found, e) < 0)
			return -1;
		int64_t now = found.is_damaged && !found.generation ? GENERATION_UNKNOWN : found.generation;
		went_back |= now < atomic_exchange_explicit(&s->newest[i], now, memory_order_acq_rel);
	}
	return went_back;
}

int64_t site_generation(const struct site *s, const struct view *v)
{
	if (!v->membership || v->generation != GENERATION_NEWEST)
		return v->generation;
	return atomic_load_explicit(&s->newest[(v->whole ? v->whole : v) - s->view], memory_order_acquire);
}

bool site_is_incomplete(const struct site *s, const struct view *v)
{
	return v->is_incomplete || site_generation(s, v) == GENERATION_UNKNOWN;
}

// Whether the view may be served: some platform was scanned, and none is unreadable unless the view may be partial. A
// platform that no scan has tried yet was just added to the configuration; the view is served without it.
static bool is_complete(const struct view *v, bool may_be_partial)
{
	size_t count[3] = {0};
	for (size_t i = 0; i < v->platform_count; i++)
		count[v->platform[i]->scanned - CATALOG_UNREADABLE]++;
	return v->platform_count == 0 || (count[CATALOG_SCANNED - CATALOG_UNREADABLE] && (may_be_partial || !count[0]));
}

static void mark_incomplete_views(struct site *s, const struct config *c)
{
	const struct view *same = c->default_view ? site_view(s, str_from(c->default_view)) : NULL;
	for (size_t i = 0; i < s->view_count; i++) {
		const struct config_view *own = config_of_view(c, i == 0 && same ? same : &s->view[i]);
		s->view[i].is_incomplete = !is_complete(&s->view[i], own && own->is_partial);
	}
}

// --- parts ---

// Takes what the whole view has, but for its platforms and what follows from them.
static void add_view_part(struct site *s, const struct config *c, const struct view *whole, const struct platform *p)
{
	struct view *v = &s->part[s->part_count++];
	const struct config_view *own = config_of_view(c, whole);
	*v = *whole;
	v->name = xasprintf("%s/%s", whole->name, p->name);
	v->whole = whole;
	v->platform = NULL;
	v->platform_count = 0;
	v->wheels = (struct wheel_filter){0};
	view_add(v, p);
	if (v->upstreams.count && config_filters_wheels(c, whole))
		wheel_filter_init(&v->wheels, v->platform, 1);
	v->is_incomplete = !is_complete(v, own && own->is_partial);
}

const struct view *site_part(const struct site *s, const struct view *v, struct str platform)
{
	for (size_t i = 0; i < s->part_count; i++)
		if (s->part[i].whole == v && str_eq(str_from(s->part[i].platform[0]->name), platform))
			return &s->part[i];
	return NULL;
}

void site_unmerge(struct site *s)
{
	for (size_t i = 0; i < s->view_count; i++)
		s->view[i].upstreams.count = 0;
	for (size_t i = 0; i < s->part_count; i++)
		s->part[i].upstreams.count = 0;
	s->merges = s->merges_publicly = false;
}

static int site_fill(struct site *s, const struct config *c, struct catalog *catalog, struct err *e)
{
	if (site_check_names(c, &s->store, NULL, e) < 0)
		return -1;
	for (size_t i = 0; i < s->store.platform_count; i++) {
		struct platform *p = &s->store.platform[i];
		if (!p->id && catalog_platform_find(catalog, p->name, &p->id, e) < 0)
			return err_prefix(e, "platform %s: ", p->name);
	}
	site_add(s, NULL);
	for (size_t i = 0; i < s->store.platform_count; i++)
		s->has_private |= s->store.platform[i].is_private;
	for (size_t i = 0; i < c->upstreams.count; i++)
		config_hidden_platforms(c, i, &s->hidden[i]);
	for (size_t i = 0; i < s->store.platform_count; i++) {
		struct view *v = site_add(s, s->store.platform[i].name);
		view_add(v, &s->store.platform[i]);
	}
	for (size_t i = 0; i < c->view_count; i++)
		add_configured_view(s, &c->views[i]);
	// Fills view[0] after the other views, because it may be one of them. Without a configured one it has all
	// platforms that are not private.
	struct view *v = &s->view[0];
	const struct view *same = c->default_view ? site_view(s, str_from(c->default_view)) : NULL;
	s->has_no_default =
		c->default_view && !same && strcmp(c->default_view, CONFIG_NO_VIEW) == 0 && s->store.platform_count > 1;
	for (size_t i = 0; same && i < same->platform_count; i++)
		view_add(v, same->platform[i]);
	for (size_t i = 0; !same && !s->has_no_default && i < s->store.platform_count; i++)
		if (!s->store.platform[i].is_private)
			view_add(v, &s->store.platform[i]);
	mark_merging_views(s, c);
	mark_incomplete_views(s, c);
	set_memberships(s, c);
	// Behind the default view and the platforms are the views of the configuration.
	size_t first = 1 + s->store.platform_count, room = 0;
	for (size_t i = first; i < s->view_count; i++)
		room += s->view[i].platform_count;
	s->part = xcalloc(room + 1, sizeof(*s->part));
	for (size_t i = first; i < s->view_count; i++)
		for (size_t k = 0; k < s->view[i].platform_count; k++)
			add_view_part(s, c, &s->view[i], s->view[i].platform[k]);
	s->newest = xcalloc(s->view_count, sizeof(*s->newest));
	return site_read_generations(s, catalog, e) < 0 ? -1 : 0;
}

static int site_make(struct site *s, const struct config *c, const struct store *store, bool borrows_store,
	struct catalog *catalog, struct err *e)
{
	*s = (struct site){.store = *store,
		.borrows_store = borrows_store,
		.base = c->url ? xstrdup(c->url) : NULL,
		.page_max_age = c->page_max_age,
		.max_file = c->max_file,
		.is_offline = c->upstream_offline};
	config_copy(c, &s->config);
	name_rules_init(&s->rules, c);
	const char *how = c->prune_redirect ? c->prune_redirect : "";
	s->redirects_others = strcmp(how, "superseded") == 0;
	s->redirects_same = s->redirects_others || strcmp(how, "identical") == 0;
	if (site_fill(s, c, catalog, e) == 0)
		return 0;
	site_release(s);
	return -1;
}

int site_init(struct site *s, const struct config *c, struct store *store, struct catalog *catalog, struct err *e)
{
	const struct store own = *store;
	*store = (struct store){0};
	return site_make(s, c, &own, false, catalog, e);
}

int site_borrow(struct site *s, const struct config *c, const struct store *store, struct catalog *catalog,
	struct err *e)
{
	return site_make(s, c, store, true, catalog, e);
}

bool view_has(const struct view *v, const struct platform *p)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->platform[i] == p)
			return true;
	return false;
}

bool site_has_upstream(const struct site *s, const struct view *v, const struct platform *p)
{
	if (!v)
		v = view_has(&s->view[0], p) ? &s->view[0] : site_view(s, str_from(p->name));
	return v && v->has_upstream;
}

static void views_release(struct view *v, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(v[i].name);
		free(v[i].platform);
		wheel_filter_release(&v[i].wheels);
	}
	free(v);
}

void site_release(struct site *s)
{
	views_release(s->part, s->part_count);
	views_release(s->view, s->view_count);
	free(s->newest);
	free(s->base);
	name_rules_release(&s->rules);
	for (size_t i = 0; i < LIMIT_UPSTREAMS; i++)
		strset_release(&s->hidden[i]);
	config_release(&s->config);
	if (!s->borrows_store)
		store_release(&s->store);
	*s = (struct site){0};
}

const struct view *site_view(const struct site *s, struct str name)
{
	if (!name.len)
		return &s->view[0];
	for (size_t i = 1; i < s->view_count; i++)
		if (str_eq(str_from(s->view[i].name), name))
			return &s->view[i];
	return NULL;
}

const struct platform *site_platform(const struct site *s, struct str name)
{
	return store_platform_named(&s->store, name);
}

// view[0] has no name.
int site_refuse_view(const struct site *s, const char *name, enum err_kind kind, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 1; i < s->view_count; i++)
		name_choice_add(&names, s->view[i].name);
	return name_choice_refuse(&names, kind, "there is no view or platform", e);
}

// --- which of upstream's wheels a view shows ---

void wheel_filter_init(struct wheel_filter *f, const struct platform *const *platform, size_t count)
{
	*f = (struct wheel_filter){.is_enabled = true};
	for (size_t i = 0; i < count && !f->unknown; i++)
		if (!platform[i]->profile.environment_count)
			f->unknown = platform[i];
	if (f->unknown || !count)
		return;
	strset_add(&f->tag, "any");
	for (size_t i = 0; i < count; i++) {
		const struct environment *env =
			platform[i]->profile.environment; // all environments of a platform have the same platform tags
		for (size_t n = 0; n < env->platforms; n++)
			strset_add(&f->tag, env->platform[n]);
	}
	strset_sort(&f->tag);
}

void wheel_filter_release(struct wheel_filter *f)
{
	strset_release(&f->tag);
}

static bool has_tag(const struct wheel_filter *f, struct str tag)
{
	char text[sizeof(*((struct environment *)0)->platform)]; // no tag is longer
	if (tag.len >= sizeof(text))
		return false;
	for (size_t i = 0; i < tag.len; i++)
		text[i] = ascii_lower(tag.ptr[i]);
	text[tag.len] = '\0';
	return strset_has(&f->tag, text);
}

bool wheel_filter_admits(const struct wheel_filter *f, const char *filename)
{
	struct str name = str_from(filename);
	if (!f->tag.count || filename_kind(name) != FILENAME_WHEEL)
		return true;
	struct str rest = str_slice(name, (size_t)(str_rfind(name, '-') + 1), name.len - strlen(".whl"));
	while (rest.len)
		if (has_tag(f, str_cut(&rest, '.')))
			return true;
	return false;
}

// --- a view at a time ---

// No name of a view has "@".
const struct view *view_time_split(const struct site *s, struct str name, struct str *when)
{
	const struct view *v = site_view(s, name);
	struct str base = str_cut(&name, '@');
	*when = v ? (struct str){NULL, 0} : name;
	return v || !base.len ? v : site_view(s, base);
}

const char *view_time_read(const struct view *v, struct str when, int64_t *at)
{
	char text[CLOCK_TEXT];
	if (!v->membership)
		return "this view has no earlier state, because it has no from: it shows all files of its platforms";
	snprintf(text, sizeof(text), STR_FMT, STR_ARG(when));
	if (when.len >= sizeof(text) || !clock_read_end(text, at))
		return "no such time: it is 2026-11-20, for the end of that day (UTC), or 2026-11-20T06:00:00Z";
	*at = *at ? *at : 1;
	return NULL;
}

int view_time_find(const struct site *s, const struct view *v, struct catalog *c, int64_t at, struct view *past,
	struct err *e)
{
	*past = *v;
	past->generation = GENERATION_UNKNOWN;
	return site_generation(s, v) == GENERATION_UNKNOWN
		       ? 0
		       : catalog_view_at(c, v->membership, at, &past->generation, e);
}
