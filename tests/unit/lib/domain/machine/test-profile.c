// SPDX-License-Identifier: Apache-2.0
// test-oracle.py compares the tags of environments with python3-packaging; this file tests the rest.
#include "lib/domain/machine/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/vectors.h"

static void profile_make(struct profile *p, const char *name, const struct profile_keys *keys)
{
	struct err e = ERR_INIT;
	if (profile_init(p, name, keys, &e) < 0)
		fail_msg("%s: %s", name, e.msg);
}

static bool admits_file(const struct profile *p, struct str filename, struct err *why)
{
	CLEANUP(filename_release) struct filename f = {0};
	struct err e = ERR_INIT;
	if (filename_parse(filename, &f, &e) < 0)
		fail_msg(STR_FMT ": %s", STR_ARG(filename), e.msg);
	return profile_admits(p, &f, why);
}

static void test_built_in_names(void **state UNUSED)
{
	static const struct {
		const char *name, *description; // NULL: the platform is unknown
	} table[] = {
		{"ubuntu-22.04-x86_64", "Python 3.10 3.11 on x86_64 with glibc 2.35"},
		{"ubuntu-jammy-amd64", "Python 3.10 3.11 on x86_64 with glibc 2.35"},
		{"ubuntu-26.04-arm64", "Python 3.14 on aarch64 with glibc 2.43"},
		{"debian-12.5-riscv64", "Python 3.11 on riscv64 with glibc 2.36"},
		{"centos-8-stream-aarch64", "Python 3.6 3.8 3.9 3.11 3.12 on aarch64 with glibc 2.28"},
		{"openEuler-24.03-x86_64", "Python 3.11 on x86_64 with glibc 2.38"},
		{"rocky-10-x86_64", "Python 3.12 on x86_64 with glibc 2.39"},
		{"alpine-3.20.3-x86_64", "Python 3.12 on x86_64 with musl 1.2"},
		{"alpine-3.2-x86_64", NULL},
		{"debian-1-x86_64", NULL},
		{"debian-12-vax", NULL},
		{"debian-12", NULL},
		{"debian", NULL},
		{"wheels", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(profile_release) struct profile p;
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, 1000);
		profile_make(&p, table[i].name, &(struct profile_keys){0});
		if (!table[i].description) {
			assert_int_equal(p.environment_count, 0);
			continue;
		}
		profile_describe(&p, &text);
		assert_string_equal(text.data, table[i].description);
	}
}

