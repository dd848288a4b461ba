// SPDX-License-Identifier: Apache-2.0
// The decision against a slow reference in random worlds: it asks each rule in turn, and finds the next change by
// trying each second. Times are small numbers of seconds after OFFERING_OLDEST.
#include "lib/state/upstream/offering.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/specifier.h"
#include "lib/state/upstream/first-seen.h"

enum { WORLDS = 2000, ERA = 40, MOST = 4, FILES = 3, STEPS = 4, LONGEST = 20 }; // LONGEST: a cooldown

static const char *const projects[] = {"aa", "bb-cc", "dd"};
static const char *const upstreams[] = {"one", "two"};
static const char *const versions[] = {"1.0", "1.0.0", "1.1", "2.0rc1", "2.0+local", NULL};

static unsigned seed;

static unsigned below(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % n;
}

static int64_t instant(void)
{
	return OFFERING_OLDEST + below(ERA);
}

struct world {
	struct holds holds;
	struct hold hold[MOST];
	struct waiver waiver[MOST];
	struct requirements deny, denied; // of the upstream, of the server
	struct offering_rules rules;
	char specifier[MOST][32];
};

static int by_after(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;
	return (x->after > y->after) - (x->after < y->after);
}

static int by_project(const void *a, const void *b)
{
	const struct waiver *x = a, *y = b;
	return strcmp(x->project, y->project);
}

static const char *maybe_upstream(void)
{
	return below(2) ? NULL : upstreams[below(2)];
}

static void make_deny(struct requirements *out)
{
	static const char *const line[] = {"aa ==1.0 bad", "aa", "bb-cc >=1.1 because", "dd !=1.0 so", "dd <2 why"};
	static const char *const platform[] = {"", "platform=debian-*"}; // which no file here is on
	CLEANUP(buf_release) struct buf text = buf_up_to(1000);
	struct err e = ERR_INIT;
	for (unsigned n = below(MOST); n; n--)
		buf_printf(&text, "%s %s\n", line[below(ARRAY_SIZE(line))], platform[below(3) == 0]);
	assert_int_equal(requirements_parse(out, buf_view(&text), "deny", REQUIREMENT_PACKAGES, &e), 0);
}

static void make_world(struct world *w)
{
	*w = (struct world){0};
	w->holds.hold = w->hold;
	w->holds.waiver = w->waiver;
	for (w->holds.holds = 0; w->holds.holds < below(MOST); w->holds.holds++)
		w->hold[w->holds.holds] = (struct hold){
			.id = "hold-00000000", .upstream = maybe_upstream(), .reason = "r", .after = instant()};
	for (w->holds.waivers = 0; w->holds.waivers < below(MOST); w->holds.waivers++) {
		const char *version = versions[below(ARRAY_SIZE(versions))];
		char *specifier = w->specifier[w->holds.waivers];
		snprintf(specifier, sizeof(w->specifier[0]), "==%s", version ? version : "");
		w->waiver[w->holds.waivers] = (struct waiver){.project = projects[below(ARRAY_SIZE(projects))],
			.version = version,
			.specifier = version ? specifier : NULL,
			.upstream = maybe_upstream(),
			.until = instant()};
	}
	qsort(w->hold, w->holds.holds, sizeof(*w->hold), by_after);
	qsort(w->waiver, w->holds.waivers, sizeof(*w->waiver), by_project);
	make_deny(&w->deny);
	make_deny(&w->denied);
	w->rules = (struct offering_rules){.upstream = upstreams[below(2)],
		.cooldown = below(3) ? 1 + below(LONGEST) : 0,
		.exempt = below(3) ? NULL : "bb-*",
		.unknown = below(OFFERING_UNKNOWN_COUNT),
		.denied = below(3) ? NULL : &w->denied,
		.deny = below(2) ? &w->deny : NULL,
		.holds = &w->holds};
}

// --- the reference ---

struct file {
	struct offering_file file; // without what lists say of
	struct version version;    // text NULL: unknown
	const char *project;
};

static const struct version *version_of(const struct file *x)
{
	return x->version.text ? &x->version : NULL;
}

static bool is_of(const struct world *w, const char *upstream)
{
	return !upstream || strcmp(upstream, w->rules.upstream) == 0;
}

static bool list_denies(const struct requirements *list, const char *project, const struct version *v)
{
	bool denies = false;
	for (size_t i = 0; list && i < list->count; i++) {
		const struct requirement *r = &list->item[i];
		denies |= strcmp(r->project, project) == 0 && !r->platform &&
			  (!v || specifier_set_admits(str_from(r->specifier), v));
	}
	return denies;
}

