// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/verdict.h"

#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "builder/missing/kept-versions.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/pins.h"

enum { REASON_MAX = 2048 };

const char *const verdict_name[VERDICT_COUNT] = {
	[VERDICT_KEEP] = "keep",
	[VERDICT_DUPLICATE] = "duplicate",
	[VERDICT_SUPERSEDED] = "superseded",
	[VERDICT_PURE] = "pure",
	[VERDICT_OFF_LIST] = "off-list",
	[VERDICT_UNUSABLE] = "unusable",
	[VERDICT_CORRUPT] = "corrupt",
};

const char *const verdict_why_name[VERDICT_WHY_COUNT] = {
	[VERDICT_IN_VIEW] = "in-view",
	[VERDICT_LOCKED] = "locked",
	[VERDICT_LISTED] = "listed",
	[VERDICT_PINNED] = "pinned",
	[VERDICT_TOO_YOUNG] = "too-young",
	[VERDICT_UPSTREAM_TOO_YOUNG] = "upstream-too-young",
	[VERDICT_DOWNLOADED] = "downloaded",
	[VERDICT_UPSTREAM_UNKNOWN] = "upstream-unknown",
	[VERDICT_UPSTREAM_ABSENT] = "upstream-absent",
	[VERDICT_YANKED_UPSTREAM] = "yanked-upstream",
	[VERDICT_NOT_COVERED] = "not-covered",
	[VERDICT_NO_PROFILE] = "no-profile",
	[VERDICT_SDIST] = "sdist",
	[VERDICT_NOT_ASKED] = "not-asked",
	[VERDICT_TAKEN_OVER] = "name-taken-over",
	[VERDICT_UNCERTAIN] = "uncertain",
};

void verdict_upstream_init(struct verdict_upstream *u, const char *project, const struct upstream_answer *answer)
{
	bool is_known = answer && answer->result == UPSTREAM_KNOWN;
	u->answer = answer;
	u->is_younger = false;
	u->replacement = replacement_new(is_known ? answer->page : NULL, project ? project : "");
}

void verdict_upstream_release(struct verdict_upstream *u)
{
	replacement_free(u->replacement);
	*u = (struct verdict_upstream){0};
}

// One decision: its inputs, the parsed name, and the result.
struct decision {
	const struct policy *policy;
	const struct platform *platform;
	const struct verdict_file *file;
	const struct verdict_upstream *upstream;
	int64_t now;
	bool is_wheel;
	struct filename name;   // of a wheel
	struct version version; // of a wheel or an sdist
	struct verdict *out;
};

