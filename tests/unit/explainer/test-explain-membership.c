// SPDX-License-Identifier: Apache-2.0
// What explain says about memberships, from made-up catalogs.
#include "explainer/explain-membership.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "explainer/explain.h"
#include "tests/unit/support/channel-store.h"

enum { NOON = 1795348800, DAY = 86400 }; // 2026-11-22 12:00

#define OLD "six-1.0-cp312-cp312-manylinux_2_17_x86_64.whl"
#define NEW "six-2.0-cp312-cp312-manylinux_2_17_x86_64.whl"
#define LOOSE "six-3.0-py3-none-any.whl"

static void test_wheel_of(struct channel_store *s, const char *filename, const char *platform, const char *python,
	uint64_t failed, const char *overrides)
{
	channel_store_evidence(s, filename,
		&(struct catalog_evidence){.kind = "unit",
			.platform = platform,
			.python = python,
			.made = NOON - DAY,
			.by = "nightly",
			.address = "",
			.views = "*",
			.overrides = overrides,
			.passed = overrides ? 0 : 100,
			.failed = failed});
}

// 1.0 is a member, 2.0 is red, and of 3.0 one cell of three is green.
static void make_versions(struct channel_store *s)
{
	channel_store_wheel(s, CHANNEL_DEBIAN, OLD, NOON - 2 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, NEW, NOON - DAY);
	channel_store_wheel(s, CHANNEL_UBUNTU, LOOSE, NOON - DAY);
	test_wheel_of(s, OLD, CHANNEL_DEBIAN, "3.12", 0, NULL);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, OLD, NOON - DAY);
	test_wheel_of(s, OLD, CHANNEL_DEBIAN, "3.12", 7, NULL); // newer than the promotion
	test_wheel_of(s, NEW, CHANNEL_DEBIAN, "3.12", 2, NULL);
	test_wheel_of(s, LOOSE, CHANNEL_UBUNTU, "3.12", 0, NULL);
	channel_store_open(s, "requires = unit\n");
}

static bool may_not_read(void *ctx, const struct view *v)
{
	return strcmp(ctx, v->name) != 0;
}

static bool sees_other_names(void *ctx, const struct platform *p)
{
	return strcmp(ctx, p->name) != 0;
}

static struct jsondoc *explain_view(struct channel_store *s, const struct view *v, const struct explain_reader *reader)
{
	struct err e = ERR_INIT;
	const struct upstream_answer unasked = {.result = UPSTREAM_NEVER_ASKED, .project = "six", .why = ""};
	CLEANUP(explain_membership_cleanup) struct explain_membership *m = NULL;
	if (explain_membership_new(&s->site, v, s->catalog, "six", NOON, reader, &m, &e) < 0)
		fail_msg("%s", e.msg);
	const struct explain_about about = {
		.view = v, .project = "six", .reader = reader, .put_file = explain_membership_put, .put_file_ctx = m};
	struct jsondoc *doc = explain(&about, s->catalog, &unasked, &e);
	if (!doc)
		fail_msg("%s", e.msg);
	return doc;
}

static void assert_text(const struct jsondoc *doc, const char *const *want, size_t count)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	explain_text(doc, &out);
	for (size_t i = 0; i < count; i++)
		if (!strstr(out.data, want[i]))
			fail_msg("no '%s' in:\n%s", want[i], out.data);
}

static void members_and_others(void **state)
{
	static const char *const want[] = {
		"in the views staging, tested\n",
		"in tested since generation 1 of 2026-11-21T12:00:00Z, promote by ci: the <b>night</b>\n",
		"unit on " CHANNEL_DEBIAN ", Python 3.12: 100 passed, 0 failed, 0 skipped (nightly)\n",
		"in the views staging\n",
		"not in tested: " CHANNEL_DEBIAN "/3.12: 2 of 102 tests failed (unit)\n",
		"red: " CHANNEL_DEBIAN "/3.12: 2 of 102 tests failed (unit)\n",
		"not in tested: " CHANNEL_DEBIAN "/3.11: no evidence of kind unit\n",
		"untested: unit on " CHANNEL_DEBIAN ", Python 3.11\n",
	};
	struct channel_store *s = *state;
	make_versions(s);
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = explain_view(s, site_view(&s->site, STR("tested")), NULL);
	const struct jsondoc *here = jsondoc_get(doc, "here");
	assert_int_equal(jsondoc_count(here), 3);
	const struct jsondoc *member = jsondoc_get(jsondoc_at(here, 0), "membership");
	const struct jsondoc *loose = jsondoc_get(jsondoc_at(here, 2), "membership");
	assert_true(jsondoc_is_true(member, "member"));
	assert_int_equal(jsondoc_count(jsondoc_get(member, "evidence")),
		1); // the later record is none of the promotion's
	assert_false(jsondoc_is_true(loose, "member"));
	assert_int_equal(jsondoc_count(jsondoc_get(loose, "lacks")), 2); // of three cells
	assert_text(doc, want, ARRAY_SIZE(want));
}

