// SPDX-License-Identifier: Apache-2.0
#include "lib/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/mem.h"

// From the reference implementation: the key 00 01 … 0f, and the first bytes of 00 01 02 ….
static void test_vectors_of_siphash(void **state UNUSED)
{
	static const struct {
		size_t len;
		uint64_t want;
	} table[] = {{0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd}, {7, 0xab0200f58b01d137}, {8, 0x93f5f5799a932462},
		{15, 0xa129ca6149be45e5}, {63, 0x958a324ceb064572}};
	uint8_t bytes[64];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_int_equal(hash_sip(bytes, (struct str){(const char *)bytes, table[i].len}, 0), table[i].want);
}

// Kept numbers stay what they are: parts of CI jobs, and lists of names in files.
static void test_the_fixed_hash_stays(void **state UNUSED)
{
	assert_int_equal(hash_fixed(STR("")), 0xcbf29ce484222325u ^ 0xcbf29ce4u);
	assert_int_equal(hash_fixed(STR("a")), 0xaf63dc4c8601ec8cu ^ 0xaf63dc4cu);
	assert_int_equal(hash_fixed(STR("foobar")), 0x85944171f73967e8u ^ 0x85944171u);
}

static uint64_t hash_in_new_process(const char *program)
{
	char line[32] = "";
	CLEANUP(mem_free) char *command = xasprintf("%s print", program);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof(line), pipe));
	assert_int_equal(pclose(pipe), 0);
	return strtoull(line, NULL, 16);
}

static const char *own_path;

// Each process has a key of its own, so that collisions of one are none of another.
static void test_processes_differ(void **state UNUSED)
{
	uint64_t here = hash_of(STR("name"), 0);
	assert_int_equal(here, hash_of(STR("name"), 0));
	assert_int_not_equal(here, hash_of(STR("name"), 1));
	assert_int_not_equal(here, hash_in_new_process(own_path));
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		printf("%llx\n", (unsigned long long)hash_of(STR("name"), 0));
		return 0;
	}
	own_path = argv[0];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors_of_siphash),
		cmocka_unit_test(test_the_fixed_hash_stays),
		cmocka_unit_test(test_processes_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
