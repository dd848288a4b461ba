// SPDX-License-Identifier: Apache-2.0
#include "lib/format/toml.h"

#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/limits.h"

// How an array or table came to be, which says what may be added to it.
enum toml_state {
	STATE_VALUE,    // written as a value: nothing may be added
	STATE_IMPLICIT, // a table that headers of others name: one header may still define it
	STATE_HEADER,   // a table with a header
	STATE_DOTTED,   // a table that dotted keys made: further ones, and headers of tables in it, may add
	STATE_TABLES,   // an array of [[tables]]
};

struct toml_reader {
	char *at, *end;
	unsigned line, depth;
	size_t values, most;
	struct toml *out;
	struct err *e;
};

static int refuse(struct toml_reader *r, const char *why)
{
	return err_set(r->e, ERR_INVALID, "%u: %s", r->line, why);
}

static int refuse_key(struct toml_reader *r, struct str key, const char *why)
{
	struct str shown = str_head(key, 80);
	return err_set(r->e, ERR_INVALID, "%u: \"" STR_FMT "\" %s", r->line, STR_ARG(shown), why);
}

static int enter(struct toml_reader *r)
{
	if (++r->depth > LIMIT_TOML_DEPTH)
		return err_set(r->e, ERR_LIMIT, "%u: values are nested more than %d deep", r->line, LIMIT_TOML_DEPTH);
	return 0;
}

// --- blanks ---

