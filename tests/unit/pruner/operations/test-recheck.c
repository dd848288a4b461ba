// SPDX-License-Identifier: Apache-2.0
// recheck_tombstone: whether upstream's changes still justify a tombstone; and yanked_releases.
#include "pruner/operations/recheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/upstream/upstream.h"

#define URL "http://127.0.0.1/simple/foo/"
#define OURS "foo-1.0-cp310-cp310-linux_x86_64.whl"
#define SAME_SHA "\"hashes\":{\"sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\"}"
#define OTHER_SHA "\"hashes\":{\"sha256\":\"1111111111111111111111111111111111111111111111111111111111111111\"}"
#define FILE(name, more) "{\"filename\":\"" name "\",\"url\":\"" name "\"," more "}"
#define PLAIN(name) FILE(name, SAME_SHA)

static struct platform platform;

static int make_platform(void **state UNUSED)
{
	struct err e = ERR_INIT;
	static char name[] = "ubuntu-22.04-x86_64", pythons[] = "3.10 3.11", arch[] = "x86_64", libc[] = "glibc 2.35";
	platform = (struct platform){.name = name};
	return profile_init(&platform.profile, name, &(struct profile_keys){pythons, arch, libc}, &e);
}

static int release_platform(void **state UNUSED)
{
	profile_release(&platform.profile);
	return 0;
}

static void make_page(const char *files, struct simplepage *out)
{
	struct err e = ERR_INIT;
	enum simplepage_fault fault;
	CLEANUP(mem_free)
	char *body = xasprintf("{\"meta\":{\"api-version\":\"1.4\"},\"name\":\"foo\",\"versions\":[],\"files\":[%s]}",
		files);
	if (simplepage_parse(str_from(body), STR("application/vnd.pypi.simple.v1+json"), URL, "foo", out, &fault, &e) <
		0)
		fail_msg("%s: %s", e.msg, body);
}

static enum recheck_result judge(const char *ours, const struct tombstone *t, enum upstream_result result,
	const char *files, struct buf *words)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	make_page(files, &page);
	bool is_known = result == UPSTREAM_KNOWN;
	CLEANUP(replacement_cleanup) struct replacement *replacement = is_known ? replacement_new(&page, "foo") : NULL;
	const struct upstream_answer answer = {.result = result,
		.project = "foo",
		.index = URL,
		.why = is_known ? "" : "it said so",
		.page = is_known ? &page : NULL};
	const struct recheck_file file = {.filename = ours, .tombstone = t};
	return recheck_tombstone(&platform, &file, &answer, replacement, words);
}

