// SPDX-License-Identifier: Apache-2.0
#include "indexer/scan/facts-backfill.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "indexer/scan/scan.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-file.h"
#include "tests/unit/support/zipmake.h"

enum { WHEELS = 40, PATIENT_MS = 60000 };

#define PLATFORM "debian-12-x86_64"

static char top[] = "facts-backfill.XXXXXX";
static struct config config;
static struct store store;
static struct catalog *catalog;
static _Atomic bool is_cancelled;

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static void make_wheel(struct zipmake *z, int version)
{
	CLEANUP(mem_free) char *text = xasprintf("Metadata-Version: 2.1\nName: demo\nVersion: %d\n", version);
	CLEANUP(mem_free) char *metadata = xasprintf("demo-%d.dist-info/METADATA", version);
	CLEANUP(mem_free) char *wheel = xasprintf("demo-%d.dist-info/WHEEL", version);
	const struct zipmake_member members[] = {
		{.name = metadata, .content = text},
		{.name = wheel, .content = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	};
	zipmake_init(z);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		zipmake_add(z, &members[i]);
	zipmake_end(z, "");
}

static void write_wheel(int version)
{
	struct zipmake z;
	CLEANUP(mem_free) char *path = xasprintf("%s/store/" PLATFORM "/demo-%d-py3-none-any.whl", top, version);
	make_wheel(&z, version);
	CLEANUP(mem_close) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, z.bytes.data, z.bytes.len), z.bytes.len);
	zipmake_release(&z);
}

static int open_folder(void)
{
	struct err e = ERR_INIT;
	if (!mkdtemp(top))
		return -1;
	CLEANUP(mem_free) char *place = xasprintf("%s/store", top);
	CLEANUP(mem_free) char *platform = xasprintf("%s/" PLATFORM, place);
	if (mkdir(place, 0755) < 0 || mkdir(platform, 0755) < 0)
		return -1;
	for (int version = 1; version <= WHEELS; version++)
		write_wheel(version);
	config_init(&config);
	return config_set(&config, "store", "path", place, &e);
}

// A store of wheels that a scan without facts has listed.
static int set_up(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(summary_release) struct summary summary = {0};
	const struct scan_options options = {.threads = 1};
	if (open_folder() < 0)
		return -1;
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db", top);
	ok(store_open(&config, PATIENT_MS, &store, &e), &e);
	ok(catalog_open(path, &catalog, &e), &e);
	ok(store_register(&store, catalog, &e), &e);
	ok(scan_run(&store, catalog, &options, &summary, &e), &e);
	return summary.number[SCAN_REPORT_FILES] == WHEELS ? 0 : -1;
}

static int tear_down(void **state UNUSED)
{
	struct err e = ERR_INIT;
	catalog_close(catalog);
	store_release(&store);
	config_release(&config);
	return tree_remove(AT_FDCWD, top, &e);
}

// In the calling thread, once for each wheel: so all of them would take 400 ms.
static void dawdle(void *ctx, uint64_t done, uint64_t all UNUSED)
{
	if (ctx && done >= *(uint64_t *)ctx)
		atomic_store(&is_cancelled, true);
	nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

static struct facts_backfill_counts run(unsigned most_ms, uint64_t *cancelled_after)
{
	struct err e = ERR_INIT;
	struct facts_backfill_counts counts = {0};
	const struct facts_backfill_options options = {.store = &store,
		.threads = 1,
		.most_ms = most_ms,
		.cancel = &is_cancelled,
		.progress = dawdle,
		.ctx = cancelled_after};
	atomic_store(&is_cancelled, false);
	ok(facts_backfill_run(catalog, &options, &counts, &e), &e);
	return counts;
}

// Each run begins no wheel after its time, or when it is cancelled, keeps what it has, and the next one goes on.
static void test_time_is_bounded_and_the_next_run_goes_on(void **state UNUSED)
{
	struct facts_backfill_counts first = run(50, NULL);
	assert_in_range(first.taken, 0, WHEELS / 2);
	assert_int_equal(first.lacking, WHEELS - first.taken);
	uint64_t enough = 3;
	struct facts_backfill_counts second = run(0, &enough);
	assert_in_range(second.taken, 3, WHEELS / 2 - 1);
	assert_int_equal(second.lacking, first.lacking - second.taken);
	struct facts_backfill_counts last = run(0, NULL);
	assert_int_equal(last.taken, second.lacking);
	assert_int_equal(last.lacking, 0);
	assert_int_equal(run(0, NULL).taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_time_is_bounded_and_the_next_run_goes_on, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
