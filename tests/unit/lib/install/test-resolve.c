// SPDX-License-Identifier: Apache-2.0
// What pip takes, and why no wheel of a version installs: lib/install/resolve, index-files, fits and nearest-wheel
// together.
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
#include "lib/install/nearest-wheel.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

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
	struct platform platform;
	struct fits fits;
	struct index_files files;
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
	f->platform = (struct platform){.id = OURS};
	fits_add(&f->fits, &f->platform, &f->profile.machine, &f->profile.environment[0]);
	index_files_init(&f->files, "pkg", &f->fits);
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
			index_files_add_ours(&f->files, file->sort == 'o' ? ANOTHER : OURS, &ours, true);
	}
	index_files_add_page(&f->files, &f->page, 0);
}

static void tear_down(struct fixture *f)
{
	index_files_release(&f->files);
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
		print_outcomes(o, resolve(&f.files, 0, OURS, &want, o), &out);
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
	size_t count = resolve(&f.files, 0, OURS, &want, o);
	uint64_t micros = 0;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(micros & o[i].micros, 0);
		micros |= o[i].micros;
	}
	assert_int_equal(count, 4);
	assert_int_equal(micros, want.micros);
	tear_down(&f);
}

// --- one file ---

enum { FROM_US = 1, FROM_THEM = 2 };

// The file that is chosen on Python 3.12 with glibc 2.35, of files in this order. NULL: none.
static const struct {
	const char *requested; // NULL: any version
	const char *file[5];   // "!" before a yanked one
	const char *chosen;
} chosen_files[] = {
	{NULL, {NULL}, NULL},
	{NULL, {"pkg-1-py3-none-any.whl", "pkg-2-py3-none-any.whl", "pkg-1.9-py3-none-any.whl"},
		"pkg-2-py3-none-any.whl"},
	{NULL, {"pkg-2-cp311-cp311-linux_x86_64.whl", "pkg-1-cp312-cp312-linux_x86_64.whl"},
		"pkg-1-cp312-cp312-linux_x86_64.whl"},
	{NULL,
		{"pkg-1-py3-none-any.whl", "pkg-1-cp38-abi3-linux_x86_64.whl",
			"pkg-1-cp312-cp312-linux_x86_64.whl"},
		"pkg-1-cp312-cp312-linux_x86_64.whl"},
	{NULL,
		{"pkg-1-cp312-cp312-manylinux_2_17_x86_64.whl", "pkg-1-cp312-cp312-manylinux_2_35_x86_64.whl",
			"pkg-1-cp312-cp312-manylinux_2_38_x86_64.whl"},
		"pkg-1-cp312-cp312-manylinux_2_35_x86_64.whl"},
	{NULL, {"pkg-1-2-py3-none-any.whl", "pkg-1-10-py3-none-any.whl", "pkg-1-py3-none-any.whl"},
		"pkg-1-10-py3-none-any.whl"},
	{NULL, {"pkg-1-py2.py3-none-any.whl", "Pkg-1-py3-none-any.whl"}, "Pkg-1-py3-none-any.whl"},
	{NULL, {"pkg-3.tar.gz", "pkg-1-py3-none-any.whl"}, "pkg-1-py3-none-any.whl"},
	{NULL, {"pkg-3.tar.gz", "pkg-4.zip"}, "pkg-4.zip"},
	{NULL, {"pkg-2rc1-py3-none-any.whl", "pkg-1-py3-none-any.whl"}, "pkg-1-py3-none-any.whl"},
	{NULL, {"pkg-2rc1-py3-none-any.whl", "pkg-2.dev1-py3-none-any.whl"}, "pkg-2rc1-py3-none-any.whl"},
	{NULL, {"!pkg-2-py3-none-any.whl", "pkg-1-py3-none-any.whl"}, "pkg-1-py3-none-any.whl"},
	{NULL, {"!pkg-2-py3-none-any.whl"}, NULL},
	{NULL, {"pkg_bar-2-py3-none-any.whl", "pkg-2.egg", "junk", "pkg-x-py3-none-any.whl"}, NULL},
	{"==2", {"!pkg-2.0-py3-none-any.whl", "pkg-1-py3-none-any.whl"}, "pkg-2.0-py3-none-any.whl"},
	{"==2", {"!pkg-2.0-cp312-cp312-linux_x86_64.whl", "pkg-2-py3-none-any.whl"}, "pkg-2-py3-none-any.whl"},
	{"==2rc1", {"pkg-2rc1-py3-none-any.whl"}, "pkg-2rc1-py3-none-any.whl"},
	{"==1.0", {"pkg-1-py3-none-any.whl", "pkg-1.0+local-py3-none-any.whl", "pkg-1.0.1-py3-none-any.whl"},
		"pkg-1.0+local-py3-none-any.whl"},
	{"==1+local", {"pkg-1-py3-none-any.whl", "pkg-1.0+local-py3-none-any.whl"},
		"pkg-1.0+local-py3-none-any.whl"},
};

