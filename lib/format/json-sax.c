// SPDX-License-Identifier: Apache-2.0
#include "lib/format/json-sax.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// What may come next.
enum expectation {
	EXPECT_VALUE,
	EXPECT_FIRST_VALUE, // or the end of the array
	EXPECT_KEY,
	EXPECT_FIRST_KEY, // or the end of the object
	EXPECT_COLON,
	EXPECT_COMMA, // or the end of the object or array
	EXPECT_NOTHING,
};

static const char *const expected[] = {
	[EXPECT_VALUE] = "a value is expected",
	[EXPECT_FIRST_VALUE] = "a value or \"]\" is expected",
	[EXPECT_KEY] = "a key is expected",
	[EXPECT_FIRST_KEY] = "a key or \"}\" is expected",
	[EXPECT_COLON] = "\":\" is expected",
	[EXPECT_COMMA] = "\",\" or the end of an object or array is expected",
	[EXPECT_NOTHING] = "there is more behind the document",
};

struct json_sax {
	json_sax_fn *fn;
	void *ctx;
	struct arena *room; // of strings with escapes
	enum expectation next;
	size_t depth;
	uint8_t *objects; // a bit for each level: whether it is an object
	size_t objects_used, objects_room;
	struct str key[JSON_SAX_DEPTH];
	const char *why; // what is no JSON; NULL: nothing so far
};

// --- tokens ---
// Each function below returns the end of the token that begins at `at`. NULL: why is set, or, where it is not, the text
// ends within the token.

static const char *refuse(struct json_sax *s, const char *why)
{
	s->why = why;
	return NULL;
}

#define EACH_BYTE(c) ((c)*UINT64_C(0x0101010101010101))

// Whether one of eight bytes is a quote, a backslash, a control character, or not ASCII. It may also say so of a byte
// behind such a one.
static bool has_special(uint64_t bytes)
{
	uint64_t quote = bytes ^ EACH_BYTE('"'), backslash = bytes ^ EACH_BYTE('\\');
	return ((quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1)) | (bytes - EACH_BYTE(' ')) | bytes) &
	       EACH_BYTE(0x80);
}

static const char *skip_plain(const char *at, const char *end)
{
	uint64_t bytes;
	while (end - at >= (ptrdiff_t)sizeof(bytes)) {
		memcpy(&bytes, at, sizeof(bytes));
		if (has_special(bytes))
			break;
		at += sizeof(bytes);
	}
	while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ' && (unsigned char)*at < 0x80)
		at++;
	return at;
}

