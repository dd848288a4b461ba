// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-rules.h"

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

static char path[] = "test-audit-rules.XXXXXX";

static int make_file(void **state UNUSED)
{
	return close(mkstemp(path));
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static void read_policy(const char *text, struct audit_policy *out)
{
	struct err e = ERR_INIT;
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	if (audit_policy_read(out, path, &e) < 0)
		fail_msg("%s", e.msg);
}

// A wheel that keeps the rules for private libraries.
static const char *const members[] = {
	"nixl.libs/libucm-nixl-0a1b2c3d.so.0.0.0",
	"nixl.libs/libucp-nixl-0a1b2c3d.so.0.0.0",
	"nixl.libs/libucs-nixl-0a1b2c3d.so.0.0.0",
	"nixl.libs/libuct-nixl-0a1b2c3d.so.0.0.0",
	"nixl.libs/nixl/libplugin_UCX.so",
	"nixl.libs/ucx/",
	"nixl.libs/ucx/libuct_cma-nixl.so.0",
	"nixl.libs/ucx/libuct_ib-nixl-0a1b2c3d.so.0",
	"nixl/__init__.py",
};
static const char *plugin_needs[] = {"libucp-nixl-0a1b2c3d.so.0.0.0", "libcuda.so.1", "libc.so.6"};
static const char *ucp_needs[] = {"libucs-nixl-0a1b2c3d.so.0.0.0", "libc.so.6"};
static struct wheel_elf elves[] = {
	{.path = "nixl.libs/nixl/libplugin_UCX.so", .elf = {.needed = {plugin_needs, 3}}},
	{.path = "nixl.libs/libucp-nixl-0a1b2c3d.so.0.0.0",
		.elf = {.soname = "libucp-nixl-0a1b2c3d.so.0.0.0", .needed = {ucp_needs, 2}}},
	{.path = "nixl/_lib/damaged.so", .damage = "it is cut"},
};
static const struct wheel_facts whole = {
	.elf = elves, .elfs = ARRAY_SIZE(elves), .member = members, .members = ARRAY_SIZE(members)};

static void write_finding(void *ctx, enum audit_code code, enum audit_level level, const char *rule, const char *member,
	const char *why)
{
	buf_printf(ctx, "%s %s [%s] %s: %s\n", audit_level_name[level], audit_code_name[code], rule ? rule : "-",
		member ? member : "-", why);
}

static void judge(const char *policy, const struct wheel_facts *facts, const char *project, const char *platform,
	struct buf *out)
{
	CLEANUP(audit_policy_release) struct audit_policy p;
	read_policy(policy, &p);
	CLEANUP(audit_rules_cleanup) struct audit_rules *rules = audit_rules_new(&p, project, platform);
	buf_clear(out);
	audit_rules_apply(rules, facts, write_finding, out);
}

static void rules_are_judged(void **state UNUSED)
{
	static const struct {
		const char *policy, *wanted;
	} cases[] = {
		{"[rule a]\nrequire = member *.libs/libucp-nixl*\n", ""},
		{"[rule a]\nrequire = member *.libs/libucp-other*\n member *__init__.py\n",
			"error rule-required [a] -: it has no member *.libs/libucp-other*\n"},
		{"[rule a]\nrequire = member *\nmember = none\n", "error rule-required [a] -: it has no member *\n"},
		{"[rule a]\nlevel = warn\nforbid = member *__init__.py\n",
			"warn rule-forbidden [a] nixl/__init__.py: it has a member *__init__.py: nixl/__init__.py\n"},
		{"[rule a]\nlevel = off\nforbid = member *\n", ""},
		{"[rule a]\nforbid = member re:.*/lib.*\n",
			"error rule-forbidden [a] nixl.libs/libucm-nixl-0a1b2c3d.so.0.0.0: it has a member re:.*/lib.*: "
			"nixl.libs/libucm-nixl-0a1b2c3d.so.0.0.0, nixl.libs/libucp-nixl-0a1b2c3d.so.0.0.0, "
			"nixl.libs/libucs-nixl-0a1b2c3d.so.0.0.0, nixl.libs/libuct-nixl-0a1b2c3d.so.0.0.0, "
			"nixl.libs/nixl/libplugin_UCX.so and 2 more\n"},
		{"[rule a]\nmember = *.libs/ucx/*\nname must match = *-nixl*.so*\n", ""},
		{"[rule a]\nmember = *.libs/ucx/*\nname must match = *_cma*\n",
			"error rule-name [a] nixl.libs/ucx/libuct_ib-nixl-0a1b2c3d.so.0: a name does not match *_cma*: "
			"nixl.libs/ucx/libuct_ib-nixl-0a1b2c3d.so.0\n"},
		{"[rule a]\nmember = *.libs/ucx/*\nname must match = *_cma*\n *_ib*\n", ""},
		{"[rule a]\nmember = *.libs/ucx/*\nname must match = a\n b\n",
			"error rule-name [a] nixl.libs/ucx/libuct_cma-nixl.so.0: a name does not match any pattern of the "
			"rule: nixl.libs/ucx/libuct_cma-nixl.so.0, nixl.libs/ucx/libuct_ib-nixl-0a1b2c3d.so.0\n"},
		{"[rule a]\nrequire = library libcuda.so.*\n", ""},
		{"[rule a]\nmember = *libucp*\nrequire = library libcuda.so.*\n",
			"error rule-required [a] -: it needs no library libcuda.so.*\n"},
		{"[rule a]\nforbid = library libc.so.6\n",
			"error rule-forbidden [a] nixl.libs/nixl/libplugin_UCX.so: it needs a library libc.so.6: libc.so.6 "
			"(nixl.libs/nixl/libplugin_UCX.so), libc.so.6 (nixl.libs/libucp-nixl-0a1b2c3d.so.0.0.0)\n"},
		{"[rule a]\nforbid = bundled libucp-nixl.so*\n",
			"error rule-forbidden [a] nixl.libs/libucp-nixl-0a1b2c3d.so.0.0.0: it has a library "
			"libucp-nixl.so*: nixl.libs/libucp-nixl-0a1b2c3d.so.0.0.0\n"},
		{"[rule a]\nrequire = bundled libucp-nixl-0a1b2c3d.so*\n bundled damaged.so\n", ""},
		{"[rule a]\nrequire = bundled libucp.so*\n",
			"error rule-required [a] -: it has no library libucp.so*\n"},
		{"[rule a]\nplatform = *-aarch64\nforbid = member *\n", ""},
		{"[rule a]\nplatform = *-x86_64\nproject = nixl*\nrequire = member none\n",
			"error rule-required [a] -: it has no member none\n"},
		{"[rule a]\nproject = ucx\n other-*\nforbid = member *\n", ""},
		{"[rule a]\nallow = library *\n", ""},
		{"[rule a]\ncode = junk\nlevel = off\n", ""},
	};
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		judge(cases[i].policy, &whole, "nixl", "ubuntu-22.04-x86_64", &found);
		if (strcmp(found.len ? found.data : "", cases[i].wanted) != 0)
			fail_msg("%s gives %s", cases[i].policy, found.data);
	}
}

