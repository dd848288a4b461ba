// SPDX-License-Identifier: Apache-2.0
// The attempts to build the version of a matrix.
#include <stdio.h>
#include <string.h>

#include "lib/base/limits.h"
#include "builder/missing/matrix-parts.h"
#include "lib/os/clock.h"

enum { DAY_SECONDS = 86400 };

struct attempt_reader {
	struct matrix_work *work;
	int64_t now;
	char last[LIMIT_FILE_NAME + 1]; // the text that was compared last,
	bool is_same;                   // and whether it is the version,
	bool is_earlier;                // or no later one than tried
	struct version tried;           // the newest later version; text NULL: none
};

// Equal versions may be spelled in several ways.
static bool is_at_version(struct attempt_reader *r, const char *text)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version v = {0};
	const struct version *wanted = &r->work->chosen;
	if (strcmp(text, r->last) == 0)
		return r->is_same;
	r->is_same = strcmp(text, wanted->text) == 0 ||
		     (version_parse(str_from(text), &v, &ignored) == 0 && str_eq(v.key, wanted->key));
	r->is_earlier = false;
	snprintf(r->last, sizeof(r->last), "%s", text);
	return r->is_same;
}

static struct matrix_attempt *attempt_at(struct matrix_work *w, const struct results_attempt *a)
{
	for (size_t i = 0; i < w->maker->places; i++) {
		const struct matrix_place *p = &w->maker->place[i];
		if (strcmp(p->platform->name, a->platform) == 0 && strcmp(p->python, a->python) == 0)
			return &w->attempt[i];
	}
	return NULL;
}

// An attempt at a version that we do not have yet: nothing else of the matrix tells of it.
static void note_later_version(struct attempt_reader *r, const char *text)
{
	struct err ignored = ERR_INIT;
	struct project_matrix *m = r->work->out;
	CLEANUP(version_release) struct version v = {0};
	if (r->is_earlier || version_parse(str_from(text), &v, &ignored) < 0)
		return;
	r->is_earlier = version_cmp(&v, m->tried ? &r->tried : &r->work->chosen) <= 0;
	if (r->is_earlier)
		return;
	version_release(&r->tried);
	r->tried = v;
	v = (struct version){0};
	m->tried = arena_copy(&m->text, str_from(text));
}

// The newest comes first. One from a clock that is a day ahead does not count, as for results_history().
static int note_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct attempt_reader *r = ctx;
	struct matrix_attempt *found = attempt_at(r->work, a);
	if (!found)
		return 0;
	if (!is_at_version(r, a->version)) {
		note_later_version(r, a->version);
		return 0;
	}
	r->work->attempts++;
	bool is_ended = a->result == RESULTS_OK || results_is_failure(a->result);
	if (!found->id) {
		found->id = arena_copy(&r->work->out->text, str_from(a->id));
		found->has_log = a->has_log;
		found->begun = a->begun;
		found->is_running = a->result == RESULTS_RUNNING;
	}
	if (is_ended && !found->has_ended && a->begun <= r->now + DAY_SECONDS) {
		found->has_ended = true;
		found->has_failed = results_is_failure(a->result);
		found->version = arena_copy(&r->work->out->text, str_from(a->version));
	}
	return 0;
}

int matrix_read_attempts(struct matrix_work *w, struct err *e)
{
	const struct project_matrix_maker *m = w->maker;
	struct attempt_reader r = {.work = w, .now = clock_wall_seconds()};
	const struct results_filter filter = {.project = w->out->project,
		.platforms = m->name,
		.platform_count = m->options.platforms,
		.limit = LIMIT_MATRIX_ATTEMPTS};
	w->attempt = arena_alloc_aligned(&w->out->text, (m->places + 1) * sizeof(*w->attempt));
	memset(w->attempt, 0, (m->places + 1) * sizeof(*w->attempt));
	if (!m->options.results || !w->chosen.text)
		return 0;
	int result = results_list(m->options.results, &filter, note_attempt, &r, e);
	version_release(&r.tried);
	return result;
}

static void put_failure(const struct results_history *h, const struct config *c, int64_t now, struct buf *out)
{
	char retry[CLOCK_TEXT];
	int64_t again = results_retry_time(c, h);
	buf_printf(out, "%s in step %s", results_result_name[h->result], h->step && *h->step ? h->step : "?");
	if (h->failures > 1)
		buf_printf(out, ", %u times in a row", h->failures);
	if (again && again <= now) {
		buf_puts(out, ", due to be tried again");
	} else if (again) {
		clock_write(again, retry);
		buf_printf(out, ", to be tried again at %s", retry);
	} else {
		buf_puts(out, ", not to be tried again by itself");
	}
	if (h->why && *h->why)
		buf_printf(out, ": %s", h->why);
}

int matrix_describe_failure(struct matrix_work *w, size_t place, struct buf *out, int64_t *since, struct err *e)
{
	const struct project_matrix_options *o = &w->maker->options;
	const struct matrix_place *p = &w->maker->place[place];
	CLEANUP(results_history_release) struct results_history h = {0};
	if (results_history(o->results, p->platform->name, p->python, w->out->project, w->attempt[place].version, &h,
		    e) < 0)
		return -1;
	*since = h.first_failed;
	put_failure(&h, o->config, clock_wall_seconds(), out);
	return 0;
}
