// SPDX-License-Identifier: Apache-2.0
#include "builder/build-server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/str.h"

struct answer_row {
	unsigned status;
	const char *type, *body;
	enum err_kind wanted;
	const char *words; // of the message
};

static void test_answers(void **state UNUSED)
{
	static const struct answer_row table[] = {
		{200, "", "", ERR_NONE, ""},
		{201, "", "", ERR_NONE, ""},
		{301, "", "", ERR_INVALID, "301"},
		{400, "text/plain", "python is wrong\nmore", ERR_USAGE, "400: python is wrong"},
		{401, "text/html", "<html>", ERR_DENIED, "401"},
		{403, "application/json", "{\"message\": \"not you\"}", ERR_DENIED, "403: not you"},
		{403, "application/json", "{broken", ERR_DENIED, "403"},
		{403, "text/plain", "a\x1b[31mb", ERR_DENIED, "403: a?[31mb"},
		{403, "text/plain", "403 Forbidden: not you", ERR_DENIED, "http://h/: 403 Forbidden: not you"},
		{404, "", "", ERR_NOT_FOUND, "404"},
		{405, "", "", ERR_NOT_FOUND, "405"},
		{429, "", "", ERR_NET, "429"},
		{502, "", "", ERR_NET, "502"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(fetch_answer_release) struct fetch_answer a;
		CLEANUP(mem_free) char *type = xasprintf("Content-Type: %s\r\n", table[i].type);
		struct err e = ERR_INIT;
		fetch_answer_init(&a, 4096);
		a.status = table[i].status;
		assert_true(fetch_answer_add_header(&a, str_from(type)));
		assert_true(fetch_answer_add_body(&a, str_from(table[i].body)));
		assert_int_equal(server_answer_check(&a, "http://h/", &e), table[i].wanted == ERR_NONE ? 0 : -1);
		assert_int_equal(e.kind, table[i].wanted);
		if (e.kind != ERR_NONE && !strstr(e.msg, table[i].words))
			fail_msg("%s", e.msg);
	}
}

static void test_base_urls(void **state UNUSED)
{
	static const struct {
		const char *url, *base; // NULL: it is none
	} table[] = {
		{"https://h", "https://h/"},
		{"https://h/cache", "https://h/cache/"},
		{"https://h/?x", NULL},
		{"ftp://h/", NULL},
		{"h", NULL},
		{"https://me:secret@h/", NULL},
		{"https://me@h/", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *base = server_answer_base(table[i].url, "from", &e);
		assert_string_equal(base ? base : "none", table[i].base ? table[i].base : "none");
		assert_int_equal(e.kind, base ? ERR_NONE : ERR_USAGE);
		assert_null(strstr(e.msg, "secret"));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_base_urls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
