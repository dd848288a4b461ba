// SPDX-License-Identifier: Apache-2.0
#include "server/message/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static const struct {
	struct str name, value;
	bool is_malformed, has_body;
	unsigned hosts;
} headers[] = {
	{STR("X"), STR(""), false, false, 0},
	{STR("X-1!#$%&'*+-.^_`|~z"), STR("\x80 \t\"<>"), false, false, 0},
	{STR("hOST"), STR("x"), false, false, 1},
	{STR("Hosts"), STR("x"), false, false, 0},
	{STR(""), STR("x"), true, false, 0},
	{STR("Content-Length "), STR("5"), true, false, 0},
	{STR("Content-Length\t"), STR("5"), true, false, 0},
	{STR("\rContent-Length"), STR("5"), true, false, 0},
	{STR("a\0b"), STR("x"), true, false, 0},
	{STR("a:b"), STR("x"), true, false, 0},
	{STR("a/b"), STR("x"), true, false, 0},
	{STR("a\x80"), STR("x"), true, false, 0},
	{STR("X"), STR("a\rContent-Length: 5"), true, false, 0},
	{STR("Content-Length"), STR("0"), false, false, 0},
	{STR("Content-Length"), STR("00"), false, true, 0},
	{STR("Content-Length"), STR("0 "), false, true, 0},
	{STR("Content-Length"), STR("0, 5"), false, true, 0},
	{STR("CONTENT-LENGTH"), STR("5"), false, true, 0},
	{STR("Content-Length"), STR(""), false, true, 0},
	{STR("Transfer-Encoding"), STR("chunked"), false, true, 0},
	{STR("transfer-encoding"), STR("identity"), false, true, 0},
	{STR("Expect"), STR("100-continue"), false, true, 0},
};

static void each_header(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		struct request_check s = {0};
		request_check_header(&s, headers[i].name, headers[i].value);
		if (s.is_malformed != headers[i].is_malformed || s.has_body != headers[i].has_body ||
			s.hosts != headers[i].hosts)
			fail_msg("line %zu: malformed %d, body %d, hosts %u", i, s.is_malformed, s.has_body, s.hosts);
	}
}

static void headers_add_up(void **state)
{
	(void)state;
	struct request_check s = {0};
	request_check_header(&s, STR("Host"), STR("x"));
	request_check_header(&s, STR("Content-Length"), STR("5"));
	request_check_header(&s, STR("Content-Length"), STR("0"));
	request_check_header(&s, STR("Host"), STR("x"));
	assert_true(s.has_body);
	assert_int_equal(s.hosts, 2);
	assert_false(s.is_malformed);
}

static const struct {
	struct str name[2], value[2];
	const char *version;
	unsigned status;
} bodies[] = {
	{{STR("Content-Length"), STR("X")}, {STR("5"), STR("")}, "HTTP/1.1", 0},
	{{STR("content-length"), STR("X")}, {STR("0"), STR("")}, "HTTP/1.0", 0},
	{{STR("Content-Length"), STR("X")}, {STR("18446744073709551616"), STR("")}, "HTTP/1.1", 0}, // the library's
	{{STR("Transfer-Encoding"), STR("X")}, {STR("Chunked"), STR("")}, "HTTP/1.1", 0},
	{{STR("Expect"), STR("Content-Length")}, {STR("100-continue"), STR("5")}, "HTTP/1.1", 0},
	{{STR("Expect"), STR("Content-Length")}, {STR("wonder"), STR("5")}, "HTTP/1.1", 417},
	{{STR("Host"), STR("Host")}, {STR("x"), STR("x")}, "HTTP/1.1", 400},
	{{STR("X"), STR("Y")}, {STR(""), STR("")}, "HTTP/1.1", 411},
	{{STR("Expect"), STR("X")}, {STR("100-continue"), STR("5")}, "HTTP/1.1", 411},
	{{STR("Content-Length"), STR("X")}, {STR(""), STR("")}, "HTTP/1.1", 400},
	{{STR("Content-Length"), STR("X")}, {STR("5 "), STR("")}, "HTTP/1.1", 400},
	{{STR("Content-Length"), STR("X")}, {STR("5, 5"), STR("")}, "HTTP/1.1", 400},
	{{STR("Content-Length"), STR("X")}, {STR("+5"), STR("")}, "HTTP/1.1", 400},
	{{STR("Content-Length"), STR("Content-Length")}, {STR("5"), STR("5")}, "HTTP/1.1", 400},
	{{STR("Content-Length"), STR("Transfer-Encoding")}, {STR("5"), STR("chunked")}, "HTTP/1.1", 400},
	{{STR("Transfer-Encoding"), STR("Transfer-Encoding")}, {STR("chunked"), STR("chunked")}, "HTTP/1.1", 400},
	{{STR("Transfer-Encoding"), STR("X")}, {STR("gzip, chunked"), STR("")}, "HTTP/1.1", 400},
	{{STR("Transfer-Encoding"), STR("X")}, {STR("chunked"), STR("")}, "HTTP/1.0", 400},
};

