// SPDX-License-Identifier: Apache-2.0
#include "server/pages/home.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static struct platform platforms[] = {{.name = (char[]){"ubuntu-22.04-x86_64"}}, {.name = (char[]){"<centos>-8&\""}}};
static const struct platform *both[] = {&platforms[0], &platforms[1]};
static struct view views[] = {
	{.name = NULL, .platform = both, .platform_count = 2},
	{.name = (char[]){"ubuntu-22.04-x86_64"}, .platform = both, .platform_count = 1},
	{.name = (char[]){"<centos>-8&\""}, .platform = both + 1, .platform_count = 1},
	{.name = (char[]){"jammy"}, .platform = both, .platform_count = 2},
};
static const struct home_page_platform counts[] = {{.totals = {12, 1234567, 999, 0}}, {.totals = {3, 4, 5500000000, 0}}};
static const struct overview_data nothing;

static const struct site site = {.store = {.platform = platforms, .platform_count = 2}, .view = views, .view_count = 4};

static void render(const struct site *s, struct home_page_stats stats, const char *base, struct buf *out)
{
	stats.platform = counts;
	CLEANUP(readable_release) struct readable readable;
	readable_init_public(&readable, s);
	stats.readable = &readable;
	stats.overview = stats.overview ? stats.overview : &nothing;
	buf_init(out, LIMIT_PAGE);
	home_page_write(&(struct html_frame){.root = ""}, s, &stats, base, out);
	assert_false(out->failed);
	assert_true(str_is_utf8(buf_view(out)));
}

static void assert_has(const struct buf *out, const char *want)
{
	if (!strstr(out->data, want))
		fail_msg("no '%s' in:\n%s", want, out->data);
}

static void facts(void **state)
{
	(void)state;
	static const char *const want[] = {
		"pip install --index-url http://cache.ci:8080/ubuntu-22.04-x86_64/simple/ --trusted-host cache.ci:8080 NAME</code>",
		"uv pip install --default-index http://cache.ci:8080/ubuntu-22.04-x86_64/simple/ NAME</code>",
		"[global]\nindex-url = http://cache.ci:8080/ubuntu-22.04-x86_64/simple/\ntrusted-host = cache.ci:8080</code>",
		"<dt>Files</dt><dd>1,234,571</dd>",
		"<dt>Size</dt><dd>5.5 GB</dd>",
		"<td class=\"n\">999 B</td>",
		"<th scope=\"row\">&lt;centos&gt;-8&amp;&quot;</th>",
		"<a href=\"%3Ccentos%3E-8%26%22/simple/\"><code>http://cache.ci:8080/<wbr>%3Ccentos%3E-8%26%22/simple/</code>",
		"<a href=\"jammy/simple/\"><code>http://cache.ci:8080/<wbr>jammy/simple/</code>",
		"Last scan <time datetime=\"2026-01-02T03:04:05Z\">2026-01-02 03:04 UTC</time>",
	};
	CLEANUP(buf_release) struct buf out;
	render(&site, (struct home_page_stats){.last_scan = 1767323045}, "http://cache.ci:8080/", &out);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_has(&out, want[i]);
	assert_null(strstr(out.data, "<centos>"));
}

