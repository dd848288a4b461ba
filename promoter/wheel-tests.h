// SPDX-License-Identifier: Apache-2.0
// What tests say about a wheel: for each kind of evidence that a view requires, the newest record of an environment,
// and whether it suffices. One thread at a time.
#pragma once

#include "promoter/evidence-search.h"
#include "promoter/promotion-judge.h"
#include "lib/view/view.h"

enum wheel_test_result {
	WHEEL_TEST_UNTESTED, // no record of this kind counts
	WHEEL_TEST_GREEN,
	WHEEL_TEST_RED,      // the newest record does not suffice
	WHEEL_TEST_OVERRIDE, // a person stands in for tests
	WHEEL_TEST_UNNEEDED, // the wheel needs no evidence there
	WHEEL_TEST_RESULT_COUNT,
};
extern const char *const wheel_test_result_name[WHEEL_TEST_RESULT_COUNT];

struct wheel_test {
	enum wheel_test_result result;
	char id[SHA256_HEX + 1]; // of the record; "": there is none
	const char *by;          // who sent it; "": there is none
	const char *why;         // why it is red, the reason of the override, or what there is in place of tests; ""
	enum promotion_match match;
	char tested[SHA256_HEX + 1]; // the other bytes that the record is about; "": those of the wheel, or there is none
};

struct wheel_tests {
	struct promotion_judge judge;
	struct evidence_search search; // its view is the one whose evidence counts, its text has the strings of results
	const struct view *source;     // where its files come from; NULL: it has no `from`
	struct err error;              // the first one of the catalog
	bool has_failed;
};

// The view that the configuration names, with its platforms. All is borrowed. It must not move. ERR_USAGE. The caller
// releases *out if this returns 0.
int wheel_tests_init(struct wheel_tests *out, const struct site *site, const struct config_view *view,
	struct catalog *c, struct arena *text, int64_t now, struct err *e) MUST_CHECK;
void wheel_tests_release(struct wheel_tests *t); // all zero is fine; for CLEANUP

// A file below is without covers and has its platform_id. What the records of each kind say about the wheel in the
// environment. The array, one for each rule, belongs to the arena. NULL: an error of the catalog.
struct wheel_test *wheel_tests_in(struct wheel_tests *t, const struct promotion_file *w, const char *platform,
	const char *python, struct err *e);
// Calls fn for each cell in which the wheel needs evidence, and each rule. fn must not use the tests.
typedef void wheel_tests_fn(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell,
	const struct wheel_test *test);
int wheel_tests_each(struct wheel_tests *t, const struct promotion_file *w, wheel_tests_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Why a file that is no member of the view now does not come back by a promotion of everything: what a person or the
// rules took out stays out until its version or the file is named. 1: it left by a demotion, a rollback or retention,
// and the sentence is appended to out; 0: it never was a member, or a prune was at work at the moment of its promotion.
int removal_reason(struct catalog *c, const char *view, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e) MUST_CHECK;
// How the wheel left the view, so that it comes back only if its version is named: *why is "" if it never did.
int wheel_tests_left(struct wheel_tests *t, const struct promotion_file *w, const char **why, struct err *e) MUST_CHECK;
// Whether tests let the view take the wheel: *why is "", or the reason if it does not.
int wheel_tests_why(struct wheel_tests *t, const struct promotion_file *w, const char **why, struct err *e) MUST_CHECK;

// A member that pip takes from the view as a whole in a cell of another platform, although no tests there allow it:
// what it took in its place has left, was yanked or was lost since the promotion.
struct wheel_untested {
	const struct promotion_file *wheel;
	const char *why;                    // "PLATFORM/PYTHON: no evidence of kind unit"
	const struct promotion_file *leaves; // what pip takes there as long as it is a member; NULL: nothing
};
// Whether a member is looked upon as one that has left.
typedef bool wheel_leaves_fn(void *ctx, const char *platform, const char *filename);
typedef void wheel_untested_fn(void *ctx, const struct wheel_untested *u);
// Calls fn for each such member of a project and each such cell. The age of evidence does not matter, because a member
// stays. leaves: NULL: none does. fn must not use the tests.
int wheel_tests_untested(struct wheel_tests *t, const struct view *v, const char *project, wheel_leaves_fn *leaves,
	wheel_untested_fn *fn, void *ctx, struct err *e) MUST_CHECK;
