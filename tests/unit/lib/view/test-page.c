// SPDX-License-Identifier: Apache-2.0
#include "lib/view/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/format/compress.h"
#include "lib/os/byte-source.h"
#include "tests/unit/support/fake-catalog.h"

#define HEX_A "abababababababababababababababababababababababababababababababab"
#define HEX_C "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
#define ODD_NAME "odd-1-a\"<b>&'\\\n\x01\xc3\xa9.whl"
#define BAD_NAME "odd-1-\xff\xc3.whl" // not UTF-8

static const struct fake_file files[] = {
	{.platform = 1, .project = "odd", .filename = ODD_NAME, .version = "1", .key = "1", .sha = 0xab},
	{.platform = 1,
		.project = "odd",
		.filename = BAD_NAME,
		.version = "1",
		.key = "1",
		.sha = 0xab,
		.requires_python = "<4,>=\"3\"\xfe"},
	{.platform = 1,
		.project = "torch",
		.filename = "torch-1.0-py3-none-any.whl",
		.version = "1.0",
		.key = "1",
		.sha = 0xab,
		.size = 0,
		.mtime_ns = 0},
	{.platform = 1,
		.project = "torch",
		.filename = "torch-1.0.0-py3-none-any.whl",
		.version = "1.0.0",
		.key = "1",
		.sha = 0xab,
		.size = 18446744073709551615U,
		.mtime_ns = -1},
	{.platform = 1,
		.project = "torch",
		.filename = "torch-1.0.tar.gz",
		.version = "1.0",
		.key = "1",
		.sha = 0xab,
		.yanked = "",
		.size = 1,
		.mtime_ns = 951782400999999999},
	{.platform = 1,
		.project = "torch",
		.filename = "torch-1!2.0+cu118-py3-none-any.whl",
		.version = "1!2.0+cu118",
		.key = "2",
		.sha = 0xab,
		.metadata_sha = 0xcd,
		.requires_python = ">=3.8, <4",
		.yanked = "a \"b\" <c>",
		.size = 1234567890,
		.mtime_ns = 1767323045678901234},
};

static const struct platform one = {.name = (char[]){"ubuntu-22.04-x86_64"}, .id = 1};
static const struct platform *platform[] = {&one};
static const struct view plain = {.platform = platform, .platform_count = 1};
static const struct view named = {.name = (char[]){"jammy"}, .platform = platform, .platform_count = 1};

static int use_fake(void **state)
{
	(void)state;
	fake_file = files;
	fake_file_count = ARRAY_SIZE(files);
	return 0;
}

#define URL "../../files/ubuntu-22.04-x86_64/torch/torch-"
#define ENTRY(file, url)                                                                                               \
	"{\"filename\":\"torch-" file "\",\"url\":\"" URL url "\",\"hashes\":{\"sha256\":\"" HEX_A "\"}"

static const char torch_json[] = "{\"meta\":{\"api-version\":\"1.4\"},\"name\":\"torch\",\"files\":[\n" ENTRY(
	"1.0-py3-none-any.whl",
	"1.0-py3-none-any.whl") ",\"size\":0,\"upload-time\":\"1970-01-01T00:00:00Z\"},\n" ENTRY("1.0.0-py3-none-any.whl",
	"1.0.0-py3-none-any.whl") ",\"size\":18446744073709551615,\"upload-time\":\"1969-12-31T23:59:59Z\"},\n" ENTRY("1.0.tar.gz",
	"1.0.tar.gz") ",\"size\":1,\"upload-time\":\"2000-02-29T00:00:00Z\",\"yanked\":true},\n" ENTRY("1!2.0+cu118-py3-none-any.whl",
	"1%212.0%2Bcu118-py3-none-any.whl") ",\"size\":1234567890,\"upload-time\":\"2026-01-02T03:04:05Z\",\"requires-python\":\">=3.8, <4\","
					    "\"yanked\":\"a \\\"b\\\" <c>\",\"core-metadata\":{\"sha256\":\"" HEX_C
					    "\"}}\n"
					    "],\"versions\":[\"1.0\",\"1.0.0\",\"1!2.0+cu118\"]}\n";

