// SPDX-License-Identifier: Apache-2.0
// What requirements bring along in one place of struct fits: of each project the newest version that every requirement
// met so far permits (resolve.h), with what its METADATA requires there (PEP 508). A version that is narrowed
// afterwards begins the walk again, with what narrowed it; it takes no older version to avoid a conflict, as pip and uv
// do. Pure; it asks the caller for files and METADATA, and goes on without those that are not known yet, so that the
// caller can get many at once and repeat it. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/install/resolve.h"

// A requirement. Borrowed.
struct closure_need {
	const char *project;   // normal form
	const char *specifier; // a valid specifier set; "": all versions
	const char *marker;    // "": none
	const char *const *extra; // names, in any spelling
	size_t extras;
	const char *source; // who wants it, for reports: "requirements.txt:3". Of METADATA NULL: its file
	unsigned line;      // of a root; 0: none
	bool is_constraint; // a root that only narrows what others want
};

// What METADATA says of a file.
struct closure_metadata {
	const struct closure_need *need;
	size_t needs;
	const char *licence; // NULL: it names none
	const char *fault;   // why it is not known what the file requires; NULL: it is
	const char *doubt;   // why it may require more than it says; NULL: it does not
	const struct closure_need *build_need; // of an sdist: what building it requires (PEP 518)
	size_t build_needs;
};

struct closure_order {
	struct fits *fits;
	size_t place;
	uint64_t micros; // of its Python: bit n is x.y.n
	const struct closure_need *root;
	size_t roots;
	bool allows_pre;
	// The files of a project, to which none is added any more; NULL: not known yet.
	struct index_files *(*files)(void *ctx, const char *project);
	// What a file of these says; NULL: not known yet.
	const struct closure_metadata *(*metadata)(void *ctx, struct index_files *of, const struct index_file *file);
	void *ctx;
};

enum closure_state {
	CLOSURE_TAKEN,
	CLOSURE_UNKNOWN,  // taken, but what it requires is not known
	CLOSURE_NOTHING,  // no file that installs there is of a version that is wanted
	CLOSURE_CONFLICT, // two requirements permit no version together
};

struct closure_choice {
	const char *project;
	enum closure_state state;
	struct index_files *files;
	struct resolve_outcome outcome; // of TAKEN and UNKNOWN
	const struct closure_metadata *metadata; // of TAKEN and UNKNOWN
	const char *specifier; // of all that want it, joined
	const char *by;        // what wanted it first
	unsigned line;         // of the root that led to it first
	const char *why;       // a sentence; NULL: it is TAKEN
};

enum closure_end {
	CLOSURE_WHOLE,
	CLOSURE_WAITS,    // for what the caller does not know yet; there are no choices
	CLOSURE_SPLITS,   // the micro versions of `split` take other versions than the others: to be repeated for each part
	CLOSURE_TOO_LONG, // LIMIT_RESOLVE_STEPS, LIMIT_RESOLVE_EXTRAS
};

struct closure {
	enum closure_end end;
	uint64_t split;
	struct closure_choice *choice; // in the order in which they were met
	size_t choices;
};

// Strings and choices are in text, or borrowed from the order and its answers.
void closure_make(const struct closure_order *order, struct arena *text, struct closure *out);
