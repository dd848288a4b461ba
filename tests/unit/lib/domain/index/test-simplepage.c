// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/lib/domain/index/simplepage-reading.h"

static void test_json_page(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	read_page(TOP
		"\"versions\":[\"1.0\",\"\",\"1.1\"],\"project-status\":{\"status\":\"deprecated\",\"reason\":\"old\"},"
		"\"unknown\":[{\"name\":\"x\",\"meta\":{\"_last-serial\":1},\"files\":[" FILE_OF("foo_bar-9.zip",
			"") "],\"versions\":[\"9\"]}],\"files\":["
			    "{\"filename\":\"foo_bar-1.0-py3-none-any.whl\","
			    "\"url\":\"../../files/a/foo_bar-1.0-py3-none-any.whl#x\","
			    "\"hashes\":{\"sha256\":\""
			    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"},"
			    "\"size\":12,\"upload-time\":\"2026-01-02T03:04:05.678901Z\",\"requires-python\":\">=3.8\","
			    "\"core-metadata\":{\"sha256\":\"ff23456789abcdef0123456789abcdef0123456789abcdef012"
			    "3456789abcdef\"},"
			    "\"yanked\":\"broken\",\"provenance\":\"https://example.org/p\"}," FILE_OF(
				    "Foo.Bar-1.1.tar.gz",
				    ",\"size\":null,\"upload-time\":null,\"requires-python\":null,"
				    "\"yanked\":null") "]}",
		JSON, &page);
	assert_string_equal(page.project, "foo-bar");
	assert_int_equal(page.serial, 77);
	assert_int_equal(page.status, SIMPLEPAGE_DEPRECATED);
	assert_string_equal(page.status_reason, "old");
	assert_int_equal(page.versions, 2);
	assert_string_equal(page.version[1], "1.1");
	assert_int_equal(page.files, 2);
	const struct simplepage_file *f = &page.file[0];
	assert_string_equal(f->filename, "foo_bar-1.0-py3-none-any.whl");
	assert_string_equal(f->url, "https://example.org/root/files/a/foo_bar-1.0-py3-none-any.whl");
	assert_string_equal(f->requires_python, ">=3.8");
	assert_string_equal(f->yanked, "broken");
	assert_string_equal(f->provenance, "https://example.org/p");
	assert_string_equal(f->upload_time, "2026-01-02T03:04:05.678901Z");
	assert_int_equal(f->uploaded, 1767323045);
	assert_int_equal(f->size, 12);
	assert_true(f->has_sha256 && f->has_metadata && f->has_metadata_sha256);
	assert_int_equal(f->sha256[1], 0x23);
	assert_int_equal(f->metadata_sha256[0], 0xff);
	f++;
	assert_string_equal(f->url, "https://example.org/root/files/Foo.Bar-1.1.tar.gz");
	assert_null(f->requires_python);
	assert_null(f->yanked);
	assert_null(f->provenance);
	assert_null(f->upload_time);
	assert_int_equal(f->uploaded, 0);
	assert_int_equal(f->size, -1);
	assert_false(f->has_sha256 || f->has_metadata || f->has_metadata_sha256);
	assert_ptr_equal(simplepage_find(&page, "Foo.Bar-1.1.tar.gz"), f);
	assert_null(simplepage_find(&page, "foo_bar-1.1.tar.gz"));
}

static const char html_top[] = "<!DOCTYPE html><html><head><meta name=\"pypi:repository-version\" content=\"1.4\">"
			       "<title>Links for Foo.bar</title></head><body>";

