// SPDX-License-Identifier: Apache-2.0
// Compares forms with a file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/wheel/declared.h"
#include "server/api/upload-form.h"

static const char wheel[] = "Foo_Bar-1.0-py3-none-any.whl", sdist[] = "foo-bar-1.0.tar.gz",
		  reissue[] = "cffi-1.0.2-2.tar.gz";

// NULL: the form matches; else words of the error.
static const struct {
	const char *file;
	struct declared claims;
	const char *words;
} names[] = {
	{wheel, {0}, NULL},
	{wheel, {.name = "foo.bar", .version = "v1.0.0", .filetype = "bdist_wheel"}, NULL},
	{wheel, {.name = "foobar"}, "the form's name is \"foobar\", but the file is of foo-bar"},
	{wheel, {.name = "foo\xff"}, "the form's name"},
	{wheel, {.version = "1.0.1"}, "the form's version is \"1.0.1\", but the file is version 1.0"},
	{wheel, {.version = "one"}, "the form's version is \"one\""},
	{wheel, {.filetype = "sdist"}, "but the file is a bdist_wheel"},
	{sdist, {.name = "Foo_Bar", .version = "1", .filetype = "sdist"}, NULL},
	{sdist, {.filetype = "bdist_wininst"}, "but the file is a sdist"},
	{reissue, {.name = "cffi", .version = "1.0.2"}, NULL}, // as in its PKG-INFO
	{reissue, {.name = "cffi", .version = "1.0.2.post2"}, NULL},
	{reissue, {.name = "cffi", .version = "1.0.3"}, "but the file is version 1.0.2.post2"},
};

static void parse_valid(const char *file, struct filename *out)
{
	struct err e = ERR_INIT;
	int rc = strcmp(file, reissue) == 0 ? filename_parse_sdist(str_from(file), STR("cffi"), STR("1.0.2"), out, &e)
					    : filename_parse(str_from(file), out, &e);
	if (rc < 0)
		fail_msg("%s: %s", file, e.msg);
}

static void expect_result(const char *what, int rc, const struct err *e, const char *words)
{
	if ((rc < 0) != (words != NULL) || (words && (e->kind != ERR_INVALID || !strstr(e->msg, words))))
		fail_msg("%s: %d, %s", what, rc, e->msg);
}

static void test_names(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct err e = ERR_INIT;
		CLEANUP(filename_release) struct filename file = {0};
		parse_valid(names[i].file, &file);
		int rc = declared_check_name(&names[i].claims, str_from(names[i].file), &file, &e);
		expect_result(names[i].file, rc, &e, names[i].words);
	}
}

static void test_digests(void **state UNUSED)
{
	static const char zeros[] = "0000000000000000000000000000000000000000000000000000000000000000";
	static const struct digest_value counted[DIGEST_COUNT] = {[DIGEST_SHA256] = {32, {0}}, [DIGEST_MD5] = {0, {0}}};
	static const struct {
		struct declared claims;
		const char *words;
	} row[] = {
		{{.digest = {[DIGEST_SHA256] = zeros}}, NULL},
		{{.digest = {[DIGEST_MD5] = "not counted on this machine"}}, NULL},
		{{.digest = {[DIGEST_SHA256] = zeros + 1}}, "sha256_digest is not 64 hexadecimal digits"},
		{{.digest = {[DIGEST_SHA256] = "1111111111111111111111111111111111111111111111111111111111111111"}},
			"sha256_digest is 1111"},
		{{.digest = {[DIGEST_SHA256] = "0000000000000000000000000000000000000000000000000000000000000001"}},
			"sha256_digest is 0000"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		int rc = declared_check_bytes(&row[i].claims, counted, &e);
		expect_result("digest", rc, &e, row[i].words);
	}
}

static void test_form(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(upload_form_release) struct upload_form form = {0};
	assert_int_equal(upload_form_find(STR("name")), UPLOAD_FORM_NAME);
	assert_int_equal(upload_form_find(STR("summary")), UPLOAD_FORM_COUNT);
	assert_int_equal(upload_form_find(STR("blake2_256_digest")), UPLOAD_FORM_COUNT);
	assert_int_equal(upload_form_put(&form, UPLOAD_FORM_NAME, STR(" foo \r\n"), &e), 0);
	assert_int_equal(upload_form_put(&form, UPLOAD_FORM_NAME, STR("foo"), &e), 0);
	assert_int_equal(upload_form_put(&form, UPLOAD_FORM_VERSION, STR("UNKNOWN"), &e), 0);
	assert_string_equal(upload_form_declared(&form).name, "foo");
	assert_null(upload_form_declared(&form).version);
	assert_int_equal(upload_form_check(&form, &e), 0);
	assert_int_equal(upload_form_put(&form, UPLOAD_FORM_NAME, STR("bar"), &e), -1);
	assert_int_equal(upload_form_put(&form, UPLOAD_FORM_ACTION, STR("doc_upload"), &e), 0);
	assert_int_equal(upload_form_check(&form, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_digests),
		cmocka_unit_test(test_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
