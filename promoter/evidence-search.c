// SPDX-License-Identifier: Apache-2.0
#include "promoter/evidence-search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/evidence-file.h"

// A wheel of a given record.
struct evidence_given {
	struct catalog_tested wheel;
	const struct evidence *record;
	int64_t order; // as catalog_evidence.order
};

void evidence_search_init(struct evidence_search *s, struct catalog *c, const char *view, struct arena *text)
{
	*s = (struct evidence_search){.catalog = c, .view = view, .text = text};
}

void evidence_search_release(struct evidence_search *s)
{
	arena_release(&s->own);
	*s = (struct evidence_search){0};
}

// --- what is known of builds ---

// Whether it is known of these bytes already; otherwise the caller looks.
static bool is_remembered(struct evidence_fact *f, const uint8_t sha256[SHA256_SIZE], const char *platform)
{
	if (f->has_looked && memcmp(f->sha256, sha256, SHA256_SIZE) == 0 && strcmp(f->platform, platform) == 0)
		return true;
	*f = (struct evidence_fact){.has_looked = true};
	snprintf(f->platform, sizeof(f->platform), "%s", platform);
	memcpy(f->sha256, sha256, SHA256_SIZE);
	return false;
}

static int read_build_content(const struct evidence_search *s, const uint8_t sha256[SHA256_SIZE],
	struct evidence_fact *f, struct err *e)
{
	if (is_remembered(f, sha256, ""))
		return 0;
	int known = s->store ? wanted_contents_of(s->store, s->catalog, sha256, f->content, e)
			     : catalog_content_get(s->catalog, sha256, f->content, e);
	f->is_known = known > 0;
	return known < 0 ? -1 : 0;
}

// Statements that contradict each other, of files in several places, say nothing.
static int note_statement(void *ctx, struct str text, struct err *e UNUSED)
{
	struct evidence_fact *f = ctx;
	struct err ignored = ERR_INIT;
	CLEANUP(provenance_release) struct provenance p = {0};
	if (provenance_read(text, &p, &ignored) < 0)
		return 0;
	const char *commit = provenance_commit(&p);
	f->is_void |= !commit || (f->is_known && strcmp(f->commit, commit) != 0);
	f->is_known = !f->is_void;
	snprintf(f->commit, sizeof(f->commit), "%s", commit ? commit : "");
	return 0;
}

// Of a file only what is beside it counts: else who may upload elsewhere would say what may come into the view from
// here.
static int read_commit(struct catalog *c, const struct catalog_tested *of, struct evidence_fact *f, struct err *e)
{
	if (is_remembered(f, of->sha256, of->platform ? of->platform : ""))
		return 0;
	return catalog_attached_to(c, of->sha256, of->platform, ATTACHMENT_STATEMENT, note_statement, f, e);
}

// 1: both are from the same commit; 0: they are not, or that is not known.
static int has_same_commit(struct evidence_search *s, const struct catalog_tested *tested, struct err *e)
{
	struct evidence_fact theirs = {0};
	if (!tested->commit && read_commit(s->catalog, tested, &theirs, e) < 0)
		return -1;
	const char *commit = tested->commit ? tested->commit : theirs.is_known ? theirs.commit : NULL;
	s->has_other_commit |= commit != NULL;
	if (!commit || read_commit(s->catalog, s->wheel, &s->commit, e) < 0)
		return commit ? -1 : 0;
	return s->commit.is_known && strcmp(s->commit.commit, commit) == 0;
}

// --- candidates ---

// The strongest of its matches. PROMOTION_MATCH_COUNT: it says nothing about the wheel.
static int find_match(struct evidence_search *s, const struct catalog_tested *tested, enum promotion_match *out,
	struct err *e)
{
	*out = PROMOTION_SAME_BYTES;
	if (memcmp(tested->sha256, s->wheel->sha256, SHA256_SIZE) == 0)
		return 0;
	*out = PROMOTION_EQUAL_CONTENTS;
	if (tested->content && read_build_content(s, s->wheel->sha256, &s->content, e) < 0)
		return -1;
	if (tested->content && s->content.is_known && memcmp(s->content.content, tested->content, SHA256_SIZE) == 0)
		return 0;
	s->has_other = true;
	s->has_name |= strcmp(tested->filename, s->wheel->filename) == 0;
	int is_same = s->rule->by_version ? has_same_commit(s, tested, e) : 0;
	*out = is_same > 0 ? PROMOTION_SAME_COMMIT : PROMOTION_MATCH_COUNT;
	return is_same < 0 ? -1 : 0;
}

