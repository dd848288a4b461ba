// SPDX-License-Identifier: Apache-2.0
#include "server/core/build-results.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/results/change-hook.h"

enum { ENDING_SECONDS = 5 }; // that on-change commands may take while the server stops

struct build_results {
	char *path;
	struct change_hook *hook;
	pthread_mutex_t lock; // held while an attempt is compared with the known one and recorded; guards what follows
	char *keep;
	char *on_change; // a command; NULL: none
};

static void set_keys(struct build_results *b, const struct config *c)
{
	free(b->keep);
	free(b->on_change);
	b->keep = xstrdup(c->build_keep_results);
	b->on_change = c->build_on_change ? xstrdup(c->build_on_change) : NULL;
}

struct build_results *build_results_new(const struct config *c, const char *catalog_path)
{
	struct build_results *b = xcalloc(1, sizeof(*b));
	b->path = results_path(c, catalog_path);
	b->hook = change_hook_new();
	pthread_mutex_init(&b->lock, NULL);
	set_keys(b, c);
	return b;
}

void build_results_configure(struct build_results *b, const struct config *c)
{
	pthread_mutex_lock(&b->lock);
	set_keys(b, c);
	pthread_mutex_unlock(&b->lock);
}

void build_results_free(struct build_results *b)
{
	if (!b)
		return;
	change_hook_free(b->hook, ENDING_SECONDS);
	pthread_mutex_destroy(&b->lock);
	free(b->path);
	free(b->keep);
	free(b->on_change);
	free(b);
}

int build_results_open(const struct build_results *b, unsigned milliseconds, struct results **out, struct err *e)
{
	if (!b)
		return err_set(e, ERR_NOT_FOUND, "there are no build results");
	if (results_open_read(b->path, out, e) < 0)
		return -1;
	results_limit(*out, milliseconds);
	return 0;
}

// --- what is known of an attempt ---

struct known_attempt {
	const struct results_attempt *sent;
	bool is_known, is_running, is_same;
	bool is_sent; // as the file has it: false for a row that a builder wrote into the same file
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
	k->is_sent = a->is_sent;
	k->is_same = is_same_attempt(a, k->sent);
	return 0;
}

// log ptr NULL: an attempt that is sent again without its log is the same.
static int compare_log(struct results *r, struct known_attempt *k, struct str log, struct err *e)
{
	struct err none = ERR_INIT;
	CLEANUP(buf_release) struct buf known;
	buf_init(&known, LIMIT_RESULT_LOG);
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
		return k->is_same ? compare_log(r, k, log, e) : 0;
	if (none.kind == ERR_NOT_FOUND)
		return 0;
	*e = none;
	return -1;
}

// A builder that shares the file with this server has written the row. What changed with it is told once, when it is
// sent.
static int record_shared(struct results *r, const struct known_attempt *known, enum results_change *change,
	struct err *e)
{
	const struct results_attempt *a = known->sent;
	if (known->is_sent)
		return 0;
	return results_change(r, a, change, e) < 0 ? -1 : results_mark_sent(r, a->id, e);
}

static int record_attempt(struct build_results *b, struct results *r, const struct results_attempt *a, struct str log,
	enum build_results_answer *answer, struct err *e)
{
	struct known_attempt known = {.sent = a};
	enum results_change change = RESULTS_UNCHANGED;
	if (read_known(r, &known, log, e) < 0)
		return -1;
	if (known.is_known && !known.is_running && !known.is_same)
		return err_set(e, ERR_CONFLICT, "build result %s is known with another content", a->id);
	*answer = known.is_same ? BUILD_RESULTS_SAME : known.is_known ? BUILD_RESULTS_CHANGED : BUILD_RESULTS_NEW;
	int result = known.is_same ? record_shared(r, &known, &change, e) : results_put(r, a, log, b->keep, &change, e);
	if (result == 0)
		change_hook_add(b->hook, b->on_change, a, change);
	return result;
}

int build_results_record(struct build_results *b, const struct results_attempt *a, struct str log,
	enum build_results_answer *answer, struct err *e)
{
	CLEANUP(results_cleanup) struct results *r = NULL;
	struct results_attempt sent = *a;
	sent.is_sent = true;
	pthread_mutex_lock(&b->lock);
	int result = results_open(b->path, &r, e);
	if (result == 0)
		result = record_attempt(b, r, &sent, log, answer, e);
	pthread_mutex_unlock(&b->lock);
	return result;
}
