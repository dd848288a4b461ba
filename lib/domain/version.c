// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/version.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/domain/space.h"

// The ranks are bytes of the key: PEP 440, "Summary of permitted suffixes and relative ordering".
enum { PRE_ONLY_DEV = 1, PRE_A, PRE_B, PRE_RC, PRE_NONE };
enum { POST_NONE = 1, POST };
enum { DEV = 1, DEV_NONE };
enum { SEGMENT_TEXT = 1, SEGMENT_NUMBER };

// All spellings of a suffix; the longer before its own beginning, which would match as well.
struct spelling {
	const char *word;
	unsigned char rank;
};

static const struct spelling pre_words[] = {
	{"alpha", PRE_A},    {"a", PRE_A},    {"beta", PRE_B}, {"b", PRE_B},
	{"preview", PRE_RC}, {"pre", PRE_RC}, {"c", PRE_RC},   {"rc", PRE_RC},
	{NULL, 0},
};
static const struct spelling post_words[] = {{"post", POST}, {"rev", POST}, {"r", POST}, {NULL, 0}};
static const struct spelling dev_words[] = {{"dev", DEV}, {NULL, 0}};
static const char *const pre_normal[] = {[PRE_A] = "a", [PRE_B] = "b", [PRE_RC] = "rc"};

struct suffix {
	unsigned char rank; // 0: not there
	struct str number;  // may be empty, which means 0
};

// What stands where in the text; slices of it. Numbers are digits as they are spelled.
struct scan {
	struct str epoch, release;
	struct suffix pre, post, dev;
	struct str local; // behind the "+"; empty: there is none
};

static bool is_separator(char c)
{
	return c == '.' || c == '_' || c == '-';
}

static void skip(struct str *rest, size_t n)
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
	skip(rest, digits.len);
	return digits;
}

static size_t separator_at(struct str s)
{
	return s.len && is_separator(s.ptr[0]);
}

static bool starts_nocase(struct str s, struct str word)
{
	return s.len >= word.len && str_eq_nocase(str_slice(s, 0, word.len), word);
}

// "[._-]?(word)[._-]?N?"; leaves *rest alone where no word stands there.
static struct suffix take_suffix(struct str *rest, const struct spelling *words)
{
	struct str s = *rest;
	skip(&s, separator_at(s));
	for (; words->word; words++) {
		struct str word = str_from(words->word);
		if (!starts_nocase(s, word))
			continue;
		skip(&s, word.len);
		skip(&s, separator_at(s));
		struct suffix found = {words->rank, take_digits(&s)};
		*rest = s;
		return found;
	}
	return (struct suffix){0};
}

// "-N" is the short form of ".postN"; the bare "-" is nothing.
static struct suffix take_post(struct str *rest)
{
	struct str s = *rest;
	if (s.len > 1 && s.ptr[0] == '-' && ascii_is_digit(s.ptr[1])) {
		skip(&s, 1);
		struct suffix found = {POST, take_digits(&s)};
		*rest = s;
		return found;
	}
	return take_suffix(rest, post_words);
}

static struct str take_release(struct str *rest)
{
	const struct str from = *rest;
	size_t n = count_digits(from);
	for (size_t more = n; more && n < from.len && from.ptr[n] == '.';) {
		more = count_digits(str_slice(from, n + 1, from.len));
		n += more ? more + 1 : 0;
	}
	skip(rest, n);
	return str_slice(from, 0, n);
}

// [a-z0-9]+([._-][a-z0-9]+)*
static bool is_local(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		bool inner = i > 0 && i + 1 < s.len && ascii_is_alnum(s.ptr[i - 1]);
		if (!ascii_is_alnum(s.ptr[i]) && !(inner && is_separator(s.ptr[i])))
			return false;
	}
	return s.len > 0;
}

// The grammar of PEP 440, appendix B. No step needs to be taken back: what a step took, no other could use.
static bool scan(struct str text, struct scan *out)
{
	*out = (struct scan){0};
	struct str rest = space_trim(text);
	if (rest.len && ascii_lower(rest.ptr[0]) == 'v')
		skip(&rest, 1);
	size_t digits = count_digits(rest);
	if (digits && digits < rest.len && rest.ptr[digits] == '!') {
		out->epoch = take_digits(&rest);
		skip(&rest, 1);
	}
	out->release = take_release(&rest);
	if (!out->release.len)
		return false;
	out->pre = take_suffix(&rest, pre_words);
	out->post = take_post(&rest);
	out->dev = take_suffix(&rest, dev_words);
	if (!rest.len)
		return true;
	out->local = str_slice(rest, 1, rest.len);
	return rest.ptr[0] == '+' && is_local(out->local);
}

static struct str strip_zeros(struct str digits)
{
	while (digits.len && digits.ptr[0] == '0')
		skip(&digits, 1);
	return digits;
}

static void text_number(struct buf *text, struct str digits)
{
	digits = strip_zeros(digits);
	buf_str(text, digits.len ? digits : STR("0"));
}

static bool is_number(struct str segment)
{
	return count_digits(segment) == segment.len;
}