static bool reference_denies(const struct world *w, const char *project, const struct version *v)
{
	return list_denies(w->rules.denied, project, v) || list_denies(w->rules.deny, project, v);
}

static bool reference_waives(const struct world *w, const char *project, const struct version *v, int64_t now)
{
	bool waives = false;
	for (size_t i = 0; i < w->holds.waivers; i++) {
		const struct waiver *one = &w->waiver[i];
		bool has_version = !one->version || (v && specifier_set_admits(str_from(one->specifier), v));
		waives |= strcmp(one->project, project) == 0 && is_of(w, one->upstream) && has_version && now <= one->until;
	}
	return waives;
}

static bool reference_holds(const struct world *w, const struct offering_file *f)
{
	bool holds = false;
	for (size_t i = 0; i < w->holds.holds; i++) {
		bool is_timed = f->uploaded >= OFFERING_OLDEST;
		int64_t time = is_timed ? f->uploaded : f->seen;
		holds |= is_of(w, w->hold[i].upstream) && (!time || time > w->hold[i].after);
	}
	return holds;
}

static bool has_hold(const struct world *w)
{
	bool has = false;
	for (size_t i = 0; i < w->holds.holds; i++)
		has |= is_of(w, w->hold[i].upstream);
	return has;
}

static bool reference_cools(const struct world *w, const char *project, const struct offering_file *f, int64_t now)
{
	bool is_timed = f->uploaded >= OFFERING_OLDEST;
	bool is_exempt = w->rules.exempt && strncmp(project, "bb-", 3) == 0;
	if (!w->rules.cooldown || is_exempt)
		return is_timed && has_hold(w) && f->uploaded > now;
	if (is_timed)
		return now < f->uploaded + w->rules.cooldown;
	if (w->rules.unknown == OFFERING_ALLOW)
		return false;
	return w->rules.unknown == OFFERING_HIDE || !f->seen || now < f->seen + w->rules.cooldown;
}

static unsigned reference_hides(const struct world *w, const struct file *x, int64_t now)
{
	unsigned hides = 0;
	bool waives = reference_waives(w, x->project, version_of(x), now);
	if (reference_denies(w, x->project, version_of(x)))
		hides |= 1u << OFFERING_DENY;
	if (!waives && reference_holds(w, &x->file))
		hides |= 1u << OFFERING_HOLD;
	if (!waives && reference_cools(w, x->project, &x->file, now))
		hides |= 1u << OFFERING_AGE;
	return hides;
}

// 0: not before all times of the world are over.
static int64_t reference_next(const struct world *w, const struct file *x, int64_t now)
{
	bool before = reference_hides(w, x, now) != 0;
	for (int64_t t = now + 1; t <= OFFERING_OLDEST + ERA + LONGEST; t++)
		if ((reference_hides(w, x, t) != 0) != before)
			return t;
	return 0;
}

// --- tests ---

static void make_file(struct file *x)
{
	struct err e = ERR_INIT;
	const char *text = versions[below(ARRAY_SIZE(versions))];
	*x = (struct file){.project = projects[below(ARRAY_SIZE(projects))]};
	if (text)
		assert_int_equal(version_parse(str_from(text), &x->version, &e), 0);
	x->file = (struct offering_file){
		.uploaded = below(4) ? instant() : (int64_t)below(2) * 1000, .seen = below(4) ? instant() : 0};
}

static void judge_twice(const struct world *w, const struct file *x, int64_t now, size_t *hidden)
{
	struct offering_project p;
	struct offering o;
	offering_project_init(&p, &w->rules, x->project, now);
	struct offering_file asked = x->file;
	struct offering_version looked;
	offering_look_up(&p, version_of(x), &looked);
	if (offering_needs_version(&p)) // callers do not look it up otherwise
		asked.version = &looked;
	offering_judge(&p, &asked, &o);
	unsigned hides = reference_hides(w, x, now);
	int64_t next = reference_next(w, x, now);
	if (o.hides != hides || o.is_offered != !hides || o.next != next)
		fail_msg("seed %u: %s %s uploaded %lld seen %lld at %lld: hides %u for %u, next %lld for %lld", seed, x->project,
			x->version.text ? x->version.text : "-", (long long)x->file.uploaded, (long long)x->file.seen,
			(long long)now, o.hides, hides, (long long)o.next, (long long)next);
	if (offering_rules_are_none(&w->rules))
		assert_true(o.is_offered && !o.next);
	*hidden += hides != 0;
}

