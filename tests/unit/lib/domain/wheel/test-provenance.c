// SPDX-License-Identifier: Apache-2.0
// Reads statements of provenance, right and wrong ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/domain/wheel/provenance.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define ONES "1111111111111111111111111111111111111111111111111111111111111111"
#define TYPE "\"_type\":\"" PROVENANCE_STATEMENT "\""
#define SLSA "\"predicateType\":\"" PROVENANCE_SLSA "\""
#define DIGEST(hex) "\"digest\":{\"sha256\":\"" hex "\"}"
#define SUBJECT(name, hex) "{\"name\":\"" name "\"," DIGEST(hex) "}"
#define WHEEL "Foo_Bar-1.0-py3-none-any.whl"
#define STATEMENT(subjects) "{" TYPE "," SLSA ",\"subject\":[" subjects "]}"

static const char whole[] = "{" TYPE ",\"subject\":[" SUBJECT(WHEEL,
	ZEROS) "],\"predicate\":{\"buildDefinition\":{\"buildType\":\"t\","
	       "\"externalParameters\":{\"branch\":\"main\",\"options\":[\"-Da=1\",\"-Db\"],\"workflow\":{\"ref\":\"v1\"},"
	       "\"empty\":\"\",\"none\":null,\"fast\":true},"
	       "\"internalParameters\":{\"toolchain\":{\"rustc\":\"1.90\",\"gcc\":\"14\"},\"python\":3.12},"
	       "\"resolvedDependencies\":[{\"name\":\"ucx\",\"uri\":\"https://x/ucx.tar.gz\",\"digest\":{\"md5\":\"5\",\"sha256\":"
	       "\"7\"},\"annotations\":{\"version\":\"1.19\",\"prefix\":\"/usr/local\",\"how\":\"source\",\"options\":[\"a\","
	       "\"b\"]}},{\"uri\":\"https://y/base/\"},{\"digest\":{\"sha256\":\"8\"}},"
	       "{\"name\":\"sdist\",\"digest\":{\"gitCommit\":\"9\"}}]},"
	       "\"runDetails\":{\"builder\":{\"id\":\"https://b\",\"version\":{\"wheelcache\":\"1.2\",\"pip\":\"26\"}},"
	       "\"metadata\":{\"invocationId\":\"i\",\"startedOn\":\"s\",\"finishedOn\":\"f\"}}}," SLSA "}";

static const char *or_dash(const char *text)
{
	return text ? text : "-";
}

static void print_rows(const struct provenance *p, struct buf *out)
{
	for (size_t i = 0; i < p->rows; i++) {
		const struct provenance_row *r = &p->row[i];
		buf_printf(out, "%s %s %s %s %s %s %s %s\n", provenance_kind_name[r->kind], r->component,
			or_dash(r->version), or_dash(r->source), or_dash(r->digest), or_dash(r->path), or_dash(r->how),
			or_dash(r->options));
	}
}

static void test_rows(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(provenance_release) struct provenance p = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 4096);
	if (provenance_read(str_from(whole), &p, &e) < 0)
		fail_msg("%s", e.msg);
	print_rows(&p, &text);
	assert_string_equal(text.data, "builder builder wheelcache 1.2, pip 26 https://b - - - -\n"
				       "dependency base - https://y/base/ - - - -\n"
				       "dependency sdist - - gitCommit:9 - - -\n"
				       "dependency ucx 1.19 https://x/ucx.tar.gz sha256:7 /usr/local source a b\n"
				       "tool gcc 14 - - - - -\n"
				       "tool rustc 1.90 - - - - -\n"
				       "machine python 3.12 - - - - -\n"
				       "parameter branch main - - - - -\n"
				       "parameter fast true - - - - -\n"
				       "parameter options -Da=1 -Db - - - - -\n"
				       "parameter workflow.ref v1 - - - - -\n");
	assert_true(p.is_slsa && !p.is_cut);
	assert_string_equal(p.build_type, "t");
	assert_string_equal(p.builder, "https://b");
	assert_string_equal(p.invocation, "i");
	assert_string_equal(p.started, "s");
	assert_string_equal(p.finished, "f");
}

