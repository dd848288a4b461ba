// SPDX-License-Identifier: Apache-2.0
#include "lib/view/merge-upstream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/view/page.h"
#include "tests/unit/support/fake-catalog.h"

#define A64 "abababababababababababababababababababababababababababababababab"
#define C64 "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"

static struct version key[3]; // of 1.0, 2.0, 3.0

static struct fake_file ours[4];

static const struct platform one = {.name = (char[]){"wheels"}, .id = 1};
static const struct platform *platform[] = {&one};
static const struct view bare;
static const struct view plain = {.platform = platform, .platform_count = 1};

static int use_fake(void **state UNUSED)
{
	static const char *const versions[] = {"1.0", "2.0", "3.0"};
	static const char *const names[] = {"foo-1.0-cp311-cp311-linux_x86_64.whl", "foo-1.0-py3-none-any.whl",
		"foo-2.0-cp311-cp311-linux_x86_64.whl", "foo-3.0-py3-none-any.whl"};
	static const int version_of[] = {0, 0, 1, 2};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (version_parse(str_from(versions[i]), &key[i], &e) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		ours[i] = (struct fake_file){.platform = 1,
			.project = "foo",
			.filename = names[i],
			.version = versions[version_of[i]],
			.version_key = key[version_of[i]].key,
			.sha = 0xab,
			.size = 7};
	fake_file = ours;
	fake_file_count = ARRAY_SIZE(ours);
	return 0;
}

static int release_keys(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(key); i++)
		version_release(&key[i]);
	return 0;
}

#define FILE_OF(name, more)                                                                                            \
	"{\"filename\":\"" name "\",\"url\":\"/p/" name "\",\"hashes\":{\"sha256\":\"" C64 "\"}" more "}"
#define PAGE_OF(files, more) "{\"meta\":{\"api-version\":\"1.4\"},\"name\":\"foo\",\"files\":[" files "]" more "}"

// Renders a view's page of foo, merged with upstream's page (JSON; NULL: none).
static void render_of(const struct view *v, const char *json, enum upstream_result last_definitive,
	enum page_format format, struct buf *out)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	if (json && simplepage_parse(str_from(json), STR("application/vnd.pypi.simple.v1+json"), "http://u/simple/foo/",
			    "foo", &page, &fault, &e) < 0)
		fail_msg("%s", e.msg);
	const struct upstream_answer answer = {.result = last_definitive,
		.last_definitive = last_definitive,
		.project = "foo",
		.page = last_definitive == UPSTREAM_KNOWN ? &page : NULL,
		.stale = json ? &page : NULL};
	buf_init(out, LIMIT_PAGE);
	if (page_project(v, NULL, "foo", &answer, format, out, &e) < 0 && e.kind != ERR_NOT_FOUND)
		fail_msg("%s", e.msg);
}

static void render(const char *json, enum upstream_result last_definitive, enum page_format format, struct buf *out)
{
	render_of(&plain, json, last_definitive, format, out);
}

// The names of the page's files, in the order of the page.
static char *names_of(const struct buf *page)
{
	struct buf names;
	buf_init(&names, LIMIT_PAGE);
	for (const char *at = page->data; at && (at = strstr(at, "{\"filename\":\"foo-"));) {
		at += strlen("{\"filename\":\"foo-");
		buf_str(&names, (struct str){at, strcspn(at, "\"")});
		buf_putc(&names, ' ');
	}
	return buf_steal(&names);
}

static void assert_has(const struct buf *out, const char *want)
{
	if (!strstr(out->data, want))
		fail_msg("no '%s' in:\n%s", want, out->data);
}