static bool looks_at(const struct toml_reader *r, const char *text)
{
	size_t len = strlen(text);
	return (size_t)(r->end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

static bool cut(struct toml_reader *r, const char *text)
{
	bool is_there = looks_at(r, text);
	r->at += is_there ? strlen(text) : 0;
	return is_there;
}

static bool cut_line_end(struct toml_reader *r)
{
	bool is_there = cut(r, "\n") || cut(r, "\r\n");
	r->line += is_there;
	return is_there;
}

static void skip_tabs(struct toml_reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

static bool is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

// Blanks and a comment.
static int skip_comment(struct toml_reader *r)
{
	skip_tabs(r);
	if (!cut(r, "#"))
		return 0;
	while (r->at < r->end && !is_control(*r->at))
		r->at++;
	return r->at == r->end || looks_at(r, "\n") || looks_at(r, "\r\n")
		       ? 0
		       : refuse(r, "a comment has a control character");
}

// Blanks, comments and line ends.
static int skip_lines(struct toml_reader *r)
{
	do
		if (skip_comment(r) < 0)
			return -1;
	while (cut_line_end(r));
	return 0;
}

static int end_line(struct toml_reader *r)
{
	if (skip_comment(r) < 0)
		return -1;
	return r->at == r->end || cut_line_end(r) ? 0 : refuse(r, "there is more where the line should end");
}

// --- strings ---

static int digit_value(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	c = ascii_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *put_utf8(char *out, uint32_t c)
{
	static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	*out++ = (char)(lead[more] | c >> 6 * more);
	while (more-- > 0)
		*out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return out;
}

static int read_code_point(struct toml_reader *r, int digits, char **to)
{
	uint32_t c = 0;
	for (int i = 0; i < digits; i++, r->at++) {
		if (r->at == r->end || digit_value(*r->at) < 0)
			return refuse(r, "an escape lacks a hexadecimal digit");
		c = c << 4 | (uint32_t)digit_value(*r->at);
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return refuse(r, "an escape is no character of Unicode");
	*to = put_utf8(*to, c);
	return 0;
}

// The part behind a backslash. No escape is shorter than its bytes.
static int read_escape(struct toml_reader *r, bool has_lines, char **to)
{
	static const char names[] = "\"\\bfnrte", bytes[] = "\"\\\b\f\n\r\t\x1b";
	if (has_lines) {
		char *word = r->at;
		skip_tabs(r);
		if (cut_line_end(r)) { // the line goes on at the next character that is no blank
			do
				skip_tabs(r);
			while (cut_line_end(r));
			return 0;
		}
		r->at = word;
	}
	char c = r->at < r->end ? *r->at++ : '\0';
	const char *name = c ? strchr(names, c) : NULL;
	if (name)
		*(*to)++ = bytes[name - names];
	else if (c == 'x' || c == 'u' || c == 'U')
		return read_code_point(r, c == 'x' ? 2 : c == 'u' ? 4 : 8, to);
	return name ? 0 : refuse(r, "a string has an unknown escape");
}

// The quotes at the end of a text with several lines; up to two more belong to it.
static bool cut_quotes(struct toml_reader *r, char quote, char **to)
{
	int count = 0;
	while (count < 5 && r->at < r->end && *r->at == quote)
		r->at++, count++;
	int kept = count >= 3 ? count - 3 : count;
	memset(*to, quote, (size_t)kept);
	*to += kept;
	return count >= 3;
}

// A basic string ("…") or a literal one ('…'), on one line or, behind three quotes, on several.
static int read_string(struct toml_reader *r, bool may_have_lines, struct str *out)
{
	char quote = *r->at;
	bool has_lines = looks_at(r, quote == '"' ? "\"\"\"" : "'''");
	if (has_lines && !may_have_lines)
		return refuse(r, "a key has several lines");
	r->at += has_lines ? 3 : 1;
	if (has_lines)
		cut_line_end(r);
	char *to = r->at;
	out->ptr = to;
	while (r->at < r->end) {
		char c = *r->at;
		if (c == quote && has_lines) {
			if (!cut_quotes(r, quote, &to))
				continue;
		} else if (c == quote) {
			r->at++;
		} else if (c == '\\' && quote == '"') {
			r->at++;
			if (read_escape(r, has_lines, &to) < 0)
				return -1;
			continue;
		} else {
			bool is_end = has_lines && cut_line_end(r);
			if (!is_end && is_control(c))
				return refuse(r, "a string has a control character");
			*to++ = is_end ? '\n' : *r->at++;
			continue;
		}
		out->len = (size_t)(to - out->ptr);
		*to = '\0'; // at the latest where the closing quote was
		return 0;
	}
	return refuse(r, "a string has no end");
}

// --- numbers and times ---

static size_t count_digits(struct str s, size_t at)
{
	size_t n = 0;
	while (at + n < s.len && ascii_is_digit(s.ptr[at + n]))
		n++;
	return n;
}

// Digits with a "_" between them or not; moves *at behind them. False: there are none, or a "_" stands alone.
static bool cut_digits(struct str s, size_t *at, int base)
{
	size_t begin = *at;
	for (; *at < s.len; ++*at) {
		int digit = digit_value(s.ptr[*at]);
		if (digit >= 0 && digit < base)
			continue;
		if (s.ptr[*at] != '_')
			break;
		int next = *at + 1 < s.len ? digit_value(s.ptr[*at + 1]) : -1;
		if (*at == begin || next < 0 || next >= base)
			return false;
	}
	return *at > begin;
}

// The value of digits with a "_" between them or not. False: it has more than 64 bits.
static bool read_digits(struct str s, int base, bool is_negative, int64_t *out)
{
	int64_t value = 0;
	for (size_t at = 0; at < s.len; at++) {
		int digit = is_negative ? -digit_value(s.ptr[at]) : digit_value(s.ptr[at]);
		if (s.ptr[at] != '_' &&
			(__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)))
			return false;
	}
	*out = value;
	return true;
}

// Whether the word is a number; of an integer also its value.
static bool find_number(struct str s, enum toml_kind *kind, int64_t *value)
{
	static const struct {
		const char *prefix;
		int base;
	} bases[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}};
	size_t at = s.len && (s.ptr[0] == '+' || s.ptr[0] == '-'), begin = at;
	*kind = TOML_INTEGER;
	for (size_t i = 0; i < ARRAY_SIZE(bases); i++)
		if (str_starts(s, str_from(bases[i].prefix))) {
			at = 2;
			return cut_digits(s, &at, bases[i].base) && at == s.len &&
			       read_digits(str_slice(s, 2, s.len), bases[i].base, false, value);
		}
	struct str word = str_slice(s, at, s.len);
	if (str_eq(word, STR("inf")) || str_eq(word, STR("nan"))) {
		*kind = TOML_FLOAT;
		return true;
	}
	if (!cut_digits(s, &at, 10) || (s.ptr[begin] == '0' && at > begin + 1))
		return false;
	if (at == s.len)
		return read_digits(word, 10, s.ptr[0] == '-', value);
	*kind = TOML_FLOAT;
	if (s.ptr[at] == '.' && !cut_digits(s, (at++, &at), 10))
		return false;
	if (at < s.len && (s.ptr[at] == 'e' || s.ptr[at] == 'E')) {
		at++;
		at += at < s.len && (s.ptr[at] == '+' || s.ptr[at] == '-');
		if (!cut_digits(s, &at, 10))
			return false;
	}
	return at == s.len;
}

// A number of so many digits; moves *at behind it and a separator, which '\0' is not. -1: it is not there.
static int cut_number(struct str s, size_t *at, size_t digits, char separator)
{
	int value = 0;
	if (count_digits(s, *at) != digits)
		return -1;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (s.ptr[*at + i] - '0');
	*at += digits;
	if (!separator)
		return value;
	return *at < s.len && s.ptr[(*at)++] == separator ? value : -1;
}

static bool cut_date(struct str s, size_t *at)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = cut_number(s, at, 4, '-');
	int month = year < 0 ? -1 : cut_number(s, at, 2, '-');
	int day = month < 1 || month > 12 ? -1 : cut_number(s, at, 2, '\0');
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return day >= 1 && day <= days[month - 1] + (month == 2 && is_leap);
}

// hh:mm, and as an hour of the day also :ss and a fraction.
static bool cut_clock(struct str s, size_t *at, bool is_offset)
{
	int hour = cut_number(s, at, 2, ':'), minute = hour < 0 ? -1 : cut_number(s, at, 2, '\0');
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59)
		return false;
	if (is_offset || *at == s.len || s.ptr[*at] != ':')
		return true;
	++*at;
	int second = cut_number(s, at, 2, '\0');
	if (second < 0 || second > 60) // RFC 3339 has leap seconds
		return false;
	if (*at == s.len || s.ptr[*at] != '.')
		return true;
	size_t digits = count_digits(s, ++*at);
	*at += digits;
	return digits > 0;
}

static bool is_time(struct str s)
{
	size_t at = 0;
	if (s.len > 2 && s.ptr[2] == ':')
		return cut_clock(s, &at, false) && at == s.len;
	if (!cut_date(s, &at))
		return false;
	if (at == s.len)
		return true;
	char separator = s.ptr[at++];
	if ((separator != 'T' && separator != 't' && separator != ' ') || !cut_clock(s, &at, false))
		return false;
	if (at == s.len)
		return true;
	char zone = s.ptr[at++];
	if (zone == 'Z' || zone == 'z')
		return at == s.len;
	return (zone == '+' || zone == '-') && cut_clock(s, &at, true) && at == s.len;
}

static bool ends_word(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ']' || c == '}' || c == '#';
}

static int read_word(struct toml_reader *r, struct toml_value *v)
{
	enum toml_kind kind = TOML_BOOL;
	int64_t unused;
	struct str word = {r->at, 0};
	while (r->at < r->end && !ends_word(*r->at))
		r->at++;
	word.len = (size_t)(r->at - word.ptr);
	struct str behind = {r->at, (size_t)(r->end - r->at)};
	if (word.len == 10 && word.ptr[4] == '-' && behind.len > 1 && behind.ptr[0] == ' ' &&
		ascii_is_digit(behind.ptr[1])) {
		r->at++;
		while (r->at < r->end && !ends_word(*r->at))
			r->at++;
		word.len = (size_t)(r->at - word.ptr);
	}
	if (!str_eq(word, STR("true")) && !str_eq(word, STR("false")) && !find_number(word, &kind, &unused)) {
		if (!is_time(word))
			return refuse_key(r, word, "is no value");
		kind = TOML_TIME;
	}
	v->kind = kind;
	v->text = word.ptr;
	v->len = (uint32_t)word.len;
	return 0;
}

// --- the tree ---

static bool is_container(const struct toml_value *v)
{
	return v->kind == TOML_ARRAY || v->kind == TOML_TABLE;
}

static size_t place_of_key(const struct toml *t, const struct toml_value *table, struct str key)
{
	size_t at = hash_of(key, (uintptr_t)table) & (t->index_room - 1);
	for (const struct toml_value *v; (v = t->index[at]); at = (at + 1) & (t->index_room - 1))
		if (v->parent == table && v->key_len == key.len && memcmp(v->key, key.ptr, key.len) == 0)
			break;
	return at;
}

static struct toml_value *find(const struct toml *t, const struct toml_value *table, struct str key)
{
	return t->index_room ? t->index[place_of_key(t, table, key)] : NULL;
}

static void add_to_index(struct toml *t, struct toml_value *v)
{
	if (t->keys * 4 >= t->index_room * 3) { // fuller, each search takes several times as long
		struct toml_value **old = t->index;
		size_t room = t->index_room;
		t->index_room = room ? room * 2 : 64;
		t->index = xcalloc(t->index_room, sizeof(struct toml_value *));
		for (size_t i = 0; i < room; i++)
			if (old[i])
				t->index[place_of_key(t, old[i]->parent, (struct str){old[i]->key, old[i]->key_len})] =
					old[i];
		free(old);
	}
	t->index[place_of_key(t, v->parent, (struct str){v->key, v->key_len})] = v;
	t->keys++;
}

// A new value in a table, or with key.ptr NULL in an array. NULL: there are too many.
static struct toml_value *add(struct toml_reader *r, struct toml_value *parent, struct str key, enum toml_kind kind,
	enum toml_state state)
{
	if (++r->values > r->most) {
		err_set(r->e, ERR_LIMIT, "%u: more than %zu values", r->line, r->most);
		return NULL;
	}
	struct toml_value *v = arena_alloc_aligned(&r->out->values, sizeof(*v));
	*v = (struct toml_value){.parent = parent,
		.key = key.ptr,
		.key_len = (uint32_t)key.len,
		.line = r->line,
		.kind = kind,
		.state = state};
	// The last one leads to the first one.
	v->next = parent->last ? parent->last->next : v;
	if (parent->last)
		parent->last->next = v;
	parent->last = v;
	parent->len++;
	if (key.ptr)
		add_to_index(r->out, v);
	return v;
}

// --- keys ---

static bool is_bare(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '-';
}

static int read_key(struct toml_reader *r, struct str *out)
{
	skip_tabs(r);
	if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
		return read_string(r, false, out);
	out->ptr = r->at;
	while (r->at < r->end && is_bare(*r->at))
		r->at++;
	out->len = (size_t)(r->at - out->ptr);
	return out->len ? 0 : refuse(r, "a key is expected");
}

// Whether a "." follows, and a further part of the key.
static bool cut_dot(struct toml_reader *r)
{
	skip_tabs(r);
	return cut(r, ".");
}

static int read_toml_value(struct toml_reader *r, struct toml_value *v);

// A key, "=" and a value, into the table.
static int read_pair(struct toml_reader *r, struct toml_value *table)
{
	struct str key;
	unsigned depth = r->depth;
	if (read_key(r, &key) < 0)
		return -1;
	while (cut_dot(r)) {
		struct toml_value *in = find(r->out, table, key);
		if (in && (in->kind != TOML_TABLE || in->state != STATE_DOTTED))
			return refuse_key(r, key, "is there already, so a dotted key adds nothing to it");
		if (!in && !(in = add(r, table, key, TOML_TABLE, STATE_DOTTED)))
			return -1;
		table = in;
		if (enter(r) < 0 || read_key(r, &key) < 0)
			return -1;
	}
	if (!cut(r, "="))
		return refuse_key(r, key, "has no \"=\" behind it");
	if (find(r->out, table, key))
		return refuse_key(r, key, "is there twice");
	struct toml_value *v = add(r, table, key, TOML_STRING, STATE_VALUE);
	if (!v || read_toml_value(r, v) < 0)
		return -1;
	r->depth = depth;
	return 0;
}

// --- values ---

static int read_array(struct toml_reader *r, struct toml_value *array)
{
	if (skip_lines(r) < 0)
		return -1;
	while (!cut(r, "]")) {
		struct toml_value *v = add(r, array, (struct str){0}, TOML_STRING, STATE_VALUE);
		if (!v || read_toml_value(r, v) < 0 || skip_lines(r) < 0)
			return -1;
		if (!cut(r, ",") && !looks_at(r, "]"))
			return refuse(r, "an array has neither \",\" nor \"]\" behind a value");
		if (skip_lines(r) < 0)
			return -1;
	}
	return 0;
}

// TOML 1.1 has line ends and a "," at the end here too.
static int read_inline_table(struct toml_reader *r, struct toml_value *table)
{
	if (skip_lines(r) < 0)
		return -1;
	while (!cut(r, "}")) {
		if (read_pair(r, table) < 0 || skip_lines(r) < 0)
			return -1;
		if (!cut(r, ",") && !looks_at(r, "}"))
			return refuse(r, "a table has neither \",\" nor \"}\" behind a value");
		if (skip_lines(r) < 0)
			return -1;
	}
	return 0;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as LIMIT_TOML_DEPTH
static int read_toml_value(struct toml_reader *r, struct toml_value *v)
{
	skip_tabs(r);
	char c = r->at < r->end ? *r->at : '\0';
	v->line = r->line;
	if (c == '"' || c == '\'') {
		struct str text;
		if (read_string(r, true, &text) < 0)
			return -1;
		v->text = text.ptr;
		v->len = (uint32_t)text.len;
		return 0;
	}
	if (c != '[' && c != '{')
		return read_word(r, v);
	r->at++;
	v->kind = c == '[' ? TOML_ARRAY : TOML_TABLE;
	if (enter(r) < 0 || (c == '[' ? read_array : read_inline_table)(r, v) < 0)
		return -1;
	r->depth--;
	return 0;
}

// --- headers ---

// The table that a part of a header which is not its last one leads to.
static struct toml_value *descend(struct toml_reader *r, struct toml_value *table, struct str key)
{
	struct toml_value *in = find(r->out, table, key);
	if (!in)
		return add(r, table, key, TOML_TABLE, STATE_IMPLICIT);
	if (in->kind == TOML_ARRAY && in->state == STATE_TABLES)
		return in->last;
	if (in->kind == TOML_TABLE && in->state != STATE_VALUE)
		return in;
	refuse_key(r, key, "is a value, so no table is in it");
	return NULL;
}

static struct toml_value *open_table(struct toml_reader *r, struct toml_value *table, struct str key)
{
	struct toml_value *in = find(r->out, table, key);
	if (!in)
		return add(r, table, key, TOML_TABLE, STATE_HEADER);
	if (in->kind == TOML_TABLE && in->state == STATE_IMPLICIT) {
		in->state = STATE_HEADER;
		in->line = r->line;
		return in;
	}
	refuse_key(r, key, "is there twice");
	return NULL;
}

static struct toml_value *open_tables(struct toml_reader *r, struct toml_value *table, struct str key)
{
	struct toml_value *in = find(r->out, table, key);
	if (in && (in->kind != TOML_ARRAY || in->state != STATE_TABLES)) {
		refuse_key(r, key, "is there already, and is no array of tables");
		return NULL;
	}
	if (!in)
		in = add(r, table, key, TOML_ARRAY, STATE_TABLES);
	return in ? add(r, in, (struct str){0}, TOML_TABLE, STATE_HEADER) : NULL;
}

static int read_header(struct toml_reader *r, struct toml_value **table)
{
	struct str key;
	bool is_array = cut(r, "[[");
	struct toml_value *in = &r->out->root;
	r->at += !is_array;
	r->depth = 0;
	if (read_key(r, &key) < 0)
		return -1;
	while (cut_dot(r)) {
		in = descend(r, in, key);
		if (!in || enter(r) < 0 || read_key(r, &key) < 0)
			return -1;
	}
	if (!cut(r, is_array ? "]]" : "]"))
		return refuse_key(r, key, is_array ? "has no \"]]\" behind it" : "has no \"]\" behind it");
	*table = is_array ? open_tables(r, in, key) : open_table(r, in, key);
	return !*table || enter(r) < 0 ? -1 : end_line(r);
}

// --- the document ---

static int read_document(struct toml_reader *r)
{
	struct toml_value *table = &r->out->root;
	cut(r, "\xEF\xBB\xBF"); // a byte order mark
	for (;;) {
		if (skip_lines(r) < 0)
			return -1;
		if (r->at == r->end)
			return 0;
		if (*r->at == '[') {
			if (read_header(r, &table) < 0)
				return -1;
		} else if (read_pair(r, table) < 0 || end_line(r) < 0) {
			return -1;
		}
	}
}

static int check_utf8(struct toml_reader *r)
{
	struct str rest = {r->at, (size_t)(r->end - r->at)};
	if (str_is_utf8(rest))
		return 0;
	for (r->line = 0; rest.ptr; r->line++)
		if (!str_is_utf8(str_cut(&rest, '\n')))
			break;
	r->line++;
	return refuse(r, "not UTF-8 text");
}

int toml_read(char *text, size_t len, struct toml *out, struct err *e)
{
	*out = (struct toml){.root = {.kind = TOML_TABLE, .line = 1, .state = STATE_HEADER}};
	struct toml_reader r = {.at = text,
		.end = text + len,
		.line = 1,
		.most = LIMIT_TOML_VALUES + len / LIMIT_TOML_VALUE,
		.out = out,
		.e = e};
	if (len > LIMIT_TOML)
		return err_set(e, ERR_LIMIT, "more than %d bytes", LIMIT_TOML);
	return check_utf8(&r) < 0 ? -1 : read_document(&r);
}

void toml_release(struct toml *t)
{
	free(t->index);
	arena_release(&t->values);
	*t = (struct toml){0};
}

const struct toml_value *toml_get(const struct toml *t, const struct toml_value *table, struct str key)
{
	return table && table->kind == TOML_TABLE ? find(t, table, key) : NULL;
}

const struct toml_value *toml_first(const struct toml_value *of)
{
	return of && is_container(of) && of->last ? of->last->next : NULL;
}

const struct toml_value *toml_next(const struct toml_value *v)
{
	return v == v->parent->last ? NULL : v->next;
}

struct str toml_text(const struct toml_value *v)
{
	return is_container(v) ? STR("") : (struct str){v->text, v->len};
}

bool toml_integer(const struct toml_value *v, int64_t *out)
{
	enum toml_kind kind;
	return v && v->kind == TOML_INTEGER && find_number(toml_text(v), &kind, out);
}
