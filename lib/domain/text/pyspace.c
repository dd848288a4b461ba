// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/pyspace.h"

#include "lib/base/mem.h"

// In UTF-8. C allows no \u escape for U+0085.
static const char *const blank[] = {" ", "\t", "\n", "\v", "\f", "\r", "\x1c", "\x1d", "\x1e", "\x1f", "\xc2\x85",
	"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
	"\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};

// Most bytes are graphic, so this is checked first.
static bool is_graphic(char c)
{
	return c > ' ' && (unsigned char)c < 0x7f;
}

// The length of the blank at the beginning of s; 0: none.
static size_t leading_blank_length(struct str s)
{
	if (!s.len || is_graphic(s.ptr[0]))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(blank); i++)
		if (str_starts(s, str_from(blank[i])))
			return str_from(blank[i]).len;
	return 0;
}

static size_t trailing_blank_length(struct str s)
{
	if (!s.len || is_graphic(s.ptr[s.len - 1]))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(blank); i++)
		if (str_ends(s, str_from(blank[i])))
			return str_from(blank[i]).len;
	return 0;
}

struct str pyspace_trim(struct str s)
{
	size_t n;
	while ((n = leading_blank_length(s)))
		s = str_slice(s, n, s.len);
	while ((n = trailing_blank_length(s)))
		s.len -= n;
	return s;
}

bool pyspace_is_in(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (leading_blank_length(str_slice(s, i, s.len)))
			return true;
	return false;
}