static void test_upstream_wins_names(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf json, html;
	static const char upstream[] = PAGE_OF(
		FILE_OF("foo-3.0-py3-none-any.whl",
			",\"size\":9,\"upload-time\":\"2026-01-02T03:04:05.678901Z\"") "," FILE_OF("foo-1.0.tar.gz",
			"") "," FILE_OF("foo-1.5.exe", "") "," FILE_OF("foo-1.0-cp310-cp310-win32.whl",
			",\"requires-python\":\">=3.8\",\"core-metadata\":{\"sha256\":\"" A64
			"\"},\"provenance\":\"https://u/p\"") "," FILE_OF("foo-2.5.tar.gz",
			",\"core-metadata\":true,\"yanked\":true"),
		",\"versions\":[\"1.0\",\"1.5\",\"3\",\"2.5\",\"0.1\",\"2.0\"]");
	render(upstream, UPSTREAM_KNOWN, PAGE_JSON, &json);
	CLEANUP(mem_free) char *names = names_of(&json);
	assert_string_equal(names,
		"1.0-cp310-cp310-win32.whl 1.0-cp311-cp311-linux_x86_64.whl 1.0-py3-none-any.whl 1.0.tar.gz "
		"2.0-cp311-cp311-linux_x86_64.whl 2.5.tar.gz 3.0-py3-none-any.whl 1.5.exe ");
	assert_has(&json,
		"{\"filename\":\"foo-3.0-py3-none-any.whl\","
		"\"url\":\"../../files/upstream/foo/foo-3.0-py3-none-any.whl\","
		"\"hashes\":{\"sha256\":\"" C64 "\"},\"size\":9,\"upload-time\":\"2026-01-02T03:04:05.678901Z\"}");
	assert_has(&json,
		"\"url\":\"../../files/wheels/foo/foo-2.0-cp311-cp311-linux_x86_64.whl\",\"hashes\":{\"sha256\":\"" A64
		"\"},\"size\":7,");
	assert_has(&json, "\"requires-python\":\">=3.8\",\"core-metadata\":{\"sha256\":\"" A64
			  "\"},\"provenance\":\"https://u/p\"}");
	assert_has(&json, "\"yanked\":true,\"core-metadata\":true}");
	assert_has(&json, "\"versions\":[\"1.0\",\"2.0\",\"2.5\",\"3.0\",\"1.5\",\"0.1\"]");
	assert_null(strstr(json.data, "project-status"));
	render(upstream, UPSTREAM_KNOWN, PAGE_HTML, &html);
	assert_has(&html, "<a href=\"../../files/upstream/foo/foo-1.0-cp310-cp310-win32.whl#sha256=" C64
			  "\" data-requires-python=\"&gt;=3.8\""
			  " data-core-metadata=\"sha256=" A64 "\" data-dist-info-metadata=\"sha256=" A64
			  "\" data-provenance=\"https://u/p\">");
	assert_has(&html, "data-yanked=\"\" data-core-metadata=\"true\" data-dist-info-metadata=\"true\">");
}

// Upstream's files keep its order. If its page has no versions, they are those of the files.
static void test_only_upstream(void **state UNUSED)
{
#define FILES                                                                                                          \
	FILE_OF("foo-10.0.tar.gz", "")                                                                                 \
	"," FILE_OF("foo-9.0-py3-none-any.whl", ",\"yanked\":\"no\"") "," FILE_OF("foo-x.zip", "")
	CLEANUP(buf_release) struct buf with_versions, without_versions;
	render_of(&bare, PAGE_OF(FILES, ",\"versions\":[\"10.00\",\"what?\",\"9.0\",\"8\",\"10.0\",\"8\"]"),
		UPSTREAM_KNOWN, PAGE_JSON, &with_versions);
	CLEANUP(mem_free) char *names = names_of(&with_versions);
	assert_string_equal(names, "10.0.tar.gz 9.0-py3-none-any.whl x.zip ");
	assert_has(&with_versions, "\"versions\":[\"10.0\",\"9.0\",\"8\"]");
	assert_has(&with_versions, "\"yanked\":\"no\"");
	render_of(&bare, PAGE_OF(FILES, ""), UPSTREAM_KNOWN, PAGE_JSON, &without_versions);
	CLEANUP(mem_free) char *sorted = names_of(&without_versions);
	assert_string_equal(sorted, "9.0-py3-none-any.whl 10.0.tar.gz x.zip ");
	assert_has(&without_versions, "\"versions\":[\"9.0\",\"10.0\"]");
#undef FILES
}

