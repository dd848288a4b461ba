// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/missing-json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"

#define SHA "abababababababababababababababababababababababababababababababab"
#define TOTALS "{\"missing\": 1, \"here\": 7}"
#define FILES "[{\"name\": \"c.txt\", \"kind\": \"constraints\", \"sha256\": \"" SHA "\"}]"
#define BRANCHES                                                                                                       \
	"[{\"name\": \"master\", \"until\": null, \"is_over\": false, \"files\": " FILES "}, {\"name\": \"old\", \"until\": \"2026-03-31\", \"is_over\": true}]"
#define SDIST                                                                                                          \
	"{\"filename\": \"a-1.tar.gz\", \"url\": \"https://u.example/a-1.tar.gz\", \"sha256\": \"" SHA                 \
	"\", \"size\": 12}"
#define ROW                                                                                                                                                                                                   \
	"{\"platform\": \"ubuntu-22.04-x86_64\", \"python\": \"3.10\", \"project\": \"a\", \"version\": \"1\", \"status\": \"missing\", \"why\": \"no wheel\", \"branches\": [\"master\"], \"sdist\": " SDIST \
	", \"attempts\": null}"
#define DOCUMENT                                                                                                       \
	"{\"made\": \"2026-11-22T20:00:00Z\", \"branches\": " BRANCHES                                                 \
	", \"environments\": [{\"platform\": \"ubuntu-22.04-x86_64\", \"python\": \"3.10\", \"totals\": " TOTALS       \
	"}], \"totals\": " TOTALS ", \"rows\": [" ROW "]}"

// The document with one text replaced; the caller frees it.
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(DOCUMENT, from);
	assert_non_null(at);
	return xasprintf("%.*s%s%s", (int)(at - DOCUMENT), DOCUMENT, to, at + strlen(from));
}

static void test_a_document_is_read(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m;
	assert_int_equal(missing_json_read(STR(DOCUMENT), &m, &e), 0);
	assert_int_equal(m.made, 1795377600);
	assert_int_equal(m.branches, 2);
	assert_null(m.branch[0].until);
	assert_string_equal(m.branch[1].until, "2026-03-31");
	assert_true(m.branch[1].is_over);
	assert_int_equal(m.branch[0].files, 1);
	assert_string_equal(m.branch[0].file[0].name, "c.txt");
	assert_string_equal(m.branch[0].file[0].kind, "constraints");
	assert_string_equal(m.branch[0].file[0].sha256, SHA);
	assert_int_equal(m.branch[1].files, 0);
	assert_int_equal(m.total[WHEEL_HERE], 7);
	assert_int_equal(m.environment[0].total[WHEEL_MISSING], 1);
	assert_int_equal(m.rows, 1);
	assert_string_equal(m.row[0].python, "3.10");
	assert_int_equal(m.row[0].status, WHEEL_MISSING);
	assert_ptr_equal(m.row[0].branch[0], m.branch[0].name);
	assert_string_equal(m.row[0].sdist.sha256, SHA);
	assert_int_equal(m.row[0].sdist.size, 12);
	assert_null(m.row[0].attempts.result);
}

static void write_missing(const struct missing *m, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = missing_json(m);
	jsondoc_write(doc, 0, out);
}

static void test_what_is_written_is_read(void **state UNUSED)
{
	static const char *const names[] = {"master", "\xc3\xa9"};
	const struct missing_file file[] = {{"c \xc3\xa9.txt", "constraints", SHA}, {"r.txt", "requirements", SHA}};
	struct missing_branch branches[] = {
		{"master", NULL, false, file, 2}, {"stable/1", "2027-01-31", false, NULL, 0}};
	struct missing_environment environments[] = {{"debian-12-aarch64", "3.13t", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}};
	struct missing_row rows[] = {
		{.platform = "debian-12-aarch64",
			.python = "3.13t",
			.project = "a-b",
			.version = "1!2.0+cu128",
			.status = WHEEL_FAILED,
			.why = "failed \xc3\xa9 \"twice\"",
			.micros = UINT64_MAX << 60 | 1 << 9 | 7,
			.branch = names,
			.branches = 1,
			.sdist = {"a-b-2.zip", "file:p/a-b/a-b-2.zip", NULL, -1},
			.attempts = {2, 1000000000, 0, "timed-out", "build", SHA}},
		{.platform = "debian-12-aarch64",
			.python = "3.13t",
			.project = "c",
			.status = WHEEL_UNKNOWN,
			.why = "",
			.branch = names,
			.sdist = {.size = -1}},
	};
	struct missing m = {.made = 1792599666,
		.branch = branches,
		.branches = 2,
		.environment = environments,
		.environments = 1,
		.total = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1},
		.row = rows,
		.rows = 2};
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing again = {0};
	CLEANUP(buf_release) struct buf one, other;
	buf_init(&one, LIMIT_MISSING);
	buf_init(&other, LIMIT_MISSING);
	write_missing(&m, &one);
	if (missing_json_read(buf_view(&one), &again, &e) < 0)
		fail_msg("%s", e.msg);
	write_missing(&again, &other);
	assert_string_equal(one.data, other.data);
	assert_non_null(strstr(one.data, "\"version\": null"));
	assert_non_null(strstr(one.data, "\"retry\": null"));
	assert_non_null(strstr(one.data, "\"sdist\": null"));
}

