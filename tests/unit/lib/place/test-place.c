// SPDX-License-Identifier: Apache-2.0
// One suite for all kinds of places; then what a disk alone has; then random schedules of writers with failures, in
// memory and in a bucket.
#include "lib/place/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/blob.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/place/place-posix.h"
#include "lib/place/place-s3.h"
#include "tests/unit/support/memory-place.h"
#include "tests/unit/support/openat2.h"
#include "tests/unit/support/small-s3.h"

static char *top; // of the places on the disk
static struct memory_control control;
static struct place *here;
static bool is_bucket; // it has no folders, no locks and no unfinished files
static struct engine *small_s3, *versitygw;

static int make_memory(void **state UNUSED)
{
	control = (struct memory_control){.now_ns = 1000000000, .room = UINT64_MAX};
	here = memory_place_new(&control);
	return 0;
}

static int make_posix(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char name[] = "test-place.XXXXXX";
	CLEANUP(mem_free) char *root = mkdtemp(name) ? fs_real_path(name, &e) : NULL;
	top = xasprintf("%s/place", root);
	here = place_posix_new(top, top, PLACE_POSIX_INSIDE);
	return fs_make_dirs(top, &e);
}

static int make_ours(void **state)
{
	int result = make_posix(state);
	place_free(here);
	here = place_posix_new(top, top, PLACE_POSIX_OURS);
	return result;
}

static int make_bucket(struct engine *engine)
{
	CLEANUP(mem_free) char *address = xasprintf("s3://%s/the/store", engine_bucket(engine));
	is_bucket = true;
	here = place_s3_new(address);
	return 0;
}

static int make_small_s3(void **state UNUSED)
{
	return make_bucket(small_s3);
}

static int make_versitygw(void **state UNUSED)
{
	return make_bucket(versitygw);
}

static int remove_place(void **state UNUSED)
{
	place_free(here);
	here = NULL;
	is_bucket = false;
	if (!top)
		return 0;
	CLEANUP(mem_free) char *command = xasprintf("rm -r \"$(dirname '%s')\"", top);
	mem_free(&top);
	return system(command);
}

// --- helpers ---

static struct place_folder *open_folder(const char *path)
{
	struct err e = ERR_INIT;
	struct place_folder *f = place_open_folder(here, path, &e);
	if (!f)
		fail_msg("%s", e.msg);
	return f;
}

static struct place_write *begin(struct place_folder *f, const char *name, const char *text)
{
	struct err e = ERR_INIT;
	struct place_write *w = place_write_begin(f, name, &e);
	if (!w || place_write_add(w, str_from(text), &e) < 0)
		fail_msg("%s", e.msg);
	return w;
}

// 0, or minus the kind of the error.
static int put(struct place_folder *f, const char *name, const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(place_write_free) struct place_write *w = begin(f, name, text);
	return place_put_new(w, &e) < 0 ? -(int)e.kind : 0;
}

static int replace(struct place_folder *f, const char *name, const char *text, const struct place_version *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(place_write_free) struct place_write *w = begin(f, name, text);
	control.now_ns += 1000000000;
	return place_replace(w, expected, &e) < 0 ? -(int)e.kind : 0;
}

static struct place_info look_at(struct place_folder *f, const char *name)
{
	struct err e = ERR_INIT;
	struct place_info info = {0};
	if (place_stat(f, name, &info, &e) != 1)
		fail_msg("%s is not there: %s", name, e.msg);
	return info;
}

static bool has(struct place_folder *f, const char *name)
{
	struct err e = ERR_INIT;
	struct place_info info;
	int found = place_stat(f, name, &info, &e);
	assert_true(found >= 0);
	return found;
}

static void expect_bytes(struct place_file *f, const char *text)
{
	struct err e = ERR_INIT;
	struct place_info info;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 100000);
	assert_int_equal(place_file_read(f, 100000, &out, &e), 0);
	assert_string_equal(out.data ? out.data : "", text);
	assert_int_equal(place_file_info(f, &info, &e), 0);
	assert_int_equal(info.version.size, strlen(text));
}

static void expect_text(struct place_folder *f, const char *name, const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(place_file_close) struct place_file *file = place_open_in(f, name, &e);
	if (!file)
		fail_msg("%s", e.msg);
	expect_bytes(file, text);
}