static void recheck_of_each_kind(void **state UNUSED)
{
	static const struct {
		const char *verdict, *ours, *theirs, *requires_python;
		enum upstream_result result;
		const char *files;
		enum recheck_result expected;
		const char *words;
	} row[] = {
		{"duplicate", OURS, OURS, NULL, UPSTREAM_KNOWN, PLAIN(OURS), RECHECK_HOLDS, ""},
		{"duplicate", OURS, OURS, NULL, UPSTREAM_KNOWN, FILE(OURS, SAME_SHA ",\"yanked\":\"bad\""),
			RECHECK_YANKED, "upstream has yanked " OURS ": bad"},
		{"duplicate", OURS, OURS, NULL, UPSTREAM_KNOWN, PLAIN("foo-2.0-py3-none-any.whl"), RECHECK_GONE,
			"upstream no longer has " OURS},
		{"duplicate", OURS, OURS, NULL, UPSTREAM_KNOWN, FILE(OURS, OTHER_SHA), RECHECK_GONE,
			"upstream has other bytes under the name " OURS},
		// Another file replaces it now.
		{"duplicate", OURS, OURS, NULL, UPSTREAM_KNOWN, PLAIN("foo-1.0-py3-none-any.whl"), RECHECK_HOLDS, ""},
		{"duplicate", OURS, OURS, NULL, UPSTREAM_KNOWN, PLAIN("foo-1.0-cp311-cp311-linux_x86_64.whl"),
			RECHECK_GONE, "upstream no longer has " OURS},
		{"superseded", OURS, "foo-1.0-py3-none-any.whl", NULL, UPSTREAM_KNOWN,
			PLAIN("foo-1.0-py3-none-any.whl"), RECHECK_HOLDS, ""},
		// It requires a newer Python than ours, or the same one.
		{"superseded", OURS, "foo-1.0-py3-none-any.whl", NULL, UPSTREAM_KNOWN,
			FILE("foo-1.0-py3-none-any.whl", SAME_SHA ",\"requires-python\":\">=3.10.5\""),
			RECHECK_NARROWER, "upstream no longer has a replacement on Python 3.10"},
		{"superseded", OURS, "foo-1.0-py3-none-any.whl", ">=3.10.7", UPSTREAM_KNOWN,
			FILE("foo-1.0-py3-none-any.whl", SAME_SHA ",\"requires-python\":\">=3.10.5\""), RECHECK_HOLDS,
			""},
		{"pure", "foo-1.0-py3-none-any.whl", "foo-1.0.tar.gz", NULL, UPSTREAM_KNOWN, PLAIN("foo-1.0.tar.gz"),
			RECHECK_HOLDS, ""},
		{"pure", "foo-1.0-py3-none-any.whl", "foo-1.0.tar.gz", NULL, UPSTREAM_KNOWN,
			FILE("foo-1.0.tar.gz", SAME_SHA ",\"yanked\":true"), RECHECK_YANKED,
			"upstream has yanked foo-1.0.tar.gz"},
		{"pure", "foo-1.0-py3-none-any.whl", "foo-1.0.tar.gz", NULL, UPSTREAM_KNOWN, PLAIN("foo-2.0.tar.gz"),
			RECHECK_GONE, "upstream no longer has foo-1.0.tar.gz"},
		{"duplicate", OURS, OURS, NULL, UPSTREAM_ABSENT, PLAIN(OURS), RECHECK_GONE,
			"upstream no longer has the project"},
		{"duplicate", OURS, OURS, NULL, UPSTREAM_TIMEOUT, PLAIN(OURS), RECHECK_UNKNOWN, "it said so"},
		{"duplicate", OURS, NULL, NULL, UPSTREAM_KNOWN, PLAIN(OURS), RECHECK_UNKNOWN,
			"the tombstone does not say what upstream had"},
		// The platform no longer has such a Python.
		{"duplicate", "foo-1.0-cp39-cp39-linux_x86_64.whl", "foo-1.0-cp39-cp39-linux_x86_64.whl", NULL,
			UPSTREAM_KNOWN, PLAIN(OURS), RECHECK_UNKNOWN,
			"no Python of the platform's profile installs it now"},
		// Not pruned for what upstream has.
		{"off-list", OURS, OURS, NULL, UPSTREAM_KNOWN, PLAIN("foo-2.0.tar.gz"), RECHECK_HOLDS, ""},
		{TOMBSTONE_RETIRED, OURS, NULL, NULL, UPSTREAM_ABSENT, PLAIN("foo-2.0.tar.gz"), RECHECK_HOLDS, ""},
		{NULL, OURS, NULL, NULL, UPSTREAM_ABSENT, PLAIN("foo-2.0.tar.gz"), RECHECK_HOLDS, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		const struct tombstone t = {.reason = "",
			.verdict = row[i].verdict,
			.requires_python = row[i].requires_python,
			.upstream = {.filename = row[i].theirs, .has_sha256 = true}};
		CLEANUP(buf_release) struct buf words;
		buf_init(&words, LIMIT_SIDECAR);
		enum recheck_result found = judge(row[i].ours, &t, row[i].result, row[i].files, &words);
		if (found != row[i].expected || strcmp(words.data, row[i].words) != 0)
			fail_msg("row %zu: %d, %s", i, (int)found, words.data);
	}
}

// --- yanks ---

static void which_releases_are_yanked(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	make_page(FILE("foo-1.0-py3-none-any.whl", SAME_SHA ",\"yanked\":true") "," FILE("foo-1.0.0.tar.gz",
			  SAME_SHA ",\"yanked\":\"two\\nlines\"") "," FILE("foo-2.0-py3-none-any.whl",
			  SAME_SHA ",\"yanked\":\"bad\"") "," PLAIN("foo-2.0.tar.gz") "," FILE("foo-3.0.tar.gz",
			  SAME_SHA ",\"yanked\":true") "," PLAIN("foo-4.0.tar.gz"),
		&page);
	CLEANUP(yanked_releases_cleanup) struct yanked_releases *y = yanked_releases_new(&page, "foo", URL);
	static const struct {
		const char *filename, *text;
		bool offered;
	} row[] = {
		{"foo-1.0-cp310-cp310-linux_x86_64.whl", "two lines\n" MARK_FROM_UPSTREAM URL "\n", false},
		{"foo-1.tar.gz", "two lines\n" MARK_FROM_UPSTREAM URL "\n", false},
		{"foo-1.0+local-py3-none-any.whl", NULL, false}, // ours alone
		{"foo-2.0-1-py3-none-any.whl", NULL, true},      // not all files are yanked
		{"foo-3.0-py3-none-any.whl", "\n" MARK_FROM_UPSTREAM URL "\n", false},
		{"foo-4.0-py3-none-any.whl", NULL, true},
		{"foo-5.0-py3-none-any.whl", NULL, false},
		{"nonsense", NULL, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		const char *text = yanked_releases_of_name(y, row[i].filename);
		if (!text != !row[i].text || (text && strcmp(text, row[i].text) != 0))
			fail_msg("%s: %s", row[i].filename, text ? text : "not yanked");
		if (yanked_releases_offers(y, row[i].filename) != row[i].offered)
			fail_msg("%s: offered or not", row[i].filename);
		assert_true(!text || mark_is_from_upstream(str_from(text)));
	}
	assert_true(yanked_releases_has_any(y));
	struct err e = ERR_INIT;
	struct version v;
	assert_int_equal(version_parse(STR("3"), &v, &e), 0);
	assert_non_null(yanked_releases_of_key(y, v.key));
	version_release(&v);
}

static void nothing_is_yanked(void **state UNUSED)
{
	CLEANUP(simplepage_release) struct simplepage page = {0};
	make_page(PLAIN("foo-1.0.tar.gz"), &page);
	CLEANUP(yanked_releases_cleanup) struct yanked_releases *y = yanked_releases_new(&page, "foo", URL);
	assert_false(yanked_releases_has_any(y));
	assert_false(mark_is_from_upstream(STR("an operator's\nreason\n")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recheck_of_each_kind),
		cmocka_unit_test(which_releases_are_yanked),
		cmocka_unit_test(nothing_is_yanked),
	};
	return cmocka_run_group_tests_name("recheck_tombstone", tests, make_platform, release_platform);
}
