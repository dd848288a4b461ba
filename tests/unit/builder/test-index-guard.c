// SPDX-License-Identifier: Apache-2.0
#include "builder/index-guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "tests/unit/support/loopback.h"

static const struct fetch_options quick = {.connect_seconds = 5, .stall_seconds = 5};
static const char *asked; // the path of the last request; static text or NULL

// A server with the platform p alone in "p" and "all", and another one in "other"; "bad" is no answer of ours.
static bool answer_view(void *ctx UNUSED, int fd, const char *path, const char *head UNUSED)
{
	static const struct {
		const char *path, *status, *body;
	} table[] = {
		{"/-/view/p", "200 OK", "{\"name\": \"p\", \"platforms\": [\"p\"], \"upstream\": false}"},
		{"/-/view/simple", "200 OK",
			"{\"name\": \"simple\", \"platforms\": [\"x\", \"p\"], \"upstream\": true}"},
		{"/-/view/other", "200 OK", "{\"name\": \"other\", \"platforms\": [\"x\"], \"upstream\": false}"},
		{"/-/view/bad", "200 OK", "{\"hello\": 1}"},
		{"/-/view/text", "200 OK", "no JSON"},
		{"/-/view/busy", "503 Busy", "busy"},
		{"/a/-/view/p", "200 OK", "{\"name\": \"p\", \"platforms\": [\"p\"], \"upstream\": false}"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(path, table[i].path) == 0) {
			asked = table[i].path;
			return loopback_send(fd, table[i].status, "Content-Type: application/json\r\n", table[i].body,
				strlen(table[i].body));
		}
	return loopback_send(fd, "404 Not Found", "", "", 0);
}

struct guard_row {
	const char *index; // PORT is that of the server
	const char *from;
	enum err_kind wanted;
	const char *asked; // NULL: nothing
	bool notes;
};

// Returns the URL with the port of the server; the caller frees it.
static char *url_of(const char *text, unsigned port)
{
	const char *at = strstr(text, "PORT");
	return at ? xasprintf("%.*s%u%s", (int)(at - text), text, port, at + strlen("PORT")) : xstrdup(text);
}

static void assert_guard(const struct guard_row *row, unsigned port)
{
	struct err e = ERR_INIT;
	struct config c;
	CLEANUP(mem_free) char *note = NULL;
	CLEANUP(mem_free) char *index = url_of(row->index, port);
	CLEANUP(mem_free) char *from = row->from ? url_of(row->from, port) : NULL;
	config_init(&c);
	const struct index_guard g = {.config = &c, .index = index, .platform = "p", .from = from, .fetch = &quick};
	asked = NULL;
	int result = index_guard_check(&g, &note, &e);
	if ((result < 0 ? e.kind : ERR_NONE) != row->wanted || (note != NULL) != row->notes)
		fail_msg("%s: %d %s, %s", row->index, (int)e.kind, e.msg, note ? note : "no note");
	if (strcmp(asked ? asked : "", row->asked ? row->asked : "") != 0)
		fail_msg("%s: asked %s", row->index, asked ? asked : "nothing");
	config_release(&c);
}

static void test_an_index_of_the_server(void **state UNUSED)
{
	static const char base[] = "http://127.0.0.1:PORT/";
	static const struct guard_row table[] = {
		{"http://127.0.0.1:PORT/p/simple/", base, ERR_USAGE, "/-/view/p", false},
		{"http://127.0.0.1:PORT/p/simple", base, ERR_USAGE, "/-/view/p", false},
		{"http://me:secret@127.0.0.1:PORT/p/simple/", base, ERR_USAGE, "/-/view/p", false},
		{"http://127.0.0.1:PORT/simple/", base, ERR_USAGE, "/-/view/simple", false},
		{"http://127.0.0.1:PORT/other/simple/", base, ERR_NONE, "/-/view/other", false},
		{"http://127.0.0.1:PORT/nowhere/simple/", base, ERR_USAGE, NULL, false},
		{"http://127.0.0.1:PORT/bad/simple/", base, ERR_USAGE, "/-/view/bad", false},
		{"http://127.0.0.1:PORT/text/simple/", base, ERR_USAGE, "/-/view/text", false},
		{"http://127.0.0.1:PORT/busy/simple/", base, ERR_NET, "/-/view/busy", false},
		{"http://127.0.0.1:PORT/a/p/simple/", base, ERR_USAGE, NULL, false}, // no view has a "/"
		{"http://127.0.0.1:PORT/a/p/simple/", "http://127.0.0.1:PORT/a/", ERR_USAGE, "/a/-/view/p", false},
		{"http://127.0.0.1:PORT/p/files/", base, ERR_USAGE, NULL, false},
	};
	struct loopback *l = loopback_new(answer_view, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_guard(&table[i], loopback_port(l));
	loopback_free(l);
}

// Of another server on the same host, what it tells counts; else nobody knows.
static void test_an_index_elsewhere(void **state UNUSED)
{
	static const char other[] = "http://127.0.0.1:1/";
	static const struct guard_row table[] = {
		{"http://127.0.0.1:PORT/p/simple/", other, ERR_USAGE, "/-/view/p", false},
		{"http://127.0.0.1:PORT/other/simple/", other, ERR_NONE, "/-/view/other", false},
		{"http://127.0.0.1:PORT/simple/", other, ERR_USAGE, "/-/view/simple", false},
		{"http://127.0.0.1:PORT/nowhere/simple/", other, ERR_NONE, NULL, true},
		{"http://127.0.0.1:PORT/p/simple/", "http://localhost:1/", ERR_NONE, NULL, true},
		{"http://127.0.0.1:PORT/p/simple/", NULL, ERR_NONE, NULL, true},
		{"file:///srv/index/", other, ERR_NONE, NULL, true},
	};
	struct loopback *l = loopback_new(answer_view, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_guard(&table[i], loopback_port(l));
	loopback_free(l);
}

// The builder serves the index itself: its configuration says what is in a view.
static void test_an_index_of_our_own(void **state UNUSED)
{
	static const struct {
		const char *index;
		enum err_kind wanted;
	} table[] = {
		{"http://own.example/w/p/simple/", ERR_USAGE},
		{"http://own.example/w/q/simple/", ERR_NONE},
		{"http://own.example/w/with/simple/", ERR_USAGE},
		{"http://own.example/w/without/simple/", ERR_NONE},
		{"http://own.example/w/simple/", ERR_USAGE}, // all platforms
		{"http://own.example/w/p/files/", ERR_USAGE},
	};
	struct err e = ERR_INIT;
	struct config c;
	config_init(&c);
	assert_int_equal(config_set(&c, "server", "url", "http://own.example/w/", &e), 0);
	assert_int_equal(config_set(&c, "view with", "platforms", "q p", &e), 0);
	assert_int_equal(config_set(&c, "view without", "platforms", "q", &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err why = ERR_INIT;
		CLEANUP(mem_free) char *note = NULL;
		const struct index_guard g = {.config = &c, .index = table[i].index, .platform = "p", .fetch = &quick};
		int result = index_guard_check(&g, &note, &why);
		if ((result < 0 ? why.kind : ERR_NONE) != table[i].wanted || note)
			fail_msg("%s: %s", table[i].index, result < 0 ? why.msg : "permitted");
	}
	config_release(&c);
}

static void test_the_index_is_the_first_upstream(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct config c;
	config_init(&c);
	assert_int_equal(config_set(&c, "upstream", "url", "https://one.example/simple/ https://two.example/simple/",
				 &e),
		0);
	CLEANUP(mem_free) char *first = index_guard_index(&c);
	assert_string_equal(first, "https://one.example/simple/");
	assert_int_equal(config_set(&c, "build", "index", "https://three.example/simple/", &e), 0);
	CLEANUP(mem_free) char *own = index_guard_index(&c);
	assert_string_equal(own, "https://three.example/simple/");
	config_release(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_index_of_the_server),
		cmocka_unit_test(test_an_index_elsewhere),
		cmocka_unit_test(test_an_index_of_our_own),
		cmocka_unit_test(test_the_index_is_the_first_upstream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
