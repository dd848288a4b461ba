// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/plain-library.h"

#include "lib/facts/library-name.h"
#include "lib/facts/wheel-facts.h"
#include "lib/base/limits.h"

enum { HASHES = 4 }; // more are taken for a part of the name

const char *plain_library_name(struct arena *text, const char *name)
{
	for (int i = 0; i < HASHES; i++) {
		CLEANUP(buf_release) struct buf plain;
		buf_init(&plain, SIZE_MAX / 2);
		if (!wheel_library_is_hashed(str_from(name), &plain))
			break;
		name = arena_copy(text, buf_view(&plain));
	}
	return name;
}

const char *plain_library_stem(struct arena *text, const char *name)
{
	return arena_copy(text, wheel_library_stem(str_from(plain_library_name(text, name))));
}
