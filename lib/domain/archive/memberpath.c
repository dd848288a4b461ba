// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/memberpath.h"

// Cuts the first part off the path. "/" ends a part and, as on Windows, "\" does too.
static struct str cut_part(struct str *path)
{
	for (size_t i = 0; i < path->len; i++) {
		if (path->ptr[i] != '/' && path->ptr[i] != '\\')
			continue;
		struct str part = str_slice(*path, 0, i);
		*path = str_slice(*path, i + 1, path->len);
		return part;
	}
	struct str all = *path;
	*path = (struct str){NULL, 0};
	return all;
}

bool memberpath_leads_out(struct str path)
{
	bool has_drive = path.len >= 2 && ascii_is_alpha(path.ptr[0]) && path.ptr[1] == ':';
	if (has_drive || str_starts(path, STR("/")) || str_starts(path, STR("\\")))
		return true;
	while (path.ptr)
		if (str_eq(cut_part(&path), STR("..")))
			return true;
	return false;
}

// "a//b" and "./a" are other spellings of a path. A second member could use one of them to overwrite the first.
bool memberpath_is_plain(struct str path)
{
	struct str rest = str_ends(path, STR("/")) ? str_slice(path, 0, path.len - 1) : path;
	while (rest.ptr) {
		struct str part = cut_part(&rest);
		if (!part.len || str_eq(part, STR(".")))
			return false;
	}
	return true;
}