static void test_html_page(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	CLEANUP(mem_free)
	char *body = xasprintf("%s%s", html_top,
		"<meta name=pypi:project-status content=quarantined><meta name='pypi:project-status-reason' "
		"content='mal&amp;ware'>"
		"<h1>Links for foo-bar</h1>"
		"<a href=\"/\">home</a><a name=x>no link</a><a href='javascript:x.whl'>x.whl</a>"
		"<A HREF=' ../../files/Foo_bar-1.0%2Bx-py3-none-any.whl#md5=1&amp;sha256="
		"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef' data-requires-python='&gt;"
		"=3.8,&#60;4' "
		"data-yanked data-size=12 data-upload-time=2026-01-02T03:04:05Z data-provenance=https://example.org/p "
		"data-dist-info-metadata=sha256=ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		">text\n</a><br/>"
		"<a href=https://files.example.org/foo-bar-1.tar.gz data-yanked='a &lt;b&gt; &quot;c&quot;\nd' "
		"data-core-metadata=true data-dist-info-metadata=false>foo-bar-1.tar.gz"
		"<a href=foo_bar-2-py3-none-any.whl data-core-metadata=false data-size=-1>unclosed"
		"</body></html>\n<!--SERIAL 42-->\n<!-- served by -->");
	read_page(body, "Text/HTML ; charset=UTF-8", &page);
	assert_int_equal(page.status, SIMPLEPAGE_QUARANTINED);
	assert_string_equal(page.status_reason, "mal&ware");
	assert_int_equal(page.serial, 42);
	assert_int_equal(page.versions, 0);
	assert_int_equal(page.files, 3);
	const struct simplepage_file *f = &page.file[0];
	assert_string_equal(f->filename, "Foo_bar-1.0+x-py3-none-any.whl");
	assert_string_equal(f->url, "https://example.org/root/files/Foo_bar-1.0%2Bx-py3-none-any.whl");
	assert_string_equal(f->requires_python, ">=3.8,<4");
	assert_string_equal(f->yanked, "");
	assert_string_equal(f->provenance, "https://example.org/p");
	assert_int_equal(f->uploaded, 1767323045);
	assert_int_equal(f->size, 12);
	assert_true(f->has_sha256 && f->has_metadata && f->has_metadata_sha256);
	f++;
	assert_string_equal(f->url, "https://files.example.org/foo-bar-1.tar.gz");
	assert_string_equal(f->yanked, "a <b> \"c\" d");
	assert_true(f->has_metadata);
	assert_false(f->has_metadata_sha256 || f->has_sha256);
	f++;
	assert_string_equal(f->url, "https://example.org/root/simple/foo-bar/foo_bar-2-py3-none-any.whl");
	assert_null(f->yanked);
	assert_int_equal(f->size, -1);
	assert_false(f->has_metadata);
}

static void test_html_base(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	CLEANUP(mem_free)
	char *body = xasprintf("%s%s", html_top,
		"<base target=x><base href='/other/'><base href='/third/'><a href=foo_bar-1.zip>1</a>"
		"<base href='/late/'><a href=foo_bar-2.zip>2</a></html>");
	read_page(body, "application/vnd.pypi.simple.v1+html", &page);
	assert_int_equal(page.files, 2);
	assert_string_equal(page.file[0].url, "https://example.org/other/foo_bar-1.zip");
	assert_string_equal(page.file[1].url, "https://example.org/other/foo_bar-2.zip");
}

