// SPDX-License-Identifier: Apache-2.0
// The states of the cells of a project, and why, from a real store's catalog, the last answers of upstream, and earlier
// attempts.
#include "builder/missing/project-matrix.h"

#include <string.h>

#include "lib/os/clock.h"
#include "tests/unit/support/branch-store.h"

enum { PLATFORMS = 2 };

// What a matrix is about; both platforms in the order of the store, ARM first.
struct asked {
	const char *project, *version;
	size_t platforms, first; // 0: both
	bool is_apart;           // no view has both
	const char *membership;
	bool lacks_upstream;
};

static void make_asked(struct branch_store *f, const struct asked *q, struct project_matrix *out)
{
	struct err e = ERR_INIT;
	const struct platform *platform[PLATFORMS] = {
		store_platform_named(&f->store, STR(ARM)), store_platform_named(&f->store, STR(X86))};
	const struct matrix_view views[] = {{platform, PLATFORMS, q->membership, -1, "both"}, {platform, 1, NULL, -1, NULL}};
	CLEANUP(project_matrix_cleanup) struct project_matrix_maker *maker = NULL;
	const bool lacks[PLATFORMS] = {q->lacks_upstream, q->lacks_upstream};
	const struct project_matrix_options options = {
		.config = &f->config,
		.platform = platform + q->first,
		.platforms = q->platforms ? q->platforms : PLATFORMS,
		.view = &views[q->is_apart],
		.views = 1,
		.lacks_upstream = lacks,
		.is_of_view = q->membership != NULL,
		.results = f->results,
	};
	branch_store_ok(project_matrix_open(&options, &maker, &e), &e);
	branch_store_ok(project_matrix_make(maker, f->catalog, q->project, q->version, out, &e), &e);
}

static void print_cell(const struct matrix_cell *c, struct buf *out)
{
	buf_printf(out, "%s %s %s%s: %s\n", strcmp(c->platform, X86) == 0 ? "x" : "a", c->python,
		wheel_status_name[c->state], c->is_lost ? " lost" : "", c->why);
}

// "VERSION after BEFORE", then a line for each cell.
static void assert_matrix(struct branch_store *f, const struct asked *q, const char *expected)
{
	CLEANUP(project_matrix_release) struct project_matrix m = {0};
	CLEANUP(buf_release) struct buf out;
	size_t count[WHEEL_STATUS_COUNT] = {0}, lost = 0;
	buf_init(&out, 1 << 20);
	make_asked(f, q, &m);
	buf_printf(&out, "%s after %s\n", m.version ? m.version : "-", m.before ? m.before : "-");
	for (size_t i = 0; i < m.cells; i++) {
		print_cell(&m.cell[i], &out);
		count[m.cell[i].state]++;
		lost += m.cell[i].is_lost;
		assert_true(wheel_status_is_green(m.cell[i].state) == (m.cell[i].filename != NULL));
	}
	assert_memory_equal(count, m.count, sizeof(count));
	assert_int_equal(lost, m.lost);
	assert_string_equal(out.data, expected);
}

#define MATRIX(expected, ...) assert_matrix(*state, &(const struct asked){__VA_ARGS__}, expected)

