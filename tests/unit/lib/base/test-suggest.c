// SPDX-License-Identifier: Apache-2.0
#include "lib/base/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// --- distances ---

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
		if (suggest_distance(str_from(a), str_from(b), most) != want)
			fail_msg("'%s' and '%s': not %zu, at most %zu", a, b, want, most);
	}
	assert_true(near > 1000 && far > 1000);
}

static void test_length_is_limited(void **state UNUSED)
{
	char long_word[LIMIT_FILE_NAME + 1];
	memset(long_word, 'a', sizeof(long_word));
	struct str longest = {long_word, LIMIT_FILE_NAME}, too_long = {long_word, LIMIT_FILE_NAME + 1};
	assert_int_equal(suggest_distance(longest, longest, 300), 0);
	assert_int_equal(suggest_distance(longest, STR(""), 300), LIMIT_FILE_NAME);
	assert_int_equal(suggest_distance(too_long, longest, 300), 301);
	assert_int_equal(suggest_distance(longest, too_long, 300), 301);
}

// --- words ---

static const char *const words[] = {
	"serve", "yank", "unyank", "prune", "rebuilds", "build", "platform", "log-level", "p"};

static const char *suggestion_of(struct str typed)
{
	struct suggest n;
	suggest_init(&n, typed);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		suggest_add(&n, words[i]);
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
		const char *found = suggestion_of(str_from(table[i].typed));
		if (!found != !table[i].want || (found && strcmp(found, table[i].want) != 0))
			fail_msg("%s: %s", table[i].typed, found ? found : "nothing");
	}
}

static void test_earlier_word_wins_a_tie(void **state UNUSED)
{
	struct suggest n;
	suggest_init(&n, STR("retain"));
	suggest_add(&n, "remain");
	suggest_add(&n, "detain");
	assert_string_equal(n.word, "remain");
	suggest_add(&n, "retain");
	assert_string_equal(n.word, "retain");
	assert_int_equal(n.distance, 0);
}

static void test_long_words_are_like_none(void **state UNUSED)
{
	char typed[5000];
	memset(typed, 'a', sizeof(typed));
	struct suggest n;
	suggest_init(&n, (struct str){typed, sizeof(typed)});
	suggest_add(&n, "aaaa");
	assert_null(n.word);
	for (size_t length = 38; length <= 42; length++) {
		char word[50] = "";
		memset(word, 'a', length);
		suggest_init(&n, str_from(word));
		suggest_add(&n, word);
		assert_true((n.word != NULL) == (length <= 40));
	}
}

// --- names ---

static void assert_refusal(const char *typed, const char *const *names, size_t count, const char *message)
{
	struct err e = ERR_INIT;
	CLEANUP(name_choice_release) struct name_choice c;
	name_choice_init(&c, str_from(typed));
	for (size_t i = 0; i < count; i++)
		name_choice_add(&c, names[i]);
	assert_int_equal(name_choice_refuse(&c, ERR_NOT_FOUND, "no view", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_string_equal(e.msg, message);
}

static void names_are_offered(void **state UNUSED)
{
	static const char *const names[] = {"staging", "tested", "team"};
	assert_refusal("tseted", names, 3, "no view tseted; did you mean tested?");
	assert_refusal("x", names, 3, "no view x; there are staging, tested, team");
	assert_refusal("x", names, 1, "no view x; there is staging");
	assert_refusal("x", names, 0, "no view x");
	assert_refusal("", names, 2, "no view ; there are staging, tested");
}

// A list has those that fit, in their order, and the number of the others.
static void long_lists_are_cut(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(name_choice_release) struct name_choice c;
	name_choice_init(&c, STR("zzzzzzzzzzzz"));
	for (int i = 0; i < 1000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "platform-%04d", i);
		name_choice_add(&c, name);
	}
	name_choice_refuse(&c, ERR_USAGE, "no view", &e);
	assert_non_null(strstr(e.msg, "there are platform-0000, platform-0001, "));
	assert_non_null(strstr(e.msg, ", platform-0012 and 987 more"));
	assert_true(strlen(e.msg) < 300);
}

static void advice_stands_behind_the_message(void **state UNUSED)
{
	struct err e = ERR_INIT;
	err_set(&e, ERR_IO, "no %s", "disk");
	assert_int_equal(err_advise(&e, "buy %d", 2), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_string_equal(e.msg, "no disk; buy 2");
	for (int i = 0; i < ERR_MSG_SIZE; i++)
		err_advise(&e, "more");
	assert_true(strlen(e.msg) < ERR_MSG_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_plain_way_counts),
		cmocka_unit_test(test_length_is_limited),
		cmocka_unit_test(test_words_that_were_meant),
		cmocka_unit_test(test_earlier_word_wins_a_tie),
		cmocka_unit_test(test_long_words_are_like_none),
		cmocka_unit_test(names_are_offered),
		cmocka_unit_test(long_lists_are_cut),
		cmocka_unit_test(advice_stands_behind_the_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
