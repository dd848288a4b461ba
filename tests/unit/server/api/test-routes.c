// SPDX-License-Identifier: Apache-2.0
// The handlers, without a socket: requests in and replies out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "server/api/routes.h"
#include "server/http/metrics.h"
#include "server/http/worker-pools.h"
#include "tests/unit/support/one-wheel.h"

// As http does it: the event loop first, then a worker.
static struct reply *ask(struct fixture *f, struct request r)
{
	struct reply *reply = routes_inline(&f->context, &r);
	return reply ? reply : routes_worker(&f->context, &r, NULL);
}

static struct reply *get(struct fixture *f, const char *path)
{
	return ask(f, (struct request){.method = METHOD_GET, .path = path});
}

static const struct {
	const char *path;
	unsigned status;
} statuses[] = {
	{"/", 200},
	{"/simple/", 200},
	{"/simple/foo-bar/", 200},
	{"/simple/Foo.Bar/", 200},
	{"/simple/foo__bar/", 200},
	{"/wheels/simple/foo-bar/", 200},
	{"/simple", 302},
	{"/wheels/", 302},
	{"/wheels", 302},
	{"/other", 404},
	{"/other/", 404},
	{"/simple/foo-bar", 302},
	{"/simple/unknown/", 404},
	{"/simple/-/", 404},
	{"/other/simple/", 404},
	{"/simple/foo-bar/x", 404},
	{"/simple//", 404},
	{"/-/compare/wheels/" WHEEL "/wheels/" WHEEL, 422}, // its bytes are no ZIP file
	{"/-/compare/other/" WHEEL "/wheels/" WHEEL, 404},
	{"/-/compare/wheels/" WHEEL "/wheels/foo-1-py3-none-any.whl", 404},
	{"/simple/../simple/", 404},
	{"/simple/%2e%2e/", 404},
	{"/simple/a%00b/", 400},
	{"/simple/%zz/", 400},
	{"/simple/a%0d%0ab/", 400},
	{WHEEL_URL, 200},
	{"/files/wheels/foo-bar/" WHEEL, 200},
	{WHEEL_URL ".metadata", 200},
	{WHEEL_URL "/", 404},
	{WHEEL_URL ".asc", 404},
	{"/files/wheels/foo/" WHEEL, 404},
	{"/files/other/foo-bar/" WHEEL, 404},
	{"/files/wheels/foo-bar/..%2f..%2fcatalog.db", 404},
	{"/-/health", 200},
	{"/-/nothing", 404},
	{"/-/style.css", 200},
	{"/-/search", 200},
	{"/-/coverage", 200},
	{"/-/coverage/", 404},
	{"/-/page.js", 200},
	{"/-/builds/", 200},
	{"/-/builds", 302},
	{"/-/builds/six", 302},
	{"/-/builds/six/", 404},
	{"/-/builds/six/0", 404},
	{"/-/missing/wheels", 404}, // there is no [branch]
	{"/-/missing/other", 404},
	{"/-/missing/", 404},
	{"/-/view/simple", 200},
	{"/-/view/wheels", 200},
	{"/-/view/other", 404},
	{"/favicon.ico", 404},
	{"/_/oidc/audience", 404},
};

static void test_statuses(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		CLEANUP(reply_cleanup) struct reply *r = get(*state, statuses[i].path);
		if (r->status != statuses[i].status)
			fail_msg("%s: %u", statuses[i].path, r->status);
	}
}