// Upstream's files, including those for other machines. 2.0 and 2.5 have only such files.
#define NAMES                                                                                                          \
	FILE_OF("foo-1.0-cp310-cp310-win32.whl", ",\"yanked\":\"bad\"")                                                \
	"," FILE_OF("foo-1.0-cp310-cp310-linux_x86_64.whl",                                                            \
		",\"yanked\":\"bad\"") "," FILE_OF("foo-1.0-py3-none-any.whl",                                         \
		",\"yanked\":true") "," FILE_OF("foo-2.0-cp311-cp311-win32.whl",                                       \
		"") "," FILE_OF("foo-2.5-cp311-cp311-WIN32.whl",                                                       \
		"") "," FILE_OF("foo-2.5.0-cp311-cp311-musllinux_1_2_x86_64.whl",                                      \
		"") "," FILE_OF("foo-3.0-py3-none-win32.ANY.whl", "") "," FILE_OF("foo-3.0-py3-none-win32.whl",        \
		"") "," FILE_OF("foo-3.0.tar.gz", "") "," FILE_OF("foo-x-win32.whl", "") "," FILE_OF("foo-x.exe", "")

#define TAGS(...)                                                                                                      \
	{                                                                                                              \
		.is_enabled = true,                                                                                    \
		.tag = {.item = (char *[]){__VA_ARGS__},                                                               \
			.count = ARRAY_SIZE(((char *[]){__VA_ARGS__})) }                                               \
	}
static const struct view filtered = {
	.platform = platform, .platform_count = 1, .wheels = TAGS((char[]){"any"}, (char[]){"linux_x86_64"})};
static const struct view bare_filtered = {.wheels = TAGS((char[]){"any"}, (char[]){"linux_x86_64"})};
static const struct view idle = {.platform = platform, .platform_count = 1, .wheels = TAGS((char[]){"none"})};
static const struct view bare_idle = {.wheels = TAGS((char[]){"none"})};

static void assert_page(const struct view *v, const char *json, const char *want, const char *versions)
{
	CLEANUP(buf_release) struct buf page, html;
	render_of(v, json, UPSTREAM_KNOWN, PAGE_JSON, &page);
	CLEANUP(mem_free) char *names = names_of(&page);
	assert_string_equal(names, want);
	assert_has(&page, versions);
	render_of(v, json, UPSTREAM_KNOWN, PAGE_HTML, &html);
	const char *has_file = strstr(want, "1.0-cp310-cp310-win32.whl"),
		   *in_html = strstr(html.data, "foo-1.0-cp310-cp310-win32.whl");
	assert_true(!has_file == !in_html);
}

// The versions are those of a complete page, in the same order.
static void test_wheel_filter(void **state UNUSED)
{
#define VERSIONS "\"versions\":[\"1.0\",\"2.0\",\"2.5\",\"2.5.0\",\"3.0\""
	static const char without_versions[] = PAGE_OF(NAMES, ""),
			  with_versions[] = PAGE_OF(NAMES,
				  ",\"versions\":[\"0.1\",\"3\",\"2.5.0\",\"2.5\",\"2.0\",\"1.0\",\"0.1\"]");
	assert_page(&filtered, with_versions,
		"1.0-cp310-cp310-linux_x86_64.whl 1.0-cp311-cp311-linux_x86_64.whl 1.0-py3-none-any.whl "
		"2.0-cp311-cp311-linux_x86_64.whl 3.0-py3-none-any.whl 3.0-py3-none-win32.ANY.whl 3.0.tar.gz x.exe ",
		VERSIONS ",\"0.1\"]");
	assert_page(&plain, with_versions,
		"1.0-cp310-cp310-linux_x86_64.whl 1.0-cp310-cp310-win32.whl 1.0-cp311-cp311-linux_x86_64.whl "
		"1.0-py3-none-any.whl 2.0-cp311-cp311-linux_x86_64.whl 2.0-cp311-cp311-win32.whl "
		"2.5-cp311-cp311-WIN32.whl 2.5.0-cp311-cp311-musllinux_1_2_x86_64.whl 3.0-py3-none-any.whl "
		"3.0-py3-none-win32.ANY.whl 3.0-py3-none-win32.whl 3.0.tar.gz x-win32.whl x.exe ",
		VERSIONS ",\"0.1\"]");
	static const char left[] =
		"1.0-cp310-cp310-linux_x86_64.whl 1.0-py3-none-any.whl 3.0-py3-none-win32.ANY.whl 3.0.tar.gz x.exe ";
	assert_page(&bare_filtered, with_versions, left,
		"\"versions\":[\"0.1\",\"3\",\"2.5.0\",\"2.5\",\"2.0\",\"1.0\"]");
	assert_page(&bare_filtered, without_versions, left, VERSIONS "]");
	assert_page(&bare, without_versions,
		"1.0-cp310-cp310-linux_x86_64.whl 1.0-cp310-cp310-win32.whl 1.0-py3-none-any.whl "
		"2.0-cp311-cp311-win32.whl 2.5-cp311-cp311-WIN32.whl 2.5.0-cp311-cp311-musllinux_1_2_x86_64.whl "
		"3.0-py3-none-win32.ANY.whl 3.0-py3-none-win32.whl 3.0.tar.gz x-win32.whl x.exe ",
		VERSIONS "]");
#undef VERSIONS
}

