// SPDX-License-Identifier: Apache-2.0
#include "builder/step/sdist-fetch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/support/loopback.h"

enum { PATIENT_S = 600, MOST = 1 << 20 };

static struct loopback *server, *other;
static struct config config;
static atomic_int asked;
static atomic_bool authorized, stop;
static char path[] = "/tmp/wheelcache-sdist-XXXXXX/sdist";

static bool answer(void *ctx, int fd, const char *place, const char *head)
{
	(void)ctx;
	int n = atomic_fetch_add(&asked, 1);
	if (strstr(head, "uthorization: "))
		authorized = true;
	if (strcmp(place, "/lost") == 0 && n < 1)
		return false;
	if (strcmp(place, "/500") == 0)
		return loopback_send(fd, "500 Internal Server Error", "", "words", 5);
	if (strcmp(place, "/429") == 0)
		return loopback_send(fd, "429 Too Many Requests", "", "words", 5);
	if (strcmp(place, "/403") == 0)
		return loopback_send(fd, "403 Forbidden", "", "words", 5);
	if (strcmp(place, "/404") == 0)
		return loopback_send(fd, "404 Not Found", "", "words", 5);
	if (strcmp(place, "/cut") == 0) {
		loopback_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", 41);
		return false;
	}
	if (strcmp(place, "/away") == 0) {
		char location[64];
		snprintf(location, sizeof(location), "Location: http://localhost:%u/\r\n", loopback_port(other));
		return loopback_send(fd, "302 Found", location, "", 0);
	}
	return loopback_send(fd, "200 OK", "", "sdist", 5);
}

static int set_up(void **state UNUSED)
{
	char *slash = strrchr(path, '/');
	config_init(&config);
	config.max_file = MOST;
	config.upstream.retries = 1;
	server = loopback_new(answer, NULL);
	other = loopback_new(answer, NULL);
	*slash = '\0';
	bool is_made = mkdtemp(path) != NULL;
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *home = xasprintf("http://127.0.0.1:%u/simple/", loopback_port(server));
	is_made = config_set(&config, "upstream", "url", home, &e) == 0 && is_made;
	*slash = '/';
	return is_made ? 0 : -1;
}

static int tear_down(void **state UNUSED)
{
	loopback_free(server);
	loopback_free(other);
	config_release(&config);
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

static int fetch_from(const char *url, const char *from, const char *sha256, int64_t size, struct err *e)
{
	char hash[SHA256_HEX + 1];
	const struct missing_row row = {.platform = "p", .project = "a", .sdist = {"a-1.tar.gz", url, sha256, size}};
	const struct sdist_source source = {.config = &config,
		.from = from,
		.fetch = {.user = "__token__",
			.password = "s/cret",
			.connect_seconds = PATIENT_S,
			.stall_seconds = PATIENT_S},
		.stop = &stop,
		.seconds = PATIENT_S};
	atomic_store(&asked, 0);
	atomic_store(&authorized, false);
	int result = sdist_fetch(&source, &row, path, hash, e);
	unlink(path);
	return result;
}

static int fetch_place(const char *place, const char *sha256, int64_t size, struct err *e)
{
	CLEANUP(mem_free) char *url = xasprintf("http://127.0.0.1:%u%s", loopback_port(server), place);
	return fetch_from(url, NULL, sha256, size, e);
}

static void test_errors(void **state UNUSED)
{
	static const struct {
		const char *place, *sha256;
		int64_t size;
		enum err_kind kind;
		int asked;
	} samples[] = {
		{"/good", NULL, -1, ERR_NONE, 1}, {"/good", NULL, 5, ERR_NONE, 1}, {"/good", NULL, 6, ERR_INVALID, 1},
		{"/good", NULL, 4, ERR_LIMIT, 1}, {"/good", NULL, MOST + 1, ERR_LIMIT, 0},
		{"/good", "00", -1, ERR_INVALID, 1}, {"/lost", NULL, -1, ERR_NONE, 2},
		{"/404", NULL, -1, ERR_NOT_FOUND, 1}, {"/500", NULL, -1, ERR_NET, 2}, {"/cut", NULL, -1, ERR_NET, 2},
		{"/429", NULL, -1, ERR_NET, 2}, {"/403", NULL, -1, ERR_DENIED, 1}, // an answer, so not out of reach
		{"/away", NULL, -1, ERR_NET, 1}, // to another server that is not allowed, which is not the wheel's fault
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct err e = ERR_INIT;
		int result = fetch_place(samples[i].place, samples[i].sha256, samples[i].size, &e);
		if (result != (samples[i].kind == ERR_NONE ? 0 : -1) || e.kind != samples[i].kind ||
			asked != samples[i].asked)
			fail_msg("%s: %d times, %s", samples[i].place, asked, e.msg);
		assert_false(authorized);
	}
}

static void test_hash_of_the_bytes(void **state UNUSED)
{
	uint8_t sha256[SHA256_SIZE];
	char hex[SHA256_HEX + 1] = "";
	struct err e = ERR_INIT;
	digest_sha256(STR("sdist"), sha256);
	hex_encode(sha256, SHA256_SIZE, hex);
	if (fetch_place("/good", hex, 5, &e) < 0)
		fail_msg("%s", e.msg);
	char *last = &hex[SHA256_HEX - 1];
	*last = *last == '0' ? '1' : '0';
	assert_int_equal(fetch_place("/good", hex, 5, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_non_null(strstr(e.msg, hex));
}

// What another server names may not lead into our network.
static void test_private_addresses_of_others(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *url = xasprintf("http://127.0.0.1:%u/good", loopback_port(other));
	assert_int_equal(fetch_from(url, NULL, NULL, -1, &e), -1);
	assert_int_equal(asked, 0);
	assert_int_equal(e.kind, ERR_NET); // the row waits: the builder may not go there, and the wheel may be good
	assert_non_null(strstr(e.msg, "allow-private = yes"));
}

// The token goes to the server that listed the row, and to no other.
static void test_server_gets_the_token(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *from = xasprintf("http://127.0.0.1:%u/", loopback_port(server));
	assert_int_equal(fetch_from("file:a/a-1.tar.gz", from, NULL, 5, &e), 0);
	assert_true(authorized);
	CLEANUP(mem_free) char *bad = xasprintf("http://127.0.0.1:%u/404/", loopback_port(server));
	assert_int_equal(fetch_from("file:a/a-1.tar.gz", bad, NULL, 4, &e), -1);
	assert_null(strstr(e.msg, "cret"));
}

static void test_nothing_here(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(fetch_from("file:a/a-1.tar.gz", NULL, NULL, -1, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	stop = true;
	assert_int_equal(fetch_place("/good", NULL, -1, &e), -1);
	stop = false;
	assert_int_equal(e.kind, ERR_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_hash_of_the_bytes),
		cmocka_unit_test(test_private_addresses_of_others),
		cmocka_unit_test(test_server_gets_the_token),
		cmocka_unit_test(test_nothing_here),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
