// SPDX-License-Identifier: Apache-2.0
// Evidence in the store: a record is written once, and the catalog is made again of the files.
#include "lib/state/views/evidence-file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/os/clock.h"
#include "tests/unit/support/view-store.h"

static const struct evidence_wheel wheels[] = {
	{.filename = "six-1.0-py3-none-any.whl", .sha256 = {1}},
	{.filename = "six-2.0-py3-none-any.whl", .sha256 = {2}},
};

static struct evidence record_of(uint64_t failed)
{
	return (struct evidence){.kind = "unit",
		.platform = "debian-12-x86_64",
		.python = "3.11",
		.made = 1700000000,
		.passed = 10,
		.failed = failed,
		.wheel = wheels,
		.wheels = ARRAY_SIZE(wheels)};
}

static int add_record(struct catalog *c, uint64_t failed, struct catalog_evidence *note)
{
	struct err e = ERR_INIT;
	struct evidence r = record_of(failed);
	*note = (struct catalog_evidence){.by = "token ci", .address = "127.0.0.1", .views = "nightly tested"};
	int added = evidence_file_add(view_store_folder, c, &r, note, &e);
	view_store_ok(added, &e);
	return added;
}

static int print_record(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	assert_string_equal(r->by, "token ci");
	assert_string_equal(r->views, "nightly tested");
	assert_string_equal(r->address, "127.0.0.1");
	assert_int_equal(r->made, 1700000000);
	assert_int_equal(r->wheels, 2);
	buf_printf(ctx, "%llu at %lld;", (unsigned long long)r->failed, (long long)r->order);
	return 0;
}

// What the catalog says about the wheel of this number.
static char *list_of(struct catalog *c, uint8_t wheel)
{
	struct err e = ERR_INIT;
	const uint8_t sha256[SHA256_SIZE] = {wheel};
	struct buf out;
	buf_init(&out, 4000);
	view_store_ok(catalog_evidence_of(c, &(struct catalog_tested){.project = "six", .sha256 = sha256}, 100, print_record, &out, &e), &e);
	return buf_steal(&out);
}

static void print_damage(void *ctx, const char *path, const char *reason)
{
	buf_printf(ctx, "%s: %s\n", path, reason);
}

// What a sync of the whole folder reports.
static char *sync_all(struct catalog *c, uint64_t new)
{
	struct err e = ERR_INIT;
	struct views_sync_counts counts;
	struct buf out;
	buf_init(&out, 4000);
	view_store_ok(views_sync(view_store_folder, c, print_damage, &out, &counts, &e), &e);
	assert_int_equal(counts.evidence, new);
	assert_int_equal(counts.damaged > 0, out.len > 0);
	return buf_steal(&out);
}

static void assert_sync(struct catalog *c, uint64_t new, const char *expected)
{
	CLEANUP(mem_free) char *said = sync_all(c, new);
	if (*expected ? !strstr(said, expected) : *said != '\0')
		fail_msg("%s", said);
}

static void record_is_written_once(void **state UNUSED)
{
	struct catalog_evidence one, again, other;
	int64_t before = clock_wall_ns();
	assert_int_equal(add_record(view_store_one, 0, &one), 1);
	assert_true(one.order >= before && one.order <= clock_wall_ns());
	assert_int_equal(one.received, one.order / 1000000000);
	assert_int_equal(one.passed, 10);
	assert_int_equal(add_record(view_store_one, 0, &again), 0);
	assert_int_equal(again.order, one.order);
	assert_int_equal(add_record(view_store_other, 0, &again), 0); // another host
	assert_int_equal(again.order, one.order);
	assert_int_equal(add_record(view_store_one, 3, &other), 1);
	assert_true(other.order > one.order);
	CLEANUP(mem_free)
	char *expected = xasprintf("3 at %lld;0 at %lld;", (long long)other.order, (long long)one.order);
	CLEANUP(mem_free) char *list = list_of(view_store_one, 2);
	assert_string_equal(list, expected);
	view_store_shell(
		"test $(find evidence -type f | wc -l) = 2 && test -z \"$(find evidence -type f ! -perm 644)\"");
}

