// SPDX-License-Identifier: Apache-2.0
// The table of a file's columns against the schema, and each column from the write to every struct that has it.
#include <string.h>

#include <sqlite3.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-row.h"
#include "lib/state/catalog/file-columns.h"
#include "tests/unit/support/two-catalogs.h"

// What the statements select and set by themselves: where a file is, and why it is not listed.
#define NAME_OF(name, ...) #name,
static const char *const columns[] = {"filename", "project", "reason", FILE_COLUMNS(NAME_OF)};

// Each column that is written has a value of its own.
static struct {
	unsigned count;
	uint8_t sha256[8][SHA256_SIZE];
} values;

static const uint8_t *next_sha256(void)
{
	uint8_t *sha256 = values.sha256[values.count % 8];
	memset(sha256, (int)++values.count, SHA256_SIZE);
	return sha256;
}

#define FILL_FLAG(name) true
#define FILL_INT(name) ++values.count
#define FILL_SIZE(name) ++values.count
#define FILL_COUNT(name) ++values.count
#define FILL_SHA256(name) next_sha256()
#define FILL_TEXT(name) #name
#define FILL_SPECIFIER(name) #name
#define FILL_BYTES(name) STR(#name)
#define FILL(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##put(entry.name = FILL_##kind(name);)

static struct catalog_entry full_entry(void)
{
	struct catalog_entry entry = {.platform = two_platform,
		.folder = two_root,
		.folder_path = "",
		.filename = two_six,
		.project = "six",
		.metadata_packed = STR("packed")};
	values.count = 0;
	FILE_COLUMNS(FILL)
	return entry;
}

#define SAME_INT(a, b) assert_int_equal(a, b)
#define SAME_SIZE(a, b) assert_int_equal(a, b)
#define SAME_FLAG(a, b) assert_int_equal(a, b)
#define SAME_COUNT(a, b) assert_int_equal(a, b)
#define SAME_TEXT(a, b) assert_string_equal(a, b)
#define SAME_SPECIFIER(a, b) assert_string_equal(a, b)
#define SAME_REASON(a, b) assert_string_equal(a, b)
#define SAME_BYTES(a, b) assert_true(str_eq(a, b))
#define SAME_SHA256(a, b) assert_memory_equal(a, b, SHA256_SIZE)
#define SAME(name, kind) SAME_##kind(file->name, entry->name);

// A column that a struct has and that is written is in the struct as it was written.
#define SAME_IF_0_0(name, kind)
#define SAME_IF_0_1(name, kind)
#define SAME_IF_0_GOOD(name, kind)
#define SAME_IF_1_0(name, kind)
#define SAME_IF_1_1(name, kind) SAME(name, kind)
#define SAME_IF_1_GOOD(name, kind) SAME(name, kind)
#define SAME_PAGE(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##page##_##put(name, kind)
#define SAME_SCAN(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##scan##_##put(name, kind)
#define SAME_PRUNE(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##prune##_##put(name, kind)
#define SAME_MARK(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##mark##_##put(name, kind)
#define SAME_WHY(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##why##_##put(name, kind)
#define SAME_COPY(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##copy##_##put(name, kind)
#define SAME_CHECK(name, kind, page, scan, prune, mark, why, copy, check, put) SAME_IF_##check##_##put(name, kind)

struct seen {
	const struct catalog_entry *entry;
	unsigned files;
	struct arena text;
	struct catalog_file file;
	struct catalog_candidate candidate;
};

static void compare_page(const struct catalog_file *file, const struct catalog_entry *entry)
{
	FILE_COLUMNS(SAME_PAGE)
	assert_string_equal(file->filename, entry->filename);
	assert_int_equal(file->platform, entry->platform);
	assert_string_equal(file->yanked, "broken");
}

static int see_page(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	compare_page(file, s->entry);
	s->file = *file;
	catalog_file_copy(&s->text, &s->file);
	s->files++;
	return 0;
}

static int see_scan(void *ctx, const struct catalog_known *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	const struct catalog_entry *entry = s->entry;
	FILE_COLUMNS(SAME_SCAN)
	assert_string_equal(file->filename, entry->filename);
	assert_true(file->id > 0 && file->written > 0);
	assert_int_equal(file->state, FILE_IS_LISTED);
	s->files++;
	return 0;
}

static void compare_candidate(const struct catalog_candidate *file, const struct catalog_entry *entry)
{
	FILE_COLUMNS(SAME_PRUNE)
	assert_string_equal(file->filename, entry->filename);
	assert_string_equal(file->path, entry->filename);
	assert_int_equal(file->platform, entry->platform);
	assert_null(file->refusal);
}

static int see_candidate(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	compare_candidate(file, s->entry);
	s->candidate = *file;
	catalog_candidate_copy(&s->text, &s->candidate);
	s->files++;
	return 0;
}

static int see_mark(void *ctx, const struct catalog_marked *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	const struct catalog_entry *entry = s->entry;
	FILE_COLUMNS(SAME_MARK)
	assert_string_equal(file->project, entry->project);
	assert_true(file->has_file);
	s->files++;
	return 0;
}

