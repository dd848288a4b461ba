// SPDX-License-Identifier: Apache-2.0
// The wheels that an argument of "wheelcache compare" may mean. Main thread only.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"

// One of the two arguments, by its spelling.
enum pick_kind {
	PICK_PATH,    // a file
	PICK_STORE,   // PLATFORM/FILENAME or FILENAME, in the store
	PICK_RELEASE, // PROJECT==VERSION
};

struct compare_pick {
	const char *text; // as given; borrowed
	enum pick_kind kind;
	bool is_upstream; // after "upstream:"
	char *project;    // of PICK_RELEASE, in normal form; owned
	const char *version;
	char *platform; // of PICK_STORE; owned; NULL: any
	const char *filename;
};

// Where wheels are found.
struct pick_place {
	const struct config *config;
	const struct store *store;   // NULL: none is needed
	struct catalog *catalog;     // NULL: none
	struct upstream *upstream;   // NULL: not needed
	const char *const *platform; // globs
	size_t platforms;
	const char *python; // NULL: all
};

// A wheel of a release.
struct pick_choice {
	const struct platform *platform;  // NULL: upstream's
	char *filename, *requires_python; // owned
	uint8_t sha256[SHA256_SIZE];
	bool has_sha256, is_yanked;
};

struct pick_choices {
	struct pick_choice *item; // owned; by platform, then file name
	size_t count, room;
};

// Lists the wheels of a release, or all that may be meant by a name without platform. ERR_NOT_FOUND: upstream has none.
int pick_choices_list(const struct compare_pick *p, const struct pick_place *place, struct pick_choices *out,
	struct err *e) MUST_CHECK;
void pick_choices_release(struct pick_choices *c); // for CLEANUP
// Whether there is one wheel: all have the same name and the same bytes.
bool pick_choices_are_same(const struct pick_choices *c);
// Prints them, one a line, so that the operator can name one.
void pick_choices_print(const struct pick_choices *c, FILE *out);