static void the_rules_of_a_platform_need_one(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 1 << 20);
	judge("[rule a]\nplatform = *\nforbid = member *__init__.py\n", &whole, "nixl", NULL, &found);
	assert_int_equal(found.len, 0);
}

static void levels_change(void **state UNUSED)
{
	CLEANUP(audit_policy_release) struct audit_policy p;
	read_policy("[rule a]\ncode = junk textrel\nlevel = error\n"
		    "[rule b]\ncode = textrel\nlevel = off\nmember = */testdata/*\n"
		    "[rule c]\ncode = abi3\nlevel = warn\nproject = other\n",
		&p);
	CLEANUP(audit_rules_cleanup) struct audit_rules *r = audit_rules_new(&p, "nixl", NULL);
	assert_int_equal(audit_rules_level(r, AUDIT_JUNK, NULL), AUDIT_ERROR);
	assert_int_equal(audit_rules_level(r, AUDIT_TEXTREL, "a/b.so"), AUDIT_ERROR);
	assert_int_equal(audit_rules_level(r, AUDIT_TEXTREL, "a/testdata/b.so"), AUDIT_OFF);
	assert_int_equal(audit_rules_level(r, AUDIT_TEXTREL, NULL), AUDIT_ERROR); // a rule about members
	assert_int_equal(audit_rules_level(r, AUDIT_SBOM, NULL), AUDIT_WARN);
	assert_int_equal(audit_rules_level(r, AUDIT_ABI3, "a.so"), AUDIT_ERROR);
}

static void libraries_are_allowed(void **state UNUSED)
{
	CLEANUP(audit_policy_release) struct audit_policy p;
	read_policy("[rule a]\nallow = library libcuda.so.*\n library libssl.so.3\n"
		    "[rule b]\nmember = *plugin*\nallow = library libucp.so.0\n"
		    "[rule c]\nlevel = off\nallow = library libc.so.6\n",
		&p);
	CLEANUP(audit_rules_cleanup) struct audit_rules *r = audit_rules_new(&p, "nixl", NULL);
	assert_true(audit_rules_allow(r, "a.so", "libcuda.so.1"));
	assert_true(audit_rules_allow(r, "a.so", "libssl.so.3"));
	assert_false(audit_rules_allow(r, "a.so", "libssl.so.1"));
	assert_true(audit_rules_allow(r, "plugin.so", "libucp.so.0"));
	assert_false(audit_rules_allow(r, "a.so", "libucp.so.0"));
	assert_false(audit_rules_allow(r, "a.so", "libc.so.6"));
}

