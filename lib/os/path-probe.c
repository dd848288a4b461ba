// SPDX-License-Identifier: Apache-2.0
#include "lib/os/path-probe.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

struct question {
	struct question *next;
	char *path;
	char *real;
	unsigned askers;
	bool is_answered;
	bool is_late; // somebody waited in vain
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // all that follows, and all questions
static pthread_cond_t answered;
static struct question *questions;

static void begin(void)
{
	clock_cond_init(&answered);
}

// One that is answered goes with the last who asked; one that is not stays for its thread.
static void end_if_unused(struct question *q)
{
	if (!q->is_answered || q->askers)
		return;
	struct question **at = &questions;
	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	free(q->path);
	free(q->real);
	free(q);
}

static void *put(void *question)
{
	struct question *q = question;
	char *real = realpath(q->path, NULL);
	pthread_mutex_lock(&lock);
	q->real = real;
	q->is_answered = true;
	pthread_cond_broadcast(&answered);
	end_if_unused(q);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static struct question *new_question(const char *path)
{
	struct question *q = xcalloc(1, sizeof(*q));
	pthread_t thread;
	q->path = xstrdup(path);
	q->next = questions;
	questions = q;
	if (pthread_create(&thread, NULL, put, q) != 0)
		abort();
	pthread_detach(thread);
	return q;
}

struct question *path_probe_ask(const char *path)
{
	pthread_once(&once, begin);
	pthread_mutex_lock(&lock);
	struct question *q = questions;
	while (q && (strcmp(q->path, path) != 0 || q->is_answered))
		q = q->next;
	if (!q)
		q = new_question(path);
	q->askers++;
	pthread_mutex_unlock(&lock);
	return q;
}

bool path_probe_answer(struct question *q, int64_t end_ms, char **real)
{
	pthread_mutex_lock(&lock);
	while (!q->is_answered && !q->is_late && clock_wait(&answered, &lock, end_ms))
		;
	bool is_answered = q->is_answered;
	q->is_late = !is_answered;
	*real = q->real ? xstrdup(q->real) : NULL;
	q->askers--;
	end_if_unused(q);
	pthread_mutex_unlock(&lock);
	return is_answered;
}