static void test_keys_override_defaults(void **state UNUSED)
{
	static const struct {
		const char *name;
		struct profile_keys keys;
		const char *text; // the description, or the error
	} table[] = {
		{"debian-12-x86_64", {.pythons = "3.13t  pp311"}, "Python 3.13t pp311 on x86_64 with glibc 2.36"},
		{"debian-12-x86_64", {.libc = "glibc 2.17"}, "Python 3.11 on x86_64 with glibc 2.17"},
		{"debian-12", {"2.7", "amd64", "musl 1.1"}, "Python 2.7 on x86_64 with musl 1.1"},
		{"arch-1-x86_64", {.pythons = "3.14", .libc = "glibc 2.42"}, "Python 3.14 on x86_64 with glibc 2.42"},
		{"arch-1-x86_64", {.pythons = "3.14"},
			"there are no defaults for this platform name, so libc must be set too"},
		{"mine", {.arch = "x86_64", .libc = "musl 1.2"},
			"there are no defaults for this platform name, so pythons must be set too"},
		{"mine", {.pythons = "3.14", .libc = "musl 1.2"},
			"there are no defaults for this platform name, so arch must be set too"},
		{"mine", {"3.14", "vax", "musl 1.2"}, "arch: \"vax\" is not an architecture (such as x86_64, aarch64)"},
		{"mine", {"3.14", "i386", "musl"}, "libc: \"musl\" is not a libc (such as glibc 2.35, musl 1.2)"},
		{"mine", {"3.14 3.13 3.14", "i386", "musl 1.2"}, "pythons: \"3.14\" is listed twice"},
		{"mine", {" ", "i386", "musl 1.2"}, "pythons: no Python is listed"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(profile_release) struct profile p;
		CLEANUP(buf_release) struct buf text;
		struct err e = ERR_INIT;
		buf_init(&text, 1000);
		if (profile_init(&p, table[i].name, &table[i].keys, &e) == 0)
			profile_describe(&p, &text);
		assert_string_equal(e.kind ? e.msg : text.data, table[i].text);
	}
}

static void test_invalid_pythons_and_libcs(void **state UNUSED)
{
	static const char *const pythons[] = {"", "3", "3.", ".3", "4.0", "3.2", "2.6", "2.7t", "3.12t", "3.100",
		"3.12.1", "pp", "pp3", "pp27", "pp311t", "cp311", "python3.11", "311", "3.12tt", "-3.12"};
	static const char *const libcs[] = {"", "glibc", "glibc 2", "glibc 2.", "glibc 3.1", "musl 2.0", "2.35",
		"glibc-2.35", "GLIBC 2.35", "glibc 2.35.1", "uclibc 1.0", "glibc 2.100"};
	struct err e = ERR_INIT;
	struct python python;
	struct machine machine;
	for (size_t i = 0; i < ARRAY_SIZE(pythons); i++)
		if (python_parse(str_from(pythons[i]), &python, &e) == 0)
			fail_msg("%s", pythons[i]);
	for (size_t i = 0; i < ARRAY_SIZE(libcs); i++)
		if (machine_parse_libc(str_from(libcs[i]), &machine, &e) == 0)
			fail_msg("%s", libcs[i]);
}

static void test_admission(void **state UNUSED)
{
	static const struct {
		const char *platform, *filename;
		bool is_admitted;
	} table[] = {
		{"debian-12-x86_64", "a-1-py3-none-any.whl", true},
		{"debian-12-x86_64", "a-1-py2.py3-none-any.whl", true},
		{"debian-12-x86_64", "a-1-PY3-None-ANY.whl", true},
		{"debian-12-x86_64", "a-1-py2-none-any.whl", false},
		{"debian-12-x86_64", "a-1-py311-none-any.whl", true},
		{"debian-12-x86_64", "a-1-py312-none-any.whl", false},
		{"debian-12-x86_64", "a-1-py3-none-linux_x86_64.whl", true},
		{"debian-12-x86_64", "a-1+local-cp311-cp311-linux_x86_64.whl", true},
		{"debian-12-x86_64", "a-1-cp311-cp311-linux_aarch64.whl", false},
		{"debian-12-x86_64", "a-1-cp311-cp311-manylinux_2_36_x86_64.whl", true},
		{"debian-12-x86_64", "a-1-cp311-cp311-manylinux_2_37_x86_64.whl", false},
		{"debian-12-x86_64", "a-1-cp311-cp311-manylinux1_x86_64.whl", true},
		{"debian-12-aarch64", "a-1-cp311-cp311-manylinux1_aarch64.whl", false},
		{"debian-12-aarch64", "a-1-cp311-cp311-manylinux2014_aarch64.whl", true},
		{"debian-12-x86_64", "a-1-cp311-cp311-musllinux_1_2_x86_64.whl", false},
		{"alpine-3.20-x86_64", "a-1-cp312-cp312-musllinux_1_1_x86_64.whl", true},
		{"alpine-3.20-x86_64", "a-1-cp312-cp312-manylinux1_x86_64.whl", false},
		{"debian-12-x86_64", "a-1-cp38-abi3-linux_x86_64.whl", true},
		{"debian-12-x86_64", "a-1-cp312-abi3-linux_x86_64.whl", false},
		{"debian-12-x86_64", "a-1-cp38.cp312-abi3.none-win32.linux_x86_64.whl", true},
		{"debian-12-x86_64", "a-1-cp310-cp310-macosx_11_0_arm64.whl", false},
		{"centos-8-x86_64", "a-1-cp36-cp36m-manylinux2010_x86_64.whl", true},
		{"fedora-43-x86_64", "a-1-cp314-cp314t-linux_x86_64.whl", true},
		{"debian-13-x86_64", "a-1-cp313-cp313t-linux_x86_64.whl", false},
		{"debian-12-x86_64", "a-1.tar.gz", true},
		{"wheels", "a-1-cp27-none-win32.whl", true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(profile_release) struct profile p;
		struct err why = ERR_INIT;
		profile_make(&p, table[i].platform, &(struct profile_keys){0});
		if (admits_file(&p, str_from(table[i].filename), &why) != table[i].is_admitted)
			fail_msg("%s on %s: %s", table[i].filename, table[i].platform, why.msg);
		assert_int_equal(why.kind, table[i].is_admitted ? ERR_NONE : ERR_INVALID);
	}
}

static void test_reason_names_both_sides(void **state UNUSED)
{
	CLEANUP(profile_release) struct profile p;
	struct err why = ERR_INIT;
	profile_make(&p, "debian-12-x86_64", &(struct profile_keys){0});
	assert_false(admits_file(&p, STR("a-1-cp27.cp39-none-win32.whl"), &why));
	assert_string_equal(why.msg, "cp27.cp39-none-win32 does not install here: Python 3.11 on "
				     "x86_64 with glibc 2.36");
}

// The longest list of Pythons that a profile can have.
static void test_long_description(void **state UNUSED)
{
	CLEANUP(profile_release) struct profile p;
	CLEANUP(buf_release) struct buf pythons;
	struct err why = ERR_INIT;
	buf_init(&pythons, 4096);
	for (int minor = 13; minor < 100; minor++)
		buf_printf(&pythons, "3.%d 3.%dt ", minor, minor);
	profile_make(&p, "debian-12-x86_64", &(struct profile_keys){.pythons = pythons.data});
	assert_int_equal(p.environment_count, 2 * 87);
	assert_true(admits_file(&p, STR("a-1-cp399-cp399t-linux_x86_64.whl"), &why));
	assert_false(admits_file(&p, STR("a-1-cp311-cp311-linux_x86_64.whl"), &why));
	assert_non_null(strstr(why.msg, "does not install here: Python 3.13 "));
}

static int compare_rank(void *ctx, struct str tag, struct err *e UNUSED)
{
	struct {
		const struct environment *env;
		long next;
	} *walk = ctx;
	if (environment_rank(walk->env, tag) != walk->next++)
		fail_msg(STR_FMT, STR_ARG(tag));
	return 0;
}

static void test_rank_is_index(void **state UNUSED)
{
	CLEANUP(profile_release) struct profile p;
	struct err e = ERR_INIT;
	profile_make(&p, "debian-12-x86_64", &(struct profile_keys){.pythons = "2.7 3.7 3.11 3.13t pp311"});
	for (size_t i = 0; i < p.environment_count; i++) {
		struct {
			const struct environment *env;
			long next;
		} walk = {&p.environment[i], 0};
		assert_int_equal(environment_tags(walk.env, compare_rank, &walk, &e), 0);
		assert_true(walk.next > 100);
		static const char *const none[] = {"", "any", "-", "cp311-cp311-win32", "py4-none-any",
			"cp311-cp311-any", "py3-abi3-any", "py3-none-linux_x86_64 "};
		for (size_t k = 0; k < ARRAY_SIZE(none); k++)
			assert_int_equal(environment_rank(walk.env, str_from(none[k])), -1);
	}
}

static void profile_of_row(const char *platform, const struct vector *row, struct profile *out)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 1000);
	for (size_t i = 1; i < 5; i++) // arch, libc, its version, pythons: each ends with NUL
		buf_printf(&text, STR_FMT "%c", STR_ARG(row->column[i]), i == 2 ? ' ' : '\0');
	const char *arch = text.data, *libc = arch + strlen(arch) + 1;
	profile_make(out, platform, &(struct profile_keys){libc + strlen(libc) + 1, arch, libc});
}

