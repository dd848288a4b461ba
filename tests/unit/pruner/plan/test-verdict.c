// SPDX-License-Identifier: Apache-2.0
// Each verdict and each reason once, and their order. test-verdict.py compares random cases with a reference.
#include "pruner/plan/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "lib/domain/index/simplepage.h"
#include "lib/state/upstream/upstream.h"

enum { DAY = 86400, NOW = 1790000000 };

#define WHEEL "foo-1.0-py3-none-any.whl"
#define OTHER "foo-1.0-py2.py3-none-any.whl"
#define SDIST "foo-1.0.tar.gz"

static const uint8_t our_hash[SHA256_SIZE] = {1}, their_hash[SHA256_SIZE] = {2};

// How a case differs from the default: a wheel that is old enough, and an upstream project with only the given file.
struct row {
	const char *what;
	const char *ours;                     // NULL: WHEEL
	const char *theirs;                   // NULL: upstream has no file
	const char *yanked, *requires_python; // of theirs
	const char *list, *pins;
	const char *takes; // "p": pure, "o": off-list, "u": unusable, "c": corrupt, "n": name-taken-over
	const char *refusal, *view;
	enum upstream_result result; // 0: known
	bool is_without_profile, is_young, is_theirs_young, is_downloaded, is_nameless, is_not_asked;
	bool is_younger; // upstream's project is younger than ours
	bool is_ours;    // the name
	enum verdict_kind kind;
	enum verdict_why why;
	const char *reason;
};

#define IS(kind_, why_, reason_) .kind = VERDICT_##kind_, .why = VERDICT_##why_, .reason = reason_

