// SPDX-License-Identifier: Apache-2.0
// The page of a channel and its JSON, from made-up data.
#include "server/pages/channel-data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"

#define HOSTILE "</td><script>alert(1)</script>\x1b[31m&\"'"
#define OTHER "7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730"
#define ID "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

enum { NOON = 1795348800, DAY = 86400 }; // 2026-11-22 12:00

static const char *const kinds[] = {"integration", "unit"};
static struct wheel_test tests[][2] = {
	{{.result = WHEEL_TEST_GREEN, .id = ID, .by = "nightly", .why = "", .match = PROMOTION_EQUAL_CONTENTS, .tested = OTHER},
		{.result = WHEEL_TEST_RED, .id = ID, .by = "nightly", .why = HOSTILE}},
	{{.result = WHEEL_TEST_OVERRIDE, .id = ID, .by = HOSTILE, .why = HOSTILE},
		{.result = WHEEL_TEST_UNTESTED, .by = "", .why = "there is evidence for other bytes of this name"}},
	{{.result = WHEEL_TEST_UNNEEDED, .by = "", .why = ""}, {.result = WHEEL_TEST_UNNEEDED, .by = "", .why = ""}},
};
static const uint8_t next_sha256[SHA256_SIZE] = {1};
static const struct promotion_file next_wheel = {
	.platform = "debian-12-x86_64", .version = "2.0", .filename = "six-2.0-py3-none-any.whl", .sha256 = next_sha256};

static struct channel_row rows[] = {
	{"six", "debian-12-x86_64", "3.11", VIEW_CHANNEL_STALE, "1.0", NOON - 40 * DAY, "2.0", &next_wheel, tests[0],
		0},
	{"six", "debian-12-x86_64", "3.12", VIEW_CHANNEL_BEHIND, "1.5", NOON - 30 * 3600, "2.0", &next_wheel, tests[1],
		1},
	{"six", "ubuntu-24.04-x86_64", "3.12", VIEW_CHANNEL_CURRENT, "2.0", 0, "2.0", &next_wheel, tests[2], 2},
	{"six", "ubuntu-24.04-x86_64", "3.13", VIEW_CHANNEL_CURRENT, "2.0", 0, "2.0", &next_wheel, tests[2], 3},
	{"zope", "ubuntu-24.04-x86_64", "3.13", VIEW_CHANNEL_EMPTY, NULL, 0, NULL, NULL, NULL, 4},
};
static struct channel_waiting waiting[] = {
	{"2.0", "six", &next_wheel, "", false},
	{"2.0", "six", &next_wheel, HOSTILE, false},
	{"2.0", "six", &next_wheel, "it left", true},
};
static struct channel_ending endings[] = {{"six", "0.8", 0}, {"six", "0.9", NOON + 3 * DAY}};
static struct catalog_evidence runs[] = {
	{{1}, "unit", "debian-12-x86_64", "3.12", NOON, NOON, 1, HOSTILE, "192.0.2.7", "*", NULL, 1180, 2, 5, 12},
	{{2}, "unit", "debian-12-x86_64", "3.12", NOON, NOON, 1, "ana", "", "*", HOSTILE, 0, 0, 0, 1},
};
static struct catalog_generation generations[] = {
	{.number = 7, .made = NOON, .action = "promote", .by = "ci", .reason = HOSTILE, .added = 3, .removed = 1}};

static struct channel_data make_data(void)
{
	struct channel_data d = {.view = "tested", .source = "staging", .judge = "tested"};
	static const char *kind[2];
	memcpy(kind, kinds, sizeof(kinds));
	d.kind = kind;
	d.kinds = 2;
	d.row = rows;
	d.rows = ARRAY_SIZE(rows);
	d.projects = 1234;
	d.environments = 4;
	d.state[VIEW_CHANNEL_STALE] = 1;
	d.state[VIEW_CHANNEL_BEHIND] = 2;
	d.ending = endings;
	d.endings = ARRAY_SIZE(endings);
	d.waiting = waiting;
	d.waitings = ARRAY_SIZE(waiting);
	d.ready = d.refused = 1;
	d.runs.run = runs;
	d.runs.runs = ARRAY_SIZE(runs);
	d.runs.overrides = 1;
	static struct channel_change nothing_changed[1];
	d.runs.generation = generations;
	d.runs.change = nothing_changed;
	d.runs.generations = 1;
	d.runs.members.generation = 7;
	d.runs.day[TREND_DAYS - 1] = (struct trend_day){NOON - 43200, {1180, 5, 2}};
	d.has_more = true;
	return d;
}

static void write_channel(const struct channel_data *d, const char *project, struct buf *out)
{
	const struct channel_query query = {.project = project, .limit = 500, .now = NOON, .sees_names = true};
	buf_init(out, LIMIT_PAGE);
	channel_page_write(&(struct html_frame){.root = "../../../"}, d, &query, out);
	assert_false(out->failed);
	assert_true(str_is_utf8(buf_view(out)));
	assert_null(strstr(out->data, "<script>"));
	assert_null(strstr(out->data, "<i>"));
	assert_null(strstr(out->data, "\x1b"));
}

static void assert_has(const struct buf *out, const char *want)
{
	if (!strstr(out->data, want))
		fail_msg("no '%s' in:\n%s", want, out->data);
}