static const char torch_html[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"pypi:repository-version\" content=\"1.4\">\n<title>Links for torch</title>\n</head>\n<body>\n"
	"<h1>Links for torch</h1>\n"
	"<a href=\"../" URL "1.0-py3-none-any.whl#sha256=" HEX_A "\">torch-1.0-py3-none-any.whl</a><br>\n"
	"<a href=\"../" URL "1.0.0-py3-none-any.whl#sha256=" HEX_A "\">torch-1.0.0-py3-none-any.whl</a><br>\n"
	"<a href=\"../" URL "1.0.tar.gz#sha256=" HEX_A "\" data-yanked=\"\">torch-1.0.tar.gz</a><br>\n"
	"<a href=\"../" URL "1%212.0%2Bcu118-py3-none-any.whl#sha256=" HEX_A "\""
	" data-requires-python=\"&gt;=3.8, &lt;4\" data-yanked=\"a &quot;b&quot; &lt;c&gt;\" data-core-metadata=\"sha256=" HEX_C
	"\""
	" data-dist-info-metadata=\"sha256=" HEX_C "\">torch-1!2.0+cu118-py3-none-any.whl</a><br>\n"
	"</body>\n</html>\n";

static void test_exact_pages(void **state)
{
	(void)state;
	static const struct {
		const struct view *view;
		enum page_format format;
		const char *want;
	} cases[] = {{&plain, PAGE_JSON, torch_json}, {&named, PAGE_HTML, torch_html}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, LIMIT_PAGE);
		assert_int_equal(page_project(cases[i].view, NULL, "torch", NULL, cases[i].format, &out, &e), 0);
		assert_string_equal(out.data, cases[i].want);
	}
}

static void assert_has(const struct buf *out, const char *want)
{
	if (!strstr(out->data, want))
		fail_msg("no '%s' in:\n%s", want, out->data);
}

static void test_link_base(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct view based = named;
	based.base = "https://wheels.example.org/";
	CLEANUP(buf_release) struct buf json, html;
	buf_init(&json, LIMIT_PAGE);
	buf_init(&html, LIMIT_PAGE);
	assert_int_equal(page_project(&based, NULL, "torch", NULL, PAGE_JSON, &json, &e), 0);
	assert_int_equal(page_project(&based, NULL, "torch", NULL, PAGE_HTML, &html, &e), 0);
	assert_has(&json, "\"url\":\"https://wheels.example.org/files/ubuntu-22.04-x86_64/torch/"
			  "torch-1.0.tar.gz\"");
	assert_has(&html, "href=\"https://wheels.example.org/files/ubuntu-22.04-x86_64/torch/"
			  "torch-1.0.tar.gz#");
	assert_null(strstr(json.data, "../"));
	assert_null(strstr(html.data, "../"));
}

static void test_old_pip_metadata(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	assert_int_equal(page_project(&named, NULL, "torch", NULL, PAGE_HTML_OLD_PIP, &out, &e), 0);
	const char *start = strstr(torch_html, " data-dist-info-metadata");
	size_t before = (size_t)(start - torch_html);
	assert_memory_equal(out.data, torch_html, before);
	assert_string_equal(out.data + before, strchr(start, '>'));
}

// An invalid name must not break the page.
static void test_odd_names(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf json, html;
	buf_init(&json, LIMIT_PAGE);
	buf_init(&html, LIMIT_PAGE);
	assert_int_equal(page_project(&plain, NULL, "odd", NULL, PAGE_JSON, &json, &e), 0);
	assert_int_equal(page_project(&plain, NULL, "odd", NULL, PAGE_HTML, &html, &e), 0);
	assert_true(str_is_utf8(buf_view(&json)));
	assert_true(str_is_utf8(buf_view(&html)));
	assert_has(&json, "\"filename\":\"odd-1-a\\\"<b>&'\\\\\\u000a\\u0001\xc3\xa9.whl\"");
	assert_has(&json, "\"filename\":\"odd-1-\xef\xbf\xbd\xef\xbf\xbd.whl\"");
	assert_has(&json, "\"requires-python\":\"<4,>=\\\"3\\\"\xef\xbf\xbd\"");
	assert_has(&json, "/odd/odd-1-a%22%3Cb%3E%26%27%5C%0A%01%C3%A9.whl\"");
	assert_has(&html, "/odd/odd-1-%FF%C3.whl#sha256=");
	assert_has(&html, ">odd-1-a&quot;&lt;b&gt;&amp;'\\\n\xef\xbf\xbd\xc3\xa9.whl</a>");
	assert_has(&html, "data-requires-python=\"&lt;4,&gt;=&quot;3&quot;\xef\xbf\xbd\"");
}