static int see_history(void *ctx, const struct catalog_history *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	const struct catalog_entry *entry = s->entry;
	FILE_COLUMNS(SAME_WHY)
	assert_string_equal(file->filename, entry->filename);
	assert_string_equal(file->yanked, "broken");
	s->files++;
	return 0;
}

static int see_copy(void *ctx, const struct catalog_copy *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	const struct catalog_entry *entry = s->entry;
	FILE_COLUMNS(SAME_COPY)
	assert_int_equal(file->folder, entry->folder);
	assert_string_equal(file->folder_path, "");
	s->files++;
	return 0;
}

static int see_good(void *ctx, const struct catalog_good *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	const struct catalog_entry *entry = s->entry;
	FILE_COLUMNS(SAME_CHECK)
	assert_int_equal(file->platform, entry->platform);
	assert_string_equal(file->project, entry->project);
	s->files++;
	return 0;
}

static void every_struct_has_what_was_written(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct catalog_entry entry = full_entry();
	struct seen s = {.entry = &entry};
	two_put(two_scan, &entry);
	two_mark(two_scan, two_root, MARK_YANKED, "broken", 0);
	two_ok(catalog_project_files(two_other, two_platform, "six", see_page, &s, &e), &e);
	two_ok(catalog_folder_files(two_other, two_root, see_scan, &s, &e), &e);
	two_ok(catalog_candidates(two_other, two_platform, "six", see_candidate, &s, &e), &e);
	two_ok(catalog_marks(two_other, two_platform, MARK_YANKED, see_mark, &s, &e), &e);
	two_ok(catalog_histories(two_other, "six", see_history, &s, &e), &e);
	two_ok(catalog_file_copies(two_other, two_platform, two_six, see_copy, &s, &e), &e);
	two_ok(catalog_good_files(two_other, see_good, &s, &e), &e);
	assert_int_equal(s.files, 7);
	compare_page(&s.file, &entry); // what was copied is still there
	compare_candidate(&s.candidate, &entry);
	arena_release(&s.text);
}

static int see_refused(void *ctx, const struct catalog_candidate *file, struct err *e UNUSED)
{
	struct seen *s = ctx;
	assert_string_equal(file->refusal, "damaged");
	assert_int_equal(file->size, s->entry->size);
	assert_memory_equal(file->sha256, s->entry->sha256, SHA256_SIZE);
	assert_null(file->version);
	assert_null(file->requires_python);
	s->files++;
	return 0;
}

static void refused_file_has_no_facts_of_a_good_one(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog_entry entry = full_entry();
	struct seen s = {.entry = &entry};
	two_put(two_scan, &entry);
	entry.refusal = "damaged";
	entry.mtime_ns++;
	two_put(two_scan, &entry);
	two_ok(catalog_quarantined_files(two_other, see_refused, &s, &e), &e);
	assert_int_equal(s.files, 1);
}

static bool has_column(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (strcmp(columns[i], name) == 0)
			return true;
	return false;
}

// The rows of one text column.
static size_t query_names(const char *sql, bool (*is_right)(const char *))
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	size_t count = 0;
	assert_int_equal(sqlite3_open_v2(catalog_path(two_scan), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	for (; sqlite3_step(stmt) == SQLITE_ROW; count++) {
		const char *name = (const char *)sqlite3_column_text(stmt, 0);
		if (!is_right(name))
			fail_msg("%s", name);
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return count;
}

static void table_is_as_the_schema(void **state UNUSED)
{
	assert_int_equal(query_names("SELECT name FROM pragma_table_info('file')", has_column), ARRAY_SIZE(columns));
}

// What pages show and a write may change is in the trigger that notes the change of the project.
#define IN_TRIGGER_0_0(name)
#define IN_TRIGGER_0_1(name)
#define IN_TRIGGER_0_GOOD(name)
#define IN_TRIGGER_1_0(name)
#define IN_TRIGGER_1_1(name) &&strstr(sql, " " #name)
#define IN_TRIGGER_1_GOOD(name) &&strstr(sql, " " #name)
#define IN_TRIGGER(name, kind, page, scan, prune, mark, why, copy, check, put) IN_TRIGGER_##page##_##put(name)

static bool names_what_pages_show(const char *sql)
{
	return true FILE_COLUMNS(IN_TRIGGER);
}

static void trigger_follows_what_pages_show(void **state UNUSED)
{
	size_t triggers = query_names("SELECT substr(sql, 1, instr(sql, 'BEGIN')) FROM sqlite_schema WHERE name ="
				      " 'file_update'",
		names_what_pages_show);
	assert_int_equal(triggers, 1);
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(table_is_as_the_schema),
		WITH_BOTH(trigger_follows_what_pages_show),
		WITH_BOTH(every_struct_has_what_was_written),
		WITH_BOTH(refused_file_has_no_facts_of_a_good_one),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
