// SPDX-License-Identifier: Apache-2.0
// Which of a project's files pip takes on a machine: its order of preference (PEP 425, 440, 592), over files of several
// sources. For people who ask what happens; what may be removed is for lib/domain/index/coverage to say, which doubts more.
// Pure. A struct finder: one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/domain/machine/environment.h"
#include "lib/domain/text/filename.h"

struct finder;

// A file that is offered. Strings are borrowed, and outlive the finder.
struct finder_file {
	const char *filename;
	const char *requires_python; // NULL: none; what is no set of specifiers counts for none, as pip has it
	bool is_yanked;
	unsigned sources;   // bits: who offers it, under this name
	const void *origin; // the caller's
};

// A version is asked for as "==version" does; NULL: any, but yanked ones, and pre-releases only where there is nothing
// else. ERR_INVALID where it is no version.
int finder_new(const char *version, struct finder **out, struct err *e) MUST_CHECK;
void finder_free(struct finder *f);     // NULL is fine
void finder_cleanup(struct finder **f); // for CLEANUP
// Whether the version is one that is asked for.
bool finder_wants(const struct finder *f, const struct filename *name);
// What has no name of a wheel or sdist of this project, or another version than was asked for, is left out. Of two that
// are equal in all else the last is taken: pip sorts, and begins at the end.
void finder_add(struct finder *f, const char *project, const struct finder_file *file);

struct finder_choice {
	const struct finder_file *file; // NULL: nothing. The finder's
	const char *version;            // of it, in its normal form
	bool is_wheel;                  // else an sdist, which is taken only where there is no wheel
	bool has_all_micros;            // it installs on every micro version of this Python; else on some
};
// Of the files that one of these sources offers.
void finder_choose(struct finder *f, const struct environment *env, unsigned sources, struct finder_choice *out);
