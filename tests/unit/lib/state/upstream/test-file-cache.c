// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/file-cache.h"

#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/os/fs.h"
#include "lib/os/thread-pool.h"

static char folder[64];

static int make_folder(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "test-file-cache.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

static struct file_cache *open_file_cache(uint64_t most)
{
	struct err e = ERR_INIT;
	struct file_cache *d = NULL;
	if (file_cache_open(folder, most, NULL, &d, &e) < 0)
		fail_msg("%s", e.msg);
	return d;
}

static int put(struct file_cache *d, const char *project, const char *filename, const char *bytes,
	const uint8_t *sha256, struct err *e)
{
	uint8_t found[SHA256_SIZE];
	struct file_cache_writer *a = file_cache_begin(d, project, filename, sha256, 0, e);
	if (!a)
		return -1;
	int result = file_cache_writer_write(a, bytes, strlen(bytes), e) < 0 ||
				     file_cache_writer_check(a, found, e) < 0 || file_cache_writer_keep(a, found, e) < 0
			     ? -1
			     : 0;
	file_cache_writer_free(a);
	return result;
}

static void must_put(struct file_cache *d, const char *project, const char *filename, const char *bytes)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(bytes), sha256);
	if (put(d, project, filename, bytes, sha256, &e) < 0)
		fail_msg("%s", e.msg);
}

static bool has(struct file_cache *d, const char *project, const char *filename, const char *bytes)
{
	struct err e = ERR_INIT;
	struct file_cache_file file;
	uint8_t sha256[SHA256_SIZE];
	char got[64] = "";
	digest_sha256(str_from(bytes), sha256);
	if (file_cache_find(d, project, filename, sha256, &file, &e) < 0) {
		assert_int_equal(e.kind, ERR_NOT_FOUND);
		return false;
	}
	assert_int_equal(file.size, strlen(bytes));
	assert_int_equal(pread(file.fd, got, sizeof(got), 0), strlen(bytes));
	assert_string_equal(got, bytes);
	close(file.fd);
	return true;
}

static void set_use(const char *project, const char *filename, const char *bytes, time_t used)
{
	char hex[SHA256_HEX + 1] = "";
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(bytes), sha256);
	hex_encode(sha256, SHA256_SIZE, hex);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s/%s/%s", folder, project, hex, filename);
	const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static unsigned count_entries(void)
{
	unsigned count = 0;
	CLEANUP(fs_close_dir) DIR *dir = opendir(folder);
	for (struct dirent *entry; (entry = readdir(dir));)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	return count;
}

static void what_is_put_is_found(void **state UNUSED)
{
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	must_put(d, "foo", "foo-1.0-py3-none-any.whl", "one");
	assert_true(has(d, "foo", "foo-1.0-py3-none-any.whl", "one"));
	assert_false(has(d, "foo", "foo-1.0-py3-none-any.whl", "two"));
	assert_false(has(d, "bar", "foo-1.0-py3-none-any.whl", "one"));
	CLEANUP(file_cache_cleanup) struct file_cache *other = open_file_cache(1000);
	assert_true(has(other, "foo", "foo-1.0-py3-none-any.whl", "one"));
	uint64_t files = 0, bytes = 0;
	file_cache_totals(other, &files, &bytes);
	assert_int_equal(files, 1);
	assert_int_equal(bytes, 3);
}

