// SPDX-License-Identifier: Apache-2.0
#include "lib/base/str.h"

struct str str_from(const char *s)
{
	return (struct str){s, strlen(s)};
}

// ptr may be NULL in an empty slice, and C does not allow even NULL + 0.
struct str str_slice(struct str s, size_t from, size_t to)
{
	return (struct str){from ? s.ptr + from : s.ptr, to - from};
}

// From the end: media types and names of headers begin alike.
bool str_eq_nocase_same_length(struct str a, struct str b)
{
	size_t i = a.len;
	while (i && (a.ptr[i - 1] == b.ptr[i - 1] || ascii_lower(a.ptr[i - 1]) == ascii_lower(b.ptr[i - 1])))
		i--;
	return i == 0;
}

int str_cmp(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

bool str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len && str_eq(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.len >= suffix.len && str_eq(str_slice(s, s.len - suffix.len, s.len), suffix);
}

long str_find(struct str s, char c)
{
	const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
	return at ? at - s.ptr : -1;
}

long str_rfind(struct str s, char c)
{
	const char *at = s.len ? memrchr(s.ptr, c, s.len) : NULL;
	return at ? at - s.ptr : -1;
}

struct str str_cut(struct str *rest, char sep)
{
	struct str all = *rest;
	long at = str_find(all, sep);
	if (at < 0) {
		*rest = (struct str){NULL, 0};
		return all;
	}
	*rest = str_slice(all, (size_t)at + 1, all.len);
	return str_slice(all, 0, (size_t)at);
}

static bool is_trimmed(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
	while (s.len && is_trimmed(s.ptr[0]))
		s = str_slice(s, 1, s.len);
	while (s.len && is_trimmed(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

struct str str_head(struct str s, size_t most)
{
	if (s.len <= most)
		return s;
	while (most && ((unsigned char)s.ptr[most] & 0xc0) == 0x80)
		most--;
	return str_slice(s, 0, most);
}

bool str_is_ascii(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] >= 0x80)
			return false;
	return true;
}

// Returns the number of bytes of the UTF-8 character at s, 0 if it is malformed (RFC 3629, section 4).
static size_t utf8_length(const unsigned char *s, size_t len)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least;
	} form[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	for (size_t n = 0; n < sizeof(form) / sizeof(form[0]); n++) {
		if ((s[0] & form[n].mask) != form[n].lead)
			continue;
		if (n >= len)
			return 0;
		uint32_t code = s[0] & (unsigned char)~form[n].mask;
		for (size_t i = 1; i <= n; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (s[i] & 0x3f);
		}
		bool bad = code < form[n].least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
		return bad ? 0 : n + 1;
	}
	return 0;
}

bool str_is_utf8(struct str s)
{
	for (size_t i = 0; i < s.len;) {
		size_t n =
			(unsigned char)s.ptr[i] < 0x80 ? 1 : utf8_length((const unsigned char *)s.ptr + i, s.len - i);
		if (!n)
			return false;
		i += n;
	}
	return true;
}
