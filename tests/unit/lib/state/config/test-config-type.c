// SPDX-License-Identifier: Apache-2.0
// The sections [build] and [branch NAME], with the types of their values.
#include "lib/state/config/config-type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/state/config/config.h"

static char path[] = "test-config-type.XXXXXX";

static int make_file(void **state UNUSED)
{
	return close(mkstemp(path));
}

static int remove_file(void **state UNUSED)
{
	return unlink(path);
}

static int read_text(struct config *c, const char *text, struct err *e)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	config_init(c);
	return config_read(c, path, e);
}

static void branches_are_read(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	// The name of a branch may be that of a platform or view.
	assert_int_equal(read_text(&c,
				 "[branch stable_2025.2]\nconstraints = a.txt  b/*.txt\n  c.txt\nuntil = 2028-02-29\n"
				 "[branch a]\nrequirements = r.txt\nplatforms = debian-1[23]-*\n  ubuntu-?\n"
				 "pythons = 3.12 3.13t pp311\n[platform a]\n",
				 &e),
		0);
	assert_int_equal(c.branch_count, 2);
	assert_string_equal(c.branches[0].name, "stable_2025.2");
	assert_string_equal(c.branches[0].constraints, "a.txt b/*.txt c.txt");
	assert_null(c.branches[0].requirements);
	assert_null(c.branches[0].platforms);
	assert_null(c.branches[0].pythons);
	assert_string_equal(c.branches[0].until, "2028-02-29");
	assert_null(c.branches[1].constraints);
	assert_string_equal(c.branches[1].requirements, "r.txt");
	assert_string_equal(c.branches[1].platforms, "debian-1[23]-* ubuntu-?");
	assert_string_equal(c.branches[1].pythons, "3.12 3.13t pp311");
	assert_null(c.branches[1].until);
}

static void days_have_a_unit_of_their_own(void **state UNUSED)
{
	enum { DAY = 86400 };
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	assert_int_equal(c.audit_keep, 365 * DAY);
	assert_int_equal(config_set(&c, "audit", "keep-days", "30", &e), 0);
	assert_int_equal(c.audit_keep, 30 * DAY);
	assert_int_equal(config_set(&c, "audit", "keep-days", "12h", &e), 0);
	assert_int_equal(c.audit_keep, DAY / 2);
	assert_int_equal(config_set(&c, "audit", "keep-days", "2d", &e), 0);
	assert_int_equal(c.audit_keep, 2 * DAY);
	assert_int_equal(config_set(&c, "prune", "grace", "90", &e), 0); // a time, in seconds
	assert_int_equal(c.prune_grace, 90);
}

static void build_has_defaults(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	config_init(&c);
	const char *const unset[] = {c.build_packages, c.build_skip, c.build_index, c.build_command, c.build_repair,
		c.build_extra, c.build_test, c.build_wrap, c.build_work_path, c.build_results, c.build_on_change,
		c.build_note};
	for (size_t i = 0; i < ARRAY_SIZE(unset); i++)
		assert_null(unset[i]);
	assert_false(c.build_index_holds_platform);
	assert_int_equal(c.build_jobs + c.build_memory + c.branch_count, 0);
	assert_int_equal(c.build_timeout, 4 * 3600);
	assert_int_equal(c.build_log_size, 4 << 20);
	assert_int_equal(c.build_retries, 3);
	assert_string_equal(c.build_retry_after, "1d 3d 7d");
	assert_string_equal(c.build_environment,
		"PATH LANG LC_ALL TZ SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT http_proxy https_proxy no_proxy "
		"CARGO_HOME RUSTUP_HOME");
	assert_string_equal(c.build_keep_results, "90d 50");
}

static void build_is_read(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	assert_int_equal(
		read_text(&c,
			"[build]\nindex = https://u:p@a.example/simple\nindex-holds-platform = yes\n"
			"memory = 6G\nretry-after = 1h  2h\n  30\nbuild = make-wheel %p %v %s %o %n %r %i %e %d %y\n"
			"repair = auditwheel repair -w %o %w\nextra = add-plugins %w\n  strip-wheel --all %w\n"
			"test = none\nenvironment = PATH\n  MAX_JOBS\nkeep-results = 1d  7\nnote = rack 7, GPU\n",
			&e),
		0);
	assert_string_equal(c.build_index, "https://u:p@a.example/simple");
	assert_true(c.build_index_holds_platform);
	assert_int_equal(c.build_memory, 6LL << 30);
	assert_string_equal(c.build_retry_after, "1h 2h 30");
	assert_string_equal(c.build_command, "make-wheel %p %v %s %o %n %r %i %e %d %y");
	assert_string_equal(c.build_repair, "auditwheel repair -w %o %w");
	assert_string_equal(c.build_extra, "add-plugins %w\nstrip-wheel --all %w");
	assert_string_equal(c.build_test, "none");
	assert_string_equal(c.build_environment, "PATH MAX_JOBS");
	assert_string_equal(c.build_note, "rack 7, GPU");
}

