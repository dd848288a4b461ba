// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/accesslog.h"
#include "server/message/reply.h"

static void test_the_304_of_a_reply(void **state UNUSED)
{
	CLEANUP(reply_cleanup) struct reply *r = reply_text(200, "hello %d", 7);
	reply_header(r, "Cache-Control", "max-age=%d", 5);
	reply_set_etag(r, "\"x\"");
	reply_header(r, "Content-Encoding", "gzip");
	assert_int_equal(r->length, strlen("hello 7\n"));
	assert_int_equal(r->unchanged->status, 304);
	assert_string_equal(r->unchanged->etag, "\"x\"");
	assert_string_equal(reply_get_header(r->unchanged, "Cache-Control"), "max-age=5");
	assert_null(reply_get_header(r->unchanged, "Content-Encoding"));
	assert_int_equal(r->unchanged->length, 0);
	assert_true(reply_weight(r) > reply_weight(r->unchanged));
}

// The original is sent to other clients as well, whose connections stay open.
static void test_a_reply_that_closes(void **state UNUSED)
{
	CLEANUP(reply_cleanup) struct reply *r = reply_text(409, "no");
	reply_header(r, "Retry-After", "%d", 5);
	CLEANUP(reply_cleanup) struct reply *closing = reply_closing(r);
	assert_int_equal(closing->status, 409);
	assert_int_equal(closing->length, strlen("no\n"));
	assert_ptr_equal(closing->body, r->body);
	assert_string_equal(closing->type, r->type);
	assert_string_equal(reply_get_header(closing, "Retry-After"), "5");
	assert_string_equal(reply_get_header(closing, "Connection"), "close");
	assert_null(reply_get_header(r, "Connection"));
}

static struct reply *make_part(struct reply *whole, uint64_t offset, uint64_t length)
{
	struct reply *part = reply_new(206, whole->type, blob_ref(whole->body));
	part->offset = offset;
	part->length = length;
	return part;
}

static void test_the_part_of_a_reply(void **state UNUSED)
{
	CLEANUP(reply_cleanup) struct reply *whole = reply_text(200, "hello");
	assert_null(reply_kept_part(whole, 1, 2));
	struct reply *first = make_part(whole, 1, 2), *second = make_part(whole, 1, 3);
	reply_keep_part(whole, first);
	reply_keep_part(whole, second);
	reply_unref(first);
	reply_unref(second);
	CLEANUP(reply_cleanup) struct reply *kept = reply_kept_part(whole, 1, 2);
	assert_ptr_equal(kept, first);
	assert_null(reply_kept_part(whole, 1, 3));
	assert_null(reply_kept_part(whole, 0, 2));
}

static void test_a_log_line_cannot_be_forged(void **state UNUSED)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	accesslog_write(out, &(struct accesslog_entry){.peer = "127.0.0.1",
				     .method = "GET",
				     .uri = "/a\"\n\\b\xc3\xa9",
				     .version = "HTTP/1.1",
				     .user_agent = NULL,
				     .status = 200,
				     .bytes = 12});
	fclose(out);
	assert_non_null(strstr(text, "\"GET /a\\x22\\x0a\\x5cb\\xc3\\xa9 HTTP/1.1\" 200 12 \"-\" \"-\"\n"));
	assert_ptr_equal(strchr(text, '\n'), text + len - 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_304_of_a_reply),
		cmocka_unit_test(test_a_reply_that_closes),
		cmocka_unit_test(test_the_part_of_a_reply),
		cmocka_unit_test(test_a_log_line_cannot_be_forged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
