// SPDX-License-Identifier: Apache-2.0
// The memberships of views ([view NAME] from) in the catalog: a copy of the files that lib/state/views/membership.h
// describes. Each change of a membership is a generation, 1, 2, …; generation 0 is empty. A membership of every
// generation can be asked for. A member is identified by platform, file name and SHA-256; a member whose file is not
// listed, or has other bytes now, is shown nowhere. Writes stand between catalog_begin and catalog_commit. One thread
// at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

enum { GENERATION_NEWEST = -1 };

// What the catalog has of a view's membership.
struct catalog_view {
	int64_t generation;          // the newest; 0: nothing was ever promoted
	int64_t made;                // when it was made, seconds since 1970; 0: never
	uint8_t sha256[SHA256_SIZE]; // of its file; zeros: there is none
	bool is_known;               // its files were looked at once, and there were some
	// A file of the membership is missing or damaged, so that it is not known as a whole; or no scan has read the
	// folder of memberships yet.
	bool is_damaged;
};
int catalog_view_find(struct catalog *c, const char *view, struct catalog_view *out, struct err *e) MUST_CHECK;
// The views that ever had a generation, or a damaged file, by name.
typedef int catalog_view_fn(void *ctx, const char *view, struct err *e);
int catalog_views(struct catalog *c, catalog_view_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// The generation that was the newest at this time (seconds since 1970); 0: there was none yet.
int catalog_view_at(struct catalog *c, const char *view, int64_t when, int64_t *generation, struct err *e) MUST_CHECK;

// 1: the file was a member in this generation; 0: it was not.
int catalog_view_has(struct catalog *c, const char *view, int64_t generation, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// A project of the platform with a member whose file is listed, by name. Of a row only platform and project are set.
int catalog_view_projects(struct catalog *c, const char *view, int64_t generation, int64_t platform,
	catalog_project_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// How a file that was a member left the view. Strings are borrowed for the call.
struct catalog_left {
	int64_t generation; // the first one without it
	const char *action, *reason;
};
typedef int catalog_left_fn(void *ctx, const struct catalog_left *left, struct err *e);
// Calls fn for the last time at which the file left; not at all if it never did.
int catalog_view_left(struct catalog *c, const char *view, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], catalog_left_fn *fn, void *ctx, struct err *e) MUST_CHECK;

// The last generation before this one that added the file to the view, and was no rollback; 0: none did.
int catalog_view_came(struct catalog *c, const char *view, const char *platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], int64_t before, int64_t *generation, struct err *e) MUST_CHECK;

// A file of a membership.
struct catalog_member {
	int64_t platform;
	const char *platform_name; // also of one that the configuration no longer has
	const char *project;       // normalised
	const char *filename;
	const uint8_t *sha256;
	int64_t since; // the generation that added it
	bool is_listed;
};
typedef int catalog_member_fn(void *ctx, const struct catalog_member *member, struct err *e);
// The members of a generation, by project, platform, file name. project NULL: of all projects.
int catalog_view_members(struct catalog *c, const char *view, int64_t generation, const char *project,
	catalog_member_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// The name of a view whose newest generation has the file: no prune may remove it. The caller frees *view; NULL: none.
int catalog_view_pins(struct catalog *c, int64_t platform, const char *filename, const uint8_t sha256[SHA256_SIZE],
	char **view, struct err *e) MUST_CHECK;

// A generation, for the log of a view.
struct catalog_generation {
	int64_t number;
	int64_t made;       // seconds since 1970; never earlier than the one before
	const char *action; // "promote", "demote", "rollback", "retain"
	const char *by;     // who: a token's name, or an account
	const char *reason; // "": none
	uint64_t added, removed;
	struct str packed; // a zstd frame of its file
};
typedef int catalog_generation_fn(void *ctx, const struct catalog_generation *generation, struct err *e);
// The newest first, at most `most`, those before number `before` (INT64_MAX: all).
int catalog_view_generations(struct catalog *c, const char *view, int64_t before, uint64_t most,
	catalog_generation_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// This one; not at all if there is none. It may be called by the function of the one above.
int catalog_view_generation(struct catalog *c, const char *view, int64_t number, catalog_generation_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// Adds the next generation: g->number is one more than the newest, or ERR_CONFLICT. Its members are then added and
// ended. packed is stored as it is.
int catalog_view_append(struct catalog *c, const char *view, const struct catalog_generation *g,
	const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// ERR_CONFLICT: it is a member already. Of *m, platform_name, since and is_listed are not
// read.
int catalog_view_add_member(struct catalog *c, const char *view, int64_t generation, const struct catalog_member *m,
	struct err *e) MUST_CHECK;
// ERR_CONFLICT: it was no member in the generation before.
int catalog_view_end_member(struct catalog *c, const char *view, int64_t generation, int64_t platform,
	const char *filename, const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Corrects when a generation was made.
int catalog_view_set_made(struct catalog *c, const char *view, int64_t generation, int64_t made,
	struct err *e) MUST_CHECK;
int catalog_view_set_damaged(struct catalog *c, const char *view, bool is_damaged, struct err *e) MUST_CHECK;
// Forgets all generations of a view, to read them again.
int catalog_view_clear(struct catalog *c, const char *view, struct err *e) MUST_CHECK;
// Records that a scan has read the folder of memberships, so that a view without a row has none.
int catalog_views_set_read(struct catalog *c, struct err *e) MUST_CHECK;
