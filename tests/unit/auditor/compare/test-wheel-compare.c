// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "auditor/compare/wheel-compare.h"
#include "auditor/compare/wheel-compare-forms.h"

#include "tests/unit/support/zipmake.h"

#define NAME "p-1.0-py3-none-any.whl"
#define INFO "p-1.0.dist-info/"
#define META "Metadata-Version: 2.1\nName: p\nVersion: 1.0\n"

struct made_member {
	const char *name, *content;
	unsigned mode;
};

// A wheel in memory that was read.
struct made_wheel {
	struct zipmake zip;
	struct filename name;
	struct wheel_content content;
	uint8_t sha256[SHA256_SIZE];
	struct compare_side side;
};

static const struct wheel_content_limits no_limits = {UINT64_MAX, SIZE_MAX};

static int read_made(struct made_wheel *w, const struct wheel_content_limits *limits, struct err *e)
{
	struct byte_source bytes = byte_source_memory(buf_view(&w->zip.bytes));
	return wheel_content_read(&bytes, &w->name, limits, &w->content, e);
}

static void make_zip(struct made_wheel *w, const struct made_member *member, size_t count)
{
	struct err e = ERR_INIT;
	zipmake_init(&w->zip);
	for (size_t i = 0; i < count; i++)
		zipmake_add(&w->zip,
			&(struct zipmake_member){
				.name = member[i].name, .content = member[i].content, .unix_mode = member[i].mode});
	zipmake_end(&w->zip, "");
	assert_int_equal(filename_parse(STR(NAME), &w->name, &e), 0);
	digest_sha256(buf_view(&w->zip.bytes), w->sha256);
}

static void make_wheel(struct made_wheel *w, const struct made_member *member, size_t count)
{
	struct err e = ERR_INIT;
	make_zip(w, member, count);
	assert_int_equal(read_made(w, &no_limits, &e), 0);
	w->side = (struct compare_side){.label = NAME,
		.filename = NAME,
		.name = &w->name,
		.size = w->zip.bytes.len,
		.sha256 = w->sha256,
		.content = &w->content};
}

static void drop_wheel(struct made_wheel *w)
{
	wheel_content_release(&w->content);
	filename_release(&w->name);
	zipmake_release(&w->zip);
}

static enum compare_verdict judge(const struct made_member *one, size_t ones, const struct made_member *other,
	size_t others, struct compare_members *members)
{
	struct made_wheel a, b;
	struct wheel_compare c;
	make_wheel(&a, one, ones);
	make_wheel(&b, other, others);
	wheel_compare_make(&a.side, &b.side, &c);
	enum compare_verdict verdict = c.verdict;
	*members = c.members;
	members->row = NULL;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = wheel_compare_json(&c);
	assert_string_equal(jsondoc_get_str(doc, "verdict"), compare_verdict_name[verdict]);
	assert_null(jsondoc_get(doc, "libraries"));
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	wheel_compare_sheet(&c, &sheet);
	assert_string_equal(sheet.title, compare_verdict_words[verdict]);
	wheel_compare_release(&c);
	drop_wheel(&a);
	drop_wheel(&b);
	return verdict;
}

static const struct made_member plain[] = {{"p.py", "1", 0}, {INFO "METADATA", META, 0},
	{INFO "RECORD", "p.py,sha256=x,1\np-1.0.dist-info/RECORD,,\n", 0}};
static const struct made_member other_mode[] = {{"p.py", "1", 0100755}, {INFO "METADATA", META, 0100644},
	{INFO "RECORD", "p.py,sha256=x,1\np-1.0.dist-info/RECORD,,\n", 0100644}};
static const struct made_member other_record[] = {{"p.py", "1", 0}, {INFO "METADATA", META, 0},
	{INFO "RECORD", "p-1.0.dist-info/RECORD,,\np.py,sha256=x,1\n", 0}};
static const struct made_member record_crlf[] = {{"p.py", "1", 0}, {INFO "METADATA", META, 0},
	{INFO "RECORD", "p.py,sha256=x,1\r\np-1.0.dist-info/RECORD,,\r\n", 0}};
static const struct made_member bad_record[] = {{"p.py", "1", 0}, {INFO "METADATA", META, 0},
	{INFO "RECORD", "p.py,sha256=x,2\np-1.0.dist-info/RECORD,,\n", 0}};
static const struct made_member no_record[] = {{"p.py", "1", 0}, {INFO "METADATA", META, 0}};
static const struct made_member folder[] = {{"q/", "", 0}, {"p.py", "1", 0}, {INFO "METADATA", META, 0},
	{INFO "RECORD", "p.py,sha256=x,1\np-1.0.dist-info/RECORD,,\n", 0}};
static const struct made_member other_info[] = {{"p.py", "1", 0}, {INFO "METADATA", META "Summary: x\n", 0},
	{INFO "RECORD", "p.py,sha256=x,1\np-1.0.dist-info/RECORD,,\n", 0}};
static const struct made_member other_code[] = {{"p.py", "2", 0}, {INFO "METADATA", META, 0},
	{INFO "RECORD", "p.py,sha256=x,1\np-1.0.dist-info/RECORD,,\n", 0}};

static const struct {
	const struct made_member *other;
	size_t others;
	enum compare_verdict verdict;
	size_t equal, modes;
} table[] = {
	{plain, 3, COMPARE_IDENTICAL, 3, 0},
	{other_mode, 3, COMPARE_SAME_CONTENTS, 3, 1},
	{other_record, 3, COMPARE_SAME_CONTENTS, 2, 0},
	{record_crlf, 3, COMPARE_SAME_CONTENTS, 2, 0},
	{bad_record, 3, COMPARE_SAME_CODE, 2, 0},
	{no_record, 2, COMPARE_SAME_CODE, 2, 0},
	{folder, 4, COMPARE_SAME_CONTENTS, 3, 0},
	{other_info, 3, COMPARE_SAME_CODE, 2, 0},
	{other_code, 3, COMPARE_DIFFERENT, 2, 0},
};

static void the_verdict_follows_the_members(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct compare_members members;
		enum compare_verdict verdict = judge(plain, 3, table[i].other, table[i].others, &members);
		if (verdict != table[i].verdict || members.equal != table[i].equal ||
			members.other_modes != table[i].modes)
			fail_msg("%zu: verdict %d, %zu equal", i, verdict, members.equal);
	}
}

// Exceeds LIMIT_COMPARE_MEMBERS, LIMIT_COMPARE_UNPACKED.
static void limits_hold(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct made_wheel w;
	make_zip(&w, plain, 3);
	assert_int_equal(read_made(&w, &(struct wheel_content_limits){UINT64_MAX, 2}, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(read_made(&w, &(struct wheel_content_limits){0, 3}, &e), 0);
	assert_false(w.content.has_hashes);
	assert_int_equal(w.content.members, 3);
	drop_wheel(&w);
	assert_true(wheel_content_most(0) == wheel_content_most(1));
	assert_true(wheel_content_most(UINT64_MAX) == UINT64_MAX);
}

static void no_wheel_is_an_error(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct made_wheel w;
	make_zip(&w, plain, 1);
	assert_int_equal(read_made(&w, &no_limits, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	w.zip.bytes.len /= 2;
	assert_int_equal(read_made(&w, &no_limits, &e), -1);
	drop_wheel(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verdict_follows_the_members),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(no_wheel_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
