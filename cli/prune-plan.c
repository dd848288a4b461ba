// SPDX-License-Identifier: Apache-2.0
// "prune plan", and its table: which files are removed and kept, by platform, and its problems.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/progress.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/plan.h"
#include "pruner/plan/planfile.h"
#include "pruner/plan/verdict.h"

struct plan_command {
	struct session s;
	struct policy_takes takes;
	struct plan_options plan;
	struct progress progress;
};

// --- the table ---

enum { MAX_NAMES = 5 }; // projects printed per kind of failed look-up

static const char *const verdict_words[VERDICT_COUNT] = {
	[VERDICT_DUPLICATE] = "upstream has this file",
	[VERDICT_SUPERSEDED] = "upstream's other wheels cover it",
	[VERDICT_PURE] = "pure Python, and upstream has its sdist",
	[VERDICT_OFF_LIST] = "on no package list",
	[VERDICT_UNUSABLE] = "no environment of its platform installs it",
	[VERDICT_CORRUPT] = "quarantined",
};

static const char *const why_words[VERDICT_WHY_COUNT] = {
	[VERDICT_IN_VIEW] = "pinned by a view",
	[VERDICT_LOCKED] = "named by a lock file",
	[VERDICT_LISTED] = "on the package list",
	[VERDICT_PINNED] = "pinned by constraints",
	[VERDICT_TOO_YOUNG] = "younger than min-age",
	[VERDICT_UPSTREAM_TOO_YOUNG] = "upstream's file is younger than upstream-min-age",
	[VERDICT_DOWNLOADED] = "downloaded recently",
	[VERDICT_UPSTREAM_UNKNOWN] = "upstream's files are unknown",
	[VERDICT_UPSTREAM_ABSENT] = "upstream has no such project",
	[VERDICT_YANKED_UPSTREAM] = "yanked upstream",
	[VERDICT_NOT_COVERED] = "some environment has only ours",
	[VERDICT_NO_PROFILE] = "[platform NAME] must set pythons, arch and libc",
	[VERDICT_SDIST] = "an sdist that upstream does not have",
	[VERDICT_NOT_ASKED] = NULL, // the text of the verdict is used
	[VERDICT_TAKEN_OVER] = "all of upstream's files are younger than ours: --name-taken-over",
	[VERDICT_UNCERTAIN] = "its contents are unknown",
};

// The option that enables a verdict.
static const char *const verdict_option[VERDICT_COUNT] = {
	[VERDICT_PURE] = "--pure",
	[VERDICT_OFF_LIST] = "--off-list",
	[VERDICT_UNUSABLE] = "--unusable",
	[VERDICT_CORRUPT] = "--corrupt",
};

struct file_sum {
	uint64_t files, bytes;
};

static void add_total(struct file_sum *s, const struct planfile_total *t)
{
	s->files += t->files;
	s->bytes += t->bytes;
}

// The removed files of a platform; NULL: of all platforms.
static struct file_sum sum_going(const struct planfile_head *h, const char *platform)
{
	struct file_sum s = {0};
	for (size_t i = 0; i < h->totals; i++)
		if (h->total[i].removes && (!platform || strcmp(h->total[i].platform, platform) == 0))
			add_total(&s, &h->total[i]);
	return s;
}

// The files with this verdict. platform NULL: of all platforms; why NULL: for any reason.
static struct file_sum sum_of(const struct planfile_head *h, const char *platform, const char *verdict, bool removes,
	const char *why)
{
	struct file_sum s = {0};
	for (size_t i = 0; i < h->totals; i++) {
		const struct planfile_total *t = &h->total[i];
		if ((!platform || strcmp(t->platform, platform) == 0) && strcmp(t->verdict, verdict) == 0 &&
			t->removes == removes && (!why || (t->why && strcmp(t->why, why) == 0)))
			add_total(&s, t);
	}
	return s;
}

static void print_heading(const char *name, struct file_sum going, struct file_sum all, FILE *out)
{
	char some[PROGRESS_TEXT], whole[PROGRESS_TEXT];
	progress_bytes((double)going.bytes, some);
	progress_bytes((double)all.bytes, whole);
	fprintf(out, "%s: %" PRIu64 " of %s, %s of %s\n", name, going.files, COUNTED(all.files, "file goes|files go"),
		some, whole);
}

static void print_row(bool goes, const char *verdict, struct file_sum s, const char *words, FILE *out)
{
	char size[PROGRESS_TEXT];
	progress_bytes((double)s.bytes, size);
	if (s.files)
		fprintf(out, "  %-5s  %-10s %9" PRIu64 " %10s%s%s\n", goes ? "goes" : "stays", verdict, s.files, size,
			words && *words ? "  " : "", words ? words : "");
}

