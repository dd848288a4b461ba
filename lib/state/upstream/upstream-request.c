// SPDX-License-Identifier: Apache-2.0
// Requests, retries and back-off. All of a row in the thread of its upstream's pool, except for starting.
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/upstream-row.h"

static void try_row(struct upstream_row *row);

static const enum upstream_result by_failure[FETCH_FAILURE_COUNT] = {
	[FETCH_WHOLE] = UPSTREAM_KNOWN,
	[FETCH_REFUSED] = UPSTREAM_REFUSED,
	[FETCH_RESOLVE] = UPSTREAM_RESOLVE,
	[FETCH_TIMEOUT] = UPSTREAM_TIMEOUT,
	[FETCH_TLS] = UPSTREAM_TLS,
	[FETCH_TRUNCATED] = UPSTREAM_TRUNCATED,
	[FETCH_TOO_LARGE] = UPSTREAM_TOO_LARGE,
	[FETCH_REDIRECT] = UPSTREAM_REDIRECTED,
	[FETCH_FORBIDDEN] = UPSTREAM_REDIRECTED,
	[FETCH_PASSWORD] = UPSTREAM_PASSWORD,
	[FETCH_CANCELLED] = UPSTREAM_OTHER,
	[FETCH_OTHER] = UPSTREAM_OTHER,
};

// The first match decides.
static const struct {
	unsigned from, to;
	enum upstream_result result;
} by_status[] = {
	{200, 200, UPSTREAM_KNOWN},
	{304, 304, UPSTREAM_KNOWN},
	{404, 404, UPSTREAM_NOT_FOUND},
	{429, 429, UPSTREAM_THROTTLED},
	{500, 599, UPSTREAM_SERVER_ERROR},
};

// Failures that a retry may mend.
static const bool passes[UPSTREAM_RESULT_COUNT] = {
	[UPSTREAM_REFUSED] = true,
	[UPSTREAM_RESOLVE] = true,
	[UPSTREAM_TIMEOUT] = true,
	[UPSTREAM_TRUNCATED] = true,
	[UPSTREAM_SERVER_ERROR] = true,
	[UPSTREAM_THROTTLED] = true,
};

static enum upstream_result result_of(const struct fetch_result *r)
{
	if (r->failure != FETCH_WHOLE)
		return by_failure[r->failure];
	for (size_t i = 0; i < ARRAY_SIZE(by_status); i++)
		if (r->answer->status >= by_status[i].from && r->answer->status <= by_status[i].to)
			return by_status[i].result;
	return UPSTREAM_CLIENT_ERROR;
}

static uint64_t read_digits(struct str text)
{
	uint64_t n;
	decimal_cut(&text, INT64_MAX / 2, &n);
	return n;
}

// RFC 9111, section 5.2.2; -1: none.
static int64_t read_max_age(struct str control)
{
	int64_t age = -1;
	bool is_shared = false; // s-maxage precedes max-age: this is a shared cache
	while (control.len) {
		struct str value = str_cut(&control, ',');
		struct str name = str_trim(str_cut(&value, '='));
		if (str_eq_nocase(name, STR("no-cache")) || str_eq_nocase(name, STR("no-store")))
			return 0;
		bool shared = str_eq_nocase(name, STR("s-maxage"));
		if (!value.ptr || (!shared && (is_shared || !str_eq_nocase(name, STR("max-age")))))
			continue;
		age = (int64_t)read_digits(str_trim(value));
		is_shared = shared;
	}
	return age;
}

// The time that it was in other caches (RFC 9111, section 5.1).
static int64_t read_age(const struct fetch_answer *a)
{
	return (int64_t)read_digits(fetch_header(a, "age"));
}

// The remaining freshness lifetime (RFC 9111, section 4.2.3).
static int64_t read_freshness(const struct fetch_answer *a)
{
	int64_t max_age = read_max_age(fetch_header(a, "cache-control"));
	int64_t age = read_age(a);
	if (max_age < 0)
		return -1;
	return max_age > age ? max_age - age : 0;
}

// NULL if it is empty or too long.
static char *copy_header(const struct fetch_answer *a, const char *name)
{
	struct str value = fetch_header(a, name);
	return value.len && value.len <= LIMIT_WORDS ? xstrndup(value.ptr, value.len) : NULL;
}

static void begin_asking(void *ctx);

// In the thread of its own upstream's pool.
static void start_row(struct upstream_row *row)
{
	fetch_pool_call(row->index->upstream->pool, begin_asking, row);
}

