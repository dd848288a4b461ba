// SPDX-License-Identifier: Apache-2.0
#include "lib/install/replacement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/index/simplepage.h"

enum { MOST = 4, DAY = 86400, NOW = 1790000000 };

#define LINUX "manylinux_2_17_x86_64"

// Upstream's files of project foo.
struct upstream_file {
	const char *filename, *requires_python, *yanked;
	int64_t uploaded; // 0: long ago
};

struct replacement_row {
	const char *what;
	const char *pythons, *libc;
	const char *ours, *requires_python;
	struct upstream_file upstream[MOST];
	enum replacement_kind kind;
	const char *lacking; // environments that are not covered completely
	const char *file;    // the file for the first environment; NULL: none
};

static const struct replacement_row rows[] = {
	{"the same file", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-linux_x86_64.whl", NULL, NULL, 0}}, REPLACEMENT_SAME, "",
		"foo-1.0-cp311-cp311-linux_x86_64.whl"},
	{"the same file, yanked", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, "", 0}}, REPLACEMENT_YANKED, "3.11", NULL},
	{"the same file, yanked, and one that would do", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, "bad", 0}, {"foo-1.0-py2.py3-none-any.whl", NULL, NULL, 0}},
		REPLACEMENT_YANKED, "3.11", NULL},
	{"the same file, and upstream wants newer Pythons", "3.10 3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl",
		">=3.8", {{"foo-1.0-py3-none-any.whl", ">=3.11", NULL, 0}}, REPLACEMENT_NARROW, "3.10",
		"foo-1.0-py3-none-any.whl"},
	{"the same, and another fills the gap", "3.10 3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", ">=3.8",
		{{"foo-1.0-py3-none-any.whl", ">=3.11", NULL, 0}, {"foo-1.0-py2.py3-none-any.whl", NULL, NULL, 0}},
		REPLACEMENT_NARROW, "3.10", "foo-1.0-py3-none-any.whl"},
	{"the same file, and one micro version less", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", ">=3.8",
		{{"foo-1.0-py3-none-any.whl", ">=3.8,!=3.11.4", NULL, 0}}, REPLACEMENT_NARROW, "3.11 (part)",
		"foo-1.0-py3-none-any.whl"},
	{"the same file, as narrow in other words", "3.8 3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl",
		">=3.8, !=3.9.*", {{"foo-1.0-py3-none-any.whl", "!=3.9.*,>=3.8.0", NULL, 0}}, REPLACEMENT_SAME, "",
		"foo-1.0-py3-none-any.whl"},
	{"ours is narrower, too", "3.8 3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", ">=3.11",
		{{"foo-1.0-py3-none-any.whl", ">=3.9", NULL, 0}}, REPLACEMENT_SAME, "", "foo-1.0-py3-none-any.whl"},
	{"ours has a Requires-Python that pip ignores", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", ">=3.8.*",
		{{"foo-1.0-py3-none-any.whl", ">=3.8", NULL, 0}}, REPLACEMENT_SAME, "", "foo-1.0-py3-none-any.whl"},
	{"upstream has one that uv does not", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", ">=3.8.*",
		{{"foo-1.0-py3-none-any.whl", ">=3.8.*", NULL, 0}}, REPLACEMENT_NARROW, "3.11",
		"foo-1.0-py3-none-any.whl"},
	{"an empty one is a set", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", "", NULL, 0}}, REPLACEMENT_SAME, "", "foo-1.0-py3-none-any.whl"},

	{"another tag for ours", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"foo-1.0-cp311-cp311-" LINUX ".whl"},
	{"a yanked one is none", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, "bad", 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"an sdist is none", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0.tar.gz", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"another version is none", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0.post1-cp311-cp311-" LINUX ".whl", NULL, NULL, 0},
			{"foo-1.0.1-py3-none-any.whl", NULL, NULL, 0}},
		REPLACEMENT_NONE, "3.11", NULL},
	{"the version in other words", "3.11", "glibc 2.36", "foo-1.0rc1-cp311-cp311-linux_x86_64.whl", NULL,
		{{"Foo-1.0.0_rc_1-cp311-cp311-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"Foo-1.0.0_rc_1-cp311-cp311-" LINUX ".whl"},
	{"another project is none", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"food-1.0-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"another architecture is none", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-manylinux_2_17_aarch64.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"one Python of two", "3.10 3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.10", NULL},
	{"two Pythons by two", "3.10 3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, NULL, 0},
			{"foo-1.0-cp310-cp310-" LINUX ".whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-cp310-cp310-" LINUX ".whl"},
	{"micro versions by two", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", ">=3.11.5", NULL, 0},
			{"foo-1.0-cp39-abi3-" LINUX ".whl", "<3.11.6", NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-cp311-cp311-" LINUX ".whl"},
	{"a micro version by none", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", ">3.11.5", NULL, 0},
			{"foo-1.0-cp39-abi3-" LINUX ".whl", "<3.11.5", NULL, 0}},
		REPLACEMENT_NONE, "3.11 (part)", "foo-1.0-cp311-cp311-" LINUX ".whl"},

	{"abi3 of an older one", "3.9 3.11", "glibc 2.36", "foo-1.0-cp39-abi3-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp38-abi3-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"foo-1.0-cp38-abi3-" LINUX ".whl"},
	{"abi3 of a newer one", "3.9 3.11", "glibc 2.36", "foo-1.0-cp39-abi3-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp310-abi3-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.9", NULL},
	{"ours is abi3, theirs a single one", "3.9 3.11", "glibc 2.36", "foo-1.0-cp39-abi3-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp39-cp39-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11",
		"foo-1.0-cp39-cp39-" LINUX ".whl"},
	{"abi3 is not for free-threaded ones", "3.14 3.14t", "glibc 2.41", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-abi3-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.14t",
		"foo-1.0-cp311-abi3-" LINUX ".whl"},
	{"abi3t is", "3.15 3.15t", "glibc 2.41", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp315-abi3.abi3t-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"foo-1.0-cp315-abi3.abi3t-" LINUX ".whl"},
	{"a free-threaded one of ours", "3.13 3.13t", "glibc 2.41", "foo-1.0-cp313-cp313t-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp313-cp313-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.13t", NULL},
	{"a free-threaded one of theirs", "3.13 3.13t", "glibc 2.41", "foo-1.0-cp313-cp313t-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp313-cp313t-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"foo-1.0-cp313-cp313t-" LINUX ".whl"},
	{"PyPy is another interpreter", "3.11 pp311", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "pp311",
		"foo-1.0-cp311-cp311-" LINUX ".whl"},
	{"PyPy has its own", "3.11 pp311", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, NULL, 0},
			{"foo-1.0-pp311-pypy311_pp73-" LINUX ".whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-cp311-cp311-" LINUX ".whl"},
	{"a glibc that is too new", "3.11", "glibc 2.17", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-manylinux_2_18_x86_64.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"musl for glibc", "3.11", "glibc 2.36", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-musllinux_1_1_x86_64.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"glibc for musl", "3.11", "musl 1.2", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"musl for musl", "3.11", "musl 1.2", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-musllinux_1_1_x86_64.whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"foo-1.0-cp311-cp311-musllinux_1_1_x86_64.whl"},
	{"a compressed set", "3.11", "glibc 2.28", "foo-1.0-cp311-cp311-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp310.cp311-cp310.cp311-manylinux_2_34_x86_64.manylinux2014_x86_64.whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-cp310.cp311-cp310.cp311-manylinux_2_34_x86_64.manylinux2014_x86_64.whl"},
	{"a compressed set of ours", "3.10 3.11", "glibc 2.28", "foo-1.0-cp310.cp311-none-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp311-none-" LINUX ".whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.10", NULL},
	{"the platform tags in another order", "3.11", "glibc 2.28",
		"foo-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", NULL,
		{{"foo-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"},
	{"a build tag of ours", "3.11", "glibc 2.28", "foo-1.0-2-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "", "foo-1.0-py3-none-any.whl"},
	{"build tags of theirs: pip takes the greatest", "3.11", "glibc 2.28", "foo-1.0-1-py3-none-any.whl", NULL,
		{{"foo-1.0-9-py3-none-any.whl", NULL, NULL, 0}, {"foo-1.0-010-py3-none-any.whl", NULL, NULL, 0},
			{"foo-1.0-py3-none-any.whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-010-py3-none-any.whl"},
	{"the best tag before the build tag", "3.11", "glibc 2.28", "foo-1.0-1-py3-none-any.whl", NULL,
		{{"foo-1.0-9-py3-none-any.whl", NULL, NULL, 0}, {"foo-1.0-py311-none-any.whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-py311-none-any.whl"},
	{"a local version of ours", "3.11", "glibc 2.28", "foo-1.0+cu118-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"a local version of theirs", "3.11", "glibc 2.28", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0+fix-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
	{"the same local version", "3.11", "glibc 2.28", "foo-1.0+Ubuntu.1-py3-none-any.whl", NULL,
		{{"foo-1.0.0+ubuntu_1-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_OTHERS, "",
		"foo-1.0.0+ubuntu_1-py3-none-any.whl"},

	{"young", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, NOW - DAY + 1}}, REPLACEMENT_NONE, "3.11", NULL},
	{"just old enough", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, NOW - DAY}}, REPLACEMENT_SAME, "", "foo-1.0-py3-none-any.whl"},
	{"nobody knows when", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, -1}}, REPLACEMENT_NONE, "3.11", NULL},
	{"young, but an older one does", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, NOW}, {"foo-1.0-py2.py3-none-any.whl", NULL, NULL, 0}},
		REPLACEMENT_OTHERS, "", "foo-1.0-py2.py3-none-any.whl"},

	{"installs nowhere by its tags", "3.11", "glibc 2.36", "foo-1.0-cp312-cp312-linux_x86_64.whl", NULL,
		{{"foo-1.0-cp312-cp312-linux_x86_64.whl", NULL, NULL, 0}}, REPLACEMENT_NOWHERE, "", NULL},
	{"installs nowhere by its Requires-Python", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", "<3",
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_NOWHERE, "", NULL},
	{"upstream has nothing", "3.11", "glibc 2.36", "foo-1.0-py3-none-any.whl", NULL, {{0}}, REPLACEMENT_NONE, "3.11",
		NULL},

	{"an sdist, the same", "3.11", "glibc 2.36", "foo-1.0.tar.gz", ">=3.8", {{"foo-1.0.tar.gz", NULL, NULL, 0}},
		REPLACEMENT_SAME, "", "foo-1.0.tar.gz"},
	{"an sdist that no rule splits", "3.11", "glibc 2.36", "foo-1.0-2.tar.gz", NULL,
		{{"foo-1.0-2.tar.gz", NULL, NULL, 0}}, REPLACEMENT_SAME, "", "foo-1.0-2.tar.gz"},
	{"an sdist in another form", "3.11", "glibc 2.36", "foo-1.0.zip", NULL, {{"foo-1.0.tar.gz", NULL, NULL, 0}},
		REPLACEMENT_NONE, "3.11", NULL},
	{"an sdist, and upstream wants newer Pythons", "3.10 3.11", "glibc 2.36", "foo-1.0.tar.gz", ">=3.8",
		{{"foo-1.0.tar.gz", ">=3.11", NULL, 0}}, REPLACEMENT_NARROW, "3.10", "foo-1.0.tar.gz"},
	{"an sdist does not go for wheels", "3.11", "glibc 2.36", "foo-1.0.tar.gz", NULL,
		{{"foo-1.0-py3-none-any.whl", NULL, NULL, 0}}, REPLACEMENT_NONE, "3.11", NULL},
};

static size_t fill_page(const struct upstream_file *upstream, struct simplepage_file *file)
{
	size_t files = 0;
	for (; files < MOST && upstream[files].filename; files++) {
		int64_t uploaded = upstream[files].uploaded;
		file[files] = (struct simplepage_file){
			.filename = upstream[files].filename,
			.requires_python = upstream[files].requires_python,
			.yanked = upstream[files].yanked,
			.uploaded = uploaded < 0 ? 0
				    : uploaded   ? uploaded
						 : NOW - 1000 * (int64_t)DAY,
		};
	}
	return files;
}

static void list_lacking(const struct replacement_answer *a, struct buf *out)
{
	for (size_t i = 0; i < a->places; i++) {
		const struct replacement_place *p = &a->place[i];
		if (!p->missing)
			continue;
		buf_puts(out, out->len ? " " : "");
		python_print(&p->environment->python, out);
		buf_puts(out, p->missing != p->micros ? " (part)" : "");
	}
}

static void check_row(const struct replacement_row *r, const struct replacement_answer *a)
{
	CLEANUP(buf_release) struct buf lacking;
	buf_init(&lacking, 1000);
	list_lacking(a, &lacking);
	const char *file = a->places && a->place[0].file ? a->place[0].file->filename : "";
	if (a->kind != r->kind || strcmp(lacking.data, r->lacking) != 0 || strcmp(file, r->file ? r->file : "") != 0)
		fail_msg("%s: kind %d instead of %d; lacking \"%s\"; file \"%s\"", r->what, a->kind, r->kind,
			lacking.data, file);
	assert_int_equal(replacement_is_complete(a), r->kind == REPLACEMENT_SAME || r->kind == REPLACEMENT_OTHERS);
}

static void run_row(const struct replacement_row *r)
{
	struct err e = ERR_INIT;
	struct simplepage_file file[MOST];
	const struct simplepage page = {.project = "foo", .file = file, .files = fill_page(r->upstream, file)};
	CLEANUP(profile_release) struct profile profile;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(replacement_cleanup) struct replacement *c = replacement_new(&page, "foo");
	CLEANUP(replacement_answer_release) struct replacement_answer a;
	bool is_wheel = filename_kind(str_from(r->ours)) == FILENAME_WHEEL;
	if (profile_init(&profile, "", &(struct profile_keys){r->pythons, "x86_64", r->libc}, &e) < 0 ||
		(is_wheel && filename_parse(str_from(r->ours), &name, &e) < 0))
		fail_msg("%s: %s", r->what, e.msg);
	const struct replacement_file ours = {r->ours, is_wheel ? &name : NULL, r->requires_python};
	for (int again = 0; again < 2; again++) { // a cached result equals the computed one
		assert_int_equal(replacement_compute(c, &profile, &ours, NOW - DAY, &a, &e), 0);
		check_row(r, &a);
		if (!again)
			replacement_answer_release(&a);
	}
}

static void test_cases(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
}

// The answer if upstream has only this file of our name, without an upload time.
static enum replacement_kind kind_of(struct simplepage_file file)
{
	struct err e = ERR_INIT;
	const struct simplepage page = {.project = "foo", .file = &file, .files = 1};
	CLEANUP(profile_release) struct profile profile;
	CLEANUP(replacement_cleanup) struct replacement *c = replacement_new(&page, "foo");
	CLEANUP(replacement_answer_release) struct replacement_answer a;
	const struct replacement_file ours = {"foo-1.0.tar.gz", NULL, NULL};
	assert_int_equal(profile_init(&profile, "debian-12-x86_64", &(struct profile_keys){0}, &e), 0);
	assert_int_equal(replacement_compute(c, &profile, &ours, INT64_MAX, &a, &e), 0);
	return a.kind;
}

static void test_without_limit(void **state UNUSED)
{
	assert_int_equal(kind_of((struct simplepage_file){.filename = "foo-1.0.tar.gz"}), REPLACEMENT_SAME);
}

// The cut field may have been its Requires-Python.
static void test_cut_file(void **state UNUSED)
{
	assert_int_equal(kind_of((struct simplepage_file){.filename = "foo-1.0.tar.gz", .is_cut = true}),
		REPLACEMENT_NARROW);
}

static void test_unknown_platform(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct simplepage_file file = {.filename = "foo-1.0.tar.gz"};
	const struct simplepage page = {.project = "foo", .file = &file, .files = 1};
	const struct profile profile = {0};
	CLEANUP(replacement_cleanup) struct replacement *c = replacement_new(&page, "foo");
	CLEANUP(replacement_answer_release) struct replacement_answer a;
	const struct replacement_file ours = {"foo-1.0.tar.gz", NULL, NULL};
	assert_int_equal(replacement_compute(c, &profile, &ours, INT64_MAX, &a, &e), 0);
	assert_int_equal(a.kind, REPLACEMENT_NOWHERE);
}

// The answer names the sdist of the same version that installs everywhere that ours does.
static void test_sdist(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct simplepage_file file[] = {
		{.filename = "foo-1.0.zip", .requires_python = ">=3.11", .uploaded = 1},
		{.filename = "foo-1.0.tar.gz", .uploaded = 1, .yanked = ""},
		{.filename = "foo-1.1.tar.gz", .uploaded = 1},
		{.filename = "Foo-1.0.0.tar.gz", .requires_python = ">=3.6", .uploaded = 1},
	};
	CLEANUP(profile_release) struct profile profile;
	CLEANUP(filename_release) struct filename name = {0};
	const struct replacement_file ours = {"foo-1.0-py3-none-any.whl", &name, ">=3.8"};
	assert_int_equal(filename_parse(str_from(ours.filename), &name, &e), 0);
	assert_int_equal(profile_init(&profile, "", &(struct profile_keys){"3.10 3.11", "x86_64", "musl 1.2"}, &e), 0);
	for (size_t files = 3; files <= ARRAY_SIZE(file); files++) {
		const struct simplepage page = {.project = "foo", .file = file, .files = files};
		CLEANUP(replacement_cleanup) struct replacement *c = replacement_new(&page, "foo");
		CLEANUP(replacement_answer_release) struct replacement_answer a;
		assert_int_equal(replacement_compute(c, &profile, &ours, NOW, &a, &e), 0);
		assert_int_equal(a.kind, REPLACEMENT_NONE);
		assert_ptr_equal(a.sdist, files == 4 ? &file[3] : NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_without_limit),
		cmocka_unit_test(test_cut_file),
		cmocka_unit_test(test_unknown_platform),
		cmocka_unit_test(test_sdist),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
