// SPDX-License-Identifier: Apache-2.0
// What the lists of [prune] and the branches want of the files that a view shows.
#include "builder/missing/kept-versions.h"

#include <string.h>

#include "tests/unit/support/branch-store.h"

enum { NOW = 1800000000, MOST = 6 };

// The files of "foo", all of X86: the name; the text behind "!" is one that is yanked, behind "-" one that is gone.
struct kept_row {
	const char *wants, *pins, *list; // of loose; of [prune]; NULL: none
	const char *file[MOST];
	const char *kept; // which of them, as digits
};

static void mark(struct branch_store *f, const struct kept_row *row, struct buf *out)
{
	static const uint8_t sha256[SHA256_SIZE];
	struct err e = ERR_INIT;
	struct catalog_file file[MOST];
	struct kept_file kept[MOST];
	struct version version[MOST];
	size_t n = 0;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(kept_versions_release) struct kept_versions k;
	for (; row->file[n]; n++) {
		const char *name = row->file[n] + strcspn(row->file[n], "f");
		struct str rest = str_from(name + strlen("foo-")), own = str_cut(&rest, '-');
		file[n] = (struct catalog_file){
			.filename = name, .sha256 = sha256, .yanked = row->file[n][0] == '!' ? "" : NULL};
		kept[n] = (struct kept_file){store_platform_named(&f->store, STR(X86)), &file[n], &version[n],
			row->file[n][0] == '-', NULL};
		if (str_ends(own, STR(".tar.gz")))
			own = str_slice(own, 0, own.len - strlen(".tar.gz"));
		branch_store_ok(version_parse(own, &version[n], &e), &e);
	}
	kept_versions_open(&f->config, &f->store, NOW, &k);
	if (k.trouble)
		fail_msg("%s", k.trouble);
	kept_versions_mark(&k, "foo", kept, n, &text);
	for (size_t i = 0; i < n; i++) {
		version_release(&version[i]);
		if (kept[i].kept_by)
			buf_printf(out, "%zu", i);
	}
}

#define ON_310 "-cp310-cp310-manylinux_2_17_x86_64.whl"
#define ON_311 "-cp311-cp311-manylinux_2_17_x86_64.whl"
#define THREE "foo-3" ON_310, "foo-2" ON_310, "foo-1" ON_310

static void lists_and_branches_want_versions(void **state)
{
	static const struct kept_row rows[] = {
		{"bar", NULL, NULL, {THREE}, ""},
		{"foo==2", NULL, NULL, {THREE}, "1"},
		{"foo==2; python_version < '3'", NULL, NULL, {THREE}, "1"}, // in doubt a pin counts
		{"foo", NULL, NULL, {THREE}, "0"},
		{"foo<3", NULL, NULL, {THREE}, "1"},
		{"foo<3; python_version < '3'", NULL, NULL, {THREE}, ""},
		{"foo<3", NULL, NULL, {"foo-3" ON_310, "foo-2" ON_311, "foo-1" ON_310}, "2"},
		{"foo<3", NULL, NULL, {"foo-3" ON_310, "!foo-2" ON_310, "foo-1" ON_310}, "2"},
		{"foo<3", NULL, NULL, {"foo-3" ON_310, "-foo-2" ON_310, "foo-1" ON_310}, "2"},
		{"foo==2", NULL, NULL, {"foo-3" ON_310, "!foo-2" ON_310, "-foo-2.0" ON_310}, "12"},
		{"foo<3", NULL, NULL, {"foo-2-py3-none-any.whl", "foo-2.tar.gz", "foo-1" ON_310}, "01"},
		{"foo<3", NULL, NULL, {"foo-2.tar.gz", "foo-1" ON_310, "foo-0" ON_310}, "01"}, // with and without sdists
		{"foo>=1a1", NULL, NULL, {"foo-2rc1" ON_310, "foo-1" ON_310}, "0"},
		{"bar", "foo===1", NULL, {THREE}, "2"},
		{"bar", NULL, "foo >=2 platform=ubuntu-* it is needed", {THREE}, "01"},
		{"bar", NULL, "foo >=2 platform=debian-*", {THREE}, ""},
	};
	CLEANUP(buf_release) struct buf out;
	struct branch_store *f = *state;
	buf_init(&out, 100);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		branch_store_write("loose.txt", rows[i].wants);
		branch_store_write("pins.txt", rows[i].pins ? rows[i].pins : "other===1");
		branch_store_write("list.txt", rows[i].list ? rows[i].list : "other");
		buf_clear(&out);
		mark(f, &rows[i], &out);
		if (strcmp(out.len ? out.data : "", rows[i].kept) != 0)
			fail_msg("row %zu: %s instead of %s", i, out.data, rows[i].kept);
	}
}

static void set_up_lists(struct branch_store *f)
{
	branch_store_set(f, "prune", "constraints", branch_store_path("pins.txt"));
	branch_store_set(f, "prune", "packages", branch_store_path("list.txt"));
}

static int set_up(void **state)
{
	if (branch_store_set_up(state) < 0)
		return -1;
	set_up_lists(*state);
	return 0;
}

static void unreadable_file_is_trouble(void **state)
{
	struct branch_store *f = *state;
	const char *const files[] = {"loose.txt", "pins.txt", "list.txt"};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		CLEANUP(kept_versions_release) struct kept_versions k;
		branch_store_write("loose.txt", "foo");
		branch_store_write("pins.txt", "foo===1");
		branch_store_write("list.txt", "foo");
		branch_store_write(files[i], "=");
		kept_versions_open(&f->config, &f->store, NOW, &k);
		if (!k.trouble || !strstr(k.trouble, files[i]))
			fail_msg("%s", k.trouble ? k.trouble : "no trouble");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists_and_branches_want_versions, set_up, branch_store_tear_down),
		cmocka_unit_test_setup_teardown(unreadable_file_is_trouble, set_up, branch_store_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
