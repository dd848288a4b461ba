// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/owned-names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"
#include "lib/os/thread-pool.h"

enum { MANY = 40, PATIENT_MS = 60000, STEP_MS = 20 };

static char folder[64], path[128];

static int make_folder(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "test-ours.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/catalog.db.ours", folder);
	return 0;
}

static int remove_folder(void **state UNUSED)
{
	char lock[sizeof(folder) + sizeof("/.wheelcache-lock")];
	snprintf(lock, sizeof(lock), "%s/.wheelcache-lock", folder);
	unlink(lock);
	unlink(path);
	return rmdir(folder);
}

static struct owned_names *open_ours(void)
{
	struct err e = ERR_INIT;
	struct owned_names *o = NULL;
	if (owned_names_open(path, &o, &e) < 0)
		fail_msg("%s", e.msg);
	return o;
}

static void must_add(struct owned_names *o, const char *project)
{
	struct err e = ERR_INIT;
	if (owned_names_add(o, &project, 1, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

static void write_text(const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static size_t lines_of(const char *project)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *begin = xasprintf("%s ", project);
	size_t lines = 0;
	buf_init(&text, LIMIT_OWNED_NAMES);
	assert_int_equal(fs_read_file(path, &text, &e), 0);
	for (struct str rest = buf_view(&text); rest.len;)
		lines += str_starts(str_cut(&rest, '\n'), str_from(begin));
	return lines;
}

static void it_lies_beside_the_catalog(void **state UNUSED)
{
	CLEANUP(mem_free) char *beside = state_file(NULL, "/a/catalog.db", STATE_FILE_OWNED_NAMES);
	assert_string_equal(beside, "/a/catalog.db.ours");
}

static void what_is_added_stays(void **state UNUSED)
{
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	assert_int_not_equal(access(path, F_OK), 0); // nothing to be told, nothing written
	assert_false(owned_names_has(o, "acme", NULL));
	must_add(o, "acme");
	must_add(o, "acme");
	must_add(o, "zebra");
	assert_true(owned_names_has(o, "acme", NULL) && owned_names_has(o, "zebra", NULL));
	assert_false(owned_names_has(o, "acm", NULL) || owned_names_has(o, "acme-x", NULL) || owned_names_has(o, "", NULL));
	assert_int_equal(lines_of("acme"), 1);
	CLEANUP(owned_names_cleanup) struct owned_names *later = open_ours();
	assert_true(owned_names_has(later, "acme", NULL) && owned_names_has(later, "zebra", NULL));
}

// What is shorter counts after a while.
static void wait_until_gone(struct owned_names *o, const char *project)
{
	for (int i = 0; i < PATIENT_MS / STEP_MS && owned_names_has(o, project, NULL); i++)
		usleep(STEP_MS * 1000);
	assert_false(owned_names_has(o, project, NULL));
}

static void what_others_change_counts(void **state UNUSED)
{
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	CLEANUP(owned_names_cleanup) struct owned_names *other = open_ours();
	must_add(other, "acme");
	assert_true(owned_names_has(o, "acme", NULL));
	write_text("zebra 2026-01-01T00:00:00Z\n"); // the operator takes it out
	assert_false(owned_names_has(o, "acme", NULL));
	assert_true(owned_names_has(o, "zebra", NULL));
	assert_int_equal(unlink(path), 0);
	assert_true(owned_names_has(o, "zebra", NULL)); // an editor may be writing it
	wait_until_gone(o, "zebra");
	must_add(o, "acme");
	assert_true(owned_names_has(other, "acme", NULL));
}

// No name loses its protection if the file is read while an editor writes it.
static void file_that_is_being_written_takes_nothing_out(void **state UNUSED)
{
	write_text("acme 2026\nbeta 2026\nzebra 2026\n");
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	write_text("");
	assert_true(owned_names_has(o, "acme", NULL));
	write_text("acme 2026\nnew 2026\n");
	assert_true(owned_names_has(o, "zebra", NULL));
	write_text("acme 2026\nnew 2026\nzebra-2 2026\n");
	assert_true(owned_names_has(o, "acme", NULL) && owned_names_has(o, "new", NULL) && owned_names_has(o, "zebra-2", NULL));
	assert_false(owned_names_has(o, "beta", NULL) || owned_names_has(o, "zebra", NULL));
}

// What is put in the place of a file that an editor writes would end its writing.
static void file_that_is_being_written_gets_no_name(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const char *const names[] = {"acme", "later", "other"};
	write_text("acme 2026\nzebra 2026\n");
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	write_text("");
	assert_int_equal(owned_names_add(o, names, 3, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	write_text("acme 2026\nzebra 2026\nnew 2026\n");
	assert_int_equal(owned_names_add(o, names, 3, NULL, &e), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(lines_of(names[i]), 1);
	assert_true(owned_names_has(o, "new", NULL) && owned_names_has(o, "other", NULL));
}

static void note(void *ctx, const char *project)
{
	buf_puts(ctx, project);
	buf_putc(ctx, ' ');
}

static void who_watches_is_told_what_others_moved(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf moved;
	buf_init(&moved, 1000);
	write_text("acme 2026\nbeta 2026\n");
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	owned_names_watch(o, note, &moved);
	must_add(o, "own");
	owned_names_look(o);
	assert_int_equal(moved.len, 0);
	write_text("acme 2026\nown 2026-01-01T00:00:00Z\nzebra 2026-01-01T00:00:00Z\n");
	owned_names_look(o);
	assert_string_equal(moved.data, "beta zebra ");
}

static void odd_lines_are_passed_over(void **state UNUSED)
{
	write_text("\n  \nacme\r\nNot_Normal 2026\n../etc 2026\nzebra\t2026\nhalf");
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	assert_true(owned_names_has(o, "acme", NULL) && owned_names_has(o, "zebra", NULL) && owned_names_has(o, "half", NULL));
	assert_false(owned_names_has(o, "Not_Normal", NULL) || owned_names_has(o, "../etc", NULL));
	must_add(o, "next"); // behind a line that a full disk cut
	assert_true(owned_names_has(o, "half", NULL) && owned_names_has(o, "next", NULL));
}

static void add_some(void *ours)
{
	for (int i = 0; i < MANY; i++) {
		CLEANUP(mem_free) char *name = xasprintf("p%d", i);
		must_add(ours, name);
		assert_true(owned_names_has(ours, name, NULL));
	}
}

// By several threads, and through two handles, as by two processes.
static void many_at_once(void **state UNUSED)
{
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	CLEANUP(owned_names_cleanup) struct owned_names *other = open_ours();
	struct thread_pool *pool = thread_pool_new(4, THREAD_POOL_FIRST_IN_FIRST_OUT, "add");
	for (int i = 0; i < 4; i++)
		thread_pool_submit(pool, add_some, i % 2 ? o : other);
	thread_pool_free(pool);
	for (int i = 0; i < MANY; i++) {
		CLEANUP(mem_free) char *name = xasprintf("p%d", i);
		assert_in_range(lines_of(name), 1, 2);
	}
}

// Exceeds LIMIT_OWNED_NAMES. Most of the file is a hole.
static void a_list_that_is_too_large_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct owned_names *o = NULL;
	write_text("six 1\n");
	assert_int_equal(truncate(path, LIMIT_OWNED_NAMES + (off_t)1), 0);
	assert_int_equal(owned_names_open(path, &o, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// A line without an upstream, whatever else the operator wrote behind it, is of all.
static void names_are_of_an_upstream_or_of_all(void **state UNUSED)
{
	struct err e = ERR_INIT;
	write_text("old 2026-01-01T00:00:00Z\nnoted 2026-01-01T00:00:00Z by hand\n"
		   "one 2026-01-01T00:00:00Z  upstream=pypi\n");
	CLEANUP(owned_names_cleanup) struct owned_names *o = open_ours();
	assert_true(owned_names_has(o, "old", "pypi") && owned_names_has(o, "old", NULL));
	assert_true(owned_names_has(o, "noted", "pypi") && owned_names_has(o, "noted", "by"));
	assert_true(owned_names_has(o, "one", "pypi"));
	assert_false(owned_names_has(o, "one", "other") || owned_names_has(o, "one", NULL));
	static const char *const names[] = {"one", "old"};
	assert_int_equal(owned_names_add(o, names, 2, "other", &e), 0);
	assert_int_equal(lines_of("one"), 2);
	assert_int_equal(lines_of("old"), 1);
	assert_true(owned_names_has(o, "one", "other"));
	CLEANUP(owned_names_cleanup) struct owned_names *again = open_ours();
	assert_true(owned_names_has(again, "one", "other") && owned_names_has(again, "one", "pypi"));
	assert_false(owned_names_has(again, "one", "third"));
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_lies_beside_the_catalog),
		TEST(what_is_added_stays),
		TEST(what_others_change_counts),
		TEST(file_that_is_being_written_takes_nothing_out),
		TEST(file_that_is_being_written_gets_no_name),
		TEST(who_watches_is_told_what_others_moved),
		TEST(odd_lines_are_passed_over),
		TEST(names_are_of_an_upstream_or_of_all),
		TEST(many_at_once),
		cmocka_unit_test_setup_teardown(a_list_that_is_too_large_is_refused, make_folder, remove_folder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
