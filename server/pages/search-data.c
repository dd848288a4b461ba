// SPDX-License-Identifier: Apache-2.0
#include "server/pages/search-data.h"

#include <stdlib.h>
#include <string.h>

#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/owned-names.h"

struct name_search {
	const struct search_places *in;
	const struct readable *readable;
	const struct name_query *query;
	struct search_data *out;
	size_t limit;
	bool wants_near;
	bool is_here; // the client may read a file of it
	struct search_found *filled; // that gets what is there of its project
};

// The better first: of equal matches the shorter name, then the first by letters.
static int compare_found(const struct search_found *a, const struct search_found *b)
{
	size_t a_len = strlen(a->name), b_len = strlen(b->name);
	if (a->match != b->match)
		return a->match < b->match ? -1 : 1;
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return strcmp(a->name, b->name);
}

// Keeps the best ones in order. Names are copied only then.
static void keep_found(struct name_search *s, const char *name, enum name_match match, bool is_upstreams)
{
	struct search_data *d = s->out;
	struct search_found fresh = {.name = name, .match = match, .is_upstreams = is_upstreams};
	size_t at = d->count;
	d->total++;
	while (at > 0 && compare_found(&fresh, &d->found[at - 1]) < 0)
		at--;
	if (at == s->limit)
		return;
	if (d->count < s->limit) {
		GROW(d->found, d->count, d->room);
		d->count++;
	}
	memmove(&d->found[at + 1], &d->found[at], (d->count - 1 - at) * sizeof(fresh));
	fresh.name = arena_copy(&d->text, str_from(name));
	d->found[at] = fresh;
}

// What the client may not read is not compared, so that the time says nothing about it.
static void match_project(void *ctx, const struct project_entry *p)
{
	struct name_search *s = ctx;
	if (!readable_has_project(s->readable, p))
		return;
	enum name_match match = name_query_match(s->query, str_from(p->name), s->wants_near);
	if (match != NAME_MATCH_NONE)
		keep_found(s, p->name, match, false);
}

static void note_readable(void *ctx, const struct project_entry *p)
{
	struct name_search *s = ctx;
	s->is_here = readable_has_project(s->readable, p);
}

// Whether clients get this project from upstream: the rules let its name be asked for, and it is not ours alone.
static bool comes_from_upstream(struct name_search *s, const char *name)
{
	enum name_rule rule = name_rules_find(&s->readable->site->rules, name);
	if (!name_rule_asks_upstream(rule) || !readable_merges(s->readable, name) ||
		(rule == NAME_RULE_MERGE && s->in->owned_names && owned_names_has(s->in->owned_names, name)))
		return false;
	s->is_here = false;
	project_directory_get(s->in->directory, name, note_readable, s);
	return !s->is_here;
}

static int match_upstreams(void *ctx, const char *name, struct err *e UNUSED)
{
	struct name_search *s = ctx;
	enum name_match match = name_query_match(s->query, str_from(name), s->wants_near);
	if (match != NAME_MATCH_NONE && comes_from_upstream(s, name))
		keep_found(s, name, match, true);
	return 0;
}

static int match_all(struct name_search *s, struct err *e)
{
	project_directory_each(s->in->directory, match_project, s);
	return s->in->catalog && s->readable->site->merges
		       ? catalog_upstream_names(s->in->catalog, match_upstreams, s, e)
		       : 0;
}

// --- what is there of the projects that were found ---

static int compare_platforms(const void *a, const void *b)
{
	const struct platform *x = *(const struct platform *const *)a, *y = *(const struct platform *const *)b;
	return (x > y) - (x < y); // one array has all of them
}

static void fill_found(void *ctx, const struct project_entry *p)
{
	const struct name_search *s = ctx;
	struct search_found *f = s->filled;
	f->platform = arena_alloc_aligned(&s->out->text, p->places * sizeof(*f->platform));
	f->platforms = f->files = 0;
	for (size_t i = 0; i < p->places; i++) {
		const struct project_place *place = &p->place[i];
		const struct platform *at =
			place->files ? readable_platform(s->readable, place->platform, p->name) : NULL;
		if (!at)
			continue;
		f->platform[f->platforms++] = at;
		f->files += place->files;
		f->newest = f->newest > place->newest ? f->newest : place->newest;
	}
	qsort(f->platform, f->platforms, sizeof(*f->platform), compare_platforms);
}

int search_data_find(const struct search_places *in, const struct readable *readable, const struct name_query *query,
	size_t limit, struct search_data *out, struct err *e)
{
	*out = (struct search_data){0};
	struct name_search s = {.in = in, .readable = readable, .query = query, .out = out, .limit = limit};
	int result = match_all(&s, e);
	if (result == 0 && !out->count) {
		s.wants_near = out->is_near = true;
		result = match_all(&s, e);
	}
	for (size_t i = 0; i < out->count; i++) {
		s.filled = &out->found[i];
		if (!s.filled->is_upstreams)
			project_directory_get(in->directory, s.filled->name, fill_found, &s);
	}
	if (result < 0)
		search_data_release(out);
	return result;
}

void search_data_release(struct search_data *d)
{
	arena_release(&d->text);
	free(d->found);
	*d = (struct search_data){0};
}
