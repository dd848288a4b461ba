// SPDX-License-Identifier: Apache-2.0
// Each status and its reason, from a real store's catalog, the last answers of upstream, and earlier attempts.
#include "builder/missing/missing.h"

#include <string.h>

#include "lib/os/clock.h"
#include "tests/unit/support/branch-store.h"

enum { DAY = 86400 };

static void print_row(const struct missing_row *r, struct buf *out)
{
	buf_printf(out, "%s %s %s %s %s", strcmp(r->platform, X86) == 0 ? "x" : "a", r->python, r->project,
		r->version ? r->version : "-", wheel_status_name[r->status]);
	for (size_t i = 0; i < r->branches; i++)
		buf_printf(out, "%s%s", i ? "," : " ", r->branch[i]);
	buf_printf(out, ": %s\n", r->why);
}

// Compares the rows, a line each.
static void assert_rows(struct branch_store *f, const struct missing_options *o, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = {0};
	CLEANUP(buf_release) struct buf out;
	uint64_t all = 0;
	buf_init(&out, 1 << 20);
	branch_store_ok(missing_make(&f->config, &f->store, f->catalog, f->results, o, &m, &e), &e);
	for (size_t i = 0; i < m.rows; i++)
		print_row(&m.row[i], &out);
	for (size_t i = 0; i < WHEEL_STATUS_COUNT; i++) {
		uint64_t sum = 0;
		for (size_t k = 0; k < m.environments; k++)
			sum += m.environment[k].total[i];
		assert_int_equal(m.total[i], sum);
		all += sum;
	}
	if (o->wants_all)
		assert_int_equal(all, m.rows);
	assert_string_equal(out.data, expected);
}

static void assert_fails(struct branch_store *f, const struct missing_options *o, enum err_kind kind,
	const char *expected)
{
	struct err e = ERR_INIT;
	struct missing m;
	assert_int_equal(missing_make(&f->config, &f->store, f->catalog, NULL, o, &m, &e), -1);
	assert_int_equal(e.kind, kind);
	if (!strstr(e.msg, expected))
		fail_msg("%s", e.msg);
}

static void assert_refused(struct branch_store *f, const struct missing_options *o, const char *expected)
{
	assert_fails(f, o, ERR_USAGE, expected);
}

static const struct missing_options everything = {.wants_all = true, .is_offline = true};
static const char *const x86_only[] = {X86};
static const struct missing_options on_x86 = {
	.wants_all = true, .is_offline = true, .platform = x86_only, .platforms = 1, .branch = "master"};

