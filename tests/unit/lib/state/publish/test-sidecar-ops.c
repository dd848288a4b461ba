// SPDX-License-Identifier: Apache-2.0
// Tombstones put beside files and taken away again, and bytes that go at last: step by step, with what others did in
// between.
#include "lib/state/publish/sidecar-ops.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/freeze.h"

static const char wheel[] = "six-1.0-py3-none-any.whl";
static const char bytes[] = "the bytes", others[] = "otherness"; // of one length
static const char here[] = "s/six", there[] = "t/six";

static struct {
	char *top;
	struct store store;
	struct catalog *catalog;
	const struct platform *platform;
	uint8_t sha256[SHA256_SIZE];
} at;

static char *path_of(const char *folder, const char *ending)
{
	return xasprintf("%s/store/%s/%s%s", at.top, folder, wheel, ending);
}

static bool is_there(const char *folder, const char *ending)
{
	CLEANUP(mem_free) char *path = path_of(folder, ending);
	return access(path, F_OK) == 0;
}

static void write_file(const char *folder, const char *ending, const char *text)
{
	CLEANUP(mem_free) char *path = path_of(folder, ending);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

// The bytes in a folder, and their row.
static void place(const char *folder, const char *text)
{
	struct err e = ERR_INIT;
	struct stat st;
	struct catalog_effect effect;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(mem_free) char *path = path_of(folder, "");
	if (fs_make_parent(path, &e) < 0)
		fail_msg("%s", e.msg);
	write_file(folder, "", text);
	assert_int_equal(stat(path, &st), 0);
	digest_sha256(str_from(text), sha256);
	struct catalog_entry entry = {.platform = at.platform->id,
		.folder_path = folder,
		.filename = wheel,
		.size = (uint64_t)st.st_size,
		.mtime_ns = fs_mtime_ns(&st),
		.inode = st.st_ino,
		.sha256 = sha256,
		.project = "six",
		.version = "1.0",
		.version_key = STR("1")};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(at.catalog, &t, &e) < 0 ||
		catalog_folder_ensure(at.catalog, at.platform->id, folder, &entry.folder, &e) < 0 ||
		catalog_file_put(at.catalog, &entry, &effect, &e) < 0 || catalog_commit(&t, &e) < 0)
		fail_msg("%s", e.msg);
}

static int set_up(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct config config;
	char name[] = "test-marks.XXXXXX";
	config_init(&config);
	at.top = mkdtemp(name) ? fs_real_path(name, &e) : NULL;
	assert_non_null(at.top);
	config.store = xasprintf("%s/store", at.top);
	CLEANUP(mem_free) char *catalog = xasprintf("%s/catalog.db", at.top);
	assert_int_equal(fs_make_dirs(config.store, &e), 0);
	if (store_open(&config, STORE_PROMPT, &at.store, &e) < 0 || catalog_open(catalog, &at.catalog, &e) < 0 ||
		store_register(&at.store, at.catalog, &e) < 0)
		fail_msg("%s", e.msg);
	at.platform = &at.store.platform[0];
	config_release(&config);
	digest_sha256(str_from(bytes), at.sha256);
	place(here, bytes);
	return 0;
}

static int tear_down(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", at.top);
	store_release(&at.store);
	catalog_close(at.catalog);
	int code = system(command);
	free(at.top);
	return code;
}

static struct tombstone stone(const char *run)
{
	struct tombstone t = {.reason = "upstream has it", .when = 1, .run = run, .has_sha256 = true, .size = 9};
	memcpy(t.sha256, at.sha256, SHA256_SIZE);
	return t;
}

static void prune(const char *folder)
{
	struct err e = ERR_INIT;
	const struct tombstone t = stone("a run");
	if (sidecar_ops_remove(at.platform, at.catalog, wheel, folder, &t, false, &e) < 0)
		fail_msg("%s", e.msg);
}

// What the catalog has: "s/six listed;", by folder.
static int add_copy(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	buf_printf(ctx, "%s;", file->sha256 && memcmp(file->sha256, at.sha256, SHA256_SIZE) == 0 ? "it" : "another");
	return 0;
}

