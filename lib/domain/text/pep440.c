// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/pep440.h"

#include <stddef.h>

// All spellings of a suffix. A word comes before its own prefixes, which would match too.
struct spelling {
	const char *word;
	enum pep440_kind kind;
};

static const struct spelling pre_words[] = {
	{"alpha", PEP440_A},
	{"a", PEP440_A},
	{"beta", PEP440_B},
	{"b", PEP440_B},
	{"preview", PEP440_RC},
	{"pre", PEP440_RC},
	{"c", PEP440_RC},
	{"rc", PEP440_RC},
	{NULL, PEP440_ABSENT},
};
static const struct spelling post_words[] = {
	{"post", PEP440_POST}, {"rev", PEP440_POST}, {"r", PEP440_POST}, {NULL, PEP440_ABSENT}};
static const struct spelling dev_words[] = {{"dev", PEP440_DEV}, {NULL, PEP440_ABSENT}};

static bool is_separator(char c)
{
	return c == '.' || c == '_' || c == '-';
}

static void skip_bytes(struct str *rest, size_t n)
{
	*rest = str_slice(*rest, n, rest->len);
}

static size_t count_digits(struct str s)
{
	size_t n = 0;
	while (n < s.len && ascii_is_digit(s.ptr[n]))
		n++;
	return n;
}

static struct str take_digits(struct str *rest)
{
	struct str digits = str_slice(*rest, 0, count_digits(*rest));
	skip_bytes(rest, digits.len);
	return digits;
}

static size_t separator_length(struct str s)
{
	return s.len && is_separator(s.ptr[0]);
}

// Cuts "[._-]?(word)[._-]?N?" off. If no word follows, *rest stays as it is.
static struct pep440_suffix take_suffix(struct str *rest, const struct spelling *words)
{
	struct str s = *rest;
	skip_bytes(&s, separator_length(s));
	for (; words->word; words++) {
		struct str word = str_from(words->word);
		if (!(s.len >= word.len && str_eq_nocase(str_slice(s, 0, word.len), word)))
			continue;
		skip_bytes(&s, word.len);
		skip_bytes(&s, separator_length(s));
		struct pep440_suffix found = {words->kind, take_digits(&s)};
		*rest = s;
		return found;
	}
	return (struct pep440_suffix){.kind = PEP440_ABSENT};
}

// "-N" is the short form of ".postN". A "-" alone is none.
static struct pep440_suffix take_post(struct str *rest)
{
	struct str s = *rest;
	if (s.len > 1 && s.ptr[0] == '-' && ascii_is_digit(s.ptr[1])) {
		skip_bytes(&s, 1);
		struct pep440_suffix found = {PEP440_POST, take_digits(&s)};
		*rest = s;
		return found;
	}
	return take_suffix(rest, post_words);
}

// There is no backtracking: no later step could use what an earlier step has cut off.
bool pep440_scan(struct str text, struct pep440 *out)
{
	*out = (struct pep440){0};
	struct str rest = text;
	if (rest.len && ascii_lower(rest.ptr[0]) == 'v')
		skip_bytes(&rest, 1);
	size_t digits = count_digits(rest);
	if (digits && digits < rest.len && rest.ptr[digits] == '!') {
		out->epoch = take_digits(&rest);
		skip_bytes(&rest, 1);
	}
	const struct str from = rest;
	size_t n = count_digits(from);
	for (size_t more = n; more && n < from.len && from.ptr[n] == '.';) {
		more = count_digits(str_slice(from, n + 1, from.len));
		n += more ? more + 1 : 0;
	}
	skip_bytes(&rest, n);
	out->release = str_slice(from, 0, n);
	if (!out->release.len)
		return false;
	out->pre = take_suffix(&rest, pre_words);
	out->post = take_post(&rest);
	out->dev = take_suffix(&rest, dev_words);
	if (!rest.len)
		return true;
	out->local = str_slice(rest, 1, rest.len);
	if (rest.ptr[0] != '+')
		return false;
	// [a-z0-9]+([._-][a-z0-9]+)*
	struct str s = out->local;
	for (size_t i = 0; i < s.len; i++) {
		bool inner = i > 0 && i + 1 < s.len && ascii_is_alnum(s.ptr[i - 1]);
		if (!ascii_is_alnum(s.ptr[i]) && !(inner && is_separator(s.ptr[i])))
			return false;
	}
	return s.len > 0;
}

struct str pep440_take_segment(struct str *local)
{
	size_t n = 0;
	while (n < local->len && !is_separator(local->ptr[n]))
		n++;
	struct str segment = str_slice(*local, 0, n);
	skip_bytes(local, n < local->len ? n + 1 : n);
	return segment;
}

struct str pep440_strip_zeros(struct str digits)
{
	while (digits.len && digits.ptr[0] == '0')
		digits = str_slice(digits, 1, digits.len);
	return digits;
}
