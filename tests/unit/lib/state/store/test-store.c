// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog.h"
#include "tests/unit/support/openat2.h"

static char *top; // real path of a new folder

static int make_top(void **state UNUSED)
{
	static char name[] = "test-store.XXXXXX";
	struct err e = ERR_INIT;
	top = mkdtemp(name) ? fs_real_path(name, &e) : NULL;
	return top ? 0 : -1;
}

static int remove_top(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", top);
	int code = system(command);
	free(top);
	return code;
}

// A path below top; the last few stay valid.
static const char *at(const char *path)
{
	static char text[4][4096];
	static unsigned next;
	char *out = text[next++ % 4];
	snprintf(out, sizeof(text[0]), "%s/%s", top, path);
	return out;
}

static void make(const char *path)
{
	struct err e = ERR_INIT;
	if (fs_make_dirs(at(path), &e) < 0)
		fail_msg("%s", e.msg);
}

static void make_file(const char *path)
{
	FILE *f = fopen(at(path), "w");
	assert_non_null(f);
	fclose(f);
}

static void names(const struct store *s, struct buf *out)
{
	buf_init(out, 1 << 16);
	for (size_t i = 0; i < s->platform_count; i++)
		buf_printf(out, "%s=%s ", s->platform[i].name, place_path(s->platform[i].place) + strlen(top));
}

static void open_store(const char *path, struct store *s)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	c.store = xstrdup(at(path));
	if (store_open(&c, STORE_PROMPT, s, &e) < 0)
		fail_msg("%s", e.msg);
}

static void platforms_are_found_by_name(void **state UNUSED)
{
	CLEANUP(store_release) struct store s = {0};
	CLEANUP(buf_release) struct buf found;
	make("a/ubuntu-22.04-x86_64");
	make("a/debian-12-aarch64");
	make("a/lost+found");
	make("a/.snapshots");
	make_file("a/centos-8-x86_64");
	make("outside-1-x86_64");
	assert_int_equal(symlink("../outside-1-x86_64", at("a/outside-1-x86_64")), 0);
	assert_int_equal(symlink("debian-12-aarch64", at("a/debian-13-aarch64")), 0);
	open_store("a", &s);
	names(&s, &found);
	CLEANUP(mem_free)
	char *expected = xasprintf("debian-12-aarch64=/a/debian-12-aarch64 %s"
				   "ubuntu-22.04-x86_64=/a/ubuntu-22.04-x86_64 ",
		has_openat2() ? "debian-13-aarch64=/a/debian-13-aarch64 " : "");
	assert_string_equal(found.data, expected);
	// A folder with another name, a file, a link that leads out; a link that cannot be followed.
	assert_int_equal(s.stray_count, has_openat2() ? 3 : 4);
	assert_true(s.is_detected);
}

static void store_without_platforms_is_one(void **state UNUSED)
{
	CLEANUP(store_release) struct store s = {0};
	CLEANUP(buf_release) struct buf found;
	make("b/six");
	open_store("b", &s);
	names(&s, &found);
	assert_string_equal(found.data, "wheels=/b ");
	assert_int_equal(s.stray_count, 0);
}

static void configured_platforms_are_taken(void **state UNUSED)
{
	CLEANUP(store_release) struct store s = {0};
	CLEANUP(buf_release) struct buf found;
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	make("c/real");
	make("elsewhere");
	config_init(&c);
	c.store = xstrdup(at("c"));
	c.platforms = xcalloc(4, sizeof(*c.platforms));
	c.platform_count = 4;
	c.platforms[0] = (struct config_platform){.name = xstrdup("one"), .path = xstrdup("real"), .is_mutable = true};
	c.platforms[1] = (struct config_platform){.name = xstrdup("two"),
		.path = xstrdup(at("elsewhere")),
		.is_private = true,
		.quota_bytes = 7,
		.quota_files = 8};
	c.platforms[2] = (struct config_platform){.name = xstrdup("real")};
	c.platforms[3] = (struct config_platform){.name = xstrdup("missing")};
	assert_int_equal(store_open(&c, STORE_PROMPT, &s, &e), 0);
	names(&s, &found);
	assert_string_equal(found.data, "one=/c/real two=/elsewhere real=/c/real missing=/c/missing ");
	assert_true(s.platform[0].is_mutable);
	assert_string_equal(place_path(s.platform[0].written), at("c/real"));
	assert_false(s.platform[0].is_private);
	assert_true(s.platform[1].is_private);
	assert_int_equal(s.platform[1].quota_bytes, 7);
	assert_int_equal(s.platform[1].quota_files, 8);
}

static void profile_is_of_the_name_or_the_keys(void **state UNUSED)
{
	CLEANUP(store_release) struct store s = {0}, configured = {0};
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	make("f/alpine-3.20-x86_64");
	make("f/haiku-1-x86_64");
	open_store("f", &s);
	assert_int_equal(s.platform[0].profile.environment_count, 1);
	assert_true(s.platform[0].profile.machine.is_musl);
	assert_int_equal(s.platform[1].profile.environment_count, 0);
	config_init(&c);
	assert_int_equal(config_set(&c, "store", "path", at("f"), &e), 0);
	assert_int_equal(config_set(&c, "platform debian-12-x86_64", "pythons", "3.8 3.9", &e), 0);
	assert_int_equal(store_open(&c, STORE_PROMPT, &configured, &e), 0);
	assert_int_equal(configured.platform[0].profile.environment_count, 2);
	assert_int_equal(configured.platform[0].profile.machine.libc_minor, 36);
}

