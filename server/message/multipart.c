// SPDX-License-Identifier: Apache-2.0
#include "server/message/multipart.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/limits.h"

static bool is_token_char(char c)
{
	return ascii_is_alnum(c) || (c && strchr("!#$&+-.^_`|~%'*/:=?@(),[]{}", c));
}

// Cuts the value off *rest, up to the first parameter, and returns it trimmed.
static struct str header_params_value(struct str *rest)
{
	return str_trim(str_cut(rest, ';'));
}

// Some browsers escape a quote by a backslash, none escapes a backslash: C:\x.whl stays as it is.
static int parse_quoted(struct str *rest, struct buf *value, struct err *e)
{
	size_t i = 1;
	for (; i < rest->len && rest->ptr[i] != '"'; i++) {
		bool is_escape = rest->ptr[i] == '\\' && i + 1 < rest->len && strchr("\"\\", rest->ptr[i + 1]);
		buf_putc(value, rest->ptr[i += is_escape]);
	}
	if (i >= rest->len)
		return err_set(e, ERR_INVALID, "a quoted value without closing quote");
	*rest = str_slice(*rest, i + 1, rest->len);
	return 0;
}

static int parse_token(struct str *rest, struct buf *value, struct err *e)
{
	size_t i = 0;
	while (i < rest->len && is_token_char(rest->ptr[i]))
		i++;
	if (i == 0)
		return err_set(e, ERR_INVALID, "a parameter without value");
	buf_str(value, str_slice(*rest, 0, i));
	*rest = str_slice(*rest, i, rest->len);
	return 0;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, ascii_lower(c)) : NULL;
	return at ? (int)(at - digits) : -1;
}

// RFC 8187: utf-8'language'percent-encoded.
static int decode_extended(struct buf *value, struct err *e)
{
	CLEANUP(buf_release) struct buf raw = buf_up_to(value->cap);
	buf_str(&raw, buf_view(value));
	buf_clear(value);
	struct str rest = buf_view(&raw);
	if (!str_eq_nocase(str_cut(&rest, '\''), STR("utf-8")) || !rest.ptr)
		return err_set(e, ERR_INVALID, "an encoded parameter that is not UTF-8");
	str_cut(&rest, '\'');
	for (size_t i = 0; i < rest.len; i++) {
		int high = -1, low = -1;
		if (rest.ptr[i] == '%' && rest.len - i > 2) {
			high = hex_digit(rest.ptr[i + 1]);
			low = hex_digit(rest.ptr[i + 2]);
		}
		if (rest.ptr[i] == '%' && (high < 0 || low < 0))
			return err_set(e, ERR_INVALID, "an encoded parameter with a bad %%");
		buf_putc(value, high < 0 ? rest.ptr[i] : (char)(high << 4 | low));
		i += high < 0 ? 0 : 2;
	}
	return 0;
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
			return true;
	return false;
}

// Cuts the next parameter off *rest. *name is a part of *rest; value gets the value without quotes (RFC 9110 section
// 5.6.4) and without percent-encoding (name*=utf-8''…, RFC 8187; *name is then without the star). Returns 1; 0 at the
// end; -1 for ERR_INVALID.
static int header_params_next(struct str *rest, struct str *name, struct buf *value, struct err *e)
{
	buf_clear(value);
	*rest = str_trim(*rest);
	if (!rest->len)
		return 0;
	struct str after = *rest;
	struct str key = str_trim(str_cut(&after, '='));
	if (!after.ptr || !key.len)
		return err_set(e, ERR_INVALID, "a parameter without value");
	bool is_extended = str_ends(key, STR("*"));
	*name = str_slice(key, 0, key.len - is_extended);
	after = str_trim(after);
	bool is_quoted = str_starts(after, STR("\""));
	if ((is_quoted ? parse_quoted : parse_token)(&after, value, e) < 0 ||
		(is_extended && decode_extended(value, e) < 0))
		return -1;
	if (value->failed || has_control(buf_view(value)) || !str_is_utf8(buf_view(value)))
		return err_set(e, ERR_INVALID, "a parameter that is not UTF-8, or has control characters");
	after = str_trim(after);
	if (after.len && after.ptr[0] != ';')
		return err_set(e, ERR_INVALID, "no semicolon behind a parameter");
	*rest = after.len ? str_slice(after, 1, after.len) : (struct str){0};
	return 1;
}

