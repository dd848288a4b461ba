// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/mirror.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/mirror-pins.h"

static char folder[64], records[80], cache[80];

static int make_mirror_folder(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "test-mirror.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(records, sizeof(records), "%s/mirrors", folder);
	snprintf(cache, sizeof(cache), "%s/files", folder);
	return 0;
}

static int remove_mirror_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return system(command);
}

// Its hash is that of its text.
static struct mirror_file file_of(const char *project, const char *filename, const char *text)
{
	struct mirror_file f = {.upstream = "pypi", .project = project, .filename = filename,
		.size = (int64_t)strlen(text)};
	digest_sha256(str_from(text), f.sha256);
	return f;
}

static int change(const char *name, enum mirror_change way, struct mirror_file *file, size_t files, struct err *e)
{
	const struct mirror m = {.name = name, .who = "somebody", .file = file, .files = files};
	return mirror_change(records, way, &m, e);
}

static void must_change(const char *name, enum mirror_change way, struct mirror_file file)
{
	struct err e = ERR_INIT;
	if (change(name, way, &file, 1, &e) < 0)
		fail_msg("%s", e.msg);
}

static size_t files_of(const char *name)
{
	struct err e = ERR_INIT;
	CLEANUP(mirror_release) struct mirror m = {0};
	if (mirror_read(records, name, &m, &e) < 0)
		fail_msg("%s", e.msg);
	return m.files;
}

static void a_mirror_is_made_extended_and_replaced(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mirror_release) struct mirror m = {0};
	struct mirror_file later = file_of("foo", "foo-1.tar.gz", "one");
	later.size = -1;
	must_change("app", MIRROR_ADD, later);
	must_change("app", MIRROR_ADD, file_of("foo", "foo-1.tar.gz", "one"));
	must_change("app", MIRROR_EXTEND, file_of("bar", "bar-1.tar.gz", "two"));
	assert_int_equal(mirror_read(records, "app", &m, &e), 0);
	assert_int_equal(m.files, 2);
	assert_string_equal(m.file[0].project, "bar");
	assert_int_equal(m.file[1].size, 3); // the row with a size stays
	assert_string_equal(m.who, "somebody");
	struct stat st;
	assert_int_equal(stat(records, &st), 0);
	assert_int_equal(st.st_mode & 07777 & ~0750, 0); // no other account sees what is kept
	assert_true(m.made > 0 && m.changed >= m.made);
	must_change("app", MIRROR_REPLACE, file_of("foo", "foo-2.tar.gz", "three"));
	assert_int_equal(files_of("app"), 1);
}

static void what_has_ended_does_not_come_back(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct mirror_file one = file_of("foo", "foo-1.tar.gz", "one");
	must_change("app", MIRROR_ADD, one);
	assert_int_equal(mirror_end(records, "app", &e), 1);
	assert_int_equal(mirror_end(records, "app", &e), 0);
	assert_int_equal(change("app", MIRROR_EXTEND, &one, 1, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(change("app", MIRROR_REPLACE, &one, 1, &e), -1);
}

static void names_stay_in_the_folder(void **state UNUSED)
{
	static const char *const bad[] = {"", ".", "..", "a/b", "../a", ".hidden", "a b", "-a"};
	struct mirror_file one = file_of("foo", "foo-1.tar.gz", "one");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mirror_release) struct mirror m = {0};
		assert_int_equal(change(bad[i], MIRROR_ADD, &one, 1, &e), -1);
		assert_int_equal(e.kind, ERR_USAGE);
		assert_int_equal(mirror_read(records, bad[i], &m, &e), -1);
		assert_int_equal(mirror_end(records, bad[i], &e), 0);
	}
}

static void *add_many(void *ctx)
{
	for (int i = 0; i < 10; i++) {
		CLEANUP(mem_free) char *name = xasprintf("%s-%d.tar.gz", (const char *)ctx, i);
		must_change("app", MIRROR_ADD, file_of("foo", name, name));
	}
	return NULL;
}

