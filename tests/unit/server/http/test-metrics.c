// SPDX-License-Identifier: Apache-2.0
#include "server/http/metrics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/state/upstream/upstream.h"

enum { THREADS = 12, TIMES = 1000 };

static void metrics_cleanup(struct metrics **m)
{
	metrics_free(*m);
}

// The output has this line.
static void assert_line(struct metrics *m, const char *line)
{
	CLEANUP(buf_release) struct buf out;
	CLEANUP(mem_free) char *whole = xasprintf("\nwheelcache_%s\n", line);
	buf_init(&out, 1 << 20);
	metrics_write(m, &out);
	if (!strstr(out.data, whole))
		fail_msg("no %s in\n%s", line, out.data);
}

static void *count_much(void *metrics)
{
	for (int i = 0; i < TIMES; i++) {
		metrics_add(metrics, METRIC_PAGE_HITS, 1);
		metrics_request(metrics, METRIC_ROUTE_SIMPLE, 200, 10);
	}
	return NULL;
}

// More threads than shards.
static void threads_lose_no_count(void **state UNUSED)
{
	CLEANUP(metrics_cleanup) struct metrics *m = metrics_new();
	pthread_t thread[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, count_much, m), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_line(m, "page_cache_hits_total 12000");
	assert_line(m, "http_requests_total{route=\"simple\",status=\"200\"} 12000");
	assert_line(m, "http_response_bytes_total{route=\"simple\"} 120000");
}

static void a_request_has_its_route(void **state UNUSED)
{
	CLEANUP(metrics_cleanup) struct metrics *m = metrics_new();
	for (int route = 0; route < METRIC_ROUTE_COUNT; route++)
		metrics_request(m, (enum metric_route)route, 404, (uint64_t)route);
	for (int route = 0; route < METRIC_ROUTE_COUNT; route++) {
		const char *name = metric_route_name[route];
		CLEANUP(mem_free)
		char *requests = xasprintf("http_requests_total{route=\"%s\",status=\"404\"} 1", name);
		CLEANUP(mem_free) char *bytes = xasprintf("http_response_bytes_total{route=\"%s\"} %d", name, route);
		assert_line(m, requests);
		assert_line(m, bytes);
	}
}

// An invalid status is not counted, and nothing is written beyond the table.
static void an_invalid_status_is_not_counted(void **state UNUSED)
{
	CLEANUP(metrics_cleanup) struct metrics *m = metrics_new();
	static const unsigned status[] = {0, 99, 600, 4000000000};
	for (size_t i = 0; i < ARRAY_SIZE(status); i++)
		metrics_request(m, METRIC_ROUTE_OTHER, status[i], 1);
	metrics_request(m, METRIC_ROUTE_OTHER, 100, 0);
	metrics_request(m, METRIC_ROUTE_OTHER, 599, 0);
	assert_line(m, "http_requests_total{route=\"other\",status=\"100\"} 1");
	assert_line(m, "http_requests_total{route=\"other\",status=\"599\"} 1");
	assert_line(m, "http_response_bytes_total{route=\"other\"} 0");
}

static void saved_bytes_are_sent_less_fetched(void **state UNUSED)
{
	CLEANUP(metrics_cleanup) struct metrics *m = metrics_new();
	metrics_add(m, METRIC_FETCHED_BYTES, 100);
	assert_line(m, "upstream_saved_bytes -100");
	metrics_request(m, METRIC_ROUTE_UPSTREAM_FILE, 200, 100);
	metrics_request(m, METRIC_ROUTE_UPSTREAM_FILE, 206, 30);
	metrics_request(m, METRIC_ROUTE_UPSTREAM_FILE, 502, 7);
	metrics_request(m, METRIC_ROUTE_FILE, 200, 100);
	assert_line(m, "upstream_file_bytes_sent_total 130");
	assert_line(m, "upstream_saved_bytes 30");
}

static void latencies_add_up(void **state UNUSED)
{
	CLEANUP(metrics_cleanup) struct metrics *m = metrics_new();
	metrics_upstream(m, UPSTREAM_KNOWN, false, 10); // a bound belongs to its bucket
	metrics_upstream(m, UPSTREAM_KNOWN, true, 11);
	metrics_upstream(m, UPSTREAM_TIMEOUT, false, 10001);
	assert_line(m, "upstream_request_duration_seconds_bucket{le=\"0.01\"} 1");
	assert_line(m, "upstream_request_duration_seconds_bucket{le=\"0.025\"} 2");
	assert_line(m, "upstream_request_duration_seconds_bucket{le=\"10\"} 2");
	assert_line(m, "upstream_request_duration_seconds_bucket{le=\"+Inf\"} 3");
	assert_line(m, "upstream_request_duration_seconds_count 3");
	assert_line(m, "upstream_request_duration_seconds_sum 10.022");
	assert_line(m, "upstream_requests_total{result=\"known\"} 1");
	assert_line(m, "upstream_requests_total{result=\"unchanged\"} 1");
	assert_line(m, "upstream_requests_total{result=\"timeout\"} 1");
	assert_line(m, "upstream_requests_total{result=\"5xx\"} 0");
}

static void labels_are_escaped(void **state UNUSED)
{
	static const char *const labels[] = {"a", "q\"b\\n\n.", "c", "", NULL};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	metrics_line(&out, "x", labels, 0.5);
	assert_string_equal(out.data, "wheelcache_x{a=\"q\\\"b\\\\n\\n.\",c=\"\"} 0.5\n");
}

static void null_counts_nothing(void **state UNUSED)
{
	metrics_add(NULL, METRIC_PAGE_HITS, 1);
	metrics_request(NULL, METRIC_ROUTE_OTHER, 200, 1);
	metrics_upstream(NULL, UPSTREAM_KNOWN, false, 1);
	metrics_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_lose_no_count),
		cmocka_unit_test(a_request_has_its_route),
		cmocka_unit_test(an_invalid_status_is_not_counted),
		cmocka_unit_test(saved_bytes_are_sent_less_fetched),
		cmocka_unit_test(latencies_add_up),
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(null_counts_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