// Exceeds LIMIT_REBUILD_CPU_MS.
static void test_what_takes_too_long_is_ended(void **state)
{
	struct missing_options late = everything;
	late.cpu_end = 1;
	while (clock_thread_ms() <= late.cpu_end)
		;
	branch_store_add(*state, X86, "held-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	assert_fails(*state, &late, ERR_BUSY, "the decision took too long");
}

static void test_each_status(void **state)
{
	struct branch_store *f = *state;
	branch_store_add(f, X86, "held-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, ARM, "held-1.0-cp310-cp310-linux_aarch64.whl", NULL);
	branch_store_add(f, X86, "abi-1.0-cp38-abi3-manylinux_2_34_x86_64.whl", NULL);
	branch_store_add(f, X86, "local-1.0.tar.gz", NULL);
	branch_store_add_page(f, "held", "held-1.0.tar.gz");
	branch_store_add_page(f, "abi", "abi-1.0-cp311-abi3-manylinux_2_36_aarch64.whl");
	branch_store_add_page(f, "there", "there-1.0-cp310-cp310" MANY " <3.9:there-1.0.tar.gz");
	branch_store_add_page(f, "libc", "libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl libc-1.0.tar.gz");
	branch_store_add_page(f, "pure", "pure-1.0.tar.gz pure-0.9-py3-none-any.whl !pure-0.8-cp310-cp310" MANY);
	branch_store_add_page(f, "source", "source-1.0.zip source-0.9.tar.gz");
	branch_store_answer(f, "local", "404", (struct str){0});
	branch_store_answer(f, "loose", "5xx", (struct str){0});
	assert_rows(f, &everything,
		"a 3.11 abi 1.0 upstream master: abi-1.0-cp311-abi3-manylinux_2_36_aarch64.whl\n"
		"a 3.11 held 1.0 missing master: held-1.0-cp310-cp310-linux_aarch64.whl is for CPython 3.10\n"
		"a 3.11 libc 1.0 missing master: libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl is for x86_64 and "
		"CPython 3.10\n"
		"a 3.11 local 1.0 impossible master: there is no file of any version ==1.0; upstream has no such project\n"
		"a 3.11 pure 1.0 pure master: all known wheels of the project are pure Python; no wheel at all\n"
		"a 3.11 source 1.0 missing master: no wheel at all\n"
		"a 3.11 there 1.0 impossible master: there-1.0.tar.gz has Requires-Python <3.9\n"
		"x 3.10 abi 1.0 here master: abi-1.0-cp38-abi3-manylinux_2_34_x86_64.whl\n"
		"x 3.10 elsewhere - not-wanted old: the markers are false there (old.txt:3)\n"
		"x 3.10 held 1.0 here master,old: held-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 libc 1.0 missing master: libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl needs glibc 2.39, the platform "
		"has 2.35\n"
		"x 3.10 local 1.0 missing master: no wheel at all\n"
		"x 3.10 loose - unknown loose: upstream could not tell: 5xx\n"
		"x 3.10 pure 1.0 pure master: all known wheels of the project are pure Python; no wheel at all\n"
		"x 3.10 source 0.9 missing old: no wheel at all\n"
		"x 3.10 source 1.0 missing master: no wheel at all\n"
		"x 3.10 there 1.0 upstream master: there-1.0-cp310-cp310" MANY "\n");
}

// Its own wheels count if the view shows them; pip finds upstream's all the same.
static void test_a_view_that_shows_some_wheels(void **state)
{
	struct branch_store *f = *state;
	struct missing_options o = on_x86;
	o.view = "tested";
	branch_store_write("master.txt",
		"shown==1.0\nwaits==1.0\nours\nnewer\ntheirs==1.0\nyanked==1.0\nskipped==1.0\n");
	branch_store_write("skip.txt", "skipped no use here\n");
	branch_store_set(f, "branch master", "requirements", branch_store_path("master.txt"));
	branch_store_add(f, X86, "shown-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "waits-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "ours-2.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, ARM, "ours-3.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "newer-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "newer-2.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "theirs-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add(f, X86, "skipped-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add_page(f, "waits", "waits-1.0.tar.gz");
	branch_store_add_page(f, "theirs", "theirs-1.0-cp310-cp310" MANY);
	branch_store_add_page(f, "yanked", "yanked-1.0.tar.gz");
	for (size_t i = 0; i < 4; i++)
		branch_store_answer(f, (const char *[]){"shown", "ours", "newer", "skipped"}[i], "404",
			(struct str){0});
	branch_store_promote(f, "tested", X86, "shown", "shown-1.0-cp310-cp310-linux_x86_64.whl");
	branch_store_promote(f, "tested", X86, "newer", "newer-1.0-cp310-cp310-linux_x86_64.whl");
	branch_store_promote(f, "released", X86, "waits", "waits-1.0-cp310-cp310-linux_x86_64.whl");
	assert_rows(f, &o,
		"x 3.10 newer 1.0 here master: newer-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 ours 2.0 unpromoted master: ours-2.0-cp310-cp310-linux_x86_64.whl is here, but the view tested does "
		"not show it\n"
		"x 3.10 shown 1.0 here master: shown-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 skipped 1.0 unpromoted master: skipped-1.0-cp310-cp310-linux_x86_64.whl is here, but the view tested "
		"does not show it\n"
		"x 3.10 theirs 1.0 upstream master: theirs-1.0-cp310-cp310" MANY "\n"
		"x 3.10 waits 1.0 unpromoted master: waits-1.0-cp310-cp310-linux_x86_64.whl is here, but the view tested "
		"does not show it\n"
		"x 3.10 yanked 1.0 missing master: no wheel at all\n");
	o.view = "empty";
	assert_fails(f, &o, ERR_NOT_FOUND, "view empty: its membership is not known");
}

static void test_what_is_skipped(void **state)
{
	struct branch_store *f = *state;
	branch_store_write("master.txt", "one==1.0\ntwo==1.0\nthree==1.0\nfour==1.0\nfive==1.0\nsix==1.0\nseven @ "
					 "https://files.invalid/seven-1.0.tar.gz\n");
	branch_store_write("old.txt", "one==1.0\n");
	branch_store_write("skip.txt", "one ==1.0 platform=debian-* needs a GPU\none platform=ubuntu-*\n");
	branch_store_write("packages.txt", "one\nthree\nfour\nfive\nsix\n");
	branch_store_set(f, "build", "packages", branch_store_path("packages.txt"));
	branch_store_set(f, "branch master", "requirements", branch_store_path("master.txt"));
	branch_store_add_page(f, "one", "one-1.0.tar.gz");
	branch_store_add_page(f, "two", "two-1.0-cp310-cp310" MANY);
	branch_store_add_page(f, "three", "three-1.0.tar.gz");
	branch_store_add_page(f, "four", "four-1.0.tar.gz");
	branch_store_add_page(f, "five", "five-1.0.tar.gz");
	branch_store_add_page(f, "six", "six-1.0.tar.gz");
	branch_store_add(f, X86, "six-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add_tombstone(f, X86, "three-1.0-cp310-cp310-linux_x86_64.whl", "{\"reason\": \"it crashes\"}");
	branch_store_add_tombstone(f, X86, "four-1.0-cp39-cp39-linux_x86_64.whl", "for another Python");
	branch_store_add_tombstone(f, X86, "five-1.0-cp310-cp310-linux_x86_64.whl",
		"{\"reason\": \"\", \"requires-python\": \"<3.9\"}");
	branch_store_add_tombstone(f, X86, "six-1.0-1-cp310-cp310-linux_x86_64.whl", "an older build");
	assert_rows(f, &on_x86,
		"x 3.10 five 1.0 missing master: no wheel at all\n"
		"x 3.10 four 1.0 missing master: no wheel at all\n"
		"x 3.10 one 1.0 skipped master: skip.txt:2: [build] skip\n"
		"x 3.10 seven - skipped master: master.txt:7 wants a file by its URL, which no index decides about\n"
		"x 3.10 six 1.0 here master: six-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 three 1.0 skipped master: three-1.0-cp310-cp310-linux_x86_64.whl was removed here: it crashes\n"
		"x 3.10 two 1.0 skipped master: it is not in [build] packages\n");
	branch_store_write("packages.txt", "# nothing\n");
	assert_refused(f, &everything, "names no project");
	branch_store_write("packages.txt", "one = 1.0\n");
	assert_refused(f, &everything, "packages.txt:1: ");
	branch_store_set(f, "build", "packages", "/dev/zero");
	assert_refused(f, &everything, "[build] packages: /dev/zero: no regular file");
}

static void test_what_is_impossible_or_unknown(void **state)
{
	struct branch_store *f = *state;
	branch_store_write("master.txt",
		"secret==1.0\nyanked>=1\nprivy==1.0\nasleep==1.0\nnever==1.0\nbanned==1.0\nwheels==1.0\nahead>=9\n");
	branch_store_set(f, "branch master", "requirements", branch_store_path("master.txt"));
	branch_store_add(f, X86, "secret-1.0-cp310-cp310-linux_x86_64.whl", ">=3.11");
	branch_store_add(f, X86, "asleep-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	branch_store_add_page(f, "yanked", "!yanked-1.0.tar.gz");
	branch_store_add_page(f, "wheels", "wheels-1.0-cp311-cp311" MANY);
	branch_store_add_page(f, "ahead", "ahead-1.0.tar.gz");
	branch_store_answer(f, "asleep", "timeout", (struct str){0});
	branch_store_answer(f, "privy", "timeout", (struct str){0});
	branch_store_answer(f, "banned", "quarantined", (struct str){0});
	assert_rows(f, &on_x86,
		"x 3.10 ahead - impossible master: there is no file of any version >=9\n"
		"x 3.10 asleep 1.0 here master: asleep-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 banned 1.0 impossible master: there is no file of any version ==1.0; upstream has quarantined the "
		"project\n"
		"x 3.10 never 1.0 unknown master: upstream could not tell: never asked\n"
		"x 3.10 privy 1.0 unknown master: upstream could not tell: timeout\n"
		"x 3.10 secret 1.0 impossible master: no sdist, and secret-1.0-cp310-cp310-linux_x86_64.whl has "
		"Requires-Python >=3.11; upstream's files do not count: private\n"
		"x 3.10 wheels 1.0 impossible master: no sdist, and wheels-1.0-cp311-cp311" MANY
		" is for CPython 3.11\n"
		"x 3.10 yanked - impossible master: only yanked files, and no exact pin\n");
}

static void test_micro_versions(void **state)
{
	struct branch_store *f = *state;
	branch_store_write("master.txt", "newer\npart==1.0\nmarked==1.0;python_full_version>='3.10.4'\n");
	branch_store_set(f, "branch master", "requirements", branch_store_path("master.txt"));
	branch_store_add_page(f, "newer", "<3.10.2:newer-1.0.tar.gz newer-0.9.tar.gz");
	branch_store_add_page(f, "part", "<3.10.5:part-1.0.tar.gz");
	branch_store_add_page(f, "marked", "marked-1.0.tar.gz");
	assert_rows(f, &on_x86,
		"x 3.10 marked 1.0 missing master: no wheel at all (on 3.10.4 and later)\n"
		"x 3.10 newer 0.9 missing master: no wheel at all (on 3.10.2 and later)\n"
		"x 3.10 newer 1.0 missing master: no wheel at all (on 3.10.0 to 3.10.1)\n"
		"x 3.10 part 1.0 missing master: no wheel at all (on 3.10.0 to 3.10.4)\n");
}

static void test_earlier_attempts(void **state)
{
	struct branch_store *f = *state;
	int64_t now = clock_wall_seconds();
	CLEANUP(buf_release) struct buf expected;
	char last[CLOCK_TEXT], retry[CLOCK_TEXT];
	buf_init(&expected, 4096);
	branch_store_write("master.txt",
		"fails==1.0\ndue==1.0\nneeds==1.0\nneedless==1.0\ngood==1.0\nbase==1.0\nitself==1.0\n");
	const char *const projects[] = {"fails", "due", "needs", "needless", "good", "base", "itself"};
	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s-1.0.tar.gz", projects[i]);
		branch_store_add_page(f, projects[i], name);
	}
	branch_store_add_attempt(f, "fails", "1.0", RESULTS_FAILED, now - 100, "");
	branch_store_add_attempt(f, "fails", "0.9", RESULTS_OK, now - 50, "");
	branch_store_add_attempt(f, "due", "1.0", RESULTS_TIMED_OUT, now - 2 * DAY, "");
	branch_store_add_attempt(f, "needs", "1.0", RESULTS_FAILED, now - 100, "other base");
	branch_store_add_attempt(f, "needless", "1.0", RESULTS_FAILED, now - 2 * DAY, "other");
	branch_store_add_attempt(f, "good", "1.0", RESULTS_FAILED, now - 200, "base");
	branch_store_add_attempt(f, "good", "1.0", RESULTS_OK, now - 100, "");
	branch_store_add_attempt(f, "itself", "1.0", RESULTS_FAILED, now - 2 * DAY, "itself");
	clock_write(now - 100, last);
	clock_write(now - 100 + DAY / 2, retry);
	buf_printf(&expected,
		"x 3.10 base 1.0 missing master: no wheel at all\n"
		"x 3.10 due 1.0 missing master: no wheel at all\n"
		"x 3.10 fails 1.0 failed master: failed in step build, last at %s, 1 time in a row, to be tried again at %s: "
		"gcc: no such file\n"
		"x 3.10 good 1.0 missing master: no wheel at all\n"
		"x 3.10 itself 1.0 missing master: no wheel at all\n"
		"x 3.10 needless 1.0 missing master: no wheel at all\n"
		"x 3.10 needs 1.0 awaiting master: the last attempt lacked its build requirement base, which is missing too\n",
		last, retry);
	assert_rows(f, &on_x86, expected.data);
	struct missing_options one = on_x86;
	one.project = "needs"; // base is decided for it, but is no row
	assert_rows(f, &one,
		"x 3.10 needs 1.0 awaiting master: the last attempt lacked its build requirement base, which is missing too\n");
	one.project = "nobody";
	assert_rows(f, &one, "");
}

static void test_options(void **state)
{
	struct branch_store *f = *state;
	branch_store_write("master.txt", "pure==1.0\nthere==1.0\n");
	branch_store_add_page(f, "pure", "pure-1.0.tar.gz pure-0.9-py3-none-any.whl");
	branch_store_add_page(f, "there", "there-1.0-cp310-cp310" MANY);
	struct missing_options o = {.is_offline = true, .python = "3.10", .branch = "mast*"};
	assert_rows(f, &o, "");
	o.wants_pure = true;
	assert_rows(f, &o, "x 3.10 pure 1.0 missing master: no wheel at all\n");
	o.python = "3.12";
	assert_refused(f, &o, "no branch has such a platform and Python");
	o.branch = "nothing";
	assert_refused(f, &o, "nothing");
	struct profile *profile = &f->store.platform[0].profile;
	size_t environments = profile->environment_count;
	profile->environment_count = 0;
	assert_refused(f, &everything, "its Pythons are unknown");
	profile->environment_count = environments;
}

// What is there may be unknown.
static void test_a_platform_that_no_scan_has_read(void **state)
{
	struct branch_store *f = *state;
	branch_store_write("master.txt", "one==1.0\n");
	branch_store_set_scanned(f, ARM, CATALOG_UNREADABLE);
	assert_fails(f, &everything, ERR_NOT_FOUND, "platform " ARM ": no scan has read it yet");
	assert_rows(f, &on_x86, "x 3.10 one 1.0 unknown master: upstream could not tell: never asked\n");
}

static void test_the_sdist(void **state)
{
	struct branch_store *f = *state;
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = {0};
	branch_store_write("master.txt", "ours==1.0\ntheirs==1.0\n");
	branch_store_add(f, X86, "ours-1.0.tar.gz", NULL);
	branch_store_add_page(f, "ours", "ours-1.0.tar.gz");
	branch_store_add_page(f, "theirs", "theirs-1.0.tar.gz");
	branch_store_ok(missing_make(&f->config, &f->store, f->catalog, NULL, &on_x86, &m, &e), &e);
	assert_int_equal(m.rows, 2);
	const struct missing_sdist *ours = &m.row[0].sdist, *theirs = &m.row[1].sdist;
	assert_string_equal(ours->url, "file:ours-1.0.tar.gz");
	assert_int_equal(ours->size, 123);
	assert_int_equal(strlen(ours->sha256), SHA256_HEX);
	assert_memory_equal(ours->sha256, "ab00", 4);
	assert_string_equal(theirs->url, "https://files.invalid/theirs-1.0.tar.gz");
	assert_int_equal(theirs->size, 77);
	assert_null(theirs->sha256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_what_takes_too_long_is_ended, branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_each_status, branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_a_view_that_shows_some_wheels, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_skipped, branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_impossible_or_unknown, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_micro_versions, branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_earlier_attempts, branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_options, branch_store_set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_a_platform_that_no_scan_has_read, branch_store_set_up,
			branch_store_tear_down),
		cmocka_unit_test_setup_teardown(test_the_sdist, branch_store_set_up, branch_store_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
