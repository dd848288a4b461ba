// SPDX-License-Identifier: Apache-2.0
#include "lib/base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static const char *const words[] = {
	"serve", "yank", "unyank", "prune", "rebuilds", "build", "platform", "log-level", "p"};

static const char *nearest_of(struct str typed)
{
	struct nearest n;
	nearest_init(&n, typed);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		nearest_offer(&n, words[i]);
	return n.word;
}

static void test_words_that_were_meant(void **state UNUSED)
{
	static const struct {
		const char *typed, *want; // NULL: nothing is near
	} table[] = {
		{"serve", "serve"},
		{"sevre", "serve"},
		{"serv", "serve"},
		{"sserve", "serve"},
		{"sever", "serve"},
		{"sarva", "serve"},
		{"sarvi", "serve"},
		{"xarvi", NULL},
		{"ynak", "yank"},
		{"jank", "yank"},
		{"unynak", "unyank"},
		{"rebuild", "rebuilds"},
		{"builds", "build"},
		{"platfrom", "platform"},
		{"log_level", "log-level"},
		{"x", NULL},
		{"", NULL},
		{"frobnicate", NULL},
		{"SERVE", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const char *found = nearest_of(str_from(table[i].typed));
		if (!found != !table[i].want || (found && strcmp(found, table[i].want) != 0))
			fail_msg("%s: %s", table[i].typed, found ? found : "nothing");
	}
}

static void test_earlier_word_wins_a_tie(void **state UNUSED)
{
	struct nearest n;
	nearest_init(&n, STR("retain"));
	nearest_offer(&n, "remain");
	nearest_offer(&n, "detain");
	assert_string_equal(n.word, "remain");
	nearest_offer(&n, "retain");
	assert_string_equal(n.word, "retain");
	assert_int_equal(n.distance, 0);
}

static void test_long_words_are_like_none(void **state UNUSED)
{
	char typed[5000];
	memset(typed, 'a', sizeof(typed));
	struct nearest n;
	nearest_init(&n, (struct str){typed, sizeof(typed)});
	nearest_offer(&n, "aaaa");
	assert_null(n.word);
	for (size_t length = 38; length <= 42; length++) {
		char word[50] = "";
		memset(word, 'a', length);
		nearest_init(&n, str_from(word));
		nearest_offer(&n, word);
		assert_true((n.word != NULL) == (length <= 40));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_that_were_meant),
		cmocka_unit_test(test_earlier_word_wins_a_tie),
		cmocka_unit_test(test_long_words_are_like_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