static void expect_listed(const char *wanted)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	if (catalog_project_files(at.catalog, at.platform->id, "six", add_copy, &out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(out.data, wanted);
}

static void get_text(struct buf *out)
{
	struct err e = ERR_INIT;
	buf_init(out, LIMIT_SIDECAR);
	assert_int_equal(catalog_tombstone_text(at.catalog, at.platform->id, wheel, out, &e), 1);
}

static int purge(const char *folder, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	get_text(&text);
	return sidecar_ops_purge(at.platform, at.catalog, wheel, folder, buf_view(&text), e);
}

static int restore(struct err *e)
{
	return sidecar_ops_restore(at.platform, at.catalog, wheel, NULL, at.sha256, e);
}

static void catalog_has_the_text_of_the_sidecar(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of(here, ".pruned");
	CLEANUP(buf_release) struct buf text, file;
	buf_init(&file, LIMIT_SIDECAR);
	prune(NULL);
	expect_listed("");
	get_text(&text);
	assert_int_equal(fs_read_file(path, &file, &e), 0);
	assert_string_equal(file.data, text.data);
}

static void restored_file_is_listed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	prune(NULL);
	assert_int_equal(restore(&e), 0);
	assert_false(is_there(here, ".pruned"));
	expect_listed("it;");
	assert_int_equal(restore(&e), 0); // again
	expect_listed("it;");
}

