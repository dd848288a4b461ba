// SPDX-License-Identifier: Apache-2.0
// Attachments in the catalog: which file has them, and what two processes do to one.
#include <string.h>

#include "lib/format/compress.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "tests/unit/support/two-catalogs.h"

static struct catalog_attachment attachment_of(const uint8_t *subject, const struct buf *packed)
{
	return (struct catalog_attachment){.platform = two_platform,
		.folder = two_root,
		.filename = two_six,
		.kind = ATTACHMENT_PROVENANCE,
		.size = 100,
		.sha256 = two_twos,
		.subject = subject,
		.refusal = subject ? NULL : "bad",
		.packed = subject ? buf_view(packed) : (struct str){NULL, 0}};
}

static void write_attachment(struct catalog *c, const struct catalog_attachment *a, bool is_removed)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	two_ok(catalog_begin(c, &t, &e), &e);
	two_ok(is_removed ? catalog_attachment_remove(c, a, &e) : catalog_attachment_put(c, a, &e), &e);
	two_ok(catalog_commit(&t, &e), &e);
}

static void put_attachment(struct catalog *c, const uint8_t *subject, const int64_t *seen)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, 1000);
	two_ok(compress_zstd(STR("text"), 1, &packed, &e), &e);
	struct catalog_attachment a = attachment_of(subject, &packed);
	a.is_guarded = seen != NULL;
	a.written = seen ? *seen : 0;
	write_attachment(c, &a, false);
}

static void remove_attachment(struct catalog *c, const int64_t *seen)
{
	struct catalog_attachment a = attachment_of(NULL, NULL);
	a.is_guarded = seen != NULL;
	a.written = seen ? *seen : 0;
	write_attachment(c, &a, true);
}

static bool is_attached(void)
{
	struct err e = ERR_INIT;
	struct catalog_attached found;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 100);
	int result = catalog_attached(two_other, two_platform, two_six, ATTACHMENT_PROVENANCE, &found, &text, &e);
	two_ok(result, &e);
	if (result) {
		assert_string_equal(text.data, "text");
		assert_string_equal(found.project, "six");
		assert_memory_equal(found.sha256, two_twos, SHA256_SIZE);
	}
	return result;
}

static int see_page(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	*(bool *)ctx = file->provenance != NULL;
	return 0;
}

static bool page_has_it(void)
{
	bool has = false;
	struct err e = ERR_INIT;
	two_ok(catalog_project_files(two_other, two_platform, "six", see_page, &has, &e), &e);
	return has;
}

static void assert_attached(bool expected)
{
	assert_int_equal(is_attached(), expected);
	assert_int_equal(page_has_it(), expected);
}

static void file_has_what_is_about_its_bytes(void **state UNUSED)
{
	put_attachment(two_scan, two_ones, NULL); // before the file
	two_put_new(two_other, two_root, two_ones);
	assert_attached(true);
	two_put_new(two_other, two_root, two_twos); // other bytes
	assert_attached(false);
	put_attachment(two_scan, two_twos, NULL); // after them
	assert_attached(true);
	put_attachment(two_scan, NULL, NULL); // not valid
	assert_attached(false);
	put_attachment(two_scan, two_twos, NULL);
	two_mark(two_other, two_root, MARK_PRUNED, "gone", 0);
	assert_true(is_attached()); // as the file itself, which is unlisted
	two_mark(two_other, two_root, MARK_PRUNED, NULL, 0);
	remove_attachment(two_scan, NULL);
	assert_attached(false);
}

static int see_project(void *ctx UNUSED, const struct catalog_project *p UNUSED, struct err *e UNUSED)
{
	return 0;
}

static void attachment_changes_the_page(void **state UNUSED)
{
	struct err e = ERR_INIT;
	int64_t before = 0, after = 0;
	two_put_new(two_other, two_root, two_ones);
	two_ok(catalog_changes(two_other, 0, see_project, NULL, &before, &e), &e);
	put_attachment(two_scan, two_ones, NULL);
	two_ok(catalog_changes(two_other, 0, see_project, NULL, &after, &e), &e);
	assert_true(after > before);
}

static int save_known(void *ctx, const struct catalog_known_attachment *row, struct err *e UNUSED)
{
	*(int64_t *)ctx = row->written;
	assert_int_equal(row->size, 100);
	return 0;
}

static int64_t look_at_attachment(void)
{
	struct err e = ERR_INIT;
	int64_t written = 0;
	two_ok(catalog_folder_attachments(two_scan, two_root, save_known, &written, &e), &e);
	return written;
}

static void scan_leaves_what_another_process_wrote(void **state UNUSED)
{
	int64_t none = look_at_attachment();
	two_put_new(two_other, two_root, two_ones);
	put_attachment(two_other, two_ones, NULL);
	put_attachment(two_scan, two_twos, &none); // it has read another one before
	assert_attached(true);
	int64_t seen = look_at_attachment();
	put_attachment(two_other, two_ones, NULL);
	remove_attachment(two_scan, &seen); // it found none before
	assert_attached(true);
	seen = look_at_attachment();
	remove_attachment(two_scan, &seen);
	assert_attached(false);
}

struct strays {
	unsigned alone, other, refused;
};

static int count_stray(void *ctx, const struct catalog_stray_attachment *row, struct err *e UNUSED)
{
	struct strays *s = ctx;
	s->refused += row->refusal != NULL;
	s->alone += !row->refusal && !row->has_file;
	s->other += !row->refusal && row->has_file;
	return 0;
}

static void assert_strays(unsigned alone, unsigned other, unsigned refused)
{
	struct err e = ERR_INIT;
	struct strays s = {0};
	two_ok(catalog_stray_attachments(two_other, count_stray, &s, &e), &e);
	assert_int_equal(s.alone, alone);
	assert_int_equal(s.other, other);
	assert_int_equal(s.refused, refused);
}

static void strays_are_named(void **state UNUSED)
{
	assert_strays(0, 0, 0);
	put_attachment(two_scan, two_ones, NULL);
	assert_strays(1, 0, 0);
	two_put_new(two_other, two_root, two_twos);
	assert_strays(0, 1, 0);
	two_put_new(two_other, two_root, two_ones);
	assert_strays(0, 0, 0);
	put_attachment(two_scan, NULL, NULL);
	assert_strays(0, 0, 1);
}

static void usage_has_the_bytes(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog_usage before, with, after;
	two_put_new(two_other, two_root, two_ones);
	two_ok(catalog_usage(two_other, two_platform, &before, &e), &e);
	put_attachment(two_scan, two_ones, NULL);
	put_attachment(two_scan, two_ones, NULL);
	two_ok(catalog_usage(two_other, two_platform, &with, &e), &e);
	remove_attachment(two_scan, NULL);
	two_ok(catalog_usage(two_other, two_platform, &after, &e), &e);
	assert_int_equal(with.bytes, before.bytes + 100);
	assert_int_equal(with.files, before.files);
	assert_int_equal(after.bytes, before.bytes);
}

#define WITH_BOTH(test) cmocka_unit_test_setup_teardown(test, two_open, two_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_BOTH(file_has_what_is_about_its_bytes),
		WITH_BOTH(attachment_changes_the_page),
		WITH_BOTH(scan_leaves_what_another_process_wrote),
		WITH_BOTH(strays_are_named),
		WITH_BOTH(usage_has_the_bytes),
	};
	return cmocka_run_group_tests(tests, two_make_folder, two_remove_folder);
}
