// SPDX-License-Identifier: Apache-2.0
// Every kind of error has a status, for reads and for uploads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/server-context.h"
#include "server/message/reply.h"

// What wheelcache(1) and docs/ promise, and clients rely on.
static void each_kind_has_its_status(void **state UNUSED)
{
	static const unsigned wanted[ERR_COUNT][ERROR_SIDE_COUNT] = {
		[ERR_NONE] = {500, 500},
		[ERR_USAGE] = {500, 500},
		[ERR_INVALID] = {500, 400},
		[ERR_NOT_FOUND] = {404, 503},
		[ERR_CONFLICT] = {409, 409},
		[ERR_DENIED] = {404, 410},
		[ERR_LIMIT] = {500, 413},
		[ERR_FULL] = {503, 507},
		[ERR_BUSY] = {503, 503},
		[ERR_IO] = {503, 503},
		[ERR_DB] = {503, 503},
		[ERR_NET] = {502, 502},
		[ERR_TIME] = {503, 503},
	};
	for (int kind = 0; kind < ERR_COUNT; kind++)
		for (int side = 0; side < ERROR_SIDE_COUNT; side++) {
			const struct error_status *s = error_status((enum err_kind)kind, (enum error_side)side);
			if (s->status != wanted[kind][side])
				fail_msg("kind %d, side %d: %u", kind, side, s->status);
		}
}

// A client that may try again gets Retry-After. A fault of the server is a 5xx, and an upload hides its message.
static void each_row_is_sound(void **state UNUSED)
{
	for (int kind = 0; kind < ERR_COUNT; kind++)
		for (int side = 0; side < ERROR_SIDE_COUNT; side++) {
			const struct error_status *s = error_status((enum err_kind)kind, (enum error_side)side);
			bool hides = side == ERROR_OF_READ || s->is_fault == (s->detail != NULL);
			bool is_right_fault = side == ERROR_OF_READ || s->status >= 500 || !s->is_fault;
			if (!s->title || (s->status == 503) != (s->retry_after > 0) || !hides || !is_right_fault)
				fail_msg("kind %d, side %d: %u %s", kind, side, s->status, s->title);
		}
}

static void one_status_has_one_title(void **state UNUSED)
{
	const char *title[600] = {NULL};
	for (int i = 0; i < ERR_COUNT * ERROR_SIDE_COUNT; i++) {
		const struct error_status *s =
			error_status((enum err_kind)(i / ERROR_SIDE_COUNT), (enum error_side)(i % ERROR_SIDE_COUNT));
		if (title[s->status])
			assert_string_equal(title[s->status], s->title);
		title[s->status] = s->title;
	}
}

static void a_read_answers_by_the_table(void **state UNUSED)
{
	for (int kind = ERR_USAGE; kind < ERR_COUNT; kind++) {
		struct err e = {.kind = (enum err_kind)kind, .msg = "/srv/secret/path"};
		const struct error_status *s = error_status(e.kind, ERROR_OF_READ);
		CLEANUP(reply_cleanup) struct reply *r = server_context_error(&e);
		const char *retry = reply_get_header(r, "Retry-After");
		assert_int_equal(r->status, s->status);
		assert_int_equal(retry ? strtoul(retry, NULL, 10) : 0, s->retry_after);
		assert_string_equal(reply_get_header(r, "Cache-Control"), "no-store");
		assert_null(memmem(blob_view(r->body).ptr, blob_view(r->body).len, "secret", 6));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_status),
		cmocka_unit_test(each_row_is_sound),
		cmocka_unit_test(one_status_has_one_title),
		cmocka_unit_test(a_read_answers_by_the_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
