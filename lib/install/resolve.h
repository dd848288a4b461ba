// SPDX-License-Identifier: Apache-2.0
// Which version of a project pip takes in one environment, and whether a wheel of it is there: by pip's rules (PEP 440
// for pre-releases, PEP 592 for yanked files), for each micro version of the Python. Pure, but for the memory of struct
// offers and struct fits; one thread at a time for each.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/install/offers.h"

struct resolve_want {
	const char *specifier; // a valid specifier set
	uint64_t micros;       // bit n: x.y.n
	bool is_pinned, allows_pre;
	bool only_ours; // upstream's files are ignored
};

enum resolve_kind {
	RESOLVE_HERE,     // a wheel of ours installs
	RESOLVE_UPSTREAM, // a wheel of upstream installs
	RESOLVE_SDIST,    // only an sdist
	RESOLVE_NOTHING,  // no version has a file that installs
};

struct resolve_outcome {
	enum resolve_kind kind;
	uint64_t micros;
	struct offers_release release; // NOTHING: empty
	const struct offer *file;      // the wheel that pip prefers; for SDIST the sdist to build from; NOTHING: NULL
};

enum { RESOLVE_OUTCOMES = 65 }; // each has a micro version of its own

// Whether a specifier of the set names a pre-release, so that pip takes pre-releases.
bool resolve_names_prerelease(const char *specifier);
// The version that a pinned set names, as it is written; an empty slice: none.
struct str resolve_pin(const char *specifier);

// Fills out, the newest version first, and returns how many outcomes there are. platform: the id of ours in this
// environment, whose number is that of struct fits. Micro versions without any file are one outcome, NOTHING, at the
// end.
size_t resolve(struct offers *o, size_t environment, int64_t platform, const struct resolve_want *want,
	struct resolve_outcome out[RESOLVE_OUTCOMES]);
// The micro versions on which a file installs in this environment; 0: none.
uint64_t resolve_micros(const struct offers *o, size_t environment, const struct offer *file);