static const struct {
	const char *from, *to, *says;
} bad[] = {
	{"{\"made\"", "[{\"made\"", "not JSON"},
	{"2026-11-22T20:00:00Z", "2026-11-22", "made: not a time"},
	{"\"rows\"", "\"row\"", "rows: not a list"},
	{"\"missing\": 1", "\"missing\": -1", "totals|missing: not a number"},
	{"\"missing\": 1", "\"missing\": \"1\"", "missing: not a number"},
	{"\"name\": \"master\"", "\"name\": \"\"", "branch 1: name: not a word"},
	{"\"name\": \"master\"", "\"name\": \"a\\u001b[1m\"", "branch 1: name: not a word"},
	{"\"until\": null", "\"until\": \"2026-02-30\"", "branch 1: until: not a date"},
	{"\"until\": null", "\"until\": \"2026-02-20T\"", "branch 1: until: not a date"},
	{FILES, "1", "branch 1: files: not a list"},
	{FILES, "[{}]", "branch 1: file 1: name: "},
	{"\"kind\": \"constraints\"", "\"kind\": \"other\"", "branch 1: file 1: kind: not known"},
	{"\"sha256\": \"" SHA "\"}]", "\"sha256\": null}]", "branch 1: file 1: sha256: not a string"},
	{"{\"platform\": \"ubuntu-22.04-x86_64\"", "{\"platform\": \"../x\"", "environment 1: platform: "},
	{"\"python\": \"3.10\"", "\"python\": 3.10", "environment 1: python: not a string"},
	{"\"python\": \"3.10\"", "\"python\": \"3.x\"", "environment 1: python: "},
	{"\"project\": \"a\"", "\"project\": \"A\"", "row 1: project: "},
	{"\"project\": \"a\"", "\"project\": \"../a\"", "row 1: project: "},
	{"\"project\": \"a\"", "\"project\": \"--only\"", "row 1: project: "},
	{"\"version\": \"1\"", "\"version\": \"one\"", "row 1: version: not a version"},
	{"\"version\": \"1\"", "\"version\": \"1 \"", "row 1: version: not a word"},
	{"\"version\": \"1\"", "\"version\": null", "row 1: version: not a version"},
	{"\"status\": \"missing\"", "\"status\": \"gone\"", "row 1: status: "},
	{"\"why\": \"no wheel\"", "\"why\": 1", "row 1: why: not a string"},
	{"[\"master\"]", "[\"other\"]", "row 1: branches: "},
	{"[\"master\"]", "[\"old\", \"master\"]", "row 1: branches: "},
	{"[\"master\"]", "[\"master\", \"master\"]", "row 1: branches: "},
	{"[\"master\"]", "\"master\"", "row 1: branches: "},
	{"\"sdist\": " SDIST, "\"sdist\": null", "row 1: sdist: not an sdist"},
	{"\"a-1.tar.gz\"", "\"a-1-py3-none-any.whl\"", "row 1: sdist: filename: "},
	{"\"a-1.tar.gz\"", "\"../a-1.tar.gz\"", "row 1: sdist: filename: "},
	{"https://u", "ftp://u", "row 1: sdist: url: "},
	{"https://u.example/a-1.tar.gz", "file:../a-1.tar.gz", "row 1: sdist: url: "},
	{"https://u.example/a-1.tar.gz", "file:/etc/passwd", "row 1: sdist: url: "},
	{"https://u.example/a-1.tar.gz", "file:a//a-1.tar.gz", "row 1: sdist: url: "},
	{"https://u.example/a-1.tar.gz", "https://u.example/\\n", "row 1: sdist: url: "},
	{SHA, "ab", "branch 1: file 1: sha256: not a SHA-256"},
	{"\"sha256\": \"" SHA "\", \"size\"", "\"sha256\": \"ab\", \"size\"", "row 1: sdist: sha256: "},
	{"\"size\": 12", "\"size\": -2", "row 1: sdist: size: "},
	{"\"branches\": [\"master\"]", "\"micros\": \"3-64\", \"branches\": [\"master\"]", "row 1: micros: "},
	{"\"branches\": [\"master\"]", "\"micros\": \"3\", \"branches\": [\"master\"]", "row 1: micros: "},
	{"\"size\": 12", "\"size\": 1.5", "row 1: sdist: size: "},
	{"\"attempts\": null", "\"attempts\": 1", "row 1: attempts: not an object"},
	{"\"attempts\": null", "\"attempts\": {\"count\": 1}", "row 1: attempts: last: "},
};

