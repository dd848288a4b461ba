// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/space.h"

#include "lib/base/mem.h"

// In UTF-8. C allows no \u escape for U+0085.
static const char *const blank[] = {" ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x1d", "\x1e",
	"\x1f", "\xc2\x85", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
	"\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f",
	"\u205f", "\u3000"};

// The length of the blank that s starts with or ends in; 0 where it is none.
static size_t blank_at(struct str s, bool (*stands)(struct str, struct str))
{
	for (size_t i = 0; i < ARRAY_SIZE(blank); i++)
		if (stands(s, str_from(blank[i])))
			return str_from(blank[i]).len;
	return 0;
}

struct str space_trim(struct str s)
{
	size_t n;
	while ((n = blank_at(s, str_starts)))
		s = str_slice(s, n, s.len);
	while ((n = blank_at(s, str_ends)))
		s.len -= n;
	return s;
}

bool space_is_in(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (blank_at(str_slice(s, i, s.len), str_starts))
			return true;
	return false;
}