// Cuts the first segment off *local; the text is known to be well formed.
static struct str take_segment(struct str *local)
{
	size_t n = 0;
	while (n < local->len && !is_separator(local->ptr[n]))
		n++;
	struct str segment = str_slice(*local, 0, n);
	skip(local, n < local->len ? n + 1 : n);
	return segment;
}

static void text_local(struct buf *text, struct str local)
{
	for (char lead = '+'; local.len; lead = '.') {
		struct str segment = take_segment(&local);
		buf_putc(text, lead);
		if (is_number(segment))
			text_number(text, segment);
		else
			for (size_t i = 0; i < segment.len; i++)
				buf_putc(text, ascii_lower(segment.ptr[i]));
	}
}

static void text_suffix(struct buf *text, const char *word, struct suffix suffix)
{
	if (!suffix.rank)
		return;
	buf_puts(text, word);
	text_number(text, suffix.number);
}

static void write_text(const struct scan *s, struct buf *text)
{
	if (strip_zeros(s->epoch).len) {
		text_number(text, s->epoch);
		buf_putc(text, '!');
	}
	for (struct str rest = s->release; rest.len;) {
		text_number(text, str_cut(&rest, '.'));
		if (rest.len)
			buf_putc(text, '.');
	}
	text_suffix(text, pre_normal[s->pre.rank], s->pre);
	text_suffix(text, ".post", s->post);
	text_suffix(text, ".dev", s->dev);
	text_local(text, s->local);
}

// The key. It is compared byte by byte, and a prefix is less; so each part begins with a byte that puts it
// right against whatever else could stand there:
//   number    1 + how many digits, then the digits without leading zeros (0 has none): first by size, then
//             by digits. From 254 digits on: 255, then their count in 4 bytes. Never begins with 0.
//   version   epoch, the release's numbers without zeros at the end, 0; the rank of pre (and its number where
//             it is a, b or rc), of post, of dev, likewise; the local segments
//   segment   SEGMENT_TEXT, its letters, 0; or SEGMENT_NUMBER, its number. No local part: nothing.

static void key_number(struct buf *key, struct str digits)
{
	enum { SHORT = 254 };
	digits = strip_zeros(digits);
	if (digits.len < SHORT) {
		buf_putc(key, (char)(1 + digits.len));
	} else {
		buf_putc(key, (char)255);
		for (int shift = 24; shift >= 0; shift -= 8)
			buf_putc(key, (char)((uint32_t)digits.len >> shift & 0xff));
	}
	buf_str(key, digits);
}

static struct str strip_zero_parts(struct str release)
{
	for (;;) {
		long dot = str_rfind(release, '.');
		struct str last = str_slice(release, (size_t)(dot + 1), release.len);
		if (strip_zeros(last).len)
			return release;
		release.len = dot < 0 ? 0 : (size_t)dot;
		if (!release.len)
			return release;
	}
}

static void key_suffix(struct buf *key, unsigned char rank_of_none, struct suffix suffix)
{
	buf_putc(key, (char)(suffix.rank ? suffix.rank : rank_of_none));
	if (suffix.rank)
		key_number(key, suffix.number);
}

static void key_local(struct buf *key, struct str local)
{
	while (local.len) {
		struct str segment = take_segment(&local);
		buf_putc(key, is_number(segment) ? SEGMENT_NUMBER : SEGMENT_TEXT);
		if (is_number(segment)) {
			key_number(key, segment);
			continue;
		}
		for (size_t i = 0; i < segment.len; i++)
			buf_putc(key, ascii_lower(segment.ptr[i]));
		buf_putc(key, 0);
	}
}

static void write_key(const struct scan *s, struct buf *key)
{
	key_number(key, s->epoch);
	for (struct str rest = strip_zero_parts(s->release); rest.len;)
		key_number(key, str_cut(&rest, '.'));
	buf_putc(key, 0);
	// 1.0.dev1 comes before 1.0a1, but 1.0.post1.dev1 is ordered by its post part.
	bool only_dev = s->dev.rank && !s->post.rank;
	key_suffix(key, only_dev ? PRE_ONLY_DEV : PRE_NONE, s->pre);
	key_suffix(key, POST_NONE, s->post);
	key_suffix(key, DEV_NONE, s->dev);
	key_local(key, s->local);
}

int version_parse(struct str text, struct version *out, struct err *e)
{
	struct scan s;
	if (text.len > UINT32_MAX / 4 || !scan(text, &s)) {
		struct str shown = str_slice(text, 0, text.len < 80 ? text.len : 80);
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is no version (PEP 440)", STR_ARG(shown));
	}
	struct buf normal, key;
	buf_init(&normal, 4 * text.len + 64);
	buf_init(&key, 4 * text.len + 64);
	write_text(&s, &normal);
	write_key(&s, &key);
	out->key.len = key.len;
	out->key.ptr = buf_steal(&key);
	out->text = buf_steal(&normal);
	out->is_prerelease = s.pre.rank || s.dev.rank;
	out->is_local = s.local.len > 0;
	return 0;
}

bool version_is_valid(struct str text)
{
	struct scan s;
	return scan(text, &s);
}

void version_release(struct version *v)
{
	free(v->text);
	free((void *)(uintptr_t)v->key.ptr);
	*v = (struct version){0};
}

int version_cmp(const struct version *a, const struct version *b)
{
	return str_cmp(a->key, b->key);
}
