// SPDX-License-Identifier: Apache-2.0
// Which wheels install in which environments, as numbers: each tag set and each Requires-Python is computed once for
// each environment, however many files have it. The environments are borrowed. One thread at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/domain/machine/environment.h"
#include "lib/install/intern.h"

struct fits {
	const struct environment *const *environment; // borrowed
	size_t environments;
	struct intern tags, pythons; // tag sets "cp312-abi3-manylinux_2_28_x86_64"; texts of Requires-Python
	int32_t *rank;               // of each tag set, one for each environment
	size_t ranks, rank_room;     // tag sets that have a row in rank
	struct fits_minor *minor;    // the different Pythons of the environments
	size_t minors;
	size_t *minor_of; // of each environment
	uint64_t *micros; // of each Requires-Python, one for each Python
	size_t micros_room;
};

void fits_init(struct fits *f, const struct environment *const *environment, size_t environments);
void fits_release(struct fits *f);
// Forgets all numbers if there are more than `most` of a kind. Nothing may use an earlier number afterwards.
void fits_trim(struct fits *f, size_t most);
// The number of a wheel's tag set.
unsigned fits_tags(struct fits *f, const struct filename *wheel);
// The number of a Requires-Python; NULL: none.
unsigned fits_python(struct fits *f, const char *requires_python);
// The text of a number of fits_python(); NULL: none.
const char *fits_python_text(const struct fits *f, unsigned number);
// The text of a number of fits_tags(), in the spelling of the first file that had it.
const char *fits_tags_text(const struct fits *f, unsigned number);
// The lowest rank of the set's tags in this environment (environment_best); -1: it does not install there.
long fits_rank(struct fits *f, unsigned tags, size_t environment);
// The micro versions of the environment's Python that it contains: bit n is x.y.n. All, where it is not a valid
// specifier set, as in pip.
uint64_t fits_micros(const struct fits *f, unsigned python, size_t environment);