static bool decide_keep(struct decision *q, enum verdict_why why, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool decide_remove(struct decision *q, enum verdict_kind kind, const struct simplepage_file *file,
	const char *fmt, ...) PRINTF_LIKE(4, 5);

static void set_reason(struct decision *q, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

static void set_reason(struct decision *q, const char *fmt, va_list ap)
{
	CLEANUP(mem_free) char *text = xvasprintf(fmt, ap);
	buf_clear(&q->out->reason);
	buf_str(&q->out->reason, str_slice(str_from(text), 0, strnlen(text, REASON_MAX)));
}

// decide_keep and decide_remove return true: the verdict is reached.
static bool decide_keep(struct decision *q, enum verdict_why why, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	set_reason(q, fmt, ap);
	va_end(ap);
	q->out->kind = VERDICT_KEEP;
	q->out->why = why;
	return true;
}

static bool decide_remove(struct decision *q, enum verdict_kind kind, const struct simplepage_file *file,
	const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	set_reason(q, fmt, ap);
	va_end(ap);
	q->out->kind = kind;
	q->out->why = VERDICT_REMOVES;
	q->out->file = file;
	return true;
}

static bool decide_not_asked(struct decision *q, const char *option)
{
	q->out->why = VERDICT_NOT_ASKED;
	buf_printf(&q->out->reason, "; it is removed only with %s", option);
	return true;
}

static bool check_in_view(struct decision *q)
{
	return q->file->view && decide_keep(q, VERDICT_IN_VIEW, PINS_WORDS, q->file->view);
}

static bool check_locked(struct decision *q)
{
	return q->file->lock && decide_keep(q, VERDICT_LOCKED, KEPT_LOCKS_WORDS, q->file->lock);
}

static bool check_corrupt(struct decision *q)
{
	if (!q->file->refusal)
		return false;
	decide_remove(q, VERDICT_CORRUPT, NULL, "it is quarantined: %s", q->file->refusal);
	return q->policy->takes.corrupt || decide_not_asked(q, "--corrupt");
}

// Parses the name. The version of an sdist comes from the catalog, because no rule splits every name of an sdist.
static bool check_name(struct decision *q)
{
	struct err why = ERR_INIT;
	q->is_wheel = filename_kind(str_from(q->file->filename)) == FILENAME_WHEEL;
	if (!q->file->project || !q->file->version)
		return decide_keep(q, VERDICT_UNCERTAIN, "the catalog does not know what it is");
	if (version_parse(str_from(q->file->version), &q->version, &why) < 0 ||
		(q->is_wheel && filename_parse(str_from(q->file->filename), &q->name, &why) < 0))
		return decide_keep(q, VERDICT_UNCERTAIN, "%s", why.msg);
	return false;
}

static bool check_listed(struct decision *q)
{
	const struct requirement *r =
		requirements_find(&q->policy->packages, q->file->project, &q->version, q->platform->name);
	return r && decide_keep(q, VERDICT_LISTED, "it is on the list (%s)%s%s", r->source, *r->reason ? ": " : "",
			    r->reason);
}

static bool check_pinned(struct decision *q)
{
	const struct requirement *r =
		requirements_find(&q->policy->pins, q->file->project, &q->version, q->platform->name);
	return r && decide_keep(q, VERDICT_PINNED, "%s pins %s%s", r->source, r->project, r->specifier);
}

static bool check_profile(struct decision *q)
{
	return !q->platform->profile.environment_count &&
	       decide_keep(q, VERDICT_NO_PROFILE, "the profile of %s is not known", q->platform->name);
}

static int ask_replacement(struct decision *q, int64_t until, struct replacement_answer *out, struct err *e)
{
	const struct replacement_file ours = {q->file->filename, q->is_wheel ? &q->name : NULL, q->file->requires_python};
	return replacement_compute(q->upstream->replacement, &q->platform->profile, &ours, until, out, e);
}

static bool check_unusable(struct decision *q)
{
	struct err why = ERR_INIT;
	int64_t age = q->policy->upstream_min_age;
	if (ask_replacement(q, age > 0 ? q->now - age : INT64_MAX, &q->out->evidence, &why) < 0)
		return decide_keep(q, VERDICT_UNCERTAIN, "%s", why.msg);
	if (q->out->evidence.kind != REPLACEMENT_NOWHERE)
		return false;
	decide_remove(q, VERDICT_UNUSABLE, NULL, "no Python of %s installs it", q->platform->name);
	return q->policy->takes.unusable || decide_not_asked(q, "--unusable");
}

static bool check_upstream_known(struct decision *q)
{
	const struct upstream_answer *a = q->upstream->answer;
	if (!a)
		return decide_keep(q, VERDICT_UPSTREAM_UNKNOWN, "upstream was not asked");
	if (a->result == UPSTREAM_ABSENT)
		return decide_keep(q, VERDICT_UPSTREAM_ABSENT, "upstream has no %s", q->file->project);
	if (a->result == UPSTREAM_KNOWN && a->page)
		return false;
	return decide_keep(q, VERDICT_UPSTREAM_UNKNOWN, "what upstream has is not known: %s%s%s",
		upstream_result_name[a->result], a->why && *a->why ? ": " : "", a->why ? a->why : "");
}

static bool check_yanked(struct decision *q)
{
	const struct simplepage_file *same = q->out->evidence.same;
	if (q->out->evidence.kind != REPLACEMENT_YANKED)
		return false;
	q->out->file = same;
	return decide_keep(q, VERDICT_YANKED_UPSTREAM, "upstream has yanked this file%s%s", *same->yanked ? ": " : "",
		same->yanked);
}

// Appends the environments; with lacking, only those that upstream does not cover.
static void list_environments(const struct replacement_answer *a, bool lacking, struct buf *out)
{
	for (size_t i = 0; i < a->places; i++) {
		const struct replacement_place *p = &a->place[i];
		if (lacking && !p->missing)
			continue;
		buf_putc(out, ' ');
		python_print(&p->environment->python, out);
		if (lacking && p->missing != p->micros)
			buf_puts(out, " (some of its releases)");
	}
}

static bool check_narrow(struct decision *q)
{
	const struct replacement_answer *a = &q->out->evidence;
	if (a->kind != REPLACEMENT_NARROW)
		return false;
	q->out->file = a->same;
	decide_keep(q, VERDICT_NOT_COVERED, "upstream's file of this name requires Python %s, so it is not for",
		a->same->requires_python);
	list_environments(a, true, &q->out->reason);
	return true;
}

static bool is_identical(const struct decision *q, const struct simplepage_file *file)
{
	return file && file->has_sha256 && q->file->sha256 && digest_equal(file->sha256, q->file->sha256);
}

// Upstream's project may be another one that was registered after ours: only the same bytes replace a file of ours.
static bool check_taken_over(struct decision *q, const struct simplepage_file *theirs)
{
	if (!q->upstream->is_younger || q->policy->takes.taken_over)
		return false;
	q->out->file = theirs;
	return decide_keep(q, VERDICT_TAKEN_OVER,
		"upstream may not have had %s before it was here, so it may be another project there; "
		"it is removed only with --name-taken-over",
		q->file->project);
}

static bool check_duplicate(struct decision *q)
{
	const struct simplepage_file *same = q->out->evidence.same;
	if (q->out->evidence.kind != REPLACEMENT_SAME)
		return false;
	if (!is_identical(q, same) && check_taken_over(q, same))
		return true;
	return decide_remove(q, VERDICT_DUPLICATE, same, "upstream has this file%s",
		is_identical(q, same) ? "" : ", with other bytes");
}

static bool check_superseded(struct decision *q)
{
	const struct replacement_answer *a = &q->out->evidence;
	if (a->kind != REPLACEMENT_OTHERS)
		return false;
	if (check_taken_over(q, a->place[0].file))
		return true;
	decide_remove(q, VERDICT_SUPERSEDED, a->place[0].file, "upstream has wheels of this version for");
	list_environments(a, false, &q->out->reason);
	return true;
}

static int check_pure_tag(void *ctx, struct str tag, struct err *e UNUSED)
{
	bool *is_pure = ctx;
	*is_pure = *is_pure && str_starts(tag, STR("py")) && str_ends(tag, STR("-none-any"));
	return 0;
}

static bool is_pure_wheel(const struct decision *q)
{
	struct err unsaid = ERR_INIT;
	bool pure = q->is_wheel;
	return pure && filename_tags(&q->name, check_pure_tag, &pure, &unsaid) == 0 && pure;
}

// Whether upstream's files would be enough if they were older.
static bool check_upstream_age(struct decision *q)
{
	struct replacement_answer all;
	struct err unsaid = ERR_INIT;
	if (q->policy->upstream_min_age <= 0 || ask_replacement(q, INT64_MAX, &all, &unsaid) < 0)
		return false;
	bool wants_sdist = q->policy->takes.pure && is_pure_wheel(q) && !q->out->evidence.sdist;
	bool would_do = replacement_is_complete(&all) || (wants_sdist && all.sdist);
	replacement_answer_release(&all);
	return would_do && decide_keep(q, VERDICT_UPSTREAM_TOO_YOUNG,
				   "upstream's replacement is too recent, or has no upload time");
}

static bool check_sdist(struct decision *q)
{
	return !q->is_wheel && decide_keep(q, VERDICT_SDIST, "it is an sdist, and upstream does not have this file");
}

static bool check_pure(struct decision *q)
{
	const struct simplepage_file *sdist = q->out->evidence.sdist;
	return q->policy->takes.pure && sdist && is_pure_wheel(q) &&
	       (check_taken_over(q, sdist) ||
		       decide_remove(q, VERDICT_PURE, sdist, "it is pure Python, and upstream has the sdist"));
}

// Upstream need not have a replacement, so what a branch wants stays.
static bool check_off_list(struct decision *q)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(REASON_MAX);
	if (!q->policy->takes.off_list || !q->policy->has_packages)
		return false;
	if (kept_versions_admit(&q->policy->branches, q->file->project, &q->version, q->platform->name, false, &why))
		return decide_keep(q, VERDICT_PINNED, "%s", why.data);
	return decide_remove(q, VERDICT_OFF_LIST, NULL, "it is on no list");
}

static bool check_needed(struct decision *q)
{
	decide_keep(q, VERDICT_NOT_COVERED, "upstream has no wheel of this version for");
	list_environments(&q->out->evidence, true, &q->out->reason);
	return true;
}

// In this order: the first step that returns true decides.
static bool (*const steps[])(struct decision *q) = {
	check_in_view,
	check_locked,
	check_corrupt,
	check_name,
	check_listed,
	check_pinned,
	check_profile,
	check_unusable,
	check_upstream_known,
	check_yanked,
	check_narrow,
	check_duplicate,
	check_superseded,
	check_upstream_age,
	check_sdist,
	check_pure,
	check_off_list,
	check_needed,
};

// While upstream is out of reach nothing is removed, with any options. For a name that is ours, upstream does not
// matter.
static bool is_upstream_known(const struct decision *q)
{
	const struct upstream_answer *a = q->upstream->answer;
	return a && (a->is_ours || a->result == UPSTREAM_ABSENT || (a->result == UPSTREAM_KNOWN && a->page));
}

// The reasons to keep a file whatever its verdict.
static void check_removal(struct decision *q)
{
	struct verdict *v = q->out;
	if (v->why != VERDICT_REMOVES)
		return;
	if (!is_upstream_known(q)) {
		v->why = VERDICT_UPSTREAM_UNKNOWN;
		buf_puts(&v->reason, "; it is kept while what upstream has is not known");
	} else if (q->file->mtime > q->now - q->policy->min_age) {
		decide_keep(q, VERDICT_TOO_YOUNG, "it changed less than %lld seconds ago",
			(long long)q->policy->min_age);
	} else if (q->file->was_downloaded) {
		decide_keep(q, VERDICT_DOWNLOADED, "it was downloaded recently, or downloads were not counted");
	}
	v->removes = v->why == VERDICT_REMOVES;
}

void verdict_decide(const struct policy *policy, const struct platform *platform, const struct verdict_file *file,
	const struct verdict_upstream *upstream, int64_t now, struct verdict *out)
{
	struct decision q = {policy, platform, file, upstream, now, .out = out};
	*out = (struct verdict){.kind = VERDICT_KEEP, .why = VERDICT_UNCERTAIN};
	buf_init(&out->reason, 2 * REASON_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(steps) && !steps[i](&q); i++)
		;
	check_removal(&q);
	out->is_identical = is_identical(&q, out->file);
	filename_release(&q.name);
	version_release(&q.version);
}

void verdict_release(struct verdict *v)
{
	buf_release(&v->reason);
	replacement_answer_release(&v->evidence);
}
