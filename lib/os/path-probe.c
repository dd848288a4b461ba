// SPDX-License-Identifier: Apache-2.0
#include "lib/os/path-probe.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

struct path_probe {
	struct path_probe *next;
	char *path;
	char *real;
	unsigned waiters;
	bool is_done;
	bool is_late; // a wait for it was in vain
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // protects what follows, and all probes
static pthread_cond_t done;
static struct path_probe *probes;

static void init_condition(void)
{
	clock_cond_init(&done);
}

// Frees a probe that is done and has no waiter. One that is not done is still used by its thread.
static void free_if_unused(struct path_probe *p)
{
	if (!p->is_done || p->waiters)
		return;
	struct path_probe **at = &probes;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p->path);
	free(p->real);
	free(p);
}

static void *run_probe(void *probe)
{
	struct path_probe *p = probe;
	char *real = realpath(p->path, NULL);
	pthread_mutex_lock(&lock);
	p->real = real;
	p->is_done = true;
	pthread_cond_broadcast(&done);
	free_if_unused(p);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static struct path_probe *probe_new(const char *path)
{
	struct path_probe *p = xcalloc(1, sizeof(*p));
	pthread_t thread;
	p->path = xstrdup(path);
	p->next = probes;
	probes = p;
	if (pthread_create(&thread, NULL, run_probe, p) != 0)
		abort();
	pthread_detach(thread);
	return p;
}

struct path_probe *path_probe_start(const char *path)
{
	pthread_once(&once, init_condition);
	pthread_mutex_lock(&lock);
	struct path_probe *p = probes;
	while (p && (strcmp(p->path, path) != 0 || p->is_done))
		p = p->next;
	if (!p)
		p = probe_new(path);
	p->waiters++;
	pthread_mutex_unlock(&lock);
	return p;
}

bool path_probe_wait(struct path_probe *p, int64_t end_ms, char **real)
{
	pthread_mutex_lock(&lock);
	while (!p->is_done && !p->is_late && clock_wait(&done, &lock, end_ms))
		;
	bool is_done = p->is_done;
	p->is_late = !is_done;
	*real = p->real ? xstrdup(p->real) : NULL;
	p->waiters--;
	free_if_unused(p);
	pthread_mutex_unlock(&lock);
	return is_done;
}