// NULL: it is a statement about WHEEL with a digest of zeros; else words of the error.
static const struct {
	const char *text, *words;
} statements[] = {
	{whole, NULL},
	{STATEMENT(SUBJECT(WHEEL, ZEROS)), NULL},
	{STATEMENT(SUBJECT("foo.bar-1.0.0-py3-none-any.whl", ZEROS)), NULL},
	{STATEMENT("{" DIGEST(ZEROS) "}"), NULL},
	{STATEMENT(SUBJECT("other.whl", ONES) "," SUBJECT(WHEEL, ZEROS)), NULL},
	{"", "provenance: "},
	{"[]", "no in-toto statement"},
	{"{}", "no in-toto statement"},
	{"{" TYPE "}", "no predicateType"},
	{"{" TYPE "," SLSA "}", "no subject"},
	{"{" TYPE "," SLSA ",\"subject\":[]}", "no subject"},
	{"{" TYPE "," SLSA ",\"subject\":[1]}", "a subject is no object"},
	{"{" TYPE "," TYPE "," SLSA ",\"subject\":[" SUBJECT(WHEEL, ZEROS) "]}", "twice"},
	{"{" TYPE "," SLSA ",\"subject\":[" SUBJECT(WHEEL, ZEROS) "],\"subject\":[" SUBJECT(WHEEL, ONES) "]}", "twice"},
	{STATEMENT("{\"name\":\"" WHEEL "\",\"name\":\"a\"," DIGEST(ZEROS) "}"), "twice"},
	{STATEMENT("{" DIGEST(ZEROS) "," DIGEST(ONES) "}"), "twice"},
	{STATEMENT("{\"name\":\"" WHEEL "\\u0000\"," DIGEST(ZEROS) "}"), "NUL"},
	{STATEMENT("{\"name\":1," DIGEST(ZEROS) "}"), "no string"},
	{STATEMENT(SUBJECT(WHEEL, "00")), "no SHA-256"},
	{STATEMENT("{\"name\":\"" WHEEL "\"}"), "has no sha256"},
	{STATEMENT(SUBJECT(WHEEL, ONES)), "about other bytes"},
	{STATEMENT(SUBJECT("dist/" WHEEL, ZEROS)), "not among its subjects"},
	{STATEMENT(SUBJECT("foo_bar-1.0-py2-none-any.whl", ZEROS)), "not among its subjects"},
	{STATEMENT(SUBJECT("foo_bar-1.0.tar.gz", ZEROS)), "not among its subjects"},
	{STATEMENT("{" DIGEST(ZEROS) "},{" DIGEST(ZEROS) "}"), "not among its subjects"},
	{STATEMENT(SUBJECT(WHEEL, ZEROS) "," SUBJECT(WHEEL, ZEROS)), "several subjects"},
	{STATEMENT(SUBJECT(WHEEL, ZEROS)) "x", "more behind"},
	{"{\"_type\":\"https://in-toto.io/Statement/v0.1\"," SLSA ",\"subject\":[" SUBJECT(WHEEL, ZEROS) "]}",
		"no in-toto statement"},
};

static int check_wheel(struct str text, struct err *e)
{
	static const uint8_t zeros[SHA256_SIZE];
	return attachment_check(ATTACHMENT_STATEMENT, text, WHEEL, zeros, e);
}

static void test_statements(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		struct err e = ERR_INIT;
		const char *words = statements[i].words;
		int rc = check_wheel(str_from(statements[i].text), &e);
		if ((rc < 0) != (words != NULL) || (words && (e.kind != ERR_INVALID || !strstr(e.msg, words))))
			fail_msg("%s: %d, %s", statements[i].text, rc, e.msg);
	}
}

static void test_other_predicate(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(provenance_release) struct provenance p = {0};
	static const char text[] = "{" TYPE ",\"predicateType\":\"https://example.org/x\",\"subject\":[" SUBJECT(WHEEL,
		ZEROS) "],\"predicate\":{\"runDetails\":{\"builder\":{\"id\":\"b\"}}}}";
	assert_int_equal(provenance_read(str_from(text), &p, &e), 0);
	assert_true(!p.is_slsa && !p.rows && !p.builder);
	assert_string_equal(p.predicate_type, "https://example.org/x");
}

static void put_times(struct buf *out, size_t count, const char *item)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%s", i ? "," : "", item);
}

#define BEGIN "{" TYPE "," SLSA ",\"subject\":["
#define DEPENDENCIES "],\"predicate\":{\"buildDefinition\":{\"resolvedDependencies\":["