static void ends_of_bodies(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct request_check s = {0};
		request_check_header(&s, bodies[i].name[0], bodies[i].value[0]);
		request_check_header(&s, bodies[i].name[1], bodies[i].value[1]);
		CLEANUP(reply_cleanup)
		struct reply *r = request_check_refuse(&s, METHOD_POST, str_from(bodies[i].version));
		if ((r ? r->status : 0) != bodies[i].status)
			fail_msg("line %zu: %u", i, r ? r->status : 0);
	}
}

static void expectations(void **state)
{
	(void)state;
	struct request_check s = {0};
	request_check_header(&s, STR("eXPECT"), STR("100-CONTINUE"));
	assert_true(s.expects == 1 && !s.is_odd_expect);
	request_check_header(&s, STR("Expect"), STR("wonder"));
	assert_true(s.expects == 2 && s.is_odd_expect);
	assert_null(request_check_refuse(&s, METHOD_OTHER, STR("HTTP/1.1"))); // refused elsewhere
	CLEANUP(reply_cleanup) struct reply *r = request_check_refuse(&s, METHOD_GET, STR("HTTP/1.1"));
	assert_int_equal(r->status, 400);
}

// A header as libmicrohttpd leaves it in its buffer: cut by NULs, two for each line end.
static const char lines[] = "GET\0/x\0HTTP/1.1\0\0Host\0 \tx\0\0Y\0\0\0Z\0z\0\0\0\0";

static struct str piece(size_t at, size_t len)
{
	return (struct str){lines + at, len};
}

static bool fits(size_t target, size_t value, size_t end)
{
	struct request_check s = {.next = lines};
	request_check_piece(&s, piece(0, 3), 1);
	request_check_piece(&s, piece(target, 2), 1);
	request_check_piece(&s, piece(7, 8), 2);
	request_check_header(&s, piece(17, 4), piece(value, 1));
	request_check_header(&s, piece(27, 1), piece(29, 0));
	request_check_header(&s, piece(31, 1), piece(33, 1));
	request_check_piece(&s, piece(end, 0), 0);
	return !s.is_malformed;
}

static void pieces_follow_one_another(void **state)
{
	(void)state;
	assert_true(fits(4, 24, 36));
	assert_false(fits(3, 24, 36));
	assert_false(fits(4, 23, 36));
	assert_false(fits(4, 25, 36));
	assert_false(fits(4, 24, 35));
	assert_false(fits(4, 24, 37));
}

static void bare_cr_is_malformed(void **state)
{
	(void)state;
	struct request_check s = {0};
	request_check_piece(&s, STR("/simple/foo/?x"), 1);
	assert_false(s.is_malformed);
	request_check_piece(&s, STR("/simple/foo/?\rX:y"), 1);
	assert_true(s.is_malformed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_header),
		cmocka_unit_test(headers_add_up),
		cmocka_unit_test(ends_of_bodies),
		cmocka_unit_test(expectations),
		cmocka_unit_test(pieces_follow_one_another),
		cmocka_unit_test(bare_cr_is_malformed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