// Removed files first, then kept ones.
static void print_platform(const struct planfile_head *h, const struct planfile_platform *p, FILE *out)
{
	if (!p->files)
		return;
	print_heading(p->name, sum_going(h, p->name), (struct file_sum){p->files, p->bytes}, out);
	for (size_t i = 0; i < 2 * VERDICT_COUNT; i++) {
		bool goes = i < VERDICT_COUNT;
		const char *verdict = verdict_name[i % VERDICT_COUNT];
		print_row(goes, verdict, sum_of(h, p->name, verdict, goes, NULL), "", out);
	}
	fputc('\n', out);
}

static void print_why(const struct planfile_head *h, size_t kind, size_t why, FILE *out)
{
	bool goes = why == VERDICT_REMOVES;
	struct file_sum s = sum_of(h, NULL, verdict_name[kind], goes, verdict_why_name[why]);
	const char *option = why == VERDICT_NOT_ASKED ? verdict_option[kind] : NULL;
	CLEANUP(mem_free)
	char *words = xasprintf("%s%s%s", why_words[why] ? why_words[why] : verdict_words[kind],
		option ? "; goes with " : "", option ? option : "");
	print_row(goes, verdict_name[kind], s, words, out);
}

// --- problems ---

// The share in per cent, rounded up, if it is above the limit; otherwise 0.
static unsigned share_above(uint64_t part, uint64_t whole, uint64_t cap)
{
	if (!whole || part * 100 <= whole * cap)
		return 0;
	return (unsigned)((part * 100 + whole - 1) / whole);
}

static void print_caps(const struct planfile_head *h, const struct config *c, FILE *out)
{
	bool has_heading = false;
	for (size_t i = 0; i < h->platforms; i++) {
		const struct planfile_platform *p = &h->platform[i];
		struct file_sum going = sum_going(h, p->name);
		unsigned files = share_above(going.files, p->files, c->prune_max_files);
		unsigned bytes = share_above(going.bytes, p->bytes, c->prune_max_bytes);
		if (!files && !bytes)
			continue;
		if (!has_heading)
			fprintf(out,
				"\nMore than max-files = %" PRIu64 "%% or max-bytes = %" PRIu64
				"%% of a platform. prune apply refuses the plan without these options:\n",
				c->prune_max_files, c->prune_max_bytes);
		has_heading = true;
		fprintf(out, "  %s:", p->name);
		if (files)
			fprintf(out, " --max-files=%u%%", files);
		if (bytes)
			fprintf(out, " --max-bytes=%u%%", bytes);
		fputc('\n', out);
	}
}

// Foreign text must not contain control characters.
static void print_foreign_text(const char *text, FILE *out)
{
	CLEANUP(buf_release) struct buf line = buf_up_to(SIZE_MAX / 2);
	escape_terminal(&line, str_from(text));
	fputs(line.data, out);
}

static void print_names(const struct planfile_head *h, const char *result, FILE *out)
{
	uint64_t all = 0;
	const char *why = NULL;
	for (size_t i = 0; i < h->failures; i++) {
		if (strcmp(h->failure[i].result, result) != 0)
			continue;
		if (all++ < MAX_NAMES)
			fprintf(out, "%s%s", all == 1 ? "" : ", ", h->failure[i].project);
		why = why ? why : h->failure[i].why;
	}
	if (all > MAX_NAMES)
		fprintf(out, " and %" PRIu64 " more", all - MAX_NAMES);
	fputs("\n    ", out);
	print_foreign_text(why ? why : "", out);
	fputc('\n', out);
}

static bool has_result(const struct planfile_head *h, const char *result)
{
	for (size_t i = 0; i < h->failures; i++)
		if (strcmp(h->failure[i].result, result) == 0)
			return true;
	return false;
}

// Grouped by kind of failure, each with the reason of its first project.
static void print_failures(const struct planfile_head *h, FILE *out)
{
	if (h->failures)
		fprintf(out, "\nUpstream's files are not known of %zu of %s; their files stay:\n", h->failures,
			COUNTED(h->projects, "project|projects"));
	for (size_t i = 0; i < UPSTREAM_RESULT_COUNT; i++) {
		if (!has_result(h, upstream_result_name[i]))
			continue;
		fprintf(out, "  %s: ", upstream_result_name[i]);
		print_names(h, upstream_result_name[i], out);
	}
}

