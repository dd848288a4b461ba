// SPDX-License-Identifier: Apache-2.0
// Decides whether a wheel may be promoted into a view: [view NAME] requires and cells say which evidence it needs, and
// the records of its SHA-256 what there is. Pure functions; any thread; any thread may read the rules.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

// One kind of evidence that a view requires.
struct promotion_rule {
	const char *kind;
	uint64_t min_tests;   // that ran: passed or failed; 1
	uint64_t max_skipped; // UINT64_MAX: any number
	int64_t max_age;      // seconds since the record was made, or received if that is earlier; INT64_MAX: any
	bool by_version;      // where there is no record about the wheel, one about another build from the same commit counts
};

// What a record is about, the strongest first.
enum promotion_match {
	PROMOTION_SAME_BYTES,
	PROMOTION_EQUAL_CONTENTS, // a build with the same members: only time stamps, order or compression differ
	PROMOTION_SAME_COMMIT,    // another build of the version from the same commit of the source
	PROMOTION_MATCH_COUNT,
};
extern const char *const promotion_match_name[PROMOTION_MATCH_COUNT]; // "same-bytes", "equal-contents", "same-commit"
// The match of this name; PROMOTION_MATCH_COUNT: none has it.
enum promotion_match promotion_match_find(const char *name);
// Appends "tested as equal contents, SHA-256 …". sha256: hexadecimal, of the build that was tested.
void promotion_tested_words(enum promotion_match match, const char *sha256, struct buf *out);

// A place where tests must have run.
struct promotion_cell {
	const char *platform, *python;
};

struct promotion_rules {
	struct promotion_rule *rule; // in the order of the key
	size_t rules;
	struct promotion_cell *cell; // the same; none: each environment where the wheel installs
	size_t cells;
	struct arena text;
};

// requires: "integration:by=version unit:min-tests=100:max-skipped=5:max-age=7d", separated by blanks, NULL: none is
// required; cells: "ubuntu-24.04-x86_64/3.12 …", NULL: none are named. Without a rule every wheel is allowed. ERR_USAGE
// names the word that is wrong or stands there twice. The caller releases *out if this returns 0.
int promotion_rules_read(const char *requires, const char *cells, struct promotion_rules *out,
	struct err *e) MUST_CHECK;
void promotion_rules_release(struct promotion_rules *r); // for CLEANUP

// What the newest record of a kind says about the wheel in a cell.
struct promotion_record {
	const char *kind, *platform, *python;
	int64_t made, received;
	uint64_t passed, failed, skipped;
	const char *overrides; // the reason; NULL: none
	enum promotion_match match;
	uint8_t tested[SHA256_SIZE]; // the bytes that the record is about; set unless they are those of the wheel
	const char *lack; // where there is none: what there is in its place, "there is evidence for …"; NULL: nothing
};

// Finds the record of the rule's kind that counts for the wheel in a cell. *out is all zero before. False: there is
// none, and out->lack is set.
typedef bool promotion_find_fn(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell,
	struct promotion_record *out);
// Whether the wheel may be promoted: each rule holds in each of the cells, which the caller chose because the wheel
// installs there. False, with the reason appended to why, for the first that does not: "ubuntu-24.04-x86_64/3.12: no
// evidence of kind unit; there is evidence for other bytes of this name", "…: 2 of 118 tests failed". Without a cell
// nothing is shown: false.
bool promotion_is_allowed(const struct promotion_rules *rules, const struct promotion_cell *cell, size_t cells,
	int64_t now, promotion_find_fn *find, void *ctx, struct buf *why);
// The same for one rule and one cell.
bool promotion_rule_holds(const struct promotion_rule *rule, const struct promotion_cell *cell, int64_t now,
	promotion_find_fn *find, void *ctx, struct buf *why);
