// SPDX-License-Identifier: Apache-2.0
// Checks each row of the table of routes against what the server does.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "lib/state/upstream/upstream.h"
#include "server/core/auth.h"
#include "server/api/routes.h"
#include "tests/unit/support/one-wheel.h"

static void test_rows_are_sound(void **state UNUSED)
{
	for (size_t i = 0; i < route_table_count; i++) {
		const struct route *r = &route_table[i];
		bool is_post = r->method == METHOD_POST, has_worker = r->handle_worker || r->receive;
		bool is_good = (r->pool == ROUTE_POOL_NONE) == !has_worker && is_post == (r->receive != NULL) &&
			       (is_post || r->handle_inline || r->handle_worker) && r->path[0] == '/' && r->about;
		if (!is_good)
			fail_msg("%s", r->path);
		struct route_match match = {0};
		for (struct str rest = str_from(r->path + 1); rest.len;) {
			struct str part = str_cut(&rest, '/');
			if (part.ptr[0] == ':')
				assert_null(route_part(&match, part)->ptr);
		}
		for (size_t k = 0; k < i; k++) // rows of one path lie together, and differ in their method
			if (strcmp(route_table[k].path, r->path) == 0 &&
				(k + 1 != i || route_table[k].method == r->method))
				fail_msg("%s: twice", r->path);
	}
	for (int i = 0; i < ROUTE_POOL_COUNT; i++)
		assert_non_null(route_pool_name[i]);
	for (int i = 0; i < ROUTE_RIGHT_COUNT; i++)
		assert_non_null(route_right_name[i]);
}

// A path of the route, in which each part that varies is one that the fixture has.
static char *example_path(const struct route *route)
{
	struct str rest = str_from(route->path + 1);
	struct buf out;
	buf_init(&out, 256);
	while (rest.ptr && rest.len) {
		struct str part = str_cut(&rest, '/');
		bool is_file = str_starts(part, STR(":f")), is_project = str_starts(part, STR(":pr"));
		buf_putc(&out, '/');
		if (part.ptr[0] == ':')
			buf_puts(&out, is_file ? WHEEL : is_project ? "foo-bar" : "wheels");
		else
			buf_str(&out, part);
	}
	if (str_ends(str_from(route->path), STR("/")))
		buf_putc(&out, '/');
	char *path = xstrdup(out.data);
	buf_release(&out);
	return path;
}

static struct reply *ask_route(struct fixture *f, const struct route *route, struct request *r)
{
	if (route->method == METHOD_GET) {
		struct reply *reply = routes_inline(&f->context, r);
		return reply ? reply : routes_worker(&f->context, r, NULL);
	}
	struct reply *refusal = NULL;
	assert_null(routes_receive(&f->context, r, &refusal));
	return refusal;
}

// Whether the body has the project's name, or bytes of its wheel.
static bool shows_private(const struct fixture *f, const struct reply *reply)
{
	struct str body = reply->body ? blob_view(reply->body) : STR("");
	return memmem(body.ptr, body.len, "foo-bar", 7) || memmem(body.ptr, body.len, f->bytes, 23);
}

// Everything is private, and no token is defined. So a row that names no right must have a handler that shows nothing
// private.
static void test_each_route_checks_its_right(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_free) char *tokens = xasprintf("%s/tokens", f->folder);
	f->context.auth = auth_new(tokens);
	f->context.metrics = metrics_new();
	f->site.has_private = f->site.store.platform[0].is_private = true;
	for (size_t i = 0; i < f->site.view_count; i++)
		f->site.view[i].is_private = true;
	for (size_t i = 0; i < route_table_count; i++) {
		const struct route *route = &route_table[i];
		CLEANUP(mem_free) char *path = example_path(route);
		struct request r = {.method = route->method, .path = path, .peer = "127.0.0.1"};
		CLEANUP(reply_cleanup) struct reply *reply = ask_route(f, route, &r);
		bool is_refused = reply->status == 403, needs_right = route->right != ROUTE_RIGHT_NONE;
		bool may_differ = route->right == ROUTE_RIGHT_BY_DATA; // the handler refuses, or shows the rest
		if ((is_refused != needs_right && !may_differ) || shows_private(f, reply))
			fail_msg("%s: %u, and the right is %s", path, reply->status, route_right_name[route->right]);
		assert_int_equal(r.metric, route->metric);
	}
	upstreams_free(f->context.upstreams);
	f->context.upstreams = NULL;
	metrics_free(f->context.metrics);
	auth_free(f->context.auth);
}

static void test_a_request_has_its_metric(void **state)
{
	static const struct {
		const char *path;
		enum metric_route metric;
	} table[] = {
		{"/", METRIC_ROUTE_OTHER},
		{"/nothing/of/ours", METRIC_ROUTE_OTHER},
		{"/%zz", METRIC_ROUTE_OTHER},
		{"/simple", METRIC_ROUTE_SIMPLE},
		{"/wheels/simple/foo-bar/", METRIC_ROUTE_SIMPLE},
		{WHEEL_URL, METRIC_ROUTE_FILE},
		{"/files/upstream/six/six-1.whl", METRIC_ROUTE_UPSTREAM_FILE},
		{"/upload/wheels", METRIC_ROUTE_UPLOAD},
		{"/%2d/health", METRIC_ROUTE_MACHINE},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct reply *refusal = NULL;
		struct request r = {.method = METHOD_GET, .path = table[i].path, .metric = METRIC_ROUTE_COUNT};
		struct request put = {.method = METHOD_OTHER, .path = table[i].path, .metric = METRIC_ROUTE_COUNT};
		CLEANUP(reply_cleanup) struct reply *reply UNUSED = routes_inline(&f->context, &r);
		assert_null(routes_receive(&f->context, &put, &refusal));
		reply_unref(refusal);
		if (r.metric != table[i].metric || put.metric != table[i].metric)
			fail_msg("%s: %u, %u", table[i].path, r.metric, put.metric);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_sound),
		cmocka_unit_test_setup_teardown(test_each_route_checks_its_right, one_wheel_set_up,
			one_wheel_tear_down),
		cmocka_unit_test_setup_teardown(test_a_request_has_its_metric, one_wheel_set_up, one_wheel_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
