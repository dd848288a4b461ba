// SPDX-License-Identifier: Apache-2.0
#include "builder/build-state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/clock.h"

enum {
	ASK_TRIES = 7,     // of a server that does not answer
	ASK_WAIT_MS = 500, // before the second try; it doubles
	HOOK_SECONDS = 60, // for the changes that are left at the end
};

void build_state_init(struct build_state *b, const struct build_options *options, struct build_report *report)
{
	*b = (struct build_state){.options = options, .config = options->config, .report = report};
	pthread_mutex_init(&b->source_lock, NULL);
	pthread_mutex_init(&b->results_lock, NULL);
	pthread_mutex_init(&b->sender_lock, NULL);
	pthread_mutex_init(&b->lock, NULL);
	clock_cond_init(&b->changed);
	if (gethostname(b->host, sizeof(b->host) - 1) < 0 || !b->host[0])
		snprintf(b->host, sizeof(b->host), "localhost");
}

void build_state_release(struct build_state *b)
{
	hook_queue_free(b->hook, HOOK_SECONDS);
	result_sender_free(b->sender);
	results_close(b->sent);
	row_source_close(b->source);
	results_close(b->results);
	work_folder_release(&b->work);
	upload_url_release(&b->target);
	strset_release(&b->interrupted);
	free(b->micro);
	free(b->base);
	free(b->results_path);
	wheel_gate_unref(b->gate);
	pthread_cond_destroy(&b->changed);
	pthread_mutex_destroy(&b->lock);
	pthread_mutex_destroy(&b->sender_lock);
	pthread_mutex_destroy(&b->results_lock);
	pthread_mutex_destroy(&b->source_lock);
}

bool build_state_is_stopped(const struct build_state *b)
{
	return b->options->stop && atomic_load(b->options->stop);
}

void build_state_stop(struct build_state *b, const struct err *why)
{
	if (b->report->stop.kind != ERR_NONE)
		return;
	b->report->stop = *why;
	pthread_cond_broadcast(&b->changed);
}

struct build_row *build_state_row(struct build_state *b, const struct schedule_row *r)
{
	return &b->report->row[r - b->report->schedule.row];
}

bool build_state_wait(struct build_state *b, int64_t ms)
{
	int64_t end = clock_ms() + ms;
	pthread_mutex_lock(&b->lock);
	while (!build_state_is_stopped(b) && b->report->stop.kind == ERR_NONE && clock_wait(&b->changed, &b->lock, end))
		;
	bool goes_on = !build_state_is_stopped(b) && b->report->stop.kind == ERR_NONE;
	pthread_mutex_unlock(&b->lock);
	return goes_on;
}

int build_state_list(struct build_state *b, const char *python, const char *project, struct missing *out, struct err *e)
{
	for (unsigned try = 0;; try++) {
		pthread_mutex_lock(&b->source_lock);
		int result = row_source_list(b->source, python, project, out, e);
		pthread_mutex_unlock(&b->source_lock);
		if (result == 0 || e->kind != ERR_NET || try + 1 == ASK_TRIES)
			return result;
		if (!build_state_wait(b, (int64_t)ASK_WAIT_MS << try))
			return -1;
		*e = (struct err)ERR_INIT;
	}
}
