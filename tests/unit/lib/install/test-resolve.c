// SPDX-License-Identifier: Apache-2.0
// Which version pip takes, and why no wheel of it installs: lib/install/resolve, offers, fits and nearest together.
#include "lib/install/resolve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/machine/profile.h"
#include "lib/install/nearest.h"
#include "lib/state/catalog/catalog.h"

enum { OURS = 1, ANOTHER = 2, FILES = 16 };
#define ALL UINT64_MAX

// A file. sort: 'h' is here, 'o' is of another platform of ours, 'u' is upstream's; a capital is yanked.
struct test_file {
	char sort;
	const char *filename, *requires_python;
};

struct row {
	const char *name;
	struct test_file file[FILES];
	const char *specifier;
	bool is_pinned, allows_pre, only_ours;
	const char *expected; // "KIND FILENAME MICROS" of each outcome, joined with ";"
};

struct fixture {
	struct profile profile;
	const struct environment *environment[1];
	struct fits fits;
	struct offers offers;
	struct simplepage page;
	struct simplepage_file file[FILES];
};

// CPython 3.12 on x86_64 with glibc 2.35.
static void set_up(struct fixture *f, const struct test_file *file)
{
	struct err e = ERR_INIT;
	const uint8_t sha256[SHA256_SIZE] = {1};
	*f = (struct fixture){0};
	assert_int_equal(profile_init(&f->profile, "p", &(struct profile_keys){"3.12", "x86_64", "glibc 2.35"}, &e), 0);
	f->environment[0] = &f->profile.environment[0];
	fits_init(&f->fits, f->environment, 1);
	offers_init(&f->offers, "pkg", &f->fits);
	f->page.file = f->file;
	for (; file->sort; file++) {
		bool is_yanked = file->sort < 'a';
		const struct catalog_file ours = {.filename = file->filename,
			.sha256 = sha256,
			.requires_python = file->requires_python,
			.yanked = is_yanked ? "" : NULL};
		if (file->sort == 'u' || file->sort == 'U')
			f->file[f->page.files++] = (struct simplepage_file){.filename = file->filename,
				.url = "https://u.invalid/f",
				.size = -1,
				.requires_python = file->requires_python,
				.yanked = is_yanked ? "" : NULL};
		else
			offers_add_ours(&f->offers, file->sort == 'o' ? ANOTHER : OURS, &ours, true);
	}
	offers_add_page(&f->offers, &f->page);
}

static void tear_down(struct fixture *f)
{
	offers_release(&f->offers);
	fits_release(&f->fits);
	profile_release(&f->profile);
}

static void print_outcomes(const struct resolve_outcome *o, size_t count, struct buf *out)
{
	static const char *const kind[] = {"here", "upstream", "sdist", "nothing"};
	for (size_t i = 0; i < count; i++) {
		buf_printf(out, "%s%s", i ? ";" : "", kind[o[i].kind]);
		if (o[i].file)
			buf_printf(out, " %s", o[i].file->filename);
		if (o[i].micros != ALL)
			buf_printf(out, " %llx", (unsigned long long)o[i].micros);
	}
}

#define CP312 "cp312-cp312-manylinux_2_28_x86_64.whl"

