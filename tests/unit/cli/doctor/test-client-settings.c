// SPDX-License-Identifier: Apache-2.0
// The settings of pip and uv: their files and variables, and what is said of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/doctor/client-settings.h"
#include "lib/base/mem.h"

#define OURS "https://w.example.org/simple/"

static char home[] = "/tmp/wheelcache-test-XXXXXX";

static const char *const variables[] = {"PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX",
	"PIP_FIND_LINKS", "PIP_TRUSTED_HOST", "PIP_CERT", "REQUESTS_CA_BUNDLE", "UV_CONFIG_FILE", "UV_NO_CONFIG",
	"UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_INDEX", "UV_NO_INDEX", "UV_OFFLINE",
	"UV_FIND_LINKS", "UV_INDEX_STRATEGY", "SSL_CERT_FILE", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "VIRTUAL_ENV"};

static int begin(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	setenv("XDG_CONFIG_DIRS", "/nonexistent", 1);
	setenv("PIP_CONFIG_FILE", "own.conf", 1);
	setenv("UV_CONFIG_FILE", "own.toml", 1);
	return 0;
}

static int make_home(void **state UNUSED)
{
	return mkdtemp(home) && setenv("HOME", home, 1) == 0 ? chdir(home) : -1;
}

static int remove_home(void **state UNUSED)
{
	return unlink("own.conf") + unlink("own.toml") + chdir("/") + rmdir(home);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void read_pip(const char *text, struct client_settings *s, struct doctor_report *r)
{
	write_text("own.conf", text);
	doctor_report_init(r);
	pip_settings_read(s, r);
}

static void pip_reads_sections_in_its_order(void **state UNUSED)
{
	CLEANUP(client_settings_release) struct client_settings s;
	CLEANUP(doctor_report_release) struct doctor_report r;
	setenv("PIP_NO_INDEX", "yes", 1);
	read_pip("[install]\nindex_url = https://i\n[global]\nindex-url = https://g\nno-index = no\n"
		 "extra-index-url =\n  https://a\n  https://b\n[list]\nfind-links = /x\n",
		&s, &r);
	assert_string_equal(s.value[CLIENT_INDEX].text, "https://i");
	assert_string_equal(s.value[CLIENT_INDEX].from, "own.conf");
	assert_non_null(strstr(s.value[CLIENT_EXTRA].text, "https://a https://b"));
	assert_string_equal(s.value[CLIENT_NO_INDEX].from, "PIP_NO_INDEX");
	assert_null(s.value[CLIENT_FIND_LINKS].text);
}

static void pip_reports_a_broken_file(void **state UNUSED)
{
	CLEANUP(client_settings_release) struct client_settings s;
	CLEANUP(doctor_report_release) struct doctor_report r;
	read_pip("[global\n", &s, &r);
	assert_int_equal(r.count[DOCTOR_WARNING], 1);
}

static void pip_reads_no_file_if_it_is_dev_null(void **state UNUSED)
{
	CLEANUP(client_settings_release) struct client_settings s;
	CLEANUP(doctor_report_release) struct doctor_report r;
	write_text("own.conf", "[global]\nindex-url = https://g\n");
	setenv("PIP_CONFIG_FILE", "/dev/null", 1);
	setenv("VIRTUAL_ENV", home, 1);
	doctor_report_init(&r);
	pip_settings_read(&s, &r);
	assert_null(s.value[CLIENT_INDEX].text);
}

static void uv_reads_indexes(void **state UNUSED)
{
	static const struct {
		const char *text, *index, *extra;
	} row[] = {
		{"[[index]]\nname = \"w\"\nurl = \"https://w\"\ndefault = true\n", "https://w", NULL},
		{"[[index]]\nurl = 'https://w' # ours\n[[index]]\nurl = \"https://x\"\n", NULL, "https://w https://x"},
		{"[[index]]\nurl = \"https://w\"\nexplicit = true\n", NULL, NULL},
		{"index-url = \"https://w\"\nextra-index-url = [\"https://a\", \"https://b\"]\n", "https://w",
			"https://a https://b"},
		{"[pip]\nindex-url = \"https://w\"\n[other]\nindex-url = \"https://x\"\n", "https://w", NULL},
		{"# index-url = \"https://w\"\n=\n[\n[[\n[[index]]\nurl =\nurl = \"", NULL, NULL},
		{"", NULL, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(client_settings_release) struct client_settings s;
		write_text("own.toml", row[i].text);
		uv_settings_read(&s);
		const char *found[] = {s.value[CLIENT_INDEX].text, s.value[CLIENT_EXTRA].text};
		const char *wanted[] = {row[i].index, row[i].extra};
		for (size_t j = 0; j < 2; j++) {
			assert_int_equal(!found[j], !wanted[j]);
			if (wanted[j])
				assert_string_equal(found[j], wanted[j]);
		}
	}
}

static void uv_reads_pyproject(void **state UNUSED)
{
	CLEANUP(client_settings_release) struct client_settings s;
	unsetenv("UV_CONFIG_FILE");
	setenv("UV_OFFLINE", "1", 1);
	write_text("pyproject.toml",
		"[project]\nname = \"x\"\noffline = true\n[tool.uv]\nno-index = true\n"
		"[[tool.uv.index]]\nurl = \"https://w\"\ndefault = true\n[[index]]\nurl = \"https://x\"\n");
	uv_settings_read(&s);
	unlink("pyproject.toml");
	assert_string_equal(s.value[CLIENT_INDEX].text, "https://w");
	assert_string_equal(s.value[CLIENT_INDEX].from, "pyproject.toml");
	assert_string_equal(s.value[CLIENT_NO_INDEX].text, "true");
	assert_string_equal(s.value[CLIENT_OFFLINE].from, "UV_OFFLINE");
	assert_null(s.value[CLIENT_EXTRA].text);
}

// What is said of one setting: how many rows of each level, and a part of the text.
static void findings_of_settings(void **state UNUSED)
{
	static const struct {
		const char *client;
		enum client_key key;
		const char *text, *url, *found;
		enum doctor_level level;
	} row[] = {
		{"pip", CLIENT_INDEX, "https://user:secret@W.example.org/simple", OURS, "asks this index", DOCTOR_FINE},
		{"pip", CLIENT_INDEX, "https://u:secret@pypi.example.org/simple", OURS,
			"asks https://pypi.example.org/simple instead", DOCTOR_WRONG},
		{"uv", CLIENT_INDEX, "nonsense", OURS, "something that is no URL", DOCTOR_WRONG},
		{"pip", CLIENT_EXTRA, "https://x " OURS, OURS, "only a further one", DOCTOR_WARNING},
		{"pip", CLIENT_EXTRA, "https://x", OURS, "highest version of all", DOCTOR_WARNING},
		{"uv", CLIENT_EXTRA, "https://x", OURS, "first index that has it", DOCTOR_WARNING},
		{"pip", CLIENT_NO_INDEX, "True", OURS, "asks no index", DOCTOR_WRONG},
		{"uv", CLIENT_OFFLINE, "1", OURS, "asks no index", DOCTOR_WRONG},
		{"pip", CLIENT_FIND_LINKS, "/x", OURS, "also takes files", DOCTOR_WARNING},
		{"pip", CLIENT_CERT, "/nonexistent", OURS, "cannot read the certificates", DOCTOR_WRONG},
		{"pip", CLIENT_TRUSTED_HOST, "other", "http://w.example.org:81/simple/", "pip refuses plain HTTP",
			DOCTOR_WRONG},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(client_settings_release) struct client_settings s = {0};
		CLEANUP(doctor_report_release) struct doctor_report r;
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, 1 << 16);
		doctor_report_init(&r);
		client_settings_take(&s, row[i].key, 1, row[i].text, "there");
		doctor_index(&r, row[i].client, &s, row[i].url, NULL);
		doctor_report_text(&r, false, &text);
		assert_non_null(strstr(text.data, row[i].found));
		assert_null(strstr(text.data, "secret"));
		assert_true(r.count[row[i].level] >= 1);
		if (row[i].level != DOCTOR_WRONG)
			assert_int_equal(r.count[DOCTOR_WRONG], 0);
	}
}

static void a_trusted_host_is_known_with_and_without_its_port(void **state UNUSED)
{
	static const char *const trusted[] = {"w.example.org", "w.example.org:81", "x w.example.org"};
	for (size_t i = 0; i < ARRAY_SIZE(trusted); i++) {
		CLEANUP(client_settings_release) struct client_settings s = {0};
		CLEANUP(doctor_report_release) struct doctor_report r;
		doctor_report_init(&r);
		client_settings_take(&s, CLIENT_TRUSTED_HOST, 1, trusted[i], "there");
		doctor_index(&r, "pip", &s, "http://w.example.org:81/simple/", NULL);
		assert_int_equal(r.count[DOCTOR_WRONG], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(pip_reads_sections_in_its_order, begin),
		cmocka_unit_test_setup(pip_reports_a_broken_file, begin),
		cmocka_unit_test_setup(pip_reads_no_file_if_it_is_dev_null, begin),
		cmocka_unit_test_setup(uv_reads_indexes, begin),
		cmocka_unit_test_setup(uv_reads_pyproject, begin),
		cmocka_unit_test_setup(findings_of_settings, begin),
		cmocka_unit_test_setup(a_trusted_host_is_known_with_and_without_its_port, begin),
	};
	return cmocka_run_group_tests(tests, make_home, remove_home);
}
