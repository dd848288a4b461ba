// SPDX-License-Identifier: Apache-2.0
// Saves results to the catalog, to which other servers write too.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/upstream-row.h"

// A page that is too large is not saved; it is requested again when it is needed.
static int save_row(struct catalog *c, struct upstream_row *row, struct str packed, struct err *e)
{
	if (!packed.ptr)
		return 0;
	const struct catalog_upstream put = {
		.project = row->project->name,
		.source = row->index->shown,
		.result = upstream_result_name[row->result],
		.why = row->why ? row->why : "",
		.last_definitive = row->last_definitive == UPSTREAM_NEVER_ASKED
					   ? NULL
					   : upstream_result_name[row->last_definitive],
		.etag = row->etag,
		.asked = row->asked,
		.fetched = row->fetched,
		.max_age = row->max_age,
		.facts = packed,
		.doubt = row->has_doubt ? row->doubt : NULL,
		.doubted = row->doubted,
		.certain = row->certain,
		.had_since = row->had_since,
	};
	int64_t changed = 0;
	if (catalog_upstream_put(c, &put, row->has_new_page, row->is_changed, &changed, e) < 0)
		return -1;
	// Another server may have written the row meanwhile: then this one does not know its contents.
	row->changed = row->is_changed || changed == row->changed ? changed : 0;
	return 0;
}

static bool is_dirty(const struct upstream_project *p)
{
	bool is_dirty = false;
	for (size_t i = 0; i < p->upstream->count; i++)
		is_dirty = is_dirty || p->row[i].is_dirty;
	return is_dirty;
}

// The packed pages, those of a project one after another. They are packed before the transaction, for which other
// writers wait.
struct packing {
	struct str *page;
	struct buf *room; // of each
	size_t count;
};

static void packing_release(struct packing *k)
{
	for (size_t i = 0; i < k->count; i++)
		buf_release(&k->room[i]);
	free(k->room);
	free(k->page);
}

static void pack_project(struct packing *k, struct upstream_project *p)
{
	for (size_t i = 0; i < p->upstream->count; i++, k->count++) {
		buf_init(&k->room[k->count], SIZE_MAX / 2);
		if (p->row[i].is_dirty)
			k->page[k->count] = upstream_row_packed(&p->row[i], &k->room[k->count]);
	}
}

struct comparison {
	const struct upstream_project *ours;
	bool is_other; // another server has written since ours was read
};

static int compare_row(void *ctx, const struct catalog_upstream *found, struct err *e UNUSED)
{
	struct comparison *x = ctx;
	for (size_t i = 0; i < x->ours->upstream->count; i++)
		if (strcmp(found->source, x->ours->row[i].index->shown) == 0 &&
			found->changed != x->ours->row[i].changed)
			x->is_other = true;
	return 0;
}

// Loads the catalog's current rows if they are not those that ours is based on; else NULL.
static int find_other(struct catalog *c, const struct upstream_project *p, struct upstream_project **other,
	struct err *e)
{
	struct comparison x = {.ours = p};
	*other = NULL;
	if (catalog_upstream_rows(c, p->name, compare_row, &x, e) < 0)
		return -1;
	return x.is_other ? upstream_load(p->upstream, c, p->name, other, e) : 0;
}

// Whether our row loses against the saved one. Of two pages the newer one wins, regardless of the order of requests and
// writes. A row without news (a 304, a failure) loses against one with news. Else the later request wins.
static bool is_superseded(const struct upstream_row *row, const struct upstream_row *other)
{
	if (other->changed == row->changed)
		return false;
	if (!row->is_changed)
		return true;
	if (row->has_page && other->has_page)
		return upstream_page_is_older(&row->page, &other->page);
	return other->asked > row->asked;
}

static void unref_other(struct upstream_project **other)
{
	upstream_project_unref(*other);
}

static int save_project(struct catalog *c, struct upstream_project *p, const struct str *page, struct err *e)
{
	CLEANUP(unref_other) struct upstream_project *other = NULL;
	if (find_other(c, p, &other, e) < 0)
		return -1;
	for (size_t i = 0; i < p->upstream->count; i++) {
		struct upstream_row *row = &p->row[i];
		bool stays = row->is_dirty && other && is_superseded(row, &other->row[i]);
		if (stays)
			atomic_store_explicit(&p->is_superseded, true, memory_order_release);
		if (stays && catalog_upstream_touch(c, p->name, row->index->shown, e) < 0)
			return -1;
		if (row->is_dirty && !stays && save_row(c, row, page[i], e) < 0)
			return -1;
	}
	return 0;
}

// Records that the rows were not saved.
static void note_lost(struct upstream_project *const *projects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < projects[i]->upstream->count; k++)
			projects[i]->row[k].changed = 0;
}

static int save_all(struct catalog *c, struct upstream_project *const *projects, size_t count, struct err *e)
{
	size_t rows = projects[0]->upstream->count;
	CLEANUP(packing_release)
	struct packing packed = {.page = xcalloc(count * rows, sizeof(*packed.page)),
		.room = xcalloc(count * rows, sizeof(*packed.room))};
	for (size_t i = 0; i < count; i++)
		pack_project(&packed, projects[i]);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (save_project(c, projects[i], &packed.page[i * rows], e) < 0)
			return -1;
	return catalog_commit(&t, e);
}

int upstream_save(struct upstream *u UNUSED, struct catalog *c, struct upstream_project *const *projects, size_t count,
	struct err *e)
{
	bool is_any = false;
	for (size_t i = 0; i < count; i++)
		is_any = is_any || is_dirty(projects[i]);
	if (!is_any)
		return 0;
	int kept = save_all(c, projects, count, e);
	if (kept < 0)
		note_lost(projects, count);
	return kept;
}

int upstream_forget(struct catalog *c, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	if (catalog_upstream_forget(c, UPSTREAM_UNKNOWN_NAMES, e) < 0 ||
		catalog_upstream_forget_pages(c, LIMIT_PAGES_KEPT, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}