// A view that shows all files of its platforms has no membership, but its files are in views.
static void a_view_without_a_membership(void **state)
{
	struct channel_store *s = *state;
	make_versions(s);
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = explain_view(s, site_view(&s->site, STR(CHANNEL_DEBIAN)), NULL);
	const struct jsondoc *row = jsondoc_at(jsondoc_get(doc, "here"), 0);
	assert_null(jsondoc_get(row, "membership"));
	assert_int_equal(jsondoc_count(jsondoc_get(row, "views")), 2);
}

// A view that the reader may not know of is not named, not even as the source.
static void private_views_are_not_named(void **state)
{
	struct channel_store *s = *state;
	static char staging[] = "staging";
	make_versions(s);
	for (size_t i = 0; i < s->site.view_count; i++)
		s->site.view[i].is_private = true;
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = explain_view(s, site_view(&s->site, STR("tested")), &(struct explain_reader){.may_read = may_not_read, .ctx = staging});
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	jsondoc_write(doc, 2, &out);
	assert_null(strstr(out.data, "staging"));
	assert_non_null(strstr(out.data, "2 of 102 tests failed"));
}

// Of a platform whose names the reader does not see nobody is named; of a generation only if all are seen.
static void senders_are_not_named(void **state)
{
	struct channel_store *s = *state;
	static char hidden[2][64] = {CHANNEL_DEBIAN, CHANNEL_UBUNTU};
	make_versions(s);
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		CLEANUP(jsondoc_cleanup)
		struct jsondoc *doc = explain_view(s, site_view(&s->site, STR("tested")),
			&(struct explain_reader){.sees_names = sees_other_names, .ctx = hidden[i]});
		CLEANUP(buf_release) struct buf out;
		CLEANUP(buf_release) struct buf text;
		buf_init(&out, LIMIT_PAGE);
		buf_init(&text, LIMIT_PAGE);
		jsondoc_write(doc, 2, &out);
		explain_text(doc, &text);
		assert_null(strstr(out.data, "\"by\": \"ci\""));
		assert_null(strstr(text.data, " by "));
		assert_non_null(strstr(text.data, ", promote: the <b>night</b>\n"));
		assert_int_equal(strstr(out.data, "\"nightly\"") == NULL, i == 0); // the record is of Debian
		assert_int_equal(strstr(text.data, "(nightly)") == NULL, i == 0);
	}
}

// A file that the source has not is not promoted, whatever its tests say.
static void the_source_does_not_show_it(void **state)
{
	static const char *const want[] = {"not in released: tested does not show it\n"};
	struct channel_store *s = *state;
	channel_store_wheel(s, CHANNEL_DEBIAN, "six-1.0-py3-none-any.whl", NOON - DAY);
	channel_store_open(s, "requires = unit\n[view released]\nfrom = tested\n");
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = explain_view(s, site_view(&s->site, STR("released")), NULL);
	assert_text(doc, want, ARRAY_SIZE(want));
}

// Of a view at a time it says who was a member, and not what was known of the others.
static void a_view_at_a_time(void **state)
{
	static const char *const want[] = {"in tested since generation 1", "not in tested at that time\n"};
	struct channel_store *s = *state;
	make_versions(s);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, NEW, NOON);
	struct view past = *site_view(&s->site, STR("tested"));
	past.generation = 1;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = explain_view(s, &past, NULL);
	assert_text(doc, want, ARRAY_SIZE(want));
	assert_false(jsondoc_is_true(jsondoc_get(jsondoc_at(jsondoc_get(doc, "here"), 1), "membership"), "member"));
}

// The evidence of a generation whose file is too large is left out, not empty.
// Exceeds LIMIT_EXPLAIN_GENERATIONS.
static void a_generation_that_is_too_large(void **state)
{
	struct channel_store *s = *state;
	s->padding = LIMIT_EXPLAIN_GENERATIONS;
	make_versions(s);
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = explain_view(s, site_view(&s->site, STR("tested")), NULL);
	const struct jsondoc *member = jsondoc_get(jsondoc_at(jsondoc_get(doc, "here"), 0), "membership");
	assert_true(jsondoc_is_true(member, "member"));
	assert_string_equal(jsondoc_get_str(member, "by"), "ci");
	assert_null(jsondoc_get(member, "evidence"));
}

int main(void)
{
#define MEMBERSHIP_TEST(test) cmocka_unit_test_setup_teardown(test, channel_store_set_up, channel_store_tear_down)
	const struct CMUnitTest tests[] = {
		MEMBERSHIP_TEST(members_and_others),
		MEMBERSHIP_TEST(a_view_without_a_membership),
		MEMBERSHIP_TEST(private_views_are_not_named),
		MEMBERSHIP_TEST(senders_are_not_named),
		MEMBERSHIP_TEST(the_source_does_not_show_it),
		MEMBERSHIP_TEST(a_view_at_a_time),
		MEMBERSHIP_TEST(a_generation_that_is_too_large),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
