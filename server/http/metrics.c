// SPDX-License-Identifier: Apache-2.0
#include "server/http/metrics.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/state/upstream/upstream.h"

enum {
	SHARDS = 8, // each thread has one, assigned in turn
	FIRST_STATUS = 100,
	STATUSES = 500,
	BOUNDS = 10,
	UNCHANGED = UPSTREAM_RESULT_COUNT, // after the results
	RESULTS,
};

// Bounds of the latency buckets in milliseconds; the last bucket has none.
static const int64_t bound_ms[BOUNDS] = {10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

struct metrics_shard {
	_Alignas(64) _Atomic uint64_t metric[METRIC_COUNT];
	_Atomic uint64_t bytes[METRIC_ROUTE_COUNT];
	_Atomic uint32_t requests[METRIC_ROUTE_COUNT][STATUSES];
	_Atomic uint64_t upstream[RESULTS];
	_Atomic uint64_t latency[BOUNDS + 1], latency_ms;
};

struct metrics {
	struct metrics_shard *shard;
	_Atomic unsigned next;
};

static const struct {
	const char *name, *help;
} about[METRIC_COUNT] = {
	[METRIC_PAGE_HITS] = {"page_cache_hits_total", "Pages of projects sent from the page cache."},
	[METRIC_PAGE_MISSES] = {"page_cache_misses_total", "Pages of projects that a worker had to check or to make."},
	[METRIC_PAGE_RENDERS] = {"page_renders_total", "Pages that were rendered."},
	[METRIC_FETCHED_FILES] = {"upstream_files_fetched_total", "Files of upstream that were fetched and kept."},
	[METRIC_FAILED_FILES] = {"upstream_files_failed_total", "Files of upstream whose fetching failed."},
	[METRIC_FETCHED_BYTES] = {"upstream_file_bytes_fetched_total", "Bytes of files that came from upstream."},
	[METRIC_SENT_BYTES] = {"upstream_file_bytes_sent_total",
		"Bytes of upstream's files that were sent to clients."},
	[METRIC_DROPPED_FILES] = {"upstream_files_dropped_total",
		"Files of upstream dropped, since no client waited for them any more."},
	[METRIC_REFUSED_FILES] = {"upstream_files_refused_total",
		"Requests for a file of upstream that found the queue full."},
	[METRIC_DROPPED_PAGES] = {"upstream_pages_dropped_total",
		"Pages of upstream dropped, since no client waited for them any more."},
	[METRIC_REFUSED_PAGES] = {"upstream_pages_refused_total",
		"Requests for a page of upstream that found the queue full."},
	[METRIC_NAME_CONFLICTS] = {"upstream_name_conflicts_total",
		"Times that upstream had a project under a name that is ours."},
	[METRIC_EVIDENCE_RECEIVED] = {"evidence_received_total", "Records of test runs that came and were new."},
	[METRIC_EVIDENCE_REFUSED] = {"evidence_refused_total", "Records of test runs that were refused."},
	[METRIC_PROMOTED_FILES] = {"promoted_files_total", "Files that clients promoted into a view."},
	[METRIC_PROMOTION_REFUSED_FILES] = {"promotion_refused_files_total",
		"Files that clients would have promoted, and that were refused."},
};

const char *const metric_route_name[METRIC_ROUTE_COUNT] = {
	"other", "simple", "file", "upstream-file", "upload", "machine"};

struct metrics *metrics_new(void)
{
	struct metrics *m = xcalloc(1, sizeof(*m));
	m->shard = aligned_alloc(_Alignof(struct metrics_shard), SHARDS * sizeof(*m->shard));
	if (!m->shard)
		abort(); // out of memory
	memset(m->shard, 0, SHARDS * sizeof(*m->shard));
	return m;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	free(m->shard);
	free(m);
}

static struct metrics_shard *shard_of_thread(struct metrics *m)
{
	static _Thread_local unsigned place; // 0: none yet
	if (!place)
		place = atomic_fetch_add(&m->next, 1) % SHARDS + 1;
	return &m->shard[place - 1];
}

void metrics_add(struct metrics *m, enum metric metric, uint64_t n)
{
	if (m)
		atomic_fetch_add_explicit(&shard_of_thread(m)->metric[metric], n, memory_order_relaxed);
}

void metrics_request(struct metrics *m, enum metric_route route, unsigned status, uint64_t bytes)
{
	if (!m || status < FIRST_STATUS || status >= FIRST_STATUS + STATUSES)
		return;
	struct metrics_shard *s = shard_of_thread(m);
	atomic_fetch_add_explicit(&s->requests[route][status - FIRST_STATUS], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->bytes[route], bytes, memory_order_relaxed);
	if (route == METRIC_ROUTE_UPSTREAM_FILE && (status == 200 || status == 206))
		metrics_add(m, METRIC_SENT_BYTES, bytes);
}

void metrics_upstream(struct metrics *m, unsigned result, bool is_unchanged, int64_t milliseconds)
{
	if (!m)
		return;
	struct metrics_shard *s = shard_of_thread(m);
	size_t i = 0;
	while (i < BOUNDS && milliseconds > bound_ms[i])
		i++;
	atomic_fetch_add_explicit(&s->upstream[is_unchanged ? UNCHANGED : result], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->latency[i], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->latency_ms, (uint64_t)milliseconds, memory_order_relaxed);
}

// --- writing ---

void metrics_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP wheelcache_%s %s\n# TYPE wheelcache_%s %s\n", name, help, name, type);
}

