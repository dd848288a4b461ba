// SPDX-License-Identifier: Apache-2.0
// What is inside wheels, in the catalog: there while a good file has the bytes, and found by names and symbols.
#include "tests/unit/support/two-catalogs.h"

#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/state/catalog/catalog-facts.h"

enum { FORM = 3 };

static const struct catalog_facts_name names[] = {
	{CATALOG_FACTS_NEEDS, "libc.so.6", "", ""},
	{CATALOG_FACTS_COMPONENT, "openssl", "3.0.2", "pkg:generic/openssl@3.0.2"},
	{CATALOG_FACTS_NEEDS, "libc.so.6", "", ""}, // twice
};

static uint64_t symbol_hash(const char *symbol)
{
	return name_hashes_of(str_from(symbol));
}

static void put_inside(const uint8_t *sha256, int version, const char *why, const char *facts)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	CLEANUP(name_hashes_release) struct name_hashes symbols = {0};
	uint64_t hash[] = {symbol_hash("SSL_new")};
	name_hashes_make(&symbols, hash, ARRAY_SIZE(hash));
	const struct catalog_facts inside = {version, why, str_from(facts), names, ARRAY_SIZE(names), &symbols};
	two_ok(catalog_begin(two_other, &t, &e), &e);
	two_ok(catalog_facts_put(two_other, sha256, &inside, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

// Compares what the catalog has with the facts, or with the reason why there are none.
static void assert_facts(const uint8_t *sha256, const char *facts, const char *why)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	int result = catalog_facts_get(two_other, sha256, FORM, &out, &e);
	assert_int_equal(result, facts ? 0 : -1);
	if (facts)
		assert_string_equal(out.data, facts);
	else
		assert_int_equal(e.kind, ERR_NOT_FOUND);
	if (why)
		assert_string_equal(e.msg, why);
}

static void assert_counts(uint64_t known, uint64_t unreadable, uint64_t lacking)
{
	struct err e = ERR_INIT;
	struct catalog_facts_counts counts;
	two_ok(catalog_facts_count(two_other, FORM, &counts, &e), &e);
	assert_int_equal(counts.known, known);
	assert_int_equal(counts.unreadable, unreadable);
	assert_int_equal(counts.lacking, lacking);
}

static int append_word(void *ctx, int64_t word UNUSED, const struct catalog_facts_name *name, struct err *e UNUSED)
{
	buf_printf(ctx, "%d %s %s %s;", name->kind, name->name, name->version, name->purl);
	return 0;
}

static void assert_words(const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	for (int kind = 0; kind < CATALOG_FACTS_KIND_COUNT; kind++)
		two_ok(catalog_facts_words(two_other, (enum catalog_facts_kind)kind, append_word, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

static int append_wheel(void *ctx, const struct catalog_facts_wheel *w, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %s %s %s %d;", w->platform, w->project, w->filename, w->path, w->sha256[0]);
	return 0;
}

static int append_users(void *ctx, int64_t word, const struct catalog_facts_name *name UNUSED, struct err *e)
{
	return catalog_facts_uses(two_other, word, append_wheel, ctx, e);
}

// Compares the wheels that a search for the symbol finds.
static void assert_symbol(const char *symbol, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) int64_t *id = NULL;
	CLEANUP(buf_release) struct buf out;
	size_t count;
	buf_init(&out, SIZE_MAX / 2);
	two_ok(catalog_facts_symbol(two_other, symbol_hash(symbol), &id, &count, &e), &e);
	for (size_t i = 0; i < count; i++)
		two_ok(catalog_facts_files(two_other, id[i], append_wheel, &out, &e), &e);
	assert_string_equal(out.data, expected);
}

#define ALL_WORDS "0 libc.so.6  ;2 openssl 3.0.2 pkg:generic/openssl@3.0.2;"

static void facts_are_kept_once_and_go_with_the_last_file(void **state UNUSED)
{
	put_inside(two_ones, FORM, NULL, "facts");
	assert_counts(0, 0, 0); // no file has these bytes
	two_put_new(two_other, two_root, two_ones);
	two_put_new(two_other, two_sub, two_ones); // a duplicate
	assert_counts(0, 0, 1);
	assert_facts(two_ones, NULL, "the catalog has no facts of it yet");
	put_inside(two_ones, FORM, NULL, "facts");
	assert_counts(1, 0, 0);
	assert_facts(two_ones, "facts", NULL);
	assert_words(ALL_WORDS);
	struct catalog_known file = two_look(two_root);
	assert_true(two_remove(two_other, &file));
	assert_facts(two_ones, "facts", NULL);
	file = two_look(two_sub);
	assert_true(two_remove(two_other, &file));
	assert_counts(0, 0, 0);
	assert_words("");
	assert_symbol("SSL_new", "");
}

static void other_bytes_lack_their_facts(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	put_inside(two_ones, FORM, NULL, "facts");
	two_put_new(two_other, two_root, two_twos);
	assert_counts(0, 0, 1);
	assert_words("");
	struct catalog_entry bad = two_entry(two_root, two_twos);
	bad.refusal = "junk";
	bad.mtime_ns++;
	two_put(two_other, &bad);
	assert_counts(0, 0, 0);
}

static void pruned_wheel_keeps_its_facts(void **state UNUSED)
{
	two_put_new(two_other, two_root, two_ones);
	put_inside(two_ones, FORM, NULL, "facts");
	two_mark(two_other, two_root, MARK_PRUNED, "upstream has it", 0);
	assert_facts(two_ones, "facts", NULL);
	assert_symbol("SSL_new", "");
	two_mark(two_other, two_root, MARK_PRUNED, NULL, 0);
	assert_symbol("SSL_new", "debian-12-x86_64 six six-1.0-py3-none-any.whl six-1.0-py3-none-any.whl 1;");
}

static void facts_of_another_version_are_lacking(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) int64_t *id = NULL;
	size_t count;
	bool known;
	two_put_new(two_other, two_root, two_ones);
	put_inside(two_ones, FORM - 1, NULL, "old");
	assert_counts(0, 0, 1);
	two_ok(catalog_facts_lacking(two_other, FORM, &id, &count, &e), &e);
	assert_int_equal(count, 1);
	two_ok(catalog_facts_is_known(two_other, two_ones, FORM, &known, &e), &e);
	assert_false(known);
	put_inside(two_ones, FORM, NULL, "new");
	assert_facts(two_ones, "new", NULL);
	assert_words(ALL_WORDS);
	two_ok(catalog_facts_is_known(two_other, two_ones, FORM, &known, &e), &e);
	assert_true(known);
}

static int sum_unknown(void *ctx, const char *platform, uint64_t wheels, struct err *e UNUSED)
{
	assert_string_equal(platform, "debian-12-x86_64");
	*(uint64_t *)ctx += wheels;
	return 0;
}

static void reason_takes_the_place_of_facts(void **state UNUSED)
{
	struct err e = ERR_INIT;
	uint64_t unknown = 0;
	two_put_new(two_other, two_root, two_ones);
	put_inside(two_ones, FORM, NULL, "facts");
	two_ok(catalog_facts_unknown(two_other, FORM, sum_unknown, &unknown, &e), &e);
	assert_int_equal(unknown, 0);
	put_inside(two_ones, FORM, "too large", "");
	assert_counts(0, 1, 0);
	assert_facts(two_ones, NULL, "too large");
	assert_words("");
	two_ok(catalog_facts_unknown(two_other, FORM, sum_unknown, &unknown, &e), &e);
	assert_int_equal(unknown, 1);
}

static void wheels_are_found(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	two_put_new(two_other, two_sub, two_ones);
	put_inside(two_ones, FORM, NULL, "facts");
	two_ok(catalog_facts_words(two_other, CATALOG_FACTS_NEEDS, append_users, &out, &e), &e);
	assert_string_equal(out.data, "debian-12-x86_64 six six-1.0-py3-none-any.whl b/six-1.0-py3-none-any.whl 1;");
	assert_symbol("SSL_new", out.data);
	assert_symbol("SSL_free", "");
}

static int check_listed(void *ctx, const struct catalog_facts_listed *listed, struct err *e UNUSED)
{
	++*(int *)ctx;
	assert_string_equal(listed->wheel.filename, two_six);
	assert_int_equal(listed->version, FORM);
	assert_true(str_eq(listed->packed, STR("facts")));
	return 0;
}

static int check_place(void *ctx, const struct catalog_facts_place *place, struct err *e UNUSED)
{
	++*(int *)ctx;
	assert_int_equal(place->platform, two_platform);
	assert_string_equal(place->path, two_six);
	return 0;
}

static void wheels_are_listed_with_their_facts(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) int64_t *id = NULL;
	size_t count;
	int seen = 0;
	two_put_new(two_other, two_root, two_ones);
	two_ok(catalog_facts_lacking(two_other, FORM, &id, &count, &e), &e);
	two_ok(catalog_facts_places(two_other, id[0], check_place, &seen, &e), &e);
	assert_int_equal(seen, 1);
	put_inside(two_ones, FORM, NULL, "facts");
	two_ok(catalog_facts_wheels(two_other, two_platform, NULL, NULL, check_listed, &seen, &e), &e);
	two_ok(catalog_facts_wheels(two_other, two_platform, "six", two_six, check_listed, &seen, &e), &e);
	assert_int_equal(seen, 3);
	two_ok(catalog_facts_wheels(two_other, two_platform, "seven", NULL, check_listed, &seen, &e), &e);
	assert_int_equal(seen, 3);
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(facts_are_kept_once_and_go_with_the_last_file),
		WITH_BOTH(other_bytes_lack_their_facts),
		WITH_BOTH(pruned_wheel_keeps_its_facts),
		WITH_BOTH(facts_of_another_version_are_lacking),
		WITH_BOTH(reason_takes_the_place_of_facts),
		WITH_BOTH(wheels_are_found),
		WITH_BOTH(wheels_are_listed_with_their_facts),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