static void what_the_page_says(void **state UNUSED)
{
	static const char *const want[] = {
		"<h1>tested</h1><p>Generation 7, from staging</p>",
		"<span class=\"state busy still\">1 stale</span>",
		"<dt>Projects</dt><dd>1,234</dd>",
		"<dt>Overrides in 60 days</dt><dd>1</dd>",
		"<th scope=\"col\">Tested</th><th scope=\"col\">integration</th><th scope=\"col\">unit</th>",
		"<a href=\"../../project/six?view=tested\">six</a></th><td><span class=\"name\">"
		"debian-12-x86_64</span> <span class=\"name\">Python 3.11</span></td><td class=\"name kind\" data-of=\"last version\">1.0</td>"
		"<td class=\"name kind\" data-of=\"age\">40 days</td><td><span class=\"verdict goes\">stale</span></td>",
		"<span class=\"verdict goes\">behind</span> 2.0</td>",
		"<td class=\"name kind\" data-of=\"age\">30 h</td>",
		"<td class=\"kind\" data-of=\"integration\"><span class=\"verdict good\"><a href=\"../../evidence/" ID
		"\">green</a></span> <span class=\"why\">tested as equal contents, SHA-256 " OTHER "</span>",
		"<td class=\"kind\" data-of=\"unit\"><span class=\"verdict wrong\"><a href=\"../../evidence/" ID
		"\">red</a></span></td>",
		"override</a></span> <span class=\"why\">by &lt;/td&gt;",
		"<span class=\"name\">Python 3.12</span>, <span class=\"name\">3.13</span>", // two rows that are equal
		"<h2>What waits in <a href=\"../staging/\">staging</a></h2>",
		"no tests</span> <span class=\"why\">there is evidence for other bytes of this name</span>",
		"<span class=\"verdict good\">ready</span>",
		"<span class=\"verdict goes\">not promoted</span></td><td class=\"why full\">&lt;/td&gt;",
		"<span class=\"verdict\">taken out</span></td><td class=\"why full\">it left</td>",
		"<th scope=\"row\">six</th><td class=\"name\">0.8</td><td><span class=\"verdict goes\">ended</span>",
		"<time datetime=\"2026-11-25T12:00:00Z\">",
		"1180 passed, 5 skipped and 2 failed from",
		"<span class=\"verdict wrong\">1180 passed, 2 failed, 5 skipped</span>",
		"<span class=\"verdict wrong\">override</span> &lt;/td&gt;",
		"<a class=\"name\" href=\"../../evidence/0100000000000000000000000000000000000000000000000000000000000000\">unit</a>",
		" from 192.0.2.7</td>",
		"<a href=\"../../../tested%402026-11-22T12%3A00%3A00Z/simple/\">7</a>",
		"<td class=\"why full\">&lt;/td&gt;&lt;script&gt;",
		"<a href=\"./?project=%22%3E%3Ci%3E&amp;limit=2000\">Show more</a>",
		"value=\"&quot;&gt;&lt;i&gt;\"",
		"<a href=\"?format=json\">JSON</a>",
	};
	const struct channel_data d = make_data();
	CLEANUP(buf_release) struct buf out;
	write_channel(&d, "\"><i>", &out);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_has(&out, want[i]);
}

static void nothing_is_there(void **state UNUSED)
{
	const struct channel_data d = {.view = "tested", .source = "staging"};
	CLEANUP(buf_release) struct buf out;
	write_channel(&d, "", &out);
	assert_has(&out, "Nothing is stale");
	assert_has(&out, "There are none.");
	assert_has(&out, "There is no evidence.");
	assert_has(&out, "Nothing: the view has the newest of each project.");
	assert_null(strstr(out.data, "What ends"));
	assert_null(strstr(out.data, "Generations"));
	assert_null(strstr(out.data, "Show more"));
}

static void a_page_that_is_too_large(void **state UNUSED)
{
	const struct channel_data d = make_data();
	const struct channel_query query = {.project = "", .limit = 500, .now = NOON, .sees_names = true};
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, 1000);
	channel_page_write(&(struct html_frame){.root = "../../../"}, &d, &query, &page);
	assert_true(page.failed);
}

static void json_says_the_same(void **state UNUSED)
{
	const struct channel_data d = make_data();
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = channel_json(&d);
	const struct jsondoc *list = jsondoc_get(doc, "environments"), *row = jsondoc_at(list, 0);
	const struct jsondoc *test = jsondoc_at(jsondoc_get(jsondoc_at(list, 1), "tests"), 0);
	assert_int_equal(jsondoc_count(list), ARRAY_SIZE(rows));
	assert_string_equal(jsondoc_get_str(row, "state"), "stale");
	assert_string_equal(jsondoc_get_str(row, "came"), "2026-10-13T12:00:00Z");
	assert_string_equal(jsondoc_get_str(test, "result"), "override");
	assert_string_equal(jsondoc_get_str(test, "evidence"), ID);
	assert_string_equal(jsondoc_get_str(test, "by"), HOSTILE);
	assert_true(jsondoc_is_null(jsondoc_at(list, 4), "version"));
	assert_true(jsondoc_is_true(jsondoc_at(jsondoc_get(doc, "waiting"), 0), "ready"));
	assert_string_equal(jsondoc_get_str(jsondoc_at(jsondoc_get(doc, "waiting"), 1), "why"), HOSTILE);
	assert_int_equal(jsondoc_count(jsondoc_get(doc, "days")), TREND_DAYS);
	assert_int_equal(jsondoc_count(jsondoc_get(doc, "generations")), 1);
	assert_true(jsondoc_is_true(doc, "more"));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(what_the_page_says),
		cmocka_unit_test(nothing_is_there),
		cmocka_unit_test(a_page_that_is_too_large),
		cmocka_unit_test(json_says_the_same),
	};
	return cmocka_run_group_tests(all, NULL, NULL);
}
