// SPDX-License-Identifier: Apache-2.0
// Searches for listed wheels by what is inside them, from the catalog alone. One thread at a time for each connection.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

struct catalog;

enum facts_search_kind {
	FACTS_SEARCH_NEEDS,     // pattern: a glob for the SONAME that the wheel needs and does not bundle
	FACTS_SEARCH_BUNDLES,   // a glob for a library: its project, package, file name or SONAME (library-name.h)
	FACTS_SEARCH_SBOM,      // a glob for a purl, with or without version and what follows it
	FACTS_SEARCH_SYMBOL,    // a symbol that the wheel exports, or imports from outside
	FACTS_SEARCH_TOOLCHAIN, // a glob for a string of .comment
	FACTS_SEARCH_KINDS,
};
extern const char *const facts_search_name[FACTS_SEARCH_KINDS]; // "needs", …

struct facts_search {
	enum facts_search_kind kind;
	const char *pattern;
	const char *compare; // of the version of a bundled library: "<", "<=", "==", ">=", ">"; NULL: any version
	const char *version; // NULL with compare NULL
	const char *const *platform; // globs
	size_t platforms;            // 0: all
};

// A wheel and what was found in it. Strings are the result's.
struct inside_hit {
	const char *platform, *project, *filename, *path; // path: below the platform
	char sha256[SHA256_HEX + 1];
	const char *name;    // the SONAME, the component, the symbol, the string
	const char *version; // NULL: not known
	const char *purl;    // NULL: none
	const char *library; // of a bundled library: its project; else NULL
	const char *stem;    // of its file name; else NULL
	const char *matched; // of a bundled library: which of its names is what was sought (library-name.h); else NULL
	const char *use;     // of a symbol: "exported", "imported"; else NULL
	bool is_file;        // of a bundled library: it is a file in the wheel, not a component
	bool is_beside;      // the component has another name than what was sought, but is of the same project
	bool is_unknown;     // a version was asked for, and is not known
};

// A platform that has wheels without facts, which no search finds.
struct inside_blind {
	const char *platform;
	uint64_t wheels;
};

struct inside_result {
	struct inside_hit *hit; // by platform, file name, name, version; the unknown ones behind the others
	size_t hits, hit_room;
	struct inside_blind *blind;
	size_t blinds, blind_room;
	struct arena text;
};

// A symbol in more than this many wheels is looked up by its hash alone, which is wrong for one wheel in a million.
enum { FACTS_SEARCH_CHECKED = 100 };

// The caller releases *out in any case. Errors of catalog.h.
int facts_search(struct catalog *c, const struct facts_search *search, struct inside_result *out,
	struct err *e) MUST_CHECK;
void inside_result_release(struct inside_result *r); // for CLEANUP