static void test_one_file_is_chosen(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(chosen_files); i++) {
		struct fixture f;
		uint64_t micros;
		set_up(&f, (const struct test_file[]){{0}});
		for (size_t k = 0; k < ARRAY_SIZE(chosen_files[i].file) && chosen_files[i].file[k]; k++) {
			bool is_yanked = chosen_files[i].file[k][0] == '!';
			const struct index_file file = {.filename = chosen_files[i].file[k] + is_yanked,
				.is_yanked = is_yanked,
				.sources = FROM_US};
			index_files_add(&f.files, &file, NULL);
		}
		const char *requested = chosen_files[i].requested, *expected = chosen_files[i].chosen;
		const struct index_file *chosen = resolve_file(&f.files, 0, FROM_US | FROM_THEM, requested, &micros);
		assert_string_equal(chosen ? chosen->filename : "nothing", expected ? expected : "nothing");
		assert_null(resolve_file(&f.files, 0, FROM_THEM, requested, &micros));
		assert_int_equal(micros, 0);
		tear_down(&f);
	}
}

static void test_the_file_has_its_micro_versions(void **state UNUSED)
{
	static const struct {
		const char *python;
		uint64_t micros; // 0: not chosen
	} table[] = {{NULL, ALL}, {">=3.8", ALL}, {"<3.12", 0}, {">=3.12.4", ALL << 4}, {"junk", ALL}};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture f;
		uint64_t micros;
		set_up(&f, (const struct test_file[]){{0}});
		const struct index_file file = {.filename = "pkg-1-py3-none-any.whl", .sources = FROM_US};
		index_files_add(&f.files, &file, table[i].python);
		assert_int_equal(resolve_file(&f.files, 0, FROM_US, NULL, &micros) != NULL, table[i].micros != 0);
		assert_true(micros == table[i].micros);
		tear_down(&f);
	}
}

// --- why not ---

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
		const struct index_release *release = index_files_admitted(&f.files, "==1.0", &count);
		assert_int_equal(count, 1);
		nearest_wheel(&f.files, 0, release, &out);
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
		index_files_add_ours(&f.files, OURS, &(struct catalog_file){.filename = name, .sha256 = sha256}, true);
	}
	const struct index_release *release = index_files_admitted(&f.files, "", &count);
	nearest_wheel(&f.files, 0, release, &out);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_takes_what_pip_takes),
		cmocka_unit_test(test_each_micro_version_has_an_outcome),
		cmocka_unit_test(test_one_file_is_chosen),
		cmocka_unit_test(test_the_file_has_its_micro_versions),
		cmocka_unit_test(test_the_nearest_wheel_is_named),
		cmocka_unit_test(test_only_some_wheels_are_compared),
		cmocka_unit_test(test_numbers_are_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