// For indexes = first an index is asked only after those before it do not have the project, so that it does not learn
// other names. NULL: none is.
static struct upstream_row *next_wanted(const struct upstream_row *row)
{
	const struct upstream_rows *asked = &row->project->asked;
	bool is_aside = asked->aside & (uint32_t)1 << upstream_number(row->project->upstreams, row->index->upstream);
	size_t i = 0;
	while (asked->row[i++] != row)
		;
	bool goes_on = is_aside || (row->response.result == UPSTREAM_NOT_FOUND && upstream_row_may_lack(row));
	return !asked->is_together && goes_on && i < asked->count ? asked->row[i] : NULL;
}

static void answer_row(struct upstream_row *row)
{
	struct upstream_project *p = row->project;
	row->response.is_there = true;
	struct upstream_row *next = next_wanted(row);
	if (next) {
		start_row(next);
	} else if (atomic_fetch_sub(&p->left, 1) == 1) {
		atomic_fetch_sub(&p->upstreams->asked, 1);
		p->done(p->ctx, p);
	}
}

static void set_result(struct upstream_row *row, enum upstream_result result, const char *why)
{
	row->response.result = result;
	row->response.why = xstrdup(why);
	answer_row(row);
}

static void take_response(struct upstream_row *row, const struct fetch_result *r, enum upstream_result result)
{
	struct upstream_response *s = &row->response;
	s->result = result;
	s->why = r->failure == FETCH_WHOLE && result != UPSTREAM_KNOWN ? xasprintf("%s: %u", r->url, r->answer->status)
								       : xstrdup(r->why);
	s->url = xstrdup(r->url);
	s->is_same = r->answer->status == 304;
	s->etag = copy_header(r->answer, "etag");
	s->type = copy_header(r->answer, "content-type");
	s->serial = read_digits(fetch_header(r->answer, "x-pypi-last-serial"));
	s->max_age = read_freshness(r->answer);
	s->as_of = read_age(r->answer) < s->sent ? s->sent - read_age(r->answer) : 1;
	buf_init(&s->body, row->index->upstream->max_page);
	if (result == UPSTREAM_KNOWN)
		buf_str(&s->body, buf_view(&r->answer->body));
	s->is_packed = str_eq_nocase(fetch_header(r->answer, "content-encoding"), STR("gzip"));
	answer_row(row);
}

// --- health of an index ---

static uint64_t hash_of_project(const struct upstream_row *row)
{
	return hash_of(str_from(row->project->name), 0);
}

// False if the set has it already, or is full.
static bool add_project(struct upstream_some *s, uint64_t project)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->project[i] == project)
			return false;
	if (s->count == ARRAY_SIZE(s->project))
		return false;
	s->project[s->count++] = project;
	return true;
}

static int64_t in_seconds(uint64_t seconds, uint64_t most)
{
	return clock_ms() + (int64_t)(seconds < most ? seconds : most) * 1000;
}

// A 5xx of one project concerns that project: its page may be broken or too expensive. If several projects fail without
// a success in between, the index is down.
static void note_throttled(struct upstream_row *row, uint64_t seconds)
{
	struct upstream_index *index = row->index;
	uint64_t project = hash_of_project(row);
	int64_t until = in_seconds(seconds, UPSTREAM_REST_S);
	index->resting[project % UPSTREAM_RESTING].project = project;
	index->resting[project % UPSTREAM_RESTING].until_ms = until;
	add_project(&index->throttled, project);
	if (index->throttled.count >= UPSTREAM_RESTS_OF_ALL)
		index->throttled_ms = until;
}

static void note_health(struct upstream_row *row, const struct fetch_result *r, enum upstream_result result)
{
	struct upstream_index *index = row->index;
	bool is_well = !passes[result] && result != UPSTREAM_TLS && result != UPSTREAM_REDIRECTED;
	if (r->answer->retry_after && result == UPSTREAM_THROTTLED)
		index->rest_ms = in_seconds(r->answer->retry_after, UPSTREAM_THROTTLED_S);
	else if (r->answer->retry_after && passes[result])
		note_throttled(row, r->answer->retry_after);
	if (!is_well) {
		index->last_failure = result;
		return;
	}
	index->failures = index->failed.count = index->throttled.count = 0;
	index->throttled_ms = 0;
}

// Records the failure of the last try.
static void note_failure(struct upstream_row *row, enum upstream_result result)
{
	struct upstream_index *index = row->index;
	if (!passes[result] && result != UPSTREAM_TLS && result != UPSTREAM_REDIRECTED)
		return;
	if (result != UPSTREAM_SERVER_ERROR || add_project(&index->failed, hash_of_project(row)))
		index->failures++;
	if (index->failures >= UPSTREAM_GIVE_UP)
		index->probe_ms = clock_ms() + UPSTREAM_PROBE_MS;
}

static int64_t retry_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t rest_of_project(const struct upstream_row *row)
{
	uint64_t project = hash_of_project(row);
	return row->index->resting[project % UPSTREAM_RESTING].project == project
		       ? row->index->resting[project % UPSTREAM_RESTING].until_ms
		       : 0;
}

