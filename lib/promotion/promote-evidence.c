// SPDX-License-Identifier: Apache-2.0
#include "lib/promotion/promote-evidence.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/text/filename.h"

// --- sets of ids ---

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_SIZE);
}

static void sort_ids(struct evidence_ids *s)
{
	size_t kept = 0;
	if (s->count)
		qsort(s->id, s->count, sizeof(*s->id), compare_ids);
	for (size_t i = 0; i < s->count; i++)
		if (!kept || memcmp(s->id[kept - 1], s->id[i], SHA256_SIZE) != 0)
			memmove(s->id[kept++], s->id[i], SHA256_SIZE);
	s->count = s->sorted = kept;
}

// Sorts now and then, so that many files with the same records need little memory.
static void add_id(struct evidence_ids *s, const uint8_t id[SHA256_SIZE])
{
	if (s->count >= 2 * s->sorted + 1024)
		sort_ids(s);
	GROW(s->id, s->count, s->room);
	memcpy(s->id[s->count++], id, SHA256_SIZE);
}

// --- given records that are not kept ---

static int compare_tested(const struct catalog_tested *a, const struct catalog_tested *b)
{
	int order = memcmp(a->sha256, b->sha256, SHA256_SIZE);
	return order ? order : strcmp(a->project, b->project);
}

static int by_wheel_and_order(const void *a, const void *b)
{
	const struct given_wheel *x = a, *y = b;
	int order = compare_tested(&x->wheel, &y->wheel);
	return order ? order : (x->order < y->order) - (x->order > y->order);
}

static bool is_wheel_before(const void *element, const void *key)
{
	return compare_tested(&((const struct given_wheel *)element)->wheel, key) < 0;
}

static int take_order(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	*(int64_t *)ctx = row->order;
	return 0;
}

// A record that the catalog has keeps its place.
static int find_order(struct catalog *c, const struct evidence *record, int64_t *order, struct err *e)
{
	uint8_t id[SHA256_SIZE];
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * (size_t)LIMIT_EVIDENCE);
	evidence_write(record, &text);
	digest_sha256(buf_view(&text), id);
	return catalog_evidence_find(c, id, take_order, order, e);
}

static int give_wheel(struct promote_evidence *p, const struct evidence *record, size_t i, int64_t order, struct err *e)
{
	const struct evidence_wheel *w = &record->wheel[i];
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	p->given[p->givens++] =
		(struct given_wheel){{arena_copy(&p->text, str_from(name.project)), w->sha256}, record, order};
	return 0;
}

int promote_evidence_give(struct promote_evidence *p, const struct evidence *record, size_t records, struct err *e)
{
	size_t room = 0;
	for (size_t i = 0; i < records; i++)
		room += record[i].wheels;
	p->given = xcalloc(room + 1, sizeof(*p->given));
	for (size_t i = 0; i < records; i++) {
		int64_t order = INT64_MAX - (int64_t)records + (int64_t)i;
		if (find_order(p->catalog, &record[i], &order, e) < 0)
			return -1;
		for (size_t k = 0; k < record[i].wheels; k++)
			if (give_wheel(p, &record[i], k, order, e) < 0)
				return -1;
	}
	qsort(p->given, p->givens, sizeof(*p->given), by_wheel_and_order);
	return 0;
}

static bool is_about_cell(const struct evidence *r, const char *kind, const struct promotion_cell *cell)
{
	return strcmp(r->kind, kind) == 0 && strcmp(r->platform, cell->platform) == 0 &&
	       strcmp(r->python, cell->python) == 0;
}

static const struct given_wheel *find_given(const struct promote_evidence *p, const struct catalog_tested *wheel,
	const char *kind, const struct promotion_cell *cell)
{
	size_t i = lower_bound(wheel, p->given, p->givens, sizeof(*p->given), is_wheel_before);
	for (; i < p->givens && compare_tested(&p->given[i].wheel, wheel) == 0; i++)
		if (is_about_cell(p->given[i].record, kind, cell))
			return &p->given[i];
	return NULL;
}

// --- the newest record ---

void promote_evidence_init(struct promote_evidence *p, struct catalog *c, const char *view)
{
	*p = (struct promote_evidence){.catalog = c, .view = view};
}

void promote_evidence_release(struct promote_evidence *p)
{
	free(p->given);
	arena_release(&p->text);
	free(p->file.id);
	free(p->all.id);
	*p = (struct promote_evidence){0};
}

// What was found in the catalog.
struct newest_record {
	bool is_found;
	uint8_t id[SHA256_SIZE];
	int64_t order;
	struct promotion_record record;
};

static int take_newest(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	struct newest_record *n = ctx;
	n->is_found = true;
	n->order = row->order;
	n->record = (struct promotion_record){.made = row->made,
		.received = row->received,
		.passed = row->passed,
		.failed = row->failed,
		.skipped = row->skipped,
		.overrides = row->overrides ? "" : NULL};
	memcpy(n->id, row->id, SHA256_SIZE);
	return 0;
}

static struct promotion_record record_of_given(const struct evidence *r)
{
	return (struct promotion_record){.made = r->made,
		.received = INT64_MAX,
		.passed = r->passed,
		.failed = r->failed,
		.skipped = r->skipped,
		.overrides = r->overrides};
}

bool promote_evidence_find(void *ctx, const struct catalog_tested *wheel, const char *kind,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	struct promote_evidence *p = ctx;
	struct newest_record newest = {0};
	const struct given_wheel *given = find_given(p, wheel, kind, cell);
	if (!p->has_failed && catalog_evidence_newest(p->catalog, p->view, kind, cell->platform, cell->python, wheel,
				      take_newest, &newest, &p->why) < 0)
		p->has_failed = true;
	if (p->has_failed || (!newest.is_found && !given))
		return false;
	if (given && (!newest.is_found || given->order > newest.order)) {
		*out = record_of_given(given->record);
	} else {
		*out = newest.record;
		add_id(&p->file, newest.id);
	}
	out->kind = kind;
	out->platform = cell->platform;
	out->python = cell->python;
	p->has_override |= out->overrides != NULL;
	return true;
}

void promote_evidence_begin(struct promote_evidence *p)
{
	p->file.count = p->file.sorted = 0;
	p->has_override = false;
}

void promote_evidence_keep(struct promote_evidence *p)
{
	for (size_t i = 0; i < p->file.count; i++)
		add_id(&p->all, p->file.id[i]);
}

void promote_evidence_add(struct promote_evidence *p, const uint8_t id[SHA256_SIZE])
{
	add_id(&p->all, id);
}

void promote_evidence_finish(struct promote_evidence *p)
{
	sort_ids(&p->all);
}
