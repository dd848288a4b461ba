// SPDX-License-Identifier: Apache-2.0
// Digests of the contents of wheels whose names evidence gives to other bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/format/compress.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/store/wanted-contents.h"
#include "tests/unit/support/zipmake.h"

enum { WHEELS = 300 };

static char folder[] = "/tmp/test-wanted-contents-XXXXXX";
static struct store store;
static struct catalog *catalog;
static uint8_t hash[WHEELS][SHA256_SIZE];

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static void name_wheel(int i, char out[64])
{
	snprintf(out, 64, "six-%d-py3-none-any.whl", i);
}

// The members of all are the same; the last one is no ZIP file.
static void write_wheel(int i, struct stat *st)
{
	char name[64], path[256], comment[16];
	struct zipmake zip;
	name_wheel(i, name);
	snprintf(path, sizeof(path), "%s/store/%s", folder, name);
	snprintf(comment, sizeof(comment), "%d", i);
	zipmake_init(&zip);
	zipmake_add(&zip, &(struct zipmake_member){.name = "six.py", .content = "six = 6\n"});
	zipmake_end(&zip, i == WHEELS - 1 ? "" : comment);
	struct str bytes = buf_view(&zip.bytes);
	if (i == WHEELS - 1)
		bytes = STR("no wheel");
	digest_sha256(bytes, hash[i]);
	CLEANUP(mem_close) int fd = open(path, O_CREAT | O_WRONLY, 0644);
	assert_int_equal(write(fd, bytes.ptr, bytes.len), bytes.len);
	assert_int_equal(fstat(fd, st), 0);
	zipmake_release(&zip);
}

static void put_wheel(int i, int64_t root)
{
	struct err e = ERR_INIT;
	struct stat st;
	struct catalog_effect effect;
	char name[64];
	write_wheel(i, &st);
	name_wheel(i, name);
	const struct catalog_entry entry = {.platform = store.platform[0].id,
		.folder = root,
		.folder_path = "",
		.filename = name,
		.size = (uint64_t)st.st_size,
		.mtime_ns = fs_mtime_ns(&st),
		.inode = st.st_ino,
		.sha256 = hash[i],
		.project = "six",
		.version = "1",
		.version_key = STR("k")};
	ok(catalog_file_put(catalog, &entry, &effect, &e), &e);
}

// A record about other bytes of each name.
static void put_evidence(int i)
{
	struct err e = ERR_INIT;
	char name[64];
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 1000);
	name_wheel(i, name);
	ok(compress_zstd(STR("{}"), 1, &packed, &e), &e);
	struct catalog_evidence r = {
		.kind = "unit", .platform = "a", .python = "3.12", .order = i, .by = "", .address = "", .views = "*", .wheels = 1};
	memcpy(r.id, hash[i], SHA256_SIZE);
	const uint8_t other[SHA256_SIZE] = {7, (uint8_t)i, (uint8_t)(i >> 8)};
	const struct catalog_tested tested = {
		.project = "six", .sha256 = other, .version = STR("k"), .filename = name, .content = other};
	ok(catalog_evidence_put(catalog, &r, &tested, buf_view(&packed), &e), &e);
}

static int open_all(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int64_t root;
	struct config config;
	assert_non_null(mkdtemp(folder));
	CLEANUP(mem_free) char *path = xasprintf("%s/store", folder), *file = xasprintf("%s/catalog.db", folder);
	ok(fs_make_dirs(path, &e), &e);
	config_init(&config);
	ok(config_set(&config, "store", "path", path, &e), &e);
	ok(store_open(&config, STORE_PROMPT, &store, &e), &e);
	config_release(&config);
	ok(catalog_open(file, &catalog, &e), &e);
	ok(store_register(&store, catalog, &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(catalog, &t, &e), &e);
	ok(catalog_folder_ensure(catalog, store.platform[0].id, "", &root, &e), &e);
	for (int i = 0; i < WHEELS; i++)
		put_wheel(i, root);
	ok(catalog_commit(&t, &e), &e);
	return 0;
}

static int close_all(void **state UNUSED)
{
	struct err e = ERR_INIT;
	catalog_cleanup(&catalog);
	store_release(&store);
	ok(tree_remove(AT_FDCWD, folder, &e), &e);
	return 0;
}

static size_t count_wanted(void)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) int64_t *id = NULL;
	size_t count;
	ok(catalog_content_wanted(catalog, &id, &count, &e), &e);
	return count;
}

// Exceeds LIMIT_CONTENTS_MS, with a lower value.
static void only_wanted_wheels_are_unpacked_for_a_time(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint8_t first[SHA256_SIZE], other[SHA256_SIZE];
	assert_int_equal(count_wanted(), 0);
	assert_int_equal(wanted_contents_of(&store, catalog, hash[0], first, &e), 1);
	assert_int_equal(catalog_content_get(catalog, hash[0], other, &e), 0); // it was not written
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(catalog, &t, &e), &e);
	for (int i = 0; i < WHEELS; i++)
		put_evidence(i);
	ok(catalog_commit(&t, &e), &e);
	assert_int_equal(count_wanted(), WHEELS);
	ok(wanted_contents_take(&store, catalog, 1, NULL, &e), &e);
	assert_in_range(count_wanted(), 1, WHEELS);
	const _Atomic bool is_cancelled = true;
	size_t before = count_wanted();
	ok(wanted_contents_take(&store, catalog, 0, &is_cancelled, &e), &e);
	assert_int_equal(count_wanted(), before);
	ok(wanted_contents_take(&store, catalog, 0, NULL, &e), &e);
	assert_int_equal(count_wanted(), 0);
	for (int i = 0; i < WHEELS - 1; i++) {
		assert_int_equal(catalog_content_get(catalog, hash[i], other, &e), 1);
		assert_memory_equal(first, other, SHA256_SIZE);
	}
	assert_int_equal(catalog_content_get(catalog, hash[WHEELS - 1], other, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(only_wanted_wheels_are_unpacked_for_a_time)};
	return cmocka_run_group_tests(tests, open_all, close_all);
}