static const struct row rows[] = {
	{"a duplicate", .theirs = WHEEL, IS(DUPLICATE, REMOVES, "upstream has this file, with other bytes")},
	{"superseded", .theirs = OTHER, IS(SUPERSEDED, REMOVES, "upstream has wheels of this version for 3.10 3.11")},
	{"needed", .theirs = SDIST, IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},
	{"narrower", .theirs = WHEEL, .requires_python = ">=3.11",
		IS(KEEP, NOT_COVERED, "upstream's file of this name requires Python >=3.11, so it is not for 3.10")},
	{"in part", .theirs = OTHER, .requires_python = ">=3.10.4",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 (some of its releases)")},
	{"yanked", .theirs = WHEEL, .yanked = "broken",
		IS(KEEP, YANKED_UPSTREAM, "upstream has yanked this file: broken")},
	{"yanked without a reason", .theirs = WHEEL, .yanked = "",
		IS(KEEP, YANKED_UPSTREAM, "upstream has yanked this file")},
	{"a yanked other", .theirs = OTHER, .yanked = "",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},
	{"upstream has nothing of the version",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},

	{"in a view", .theirs = WHEEL, .view = "tested",
		IS(KEEP, IN_VIEW, "pinned by view tested: wheelcache demote first")},
	{"in a view, and corrupt", .view = "tested", .refusal = "no METADATA", .takes = "c",
		IS(KEEP, IN_VIEW, "pinned by view tested: wheelcache demote first")},
	{"listed", .theirs = WHEEL, .list = "foo keep we like it",
		IS(KEEP, LISTED, "it is on the list (list:1): we like it")},
	{"listed elsewhere", .theirs = WHEEL, .list = "foo platform=debian-*",
		IS(DUPLICATE, REMOVES, "upstream has this file, with other bytes")},
	{"pinned", .theirs = WHEEL, .pins = "foo===1.0.0;python_version<'3'",
		IS(KEEP, PINNED, "pins:1 pins foo==1.0.0")},
	{"pinned otherwise", .theirs = WHEEL, .pins = "foo===1.1",
		IS(DUPLICATE, REMOVES, "upstream has this file, with other bytes")},
	{"without profile", .theirs = WHEEL, .is_without_profile = true,
		IS(KEEP, NO_PROFILE, "the profile of ubuntu-22.04-x86_64 is not known")},
	{"young", .theirs = WHEEL, .is_young = true, IS(KEEP, TOO_YOUNG, "it changed less than 172800 seconds ago")},
	{"upstream's is young", .theirs = WHEEL, .is_theirs_young = true,
		IS(KEEP, UPSTREAM_TOO_YOUNG, "upstream's replacement is too recent, or has no upload time")},
	{"downloaded", .theirs = OTHER, .is_downloaded = true,
		IS(KEEP, DOWNLOADED, "it was downloaded recently, or downloads were not counted")},
	{"young and needed", .theirs = SDIST, .is_young = true,
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},

	{"unknown", .theirs = WHEEL, .result = UPSTREAM_TIMEOUT,
		IS(KEEP, UPSTREAM_UNKNOWN, "what upstream has is not known: timeout: because")},
	{"404 that is not trusted", .theirs = WHEEL, .result = UPSTREAM_NOT_FOUND,
		IS(KEEP, UPSTREAM_UNKNOWN, "what upstream has is not known: 404: because")},
	{"not asked", .is_not_asked = true, IS(KEEP, UPSTREAM_UNKNOWN, "upstream was not asked")},
	{"absent", .result = UPSTREAM_ABSENT, .takes = "po", .list = "bar",
		IS(KEEP, UPSTREAM_ABSENT, "upstream has no foo")},

	{"unusable", .ours = "foo-1.0-cp38-cp38-linux_x86_64.whl", .theirs = WHEEL,
		IS(UNUSABLE, NOT_ASKED,
			"no Python of ubuntu-22.04-x86_64 installs it; it is removed only with --unusable")},
	{"unusable, and asked for", .ours = "foo-1.0-cp38-cp38-linux_x86_64.whl", .takes = "u",
		IS(UNUSABLE, REMOVES, "no Python of ubuntu-22.04-x86_64 installs it")},
	{"unusable, asked for, and young", .ours = "foo-1.0-cp38-cp38-linux_x86_64.whl", .takes = "u", .is_young = true,
		IS(KEEP, TOO_YOUNG, "it changed less than 172800 seconds ago")},
	{"unusable, and upstream out of reach", .ours = "foo-1.0-cp38-cp38-linux_x86_64.whl", .takes = "u",
		.result = UPSTREAM_SERVER_ERROR,
		IS(UNUSABLE, UPSTREAM_UNKNOWN,
			"no Python of ubuntu-22.04-x86_64 installs it; it is kept while what upstream has is not known")},
	{"unusable, and listed", .ours = "foo-1.0-cp38-cp38-linux_x86_64.whl", .takes = "u", .list = "foo",
		IS(KEEP, LISTED, "it is on the list (list:1)")},
	{"corrupt", .theirs = WHEEL, .refusal = "no METADATA", .list = "foo",
		IS(CORRUPT, NOT_ASKED, "it is quarantined: no METADATA; it is removed only with --corrupt")},
	{"corrupt, and asked for", .refusal = "no METADATA", .takes = "c", .is_nameless = true,
		IS(CORRUPT, REMOVES, "it is quarantined: no METADATA")},
	{"corrupt, and upstream out of reach", .refusal = "no METADATA", .takes = "c", .is_not_asked = true,
		IS(CORRUPT, UPSTREAM_UNKNOWN,
			"it is quarantined: no METADATA; it is kept while what upstream has is not known")},
	{"nameless", .theirs = WHEEL, .is_nameless = true, IS(KEEP, UNCERTAIN, "the catalog does not know what it is")},

	{"pure, and not asked for", .theirs = SDIST, .takes = "u",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},
	{"pure", .theirs = SDIST, .takes = "p", IS(PURE, REMOVES, "it is pure Python, and upstream has the sdist")},
	{"pure, and the sdist is young", .theirs = SDIST, .takes = "p", .is_theirs_young = true,
		IS(KEEP, UPSTREAM_TOO_YOUNG, "upstream's replacement is too recent, or has no upload time")},
	{"pure, and the sdist is narrower", .theirs = SDIST, .takes = "p", .requires_python = ">=3.11",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},
	{"not pure", .ours = "foo-1.0-py3-none-linux_x86_64.whl", .theirs = SDIST, .takes = "p",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},
	{"for CPython alone", .ours = "foo-1.0-cp311-none-any.whl", .theirs = SDIST, .takes = "p",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.11")},
	{"off the list", .takes = "o", .list = "bar", IS(OFF_LIST, REMOVES, "it is on no list")},
	{"off the list, and not asked for", .list = "bar",
		IS(KEEP, NOT_COVERED, "upstream has no wheel of this version for 3.10 3.11")},
	{"off the list, but covered", .theirs = OTHER, .takes = "o", .list = "bar",
		IS(SUPERSEDED, REMOVES, "upstream has wheels of this version for 3.10 3.11")},

#define TAKEN_OVER                                                                                                     \
	IS(KEEP, TAKEN_OVER,                                                                                           \
		"upstream may not have had foo before it was here, so it may be another project there; it is removed " \
		"only with --name-taken-over")
	{"a stranger's file of the name", .theirs = WHEEL, .is_younger = true, TAKEN_OVER},
	{"a stranger's other files", .theirs = OTHER, .is_younger = true, TAKEN_OVER},
	{"a stranger's sdist", .theirs = SDIST, .takes = "p", .is_younger = true, TAKEN_OVER},
	{"a stranger's file, and asked for", .theirs = WHEEL, .takes = "n", .is_younger = true,
		IS(DUPLICATE, REMOVES, "upstream has this file, with other bytes")},
	{"off the list, whatever strangers have", .theirs = SDIST, .takes = "o", .list = "bar", .is_younger = true,
		IS(OFF_LIST, REMOVES, "it is on no list")},
	{"ours", .theirs = WHEEL, .result = UPSTREAM_PRIVATE, .is_ours = true,
		IS(KEEP, UPSTREAM_UNKNOWN, "what upstream has is not known: private: because")},
	{"ours and unusable", .ours = "foo-1.0-cp38-cp38-linux_x86_64.whl", .result = UPSTREAM_PRIVATE, .is_ours = true,
		.takes = "u", IS(UNUSABLE, REMOVES, "no Python of ubuntu-22.04-x86_64 installs it")},

	{"an sdist", .ours = SDIST, .theirs = SDIST,
		IS(DUPLICATE, REMOVES, "upstream has this file, with other bytes")},
	{"an sdist of ours alone", .ours = SDIST, .theirs = WHEEL, .takes = "po", .list = "bar",
		IS(KEEP, SDIST, "it is an sdist, and upstream does not have this file")},
};

static bool takes(const struct row *r, char letter)
{
	return r->takes && strchr(r->takes, letter);
}

static void make_policy(const struct row *r, struct policy *p)
{
	struct err e = ERR_INIT;
	*p = (struct policy){
		.takes = {takes(r, 'p'), takes(r, 'o'), takes(r, 'u'), takes(r, 'c'), takes(r, 'n')},
		.min_age = 2 * DAY,
		.upstream_min_age = DAY,
		.has_packages = r->list != NULL,
	};
	if (requirements_parse(&p->packages, str_from(r->list ? r->list : ""), "list", REQUIREMENT_PACKAGES, &e) < 0 ||
		requirements_parse(&p->pins, str_from(r->pins ? r->pins : ""), "pins", REQUIREMENT_CONSTRAINTS, &e) < 0)
		fail_msg("%s: %s", r->what, e.msg);
}

static void decide_row(const struct row *r, const uint8_t *sha256, struct verdict *out)
{
	static char name[] = "ubuntu-22.04-x86_64";
	CLEANUP(policy_release) struct policy policy;
	struct platform platform = {.name = name};
	struct verdict_upstream upstream;
	struct err e = ERR_INIT;
	struct simplepage_file theirs = {.filename = r->theirs,
		.yanked = r->yanked,
		.requires_python = r->requires_python,
		.has_sha256 = true,
		.uploaded = NOW - (r->is_theirs_young ? 0 : 2 * DAY)};
	memcpy(theirs.sha256, their_hash, sizeof(their_hash));
	const struct simplepage page = {.project = "foo", .file = &theirs, .files = r->theirs ? 1 : 0};
	const struct upstream_answer answer = {.result = r->result,
		.project = "foo",
		.why = "because",
		.is_ours = r->is_ours,
		.page = r->result == UPSTREAM_KNOWN ? &page : NULL};
	const struct verdict_file file = {
		.filename = r->ours ? r->ours : WHEEL,
		.project = r->is_nameless ? NULL : "foo",
		.version = r->is_nameless ? NULL : "1.0",
		.sha256 = sha256,
		.mtime = NOW - (r->is_young ? 1 : 3) * DAY,
		.refusal = r->refusal,
		.was_downloaded = r->is_downloaded,
		.view = r->view,
	};
	make_policy(r, &policy);
	if (!r->is_without_profile && profile_init(&platform.profile, name, &(struct profile_keys){0}, &e) < 0)
		fail_msg("%s", e.msg);
	verdict_upstream_init(&upstream, "foo", r->is_not_asked ? NULL : &answer);
	upstream.is_younger = r->is_younger;
	verdict_decide(&policy, &platform, &file, &upstream, NOW, out);
	out->file = NULL; // the page is released here
	replacement_answer_release(&out->evidence);
	verdict_upstream_release(&upstream);
	profile_release(&platform.profile);
}

static void each_verdict_and_each_reason(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		CLEANUP(verdict_release) struct verdict v;
		decide_row(r, our_hash, &v);
		if (v.kind != r->kind || v.why != r->why || strcmp(v.reason.data, r->reason) != 0)
			fail_msg("%s: %s %s: %s", r->what, verdict_name[v.kind],
				v.why ? verdict_why_name[v.why] : "goes", v.reason.data);
		assert_int_equal(v.removes, r->why == VERDICT_REMOVES);
		assert_false(v.is_identical);
	}
}

static void same_bytes_are_noted(void **state UNUSED)
{
	CLEANUP(verdict_release) struct verdict v;
	decide_row(&rows[0], their_hash, &v);
	assert_true(v.removes && v.is_identical);
	assert_string_equal(v.reason.data, "upstream has this file");
}

static void same_bytes_replace_whatever_the_project(void **state UNUSED)
{
	CLEANUP(verdict_release) struct verdict v;
	struct row r = rows[0];
	r.is_younger = true;
	decide_row(&r, their_hash, &v);
	assert_true(v.removes && v.is_identical);
}

static void every_verdict_has_a_name(void **state UNUSED)
{
	for (size_t i = 0; i < VERDICT_COUNT; i++)
		assert_non_null(verdict_name[i]);
	for (size_t i = 0; i < VERDICT_WHY_COUNT; i++)
		assert_int_equal(verdict_why_name[i] != NULL, i != VERDICT_REMOVES);
}

// A reason can contain outside text.
static void long_reasons_are_cut(void **state UNUSED)
{
	CLEANUP(mem_free) char *long_word = xcalloc(10001, 1);
	memset(long_word, 'x', 10000);
	struct row r = rows[5];
	CLEANUP(verdict_release) struct verdict v;
	assert_non_null(r.yanked);
	r.yanked = long_word;
	decide_row(&r, our_hash, &v);
	assert_int_equal(v.why, VERDICT_YANKED_UPSTREAM);
	assert_true(v.reason.len > 1000 && v.reason.len < 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_verdict_and_each_reason),
		cmocka_unit_test(same_bytes_are_noted),
		cmocka_unit_test(same_bytes_replace_whatever_the_project),
		cmocka_unit_test(every_verdict_has_a_name),
		cmocka_unit_test(long_reasons_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
