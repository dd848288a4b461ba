// SPDX-License-Identifier: Apache-2.0
#include "lib/base/word-distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// The slow and plain way.
static size_t plain_distance(const char *a, const char *b)
{
	size_t d[16][16] = {{0}}, n = strlen(a), m = strlen(b);
	for (size_t i = 0; i <= n; i++) {
		for (size_t k = 0; k <= m; k++) {
			d[i][k] = i == 0 ? k : i;
			if (i == 0 || k == 0)
				continue;
			size_t way[] = {d[i - 1][k] + 1, d[i][k - 1] + 1, d[i - 1][k - 1] + (a[i - 1] != b[k - 1]), 99};
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				way[3] = d[i - 2][k - 2] + 1;
			d[i][k] = 99;
			for (size_t w = 0; w < ARRAY_SIZE(way); w++)
				d[i][k] = way[w] < d[i][k] ? way[w] : d[i][k];
		}
	}
	return d[n][m];
}

static unsigned seed = 1;

static unsigned draw(unsigned count)
{
	seed = seed * 1103515245u + 12345u;
	return seed / 65536 % count;
}

static void make_word(char out[10])
{
	size_t len = draw(10);
	for (size_t i = 0; i < len; i++)
		out[i] = (char)('a' + draw(3));
	out[len] = '\0';
}

static void test_as_the_plain_way_counts(void **state UNUSED)
{
	unsigned near = 0, far = 0;
	for (int i = 0; i < 20000; i++) {
		char a[10], b[10];
		make_word(a);
		make_word(b);
		size_t plain = plain_distance(a, b), most = draw(5), want = plain > most ? most + 1 : plain;
		*(plain > most ? &far : &near) += 1;
		if (word_distance(str_from(a), str_from(b), most) != want)
			fail_msg("'%s' and '%s': not %zu, at most %zu", a, b, want, most);
	}
	assert_true(near > 1000 && far > 1000);
}

static void test_length_is_limited(void **state UNUSED)
{
	char long_word[LIMIT_FILE_NAME + 1];
	memset(long_word, 'a', sizeof(long_word));
	struct str longest = {long_word, LIMIT_FILE_NAME}, too_long = {long_word, LIMIT_FILE_NAME + 1};
	assert_int_equal(word_distance(longest, longest, 300), 0);
	assert_int_equal(word_distance(longest, STR(""), 300), LIMIT_FILE_NAME);
	assert_int_equal(word_distance(too_long, longest, 300), 301);
	assert_int_equal(word_distance(longest, too_long, 300), 301);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_plain_way_counts),
		cmocka_unit_test(test_length_is_limited),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
