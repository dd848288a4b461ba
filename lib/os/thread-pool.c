// SPDX-License-Identifier: Apache-2.0
#include "lib/os/thread-pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "lib/base/mem.h"

struct job {
	struct job *next;
	thread_pool_fn *fn;
	void *arg;
};

struct thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t has_work;
	pthread_cond_t is_idle;
	struct job *first, *last;
	size_t queued, running, waiting; // jobs, jobs, and threads that wait for one
	enum thread_pool_order order;
	bool ending;
	char name[16];
	unsigned threads, most; // those that have begun
	pthread_t thread[];
};

static struct job *take_job(struct thread_pool *p)
{
	p->waiting++;
	while (!p->first && !p->ending)
		pthread_cond_wait(&p->has_work, &p->lock);
	p->waiting--;
	struct job *j = p->first;
	if (!j)
		return NULL;
	p->first = j->next;
	if (!p->first)
		p->last = NULL;
	p->queued--;
	p->running++;
	return j;
}

static void *run_worker(void *arg)
{
	struct thread_pool *p = arg;
	pthread_setname_np(pthread_self(), p->name);
	pthread_mutex_lock(&p->lock);
	for (struct job *j; (j = take_job(p)) != NULL;) {
		pthread_mutex_unlock(&p->lock);
		j->fn(j->arg);
		free(j);
		pthread_mutex_lock(&p->lock);
		if (--p->running == 0 && !p->first)
			pthread_cond_broadcast(&p->is_idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

// On Linux each thread has a priority of its own, although POSIX says that the process has it.
void thread_pool_set_nice(int nice)
{
	setpriority(PRIO_PROCESS, 0, nice);
}

struct thread_pool *thread_pool_new(unsigned threads, enum thread_pool_order order, const char *name)
{
	struct thread_pool *p = xcalloc(1, sizeof(*p) + threads * sizeof(p->thread[0]));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->has_work, NULL);
	pthread_cond_init(&p->is_idle, NULL);
	p->order = order;
	p->most = threads;
	snprintf(p->name, sizeof(p->name), "%s", name);
	return p;
}

// Under the lock, where there are more jobs than threads that wait. Where the system gives no more threads, those that
// have begun do the work.
static void begin_thread(struct thread_pool *p)
{
	// The main thread handles the signals, so a worker starts with all of them blocked, except what its own faults
	// raise: a process dies of these where they are blocked, also if it has a handler
	// (lib/state/catalog/changes.h).
	static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV};
	sigset_t all, old;
	sigfillset(&all);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&p->thread[p->threads], NULL, run_worker, p) == 0)
		p->threads++;
	else if (!p->threads)
		abort();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void thread_pool_submit(struct thread_pool *p, thread_pool_fn *fn, void *arg)
{
	struct job *j = xmalloc(sizeof(*j));
	*j = (struct job){.fn = fn, .arg = arg};
	pthread_mutex_lock(&p->lock);
	if (!p->first) {
		p->first = p->last = j;
	} else if (p->order == THREAD_POOL_LAST_IN_FIRST_OUT) {
		j->next = p->first;
		p->first = j;
	} else {
		p->last->next = j;
		p->last = j;
	}
	if (++p->queued > p->waiting && p->threads < p->most)
		begin_thread(p);
	pthread_cond_signal(&p->has_work);
	pthread_mutex_unlock(&p->lock);
}

void thread_pool_drain(struct thread_pool *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->first || p->running)
		pthread_cond_wait(&p->is_idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void thread_pool_free(struct thread_pool *p)
{
	if (!p)
		return;
	thread_pool_drain(p);
	pthread_mutex_lock(&p->lock);
	p->ending = true;
	pthread_cond_broadcast(&p->has_work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->threads; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->is_idle);
	pthread_cond_destroy(&p->has_work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
