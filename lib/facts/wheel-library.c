// SPDX-License-Identifier: Apache-2.0
// What the names of libraries in wheels say (wheel-facts.h).
#include "lib/facts/wheel-facts.h"

enum { HASH_DIGITS = 8 }; // auditwheel adds "-" and the first digits of the file's SHA-256 before the first dot

bool wheel_is_bundled(const char *path)
{
	struct str rest = str_from(path);
	for (struct str part = str_cut(&rest, '/'); rest.ptr; part = str_cut(&rest, '/'))
		if (str_ends(part, STR(".libs")) || str_eq(part, STR(".dylibs")))
			return true;
	return false;
}

static struct str library_base(struct str path)
{
	return str_slice(path, (size_t)(str_rfind(path, '/') + 1), path.len);
}

// The part before the first dot.
static struct str first_part(struct str base)
{
	long dot = str_find(base, '.');
	return dot < 0 ? base : str_slice(base, 0, (size_t)dot);
}

static bool ends_with_hash(struct str part)
{
	if (part.len < HASH_DIGITS + 2 || part.ptr[part.len - HASH_DIGITS - 1] != '-')
		return false;
	for (size_t i = part.len - HASH_DIGITS; i < part.len; i++)
		if (!ascii_is_digit(part.ptr[i]) && !(part.ptr[i] >= 'a' && part.ptr[i] <= 'f'))
			return false;
	return true;
}

static struct str without_hash(struct str part)
{
	return ends_with_hash(part) ? str_slice(part, 0, part.len - HASH_DIGITS - 1) : part;
}

// "libglib-2" of libglib-2.0.so.0: the number is of the version, which the stem does not have.
static struct str without_number(struct str part)
{
	size_t len = part.len;
	while (len && ascii_is_digit(part.ptr[len - 1]))
		len--;
	return len > 1 && len < part.len && part.ptr[len - 1] == '-' ? str_slice(part, 0, len - 1) : part;
}

struct str wheel_library_stem(struct str name)
{
	return without_number(without_hash(first_part(library_base(name))));
}

bool wheel_library_is_hashed(struct str name, struct buf *plain)
{
	struct str base = library_base(name), part = first_part(base);
	if (!ends_with_hash(part))
		return false;
	if (plain) {
		buf_str(plain, without_hash(part));
		buf_str(plain, str_slice(base, part.len, base.len));
	}
	return true;
}
