// SPDX-License-Identifier: Apache-2.0
#include "promoter/tested-build.h"

#include <stdio.h>
#include <string.h>

#include "lib/domain/wheel/provenance.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-inside.h"
#include "lib/state/store/wanted-contents.h"

void tested_build_init(struct tested_build *t, struct catalog *c, const char *view)
{
	*t = (struct tested_build){.catalog = c, .view = view};
}

// --- what is known of builds ---

// Whether it is known of these bytes already; otherwise the caller looks.
static bool is_remembered(struct build_fact *f, const uint8_t sha256[SHA256_SIZE], const char *platform)
{
	if (f->has_looked && memcmp(f->sha256, sha256, SHA256_SIZE) == 0 && strcmp(f->platform, platform) == 0)
		return true;
	*f = (struct build_fact){.has_looked = true};
	snprintf(f->platform, sizeof(f->platform), "%s", platform);
	memcpy(f->sha256, sha256, SHA256_SIZE);
	return false;
}

static int read_build_content(const struct tested_build *t, const uint8_t sha256[SHA256_SIZE], struct build_fact *f,
	struct err *e)
{
	if (is_remembered(f, sha256, ""))
		return 0;
	int known = t->store ? wanted_contents_of(t->store, t->catalog, sha256, f->content, e)
			     : catalog_content_get(t->catalog, sha256, f->content, e);
	f->is_known = known > 0;
	return known < 0 ? -1 : 0;
}

