// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum { WORDS_MOST = 4 };

static size_t count_words(const char *const *word)
{
	size_t count = 0;
	while (count < WORDS_MOST && word[count])
		count++;
	return count;
}

static void words_mean_projects_versions_and_files(void **state UNUSED)
{
	static const struct {
		const char *word[WORDS_MOST];
		const char *project, *version, *filename;
		bool matches;
		const char *unmatched;
	} cases[] = {
		{{0}, "a", "1", "a-1.tar.gz", true, NULL},
		{{"a"}, "a", "1", "a-1.tar.gz", true, NULL},
		{{"A_b"}, "a-b", "1", "a_b-1.tar.gz", true, NULL},
		{{"a"}, "b", "1", "b-1.tar.gz", false, "a"},
		{{"b", "a", "c"}, "b", "1", "b-1.tar.gz", true, "a"},
		{{"a==1.0"}, "a", "1", "a-1.tar.gz", true, NULL},
		{{"a==1"}, "a", "1.0.0", "a-1.0.0.tar.gz", true, NULL},
		{{"a == 1.0rc1"}, "a", "1.0c1", "a-1.0c1.tar.gz", true, NULL},
		{{"a==1.0"}, "a", "1.0.1", "a-1.0.1.tar.gz", false, "a==1.0"},
		{{"a==1.0"}, "a", "1.0+local", "a-1.0+local.tar.gz", true, NULL},
		{{"a==1.*"}, "a", "1.9.dev2", "a-1.9.dev2.tar.gz", true, NULL},
		{{"a==1.0"}, "a", "", "a-odd.tar.gz", false, "a==1.0"},
		{{"a==1", "a==2"}, "a", "2", "a-2.tar.gz", true, "a==1"},
		{{"a-1.tar.gz"}, "a", "1", "a-1.tar.gz", true, NULL},
		{{"p/a-1.tar.gz"}, "a", "1", "a-1.tar.gz", true, NULL},
		{{"p/d/a/a-1.tar.gz"}, "a", "1", "a-1.tar.gz", true, NULL},
		{{"q/a-1.tar.gz"}, "a", "1", "a-1.tar.gz", false, "q/a-1.tar.gz"},
		{{"q/a-1.tar.gz", "p/a-1.tar.gz"}, "a", "1", "a-1.tar.gz", true, "q/a-1.tar.gz"},
		{{"a-1.tar.gz"}, "a", "1", "a-1.zip", false, "a-1.tar.gz"},
		{{"a-1.tar.gz", "x", "a-1.tar.gz", "a"}, "a", "1", "a-1.tar.gz", true, "x"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(promote_select_release) struct promote_select s = {0};
		if (promote_select_read(cases[i].word, count_words(cases[i].word), &s, &e) < 0)
			fail_msg("case %zu: %s", i, e.msg);
		const struct promote_subject f = {"p", cases[i].project, cases[i].version, cases[i].filename};
		if (promote_select_matches(&s, &f) != cases[i].matches)
			fail_msg("case %zu: %d", i, !cases[i].matches);
		const struct promote_word *unmatched = promote_select_unmatched(&s);
		if (!unmatched != !cases[i].unmatched ||
			(unmatched && strcmp(unmatched->text, cases[i].unmatched) != 0))
			fail_msg("case %zu: unmatched is %s", i, unmatched ? unmatched->text : "none");
	}
}

static void words_name_a_file_by_more_than_its_project(void **state UNUSED)
{
	static const struct {
		const char *word[WORDS_MOST];
		bool names;
	} cases[] = {
		{{0}, false},
		{{"a"}, false},
		{{"a", "b==1", "a==2", "b-1.tar.gz"}, false},
		{{"a==1.0"}, true},
		{{"b", "a", "a==2", "a==1.*"}, true},
		{{"p/a-1.tar.gz", "b"}, true},
		{{"q/a-1.tar.gz", "a"}, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(promote_select_release) struct promote_select s = {0};
		if (promote_select_read(cases[i].word, count_words(cases[i].word), &s, &e) < 0)
			fail_msg("case %zu: %s", i, e.msg);
		if (promote_select_names(&s, &(struct promote_subject){"p", "a", "1", "a-1.tar.gz"}) != cases[i].names)
			fail_msg("case %zu: %d", i, !cases[i].names);
	}
}

static void other_words_are_refused(void **state UNUSED)
{
	static const char *const cases[] = {"", "-a", "a b", "a==", "a==x", "a>=1", "==1", "a/b", "a.whl/",
		"/p/a-1.tar.gz", "../a-1.tar.gz", "./a-1.tar.gz", "simple/a-1.tar.gz"};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct promote_select s;
		const char *const words[] = {"good", cases[i]};
		if (promote_select_read(words, 2, &s, &e) != -1 || e.kind != ERR_USAGE || !strstr(e.msg, cases[i]))
			fail_msg("\"%s\": %s", cases[i], e.msg);
	}
}

// Each version is parsed once: 10,000 for 500 files took a minute.
static void many_versions_are_quick(void **state UNUSED)
{
	enum { WORDS = LIMIT_PROMOTE_SELECTS, FILES = 500, ROOM = 24 };
	struct err e = ERR_INIT;
	CLEANUP(promote_select_release) struct promote_select s = {0};
	CLEANUP(mem_free) char (*text)[ROOM] = xcalloc(WORDS, sizeof(*text));
	CLEANUP(mem_free) const char **word = xcalloc(WORDS, sizeof(*word));
	for (int i = 0; i < WORDS; i++) {
		snprintf(text[i], ROOM, "a==1.%d", i);
		word[i] = text[i];
	}
	int64_t from = clock_thread_ms();
	assert_int_equal(promote_select_read(word, WORDS, &s, &e), 0);
	for (int i = 0; i < FILES; i++) {
		char version[ROOM];
		snprintf(version, sizeof(version), "1.%d.0", i * 100);
		const struct promote_subject f = {"p", "a", version, "a.whl"};
		assert_int_equal(promote_select_matches(&s, &f), i * 100 < WORDS);
	}
	assert_true(clock_thread_ms() - from < LIMIT_PROMOTE_CPU_MS);
	assert_string_equal(promote_select_unmatched(&s)->text, "a==1.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_mean_projects_versions_and_files),
		cmocka_unit_test(words_name_a_file_by_more_than_its_project),
		cmocka_unit_test(other_words_are_refused),
		cmocka_unit_test(many_versions_are_quick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
