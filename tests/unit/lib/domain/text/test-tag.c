// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "tests/unit/support/vectors.h"

struct tags {
	char **items;
	size_t count, room;
};

static void tags_release(struct tags *tags)
{
	for (size_t i = 0; i < tags->count; i++)
		free(tags->items[i]);
	free(tags->items);
}

static int add_to_tags(void *ctx, struct str tag, struct err *e UNUSED)
{
	struct tags *tags = ctx;
	GROW(tags->items, tags->count, tags->room);
	tags->items[tags->count++] = xstrndup(tag.ptr, tag.len);
	return 0;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

// The expanded tags, sorted and separated by spaces.
static void expand_sorted(struct str filename, struct buf *out)
{
	CLEANUP(filename_release) struct filename f = {0};
	CLEANUP(tags_release) struct tags tags = {0};
	struct err e = ERR_INIT;
	if (filename_parse(filename, &f, &e) < 0 || filename_tags(&f, add_to_tags, &tags, &e) < 0)
		fail_msg(STR_FMT ": %s", STR_ARG(filename), e.msg);
	qsort(tags.items, tags.count, sizeof(*tags.items), compare_texts);
	for (size_t i = 0; i < tags.count; i++)
		buf_printf(out, "%s%s", i ? " " : "", tags.items[i]);
}

static void test_sets(void **state UNUSED)
{
	static const struct {
		const char *filename, *tags;
	} table[] = {
		{"a-1-py3-none-any.whl", "py3-none-any"},
		{"a-1-1-py2.py3-none-any.whl", "py2-none-any py3-none-any"},
		{"a-1-py3.py3-none-any.Any.whl", "py3-none-any"},
		{"a-1-CP38-cp38-Win32.whl", "cp38-cp38-win32"},
		{"a-1-cp315-abi3.abi3t-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
			"cp315-abi3-manylinux2014_x86_64 cp315-abi3-manylinux_2_17_x86_64 "
			"cp315-abi3t-manylinux2014_x86_64 cp315-abi3t-manylinux_2_17_x86_64"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf tags;
		buf_init(&tags, 4096);
		expand_sorted(str_from(table[i].filename), &tags);
		assert_string_equal(tags.data, table[i].tags);
	}
}

static int count_calls(void *ctx, struct str tag UNUSED, struct err *e UNUSED)
{
	++*(size_t *)ctx;
	return 0;
}

// A set of count members, "a.b.c…", each one or two letters.
static void add_set(struct buf *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%c%c", i ? "." : "", 'a' + (char)(i / 26), 'a' + (char)(i % 26));
}

static int count_tags(size_t pythons, size_t abis, size_t platforms, size_t *calls, struct err *e)
{
	CLEANUP(buf_release) struct buf python, abi, platform;
	buf_init(&python, 4096);
	buf_init(&abi, 4096);
	buf_init(&platform, 4096);
	add_set(&python, pythons);
	add_set(&abi, abis);
	add_set(&platform, platforms);
	struct filename f = {.kind = FILENAME_WHEEL,
		.python = buf_view(&python),
		.abi = buf_view(&abi),
		.platform = buf_view(&platform)};
	*calls = 0;
	return filename_tags(&f, count_calls, calls, e);
}

// Exceeds LIMIT_TAGS.
static void test_limit(void **state UNUSED)
{
	struct err e = ERR_INIT;
	size_t calls;
	assert_int_equal(count_tags(16, 16, 16, &calls, &e), 0);
	assert_int_equal(calls, LIMIT_TAGS);
	assert_int_equal(count_tags(16, 16, 17, &calls, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(calls, 0);
	e.kind = ERR_NONE;
	assert_int_equal(count_tags(1, LIMIT_FILE_NAME, 1, &calls, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// Sets longer than any file name are rejected. Otherwise the length of a line would be multiplied by its tags.
static void test_long_sets(void **state UNUSED)
{
	CLEANUP(mem_free) char *text = xmalloc(LIMIT_METADATA);
	memset(text, 'a', LIMIT_METADATA);
	for (size_t part = 0; part < 3; part++) {
		struct str sets[3] = {STR("cp38.cp39"), STR("abi3.none"), STR("win32.any")};
		size_t rest = sets[0].len + sets[1].len + sets[2].len - sets[part].len;
		struct err e = ERR_INIT;
		size_t calls = 0;
		sets[part] = (struct str){text, LIMIT_FILE_NAME - rest};
		struct filename f = {.python = sets[0], .abi = sets[1], .platform = sets[2]};
		assert_int_equal(filename_tags(&f, count_calls, &calls, &e), 0);
		assert_int_equal(calls, 4);
		calls = 0;
		sets[part].len++;
		f = (struct filename){.python = sets[0], .abi = sets[1], .platform = sets[2]};
		assert_int_equal(filename_tags(&f, count_calls, &calls, &e), -1);
		assert_int_equal(e.kind, ERR_LIMIT);
		assert_int_equal(calls, 0);
	}
}

static int reject_tag(void *ctx UNUSED, struct str tag, struct err *e)
{
	return err_set(e, ERR_DENIED, STR_FMT, STR_ARG(tag));
}

static void test_callback_ends_walk(void **state UNUSED)
{
	struct filename f = {.python = STR("py2.py3"), .abi = STR("none"), .platform = STR("any")};
	struct err e = ERR_INIT;
	assert_int_equal(filename_tags(&f, reject_tag, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	assert_string_equal(e.msg, "py2-none-any");
}

enum { ROW_INPUT, ROW_VALID, ROW_TAGS = 5 };

static void check_row(void *ctx UNUSED, const struct vector *row)
{
	if (!str_eq(row->column[ROW_VALID], STR("1")))
		return;
	CLEANUP(buf_release) struct buf name, tags;
	buf_init(&name, 4096);
	buf_init(&tags, 1 << 20);
	vectors_unquote(row->column[ROW_INPUT], &name);
	expand_sorted(buf_view(&name), &tags);
	if (!str_eq(buf_view(&tags), row->column[ROW_TAGS]))
		fail_msg("line %zu: %s", row->line, tags.data);
}

static void test_vectors(void **state UNUSED)
{
	vectors_foreach("wheelnames.tsv", check_row, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_long_sets),
		cmocka_unit_test(test_callback_ends_walk),
		cmocka_unit_test(test_vectors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
