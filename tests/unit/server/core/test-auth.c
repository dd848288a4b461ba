// SPDX-License-Identifier: Apache-2.0
#include "server/core/auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "server/core/rate-limit.h"

// --- the rate limit ---

static void tries_cleanup(struct rate_limit **t)
{
	rate_limit_free(*t);
}

static int64_t fail_often(struct rate_limit *t, const char *peer, int times, int64_t now)
{
	int64_t wait = 0;
	for (int i = 0; i < times; i++)
		wait = rate_limit_take(t, peer, 1, now);
	return wait;
}

static void some_tries_at_once_then_one_now_and_then(void **state UNUSED)
{
	CLEANUP(tries_cleanup) struct rate_limit *t = rate_limit_new(RATE_LIMIT_AT_ONCE, RATE_LIMIT_MS);
	int64_t now = 5000;
	assert_int_equal(fail_often(t, "192.0.2.1", RATE_LIMIT_AT_ONCE, now), 0);
	assert_int_equal(rate_limit_take(t, "192.0.2.1", 1, now), RATE_LIMIT_MS);
	assert_int_equal(fail_often(t, "192.0.2.1", 100000, now), RATE_LIMIT_MS); // the wait does not grow
	assert_int_equal(rate_limit_take(t, "192.0.2.1", 1, now + RATE_LIMIT_MS - 1), 1);
	assert_int_equal(rate_limit_take(t, "192.0.2.1", 1, now + RATE_LIMIT_MS), 0);
	assert_int_equal(rate_limit_take(t, "192.0.2.1", 1, now + RATE_LIMIT_MS), RATE_LIMIT_MS);
	now += (int64_t)10 * RATE_LIMIT_AT_ONCE * RATE_LIMIT_MS;
	assert_int_equal(fail_often(t, "192.0.2.1", RATE_LIMIT_AT_ONCE, now), 0);
	assert_int_equal(rate_limit_take(t, "192.0.2.1", 1, now), RATE_LIMIT_MS);
}

// Exceeds LIMIT_EVIDENCE_UNIT, LIMIT_EVIDENCE_AT_ONCE, LIMIT_EVIDENCE_EACH_MS.
static void large_tries_count_as_several(void **state UNUSED)
{
	CLEANUP(tries_cleanup) struct rate_limit *t = rate_limit_new(LIMIT_EVIDENCE_AT_ONCE, LIMIT_EVIDENCE_EACH_MS);
	const unsigned most = LIMIT_EVIDENCE / LIMIT_EVIDENCE_UNIT + 1; // tries of the largest record
	unsigned sent = 0;
	while (rate_limit_take(t, "2c26b46b", most, 5000) == 0)
		sent += most;
	assert_in_range(sent, LIMIT_EVIDENCE_AT_ONCE - most, LIMIT_EVIDENCE_AT_ONCE);
	assert_true(rate_limit_take(t, "2c26b46b", most, 5000) <= (int64_t)most * LIMIT_EVIDENCE_EACH_MS);
	assert_int_equal(rate_limit_take(t, "2c26b46b", most, 5000 + (int64_t)most * LIMIT_EVIDENCE_EACH_MS), 0);
}

// Two addresses may share a slot by chance; of eight others, most do not.
static void each_has_his_own(void **state UNUSED)
{
	static const char *const others[] = {"192.0.2.2", "192.0.2.3", "192.0.2.4", "unix", "::ffff:192.0.2.9",
		"::ffff:192.0.2.10", "2001:db8:0:2::1", "2001:db8:0:3::1"};
	CLEANUP(tries_cleanup) struct rate_limit *t = rate_limit_new(RATE_LIMIT_AT_ONCE, RATE_LIMIT_MS);
	size_t held_up = 0;
	fail_often(t, "192.0.2.1", RATE_LIMIT_AT_ONCE, 0);
	fail_often(t, "::ffff:192.0.2.1", RATE_LIMIT_AT_ONCE, 0);
	fail_often(t, "2001:db8:0:1::1", RATE_LIMIT_AT_ONCE, 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		held_up += rate_limit_take(t, others[i], 1, 0) != 0;
	assert_true(held_up < 4);
	assert_int_not_equal(rate_limit_take(t, "2001:db8:0:1:ffff::7", 1, 0), 0); // the same network
}

// --- rights ---

static char path[] = "test-auth.XXXXXX";
static struct server_context context;

static int set_up(void **state UNUSED)
{
	log_set_level(LOG_LEVEL_ERROR);
	int fd = mkstemp(path);
	// The hash is that of "foo", so foo is the token.
	static const char text[] = "2c26b46b 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae "
				   "upload ubuntu-* * 2026-11-21T17:00:00Z never builder\n";
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return -1;
	close(fd);
	context.auth = auth_new(path);
	return 0;
}

static int tear_down(void **state UNUSED)
{
	auth_free(context.auth);
	return unlink(path);
}

static void credentials_are_read(void **state UNUSED)
{
	static const struct {
		const char *header; // NULL: none
		enum token_right right;
		const char *platform;
		unsigned status; // 0: allowed
		const char *who;
	} row[] = {
		{"Basic eDpmb28=", TOKEN_UPLOAD, "ubuntu-1", 0, "builder"},   // x:foo
		{"bAsIc  eDpmb28= ", TOKEN_UPLOAD, "ubuntu-1", 0, "builder"}, // RFC 9110 section 11.4 allows it
		{"Basic OmZvbw==", TOKEN_UPLOAD, "ubuntu-1", 0, "builder"},   // :foo
		{"Basic eDpmb28=", TOKEN_UPLOAD, "debian-1", 403, "builder"},
		{"Basic eDpmb28=", TOKEN_READ, "ubuntu-1", 403, NULL}, // no token has the right
		{NULL, TOKEN_READ, "ubuntu-1", 403, NULL},
		{NULL, TOKEN_UPLOAD, "ubuntu-1", 401, NULL},
		{"Basic eDpmb286", TOKEN_UPLOAD, "ubuntu-1", 401, NULL}, // x:foo:
		{"Basic Zm9v", TOKEN_UPLOAD, "ubuntu-1", 401, NULL},     // foo
		{"Basic eDo=", TOKEN_UPLOAD, "ubuntu-1", 401, NULL},     // x:
		{"Basic eDpmb28", TOKEN_UPLOAD, "ubuntu-1", 401, NULL},  // cut
		{"Basiceg eDpmb28=", TOKEN_UPLOAD, "ubuntu-1", 401, NULL},
		{"", TOKEN_UPLOAD, "ubuntu-1", 401, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct request r = {.peer = "192.0.2.1", .header = {[HEADER_AUTHORIZATION] = row[i].header}};
		CLEANUP(mem_free) char *who = NULL;
		CLEANUP(reply_cleanup)
		struct reply *reply = auth_check(&context, &r, row[i].right, row[i].platform, NULL, &who);
		if ((reply ? reply->status : 0) != row[i].status)
			fail_msg("row %zu: %u", i, reply ? reply->status : 0);
		assert_string_equal(who ? who : "-", row[i].who ? row[i].who : "-");
		if (!reply)
			continue;
		assert_string_equal(reply_get_header(reply, "Cache-Control"), "no-store");
		assert_int_equal(reply_get_header(reply, "WWW-Authenticate") != NULL, row[i].status == 401);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_tries_at_once_then_one_now_and_then),
		cmocka_unit_test(large_tries_count_as_several),
		cmocka_unit_test(each_has_his_own),
		cmocka_unit_test_setup_teardown(credentials_are_read, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