static void file_with_other_bytes_is_not_restored(void **state UNUSED)
{
	struct err e = ERR_INIT;
	prune(NULL);
	write_file(here, "", others);
	assert_int_equal(restore(&e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_true(is_there(here, ".pruned"));
	expect_listed("");
}

static void purged_file_is_gone_and_its_tombstone_stays(void **state UNUSED)
{
	struct err e = ERR_INIT;
	prune(NULL);
	assert_int_equal(purge(NULL, &e), 1);
	assert_false(is_there(here, ""));
	assert_true(is_there(here, ".pruned"));
	assert_int_equal(purge(NULL, &e), 0);
	assert_int_equal(restore(&e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

// The process died in between: the catalog is not updated.
static void purge_that_was_cut_off_is_ended(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of(here, "");
	prune(NULL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(purge(NULL, &e), 1);
	assert_int_equal(purge(NULL, &e), 0);
}

static void expect_not_purged(void)
{
	struct err e = ERR_INIT;
	assert_int_equal(purge(NULL, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_true(is_there(here, ""));
}

// It was restored by hand, and not scanned yet.
static void file_without_its_tombstone_is_not_purged(void **state UNUSED)
{
	CLEANUP(mem_free) char *path = path_of(here, ".pruned");
	prune(NULL);
	assert_int_equal(unlink(path), 0);
	expect_not_purged();
}

static void file_with_another_tombstone_is_not_purged(void **state UNUSED)
{
	prune(NULL);
	write_file(here, ".pruned", "{\"reason\": \"another\"}");
	expect_not_purged();
}

static void file_that_is_another_now_is_not_purged(void **state UNUSED)
{
	CLEANUP(mem_free) char *path = path_of(here, "");
	const struct timespec old[] = {{.tv_sec = 1}, {.tv_sec = 1}};
	prune(NULL);
	write_file(here, "", others);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	expect_not_purged();
}

// The same bytes at another time, as a release may leave them.
static void file_with_another_time_is_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *path = path_of(here, "");
	const struct timespec old[] = {{.tv_sec = 1}, {.tv_sec = 1}};
	prune(NULL);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_int_equal(purge(NULL, &e), 1);
	assert_false(is_there(here, ""));
}

static void tombstone_that_does_not_say_what_it_was_of_purges_nothing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct tombstone t = {.reason = "by hand", .size = -1};
	assert_int_equal(sidecar_ops_remove(at.platform, at.catalog, wheel, NULL, &t, false, &e), 0);
	expect_not_purged();
}

static void copy_in_another_folder_stays(void **state UNUSED)
{
	struct err e = ERR_INIT;
	place(there, others);
	prune(here);
	expect_listed("another;");
	assert_false(is_there(there, ".pruned"));
	assert_int_equal(purge(NULL, &e), 1);
	assert_false(is_there(here, ""));
	assert_true(is_there(there, ""));
	expect_listed("another;");
}

// All copies were unlisted; one of them is what the tombstone speaks of.
static void copy_with_other_bytes_is_neither_purged_nor_restored(void **state UNUSED)
{
	struct err e = ERR_INIT;
	place(there, others);
	prune(NULL);
	assert_true(is_there(there, ".pruned"));
	assert_int_equal(restore(&e), 0);
	assert_true(is_there(there, ".pruned"));
	expect_listed("it;");
	prune(NULL);
	assert_int_equal(purge(NULL, &e), 1);
	assert_true(is_there(there, ""));
	assert_int_equal(purge(there, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_true(is_there(there, ""));
}

static void freeze(const char *reason)
{
	struct err e = ERR_INIT;
	if (freeze_set(at.platform, "me", reason, 1000, &e) < 0)
		fail_msg("%s", e.msg);
}

static void frozen_platform_is_left_alone(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct tombstone t = stone("a run");
	prune(NULL);
	freeze("retirement is near");
	assert_int_equal(purge(NULL, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_int_equal(restore(&e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	t.verdict = TOMBSTONE_RETIRED;
	assert_int_equal(sidecar_ops_remove(at.platform, at.catalog, wheel, NULL, &t, false, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
}

static void retired_platform_is_cleared(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct tombstone t = stone("a run");
	freeze(FREEZE_RETIRED ": nobody uses it");
	assert_int_equal(sidecar_ops_remove(at.platform, at.catalog, wheel, NULL, &t, false, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	t.verdict = TOMBSTONE_RETIRED;
	assert_int_equal(sidecar_ops_remove(at.platform, at.catalog, wheel, NULL, &t, false, &e), 0);
	expect_listed("");
	assert_int_equal(purge(NULL, &e), 1);
	assert_false(is_there(here, ""));
}

static int count_marks(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	assert_string_equal(m->filename, wheel);
	assert_string_equal(m->reason, "upstream has it");
	assert_true(m->platform == at.platform->id && m->text && strcmp(m->folder_path, here) == 0);
	assert_true(!m->has_file || (m->state == FILE_IS_UNLISTED && m->size == strlen(bytes)));
	*(int *)ctx += m->has_file ? 10 : 1;
	return 0;
}

static void marks_are_told_with_and_without_their_file(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int count = 0;
	prune(NULL);
	assert_int_equal(catalog_marks(at.catalog, at.platform->id, MARK_PRUNED, count_marks, &count, &e), 0);
	assert_int_equal(count, 10);
	assert_int_equal(purge(NULL, &e), 1);
	assert_int_equal(catalog_marks(at.catalog, at.platform->id, MARK_PRUNED, count_marks, &count, &e), 0);
	assert_int_equal(count, 11);
	assert_int_equal(catalog_marks(at.catalog, at.platform->id, MARK_YANKED, count_marks, &count, &e), 0);
	assert_int_equal(count, 11);
}

static bool has_status(const char *folder)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/store/%s/.status", at.top, folder);
	return access(path, F_OK) == 0;
}

static int see_status(void *ctx, int64_t platform, const char *folder_path, struct str text, struct err *e UNUSED)
{
	assert_true(platform == at.platform->id);
	buf_printf(ctx, "%s " STR_FMT ";", folder_path, STR_ARG(text));
	return 0;
}

static void expect_status(const char *project, const char *wanted)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out = buf_up_to(1000);
	assert_int_equal(catalog_statuses(at.catalog, project, see_status, &out, &e), 0);
	assert_string_equal(out.data, wanted);
}

static void status_is_in_the_folder_of_the_project(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "six", "{\"reason\":\"a\"}", &e), 0);
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "foo", "{\"reason\":\"b\"}", &e), 0);
	expect_status("six", "s/six {\"reason\":\"a\"};");
	expect_status("foo", "f/foo {\"reason\":\"b\"};"); // which has no file
	assert_true(has_status("s/six") && has_status("f/foo"));
	freeze("volumes are moved");
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "six", NULL, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_true(has_status("s/six"));
}

static void active_project_has_no_status(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "six", "{}", &e), 0);
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "six", NULL, &e), 0);
	expect_status("six", "");
	assert_false(has_status("s/six"));
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "six", NULL, &e), 0);
	assert_int_equal(sidecar_ops_status(at.platform, at.catalog, "foo", NULL, &e), 0); // it makes no folder
	CLEANUP(mem_free) char *path = xasprintf("%s/store/f", at.top);
	assert_int_equal(access(path, F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(catalog_has_the_text_of_the_sidecar),
		TEST(restored_file_is_listed),
		TEST(file_with_other_bytes_is_not_restored),
		TEST(purged_file_is_gone_and_its_tombstone_stays),
		TEST(purge_that_was_cut_off_is_ended),
		TEST(file_without_its_tombstone_is_not_purged),
		TEST(file_with_another_tombstone_is_not_purged),
		TEST(file_that_is_another_now_is_not_purged),
		TEST(file_with_another_time_is_read),
		TEST(tombstone_that_does_not_say_what_it_was_of_purges_nothing),
		TEST(copy_in_another_folder_stays),
		TEST(copy_with_other_bytes_is_neither_purged_nor_restored),
		TEST(frozen_platform_is_left_alone),
		TEST(retired_platform_is_cleared),
		TEST(marks_are_told_with_and_without_their_file),
		TEST(status_is_in_the_folder_of_the_project),
		TEST(active_project_has_no_status),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