// The states of the parser. Each consumes bytes of *rest and may set the next state.
static int outside(struct multipart *m, struct str *rest, struct err *e);
static int behind_delimiter(struct multipart *m, struct str *rest, struct err *e);
static int in_header(struct multipart *m, struct str *rest, struct err *e);
static int in_data(struct multipart *m, struct str *rest, struct err *e);
static int behind_end(struct multipart *m, struct str *rest, struct err *e);

// --- the boundary ---

// RFC 2046 section 5.1.1. A boundary has no CR, so a partial match that fails contains no other start of a delimiter.
static bool is_valid_boundary(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && (!s.ptr[i] || !strchr("'()+_,-./:=? ", s.ptr[i])))
			return false;
	return s.len >= 1 && s.len <= MULTIPART_BOUNDARY && s.ptr[s.len - 1] != ' ';
}

static int find_boundary(const char *content_type, struct buf *boundary, struct err *e)
{
	struct str rest = str_from(content_type ? content_type : ""), name;
	CLEANUP(buf_release) struct buf value = buf_up_to(LIMIT_PART_HEADER);
	bool is_found = false;
	int there;
	if (!str_eq_nocase(header_params_value(&rest), STR("multipart/form-data")))
		return err_set(e, ERR_INVALID, "Content-Type: multipart/form-data is wanted");
	while ((there = header_params_next(&rest, &name, &value, e)) > 0) {
		if (!str_eq_nocase(name, STR("boundary")))
			continue;
		if (is_found || !is_valid_boundary(buf_view(&value)))
			return err_set(e, ERR_INVALID, "Content-Type: a bad boundary");
		buf_str(boundary, buf_view(&value));
		is_found = true;
	}
	if (there < 0)
		return err_prefix(e, "Content-Type: ");
	return is_found ? 0 : err_set(e, ERR_INVALID, "Content-Type: no boundary");
}

int multipart_init(struct multipart *m, const char *content_type, const struct multipart_ops *ops, void *ctx,
	struct err *e)
{
	CLEANUP(buf_release) struct buf boundary = buf_up_to(MULTIPART_BOUNDARY);
	if (find_boundary(content_type, &boundary, e) < 0)
		return -1;
	*m = (struct multipart){.ops = ops, .ctx = ctx, .state = outside};
	memcpy(m->delimiter, "\r\n--", 4);
	memcpy(m->delimiter + 4, boundary.data, boundary.len);
	m->delimiter_len = 4 + boundary.len;
	m->matched = 2; // as after a CR LF: a body may begin with its first delimiter
	buf_init(&m->header, LIMIT_PART_HEADER);
	return 0;
}

void multipart_release(struct multipart *m)
{
	buf_release(&m->header);
}

// How many bytes at the beginning of s continue the delimiter after its first matched bytes.
static size_t match_delimiter(const struct multipart *m, size_t matched, struct str s)
{
	size_t n = 0;
	while (n < s.len && matched + n < m->delimiter_len && s.ptr[n] == m->delimiter[matched + n])
		n++;
	return n;
}

// Continues a partial match of the piece before. True where the delimiter is complete. Where the match fails, *held
// gets the bytes that had matched: they are data.
static bool finish_match(struct multipart *m, struct str *rest, struct str *held)
{
	size_t n = match_delimiter(m, m->matched, *rest);
	bool is_found = m->matched + n == m->delimiter_len;
	if (is_found || n == rest->len) {
		m->matched = is_found ? 0 : m->matched + n;
		*rest = str_slice(*rest, n, rest->len);
	} else {
		*held = (struct str){m->delimiter, m->matched};
		m->matched = 0;
	}
	return is_found;
}

// Moves *rest past the next delimiter, or to its end. *held and then *plain get the bytes before the delimiter. True
// where a delimiter was found.
static bool seek_delimiter(struct multipart *m, struct str *rest, struct str *held, struct str *plain)
{
	*held = *plain = (struct str){0};
	if (m->matched && (finish_match(m, rest, held) || !rest->len))
		return !m->matched;
	struct str all = *rest;
	size_t at = 0, n = 0;
	for (;; at++) {
		const char *cr = memchr(all.ptr + at, '\r', all.len - at);
		at = cr ? (size_t)(cr - all.ptr) : all.len;
		n = match_delimiter(m, 0, str_slice(all, at, all.len));
		if (n == m->delimiter_len || at + n == all.len)
			break;
	}
	*plain = str_slice(all, 0, at);
	*rest = str_slice(all, at + n, all.len);
	m->matched = n < m->delimiter_len ? n : 0;
	return n == m->delimiter_len;
}

