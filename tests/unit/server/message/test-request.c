// SPDX-License-Identifier: Apache-2.0
#include "server/message/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static void lines_of_a_list_are_joined(void **state)
{
	(void)state;
	CLEANUP(request_release) struct request r = {0};
	request_take_header(&r, STR("Accept"), "a/b");
	assert_null(r.joined);
	request_take_header(&r, STR("Range"), "bytes=0-1");
	request_take_header(&r, STR("ACCEPT"), "c/d;q=0.5");
	request_take_header(&r, STR("accept"), "");
	request_take_header(&r, STR("range"), "bytes=2-3");
	request_take_header(&r, STR("If-None-Match"), "\"x\"");
	request_take_header(&r, STR("If-None-Match"), "\"y\"");
	assert_string_equal(r.header[HEADER_ACCEPT], "a/b, c/d;q=0.5, ");
	assert_string_equal(r.header[HEADER_IF_NONE_MATCH], "\"x\", \"y\"");
	assert_string_equal(r.header[HEADER_RANGE], "bytes=0-1"); // no list: the first counts
	assert_null(r.header[HEADER_ACCEPT_ENCODING]);
}

// Exceeds LIMIT_REQUEST_HEADER.
static void a_list_has_a_limit(void **state)
{
	(void)state;
	CLEANUP(request_release) struct request r = {0};
	for (size_t i = 0; i < LIMIT_REQUEST_HEADER; i++)
		request_take_header(&r, STR("Accept-Encoding"), "gzip");
	size_t len = strlen(r.header[HEADER_ACCEPT_ENCODING]);
	assert_in_range(len, LIMIT_REQUEST_HEADER - strlen("gzip, "), LIMIT_REQUEST_HEADER);
}

static void the_length_of_the_body(void **state)
{
	(void)state;
	struct request r = {0};
	assert_true(request_content_length(&r) == 0);
	request_take_header(&r, STR("Content-Length"), "1234");
	assert_true(request_content_length(&r) == 1234);
	r.header[HEADER_CONTENT_LENGTH] = "99999999999999999999";
	assert_true(request_content_length(&r) == UINT64_MAX);
}

static void parameters_of_the_query(void **state)
{
	(void)state;
	static char longest[LIMIT_FILE_NAME + 2];
	memset(longest, 'a', sizeof(longest) - 1);
	char text[REQUEST_ARGUMENT_SIZE];
	struct request r = {0};
	request_take_argument(&r, STR("project"), "a+b%2Bc");
	request_take_argument(&r, STR("project"), "second");
	request_take_argument(&r, STR("limit"), "%zz");
	request_take_argument(&r, STR("result"), longest);
	assert_true(request_read_argument(&r, ARGUMENT_PROJECT, text));
	assert_string_equal(text, "a b+c");
	assert_false(request_read_argument(&r, ARGUMENT_LIMIT, text));
	assert_true(request_read_argument(&r, ARGUMENT_PLATFORM, text));
	assert_string_equal(text, "");
	assert_false(request_read_argument(&r, ARGUMENT_RESULT, text));
	r.argument[ARGUMENT_RESULT]++;
	assert_true(request_read_argument(&r, ARGUMENT_RESULT, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_a_list_are_joined),
		cmocka_unit_test(a_list_has_a_limit), cmocka_unit_test(the_length_of_the_body),
		cmocka_unit_test(parameters_of_the_query)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
