// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"

static char path[] = "test-audit-policy.XXXXXX";

static int make_file(void **state UNUSED)
{
	return close(mkstemp(path));
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static int read_text(const char *text, struct audit_policy *out, struct err *e)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return audit_policy_read(out, path, e);
}

static void reads_rules(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(audit_policy_release) struct audit_policy p;
	if (read_text("# comment\n"
		      "[rule private UCX]\n"
		      "project = nixl*\n"
		      "  re:nixl_.*\n"
		      "platform = *-x86_64\n"
		      "member = *.libs/ucx/*\n"
		      "require = member *.so\n"
		      "  library  libucp*\n"
		      "  bundled libucs.so*\n"
		      "forbid = bundled libssl.so*\n"
		      "allow = library libcuda.so.1\n"
		      "name must match = re:.*-nixl.*\n"
		      "[rule quiet]\n"
		      "level = off\n"
		      "code = junk twin-bytes\n"
		      "  sbom\n",
		    &p, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.patterns, 10);
	const struct audit_rule *r = &p.rule[0];
	assert_string_equal(r->name, "private UCX");
	assert_int_equal(r->line, 2);
	assert_int_equal(r->level, AUDIT_ERROR);
	assert_int_equal(r->project.count, 2);
	assert_string_equal(r->project.item[1].text, "re:nixl_.*");
	assert_string_equal(r->platform.item[0].text, "*-x86_64");
	assert_string_equal(r->member.item[0].text, "*.libs/ucx/*");
	assert_int_equal(r->conditions, 5);
	assert_int_equal(r->condition[0].verb, AUDIT_REQUIRE);
	assert_int_equal(r->condition[0].object, AUDIT_MEMBER);
	assert_int_equal(r->condition[1].object, AUDIT_LIBRARY);
	assert_string_equal(r->condition[1].pattern.text, "libucp*");
	assert_int_equal(r->condition[2].object, AUDIT_BUNDLED);
	assert_int_equal(r->condition[3].verb, AUDIT_FORBID);
	assert_int_equal(r->condition[4].verb, AUDIT_ALLOW);
	assert_string_equal(r->must_match.item[0].text, "re:.*-nixl.*");
	assert_false(r->has_code);
	for (size_t i = 0; i < r->conditions; i++)
		assert_true(r->condition[i].pattern.id < p.patterns);
	r = &p.rule[1];
	assert_true(r->has_code && r->code[AUDIT_JUNK] && r->code[AUDIT_TWIN_BYTES] && r->code[AUDIT_SBOM]);
	assert_false(r->code[AUDIT_ABI3]);
	assert_int_equal(r->level, AUDIT_OFF);
}

static void an_empty_policy_has_no_rules(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct audit_policy p;
	assert_int_equal(audit_policy_read(&p, NULL, &e), 0);
	assert_int_equal(p.count, 0);
	audit_policy_release(&p);
	assert_int_equal(read_text("# nothing\n", &p, &e), 0);
	assert_int_equal(p.count, 0);
	audit_policy_release(&p);
}

static void mistakes_are_named_with_their_line(void **state UNUSED)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"[rules a]\n", ":1: [rules a] is no [rule NAME]"},
		{"[rule ]\n", ":1: [rule ]: a rule's name is UTF-8 of 1 to 200 bytes"},
		{"[rule \xff]\n", ":1: [rule \xff]: a rule's name is UTF-8 of 1 to 200 bytes"},
		{"level = off\n", ":1: level stands before the first [rule NAME]"},
		{"[rule a]\nforbids = member x\n", ":2: [rule a] has no key \"forbids\""},
		{"[rule a]\nforbid = member x\n[rule b]\n\n[rule a]\n", ":5: [rule a] is there twice, first in line 1"},
		{"[rule a]\nforbid = x\n",
			":2: forbid: \"x\" is not member PATTERN, bundled PATTERN or library PATTERN"},
		{"[rule a]\nforbid = member\n",
			":2: forbid: \"member\" is not member PATTERN, bundled PATTERN or library PATTERN"},
		{"[rule a]\nallow = member x\n", ":2: allow: \"member x\" is not library PATTERN"},
		{"[rule a]\nrequire = member re:(\n", ":2: \"re:(\" is no regular expression: "},
		{"[rule a]\nmember =\n", ":2: the pattern is empty"},
		{"[rule a]\nlevel = fatal\n", ":2: level: \"fatal\" is not error, warn or off"},
		{"[rule a]\nlevel = off\nlevel = off\n", ":3: level is there twice"},
		{"[rule a]\ncode = tag-to-low\n", ":2: code: \"tag-to-low\" is no built-in code"},
		{"[rule a]\ncode = rule-name\n", ":2: code: \"rule-name\" is no built-in code"},
		{"[rule a]\ncode =\n", ":2: code: \"\" is no built-in code"},
		{"\n[rule a]\nlevel = warn\n[rule b]\nforbid = member x\n", ":2: [rule a] says nothing: "},
		{"[rule b]\nforbid = member x\n\n[rule a]\nproject = x\n", ":4: [rule a] says nothing: "},
		{"[rule a]\ncode = abi3\n", ":1: [rule a] has a code and no level"},
		{"[rule a]\ncode = abi3\nlevel = off\nforbid = member x\n",
			":1: [rule a] has a code, which stands alone"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct audit_policy p;
		CLEANUP(mem_free) char *wanted = xasprintf("%s%s", path, cases[i].wanted);
		if (read_text(cases[i].text, &p, &e) == 0)
			fail_msg("%s", cases[i].text);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(p.count, 0);
		if (strncmp(e.msg, wanted, strlen(wanted)) != 0)
			fail_msg("%s, not %s", e.msg, wanted);
	}
}

