// SPDX-License-Identifier: Apache-2.0
// When upstream is asked, which clients wait, and how long an answer is fresh. Tests move rows of the catalog back in
// time.
#include "server/upstream/upstream-pages.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/domain/index/simplepage.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "server/upstream/debounce.h"
#include "tests/unit/support/loopback.h"
#include "tests/unit/support/sleeper.h"

enum { ASKERS = 40, PATIENT_S = 60, MINUTE = 60, HOUR = 3600, DAY = 86400 };

// An upstream that has every project but "none". The answer for "held" waits for the gate.
static const struct config_order all = {.count = 1}; // the only upstream

struct fixture {
	struct loopback *server;
	struct config config;
	struct catalog_pool *readers;
	struct catalog *catalog;
	struct upstreams *upstreams;
	struct upstream_pages *upstream_pages;
	char folder[64];
	atomic_int asked, learned; // not counting "probe"
	atomic_bool is_down;
	sem_t held, gate, came; // came: a request arrived, other than for "probe"
};

static bool answer(void *ctx, int fd, const char *path, const char *head UNUSED)
{
	struct fixture *f = ctx;
	char name[64];
	if (sscanf(path, "/simple/%63[^/]/", name) != 1)
		return false;
	if (strcmp(name, "probe") != 0) {
		atomic_fetch_add(&f->asked, 1);
		sem_post(&f->came);
	}
	if (strcmp(name, "held") == 0) {
		sem_post(&f->held);
		sem_wait(&f->gate);
	}
	if (atomic_load(&f->is_down))
		return loopback_send(fd, "500 Oh", "", "", 0);
	if (strcmp(name, "none") == 0)
		return loopback_send(fd, "404 Not Found", "", "", 0);
	CLEANUP(mem_free)
	char *body = xasprintf(
		"{\"meta\": {\"api-version\": \"1.0\"}, \"name\": \"%s\", \"files\": [{\"filename\": \"%s-1-py3-none-any.whl\", "
		"\"url\": \"a.whl\", \"hashes\": {}}]}",
		name, name);
	return loopback_send(fd, "200 OK", "Content-Type: application/vnd.pypi.simple.v1+json\r\n", body, strlen(body));
}

static int learn(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	struct fixture *f = ctx;
	atomic_fetch_add(&f->learned, strcmp(a->project, "probe") != 0);
	return 0;
}

static void start(struct fixture *f)
{
	struct err e = ERR_INIT;
	if (upstreams_new(&f->config, &f->upstreams, &e) < 0)
		fail_msg("%s", e.msg);
	f->upstream_pages = upstream_pages_start(&f->config, f->upstreams, f->readers, NULL, learn, f);
}