// The server's clock is behind, or was ahead: the sender is not to blame.
static void record_that_came_in_the_future_is_told_of(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const int64_t day = (int64_t)86400 * 1000000000;
	struct evidence r = record_of(5);
	struct catalog_evidence note = {.by = "ci", .address = "", .views = "*"};
	const struct catalog_tested wheel = {.project = "six", .sha256 = wheels[0].sha256};
	struct catalog_evidence future = {.id = {9}, .kind = "unit", .platform = "a", .python = "3.11", .by = "ci",
		.address = "", .views = "*", .order = clock_wall_ns() + 2 * day, .wheels = 1};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	view_store_ok(catalog_begin(view_store_one, &t, &e), &e);
	view_store_ok(catalog_evidence_put(view_store_one, &future, &wheel, STR(""), &e), &e);
	view_store_ok(catalog_commit(&t, &e), &e);
	assert_int_equal(evidence_file_add(view_store_folder, view_store_one, &r, &note, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	char newest[CLOCK_TEXT], now[CLOCK_TEXT];
	clock_write(future.order / 1000000000, newest);
	clock_write(clock_wall_seconds(), now);
	assert_non_null(strstr(e.msg, newest));
	now[strlen("2026-01-02T03")] = '\0'; // the clock goes on
	assert_non_null(strstr(e.msg, now));
	assert_non_null(strstr(e.msg, "set the clock, or, if it was ahead once, run wheelcache view repair"));
	view_store_shell("test ! -e evidence");
}

static int add_for(struct catalog *c, uint64_t failed, const char *views, struct catalog_evidence *note)
{
	struct err e = ERR_INIT;
	struct evidence r = record_of(failed);
	*note = (struct catalog_evidence){.by = "another", .address = "", .views = views};
	int added = evidence_file_add(view_store_folder, c, &r, note, &e);
	view_store_ok(added, &e);
	return added;
}

static int note_failed(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	*(uint64_t *)ctx = r->failed;
	return 0;
}

// What the newest record for the view says; 9: there is none.
static uint64_t newest_for(struct catalog *c, const char *view)
{
	struct err e = ERR_INIT;
	uint64_t failed = 9;
	const struct catalog_tested wheel = {.project = "six", .sha256 = wheels[0].sha256};
	view_store_ok(catalog_evidence_newest(c, view, "unit", "debian-12-x86_64", "3.11", &wheel, note_failed, &failed,
			      &e),
		&e);
	return failed;
}

// Who sends a record first does not decide for which views it counts. It does not become newer by that.
static void record_of_two_tokens_counts_for_the_views_of_both(void **state UNUSED)
{
	struct catalog_evidence one, red, wide, again;
	assert_int_equal(add_for(view_store_one, 0, "nightly-* tested", &one), 1);
	assert_int_equal(add_for(view_store_one, 0, "tested", &again), 0);
	assert_int_equal(newest_for(view_store_one, "released"), 9);
	assert_int_equal(add_for(view_store_other, 0, "*", &wide), 1); // another host
	assert_int_equal(wide.order, one.order);
	assert_memory_not_equal(wide.id, one.id, SHA256_SIZE);
	assert_int_equal(newest_for(view_store_other, "released"), 0);
	add_for(view_store_one, 0, "*", &again); // the same bytes
	assert_memory_equal(again.id, wide.id, SHA256_SIZE);
	assert_int_equal(add_for(view_store_one, 0, "*", &again), 0);
	assert_int_equal(add_for(view_store_one, 3, "released", &red), 1);
	assert_int_equal(add_for(view_store_one, 0, "released", &again), 1);
	assert_int_equal(newest_for(view_store_one, "released"), 3);
	view_store_shell("test $(find evidence -type f | wc -l) = 4");
	view_store_lose(&view_store_one);
	assert_sync(view_store_one, 4, "");
	assert_int_equal(newest_for(view_store_one, "released"), 3);
	assert_int_equal(newest_for(view_store_one, "nightly-1"), 0);
	assert_int_equal(newest_for(view_store_one, "other"), 0);
}

static void catalog_is_made_again_of_the_files(void **state UNUSED)
{
	struct catalog_evidence note;
	add_record(view_store_one, 0, &note);
	add_record(view_store_one, 1, &note);
	CLEANUP(mem_free) char *before = list_of(view_store_one, 1);
	assert_sync(view_store_one, 0, "");
	view_store_lose(&view_store_one);
	assert_sync(view_store_one, 2, "");
	assert_sync(view_store_one, 0, "");
	CLEANUP(mem_free) char *after = list_of(view_store_one, 1);
	assert_string_equal(before, after);
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	buf_init(&text, 10000);
	view_store_ok(catalog_evidence_get(view_store_one, note.id, &text, &e), &e);
	view_store_ok(evidence_file_read(buf_view(&text), &f, &e), &e);
	assert_memory_equal(f.row.id, note.id, SHA256_SIZE);
	assert_int_equal(f.row.order, note.order);
}

// Sets the time at which the only record came, from now on.
static void set_received(const char *later)
{
	CLEANUP(mem_free)
	char *command = xasprintf("f=$(find evidence -name '*.json') && t=$(date -u -d '%s' +%%FT%%T) && "
				  "sed -i \"s/\\(\\\"received\\\": *\\\"\\)[^.]*/\\1$t/\" $f",
		later);
	view_store_shell(command);
}

// A record behind the end of the range of times would keep each later one from being noted.
static void record_of_the_far_future_is_damaged(void **state UNUSED)
{
	static const char *const times[] = {"25 hours", "2200-01-01", "2262-04-11 23:47:15"};
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct catalog_evidence one, two;
		assert_int_equal(add_record(view_store_one, 0, &one), 1);
		set_received(times[i]);
		assert_sync(view_store_other, 0, "more than a day after this machine's clock");
		assert_int_equal(add_record(view_store_other, 1, &two), 1);
		assert_true(two.order <= clock_wall_ns());
		view_store_close(NULL);
		view_store_open(NULL);
	}
}

static void newer_record_is_later_whatever_the_clock(void **state UNUSED)
{
	struct catalog_evidence one, two;
	assert_int_equal(add_record(view_store_one, 0, &one), 1);
	// A time in the future, as of a clock that was set back since.
	set_received("23 hours");
	view_store_lose(&view_store_one);
	assert_sync(view_store_one, 1, "");
	assert_int_equal(add_record(view_store_one, 1, &two), 1);
	CLEANUP(mem_free) char *list = list_of(view_store_one, 1);
	assert_int_equal(list[0], '1');
	assert_true(two.order > one.order);
}

static void damaged_records_count_for_nothing(void **state UNUSED)
{
	static const struct {
		const char *command, *report;
	} row[] = {
		{"echo { > $f", "not JSON"},
		{": > $f", "not JSON"},
		{"sed -i 's/\"passed\": *10/\"passed\":11/' $f", "not the record that its name says"},
		{"sed -i 's/\"received\": *\"2/\"received\":\"x/' $f", "\"received\""},
		{"sed -i 's/\"by\"/\"bye\"/' $f", "\"by\""},
		{"truncate -s 100M $f", "more than"},
		{"rm $f && mkfifo $f", "no regular file"},
		{"mv $f x && ln -s ../../x $f", "no regular file"},
		{"cp $f $(dirname $f)/$(basename $f .json).json.bak && touch evidence/zz evidence/0", ""},
		{"d=$(dirname $f) && mv $d other && ln -s ../other $d", "evidence/"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct catalog_evidence note;
		add_record(view_store_one, 0, &note);
		CLEANUP(mem_free)
		char *command = xasprintf("f=$(find evidence -name '*.json') && %s", row[i].command);
		view_store_shell(command);
		assert_sync(view_store_other, *row[i].report ? 0 : 1, row[i].report);
		CLEANUP(mem_free) char *list = list_of(view_store_other, 1);
		assert_int_equal(*list == '\0', *row[i].report != '\0');
		view_store_close(NULL);
		view_store_open(NULL);
	}
}

// Exceeds LIMIT_EVIDENCE_VALUES.
static void record_of_too_many_values(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct evidence_file f;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_EVIDENCE);
	buf_puts(&text, "{\"record\": {\"wheels\": [{}");
	for (size_t i = 0; i < LIMIT_EVIDENCE_VALUES; i++)
		buf_puts(&text, ",{}");
	buf_puts(&text, "]}}");
	assert_int_equal(evidence_file_read(buf_view(&text), &f, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_non_null(strstr(e.msg, "JSON values"));
}

// A leftover whose owner may live keeps its folder from being skipped.
static void killed_writer_leaves_nothing(void **state UNUSED)
{
	struct catalog_evidence note;
	add_record(view_store_one, 0, &note);
	view_store_shell("for d in evidence/*; do touch $d/.wheelcache-1-2-3-4.tmp; touch -d 2020-01-01 $d; done");
	assert_sync(view_store_one, 0, "");
	view_store_shell("for d in evidence/*; do touch -d '2 days ago' $d/.wheelcache-1-2-3-4.tmp; done");
	assert_sync(view_store_one, 0, "");
	view_store_shell("test -z \"$(find evidence -name '.*')\"");
	view_store_shell("touch -d 2020-01-01 evidence/*");
	assert_sync(view_store_one, 0, "");
	view_store_shell("for d in evidence/*; do rm $d/*; touch -d 2020-01-01 $d; done"); // it is skipped
	assert_sync(view_store_one, 0, "");
	view_store_shell("touch evidence/*");
	assert_sync(view_store_one, 0, "the record is forgotten");
}

static void missing_record_is_forgotten_once(void **state UNUSED)
{
	struct catalog_evidence note;
	add_record(view_store_one, 0, &note);
	view_store_shell("rm evidence/*/*.json");
	assert_sync(view_store_one, 0, "the record is forgotten");
	assert_sync(view_store_one, 0, "");
	CLEANUP(mem_free) char *list = list_of(view_store_one, 1);
	assert_string_equal(list, "");
}

static void folder_that_is_away_loses_nothing(void **state UNUSED)
{
	struct catalog_evidence note;
	add_record(view_store_one, 0, &note);
	assert_int_equal(view_store_append(view_store_one, 1, 1, 0), ERR_NONE);
	view_store_shell("mkdir ../away && mv * ../away");
	assert_sync(view_store_one, 0, "evidence: ");
	CLEANUP(mem_free) char *list = list_of(view_store_one, 1);
	assert_string_not_equal(list, "");
	view_store_assert(view_store_one, "damaged 1 : 1");
	view_store_shell("mv ../away/* .");
	assert_sync(view_store_one, 0, "");
	view_store_assert(view_store_one, "1 : 1");
}

static void whole_folder_is_read(void **state UNUSED)
{
	struct catalog_evidence note;
	assert_sync(view_store_other, 0, ""); // there is none
	view_store_assert(view_store_other, ":");
	add_record(view_store_one, 0, &note);
	assert_int_equal(view_store_append(view_store_one, 1, 1, 0), ERR_NONE);
	view_store_shell("mkdir nightly 'a b' .x && touch file");
	assert_sync(view_store_other, 1, "");
	view_store_assert(view_store_other, "1 : 1");
	view_store_shell("rm tested/*");
	assert_sync(view_store_other, 0, "tested/000001.json: it is missing");
}

// Exceeds LIMIT_VIEW_FOLDERS.
static void folders_without_number_are_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct views_sync_counts counts;
	struct catalog_evidence note;
	add_record(view_store_one, 0, &note);
	CLEANUP(mem_free) char *command = xasprintf("mkdir $(seq -f v%%g %d)", LIMIT_VIEW_FOLDERS);
	view_store_shell(command);
	assert_sync(view_store_other, 1, "");
	view_store_shell("mkdir more");
	assert_int_equal(views_sync(view_store_folder, view_store_other, NULL, NULL, &counts, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

static void view_that_was_never_whole_stays_unknown(void **state UNUSED)
{
	assert_int_equal(view_store_append(view_store_one, 1, 1, 0), ERR_NONE);
	view_store_shell("echo > tested/000001.json");
	assert_sync(view_store_other, 0, "tested/000001.json: ");
	view_store_assert(view_store_other, "damaged :");
	assert_sync(view_store_other, 0, "tested/000001.json: ");
	view_store_assert(view_store_other, "damaged :");
}

// Exceeds LIMIT_EVIDENCE_VIEWS.
static void record_that_is_not_valid_is_not_written(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct evidence r = record_of(0);
	struct catalog_evidence note = {.by = "two\nlines", .address = "", .views = "*"};
	assert_int_equal(evidence_file_add(view_store_folder, view_store_one, &r, &note, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	note.by = "one";
	r.kind = "Not A Kind";
	assert_int_equal(evidence_file_add(view_store_folder, view_store_one, &r, &note, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	r.kind = "unit";
	CLEANUP(buf_release) struct buf views;
	buf_init(&views, LIMIT_EVIDENCE);
	while (views.len <= LIMIT_EVIDENCE_VIEWS)
		buf_puts(&views, "nightly ");
	note.views = views.data;
	assert_int_equal(evidence_file_add(view_store_folder, view_store_one, &r, &note, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	view_store_shell("test -z \"$(find . -name '*.json')\"");
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, view_store_open, view_store_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(record_is_written_once),
		WITH_STORE(record_that_came_in_the_future_is_told_of),
		WITH_STORE(record_of_two_tokens_counts_for_the_views_of_both),
		WITH_STORE(catalog_is_made_again_of_the_files),
		WITH_STORE(newer_record_is_later_whatever_the_clock),
		WITH_STORE(record_of_the_far_future_is_damaged),
		WITH_STORE(damaged_records_count_for_nothing),
		cmocka_unit_test(record_of_too_many_values),
		WITH_STORE(killed_writer_leaves_nothing),
		WITH_STORE(missing_record_is_forgotten_once),
		WITH_STORE(folder_that_is_away_loses_nothing),
		WITH_STORE(whole_folder_is_read),
		WITH_STORE(folders_without_number_are_refused),
		WITH_STORE(view_that_was_never_whole_stays_unknown),
		WITH_STORE(record_that_is_not_valid_is_not_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