static void every_state_has_its_reason(void **state)
{
	struct branch_store *f = *state;
	int64_t now = clock_wall_seconds();
	branch_store_add(f, X86, "own-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	MATRIX("1.0 after -\na 3.11 unknown: there is none here, and upstream was never asked\n"
	       "x 3.10 ours: own-1.0-cp310-cp310-linux_x86_64.whl\n",
		.project = "own");

	branch_store_add(f, X86, "pure-1.0-py3-none-any.whl", NULL);
	MATRIX("1.0 after -\na 3.11 covered: pure-1.0-py3-none-any.whl of another platform installs there, from /both/simple/\n"
	       "x 3.10 covered: pure-1.0-py3-none-any.whl is for any platform\n",
		.project = "pure");

	branch_store_add(f, X86, "abi-1.0-cp38-abi3-linux_x86_64.whl", NULL);
	branch_store_answer(f, "abi", "404", (struct str){"", 0});
	MATRIX("1.0 after -\na 3.11 missing: wheels of this version are only on other platforms, such as "
	       "abi-1.0-cp38-abi3-linux_x86_64.whl\n"
	       "x 3.10 covered: abi-1.0-cp38-abi3-linux_x86_64.whl is for the stable ABI\n",
		.project = "abi");

	branch_store_add(f, ARM, "there-1.0.tar.gz", NULL);
	branch_store_add_page(f, "there", "there-1.0-cp311-cp311-manylinux_2_17_aarch64.whl there-1.0.tar.gz");
	branch_store_add_attempt(f, "there", "1.0", RESULTS_FAILED, now - 7200, "");
	branch_store_add_attempt(f, "there", "1.0", RESULTS_FAILED, now - 3600, "");
	CLEANUP(project_matrix_release) struct project_matrix m = {0};
	make_asked(f, &(const struct asked){.project = "there"}, &m);
	assert_int_equal(m.cell[0].state, WHEEL_UPSTREAM);
	assert_string_equal(m.cell[0].why, "upstream has there-1.0-cp311-cp311-manylinux_2_17_aarch64.whl");
	assert_int_equal(m.cell[1].state, WHEEL_FAILED);
	assert_int_equal(m.cell[1].since, now - 7200);
	assert_non_null(m.cell[1].attempt);
	assert_false(m.cell[1].has_log);
	assert_non_null(strstr(m.cell[1].why, "failed in step build, 2 times in a row, to be tried again at "));
	assert_non_null(strstr(m.cell[1].why, ": gcc: no such file"));

	branch_store_add(f, X86, "late-1.0.tar.gz", NULL);
	branch_store_add_attempt(f, "late", "1.0", RESULTS_CRASHED, now - 2 * 86400, "");
	MATRIX("1.0 after -\na 3.11 unknown: there is none here, and upstream was never asked\n"
	       "x 3.10 failed: crashed in step build, due to be tried again: gcc: no such file\n",
		.project = "late");

	branch_store_add_attempt(f, "there", "1.0.0", RESULTS_RUNNING, now - 60, "");
	MATRIX("1.0 after -\na 3.11 upstream: upstream has there-1.0-cp311-cp311-manylinux_2_17_aarch64.whl\n"
	       "x 3.10 building: an attempt to build it runs\n",
		.project = "there");

	branch_store_add(f, ARM, "newer-2.0-cp311-cp311-linux_aarch64.whl", ">=3.11");
	branch_store_add_page(f, "newer", "<3.9:newer-2.0.tar.gz");
	MATRIX("2.0 after -\na 3.11 ours: newer-2.0-cp311-cp311-linux_aarch64.whl\n"
	       "x 3.10 excluded: newer-2.0.tar.gz has Requires-Python <3.9\n",
		.project = "newer");

	branch_store_add(f, X86, "some-1.0-py3-none-any.whl", ">=3.10.4");
	branch_store_answer(f, "some", "timeout", (struct str){"", 0});
	MATRIX("1.0 after -\na 3.11 unknown: there is none here, and upstream could not tell: timeout\n"
	       "x 3.10 covered: some-1.0-py3-none-any.whl is for any platform (on 3.10.4 and later)\n",
		.project = "some", .is_apart = true);
	MATRIX("- after -\n", .project = "nothing");
}

static void what_the_version_before_had_is_lost(void **state)
{
	struct branch_store *f = *state;
	branch_store_add(f, X86, "lost-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "lost-1.1rc1-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, ARM, "lost-1.2.tar.gz", NULL);
	branch_store_add(f, ARM, "lost-2.0-cp311-cp311-linux_aarch64.whl", NULL);
	branch_store_add(f, ARM, "lost-3.0rc1-cp311-cp311-linux_aarch64.whl", NULL);
	branch_store_answer(f, "lost", "absent", (struct str){"", 0});
	MATRIX("2.0 after 1.0\na 3.11 ours: lost-2.0-cp311-cp311-linux_aarch64.whl\n"
	       "x 3.10 missing lost: wheels of this version are only on other platforms, such as "
	       "lost-2.0-cp311-cp311-linux_aarch64.whl\n",
		.project = "lost");
	MATRIX("3.0rc1 after 2.0\na 3.11 ours: lost-3.0rc1-cp311-cp311-linux_aarch64.whl\n"
	       "x 3.10 missing: wheels of this version are only on other platforms, such as "
	       "lost-3.0rc1-cp311-cp311-linux_aarch64.whl\n",
		.project = "lost", .version = "3.0RC1");
	MATRIX("1.1rc1 after 1.0\na 3.11 missing: wheels of this version are only on other platforms, such as "
	       "lost-1.1rc1-cp310-cp310-linux_x86_64.whl\n"
	       "x 3.10 ours: lost-1.1rc1-cp310-cp310-linux_x86_64.whl\n",
		.project = "lost", .version = "1.1rc1");
	MATRIX("- after -\n", .project = "lost", .version = "9");
	CLEANUP(project_matrix_release) struct project_matrix m = {0};
	make_asked(f, &(const struct asked){.project = "lost"}, &m);
	static const char *const versions[] = {"3.0rc1", "2.0", "1.2", "1.1rc1", "1.0"};
	assert_int_equal(m.releases, ARRAY_SIZE(versions));
	for (size_t i = 0; i < m.releases; i++) {
		assert_string_equal(m.release[i].version, versions[i]);
		assert_int_equal(m.release[i].files, 1);
		assert_int_equal(m.release[i].wheels, i != 2);
		assert_int_equal(m.release[i].bytes, 123);
	}
}

