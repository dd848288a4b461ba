// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "test-catalog-check.XXXXXX";
static char path[64];
static const char name[] = "six-1.0.whl";
static const uint8_t sha256[SHA256_SIZE] = {1, 2, 3};

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/catalog.db", folder);
	return 0;
}

static void remove_catalog(void)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-changes"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		CLEANUP(mem_free) char *file = xasprintf("%s%s", path, ending[i]);
		unlink(file);
	}
	CLEANUP(mem_free) char *arrivals = xasprintf("rm -rf '%s.arrivals'", path);
	if (system(arrivals) != 0)
		abort();
}

static int remove_folder(void **state UNUSED)
{
	remove_catalog();
	return rmdir(folder);
}

static void put_six(struct catalog *c, int64_t platform)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	struct catalog_entry six = {.platform = platform,
		.folder_path = "b",
		.filename = name,
		.size = 100,
		.mtime_ns = 5,
		.sha256 = sha256,
		.project = "six",
		.version = "1.0",
		.version_key = STR("1")};
	int64_t root;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(c, &t, &e), &e);
	ok(catalog_folder_ensure(c, platform, "", &root, &e), &e);
	ok(catalog_folder_ensure(c, platform, "b", &six.folder, &e), &e);
	ok(catalog_file_put(c, &six, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

// A closed catalog of /srv/one that lists one file on the platform 1.
static int make_catalog(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog *c = NULL;
	int64_t platform;
	remove_catalog();
	ok(catalog_open(path, &c, &e), &e);
	ok(catalog_claim(c, "/srv/one", &e), &e);
	ok(catalog_platform_add(c, "debian-12-x86_64", &platform, &e), &e);
	put_six(c, platform);
	catalog_close(c);
	return 0;
}

static int keep_id(void *ctx, const struct catalog_good *file, struct err *e UNUSED)
{
	assert_string_equal(file->folder, "b");
	assert_string_equal(file->filename, name);
	assert_string_equal(file->project, "six");
	assert_int_equal(file->state, FILE_IS_LISTED);
	assert_int_equal(file->size, 100);
	*(int64_t *)ctx = file->id;
	return 0;
}

static void files_are_told_and_looked_up(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_cleanup) struct catalog *c = NULL;
	struct catalog_sum sum;
	int64_t platform, id = 0;
	ok(catalog_open_read(path, &c, &e), &e);
	ok(catalog_platform_find(c, "debian-12-x86_64", &platform, &e), &e);
	ok(catalog_good_files(c, keep_id, &id, &e), &e);
	assert_int_equal(catalog_file_sum(c, id, &sum, &e), 1);
	assert_int_equal(sum.state, FILE_IS_LISTED);
	assert_int_equal(sum.size, 100);
	assert_int_equal(sum.mtime_ns, 5);
	assert_memory_equal(sum.sha256, sha256, SHA256_SIZE);
	assert_int_equal(catalog_file_sum(c, id + 1, &sum, &e), 0);
	CLEANUP(mem_free) char *found = NULL;
	assert_int_equal(catalog_file_name(c, id, &found, &e), 1);
	assert_string_equal(found, name);
	assert_int_equal(catalog_has_file(c, platform, "b", name, &e), 1);
	assert_int_equal(catalog_has_file(c, platform, "", name, &e), 0);
}

static void reading_changes_nothing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct stat before, after;
	struct catalog *c = NULL;
	assert_int_equal(stat(path, &before), 0);
	ok(catalog_open_read(path, &c, &e), &e);
	assert_int_equal(catalog_is_of(c, "/srv/one", &e), 0);
	assert_int_equal(catalog_is_of(c, "/srv/two", &e), -1);
	struct catalog_transaction none = {0};
	assert_int_equal(catalog_begin(c, &none, &e), -1);
	assert_null(none.catalog);
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(catalog_is_current(c, &e), 0);
	catalog_close(c);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_memory_equal(&after.st_mtim, &before.st_mtim, sizeof(after.st_mtim));
}

static void assert_not_readable(enum err_kind kind, const char *why)
{
	struct err e = ERR_INIT;
	struct catalog *c = NULL;
	assert_int_equal(catalog_open_read(path, &c, &e), -1);
	assert_int_equal(e.kind, kind);
	assert_non_null(strstr(e.msg, why));
	assert_non_null(strstr(e.msg, path));
}

// PRAGMA user_version: https://sqlite.org/fileformat2.html#database_header
static void set_version(char version)
{
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, 63, SEEK_SET);
	fputc(version, f);
	fclose(f);
}

static void reading_upgrades_and_makes_nothing(void **state UNUSED)
{
	set_version(0);
	assert_not_readable(ERR_USAGE, "older wheelcache");
	set_version(99);
	assert_not_readable(ERR_USAGE, "newer wheelcache");
	remove_catalog();
	assert_not_readable(ERR_NOT_FOUND, "cannot read");
	assert_int_equal(access(path, F_OK), -1);
}

#define WITH_CATALOG(test) cmocka_unit_test_setup(test, make_catalog)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CATALOG(files_are_told_and_looked_up),
		WITH_CATALOG(reading_changes_nothing),
		WITH_CATALOG(reading_upgrades_and_makes_nothing),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
