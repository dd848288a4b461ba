// SPDX-License-Identifier: Apache-2.0
// Where a server may send a request on to, and what goes along. "localhost" is another host than 127.0.0.1.
#include "lib/net/fetch-pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "tests/unit/support/loopback.h"

enum { PATIENT_S = 60 };

// The server of the configuration, and the one that it names.
struct fixture {
	struct loopback *home, *other;
	const char *host; // that home names
};

static bool answer_elsewhere(void *ctx UNUSED, int fd, const char *path UNUSED, const char *head)
{
	return loopback_send(fd, "200 OK", "", head, strlen(head));
}

static bool answer_at_home(void *ctx, int fd, const char *path, const char *head)
{
	const struct fixture *f = ctx;
	if (strcmp(path, "/away") != 0)
		return loopback_send(fd, "200 OK", "", head, strlen(head));
	CLEANUP(mem_free)
	char *location = xasprintf("Location: http://%s:%u/\r\n", f->host, loopback_port(f->other));
	return loopback_send(fd, "302 Found", location, "", 0);
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	f->home = loopback_new(answer_at_home, f);
	f->other = loopback_new(answer_elsewhere, f);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	loopback_free(f->home);
	loopback_free(f->other);
	free(f);
	return 0;
}

struct outcome {
	enum fetch_failure failure;
	char body[1024];
};

static void note_outcome(void *ctx, const struct fetch_result *r)
{
	struct outcome *o = ctx;
	o->failure = r->failure;
	snprintf(o->body, sizeof(o->body), STR_FMT, STR_ARG(buf_view(&r->answer->body)));
}

static struct outcome get(struct fixture *f, const char *path, const char *allow_hosts, bool allow_private)
{
	struct outcome o = {.failure = FETCH_OTHER};
	CLEANUP(mem_free) char *url = xasprintf("http://me:secret@127.0.0.1:%u%s", loopback_port(f->home), path);
	struct fetch_pool *pool = fetch_pool_new(&(struct fetch_pool_options){.fetch.connect_seconds = PATIENT_S,
		.fetch.stall_seconds = PATIENT_S,
		.allow_hosts = allow_hosts,
		.allow_private = allow_private,
		.concurrency = 1});
	fetch_pool_get(pool, &(struct fetch_request){.url = url, .limit = 1000, .on_done = note_outcome, .ctx = &o});
	fetch_pool_run(pool);
	fetch_pool_free(pool);
	return o;
}

static void only_hosts_that_are_allowed_are_asked(void **state)
{
	static const struct {
		const char *host, *allow_hosts;
		bool allow_private;
		enum fetch_failure failure;
	} table[] = {
		{"localhost", NULL, true, FETCH_REDIRECT},
		{"localhost", "files.example", true, FETCH_REDIRECT},
		{"localhost", "files.example localhost", true, FETCH_WHOLE},
		{"localhost", "localhost", false, FETCH_FORBIDDEN}, // a private address
		{"127.0.0.1", NULL, true, FETCH_WHOLE},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		f->host = table[i].host;
		struct outcome o = get(f, "/away", table[i].allow_hosts, table[i].allow_private);
		if (o.failure != table[i].failure)
			fail_msg("row %zu: %s", i, fetch_failure_name[o.failure]);
	}
}

static void the_password_is_for_its_server_alone(void **state)
{
	struct fixture *f = *state;
	static const char *const hosts[] = {"localhost", "127.0.0.1"}; // of the second only the port is another
	assert_non_null(strstr(get(f, "/", NULL, true).body, "Authorization: Basic"));
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		f->host = hosts[i];
		struct outcome o = get(f, "/away", "localhost", true);
		assert_int_equal(o.failure, FETCH_WHOLE);
		assert_non_null(strstr(o.body, "Host: "));
		assert_null(strstr(o.body, "Authorization"));
	}
}

static void write_password(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static void note_why(void *ctx, const struct fetch_result *r)
{
	snprintf(ctx, 1024, "%s" STR_FMT, r->why, STR_ARG(buf_view(&r->answer->body)));
}

static void ask_with_file(struct fixture *f, const char *path, const char *file, char out[1024])
{
	CLEANUP(mem_free) char *url = xasprintf("http://127.0.0.1:%u%s", loopback_port(f->home), path);
	struct fetch_pool *pool = fetch_pool_new(&(struct fetch_pool_options){.fetch.connect_seconds = PATIENT_S,
		.fetch.stall_seconds = PATIENT_S,
		.allow_hosts = "localhost",
		.allow_private = true,
		.password_file = file,
		.concurrency = 1});
	fetch_pool_get(pool, &(struct fetch_request){.url = url, .limit = 1000, .on_done = note_why, .ctx = out});
	fetch_pool_run(pool);
	fetch_pool_free(pool);
}

// Exceeds LIMIT_PASSWORD_FILE.
static void a_file_has_the_password(void **state)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *wanted; // in the head of the request, or in the log
	} rows[] = {
		{"me:one\n", 0600, "Authorization: Basic bWU6b25l\r\n"},
		{"me:two:three", 0400, "Authorization: Basic bWU6dHdvOnRocmVl\r\n"}, // changed, and read again
		{"me:one\n", 0640, "other accounts may read it (mode 0640): chmod 600 "},
		{"me\n", 0600, "it is not one line USER:PASSWORD"},
		{"me:one\nyou:two\n", 0600, "it is not one line USER:PASSWORD"},
		{":one\n", 0600, "it is not one line USER:PASSWORD"},
	};
	struct fixture *f = *state;
	char path[] = "test-password.XXXXXX", out[1024];
	close(mkstemp(path));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unlink(path);
		write_password(path, rows[i].text, rows[i].mode);
		ask_with_file(f, "/", path, out);
		struct err e = ERR_INIT;
		char *user, *password;
		bool is_good = fetch_password_read(path, &user, &password, &e) == 0;
		if (is_good) {
			free(user);
			free(password);
		}
		if (!strstr(is_good ? out : e.msg, rows[i].wanted) || !is_good != !!strstr(out, "password-file: "))
			fail_msg("%s: %s, %s", rows[i].text, out, e.msg);
		assert_null(strstr(out, path));
	}
	write_password(path, "me:one\n", 0600);
	f->host = "localhost";
	ask_with_file(f, "/away", path, out);
	assert_non_null(strstr(out, "Host: localhost"));
	assert_null(strstr(out, "Authorization"));
	CLEANUP(mem_free) char *large = xcalloc(LIMIT_PASSWORD_FILE + 2, 1);
	memset(large, 'a', LIMIT_PASSWORD_FILE + 1);
	large[1] = ':';
	write_password(path, large, 0600);
	ask_with_file(f, "/", path, out);
	assert_non_null(strstr(out, "password-file: "));
	assert_null(strstr(out, "Authorization"));
	unlink(path);
	ask_with_file(f, "/", path, out);
	assert_non_null(strstr(out, "password-file: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_hosts_that_are_allowed_are_asked, begin, end),
		cmocka_unit_test_setup_teardown(a_file_has_the_password, begin, end),
		cmocka_unit_test_setup_teardown(the_password_is_for_its_server_alone, begin, end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
