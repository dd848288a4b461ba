// SPDX-License-Identifier: Apache-2.0
#include "lib/base/charclass.h"

#define IS(c, x) ((c) == (x))
#define IS_CONTROL(c) ((c) < 0x20 || IS(c, 0x7f))
#define IS_GRAPHIC(c) (!IS_CONTROL(c) && (c) > ' ' && (c) < 0x7f)
#define IS_NAME(c) (IS_GRAPHIC(c) && !IS(c, '/') && !IS(c, '\\'))
#define IS_URL(c)                                                                                                      \
	(IS_GRAPHIC(c) && !IS(c, '"') && !IS(c, '<') && !IS(c, '>') && !IS(c, '\\') && !IS(c, '^') && !IS(c, '`') &&   \
		!((c) >= '{' && (c) <= '}'))
#define IS_UNRESERVED(c)                                                                                               \
	(((c) >= '0' && (c) <= '9') || ((c) >= 'A' && (c) <= 'Z') || ((c) >= 'a' && (c) <= 'z') || IS(c, '-') ||       \
		IS(c, '.') || IS(c, '_') || IS(c, '~'))
#define IS_JSON(c) (!IS_CONTROL(c) && !IS(c, '"') && !IS(c, '\\'))
#define IS_HTML(c)                                                                                                     \
	((!IS_CONTROL(c) || IS(c, '\t') || IS(c, '\n')) && !IS(c, '&') && !IS(c, '<') && !IS(c, '>') && !IS(c, '"'))
#define IS_TOKEN(c)                                                                                                    \
	(IS_UNRESERVED(c) || IS(c, '!') || ((c) >= '#' && (c) <= '\'') || IS(c, '*') || IS(c, '+') || IS(c, '^') ||     \
		IS(c, '`') || IS(c, '|'))

#define OF(c)                                                                                                          \
	(((c) < 0x80) * CHARCLASS_ASCII | IS_GRAPHIC(c) * CHARCLASS_GRAPHIC | IS_NAME(c) * CHARCLASS_NAME |            \
		IS_URL(c) * CHARCLASS_URL | IS_UNRESERVED(c) * CHARCLASS_UNRESERVED | IS_JSON(c) * CHARCLASS_JSON |    \
		IS_HTML(c) * CHARCLASS_HTML | IS_TOKEN(c) * CHARCLASS_TOKEN)
#define FOUR(c) OF(c), OF((c) + 1), OF((c) + 2), OF((c) + 3)
#define SIXTEEN(c) FOUR(c), FOUR((c) + 4), FOUR((c) + 8), FOUR((c) + 12)
#define ALL(c) SIXTEEN(c), SIXTEEN((c) + 16), SIXTEEN((c) + 32), SIXTEEN((c) + 48)

static const uint8_t sets_of[UINT8_MAX + 1] = {ALL(0), ALL(64), ALL(128), ALL(192)};

// Four bytes at a time as long as there are four.
size_t charclass_run(struct str s, unsigned sets)
{
	const unsigned char *at = (const unsigned char *)s.ptr;
	size_t i = 0;
	while (s.len - i >= 4 &&
		(sets_of[at[i]] & sets_of[at[i + 1]] & sets_of[at[i + 2]] & sets_of[at[i + 3]] & sets) == sets)
		i += 4;
	while (i < s.len && (sets_of[at[i]] & sets) == sets)
		i++;
	return i;
}

// The controls of direction: U+061C; U+200E, U+200F and, with the separators, U+2028 to U+202E; U+2066 to U+2069.
size_t charclass_unshowable(struct str s)
{
	const unsigned char *at = (const unsigned char *)s.ptr;
	if (at[0] < 0x80)
		return IS_CONTROL(at[0]);
	if (s.len >= 2 && ((at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) || (at[0] == 0xd8 && at[1] == 0x9c)))
		return 2;
	if (s.len < 3 || at[0] != 0xe2)
		return 0;
	bool is_bad = at[1] == 0x80 ? at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xa8 && at[2] <= 0xae)
				    : at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
	return is_bad ? 3 : 0;
}
