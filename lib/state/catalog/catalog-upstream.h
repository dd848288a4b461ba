// SPDX-License-Identifier: Apache-2.0
// The catalog's rows of other indexes (lib/state/upstream/upstream.h): one for each project and index that was asked.
// Writes stand between catalog_begin and catalog_commit. One thread at a time for each connection. Errors and callbacks
// as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

// Strings and bytes are borrowed for the call; times are seconds since 1970.
struct catalog_upstream {
	const char *project; // normalised
	const char *source;  // the index's URL
	const char *result;  // of the last request
	const char *why;
	const char *last_definitive; // its last definitive result; NULL: none
	const char *etag;            // of the page; NULL: none
	int64_t asked;
	int64_t fetched;      // when the page was last confirmed
	int64_t max_age;      // seconds; -1: unknown
	int64_t changed;      // store.change of the last write that changed what is known
	struct str page;      // packed; ptr NULL: none
	const uint8_t *doubt; // SHA-256 of a suspect page, packed; NULL: none
	int64_t doubted;      // since when
	int64_t certain;      // when last_definitive was last confirmed
	int64_t had_since;    // since when it has the project; 0: it does not
};
typedef int catalog_upstream_fn(void *ctx, const struct catalog_upstream *row, struct err *e);
int catalog_upstream_rows(struct catalog *c, const char *project, catalog_upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// has_page: writes the page of the row; else the stored one stays. is_changed: `changed` becomes this transaction's
// number. *changed: the value after the write.
int catalog_upstream_put(struct catalog *c, const struct catalog_upstream *row, bool has_page, bool is_changed,
	int64_t *changed, struct err *e) MUST_CHECK;
// Since when the index is known to have a project that came here at `arrived`, 0: it is not. This outlives the catalog,
// with the times of arrival (arrivals.h), because no later answer says it again: it lies there as the time of "PROJECT
// ARRIVED", with the index in the place of the platform. A name or an URL that is too long for a record is left out.
int catalog_upstream_had(struct catalog *c, const char *project, const char *source, int64_t arrived, int64_t *since,
	struct err *e) MUST_CHECK;
int catalog_upstream_had_put(struct catalog *c, const char *project, const char *source, int64_t arrived, int64_t since,
	struct err *e) MUST_CHECK;
// Marks the row as changed by this transaction, so that other servers read it again.
int catalog_upstream_touch(struct catalog *c, const char *project, const char *source, struct err *e) MUST_CHECK;
// Deletes names that no index has ever had and no platform has, except the `most` that were asked for last: a client
// can ask for any name.
int catalog_upstream_forget(struct catalog *c, int64_t most, struct err *e) MUST_CHECK;

// Each platform that ever had a project (normalised): the number of its listed files, and when the first of them
// arrived, in seconds since 1970; 0: unknown.
typedef int catalog_place_of_project_fn(void *ctx, const char *platform, int64_t files, int64_t arrived, struct err *e);
int catalog_project_places(struct catalog *c, const char *project, catalog_place_of_project_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Since when the store has the project, by the modification time of its oldest file and the arrival of a platform's
// first one, in seconds since 1970, at least 1; 0: there is none.
int catalog_project_oldest(struct catalog *c, const char *project, int64_t *oldest, struct err *e) MUST_CHECK;
// Deletes pages of projects that no platform has, except `bytes` bytes of those that were asked for last. Pages that
// were asked for only once may have a quarter of that. kept: a JSON array of projects whose pages stay, and do not
// count.
int catalog_upstream_forget_pages(struct catalog *c, int64_t bytes, const char *kept, struct err *e) MUST_CHECK;

// The projects of which a row changed after change number `since`, each with its change. *newest as in catalog_changes.
typedef int catalog_upstream_change_fn(void *ctx, const char *project, int64_t changed, struct err *e);
int catalog_upstream_changes(struct catalog *c, int64_t since, catalog_upstream_change_fn *fn, void *ctx,
	int64_t *newest, struct err *e) MUST_CHECK;

// How many projects an index is known to have.
int catalog_upstream_count(struct catalog *c, uint64_t *count, struct err *e) MUST_CHECK;
// The names of projects that an index is known to have, sorted: the first `most` behind `after`, which may be "".
typedef int catalog_upstream_name_fn(void *ctx, const char *project, struct err *e);
int catalog_upstream_names(struct catalog *c, const char *after, int64_t most, catalog_upstream_name_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
