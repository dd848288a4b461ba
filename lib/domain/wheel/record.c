// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/record.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/format/base64.h"

enum { FIELDS = 3, HASH_MAX = 64 };

struct csv_reader {
	struct str rest;
	size_t line;
	struct buf quoted; // the quoted fields of one row, unquoted
};

// A field is a slice of the text or, if it is quoted, begins at an offset in r->quoted, which may still be reallocated.
struct field {
	struct str text;
	bool is_quoted;
	size_t from;
};

static void csv_release(struct csv_reader *r)
{
	buf_release(&r->quoted);
}

static char csv_peek(const struct csv_reader *r)
{
	return r->rest.len ? r->rest.ptr[0] : '\n';
}

static void csv_advance(struct csv_reader *r, size_t n)
{
	r->rest = str_slice(r->rest, n, r->rest.len);
}

// Reads a quoted field. Like Python's csv, it appends the text between the closing quote and the comma.
static int csv_read_quoted(struct csv_reader *r, struct field *out, struct err *e)
{
	bool open = true;
	*out = (struct field){.is_quoted = true, .from = r->quoted.len};
	csv_advance(r, 1);
	for (; r->rest.len; csv_advance(r, 1)) {
		char c = csv_peek(r);
		if (open && c == '"') {
			bool doubled = r->rest.len > 1 && r->rest.ptr[1] == '"';
			open = doubled;
			csv_advance(r, doubled);
			if (!doubled)
				continue;
		} else if (!open && (c == ',' || c == '\n' || c == '\r')) {
			break;
		}
		r->line += c == '\n';
		buf_putc(&r->quoted, c);
	}
	out->text.len = r->quoted.len - out->from;
	return open ? err_set(e, ERR_INVALID, "RECORD line %zu: open quote", r->line) : 0;
}

static int csv_read_field(struct csv_reader *r, struct field *out, struct err *e)
{
	if (r->rest.len && csv_peek(r) == '"')
		return csv_read_quoted(r, out, e);
	size_t n = 0;
	while (n < r->rest.len && !memchr(",\r\n", r->rest.ptr[n], 3))
		n++;
	*out = (struct field){.text = str_slice(r->rest, 0, n)};
	csv_advance(r, n);
	return 0;
}

static struct str csv_field_text(const struct csv_reader *r, const struct field *f)
{
	return f->is_quoted ? str_slice(buf_view(&r->quoted), f->from, f->from + f->text.len) : f->text;
}

// Skips all empty lines in one step, because 64 MB of them are 64 KB in a wheel.
static void csv_skip_empty_lines(struct csv_reader *r)
{
	size_t n = 0;
	for (; n < r->rest.len && (r->rest.ptr[n] == '\n' || r->rest.ptr[n] == '\r'); n++)
		r->line += r->rest.ptr[n] == '\n' || n + 1 == r->rest.len || r->rest.ptr[n + 1] != '\n';
	csv_advance(r, n);
}

// Reads the fields of a row, up to its end or to the first field that is too many. Returns their count, or -1 on an
// error.
static int csv_read_row(struct csv_reader *r, struct field fields[FIELDS], struct err *e)
{
	for (int count = 0;; csv_advance(r, 1)) {
		struct field extra;
		if (csv_read_field(r, count < FIELDS ? &fields[count] : &extra, e) < 0)
			return -1;
		count++;
		if (count > FIELDS || !r->rest.len || csv_peek(r) != ',')
			return count;
	}
}

int record_foreach(struct str text, record_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(csv_release) struct csv_reader r = {.rest = text, .line = 1};
	buf_init(&r.quoted, LIMIT_RECORD);
	for (csv_skip_empty_lines(&r); r.rest.len; csv_skip_empty_lines(&r)) {
		struct field fields[FIELDS] = {0};
		struct record_row row = {.line = r.line};
		buf_clear(&r.quoted);
		int count = csv_read_row(&r, fields, e);
		if (count < 0)
			return -1;
		if (r.rest.len && csv_peek(&r) == '\r')
			csv_advance(&r, 1);
		if (r.rest.len && csv_peek(&r) == '\n')
			csv_advance(&r, 1);
		r.line++;
		if (count == 1 && !fields[0].text.len && !fields[0].is_quoted)
			continue;
		if (count != FIELDS)
			return err_set(e, ERR_INVALID, "RECORD line %zu: not three fields", row.line);
		row.path = csv_field_text(&r, &fields[0]);
		row.hash = csv_field_text(&r, &fields[1]);
		row.size = csv_field_text(&r, &fields[2]);
		if (fn(ctx, &row, e) < 0)
			return -1;
	}
	return 0;
}

enum record_hash record_hash_decode(struct str hash, uint8_t out[SHA256_SIZE])
{
	static const struct {
		struct str name;
		size_t size;
		enum record_hash kind;
	} algorithm[] = {
		{STR("sha256"), SHA256_SIZE, RECORD_HASH_SHA256},
		{STR("sha384"), 48, RECORD_HASH_BETTER},
		{STR("sha512"), 64, RECORD_HASH_BETTER},
	};
	uint8_t bytes[HASH_MAX];
	if (!hash.len)
		return RECORD_HASH_NONE;
	struct str value = hash, name = str_cut(&value, '=');
	for (size_t i = 0; i < ARRAY_SIZE(algorithm); i++) {
		if (!str_eq_nocase(name, algorithm[i].name))
			continue;
		if (base64_size(value) != algorithm[i].size || !base64_decode(value, BASE64_URL, bytes))
			return RECORD_HASH_BAD;
		if (algorithm[i].kind == RECORD_HASH_SHA256)
			memcpy(out, bytes, SHA256_SIZE);
		return algorithm[i].kind;
	}
	return RECORD_HASH_BAD;
}