static void put_label_value(struct buf *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buf_putc(out, '\\');
		if (*value == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *value);
	}
}

void metrics_line(struct buf *out, const char *name, const char *const *labels, double value)
{
	buf_printf(out, "wheelcache_%s", name);
	for (size_t i = 0; labels && labels[i]; i += 2) {
		buf_printf(out, "%s%s=\"", i ? "," : "{", labels[i]);
		put_label_value(out, labels[i + 1]);
		buf_putc(out, '"');
	}
	buf_printf(out, "%s %.15g\n", labels && labels[0] ? "}" : "", value);
}

// The sum of a number over all shards. offset: of the number in the shard.
static uint64_t sum_shards(const struct metrics *m, size_t offset)
{
	uint64_t n = 0;
	for (size_t i = 0; i < SHARDS; i++)
		n += atomic_load_explicit((_Atomic uint64_t *)(void *)((char *)&m->shard[i] + offset),
			memory_order_relaxed);
	return n;
}

static void write_upstream(const struct metrics *m, struct buf *out)
{
	uint64_t count = 0;
	metrics_head(out, "upstream_requests_total", "counter",
		"Pages that upstream was asked for, by what became of it.");
	for (size_t i = 0; i < RESULTS; i++) { // all, so that the first of a kind is a rise
		const char *const labels[] = {"result", i == UNCHANGED ? "unchanged" : upstream_result_name[i], NULL};
		if (i != UPSTREAM_NEVER_ASKED)
			metrics_line(out, "upstream_requests_total", labels,
				(double)sum_shards(m, offsetof(struct metrics_shard, upstream) + i * sizeof(uint64_t)));
	}
	metrics_head(out, "upstream_request_duration_seconds", "histogram",
		"Duration of a request to upstream, including retries.");
	for (size_t i = 0; i <= BOUNDS; i++) {
		CLEANUP(mem_free)
		char *text = i < BOUNDS ? xasprintf("%g", (double)bound_ms[i] / 1000) : xstrdup("+Inf");
		const char *const labels[] = {"le", text, NULL};
		count += sum_shards(m, offsetof(struct metrics_shard, latency) + i * sizeof(uint64_t));
		metrics_line(out, "upstream_request_duration_seconds_bucket", labels, (double)count);
	}
	metrics_line(out, "upstream_request_duration_seconds_sum", NULL,
		(double)sum_shards(m, offsetof(struct metrics_shard, latency_ms)) / 1000);
	metrics_line(out, "upstream_request_duration_seconds_count", NULL, (double)count);
}

void metrics_write(struct metrics *m, struct buf *out)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		metrics_head(out, about[i].name, "counter", about[i].help);
		metrics_line(out, about[i].name, NULL,
			(double)sum_shards(m, offsetof(struct metrics_shard, metric) + i * sizeof(uint64_t)));
	}
	metrics_head(out, "http_requests_total", "counter", "Requests that were answered.");
	for (size_t route = 0; route < METRIC_ROUTE_COUNT; route++)
		for (unsigned status = 0; status < STATUSES; status++) {
			uint64_t n = 0;
			for (size_t i = 0; i < SHARDS; i++)
				n += atomic_load_explicit(&m->shard[i].requests[route][status], memory_order_relaxed);
			if (!n)
				continue;
			CLEANUP(mem_free) char *text = xasprintf("%u", status + FIRST_STATUS);
			const char *const labels[] = {"route", metric_route_name[route], "status", text, NULL};
			metrics_line(out, "http_requests_total", labels, (double)n);
		}
	metrics_head(out, "http_response_bytes_total", "counter", "Bytes of the bodies of answers.");
	for (size_t route = 0; route < METRIC_ROUTE_COUNT; route++) {
		const char *const labels[] = {"route", metric_route_name[route], NULL};
		metrics_line(out, "http_response_bytes_total", labels,
			(double)sum_shards(m, offsetof(struct metrics_shard, bytes) + route * sizeof(uint64_t)));
	}
	write_upstream(m, out);
	metrics_head(out, "upstream_saved_bytes", "gauge",
		"Bytes of upstream's files that clients got, less those that came from upstream.");
	metrics_line(out, "upstream_saved_bytes", NULL,
		(double)sum_shards(m, offsetof(struct metrics_shard, metric) + METRIC_SENT_BYTES * sizeof(uint64_t)) -
			(double)sum_shards(m,
				offsetof(struct metrics_shard, metric) + METRIC_FETCHED_BYTES * sizeof(uint64_t)));
}
