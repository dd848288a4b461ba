// SPDX-License-Identifier: Apache-2.0
#include "server/message/header-params.h"

#include <string.h>

static bool is_token_char(char c)
{
	return ascii_is_alnum(c) || (c && strchr("!#$&+-.^_`|~%'*/:=?@(),[]{}", c));
}

struct str header_params_value(struct str *rest)
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
	CLEANUP(buf_release) struct buf raw;
	buf_init(&raw, value->cap);
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

int header_params_next(struct str *rest, struct str *name, struct buf *value, struct err *e)
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