static void test_roots(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	assert_int_equal(page_root(&plain, NULL, NULL, 0, PAGE_JSON, &out, &e), 0);
	assert_string_equal(out.data, "{\"meta\":{\"api-version\":\"1.4\"},\"projects\":[\n"
				      "{\"name\":\"odd\"},\n{\"name\":\"torch\"}\n]}\n");
	buf_clear(&out);
	assert_int_equal(page_root(&plain, NULL, NULL, 0, PAGE_HTML, &out, &e), 0);
	assert_has(&out, "<body>\n<a href=\"odd/\">odd</a><br>\n<a href=\"torch/\">torch</a><br>\n</body>");
	fake_file_count = 0;
	buf_clear(&out);
	assert_int_equal(page_root(&plain, NULL, NULL, 0, PAGE_JSON, &out, &e), 0);
	assert_string_equal(out.data, "{\"meta\":{\"api-version\":\"1.4\"},\"projects\":[\n\n]}\n");
	use_fake(NULL);
}

// Exceeds LIMIT_PAGE.
static void test_failures(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out, small;
	buf_init(&out, LIMIT_PAGE);
	buf_init(&small, 300);
	assert_int_equal(page_project(&plain, NULL, "nothing", NULL, PAGE_HTML, &out, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(out.len, 0);
	assert_int_equal(page_project(&plain, NULL, "torch", NULL, PAGE_JSON, &small, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	fake_fails = true;
	assert_int_equal(page_project(&plain, NULL, "torch", NULL, PAGE_JSON, &out, &e), -1);
	assert_int_equal(e.kind, ERR_DB);
	assert_int_equal(page_root(&plain, NULL, NULL, 0, PAGE_JSON, &out, &e), -1);
	assert_int_equal(e.kind, ERR_DB);
	fake_fails = false;
}

static int append_piece(void *ctx, struct str piece, struct err *e UNUSED)
{
	buf_str(ctx, piece);
	return 0;
}

static void unpack(struct str packed, enum page_coding coding, struct buf *out)
{
	struct err e = ERR_INIT;
	struct byte_source source = byte_source_memory(packed);
	if (coding == PAGE_GZIP)
		assert_int_equal(decompress_gzip(&source, append_piece, out, &e), 0);
	else if (coding == PAGE_ZSTD)
		assert_int_equal(decompress_zstd(packed, out, &e), 0);
	else
		buf_str(out, packed);
}

// A page of size bytes without repetitions.
static void fill_random(struct buf *page, size_t size)
{
	uint32_t x = 1;
	while (page->len < size) {
		x = x * 1664525 + 1013904223;
		buf_putc(page, "0123456789abcdef"[x >> 28]);
	}
}

static void test_packing(void **state)
{
	(void)state;
	static const size_t sizes[] = {
		0, 1, 2000, 300 << 10, 9 << 20}; // one for each compression effort, and small ones
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (enum page_coding coding = 0; coding < PAGE_CODING_COUNT; coding++) {
			struct err e = ERR_INIT;
			CLEANUP(buf_release) struct buf page, packed, back;
			buf_init(&page, LIMIT_PAGE);
			buf_init(&packed, LIMIT_PAGE);
			buf_init(&back, LIMIT_PAGE);
			fill_random(&page, sizes[i]);
			assert_int_equal(page_pack(buf_view(&page), coding, &packed, &e), 0);
			unpack(buf_view(&packed), coding, &back);
			assert_true(str_eq(buf_view(&page), buf_view(&back)));
			if (sizes[i] > 1 && coding != PAGE_PLAIN)
				assert_true(packed.len < page.len * 6 / 10); // a digit is 4 bits of 8
			CLEANUP(buf_release) struct buf small;
			buf_init(&small, 0);
			if (sizes[i])
				assert_int_equal(page_pack(buf_view(&page), coding, &small, &e), -1);
		}
	}
}

static void test_etags(void **state)
{
	(void)state;
	char tag[PAGE_ETAG_SIZE], other[PAGE_ETAG_SIZE];
	memset(tag, 'x', PAGE_ETAG_SIZE);
	page_etag("text/html", STR("page"), tag);
	size_t len = strnlen(tag, PAGE_ETAG_SIZE);
	assert_in_range(len, 34, PAGE_ETAG_SIZE - 1);
	assert_true(tag[0] == '"' && tag[len - 1] == '"');
	page_etag("text/html", STR("page"), other);
	assert_string_equal(other, tag);
	page_etag("text/html", STR("Page"), other);
	assert_string_not_equal(other, tag);
	page_etag("text/htm", STR("page"), other);
	assert_string_not_equal(other, tag);
	assert_null(page_coding_name[PAGE_PLAIN]);
	assert_string_equal(page_coding_name[PAGE_ZSTD], "zstd");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_pages),
		cmocka_unit_test(test_link_base),
		cmocka_unit_test(test_old_pip_metadata),
		cmocka_unit_test(test_odd_names),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_packing),
		cmocka_unit_test(test_etags),
	};
	return cmocka_run_group_tests(tests, use_fake, NULL);
}