static const struct row rows[] = {
	{"the newest version, whatever has a wheel of an older one",
		{{'h', "pkg-1.0-" CP312, NULL}, {'u', "pkg-2.0.tar.gz", NULL}}, "", false, false, false,
		"sdist pkg-2.0.tar.gz"},
	{"a newer version without a file that installs does not count",
		{{'h', "pkg-1.0-" CP312, NULL}, {'u', "pkg-2.0-cp312-cp312-win_amd64.whl", NULL}}, "", false, false,
		false, "here pkg-1.0-" CP312},
	{"a wheel of ours comes before upstream's",
		{{'u', "pkg-1.0-" CP312, NULL}, {'h', "pkg-1.0-py3-none-any.whl", NULL}}, "", false, false, false,
		"here pkg-1.0-py3-none-any.whl"},
	{"a wheel of another platform of ours is not here", {{'o', "pkg-1.0-" CP312, NULL}}, "", false, false, false,
		"nothing"},
	{"abi3 of an older Python installs", {{'u', "pkg-1.0-cp38-abi3-manylinux2014_x86_64.whl", NULL}}, "==1.0", true,
		false, false, "upstream pkg-1.0-cp38-abi3-manylinux2014_x86_64.whl"},
	{"the best tags are named",
		{{'u', "pkg-1.0-py3-none-any.whl", NULL}, {'u', "pkg-1.0-" CP312, NULL},
			{'u', "pkg-1.0-cp311-abi3-linux_x86_64.whl", NULL}},
		"", false, false, false, "upstream pkg-1.0-" CP312},
	{"== takes a local version, the newest one",
		{{'u', "pkg-1.0.tar.gz", NULL}, {'h', "pkg-1.0+cu128-" CP312, NULL}}, "==1.0", true, false, false,
		"here pkg-1.0+cu128-" CP312},
	{"=== is text", {{'u', "pkg-1.0.0-" CP312, NULL}, {'u', "pkg-1.0.tar.gz", NULL}}, "===1.0", true, false, false,
		"sdist pkg-1.0.tar.gz"},
	{"spellings of one version are one release", {{'u', "pkg-1.0.0-" CP312, NULL}, {'u', "pkg-1.0.tar.gz", NULL}},
		"==1.0", true, false, false, "upstream pkg-1.0.0-" CP312},
	{"a pre-release does not count beside a final release",
		{{'u', "pkg-2.0rc1-" CP312, NULL}, {'u', "pkg-1.0.tar.gz", NULL}}, "", false, false, false,
		"sdist pkg-1.0.tar.gz"},
	{"it does with --pre", {{'u', "pkg-2.0rc1-" CP312, NULL}, {'u', "pkg-1.0.tar.gz", NULL}}, "", false, true,
		false, "upstream pkg-2.0rc1-" CP312},
	{"and if a specifier names one", {{'u', "pkg-2.0rc1-" CP312, NULL}, {'u', "pkg-1.0.tar.gz", NULL}}, ">=1.0a1",
		false, false, false, "upstream pkg-2.0rc1-" CP312},
	{"!= names none", {{'u', "pkg-2.0rc1-" CP312, NULL}, {'u', "pkg-1.0.tar.gz", NULL}}, "!=1.0a1", false, false,
		false, "sdist pkg-1.0.tar.gz"},
	{"and if there is nothing else", {{'u', "pkg-2.0rc1-" CP312, NULL}}, "", false, false, false,
		"upstream pkg-2.0rc1-" CP312},
	{"a yanked final release is something else", {{'u', "pkg-2.0rc1-" CP312, NULL}, {'U', "pkg-1.0.tar.gz", NULL}},
		"", false, false, false, "nothing"},
	{"a yanked file does not count", {{'U', "pkg-2.0-" CP312, NULL}, {'u', "pkg-1.0-" CP312, NULL}}, ">=1", false,
		false, false, "upstream pkg-1.0-" CP312},
	{"it does for a pin", {{'U', "pkg-2.0-" CP312, NULL}}, "==2.0", true, false, false, "upstream pkg-2.0-" CP312},
	{"but not beside one that is not yanked", {{'U', "pkg-2.0-" CP312, NULL}, {'u', "pkg-2.0.tar.gz", NULL}},
		"==2.0", true, false, false, "sdist pkg-2.0.tar.gz"},
	{"Requires-Python of a micro version", {{'u', "pkg-2.0-" CP312, ">=3.12.4"}, {'u', "pkg-1.0.tar.gz", ">=3.8"}},
		"", false, false, false, "upstream pkg-2.0-" CP312 " fffffffffffffff0;sdist pkg-1.0.tar.gz f"},
	{"micro versions without any file", {{'u', "pkg-2.0-" CP312, ">=3.12.4"}}, "", false, false, false,
		"upstream pkg-2.0-" CP312 " fffffffffffffff0;nothing f"},
	{"an invalid Requires-Python is none, as in pip", {{'u', "pkg-2.0-" CP312, "3.8 or later"}}, "", false, false,
		false, "upstream pkg-2.0-" CP312},
	{"a sdist's name is split as pip does", {{'u', "pkg-1.0-2.tar.gz", NULL}, {'u', "other-9.tar.gz", NULL}}, "",
		false, false, false, "sdist pkg-1.0-2.tar.gz"},
	{"ours of equal sdists, then .tar.gz", {{'u', "pkg-1.0.zip", NULL}, {'h', "pkg-1.0.zip", NULL}}, "", false,
		false, false, "sdist pkg-1.0.zip"},
	{".tar.gz before .zip", {{'u', "pkg-1.0.tar.gz", NULL}, {'u', "pkg-1.0.zip", NULL}}, "", false, false, false,
		"sdist pkg-1.0.tar.gz"},
	{"only ours", {{'u', "pkg-2.0-" CP312, NULL}, {'h', "pkg-1.0-" CP312, NULL}}, "", false, false, true,
		"here pkg-1.0-" CP312},
	{"no version", {{'u', "pkg-2.0-" CP312, NULL}}, ">=3", false, false, false, "nothing"},
	{"an empty project", {{0}}, "", false, false, false, "nothing"},
};

