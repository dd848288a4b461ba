// SPDX-License-Identifier: Apache-2.0
#include "lib/format/base64.h"

static const char digits_of[][65] = {
	[BASE64_PLAIN] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	[BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

static int digit_value(char c, enum base64_form form)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (ascii_is_digit(c))
		return c - '0' + 52;
	const char *last = form == BASE64_URL ? "-_" : "+/";
	return c == last[0] ? 62 : c == last[1] ? 63 : -1;
}

static struct str without_padding(struct str text)
{
	for (int i = 0; i < 2 && str_ends(text, STR("=")); i++)
		text.len--;
	return text;
}

size_t base64_size(struct str text)
{
	return without_padding(text).len / 4 * 3 + without_padding(text).len % 4 * 3 / 4;
}

bool base64_decode(struct str text, enum base64_form form, uint8_t *out)
{
	struct str digits = form == BASE64_PLAIN ? without_padding(text) : text;
	uint32_t bits = 0;
	unsigned have = 0;
	if ((form == BASE64_PLAIN && text.len % 4 != 0) || digits.len % 4 == 1)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		int value = digit_value(digits.ptr[i], form);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		*out++ = (uint8_t)(bits >> have);
		bits &= (1u << have) - 1;
	}
	return bits == 0;
}

void base64_encode(const uint8_t *bytes, size_t len, enum base64_form form, struct buf *out)
{
	const char *digits = digits_of[form];

	uint32_t bits = 0;
	unsigned have = 0;
	for (size_t i = 0; i < len; i++) {
		bits = (bits << 8 | bytes[i]) & 0xffff;
		for (have += 8; have >= 6; have -= 6)
			buf_putc(out, digits[bits >> (have - 6) & 63]);
	}
	if (have)
		buf_putc(out, digits[bits << (6 - have) & 63]);
	if (form == BASE64_PLAIN)
		buf_puts(out, &"=="[2 - (3 - len % 3) % 3]);
}
