// SPDX-License-Identifier: Apache-2.0
// Memberships in the store: writing them, reading them again, and what a damaged or missing file does.
#include "lib/state/views/membership.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "tests/unit/support/view-store.h"

// --- JSON ---

#define HASH "1111111111111111111111111111111111111111111111111111111111111111"
#define HEAD(number, previous)                                                                                         \
	"{\"view\": \"tested\", \"generation\": " number ", \"previous\": " previous                                   \
	", \"made\": \"2026-11-20T01:02:03Z\", \"action\": \"promote\", \"by\": \"ci\", \"address\": \"\","            \
	" \"reason\": \"\", "
#define FILE_OF(platform, project, filename, sha256)                                                                   \
	"{\"platform\": \"" platform "\", \"project\": \"" project "\", \"filename\": \"" filename                     \
	"\", \"sha256\": \"" sha256 "\"}"
#define SIX FILE_OF("debian-12-x86_64", "six", "six-1.0-py3-none-any.whl", HASH)
#define BODY(evidence, adds, removes) "\"evidence\": [" evidence "], \"adds\": [" adds "], \"removes\": [" removes "]}"
#define ONE(adds) HEAD("1", "null") BODY("", adds, "")

static void change_that_is_written_is_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	static const uint8_t evidence[2][SHA256_SIZE] = {{7}, {8}};
	CLEANUP(buf_release) struct buf one, two;
	CLEANUP(membership_release) struct membership_change again = {0};
	struct membership_change m = view_store_change(2, 3, 4);
	m.has_previous = true;
	m.previous[5] = 6;
	m.made = 1700000000;
	m.evidence = evidence;
	m.evidences = 2;
	m.reason = "d\xc3\xa9j\xc3\xa0 \"vu\"";
	buf_init(&one, 10000);
	buf_init(&two, 10000);
	membership_write(&m, &one);
	view_store_ok(membership_read(buf_view(&one), &again, &e), &e);
	membership_write(&again, &two);
	assert_string_equal(one.data, two.data);
	assert_int_equal(again.adds, 1);
	assert_int_equal(again.removes, 1);
	assert_int_equal(again.evidence[1][0], 8);
	assert_string_equal(again.reason, m.reason);
}

static void good_documents(void **state UNUSED)
{
	static const char *const good[] = {
		ONE(SIX),
		ONE(""),
		HEAD("2", "\"" HASH "\"") BODY("\"" HASH "\"", "", SIX),
		ONE(FILE_OF("debian-12-x86_64", "cffi", "cffi-1.0.2-2.tar.gz", HASH)),
	};
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct err e = ERR_INIT;
		CLEANUP(membership_release) struct membership_change m = {0};
		view_store_ok(membership_read(str_from(good[i]), &m, &e), &e);
		assert_string_equal(m.view, "tested");
	}
}