static void test_faults(void **state UNUSED)
{
	static const struct {
		const char *type, *body;
		enum simplepage_fault fault;
		const char *words;
	} table[] = {
		{"", "{}", SIMPLEPAGE_NOT_A_PAGE, "type is \"\""},
		{"application/json", TOP "\"files\":[]}", SIMPLEPAGE_NOT_A_PAGE, "type is \"application/json\""},
		{"application/vnd.pypi.simple.v2+json", "{}", SIMPLEPAGE_NOT_A_PAGE, "v2"},
		{JSON, "", SIMPLEPAGE_TRUNCATED, "not JSON"},
		{JSON, "<html></html>", SIMPLEPAGE_NOT_A_PAGE, "not JSON"},
		{JSON, "[]", SIMPLEPAGE_NOT_A_PAGE, "not a simple page"},
		{JSON, "{}", SIMPLEPAGE_NOT_A_PAGE, "not a simple page"},
		{JSON, TOP "\"files\":[", SIMPLEPAGE_TRUNCATED, "not JSON"},
		{JSON, TOP "\"files\":[]} x", SIMPLEPAGE_NOT_A_PAGE, "not JSON"},
		{JSON, TOP "\"files\":{}}", SIMPLEPAGE_NOT_A_PAGE, "\"files\" is not a list"},
		{JSON, TOP "\"files\":null}", SIMPLEPAGE_NOT_A_PAGE, "\"files\" is not a list"},
		{JSON, TOP "\"a\":\"\xff\",\"files\":[]}", SIMPLEPAGE_NOT_A_PAGE, "not JSON"},
		{JSON, "{\"meta\":{},\"name\":\"foo-bar\",\"files\":[]}", SIMPLEPAGE_NOT_A_PAGE, "version \"\""},
		{JSON, "{\"meta\":{\"api-version\":\"2.0\"},\"name\":\"foo-bar\",\"files\":[]}", SIMPLEPAGE_NOT_A_PAGE,
			"\"2.0\""},
		{JSON, "{\"meta\":{\"api-version\":\"1.0\"},\"files\":[]}", SIMPLEPAGE_NOT_A_PAGE, "not a simple page"},
		{JSON, "{\"meta\":{\"api-version\":\"1.0\"},\"name\":\"foo\",\"files\":[]}", SIMPLEPAGE_WRONG_PROJECT,
			": foo"},
		{JSON, TOP "\"files\":[" FILE_OF("other-1-py3-none-any.whl", "") "]}", SIMPLEPAGE_WRONG_PROJECT,
			"none of"},
		{"text/html", "", SIMPLEPAGE_NOT_A_PAGE, "HTML"},
		{"text/html", "\xff<html>", SIMPLEPAGE_NOT_A_PAGE, "UTF-8"},
		{"text/html",
			"<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Unavailable</h1>"
			"<a href=/>x</a></body></html>",
			SIMPLEPAGE_NOT_A_PAGE, "not a simple page"},
		{"text/html", "<html><meta name=pypi:repository-version content=2.0></html>", SIMPLEPAGE_NOT_A_PAGE,
			"\"2.0\""},
		{"text/html", "<html><title>Links for bar</title></html>", SIMPLEPAGE_WRONG_PROJECT, "project: bar"},
		{"text/html",
			"<html><h1>Links for\xc2\xa0"
			"bar</h1><a href=bar-1.zip>x</a></html>",
			SIMPLEPAGE_WRONG_PROJECT, "none of"},
		{"text/html", "<html><title>Links for foo-bar</title><a>foo_bar-1.zip</a></html>",
			SIMPLEPAGE_NOT_A_PAGE, "none of its files"},
		{"text/html", "<html><title>Links for foo-bar</title><a href=file:///foo_bar-1.zip>x</a></html>",
			SIMPLEPAGE_NOT_A_PAGE, "none of its files"},
		{"text/html", "<html><title>Links for foo-bar</title><a href=foo_bar-1.zip>x</a>", SIMPLEPAGE_TRUNCATED,
			"no end"},
		{"text/html", "<html><a href=foo_bar-1.zip>x</a></html><p>", SIMPLEPAGE_TRUNCATED, "no end"},
		{"text/html", "<a href=foo_bar-1.zip>x</a><!-- </html> -->", SIMPLEPAGE_TRUNCATED, "no end"},
		{"text/html", "<a href=foo_bar-1.zip>x</a></html", SIMPLEPAGE_TRUNCATED, "no end"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_rejected(table[i].body, table[i].type, table[i].fault, table[i].words);
}

static void test_bare_html(void **state UNUSED)
{
	static const char *const table[] = {
		"<title>Index of /foo-bar/</title><a href=../>../</a><a "
		"href=foo_bar-1.zip>foo_bar-1.zip</a></BODY >\n</HTML>\n",
		"<html><title>Links for Foo_Bar</title><body><h1>Links for Foo_Bar</h1></body>",
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		read_page(table[i], "text/html", &page);
		assert_int_equal(page.files, i == 0);
	}
}

// Exceeds LIMIT_HTML_DEPTH.
static void test_deep_html(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf body;
	buf_init(&body, 8 << 20);
	for (size_t i = 0; i < 500000; i++)
		buf_puts(&body, "<b>");
	for (size_t i = 0; i < 500000; i++)
		buf_puts(&body, "</i>");
	assert_rejected(body.data, "text/html", SIMPLEPAGE_NOT_A_PAGE, "deeper");
}

static void test_omitted_files(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	read_page(TOP
		"\"files\":["
		"{\"filename\":\"foo_bar-0.zip\",\"url\":\"file:///foo_bar-0.zip\"},"
		"{\"filename\":\"../foo_bar-0.zip\",\"url\":\"foo_bar-0.zip\"},"
		"{\"filename\":\"foo_bar 0.zip\",\"url\":\"foo_bar-0.zip\"}," FILE_OF("foo_bar-1.zip",
			",\"size\":1") "," FILE_OF("foobar-1.zip", "") "," FILE_OF("foo_bar_baz-1-py3-none-any.whl",
			"") "," FILE_OF("foo_bar-1.zip", ",\"size\":2") "," FILE_OF("foo-bar-2.zip",
			",\"size\":-2") "," FILE_OF("foo_bar-1.zip", ",\"size\":3") "]}",
		JSON, &page);
	assert_int_equal(page.files, 2);
	assert_string_equal(page.file[0].filename, "foo_bar-1.zip");
	assert_int_equal(page.file[0].size, 1);
	assert_string_equal(page.file[1].filename, "foo-bar-2.zip");
	assert_int_equal(page.file[1].size, -1);
}

// The parsers expect the keys in the order of the file before, and the same spelling of the project. Other files must
// be parsed too.
static void test_unlike_files(void **state UNUSED)
{
	static const char many[] =
		"\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":[0,{\"size\":9}],";
	CLEANUP(simplepage_release) struct simplepage page = {0};
	CLEANUP(mem_free)
	char *body = xasprintf(TOP
		"\"files\":[" FILE_OF("-4-py3-none-any.whl",
			"") ","
			    "{\"filename\":\"foo_bar-1-py3-none-any.whl\",\"url\":\"1\",\"size\":1,"
			    "\"requires-python\":\">1\"},"
			    "{\"requires-python\":\">2\",\"size\":2,\"url\":\"2\","
			    "\"filename\":\"Foo.Bar-2-py3-none-any.whl\"},"
			    "{\"hashes\":{\"size\":7},%s%s%s\"url\":\"3\",\"core-metadata\":{\"url\":\"x\"},"
			    "%s\"size\":3,"
			    "\"filename\":\"foo_bar-3-py3-none-any.whl\"},"
			    "{\"size\":4,\"filename\":\"foo-bar-4.tar.gz\",\"url\":\"4\"}," FILE_OF("foo-baz-4.tar.gz",
				    "") "," FILE_OF("foo-4-py3-none-any.whl",
				    "") ","
					"{\"filename\":\"foo_bar-5-py3-none-any.whl\",\"url\":\"5\","
					"\"yanked\":true,\"size\":5}"
					"],\"size\":8,\"url\":\"9\"}",
		many, many, many, many);
	read_page(body, JSON, &page);
	assert_int_equal(page.files, 5);
	for (int i = 0; i < 5; i++) {
		CLEANUP(mem_free) char *url = xasprintf("https://example.org/root/simple/foo-bar/%d", i + 1);
		assert_string_equal(page.file[i].url, url);
		assert_int_equal(page.file[i].size, i + 1);
		assert_int_equal(page.file[i].requires_python != NULL, i < 2);
	}
	assert_string_equal(page.file[1].requires_python, ">2");
	assert_true(page.file[2].has_metadata);
	assert_true(page.file[4].yanked);
}

static void test_yanks(void **state UNUSED)
{
	static const struct {
		const char *json, *reason;
	} table[] = {
		{"", NULL},
		{",\"yanked\":null", NULL},
		{",\"yanked\":false", NULL},
		{",\"yanked\":true", ""},
		{",\"yanked\":\"\"", ""},
		{",\"yanked\":\"a\\nb\"", "a b"},
		{",\"yanked\":\"\\u001b[2J\\u007f\"", " [2J "},
		{",\"yanked\":0", ""},
		{",\"yanked\":{}", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free)
		char *body = xasprintf(TOP "\"files\":[" FILE_OF("foo_bar-1.zip", "%s") "]}", table[i].json);
		read_page(body, JSON, &page);
		if (table[i].reason)
			assert_string_equal(page.file[0].yanked, table[i].reason);
		else
			assert_null(page.file[0].yanked);
	}
}

static void test_upload_times(void **state UNUSED)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} table[] = {
		{"2026-01-02T03:04:05Z", 1767323045},
		{"2026-01-02T03:04:05.9Z", 1767323045},
		{"2026-01-02T03:04:05.123456789Z", 1767323045},
		{"2026-01-02T03:04:05+00:00", 1767323045},
		{"2026-01-02T03:04:05", 0},
		{"2026-01-02T03:04:05+01:00", 0},
		{"2026-13-02T03:04:05Z", 0},
		{"2026-01-02T03:04:05123Z", 0},
		{"2026-01-02 03:04:05Z", 0},
		{"2026-01-02T03:04:05Zx", 0},
		{"", 0},
		{"2026", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free)
		char *body = xasprintf(TOP "\"files\":[" FILE_OF("foo_bar-1.zip", ",\"upload-time\":\"%s\"") "]}",
			table[i].text);
		read_page(body, JSON, &page);
		assert_int_equal(page.file[0].uploaded, table[i].seconds);
		assert_int_equal(page.file[0].upload_time != NULL, table[i].seconds != 0);
	}
}

static void test_statuses(void **state UNUSED)
{
	static const struct {
		const char *json;
		enum simplepage_status status;
	} table[] = {
		{"null", SIMPLEPAGE_ACTIVE},
		{"{}", SIMPLEPAGE_ACTIVE},
		{"{\"status\":\"active\"}", SIMPLEPAGE_ACTIVE},
		{"{\"status\":\"archived\"}", SIMPLEPAGE_ARCHIVED},
		{"{\"status\":\"quarantined\"}", SIMPLEPAGE_QUARANTINED},
		{"{\"status\":\"\"}", SIMPLEPAGE_UNFAMILIAR},
		{"{\"status\":\"shiny\"}", SIMPLEPAGE_UNFAMILIAR},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(simplepage_release) struct simplepage page = {0};
		CLEANUP(mem_free) char *body = xasprintf(TOP "\"project-status\":%s,\"files\":[]}", table[i].json);
		read_page(body, JSON, &page);
		assert_int_equal(page.status, table[i].status);
		assert_null(page.status_reason);
	}
}

// Changes each byte of the packed form and cuts it at each length. Nothing crashes, and nearly all changes are
// detected.
static void test_damaged_packs(void **state UNUSED)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 1 << 20);
	const char *body = TOP "\"versions\":[\"1\"],\"files\":[" FILE_OF("foo_bar-1.zip", ",\"yanked\":\"x\"") "]}";
	assert_int_equal(simplepage_parse(str_from(body), str_from(JSON), page_url, "foo-bar", &page, &fault, &e), 0);
	assert_int_equal(simplepage_pack(&page, &packed, &e), 0);
	for (size_t i = 0; i < packed.len; i++) {
		CLEANUP(simplepage_release) struct simplepage cut = {0}, other = {0};
		assert_int_equal(simplepage_unpack(str_slice(buf_view(&packed), 0, i), &cut, &e), -1);
		packed.data[i] ^= 1;
		if (simplepage_unpack(buf_view(&packed), &other, &e) == 0)
			assert_non_null(other.project);
		packed.data[i] ^= 1;
	}
}

// A million entries take two minutes under valgrind, so the test is skipped there.
// Exceeds LIMIT_SIMPLEPAGE_FILES.
static void test_too_many_files(void **state UNUSED)
{
	if (getenv("UNDER_VALGRIND"))
		skip();
	CLEANUP(buf_release) struct buf body;
	buf_init(&body, 64 << 20);
	buf_puts(&body, "<html>");
	for (size_t i = 0; i < (1 << 20) + 2; i++)
		buf_puts(&body, "<a href=foo-bar-1.zip>");
	buf_puts(&body, "</html>");
	assert_rejected(body.data, "text/html", SIMPLEPAGE_TOO_LARGE, "too many");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_page),
		cmocka_unit_test(test_html_page),
		cmocka_unit_test(test_html_base),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_bare_html),
		cmocka_unit_test(test_deep_html),
		cmocka_unit_test(test_omitted_files),
		cmocka_unit_test(test_unlike_files),
		cmocka_unit_test(test_yanks),
		cmocka_unit_test(test_upload_times),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_damaged_packs),
		cmocka_unit_test(test_too_many_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