// c has the limits that "prune apply" checks the plan against.
static void print_plan_table(const struct planfile_head *h, const struct config *c, FILE *out)
{
	if (h->platforms > 1)
		for (size_t i = 0; i < h->platforms; i++)
			print_platform(h, &h->platform[i], out);
	struct file_sum all = {0};
	for (size_t i = 0; i < h->platforms; i++) {
		all.files += h->platform[i].files;
		all.bytes += h->platform[i].bytes;
	}
	print_heading(h->platforms == 1 ? "In all" : "All platforms", sum_going(h, NULL), all, out);
	for (size_t kind = 0; kind < VERDICT_COUNT; kind++)
		print_why(h, kind, VERDICT_REMOVES, out);
	for (size_t i = 0; i < VERDICT_COUNT * VERDICT_WHY_COUNT; i++)
		if (i % VERDICT_WHY_COUNT != VERDICT_REMOVES)
			print_why(h, i / VERDICT_WHY_COUNT, i % VERDICT_WHY_COUNT, out);
	print_failures(h, out);
	if (h->views)
		fputs("\nThese views do not merge upstream, so their clients would lose:\n", out);
	for (size_t i = 0; i < h->views; i++)
		fprintf(out, "  %s: %s, %s, %s first\n", h->view[i].view,
			COUNTED(h->view[i].projects, "project|projects"),
			COUNTED(h->view[i].versions, "version|versions"), h->view[i].first);
	if (h->views)
		fputs("prune apply refuses the plan, unless they merge it or [prune] clients-have-upstream names them.\n",
			out);
	print_caps(h, c, out);
}

// --- the command ---

static int print_plan(struct plan_command *x, const struct plan *plan, struct err *e)
{
	if (x->s.is_json) {
		planfile_write_head(&plan->head, &x->s.out);
		return 0;
	}
	if (!x->s.is_quiet) {
		print_plan_table(&plan->head, &x->s.config, stdout);
		if (x->plan.path)
			printf("\nThe plan is %s. Review it, then: wheelcache prune apply %s\n", x->plan.path,
				x->plan.path);
		else
			puts("\nThe plan is not saved: -o FILE saves it, for review and for prune apply.");
	}
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the table") : 0;
}

static void warn_of_failures(const struct planfile_head *h, const struct config *c)
{
	if (h->failed * 100 > h->projects * c->prune_max_failures)
		log_warn("%" PRIu64 " of %s failed, more than max-failures = %" PRIu64 "%%: apply refuses this plan",
			h->failed, COUNTED(h->projects, "look-up|look-ups"), c->prune_max_failures);
}

static int run_plan(void *self, struct err *e)
{
	struct plan_command *x = self;
	struct session *s = &x->s;
	CLEANUP(policy_release) struct policy policy = {0};
	CLEANUP(plan_release) struct plan plan = {0};
	x->takes.taken_over = s->is_taken_over;
	if (session_open(s, SESSION_STORE | SESSION_MAKE | SESSION_FIND, e) < 0 ||
		policy_init(&policy, &s->config, &s->store, &x->takes, e) < 0)
		return -1;
	progress_begin(&x->progress, !s->is_quiet);
	x->plan.is_offline = s->is_offline;
	x->plan.glob = s->globs.item;
	x->plan.globs = s->globs.count;
	x->plan.progress = progress_look;
	x->plan.ctx = &x->progress;
	int result = plan_make(&s->config, &s->store, s->catalog, &policy, &x->plan, &plan, e);
	progress_end(&x->progress);
	if (result < 0 || print_plan(x, &plan, e) < 0)
		return -1;
	warn_of_failures(&plan.head, &s->config);
	return 0;
}

static const struct option_row options[] = {
	{"output", 'o', "FILE", "write the plan to FILE, for review and for prune apply",
		TEXT(plan_command, plan.path)},
	{"pure", '\0', NULL, "remove pure Python wheels where upstream has the sdist", FLAG(plan_command, takes.pure)},
	{"off-list", '\0', NULL, "remove files that are on no package list", FLAG(plan_command, takes.off_list)},
	{"unusable", '\0', NULL, "remove files that their platform cannot install", FLAG(plan_command, takes.unusable)},
	{"corrupt", '\0', NULL, "remove quarantined files", FLAG(plan_command, takes.corrupt)},
};

const struct command command_prune_plan = {
	.name = "prune plan",
	.arguments = "[STORE]",
	.help = "decide which files to remove, and why; changes nothing",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(OFFLINE) | SHARED(NAME_TAKEN_OVER) | SHARED(JSON) |
		  SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct plan_command),
	.run = run_plan,
};
