// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static void matches_whole_texts(void **state UNUSED)
{
	static const struct {
		const char *pattern, *text;
		bool wanted;
	} cases[] = {
		{"libssl.so.3", "libssl.so.3", true},
		{"libssl.so.3", "libssl.so.30", false},
		{"*.libs/libucp-*", "nixl.libs/libucp-nixl.so.0", true},
		{"*.libs/*.so", "a/b.libs/ucx/c.so", true}, // "*" takes "/" too
		{"lib[uv]?t.so", "libuct.so", true},
		{"lib[", "lib[", true},
		{"\\*", "*", true},
		{"\\*", "a", false},
		{"re:lib(a|b)", "liba", true},
		{"re:liba|libb", "libb", true},
		{"re:liba|libb", "libab", false},
		{"re:liba|libb", "liba.so", false},
		{"re:ib", "lib", false},
		{"re:.*-nixl(-[0-9a-f]{8})?\\.so.*", "libuct_ib-nixl-0a1b2c3d.so.0.0.0", true},
		{"re:.*-nixl(-[0-9a-f]{8})?\\.so.*", "libuct_ib-nixl-0a1b2c3.so.0.0.0", false},
		{"re:a\\.b", "a.b", true},
		{"re:a\\.b", "axb", false},
		{"re:[[:digit:]]+", "123", true},
		{"re:.*", "\xff\xfe", true}, // bytes, in whatever locale
		{"*", "\xff\xfe", true},
		{"re:()", "", true},
	};
	struct audit_matcher *m = audit_matcher_new(ARRAY_SIZE(cases));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct audit_pattern p = {cases[i].pattern, i};
		if (audit_pattern_check(cases[i].pattern, &e) < 0)
			fail_msg("%s", e.msg);
		for (int again = 0; again < 2; again++)
			if (audit_matcher_matches(m, &p, cases[i].text) != cases[i].wanted)
				fail_msg("%s, %s", cases[i].pattern, cases[i].text);
	}
	assert_false(audit_matcher_is_spent(m));
	audit_matcher_free(m);
}

// Exceeds LIMIT_AUDIT_REGEX.
static void faults_are_named(void **state UNUSED)
{
	static const struct {
		const char *pattern, *wanted;
	} cases[] = {
		{"", "the pattern is empty"},
		{"re:", "the pattern is empty"},
		{"re:a(", "\"re:a(\" is no regular expression: "},
		{"re:a)(b", "\"re:a)(b\" is no regular expression: "},
		{"re:[a", "\"re:[a\" is no regular expression: "},
		{"re:a{2", "\"re:a{2\" is no regular expression: "},
		{"re:a{3,2}", "\"re:a{3,2}\" is no regular expression: "},
		{"re:(a)\\1", "\"re:(a)\\1\" has a back reference"},
		{"re:a{4097}", "\"re:a{4097}\" repeats more than 4096 characters"},
		{"re:a{99999999999999999999}", "\"re:a{99999999999999999999}\" repeats more"},
		{"re:((a{20}){20}){20}", "\"re:((a{20}){20}){20}\" repeats more"},
		{"re:([a-z]{64}b{64}|c){64}", "\"re:([a-z]{64}b{64}|c){64}\" repeats more"},
		{"re:(((a{2,64}){,64})){2}", "\"re:(((a{2,64}){,64})){2}\" repeats more"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		if (audit_pattern_check(cases[i].pattern, &e) == 0)
			fail_msg("%s", cases[i].pattern);
		assert_int_equal(e.kind, ERR_USAGE);
		if (strncmp(e.msg, cases[i].wanted, strlen(cases[i].wanted)) != 0)
			fail_msg("%s: %s", cases[i].pattern, e.msg);
	}
}

static void repetitions_of_real_patterns_are_few(void **state UNUSED)
{
	static const char *const pattern[] = {
		"re:.*[.]libs/lib.{1,255}-[0-9a-f]{8}-[0-9]{4}[]x)({]{9}.so",
		"re:[^]{99999}]a\\{b[[.].]{99999}]c",
		"re:[[:alpha:]{99999}]\\\\1",
		"re:((((((((a{8})))))))){8}",
		"re:a(b)c{4000}",
	};
	for (size_t i = 0; i < ARRAY_SIZE(pattern); i++) {
		struct err e = ERR_INIT;
		if (audit_pattern_check(pattern[i], &e) < 0)
			fail_msg("%s: %s", pattern[i], e.msg);
	}
}

// Exceeds LIMIT_AUDIT_PATTERN.
static void long_patterns_are_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char text[LIMIT_AUDIT_PATTERN + 2];
	memset(text, '(', sizeof(text));
	memcpy(text, "re:", 3);
	text[LIMIT_AUDIT_PATTERN + 1] = '\0';
	assert_int_equal(audit_pattern_check(text, &e), -1);
	assert_non_null(strstr(e.msg, "longer than 512 bytes"));
	text[LIMIT_AUDIT_PATTERN] = '\0'; // as deep as a pattern can be
	assert_int_equal(audit_pattern_check(text, &e), -1);
	if (!strstr(e.msg, "Unmatched"))
		fail_msg("%s", e.msg);
}