static int add_listed(void *ctx, const char *name, enum place_kind kind, struct err *e UNUSED)
{
	struct buf *out = ctx;
	buf_printf(out, "%s%s ", kind == PLACE_LEFTOVER ? "(leftover)" : name, kind == PLACE_FOLDER ? "/" : "");
	return 0;
}

static void expect_listed(struct place_folder *f, const char *names)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1000);
	assert_int_equal(place_list(f, add_listed, &out, &e), 0);
	assert_string_equal(out.data ? out.data : "", names);
	assert_int_equal(place_is_empty(f, &e), strcmp(names, "") == 0 || strcmp(names, "(leftover) ") == 0);
}

// What is listed of a file that is written.
static const char *unfinished(void)
{
	return is_bucket ? "" : "(leftover) ";
}

// --- the suite ---

// Or the place says that it does not keep it.
static void a_file_has_the_time_that_is_given(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_info info;
	const int64_t second = 1000000000, when = 1234567890 * second + 987654321;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	CLEANUP(place_write_free) struct place_write *w = begin(f, "one", "hello");
	int kept = place_write_time(w, when, &e);
	assert_int_equal(kept, top != NULL); // on a disk
	assert_int_equal(place_put_new(w, &e), 0);
	assert_int_equal(place_stat(f, "one", &info, &e), 1);
	assert_int_equal(info.version.time_ns / second == when / second, kept);
}

static void a_file_appears_whole_under_a_free_name(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	expect_listed(f, "");
	CLEANUP(place_write_free) struct place_write *w = begin(f, "one", "hel");
	assert_int_equal(place_write_add(w, STR("lo"), &e), 0);
	assert_int_equal(place_write_sync(w, &e), 0);
	expect_listed(f, unfinished());
	assert_false(has(f, "one"));
	expect_bytes(place_write_file(w), "hello");
	assert_int_equal(place_put_new(w, &e), 0);
	assert_int_equal(place_sync(f, &e), 0);
	expect_listed(f, "one ");
	expect_text(f, "one", "hello");
	assert_int_equal(look_at(f, "one").kind, PLACE_FILE);
	assert_int_equal(put(f, "one", "other"), -ERR_CONFLICT);
	expect_listed(f, "one ");
	expect_text(f, "one", "hello");
}

static void of_names_with_a_dot_only_a_status_is_listed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(put(f, ".hidden", "hello"), 0);
	expect_listed(f, "");
	assert_int_equal(put(f, PLACE_STATUS, "{}"), 0);
	place_folder_close(&f);
	f = open_folder("");
	expect_listed(f, ".status ");
	expect_text(f, PLACE_STATUS, "{}");
	assert_int_equal(place_remove(f, PLACE_STATUS, NULL, &e), 1);
	assert_int_equal(place_remove(f, ".hidden", NULL, &e), 1);
}

static void what_is_not_finished_goes(void **state UNUSED)
{
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	struct place_write *w = begin(f, "one", "hello");
	place_write_free(&w);
	expect_listed(f, "");
}

static int sweep_leftover(void *ctx, const char *name, enum place_kind kind, struct err *e UNUSED)
{
	struct place_folder *f = ctx;
	return kind == PLACE_LEFTOVER ? 1 + place_sweep(f, name) : 0;
}

static void an_abandoned_file_is_swept_and_another_is_not(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	CLEANUP(place_write_free) struct place_write *w = begin(f, "one", "hello");
	assert_int_equal(place_list(f, sweep_leftover, f, &e), 1);
	expect_listed(f, "(leftover) ");
	place_write_abandon(w);
	place_write_free(&w);
	expect_listed(f, "(leftover) ");
	assert_int_equal(place_list(f, sweep_leftover, f, &e), 2);
	expect_listed(f, "");
}