static int weigh_record(struct evidence_search *s, const struct catalog_tested *tested,
	struct evidence_candidate *candidate, struct err *e)
{
	enum promotion_match match;
	candidate->is_found = true;
	memcpy(candidate->tested, tested->sha256, SHA256_SIZE);
	if (find_match(s, tested, &match, e) < 0)
		return -1;
	if (match < PROMOTION_MATCH_COUNT) {
		struct evidence_candidate *best = &s->best[match];
		if (!best->is_found || candidate->order > best->order)
			*best = *candidate;
	}
	return 0;
}

static int weigh_same_bytes(void *ctx, const struct catalog_evidence *row, struct err *e)
{
	struct evidence_search *s = ctx;
	struct evidence_candidate candidate = {.order = row->order};
	memcpy(candidate.id, row->id, SHA256_SIZE);
	return weigh_record(s, s->wheel, &candidate, e);
}

// The newest come first: after one of equal contents no other one counts.
static int weigh_other_build(void *ctx, const struct catalog_evidence *row, const struct catalog_tested *tested,
	struct err *e)
{
	struct evidence_search *s = ctx;
	struct evidence_candidate candidate = {.order = row->order};
	memcpy(candidate.id, row->id, SHA256_SIZE);
	return weigh_record(s, tested, &candidate, e) < 0 ? -1 : s->best[PROMOTION_EQUAL_CONTENTS].is_found;
}

// --- given records ---

static int by_project_and_cell(const struct evidence_given *a, const struct evidence_given *b)
{
	int order = strcmp(a->wheel.project, b->wheel.project);
	order = order ? order : strcmp(a->record->kind, b->record->kind);
	order = order ? order : strcmp(a->record->platform, b->record->platform);
	return order ? order : strcmp(a->record->python, b->record->python);
}

static int by_place_and_order(const void *a, const void *b)
{
	const struct evidence_given *x = a, *y = b;
	int order = by_project_and_cell(x, y);
	order = order ? order : (x->order < y->order) - (x->order > y->order);
	return order ? order : memcmp(y->wheel.sha256, x->wheel.sha256, SHA256_SIZE);
}

static bool is_given_before(const void *element, const void *key)
{
	return by_project_and_cell(element, key) < 0;
}

static int note_order(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	*(int64_t *)ctx = row->order;
	return 0;
}

// A record that the catalog has keeps its place.
static int find_order(struct catalog *c, const struct evidence *record, int64_t *order, struct err *e)
{
	uint8_t id[SHA256_SIZE];
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * (size_t)LIMIT_EVIDENCE);
	evidence_write(record, &text);
	digest_sha256(buf_view(&text), id);
	return catalog_evidence_find(c, id, note_order, order, e);
}

int evidence_search_give(struct evidence_search *s, const struct evidence *record, size_t records, struct err *e)
{
	size_t room = 0;
	for (size_t i = 0; i < records; i++)
		room += record[i].wheels;
	s->given = ARENA_NEW(&s->own, struct evidence_given, room);
	for (size_t i = 0; i < records; i++) {
		int64_t order = INT64_MAX - (int64_t)records + (int64_t)i;
		if (find_order(s->catalog, &record[i], &order, e) < 0)
			return -1;
		for (size_t k = 0; k < record[i].wheels; k++) {
			struct evidence_given *g = &s->given[s->givens++];
			*g = (struct evidence_given){.record = &record[i], .order = order};
			if (evidence_file_tested(&record[i].wheel[k], &s->own, &g->wheel, e) < 0)
				return -1;
		}
	}
	qsort(s->given, s->givens, sizeof(*s->given), by_place_and_order);
	return 0;
}

// Whether it may say something of the wheel: of its bytes, or of another build of its version.
static bool is_about_version(const struct evidence_given *g, const struct catalog_tested *wheel)
{
	if (memcmp(g->wheel.sha256, wheel->sha256, SHA256_SIZE) == 0)
		return true;
	return !g->record->overrides && str_eq(g->wheel.version, wheel->version);
}

