// SPDX-License-Identifier: Apache-2.0
// A borrowed slice of bytes. It owns nothing and need not end with NUL.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr;
	size_t len;
};

// printf("%" of a slice: printf("[" STR_FMT "]", STR_ARG(s)).
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).len, (s).ptr
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})

struct str str_from(const char *s);
struct str str_slice(struct str s, size_t from, size_t to); // from <= to <= s.len
static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
bool str_eq_nocase(struct str a, struct str b); // ASCII only
int str_cmp(struct str a, struct str b);        // by bytes, a prefix is less
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
// FNV-1a, from a seed of the caller's; 0 is fine. Nobody's secret: keys can be made that collide.
uint64_t str_hash(struct str s, uint64_t seed);
// Position of the first or last such byte; -1 if there is none.
long str_find(struct str s, char c);
long str_rfind(struct str s, char c);
// Cuts the part before the first sep off *rest and returns it; *rest becomes what is behind sep.
// Without a sep it returns all, and *rest becomes empty with ptr NULL: the sign that nothing is left.
struct str str_cut(struct str *rest, char sep);
struct str str_trim(struct str s); // blanks, tabs, CR, LF off both ends

// ASCII only, whatever the locale.
static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_is_alnum(char c)
{
	return ascii_is_digit(c) || ascii_is_alpha(c);
}

static inline char ascii_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

// Its first bytes, at most so many, and no half of a character of UTF-8.
struct str str_head(struct str s, size_t most);
bool str_is_ascii(struct str s);
// Whether the bytes are well-formed UTF-8 (RFC 3629: no surrogates, no over-long forms).
bool str_is_utf8(struct str s);