static void without_a_hash_the_last_used_is_found(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct file_cache_file file;
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	assert_int_equal(file_cache_find(d, "foo", "foo-1.tar.gz", NULL, &file, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	must_put(d, "foo", "foo-1.tar.gz", "first");
	must_put(d, "foo", "foo-1.tar.gz", "second");
	set_use("foo", "foo-1.tar.gz", "second", 1000);
	assert_int_equal(file_cache_find(d, "foo", "foo-1.tar.gz", NULL, &file, &e), 0);
	assert_int_equal(file.size, strlen("first"));
	close(file.fd);
}

static void wrong_bytes_are_not_kept(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	digest_sha256(STR("right"), sha256);
	assert_int_equal(put(d, "foo", "foo-1.tar.gz", "wrong", sha256, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_int_equal(count_entries(), 0);
}

static void what_was_not_finished_is_gone(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	struct file_cache_writer *a = file_cache_begin(d, "foo", "foo-1.tar.gz", NULL, 0, &e);
	assert_int_equal(file_cache_writer_write(a, "half", 4, &e), 0);
	char got[8] = "";
	assert_int_equal(pread(file_cache_writer_fd(a), got, sizeof(got), 0), 4);
	file_cache_writer_free(a);
	assert_int_equal(count_entries(), 0);
}

// A reader still has its descriptor, but no bytes.
static void what_is_discarded_takes_no_room(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	struct file_cache_writer *a = file_cache_begin(d, "six", "six-1.0.tar.gz", NULL, 0, &e);
	assert_non_null(a);
	assert_int_equal(file_cache_writer_write(a, "bytes", 5, &e), 0);
	file_cache_writer_discard(a);
	file_cache_writer_discard(a);
	assert_int_equal(fstat(file_cache_writer_fd(a), &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(st.st_nlink, 0);
	file_cache_writer_free(a);
}

static void names_lead_nowhere_else(void **state UNUSED)
{
	static const struct {
		const char *project, *filename;
	} bad[] = {{"..", "a.whl"}, {"foo", "../a.whl"}, {"foo", ".."}, {"foo", ""}, {"", "a.whl"}, {"Foo", "a.whl"},
		{"foo/bar", "a.whl"}, {"foo", "a/b.whl"}, {"foo", ".a.whl"}, {"foo", "a\n.whl"}};
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;
		struct file_cache_file file;
		assert_null(file_cache_begin(d, bad[i].project, bad[i].filename, NULL, 0, &e));
		assert_int_equal(e.kind, ERR_INVALID);
		assert_int_equal(file_cache_find(d, bad[i].project, bad[i].filename, NULL, &file, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

static void the_least_used_go_first(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(100);
	must_put(d, "a", "a-1.tar.gz", "thirty bytes, which is a third");
	must_put(d, "b", "b-1.tar.gz", "thirty bytes, which is a third");
	must_put(d, "c", "c-1.tar.gz", "thirty bytes, which is a third");
	set_use("a", "a-1.tar.gz", "thirty bytes, which is a third", 3000);
	set_use("b", "b-1.tar.gz", "thirty bytes, which is a third", 1000);
	set_use("c", "c-1.tar.gz", "thirty bytes, which is a third", 2000);
	assert_true(has(d, "b", "b-1.tar.gz", "thirty bytes, which is a third")); // a use
	must_put(d, "d", "d-1.tar.gz", "and thirty bytes, which is one");
	assert_true(has(d, "b", "b-1.tar.gz", "thirty bytes, which is a third"));
	assert_false(has(d, "c", "c-1.tar.gz", "thirty bytes, which is a third"));
	assert_true(has(d, "a", "a-1.tar.gz", "thirty bytes, which is a third"));
	assert_true(has(d, "d", "d-1.tar.gz", "and thirty bytes, which is one"));
	assert_int_equal(count_entries(), 3);
	struct file_cache_writer *a = file_cache_begin(d, "e", "e-1.tar.gz", NULL, 0, &e);
	for (int i = 0; i < 10; i++)
		assert_int_equal(file_cache_writer_write(a, "ten bytes.", 10, &e), 0);
	assert_int_equal(file_cache_writer_write(a, "x", 1, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	file_cache_writer_free(a);
}

static void what_is_on_its_way_counts(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint8_t found[SHA256_SIZE];
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(100);
	must_put(d, "a", "a-1.tar.gz", "thirty bytes, which is a third");
	struct file_cache_writer *one = file_cache_begin(d, "b", "b-1.tar.gz", NULL, 60, &e),
				 *other = file_cache_begin(d, "c", "c-1.tar.gz", NULL, 40, &e);
	assert_int_equal(file_cache_reserved(d), 100);
	assert_int_equal(count_entries(), 3); // nothing goes for what may never come
	assert_null(file_cache_begin(d, "d", "d-1.tar.gz", NULL, 1, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	for (int i = 0; i < 7; i++)
		assert_int_equal(file_cache_writer_write(i < 4 ? other : one, "ten bytes.", 10, &e), 0);
	assert_true(has(d, "a", "a-1.tar.gz", "thirty bytes, which is a third"));
	assert_int_equal(file_cache_writer_write(one, "!", 1, &e), 0);
	assert_false(has(d, "a", "a-1.tar.gz", "thirty bytes, which is a third"));
	assert_int_equal(file_cache_writer_reserve(one, 0, &e), 0); // it goes on later
	assert_int_equal(file_cache_reserved(d), 40 + 31);
	assert_int_equal(file_cache_writer_reserve(one, 61, &e), -1);
	assert_int_equal(file_cache_writer_reserve(one, 60, &e), 0);
	file_cache_writer_free(one);
	assert_int_equal(file_cache_reserved(d), 40);
	assert_int_equal(file_cache_writer_check(other, found, &e), 0);
	assert_int_equal(file_cache_reserved(d), 0);
	file_cache_writer_free(other);
}

static void disk_is_asked_before(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(UINT64_MAX / 2);
	assert_null(file_cache_begin(d, "b", "b-1.tar.gz", NULL, UINT64_MAX / 4, &e));
	assert_int_equal(e.kind, ERR_FULL);
	assert_int_equal(file_cache_reserved(d), 0);
}

static void another_bound_counts_at_once(void **state UNUSED)
{
	static const char *const projects[] = {"a", "b", "c", "d", "e"};
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(100);
	file_cache_limit(d, 200);
	assert_int_equal(file_cache_most(d), 200);
	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		must_put(d, projects[i], "x-1.tar.gz", "thirty bytes, which is a third");
		set_use(projects[i], "x-1.tar.gz", "thirty bytes, which is a third", 1000 + (time_t)i);
	}
	assert_int_equal(count_entries(), 5);
	file_cache_limit(d, 100);
	assert_int_equal(count_entries(), 3);
	assert_false(has(d, "b", "x-1.tar.gz", "thirty bytes, which is a third"));
	assert_true(has(d, "c", "x-1.tar.gz", "thirty bytes, which is a third"));
}

static void the_living_are_not_swept(void **state UNUSED)
{
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	struct err e = ERR_INIT;
	struct file_cache_writer *a = file_cache_begin(d, "foo", "foo-1.tar.gz", NULL, 0, &e);
	CLEANUP(file_cache_cleanup) UNUSED struct file_cache *other = open_file_cache(1000);
	assert_int_equal(count_entries(), 1); // its maker lives
	file_cache_writer_free(a);
}

// A command that root runs fills the cache of the service, which has to read it.
static void what_root_puts_is_the_owners(void **state UNUSED)
{
	static const char *const below[] = {"foo", "foo/*", "foo/*/foo-1.tar.gz"};
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(folder, 1, 1), 0);
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(1000);
	must_put(d, "foo", "foo-1.tar.gz", "bytes");
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		struct stat st;
		glob_t found = {0};
		CLEANUP(mem_free) char *pattern = xasprintf("%s/%s", folder, below[i]);
		assert_int_equal(glob(pattern, 0, NULL, &found), 0);
		assert_int_equal(stat(found.gl_pathv[0], &st), 0);
		assert_int_equal(st.st_uid, 1);
		globfree(&found);
	}
}

enum { MANY = 200 };

static void put_some(void *job)
{
	struct file_cache *d = job;
	static _Atomic unsigned next;
	unsigned n = next++;
	char name[32], bytes[32];
	snprintf(name, sizeof(name), "p-%u.tar.gz", n);
	snprintf(bytes, sizeof(bytes), "bytes %u", n);
	must_put(d, "p", name, bytes);
}

// Room is made, and folders are taken away, while others put theirs.
static void many_at_once(void **state UNUSED)
{
	uint64_t files = 0, bytes = 0;
	CLEANUP(file_cache_cleanup) struct file_cache *d = open_file_cache(60), *other = open_file_cache(60);
	struct thread_pool *pool = thread_pool_new(4, THREAD_POOL_FIRST_IN_FIRST_OUT, "put");
	for (int i = 0; i < MANY; i++)
		thread_pool_submit(pool, put_some, i % 2 ? d : other);
	thread_pool_free(pool);
	file_cache_totals(d, &files, &bytes);
	assert_true(bytes <= 60);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(what_is_put_is_found),
		TEST(without_a_hash_the_last_used_is_found),
		TEST(wrong_bytes_are_not_kept),
		TEST(what_was_not_finished_is_gone),
		TEST(what_is_discarded_takes_no_room),
		TEST(names_lead_nowhere_else),
		TEST(the_least_used_go_first),
		TEST(what_is_on_its_way_counts),
		TEST(disk_is_asked_before),
		TEST(another_bound_counts_at_once),
		TEST(the_living_are_not_swept),
		TEST(what_root_puts_is_the_owners),
		TEST(many_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