// Afterwards all answers are in the catalog.
static void stop(struct fixture *f)
{
	upstream_pages_free(STEAL_PTR(f->upstream_pages));
	upstreams_free(STEAL_PTR(f->upstreams));
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	snprintf(f->folder, sizeof(f->folder), "test-upstream-pages.XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	sem_init(&f->held, 0, 0);
	sem_init(&f->gate, 0, 0);
	sem_init(&f->came, 0, 0);
	f->server = loopback_new(answer, f);
	config_init(&f->config);
	CLEANUP(mem_free) char *url = xasprintf("http://127.0.0.1:%u/simple", loopback_port(f->server));
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db", f->folder);
	const char *const keys[][2] = {{"url", url}, {"retries", "0"}, {"timeout", "10m"}, {"max-age", "10m"},
		{"negative-max-age", "1h"}, {"stale", "7d"}};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (config_set(&f->config, "upstream", keys[i][0], keys[i][1], &e) < 0)
			return -1;
	if (catalog_open(path, &f->catalog, &e) < 0)
		return -1;
	f->readers = catalog_pool_new(path);
	start(f);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", f->folder);
	stop(f);
	catalog_pool_free(f->readers);
	catalog_close(f->catalog);
	loopback_free(f->server);
	config_release(&f->config);
	sem_destroy(&f->held);
	sem_destroy(&f->gate);
	sem_destroy(&f->came);
	free(f);
	return system(command);
}

// What fn was called with.
struct told {
	enum upstream_result result;
	bool has_page;
};

static int take(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	struct told *told = ctx;
	*told = (struct told){a->result, a->stale && a->stale->files == 1};
	return 0;
}

static int ask(struct fixture *f, const char *project, struct sleeper *s, struct told *told)
{
	struct err e = ERR_INIT;
	int result =
		upstream_pages_get(f->upstream_pages, f->catalog, project, &all, "192.0.2.1", 0, &s->base, take, told, &e);
	if (result < 0)
		fail_msg("%s", e.msg);
	return result;
}

// Repeats the call until it is answered.
static struct told insist(struct fixture *f, const char *project)
{
	struct told told;
	struct sleeper s;
	sleeper_init(&s);
	while (ask(f, project, &s, &told) == UPSTREAM_PAGES_LATER)
		sem_wait(&s.is_woken);
	return told;
}

static void all_who_want_a_page_make_one_request(void **state)
{
	struct fixture *f = *state;
	static struct sleeper s[ASKERS];
	struct told told;
	for (size_t i = 0; i < ASKERS; i++) {
		sleeper_init(&s[i]);
		assert_int_equal(ask(f, "held", &s[i], &told), UPSTREAM_PAGES_LATER);
	}
	assert_false(upstream_pages_is_fresh(f->upstream_pages, STR("held"), &all));
	sem_wait(&f->held);
	sem_post(&f->gate);
	for (size_t i = 0; i < ASKERS; i++) {
		sem_wait(&s[i].is_woken);
		assert_int_equal(f->learned, 1); // before any client gets the answer
		assert_int_equal(ask(f, "held", &s[i], &told), UPSTREAM_PAGES_ANSWERED);
		assert_true(told.result == UPSTREAM_KNOWN && told.has_page);
	}
	assert_true(upstream_pages_is_fresh(f->upstream_pages, STR("held"), &all));
	assert_int_equal(f->asked, 1);
	stop(f);
	for (size_t i = 0; i < ASKERS; i++)
		assert_int_equal(s[i].woken, 1);
	start(f);
	assert_true(insist(f, "held").has_page); // from the catalog
	assert_int_equal(f->asked, 1);
}

static int count(void *ctx, const struct catalog_upstream *row UNUSED, struct err *e UNUSED)
{
	++*(int *)ctx;
	return 0;
}

static int rows_of(struct fixture *f, const char *project)
{
	struct err e = ERR_INIT;
	int rows = 0;
	if (catalog_upstream_rows(f->catalog, project, count, &rows, &e) < 0)
		fail_msg("%s", e.msg);
	return rows;
}

// The client has the page before it is saved, and the catalog does not delay other clients of the burst.
static void it_is_written_in_a_debounce(void **state)
{
	struct fixture *f = *state;
	const struct timespec often = {.tv_nsec = 1000000};
	int64_t began = clock_ms();
	assert_true(insist(f, "page").has_page);
	while (rows_of(f, "page") == 0)
		nanosleep(&often, NULL);
	assert_true(clock_ms() - began >= DEBOUNCE_PAUSE_MS);
}

static void who_does_not_wait_is_told_what_there_is(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct told told;
	assert_int_equal(upstream_pages_get(f->upstream_pages, f->catalog, "held", &all, NULL, 0, NULL, take, &told, &e),
		UPSTREAM_PAGES_ANSWERED);
	assert_true(told.result == UPSTREAM_NEVER_ASKED && !told.has_page);
	sem_wait(&f->held); // it is requested all the same
	sem_post(&f->gate);
	assert_true(insist(f, "held").has_page);
	assert_int_equal(f->asked, 1);
}

static void failure_is_told_to_all(void **state)
{
	struct fixture *f = *state;
	f->is_down = true;
	struct told told = insist(f, "page");
	assert_true(told.result == UPSTREAM_SERVER_ERROR && !told.has_page);
	assert_false(upstream_pages_is_fresh(f->upstream_pages, STR("page"), &all));
}

static void giving_up_wakes_all(void **state)
{
	struct fixture *f = *state;
	static struct sleeper s[ASKERS];
	struct told told;
	for (size_t i = 0; i < ASKERS; i++) {
		sleeper_init(&s[i]);
		assert_int_equal(ask(f, "held", &s[i], &told), UPSTREAM_PAGES_LATER);
	}
	sem_wait(&f->held);
	upstream_pages_cancel(f->upstream_pages);
	for (size_t i = 0; i < ASKERS; i++) {
		sem_wait(&s[i].is_woken);
		assert_int_equal(ask(f, "held", &s[i], &told), UPSTREAM_PAGES_ANSWERED);
		assert_true(told.result == UPSTREAM_NEVER_ASKED && !told.has_page);
	}
	assert_int_equal(ask(f, "page", &s[0], &told), UPSTREAM_PAGES_ANSWERED);
	sem_post(&f->gate);
	stop(f);
	for (size_t i = 0; i < ASKERS; i++)
		assert_int_equal(s[i].woken, 1);
	assert_int_equal(f->asked, 1);
}

// --- ages ---

struct aging {
	struct catalog *catalog;
	int64_t by;
};

static int move_back(void *ctx, const struct catalog_upstream *row, struct err *e)
{
	const struct aging *x = ctx;
	struct catalog_upstream put = *row;
	int64_t changed;
	put.asked -= x->by;
	put.fetched -= row->fetched ? x->by : 0;
	return catalog_upstream_put(x->catalog, &put, false, false, &changed, e);
}

// Simulates that so many seconds pass without requests: a new server starts with the catalog.
static void age(struct fixture *f, const char *project, int64_t seconds)
{
	struct aging x = {f->catalog, seconds};
	struct err e = ERR_INIT;
	stop(f);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(f->catalog, &t, &e) < 0 ||
		catalog_upstream_rows(f->catalog, project, move_back, &x, &e) < 0 || catalog_commit(&t, &e) < 0)
		fail_msg("%s", e.msg);
	start(f);
}

