// SPDX-License-Identifier: Apache-2.0
#include "lib/base/blob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

static void from_buf(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, 1 << 20);
	assert_non_null(buf_reserve(&b, 1 << 20));
	buf_puts(&b, "bytes");
	struct blob *blob = blob_from_buf(&b);
	assert_null(b.data);
	assert_true(str_eq(blob_view(blob), STR("bytes")));
	union {
		const char *ours;
		void *theirs;
	} at = {.ours = blob_view(blob).ptr};
	assert_in_range(malloc_usable_size(at.theirs), 6, 4096); // the spare room was given back
	blob_unref(blob);
}

static void shared(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, 10);
	struct blob *blob = blob_from_buf(&b);
	assert_int_equal(blob_view(blob).len, 0);
	assert_ptr_equal(blob_ref(blob), blob);
	blob_unref(blob);
	assert_int_equal(blob_view(blob).len, 0);
	blob_unref(blob);
	blob_unref(NULL);
}

static void mapped(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_true(fputs("a file", f) >= 0);
	assert_int_equal(fflush(f), 0);
	struct blob *blob = blob_map(fileno(f), 6, &e), *empty = blob_map(fileno(f), 0, &e);
	assert_null(blob_map(-1, 6, &e));
	assert_int_equal(e.kind, ERR_IO);
	fclose(f);
	assert_true(str_eq(blob_view(blob), STR("a file")));
	assert_int_equal(blob_view(empty).len, 0);
	blob_unref(blob);
	blob_unref(empty);
}

// Exceeds LIMIT_FILES_SENT: further files have no descriptor until another one is given up.
static void open_files(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	off_t at = 0;
	struct blob *blob[LIMIT_FILES_SENT + 1];
	FILE *f = tmpfile();
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), BLOB_SEND_LEAST), 0);
	struct blob *small = blob_map(fileno(f), BLOB_SEND_LEAST - 1, &e);
	assert_int_equal(blob_file(blob_view(small).ptr, &at), -1);
	for (size_t i = 0; i < ARRAY_SIZE(blob); i++)
		blob[i] = blob_map(fileno(f), BLOB_SEND_LEAST, &e);
	fclose(f);
	int fd = blob_file(blob_view(blob[0]).ptr + BLOB_SEND_LEAST - 1, &at);
	assert_int_equal(at, BLOB_SEND_LEAST - 1);
	assert_int_equal(lseek(fd, 0, SEEK_END), BLOB_SEND_LEAST);
	assert_int_equal(blob_file((const char *)&at, &at), -1);
	assert_int_equal(blob_file(blob_view(blob[LIMIT_FILES_SENT]).ptr, &at), -1);
	blob_unref(blob[1]);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), BLOB_SEND_LEAST);
	blob_unref(blob[0]);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), -1);
	for (size_t i = 2; i < ARRAY_SIZE(blob); i++)
		blob_unref(blob[i]);
	blob_unref(small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_buf), cmocka_unit_test(shared), cmocka_unit_test(mapped),
		cmocka_unit_test(open_files)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