static void two_writers_lose_nothing(void **state UNUSED)
{
	pthread_t other;
	char one[] = "a", two[] = "b";
	assert_int_equal(pthread_create(&other, NULL, add_many, one), 0);
	add_many(two);
	pthread_join(other, NULL);
	assert_int_equal(files_of("app"), 20);
}

// Exceeds LIMIT_MIRROR_FILES, LIMIT_MIRRORS, LIMIT_MIRROR
static void limits_hold(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct mirror_file *many = xcalloc(LIMIT_MIRROR_FILES + 1, sizeof(*many));
	for (uint32_t i = 0; i <= LIMIT_MIRROR_FILES; i++) {
		many[i] = file_of("foo", "foo-1.tar.gz", "");
		memcpy(many[i].sha256, &i, sizeof(i));
	}
	assert_int_equal(change("app", MIRROR_ADD, many, LIMIT_MIRROR_FILES + 1, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	CLEANUP(mem_free) char *name = xcalloc(1, LIMIT_FILE_NAME + 1);
	memset(name, 'x', LIMIT_FILE_NAME);
	for (size_t i = 0; i < LIMIT_MIRROR_FILES; i++)
		many[i].filename = many[i].project = many[i].upstream = name;
	assert_int_equal(change("app", MIRROR_ADD, many, LIMIT_MIRROR_FILES, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	free(many);
	must_change("m0", MIRROR_ADD, file_of("foo", "foo-1.tar.gz", "one"));
	for (int i = 1; i < LIMIT_MIRRORS; i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s/m%d", records, i);
		CLEANUP(mem_free) char *first = xasprintf("%s/m0", records);
		assert_int_equal(link(first, path), 0);
	}
	struct mirror_file one = file_of("foo", "foo-1.tar.gz", "one");
	assert_int_equal(change("more", MIRROR_ADD, &one, 1, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// --- the cache ---

static void keep_text(struct file_cache *d, const char *project, const char *text)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(text), sha256);
	struct file_cache_writer *a = file_cache_begin(d, project, "x-1.tar.gz", sha256, strlen(text), &e);
	if (!a || file_cache_writer_write(a, text, strlen(text), &e) < 0 || file_cache_writer_check(a, sha256,
		&e) < 0 ||
		file_cache_writer_keep(a, sha256, &e) < 0)
		fail_msg("%s", e.msg);
	file_cache_writer_free(a);
}

static bool has_text(const char *project, const char *text)
{
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(text), sha256);
	return file_cache_has(cache, project, "x-1.tar.gz", sha256, (int64_t)strlen(text));
}

static struct file_cache *open_cache(uint64_t most, struct mirror_pins *pins)
{
	struct err e = ERR_INIT;
	struct file_cache *d = NULL;
	if (file_cache_open(cache, most, pins, &d, &e) < 0)
		fail_msg("%s", e.msg);
	return d;
}

static const char thirty[] = "thirty bytes, which is a third";
static const char *const fills[] = {"first thirty bytes of the rest", "other thirty bytes of the rest",
	"third thirty bytes of the rest", "fresh thirty bytes of the rest"};

// A process that has the cache open learns of pins of another.
static void pinned_files_stay_and_do_not_count(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint64_t files = 0, bytes = 0;
	struct mirror_pins *pins = mirror_pins_new(records);
	struct file_cache *d = open_cache(70, pins);
	keep_text(d, "a", thirty);
	must_change("app", MIRROR_ADD, file_of("a", "x-1.tar.gz", thirty));
	for (size_t i = 0; i < ARRAY_SIZE(fills); i++)
		keep_text(d, "b", fills[i]);
	assert_true(has_text("a", thirty));
	assert_true(has_text("b", fills[3]) && !has_text("b", fills[0]));
	file_cache_totals(d, &files, &bytes);
	assert_int_equal(files, 3);
	assert_int_equal(bytes, 90);
	file_cache_close(d);
	d = open_cache(1, pins);
	assert_true(has_text("a", thirty) && !has_text("b", fills[3]));
	assert_int_equal(mirror_end(records, "app", &e), 1);
	file_cache_close(d);
	d = open_cache(1, pins);
	assert_false(has_text("a", thirty));
	file_cache_close(d);
	mirror_pins_free(pins);
}

static void a_pinned_file_may_be_larger_than_the_cache(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(thirty), sha256);
	struct mirror_pins *pins = mirror_pins_new(records);
	struct file_cache *d = open_cache(10, pins);
	assert_null(file_cache_begin(d, "a", "x-1.tar.gz", sha256, 30, &e));
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(file_cache_most_of(d, sha256), 10);
	must_change("app", MIRROR_ADD, file_of("a", "x-1.tar.gz", thirty));
	keep_text(d, "a", thirty);
	assert_true(has_text("a", thirty));
	assert_true(file_cache_most_of(d, sha256) > 30 && file_cache_most_of(d, NULL) == 10);
	assert_int_equal(file_cache_reserved(d), 0);
	assert_null(file_cache_begin(d, "a", "y-1.tar.gz", sha256, UINT64_MAX / 4, &e));
	assert_int_equal(e.kind, ERR_FULL);
	file_cache_close(d);
	mirror_pins_free(pins);
}

// While it is not known what is pinned, nothing goes.
static void doubt_removes_nothing(void **state UNUSED)
{
	struct mirror_pins *none = mirror_pins_new(records);
	struct file_cache *d = open_cache(100, none);
	keep_text(d, "a", thirty);
	file_cache_close(d);
	mirror_pins_free(none);
	must_change("app", MIRROR_ADD, file_of("other", "x-1.tar.gz", fills[0]));
	CLEANUP(mem_free) char *path = xasprintf("%s/app", records);
	assert_int_equal(truncate(path, 10), 0);
	struct mirror_pins *pins = mirror_pins_new(records);
	d = open_cache(1, pins);
	assert_true(has_text("a", thirty));
	assert_false(mirror_pins_has(pins, (const uint8_t *)fills[0]));
	assert_int_equal(unlink(path), 0);
	mirror_pins_look(pins);
	file_cache_close(d);
	d = open_cache(1, pins);
	assert_false(has_text("a", thirty));
	file_cache_close(d);
	mirror_pins_free(pins);
}

static void projects_are_pinned(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf all = buf_up_to(1000);
	must_change("app", MIRROR_ADD, file_of("foo", "foo-1.tar.gz", "one"));
	must_change("app", MIRROR_ADD, file_of("foo", "foo-2.tar.gz", "two"));
	must_change("lib", MIRROR_ADD, file_of("bar", "bar-1.tar.gz", "three"));
	struct mirror_pins *pins = mirror_pins_new(records);
	assert_true(mirror_pins_has_project(pins, "foo") && mirror_pins_has_project(pins, "bar"));
	assert_false(mirror_pins_has_project(pins, "baz") || mirror_pins_has_project(NULL, "foo"));
	mirror_pins_projects(pins, &all);
	assert_string_equal(all.data, "[\"bar\",\"foo\"]");
	buf_clear(&all);
	mirror_pins_projects(NULL, &all);
	assert_string_equal(all.data, "[]");
	mirror_pins_free(pins);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_mirror_folder, remove_mirror_folder)
	const struct CMUnitTest tests[] = {
		TEST(a_mirror_is_made_extended_and_replaced),
		TEST(what_has_ended_does_not_come_back),
		TEST(names_stay_in_the_folder),
		TEST(two_writers_lose_nothing),
		TEST(limits_hold),
		TEST(pinned_files_stay_and_do_not_count),
		TEST(a_pinned_file_may_be_larger_than_the_cache),
		TEST(doubt_removes_nothing),
		TEST(projects_are_pinned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