static int hex_digit(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *scan_escape(struct json_sax *s, const char *at, const char *end)
{
	if (end - at < 2)
		return NULL;
	if (!at[1] || !strchr("\"\\/bfnrtu", at[1]))
		return refuse(s, "a string has an unknown escape");
	if (at[1] != 'u')
		return at + 2;
	for (int i = 2; i < 6; i++) {
		if (at + i == end)
			return NULL;
		if (hex_digit(at[i]) < 0)
			return refuse(s, "\"\\u\" needs four hexadecimal digits");
	}
	return at + 6;
}

// at: behind the quote. Returns where the closing one is.
static const char *scan_string(struct json_sax *s, const char *at, const char *end, bool *has_escape)
{
	const char *begin = at;
	bool is_ascii = true;
	*has_escape = false;
	while (at && (at = skip_plain(at, end)) < end && *at != '"') {
		if (*at == '\\') {
			*has_escape = true;
			at = scan_escape(s, at, end);
		} else if ((unsigned char)*at < ' ') {
			return refuse(s, "a string has a control character");
		} else {
			is_ascii = false;
			at++;
		}
	}
	if (!at || at == end)
		return NULL;
	if (!is_ascii && !str_is_utf8((struct str){begin, (size_t)(at - begin)}))
		return refuse(s, "a string is not UTF-8");
	return at;
}

static const char *skip_digits(const char *at, const char *end)
{
	while (at < end && ascii_is_digit(*at))
		at++;
	return at;
}

static const char *scan_digits(struct json_sax *s, const char *at, const char *end)
{
	const char *behind = skip_digits(at, end);
	return behind > at || at == end ? behind : refuse(s, "a number lacks a digit");
}

// A number at the very end of the text is whole: whether it may stand there is seen later.
static const char *scan_number(struct json_sax *s, const char *at, const char *end)
{
	at += *at == '-';
	if (at == end)
		return NULL;
	at = *at == '0' ? at + 1 : scan_digits(s, at, end);
	if (at && at < end && *at == '.')
		at = ++at == end ? NULL : scan_digits(s, at, end);
	if (at && at < end && (*at == 'e' || *at == 'E')) {
		at++;
		at += at < end && (*at == '+' || *at == '-');
		at = at == end ? NULL : scan_digits(s, at, end);
	}
	return at;
}

// --- strings with escapes ---

// The code point of "\uXXXX" at `at`, or of two that are a surrogate pair; moves *at behind it.
static uint32_t read_code_point(const char **at, const char *end)
{
	uint32_t unit[2] = {0};
	int units = 0;
	for (const char *u = *at; units < 2 && end - u >= 6 && u[0] == '\\' && u[1] == 'u'; u += 6, units++)
		for (int i = 2; i < 6; i++)
			unit[units] = unit[units] << 4 | (uint32_t)hex_digit(u[i]);
	bool is_high = (unit[0] & 0xfc00) == 0xd800, is_low = (unit[0] & 0xfc00) == 0xdc00;
	bool is_pair = is_high && units == 2 && (unit[1] & 0xfc00) == 0xdc00;
	*at += is_pair ? 12 : 6;
	if (is_pair)
		return 0x10000 + ((unit[0] & 0x3ff) << 10) + (unit[1] & 0x3ff);
	return is_high || is_low ? 0xfffd : unit[0];
}

static char *put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
	*out++ = (char)(lead[more] | c >> 6 * more);
	while (more-- > 0)
		*out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return out;
}

// No escape is shorter than the bytes that it stands for.
static struct str decode_escapes(struct json_sax *s, struct str raw)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	char *out = arena_alloc(s->room, raw.len), *to = out;
	const char *end = raw.ptr + raw.len;
	for (const char *at = raw.ptr; at < end;)
		if (*at != '\\') {
			*to++ = *at++;
		} else if (at[1] == 'u') {
			to = put_utf8(to, read_code_point(&at, end));
		} else {
			*to++ = bytes[strchr(names, at[1]) - names];
			at += 2;
		}
	return (struct str){out, (size_t)(to - out)};
}

// --- values ---

static bool may_begin_value(const struct json_sax *s)
{
	return s->next == EXPECT_VALUE || s->next == EXPECT_FIRST_VALUE;
}

static bool is_in_object(const struct json_sax *s)
{
	size_t level = s->depth - 1;
	return s->depth && s->objects[level / 8] >> level % 8 & 1;
}

static void hand_over(struct json_sax *s, enum json_sax_kind kind, struct str text)
{
	const struct json_sax_value value = {.kind = kind, .depth = s->depth, .key = s->key, .text = text};
	if (s->depth <= JSON_SAX_DEPTH)
		s->fn(s->ctx, &value);
}

static void end_value(struct json_sax *s)
{
	s->next = s->depth ? EXPECT_COMMA : EXPECT_NOTHING;
}

static const char *begin_container(struct json_sax *s, const char *at)
{
	bool is_object = *at == '{';
	if (!may_begin_value(s))
		return refuse(s, expected[s->next]);
	hand_over(s, is_object ? JSON_SAX_OBJECT : JSON_SAX_ARRAY, (struct str){0});
	if (s->depth < JSON_SAX_DEPTH)
		s->key[s->depth] = (struct str){0};
	if (s->depth / 8 == s->objects_used) {
		GROW(s->objects, s->objects_used, s->objects_room);
		s->objects[s->objects_used++] = 0;
	}
	uint8_t *byte = &s->objects[s->depth / 8], bit = (uint8_t)(1u << s->depth % 8);
	*byte = (uint8_t)(is_object ? *byte | bit : *byte & ~bit);
	s->depth++;
	s->next = is_object ? EXPECT_FIRST_KEY : EXPECT_FIRST_VALUE;
	return at + 1;
}

