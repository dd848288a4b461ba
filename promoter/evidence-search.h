// SPDX-License-Identifier: Apache-2.0
// Finds the record that counts for a wheel: the newest about its bytes or about a build with equal contents; and, if
// the rule says by=version, where there is none, the newest about another build of the version from the same commit. It
// looks at the records of the catalog that count for a view, and at those that were given and are not kept. One thread
// at a time.
#pragma once

#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/config/promotion-rules.h"
#include "lib/state/store/store.h"

// A record that may count.
struct evidence_candidate {
	bool is_found;
	int64_t order;                // as catalog_evidence.order
	uint8_t id[SHA256_SIZE];      // of the record
	uint8_t tested[SHA256_SIZE];  // the bytes that it is about
	const struct evidence *given; // NULL: the catalog has it
};

// What is known of a wheel, once it was asked for.
struct evidence_fact {
	bool has_looked, is_known, is_void; // is_void: statements contradict each other
	uint8_t sha256[SHA256_SIZE];
	char platform[LIMIT_FILE_NAME + 1]; // where that was; "": anywhere
	uint8_t content[SHA256_SIZE];       // of one
	char commit[65];                    // of the other
};

struct evidence_search {
	struct catalog *catalog;
	const char *view;
	const struct store *store;    // files are read whose contents the catalog does not know; NULL: none is
	struct evidence_given *given; // wheels of given records, by project, kind and cell, then the newest first
	size_t givens;
	struct arena *text; // for the names and reasons that are found; NULL: they are "" there
	struct arena own;
	// Of the wheel that is looked for.
	struct evidence_fact content, commit;
	const struct catalog_tested *wheel;
	const struct promotion_rule *rule;
	struct evidence_candidate best[PROMOTION_MATCH_COUNT];
	bool has_other, has_name; // evidence of another build; of one with the name of the wheel
	bool has_other_commit;    // that names a commit
};

struct evidence_found {
	struct promotion_record record; // kind and cell are set in any case; match and tested, or lack
	bool is_given;
	uint8_t id[SHA256_SIZE]; // unless it is given
	const char *by;          // who sent it; "": there is none
};

// c, view and text are borrowed.
void evidence_search_init(struct evidence_search *s, struct catalog *c, const char *view, struct arena *text);
void evidence_search_release(struct evidence_search *s); // for CLEANUP
// Makes given records count as if they came now, the last one last, without keeping them. They are borrowed.
int evidence_search_give(struct evidence_search *s, const struct evidence *record, size_t records,
	struct err *e) MUST_CHECK;
// 1: a record counts for the wheel in the cell; 0: none does. wheel: with project, bytes, version, name and platform.
int evidence_search_find(struct evidence_search *s, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct evidence_found *out, struct err *e) MUST_CHECK;
