// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"

#define WHEEL "demo-1.0-py3-none-any.whl"

static const uint8_t sha256[SHA256_SIZE];

static struct wheel_gate *new_gate(void)
{
	struct err e = ERR_INIT;
	struct wheel_gate *g = NULL;
	CLEANUP(config_release) struct config c;
	config_init(&c);
	assert_int_equal(wheel_gate_new(&c, &g, &e), 0);
	return g;
}

// What is no wheel, and all without a gate, has no row.
static void only_wheels_are_judged(void **state UNUSED)
{
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = new_gate();
	CLEANUP(jsondoc_cleanup) struct jsondoc *row = jsondoc_object();
	struct explain_audit with = {.gate = g}, without = {.gate = NULL};
	explain_audit(&with, "p", "demo-1.0.tar.gz", sha256, row);
	explain_audit(&with, "p", "nonsense", sha256, row);
	explain_audit(&with, "p", WHEEL, NULL, row);
	explain_audit(&without, "p", WHEEL, sha256, row);
	assert_null(jsondoc_get(row, "audit"));
	assert_int_equal(with.judged, 0);
}

static void assert_late(struct explain_audit *a)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *row = jsondoc_object();
	explain_audit(a, "p", WHEEL, sha256, row); // would need a catalog
	const struct jsondoc *audit = jsondoc_get(row, "audit");
	assert_non_null(strstr(jsondoc_get_str(audit, "unknown"), "ask for one version"));
	assert_null(jsondoc_get(audit, "findings"));
}

// Exceeds LIMIT_EXPLAIN_AUDITS, LIMIT_EXPLAIN_AUDIT_MS.
static void number_and_time_are_bounded(void **state UNUSED)
{
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *g = new_gate();
	struct explain_audit many = {.gate = g, .judged = LIMIT_EXPLAIN_AUDITS};
	struct explain_audit late = {.gate = g, .end_ms = clock_ms() - 1};
	assert_late(&many);
	assert_late(&many);
	assert_late(&late);
}

static struct jsondoc *read_doc(const char *text)
{
	struct err e = ERR_INIT;
	struct jsondoc *doc = jsondoc_read(str_from(text), &e);
	if (!doc)
		fail_msg("%s", e.msg);
	return doc;
}

static void texts_are_for_people(void **state UNUSED)
{
	static const struct {
		const char *doc, *wanted;
	} cases[] = {
		{"{\"unknown\": \"why\"}", ""},
		{"{\"errors\": 0, \"warnings\": 0, \"findings\": []}", ""},
		{"{\"errors\": 1, \"warnings\": 0, \"findings\": [{\"code\": \"abi3\", \"level\": \"error\", \"member\": "
		 "\"a.so\", \"rule\": null, \"why\": \"because\"}]}",
			"> audit: 1 error, 0 warnings\n>   error abi3 in a.so: because\n"},
		{"{\"errors\": 2, \"warnings\": 1, \"findings\": [{\"code\": \"rule-name\", \"level\": \"error\", "
		 "\"member\": null, \"rule\": \"r\", \"why\": \"because\"}]}",
			"> audit: 2 errors, 1 warning\n>   error rule-name of the rule r: because\n"
			">   … and 2 more; see `wheelcache audit`\n"},
		{"{\"errors\": 1, \"warnings\": 0, \"findings\": [{\"code\": \"abi3\", \"level\": \"error\", \"member\": "
		 "\"a\\nforged\", \"rule\": null, \"why\": \"of\\nforged\"}]}",
			"> audit: 1 error, 0 warnings\n>   error abi3 in a?forged: of?forged\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = read_doc(cases[i].doc);
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		buf_puts(&out, "");
		explain_audit_text(doc, "> ", &out);
		assert_string_equal(out.data, cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_wheels_are_judged),
		cmocka_unit_test(number_and_time_are_bounded),
		cmocka_unit_test(texts_are_for_people),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
