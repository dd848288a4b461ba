// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

#define UNIT "system.slice/wheelcache.service"

static void assert_row(const struct doctor_report *r, size_t i, const char *level, const char *what)
{
	assert_true(i < jsondoc_count(r->rows));
	assert_string_equal(jsondoc_get_str(jsondoc_at(r->rows, i), "level"), level);
	assert_string_equal(jsondoc_get_str(jsondoc_at(r->rows, i), "what"), what);
}

// A header that is so many seconds behind this clock.
static void assert_date(int64_t behind, const char *level)
{
	CLEANUP(doctor_report_release) struct doctor_report r;
	char text[64];
	struct tm tm;
	time_t t = (time_t)(clock_wall_seconds() - behind);
	assert_non_null(gmtime_r(&t, &tm));
	assert_true(strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0);
	doctor_report_init(&r);
	doctor_date(&r, "it", text);
	assert_row(&r, 0, level, "clock");
}

static void clocks_are_compared(void **state UNUSED)
{
	assert_date(0, "ok");
	assert_date(DOCTOR_DRIFT - 5, "ok");
	assert_date(DOCTOR_DRIFT + 5, "warning");
	assert_date(-DOCTOR_DRIFT - 5, "warning");
	assert_date(DOCTOR_WRONG_DRIFT + 5, "wrong");
	assert_date(-DOCTOR_WRONG_DRIFT - 5, "wrong");
}

static void malformed_dates_are_ignored(void **state UNUSED)
{
	static const char *const dates[] = {"", "now", "Mon, 01 Jan 2001 00:00:00", "Mon, 01 Jan 2001 00:00:00 GMT+1"};
	for (size_t i = 0; i < ARRAY_SIZE(dates); i++) {
		CLEANUP(doctor_report_release) struct doctor_report r;
		doctor_report_init(&r);
		doctor_date(&r, "it", dates[i]);
		assert_int_equal(jsondoc_count(r.rows), 0);
	}
}

static void write_number(const char *folder, const char *name, const char *text)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/" UNIT "/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void remove_cgroup(const char *folder)
{
	static const char *const names[] = {UNIT "/cgroup.procs", UNIT "/memory.events", UNIT, "system.slice", "."};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, names[i]);
		assert_int_equal(remove(strcmp(names[i], ".") == 0 ? folder : path), 0);
	}
}

// The service of the cgroup is this process.
static void limits_of_the_service(void **state UNUSED)
{
	char folder[] = "/tmp/wheelcache-test-XXXXXX";
	struct err e = ERR_INIT;
	CLEANUP(doctor_report_release) struct doctor_report few, many;
	CLEANUP(config_release) struct config c;
	assert_non_null(mkdtemp(folder));
	CLEANUP(mem_free) char *unit = xasprintf("%s/" UNIT, folder);
	CLEANUP(mem_free) char *pid = xasprintf("%ld\n", (long)getpid());
	assert_int_equal(fs_make_dirs(unit, &e), 0);
	write_number(folder, "cgroup.procs", pid);
	write_number(folder, "memory.events", "low 0\noom 1\noom_kill 2\n");
	config_init(&c);
	doctor_report_init(&few);
	doctor_report_init(&many);
	c.connections = 1;
	doctor_service(&few, &c, folder);
	c.connections = UINT32_MAX;
	doctor_service(&many, &c, folder);
	remove_cgroup(folder);
	assert_row(&few, 0, "ok", "limits");
	assert_row(&few, 1, "wrong", "memory");
	assert_row(&many, 0, "warning", "limits");
	assert_non_null(strstr(jsondoc_get_str(jsondoc_at(many.rows, 0), "found"), "wheelcache.service may open"));
}

static void limits_without_the_service(void **state UNUSED)
{
	CLEANUP(doctor_report_release) struct doctor_report r;
	CLEANUP(config_release) struct config c;
	config_init(&c);
	c.connections = 1;
	doctor_report_init(&r);
	doctor_service(&r, &c, "/nonexistent");
	assert_row(&r, 0, "ok", "limits");
	assert_int_equal(jsondoc_count(r.rows), 1);
}

// A name from outside cannot command the terminal.
static void rows_are_escaped(void **state UNUSED)
{
	CLEANUP(doctor_report_release) struct doctor_report r;
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	doctor_report_init(&r);
	doctor_report_add(&r, DOCTOR_WRONG, "thing", "do\x1b[1m", "a\nb %s", "\x1b[2J");
	doctor_report_text(&r, true, &out);
	assert_string_equal(out.data, "wrong    thing        a?b ?[2J. To do: do?[1m\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_compared),
		cmocka_unit_test(malformed_dates_are_ignored),
		cmocka_unit_test(limits_of_the_service),
		cmocka_unit_test(limits_without_the_service),
		cmocka_unit_test(rows_are_escaped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
