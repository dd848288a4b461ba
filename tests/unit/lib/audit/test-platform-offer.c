// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/platform-offer.h"

#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/audit/offer-table.h"
#include "lib/base/limits.h"
#include "lib/os/fs.h"
#include "tests/unit/support/openat2.h"

static char top_path[] = "/tmp/wheelcache-offer-XXXXXX";

static int make_top(void **state UNUSED)
{
	return mkdtemp(top_path) ? 0 : -1;
}

static int remove_top(void **state UNUSED)
{
	struct err e = ERR_INIT;
	return tree_remove(AT_FDCWD, top_path, &e);
}

static char *in_top(const char *path)
{
	return xasprintf("%s/%s", top_path, path);
}

static void write_file(const char *path, struct str bytes)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *whole = in_top(path);
	assert_int_equal(fs_make_parent(whole, &e), 0);
	FILE *file = fopen(whole, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
	assert_int_equal(fclose(file), 0);
}

static void make_link(const char *target, const char *path)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *whole = in_top(path);
	assert_int_equal(fs_make_parent(whole, &e), 0);
	assert_int_equal(symlink(target, whole), 0);
}

static struct platform_offer *open_offer(const char *path)
{
	struct err e = ERR_INIT;
	struct platform_offer *o = NULL;
	CLEANUP(mem_free) char *whole = in_top(path);
	if (platform_offer_open(whole, &o, &e) < 0)
		fail_msg("%s", e.msg);
	return o;
}

static enum err_kind open_failure(const char *path)
{
	struct err e = ERR_INIT;
	struct platform_offer *o = NULL;
	CLEANUP(mem_free) char *whole = in_top(path);
	assert_int_equal(platform_offer_open(whole, &o, &e), -1);
	assert_null(o);
	return e.kind;
}

// --- lists ---

static const char list[] = "wheelcache-provides 1 5 21\n"
			   "library aarch64 libre2.so.12 lib/libre2.so.12\n"
			   "name libre2.so.12\n"
			   "library x86_64 libc.so.6 lib/libc.so.6\n"
			   "name libc.so.6\n"
			   "library x86_64 libldap.so.2 lib/libldap.so.2\n"
			   "name libldap.so.2\n"
			   "needed libssl.so.3\n"
			   "version OPENLDAP_2.200\n"
			   " ldap_bind@OPENLDAP_2.200\n"
			   " ldap_new@OPENLDAP_2.300\n"
			   "library x86_64 libre2.so.11 lib/my%20lib/libre2.so.11.0.0\n"
			   "name libre2.so\n"
			   "name libre2.so.11\n"
			   "name libre2.so.11.0.0\n"
			   " _ZN3re23RE2C1Ev\n"
			   " odd%40name%25\n"
			   "library x86_64 libre2.so.9 opt/libre2.so.9\n"
			   "unreadable\n"
			   "name libold.so.9\n"
			   "name libre.so.10\n"
			   "name libre2.so.9.5\n";

static void test_a_list_says_what_the_loader_finds(void **state UNUSED)
{
	write_file("list", str_from(list));
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = open_offer("list");
	assert_true(platform_offer_has(o, "x86_64", STR("libldap.so.2")));
	assert_true(platform_offer_has(o, "x86_64", STR("libre2.so")));
	assert_false(platform_offer_has(o, "aarch64", STR("libldap.so.2")));
	assert_false(platform_offer_has(o, "x86_64", STR("libldap-2.5.so.0")));
	const struct offer_library *ldap = platform_offer_find(o, "x86_64", STR("libldap.so.2"));
	assert_true(offer_library_has_version(ldap, "OPENLDAP_2.200"));
	assert_false(offer_library_has_version(ldap, "OPENLDAP_2.20"));
	assert_true(offer_library_has_symbol(ldap, "ldap_bind", "OPENLDAP_2.200"));
	assert_true(offer_library_has_symbol(ldap, "ldap_new", "OPENLDAP_2.300"));
	assert_true(offer_library_has_symbol(ldap, "ldap_new", NULL));
	assert_false(offer_library_has_symbol(ldap, "ldap_bind", "OPENLDAP_2.300"));
	assert_false(offer_library_has_symbol(ldap, "ldap_bin", NULL));
	assert_string_equal(ldap->needed.item[0], "libssl.so.3");
	const struct offer_library *re2 = platform_offer_find(o, "x86_64", STR("libre2.so.11"));
	assert_string_equal(re2->path, "lib/my lib/libre2.so.11.0.0");
	assert_true(offer_library_has_version(re2, "ANY")); // the loader does not mind: re2 has no versions
	assert_true(offer_library_has_symbol(re2, "_ZN3re23RE2C1Ev", "ANY"));
	assert_true(offer_library_has_symbol(re2, "odd@name%", NULL));
	assert_false(platform_offer_find(o, "x86_64", STR("libold.so.9"))->is_readable);
}