static void wait_for_request(struct fixture *f)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENT_S;
	if (sem_timedwait(&f->came, &end) < 0)
		fail_msg("nobody is asked");
}

static void answers_count_for_as_long_as_they_should(void **state)
{
	static const struct {
		const char *project;
		int64_t seconds;
		bool is_down;
		int first; // the result of the first call
		int asks;
		struct told last; // the result in the end
	} table[] = {
		{"page", 5 * MINUTE, false, UPSTREAM_PAGES_ANSWERED, 0, {UPSTREAM_KNOWN, true}},
		{"page", 5 * MINUTE, true, UPSTREAM_PAGES_ANSWERED, 0, {UPSTREAM_KNOWN, true}},
		{"page", 15 * MINUTE, false, UPSTREAM_PAGES_ANSWERED, 1,
			{UPSTREAM_KNOWN, true}}, // the stale page, while it is requested
		{"page", 15 * MINUTE, true, UPSTREAM_PAGES_ANSWERED, 1, {UPSTREAM_KNOWN, true}},
		// the clock was set back
		{"page", -15 * MINUTE, false, UPSTREAM_PAGES_ANSWERED, 1, {UPSTREAM_KNOWN, true}},
		{"page", 6 * DAY, true, UPSTREAM_PAGES_ANSWERED, 1, {UPSTREAM_KNOWN, true}},
		{"page", 8 * DAY, false, UPSTREAM_PAGES_LATER, 1, {UPSTREAM_KNOWN, true}},
		{"page", 8 * DAY, true, UPSTREAM_PAGES_LATER, 1, {UPSTREAM_SERVER_ERROR, false}},
		{"none", MINUTE, false, UPSTREAM_PAGES_ANSWERED, 0, {UPSTREAM_NOT_FOUND, false}},
		{"none", 2 * HOUR, false, UPSTREAM_PAGES_LATER, 1, {UPSTREAM_NOT_FOUND, false}},
		{"none", 2 * HOUR, true, UPSTREAM_PAGES_LATER, 1, {UPSTREAM_SERVER_ERROR, false}},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct sleeper s;
		struct told told;
		f->is_down = false;
		age(f, table[i].project, 9 * DAY);
		insist(f, table[i].project);
		age(f, table[i].project, table[i].seconds);
		int before = f->asked;
		while (sem_trywait(&f->came) == 0)
			;
		f->is_down = table[i].is_down;
		sleeper_init(&s);
		int first = ask(f, table[i].project, &s, &told);
		if (first == UPSTREAM_PAGES_LATER)
			sem_wait(&s.is_woken);
		if (first == UPSTREAM_PAGES_LATER)
			told = insist(f, table[i].project);
		insist(f, "probe"); // all requests before it have been sent
		if (table[i].asks)
			wait_for_request(f);
		stop(f);
		if (first != table[i].first || told.result != table[i].last.result ||
			told.has_page != table[i].last.has_page || f->asked - before != table[i].asks)
			fail_msg("%s after %lld s, %s: %s, %s, %s, asked %d times", table[i].project,
				(long long)table[i].seconds, table[i].is_down ? "down" : "up",
				first == UPSTREAM_PAGES_ANSWERED ? "told" : "later", upstream_result_name[told.result],
				told.has_page ? "a page" : "no page", f->asked - before);
		start(f);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_who_want_a_page_make_one_request),
		TEST(it_is_written_in_a_debounce),
		TEST(who_does_not_wait_is_told_what_there_is),
		TEST(failure_is_told_to_all),
		TEST(giving_up_wakes_all),
		TEST(answers_count_for_as_long_as_they_should),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
