// SPDX-License-Identifier: Apache-2.0
// Which member of one wheel is which of another: by path, where the folders of the version (X-1.0.dist-info, X-1.0.data)
// count as equal; then by the name without what differs between builds: the hash in the name of a bundled library, the
// ABI in that of an extension module; then, of bundled libraries, by the name without number. Pure; any thread.
#pragma once

#include "auditor/compare/compared-wheel.h"

struct member_pair {
	const struct wheel_content_member *a, *b; // NULL: there is none
	bool has_own_name;                        // the paths differ in more than the folder of the version
};

struct member_pairs {
	struct member_pair *pair; // sorted by path
	size_t count;
};

// Borrows the members. The caller releases *out.
void member_pairs_make(const struct wheel_content *a, const struct wheel_content *b, struct arena *text,
	struct member_pairs *out);
// Whether the path is in the wheel's .dist-info folder.
bool member_is_metadata(const struct wheel_content *c, const char *path);
