// SPDX-License-Identifier: Apache-2.0
// What a wheel's ELF files find when they are loaded on a platform: the libraries that the wheel brings, those of the
// platform that it needs, with what these need, and the interpreter's. For rebuild.h. One thread at a time.
#pragma once

#include "lib/audit/audit-layout.h"
#include "lib/audit/platform-offer.h"
#include "lib/facts/wheel-facts.h"

struct rebuild_scope {
	const struct wheel_facts *facts;
	const struct platform_offer *offer;
	struct layout layout;
	const struct offer_library **library; // of the platform
	size_t libraries;
	const char **exported; // symbols of the wheel's ELF files, sorted; made when they are first asked for
	size_t exports;
	size_t work; // steps so far
};

// All are borrowed. The caller releases the scope.
void rebuild_scope_init(struct rebuild_scope *s, const struct wheel_facts *facts, const struct filename *name,
	const struct platform_offer *offer);
void rebuild_scope_release(struct rebuild_scope *s); // for CLEANUP
// Whether a file of the wheel has this name, or this SONAME.
bool rebuild_scope_brings(struct rebuild_scope *s, const char *soname);
// Whether any library in scope has the symbol, or a file of the wheel. version NULL: any.
bool rebuild_scope_has_symbol(struct rebuild_scope *s, const char *symbol, const char *version);
// Whether it has taken more than LIMIT_REBUILD_WORK steps.
bool rebuild_scope_is_exhausted(const struct rebuild_scope *s);

enum rebuild_search {
	REBUILD_SEARCH_SYSTEM, // libraries that the wheel does not bring come from the loader's folders
	REBUILD_SEARCH_FOLDER, // or from a folder outside of the site-packages
	REBUILD_SEARCH_PACKAGE // or from another package beside this one
};
// Where the file's RPATH or RUNPATH leads, at most.
enum rebuild_search rebuild_scope_search(struct rebuild_scope *s, const struct wheel_elf *file);
