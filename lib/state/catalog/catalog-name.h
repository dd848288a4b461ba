// SPDX-License-Identifier: Apache-2.0
// The owner of a file name on a platform: of several good files of one name, the first by path is listed. Only for the
// catalog-*.c that write files, inside a transaction. Errors as in catalog.h.
#pragma once

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/catalog/catalog-query.h"

// One of the files of a name.
struct holder {
	int64_t id; // 0: none
	char folder[LIMIT_PATH + 1];
	uint8_t sha256[SHA256_SIZE];
};

// The listed file of the name. *is_listed and sha256 are one half of a catalog_effect.
int catalog_name_look(struct catalog *c, const char *filename, int64_t platform, struct holder *out, bool *is_listed,
	uint8_t *sha256, struct err *e) MUST_CHECK;
// To be called when no file of the name is listed: lists the first duplicate.
int catalog_name_promote(struct catalog *c, const char *filename, int64_t platform, struct err *e) MUST_CHECK;
// Claims the name for a good file: a listed file whose path comes later becomes a duplicate. *state and *reason (which
// the caller frees) are those of the claiming file. id 0: it has no row yet.
int catalog_name_claim(struct catalog *c, int64_t id, const char *folder, const struct holder *competitor,
	enum catalog_state *state, char **reason, struct err *e) MUST_CHECK;
int catalog_name_set_state(struct catalog *c, int64_t id, enum catalog_state state, const char *reason,
	struct err *e) MUST_CHECK;

// Sets when a file was uploaded, by the text of its mark, if that is about its bytes. NULL: it has no such mark.
int catalog_name_set_time(struct catalog *c, int64_t folder, const char *filename, const char *text,
	struct err *e) MUST_CHECK;

// The row of a file in its folder.
struct name_row {
	int64_t id; // 0: there is none
	enum catalog_state state;
	int64_t written;
};
int catalog_name_row(struct catalog *c, int64_t folder, const char *filename, struct name_row *out,
	struct err *e) MUST_CHECK;
