// SPDX-License-Identifier: Apache-2.0
// A slice of bytes: it borrows them, and need not end with NUL. Any thread; nothing here allocates or fails.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr;
	size_t len;
};

// For printf: printf("[" STR_FMT "]", STR_ARG(s)).
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).len, (s).ptr
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})

struct str str_from(const char *s);
struct str str_slice(struct str s, size_t from, size_t to); // from <= to <= s.len
static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
// ASCII only. Nearly all texts that are compared differ in their length, which needs no call.
bool str_eq_nocase_same_length(struct str a, struct str b);
static inline bool str_eq_nocase(struct str a, struct str b)
{
	return a.len == b.len && str_eq_nocase_same_length(a, b);
}
int str_cmp(struct str a, struct str b);        // orders by bytes; a prefix comes first
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
// The position of the first or last byte c; -1 if there is none.
long str_find(struct str s, char c);
long str_rfind(struct str s, char c);
// Returns the part before the first sep; *rest becomes the part behind sep. Without a sep it returns all of *rest, and
// *rest becomes empty with ptr NULL, which tells it from an empty last part.
struct str str_cut(struct str *rest, char sep);
struct str str_trim(struct str s); // without blanks, tabs, CR and LF at both ends

// ASCII only, in every locale.
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

// The longest beginning of s that has at most this many bytes and does not cut a UTF-8 character.
struct str str_head(struct str s, size_t most);
bool str_is_ascii(struct str s);
// True for well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
bool str_is_utf8(struct str s);