static int weigh_given(struct evidence_search *s, const struct promotion_cell *cell, struct err *e)
{
	const struct evidence place = {.kind = s->rule->kind, .platform = cell->platform, .python = cell->python};
	const struct evidence_given key = {*s->wheel, &place, 0};
	size_t i = s->givens ? lower_bound(&key, s->given, s->givens, sizeof(*s->given), is_given_before) : 0;
	for (; i < s->givens && by_project_and_cell(&s->given[i], &key) == 0; i++) {
		struct evidence_candidate candidate = {.order = s->given[i].order, .given = s->given[i].record};
		struct catalog_tested tested = s->given[i].wheel;
		struct evidence_fact theirs = {0};
		if (!is_about_version(&s->given[i], s->wheel))
			continue;
		if (!tested.content && read_build_content(s, tested.sha256, &theirs, e) < 0)
			return -1;
		tested.content = theirs.is_known ? theirs.content : tested.content;
		if (weigh_record(s, &tested, &candidate, e) < 0)
			return -1;
	}
	return 0;
}

// --- what counts ---

#define OTHER_BYTES "there is evidence for other bytes of this name"
#define OTHER_BUILD "there is evidence for another build of this version"
#define NO_COMMIT ", but it names no commit of "
#define NO_PROVENANCE ", but no provenance of this wheel names the commit of its source"
#define OTHER_COMMIT ", from another commit"

// NULL: none counts.
static const struct evidence_candidate *choose_candidate(const struct evidence_search *s)
{
	const struct evidence_candidate *same = &s->best[PROMOTION_SAME_BYTES];
	const struct evidence_candidate *equal = &s->best[PROMOTION_EQUAL_CONTENTS];
	const struct evidence_candidate *found =
		equal->is_found && (!same->is_found || equal->order > same->order) ? equal : same;
	found = found->is_found ? found : &s->best[PROMOTION_SAME_COMMIT];
	return found->is_found ? found : NULL;
}

// The arguments of read_counting.
struct found_row {
	struct evidence_found *out;
	struct arena *text;
};

static int read_counting(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	struct found_row *f = ctx;
	struct promotion_record *r = &f->out->record;
	r->made = row->made;
	r->received = row->received;
	r->passed = row->passed;
	r->failed = row->failed;
	r->skipped = row->skipped;
	r->overrides = row->overrides && f->text ? arena_strdup(f->text, row->overrides) : row->overrides ? "" : NULL;
	f->out->by = f->text ? arena_strdup(f->text, row->by) : "";
	memcpy(f->out->id, row->id, SHA256_SIZE);
	return 0;
}

int evidence_search_find(struct evidence_search *s, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct evidence_found *out, struct err *e)
{
	struct found_row found = {out, s->text};
	memset(s->best, 0, sizeof(s->best));
	s->has_other = s->has_name = s->has_other_commit = false;
	s->wheel = wheel;
	s->rule = rule;
	*out = (struct evidence_found){
		.record = {.kind = rule->kind, .platform = cell->platform, .python = cell->python}, .by = ""};
	if (catalog_evidence_newest(s->catalog, s->view, rule->kind, cell->platform, cell->python, wheel,
		    weigh_same_bytes, s, e) < 0 ||
		catalog_evidence_builds(s->catalog, s->view, rule->kind, cell->platform, cell->python, wheel,
			weigh_other_build, s, e) < 0 ||
		weigh_given(s, cell, e) < 0)
		return -1;
	const struct evidence_candidate *chosen = choose_candidate(s);
	if (!chosen) {
		// What there is where no record counts; NULL: nothing.
		static const char *const words[][2] = {
			{NULL, OTHER_BYTES},
			{OTHER_BUILD NO_COMMIT "its source", OTHER_BYTES NO_COMMIT "their source"},
			{OTHER_BUILD NO_PROVENANCE, OTHER_BYTES NO_PROVENANCE},
			{OTHER_BUILD OTHER_COMMIT, OTHER_BYTES OTHER_COMMIT},
		};
		int row = !s->rule->by_version ? 0 : !s->has_other_commit ? 1 : !s->commit.is_known ? 2 : 3;
		out->record.lack = s->has_other ? words[row][s->has_name] : NULL;
		return 0;
	}
	out->record.match = (enum promotion_match)(chosen - s->best);
	memcpy(out->record.tested, chosen->tested, SHA256_SIZE);
	if (!chosen->given)
		return catalog_evidence_find(s->catalog, chosen->id, read_counting, &found, e);
	const struct evidence *given = chosen->given;
	out->is_given = true;
	out->record.made = given->made;
	out->record.received = INT64_MAX;
	out->record.passed = given->passed;
	out->record.failed = given->failed;
	out->record.skipped = given->skipped;
	out->record.overrides = given->overrides;
	return 1;
}