static void test_a_value_that_is_not_valid_is_named(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = ERR_INIT;
		struct missing m;
		CLEANUP(mem_free) char *text = changed(bad[i].from, bad[i].to);
		const char *bar = strchr(bad[i].says, '|');
		if (missing_json_read(str_from(text), &m, &e) == 0)
			fail_msg("accepted: %s", text);
		assert_int_equal(e.kind, ERR_INVALID);
		if (!strstr(e.msg, bar ? bar + 1 : bad[i].says))
			fail_msg("\"%s\", not \"%s\"", e.msg, bad[i].says);
	}
}

static void test_control_characters_of_a_reason_become_blanks(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m;
	CLEANUP(mem_free) char *text = changed("no wheel", "no\\n\\u001bwheel\\u007f");
	assert_int_equal(missing_json_read(str_from(text), &m, &e), 0);
	assert_string_equal(m.row[0].why, "no  wheel ");
}

// A document whose list of this key has one element more than the limit.
static void check_one_too_many(const char *key, const char *element, size_t limit)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_MISSING);
	buf_printf(&text, "{\"made\": \"2026-11-22T20:00:00Z\", \"totals\": {}");
	static const char *const keys[] = {"branches", "environments", "rows"};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		buf_printf(&text, ", \"%s\": [", keys[i]);
		for (size_t n = 0; strcmp(keys[i], key) == 0 && n <= limit; n++)
			buf_printf(&text, "%s%s", n ? "," : "", element);
		buf_puts(&text, "]");
	}
	buf_puts(&text, "}");
	struct err e = ERR_INIT;
	struct missing m;
	CLEANUP(mem_free) char *says = xasprintf("%s: more than %zu entries", key, limit);
	assert_int_equal(missing_json_read(buf_view(&text), &m, &e), -1);
	assert_string_equal(e.msg, says);
}

// Exceeds LIMIT_MISSING, LIMIT_MISSING_ROWS, LIMIT_MISSING_ENVIRONMENTS, LIMIT_MISSING_BRANCHES.
static void test_the_limits(void **state UNUSED)
{
	check_one_too_many("branches", "1", LIMIT_MISSING_BRANCHES);
	check_one_too_many("environments", "1", LIMIT_MISSING_ENVIRONMENTS);
	check_one_too_many("rows", "1", LIMIT_MISSING_ROWS);
	struct err e = ERR_INIT;
	struct missing m;
	CLEANUP(buf_release) struct buf files;
	buf_init(&files, SIZE_MAX / 2);
	for (size_t i = 0; i <= LIMIT_BRANCH_FILES; i++)
		buf_puts(&files, i ? ", 1" : "[1");
	buf_puts(&files, "]");
	CLEANUP(mem_free) char *many = changed(FILES, files.data);
	assert_int_equal(missing_json_read(str_from(many), &m, &e), -1);
	assert_string_equal(e.msg, "branch 1: files: more than 1000 entries");
	CLEANUP(mem_free) char *blanks = xcalloc(LIMIT_MISSING + 1, 1);
	memset(blanks, ' ', LIMIT_MISSING + 1);
	assert_int_equal(missing_json_read((struct str){blanks, LIMIT_MISSING + 1}, &m, &e), -1);
	assert_string_equal(e.msg, "more than 67108864 bytes");
	CLEANUP(mem_free) char *word = xcalloc(LIMIT_WORDS + 2, 1);
	memset(word, 'w', LIMIT_WORDS + 1);
	CLEANUP(mem_free) char *text = changed("no wheel", word);
	assert_int_equal(missing_json_read(str_from(text), &m, &e), -1);
	assert_string_equal(e.msg, "row 1: why: more than 2048 bytes");
	CLEANUP(mem_free)
	char *long_name = xasprintf("%.*s%.*s\"%s", (int)(strstr(DOCUMENT, "master") - DOCUMENT), DOCUMENT,
		LIMIT_FILE_NAME + 1, word, strstr(DOCUMENT, "master") + strlen("master\""));
	assert_int_equal(missing_json_read(str_from(long_name), &m, &e), -1);
	assert_string_equal(e.msg, "branch 1: name: not a word");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_document_is_read),
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_a_value_that_is_not_valid_is_named),
		cmocka_unit_test(test_control_characters_of_a_reason_become_blanks),
		cmocka_unit_test(test_the_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
