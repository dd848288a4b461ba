// SPDX-License-Identifier: Apache-2.0
// What servers and commands have told of, so that each thing is told of once. One thread at a time for each connection.
// Errors and callbacks as in catalog.h. It outlives the catalog: a transaction that changes it replaces the record
// `told` in the folder of the times of arrival (arrivals.h): {"retained": […], "expected": […], "lost": […]}, the first
// ten thousand of each (the log says if there are more); a new catalog reads it.
#pragma once

#include "lib/base/arena.h"
#include "lib/state/catalog/catalog.h"

// --- what views expect ---
// What is known of the evidence that views expect ([view] expect), so that a restart forgets nothing and a change is
// told of once.

struct catalog_expected {
	const char *view, *kind;
	const char *platform, *python; // the cell; "": the view as a whole
	int64_t known;                 // since when it is expected, seconds since 1970
	int64_t newest;                // when the newest record came that counts; 0: none did
	bool is_silent;                // as was told last
};
// 1: the numbers of *row are set, by its texts; 0: nothing is known.
int catalog_expected_find(struct catalog *c, struct catalog_expected *row, struct err *e) MUST_CHECK;
// In a transaction.
int catalog_expected_put(struct catalog *c, const struct catalog_expected *row, struct err *e) MUST_CHECK;

// --- what the store has lost ---
// Members of views that the store has lost, as far as a server noticed and told of them, so that each is told of once.

struct catalog_lost {
	const char *view, *platform, *filename;
	uint8_t sha256[SHA256_SIZE];
	int64_t since; // when it was noticed, seconds since 1970
};
typedef int catalog_lost_fn(void *ctx, const struct catalog_lost *row, struct err *e);
// Those of a view, by platform, file name, SHA-256, in the order of their bytes. view NULL: all, in no order.
int catalog_lost_list(struct catalog *c, const char *view, catalog_lost_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// In a transaction, as the next one. 1: it is new; 0: it was known, and stays as it was.
int catalog_lost_put(struct catalog *c, const struct catalog_lost *row, struct err *e) MUST_CHECK;
// 1: it was known; 0: it was not. since is not read.
int catalog_lost_remove(struct catalog *c, const struct catalog_lost *row, struct err *e) MUST_CHECK;

// --- what has expired ---
// What the last `wheelcache retain` found in each view: for metrics, and so that it tells of a change only once.

struct catalog_retained {
	const char *view;
	int64_t looked;  // seconds since 1970: as of which time it decided
	uint64_t ended;  // versions that ended
	uint64_t ending; // versions that will end within warn-days
	uint64_t stale;  // projects of which an environment is stale
	bool in_doubt;   // nothing could end; the numbers are 0
};
// In a transaction.
int catalog_retained_put(struct catalog *c, const struct catalog_retained *row, struct err *e) MUST_CHECK;
typedef int catalog_retained_fn(void *ctx, const struct catalog_retained *row, struct err *e);
// By view.
int catalog_retained(struct catalog *c, catalog_retained_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// --- the record ---

struct told_record {
	struct catalog_retained *retained;
	struct catalog_expected *expected;
	struct catalog_lost *lost;
	size_t retaineds, expecteds, losts;
};
void told_write(const struct told_record *t, struct buf *out);
// All of *out is in text. ERR_INVALID names the value that is wrong; ERR_LIMIT.
int told_read(struct str json, struct told_record *out, struct arena *text, struct err *e) MUST_CHECK;

// In a transaction, at its begin and before its end. A record that cannot be read is logged and left out.
int told_load(struct catalog *c, struct err *e) MUST_CHECK;
int told_save(struct catalog *c, struct err *e) MUST_CHECK;