static void test_the_successor_has_the_same_stem(void **state UNUSED)
{
	static const struct successor_case {
		const char *arch, *gone, *expected;
	} cases[] = {
		{"x86_64", "libre2.so.5", "libre2.so.11"},
		{"x86_64", "libre2.so.11", "libre2.so.9"}, // it is asked for only if libre2.so.11 is absent
		{"aarch64", "libre2.so.5", "libre2.so.12"},
		{"x86_64", "libldap-2.5.so.0", "libldap.so.2"},
		{"x86_64", "libldap2.5.so.0", "libldap.so.2"},
		{"x86_64", "libre.so.5", NULL},
		{"x86_64", "libldap_r-2.4.so.2", NULL},
		{"s390x", "libre2.so.5", NULL},
	};
	write_file("list", str_from(list));
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = open_offer("list");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *found = platform_offer_successor(o, cases[i].arch, str_from(cases[i].gone));
		assert_string_equal(found ? found : "-", cases[i].expected ? cases[i].expected : "-");
	}
}

static void test_a_list_is_printed_as_it_was_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX);
	write_file("list", str_from(list));
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = open_offer("list");
	assert_int_equal(platform_offer_print(o, &out, &e), 0);
	assert_string_equal(out.data, list);
	CLEANUP(buf_release) struct buf small;
	buf_init(&small, 100);
	assert_int_equal(platform_offer_print(o, &small, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

static void test_a_list_that_was_cut_is_refused_wherever(void **state UNUSED)
{
	for (size_t len = 0; len + 1 < sizeof(list); len++) {
		write_file("cut", (struct str){list, len});
		assert_int_equal(open_failure("cut"), ERR_INVALID);
	}
}

#define ONE "library x86_64 a.so lib/a.so\nname a.so\n"

static void test_damaged_lists_are_refused(void **state UNUSED)
{
	static const char *const cases[] = {
		"",
		"\n",
		"wheelcache-provides 2 1 2\n" ONE,
		"wheelcache-provides 1 1\n" ONE,
		"wheelcache-provides 1 2 2\n" ONE,
		"wheelcache-provides 1 1 3\n" ONE,
		"wheelcache-provides 1 1 1\n" ONE,
		"wheelcache-provides 1 0 0\n",
		"wheelcache-provides 1 1 3\nname a.so\n" ONE, // of no library
		"wheelcache-provides 1 1 3\n" ONE "other a\n",
		"wheelcache-provides 1 1 3\n" ONE " \n",
		"wheelcache-provides 1 1 3\n" ONE " a@\n",
		"wheelcache-provides 1 1 3\n" ONE " a@b@c\n",
		"wheelcache-provides 1 1 3\n" ONE " %4\n",
		"wheelcache-provides 1 1 3\n" ONE " %00\n",
		"wheelcache-provides 1 1 3\n" ONE " %4x\n",
		"wheelcache-provides 1 1 3\n" ONE " a b\n",
		"wheelcache-provides 1 1 3\n" ONE "unreadable now\n",
		"wheelcache-provides 1 1 3\n" ONE "\n",
		"wheelcache-provides 1 1 1\nlibrary x86_64 a.so lib/a.so more\n",
		"wheelcache-provides 1 1 1\nlibrary x86_64 a.so\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_file("damaged", str_from(cases[i]));
		assert_int_equal(open_failure("damaged"), ERR_INVALID);
	}
	assert_int_equal(open_failure("absent"), ERR_NOT_FOUND);
}

static void test_a_list_of_too_many_libraries_is_refused(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	struct offer_table t = {0};
	buf_init(&out, SIZE_MAX);
	buf_printf(&out, "wheelcache-provides 1 1 %d\nlibrary x86_64 a.so a.so\n", LIMIT_OFFER_LIBRARIES + 2);
	for (int i = 0; i <= LIMIT_OFFER_LIBRARIES; i++)
		buf_printf(&out, "name %d\n", i);
	assert_int_equal(offer_list_parse(buf_view(&out), &t, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	offer_table_release(&t);
}

// --- roots ---

static int note_libc(struct dl_phdr_info *info, size_t size UNUSED, void *out)
{
	const char *name = strrchr(info->dlpi_name, '/');
	if (name && strcmp(name, "/libc.so.6") == 0)
		*(const char **)out = info->dlpi_name;
	return 0;
}

static void read_libc(struct buf *out)
{
	const char *path = NULL;
	struct err e = ERR_INIT;
	dl_iterate_phdr(note_libc, &path);
	assert_non_null(path);
	assert_int_equal(fs_read_file(path, out, &e), 0);
}

static const char *own_arch(void)
{
	static struct utsname name;
	assert_int_equal(uname(&name), 0);
	return name.machine;
}

// The folders are named by includes and by absolute links, all of which stay inside.
static void test_a_root_is_read_as_the_loader_reads_it(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	CLEANUP(buf_release) struct buf libc, printed, again;
	struct err e = ERR_INIT;
	buf_init(&libc, SIZE_MAX);
	buf_init(&printed, SIZE_MAX);
	buf_init(&again, SIZE_MAX);
	read_libc(&libc);
	write_file("root/etc/ld.so.conf", STR("# first\ninclude ld.so.conf.d/*.conf # here\nhwcap 1 no\n"));
	write_file("root/etc/ld.so.conf.d/own.conf", STR("/opt/own:/opt/absent\ninclude own.conf\ninclude /x/*\n"));
	write_file("root/etc/ld.so.conf.d/own.text", STR("/unlisted\n"));
	write_file("root/srv/libown.so.1.5", buf_view(&libc));
	write_file("root/unlisted/libhidden.so", buf_view(&libc));
	make_link("/srv", "root/opt/own");
	make_link("../../../../../../srv/libown.so.1.5", "root/srv/libown.so.1");
	make_link("/nowhere", "root/srv/libgone.so");
	make_link(".", "root/lib64");
	write_file("root/usr/lib/some-linux-gnu/libdamaged.so", str_slice(buf_view(&libc), 0, 5000));
	write_file("root/usr/lib/libtext.so", STR("INPUT(libown.so.1)"));
	write_file("root/usr/lib/own.sofar", buf_view(&libc));
	CLEANUP(mem_free) char *pipe = in_top("root/usr/lib/libpipe.so");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(open_failure("root"), ERR_LIMIT); // own.conf includes itself
	write_file("root/etc/ld.so.conf.d/own.conf", STR("/opt/own,/opt/absent\ninclude /x/*\n"));
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = open_offer("root");
	const char *arch = own_arch();
	const struct offer_library *l = platform_offer_find(o, arch, STR("libown.so.1"));
	assert_non_null(l);
	assert_string_equal(l->soname, "libc.so.6");
	assert_true(platform_offer_find(o, arch, STR("libown.so.1.5")) == l);
	assert_true(platform_offer_find(o, arch, STR("libc.so.6")) == l);
	assert_true(offer_library_has_version(l, "GLIBC_2.17"));
	assert_false(offer_library_has_version(l, "GLIBC_2.99"));
	assert_true(offer_library_has_symbol(l, "puts", NULL));
	assert_false(platform_offer_find(o, arch, STR("libdamaged.so"))->is_readable);
	assert_false(platform_offer_has(o, arch, STR("libhidden.so")));
	assert_false(platform_offer_has(o, arch, STR("libgone.so")));
	assert_false(platform_offer_has(o, arch, STR("libtext.so")));
	assert_false(platform_offer_has(o, arch, STR("libpipe.so")));
	assert_false(platform_offer_has(o, arch, STR("own.sofar")));
	assert_int_equal(platform_offer_print(o, &printed, &e), 0);
	write_file("printed", buf_view(&printed));
	CLEANUP(platform_offer_cleanup) struct platform_offer *same = open_offer("printed");
	assert_int_equal(platform_offer_print(same, &again, &e), 0);
	assert_string_equal(again.data, printed.data);
}

static void test_a_root_without_libraries_is_an_error(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	CLEANUP(mem_free) char *empty = in_top("empty");
	assert_int_equal(mkdir(empty, 0700), 0);
	assert_int_equal(open_failure("empty"), ERR_INVALID);
	write_file("empty/lib/libtext.so", STR("no library"));
	assert_int_equal(open_failure("empty"), ERR_INVALID);
	write_file("empty/list", STR("wheelcache-provides 1 1 2\nlibrary x86_64 a.so.1 lib/a.so.1\nname a.so.1\n"));
	assert_int_equal(open_failure("empty/list"), ERR_INVALID); // no C library
}

// Each pattern reads a folder, so that a small file could make it take hours.
static void test_patterns_of_includes_are_limited(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	CLEANUP(buf_release) struct buf conf;
	buf_init(&conf, LIMIT_CONFIG);
	for (size_t i = 0; i < LIMIT_OFFER_FOLDERS; i++)
		buf_puts(&conf, "include absent/*\n");
	write_file("including/etc/ld.so.conf", buf_view(&conf));
	assert_int_equal(open_failure("including"), ERR_INVALID); // no library
	buf_puts(&conf, "include absent/*\n");
	write_file("including/etc/ld.so.conf", buf_view(&conf));
	assert_int_equal(open_failure("including"), ERR_LIMIT);
}

// Exceeds LIMIT_OFFER_LIBRARIES, LIMIT_OFFER_SYMBOLS, LIMIT_OFFER_TEXT.
static void test_a_table_that_is_too_large_is_refused(void **state UNUSED)
{
	const struct offer_table cases[] = {
		{.libraries = LIMIT_OFFER_LIBRARIES + 1},
		{.names = LIMIT_OFFER_LIBRARIES + 1},
		{.symbols = LIMIT_OFFER_SYMBOLS + 1},
		{.text = {.total = LIMIT_OFFER_TEXT + (size_t)1}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		assert_int_equal(offer_table_check(&cases[i], &e), -1);
		assert_int_equal(e.kind, ERR_LIMIT);
	}
}

// Exceeds LIMIT_OFFER_SECONDS.
static void test_the_time_of_a_root_is_limited(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int root = fs_open_dir("/", &e);
	CLEANUP(offer_table_release) struct offer_table t = {0};
	assert_int_equal(offer_root_read(root, 0, &t, &e), -1);
	assert_int_equal(e.kind, ERR_TIME);
	assert_string_equal(e.msg, "reading the libraries takes more than 0 seconds");
}

// The bytes of a file that is too large are not read: it has none on the disk.
// Exceeds LIMIT_OFFER_FILE, LIMIT_OFFER_LIST.
static void test_of_a_huge_library_only_the_name_is_known(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	CLEANUP(mem_free) char *path = in_top("huge/lib/libhuge.so.1"), *list_path = in_top("sparse");
	write_file("huge/lib/libhuge.so.1", STR(""));
	write_file("huge/lib/libc.so.6", STR("\177ELF"));
	assert_int_equal(truncate(path, LIMIT_OFFER_FILE + (off_t)1), 0);
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = open_offer("huge");
	assert_false(platform_offer_find(o, "x86_64", STR("libhuge.so.1"))->is_readable);
	write_file("sparse", STR(""));
	assert_int_equal(truncate(list_path, LIMIT_OFFER_LIST + (off_t)1), 0);
	assert_int_equal(open_failure("sparse"), ERR_LIMIT);
}

// Exceeds LIMIT_OFFER_ENTRIES.
static void test_a_folder_with_too_many_names_is_refused(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	make_link("nowhere", "names/lib/0");
	CLEANUP(mem_free) char *folder = in_top("names/lib");
	CLEANUP(mem_close) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 1; i <= LIMIT_OFFER_ENTRIES; i++) {
		char name[20];
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(symlinkat("nowhere", fd, name), 0);
	}
	assert_int_equal(open_failure("names"), ERR_LIMIT);
}

// Exceeds LIMIT_OFFER_FOLDERS.
static void test_a_root_with_too_many_folders_is_refused(void **state UNUSED)
{
	if (!has_openat2())
		skip();
	CLEANUP(buf_release) struct buf conf;
	buf_init(&conf, SIZE_MAX);
	for (int i = 0; i <= LIMIT_OFFER_FOLDERS; i++)
		buf_printf(&conf, "/folder%d\n", i);
	write_file("many/etc/ld.so.conf", buf_view(&conf));
	assert_int_equal(open_failure("many"), ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_list_says_what_the_loader_finds),
		cmocka_unit_test(test_the_successor_has_the_same_stem),
		cmocka_unit_test(test_a_list_is_printed_as_it_was_read),
		cmocka_unit_test(test_a_list_that_was_cut_is_refused_wherever),
		cmocka_unit_test(test_damaged_lists_are_refused),
		cmocka_unit_test(test_a_list_of_too_many_libraries_is_refused),
		cmocka_unit_test(test_a_root_is_read_as_the_loader_reads_it),
		cmocka_unit_test(test_a_root_without_libraries_is_an_error),
		cmocka_unit_test(test_a_root_with_too_many_folders_is_refused),
		cmocka_unit_test(test_patterns_of_includes_are_limited),
		cmocka_unit_test(test_a_table_that_is_too_large_is_refused),
		cmocka_unit_test(test_the_time_of_a_root_is_limited),
		cmocka_unit_test(test_of_a_huge_library_only_the_name_is_known),
		cmocka_unit_test(test_a_folder_with_too_many_names_is_refused),
	};
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
