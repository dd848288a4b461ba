// SPDX-License-Identifier: Apache-2.0
// What pip takes of a project in one place of struct fits. Pure, but for the memory of struct index_files and struct
// fits; one thread at a time for each.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/install/index-files.h"

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
	struct index_release release;  // NOTHING: empty
	const struct index_file *file; // the wheel that pip prefers; for SDIST the sdist to build from; NOTHING: NULL
};

enum { RESOLVE_OUTCOMES = 65 }; // each has a micro version of its own

// Which version pip takes, and whether a wheel of it is there: by pip's rules (PEP 440 for pre-releases, PEP 592 for
// yanked files), for each micro version of the Python. Fills out, the newest version first, and returns how many
// outcomes there are. platform: the id of ours there. Micro versions without any file are one outcome, NOTHING, at the
// end.
size_t resolve(struct index_files *all, size_t place, int64_t platform, const struct resolve_want *want,
	struct resolve_outcome out[RESOLVE_OUTCOMES]);

// The file that pip prefers among those of these sources (a bit set), for explanations: wheels before sdists, of any
// version; by tags, then by build tags; of files that are otherwise equal the one that was added last, because pip
// sorts and begins at the end. requested: "==1.0", for example; NULL: any version, without yanked ones, and
// pre-releases only if there is nothing else. *micros: on which it installs. NULL: none.
const struct index_file *resolve_file(struct index_files *all, size_t place, unsigned sources, const char *requested,
	uint64_t *micros);