// Statements that contradict each other, of files in several places, say nothing.
static int take_statement(void *ctx, struct str text, struct err *e UNUSED)
{
	struct build_fact *f = ctx;
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

// Of a file only what is beside it counts: else who may upload elsewhere would say what may come into the view from here.
static int read_commit(struct catalog *c, const struct catalog_tested *of, struct build_fact *f, struct err *e)
{
	if (is_remembered(f, of->sha256, of->platform ? of->platform : ""))
		return 0;
	return catalog_attached_to(c, of->sha256, of->platform, ATTACHMENT_STATEMENT, take_statement, f, e);
}

// 1: both are from the same commit; 0: they are not, or that is not known.
static int has_same_commit(struct tested_build *t, const struct catalog_tested *tested, struct err *e)
{
	struct build_fact theirs = {0};
	if (!tested->commit && read_commit(t->catalog, tested, &theirs, e) < 0)
		return -1;
	const char *commit = tested->commit ? tested->commit : theirs.is_known ? theirs.commit : NULL;
	t->has_other_commit |= commit != NULL;
	if (!commit || read_commit(t->catalog, t->wheel, &t->commit, e) < 0)
		return commit ? -1 : 0;
	return t->commit.is_known && strcmp(t->commit.commit, commit) == 0;
}

// --- records ---

static void take_offer(struct tested_build *t, enum promotion_match match, const struct build_offer *offer)
{
	struct build_offer *best = &t->best[match];
	if (!best->is_found || offer->order > best->order)
		*best = *offer;
}

// The strongest of its matches. PROMOTION_MATCH_COUNT: it says nothing about the wheel.
static int find_match(struct tested_build *t, const struct catalog_tested *tested, enum promotion_match *out,
	struct err *e)
{
	*out = PROMOTION_SAME_BYTES;
	if (memcmp(tested->sha256, t->wheel->sha256, SHA256_SIZE) == 0)
		return 0;
	*out = PROMOTION_EQUAL_CONTENTS;
	if (tested->content && read_build_content(t, t->wheel->sha256, &t->content, e) < 0)
		return -1;
	if (tested->content && t->content.is_known && memcmp(t->content.content, tested->content, SHA256_SIZE) == 0)
		return 0;
	t->has_other = true;
	t->has_name |= strcmp(tested->filename, t->wheel->filename) == 0;
	int is_same = t->rule->by_version ? has_same_commit(t, tested, e) : 0;
	*out = is_same > 0 ? PROMOTION_SAME_COMMIT : PROMOTION_MATCH_COUNT;
	return is_same < 0 ? -1 : 0;
}

static int offer_record(struct tested_build *t, const struct catalog_tested *tested, const struct build_offer *offer,
	struct err *e)
{
	enum promotion_match match;
	if (find_match(t, tested, &match, e) < 0)
		return -1;
	if (match < PROMOTION_MATCH_COUNT)
		take_offer(t, match, offer);
	return 0;
}

int tested_build_offer(struct tested_build *t, const struct catalog_tested *tested, int64_t order, const void *given,
	struct err *e)
{
	struct build_offer offer = {.is_found = true, .order = order, .given = given};
	struct catalog_tested whole = *tested;
	struct build_fact theirs = {0};
	memcpy(offer.tested, tested->sha256, SHA256_SIZE);
	if (!tested->content && read_build_content(t, tested->sha256, &theirs, e) < 0)
		return -1;
	if (theirs.is_known)
		whole.content = theirs.content;
	return offer_record(t, &whole, &offer, e);
}

static struct build_offer offer_of_row(const struct catalog_evidence *row, const uint8_t tested[SHA256_SIZE])
{
	struct build_offer offer = {.is_found = true, .order = row->order};
	memcpy(offer.id, row->id, SHA256_SIZE);
	memcpy(offer.tested, tested, SHA256_SIZE);
	return offer;
}

static int take_same_bytes(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	struct tested_build *t = ctx;
	const struct build_offer offer = offer_of_row(row, t->wheel->sha256);
	take_offer(t, PROMOTION_SAME_BYTES, &offer);
	return 0;
}

// The newest come first: after one of equal contents no other one counts.
static int take_other_build(void *ctx, const struct catalog_evidence *row, const struct catalog_tested *tested,
	struct err *e)
{
	struct tested_build *t = ctx;
	const struct build_offer offer = offer_of_row(row, tested->sha256);
	if (offer_record(t, tested, &offer, e) < 0)
		return -1;
	return t->best[PROMOTION_EQUAL_CONTENTS].is_found;
}

int tested_build_begin(struct tested_build *t, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct err *e)
{
	memset(t->best, 0, sizeof(t->best));
	t->has_other = t->has_name = t->has_other_commit = false;
	t->wheel = wheel;
	t->rule = rule;
	if (catalog_evidence_newest(t->catalog, t->view, rule->kind, cell->platform, cell->python, wheel,
		    take_same_bytes, t, e) < 0)
		return -1;
	return catalog_evidence_builds(t->catalog, t->view, rule->kind, cell->platform, cell->python, wheel,
		take_other_build, t, e);
}

// --- what counts ---

// What there is where no record counts.
static const char *lack_of(const struct tested_build *t)
{
	if (!t->has_other)
		return NULL;
	if (!t->rule->by_version)
		return t->has_name ? "there is evidence for other bytes of this name" : NULL;
	if (!t->has_other_commit)
		return t->has_name ? "there is evidence for other bytes of this name, but it names no commit of their source"
				   : "there is evidence for another build of this version, but it names no commit of its "
				     "source";
	if (!t->commit.is_known)
		return t->has_name ? "there is evidence for other bytes of this name, but no provenance of this wheel names "
				     "the commit of its source"
				   : "there is evidence for another build of this version, but no provenance of this wheel "
				     "names the commit of its source";
	return t->has_name ? "there is evidence for other bytes of this name, from another commit"
			   : "there is evidence for another build of this version, from another commit";
}

const struct build_offer *tested_build_choose(const struct tested_build *t, struct promotion_record *out)
{
	const struct build_offer *same = &t->best[PROMOTION_SAME_BYTES], *equal = &t->best[PROMOTION_EQUAL_CONTENTS];
	const struct build_offer *found = equal->is_found && (!same->is_found || equal->order > same->order) ? equal : same;
	if (!found->is_found)
		found = &t->best[PROMOTION_SAME_COMMIT];
	if (!found->is_found) {
		out->lack = lack_of(t);
		return NULL;
	}
	out->match = (enum promotion_match)(found - t->best);
	memcpy(out->tested, found->tested, SHA256_SIZE);
	return found;
}