// If no wheel fits there still is a page. A name that is here too is upstream's.
static void test_filter_keeps_our_names(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf json;
	render_of(&idle, PAGE_OF(NAMES, ""), UPSTREAM_KNOWN, PAGE_JSON, &json);
	CLEANUP(mem_free) char *names = names_of(&json);
	assert_string_equal(names,
		"1.0-cp311-cp311-linux_x86_64.whl 1.0-py3-none-any.whl 2.0-cp311-cp311-linux_x86_64.whl "
		"3.0-py3-none-any.whl 3.0.tar.gz x.exe ");
	assert_has(&json, "/files/upstream/foo/foo-1.0-py3-none-any.whl");
	assert_page(&bare_idle, PAGE_OF(FILE_OF("foo-1.0-py3-none-any.whl", ""), ""), "",
		"\"files\":[\n\n],\"versions\":[\"1.0\"]}");
}

// All of upstream's files decide whether a release is yanked, including omitted ones.
static void test_omitted_files_count_for_yanks(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf json, whole;
	render_of(&filtered, PAGE_OF(NAMES "," FILE_OF("foo-2.0-cp310-cp310-win32.whl", ",\"yanked\":true"), ""),
		UPSTREAM_KNOWN, PAGE_JSON, &json);
	const char *mine = strstr(json.data, "foo-1.0-cp311-cp311-linux_x86_64.whl");
	assert_non_null(memmem(mine, strcspn(mine, "\n"), "\"yanked\":\"bad\"", strlen("\"yanked\":\"bad\"")));
	mine = strstr(json.data, "foo-2.0-cp311-cp311-linux_x86_64.whl");
	assert_null(memmem(mine, strcspn(mine, "\n"), "yanked", strlen("yanked")));
	render_of(&filtered, PAGE_OF(FILE_OF("foo-2.0-cp310-cp310-win32.whl", ",\"yanked\":\"all\""), ""),
		UPSTREAM_KNOWN, PAGE_JSON, &whole);
	mine = strstr(whole.data, "foo-2.0-cp311-cp311-linux_x86_64.whl");
	assert_non_null(memmem(mine, strcspn(mine, "\n"), "\"yanked\":\"all\"", strlen("\"yanked\":\"all\"")));
}

// Our files are yanked only if the whole release is yanked upstream.
static void test_yanked_release(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf json;
	render(PAGE_OF(FILE_OF("foo-1.0.tar.gz", ",\"yanked\":\"bad one\"") "," FILE_OF("foo-1-py2-none-any.whl",
			       ",\"yanked\":true") "," FILE_OF("foo-2.0.tar.gz",
			       ",\"yanked\":\"no\"") "," FILE_OF("foo-2.0-py2-none-any.whl", ""),
		       ""),
		UPSTREAM_KNOWN, PAGE_JSON, &json);
	const char *mine = strstr(json.data, "foo-1.0-py3-none-any.whl");
	assert_non_null(mine);
	assert_non_null(memmem(mine, strcspn(mine, "\n"), "\"yanked\":\"bad one\"", strlen("\"yanked\":\"bad one\"")));
	mine = strstr(json.data, "foo-2.0-cp311-cp311-linux_x86_64.whl");
	assert_null(memmem(mine, strcspn(mine, "\n"), "yanked", strlen("yanked")));
}

