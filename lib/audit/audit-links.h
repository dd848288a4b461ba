// SPDX-License-Identifier: Apache-2.0
// Which file of the wheel the dynamic loader takes for each library that a file needs: by the search path of the file
// itself, by the RPATH of files that load it, or because a file that loads it has loaded the library before. What
// Python code loads by itself is not known. The number of steps is bounded. One thread at a time.
#pragma once

#include "lib/audit/audit-layout.h"

enum { LINK_NONE = UINT32_MAX }; // the wheel has no such file on a path that leads there

struct audit_links {
	const struct layout *layout;
	size_t *start;    // by file: of its first library in `target`
	uint32_t *target; // by needed library, in the order of DT_NEEDED: a file, or LINK_NONE
	struct audit_link_use {
		uint32_t used, user;
	} * use; // the first sorted_uses are sorted
	size_t uses, use_room, sorted_uses;
	uint64_t steps; // that are left
	bool is_cut;    // they did not suffice
};

void audit_links_init(struct audit_links *l, const struct layout *layout);
void audit_links_release(struct audit_links *l); // for CLEANUP
// The file that it takes for the n-th needed library of a file.
uint32_t audit_links_target(const struct audit_links *l, uint32_t file, size_t n);
// The same by the library's name. LINK_NONE also if the file does not need it.
uint32_t audit_links_find(struct audit_links *l, uint32_t file, const char *name);
// Counts steps of a search. False: there are none left.
bool audit_links_step(struct audit_links *l, uint64_t steps);
// Where the search path of the file, or the RPATH of one that loads it, leads at the farthest.
enum layout_place audit_links_farthest(struct audit_links *l, uint32_t file);