static int64_t rest_of_index(const struct upstream_row *row)
{
	return retry_later(row->index->rest_ms, row->index->throttled_ms);
}

static int64_t next_try(const struct upstream_row *row)
{
	int64_t at = clock_ms() + ((int64_t)UPSTREAM_FIRST_RETRY_MS << (row->tries < 10 ? row->tries - 1 : 9));
	return retry_later(at, retry_later(rest_of_index(row), rest_of_project(row)));
}

static void on_response(void *ctx, const struct fetch_result *r)
{
	struct upstream_row *row = ctx;
	struct upstream_index *index = row->index;
	enum upstream_result result = result_of(r);
	note_health(row, r, result);
	bool is_over = index->failures >= UPSTREAM_GIVE_UP || row->project->upstreams->is_ending;
	if (passes[result] && !is_over && row->tries <= row->index->upstream->retries && next_try(row) < row->end_ms) {
		try_row(row);
		return;
	}
	note_failure(row, result);
	take_response(row, r, result);
}

static void request_row(struct upstream_row *row, int64_t at_ms)
{
	CLEANUP(mem_free) char *url = xasprintf("%s%s/", row->index->url, row->project->name);
	CLEANUP(mem_free) char *condition = xasprintf("If-None-Match: %s", row->etag ? row->etag : "");
	// Not decompressed in the pool's thread, but where it is parsed.
	const char *const headers[] = {
		simplepage_accept, "Accept-Encoding: gzip", row->etag && row->has_page ? condition : NULL, NULL};
	const int64_t now = clock_ms();
	const struct fetch_request request = {
		.url = url,
		.headers = headers,
		.delay_ms = at_ms > now ? (uint64_t)(at_ms - now) : 0,
		.total_seconds = row->index->upstream->timeout,
		.limit = row->index->upstream->max_page,
		.is_raw = true,
		.on_done = on_response,
		.ctx = row,
	};
	row->tries++;
	row->response.sent = clock_wall_seconds() + (int64_t)request.delay_ms / 1000;
	fetch_pool_get(row->index->upstream->pool, &request);
}

static void try_row(struct upstream_row *row)
{
	request_row(row, next_try(row));
}

static void begin_asking(void *ctx)
{
	struct upstream_row *row = ctx;
	struct upstream_index *index = row->index;
	int64_t now = clock_ms(), rest = rest_of_index(row);
	CLEANUP(mem_free) char *why = NULL;
	row->tries = 0;
	row->end_ms = now + (int64_t)row->index->upstream->timeout * 2000;
	if (row->project->upstreams->is_ending) {
		set_result(row, UPSTREAM_OTHER, "not asked any more");
	} else if (rest > row->end_ms) {
		why = xasprintf("%s: it asks to be left alone for %lld s more", index->shown,
			(long long)((rest - now) / 1000));
		set_result(row, UPSTREAM_THROTTLED, why);
	} else if (rest_of_project(row) > row->end_ms) {
		why = xasprintf("%s: it asks that %s is left alone for %lld s more", index->shown, row->project->name,
			(long long)((rest_of_project(row) - now) / 1000));
		set_result(row, UPSTREAM_SERVER_ERROR, why);
	} else if (index->failures >= UPSTREAM_GIVE_UP && now < index->probe_ms) {
		why = xasprintf("%s: not asked, since it failed %s in a row", index->shown,
			COUNTED(index->failures, "time|times"));
		set_result(row, index->last_failure, why);
	} else {
		index->probe_ms = now + UPSTREAM_PROBE_MS;
		request_row(row, retry_later(rest, rest_of_project(row)));
	}
}

void upstream_request(struct upstreams *u, struct upstream_project *p, const struct config_order *order,
	upstream_done *done, void *ctx)
{
	p->order = *order;
	p->asked = upstream_rows_of(p, order, true);
	size_t count = p->asked.is_together ? p->asked.count : 1;
	atomic_store(&p->left, count);
	atomic_fetch_add(&u->asked, 1);
	p->done = done;
	p->ctx = ctx;
	for (size_t i = 0; i < u->indexes; i++)
		upstream_response_release(&p->row[i].response);
	for (size_t i = 0; i < count; i++) // the last response passes p on
		start_row(p->asked.row[i]);
}

const struct config_order *upstream_project_order(const struct upstream_project *p)
{
	return &p->order;
}

bool upstream_project_asked(const struct upstream_project *p, size_t upstream)
{
	for (size_t i = 0; i < p->asked.count; i++)
		if (p->asked.row[i]->index->upstream == &p->upstreams->item[upstream] && p->asked.row[i]->is_dirty)
			return true;
	return false;
}