static double thread_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Matches names of a and b, which make a new state of the automaton with each byte, until the matcher stops.
static void match_hostile_names(const char *pattern, size_t names, bool stops)
{
	struct err e = ERR_INIT;
	struct audit_pattern p = {pattern, 0};
	char name[1000];
	uint32_t random = 1;
	if (audit_pattern_check(pattern, &e) < 0)
		fail_msg("%s", e.msg);
	struct audit_matcher *m = audit_matcher_new(1);
	double begin = thread_seconds();
	for (size_t i = 0; i < names && !audit_matcher_is_spent(m); i++) {
		for (size_t k = 0; k < sizeof(name) - 1; k++) {
			random = random * 1664525 + 1013904223;
			name[k] = random >> 31 ? 'a' : 'b';
		}
		name[sizeof(name) - 1] = '\0';
		(void)audit_matcher_matches(m, &p, name);
	}
	double spent = thread_seconds() - begin;
	if (audit_matcher_is_spent(m) != stops || spent > 5 * LIMIT_AUDIT_RULES_MS / 1000.0)
		fail_msg("%s: %.3f s", pattern, spent);
	assert_false(stops && audit_matcher_matches(m, &(struct audit_pattern){"*", 0}, "a"));
	audit_matcher_free(m);
}

// Exceeds LIMIT_AUDIT_RULES_MS.
static void hostile_names_take_bounded_time(void **state UNUSED)
{
	match_hostile_names("re:(a|b)*a....................", 10000, true);
	match_hostile_names("re:(((a*)*)*|b)*c", 500, false);
	match_hostile_names("*a*b*a*b*a*b*a*b*a*b*a*b*a*b*c", 100, false);
}

static void names_longer_than_a_path_end_it(void **state UNUSED)
{
	struct audit_pattern p = {"*", 0};
	struct audit_matcher *m = audit_matcher_new(1);
	char name[LIMIT_PATH + 1];
	memset(name, 'a', sizeof(name));
	name[LIMIT_PATH - 1] = '\0';
	assert_true(audit_matcher_matches(m, &p, name));
	name[LIMIT_PATH - 1] = 'a';
	name[LIMIT_PATH] = '\0';
	assert_false(audit_matcher_matches(m, &p, name));
	assert_true(audit_matcher_is_spent(m));
	audit_matcher_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_whole_texts),
		cmocka_unit_test(faults_are_named),
		cmocka_unit_test(repetitions_of_real_patterns_are_few),
		cmocka_unit_test(long_patterns_are_refused),
		cmocka_unit_test(hostile_names_take_bounded_time),
		cmocka_unit_test(names_longer_than_a_path_end_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
