// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/search-data.h"

#include <stdlib.h>
#include <string.h>

struct name_search {
	const struct readable *readable;
	const struct name_query *query;
	struct search_data *out;
	size_t limit;
	bool wants_near;
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
static void keep_found(struct name_search *s, const char *name, enum name_match match)
{
	struct search_data *d = s->out;
	struct search_found fresh = {.name = name, .match = match};
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
		keep_found(s, p->name, match);
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

void search_data_find(struct project_directory *d, const struct readable *readable, const struct name_query *query,
	size_t limit, struct search_data *out)
{
	*out = (struct search_data){0};
	struct name_search s = {.readable = readable, .query = query, .out = out, .limit = limit};
	project_directory_each(d, match_project, &s);
	if (!out->count) {
		s.wants_near = out->is_near = true;
		project_directory_each(d, match_project, &s);
	}
	for (size_t i = 0; i < out->count; i++) {
		s.filled = &out->found[i];
		project_directory_get(d, out->found[i].name, fill_found, &s);
	}
}

void search_data_release(struct search_data *d)
{
	arena_release(&d->text);
	free(d->found);
	*d = (struct search_data){0};
}