static int count_outside(struct multipart *m, size_t len, struct err *e)
{
	m->outside += len;
	return m->outside > LIMIT_MULTIPART_OUTSIDE ? err_set(e, ERR_LIMIT, "too many bytes outside of the parts") : 0;
}

static int outside(struct multipart *m, struct str *rest, struct err *e)
{
	struct str held, plain;
	if (seek_delimiter(m, rest, &held, &plain))
		m->state = behind_delimiter;
	return count_outside(m, held.len + plain.len, e);
}

static bool may_follow(char before, char c)
{
	static const char *const table[] = {
		"\0-", "--", "\0 ", "\0\t", "  ", " \t", "\t ", "\t\t", "\0\r", " \r", "\t\r", "\r\n"};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i][0] == before && table[i][1] == c)
			return true;
	return false;
}

// After a delimiter: blanks and CR LF begin a part, "--" ends the body.
static int behind_delimiter(struct multipart *m, struct str *rest, struct err *e)
{
	char c = rest->ptr[0];
	char before = m->header.len ? m->header.data[m->header.len - 1] : '\0';
	if (!may_follow(before, c))
		return err_set(e, ERR_INVALID, "a boundary is followed by other bytes");
	buf_putc(&m->header, c);
	if (m->header.failed)
		return err_set(e, ERR_LIMIT, "too many blanks behind a boundary");
	*rest = str_slice(*rest, 1, rest->len);
	if (c != '\n' && before != '-')
		return 0;
	buf_clear(&m->header);
	m->state = c == '\n' ? in_header : behind_end;
	return 0;
}

static int behind_end(struct multipart *m, struct str *rest, struct err *e)
{
	size_t len = rest->len;
	*rest = str_slice(*rest, len, len);
	return count_outside(m, len, e);
}

// --- a part's header ---

struct part_header {
	struct buf name, filename, type;
	bool has_disposition, has_name, has_filename, has_type;
};

static void part_header_init(struct part_header *h)
{
	*h = (struct part_header){0};
	buf_init(&h->name, LIMIT_PART_HEADER);
	buf_init(&h->filename, LIMIT_PART_HEADER);
	buf_init(&h->type, LIMIT_PART_HEADER);
}

static void part_header_release(struct part_header *h)
{
	buf_release(&h->name);
	buf_release(&h->filename);
	buf_release(&h->type);
}

// RFC 7578 section 4.2. A second name is an error, since another parser could prefer it.
static int parse_disposition(struct part_header *h, struct str value, struct err *e)
{
	struct str key;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PART_HEADER);
	int there;
	if (h->has_disposition || !str_eq_nocase(header_params_value(&value), STR("form-data")))
		return err_set(e, ERR_INVALID, "one Content-Disposition: form-data is wanted");
	h->has_disposition = true;
	while ((there = header_params_next(&value, &key, &text, e)) > 0) {
		bool is_name = str_eq_nocase(key, STR("name")), is_filename = str_eq_nocase(key, STR("filename"));
		if ((is_name && h->has_name) || (is_filename && h->has_filename))
			return err_set(e, ERR_INVALID, "Content-Disposition: " STR_FMT " is there twice", STR_ARG(key));
		h->has_name |= is_name;
		h->has_filename |= is_filename;
		if (is_name || is_filename)
			buf_str(is_name ? &h->name : &h->filename, buf_view(&text));
	}
	return there < 0 ? err_prefix(e, "Content-Disposition: ") : 0;
}

static int parse_type(struct part_header *h, struct str value, struct err *e)
{
	if (h->has_type)
		return err_set(e, ERR_INVALID, "Content-Type is there twice");
	h->has_type = true;
	buf_str(&h->type, value);
	return 0;
}

// RFC 7578 section 4.7 deprecates this field. The accepted encodings change nothing.
static int parse_encoding(struct part_header *h UNUSED, struct str value, struct err *e)
{
	static const char *const none[] = {"binary", "8bit", "7bit"};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (str_eq_nocase(value, str_from(none[i])))
			return 0;
	return err_set(e, ERR_INVALID, "Content-Transfer-Encoding: " STR_FMT " is not understood", STR_ARG(value));
}

