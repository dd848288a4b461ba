// SPDX-License-Identifier: Apache-2.0
// What test-catalog.c does not: the list of all places, and reading while others write.
#include "lib/state/catalog/catalog-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"

static char folder[] = "test-catalog-read.XXXXXX";

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static int print_location(void *ctx, const struct catalog_location *file, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %s %s %s;", file->project, file->filename, file->path,
		file->metadata_sha256 ? "metadata" : "-");
	return 0;
}

static void assert_locations(struct catalog *c, int64_t platform, const char *want)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	ok(catalog_locations(c, platform, print_location, &out, &e), &e);
	assert_string_equal(out.data, want);
}

static void put(struct catalog *c, struct catalog_entry entry, const char *path, const uint8_t *metadata)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	entry.folder_path = path;
	entry.metadata_sha256 = metadata;
	entry.metadata_packed = STR("packed");
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(c, &t, &e), &e);
	if (*path)
		ok(catalog_folder_ensure(c, entry.platform, path, &entry.folder, &e), &e);
	ok(catalog_file_put(c, &entry, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

static void locations_are_of_one_moment(void **state UNUSED)
{
	static const uint8_t sha256[SHA256_SIZE] = {1};
	struct err e = ERR_INIT;
	struct catalog_entry file = {.filename = "six-2.0.whl",
		.sha256 = sha256,
		.project = "six",
		.version = "2.0",
		.version_key = STR("2")};
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db", folder);
	CLEANUP(catalog_cleanup) struct catalog *writer = NULL;
	CLEANUP(catalog_cleanup) struct catalog *reader = NULL;
	ok(catalog_open(path, &writer, &e), &e);
	ok(catalog_open(path, &reader, &e), &e);
	ok(catalog_platform_add(writer, "debian-12-x86_64", &file.platform, &e), &e);
	ok(catalog_folder_ensure(writer, file.platform, "", &file.folder, &e), &e);
	assert_locations(reader, file.platform, "");
	put(writer, file, "s/six", sha256);
	ok(catalog_read_begin(reader, &e), &e);
	assert_locations(reader, file.platform, "six six-2.0.whl s/six/six-2.0.whl metadata;");
	file.filename = "six-1.0.whl";
	put(writer, file, "", NULL);
	file.filename = "attrs-1.0.whl";
	file.project = "attrs";
	put(writer, file, "", NULL);
	assert_locations(reader, file.platform, "six six-2.0.whl s/six/six-2.0.whl metadata;");
	struct catalog *reading = reader;
	catalog_read_end(&reading);
	assert_locations(reader, file.platform,
		"attrs attrs-1.0.whl attrs-1.0.whl -;six six-1.0.whl six-1.0.whl -;"
		"six six-2.0.whl s/six/six-2.0.whl metadata;");
	assert_locations(reader, file.platform + 1, "");
}

static void assert_usage(struct catalog *c, int64_t platform, uint64_t files, uint64_t bytes)
{
	struct err e = ERR_INIT;
	struct catalog_usage usage;
	ok(catalog_usage(c, platform, &usage, &e), &e);
	assert_int_equal(usage.files, files);
	assert_int_equal(usage.bytes, bytes);
}

// What is quarantined fills the disk as well.
static void usage_is_all_that_is_there(void **state UNUSED)
{
	static const uint8_t sha256[SHA256_SIZE] = {1};
	struct err e = ERR_INIT;
	struct catalog_entry file = {.filename = "six-2.0.whl",
		.sha256 = sha256,
		.project = "six",
		.version = "2.0",
		.version_key = STR("2"),
		.size = 40};
	CLEANUP(mem_free) char *path = xasprintf("%s/usage.db", folder);
	CLEANUP(catalog_cleanup) struct catalog *c = NULL;
	ok(catalog_open(path, &c, &e), &e);
	ok(catalog_platform_add(c, "debian-12-x86_64", &file.platform, &e), &e);
	ok(catalog_folder_ensure(c, file.platform, "", &file.folder, &e), &e);
	assert_usage(c, file.platform, 0, 0);
	put(c, file, "", NULL);
	assert_usage(c, file.platform, 1, 40);
	file.filename = "six-3.0.whl";
	file.refusal = "damaged";
	file.size = 2;
	put(c, file, "", NULL);
	assert_usage(c, file.platform, 2, 42);
	assert_usage(c, file.platform + 1, 0, 0);
}

static int make_folder(void **state UNUSED)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s", folder);
	return system(command);
}

static int see_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %zu;", file->filename, file->requires_python ? strlen(file->requires_python) : 0);
	return 0;
}

// What an older version wrote had no limit, and a page has all files of a project: sixty of these were half a gigabyte.
static void old_rows_have_limits(void **state UNUSED)
{
	static const struct {
		const char *filename;
		size_t python;
	} rows[] = {{"six-1.0-1.whl", 1 << 20}, {"six-1.0-2.whl", LIMIT_REQUIRES_PYTHON + 1},
		{"six-1.0-3.whl", LIMIT_REQUIRES_PYTHON}};
	static const uint8_t sha256[SHA256_SIZE] = {1};
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *text = xmalloc(1 << 20);
	CLEANUP(buf_release) struct buf seen;
	struct catalog_entry file = {.sha256 = sha256, .project = "six", .version = "1.0", .version_key = STR("1")};
	CLEANUP(mem_free) char *path = xasprintf("%s/old.db", folder);
	CLEANUP(catalog_cleanup) struct catalog *c = NULL;
	ok(catalog_open(path, &c, &e), &e);
	ok(catalog_platform_add(c, "debian-12-x86_64", &file.platform, &e), &e);
	ok(catalog_folder_ensure(c, file.platform, "", &file.folder, &e), &e);
	memset(text, ',', 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(mem_free) char *python = xstrndup(text, rows[i].python);
		file.filename = rows[i].filename;
		file.requires_python = python;
		put(c, file, "", NULL);
	}
	buf_init(&seen, 1000);
	ok(catalog_project_files(c, file.platform, "six", see_file, &seen, &e), &e);
	assert_string_equal(seen.data, "six-1.0-1.whl 0;six-1.0-2.whl 0;six-1.0-3.whl 1024;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locations_are_of_one_moment),
		cmocka_unit_test(old_rows_have_limits),
		cmocka_unit_test(usage_is_all_that_is_there),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
