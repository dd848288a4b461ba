// SPDX-License-Identifier: Apache-2.0
#include "builder/build-report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/format/jsondoc.h"

struct verdict_row {
	enum schedule_state state;
	bool was_tried;
	enum err_kind wanted;
};

static struct missing_row wanted = {
	.platform = "p", .python = "3.11", .project = "alpha", .version = "1.0", .status = WHEEL_MISSING};

// A report of one row; build_report_release() frees it.
static void make_report(struct build_report *r, enum schedule_state state, bool was_tried)
{
	*r = (struct build_report){.platform = "p", .index = xstrdup("https://me:secret@index.example/simple/")};
	r->schedule.row = xcalloc(1, sizeof(*r->schedule.row));
	r->schedule.row[0] =
		(struct schedule_row){.row = &wanted, .state = state, .why = "as it is", .was_tried = was_tried};
	r->schedule.count = 1;
	r->row = xcalloc(1, sizeof(*r->row));
}

static void test_the_verdict(void **state UNUSED)
{
	static const struct verdict_row table[] = {
		{SCHEDULE_GOOD, true, ERR_NONE},
		{SCHEDULE_COVERED, false, ERR_NONE},
		{SCHEDULE_ELSEWHERE, false, ERR_NONE},
		{SCHEDULE_LEFT_OUT, false, ERR_NONE},
		{SCHEDULE_AWAITING, false, ERR_NONE},
		{SCHEDULE_AWAITING, true, ERR_INVALID},
		{SCHEDULE_BAD, true, ERR_INVALID},
		{SCHEDULE_INTERRUPTED, true, ERR_INVALID},
		{SCHEDULE_READY, false, ERR_INVALID},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(build_report_release) struct build_report r;
		struct err e = ERR_INIT;
		make_report(&r, table[i].state, table[i].was_tried);
		assert_int_equal(build_report_verdict(&r, &e), table[i].wanted == ERR_NONE ? 0 : -1);
		assert_int_equal(e.kind, table[i].wanted);
	}
}

static void test_what_stopped_it_is_the_verdict(void **state UNUSED)
{
	CLEANUP(build_report_release) struct build_report r;
	struct err e = ERR_INIT;
	make_report(&r, SCHEDULE_GOOD, true);
	err_set(&r.stop, ERR_NET, "the server is away");
	assert_int_equal(build_report_verdict(&r, &e), -1);
	assert_int_equal(e.kind, ERR_NET);
}

// The reason is a line of a build log.
static void test_a_reason_does_not_command_the_terminal(void **state UNUSED)
{
	CLEANUP(build_report_release) struct build_report r;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 1 << 16);
	make_report(&r, SCHEDULE_BAD, true);
	r.schedule.row[0].why = "error: \xe2\x80\xaeknil\x1b[31m";
	build_report_text(&r, &text);
	assert_non_null(strstr(text.data, "failed:\n  python 3.11  alpha 1.0: error: ?knil?[31m\n"));
}

static void test_the_forms(void **state UNUSED)
{
	CLEANUP(build_report_release) struct build_report r;
	CLEANUP(buf_release) struct buf text, json;
	struct err e = ERR_INIT;
	int64_t failed = 0;
	buf_init(&text, 1 << 16);
	buf_init(&json, 1 << 16);
	make_report(&r, SCHEDULE_BAD, true);
	memset(r.row[0].id, 'a', RESULTS_ID);
	r.row[0].result = RESULTS_TIMED_OUT;
	r.row[0].step = ATTEMPT_BUILD;
	build_report_text(&r, &text);
	assert_non_null(strstr(text.data, "failed:\n  python 3.11  alpha 1.0: as it is\n"));
	build_report_json(&r, &json);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&json), &e);
	assert_string_equal(jsondoc_get_str(doc, "index"), "https://index.example/simple/");
	const struct jsondoc *row = jsondoc_at(jsondoc_get(doc, "rows"), 0);
	assert_string_equal(jsondoc_get_str(row, "state"), "failed");
	assert_string_equal(jsondoc_get_str(jsondoc_get(row, "attempt"), "result"), "timed-out");
	assert_string_equal(jsondoc_get_str(jsondoc_get(row, "attempt"), "step"), "build");
	assert_null(jsondoc_get_str(jsondoc_get(row, "attempt"), "wheel"));
	assert_true(jsondoc_get_int(jsondoc_get(doc, "totals"), "failed", &failed) && failed == 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_verdict),
		cmocka_unit_test(test_what_stopped_it_is_the_verdict),
		cmocka_unit_test(test_the_forms),
		cmocka_unit_test(test_a_reason_does_not_command_the_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