static void test_it_takes_what_pip_takes(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture f;
		struct resolve_outcome o[RESOLVE_OUTCOMES];
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		set_up(&f, rows[i].file);
		const struct resolve_want want = {
			rows[i].specifier, ALL, rows[i].is_pinned, rows[i].allows_pre, rows[i].only_ours};
		print_outcomes(o, resolve(&f.offers, 0, OURS, &want, o), &out);
		if (strcmp(out.data, rows[i].expected) != 0)
			fail_msg("%s: %s", rows[i].name, out.data);
		tear_down(&f);
	}
}

// No set of files has more outcomes than there are micro versions, and one.
static void test_each_micro_version_has_an_outcome(void **state UNUSED)
{
	struct fixture f;
	struct resolve_outcome o[RESOLVE_OUTCOMES];
	const struct test_file file[] = {{'u', "pkg-4.0.tar.gz", "==3.12.1"}, {'u', "pkg-3.0.tar.gz", "==3.12.2"},
		{'h', "pkg-3.0-" CP312, "==3.12.3"}, {'u', "pkg-2.0.tar.gz", "==3.12.1"}, {0}};
	set_up(&f, file);
	const struct resolve_want want = {"", 0x1e, false, false, false};
	size_t count = resolve(&f.offers, 0, OURS, &want, o);
	uint64_t micros = 0;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(micros & o[i].micros, 0);
		micros |= o[i].micros;
	}
	assert_int_equal(count, 4);
	assert_int_equal(micros, want.micros);
	tear_down(&f);
}

static const struct {
	struct test_file file[FILES];
	const char *expected;
} nearest[] = {
	{{{'u', "pkg-1.0.tar.gz", NULL}}, "no wheel at all"},
	{{{'U', "pkg-1.0-" CP312, NULL}}, "all of its wheels are yanked"},
	{{{'u', "pkg-1.0-cp312-cp312-manylinux_2_39_x86_64.whl", NULL}},
		"pkg-1.0-cp312-cp312-manylinux_2_39_x86_64.whl needs glibc 2.39, the platform has 2.35"},
	{{{'u', "pkg-1.0-cp312-cp312-manylinux_2_39_x86_64.whl", NULL},
		 {'u', "pkg-1.0-cp312-cp312-manylinux_2_36_x86_64.whl", NULL}},
		"pkg-1.0-cp312-cp312-manylinux_2_36_x86_64.whl needs glibc 2.36, the platform has 2.35"},
	{{{'u', "pkg-1.0-cp310-cp310-manylinux_2_17_x86_64.whl", NULL},
		 {'u', "pkg-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", NULL}},
		"pkg-1.0-cp311-cp311-manylinux_2_17_x86_64.whl is for CPython 3.11"},
	{{{'u', "pkg-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl", NULL}},
		"pkg-1.0-cp313-cp313t-manylinux_2_17_x86_64.whl is for CPython 3.13t"},
	{{{'u', "pkg-1.0-cp313-abi3-manylinux_2_17_x86_64.whl", NULL}},
		"pkg-1.0-cp313-abi3-manylinux_2_17_x86_64.whl is for CPython 3.13 and later"},
	{{{'u', "pkg-1.0-cp312-cp312-musllinux_1_2_x86_64.whl", NULL},
		 {'u', "pkg-1.0-cp312-cp312-manylinux_2_17_aarch64.whl", NULL},
		 {'u', "pkg-1.0-cp312-cp312-win_amd64.whl", NULL}},
		"pkg-1.0-cp312-cp312-musllinux_1_2_x86_64.whl is for musl"},
	{{{'u', "pkg-1.0-cp312-cp312-manylinux_2_17_aarch64.whl", NULL},
		 {'u', "pkg-1.0-cp312-cp312-win_amd64.whl", NULL}},
		"pkg-1.0-cp312-cp312-manylinux_2_17_aarch64.whl is for aarch64"},
	{{{'u', "pkg-1.0-cp311-cp311-macosx_11_0_arm64.whl", NULL}},
		"pkg-1.0-cp311-cp311-macosx_11_0_arm64.whl is for macOS and CPython 3.11"},
	{{{'u', "pkg-1.0-py2-none-any.whl", NULL}}, "pkg-1.0-py2-none-any.whl is for Python 2"},
	{{{'u', "pkg-1.0-" CP312, ">=3.13"}}, "pkg-1.0-" CP312 " has Requires-Python >=3.13"},
	{{{'u', "pkg-1.0-x9-none-sun_os.whl", NULL}}, "pkg-1.0-x9-none-sun_os.whl is for sun_os and x9-none"},
	{{{'u', "pkg-1.0-cp312-cp312-manylinux_99999999999_x86_64.whl", NULL}},
		"pkg-1.0-cp312-cp312-manylinux_99999999999_x86_64.whl is for manylinux_99999999999_x86_64"},
};

