// SPDX-License-Identifier: Apache-2.0
#include "lib/advisories/osv-record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/cvss.h"
#include "lib/domain/text/version.h"

static struct arena arena;

static int release_arena(void **state UNUSED)
{
	arena_release(&arena);
	return 0;
}

static struct osv_record read_record(struct str text)
{
	struct err e = ERR_INIT;
	struct osv_record r;
	if (osv_record_read(text, STR("MAL-2026-9"), false, &arena, &r, &e) < 0)
		fail_msg("%s", e.msg);
	return r;
}

#define HEAD "{\"id\":\"MAL-2026-1\",\"modified\":\"2026-01-02T03:04:05.25Z\",\"affected\":[{\"package\":" \
	     "{\"ecosystem\":\"PyPI\",\"name\":\"Acme_Tool\"},"
#define TAIL "}]}"

static bool has_version(const struct osv_record *r, const char *version)
{
	struct str key = osv_version_key(str_from(version), &arena);
	for (size_t i = 0; i < r->affected[0].ranges; i++) {
		const struct osv_range *range = &r->affected[0].range[i];
		int end = range->to.len ? str_cmp(key, range->to) : -1;
		if (str_cmp(key, range->from) >= 0 && (end < 0 || (!end && range->includes_to)))
			return true;
	}
	for (size_t i = 0; i < r->affected[0].versions; i++)
		if (str_eq(key, r->affected[0].version[i]))
			return true;
	return false;
}

// Of each list of events: versions that are hit, and others.
static const struct {
	const char *events, *hit, *missed;
} ranges[] = {
	{"{\"introduced\":\"0\"}", "0.dev0 1.0 2!3", ""},
	{"{\"introduced\":\"1.0\"},{\"fixed\":\"2.0\"}", "1 1.9 2.0rc1 1.0+cu118", "0.9 2.0 2.0.0 2.1"},
	{"{\"fixed\":\"2.0\"},{\"introduced\":\"1.0\"}", "1.0", "2.0"}, // in any order
	{"{\"introduced\":\"1.0\"},{\"last_affected\":\"2.0\"}", "1.0 2.0 2.0+local", "2.0.1 0.9"},
	{"{\"introduced\":\"1\"},{\"fixed\":\"2\"},{\"introduced\":\"3\"},{\"fixed\":\"4\"}", "1 3", "2 4"},
	{"{\"introduced\":\"0\"},{\"limit\":\"2.0\"}", "1.9", "2.0 3"},
	{"{\"introduced\":\"0\"},{\"limit\":\"*\"}", "9", ""},
	{"{\"introduced\":\"1\"},{\"fixed\":\"3\"},{\"limit\":\"2\"}", "1", "2 3"},
	{"{\"introduced\":\"1.0\"},{\"fixed\":\"1.0\"}", "", "0.9 1.0 2"},
	{"{\"introduced\":\"1.0\"},{\"fixed\":\"no version\"}", "1.0 99", "0.9"}, // it bounds nothing
	{"{\"introduced\":\"no version\"},{\"fixed\":\"2\"}", "0 1", "2"},
};

static void check_versions(const struct osv_record *r, const char *versions, bool are_hit, size_t row)
{
	struct str rest = str_from(versions);
	while (rest.len) {
		struct str one = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *version = xstrndup(one.ptr, one.len);
		if (has_version(r, version) != are_hit)
			fail_msg("%s: %s", ranges[row].events, version);
	}
}

static void ranges_have_their_versions(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		CLEANUP(mem_free) char *text = xasprintf(
			HEAD "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[%s]}]" TAIL, ranges[i].events);
		struct osv_record r = read_record(str_from(text));
		assert_null(r.wrong);
		check_versions(&r, ranges[i].hit, true, i);
		check_versions(&r, ranges[i].missed, false, i);
	}
}