static void states(void **state)
{
	(void)state;
	static const struct {
		struct home_page_stats stats;
		const char *want;
	} cases[] = {
		{{.is_scanning = true}, "state busy\">First scan is running"},
		{{.is_scanning = true, .last_scan = 60}, "state busy\">Scanning · last scan <time"},
		{{.last_scan = 0}, "state\">Not scanned yet"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(buf_release) struct buf out;
		render(&site, cases[i].stats, "https://a", &out);
		assert_has(&out, cases[i].want);
	}
}

// The Host header is not trusted.
static void hostile_base(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf out;
	render(&site, (struct home_page_stats){0}, "http://\"><script>alert(1)</script>\xff", &out);
	assert_null(strstr(out.data, "<script>alert"));
	assert_has(&out, "index-url = http://&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\xef\xbf\xbd/ubuntu-22.04-x86_64/simple/");
}

static void trust(void **state)
{
	(void)state;
	static const struct {
		const char *base;
		bool is_distrusted;
	} cases[] = {{"https://cache.ci", false}, {"http://127.0.0.1:8080", false}, {"http://localhost:1", false},
		{"http://[::1]:8080", false}, {"http://[2001:db8::1]:8080", true}, {"http://10.0.0.1", true},
		{"http://localhost.example:80", true}, {"http://localhost", false}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(buf_release) struct buf out;
		render(&site, (struct home_page_stats){0}, cases[i].base, &out);
		assert_int_equal(strstr(out.data, "--trusted-host") != NULL, cases[i].is_distrusted);
	}
}

static void one_platform(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf out, small;
	const struct site one = {.store = {.platform = platforms, .platform_count = 1}, .view = views, .view_count = 2};
	const struct site none = {.view = views, .view_count = 1};
	CLEANUP(readable_release) struct readable readable;
	readable_init_public(&readable, &none);
	render(&one, (struct home_page_stats){0}, "http://a", &out);
	assert_null(strstr(out.data, "<h2>Views"));
	assert_null(strstr(out.data, "This index shows"));
	buf_init(&small, 100);
	home_page_write(&(struct html_frame){.root = ""}, &none,
		&(struct home_page_stats){.platform = counts, .overview = &nothing, .readable = &readable}, "", &small);
	assert_true(small.failed);
}

// A platform that a branch has leads to what is missing there.
static void branches(void **state)
{
	(void)state;
	struct config_branch branch = {.name = (char[]){"b"}, .platforms = (char[]){"<* debian-*"}};
	struct site s = site;
	CLEANUP(buf_release) struct buf without, with;
	render(&s, (struct home_page_stats){0}, "http://a/", &without);
	assert_null(strstr(without.data, "missing"));
	s.config = (struct config){.branches = &branch, .branch_count = 1};
	render(&s, (struct home_page_stats){0}, "http://a/", &with);
	assert_has(&with, "<td><a href=\"-/missing/%3Ccentos%3E-8%26%22?format=html\">what is missing</a></td>");
	assert_null(strstr(with.data, "missing/ubuntu"));
}

// What has no data is left out.
static void overview(void **state)
{
	(void)state;
	static const char *const want[] = {"<h2>New files</h2>", "<a href=\"-/project/six\">six</a></th><td>1.0</td>",
		"2 files on 1 platform", "<h2>Removed in the last 30 days</h2>", "&lt;b&gt;old&lt;/b&gt;",
		"<h2>Builds</h2>", "1 build runs, 0 wheels fail", "-/builds/%3Ci%3E/", "&lt;i&gt; &lt;u&gt;",
		"<h2>Last prune</h2>", "removes 1 file with 999 B", "<h2>Stale projects</h2>",
		"3 projects have no new file for 365 days", "-/channel/a%26b/",
		"2 projects are stale, and 1 version ends soon"};
	struct overview_view view = {"a&b", 2, 1};
	const struct overview_data data = {
		.arrival = {{"six", "1.0", 60, 2, 1}},
		.arrivals = 1,
		.removal = {{"six", "<b>old</b>", 60, 1}},
		.removals = 1,
		.old = {{"attrs", 60}},
		.olds = 1,
		.old_total = 3,
		.has_builds = true,
		.running = {{.platform = "p",
			.python = "3.12",
			.project = "<i>",
			.version = "<u>",
			.why = "",
			.begun = 60}},
		.runnings = 1,
		.running_total = 1,
		.plan = "p",
		.plan_made = 60,
		.plan_files = 1,
		.plan_bytes = 999,
		.view = &view,
		.views = 1,
	};
	CLEANUP(buf_release) struct buf out, empty, json;
	render(&site, (struct home_page_stats){.overview = &data}, "http://a", &out);
	render(&site, (struct home_page_stats){0}, "http://a", &empty);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_has(&out, want[i]);
		if (*want[i] == '<' && want[i][1] == 'h')
			assert_null(strstr(empty.data, want[i]));
	}
	struct home_page_platform counted[2] = {{.is_missing_known = true, .missing = 7, .missing_counted = 60}};
	buf_init(&json, LIMIT_PAGE);
	CLEANUP(readable_release) struct readable readable;
	readable_init_public(&readable, &site);
	const struct home_page_stats stats = {.platform = counted, .overview = &data, .readable = &readable};
	home_json_write(&site, &stats, "http://a", &json);
	assert_has(&json, "\"missing\": 7");
	assert_has(&json, "\"removes_files\": 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(facts), cmocka_unit_test(overview),
		cmocka_unit_test(branches), cmocka_unit_test(states), cmocka_unit_test(hostile_base),
		cmocka_unit_test(trust), cmocka_unit_test(one_platform)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
