// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/format/compress.h"

static char folder[] = "test-catalog.XXXXXX";
static char path[64];

struct fixture {
	struct catalog *c;
	int64_t platform, root, sub;
};

static int make_folder(void **state UNUSED)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/new/catalog.db", folder);
	return 0;
}

static void remove_catalog(void)
{
	static const char *const ending[] = {"", "-wal", "-shm", "-changes"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		char name[80];
		snprintf(name, sizeof(name), "%s%s", path, ending[i]);
		unlink(name);
	}
	CLEANUP(mem_free) char *arrivals = xasprintf("rm -rf '%s.arrivals'", path);
	if (system(arrivals) != 0)
		abort();
}

static int remove_folder(void **state UNUSED)
{
	char name[64];
	remove_catalog();
	snprintf(name, sizeof(name), "%s/new", folder);
	rmdir(name);
	return rmdir(folder);
}

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static int open_catalog(void **state)
{
	static struct fixture f;
	struct err e = ERR_INIT;
	remove_catalog();
	ok(catalog_open(path, &f.c, &e), &e);
	ok(catalog_platform_add(f.c, "debian-12-x86_64", &f.platform, &e), &e);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(f.c, &t, &e), &e);
	ok(catalog_folder_ensure(f.c, f.platform, "", &f.root, &e), &e);
	ok(catalog_folder_ensure(f.c, f.platform, "b", &f.sub, &e), &e);
	ok(catalog_commit(&t, &e), &e);
	*state = &f;
	return 0;
}

static int close_catalog(void **state)
{
	struct fixture *f = *state;
	catalog_close(f->c);
	return 0;
}

static const char plain_metadata[] = "Metadata-Version: 2.1\nName: six\nVersion: 1.0\n";

// A good file six-<version>.whl whose digest is all of one byte.
static struct catalog_entry entry(const struct fixture *f, const char *filename, const uint8_t *sha256)
{
	static struct buf packed;
	static uint8_t metadata_sha256[SHA256_SIZE];
	struct err e = ERR_INIT;
	if (!packed.data) {
		buf_init(&packed, 1 << 20);
		ok(compress_zstd(str_from(plain_metadata), 3, &packed, &e), &e);
		digest_sha256(str_from(plain_metadata), metadata_sha256);
	}
	return (struct catalog_entry){.platform = f->platform,
		.folder = f->root,
		.folder_path = "",
		.filename = filename,
		.trusted = true,
		.size = 100,
		.mtime_ns = 5,
		.inode = 7,
		.sha256 = sha256,
		.project = "six",
		.version = "1.0",
		.version_key = STR("\x01\0\x02"),
		.metadata_sha256 = metadata_sha256,
		.metadata_packed = buf_view(&packed),
		.requires_python = ">=3.8"};
}

static const uint8_t ones[SHA256_SIZE] = {1, 1, 1}, twos[SHA256_SIZE] = {2, 2, 2};