struct corpus {
	struct profile profile[32];
	char *name[32];
	size_t count, fits, misplaced;
};

static void add_profile(void *ctx, const struct vector *row)
{
	struct corpus *c = ctx;
	assert_in_range(c->count, 0, ARRAY_SIZE(c->name) - 1);
	c->name[c->count] = xstrndup(row->column[0].ptr, row->column[0].len);
	profile_of_row(c->name[c->count], row, &c->profile[c->count]);
	c->count++;
}

static void check_against_profile(void *ctx, const struct vector *row)
{
	struct corpus *c = ctx;
	size_t at = 0;
	while (at < c->count && !str_eq(row->column[0], str_from(c->name[at])))
		at++;
	assert_in_range(at, 0, c->count - 1);
	struct str path = row->column[1], why_there = row->column[4];
	struct str filename = str_slice(path, (size_t)str_rfind(path, '/') + 1, path.len);
	bool fits = str_eq(why_there, STR("fits"));
	bool is_misplaced = str_eq(why_there, STR("misplaced"));
	struct err why = ERR_INIT;
	bool is_admitted = admits_file(&c->profile[at], filename, &why);
	if ((fits && !is_admitted) || (is_misplaced && is_admitted))
		fail_msg("line %zu: " STR_FMT " %s", row->line, STR_ARG(path), why.msg);
	c->fits += fits;
	c->misplaced += is_misplaced;
}

