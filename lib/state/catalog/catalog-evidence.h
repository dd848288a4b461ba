// SPDX-License-Identifier: Apache-2.0
// Evidence (lib/domain/promotion/evidence.h) in the catalog: a copy of the files that lib/state/views/evidence-file.h
// describes. Writes stand between catalog_begin and catalog_commit. One thread at a time for each connection. Errors
// and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

// A record with what the index noted when it came. Strings are borrowed for the call.
struct catalog_evidence {
	uint8_t id[SHA256_SIZE]; // SHA-256 of the record in its only form
	const char *kind, *platform, *python;
	int64_t made;          // by the clock of the machine that tested
	int64_t received;      // seconds since 1970, by the index
	int64_t order;         // the newer record of two counts: received in nanoseconds
	const char *by;        // the token's name, or an account
	const char *address;   // of the client; "": it was given on the store's machine
	const char *views;     // globs of the views for which it counts, with blanks between
	const char *overrides; // the reason of an override; NULL: a test run
	uint64_t passed, failed, skipped;
	size_t wheels;
};
// A wheel that a record is about: the bytes, and the normalised project of the file name that it gives them. A record
// says nothing of the same bytes as a file of another project. The rest ties it to other builds of the version.
// Borrowed.
struct catalog_tested {
	const char *project;
	const uint8_t *sha256;
	struct str version; // its key
	const char *filename;
	const uint8_t *content; // digest of its members; NULL: not known
	const char *commit;     // of its source; NULL: not known
	const char *platform;   // of the file; NULL: it is known by its bytes alone, as in a record
};
// Whether the record counts for the view.
bool catalog_evidence_counts_for(const struct catalog_evidence *row, const char *view);
typedef int catalog_evidence_fn(void *ctx, const struct catalog_evidence *row, struct err *e);

// 1: the catalog has the record, and fn was called with it; 0: it has not.
int catalog_evidence_find(struct catalog *c, const uint8_t id[SHA256_SIZE], catalog_evidence_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The greatest order of all records; 0: there is none.
int catalog_evidence_last(struct catalog *c, int64_t *order, struct err *e) MUST_CHECK;

// 1: it was added; 0: the catalog has it. wheel: as many as row->wheels; packed: a zstd frame of its file.
int catalog_evidence_put(struct catalog *c, const struct catalog_evidence *row, const struct catalog_tested *wheel,
	struct str packed, struct err *e) MUST_CHECK;
// The newest record of this kind about the wheel in the cell that counts for the view. fn is called once at most. Of
// two records of the same order, the one with the smaller id is the newer one, in every list here.
int catalog_evidence_newest(struct catalog *c, const char *view, const char *kind, const char *platform,
	const char *python, const struct catalog_tested *wheel, catalog_evidence_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The test runs of this kind in the cell that count for the view and are about other bytes of the project and version,
// the newest first, of one order the larger SHA-256 of a wheel, LIMIT_EVIDENCE_BUILDS of them at most, until fn returns
// 1: a sender may name any number. tested: what the record says of its wheel; its content is also the one that the
// catalog knows of these bytes.
typedef int catalog_evidence_build_fn(void *ctx, const struct catalog_evidence *row, const struct catalog_tested *tested,
	struct err *e);
int catalog_evidence_builds(struct catalog *c, const char *view, const char *kind, const char *platform,
	const char *python, const struct catalog_tested *wheel, catalog_evidence_build_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The newest test run of this kind and cell before the record of this order that counts for the view, and is about any
// wheel that the store has of the project, or about another build of it. fn is called once at most.
int catalog_evidence_before(struct catalog *c, const char *view, const char *project, const struct catalog_evidence *of,
	catalog_evidence_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// All records about the wheel, the newest first, at most `most`.
int catalog_evidence_of(struct catalog *c, const struct catalog_tested *wheel, uint64_t most, catalog_evidence_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
// All records that were received since then (seconds since 1970), the newest first, at most `most`.
int catalog_evidence_since(struct catalog *c, int64_t since, uint64_t most, catalog_evidence_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The test runs of this kind that came at this time (seconds since 1970) or later, about some wheel that the store has,
// or another build of it, the newest first, until fn returns 1.
int catalog_evidence_runs(struct catalog *c, const char *kind, int64_t from, catalog_evidence_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The projects of which the store has these bytes, listed or not, sorted.
typedef int catalog_evidence_project_fn(void *ctx, const char *project, struct err *e);
int catalog_evidence_projects(struct catalog *c, const uint8_t sha256[SHA256_SIZE], catalog_evidence_project_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
// Appends the bytes of a record's file to out. ERR_NOT_FOUND.
int catalog_evidence_get(struct catalog *c, const uint8_t id[SHA256_SIZE], struct buf *out, struct err *e) MUST_CHECK;

// The ids whose first byte is this, sorted. For a comparison with the files of a folder.
typedef int catalog_evidence_id_fn(void *ctx, const uint8_t id[SHA256_SIZE], struct err *e);
int catalog_evidence_ids(struct catalog *c, uint8_t first, catalog_evidence_id_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The ids of the records that were received before then (seconds since 1970), the oldest first, at most `most`.
int catalog_evidence_older(struct catalog *c, int64_t then, uint64_t most, catalog_evidence_id_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Forgets a record whose file is gone.
int catalog_evidence_remove(struct catalog *c, const uint8_t id[SHA256_SIZE], struct err *e) MUST_CHECK;
// The time of the folder of these records when it was last listed and each file in it was good; 0: not known.
int catalog_evidence_folder(struct catalog *c, uint8_t first, int64_t *mtime_ns, struct err *e) MUST_CHECK;
int catalog_evidence_folder_set(struct catalog *c, uint8_t first, int64_t mtime_ns, struct err *e) MUST_CHECK;