static void no_policy_has_no_effect(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf found;
	CLEANUP(audit_rules_cleanup) struct audit_rules *r = audit_rules_new(NULL, "nixl", NULL);
	buf_init(&found, 1 << 20);
	audit_rules_apply(r, &whole, write_finding, &found);
	assert_int_equal(found.len, 0);
	assert_false(audit_rules_allow(r, "a.so", "libc.so.6"));
	assert_int_equal(audit_rules_level(r, AUDIT_ABI3, NULL), AUDIT_ERROR);
}

static void a_wheel_that_was_cut_is_not_judged(void **state UNUSED)
{
	struct wheel_facts cut = whole;
	CLEANUP(buf_release) struct buf found;
	cut.is_cut = true;
	cut.cut = "it has too many members";
	buf_init(&found, 1 << 20);
	judge("[rule a]\nforbid = member none\n", &cut, "nixl", NULL, &found);
	assert_non_null(strstr(found.data, "error rule-unjudged [-] -: "));
	judge("[rule a]\nforbid = member none\nproject = other\n", &cut, "nixl", NULL, &found);
	assert_int_equal(found.len, 0);
	judge("[rule a]\ncode = junk\nlevel = off\n", &cut, "nixl", NULL, &found);
	assert_int_equal(found.len, 0);
}

// Names that fill the automaton of a bad pattern with states.
static void hostile_names_are_not_judged(void **state UNUSED)
{
	enum { MEMBERS = 1000, LENGTH = 1000 };
	static char text[MEMBERS][LENGTH + 1];
	static const char *name[MEMBERS];
	CLEANUP(buf_release) struct buf found;
	uint32_t random = 1;
	for (size_t i = 0; i < MEMBERS; i++) {
		for (size_t k = 0; k < LENGTH; k++) {
			random = random * 1664525 + 1013904223;
			text[i][k] = random >> 31 ? 'a' : 'b';
		}
		name[i] = text[i];
	}
	const struct wheel_facts hostile = {.member = name, .members = MEMBERS};
	buf_init(&found, 1 << 20);
	judge("[rule a]\nrequire = member re:(a|b)*a....................\n[rule b]\nrequire = member c\n", &hostile,
		"nixl", NULL, &found);
	assert_string_equal(found.data, "error rule-unjudged [-] -: its names take more time than the rules of the "
					"policy may use\n");
}

static void control_characters_are_replaced(void **state UNUSED)
{
	static const char *needs[] = {"lib\033[31m\n.so"};
	struct wheel_elf elf = {.path = "a.so", .elf = {.needed = {needs, 1}}};
	const struct wheel_facts facts = {.elf = &elf, .elfs = 1};
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 1 << 20);
	judge("[rule a]\nforbid = library lib*\n", &facts, "nixl", NULL, &found);
	assert_string_equal(found.data,
		"error rule-forbidden [a] a.so: it needs a library lib*: lib?[31m?.so (a.so)\n");
}

// Exceeds LIMIT_AUDIT_WHY.
static void the_words_are_bounded(void **state UNUSED)
{
	enum { MEMBERS = 10, LENGTH = 4000 };
	static char text[MEMBERS][LENGTH + 1];
	static const char *name[MEMBERS];
	CLEANUP(buf_release) struct buf found;
	for (size_t i = 0; i < MEMBERS; i++)
		name[i] = memset(text[i], 'a', LENGTH);
	const struct wheel_facts facts = {.member = name, .members = MEMBERS};
	buf_init(&found, 1 << 20);
	judge("[rule a]\nforbid = member a*\n", &facts, "nixl", NULL, &found);
	assert_true(str_ends(buf_view(&found), STR("aaa and 5 more\n")));
	assert_true(found.len < LENGTH + LIMIT_AUDIT_WHY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_judged),
		cmocka_unit_test(the_rules_of_a_platform_need_one),
		cmocka_unit_test(levels_change),
		cmocka_unit_test(libraries_are_allowed),
		cmocka_unit_test(no_policy_has_no_effect),
		cmocka_unit_test(a_wheel_that_was_cut_is_not_judged),
		cmocka_unit_test(hostile_names_are_not_judged),
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(the_words_are_bounded),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