// A 404 would send clients to another index.
static void test_nothing_is_said_before_a_whole_scan(void **state)
{
	struct fixture *f = *state;
	static const char *const path[] = {
		"/simple/", "/simple/foo-bar/", "/simple/unknown/", "/files/wheels/foo-bar/other.whl", "/-/ready"};
	atomic_store(&f->context.is_filled, false);
	f->site.store.platform[0].scanned = CATALOG_UNREADABLE;
	for (size_t i = 0; i < f->site.view_count; i++)
		f->site.view[i].is_incomplete = true;
	for (size_t i = 0; i < ARRAY_SIZE(path); i++) {
		CLEANUP(reply_cleanup) struct reply *r = get(f, path[i]);
		assert_int_equal(r->status, 503);
	}
	CLEANUP(reply_cleanup) struct reply *health = get(f, "/-/health");
	assert_non_null(strstr(blob_view(health->body).ptr, "degraded"));
}

static void test_a_view_says_what_it_shows(void **state)
{
	static const struct {
		const char *path, *says;
	} table[] = {
		{"/-/view/simple", "{\"name\": \"simple\", \"platforms\": [\"wheels\"], \"upstream\": false}\n"},
		{"/-/view/wheels", "{\"name\": \"wheels\", \"platforms\": [\"wheels\"], \"upstream\": false}\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(reply_cleanup) struct reply *r = get(*state, table[i].path);
		struct str body = blob_view(r->body);
		assert_int_equal(body.len, strlen(table[i].says));
		assert_memory_equal(body.ptr, table[i].says, body.len);
		assert_string_equal(r->type, "application/json");
	}
}

static void test_what_is_missing_is_made_once(void **state)
{
	struct fixture *f = *state;
	struct request r = {.method = METHOD_GET, .path = "/-/missing/wheels"};
	CLEANUP(mem_free) char *requirements = xasprintf("%s/requirements.txt", f->folder);
	struct config_branch branch = {.name = (char[]){"b"}, .requirements = requirements};
	const struct profile_keys keys = {"3.10 3.12", "x86_64", "glibc 2.35"};
	struct err e = ERR_INIT;
	FILE *file = fopen(requirements, "w");
	assert_non_null(file);
	fputs("foo-bar\nother==1\n", file);
	fclose(file);
	profile_release(&f->site.store.platform[0].profile);
	assert_int_equal(profile_init(&f->site.store.platform[0].profile, "wheels", &keys, &e), 0);
	free(f->site.config.branches);
	f->site.config.branches = &branch;
	f->site.config.branch_count = 1;
	assert_null(routes_inline(&f->context, &r));
	CLEANUP(reply_cleanup) struct reply *made = routes_worker(&f->context, &r, NULL);
	assert_int_equal(made->status, 200);
	assert_string_equal(made->type, "application/json");
	CLEANUP(reply_cleanup) struct reply *kept = routes_inline(&f->context, &r);
	assert_ptr_equal(made, kept);
	r.argument[ARGUMENT_PYTHON] = "3.12";
	assert_null(routes_inline(&f->context, &r));
	r.argument[ARGUMENT_PYTHON] = "3.9";
	CLEANUP(reply_cleanup) struct reply *other = routes_inline(&f->context, &r);
	assert_int_equal(other->status, 404);
	r.argument[ARGUMENT_PYTHON] = "three";
	CLEANUP(reply_cleanup) struct reply *bad = routes_inline(&f->context, &r);
	assert_int_equal(bad->status, 400);
	r.argument[ARGUMENT_PYTHON] = NULL;
	r.format = "html";
	CLEANUP(reply_cleanup) struct reply *page = routes_worker(&f->context, &r, NULL);
	assert_string_equal(page->type, "text/html; charset=utf-8");
	r.argument[ARGUMENT_PROJECT] = "other";
	unlink(requirements);
	CLEANUP(reply_cleanup) struct reply *broken = routes_worker(&f->context, &r, NULL);
	assert_int_equal(broken->status, 500);
	f->site.config.branches = NULL;
	f->site.config.branch_count = 0;
}

static void test_a_page_is_rendered_once(void **state)
{
	struct fixture *f = *state;
	struct request r = {.method = METHOD_GET, .path = "/simple/foo-bar/"};
	assert_null(routes_inline(&f->context, &r));
	CLEANUP(reply_cleanup) struct reply *made = routes_worker(&f->context, &r, NULL);
	CLEANUP(reply_cleanup) struct reply *kept = routes_inline(&f->context, &r);
	assert_ptr_equal(made, kept);
	r.path = "/simple/FOO_bar/"; // another spelling is the same page
	CLEANUP(reply_cleanup) struct reply *same = routes_inline(&f->context, &r);
	assert_ptr_equal(made, same);
	r.header[HEADER_ACCEPT_ENCODING] = "gzip";
	assert_null(routes_inline(&f->context, &r));
	CLEANUP(reply_cleanup) struct reply *packed = routes_worker(&f->context, &r, NULL);
	assert_string_equal(reply_get_header(packed, "Content-Encoding"), "gzip");
	assert_string_not_equal(packed->etag, made->etag);
	assert_string_equal(reply_get_header(packed, "Vary"), "Accept, Accept-Encoding, User-Agent");
}

static void test_an_unknown_name_asks_nobody(void **state)
{
	struct fixture *f = *state;
	struct request r = {.method = METHOD_GET, .path = "/simple/pip/"};
	CLEANUP(reply_cleanup) struct reply *reply = routes_inline(&f->context, &r);
	assert_non_null(reply);
	assert_int_equal(reply->status, 404);
	assert_non_null(reply_get_header(reply, "Cache-Control"));
}

static void test_forms_of_a_page(void **state)
{
	static const struct {
		const char *accept, *format, *type;
		unsigned status;
	} table[] = {
		{NULL, NULL, "text/html; charset=utf-8", 200},
		{"application/vnd.pypi.simple.v1+json", NULL, "application/vnd.pypi.simple.v1+json", 200},
		{"text/html", "application/vnd.pypi.simple.v1%2Bjson", "application/vnd.pypi.simple.v1+json", 200},
		{"text/html", "application%2Fvnd.pypi.simple.v1+json", "application/vnd.pypi.simple.v1+json", 200},
		{"image/png", NULL, "text/plain; charset=utf-8", 406},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct request r = {.method = METHOD_GET, .path = "/simple/foo-bar/", .format = table[i].format};
		r.header[HEADER_ACCEPT] = table[i].accept;
		CLEANUP(reply_cleanup) struct reply *reply = ask(*state, r);
		if (reply->status != table[i].status || strcmp(reply->type, table[i].type) != 0)
			fail_msg("row %zu: %u %s", i, reply->status, reply->type);
	}
}

// PEP 503 has nothing to post to. The client is refused before it sends a body.
static void test_methods_that_are_not_allowed(void **state)
{
	static const char *const paths[] = {
		"/", "/simple/", "/simple/foo-bar/", "/wheels/simple", "/nonsense/of/mine", "*", "/%zz"};
	static const enum method methods[] = {METHOD_POST, METHOD_OTHER};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(paths) * ARRAY_SIZE(methods); i++) {
		struct request r = {.method = methods[i % 2], .path = paths[i / 2]};
		struct reply *refusal = NULL;
		assert_null(routes_receive(&f->context, &r, &refusal));
		assert_int_equal(refusal->status, 405);
		assert_string_equal(reply_get_header(refusal, "Allow"), "GET, HEAD");
		reply_unref(refusal);
	}
}