static void bad_documents(void **state UNUSED)
{
	static const struct {
		const char *text, *reason;
	} bad[] = {
		{"", "not JSON"},
		{"[]", "\"view\""},
		{"{}", "\"view\""},
		{HEAD("0", "null") BODY("", "", ""), "\"generation\""},
		{HEAD("1000000", "\"" HASH "\"") BODY("", "", ""), "\"generation\""},
		{HEAD("1", "\"" HASH "\"") BODY("", "", ""), "\"previous\""},
		{HEAD("2", "null") BODY("", "", ""), "\"previous\""},
		{HEAD("2", "\"11\"") BODY("", "", ""), "\"previous\""},
		{HEAD("1", "null") "\"adds\": [], \"removes\": []}", "\"evidence\""},
		{HEAD("1", "null") BODY("7", "", ""), "evidence[0]"},
		{HEAD("1", "null") "\"evidence\": [], \"removes\": []}", "\"adds\""},
		{ONE("7"), "adds[0]: \"platform\""},
		{ONE(FILE_OF("../up", "six", "six-1.0-py3-none-any.whl", HASH)), "no name of a platform"},
		{ONE(FILE_OF("debian-12-x86_64", "Six", "six-1.0-py3-none-any.whl", HASH)), "no normalised name"},
		{ONE(FILE_OF("debian-12-x86_64", "seven", "six-1.0-py3-none-any.whl", HASH)), "a wheel of six"},
		{ONE(FILE_OF("debian-12-x86_64", "six", "six.whl", HASH)), "adds[0]"},
		{ONE(FILE_OF("debian-12-x86_64", "six", "../six-1.0-py3-none-any.whl", HASH)), "adds[0]"},
		{ONE(FILE_OF("debian-12-x86_64", "six", "six-1.0-py3-none-any.whl", "12")), "\"sha256\""},
		{ONE(SIX "," SIX), "twice"},
		{HEAD("1", "null") BODY("", SIX, SIX), "twice"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;
		struct membership_change m;
		assert_int_equal(membership_read(str_from(bad[i].text), &m, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		if (!strstr(e.msg, bad[i].reason))
			fail_msg("%s: %s", bad[i].text, e.msg);
	}
}

// Exceeds LIMIT_MEMBERSHIP, LIMIT_MEMBERSHIP_FILES.
static void document_that_is_too_large(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct membership_change m;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_MEMBERSHIP);
	buf_puts(&text, HEAD("1", "null") "\"evidence\": [");
	for (size_t i = 0; i <= LIMIT_MEMBERSHIP_FILES; i++)
		buf_puts(&text, i ? ",\"" HASH "\"" : "\"" HASH "\"");
	buf_puts(&text, "], \"adds\": [], \"removes\": []}");
	assert_int_equal(membership_read(buf_view(&text), &m, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(membership_read((struct str){text.data, LIMIT_MEMBERSHIP + 1}, &m, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// What the reader says of a document with so many of these values in a list, below so many further lists.
static void assert_values_refused(size_t count, size_t depth, enum err_kind kind, const char *reason)
{
	struct err e = ERR_INIT;
	struct membership_change m;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_MEMBERSHIP);
	buf_puts(&text, HEAD("1", "null") "\"adds\": [], \"removes\": [], \"evidence\": ");
	for (size_t i = 0; i < depth; i++)
		buf_puts(&text, "[");
	for (size_t i = 0; i < count; i++)
		buf_puts(&text, i ? ",{}" : "{}");
	for (size_t i = 0; i < depth; i++)
		buf_puts(&text, "]");
	buf_puts(&text, "}");
	assert_int_equal(membership_read(buf_view(&text), &m, &e), -1);
	assert_int_equal(e.kind, kind);
	if (!strstr(e.msg, reason))
		fail_msg("%s", e.msg);
}

// Each value takes 230 bytes as a part of a tree.
// Exceeds LIMIT_MEMBERSHIP_VALUES.
static void document_of_too_many_values(void **state UNUSED)
{
	assert_values_refused(1000, 1, ERR_INVALID, "evidence[0]");
	assert_values_refused(LIMIT_MEMBERSHIP_VALUES, 1, ERR_LIMIT, "JSON values");
	assert_values_refused(LIMIT_MEMBERSHIP_VALUES, 10, ERR_INVALID, "nested too deeply");
}

static void names_of_files(void **state UNUSED)
{
	char name[MEMBERSHIP_NAME];
	static const char *const others[] = {"", "1.json", "000001.json.bak", "000000.json", "0000001.json",
		"00000a.json", ".000001.json", "000001"};
	membership_name(7, name);
	assert_string_equal(name, "000007.json");
	assert_int_equal(membership_number(name), 7);
	assert_int_equal(membership_number("999999.json"), 999999);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal(membership_number(others[i]), 0);
}

static void folder_of_views(void **state UNUSED)
{
	static char store[] = "/srv/wheels", views[] = "/srv/v";
	const struct {
		char *store, *views;
		const char *expected;
	} row[] = {{store, NULL, "/srv/wheels/.wheelcache-views"}, {store, views, "/srv/v"}, {NULL, views, "/srv/v"},
		{NULL, NULL, NULL}};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *folder = NULL;
		const struct config c = {.store = row[i].store, .views_path = row[i].views};
		assert_int_equal(views_folder(&c, &folder, &e), row[i].expected ? 0 : -1);
		assert_string_equal(folder ? folder : "", row[i].expected ? row[i].expected : "");
		assert_int_equal(e.kind, row[i].expected ? ERR_NONE : ERR_USAGE);
	}
}

// --- the store ---

// Wheels 1, 2 and 3; then 1 goes.
static void make_four(void)
{
	for (int i = 1; i <= 3; i++)
		assert_int_equal(view_store_append(view_store_one, i, i, 0), ERR_NONE);
	assert_int_equal(view_store_append(view_store_one, 4, 0, 1), ERR_NONE);
}

static void catalog_is_made_again_of_the_files(void **state UNUSED)
{
	view_store_assert(view_store_one, "damaged :"); // not read yet
	make_four();
	view_store_assert(view_store_one, "4 3 2 1 : 2 3");
	view_store_lose(&view_store_one);
	view_store_sync(view_store_one, "");
	view_store_assert(view_store_one, "4 3 2 1 : 2 3");
	view_store_shell("test $(ls -A tested | wc -l) = 4 && test $(stat -c %a tested/000001.json) = 644");
}

static void writer_that_is_late_decides_again(void **state UNUSED)
{
	make_four();
	assert_int_equal(view_store_append(view_store_other, 1, 1, 0), ERR_CONFLICT);
	view_store_assert(view_store_other, "4 3 2 1 : 2 3");
	assert_int_equal(view_store_append(view_store_other, 5, 5, 0), ERR_NONE);
	assert_int_equal(view_store_append(view_store_one, 5, 6, 0), ERR_CONFLICT);
	assert_int_equal(view_store_append(view_store_one, 6, 6, 0), ERR_NONE);
	view_store_assert(view_store_one, "6 5 4 3 2 1 : 2 3 5 6");
}

static void change_that_does_not_fit_is_not_written(void **state UNUSED)
{
	struct membership_change m = view_store_change(5, 5, 0);
	struct err e = ERR_INIT;
	make_four();
	m.reason = "two\nlines";
	assert_int_equal(membership_append(view_store_folder, view_store_one, &m, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_int_equal(view_store_append(view_store_one, 7, 7, 0), ERR_CONFLICT);
	view_store_shell("test $(ls -A tested | wc -l) = 4");
	view_store_assert(view_store_one, "4 3 2 1 : 2 3");
}

struct harm {
	const char *command, *report;
	const char *known; // what a catalog that knew all has then
	const char *fresh; // and a new one
};

static const struct harm harms[] = {
	{"true", "", "4 3 2 1 : 2 3", "4 3 2 1 : 2 3"},
	{"rm tested/000002.json", "tested/000002.json: it is missing\n", "damaged 4 3 2 1 : 2 3", "damaged 1 : 1"},
	{"rm tested/000001.json", "tested/000001.json: it is missing\n", "damaged 4 3 2 1 : 2 3", "damaged :"},
	{"echo '{' > tested/000004.json", "tested/000004.json: ", "damaged 4 3 2 1 : 2 3", "damaged 3 2 1 : 1 2 3"},
	{": > tested/000004.json", "tested/000004.json: ", "damaged 4 3 2 1 : 2 3", "damaged 3 2 1 : 1 2 3"},
	{"cp tested/000003.json tested/000004.json", "tested/000004.json: ", "damaged 4 3 2 1 : 2 3",
		"damaged 3 2 1 : 1 2 3"},
	{"rm tested/000004.json && ln -s 000003.json tested/000004.json",
		"tested/000004.json: ", "damaged 4 3 2 1 : 2 3", "damaged 3 2 1 : 1 2 3"},
	{"rm tested/000004.json && mkfifo tested/000004.json", "tested/000004.json: ", "damaged 4 3 2 1 : 2 3",
		"damaged 3 2 1 : 1 2 3"},
	{"rm tested/000004.json && mkdir tested/000004.json", "tested/000004.json: ", "damaged 4 3 2 1 : 2 3",
		"damaged 3 2 1 : 1 2 3"},
	{"truncate -s 100M tested/000004.json", "tested/000004.json: ", "damaged 4 3 2 1 : 2 3",
		"damaged 3 2 1 : 1 2 3"},
	{"sed -i s/promote/retain/ tested/000001.json", "tested/000001.json: it was changed after it was written",
		"damaged 4 3 2 1 : 2 3", "damaged 1 : 1"},
	{"rm tested/000002.json && mkfifo tested/000002.json", "tested/000002.json: it is no regular file\n",
		"damaged 4 3 2 1 : 2 3", "damaged 1 : 1"},
	{"cp -r tested new && rm -r tested && mv new tested && touch tested/000001.json", "", "4 3 2 1 : 2 3",
		"4 3 2 1 : 2 3"},
	{"mkfifo tested/000005.json", "tested/000005.json: ", "damaged 4 3 2 1 : 2 3", "damaged 4 3 2 1 : 2 3"},
	{"echo '{}' > tested/000006.json", "tested/000005.json: it is missing\n", "damaged 4 3 2 1 : 2 3",
		"damaged 4 3 2 1 : 2 3"},
	{"cp tested/000004.json tested/000005.json", "tested/000005.json: ", "damaged 4 3 2 1 : 2 3",
		"damaged 4 3 2 1 : 2 3"},
	{"touch tested/000005.json.bak tested/5.json tested/.000005.json && mkdir tested/x", "", "4 3 2 1 : 2 3",
		"4 3 2 1 : 2 3"},
	{"rm -r tested", "tested: its folder is missing", "damaged 4 3 2 1 : 2 3", ":"},
	{"rm tested/*", "tested/000001.json: it is missing\n", "damaged 4 3 2 1 : 2 3", ":"},
	{"mv tested else && ln -s else tested", "tested: ", "damaged 4 3 2 1 : 2 3", "damaged :"},
	// A backup with fewer generations.
	{"rm tested/000004.json", "tested: the store has other generations, 1 to 3,", "3 2 1 : 1 2 3", "3 2 1 : 1 2 3"},
};

static void sync_and_expect(struct catalog *c, const char *report)
{
	struct err e = ERR_INIT;
	struct views_sync_counts counts = {0};
	view_store_ok(views_sync_view(view_store_folder, "tested", c, NULL, NULL, &counts, &e), &e);
	assert_int_equal(counts.damaged, *report != '\0');
}

static void print_first(void *ctx, const char *path, const char *reason)
{
	buf_printf(ctx, "%s: %s\n", path, reason);
}

static void assert_harm(const struct harm *h)
{
	struct err e = ERR_INIT;
	struct views_sync_counts counts = {0};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4000);
	make_four();
	view_store_shell(h->command);
	view_store_ok(views_sync_view(view_store_folder, "tested", view_store_one, print_first, &out, &counts, &e), &e);
	if (strncmp(out.data, h->report, strlen(h->report)) != 0)
		fail_msg("%s: %s", h->command, out.data);
	assert_int_equal(counts.damaged, *h->report != '\0');
	view_store_assert(view_store_one, h->known);
	view_store_ok(views_sync_view(view_store_folder, "tested", view_store_other, NULL, NULL, &counts, &e), &e);
	view_store_assert(view_store_other, h->fresh);
}

static void damage_never_empties_a_view(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(harms); i++) {
		assert_harm(&harms[i]);
		view_store_close(state);
		view_store_open(state);
	}
}

static void damaged_view_is_mended_by_its_files(void **state UNUSED)
{
	make_four();
	view_store_shell("mv tested/000003.json .");
	sync_and_expect(view_store_one, "damage");
	sync_and_expect(view_store_other, "damage");
	assert_int_equal(view_store_append(view_store_one, 5, 5, 0), ERR_INVALID);
	view_store_assert(view_store_other, "damaged 2 1 : 1 2");
	view_store_shell("mv 000003.json tested");
	sync_and_expect(view_store_one, "");
	sync_and_expect(view_store_other, "");
	view_store_assert(view_store_one, "4 3 2 1 : 2 3");
	view_store_assert(view_store_other, "4 3 2 1 : 2 3");
}

static void backup_with_other_generations_is_read_again(void **state UNUSED)
{
	make_four();
	view_store_shell("cp -r tested ../saved");
	assert_int_equal(view_store_append(view_store_one, 5, 5, 0), ERR_NONE);
	view_store_shell("rm -r tested && mv ../saved tested");
	assert_int_equal(view_store_append(view_store_one, 6, 6, 0), ERR_CONFLICT); // decided on what is no more
	view_store_assert(view_store_one, "4 3 2 1 : 2 3");
	assert_int_equal(view_store_append(view_store_other, 1, 9, 0), ERR_CONFLICT);
	assert_int_equal(view_store_append(view_store_other, 5, 9, 0), ERR_NONE);
	view_store_sync(view_store_one, "");
	view_store_assert(view_store_one, "5 4 3 2 1 : 2 3 9");
}

static void killed_writer_leaves_nothing(void **state UNUSED)
{
	make_four();
	view_store_shell("touch -d '2 days ago' tested/.wheelcache-1-2-3-4.tmp && touch tested/.wheelcache-x");
	assert_int_equal(view_store_append(view_store_one, 5, 5, 0), ERR_NONE);
	view_store_shell("test ! -e tested/.wheelcache-1-2-3-4.tmp && test -e tested/.wheelcache-x");
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, view_store_open, view_store_close)

// Exceeds LIMIT_GENERATIONS.
static void generation_beyond_all_numbers(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct membership_change m;
	const char *document = HEAD("1000000", "\"" HASH "\"") BODY("", SIX, "");
	assert_int_equal(membership_read(str_from(document), &m, &e), -1);
	assert_string_equal(e.msg, "\"generation\" is not a number from 1 to 999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(change_that_is_written_is_read),
		cmocka_unit_test(good_documents),
		cmocka_unit_test(bad_documents),
		cmocka_unit_test(document_that_is_too_large),
		cmocka_unit_test(document_of_too_many_values),
		cmocka_unit_test(names_of_files),
		cmocka_unit_test(folder_of_views),
		WITH_STORE(catalog_is_made_again_of_the_files),
		WITH_STORE(writer_that_is_late_decides_again),
		WITH_STORE(change_that_does_not_fit_is_not_written),
		WITH_STORE(damage_never_empties_a_view),
		WITH_STORE(damaged_view_is_mended_by_its_files),
		WITH_STORE(backup_with_other_generations_is_read_again),
		WITH_STORE(killed_writer_leaves_nothing),
		cmocka_unit_test(generation_beyond_all_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
