// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/tarstream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"

enum {
	EXTENDED_MAX = 1 << 20, // a pax header, a long name
	NAME_AT = 0,
	NAME_SIZE = 100,
	SIZE_AT = 124,
	SIZE_SIZE = 12,
	SUM_AT = 148,
	SUM_SIZE = 8,
	TYPE_AT = 156,
	MAGIC_AT = 257,
	PREFIX_AT = 345,
	PREFIX_SIZE = 155,
};

void tarstream_init(struct tarstream *t, tarstream_fn *fn, void *ctx)
{
	*t = (struct tarstream){.fn = fn, .ctx = ctx};
	buf_init(&t->extended, EXTENDED_MAX);
}

void tarstream_release(struct tarstream *t)
{
	buf_release(&t->extended);
}

// A text field. A NUL ends it unless the text fills the field.
static struct str text_field(const char *at, size_t size)
{
	return (struct str){at, strnlen(at, size)};
}

// Octal digits between blanks, or GNU's big-endian bytes after 0x80.
static bool number_field(const char *at, size_t size, uint64_t *out)
{
	bool is_binary = (unsigned char)at[0] == 0x80;
	struct str digits = str_trim(text_field(at, size));
	*out = 0;
	for (size_t i = 1; is_binary && i < size; i++) {
		if (*out >> 56)
			return false;
		*out = *out << 8 | (unsigned char)at[i];
	}
	for (size_t i = 0; !is_binary && i < digits.len; i++) {
		if (digits.ptr[i] < '0' || digits.ptr[i] > '7')
			return false;
		*out = *out << 3 | (uint64_t)(digits.ptr[i] - '0');
	}
	return true;
}

// The sum counts the bytes of its own field as blanks.
bool tarstream_is_header(const char block[TAR_BLOCK])
{
	uint64_t written, sum = SUM_SIZE * ' ';
	for (size_t i = 0; i < TAR_BLOCK; i++)
		if (i < SUM_AT || i >= SUM_AT + SUM_SIZE)
			sum += (unsigned char)block[i];
	return number_field(block + SUM_AT, SUM_SIZE, &written) && written == sum;
}

static bool is_zero_block(const char *block)
{
	for (size_t i = 0; i < TAR_BLOCK; i++)
		if (block[i])
			return false;
	return true;
}

// The value of the last pax record "<length> <key>=<value>\n" with this key. False if there is none.
static bool pax_value(struct str records, struct str key, struct str *value)
{
	bool found = false;
	while (records.len) {
		struct str behind = records;
		uint64_t length;
		decimal_cut(&behind, UINT64_MAX, &length);
		size_t digits = records.len - behind.len;
		if (length <= digits + 1 || length > records.len)
			return found;
		struct str rest = str_slice(records, digits + 1, length - 1), name = str_cut(&rest, '=');
		if (rest.ptr && str_eq(name, key)) {
			*value = rest;
			found = true;
		}
		records = str_slice(records, length, records.len);
	}
	return found;
}

// The path of the entry: from the extended header before it, or from its own two fields, joined in the buffer.
static struct str entry_path(struct tarstream *t, struct buf *path)
{
	struct str extended = buf_view(&t->extended), value;
	if (t->extended_type == 'L')
		return text_field(extended.ptr, extended.len);
	if (t->extended_type == 'x' && pax_value(extended, STR("path"), &value))
		return value;
	if (memcmp(t->block + MAGIC_AT, "ustar", 6) == 0 && t->block[PREFIX_AT]) {
		buf_str(path, text_field(t->block + PREFIX_AT, PREFIX_SIZE));
		buf_putc(path, '/');
	}
	buf_str(path, text_field(t->block + NAME_AT, NAME_SIZE));
	return buf_view(path);
}

// Replaces the size by that of the pax header, if there is one. False if that is not a number.
static bool pax_size(const struct tarstream *t, uint64_t *size)
{
	struct str value;
	if (t->extended_type != 'x' || !pax_value(buf_view(&t->extended), STR("size"), &value))
		return true;
	if (value.len)
		return decimal_parse(value, UINT64_MAX, size);
	*size = 0; // as in Python's tarfile
	return true;
}

// Headers that describe other entries: the path and size of the next one ('x', 'L'), or facts that are not used here.
static bool is_extended_type(char type)
{
	return type == 'x' || type == 'L' || type == 'g' || type == 'K';
}

