// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/url.h"
#include "lib/domain/simplepage.h"

#define JSON "application/vnd.pypi.simple.v1+json"
#define TOP "{\"meta\":{\"api-version\":\"1.4\",\"_last-serial\":77},\"name\":\"Foo_Bar\","
#define FILE_OF(name, more) "{\"filename\":\"" name "\",\"url\":\"../../files/" name "\",\"hashes\":{}" more "}"

static const char page_url[] = "https://me:secret@example.org/root/simple/foo-bar/";

// Reads a page that has to be good, packs it, and gives what comes out again: all tests below hold of that.
static void read_page(const char *body, const char *type, struct simplepage *page)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	CLEANUP(simplepage_release) struct simplepage first = {0};
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 1 << 20);
	if (simplepage_parse(str_from(body), str_from(type), page_url, "foo-bar", &first, &fault, &e) < 0)
		fail_msg("%s", e.msg);
	if (simplepage_pack(&first, &packed, &e) < 0 || simplepage_unpack(buf_view(&packed), page, &e) < 0)
		fail_msg("%s", e.msg);
}

static void json_page(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	read_page(TOP "\"versions\":[\"1.0\",null,\"1.1\"],\"project-status\":{\"status\":\"deprecated\",\"reason\":\"old\"},"
		      "\"unknown\":null,\"files\":["
		      "{\"filename\":\"foo_bar-1.0-py3-none-any.whl\",\"url\":\"../../files/a/foo_bar-1.0-py3-none-any.whl#x\","
		      "\"hashes\":{\"sha256\":\"" "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"},"
		      "\"size\":12,\"upload-time\":\"2026-01-02T03:04:05.678901Z\",\"requires-python\":\">=3.8\","
		      "\"core-metadata\":{\"sha256\":\"ff23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"},"
		      "\"yanked\":\"broken\",\"provenance\":\"https://example.org/p\"},"
		      FILE_OF("Foo.Bar-1.1.tar.gz", ",\"size\":null,\"upload-time\":null,\"requires-python\":null,\"yanked\":null")
		      "]}", JSON, &page);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