static void test_statuses(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf json, html, quarantined;
	static const char archived[] =
		PAGE_OF("", ",\"project-status\":{\"status\":\"archived\",\"reason\":\"no <time>\"}");
	render(archived, UPSTREAM_KNOWN, PAGE_JSON, &json);
	assert_has(&json, "\"name\":\"foo\",\"project-status\":{\"status\":\"archived\",\"reason\":\"no <time>\"},"
			  "\"files\":[\n{");
	render(archived, UPSTREAM_KNOWN, PAGE_HTML, &html);
	assert_has(&html, "<meta name=\"pypi:project-status\" content=\"archived\">\n"
			  "<meta name=\"pypi:project-status-reason\" content=\"no &lt;time&gt;\">\n");
	render(archived, UPSTREAM_QUARANTINED, PAGE_JSON, &quarantined);
	assert_has(&quarantined, "\"project-status\":{\"status\":\"quarantined\"},\"files\":[\n\n],\"versions\":[]}");
}

// A project that upstream does not have (any more) has only our files. A project without any files has no page.
static void test_without_upstream(void **state UNUSED)
{
	static const enum upstream_result results[] = {UPSTREAM_NOT_FOUND, UPSTREAM_ABSENT, UPSTREAM_NEVER_ASKED};
	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		CLEANUP(buf_release) struct buf json, none, empty;
		render(PAGE_OF(FILE_OF("foo-9.0.tar.gz", ""), ""), results[i], PAGE_JSON, &json);
		assert_null(strstr(json.data, "foo-9.0.tar.gz"));
		assert_has(&json, "foo-2.0-cp311-cp311-linux_x86_64.whl");
		fake_file_count = 0;
		render(NULL, results[i], PAGE_JSON, &none);
		assert_int_equal(none.len, 0);
		render(PAGE_OF("", ""), UPSTREAM_KNOWN, PAGE_JSON, &empty);
		assert_has(&empty, "\"files\":[");
		fake_file_count = ARRAY_SIZE(ours);
	}
}

// Only a view with a membership keeps upstream out, of a project that one of its platforms lists.
static void test_kept_out(void **state UNUSED)
{
	static const struct platform other = {.id = 2}, hidden = {.id = 1, .is_private = true};
	static const struct platform *others[] = {&other}, *both[] = {&other, &one}, *secret[] = {&other, &hidden};
	static const struct view wide = {.platform = both, .platform_count = 2},
				 private_too = {.platform = secret, .platform_count = 2};
	static const struct view members = {
		.platform = platform, .platform_count = 1, .membership = "tested", .source = &wide};
	static const struct view narrow = {
		.platform = others, .platform_count = 1, .membership = "tested", .source = &wide};
	static const struct view public_part = {
		.platform = others, .platform_count = 1, .membership = "tested", .source = &private_too};
	static const struct view private_part = {
		.platform = secret, .platform_count = 2, .membership = "tested", .source = &private_too};
	static const struct {
		const struct view *view;
		const char *project;
		enum name_rule rule;
		bool is_kept_out;
	} table[] = {
		{&members, "foo", NAME_RULE_MERGE, true},
		{&members, "bar", NAME_RULE_MERGE, false},
		{&narrow, "foo", NAME_RULE_MERGE, true}, // another platform of its source has the project
		{&narrow, "bar", NAME_RULE_MERGE, false},
		{&public_part, "foo", NAME_RULE_MERGE, false}, // which would tell a private name
		{&private_part, "foo", NAME_RULE_MERGE, true},
		{&members, "foo", NAME_RULE_SHARED, false},
		{&members, "foo", NAME_RULE_UPSTREAM, false},
		{&plain, "foo", NAME_RULE_MERGE, false},
	};
	struct err e = ERR_INIT;
	bool is_kept_out;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_int_equal(merge_upstream_is_kept_out(table[i].view, NULL, table[i].project, table[i].rule,
					 &is_kept_out, &e),
			0);
		assert_int_equal(is_kept_out, table[i].is_kept_out);
	}
	fake_fails = true;
	assert_int_equal(merge_upstream_is_kept_out(&members, NULL, "foo", NAME_RULE_MERGE, &is_kept_out, &e), -1);
	fake_fails = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_upstream_wins_names),
		cmocka_unit_test(test_only_upstream),
		cmocka_unit_test(test_wheel_filter),
		cmocka_unit_test(test_filter_keeps_our_names),
		cmocka_unit_test(test_omitted_files_count_for_yanks),
		cmocka_unit_test(test_yanked_release),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_kept_out),
		cmocka_unit_test(test_without_upstream),
	};
	return cmocka_run_group_tests(tests, use_fake, release_keys);
}