static void a_handle_keeps_its_bytes(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(put(f, "one", "hello"), 0);
	CLEANUP(place_file_close) struct place_file *old = place_open(here, "one", &e);
	assert_int_equal(replace(f, "one", "other bytes", NULL), 0);
	CLEANUP(place_file_close) struct place_file *new = place_open(here, "one", &e);
	if (!new)
		fail_msg("%s", e.msg);
	expect_bytes(old, "hello");
	expect_bytes(new, "other bytes");
	assert_int_equal(place_remove(f, "one", NULL, &e), 1);
	assert_int_equal(place_remove(f, "one", NULL, &e), 0);
	assert_null(place_open(here, "one", &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	expect_bytes(old, "hello");
	expect_bytes(new, "other bytes");
}

static void marks_are_seen_but_not_listed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_false(has(f, ".mark"));
	assert_int_equal(put(f, ".mark", "hello"), 0);
	assert_true(has(f, ".mark"));
	expect_listed(f, "");
	expect_text(f, ".mark", "hello");
	assert_int_equal(place_remove(f, ".mark", NULL, &e), 1);
	assert_false(has(f, ".mark"));
}

static int remove_listed(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	return place_remove(ctx, name, NULL, e) == 1 ? 0 : -1;
}

static void names_are_any_text(void **state UNUSED)
{
	static const char *const names[] = {"a b+c", "a%20b", "caf\xc3\xa9!~*'()", "x&amp;y<z>\"", "#?="};
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(put(f, names[i], names[i]), 0);
		expect_text(f, names[i], names[i]);
	}
	assert_int_equal(place_list(f, remove_listed, f, &e), 0);
	expect_listed(f, "");
	assert_int_equal(put(f, "empty", ""), 0);
	expect_text(f, "empty", "");
}