static void upstreams_versions_count_where_there_are_none_of_ours(void **state)
{
	struct branch_store *f = *state;
	branch_store_add_page(f, "theirs",
		"theirs-1.0-py3-none-any.whl theirs-2.0.tar.gz !theirs-3.0-py3-none-any.whl theirs-4.0a1.tar.gz");
	MATRIX("2.0 after 1.0\na 3.11 missing lost: no wheel at all\nx 3.10 missing lost: no wheel at all\n",
		.project = "theirs");
	CLEANUP(project_matrix_release) struct project_matrix m = {0};
	make_asked(f, &(const struct asked){.project = "theirs"}, &m);
	assert_true(m.is_upstreams);
	assert_int_equal(m.releases, 0);
	assert_string_equal(m.upstream.newest, "2.0");
	assert_true(m.upstream.is_known);
	assert_int_equal(m.upstream.asked, 1000);
	branch_store_add(f, X86, "theirs-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	MATRIX("1.0 after -\na 3.11 upstream: upstream has theirs-1.0-py3-none-any.whl\n"
	       "x 3.10 ours: theirs-1.0-cp310-cp310-linux_x86_64.whl\n",
		.project = "theirs");
	MATRIX("2.0 after 1.0\na 3.11 missing lost: no wheel at all\nx 3.10 missing lost: no wheel at all\n",
		.project = "theirs", .version = "2");
	// A version that was only tried to be built.
	int64_t now = clock_wall_seconds();
	branch_store_add_attempt(f, "theirs", "5.0", RESULTS_TIMED_OUT, now - 180, "");
	CLEANUP(project_matrix_release) struct project_matrix tried = {0};
	make_asked(f, &(const struct asked){.project = "theirs", .version = "5.0"}, &tried);
	assert_string_equal(tried.version, "5.0");
	assert_int_equal(tried.cell[0].state, WHEEL_MISSING);
	assert_int_equal(tried.cell[1].state, WHEEL_FAILED);
	assert_true(tried.cell[1].is_lost);
	assert_null(tried.tried);
	branch_store_add_attempt(f, "theirs", "0.9", RESULTS_FAILED, now - 60, "");
	branch_store_add_attempt(f, "theirs", "4.0", RESULTS_FAILED, now - 120, "");
	CLEANUP(project_matrix_release) struct project_matrix newest = {0};
	make_asked(f, &(const struct asked){.project = "theirs"}, &newest);
	assert_string_equal(newest.version, "1.0");
	assert_string_equal(newest.tried, "5.0");
}

static void platforms_that_are_not_named_show_nothing(void **state)
{
	struct branch_store *f = *state;
	branch_store_add(f, ARM, "hidden-2.0-py3-none-any.whl", NULL);
	branch_store_add(f, X86, "hidden-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_answer(f, "hidden", "absent", (struct str){"", 0});
	MATRIX("1.0 after -\nx 3.10 ours: hidden-1.0-cp310-cp310-linux_x86_64.whl\n", .project = "hidden",
		.platforms = 1, .first = 1);
	MATRIX("- after -\n", .project = "hidden", .version = "2.0", .platforms = 1, .first = 1);
	MATRIX("2.0 after 1.0\na 3.11 covered: hidden-2.0-py3-none-any.whl is for any platform\n"
	       "x 3.10 missing lost: wheels of this version are only on other platforms, such as "
	       "hidden-2.0-py3-none-any.whl\n",
		.project = "hidden", .is_apart = true);
}

static void only_members_of_a_view_count(void **state)
{
	struct branch_store *f = *state;
	branch_store_add(f, X86, "member-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "member-2.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_answer(f, "member", "absent", (struct str){"", 0});
	branch_store_promote(f, "stable", X86, "member", "member-1.0-cp310-cp310-linux_x86_64.whl");
	MATRIX("1.0 after -\na 3.11 missing: wheels of this version are only on other platforms, such as "
	       "member-1.0-cp310-cp310-linux_x86_64.whl\nx 3.10 ours: member-1.0-cp310-cp310-linux_x86_64.whl\n",
		.project = "member", .membership = "stable");
}

static void upstreams_wheels_count_only_for_those_who_get_them(void **state)
{
	struct branch_store *f = *state;
	branch_store_add(f, ARM, "there-1.0.tar.gz", NULL);
	branch_store_add_page(f, "there", "there-1.0-cp311-cp311-manylinux_2_17_aarch64.whl there-1.0.tar.gz");
	MATRIX("1.0 after -\na 3.11 unmerged: upstream has there-1.0-cp311-cp311-manylinux_2_17_aarch64.whl, and the index does "
	       "not show it\nx 3.10 missing: there-1.0-cp311-cp311-manylinux_2_17_aarch64.whl is for aarch64 and CPython 3.11\n",
		.project = "there", .lacks_upstream = true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_state_has_its_reason, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(what_the_version_before_had_is_lost, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(upstreams_versions_count_where_there_are_none_of_ours,
			branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(platforms_that_are_not_named_show_nothing, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(upstreams_wheels_count_only_for_those_who_get_them, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(only_members_of_a_view_count, branch_store_set_up,
			branch_store_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
