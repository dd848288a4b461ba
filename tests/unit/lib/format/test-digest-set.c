// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/format/digest-set.h"

enum { DIGESTS = 5000 };

static void free_set(struct digest_set **s)
{
	digest_set_free(*s);
}

// Half of them have the same first 8 bytes.
static void make_digest(unsigned number, uint8_t out[SHA256_SIZE])
{
	digest_sha256((struct str){(const char *)&number, sizeof(number)}, out);
	if (number % 2)
		memset(out, 7, 8);
}

static void digest_is_new_once(void **state UNUSED)
{
	CLEANUP(free_set) struct digest_set *s = digest_set_new();
	uint8_t digest[SHA256_SIZE];
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < DIGESTS; i++) {
			make_digest(i, digest);
			assert_int_equal(digest_set_add(s, digest), round == 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digest_is_new_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
