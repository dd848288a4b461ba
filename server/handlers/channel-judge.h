// SPDX-License-Identifier: Apache-2.0
// What tests say about a wheel: for each kind of evidence that a view requires, the newest record of an environment, and
// whether it suffices. One thread at a time.
#pragma once

#include "lib/promotion/promotion-judge.h"
#include "lib/view/view.h"

enum channel_result {
	CHANNEL_UNTESTED, // no record of this kind counts
	CHANNEL_GREEN,
	CHANNEL_RED,      // the newest record does not suffice
	CHANNEL_OVERRIDE, // a person stands in for tests
	CHANNEL_UNNEEDED, // the wheel needs no evidence there
	CHANNEL_RESULT_COUNT,
};
extern const char *const channel_result_name[CHANNEL_RESULT_COUNT];

struct channel_test {
	enum channel_result result;
	char id[SHA256_HEX + 1]; // of the record; "": there is none
	const char *by;          // who sent it; "": there is none
	const char *why;         // why it is red, or the reason of the override; ""
};

// A file as it is judged. Borrowed.
struct judged_wheel {
	const char *platform, *version, *filename;
	const char *requires_python; // NULL: none
	uint8_t sha256[SHA256_SIZE];
};

struct channel_judge {
	struct promotion_judge judge;
	const char *view; // whose evidence counts
	struct catalog *catalog;
	struct arena *text; // of the strings of results
	struct promotion_cell *needed;
	struct err error; // the first one of the catalog
	bool has_failed;
};

// The view that the configuration names, with its platforms. All is borrowed. It must not move. ERR_USAGE. The caller
// releases *out if this returns 0.
int channel_judge_init(struct channel_judge *out, const struct site *site, const struct config_view *view,
	struct catalog *c, struct arena *text, int64_t now, struct err *e) MUST_CHECK;
void channel_judge_release(struct channel_judge *j); // all zero is fine; for CLEANUP

// What the records of each kind say about the wheel in the environment. The array, one for each rule, belongs to the
// arena. NULL: an error of the catalog.
struct channel_test *channel_judge_tests(struct channel_judge *j, const struct judged_wheel *w, const char *platform,
	const char *python, struct err *e);
// Whether the view takes the wheel: *why is "", or the reason if it does not.
int channel_judge_why(struct channel_judge *j, const struct judged_wheel *w, const char **why,
	struct err *e) MUST_CHECK;
