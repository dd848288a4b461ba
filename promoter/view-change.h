// SPDX-License-Identifier: Apache-2.0
// [view NAME] on-change: the command that learns what changed in the tests of a view. One thread at a time for each
// catalog connection. The facts are in the environment of the command, as WHEELCACHE_CHANGE and so on.
//
// Tests of a kind that the view requires begin to fail, or succeed again. What changes is a platform, Python and
// project in a view: the state before is what the newest earlier record of that kind says, about any wheel of the
// project; without one, only a failure is a change. _CHANGE is "red" or "green"; _VIEW, _KIND, _PLATFORM, _PYTHON,
// _PROJECT, _VERSION, _PASSED, _FAILED, _SKIPPED, _EVIDENCE (the id of the record) and _BY (who sent it).
//
// A pipeline stopped reporting: [view NAME] expect says within which time test runs of a kind come again. A kind that
// the view requires is expected in each of its `cells`, where the view names some; any other in the view as a whole, on
// any of its platforms. It is silent if the newest test run that counts for the view, and is about a wheel that the
// store has, came longer ago; if none ever came, if it has been expected for longer than that. What came counts by our
// clock. _CHANGE is "silent" or "reporting"; _VIEW, _KIND, _PLATFORM, _PYTHON; _SINCE: when the last one came, or since
// when the first is expected.
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "lib/os/hook.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-told.h"
#include "lib/state/config/config-views.h"
#include "lib/state/config/config.h"
#include "lib/state/config/promotion-rules.h"

// To be called once for each record that is new, after it was noted. Adds the commands to the queue. An override
// changes nothing. The catalog's errors.
int view_change_tell(const struct config *config, struct catalog *c, const struct evidence *r,
	const struct catalog_evidence *note, struct hook_queue *queue, struct err *e) MUST_CHECK;

struct view_silence {
	struct catalog_expected known; // strings borrowed from the view_silences
	int64_t seconds;               // within which a test run is expected
	bool is_stored, was_silent;    // in the catalog
	int64_t was_newest;            // likewise
	bool is_silent;
};

struct view_silences {
	struct view_silence *item; // in the order of the key, then of the cells
	size_t count, room;
	size_t silent; // their number
	struct expectations expected;
	struct promotion_rules rules;
};

// What the view expects, as of now (seconds since 1970). looks: the records are looked at; else what
// view_silence_note() found last counts. ERR_USAGE: a key of the view is wrong; the catalog's errors. The caller
// releases *out in any case.
int view_silence_read(const struct config_view *v, struct catalog *c, int64_t now, bool looks, struct view_silences *out,
	struct err *e) MUST_CHECK;
void view_silences_release(struct view_silences *s); // for CLEANUP
// Appends what is silent and since when: "integration on debian-12-x86_64/3.12: no test run since 2026-…". For people.
void view_silence_describe(const struct view_silence *s, struct buf *out);
// Looks, keeps what it found in the catalog, and runs the view's on-change, logged in any case, once for each
// expectation that has become silent, or reports again.
int view_silence_note(const struct config_view *v, struct catalog *c, int64_t now, struct hook_queue *queue,
	struct err *e) MUST_CHECK;