// A project is read and a platform is posted to, at paths of the same form.
static void test_two_methods_of_one_path(void **state)
{
	struct fixture *f = *state;
	struct reply *refusal = NULL;
	struct request put = {.method = METHOD_OTHER, .path = "/-/builds/wheels/"};
	struct request post = {.method = METHOD_POST, .path = "/-/builds/other/", .peer = "127.0.0.1"};
	assert_null(routes_receive(&f->context, &put, &refusal));
	assert_int_equal(refusal->status, 405);
	assert_string_equal(reply_get_header(refusal, "Allow"), "GET, HEAD, POST");
	reply_unref(refusal);
	assert_null(routes_receive(&f->context, &post, &refusal));
	assert_int_equal(refusal->status, 404); // no such platform
	assert_int_equal(post.metric, METRIC_ROUTE_UPLOAD);
	reply_unref(refusal);
	post.path = "/-/builds/wheels";
	assert_int_equal(routes_pool(&f->context, &post), 1);
	CLEANUP(reply_cleanup) struct reply *page = get(f, "/-/builds/wheels/");
	assert_int_equal(page->status, 404);
}

static void test_a_slash_is_missing(void **state)
{
	struct request r = {.method = METHOD_GET, .path = "/wheels/simple/foo%2Dbar", .format = "text/html"};
	CLEANUP(reply_cleanup) struct reply *reply = ask(*state, r);
	assert_int_equal(reply->status, 302);
	assert_string_equal(reply_get_header(reply, "Location"), "./foo%2Dbar/?format=text/html");
}

