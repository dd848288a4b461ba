// SPDX-License-Identifier: Apache-2.0
// The single steps of lib/state/upstream/upstream, as a server's threads take them.
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/index/simplepage.h"
#include "lib/state/upstream/upstream.h"
#include "tests/unit/support/loopback.h"

enum { THREADS = 4, EACH = 20 };

static const struct config_order all = {.count = 1}; // the only upstream

struct fixture {
	struct loopback *server;
	struct config config;
	struct upstreams *upstreams;
	atomic_int asked, asked_fine, failing; // so many requests are answered with 500
	sem_t gate, held;                      // "/simple/gate/" waits
};

static bool answer(void *ctx, int fd, const char *path, const char *head UNUSED)
{
	struct fixture *f = ctx;
	char name[64];
	atomic_fetch_add(&f->asked, 1);
	if (sscanf(path, "/simple/%63[^/]/", name) != 1)
		return false;
	if (strcmp(name, "gate") == 0) {
		sem_post(&f->held);
		sem_wait(&f->gate);
	}
	atomic_fetch_add(&f->asked_fine, strcmp(name, "fine") == 0);
	if (strncmp(name, "tired", 5) == 0)
		return loopback_send(fd, "503 Oh", "Retry-After: 7200\r\n", "", 0);
	if (strcmp(name, "slow-down") == 0)
		return loopback_send(fd, "429 Oh", "Retry-After: 7200\r\n", "", 0);
	if (strcmp(name, "broken") == 0)
		return loopback_send(fd, "500 Oh", "", "", 0);
	if (atomic_fetch_sub(&f->failing, 1) > 0)
		return loopback_send(fd, "500 Oh", "", "", 0);
	CLEANUP(mem_free)
	char *body = xasprintf(
		"{\"meta\": {\"api-version\": \"1.0\"}, \"name\": \"%s\", \"files\": [{\"filename\": \"%s-1-py3-none-any.whl\", "
		"\"url\": \"a.whl\", \"hashes\": {}}]}",
		name, name);
	return loopback_send(fd, "200 OK", "Content-Type: application/vnd.pypi.simple.v1+json\r\n", body, strlen(body));
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	sem_init(&f->gate, 0, 0);
	sem_init(&f->held, 0, 0);
	f->server = loopback_new(answer, f);
	config_init(&f->config);
	CLEANUP(mem_free) char *url = xasprintf("http://127.0.0.1:%u/simple", loopback_port(f->server));
	assert_int_equal(config_set(&f->config, "upstream", "url", url, &e), 0);
	assert_int_equal(config_set(&f->config, "upstream", "timeout", "10m", &e), 0);
	assert_int_equal(upstreams_new(&f->config, &f->upstreams, &e), 0);
	upstreams_start(f->upstreams);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	upstreams_free(f->upstreams);
	loopback_free(f->server);
	config_release(&f->config);
	sem_destroy(&f->gate);
	sem_destroy(&f->held);
	free(f);
	return 0;
}

static void post(void *ctx, struct upstream_project *p UNUSED)
{
	sem_post(ctx);
}

struct lesson {
	enum upstream_result result;
	char why[200];
};

static int take_result(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	struct lesson *l = ctx;
	l->result = a->result;
	snprintf(l->why, sizeof(l->why), "%s", a->why);
	return a->result != UPSTREAM_KNOWN || (a->page && a->page->files == 1) ? 0 : -1;
}

static struct lesson learn(struct fixture *f, const char *name)
{
	struct upstream_project *p;
	struct err e = ERR_INIT;
	sem_t is_done;
	struct lesson lesson = {.result = UPSTREAM_RESULT_COUNT};
	sem_init(&is_done, 0, 0);
	if (upstream_load(f->upstreams, NULL, name, &p, &e) < 0)
		return lesson;
	upstream_request(f->upstreams, p, &all, post, &is_done);
	sem_wait(&is_done);
	upstream_parse(f->upstreams, p);
	if (upstream_report(f->upstreams, p, NULL, take_result, &lesson, &e) < 0)
		lesson.result = UPSTREAM_RESULT_COUNT;
	upstream_project_unref(p);
	sem_destroy(&is_done);
	return lesson;
}

static enum upstream_result ask(struct fixture *f, const char *name)
{
	return learn(f, name).result;
}

