// SPDX-License-Identifier: Apache-2.0
// What the catalog has of other indexes (lib/state/upstream/upstream.h): a row for each project and index that was
// asked. Writes stand between catalog_begin and catalog_commit. Errors as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

// Strings and bytes are borrowed for the call; times are seconds since 1970.
struct catalog_upstream {
	const char *project; // normalised
	const char *source;  // the index's URL
	const char *result;  // of the last time that it was asked
	const char *why;
	const char *last_definitive; // what it said for certain last; NULL: nothing
	const char *etag;            // of the facts; NULL: none
	int64_t asked;
	int64_t fetched;      // when the facts were confirmed last
	int64_t max_age;      // -1: it did not say
	int64_t changed;      // store.change of the last write that changed what is known
	struct str facts;     // packed; ptr NULL: none
	const uint8_t *doubt; // SHA-256 of the packed facts that are not believed; NULL: none
	int64_t doubted;      // since when
	int64_t certain;      // when standing was said last
	int64_t had_since;    // since when it has the project; 0: it has not
};
typedef int catalog_upstream_fn(void *ctx, const struct catalog_upstream *row, struct err *e);
int catalog_upstream_rows(struct catalog *c, const char *project, catalog_upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// has_facts: those of the row are written, else what is there stays. is_changed: changed becomes this transaction's
// number. *changed gets what it is then.
int catalog_upstream_put(struct catalog *c, const struct catalog_upstream *row, bool has_facts, bool is_changed,
	int64_t *changed, struct err *e) MUST_CHECK;
// What is there stays, and counts as changed by this transaction: whoever has something else has to look.
int catalog_upstream_touch(struct catalog *c, const char *project, const char *source, struct err *e) MUST_CHECK;
// Of the names that no index has ever had and no platform has, all but so many of those that were asked for last are
// forgotten: anybody can ask for any name.
int catalog_upstream_forget(struct catalog *c, int64_t most, struct err *e) MUST_CHECK;

// Each platform that ever had a project (normalised): how many files it lists, and when the first of them came, in
// seconds since 1970; 0: nobody noted that.
typedef int catalog_place_of_project_fn(void *ctx, const char *platform, int64_t files, int64_t arrived, struct err *e);
int catalog_project_places(struct catalog *c, const char *project, catalog_place_of_project_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Since when it is here, by the modification time of its oldest file and when a platform got its first one, in seconds
// since 1970, 1 at least; 0: there is none.
int catalog_project_oldest(struct catalog *c, const char *project, int64_t *oldest, struct err *e) MUST_CHECK;
// Of the pages of projects that no platform has, all but so many bytes of those that were asked for last are forgotten.
// Those that were asked for once have a quarter of that.
int catalog_upstream_forget_pages(struct catalog *c, int64_t bytes, struct err *e) MUST_CHECK;

// The projects of which something changed after the change numbered since, and by which one; *newest as in
// catalog_changes().
typedef int catalog_upstream_change_fn(void *ctx, const char *project, int64_t changed, struct err *e);
int catalog_upstream_changes(struct catalog *c, int64_t since, catalog_upstream_change_fn *fn, void *ctx,
	int64_t *newest, struct err *e) MUST_CHECK;
