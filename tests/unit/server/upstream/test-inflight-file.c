// SPDX-License-Identifier: Apache-2.0
// What clients may have of a download that is under way. tests/unit/server/upstream/test-upstream-files.c has the rest.
#include "server/upstream/inflight-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LENGTH = 5 };

struct fixture {
	char folder[64];
	struct file_cache *file_cache;
	struct inflight_file *file;
};

static int begin(void **state)
{
	struct err e = ERR_INIT;
	struct fixture *f = xcalloc(1, sizeof(*f));
	const struct file_request wanted = {
		.project = "foo", .filename = "foo-1.tar.gz", .url = "http://a/", .home = "http://a/", .size = LENGTH};
	snprintf(f->folder, sizeof(f->folder), "test-inflight-file.XXXXXX");
	if (!mkdtemp(f->folder) || file_cache_open(f->folder, 1 << 20, NULL, &f->file_cache, &e) < 0)
		return -1;
	f->file = inflight_file_new(&wanted, NULL, NULL);
	f->file->file_cache_writer = file_cache_begin(f->file_cache, "foo", "foo-1.tar.gz", NULL, LENGTH, &e);
	*state = f;
	return f->file->file_cache_writer ? 0 : -1;
}

static int end(void **state)
{
	struct fixture *f = *state;
	inflight_file_unref(f->file);
	file_cache_close(f->file_cache);
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", f->folder);
	free(f);
	return system(command);
}

static void add_bytes(struct fixture *f, const char *bytes)
{
	struct err e = ERR_INIT;
	assert_int_equal(file_cache_writer_write(f->file->file_cache_writer, bytes, strlen(bytes), &e), 0);
	inflight_file_grow(f->file, strlen(bytes));
}

static ssize_t read_at(struct fixture *f, uint64_t at)
{
	char out[2 * LENGTH];
	return f->file->base.ops->read(&f->file->base, at, out, sizeof(out));
}

// Bytes with another hash are no complete file for anybody.
static void the_last_byte_waits_for_the_check(void **state)
{
	struct fixture *f = *state;
	inflight_file_begin_stream(f->file, LENGTH, true);
	assert_int_equal(read_at(f, 0), 0);
	add_bytes(f, "abc");
	assert_int_equal(read_at(f, 0), 3);
	add_bytes(f, "de");
	assert_int_equal(read_at(f, 0), LENGTH - 1);
	assert_int_equal(read_at(f, LENGTH - 1), 0);
	inflight_file_end(f->file, FILE_FETCH_KEPT, "");
	assert_int_equal(read_at(f, LENGTH - 1), 1);
}

static void a_wrong_file_ends_without_it(void **state)
{
	struct fixture *f = *state;
	inflight_file_begin_stream(f->file, LENGTH, true);
	add_bytes(f, "abcde");
	inflight_file_end(f->file, FILE_FETCH_FAILED, "another hash");
	assert_int_equal(read_at(f, LENGTH - 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_byte_waits_for_the_check, begin, end),
		cmocka_unit_test_setup_teardown(a_wrong_file_ends_without_it, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