// The decisions of pip itself about 490 real wheels on 9 real platforms.
static void test_corpus_admission(void **state UNUSED)
{
	struct corpus c = {0};
	vectors_foreach("../corpus/platforms.tsv", add_profile, &c);
	vectors_foreach("../corpus/store.tsv", check_against_profile, &c);
	print_message("%zu wheels fit, %zu do not\n", c.fits, c.misplaced);
	assert_true(c.fits > 400 && c.misplaced > 5);
	for (size_t i = 0; i < c.count; i++) {
		profile_release(&c.profile[i]);
		free(c.name[i]);
	}
}

// A file of the corpus' store.
struct store_file {
	char *path;
	struct str platform; // a slice of path
	struct filename wheel;
};

struct store_file_list {
	struct store_file *items;
	size_t count, room, installs, rivals;
};

static void add_store_file(void *ctx, const struct vector *row)
{
	struct store_file_list *list = ctx;
	struct err e = ERR_INIT;
	GROW(list->items, list->count, list->room);
	struct store_file *h = &list->items[list->count++];
	h->path = xstrndup(row->column[1].ptr, row->column[1].len);
	struct str rest = str_from(h->path);
	h->platform = str_cut(&rest, '/');
	rest = str_slice(rest, (size_t)str_rfind(rest, '/') + 1, rest.len);
	if (filename_parse(rest, &h->wheel, &e) < 0)
		fail_msg("%s: %s", h->path, e.msg);
}

static long rank_of(const struct profile *p, const struct filename *wheel)
{
	struct err e = ERR_INIT;
	long best = -1;
	if (environment_best(&p->environment[0], wheel, &best, &e) < 0)
		fail_msg("%s", e.msg);
	return best;
}

static bool is_competitor(const struct store_file *h, struct str platform, const struct filename *taken)
{
	return str_eq(h->platform, platform) && strcmp(h->wheel.project, taken->project) == 0 &&
	       strcmp(h->wheel.version.text, taken->version.text) == 0 && !h->wheel.build.len;
}

static void check_install(void *ctx, const struct vector *row)
{
	struct store_file_list *list = ctx;
	struct str platform = row->column[1], python = row->column[2], file = row->column[6];
	if (!str_eq(row->column[0], STR("cache")) || str_eq(file, STR("-")))
		return;
	CLEANUP(filename_release) struct filename taken = {0};
	CLEANUP(profile_release) struct profile p;
	CLEANUP(mem_free) char *name = xstrndup(platform.ptr, platform.len);
	CLEANUP(mem_free) char *pythons = xstrndup(python.ptr, python.len);
	struct err e = ERR_INIT;
	profile_make(&p, name, &(struct profile_keys){.pythons = pythons});
	assert_int_equal(filename_parse(file, &taken, &e), 0);
	long best = rank_of(&p, &taken);
	if (best < 0)
		fail_msg("line %zu: " STR_FMT, row->line, STR_ARG(file));
	for (size_t i = 0; i < list->count; i++) {
		if (!is_competitor(&list->items[i], platform, &taken))
			continue;
		long rank = rank_of(&p, &list->items[i].wheel);
		if (rank >= 0 && rank < best)
			fail_msg("%s before " STR_FMT, list->items[i].path, STR_ARG(file));
		list->rivals++;
	}
	list->installs++;
}

// The wheel that pip's finder takes from each store is admitted here too, and no other wheel ranks higher.
static void test_pip_takes_best(void **state UNUSED)
{
	struct store_file_list list = {0};
	free(vectors_path("corpus/installs.tsv")); // skips the test if a clone has only the other table
	vectors_foreach("../corpus/store.tsv", add_store_file, &list);
	vectors_foreach("../corpus/installs.tsv", check_install, &list);
	print_message("%zu installs, %zu files to choose from\n", list.installs, list.rivals);
	assert_true(list.installs > 500 && list.rivals > list.installs);
	for (size_t i = 0; i < list.count; i++) {
		filename_release(&list.items[i].wheel);
		free(list.items[i].path);
	}
	free(list.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_built_in_names),
		cmocka_unit_test(test_keys_override_defaults),
		cmocka_unit_test(test_invalid_pythons_and_libcs),
		cmocka_unit_test(test_admission),
		cmocka_unit_test(test_reason_names_both_sides),
		cmocka_unit_test(test_long_description),
		cmocka_unit_test(test_rank_is_index),
		cmocka_unit_test(test_corpus_admission),
		cmocka_unit_test(test_pip_takes_best),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