static int parse_header(struct tarstream *t, struct err *e)
{
	char type = t->block[TYPE_AT];
	t->have = 0;
	if (is_zero_block(t->block)) {
		t->has_ended = true;
		return 0;
	}
	if (!tarstream_is_header(t->block) || !number_field(t->block + SIZE_AT, SIZE_SIZE, &t->left) ||
		(!is_extended_type(type) && !pax_size(t, &t->left)))
		return err_set(e, ERR_INVALID, "tar: damaged header");
	if (type == 'S') // PyPI rejects sparse files: readers unpack them differently
		return err_set(e, ERR_INVALID, "tar: sparse file");
	// Links, devices, folders and pipes have no bytes, whatever their size field says. Python's tarfile
	// does the same.
	t->left = type < '1' || type > '6' ? t->left : 0;
	t->padding = tarstream_padding(t->left);
	t->keep = NULL;
	if (type == 'x' || type == 'L') {
		if (t->left > EXTENDED_MAX)
			return err_set(e, ERR_LIMIT, "tar: an extended header of %llu bytes",
				(unsigned long long)t->left);
		buf_clear(&t->extended);
		t->extended_type = type;
		t->keep = &t->extended;
		return 0;
	}
	if (is_extended_type(type))
		return 0;
	CLEANUP(buf_release) struct buf path = buf_up_to(PREFIX_SIZE + 1 + NAME_SIZE);
	struct tarentry entry = {entry_path(t, &path), type ? type : '0', t->left};
	t->has_entries = true;
	int result = t->fn(t->ctx, &entry, &t->keep, e);
	t->extended_type = 0;
	if (result == 0 && t->keep && t->left > t->keep->cap - t->keep->len)
		return err_set(e, ERR_LIMIT, "tar: a file of %llu bytes, more than %zu", (unsigned long long)t->left,
			t->keep->cap);
	return result;
}

// Cuts at most n bytes off the front of the piece.
static struct str cut_front(struct str *piece, uint64_t n)
{
	size_t len = n < piece->len ? (size_t)n : piece->len;
	struct str taken = str_slice(*piece, 0, len);
	*piece = str_slice(*piece, len, piece->len);
	return taken;
}

int tarstream_add(struct tarstream *t, struct str piece, struct err *e)
{
	while (piece.len && !t->has_ended) {
		if (t->left) {
			struct str bytes = cut_front(&piece, t->left);
			t->left -= bytes.len;
			if (t->keep)
				buf_str(t->keep, bytes);
			continue;
		}
		if (t->padding) {
			t->padding -= cut_front(&piece, t->padding).len;
			continue;
		}
		struct str bytes = cut_front(&piece, TAR_BLOCK - t->have);
		memcpy(t->block + t->have, bytes.ptr, bytes.len);
		t->have += bytes.len;
		if (t->have == TAR_BLOCK && parse_header(t, e) < 0)
			return -1;
	}
	return 0;
}

int tarstream_end(struct tarstream *t, struct err *e)
{
	// Python's tarfile and GNU tar accept an archive without the two empty blocks at its end. So does this reader.
	if (t->left || t->padding || t->have)
		return err_set(e, ERR_INVALID, "tar: truncated");
	if (!t->has_entries)
		return err_set(e, ERR_INVALID, "tar: empty");
	return 0;
}

// --- writing ---

size_t tarstream_padding(uint64_t size)
{
	return (size_t)((TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

// Fields of numbers are octal, and end with NUL.
static void put_ustar(const char *name, uint64_t size, char type, struct buf *out)
{
	char block[TAR_BLOCK] = {0};
	unsigned sum = SUM_SIZE * ' ';
	memcpy(block + NAME_AT, name, strnlen(name, NAME_SIZE));
	memcpy(block + 100, "0000644", 8);
	memcpy(block + 108, "0000000", 8);
	memcpy(block + 116, "0000000", 8);
	snprintf(block + SIZE_AT, SIZE_SIZE, "%011" PRIo64, size);
	memcpy(block + 136, "00000000000", 12);
	block[TYPE_AT] = type;
	memcpy(block + MAGIC_AT, "ustar\0" "00", 8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)block[i];
	snprintf(block + SUM_AT, SUM_SIZE, "%06o", sum);
	block[SUM_AT + SUM_SIZE - 1] = ' ';
	buf_add(out, block, sizeof(block));
}

// "<length> <key>=<value>\n", where the length counts itself.
static void put_pax(const char *key, const char *value, struct buf *out)
{
	size_t rest = strlen(key) + strlen(value) + 3, length = rest + 1;
	for (size_t digits = 1, ten = 10; length >= ten; ten *= 10)
		length = rest + ++digits;
	buf_printf(out, "%zu %s=%s\n", length, key, value);
}

void tarstream_header(const char *path, uint64_t size, struct buf *out)
{
	static const char zeros[TAR_BLOCK];
	const bool is_large = size >> 33 != 0; // more than eleven octal digits
	CLEANUP(buf_release) struct buf pax = buf_up_to(EXTENDED_MAX);
	char digits[24];
	snprintf(digits, sizeof(digits), "%" PRIu64, size);
	if (strlen(path) > NAME_SIZE)
		put_pax("path", path, &pax);
	if (is_large)
		put_pax("size", digits, &pax);
	if (pax.len) {
		put_ustar("pax", pax.len, 'x', out);
		buf_str(out, buf_view(&pax));
		buf_add(out, zeros, tarstream_padding(pax.len));
	}
	put_ustar(path, is_large ? 0 : size, '0', out);
}