// More than a limit.
// Exceeds LIMIT_STATEMENT, LIMIT_STATEMENT_SUBJECTS, LIMIT_STATEMENT_ROWS, LIMIT_STATEMENT_LIST.
static void test_limits(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(provenance_release) struct provenance p = {0}, wide = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 4 << 20);
	buf_printf(&text, "%s%*s", STATEMENT(SUBJECT(WHEEL, ZEROS)), LIMIT_STATEMENT, "");
	assert_int_equal(check_wheel(buf_view(&text), &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	buf_clear(&text);
	buf_puts(&text, BEGIN);
	put_times(&text, LIMIT_STATEMENT_SUBJECTS + 1, "{}");
	buf_puts(&text, "]}");
	e = (struct err)ERR_INIT;
	assert_int_equal(check_wheel(buf_view(&text), &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	buf_clear(&text);
	buf_puts(&text, BEGIN SUBJECT(WHEEL, ZEROS) DEPENDENCIES);
	put_times(&text, LIMIT_STATEMENT_ROWS + 1, "{\"name\":\"a\",\"annotations\":{\"version\":\"1\"}}");
	buf_puts(&text, "]}}}");
	assert_int_equal(provenance_read(buf_view(&text), &p, &e), 0);
	assert_int_equal(p.rows, LIMIT_STATEMENT_ROWS);
	assert_true(p.is_cut);
	buf_clear(&text);
	buf_puts(&text, BEGIN SUBJECT(WHEEL, ZEROS) DEPENDENCIES "{\"name\":\"a\",\"annotations\":{\"options\":[");
	put_times(&text, LIMIT_STATEMENT_LIST, "\"x\"");
	buf_puts(&text, "]}}]}}}");
	assert_int_equal(provenance_read(buf_view(&text), &wide, &e), 0);
	assert_true(wide.is_cut && strlen(wide.row[0].options) < LIMIT_STATEMENT_LIST);
}

// Joining many long lists takes bounded time and memory.
// Exceeds LIMIT_STATEMENT_LISTS.
static void test_lists(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(provenance_release) struct provenance p = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_STATEMENT);
	buf_puts(&text, BEGIN SUBJECT(WHEEL, ZEROS) DEPENDENCIES);
	for (size_t n = 0; n < 100; n++) {
		buf_printf(&text, "%s{\"name\":\"a\",\"annotations\":{\"options\":[", n ? "," : "");
		put_times(&text, LIMIT_STATEMENT_LIST / 2, "\"x\"");
		buf_puts(&text, "]}}");
	}
	buf_puts(&text, "]}}}");
	assert_int_equal(provenance_read(buf_view(&text), &p, &e), 0);
	assert_int_equal(p.rows, 100);
	assert_true(p.is_cut && p.text.total < 2 * LIMIT_STATEMENT_LISTS);
}

#define AAAA "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define BBBB "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define FROM(name, commit) "{\"name\":\"" name "\",\"digest\":{\"sha256\":\"7\",\"gitCommit\":\"" commit "\"}}"

static void test_commit_of_the_source(void **state UNUSED)
{
	static const struct {
		const char *dependencies, *commit;
	} cases[] = {
		{"", NULL},
		{FROM("repository", AAAA), AAAA},
		{FROM("repository", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), AAAA},
		{FROM("a", AAAA) "," FROM("b", AAAA), AAAA},
		{FROM("a", AAAA) "," FROM("b", BBBB), NULL},
		{FROM("a", AAAA) "," FROM("source", BBBB), BBBB},
		{FROM("source", AAAA) "," FROM("source", BBBB), NULL},
		{FROM("a", "9") "," FROM("b", BBBB), BBBB},
		{FROM("a", AAAA "0"), NULL},
		{"{\"name\":\"a\",\"digest\":{\"gitCommit\":\"" AAAA "\",\"gitCommit\":\"" BBBB "\"}}", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(provenance_release) struct provenance p = {0};
		CLEANUP(mem_free) char *text = xasprintf("{" TYPE "," SLSA ",\"subject\":[" SUBJECT(WHEEL, ZEROS) "],"
			"\"predicate\":{\"buildDefinition\":{\"resolvedDependencies\":[%s]}}}", cases[i].dependencies);
		if (provenance_read(str_from(text), &p, &e) < 0)
			fail_msg("%s: %s", text, e.msg);
		const char *commit = provenance_commit(&p);
		if (!commit != !cases[i].commit || (commit && strcmp(commit, cases[i].commit) != 0))
			fail_msg("%s: %s", text, or_dash(commit));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit_of_the_source), cmocka_unit_test(test_rows),
		cmocka_unit_test(test_statements),
		cmocka_unit_test(test_other_predicate),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