static void a_version_tells_other_bytes(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_info opened;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(put(f, "one", "hello"), 0);
	const struct place_version first = look_at(f, "one").version;
	CLEANUP(place_file_close) struct place_file *file = place_open(here, "one", &e);
	assert_int_equal(place_file_info(file, &opened, &e), 0);
	assert_int_equal(place_version_match(&first, &opened.version), PLACE_SAME);
	assert_int_equal(replace(f, "one", "world", NULL), 0);
	const struct place_version second = look_at(f, "one").version;
	assert_int_not_equal(place_version_match(&first, &second), PLACE_SAME);
	assert_int_equal(replace(f, "one", "third", &first), -ERR_CONFLICT);
	assert_int_equal(place_remove(f, "one", &first, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	expect_text(f, "one", "world");
	assert_int_equal(replace(f, "one", "third", &second), 0);
	expect_text(f, "one", "third");
	assert_int_equal(replace(f, "two", "new", &second), -ERR_CONFLICT);
	const struct place_version third = look_at(f, "one").version, nothing = {0};
	assert_int_equal(replace(f, "one", "fourth", &nothing), -ERR_CONFLICT);
	assert_int_equal(replace(f, "two", "new", &nothing), 0);
	assert_int_equal(replace(f, "two", "newer", &nothing), -ERR_CONFLICT);
	expect_text(f, "two", "new");
	assert_int_equal(place_remove(f, "two", &nothing, &e), -1);
	assert_int_equal(place_remove(f, "two", NULL, &e), 1);
	assert_int_equal(place_remove(f, "two", &nothing, &e), 0);
	assert_int_equal(place_remove(f, "one", &third, &e), 1);
	expect_listed(f, "");
}

static void folders_have_folders(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(place_make_folder(f, "a", &e), !is_bucket);
	assert_int_equal(place_make_folder(f, "a", &e), 0);
	CLEANUP(place_folder_close) struct place_folder *a = place_enter(f, "a", &e);
	assert_int_equal(place_make_folder(a, "b", &e), !is_bucket);
	CLEANUP(place_folder_close) struct place_folder *b = open_folder("a/b");
	assert_int_equal(put(b, "one", "hello"), 0);
	expect_listed(f, "a/ ");
	expect_listed(a, "b/ ");
	expect_listed(b, "one ");
	assert_int_equal(look_at(f, "a").kind, PLACE_FOLDER);
	CLEANUP(place_file_close) struct place_file *file = place_open(here, "a/b/one", &e);
	expect_bytes(file, "hello");
	assert_int_equal(place_remove_folder(a, "b", &e), -1);
	assert_int_equal(place_remove(b, "one", NULL, &e), 1);
	assert_int_equal(place_remove_folder(a, "b", &e), 0);
	expect_listed(a, "");
	if (is_bucket) {
		expect_listed(f, "");
		assert_false(has(f, "a"));
		return;
	}
	assert_null(place_open_folder(here, "a/b", &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_null(place_enter(a, "b", &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_folder_is_told_from_another(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_info by_path, by_name, other;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(place_make_folder(f, "a", &e), !is_bucket);
	CLEANUP(place_folder_close) struct place_folder *a = open_folder("a");
	assert_int_equal(put(a, "one", "hello"), 0);
	assert_int_equal(place_folder_info(a, &by_path, &e), 0);
	by_name = look_at(f, "a");
	assert_int_equal(place_folder_info(f, &other, &e), 0);
	assert_int_equal(by_path.device, by_name.device);
	assert_int_equal(by_path.version.id, by_name.version.id);
	assert_true(!other.device || other.version.id != by_path.version.id);
}

static void bytes_are_read_in_each_way(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char part[4];
	size_t got;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(put(f, "one", "0123456789"), 0);
	CLEANUP(place_file_close) struct place_file *file = place_open_in(f, "one", &e);
	place_file_read_ahead(file);
	assert_int_equal(place_file_read_at(file, 8, part, sizeof(part), &got, &e), 0);
	assert_int_equal(got, 2);
	assert_memory_equal(part, "89", 2);
	assert_int_equal(place_file_read_at(file, 80, part, sizeof(part), &got, &e), 0);
	assert_int_equal(got, 0);
	const struct byte_source source = place_file_source(file, 10);
	assert_int_equal(byte_source_read(&source, 3, part, sizeof(part), &e), 0);
	assert_memory_equal(part, "3456", 4);
	assert_int_equal(byte_source_read(&source, 8, part, sizeof(part), &e), -1);
	CLEANUP(buf_release) struct buf few;
	buf_init(&few, 100);
	assert_int_equal(place_file_read(file, 5, &few, &e), 0);
	assert_string_equal(few.data, "01234");
	struct blob *b = place_file_blob(file, 10, &e);
	assert_true(str_eq(blob_view(b), STR("0123456789")));
	blob_unref(b);
	assert_int_equal(place_file_sync(file, &e), 0);
}

static void a_lock_is_shared_or_alone(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_lock *one = NULL, *two = NULL, *alone = NULL;
	if (is_bucket) {
		assert_int_equal(place_lock(here, false, 0, &alone, &e), 0);
		assert_null(alone);
		return;
	}
	assert_int_equal(place_lock(here, true, 0, &one, &e), 1);
	assert_int_equal(place_lock(here, true, 0, &two, &e), 1);
	assert_int_equal(place_lock(here, false, 0, &alone, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	place_unlock(&one);
	place_unlock(&two);
	assert_int_equal(place_lock(here, false, 0, &alone, &e), 1);
	assert_int_equal(place_lock(here, true, 0, &one, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	place_unlock(&alone);
	assert_int_equal(place_lock(here, true, 0, &one, &e), 1);
	place_unlock(&one);
	place_unlock(&one);
}

static void a_place_says_where_it_is(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint64_t room;
	if (is_bucket)
		assert_non_null(strstr(place_path(here), "/the/store"));
	else
		assert_string_equal(place_path(here), top ? top : "(memory)");
	assert_int_equal(place_make(here, &e), 0);
	assert_int_equal(place_room(here, &room, &e), 0);
	assert_true(room > 0);
	assert_true(place_answers(here, NULL, clock_ms() + 60000, &e));
	assert_true(place_answers(here, "nothing", clock_ms() + 60000, &e));
}

static void times_that_are_near_are_not_settled(void **state UNUSED)
{
	const int64_t second = 1000000000, now = 100 * second;
	const struct place_version recent = {1, now - second, 1}, old = {1, now - 10 * second, 1},
				   odd = {1, now - 10 * second + 1, 1};
	assert_false(place_version_is_settled(&recent, now));
	assert_true(place_version_is_settled(&old, now));
	assert_false(place_names_are_settled(&old, now));
	assert_true(place_names_are_settled(&odd, now));
	const struct place_version copy = {1, old.time_ns, 2}, longer = {2, old.time_ns, 1};
	assert_int_equal(place_version_match(&old, &copy), PLACE_ALIKE);
	assert_int_equal(place_version_match(&old, &longer), PLACE_OTHER);
	assert_int_equal(place_version_match(&old, &odd), PLACE_OTHER);
}

// --- a disk ---

static char *on_disk(const char *name)
{
	return xasprintf("%s/%s", top, name);
}

static void make_link(const char *target, const char *name)
{
	CLEANUP(mem_free) char *path = on_disk(name);
	assert_int_equal(symlink(target, path), 0);
}

static enum err_kind open_fails(const char *path)
{
	struct err e = ERR_INIT;
	assert_null(place_open(here, path, &e));
	return e.kind;
}

static void links_that_stay_inside_are_followed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_info info;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(place_make_folder(f, "a", &e), 1);
	CLEANUP(place_folder_close) struct place_folder *a = open_folder("a");
	assert_int_equal(put(f, "one", "hello"), 0);
	make_link("../one", "a/up");
	make_link("../../elsewhere", "a/out");
	make_link("nothing", "a/nowhere");
	assert_int_equal(look_at(a, "up").kind, PLACE_LINK);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 100);
	place_link_text(a, "up", &text);
	assert_string_equal(text.data, "../one");
	assert_int_equal(open_fails("a/out"), ERR_DENIED);
	assert_int_equal(place_follow(a, "out", &info, &e), -1);
	assert_int_equal(e.kind, ERR_DENIED);
	assert_null(place_open_in(a, "up", &e)); // it leads out of this folder
	assert_int_equal(e.kind, ERR_DENIED);
	if (!has_openat2())
		return;
	assert_int_equal(open_fails("a/nowhere"), ERR_NOT_FOUND);
	assert_int_equal(place_follow(a, "up", &info, &e), 0);
	assert_int_equal(info.kind, PLACE_FILE);
	CLEANUP(place_file_close) struct place_file *file = place_open(here, "a/up", &e);
	expect_bytes(file, "hello");
}

static void no_link_of_ours_is_followed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(place_make_folder(f, "a", &e), 1);
	assert_int_equal(put(f, "one", "hello"), 0);
	make_link("one", "two");
	make_link("a", "b");
	assert_int_equal(open_fails("two"), ERR_DENIED);
	assert_null(place_open_folder(here, "b", &e));
	assert_int_equal(e.kind, ERR_DENIED);
	assert_null(place_enter(f, "b", &e));
	assert_int_equal(e.kind, ERR_DENIED);
	assert_null(place_open_in(f, "nothing", &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

static void a_pipe_is_not_waited_for(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_info info;
	CLEANUP(mem_free) char *path = on_disk("pipe");
	assert_int_equal(mkfifo(path, 0600), 0);
	CLEANUP(place_file_close) struct place_file *file = place_open(here, "pipe", &e);
	assert_int_equal(place_file_info(file, &info, &e), 0);
	assert_int_equal(info.kind, PLACE_ODD);
}

static void a_place_is_made_with_what_is_above(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct stat st;
	CLEANUP(mem_free) char *path = on_disk("x/y/z");
	struct place *deep = place_posix_new(path, path, PLACE_POSIX_OURS);
	assert_null(place_open_folder(deep, "", &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(place_make(deep, &e), 0);
	assert_int_equal(place_make(deep, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	place_free(deep);
}

// --- random schedules, in memory ---

enum { WRITERS = 3, NAMES = 2, STEPS = 60, SCHEDULES = 5000, BUCKET_SCHEDULES = 5 };

// A writer puts its text under a name, or removes what is there, in steps; the others step in between.
struct writer {
	struct place_write *write;
	char text[16];
	int name;
};

struct schedule {
	uint64_t seed;
	unsigned texts;
	struct writer writer[WRITERS];
	char acked[NAMES][16];  // the text whose writer knows that it has the name; "": unknown
	bool may_differ[NAMES]; // another writer has replaced or removed it, or may have
};

static unsigned next_random(struct schedule *s, unsigned most)
{
	s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(s->seed >> 33) % most;
}

static enum memory_fate random_fate(void *ctx, const char *operation UNUSED, const char *name UNUSED)
{
	unsigned n = next_random(ctx, 12);
	return n == 0 ? MEMORY_FAILS : n == 1 ? MEMORY_LOSES : MEMORY_GOES_ON;
}

static const char *name_of(int name)
{
	static const char *const names[NAMES] = {"one", "two"};
	return names[name];
}

static void begin_writer(struct schedule *s, struct writer *w, struct place_folder *f)
{
	struct err e = ERR_INIT;
	w->name = (int)next_random(s, NAMES);
	snprintf(w->text, sizeof(w->text), "text %u", ++s->texts);
	w->write = place_write_begin(f, name_of(w->name), &e);
	if (w->write && place_write_add(w->write, str_from(w->text), &e) < 0)
		place_write_free(&w->write);
}

static void end_writer(struct schedule *s, struct writer *w)
{
	struct err e = ERR_INIT;
	bool is_new = next_random(s, 2);
	int done = is_new ? place_put_new(w->write, &e) : place_replace(w->write, NULL, &e);
	if (is_new && done == 0)
		assert_true(s->may_differ[w->name] || !*s->acked[w->name]); // a name that was promised is not free
	if (done == 0) {
		memcpy(s->acked[w->name], w->text, sizeof(w->text));
		s->may_differ[w->name] = false;
	} else if (e.kind != ERR_CONFLICT) {
		s->may_differ[w->name] = s->may_differ[w->name] || !is_new || !*s->acked[w->name];
	}
	place_write_free(&w->write);
}

static void remove_name(struct schedule *s, struct place_folder *f)
{
	struct err e = ERR_INIT;
	int name = (int)next_random(s, NAMES);
	if (place_remove(f, name_of(name), NULL, &e) >= 0)
		*s->acked[name] = '\0';
	s->may_differ[name] = true;
}

// Each name has a whole text, and that which was promised.
static void check_names(struct schedule *s, struct place_folder *f)
{
	struct err e = ERR_INIT;
	enum memory_fate (*before)(void *, const char *, const char *) = control.before;
	control.before = NULL;
	for (int i = 0; i < NAMES; i++) {
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, 100);
		CLEANUP(place_file_close) struct place_file *file = place_open_in(f, name_of(i), &e);
		if (file && place_file_read(file, 100, &text, &e) == 0)
			assert_memory_equal(text.data, "text ", 5);
		if (*s->acked[i] && !s->may_differ[i])
			assert_string_equal(text.data, s->acked[i]);
	}
	control.before = before;
}

// What the next request of the step meets: an answer that is lost, a connection, an engine that is busy.
static void plan_faults(struct schedule *s)
{
	static const char *const faults[] = {"[{\"do\": \"lose\"}]", "[{\"do\": \"close\"}]", "[{\"do\": \"503 SlowDown\"}]",
		"[{\"do\": \"409 ConditionalRequestConflict\", \"method\": \"PUT\"}]",
		"[{\"do\": \"lose\", \"method\": \"PUT\", \"times\": 2}]", "[{\"do\": \"500 InternalError\"}, {\"do\": \"lose\"}]"};
	small_s3_control(small_s3, "PUT", "faults", next_random(s, 4) ? "[]" : faults[next_random(s, ARRAY_SIZE(faults))], NULL);
}

static void run_steps(struct schedule *s, struct place_folder *f)
{
	for (int step = 0; step < STEPS; step++) {
		if (is_bucket)
			plan_faults(s);
		struct writer *w = &s->writer[next_random(s, WRITERS)];
		if (w->write)
			end_writer(s, w);
		else if (next_random(s, 6) == 0)
			remove_name(s, f);
		else
			begin_writer(s, w, f);
		if (is_bucket)
			small_s3_control(small_s3, "PUT", "faults", "[]", NULL);
		check_names(s, f);
	}
	for (int i = 0; i < WRITERS; i++)
		place_write_free(&s->writer[i].write);
}

static void run_schedule(uint64_t seed)
{
	struct schedule s = {.seed = seed};
	control = (struct memory_control){.kind = ERR_IO, .room = UINT64_MAX};
	here = memory_place_new(&control);
	struct place_folder *f = open_folder("");
	control.before = random_fate;
	control.ctx = &s;
	run_steps(&s, f);
	assert_int_equal(control.leftovers, 0);
	place_folder_close(&f);
	place_free(here);
}

static void writers_keep_what_they_were_told(void **state UNUSED)
{
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
		run_schedule(seed);
}

// The answers that are lost are found again, so each writer knows how it ended: no failure is left to excuse anything.
static void writers_in_a_bucket_keep_what_they_were_told(void **state UNUSED)
{
	for (uint64_t seed = 1; seed <= BUCKET_SCHEDULES; seed++) {
		struct schedule s = {.seed = seed};
		make_bucket(small_s3);
		struct place_folder *f = open_folder("");
		run_steps(&s, f);
		place_folder_close(&f);
		place_free(here);
	}
	is_bucket = false;
	here = NULL;
}

static void a_name_that_was_not_synced_may_go(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *f = open_folder("");
	assert_int_equal(put(f, "one", "hello"), 0);
	assert_int_equal(place_sync(f, &e), 0);
	assert_int_equal(put(f, "two", "hello"), 0);
	assert_int_equal(replace(f, "one", "other", NULL), 0);
	memory_place_crash(here);
	expect_listed(f, "one ");
	expect_text(f, "one", "hello");
}

#define SUITE(make)                                                                                                     \
	cmocka_unit_test_setup_teardown(an_abandoned_file_is_swept_and_another_is_not, make, remove_place),            \
		SUITE_OF_ALL(make)
#define SUITE_OF_ALL(make)                                                                                              \
	cmocka_unit_test_setup_teardown(a_file_appears_whole_under_a_free_name, make, remove_place),                   \
		cmocka_unit_test_setup_teardown(a_file_has_the_time_that_is_given, make, remove_place),                \
		cmocka_unit_test_setup_teardown(of_names_with_a_dot_only_a_status_is_listed, make, remove_place),     \
		cmocka_unit_test_setup_teardown(what_is_not_finished_goes, make, remove_place),                        \
		cmocka_unit_test_setup_teardown(marks_are_seen_but_not_listed, make, remove_place),                    \
		cmocka_unit_test_setup_teardown(names_are_any_text, make, remove_place),                               \
		cmocka_unit_test_setup_teardown(a_handle_keeps_its_bytes, make, remove_place),                         \
		cmocka_unit_test_setup_teardown(a_version_tells_other_bytes, make, remove_place),                      \
		cmocka_unit_test_setup_teardown(folders_have_folders, make, remove_place),                             \
		cmocka_unit_test_setup_teardown(a_folder_is_told_from_another, make, remove_place),                    \
		cmocka_unit_test_setup_teardown(bytes_are_read_in_each_way, make, remove_place),                       \
		cmocka_unit_test_setup_teardown(a_lock_is_shared_or_alone, make, remove_place),                        \
		cmocka_unit_test_setup_teardown(a_place_says_where_it_is, make, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SUITE(make_memory),
		SUITE(make_posix),
		SUITE(make_ours),
		SUITE_OF_ALL(make_small_s3),
		cmocka_unit_test(times_that_are_near_are_not_settled),
		cmocka_unit_test_setup_teardown(links_that_stay_inside_are_followed, make_posix, remove_place),
		cmocka_unit_test_setup_teardown(no_link_of_ours_is_followed, make_ours, remove_place),
		cmocka_unit_test_setup_teardown(a_pipe_is_not_waited_for, make_posix, remove_place),
		cmocka_unit_test_setup_teardown(a_place_is_made_with_what_is_above, make_posix, remove_place),
		cmocka_unit_test(writers_keep_what_they_were_told),
		cmocka_unit_test(writers_in_a_bucket_keep_what_they_were_told),
		cmocka_unit_test_setup_teardown(a_name_that_was_not_synced_may_go, make_memory, remove_place),
	};
	const struct CMUnitTest of_versitygw[] = {SUITE_OF_ALL(make_versitygw)};
	small_s3 = small_s3_new(NULL);
	versitygw = versitygw_new();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (versitygw)
		failed += cmocka_run_group_tests(of_versitygw, NULL, NULL);
	else
		print_message("versitygw is not there: the suite runs without it\n");
	engine_free(versitygw);
	engine_free(small_s3);
	return failed;
}
