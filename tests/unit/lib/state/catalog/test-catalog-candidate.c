// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/state/catalog/catalog-mark.h"

static char folder[] = "test-catalog-prune.XXXXXX";
static struct catalog *catalog;
static int64_t platforms[2];

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static char *catalog_file(const char *ending)
{
	return xasprintf("%s/c.db%s", folder, ending);
}

// refusal NULL: it is good.
static void put(int on, const char *where, const char *filename, const char *version, const char *refusal)
{
	static const uint8_t sha256[SHA256_SIZE] = {1, 2, 3};
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	struct catalog_entry entry = {.platform = platforms[on],
		.folder_path = where,
		.filename = filename,
		.size = 100,
		.mtime_ns = 5,
		.refusal = refusal,
		.sha256 = refusal ? NULL : sha256,
		.project = refusal ? NULL : "six",
		.version = refusal ? NULL : version,
		.version_key = refusal ? (struct str){0} : str_from(version),
		.requires_python = refusal ? NULL : ">=3.8"};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(catalog, &t, &e), &e);
	ok(catalog_folder_ensure(catalog, platforms[on], where, &entry.folder, &e), &e);
	ok(catalog_file_put(catalog, &entry, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

static void unlist(int on, const char *where, const char *filename)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	struct catalog_mark mark = {.platform = platforms[on],
		.folder_path = where,
		.filename = filename,
		.mark = MARK_PRUNED,
		.text = "gone"};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(catalog, &t, &e), &e);
	ok(catalog_folder_ensure(catalog, platforms[on], where, &mark.folder, &e), &e);
	ok(catalog_mark_put(catalog, &mark, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

static int make_catalog(void **state UNUSED)
{
	struct err e = ERR_INIT;
	if (!mkdtemp(folder))
		return -1;
	CLEANUP(mem_free) char *path = catalog_file("");
	ok(catalog_open(path, &catalog, &e), &e);
	ok(catalog_platform_add(catalog, "one", &platforms[0], &e), &e);
	ok(catalog_platform_add(catalog, "two", &platforms[1], &e), &e);
	return 0;
}

static int remove_catalog(void **state UNUSED)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-changes"};
	catalog_close(catalog);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		CLEANUP(mem_free) char *file = catalog_file(ending[i]);
		unlink(file);
	}
	CLEANUP(mem_free) char *base = catalog_file("");
	CLEANUP(mem_free) char *arrivals = xasprintf("rm -rf '%s.arrivals'", base);
	if (system(arrivals) != 0)
		abort();
	return rmdir(folder);
}

static int add_held(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	assert_int_equal(file->size, 100);
	assert_int_equal(file->mtime_ns, 5);
	assert_int_equal(file->sha256 == NULL, file->refusal != NULL);
	if (!file->refusal)
		assert_string_equal(file->requires_python, ">=3.8");
	buf_printf(ctx, "%s %s%s%s;", file->path, file->version ? file->version : "", file->refusal ? "!" : "",
		file->refusal ? file->refusal : "");
	return 0;
}

static void holds(int on, const char *wanted)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 4096);
	ok(catalog_candidates(catalog, platforms[on], "six", add_held, &found, &e), &e);
	assert_string_equal(found.data, wanted);
}

static int add_holder(void *ctx, const char *project, int64_t platform, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %d;", project, platform == platforms[1]);
	return 0;
}

static void are_held(const char *wanted)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 4096);
	ok(catalog_name_owners(catalog, add_holder, &found, &e), &e);
	assert_string_equal(found.data, wanted);
}

static void every_file_is_told_once(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int64_t before, after;
	are_held("");
	ok(catalog_newest_change(catalog, &before, &e), &e);
	put(0, "b", "six-2.whl", "2", NULL);
	put(0, "b", "six-1.whl", "1", NULL);
	holds(0, "b/six-1.whl 1;b/six-2.whl 2;");
	holds(1, "");
	are_held("six 0;");
	put(0, "a", "six-2.whl", "2", NULL);
	put(1, "", "six-2.whl", "2", NULL);
	holds(0, "b/six-1.whl 1;a/six-2.whl 2;b/six-2.whl 2;");
	holds(1, "six-2.whl 2;");
	are_held("six 0;six 1;");
	unlist(0, "b", "six-1.whl");
	unlist(1, "", "six-2.whl");
	holds(0, "a/six-2.whl 2;b/six-2.whl 2;");
	holds(1, "");
	are_held("six 0;");
	ok(catalog_newest_change(catalog, &after, &e), &e);
	assert_true(after > before);
}

static void quarantine_is_told(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf found;
	put(1, "", "bad.whl", NULL, "no ZIP");
	put(0, "c", "odd.whl", NULL, "");
	buf_init(&found, 4096);
	ok(catalog_quarantined_files(catalog, add_held, &found, &e), &e);
	assert_string_equal(found.data, "c/odd.whl !;bad.whl !no ZIP;");
	holds(0, "a/six-2.whl 2;b/six-2.whl 2;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_is_told_once),
		cmocka_unit_test(quarantine_is_told),
	};
	return cmocka_run_group_tests(tests, make_catalog, remove_catalog);
}