static void times_and_numbers_are_read_back(void **state UNUSED)
{
	struct str rest = str_from("1h  2d 30");
	uint64_t seconds, number;
	assert_true(config_times_next(&rest, &seconds) && seconds == 3600);
	assert_true(config_times_next(&rest, &seconds) && seconds == 2 * 86400);
	assert_true(config_times_next(&rest, &seconds) && seconds == 30);
	assert_false(config_times_next(&rest, &seconds));
	assert_true(config_keep_read("90d  50", &seconds, &number));
	assert_int_equal(seconds, 90 * 86400);
	assert_int_equal(number, 50);
}

// Exceeds LIMIT_NOTE.
static void notes_are_bounded(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	char note[LIMIT_NOTE + 2];
	memset(note, 'n', sizeof(note));
	config_init(&c);
	note[LIMIT_NOTE + 1] = '\0';
	assert_int_equal(config_set(&c, "build", "note", note, &e), -1);
	note[LIMIT_NOTE] = '\0';
	assert_int_equal(config_set(&c, "build", "note", note, &e), 0);
}

static const struct {
	const char *text;
	const char *message; // behind the path
} bad[] = {
	{"[branch simple]\n", ":1: [branch simple]: not a name"},
	{"[branch stable/1]\n", ":1: [branch stable/1]: not a name"},
	{"[branch a]\nconstraints = c\n[branch a]\n", ":3: [branch a] is there twice"},
	{"[branch a]\nplatforms = b\n", ": [branch a] has neither constraints nor requirements nor locks"},
	{"[branch a]\nuntil = 2027-02-29\n", ":2: [branch] until: \"2027-02-29\" is not a date (as 2027-03-31)"},
	{"[branch a]\nuntil = 2027-3-1\n", ":2: [branch] until: \"2027-3-1\" is not a date (as 2027-03-31)"},
	{"[branch a]\nplatforms = a/b\n",
		":2: [branch] platforms: \"a/b\" is not a list of platforms (names, or globs as ubuntu-*)"},
	{"[branch a]\npythons = 3\n", ":2: [branch] pythons: \"3\" is not a list of Pythons (as 3.12 3.13t pp311)"},
	{"[build]\nindex = http://u:secret@a/?q\n", ":2: [build] index is not an address, http: or https:"},
	{"[build]\nindex = http://a/ http://b/\n", ":2: [build] index is not an address, http: or https:"},
	{"[build]\ntimeout = 0\n", ":2: [build] timeout: 0 is not between 1 and 315360000"},
	{"[build]\nlog-size = 4095\n", ":2: [build] log-size: 4095 is not between 4096 and 67108864"},
	{"[build]\nretry-after = 1d 3w\n", ":2: [build] retry-after: \"1d 3w\" is not a list of times (as 1d 3d 7d)"},
	{"[build]\nretry-after = 3651d\n", ":2: [build] retry-after: \"3651d\" is not a list of times (as 1d 3d 7d)"},
	{"[build]\nkeep-results = 90d\n", ":2: [build] keep-results: \"90d\" is not a time and a number (as 90d 50)"},
	{"[build]\nkeep-results = 90d 0\n",
		":2: [build] keep-results: \"90d 0\" is not a time and a number (as 90d 50)"},
	{"[build]\nenvironment = PATH A=b\n",
		":2: [build] environment: \"PATH A=b\" is not a list of names of variables"},
	{"[build]\nextra = a %w\n  b %x\n",
		":3: [build] extra: \"b %x\" is not a command (with %p, %v, %s, %o, %w, %n, %r, %i, %e, %d, %y, and %% "
		"for a per cent sign)"},
	{"[build]\nbuild = a %w\n",
		":2: [build] build: \"a %w\" is not a command (with %p, %v, %s, %o, %n, %r, %i, %e, %d, %y, and %% "
		"for a per cent sign)"},
	{"[build]\nwrap = a %s\n",
		":2: [build] wrap: \"a %s\" is not a command (with %p, %v, %o, %n, %r, %i, %d, %y, and %% for a per "
		"cent sign)"},
};

static void bad_line_is_named(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CLEANUP(config_release) struct config c;
		struct err e = ERR_INIT;
		CLEANUP(mem_free) char *expected = xasprintf("%s%s", path, bad[i].message);
		assert_int_equal(read_text(&c, bad[i].text, &e), -1);
		assert_string_equal(e.msg, expected);
		assert_int_equal(e.kind, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_are_read),
		cmocka_unit_test(days_have_a_unit_of_their_own),
		cmocka_unit_test(build_has_defaults),
		cmocka_unit_test(build_is_read),
		cmocka_unit_test(times_and_numbers_are_read_back),
		cmocka_unit_test(notes_are_bounded),
		cmocka_unit_test(bad_line_is_named),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
