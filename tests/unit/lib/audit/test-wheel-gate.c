// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/wheel-gate.h"

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

static char path[] = "test-wheel-gate.XXXXXX";

static int make_file(void **state UNUSED)
{
	return close(mkstemp(path));
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

// A configuration with this policy.
static void set_up_config(struct config *c, const char *action, const char *policy)
{
	struct err e = ERR_INIT;
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(policy, f);
	fclose(f);
	config_init(c);
	if (config_set(c, "upload", "audit", action, &e) < 0 || config_set(c, "upload", "audit-policy", path, &e) < 0)
		fail_msg("%s", e.msg);
}

static const char *const members[] = {"demo/__init__.py", "demo/a.py"};
static const struct wheel_facts pure = {.member = members, .members = ARRAY_SIZE(members)};

static void judge_pure(struct wheel_gate *g, const char *platform, struct audit_report *out)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	assert_int_equal(filename_parse(STR("demo-1.0-py3-none-any.whl"), &name, &e), 0);
	wheel_gate_judge(g, platform, &name, &pure, out);
}

static void off_is_no_gate(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	set_up_config(&c, "off", "this is no policy\n"); // nothing reads it
	assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
	assert_null(g);
	assert_false(wheel_gate_refuses(g));
	assert_null(wheel_gate_ref(g));
	wheel_gate_unref(g);
}

static void only_refuse_refuses(void **state UNUSED)
{
	static const char *const action[] = {"warn", "refuse"};
	for (size_t i = 0; i < ARRAY_SIZE(action); i++) {
		struct err e = ERR_INIT;
		CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = NULL;
		CLEANUP(config_release) struct config c;
		set_up_config(&c, action[i], "");
		assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
		assert_non_null(g);
		assert_int_equal(wheel_gate_refuses(g), i == 1);
	}
}

static void mistakes_of_the_policy_are_errors(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	CLEANUP(mem_free) char *line = xasprintf("[upload] audit-policy: %s:2: ", path);
	set_up_config(&c, "warn", "[rule a]\nforbid = x\n");
	assert_int_equal(wheel_gate_new(&c, &g, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_true(str_starts(str_from(e.msg), str_from(line)));
	assert_null(g);
	free(c.upload_audit_policy);
	c.upload_audit_policy = xstrdup("/nowhere/audit.policy");
	assert_int_equal(wheel_gate_new(&c, &g, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

static void the_policy_is_that_of_the_platform(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	CLEANUP(audit_report_release) struct audit_report here = {0}, there = {0};
	set_up_config(&c, "warn", "[rule a]\nplatform = debian-*\nforbid = member *.py\n");
	assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
	judge_pure(g, "debian-12-x86_64", &here);
	judge_pure(g, "ubuntu-22.04-x86_64", &there);
	assert_int_equal(here.errors, 1);
	assert_int_equal(there.errors, 0);
	assert_int_equal(wheel_gate_check(&there, &e), 0);
	assert_int_equal(wheel_gate_check(&here, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_string_equal(e.msg,
		"the audit finds 1 error: error rule-forbidden of the rule a in demo/__init__.py: it has "
		"a member *.py: demo/__init__.py, demo/a.py");
}

static void a_message_is_bounded(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	CLEANUP(audit_report_release) struct audit_report report = {0};
	buf_init(&text, LIMIT_CONFIG);
	for (int i = 0; i < LIMIT_AUDIT_RULES; i++)
		buf_printf(&text, "[rule %d]\nrequire = member none-%d\n", i, i);
	set_up_config(&c, "refuse", text.data);
	assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
	judge_pure(g, "debian-12-x86_64", &report);
	assert_int_equal(report.errors, LIMIT_AUDIT_RULES);
	assert_int_equal(wheel_gate_check(&report, &e), -1);
	assert_non_null(strstr(e.msg, "the audit finds 256 errors: error rule-required of the rule 0: "));
}

// What a platform provides is read when it is needed; what cannot be read is unknown, not bad.
static void offers_that_cannot_be_read_are_unknown(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	set_up_config(&c, "warn", "");
	assert_int_equal(config_set(&c, "platform debian-12-x86_64", "provides", "/nowhere/root", &e), 0);
	assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
	for (int i = 0; i < 2; i++) {
		CLEANUP(audit_report_release) struct audit_report report = {0};
		judge_pure(g, "debian-12-x86_64", &report);
		assert_int_equal(report.errors + report.warnings, 0);
	}
}

static void what_cannot_be_judged_is_refused(void **state UNUSED)
{
	static const struct {
		const char *policy;
		int wanted;
	} cases[] = {
		{"", -1},
		{"[rule a]\ncode = incomplete\nlevel = warn\n", -1},
		{"[rule a]\ncode = incomplete\nlevel = off\n", 0},
	};
	struct wheel_facts cut = pure;
	cut.is_cut = true;
	cut.cut = "it has too many libraries";
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = NULL;
		CLEANUP(config_release) struct config c;
		CLEANUP(filename_release) struct filename name = {0};
		CLEANUP(audit_report_release) struct audit_report report = {0};
		set_up_config(&c, "refuse", cases[i].policy);
		assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
		assert_int_equal(filename_parse(STR("demo-1.0-py3-none-any.whl"), &name, &e), 0);
		wheel_gate_judge(g, "debian-12-x86_64", &name, &cut, &report);
		assert_int_equal(report.errors, 0);
		assert_int_equal(wheel_gate_check(&report, &e), cases[i].wanted);
	}
}

static void references_keep_it(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	CLEANUP(audit_report_release) struct audit_report report = {0};
	set_up_config(&c, "warn", "[rule a]\nforbid = member *.py\n");
	assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *other = wheel_gate_ref(g);
	wheel_gate_unref(g);
	judge_pure(other, "debian-12-x86_64", &report);
	assert_int_equal(report.errors, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(off_is_no_gate),
		cmocka_unit_test(only_refuse_refuses),
		cmocka_unit_test(mistakes_of_the_policy_are_errors),
		cmocka_unit_test(the_policy_is_that_of_the_platform),
		cmocka_unit_test(a_message_is_bounded),
		cmocka_unit_test(offers_that_cannot_be_read_are_unknown),
		cmocka_unit_test(what_cannot_be_judged_is_refused),
		cmocka_unit_test(references_keep_it),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