static void *ask_some(void *ctx)
{
	static atomic_int next;
	uintptr_t known = 0;
	char name[20];
	for (int i = 0; i < EACH; i++) {
		snprintf(name, sizeof(name), "p%d", atomic_fetch_add(&next, 1));
		known += ask(ctx, name) == UPSTREAM_KNOWN;
	}
	return (void *)known;
}

static void many_threads_ask(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[THREADS];
	uintptr_t known = 0;
	atomic_store(&f->failing, 2); // and what fails is tried again
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_some, f), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *of_thread;
		pthread_join(threads[i], &of_thread);
		known += (uintptr_t)of_thread;
	}
	assert_int_equal(known, THREADS * EACH);
	assert_int_equal(f->asked, THREADS * EACH + 2);
}

static void what_is_asked_is_answered_when_it_ends(void **state)
{
	struct fixture *f = *state;
	struct upstream_project *p;
	struct err e = ERR_INIT;
	struct lesson lesson;
	sem_t is_done;
	sem_init(&is_done, 0, 0);
	assert_int_equal(upstream_load(f->upstreams, NULL, "gate", &p, &e), 0);
	upstream_request(f->upstreams, p, &all, post, &is_done);
	sem_wait(&f->held);
	upstreams_cancel(f->upstreams);
	sem_wait(&is_done);
	upstream_parse(f->upstreams, p);
	assert_int_equal(upstream_report(f->upstreams, p, NULL, take_result, &lesson, &e), 0);
	assert_int_equal(lesson.result, UPSTREAM_OTHER);
	upstream_project_unref(p);
	sem_post(&f->gate);
	sem_destroy(&is_done);
}

static void rest_that_one_project_asks_for_is_its_own(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(ask(f, "tired-1"), UPSTREAM_SERVER_ERROR);
	assert_int_equal(f->asked, 1);
	struct lesson again = learn(f, "tired-1"); // it has its rest
	assert_int_equal(again.result, UPSTREAM_SERVER_ERROR);
	assert_non_null(strstr(again.why, "left alone"));
	assert_int_equal(f->asked, 1);
	for (int i = 0; i < 4; i++) { // others in between are well
		char name[20];
		snprintf(name, sizeof(name), "tired-%d", i + 2);
		assert_int_equal(ask(f, name), UPSTREAM_SERVER_ERROR);
		assert_int_equal(ask(f, "fine"), UPSTREAM_KNOWN);
	}
}

static void several_projects_speak_for_the_index(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(ask(f, "fine"), UPSTREAM_KNOWN);
	ask(f, "tired-1");
	ask(f, "tired-1");
	ask(f, "tired-2");
	ask(f, "tired-2");
	assert_int_equal(ask(f, "fine"), UPSTREAM_KNOWN);
	ask(f, "tired-3");
	ask(f, "tired-4");
	ask(f, "tired-5");
	assert_int_equal(ask(f, "fine"), UPSTREAM_THROTTLED);
	assert_int_equal(f->asked_fine, 2);
}

static void start_with(struct fixture *f, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	assert_int_equal(config_set(&f->config, "upstream", key, value, &e), 0);
	upstreams_free(f->upstreams);
	assert_int_equal(upstreams_new(&f->config, &f->upstreams, &e), 0);
	upstreams_start(f->upstreams);
}

static void project_that_is_broken_takes_no_other_along(void **state)
{
	struct fixture *f = *state;
	start_with(f, "retries", "0");
	for (int i = 0; i < 30; i++)
		assert_int_equal(ask(f, "broken"), UPSTREAM_SERVER_ERROR);
	assert_int_equal(f->asked, 30);
	assert_int_equal(ask(f, "fine"), UPSTREAM_KNOWN);
}

static void who_is_asked_too_much_has_a_rest(void **state)
{
	struct fixture *f = *state;
	int seconds = 0;
	start_with(f, "timeout", "20");
	assert_int_equal(ask(f, "slow-down"), UPSTREAM_THROTTLED);
	struct lesson l = learn(f, "fine");
	assert_int_equal(l.result, UPSTREAM_THROTTLED);
	assert_int_equal(f->asked_fine, 0);
	assert_int_equal(sscanf(strstr(l.why, "alone for "), "alone for %d s", &seconds), 1);
	assert_in_range(seconds, 1, 300); // and not for two hours
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(many_threads_ask),
		TEST(what_is_asked_is_answered_when_it_ends),
		TEST(rest_that_one_project_asks_for_is_its_own),
		TEST(several_projects_speak_for_the_index),
		TEST(project_that_is_broken_takes_no_other_along),
		TEST(who_is_asked_too_much_has_a_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
