// SPDX-License-Identifier: Apache-2.0
// All projects of the platforms in memory, by name: for searches, and for pages about many projects. The catalog watch
// keeps it as the catalog is. One thread writes at a time; any number of threads read.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/str.h"

// A platform that has files of the project, or had some.
struct project_place {
	int64_t platform; // its id in the catalog
	int64_t newest;   // seconds since 1970: when its newest file came; 0: unknown
	uint64_t files;   // listed ones
};

struct project_entry {
	char *name; // normal form; owned, as place is
	struct project_place *place;
	size_t places, place_room;
};

struct project_directory;

struct project_directory *project_directory_new(void);
void project_directory_free(struct project_directory *d);     // NULL is fine
void project_directory_cleanup(struct project_directory **d); // for CLEANUP

// Sets what a platform has of a project.
void project_directory_put(struct project_directory *d, const char *name, const struct project_place *place);
// d gets all projects of fresh, which becomes empty.
void project_directory_replace(struct project_directory *d, struct project_directory *fresh);

// Calls fn for each project, also for those without files, by name. Entries are borrowed for the call. Writers wait
// meanwhile, so fn must not block.
typedef void project_entry_fn(void *ctx, const struct project_entry *project);
void project_directory_each(struct project_directory *d, project_entry_fn *fn, void *ctx);
// The same for the project of this name, if there is one.
void project_directory_get(struct project_directory *d, const char *name, project_entry_fn *fn, void *ctx);

// A negative filter: the hashes of the projects of platforms. "Not in the filter" is certain and needs no catalog. Two
// names may share a hash, so "in the filter" is not certain, and removing a name may remove another one. One writer at
// a time; any number of threads read meanwhile, without a lock.

struct project_filter;

struct project_filter *project_filter_new(void);
void project_filter_free(struct project_filter *s); // no thread may read any more; NULL is fine
bool project_filter_may_have(const struct project_filter *s, int64_t platform, struct str project);
void project_filter_add(struct project_filter *s, int64_t platform, struct str project);
void project_filter_remove(struct project_filter *s, int64_t platform, struct str project);