static void record_has_its_parts(void **state UNUSED)
{
	struct osv_record r = read_record(STR(HEAD
		"\"versions\":[\"1.0\",\"2004d-x\"],\"ranges\":[{\"type\":\"GIT\",\"events\":[{\"introduced\":\"0\"}]}]},"
		"{\"package\":{\"ecosystem\":\"npm\",\"name\":\"other\"}},{\"ranges\":[]},"
		"{\"versions\":[\"3\"],\"package\":{\"name\":\"b\",\"ecosystem\":\"PyPI:https://pypi.org\"}}]}"));
	assert_null(r.wrong);
	assert_true(str_eq(r.id, STR("MAL-2026-1")) && r.is_malicious && !r.is_withdrawn);
	assert_true(r.modified == 1767323045250000000);
	assert_int_equal(r.count, 2);
	assert_true(str_eq(r.affected[0].project, STR("acme-tool")) && str_eq(r.affected[1].project, STR("b")));
	assert_int_equal(r.affected[0].versions, 1);
	assert_int_equal(r.affected[0].others, 1);
	assert_int_equal(r.affected[0].ranges, 0); // of git
	assert_true(has_version(&r, "1.0.0") && !has_version(&r, "1.1"));
}

#define CRATE(more) "{\"id\":\"RUSTSEC-1\",\"modified\":\"2026-01-02T03:04:05Z\",\"affected\":[{" more "}]}"
#define OF_CRATE "\"package\":{\"ecosystem\":\"crates.io\",\"name\":\"openssl-src\",\"purl\":\"pkg:cargo/openssl-src\"}"

