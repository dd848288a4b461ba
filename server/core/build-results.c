// SPDX-License-Identifier: Apache-2.0
#include "server/core/build-results.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/state/config/state-files.h"
#include "lib/state/results/change-hook.h"

enum { HOOK_SECONDS = 5 }; // for commands that are under way when the server stops

struct build_results {
	char *path, *attempts; // the index, and the folder of what is in it
	pthread_mutex_t lock; // held while an attempt is compared with the known one and recorded
	struct hook_queue *hook_queue;
};

// Makes an index that is lost, and takes over that of an older wheelcache, before a request asks.
static void settle_index(const struct build_results *b)
{
	struct err e = ERR_INIT;
	CLEANUP(results_cleanup) struct results *r = NULL;
	if ((access(b->path, F_OK) == 0 || access(b->attempts, F_OK) == 0) && results_open(b->path, b->attempts, &r, &e) < 0)
		log_error("%s", e.msg);
}

struct build_results *build_results_new(const struct config *c, const char *catalog_path)
{
	struct build_results *b = xcalloc(1, sizeof(*b));
	b->path = state_file(c, catalog_path, STATE_FILE_BUILDS);
	b->attempts = state_file(c, catalog_path, STATE_FILE_ATTEMPTS);
	settle_index(b);
	b->hook_queue = hook_queue_new("[build]");
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

void build_results_free(struct build_results *b)
{
	if (!b)
		return;
	hook_queue_free(b->hook_queue, HOOK_SECONDS);
	pthread_mutex_destroy(&b->lock);
	free(b->path);
	free(b->attempts);
	free(b);
}

int build_results_open(const struct build_results *b, unsigned milliseconds, struct results **out, struct err *e)
{
	if (!b)
		return err_set(e, ERR_NOT_FOUND, "there are no build results");
	if (results_open_read(b->path, b->attempts, out, e) < 0)
		return -1;
	results_limit(*out, milliseconds);
	return 0;
}

// --- what is known of an attempt ---

struct known_attempt {
	const struct results_attempt *sent;
	bool is_known, is_running, is_same;
	bool is_local;  // a builder that shares the file with the server has recorded it, and sends it now
	bool runs_here; // such a builder has it under way
};

static bool is_same_attempt(const struct results_attempt *a, const struct results_attempt *b)
{
	const char *const text[][2] = {{a->platform, b->platform}, {a->python, b->python}, {a->project, b->project},
		{a->version, b->version}, {a->step, b->step}, {a->why, b->why}, {a->files, b->files},
		{a->sdist, b->sdist}, {a->awaiting, b->awaiting}, {a->recipe, b->recipe}, {a->builder, b->builder},
		{a->provenance, b->provenance}};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		if (strcmp(text[i][0] ? text[i][0] : "", text[i][1] ? text[i][1] : "") != 0)
			return false;
	return a->result == b->result && a->begun == b->begun && a->peak_memory == b->peak_memory &&
	       fabs(a->seconds - b->seconds) < 0.002; // the file has milliseconds
}

static int compare_known(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct known_attempt *k = ctx;
	k->is_known = true;
	k->is_running = a->result == RESULTS_RUNNING;
	k->is_same = is_same_attempt(a, k->sent);
	k->is_local = k->is_same && !a->is_sent;
	k->runs_here = k->is_running && !a->is_sent;
	return 0;
}

// log ptr NULL: an attempt that is sent again without its log is the same.
static int compare_log(struct results *r, struct known_attempt *k, struct str log, struct err *e)
{
	struct err none = ERR_INIT;
	CLEANUP(buf_release) struct buf known = buf_up_to(LIMIT_RESULT_LOG);
	if (!log.ptr)
		return 0;
	if (results_log(r, k->sent->id, &known, &none) < 0 && none.kind != ERR_NOT_FOUND) {
		*e = none;
		return -1;
	}
	k->is_same = k->is_same && str_eq(buf_view(&known), log);
	return 0;
}

static int read_known(struct results *r, struct known_attempt *k, struct str log, struct err *e)
{
	struct err none = ERR_INIT;
	if (results_find(r, k->sent->id, compare_known, k, &none) == 0)
		return k->is_same && !k->is_local ? compare_log(r, k, log, e) : 0;
	return err_unless_missing(e, &none);
}

// c: has keep-results.
static int record_attempt(struct results *r, const struct config *c, const struct results_attempt *a, struct str log,
	enum build_results_answer *answer, enum results_change *change, struct err *e)
{
	struct known_attempt known = {.sent = a};
	if (read_known(r, &known, log, e) < 0)
		return -1;
	if (known.runs_here)
		return err_set(e, ERR_CONFLICT, "build result %s is of an attempt that runs here", a->id);
	if (known.is_known && !known.is_running && !known.is_same)
		return err_set(e, ERR_CONFLICT, "build result %s is known with another content", a->id);
	if (known.is_local) {
		*answer = BUILD_RESULTS_NEW;
		// The builder leaves on-change to the server, which is told once.
		return results_change(r, a, change, e) < 0 ? -1 : results_mark_sent(r, a->id, e);
	}
	*answer = known.is_same ? BUILD_RESULTS_SAME : known.is_known ? BUILD_RESULTS_CHANGED : BUILD_RESULTS_NEW;
	return known.is_same ? 0 : results_put(r, a, log, c->build_keep_results, change, e);
}

int build_results_record(struct build_results *b, const struct config *c, const struct results_attempt *a,
	struct str log, enum build_results_answer *answer, struct err *e)
{
	CLEANUP(results_cleanup) struct results *r = NULL;
	enum results_change change = RESULTS_UNCHANGED;
	struct results_attempt sent = *a;
	sent.is_sent = true;
	pthread_mutex_lock(&b->lock);
	int result = results_open(b->path, b->attempts, &r, e);
	if (result == 0)
		result = record_attempt(r, c, &sent, log, answer, &change, e);
	pthread_mutex_unlock(&b->lock);
	if (result == 0)
		change_hook_add(b->hook_queue, c->build_on_change, &sent, change);
	return result;
}