static void test_the_nearest_wheel_is_named(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(nearest); i++) {
		struct fixture f;
		size_t count;
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 4096);
		set_up(&f, nearest[i].file);
		const struct offers_release *release = offers_admitted(&f.offers, "==1.0", &count);
		const struct nearest_place place = {0, OURS, &f.profile.machine, &f.profile.environment[0].python};
		assert_int_equal(count, 1);
		nearest_describe(&f.offers, &place, release, &out);
		assert_string_equal(out.data, nearest[i].expected);
		tear_down(&f);
	}
}

// A version with a great many wheels does not take long.
static void test_only_some_wheels_are_compared(void **state UNUSED)
{
	enum { MANY = 1100 };
	struct fixture f;
	size_t count;
	char name[64];
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	set_up(&f, (const struct test_file[]){{0}});
	const uint8_t sha256[SHA256_SIZE] = {0};
	for (unsigned i = 0; i < MANY; i++) { // by name, the nearer ones come later
		snprintf(name, sizeof(name), "pkg-1.0-%u-cp312-cp312-manylinux_2_%u_x86_64.whl", 1000 + i, 2300 - i);
		offers_add_ours(&f.offers, OURS, &(struct catalog_file){.filename = name, .sha256 = sha256}, true);
	}
	const struct offers_release *release = offers_admitted(&f.offers, "", &count);
	const struct nearest_place place = {0, OURS, &f.profile.machine, &f.profile.environment[0].python};
	nearest_describe(&f.offers, &place, release, &out);
	assert_non_null(strstr(out.data, "needs glibc 2.1301,"));
	tear_down(&f);
}

static void test_numbers_are_forgotten(void **state UNUSED)
{
	struct fixture f;
	set_up(&f, (const struct test_file[]){
			   {'u', "pkg-1.0-" CP312, ">=3.8"}, {'u', "pkg-1.0-py3-none-any.whl", NULL}, {0}});
	fits_trim(&f.fits, 2);
	assert_int_equal(f.fits.tags.count, 2);
	fits_trim(&f.fits, 1);
	assert_int_equal(f.fits.tags.count, 0);
	assert_int_equal(f.fits.pythons.count, 0);
	assert_int_equal(fits_python(&f.fits, "<3.9"), 1);
	assert_int_equal(fits_micros(&f.fits, 1, 0), 0);
	tear_down(&f);
}

static void test_pins(void **state UNUSED)
{
	assert_true(str_eq(resolve_pin(">=1,== 2.0"), STR("2.0")));
	assert_true(str_eq(resolve_pin("===any text"), STR("any text")));
	assert_int_equal(resolve_pin("==1.*,<2").len, 0);
	assert_int_equal(resolve_pin("").len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_takes_what_pip_takes),
		cmocka_unit_test(test_each_micro_version_has_an_outcome),
		cmocka_unit_test(test_the_nearest_wheel_is_named),
		cmocka_unit_test(test_only_some_wheels_are_compared),
		cmocka_unit_test(test_numbers_are_forgotten),
		cmocka_unit_test(test_pins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
