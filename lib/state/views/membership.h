// SPDX-License-Identifier: Apache-2.0
// The membership of a view with `from`, as the store keeps it: FOLDER/VIEW/000001.json, 000002.json, …, where FOLDER is
// [store] views (views_folder()). Each file is one generation: what it adds and removes, who did it, why, on which
// evidence, and the SHA-256 of the file before. A file is created under its name exclusively and never changes, so of
// two writers that make the same generation one succeeds, on AFS and NFS too. The catalog's copy
// (lib/state/catalog/catalog-view.h) is made of these files.
//
//   {"view", "generation": 7, "previous": SHA-256 of 000006.json or null, "made": time, "action", "by", "address",
//    "reason", "evidence": [SHA-256], "adds": [{"platform", "project", "filename", "sha256"}], "removes": [the same]}
//
// with "tested": [{"sha256", "as": promotion_match_name}] in an added file that stands on evidence about other builds,
// and "times": [{"generation", "made"}] in one that corrects times (lib/state/views/views-repair.h).
//
// Reading and writing JSON is pure, any thread; membership_append: one thread at a time for each catalog connection.
#pragma once

#include "lib/base/arena.h"
#include "lib/format/jsonmap.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/config/config.h"
#include "lib/state/config/promotion-rules.h"

// Another build, which was tested in the place of a file.
struct membership_tested {
	uint8_t sha256[SHA256_SIZE];
	enum promotion_match match; // not PROMOTION_SAME_BYTES
};

struct membership_file {
	const char *platform, *project, *filename;
	uint8_t sha256[SHA256_SIZE];
	const struct membership_tested *tested; // of an added file; usually none
	size_t testeds;
};

// When an earlier generation was made, because a clock was ahead then.
struct membership_time {
	int64_t generation, made;
};

// Strings and arrays are borrowed: from the caller who makes a change, or from `text` after membership_read().
struct membership_change {
	const char *view;
	int64_t generation;
	bool has_previous;
	uint8_t previous[SHA256_SIZE];
	int64_t made;
	const char *action, *by, *address, *reason; // catalog_generation; "" where there is none
	const uint8_t (*evidence)[SHA256_SIZE];     // ids of the records that it stands on
	size_t evidences;
	const struct membership_file *add, *remove;
	size_t adds, removes;
	const struct membership_time *time; // of the newest generations before this one, up to the last; usually none
	size_t times;
	struct arena text;
};

// The folder of memberships and evidence. The caller frees it. ERR_USAGE: neither [store] path nor [store] views is
// set.
int views_folder(const struct config *c, char **out, struct err *e) MUST_CHECK;
// The same; NULL where none is set.
char *views_folder_or_none(const struct config *c);

// ERR_INVALID names the value that is wrong; ERR_LIMIT: more than LIMIT_MEMBERSHIP bytes or
// LIMIT_MEMBERSHIP_VALUES values. The caller releases *out if
// this returns 0.
int membership_read(struct str json, struct membership_change *out, struct err *e) MUST_CHECK;
void membership_release(struct membership_change *m); // for CLEANUP
extern const struct jsonmap membership_tested_map; // of struct membership_tested
const struct membership_tested *membership_tested_copy(struct arena *text, const struct membership_tested *tested,
	size_t count);
// Appends "tested as equal contents, SHA-256 …" of the weakest, and how many more there are. Nothing without one.
void membership_tested_words(const struct membership_tested *tested, size_t count, struct buf *out);
void membership_write(const struct membership_change *m, struct buf *out);

// The name of the file of a generation.
enum { MEMBERSHIP_NAME = 32 };
void membership_name(int64_t generation, char out[MEMBERSHIP_NAME]);
// The number of a file of this name; 0: it is no file of a membership.
int64_t membership_number(const char *name);

// In views-sync.c. Writes the next generation into the folder, durably, and then into the catalog in one transaction.
// m->generation is the one after that on which the caller decided; membership_append sets previous, and made to now,
// but never before the previous one, unless it corrects that one's time. The caller calls views_sync_view() before it
// decides. ERR_CONFLICT: another writer was faster; the catalog now has its generation, and the caller decides again.
// ERR_INVALID: the membership is damaged, or *m is not valid. ERR_BUSY: the folder is frozen. On every other error the
// generation is either there as a whole, and the next views_sync() finds it, or not.
int membership_append(const char *folder, struct catalog *c, struct membership_change *m, struct err *e) MUST_CHECK;
