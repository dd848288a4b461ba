// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/version.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/domain/text/pep440.h"
#include "lib/domain/text/pyspace.h"

static void write_number_text(struct buf *text, struct str digits)
{
	digits = pep440_strip_zeros(digits);
	buf_str(text, digits.len ? digits : STR("0"));
}

static bool is_numeric_segment(struct str segment)
{
	for (size_t i = 0; i < segment.len; i++)
		if (!ascii_is_digit(segment.ptr[i]))
			return false;
	return true;
}

static void write_local_text(struct buf *text, struct str local)
{
	for (char lead = '+'; local.len; lead = '.') {
		struct str segment = pep440_take_segment(&local);
		buf_putc(text, lead);
		if (is_numeric_segment(segment))
			write_number_text(text, segment);
		else
			for (size_t i = 0; i < segment.len; i++)
				buf_putc(text, ascii_lower(segment.ptr[i]));
	}
}

static void write_suffix_text(struct buf *text, struct pep440_suffix suffix)
{
	static const char *const word[] = {
		[PEP440_A] = "a",
		[PEP440_B] = "b",
		[PEP440_RC] = "rc",
		[PEP440_POST] = ".post",
		[PEP440_DEV] = ".dev",
	};
	if (suffix.kind == PEP440_ABSENT)
		return;
	buf_puts(text, word[suffix.kind]);
	write_number_text(text, suffix.number);
}

// The key is compared byte by byte, and a prefix is less. So each part begins with a byte that orders it against all
// parts that could be in its place:
// - A number is 1 + the count of its digits, then the digits, without leading zeros (0 has none), so that a longer
//   number is greater. From 254 digits on it is 255, then the count in 4 bytes. So a number never begins with a 0 byte.
// - A version is its epoch; the numbers of the release, without trailing zeros, and a 0 byte; the ranks of pre, post
//   and dev, each followed by its number if the part exists; the segments of local.
// - A segment is SEGMENT_TEXT and its letters, or SEGMENT_NUMBER and its number. The byte after the letters, or the end
//   of the key, is less than any letter.
enum { RANK_ONLY_DEV = 1, RANK_A, RANK_B, RANK_RC, RANK_NO_PRE };
enum { RANK_NO_POST = 1, RANK_POST };
enum { RANK_DEV = 1, RANK_NO_DEV };
enum { SEGMENT_TEXT = 1, SEGMENT_NUMBER };

static void write_number_key(struct buf *key, struct str digits)
{
	enum { SHORT = 254 };
	digits = pep440_strip_zeros(digits);
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
	while (release.len) {
		long dot = str_rfind(release, '.');
		struct str last = str_slice(release, (size_t)(dot + 1), release.len);
		if (pep440_strip_zeros(last).len)
			return release;
		release.len = dot < 0 ? 0 : (size_t)dot;
	}
	return release;
}

static void write_suffix_key(struct buf *key, char rank_of_none, struct pep440_suffix suffix)
{
	static const char rank[] = {
		[PEP440_A] = RANK_A,
		[PEP440_B] = RANK_B,
		[PEP440_RC] = RANK_RC,
		[PEP440_POST] = RANK_POST,
		[PEP440_DEV] = RANK_DEV,
	};
	if (suffix.kind == PEP440_ABSENT) {
		buf_putc(key, rank_of_none);
		return;
	}
	buf_putc(key, rank[suffix.kind]);
	write_number_key(key, suffix.number);
}

static void write_local_key(struct buf *key, struct str local)
{
	while (local.len) {
		struct str segment = pep440_take_segment(&local);
		buf_putc(key, is_numeric_segment(segment) ? SEGMENT_NUMBER : SEGMENT_TEXT);
		if (is_numeric_segment(segment)) {
			write_number_key(key, segment);
			continue;
		}
		for (size_t i = 0; i < segment.len; i++)
			buf_putc(key, ascii_lower(segment.ptr[i]));
	}
}

static void write_version_key(const struct pep440 *s, struct buf *key)
{
	write_number_key(key, s->epoch);
	for (struct str rest = strip_zero_parts(s->release); rest.len;)
		write_number_key(key, str_cut(&rest, '.'));
	buf_putc(key, 0);
	// 1.0.dev1 comes before 1.0a1, but 1.0.post1.dev1 is ordered by its post part.
	bool only_dev = s->dev.kind != PEP440_ABSENT && s->post.kind == PEP440_ABSENT;
	write_suffix_key(key, only_dev ? RANK_ONLY_DEV : RANK_NO_PRE, s->pre);
	write_suffix_key(key, RANK_NO_POST, s->post);
	write_suffix_key(key, RANK_NO_DEV, s->dev);
	write_local_key(key, s->local);
}

static bool scan_trimmed(struct str text, struct pep440 *out)
{
	return text.len < UINT32_MAX / 4 && pep440_scan(pyspace_trim(text), out);
}

int version_parse(struct str text, struct version *out, struct err *e)
{
	enum { SHOWN = 80 };
	struct pep440 s;
	if (!scan_trimmed(text, &s))
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a version (PEP 440)",
			STR_ARG(str_slice(text, 0, text.len < SHOWN ? text.len : SHOWN)));
	struct buf normal, key;
	buf_init(&normal, 4 * text.len + 64);
	buf_init(&key, 4 * text.len + 64);
	if (pep440_strip_zeros(s.epoch).len) {
		write_number_text(&normal, s.epoch);
		buf_putc(&normal, '!');
	}
	for (struct str rest = s.release; rest.len;) {
		write_number_text(&normal, str_cut(&rest, '.'));
		if (rest.len)
			buf_putc(&normal, '.');
	}
	write_suffix_text(&normal, s.pre);
	write_suffix_text(&normal, s.post);
	write_suffix_text(&normal, s.dev);
	write_local_text(&normal, s.local);
	write_version_key(&s, &key);
	out->key.len = key.len;
	out->key.ptr = buf_steal(&key);
	out->text = buf_steal(&normal);
	out->is_prerelease = s.pre.kind != PEP440_ABSENT || s.dev.kind != PEP440_ABSENT;
	out->is_local = s.local.len > 0;
	return 0;
}

bool version_is_valid(struct str text)
{
	struct pep440 s;
	return scan_trimmed(text, &s);
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