static void assert_refused(const struct buf *text, const char *wanted)
{
	struct err e = ERR_INIT;
	struct audit_policy p;
	assert_int_equal(read_text(text->data, &p, &e), -1);
	if (!strstr(e.msg, wanted))
		fail_msg("%s, not %s", e.msg, wanted);
}

// Exceeds LIMIT_AUDIT_RULES, LIMIT_AUDIT_PATTERNS.
static void limits_hold(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_CONFIG);
	for (int i = 0; i <= LIMIT_AUDIT_RULES; i++)
		buf_printf(&text, "[rule %d]\nforbid = member x\n", i);
	assert_refused(&text, ":513: there are more than 256 rules");
	buf_clear(&text);
	buf_puts(&text, "[rule a]\nforbid = member x\n");
	for (int i = 0; i < LIMIT_AUDIT_PATTERNS; i++)
		buf_puts(&text, " member x\n");
	assert_refused(&text, ":1026: there are more than 1024 patterns");
	buf_clear(&text);
	buf_puts(&text, "[rule ");
	for (int i = 0; i <= LIMIT_NOTE; i++)
		buf_putc(&text, 'a');
	buf_puts(&text, "]\n");
	assert_refused(&text, "a rule's name is UTF-8 of 1 to 200 bytes");
}

static void a_missing_file_is_an_error(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct audit_policy p;
	assert_int_equal(audit_policy_read(&p, "/nowhere/audit.policy", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.msg, "/nowhere/audit.policy"));
}

static void codes_and_levels_have_names(void **state UNUSED)
{
	for (unsigned i = 0; i < AUDIT_CODE_COUNT; i++)
		assert_int_equal(audit_code_find(audit_code_name[i]), i);
	for (unsigned i = 0; i < AUDIT_LEVEL_COUNT; i++)
		assert_int_equal(audit_level_find(audit_level_name[i]), i);
	assert_int_equal(audit_code_find("none"), AUDIT_CODE_COUNT);
	assert_int_equal(audit_code_level(AUDIT_RULE_UNJUDGED), AUDIT_ERROR);
	assert_int_equal(audit_code_level(AUDIT_EXECUTABLE_STACK), AUDIT_WARN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_rules),
		cmocka_unit_test(an_empty_policy_has_no_rules),
		cmocka_unit_test(mistakes_are_named_with_their_line),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(a_missing_file_is_an_error),
		cmocka_unit_test(codes_and_levels_have_names),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
