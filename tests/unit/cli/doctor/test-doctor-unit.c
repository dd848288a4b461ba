// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

#define STRICT "Id=wheelcache.service\nLoadState=loaded\nActiveState=active\nProtectSystem=strict\n"

static struct doctor_write items[] = {
	{(char[]){"platform a"}, (char[]){"/nonexistent/store/a"}, false},
	{(char[]){"the catalog"}, (char[]){"/var/lib/wheelcache-none"}, true},
};
static const struct doctor_writes writes = {items, ARRAY_SIZE(items)};

// What systemd shows, and what the process sees; the rows as "LEVEL WHAT\n".
struct case_row {
	const char *properties, *mounts, *rows;
};

static void check_rows(const struct case_row *t)
{
	CLEANUP(doctor_report_release) struct doctor_report r;
	CLEANUP(buf_release) struct buf rows;
	buf_init(&rows, 4096);
	doctor_report_init(&r);
	doctor_unit_judge(&r, &writes, str_from(t->properties), str_from(t->mounts));
	for (size_t i = 0; i < jsondoc_count(r.rows); i++)
		buf_printf(&rows, "%s %s\n", jsondoc_get_str(jsondoc_at(r.rows, i), "level"),
			jsondoc_get_str(jsondoc_at(r.rows, i), "what"));
	assert_string_equal(rows.len ? rows.data : "", t->rows);
}

static void units_are_judged(void **state UNUSED)
{
	static const struct case_row cases[] = {
		{"", "", ""},
		{"Id=wheelcache.service\nLoadState=not-found\n", "", ""},
		{"Id=wheelcache.service\nLoadState=loaded\nActiveState=inactive\n", "",
			"warning service\nok systemd\n"},
		{"Id=wheelcache.service\nLoadState=loaded\nActiveState=failed\nResult=exit-code\n", "",
			"wrong service\nok systemd\n"},
		{"Id=wheelcache-prune.service\nLoadState=loaded\nActiveState=inactive\n", "", "ok systemd\n"},
		{STRICT, "", "ok service\nwarning systemd\nwrong systemd\n"},
		{STRICT "ReadWritePaths=-/nonexistent/store\nStateDirectory=other wheelcache-none\n", "",
			"ok service\nok systemd\n"},
		{STRICT "ReadWritePaths=/nonexistent/stor /nonexistent/store/a/b\nStateDirectory=wheelcache-none\n", "",
			"ok service\nwarning systemd\n"},
		{STRICT "ReadWritePaths=/\n", "", "ok service\nok systemd\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_rows(&cases[i]);
}

// The mounts of the process decide, also where its unit permits more or less.
static void mounts_are_read(void **state UNUSED)
{
	static const struct case_row cases[] = {
		{STRICT, "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n", "ok service\nok systemd\n"},
		{STRICT,
			"1 0 8:1 / / ro,relatime - ext4 /dev/sda1 rw\n"
			"2 1 8:1 /x /nonexistent/store rw - ext4 /dev/sda1 rw\n"
			"3 1 8:1 /y /var/lib/wheelcache-none rw - ext4 /dev/sda1 rw\n",
			"ok service\nok systemd\n"},
		{STRICT,
			"3 1 8:1 /y /nonexistent/store/a ro - ext4 /dev/sda1 rw\n"
			"1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n",
			"ok service\nwarning systemd\n"},
		{STRICT "ReadWritePaths=-/nonexistent/store\n",
			"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
			"2 1 8:1 / / ro - ext4 /dev/sda1 rw\n",
			"ok service\nwarning systemd\nwrong systemd\n"},
		{STRICT, "nonsense\n\n1 0 8:1\n", "ok service\nok systemd\n"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_rows(&cases[i]);
}

static void escaped_mount_points_are_read(void **state UNUSED)
{
	struct doctor_write item = {(char[]){"it"}, (char[]){"/with blank/x"}, true};
	const struct doctor_writes one = {&item, 1};
	CLEANUP(doctor_report_release) struct doctor_report r;
	doctor_report_init(&r);
	doctor_unit_judge(&r, &one, STR(STRICT), STR("1 0 8:1 / /with\\040blank ro - x y z\n"));
	assert_int_equal(r.count[DOCTOR_WRONG], 1);
}

// The advice is the line that helps, or a restart where the line is there already.
static void advice_depends_on_the_unit(void **state UNUSED)
{
	static const struct str mounts = STR("1 0 8:1 / / ro - ext4 /dev/sda1 rw\n");
	CLEANUP(doctor_report_release) struct doctor_report r;
	doctor_report_init(&r);
	doctor_unit_judge(&r, &writes, STR(STRICT "ReadWritePaths=-/nonexistent/store\n"), mounts);
	assert_string_equal(jsondoc_get_str(jsondoc_at(r.rows, 1), "advice"), "systemctl restart wheelcache.service");
	assert_non_null(strstr(jsondoc_get_str(jsondoc_at(r.rows, 2), "advice"),
		"ReadWritePaths=/var/lib/wheelcache-none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_judged),
		cmocka_unit_test(mounts_are_read),
		cmocka_unit_test(escaped_mount_points_are_read),
		cmocka_unit_test(advice_depends_on_the_unit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