static struct catalog_effect put(struct fixture *f, const struct catalog_entry *file)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(f->c, &t, &e), &e);
	ok(catalog_file_put(f->c, file, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
	return effect;
}

static int keep_id(void *ctx, const struct catalog_known *file, struct err *e UNUSED)
{
	*(struct catalog_known *)ctx = *file;
	return 0;
}

static struct catalog_known last_file(struct fixture *f, int64_t in)
{
	struct err e = ERR_INIT;
	struct catalog_known last = {0};
	ok(catalog_folder_files(f->c, in, keep_id, &last, &e), &e);
	return last;
}

// The last file of a folder.
static struct catalog_effect take_away(struct fixture *f, int64_t in)
{
	struct catalog_known last = last_file(f, in);
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(f->c, &t, &e), &e);
	char name[LIMIT_FILE_NAME + 1];
	ok(catalog_file_remove(f->c, last.id, last.written, name, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
	return effect;
}

static int collect(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct buf *out = ctx;
	buf_printf(out, "%s %s %d %llu %s;", file->filename, file->version, file->sha256[0],
		(unsigned long long)file->size, file->requires_python);
	return 0;
}

static void assert_files(struct fixture *f, const char *expected)
{
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	buf_init(&out, 1 << 16);
	ok(catalog_project_files(f->c, f->platform, "six", collect, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static int sum_up(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %llu %llu;", project->project, (unsigned long long)project->files,
		(unsigned long long)project->bytes);
	return 0;
}

static int64_t assert_changes(struct fixture *f, int64_t since, const char *expected)
{
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	int64_t newest = 0;
	buf_init(&out, 1 << 16);
	ok(catalog_changes(f->c, since, sum_up, &out, &newest, &e), &e);
	assert_string_equal(out.data, expected);
	return newest;
}

static void file_is_listed(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	struct catalog_effect effect = put(f, &six);
	assert_false(effect.was_listed);
	assert_true(effect.is_listed);
	assert_files(f, "six-1.0.whl 1.0 1 100 >=3.8;");
	CLEANUP(catalog_place_release) struct catalog_place place;
	struct err e = ERR_INIT;
	ok(catalog_find_file(f->c, f->platform, "six-1.0.whl", &place, &e), &e);
	assert_string_equal(place.path, "six-1.0.whl");
	assert_memory_equal(place.sha256, ones, SHA256_SIZE);
	assert_true(place.has_metadata);
	assert_int_equal(place.inode, 7);
	CLEANUP(buf_release) struct buf metadata;
	buf_init(&metadata, 1 << 16);
	ok(catalog_metadata(f->c, place.metadata_sha256, &metadata, &e), &e);
	assert_string_equal(metadata.data, plain_metadata);
}

static void what_is_not_there_is_not_found(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct catalog_place place;
	struct catalog_folder none;
	int64_t id;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 100);
	assert_int_equal(catalog_find_file(f->c, f->platform, "no.whl", &place, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(catalog_platform_find(f->c, "no", &id, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(catalog_folder_find(f->c, f->platform, "no", &none, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(catalog_metadata(f->c, twos, &out, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_files(f, "");
}

static void changes_are_numbered(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones), two = entry(f, "six-2.0.whl", twos);
	put(f, &six);
	int64_t first = assert_changes(f, 0, "six 1 100;");
	assert_int_equal(assert_changes(f, first, ""), first);
	put(f, &two);
	int64_t second = assert_changes(f, first, "six 2 200;");
	take_away(f, f->root);
	take_away(f, f->root);
	int64_t third = assert_changes(f, second, "six 0 0;");
	assert_true(third > second && second > first);
}

static void what_no_page_shows_is_no_change(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	put(f, &six);
	int64_t before = assert_changes(f, 0, "six 1 100;");
	six.id = last_file(f, f->root).id;
	six.inode = 8;
	put(f, &six);
	assert_changes(f, before, "");
}

static void bytes_that_change_are_told(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	put(f, &six);
	six.id = last_file(f, f->root).id;
	six.sha256 = twos;
	struct catalog_effect effect = put(f, &six);
	assert_true(effect.was_listed && effect.is_listed);
	assert_memory_equal(effect.before, ones, SHA256_SIZE);
	assert_memory_equal(effect.after, twos, SHA256_SIZE);
	assert_files(f, "six-1.0.whl 1.0 2 100 >=3.8;");
}

static void damaged_file_leaves_the_page(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	put(f, &six);
	six.id = last_file(f, f->root).id;
	six.sha256 = twos;
	six.refusal = "junk";
	struct catalog_effect effect = put(f, &six);
	assert_true(effect.was_listed && !effect.is_listed);
	assert_files(f, "");
	assert_changes(f, 0, "six 0 0;");
	six.refusal = NULL;
	put(f, &six);
	assert_files(f, "six-1.0.whl 1.0 2 100 >=3.8;");
}

static void first_path_holds_the_name(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry low = entry(f, "six-1.0.whl", ones), high = low;
	low.folder = f->sub;
	low.folder_path = "b";
	low.sha256 = twos;
	put(f, &low);
	assert_files(f, "six-1.0.whl 1.0 2 100 >=3.8;");
	struct catalog_effect effect = put(f, &high); // "/" sorts before "b/"
	assert_true(effect.was_listed && effect.is_listed);
	assert_files(f, "six-1.0.whl 1.0 1 100 >=3.8;");
	effect = take_away(f, f->root);
	assert_true(effect.was_listed && effect.is_listed);
	assert_memory_equal(effect.after, twos, SHA256_SIZE);
	assert_files(f, "six-1.0.whl 1.0 2 100 >=3.8;");
}

static void later_path_is_a_duplicate(void **state)
{
	struct fixture *f = *state;
	struct catalog_entry high = entry(f, "six-1.0.whl", ones), low = high;
	low.folder = f->sub;
	low.folder_path = "b";
	low.sha256 = twos;
	put(f, &high);
	put(f, &low);
	assert_files(f, "six-1.0.whl 1.0 1 100 >=3.8;");
	high.id = last_file(f, f->root).id;
	high.refusal = "junk";
	put(f, &high);
	assert_files(f, "six-1.0.whl 1.0 2 100 >=3.8;");
}

static void metadata_lives_as_long_as_it_is_used(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones), two = entry(f, "six-2.0.whl", twos);
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 16);
	put(f, &six);
	put(f, &two);
	take_away(f, f->root);
	ok(catalog_metadata(f->c, six.metadata_sha256, &out, &e), &e);
	take_away(f, f->root);
	assert_int_equal(catalog_metadata(f->c, six.metadata_sha256, &out, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void cleared_platform_keeps_its_id(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones), low = entry(f, "six-2.0.whl", twos);
	low.folder = f->sub;
	low.folder_path = "b";
	put(f, &six);
	put(f, &low);
	int64_t before = assert_changes(f, 0, "six 2 200;");
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(f->c, &t, &e), &e);
	ok(catalog_platform_clear(f->c, f->platform, &e), &e);
	ok(catalog_commit(&t, &e), &e);
	assert_changes(f, before, "six 0 0;");
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 16);
	assert_int_equal(catalog_metadata(f->c, six.metadata_sha256, &out, &e), -1);
	int64_t id;
	ok(catalog_platform_find(f->c, "debian-12-x86_64", &id, &e), &e);
	assert_int_equal(id, f->platform);
}

static void readers_see_commits_of_others(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	CLEANUP(catalog_cleanup) struct catalog *other = NULL;
	ok(catalog_open(path, &other, &e), &e);
	assert_true(catalog_was_written(other));
	assert_false(catalog_was_written(other));
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	put(f, &six);
	assert_true(catalog_was_written(other));
	assert_false(catalog_was_written(other));
}

static int ask_again(void *ctx, const struct catalog_project *project UNUSED, struct err *e)
{
	struct fixture *f = ctx;
	return catalog_projects(f->c, f->platform, ask_again, f, e);
}

static void question_within_itself_is_an_error(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	put(f, &six);
	assert_int_equal(catalog_projects(f->c, f->platform, ask_again, f, &e), -1);
	assert_int_equal(e.kind, ERR_DB);
}

static void changes_that_were_not_taken_come_again(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct catalog_entry six = entry(f, "six-1.0.whl", ones);
	int64_t seen = 0;
	put(f, &six);
	assert_int_equal(catalog_changes(f->c, seen, ask_again, f, &seen, &e), -1);
	assert_changes(f, seen, "six 1 100;");
}

static void first_scan_is_noted(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	bool scanned = true;
	ok(catalog_was_scanned(f->c, &scanned, &e), &e);
	assert_false(scanned);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(f->c, &t, &e), &e);
	ok(catalog_set_scanned(f->c, &e), &e);
	ok(catalog_commit(&t, &e), &e);
	ok(catalog_was_scanned(f->c, &scanned, &e), &e);
	assert_true(scanned);
}

static void other_store_is_refused(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	ok(catalog_claim(f->c, "/srv/one", &e), &e);
	ok(catalog_claim(f->c, "/srv/one", &e), &e);
	assert_int_equal(catalog_claim(f->c, "/srv/two", &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "/srv/one"));
	assert_non_null(strstr(e.msg, "/srv/two"));
}

static void write_at(long offset, const void *bytes, size_t len)
{
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, offset, SEEK_SET);
	fwrite(bytes, 1, len, f);
	fclose(f);
}

static void assert_refused(enum err_kind kind, const char *why)
{
	struct err e = ERR_INIT;
	struct catalog *c = NULL;
	assert_int_equal(catalog_open(path, &c, &e), -1);
	assert_int_equal(e.kind, kind);
	assert_non_null(strstr(e.msg, why));
	assert_non_null(strstr(e.msg, path));
}

// Offsets in the header of a database file: https://sqlite.org/fileformat2.html#database_header
static void strange_files_are_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog *c = NULL;
	remove_catalog();
	ok(catalog_open(path, &c, &e), &e);
	catalog_close(c);
	write_at(60, "\0\0\0\x63", 4);
	assert_refused(ERR_USAGE, "newer wheelcache (schema 99");
	write_at(68, "\1\2\3\4", 4);
	assert_refused(ERR_USAGE, "not a catalog of wheelcache");
	write_at(0, "not a database at all", 21);
	assert_refused(ERR_DB, "remove it");
}

#define WITH_CATALOG(test) cmocka_unit_test_setup_teardown(test, open_catalog, close_catalog)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_CATALOG(file_is_listed),
		WITH_CATALOG(what_is_not_there_is_not_found),
		WITH_CATALOG(changes_are_numbered),
		WITH_CATALOG(what_no_page_shows_is_no_change),
		WITH_CATALOG(bytes_that_change_are_told),
		WITH_CATALOG(damaged_file_leaves_the_page),
		WITH_CATALOG(first_path_holds_the_name),
		WITH_CATALOG(later_path_is_a_duplicate),
		WITH_CATALOG(metadata_lives_as_long_as_it_is_used),
		WITH_CATALOG(cleared_platform_keeps_its_id),
		WITH_CATALOG(readers_see_commits_of_others),
		WITH_CATALOG(question_within_itself_is_an_error),
		WITH_CATALOG(changes_that_were_not_taken_come_again),
		WITH_CATALOG(first_scan_is_noted),
		WITH_CATALOG(other_store_is_refused),
		cmocka_unit_test(strange_files_are_refused),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