static void random_worlds_agree_with_the_reference(void **state UNUSED)
{
	size_t hidden = 0, judged = 0;
	for (unsigned n = 1; n <= WORLDS; n++) {
		struct world w;
		seed = n;
		make_world(&w);
		for (int i = 0; i < FILES; i++) {
			struct file x;
			make_file(&x);
			for (int k = 0; k < STEPS; k++, judged++)
				judge_twice(&w, &x, instant(), &hidden); // in any order: the clock steps back too
			version_release(&x.version);
		}
		requirements_release(&w.deny);
		requirements_release(&w.denied);
	}
	print_message("%d worlds, %zu decisions, %zu hide: 0 differences\n", WORLDS, judged, hidden);
	assert_true(hidden > judged / 4 && hidden < judged * 3 / 4);
}

static void expect_words(const struct offering_rules *r, struct offering_file file, enum offering_rule rule,
	const char *words, const char *source)
{
	struct offering_project p;
	struct offering o;
	CLEANUP(buf_release) struct buf out = buf_up_to(1000), from = buf_up_to(1000);
	offering_project_init(&p, r, "aa", OFFERING_OLDEST + 1000);
	struct offering_version looked;
	offering_look_up(&p, NULL, &looked);
	file.version = &looked;
	offering_judge(&p, &file, &o);
	assert_false(o.is_offered);
	assert_int_equal(offering_first_rule(&o), rule);
	offering_write(&o, rule, &out);
	assert_string_equal(out.data, words);
	offering_source(&o, rule, &from);
	assert_string_equal(from.data, source);
}

static void words_name_the_rule_and_the_time(void **state UNUSED)
{
	static const struct holds none;
	struct hold hold = {.id = "hold-3f9a0c1b", .reason = "a worm", .after = OFFERING_OLDEST};
	const struct holds holds = {.hold = &hold, .holds = 1};
	struct offering_rules r = {.upstream = "pypi", .cooldown = 7 * 86400, .holds = &none};
	struct offering_file young = {.uploaded = OFFERING_OLDEST + 500};
	expect_words(&r, young, OFFERING_AGE, "cooling until 1995-01-08T00:08:20Z (upstream pypi, cooldown 7d)",
		"cooldown of upstream pypi");
	r.cooldown = 36 * 3600;
	expect_words(&r, young, OFFERING_AGE, "cooling until 1995-01-02T12:08:20Z (upstream pypi, cooldown 36h)",
		"cooldown of upstream pypi");
	r.unknown = OFFERING_HIDE;
	expect_words(&r, (struct offering_file){0}, OFFERING_AGE,
		"cooling, and its upload time is unknown (upstream pypi, cooldown-unknown hide)",
		"cooldown-unknown of upstream pypi");
	r.holds = &holds;
	r.contact = "security@example.org";
	expect_words(&r, young, OFFERING_HOLD,
		"held since 1995-01-01T00:00:00Z: a worm (hold-3f9a0c1b); ask security@example.org", "hold-3f9a0c1b");
	CLEANUP(requirements_release) struct requirements deny = {0};
	struct err e = ERR_INIT;
	assert_int_equal(
		requirements_parse(&deny, STR("\naa miner"), "/etc/deny.list", REQUIREMENT_PACKAGES, &e), 0);
	r.deny = &deny;
	expect_words(&r, young, OFFERING_DENY, "denied by deny.list:2: miner; ask security@example.org", "deny.list:2");
	CLEANUP(requirements_release) struct requirements denied = {0};
	assert_int_equal(
		requirements_parse(&denied, STR("aa platform=x ours\naa"), "/etc/never.list", REQUIREMENT_PACKAGES, &e), 0);
	r.denied = &denied;
	expect_words(&r, young, OFFERING_DENY, "denied by never.list:2: no reason is given; ask security@example.org",
		"never.list:2");
}

// --- records ---

