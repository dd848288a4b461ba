// SPDX-License-Identifier: Apache-2.0
// The picture of what happened each day.
#include "server/pages/trend-picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

enum { NOON = 1795348800 }; // 2026-11-22 12:00

static const struct trend_words two = {"Attempts", {[TREND_GOOD] = "good", [TREND_BAD] = "failed"}};
static const struct trend_words three = {"Tests", {"passed", "skipped", "failed"}};

// Bars keep to their side of the line and to the picture, and few attempts beside many are seen.
static void bars_and_words(void **state UNUSED)
{
	static const struct {
		const struct trend_words *words;
		uint64_t count[TREND_KIND_COUNT];
		const char *want;
	} rows[] = {
		{&two, {1, 0, 0}, "<rect class=\"good\" x=\"72\" y=\"15.5\" width=\"9\" height=\"120.0\""},
		{&two, {0, 0, 3}, "<rect class=\"bad\" x=\"72\" y=\"16.5\" width=\"9\" height=\"120.0\""},
		{&two, {1, 0, 1}, "height=\"60.0\""},
		{&two, {1000000, 0, 1}, "height=\"2.0\""},
		{&two, {UINT64_MAX / 2, 0, 0}, ": 9223372036854775807 good, 0 failed"},
		{&two, {0, 0, 0}, ">0 good and 0 failed from 2026-11-22 to 2026-11-22; at most 0 good and 0 failed on"},
		{&two, {999, 0, 0}, "text-anchor=\"end\">999</text>"},
		{&two, {1180, 0, 0}, "text-anchor=\"end\">1.2k</text>"},
		{&two, {117800, 0, 0}, "text-anchor=\"end\">118k</text>"},
		{&three, {7, 2, 1}, ": 7 passed, 2 skipped, 1 failed<"},
		{&three, {7, 2, 1}, ">7 passed, 2 skipped and 1 failed from"},
		{&three, {7, 2, 1}, ">Tests on each of the last 1 day<"},
		{&three, {1, 2, 1}, "<rect class=\"good\" x=\"72\" y=\"75.5\" width=\"9\" height=\"30.0\""},
		{&three, {1, 2, 1}, "<rect class=\"idle\" x=\"72\" y=\"15.5\" width=\"9\" height=\"60.0\""},
		{&three, {1, 2, 1}, "<rect class=\"bad\" x=\"72\" y=\"106.5\" width=\"9\" height=\"30.0\""},
		{&three, {0, 5, 0}, "<rect class=\"idle\" x=\"72\" y=\"15.5\" width=\"9\" height=\"120.0\""},
		{&two, {3, 0, 3}, "y=\"140.0\" text-anchor=\"end\">3</text>\n<text x=\"64\" y=\"80.0\" text-anchor=\"end\">0</text>"},
		{&two, {0, 0, 0}, "text-anchor=\"end\">0</text>"},
		{&two, {100, 0, 1}, "text-anchor=\"end\">1</text>\n<text x=\"72\""}, // the 0 has no room
		{&two, {1, 0, 0}, "<p class=\"legend\">Attempts a day: <span class=\"good\">good</span> <span class=\"bad\">"},
		{&three, {1, 0, 0}, " <span class=\"idle\">skipped</span> <span class=\"bad\">failed</span></p>"},
		{&three, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, "<rect class=\"bad\""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct trend_day day = {.day = NOON};
		memcpy(day.count, rows[i].count, sizeof(day.count));
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, LIMIT_PAGE);
		trend_picture_write(&day, 1, rows[i].words, &out);
		if (!strstr(out.data, rows[i].want))
			fail_msg("no '%s' in:\n%s", rows[i].want, out.data);
		assert_non_null(strstr(out.data, "role=\"img\""));
		assert_null(strstr(out.data, "nan"));
		assert_null(strstr(out.data, "inf"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_and_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