static void half_a_profile_is_refused(void **state UNUSED)
{
	CLEANUP(store_release) struct store s = {0};
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	assert_int_equal(config_set(&c, "platform mine", "path", at("f"), &e), 0);
	assert_int_equal(config_set(&c, "platform mine", "arch", "aarch64", &e), 0);
	assert_int_equal(store_open(&c, STORE_PROMPT, &s, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.msg,
		"[platform mine] there are no defaults for this platform name, so pythons must be set too");
}

static void bad_stores_are_refused(void **state UNUSED)
{
	static const struct {
		const char *store, *platform; // below top; NULL: none
		enum err_kind kind;
	} table[] = {
		{NULL, NULL, ERR_USAGE},
		{NULL, "relative", ERR_USAGE},
		{"nowhere", NULL, ERR_NOT_FOUND},
		{"file", NULL, ERR_NOT_FOUND},
	};
	make_file("file");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(config_release) struct config c;
		CLEANUP(store_release) struct store s = {0};
		struct err e = ERR_INIT;
		config_init(&c);
		if (table[i].store)
			c.store = xstrdup(at(table[i].store));
		if (table[i].platform) {
			c.platforms = xcalloc(1, sizeof(*c.platforms));
			c.platforms[c.platform_count++].name = xstrdup(table[i].platform);
		}
		assert_int_equal(store_open(&c, STORE_PROMPT, &s, &e), -1);
		assert_int_equal(e.kind, table[i].kind);
	}
}

static void platforms_get_their_ids_once(void **state UNUSED)
{
	CLEANUP(store_release) struct store s = {0}, again = {0}, other = {0};
	CLEANUP(catalog_cleanup) struct catalog *c = NULL, *watcher = NULL;
	struct err e = ERR_INIT;
	make("d/debian-12-x86_64");
	make("other");
	open_store("d", &s);
	open_store("d", &again);
	open_store("other", &other);
	assert_int_equal(catalog_open(at("d.db"), &c, &e), 0);
	assert_int_equal(store_register(&s, c, &e), 0);
	assert_int_equal(catalog_open(at("d.db"), &watcher, &e), 0);
	assert_true(catalog_was_written(watcher));
	assert_int_equal(store_register(&again, c, &e), 0);
	assert_int_equal(s.platform[0].id, again.platform[0].id);
	assert_false(catalog_was_written(watcher));
	assert_int_equal(store_register(&other, c, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

static void files_are_opened_below_the_store_only(void **state UNUSED)
{
	static const struct {
		const char *path;
		enum err_kind kind, without_openat2; // ERR_NONE: it opens
	} table[] = {
		{"six/six.whl", ERR_NONE, ERR_NONE}, {"link.whl", ERR_NONE, ERR_DENIED},
		{"neighbour.whl", ERR_NONE, ERR_DENIED}, // another platform of the same store
		{"out.whl", ERR_DENIED, ERR_DENIED}, {"absolute.whl", ERR_DENIED, ERR_DENIED},
		{"../../secret", ERR_DENIED, ERR_DENIED}, {"dangling.whl", ERR_NOT_FOUND, ERR_DENIED},
		{"fifo.whl", ERR_NONE, ERR_NONE}, // does not wait for a writer
	};
	bool is_new = has_openat2();
	CLEANUP(store_release) struct store s = {0};
	make("e/debian-12-x86_64/six");
	make("e/debian-13-x86_64");
	make_file("secret");
	make_file("e/debian-12-x86_64/six/six.whl");
	make_file("e/debian-13-x86_64/n.whl");
	assert_int_equal(symlink("six/six.whl", at("e/debian-12-x86_64/link.whl")), 0);
	assert_int_equal(symlink("../debian-13-x86_64/n.whl", at("e/debian-12-x86_64/neighbour.whl")), 0);
	assert_int_equal(symlink("../../secret", at("e/debian-12-x86_64/out.whl")), 0);
	assert_int_equal(symlink(at("secret"), at("e/debian-12-x86_64/absolute.whl")), 0);
	assert_int_equal(symlink("nothing", at("e/debian-12-x86_64/dangling.whl")), 0);
	assert_int_equal(mkfifo(at("e/debian-12-x86_64/fifo.whl"), 0644), 0);
	open_store("e", &s);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct err e = ERR_INIT;
		enum err_kind kind = is_new ? table[i].kind : table[i].without_openat2;
		CLEANUP(place_file_close) struct place_file *file = place_open(s.platform[0].place, table[i].path, &e);
		assert_int_equal(e.kind, kind);
		assert_int_equal(file == NULL, kind != ERR_NONE);
	}
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *root = place_open_folder(s.platform[0].place, "", &e);
	assert_non_null(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(platforms_are_found_by_name),
		cmocka_unit_test(store_without_platforms_is_one),
		cmocka_unit_test(configured_platforms_are_taken),
		cmocka_unit_test(profile_is_of_the_name_or_the_keys),
		cmocka_unit_test(half_a_profile_is_refused),
		cmocka_unit_test(bad_stores_are_refused),
		cmocka_unit_test(platforms_get_their_ids_once),
		cmocka_unit_test(files_are_opened_below_the_store_only),
	};
	return cmocka_run_group_tests(tests, make_top, remove_top);
}