static void records_are_read_as_they_were_written(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char folder[] = "test-holds.XXXXXX", hold[HOLD_ID + 1], waiver[HOLD_ID + 1];
	assert_non_null(mkdtemp(folder));
	CLEANUP(mem_free) char *path = xasprintf("%s/offers", folder);
	CLEANUP(holds_release) struct holds h;
	uint64_t before, now;
	assert_int_equal(holds_mark(path, &before, &e), 0);
	assert_int_equal(holds_read(path, &h, &e), 0);
	assert_int_equal(h.holds + h.waivers, 0);
	const struct hold one = {.reason = "a \"worm\"\n", .who = "root", .after = 1700000000, .made = 1700000001};
	const struct waiver two = {.project = "aa", .version = "1.0", .upstream = "pypi", .reason = "fix", .who = "root",
		.until = 1800000000, .made = 1700000002};
	assert_int_equal(holds_add(path, &one, hold, &e), 0);
	assert_int_equal(holds_waive(path, &two, waiver, &e), 0);
	assert_int_equal(holds_mark(path, &now, &e), 0);
	assert_true(now != before);
	assert_int_equal(holds_read(path, &h, &e), 0);
	assert_int_equal(h.holds, 1);
	assert_string_equal(h.hold[0].id, hold);
	assert_string_equal(h.hold[0].reason, "a \"worm\" ");
	assert_null(h.hold[0].upstream);
	assert_int_equal(h.hold[0].after, 1700000000);
	assert_int_equal(h.waivers, 1);
	assert_string_equal(h.waiver[0].specifier, "==1.0");
	assert_string_equal(h.waiver[0].upstream, "pypi");
	assert_int_equal(h.waiver[0].until, 1800000000);
	assert_int_equal(holds_end(path, "../catalog", &e), 0);
	assert_int_equal(holds_end(path, hold, &e), 1);
	assert_int_equal(holds_end(path, hold, &e), 0);
	assert_int_equal(holds_end(path, waiver, &e), 1);
	assert_int_equal(holds_mark(path, &now, &e), 0);
	assert_true(now == before);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

// No rule is forgotten because its record is damaged.
static void a_damaged_record_is_an_error(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char folder[] = "test-holds.XXXXXX";
	assert_non_null(mkdtemp(folder));
	CLEANUP(mem_free) char *path = xasprintf("%s/hold-0123abcd", folder);
	struct holds h;
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs("{\"after\": \"yesterday\", \"reason\": \"x\"}\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(holds_read(folder, &h, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_non_null(strstr(e.msg, "hold-0123abcd"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

// Exceeds LIMIT_HOLDS
static void so_many_holds_and_no_more(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char folder[] = "test-holds.XXXXXX", id[HOLD_ID + 1];
	const struct hold one = {.reason = "r", .who = "w", .after = 1, .made = 1};
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < LIMIT_HOLDS; i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s/hold-%08x", folder, i);
		FILE *f = fopen(path, "w");
		assert_non_null(f);
		fputs("{\"after\": \"2026-01-01T00:00:00Z\", \"reason\": \"x\", \"by\": \"x\", \"made\": "
		      "\"2026-01-01T00:00:00Z\"}\n", f);
		assert_int_equal(fclose(f), 0);
	}
	CLEANUP(holds_release) struct holds h;
	if (holds_read(folder, &h, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(h.holds, LIMIT_HOLDS);
	assert_int_equal(holds_add(folder, &one, id, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	CLEANUP(mem_free) char *remove_all = xasprintf("rm -r '%s'", folder);
	assert_int_equal(system(remove_all), 0);
}

// A record is 36 bytes a file; one that would be too large is not written, and the files count from now.
// Exceeds LIMIT_FIRST_SEEN
static void first_seen_has_a_limit(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char folder[] = "test-seen.XXXXXX", name[] = "aa-1.0.tar.gz";
	struct simplepage_file file = {.filename = name};
	struct simplepage page = {.project = "aa", .file = &file, .files = 1};
	assert_non_null(mkdtemp(folder));
	assert_int_equal(first_seen_fill(folder, "one", &page, 1700000000, &e), 0);
	assert_int_equal(first_seen_fill(folder, "one", &page, 1800000000, &e), 0);
	assert_int_equal(file.seen, 1700000000);
	assert_int_equal(first_seen_fill(folder, "two", &page, 1800000000, &e), 0);
	assert_int_equal(file.seen, 1800000000);
	CLEANUP(mem_free) char *path = xasprintf("%s/seen/aa", folder);
	CLEANUP(mem_free) char *line = xasprintf("%024d %010d\n", 1, 1700000000);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < LIMIT_FIRST_SEEN / strlen(line); i++)
		assert_true(fputs(line, f) >= 0);
	assert_int_equal(fclose(f), 0);
	file.seen = 0;
	assert_int_equal(first_seen_fill(folder, "one", &page, 1900000000, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(file.seen, 1900000000);
	CLEANUP(mem_free) char *remove_all = xasprintf("rm -r '%s'", folder);
	assert_int_equal(system(remove_all), 0);
}

// --- files that left their page ---

// What recall makes of the file, which the page says was uploaded at `told`.
static int64_t recall_one(const char *folder, struct simplepage_file *file, bool is_old, int64_t told, size_t *reported)
{
	struct err e = ERR_INIT;
	const char *changed = NULL;
	struct simplepage page = {.project = "aa", .file = file, .files = 1};
	file->uploaded = told;
	*reported = 0;
	if (first_seen_recall(folder, "one", &page, &is_old, &changed, reported, &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(!changed == !*reported);
	arena_release(&page.text);
	return file->uploaded;
}

static int64_t recall(const char *folder, struct simplepage_file *file, int64_t told, size_t *reported)
{
	return recall_one(folder, file, false, told, reported);
}

static void upload_times_of_young_files_that_left_are_kept(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const int64_t since = 1700000000, young = since + 1, far = 253402300799;
	char folder[] = "test-seen.XXXXXX";
	struct simplepage_file file[] = {{.filename = "aa-1.zip", .has_sha256 = true, .uploaded = young},
		{.filename = "aa-2.zip", .has_sha256 = true, .uploaded = since},
		{.filename = "aa-3.zip", .has_sha256 = true, .uploaded = young},
		{.filename = "aa-4.zip", .uploaded = young}};
	const bool stays[] = {false, false, true, false};
	struct simplepage page = {.project = "aa", .file = file, .files = 4};
	size_t reported;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(recall(folder, &file[0], 800000000, &reported), 800000000);
	file[0].uploaded = young;
	assert_int_equal(first_seen_keep(folder, "one", &page, stays, since, &e), 0);
	assert_int_equal(recall(folder, &file[0], 800000000, &reported), young);
	assert_int_equal(reported, 1);
	assert_int_equal(recall(folder, &file[0], young, &reported), young);
	assert_int_equal(reported, 0);
	assert_int_equal(recall(folder, &file[0], 0, &reported), young);
	assert_int_equal(reported, 0);
	assert_int_equal(recall_one(folder, &file[0], true, 800000000, &reported), 800000000);
	for (size_t i = 1; i < 4; i++) // it was not young, it stayed, it has no hash
		assert_int_equal(recall(folder, &file[i], 800000000, &reported), 800000000);
	file[0].sha256[0] = 1; // another file
	assert_int_equal(recall(folder, &file[0], 800000000, &reported), 800000000);
	file[0].sha256[0] = 0;
	file[1].uploaded = far; // what is not young any more is dropped
	assert_int_equal(first_seen_keep(folder, "one", &page, stays, young, &e), 0);
	assert_int_equal(recall(folder, &file[0], 800000000, &reported), 800000000);
	assert_true(recall(folder, &file[1], 800000000, &reported) > young);
	assert_int_equal(recall(folder, &file[1], far, &reported), far);
	assert_int_equal(reported, 0);
	CLEANUP(mem_free) char *remove_all = xasprintf("rm -r '%s'", folder);
	assert_int_equal(system(remove_all), 0);
}

// A time that was first seen, and one that was kept, stand beside each other.
static void first_seen_stays_beside_kept_times(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const bool stays = false;
	char folder[] = "test-seen.XXXXXX";
	struct simplepage_file file = {.filename = "aa-1.zip", .has_sha256 = true};
	struct simplepage page = {.project = "aa", .file = &file, .files = 1};
	size_t reported;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(first_seen_fill(folder, "one", &page, 1700000000, &e), 0);
	assert_int_equal(recall(folder, &file, 0, &reported), 0);
	file.uploaded = 1700000005;
	assert_int_equal(first_seen_keep(folder, "one", &page, &stays, 1700000000, &e), 0);
	assert_int_equal(recall(folder, &file, 0, &reported), 1700000005);
	file.uploaded = 0;
	assert_int_equal(first_seen_fill(folder, "one", &page, 1800000000, &e), 0);
	assert_int_equal(file.seen, 1700000000);
	CLEANUP(mem_free) char *remove_all = xasprintf("rm -r '%s'", folder);
	assert_int_equal(system(remove_all), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_worlds_agree_with_the_reference),
		cmocka_unit_test(words_name_the_rule_and_the_time),
		cmocka_unit_test(records_are_read_as_they_were_written),
		cmocka_unit_test(a_damaged_record_is_an_error),
		cmocka_unit_test(so_many_holds_and_no_more),
		cmocka_unit_test(first_seen_has_a_limit),
		cmocka_unit_test(upload_times_of_young_files_that_left_are_kept),
		cmocka_unit_test(first_seen_stays_beside_kept_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
