// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-evidence.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"

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

static int by_project_and_cell(const struct given_wheel *a, const struct given_wheel *b)
{
	int order = strcmp(a->wheel.project, b->wheel.project);
	order = order ? order : strcmp(a->record->kind, b->record->kind);
	order = order ? order : strcmp(a->record->platform, b->record->platform);
	return order ? order : strcmp(a->record->python, b->record->python);
}

static int by_place_and_order(const void *a, const void *b)
{
	const struct given_wheel *x = a, *y = b;
	int order = by_project_and_cell(x, y);
	order = order ? order : (x->order < y->order) - (x->order > y->order);
	return order ? order : memcmp(y->wheel.sha256, x->wheel.sha256, SHA256_SIZE);
}

static bool is_given_before(const void *element, const void *key)
{
	return by_project_and_cell(element, key) < 0;
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
	struct given_wheel *g = &p->given[p->givens++];
	*g = (struct given_wheel){.record = record, .order = order};
	return evidence_file_tested(&record->wheel[i], &p->text, &g->wheel, e);
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
	qsort(p->given, p->givens, sizeof(*p->given), by_place_and_order);
	return 0;
}

// Whether it may say something of the wheel: of its bytes, or of another build of its version.
static bool is_about_version(const struct given_wheel *g, const struct catalog_tested *wheel)
{
	if (memcmp(g->wheel.sha256, wheel->sha256, SHA256_SIZE) == 0)
		return true;
	return !g->record->overrides && str_eq(g->wheel.version, wheel->version);
}

static int offer_given(struct promote_evidence *p, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell)
{
	const struct evidence place = {.kind = rule->kind, .platform = cell->platform, .python = cell->python};
	const struct given_wheel key = {*wheel, &place, 0};
	size_t i = lower_bound(&key, p->given, p->givens, sizeof(*p->given), is_given_before);
	for (; i < p->givens && by_project_and_cell(&p->given[i], &key) == 0; i++) {
		const struct given_wheel *g = &p->given[i];
		if (is_about_version(g, wheel) &&
			tested_build_offer(&p->builds, &g->wheel, g->order, g->record, &p->why) < 0)
			return -1;
	}
	return 0;
}

// --- the newest record ---

void promote_evidence_init(struct promote_evidence *p, struct catalog *c, const char *view)
{
	*p = (struct promote_evidence){.catalog = c};
	tested_build_init(&p->builds, c, view);
}

void promote_evidence_release(struct promote_evidence *p)
{
	free(p->given);
	arena_release(&p->text);
	free(p->file.id);
	free(p->all.id);
	free(p->build);
	*p = (struct promote_evidence){0};
}

static int take_counting(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	*(struct promotion_record *)ctx = (struct promotion_record){.made = row->made,
		.received = row->received,
		.passed = row->passed,
		.failed = row->failed,
		.skipped = row->skipped,
		.overrides = row->overrides ? "" : NULL};
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

// Notes that the file stands on a record about another build.
static void note_build(struct promote_evidence *p, const struct promotion_record *r)
{
	for (size_t i = 0; i < p->file_builds; i++)
		if (p->build[i].match == r->match && memcmp(p->build[i].sha256, r->tested, SHA256_SIZE) == 0)
			return;
	if (r->match == PROMOTION_SAME_BYTES)
		return;
	GROW(p->build, p->file_builds, p->build_room);
	p->build[p->file_builds].match = r->match;
	memcpy(p->build[p->file_builds++].sha256, r->tested, SHA256_SIZE);
}

// The record that was chosen. What it is about stays as it is.
static int read_counting(struct promote_evidence *p, const struct build_offer *chosen, struct promotion_record *out)
{
	struct promotion_record record = {0};
	if (chosen->given)
		record = record_of_given(chosen->given);
	else if (catalog_evidence_find(p->catalog, chosen->id, take_counting, &record, &p->why) < 0)
		return -1;
	if (!chosen->given)
		add_id(&p->file, chosen->id);
	record.match = out->match;
	memcpy(record.tested, out->tested, SHA256_SIZE);
	*out = record;
	return 0;
}

bool promote_evidence_find(void *ctx, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct promotion_record *out)
{
	struct promote_evidence *p = ctx;
	if (p->has_failed || tested_build_begin(&p->builds, wheel, rule, cell, &p->why) < 0 ||
		offer_given(p, wheel, rule, cell) < 0) {
		p->has_failed = true;
		return false;
	}
	const struct build_offer *chosen = tested_build_choose(&p->builds, out);
	if (!chosen)
		return false;
	p->has_failed = read_counting(p, chosen, out) < 0;
	if (p->has_failed)
		return false;
	out->kind = rule->kind;
	out->platform = cell->platform;
	out->python = cell->python;
	p->has_override |= out->overrides != NULL;
	note_build(p, out);
	return true;
}

void promote_evidence_begin(struct promote_evidence *p)
{
	p->file.count = p->file.sorted = p->file_builds = 0;
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
