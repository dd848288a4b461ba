// SPDX-License-Identifier: Apache-2.0
// Who has a name: of several good files of one name on a platform, the first by path is listed. For
// the catalog-*.c that write files; nobody else.
#pragma once

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/catalog/query.h"

// One of the files of a name.
struct holder {
	int64_t id; // 0: nobody
	char folder[LIMIT_PATH + 1];
	uint8_t sha256[SHA256_SIZE];
};

// Who holds the name now. The half of the effect that stands for it is filled in: is_listed and
// sha256.
int catalog_name_look(struct catalog *c, const char *filename, int64_t platform, struct holder *out, bool *is_listed,
	uint8_t *sha256, struct err *e) MUST_CHECK;
// Nobody holds the name now: the first duplicate takes it.
int catalog_name_promote(struct catalog *c, const char *filename, int64_t platform, struct err *e) MUST_CHECK;
// A good file that wants its name: takes it from whoever holds it and comes later; *state and
// *reason (to be freed by the caller) become what the file is. id 0: it has no row yet.
int catalog_name_claim(struct catalog *c, int64_t id, const char *folder, const struct holder *competitor,
	enum catalog_state *state, char **reason, struct err *e) MUST_CHECK;
int catalog_name_set_state(struct catalog *c, int64_t id, enum catalog_state state, const char *reason,
	struct err *e) MUST_CHECK;

// The row of a file in its folder.
struct name_row {
	int64_t id; // 0: there is none
	enum catalog_state state;
	int64_t written;
};
int catalog_name_row(struct catalog *c, int64_t folder, const char *filename, struct name_row *out,
	struct err *e) MUST_CHECK;
