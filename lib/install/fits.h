// SPDX-License-Identifier: Apache-2.0
// The environments that are asked about, and which wheels install in them, as numbers: each tag set and each
// Requires-Python is computed once for each environment, however many files have it. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/domain/machine/environment.h"

struct platform;

// A Python on some machines. All is borrowed but python.
struct fits_place {
	const struct platform *platform; // NULL: the machines are no platform of ours
	const struct machine *machine;
	const struct environment *environment;
	const char *python; // "3.12", "3.13t", "pp311"
	size_t minor;       // of struct fits
	int32_t *rank;      // of each tag set that was asked about
	size_t ranks;
};

// The different strings, numbered from 0.
struct fits_texts {
	void *tree; // of search.h, balanced, so that no choice of strings makes it slow
	const struct fits_text **item;
	size_t count, room;
	struct arena text;
};

// All zero is empty.
struct fits {
	struct fits_place *place; // its index is its number
	size_t places, place_room;
	struct fits_minor *minor; // the different Pythons of the places
	size_t minors, minor_room;
	struct fits_texts tags, pythons; // tag sets "cp312-abi3-manylinux_2_28_x86_64"; texts of Requires-Python
	bool *is_valid;                  // of each Requires-Python
	size_t valid_room;
	struct arena text;
};

void fits_release(struct fits *f);
// Adds a place, and returns its number.
size_t fits_add(struct fits *f, const struct platform *p, const struct machine *m, const struct environment *env);
// Adds all environments of a platform.
void fits_add_platform(struct fits *f, const struct platform *p);
// Forgets all numbers but those of the places if there are more than `most` of a kind. Nothing may use an earlier
// number afterwards.
void fits_trim(struct fits *f, size_t most);
// The number of a wheel's tag set.
unsigned fits_tags(struct fits *f, const struct filename *wheel);
// The number of a Requires-Python; NULL: none.
unsigned fits_python(struct fits *f, const char *requires_python);
// The text of a number of fits_python(); NULL: none.
const char *fits_python_text(const struct fits *f, unsigned number);
// The tag set of a number of fits_tags(), in the spelling of the first file that had it.
struct filename fits_tag_set(const struct fits *f, unsigned number);
// The lowest rank of the set's tags in this place (environment_best); -1: it does not install there.
long fits_rank(struct fits *f, unsigned tags, size_t place);
// The micro versions of the place's Python that it contains: bit n is x.y.n. All, where it is not a valid specifier
// set, as in pip.
uint64_t fits_micros(struct fits *f, unsigned python, size_t place);
// The same; none, where it is not a valid specifier set, as in uv.
uint64_t fits_micros_strictly(struct fits *f, unsigned python, size_t place);
// Appends the micro versions of x.y, as "3.10.0 to 3.10.4" or "3.10.5 and later".
void fits_print_micros(uint64_t micros, const struct python *p, struct buf *out);