// Ranges of the type SEMVER, wherever the ecosystem is told; their builds do not count, and "0.0.0-0" is the first
// version.
static void crates_have_ranges_of_their_own(void **state UNUSED)
{
	static const struct {
		struct str text;
		const char *hit, *missed;
	} cases[] = {
		{STR(CRATE("\"ranges\":[{\"type\":\"SEMVER\",\"events\":[{\"introduced\":\"0.0.0-0\"},{\"fixed\":\"111.25.0\"},"
			   "{\"introduced\":\"300.0.0\"},{\"fixed\":\"300.0.12\"}]}]," OF_CRATE)),
			"0.0.0 1.0.0-alpha.1 111.24.0+1.1.1s 300.0.11+3.0.8", "111.25.0+1.1.1t 300.0.12+3.0.8 300.1.0"},
		{STR(CRATE(OF_CRATE ",\"versions\":[\"1.0.0\"],\"ranges\":[{\"events\":[{\"introduced\":\"2.0.0-rc.1\"}],"
			   "\"type\":\"SEMVER\"}]")),
			"1.0.0 2.0.0-rc.2 2.0.0", "1.0.1 2.0.0-beta.1"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct osv_record r = read_record(cases[i].text);
		assert_true(!r.wrong && r.count == 1 && str_eq(r.affected[0].project, STR("pkg:cargo/openssl-src")));
		check_versions(&r, cases[i].hit, true, 0);
		check_versions(&r, cases[i].missed, false, 0);
	}
	struct osv_record r = read_record(STR(CRATE(OF_CRATE ",\"ranges\":[{\"type\":\"SEMVER\",\"events\":[{\"fixed\":\"1.0.0\"}]}]")));
	assert_string_equal(r.wrong, "a range begins nowhere");
	assert_true(has_version(&r, "7.0.0"));
	// Of a project of PyPI they say nothing.
	r = read_record(STR(HEAD "\"versions\":[\"1\"],\"ranges\":[{\"type\":\"SEMVER\",\"events\":[{\"fixed\":\"9.0.0\"}]}]" TAIL));
	assert_true(!r.wrong && !has_version(&r, "2"));
}

static void packages_have_names_by_their_type(void **state UNUSED)
{
	CLEANUP(arena_release) struct arena a = {0};
	assert_true(str_eq(osv_project(STR("PyPI"), STR("Acme.Tool"), &a), STR("acme-tool")));
	assert_true(str_eq(osv_project(STR("cargo"), STR("Serde_json"), &a), STR("pkg:cargo/Serde_json")));
	assert_int_equal(osv_project(STR("cargo"), STR("a/b"), &a).len, 0);
	assert_int_equal(osv_project(STR("npm"), STR("left-pad"), &a).len, 0);
}

static void malware_without_versions_means_all(void **state UNUSED)
{
	struct osv_record r = read_record(STR(HEAD "\"versions\":[]" TAIL));
	assert_true(!r.wrong && r.affected[0].ranges == 1 && has_version(&r, "1"));
	r = read_record(STR("{\"modified\":\"2026-01-02T03:04:05Z\",\"id\":\"PYSEC-1\",\"affected\":[{\"package\":"
			    "{\"ecosystem\":\"PyPI\",\"name\":\"a\"}}]}"));
	assert_true(!r.wrong && !r.affected[0].ranges);
}

static void raw_reports_and_withdrawn_records_are_marked(void **state UNUSED)
{
	struct osv_record r = read_record(STR("{\"id\":\"MAL-0000-x\",\"modified\":\"2026-01-02T03:04:05Z\","
					      "\"withdrawn\":\"2026-01-03T00:00:00Z\",\"affected\":null}"));
	assert_true(!r.wrong && !r.is_malicious && r.is_withdrawn && !r.count);
	r = read_record(STR("{\"id\":\"A-1\",\"modified\":\"2026-01-02T03:04:05Z\",\"withdrawn\":null}"));
	assert_true(!r.wrong && !r.is_withdrawn);
}

#define SCORED(more) "{\"id\":\"A-1\",\"modified\":\"2026-01-02T03:04:05Z\"," more "}"

// The greatest vector counts; a word only where there is none.
static void severity_is_the_greatest(void **state UNUSED)
{
	static const struct {
		struct str text;
		int severity;
	} cases[] = {
		{STR(SCORED("\"severity\":[{\"type\":\"CVSS_V3\",\"score\":\"CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N\"},"
			    "{\"type\":\"CVSS_V4\",\"score\":\"CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N\"}],"
			    "\"database_specific\":{\"severity\":\"LOW\"}")),
			93},
		{STR(SCORED("\"affected\":[{\"severity\":[{\"score\":\"CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N\"}]}]")), 31},
		{STR(SCORED("\"database_specific\":{\"severity\":\"MODERATE\"}")), 40},
		{STR(SCORED("\"severity\":[{\"type\":\"CVSS_V2\",\"score\":\"AV:N/AC:L/Au:N/C:N/I:N/A:C\"}],"
			    "\"database_specific\":{\"severity\":\"critical\"}")),
			90},
		{STR(SCORED("\"database_specific\":{\"severity\":7}")), CVSS_NONE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(read_record(cases[i].text).severity, cases[i].severity);
}

// What breaks the schema means all versions of what it names.
static void wrong_records_mean_all_versions(void **state UNUSED)
{
	static const struct str texts[] = {
		STR("{\"id\":\"MAL-1\",\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"a\"},\"versions\":[\"1\"]}]}"),
		STR("{\"id\":7,\"modified\":\"2026-01-02T03:04:05Z\",\"affected\":[{\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"a\"}}]}"),
		STR(HEAD "\"versions\":7" TAIL),
		STR(HEAD "\"versions\":[7]" TAIL),
		STR(HEAD "\"ranges\":[7]" TAIL),
		STR(HEAD "\"ranges\":[{\"events\":[{\"introduced\":\"0\"}]}]" TAIL),
		STR(HEAD "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[]}]" TAIL),
		STR(HEAD "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[{\"fixed\":\"1\"}]}]" TAIL),
		STR(HEAD "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[{\"introduced\":0}]}]" TAIL),
		STR(HEAD "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[{\"introduced\":\"1\",\"fixed\":\"2\"}]}]" TAIL),
		STR(HEAD "\"versions\":[\"1\"]}],\"id\":\"MAL-2\"}"),
		STR(HEAD "\"versions\":[\"1\"]}],\"affected\":[]}"),
		STR(HEAD "\"versions\":[\"1\"]}],\"withdrawn\":\"yes\"}"),
		STR(HEAD "\"package\":{\"name\":\"b\"},\"versions\":[\"1\"]}]}"),
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct osv_record r = read_record(texts[i]);
		if (!r.wrong || r.count != 1 || !has_version(&r, "99") || r.is_withdrawn)
			fail_msg("%s: %s", texts[i].ptr, r.wrong ? r.wrong : "not wrong");
	}
	assert_true(str_eq(read_record(texts[1]).id, STR("MAL-2026-9"))); // that of its file
}

static void name_that_is_none_is_told(void **state UNUSED)
{
	struct osv_record r = read_record(STR("{\"id\":\"MAL-1\",\"modified\":\"2026-01-02T03:04:05Z\",\"affected\":[{"
					      "\"package\":{\"ecosystem\":\"PyPI\",\"name\":\"../\\u0000a\"}}]}"));
	assert_true(r.wrong && !r.count);
}

static void what_is_no_object_is_refused(void **state UNUSED)
{
	static const struct str texts[] = {STR(""), STR("[]"), STR("{\"id\":"), STR("\0"), STR("{}{}"), STR("7")};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct err e = ERR_INIT;
		struct osv_record r;
		assert_int_equal(osv_record_read(texts[i], STR("x"), false, &arena, &r, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

static void beginning_of_a_large_record_names_projects(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct osv_record r;
	struct str text = STR(HEAD "\"versions\":[\"1\",\"2");
	assert_int_equal(osv_record_read(text, STR("x"), true, &arena, &r, &e), 0);
	assert_true(r.wrong && r.count == 1 && has_version(&r, "77"));
}

// Exceeds LIMIT_ADVISORY_VERSIONS
static void too_many_ranges_mean_all_versions(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(64 << 20);
	buf_puts(&text, HEAD "\"ranges\":[{\"type\":\"ECOSYSTEM\",\"events\":[{\"introduced\":\"1\"}");
	for (int i = 0; i < LIMIT_ADVISORY_VERSIONS; i++)
		buf_puts(&text, ",{\"fixed\":\"2\"}");
	buf_puts(&text, "]}]" TAIL);
	struct osv_record r = read_record(buf_view(&text));
	assert_true(r.wrong && has_version(&r, "3"));
}

// Exceeds LIMIT_ADVISORY_ID
static void long_id_is_none(void **state UNUSED)
{
	char id[LIMIT_ADVISORY_ID + 2];
	memset(id, 'a', sizeof(id));
	assert_true(osv_id_is_valid((struct str){id, LIMIT_ADVISORY_ID}));
	assert_false(osv_id_is_valid((struct str){id, LIMIT_ADVISORY_ID + 1}));
	assert_false(osv_id_is_valid(STR("")) || osv_id_is_valid(STR("a b")) || osv_id_is_valid(STR("a/b")) ||
		     osv_id_is_valid(STR("a\x7f")));
}

static void keys_have_no_local_part(void **state UNUSED)
{
	assert_true(str_eq(osv_version_key(STR("1.0+cu118"), &arena), osv_version_key(STR("v1"), &arena)));
	static const struct str none[] = {STR(""), STR("x"), STR("1.0+"), STR("1.0+!"), STR("+1"), STR("2004d-x")};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_int_equal(osv_version_key(none[i], &arena).len, 0);
}

#define CASE(name) cmocka_unit_test_teardown(name, release_arena)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(ranges_have_their_versions),
		CASE(record_has_its_parts),
		CASE(crates_have_ranges_of_their_own),
		CASE(packages_have_names_by_their_type),
		CASE(malware_without_versions_means_all),
		CASE(raw_reports_and_withdrawn_records_are_marked),
		CASE(severity_is_the_greatest),
		CASE(wrong_records_mean_all_versions),
		CASE(name_that_is_none_is_told),
		CASE(what_is_no_object_is_refused),
		CASE(beginning_of_a_large_record_names_projects),
		CASE(too_many_ranges_mean_all_versions),
		CASE(long_id_is_none),
		CASE(keys_have_no_local_part),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
