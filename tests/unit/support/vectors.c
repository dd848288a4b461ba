// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "lib/os/fs.h"

// Looks in the folder of shared test data, then in the project's own small set.
static char *find_path(const char *below)
{
	const char *given = getenv("WHEELCACHE_SHARED");
	const char *srcdir = getenv("srcdir");
	CLEANUP(mem_free) char *beside = xasprintf("%s/../shared", srcdir ? srcdir : ".");
	CLEANUP(mem_free) char *within = xasprintf("%s/tests/data", srcdir ? srcdir : ".");
	const char *const folders[] = {given ? given : beside, within};
	struct stat st;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", folders[i], below);
		if (stat(path, &st) == 0)
			return STEAL_PTR(path);
	}
	print_message("no %s in %s\n", below, folders[0]);
	return NULL;
}

static void split_columns(struct str line, struct vector *row)
{
	for (size_t i = 0; i < VECTOR_COLUMNS; i++)
		row->column[i] = line.ptr ? str_cut(&line, '\t') : (struct str){"", 0};
}

char *vectors_path(const char *below)
{
	char *path = find_path(below);
	if (!path)
		skip();
	return path;
}

void vectors_foreach(const char *file, vectors_fn *fn, void *ctx)
{
	char *below = xasprintf("vectors/%s", file);
	CLEANUP(mem_free) char *path = find_path(below);
	free(below); // before skip(), which does not return
	if (!path)
		skip();
	CLEANUP(buf_release) struct buf text;
	struct err e = ERR_INIT;
	buf_init(&text, 16 << 20);
	if (fs_read_file(path, &text, &e) < 0)
		fail_msg("%s", e.msg);
	struct vector row = {.file = str_from(file)};
	size_t rows = 0;
	for (struct str rest = buf_view(&text); rest.len;) {
		struct str line = str_cut(&rest, '\n');
		row.line++;
		if (!line.len || line.ptr[0] == '#')
			continue;
		split_columns(line, &row);
		fn(ctx, &row);
		rows++;
	}
	print_message("%zu rows of %s\n", rows, file);
	assert_true(rows > 0);
}

static void add_utf8(struct buf *out, uint32_t code)
{
	if (code < 0x80) {
		buf_putc(out, (char)code);
		return;
	}
	int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
	buf_putc(out, (char)(lead[more] | code >> (6 * more)));
	while (more--)
		buf_putc(out, (char)(0x80 | (code >> (6 * more) & 0x3f)));
}

// Reads the four digits behind "\u" and cuts them off.
static uint32_t take_hex4(struct str *rest)
{
	char digits[5] = {0};
	assert_true(rest->len >= 4);
	for (size_t i = 0; i < 4; i++)
		digits[i] = rest->ptr[i];
	*rest = str_slice(*rest, 4, rest->len);
	char *end;
	unsigned long code = strtoul(digits, &end, 16);
	assert_ptr_equal(end, digits + 4);
	return (uint32_t)code;
}

// A character beyond U+FFFF has two escapes, a high and a low surrogate.
static uint32_t take_unicode(struct str *rest)
{
	uint32_t code = take_hex4(rest);
	if (code < 0xd800 || code > 0xdbff || !str_starts(*rest, STR("\\u")))
		return code;
	*rest = str_slice(*rest, 2, rest->len);
	return 0x10000 + ((code - 0xd800) << 10) + (take_hex4(rest) - 0xdc00);
}

static void take_escape(struct str *rest, struct buf *out)
{
	static const char *const from = "\"\\/bfnrt", *const to = "\"\\/\b\f\n\r\t";
	char c = rest->len ? rest->ptr[0] : '\0';
	*rest = str_slice(*rest, rest->len ? 1 : 0, rest->len);
	long at = str_find(str_from(from), c);
	if (c == 'u')
		add_utf8(out, take_unicode(rest));
	else if (at >= 0)
		buf_putc(out, to[at]);
	else
		fail_msg("\"\\%c\" in a JSON string", c);
}

void vectors_unquote(struct str json, struct buf *out)
{
	if (json.len < 2 || json.ptr[0] != '"' || json.ptr[json.len - 1] != '"')
		fail_msg("no JSON string: " STR_FMT, STR_ARG(json));
	for (struct str rest = str_slice(json, 1, json.len - 1); rest.len;) {
		char c = rest.ptr[0];
		rest = str_slice(rest, 1, rest.len);
		if (c == '\\')
			take_escape(&rest, out);
		else
			buf_putc(out, c);
	}
}
