// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/changes.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum { LONG_MS = 30000 };

static char folder[] = "test-changes.XXXXXX";
static char catalog[64], file[80];

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(catalog, sizeof(catalog), "%s/c.db", folder);
	snprintf(file, sizeof(file), "%s-changes", catalog);
	return 0;
}

static int remove_folder(void **state UNUSED)
{
	unlink(file);
	return rmdir(folder);
}

static void what_one_raises_all_see(void **state UNUSED)
{
	struct changes *a = changes_open(catalog), *b = changes_open(catalog);
	assert_non_null(a);
	assert_non_null(b);
	uint32_t before = changes_read(a);
	assert_int_equal(changes_read(b), before);
	changes_raise(a);
	assert_int_equal(changes_read(b), before + 1);
	changes_close(a);
	a = changes_open(catalog); // the file outlives the process that created it
	assert_int_equal(changes_read(a), before + 1);
	changes_close(a);
	changes_close(b);
}

static void *raise_it(void *ctx)
{
	changes_raise(ctx);
	return NULL;
}

// Without a wake-up this takes half a minute.
static void waiting_ends_with_a_raise(void **state UNUSED)
{
	struct changes *a = changes_open(catalog), *b = changes_open(catalog);
	pthread_t thread;
	int64_t begin = clock_ms();
	uint32_t seen = changes_read(a);
	assert_int_equal(pthread_create(&thread, NULL, raise_it, b), 0);
	while (changes_read(a) == seen)
		changes_wait(a, seen, LONG_MS);
	pthread_join(thread, NULL);
	changes_wait(a, seen, LONG_MS); // is another one already
	assert_true(clock_ms() - begin < LONG_MS);
	changes_close(a);
	changes_close(b);
}

static void waiting_ends_by_itself(void **state UNUSED)
{
	struct changes *a = changes_open(catalog);
	int64_t begin = clock_ms();
	changes_wait(a, changes_read(a), 20);
	changes_wait(NULL, 0, 20);
	assert_true(clock_ms() - begin < LONG_MS);
	changes_close(a);
}

static void file_that_was_made_anew_is_found(void **state UNUSED)
{
	struct changes *a = changes_open(catalog);
	const _Atomic uint32_t *word = a->word;
	uint32_t before = changes_read(a);
	unlink(file);
	struct changes *b = changes_open(catalog);
	changes_raise(b);
	changes_raise(b);
	changes_renew(a);
	assert_int_equal(atomic_load(word), before); // another thread may still read the old mapping
	assert_int_equal(changes_read(a), 2);
	changes_raise(a);
	assert_int_equal(changes_read(b), 3);
	changes_close(a);
	changes_close(b);
}

// Without the handler of SIGBUS the first look would end the process.
static void file_that_is_cut_short_ends_nobody(void **state UNUSED)
{
	struct changes *a = changes_open(catalog), *b = changes_open(catalog), *c = changes_open(catalog);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(truncate(file, 0), 0);
		changes_raise(a);
		changes_raise(a);
		assert_int_equal(changes_read(b), 0);
		changes_wait(a, changes_read(a), 1); // each finds the file again
		changes_wait(b, changes_read(b), 1);
		uint32_t seen = changes_read(a);
		changes_raise(b);
		assert_int_equal(changes_read(a), seen + 1);
		assert_int_equal(changes_read(c), seen + 1); // which did not look meanwhile
	}
	changes_close(a);
	changes_close(b);
	assert_int_equal(truncate(file, 0), 0);
	assert_int_equal(changes_read(c), 0); // pages that were let go of are not taken for its
	changes_close(c);
}

static void none_is_as_good_as_zero(void **state UNUSED)
{
	assert_null(changes_open("/proc/no/such/folder"));
	assert_int_equal(changes_read(NULL), 0);
	changes_raise(NULL);
	changes_renew(NULL);
	changes_close(NULL);
	unlink(file);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_null(changes_open(catalog));
	rmdir(file);
}

static void numbers_go_round(void **state UNUSED)
{
	assert_true(changes_is_past(1, 1));
	assert_true(changes_is_past(1, 2));
	assert_false(changes_is_past(2, 1));
	assert_true(changes_is_past(UINT32_MAX, 3));
	assert_false(changes_is_past(3, UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		// First: the handler of SIGBUS is set once, and for each test cmocka sets its own.
		cmocka_unit_test(file_that_is_cut_short_ends_nobody),
		cmocka_unit_test(what_one_raises_all_see),
		cmocka_unit_test(waiting_ends_with_a_raise),
		cmocka_unit_test(waiting_ends_by_itself),
		cmocka_unit_test(file_that_was_made_anew_is_found),
		cmocka_unit_test(none_is_as_good_as_zero),
		cmocka_unit_test(numbers_go_round),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
