// SPDX-License-Identifier: Apache-2.0
// A record of the OSV database (ossf.github.io/osv-schema), as far as it decides which versions of projects on PyPI,
// and of crates of crates.io, it is about. Ranges of the type ECOSYSTEM count, of crates also those of the type SEMVER,
// in the order of PEP 440 and without local parts, which is that of crates, too, but for unusual pre-releases; a bound
// that is no version bounds nothing. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

// Bounds are keys of versions (lib/domain/text/version.h) without a local part.
struct osv_range {
	struct str from; // inclusive; empty: from the first version on
	struct str to;   // empty: without an end
	bool includes_to;
};

struct osv_affected {
	struct str project; // osv_project()
	struct osv_range *range;
	size_t ranges;
	bool has_range; // one of the type that counts, also if no version is in it
	struct str *version; // keys
	size_t versions;
	struct str *other; // versions that are none of PEP 440, as they are written
	size_t others;
};

struct osv_record {
	struct str id;
	int64_t modified; // nanoseconds since 1970
	bool is_withdrawn;
	bool is_malicious; // MAL-…, but no raw report (MAL-0000-…)
	int severity;      // the greatest score in tenths (lib/domain/text/cvss.h), or that of a word; CVSS_NONE
	struct osv_affected *affected; // of PyPI and crates.io only
	size_t count;
	const char *wrong; // how it breaks the schema: then each project that it names is affected as a whole; NULL
};

// Reads a record; all that *out has lies in the arena or in text. fallback: its id where it has none that is valid.
// is_head: the text is only the beginning of a record that is too large; then it is wrong. ERR_INVALID: it is no JSON
// object.
int osv_record_read(struct str text, struct str fallback, bool is_head, struct arena *a, struct osv_record *out,
	struct err *e) MUST_CHECK;
// What a package is called in lists, by the type that a purl has for its ecosystem: of "pypi" the normal form of its
// name, of "cargo" "pkg:cargo/NAME", which is no name of a project of PyPI. In the arena. Empty: of another type, or no
// valid name.
struct str osv_project(struct str type, struct str name, struct arena *a);
// Whether this is the id of a record: letters, digits and marks of ASCII, without "/".
bool osv_id_is_valid(struct str id);
// The key of a version without its local part, in the arena. Empty: it is no version of PEP 440.
struct str osv_version_key(struct str version, struct arena *a);