static int parse_header_line(struct part_header *h, struct str line, struct err *e)
{
	static const struct {
		struct str name;
		int (*parse)(struct part_header *h, struct str value, struct err *e);
	} known[] = {
		{STR("Content-Disposition"), parse_disposition},
		{STR("Content-Transfer-Encoding"), parse_encoding},
		{STR("Content-Type"), parse_type},
	};
	for (size_t i = 0; i < line.len; i++)
		if (((unsigned char)line.ptr[i] < 0x20 && line.ptr[i] != '\t') || line.ptr[i] == 0x7f)
			return err_set(e, ERR_INVALID, "control characters");
	struct str value = line;
	struct str name = str_cut(&value, ':');
	if (!value.ptr || !name.len || name.ptr[0] == ' ' || name.ptr[0] == '\t')
		return err_set(e, ERR_INVALID, "a line that is no field");
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq_nocase(name, known[i].name))
			return known[i].parse(h, str_trim(value), e);
	return 0;
}

static int parse_part_header(struct part_header *h, struct str text, struct err *e)
{
	for (struct str line = str_cut(&text, '\n'); line.len > 1; line = str_cut(&text, '\n'))
		if (line.ptr[line.len - 1] != '\r')
			return err_set(e, ERR_INVALID, "a line without CR");
		else if (parse_header_line(h, str_slice(line, 0, line.len - 1), e) < 0)
			return -1;
	return h->has_name ? 0 : err_set(e, ERR_INVALID, "no name");
}

static int begin_part(struct multipart *m, struct err *e)
{
	CLEANUP(part_header_release) struct part_header h;
	part_header_init(&h);
	if (++m->parts > LIMIT_PARTS)
		return err_set(e, ERR_LIMIT, "more than %d parts", LIMIT_PARTS);
	if (parse_part_header(&h, buf_view(&m->header), e) < 0)
		return err_prefix(e, "the header of part %u: ", m->parts);
	buf_clear(&m->header);
	m->state = in_data;
	struct multipart_part part = {
		.name = h.name.data,
		.filename = h.has_filename ? h.filename.data : NULL,
		.type = h.has_type ? h.type.data : NULL,
	};
	return m->ops->begin(m->ctx, &part, e);
}

static int in_header(struct multipart *m, struct str *rest, struct err *e)
{
	const char *end = memchr(rest->ptr, '\n', rest->len);
	size_t len = end ? (size_t)(end - rest->ptr) + 1 : rest->len;
	buf_add(&m->header, rest->ptr, len);
	if (m->header.failed)
		return err_set(e, ERR_LIMIT, "the header of a part is larger than %d bytes", LIMIT_PART_HEADER);
	*rest = str_slice(*rest, len, rest->len);
	struct str all = buf_view(&m->header);
	bool is_whole = str_eq(all, STR("\r\n")) || str_ends(all, STR("\n\r\n"));
	m->data_at = m->came - rest->len;
	return is_whole ? begin_part(m, e) : 0;
}

// --- a part's bytes ---

static int in_data(struct multipart *m, struct str *rest, struct err *e)
{
	struct str held, plain;
	bool is_end = seek_delimiter(m, rest, &held, &plain);
	if (held.len && m->ops->data(m->ctx, held, e) < 0)
		return -1;
	if (plain.len && m->ops->data(m->ctx, plain, e) < 0)
		return -1;
	if (is_end)
		m->state = behind_delimiter;
	return is_end ? m->ops->end(m->ctx, e) : 0;
}

int multipart_add(struct multipart *m, struct str piece, struct err *e)
{
	m->came += piece.len;
	while (piece.len)
		if (m->state(m, &piece, e) < 0)
			return -1;
	return 0;
}

uint64_t multipart_expected(const struct multipart *m, uint64_t body_len)
{
	uint64_t behind = m->delimiter_len + strlen("--\r\n");
	return body_len > m->data_at + behind ? body_len - m->data_at - behind : 0;
}

int multipart_end(struct multipart *m, struct err *e)
{
	return m->state == behind_end ? 0 : err_set(e, ERR_INVALID, "the body ends before its last boundary");
}
