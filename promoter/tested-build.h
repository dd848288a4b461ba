// SPDX-License-Identifier: Apache-2.0
// Finds the record that counts for a wheel: the newest about its bytes or about a build with equal contents; and, if the
// rule says by=version, where there is none, the newest about another build of the version from the same commit. Records of
// the catalog and others may be offered. One thread at a time.
#pragma once

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/config/promotion-rules.h"
#include "lib/state/store/store.h"

// A record that was offered.
struct build_offer {
	bool is_found;
	int64_t order;               // as catalog_evidence.order
	uint8_t id[SHA256_SIZE];     // of the record
	uint8_t tested[SHA256_SIZE]; // the bytes that it is about
	const void *given;           // of the caller; NULL: the catalog has it
};

// What is known of a wheel, once it was asked for.
struct build_fact {
	bool has_looked, is_known, is_void; // is_void: statements contradict each other
	uint8_t sha256[SHA256_SIZE];
	char platform[LIMIT_FILE_NAME + 1]; // where that was; "": anywhere
	uint8_t content[SHA256_SIZE]; // of one
	char commit[65];              // of the other
};

struct tested_build {
	struct catalog *catalog;
	const char *view;
	const struct store *store; // files are read whose contents the catalog does not know; NULL: none is
	struct build_fact content, commit; // of the wheel
	const struct catalog_tested *wheel;
	const struct promotion_rule *rule;
	struct build_offer best[PROMOTION_MATCH_COUNT];
	bool has_other, has_name; // evidence of another build; of one with the name of the wheel
	bool has_other_commit;    // that names a commit
};

// c and view are borrowed.
void tested_build_init(struct tested_build *t, struct catalog *c, const char *view);
// Begins a search, and looks at the records of the catalog. All is borrowed until the next one. wheel: as
// promotion_judge_find_fn has it.
int tested_build_begin(struct tested_build *t, const struct catalog_tested *wheel, const struct promotion_rule *rule,
	const struct promotion_cell *cell, struct err *e) MUST_CHECK;
// Offers a further test run of this kind and cell. order, given: as in struct build_offer.
int tested_build_offer(struct tested_build *t, const struct catalog_tested *tested, int64_t order, const void *given,
	struct err *e) MUST_CHECK;
// The record that counts; sets out->match and out->tested. NULL: there is none; sets out->lack.
const struct build_offer *tested_build_choose(const struct tested_build *t, struct promotion_record *out);