static void test_ranges_and_conditions(void **state)
{
	CLEANUP(reply_cleanup) struct reply *whole = get(*state, WHEEL_URL);
	const struct {
		const char *range, *if_range, *if_none_match;
		unsigned status;
		uint64_t offset, length;
		const char *content_range;
	} table[] = {
		{NULL, NULL, NULL, 200, 0, 10000, NULL},
		{"bytes=0-0", NULL, NULL, 206, 0, 1, "bytes 0-0/10000"},
		{"bytes=9990-", NULL, NULL, 206, 9990, 10, "bytes 9990-9999/10000"},
		{"bytes=-16", NULL, NULL, 206, 9984, 16, "bytes 9984-9999/10000"},
		{"bytes=5000-99999", whole->etag, NULL, 206, 5000, 5000, "bytes 5000-9999/10000"},
		{"bytes=0-0", NULL, NULL, 206, 0, 1, "bytes 0-0/10000"},
		{"bytes=0-1", NULL, NULL, 206, 0, 2, "bytes 0-1/10000"},
		{"bytes=1-1", NULL, NULL, 206, 1, 1, "bytes 1-1/10000"},
		{"bytes=5000-", "\"another\"", NULL, 200, 0, 10000, NULL},
		{"bytes=10000-", NULL, NULL, 416, 0, 0, "bytes */10000"},
		{"bytes=0-1,5-6", NULL, NULL, 200, 0, 10000, NULL},
		{"bytes=0-0", NULL, whole->etag, 304, 0, 0, NULL},
		{NULL, NULL, "\"another\"", 200, 0, 10000, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct request r = {.method = METHOD_GET, .path = WHEEL_URL};
		r.header[HEADER_RANGE] = table[i].range;
		r.header[HEADER_IF_RANGE] = table[i].if_range;
		r.header[HEADER_IF_NONE_MATCH] = table[i].if_none_match;
		CLEANUP(reply_cleanup) struct reply *reply = ask(*state, r);
		if (reply->status != table[i].status || reply->offset != table[i].offset ||
			reply->length != table[i].length)
			fail_msg("row %zu: %u, %llu", i, reply->status, (unsigned long long)reply->length);
		const char *content_range = reply_get_header(reply, "Content-Range");
		if (table[i].content_range)
			assert_string_equal(content_range, table[i].content_range);
		else
			assert_null(content_range);
		if (reply->status != 416)
			assert_string_equal(reply->etag, whole->etag);
	}
}

static void test_bytes(void **state)
{
	struct fixture *f = *state;
	CLEANUP(reply_cleanup) struct reply *wheel = get(f, WHEEL_URL);
	assert_memory_equal(blob_view(wheel->body).ptr, f->bytes, WHEEL_SIZE);
	assert_string_equal(reply_get_header(wheel, "Cache-Control"), "public, max-age=365000000, immutable");
	assert_null(reply_get_header(wheel, "Content-Encoding"));
	CLEANUP(reply_cleanup) struct reply *text = get(f, WHEEL_URL ".metadata");
	assert_int_equal(text->length, strlen(METADATA));
	assert_memory_equal(blob_view(text->body).ptr, METADATA, strlen(METADATA));
}

// The server sends the bytes that were hashed, or none.
static void test_a_file_that_changed(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(truncate(f->wheel, 100), 0);
	CLEANUP(reply_cleanup) struct reply *shorter = get(f, WHEEL_URL);
	assert_int_equal(shorter->status, 503);
	assert_string_equal(reply_get_header(shorter, "Retry-After"), "1");
	assert_true(store_scans_state(f->context.scans).is_hurried);
}

static void test_a_file_that_is_gone(void **state)
{
	struct fixture *f = *state;
	assert_false(store_scans_state(f->context.scans).is_hurried);
	assert_int_equal(unlink(f->wheel), 0);
	CLEANUP(reply_cleanup) struct reply *gone = get(f, WHEEL_URL);
	assert_int_equal(gone->status, 503);
	assert_true(store_scans_state(f->context.scans).is_hurried);
	CLEANUP(reply_cleanup) struct reply *text = get(f, WHEEL_URL ".metadata");
	assert_int_equal(text->status, 200);
}

// Expensive requests have a worker pool of their own, and a time limit.
static void test_pools(void **state)
{
	static const struct {
		const char *path;
		unsigned pool;
	} table[] = {
		{"/", WORKER_POOL_SUMMARIES},
		{"/-/metrics", WORKER_POOL_SUMMARIES},
		{"/-/plan/", WORKER_POOL_SEARCHES},
		{"/%2d/plan/", WORKER_POOL_SEARCHES},
		{"/-/builds/", WORKER_POOL_SEARCHES},
		{"/-/builds/six/", WORKER_POOL_SEARCHES},
		{"/-/builds/six/0", WORKER_POOL_SEARCHES},
		{"/-/explain/wheels/foo-bar", WORKER_POOL_SEARCHES},
		{"/-/explain/wheels/foo-bar/1.0", WORKER_POOL_SEARCHES},
		{"/simple/", 0},
		{"/simple/foo-bar/", 0},
		{"/-/health", 0},
		{"/-/nothing", 0},
		{"/%zz", 0},
		{WHEEL_URL, 1},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct request r = {.method = METHOD_GET, .path = table[i].path};
		if (routes_pool(&f->context, &r) != table[i].pool)
			fail_msg("%s: %u", table[i].path, routes_pool(&f->context, &r));
	}
	const struct request list = {.method = METHOD_POST, .path = "/-/missing/wheels"};
	assert_int_equal(routes_pool(&f->context, &list), WORKER_POOL_SEARCHES); // uploads do not wait for it
	struct err e = {.kind = ERR_TIME, .msg = "late"};
	CLEANUP(reply_cleanup) struct reply *late = server_context_error(&e);
	assert_int_equal(late->status, 503);
	assert_non_null(reply_get_header(late, "Retry-After"));
	atomic_store(&f->context.is_stopping, true);
	CLEANUP(reply_cleanup) struct reply *plan = get(f, "/-/plan/"), *page = get(f, "/simple/foo-bar/");
	assert_int_equal(plan->status, 503);
	assert_int_equal(page->status, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_statuses, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_is_said_before_a_whole_scan, one_wheel_set_up,
			one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_a_view_says_what_it_shows, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_missing_is_made_once, one_wheel_set_up,
			one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_a_page_is_rendered_once, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_an_unknown_name_asks_nobody, one_wheel_set_up,
			one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_forms_of_a_page, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_a_slash_is_missing, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_two_methods_of_one_path, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_methods_that_are_not_allowed, one_wheel_set_up,
			one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_ranges_and_conditions, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_bytes, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_pools, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_a_file_that_changed, one_wheel_set_up, one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_a_file_that_is_gone, one_wheel_set_up, one_wheel_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