static const char *end_container(struct json_sax *s, const char *at)
{
	bool is_object = *at == '}', is_first = s->next == (is_object ? EXPECT_FIRST_KEY : EXPECT_FIRST_VALUE);
	if (!is_first && (s->next != EXPECT_COMMA || is_in_object(s) != is_object))
		return refuse(s, expected[s->next]);
	s->depth--;
	hand_over(s, is_object ? JSON_SAX_OBJECT_END : JSON_SAX_ARRAY_END, (struct str){0});
	end_value(s);
	return at + 1;
}

static const char *read_string(struct json_sax *s, const char *at, const char *end)
{
	bool has_escape, is_value = may_begin_value(s);
	if (!is_value && s->next != EXPECT_KEY && s->next != EXPECT_FIRST_KEY)
		return refuse(s, expected[s->next]);
	const char *quote = scan_string(s, at + 1, end, &has_escape);
	if (!quote)
		return NULL;
	bool is_wanted = s->depth <= JSON_SAX_DEPTH;
	struct str text = {at + 1, (size_t)(quote - at - 1)};
	if (has_escape && is_wanted)
		text = decode_escapes(s, text);
	if (is_value) {
		hand_over(s, JSON_SAX_STRING, text);
		end_value(s);
	} else {
		if (is_wanted)
			s->key[s->depth - 1] = text;
		s->next = EXPECT_COLON;
	}
	return quote + 1;
}

static const char *read_separator(struct json_sax *s, const char *at)
{
	if (s->next != (*at == ',' ? EXPECT_COMMA : EXPECT_COLON))
		return refuse(s, expected[s->next]);
	s->next = *at == ',' && is_in_object(s) ? EXPECT_KEY : EXPECT_VALUE;
	return at + 1;
}

static const char *read_word(struct json_sax *s, const char *at, const char *end)
{
	static const struct {
		struct str text;
		enum json_sax_kind kind;
	} words[] = {{STR("true"), JSON_SAX_TRUE}, {STR("false"), JSON_SAX_FALSE}, {STR("null"), JSON_SAX_NULL}};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = (size_t)(end - at) < words[i].text.len ? (size_t)(end - at) : words[i].text.len;
		if (memcmp(at, words[i].text.ptr, len) != 0)
			continue;
		if (len < words[i].text.len)
			return NULL;
		hand_over(s, words[i].kind, (struct str){0});
		end_value(s);
		return at + len;
	}
	return refuse(s, expected[s->next]);
}

static const char *read_token(struct json_sax *s, const char *at, const char *end)
{
	switch (*at) {
	case '{':
	case '[':
		return begin_container(s, at);
	case '}':
	case ']':
		return end_container(s, at);
	case ',':
	case ':':
		return read_separator(s, at);
	case '"':
		return read_string(s, at, end);
	default:
		if (!may_begin_value(s))
			return refuse(s, expected[s->next]);
		if (*at != '-' && !ascii_is_digit(*at))
			return read_word(s, at, end);
		const char *behind = scan_number(s, at, end);
		if (behind) {
			hand_over(s, JSON_SAX_NUMBER, (struct str){at, (size_t)(behind - at)});
			end_value(s);
		}
		return behind;
	}
}

static bool is_json_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Reads whole tokens; returns where it stopped.
static const char *read_tokens(struct json_sax *s, const char *at, const char *end)
{
	for (const char *behind = at; behind;) {
		at = behind;
		while (at < end && is_json_blank(*at))
			at++;
		if (at == end)
			return end;
		behind = read_token(s, at, end);
	}
	return at;
}

int json_sax_read(struct str text, struct arena *room, json_sax_fn *fn, void *ctx, bool *is_cut, struct err *e)
{
	struct json_sax s = {.fn = fn, .ctx = ctx, .room = room};
	const char *begin = text.ptr ? text.ptr : "", *at = read_tokens(&s, begin, begin + text.len);
	*is_cut = !s.why && s.next != EXPECT_NOTHING;
	free(s.objects);
	if (!s.why && !*is_cut)
		return 0;
	size_t line = 1;
	for (const char *c = begin; c < at; c++)
		line += *c == '\n';
	return err_set(e, ERR_INVALID, "not JSON: at byte %zu, in line %zu: %s", (size_t)(at - begin), line,
		s.why ? s.why : "it ends too early");
}
