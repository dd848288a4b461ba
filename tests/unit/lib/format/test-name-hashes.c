// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/format/name-hashes.h"

enum { NAMES = 20000, OTHERS = 200000, MOST_WRONG = 3, MOST_BYTES = 4 };

static uint64_t hash_of_number(const char *word, unsigned number)
{
	char name[64];
	snprintf(name, sizeof(name), "%s%u", word, number);
	return name_hashes_of(str_from(name));
}

static bool set_has(const struct name_hashes *s, uint64_t hash)
{
	return name_hashes_has(buf_view(&s->slice[name_hashes_slice(hash)]), hash);
}

static void set_has_its_names_and_hardly_others(void **state UNUSED)
{
	CLEANUP(name_hashes_release) struct name_hashes set = {0};
	CLEANUP(mem_free) uint64_t *hash = xcalloc(NAMES + 1, sizeof(*hash));
	for (unsigned i = 0; i < NAMES; i++)
		hash[i] = hash_of_number("_ZN4lame", i);
	hash[NAMES] = hash[0]; // twice
	name_hashes_make(&set, hash, NAMES + 1);
	size_t bytes = 0, wrong = 0;
	for (size_t i = 0; i < NAME_HASHES_SLICES; i++)
		bytes += set.slice[i].len;
	for (unsigned i = 0; i < NAMES; i++)
		assert_true(set_has(&set, hash_of_number("_ZN4lame", i)));
	for (unsigned i = 0; i < OTHERS; i++)
		wrong += set_has(&set, hash_of_number("other", i));
	assert_in_range(bytes, NAMES, MOST_BYTES * NAMES);
	assert_in_range(wrong, 0, MOST_WRONG);
}

static void empty_set_has_nothing(void **state UNUSED)
{
	CLEANUP(name_hashes_release) struct name_hashes set = {0};
	name_hashes_make(&set, NULL, 0);
	for (size_t i = 0; i < NAME_HASHES_SLICES; i++)
		assert_int_equal(set.slice[i].len, 0);
	assert_false(set_has(&set, name_hashes_of(STR("free"))));
}

static void any_bytes_are_a_slice(void **state UNUSED)
{
	char bytes[64];
	srand(7);
	for (int i = 0; i < 100000; i++) {
		size_t len = (size_t)rand() % sizeof(bytes);
		for (size_t k = 0; k < len; k++)
			bytes[k] = (char)(rand() % 3 ? rand() : 0xff);
		name_hashes_has((struct str){bytes, len}, hash_of_number("x", (unsigned)i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_has_its_names_and_hardly_others),
		cmocka_unit_test(empty_set_has_nothing),
		cmocka_unit_test(any_bytes_are_a_slice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
