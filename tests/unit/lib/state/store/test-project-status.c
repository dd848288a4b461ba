// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/project-status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static void what_is_written_is_read(void **state UNUSED)
{
	for (enum simplepage_status s = SIMPLEPAGE_ACTIVE; s < SIMPLEPAGE_UNFAMILIAR; s++) {
		struct err e = ERR_INIT;
		const struct project_status status = {.status = s, .reason = "it \"steals\"", .when = 1767323045, .by = "user root"};
		CLEANUP(project_status_release) struct project_status got;
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
		assert_int_equal(project_status_write(&status, &text, &e), 0);
		assert_null(strchr(text.data, '\n'));
		assert_int_equal(project_status_read(buf_view(&text), &got, &e), 0);
		assert_int_equal(got.status, s);
		assert_string_equal(got.reason, status.reason);
		assert_int_equal(got.when, status.when);
		assert_string_equal(got.by, status.by);
		assert_int_equal(project_status_takes_files(&got), s == SIMPLEPAGE_ACTIVE || s == SIMPLEPAGE_DEPRECATED);
	}
}

static void by_hand_it_needs_only_status_and_reason(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(project_status_release) struct project_status got;
	assert_int_equal(project_status_read(STR("{\"status\": \"archived\", \"reason\": \"a\\n b\", \"more\": 1}\n"), &got, &e), 0);
	assert_int_equal(got.status, SIMPLEPAGE_ARCHIVED);
	assert_string_equal(got.reason, "a b");
	assert_null(got.by);
}

// Of a newer wheelcache, cut, or of somebody who guessed.
static void what_is_not_known_is_quarantined(void **state UNUSED)
{
	static const char *const wrong[] = {"", "{", "[]", "archived", "{}", "{\"status\": \"archived\"",
		"{\"status\": 7, \"reason\": \"\"}", "{\"status\": \"frozen\", \"reason\": \"\"}",
		"{\"status\": \"unfamiliar\", \"reason\": \"\"}", "{\"status\": \"active\", \"reason\": 1}",
		"{\"reason\": \"no status\"}"};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct err e = ERR_INIT;
		CLEANUP(project_status_release) struct project_status got;
		assert_int_equal(project_status_read(str_from(wrong[i]), &got, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_true(*e.msg);
		assert_int_equal(got.status, SIMPLEPAGE_QUARANTINED);
		assert_string_equal(got.reason, "its .status cannot be read");
		assert_null(got.by);
	}
}

// Exceeds LIMIT_REASON
static void long_reason_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char reason[LIMIT_REASON + 2] = "";
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	memset(reason, 'x', LIMIT_REASON + 1);
	const struct project_status status = {.status = SIMPLEPAGE_ARCHIVED, .reason = reason};
	assert_int_equal(project_status_write(&status, &text, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(by_hand_it_needs_only_status_and_reason),
		cmocka_unit_test(what_is_not_known_is_quarantined),
		cmocka_unit_test(long_reason_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
