// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/promotion/retention.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/buf.h"

enum { NOW = 1800000000, DAY = 86400, MOST = 8 };
enum { IS_WANTED = 1 << 9 }; // in the environments of a row

// A file: its version, how many days ago it came (negative: no date), and the environments as bits.
struct row {
	const char *version;
	int age;
	uint64_t installs;
	bool is_yanked;
};

static void print(const struct retention_file *f, struct buf *out)
{
	static const char letters[] = {[RETENTION_NO_RULE] = '*',
		[RETENTION_NEWEST] = 'n',
		[RETENTION_YOUNG] = 'y',
		[RETENTION_UNDATED] = 'u',
		[RETENTION_LAST] = 'l',
		[RETENTION_WANTED] = 'w',
		[RETENTION_ENDS] = '-'};
	buf_printf(out, "%s%s%c", out->len ? " " : "", f->version->text, letters[f->decision]);
	if (f->decision == RETENTION_LAST)
		buf_printf(out, "%zu", f->environment);
	if (f->ends)
		buf_printf(out, "%lld", (long long)((f->ends - NOW) / DAY));
	if (f->is_warned)
		buf_putc(out, '!');
}

static void decide(const struct row *row, const struct retention_rules *rules, struct buf *out)
{
	struct err e = ERR_INIT;
	struct version version[MOST];
	struct retention_file file[MOST];
	uint64_t installs[MOST];
	size_t count = 0;
	for (; row[count].version; count++) {
		assert_int_equal(version_parse(str_from(row[count].version), &version[count], &e), 0);
		installs[count] = row[count].installs & ~(uint64_t)IS_WANTED;
		file[count] = (struct retention_file){.arrived = row[count].age < 0 ? 0 : NOW - row[count].age * DAY,
			.installs = &installs[count],
			.is_yanked = row[count].is_yanked,
			.is_wanted = row[count].installs & IS_WANTED,
			.version = &version[count]};
	}
	retention_decide(file, count, 8, rules, NOW);
	buf_clear(out);
	for (size_t i = 0; i < count; i++)
		print(&file[i], out);
	while (count)
		version_release(&version[--count]);
}

static void versions_stay_for_a_reason(void **state UNUSED)
{
	static const struct {
		uint64_t versions, days, warn;
		struct row rows[MOST];
		const char *result; // the newest version first
	} cases[] = {
		{0, 0, 0, {{"1", 99, 1, false}, {"2", 0, 1, false}}, "2* 1*"},
		{1, 0, 0, {{"1", 0, 1, false}, {"2", 0, 1, false}}, "2n 1-"},
		{1, 0, 0, {{"10", 0, 1, false}, {"9", 0, 1, false}, {"1!1", 0, 1, false}}, "1!1n 10- 9-"},
		{2, 0, 0, {{"3", 9, 1, false}, {"2", 9, 1, false}, {"1", 9, 1, false}}, "3n 2n 1-"},
		{1, 9, 0, {{"3", 9, 1, false}, {"2", 8, 1, false}, {"1", 9, 1, false}}, "3n 2y1 1-"},
		{0, 9, 0, {{"3", 20, 1, false}, {"2", 8, 1, false}}, "3l0 2y1"},
		// a red month: the last one stays, however old
		{0, 9, 0, {{"3.dev1", 40, 1, false}, {"2.dev1", 41, 1, false}}, "3.dev1l0 2.dev1-"},
		// one platform stopped: its last one stays, and with it all files of that version
		{1, 5, 0, {{"3", 9, 1, false}, {"2", 9, 3, false}, {"2", 9, 1, false}, {"1", 9, 3, false}},
			"3n 2l1 2l1 1-"},
		// no date never counts as old
		{1, 5, 0, {{"3", 9, 1, false}, {"2", -1, 1, false}, {"2", 9, 1, false}, {"1", 9, 1, false}},
			"3n 2u 2u 1-"},
		{1, 0, 0, {{"3", 9, 1, false}, {"2", -1, 1, false}}, "3n 2-"},
		// a version is as young as its newest file
		{1, 5, 0, {{"3", 9, 1, false}, {"2", 9, 1, false}, {"2", 2, 1, false}}, "3n 2y3 2y3"},
		// a yanked file serves nobody
		{1, 5, 0, {{"3", 9, 1, true}, {"2", 9, 1, false}, {"1", 9, 1, false}}, "3n 2l0 1-"},
		{1, 5, 0, {{"3", 9, 1, false}, {"2", 9, 2, true}, {"1", 9, 2, false}}, "3n 2- 1l1"},
		// pip takes no pre-release unless it is told to
		{1, 5, 0, {{"3.dev1", 9, 1, false}, {"2", 9, 1, false}, {"1", 9, 1, false}}, "3.dev1n 2l0 1-"},
		{1, 5, 0, {{"3", 9, 0, false}, {"2", 9, 0, false}}, "3n 2-"}, // installs nowhere
		// warned before it ends
		{1, 5, 3, {{"3", 9, 1, false}, {"2", 1, 1, false}, {"1", 2, 1, false}, {"0", 4, 1, false}},
			"3n 2y4 1y3! 0y1!"},
		{1, 5, 0, {{"3", 9, 1, false}, {"2", 5, 1, false}}, "3n 2-"},
		{1, 5, 9, {{"1", -1, 1, false}}, "1n"},
		// what a branch wants stays with all files of its version, and is not warned of
		{1, 5, 3, {{"3", 9, 1, false}, {"2", 9, 1 | IS_WANTED, false}, {"2", 9, 1, false}, {"1", 4, 1 | IS_WANTED, false}},
			"3n 2w 2w 1w"},
		{0, 0, 0, {{"1", 9, 1 | IS_WANTED, false}}, "1*"},
		{3, 5, 9, {{NULL, 0, 0, false}}, ""},
	};
	CLEANUP(buf_release) struct buf out = {0};
	buf_init(&out, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct retention_rules rules = {
			cases[i].versions, (int64_t)cases[i].days * DAY, (int64_t)cases[i].warn * DAY};
		decide(cases[i].rows, &rules, &out);
		if (strcmp(out.len ? out.data : "", cases[i].result) != 0)
			fail_msg("case %zu: %s instead of %s", i, out.data, cases[i].result);
	}
}

static void environments_beyond_a_word_count(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct version old, new;
	const uint64_t all[3] = {~(uint64_t)0, ~(uint64_t)0, 7}, fewer[3] = {~(uint64_t)0, ~(uint64_t)0, 3};
	const struct retention_rules rules = {1, DAY, 0};
	assert_int_equal(version_parse(STR("1"), &old, &e), 0);
	assert_int_equal(version_parse(STR("2"), &new, &e), 0);
	struct retention_file file[] = {
		{.arrived = 1, .installs = all, .version = &old}, {.arrived = 1, .installs = fewer, .version = &new}};
	retention_decide(file, 2, 131, &rules, NOW);
	assert_int_equal(file[0].decision, RETENTION_NEWEST);
	assert_int_equal(file[1].decision, RETENTION_LAST);
	assert_int_equal(file[1].environment, 130);
	version_release(&old);
	version_release(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_stay_for_a_reason),
		cmocka_unit_test(environments_beyond_a_word_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
