// SPDX-License-Identifier: Apache-2.0
// Facts on their way into the catalog, and what searches find of them.
#include "tests/unit/support/two-catalogs.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/state/store/facts-search.h"
#include "lib/state/store/facts-reader.h"
#include "lib/state/store/packed-facts.h"

enum { MOST_ELFS = 3 };

// A wheel by its facts, as borrowed texts.
struct made_elf {
	const char *path, *soname, *needed, *import, *export;
};
struct made_wheel {
	struct made_elf elf[MOST_ELFS];
	struct wheel_component component[MOST_ELFS];
};

static void set_elf(struct wheel_elf *out, const struct made_elf *from, struct elf_symbol symbol[2],
	const char **needed)
{
	*needed = from->needed;
	*out = (struct wheel_elf){.path = from->path};
	out->elf.soname = from->soname;
	out->elf.needed = (struct elf_list){needed, from->needed != NULL};
	out->elf.symbol = symbol;
	if (from->import)
		symbol[out->elf.symbols++] = (struct elf_symbol){.name = from->import, .is_imported = true};
	if (from->export)
		symbol[out->elf.symbols++] = (struct elf_symbol){.name = from->export};
}

static void free_reader(struct wheel_reader **r)
{
	wheel_reader_free(*r);
}

static void put_wheel(const struct made_wheel *w)
{
	struct err e = ERR_INIT;
	struct wheel_elf elf[MOST_ELFS];
	struct elf_symbol symbol[MOST_ELFS][2];
	const char *needed[MOST_ELFS];
	struct wheel_facts facts = {.elf = elf, .component = (struct wheel_component *)(uintptr_t)w->component};
	CLEANUP(packed_facts_release) struct packed_facts taken = {0};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	for (; facts.elfs < MOST_ELFS && w->elf[facts.elfs].path; facts.elfs++)
		set_elf(&elf[facts.elfs], &w->elf[facts.elfs], symbol[facts.elfs], &needed[facts.elfs]);
	while (facts.components < MOST_ELFS && w->component[facts.components].name)
		facts.components++;
	CLEANUP(free_reader) struct wheel_reader *reader = wheel_reader_new();
	packed_facts_pack(reader, &facts, &taken);
	assert_null(taken.why);
	two_put_new(two_other, two_root, two_ones);
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(packed_facts_put(&taken, two_other, two_ones, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

// Compares "NAME VERSION USE" of each hit; "?" stands before unknown ones.
static void assert_found(enum facts_search_kind kind, const char *pattern, const char *compare, const char *version,
	const char *expected)
{
	struct err e = ERR_INIT;
	const struct facts_search search = {.kind = kind, .pattern = pattern, .compare = compare, .version = version};
	CLEANUP(inside_result_release) struct inside_result result = {0};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	two_ok(facts_search(two_other, &search, &result, &e), &e);
	for (size_t i = 0; i < result.hits; i++) {
		const struct inside_hit *hit = &result.hit[i];
		assert_string_equal(hit->filename, two_six);
		buf_printf(&out, "%s%s%s%s%s%s;", hit->is_unknown ? "?" : "", hit->name, hit->version ? " " : "",
			hit->version ? hit->version : "", hit->use ? " " : "", hit->use ? hit->use : "");
	}
	if (strcmp(out.data, expected) != 0)
		fail_msg("%s: %s, not %s", pattern, out.data, expected);
}

static void assert_bundles(const char *library, const char *compare, const char *version, const char *expected)
{
	assert_found(FACTS_SEARCH_BUNDLES, library, compare, version, expected);
}

static void needed_libraries_are_those_outside(void **state UNUSED)
{
	put_wheel(&(struct made_wheel){
		.elf = {
			{"six/_s.so", NULL, "libfoo-01234567.so.1", NULL, NULL},
			{"six.libs/libfoo-01234567.so.1", "libfoo-01234567.so.1", "libc.so.6", NULL, NULL},
		}});
	assert_found(FACTS_SEARCH_NEEDS, "*", NULL, NULL, "libc.so.6;");
	assert_found(FACTS_SEARCH_NEEDS, "libc.so.?", NULL, NULL, "libc.so.6;");
	assert_found(FACTS_SEARCH_NEEDS, "libc", NULL, NULL, "");
}

static void symbols_are_those_of_the_boundary(void **state UNUSED)
{
	put_wheel(&(struct made_wheel){.elf = {
					       {"six/_s.so", NULL, NULL, "foo_new", "PyInit__s"},
					       {"six.libs/libfoo.so.1", "libfoo.so.1", NULL, "malloc", "foo_new"},
				       }});
	assert_found(FACTS_SEARCH_SYMBOL, "foo_new", NULL, NULL, "foo_new exported;");
	assert_found(FACTS_SEARCH_SYMBOL, "malloc", NULL, NULL, "malloc imported;");
	assert_found(FACTS_SEARCH_SYMBOL, "free", NULL, NULL, "");
}

static void version_of_a_library_is_its_components(void **state UNUSED)
{
	put_wheel(&(struct made_wheel){
		.elf = {{"six.libs/libssl-01234567.so.3", "libssl-01234567.so.3", NULL, NULL, NULL}},
		.component = {{"s", "openssl-libs", "3.0.2-7.el9", "pkg:rpm/almalinux/openssl-libs@3.0.2-7.el9"},
			{"s", "openssl", "0.10.81", "pkg:cargo/openssl@0.10.81"}}});
	assert_bundles("openssl", NULL, NULL, "openssl-libs 3.0.2-7.el9;");
	assert_bundles("openssl", "<", "3.0.15", "openssl-libs 3.0.2-7.el9;");
	assert_bundles("openssl", "<", "3.0.2", "");
	assert_bundles("openssl", "<=", "3.0.2", "openssl-libs 3.0.2-7.el9;");
	assert_bundles("openssl", "==", "3.0.2-7.el9", "openssl-libs 3.0.2-7.el9;");
	assert_bundles("openssl", ">=", "3.0.2-8.el9", "");
	assert_bundles("openssl", ">", "1.1.1w", "openssl-libs 3.0.2-7.el9;");
	assert_bundles("libssl", "<", "3.0.15", "openssl-libs 3.0.2-7.el9;");
	assert_bundles("libcrypto", "<", "3.0.15", "");
	assert_found(FACTS_SEARCH_SBOM, "pkg:cargo/openssl", NULL, NULL, "openssl 0.10.81;");
	assert_found(FACTS_SEARCH_SBOM, "pkg:cargo/openssl@0.10.81", NULL, NULL, "openssl 0.10.81;");
	assert_found(FACTS_SEARCH_SBOM, "pkg:cargo/open", NULL, NULL, "");
	assert_found(FACTS_SEARCH_SBOM, "pkg:*/openssl*@*", NULL, NULL, "openssl 0.10.81;openssl-libs 3.0.2-7.el9;");
}

static void library_without_version_is_apart(void **state UNUSED)
{
	put_wheel(&(struct made_wheel){
		.elf = {{"six.libs/libssl-01234567.so.1.1", "libssl-01234567.so.1.1", NULL, NULL, NULL},
			{"six/lib/libcrypto.so.1.1", "libcrypto.so.1.1", NULL, NULL, NULL},
			{"six/libnothing.so", NULL, NULL, NULL, NULL}},
		.component = {{"s", "zlib", "1.3", "pkg:apk/alpine/zlib@1.3-r2"}}});
	assert_bundles("openssl", "<", "3.0.15", "?libcrypto.so.1.1;?libssl.so.1.1;");
	assert_bundles("openssl", NULL, NULL, "libcrypto.so.1.1;libssl.so.1.1;");
	assert_bundles("*nothing*", NULL, NULL, "");
	assert_bundles("*", "<", "1.3", "?libcrypto.so.1.1;?libssl.so.1.1;");
}

// One of two files with one stem may be another version than the component's.
static void second_copy_stays_unknown(void **state UNUSED)
{
	put_wheel(&(struct made_wheel){
		.elf = {{"six.libs/libz-01234567.so.1.2.7", "libz-01234567.so.1.2.7", NULL, NULL, NULL},
			{"six.libs/libz-76543210.so.1.3", "libz-76543210.so.1.3", NULL, NULL, NULL}},
		.component = {{"s", "zlib", "1.2.7", "pkg:rpm/centos/zlib@1.2.7"}}});
	assert_bundles("zlib", "<", "1.2", "?libz.so.1.2.7;?libz.so.1.3;");
	assert_bundles("zlib", "<", "1.3", "zlib 1.2.7;?libz.so.1.2.7;?libz.so.1.3;");
}

static void facts_come_back(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	put_wheel(&(struct made_wheel){.elf = {{"six/_s.so", "_s.so", "libc.so.6", "malloc", NULL}}});
	two_ok(facts_reader_get(two_other, two_ones, &facts, &e), &e);
	assert_int_equal(facts.elfs, 1);
	assert_string_equal(facts.elf[0].elf.needed.item[0], "libc.so.6");
	CLEANUP(wheel_facts_release) struct wheel_facts none = {0};
	assert_int_equal(facts_reader_get(two_other, two_twos, &none, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

// The facts have them all.
// Exceeds LIMIT_INSIDE_NAMES, LIMIT_INSIDE_NAME.
static void names_beyond_the_limits_are_not_found(void **state UNUSED)
{
	CLEANUP(packed_facts_release) struct packed_facts taken = {0};
	size_t count = LIMIT_INSIDE_NAMES + 1;
	CLEANUP(mem_free) struct wheel_component *c = xcalloc(count, sizeof(*c));
	CLEANUP(mem_free) char *names = xcalloc(count, 8), *large = xcalloc(LIMIT_INSIDE_NAME + 2, 1);
	memset(large, 'x', LIMIT_INSIDE_NAME + 1);
	for (size_t i = 0; i < count; i++) {
		snprintf(names + 8 * i, 8, "c%zu", i);
		c[i] = (struct wheel_component){"s", i ? names + 8 * i : large, NULL, NULL};
	}
	CLEANUP(free_reader) struct wheel_reader *reader = wheel_reader_new();
	packed_facts_pack(reader, &(struct wheel_facts){.component = c, .components = count}, &taken);
	assert_int_equal(taken.names, LIMIT_INSIDE_NAMES);
	for (size_t i = 0; i < taken.names; i++)
		assert_string_not_equal(taken.name[i].name, large);
}

static void wheel_without_facts_is_counted(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(inside_result_release) struct inside_result result = {0};
	two_put_new(two_other, two_root, two_ones);
	two_ok(facts_search(two_other, &(struct facts_search){.pattern = "*"}, &result, &e), &e);
	assert_int_equal(result.hits, 0);
	assert_int_equal(result.blinds, 1);
	assert_int_equal(result.blind[0].wheels, 1);
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(needed_libraries_are_those_outside),
		WITH_BOTH(symbols_are_those_of_the_boundary),
		WITH_BOTH(version_of_a_library_is_its_components),
		WITH_BOTH(library_without_version_is_apart),
		WITH_BOTH(second_copy_stays_unknown),
		WITH_BOTH(facts_come_back),
		WITH_BOTH(wheel_without_facts_is_counted),
		cmocka_unit_test(names_beyond_the_limits_are_not_found),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
