// SPDX-License-Identifier: Apache-2.0
// The commands that carry out what a plan decided, and undo it: prune apply, purge, restore, follow; and platform
// retire.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/file-word.h"
#include "cli/common/progress.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/format/jsondoc.h"
#include "pruner/operations/apply.h"
#include "pruner/operations/follow.h"
#include "pruner/operations/purge.h"
#include "pruner/operations/restore.h"
#include "pruner/operations/retire.h"

// --- what the operations share: store and catalog, a line per file, and the totals ---

struct prune_command {
	struct session s;
	const char *done, *would; // "restored", "would be restored"
	bool prints_each;         // also print files that succeeded
	bool forces;              // --force
	struct operation operation;
	struct progress progress;
};

static void begin_prune(void *self)
{
	((struct prune_command *)self)->operation.lock = -1;
}

static void release_prune(void *self)
{
	operation_release(&((struct prune_command *)self)->operation);
}

static void report_event(void *ctx, const struct platform *platform, const char *filename, enum operation_result result,
	uint64_t bytes UNUSED, const char *words)
{
	struct prune_command *x = ctx;
	const char *const word[OPERATION_RESULT_COUNT] = {
		[OPERATION_DONE] = x->done,
		[OPERATION_WOULD] = x->would,
		[OPERATION_BEFORE] = "nothing to do for",
		[OPERATION_KEPT] = "kept",
		[OPERATION_GONE] = "gone:",
		[OPERATION_FAILED] = "failed:",
	};
	bool is_bad = result == OPERATION_FAILED || result == OPERATION_GONE;
	bool is_expected = result == OPERATION_DONE || result == OPERATION_BEFORE;
	if ((is_expected && !x->prints_each) || (x->s.is_quiet && !is_bad))
		return;
	progress_end(&x->progress);
	if (is_bad)
		log_error("%s: %s %s: %s", platform->name, word[result], filename, words);
	else
		printf("%s: %s %s%s%s\n", platform->name, word[result], filename, *words ? ": " : "", words);
}

// Opens everything, and begins the operation. Borrows done and would.
static int open_operation(struct prune_command *x, const char *done, const char *would, struct err *e)
{
	struct session *s = &x->s;
	x->done = done;
	x->would = would;
	if (session_open(s, SESSION_LOCATE | SESSION_STORE | SESSION_CHANGE | SESSION_AUDIT | SESSION_FIND, e) < 0 ||
		operation_begin(&x->operation, &s->store, s->catalog, s->audit, session_account(s), e) < 0)
		return -1;
	x->operation.report = report_event;
	x->operation.report_ctx = x;
	progress_begin(&x->progress, !s->is_quiet);
	return 0;
}

// Prints "3 files restored (1.2 MB)" for each result; nothing with --quiet.
static void sum_up(const struct prune_command *x)
{
	const char *const words[OPERATION_RESULT_COUNT] = {
		[OPERATION_DONE] = x->done,
		[OPERATION_WOULD] = x->would,
		[OPERATION_BEFORE] = "so before",
		[OPERATION_KEPT] = "kept",
		[OPERATION_GONE] = "gone",
		[OPERATION_FAILED] = "failed",
	};
	const char *between = "";
	if (x->s.is_quiet || x->operation.lock < 0)
		return;
	for (size_t i = 0; i < OPERATION_RESULT_COUNT; i++) {
		char size[PROGRESS_TEXT];
		if (!x->operation.count[i] && i != (x->s.is_dry_run ? OPERATION_WOULD : OPERATION_DONE))
			continue;
		progress_bytes((double)x->operation.bytes[i], size);
		printf("%s%s %s (%s)", between, COUNTED(x->operation.count[i], "file|files"), words[i], size);
		between = ", ";
	}
	putchar('\n');
}
// The result of the operation, and of the releases of its platforms: the first failure is the command's.
static int end_operation(struct prune_command *x, int result, struct err *e)
{
	struct err unreleased = ERR_INIT;
	if (operation_end(&x->operation, result < 0 ? &unreleased : e) < 0 || result < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the result") : 0;
}

// WHAT, then at most one STORE.
static int take_one_word(struct session *s, const char *missing, const char *what, struct err *e)
{
	if (!s->words)
		return err_set(e, ERR_USAGE, "%s", missing);
	if (s->words > 2)
		return err_set(e, ERR_USAGE, "expected one %s and at most one STORE, not also %s", what, s->word[2]);
	session_take_store(s, s->word[1]);
	return 0;
}

// --- prune apply ---

struct apply_command {
	struct prune_command all;
	struct apply_options how;
	struct exceptions except;
};

static int take_exception(void *self, const struct option_row *row UNUSED, const char *value, struct err *e)
{
	return exceptions_add(&((struct apply_command *)self)->except, value, e);
}

static int run_apply(void *self, struct err *e)
{
	struct apply_command *x = self;
	struct session *s = &x->all.s;
	CLEANUP(planfile_release) struct planfile plan = {0};
	CLEANUP(policy_release) struct policy policy = {0};
	if (take_one_word(s, "no PLAN is given: a file that wheelcache prune plan -o FILE writes", "PLAN", e) < 0 ||
		planfile_read(s->word[0], &plan, e) < 0 || open_operation(&x->all, "pruned", "would be pruned", e) < 0)
		return -1;
	const struct policy_takes takes = apply_takes(&plan.head);
	if (policy_init(&policy, &s->config, &s->store, &takes, e) < 0)
		return -1;
	const struct config *c = &x->all.s.config;
	if (x->how.max_files == SESSION_UNSET)
		x->how.max_files = c->prune_max_files;
	if (x->how.max_bytes == SESSION_UNSET)
		x->how.max_bytes = c->prune_max_bytes;
	if (x->how.max_failures == SESSION_UNSET)
		x->how.max_failures = c->prune_max_failures;
	exceptions_sort(&x->except);
	x->how.except = &x->except;
	x->how.is_dry = x->all.s.is_dry_run;
	x->how.lookup_progress = progress_look;
	x->how.file_progress = progress_export;
	x->how.ctx = &x->all.progress;
	int result = apply(&x->all.operation, &s->config, &policy, &plan, &x->how, e);
	progress_end(&x->all.progress);
	sum_up(&x->all);
	if (result == 0 && !s->is_quiet && !s->is_dry_run)
		printf("To undo it: wheelcache prune restore --run %s\n", plan.head.id);
	if (fflush(stdout) < 0 && result == 0)
		return err_errno(e, ERR_IO, "cannot write the result");
	return result;
}

static void begin_apply(void *self)
{
	struct apply_command *x = self;
	begin_prune(x);
	x->how.max_files = x->how.max_bytes = x->how.max_failures = SESSION_UNSET;
}

static void release_apply(void *self)
{
	exceptions_release(&((struct apply_command *)self)->except);
	release_prune(self);
}

static const struct option_row apply_rows[] = {
	{"except", '\0', "GLOB|@FILE", "leave these files as they are; @FILE: a glob a line", CALL(take_exception)},
	{"max-files", '\0', "N%", "remove up to N% of a platform's files, instead of [prune] max-files",
		NUMBER(apply_command, how.max_files, percent)},
	{"max-bytes", '\0', "N%", "remove up to N% of a platform's bytes",
		NUMBER(apply_command, how.max_bytes, percent)},
	{"max-failures", '\0', "N%", "accept a plan with up to N% failed look-ups",
		NUMBER(apply_command, how.max_failures, percent)},
	{"accept-changed-policy", '\0', NULL, "apply the plan although the policy has changed since",
		FLAG(apply_command, how.accepts_changed_policy)},
	{"skip-changed-wheels", '\0', NULL, "skip files whose bytes have changed since the plan",
		FLAG(apply_command, how.skips_changed_wheels)},
	{"skip-changed-evidence", '\0', NULL, "skip files that a new plan would keep",
		FLAG(apply_command, how.skips_changed_evidence)},
};

static const struct command command_prune_apply = {
	.name = "prune apply",
	.arguments = "PLAN [STORE]",
	.help = "unlist the files that a plan removes",
	OPTIONS(apply_rows),
	.shared = SHARED_BASE | SHARED(DRY_RUN) | SHARED(QUIET),
	.size = sizeof(struct apply_command),
	.begin = begin_apply,
	.run = run_apply,
	.release = release_apply,
};

// --- prune purge ---

static int run_purge(void *self, struct err *e)
{
	struct prune_command *x = self;
	struct session *s = &x->s;
	struct purge_result result;
	CLEANUP(policy_release) struct policy policy = {0};
	const struct policy_takes takes = {.taken_over = s->is_taken_over};
	x->prints_each = true;
	if (open_operation(x, "purged", "would be purged", e) < 0 ||
		policy_init(&policy, &s->config, &s->store, &takes, e) < 0)
		return -1;
	const struct purge_options how = {.glob = s->globs.item,
		.globs = s->globs.count,
		.grace = s->grace == SESSION_UNSET ? s->config.prune_grace : s->grace,
		.is_dry = s->is_dry_run,
		.progress = progress_look,
		.ctx = &x->progress};
	int purged = purge(&x->operation, &s->config, &policy, &how, &result, e);
	progress_end(&x->progress);
	sum_up(x);
	if (result.waiting && !s->is_quiet)
		printf("%s is over\n",
			COUNTED(result.waiting,
				"file waits until its grace period|files wait until their grace period"));
	if (result.unknown && !s->is_quiet)
		printf("the files of %" PRIu64 " of %s stay: upstream's files are unknown\n", result.unknown,
			COUNTED(result.projects, "project|projects"));
	return end_operation(x, purged, e);
}

static const struct command command_prune_purge = {
	.name = "prune purge",
	.arguments = "[STORE]",
	.help = "delete pruned files whose grace period is over",
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(GRACE) | SHARED(NAME_TAKEN_OVER) | SHARED(DRY_RUN) |
		  SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct prune_command),
	.begin = begin_prune,
	.run = run_purge,
	.release = release_prune,
};

// --- prune restore ---

struct restore_command {
	struct prune_command all;
	const char *run;
	struct file_word *word; // of each FILE
	const char **name, **on;
	size_t words;
};

// FILE..., then at most one STORE, which is neither the name nor the path of a wheel or sdist. Returns the number of
// files, or -1.
static int take_restore_words(struct restore_command *x, struct err *e)
{
	char **words = x->all.s.word;
	int files = 0;
	while (words[files] && file_word_fits(words[files]))
		files++;
	if (words[files] && words[files + 1])
		return err_set(e, ERR_USAGE, "expected at most one STORE after the FILEs, not also %s",
			words[files + 1]);
	session_take_store(&x->all.s, words[files]);
	if (!files == !x->run)
		return err_set(e, ERR_USAGE, "expected either names or paths of wheels or sdists, or --run ID");
	return files;
}

// After the store is open.
static int read_restore_words(struct restore_command *x, size_t files, struct err *e)
{
	x->word = ARENA_NEW(&x->all.s.arena, struct file_word, files + 1);
	x->name = ARENA_NEW(&x->all.s.arena, const char *, files + 1);
	x->on = ARENA_NEW(&x->all.s.arena, const char *, files + 1);
	for (size_t i = 0; i < files; i++) {
		struct file_word *w = &x->word[x->words++];
		if (file_word_read(x->all.s.word[i], &x->all.s.store, w, e) < 0 ||
			file_word_check(w, x->all.s.catalog, e) < 0)
			return -1;
		x->name[i] = w->name;
		x->on[i] = w->platform ? w->platform->name : NULL;
	}
	return 0;
}

static int run_restore(void *self, struct err *e)
{
	struct restore_command *x = self;
	struct session *s = &x->all.s;
	int files = take_restore_words(x, e);
	x->all.prints_each = true;
	if (files < 0 || open_operation(&x->all, "restored", "would be restored", e) < 0 ||
		read_restore_words(x, (size_t)files, e) < 0)
		return -1;
	const struct restore_options what = {.file = x->name,
		.on = x->on,
		.files = x->words,
		.run = x->run,
		.glob = s->globs.item,
		.globs = s->globs.count};
	int result = restore(&x->all.operation, &what, e);
	sum_up(&x->all);
	if (fflush(stdout) < 0 && result == 0)
		return err_errno(e, ERR_IO, "cannot write the result");
	return result;
}

static void release_restore(void *self)
{
	struct restore_command *x = self;
	for (size_t i = 0; i < x->words; i++)
		file_word_release(&x->word[i]);
	release_prune(x);
}

static const struct option_row restore_rows[] = {
	{"run", '\0', "ID", "all files that the plan with this ID removed", TEXT(restore_command, run)},
};

static const struct command command_prune_restore = {
	.name = "prune restore",
	.arguments = "FILE... [STORE]",
	.help = "list pruned files again",
	OPTIONS(restore_rows),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(QUIET),
	.size = sizeof(struct restore_command),
	.begin = begin_prune,
	.run = run_restore,
	.release = release_restore,
};

// --- prune follow ---

struct follow_command {
	struct session s;
	struct progress progress;
};

static const struct {
	const char *code, *done, *will; // the code is for JSON
} follow_kinds[UPSTREAM_DIFF_COUNT] = {
	[UPSTREAM_DIFF_RELIST] = {"relist", "listed again", "would be listed again"},
	[UPSTREAM_DIFF_LOST] = {"lost", "lost", "lost"},
	[UPSTREAM_DIFF_YANK] = {"yank", "yanked", "would be yanked"},
	[UPSTREAM_DIFF_UNYANK] = {"unyank", "no longer yanked", "would no longer be yanked"},
};

static const struct {
	const char *code;
	bool is_problem; // printed also with --quiet
} follow_results[FOLLOW_COUNT] = {
	[FOLLOW_DONE] = {"done", false},
	[FOLLOW_LOST] = {"lost", true},
	[FOLLOW_SKIPPED] = {"skipped", false},
	[FOLLOW_FAILED] = {"failed", true},
	[FOLLOW_HELD] = {"frozen", true},
};

static void report_step(void *ctx, enum follow_result result, const struct platform *p,
	const struct upstream_diff_step *step, const char *why)
{
	struct follow_command *x = ctx;
	bool is_problem = follow_results[result].is_problem;
	if (x->s.is_json) {
		struct jsondoc *doc = jsondoc_object();
		jsondoc_put_str(doc, "platform", p->name);
		jsondoc_put_str(doc, "what", follow_kinds[step->kind].code);
		jsondoc_put_str(doc, "result", follow_results[result].code);
		jsondoc_put_str(doc, "why", why);
		jsondoc_put_str(doc, "project", step->project);
		jsondoc_put_str(doc, "file", step->filename);
		jsondoc_add(x->s.rows, doc);
	} else if (is_problem) {
		printf("%s: %s: %s: %s: %s\n", p->name, follow_kinds[step->kind].code, follow_results[result].code,
			step->filename, why);
	} else if (!x->s.is_quiet && result == FOLLOW_DONE) {
		const char *words = x->s.is_dry_run ? follow_kinds[step->kind].will : follow_kinds[step->kind].done;
		printf("%s: %s: %s%s%s\n", p->name, words, step->filename, *why ? ": " : "", why);
	}
}

static struct jsondoc *follow_json(struct follow_command *x, const struct upstream_diff *f,
	const struct follow_counts *n)
{
	const struct {
		const char *key;
		size_t count;
	} row[] = {
		{"pruned", f->pruned},
		{"projects", f->projects},
		{"unknown", f->unknown},
		{"relisted", n->done[UPSTREAM_DIFF_RELIST]},
		{"lost", n->of[FOLLOW_LOST]},
		{"yanked", n->done[UPSTREAM_DIFF_YANK]},
		{"unyanked", n->done[UPSTREAM_DIFF_UNYANK]},
		{"failed", n->of[FOLLOW_FAILED]},
		{"frozen", n->of[FOLLOW_HELD]},
	};
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_bool(doc, "dry-run", x->s.is_dry_run);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		jsondoc_put_int(doc, row[i].key, (int64_t)row[i].count);
	return doc;
}

static void print_followed(const struct upstream_diff *f, const struct follow_counts *n)
{
	printf("%s, %s: %zu listed again, %zu lost, %zu yanked, %zu no longer yanked\n",
		COUNTED(f->pruned, "pruned file|pruned files"), COUNTED(f->projects, "project|projects"),
		n->done[UPSTREAM_DIFF_RELIST], n->of[FOLLOW_LOST], n->done[UPSTREAM_DIFF_YANK],
		n->done[UPSTREAM_DIFF_UNYANK]);
	if (f->unknown)
		printf("%zu of %s unchanged: upstream's state is unknown\n", f->unknown,
			COUNTED(f->projects, "project is|projects are"));
}

static int report_followed(struct follow_command *x, const struct upstream_diff *f, const struct follow_counts *n,
	struct err *e)
{
	if (x->s.is_json)
		session_json_rows(&x->s, follow_json(x, f, n), "steps");
	else if (!x->s.is_quiet)
		print_followed(f, n);
	if (session_print(&x->s, e) < 0)
		return -1;
	if (fflush(stdout) < 0)
		return err_errno(e, ERR_IO, "cannot write the result");
	if (n->of[FOLLOW_LOST])
		return err_set(e, ERR_NOT_FOUND, "%s purged",
			COUNTED(n->of[FOLLOW_LOST],
				"file is lost: upstream no longer has it, and its bytes are|"
				"files are lost: upstream no longer has them, and "
				"their bytes are"));
	if (n->of[FOLLOW_FAILED])
		return err_set(e, ERR_IO, "%s could not be changed", COUNTED(n->of[FOLLOW_FAILED], "file|files"));
	return 0;
}

static int run_follow(void *self, struct err *e)
{
	struct follow_command *x = self;
	struct session *s = &x->s;
	CLEANUP(upstream_diff_release) struct upstream_diff found = {0};
	struct follow_counts counts;
	if (session_open(s,
		    SESSION_STORE | SESSION_CHANGE | SESSION_FIND | SESSION_PINS | SESSION_UPSTREAM |
			    (s->is_dry_run ? 0 : SESSION_AUDIT),
		    e) < 0)
		return -1;
	const struct upstream_diff_options finding = {
		.yanks = s->config.prune_follow_yanks, .progress = progress_look, .ctx = &x->progress};
	progress_begin(&x->progress, !s->is_quiet);
	int result = upstream_diff_find(&s->store, s->catalog, s->upstreams, &finding, &found, e);
	progress_end(&x->progress);
	if (result < 0)
		return -1;
	const struct follow_options doing = {.is_dry_run = s->is_dry_run,
		.who = session_account(s),
		.audit = s->audit,
		.report = report_step,
		.ctx = x};
	struct err ignored = ERR_INIT;
	int followed = follow_run(&s->store, s->catalog, &found, &doing, &counts, e);
	int reported = report_followed(x, &found, &counts, followed < 0 ? &ignored : e);
	return followed < 0 || reported < 0 ? -1 : 0;
}

static const struct command command_prune_follow = {
	.name = "prune follow",
	.arguments = "[STORE]",
	.help = "list files again that upstream removed; yank what it yanked",
	.shared = SHARED_BASE | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct follow_command),
	.run = run_follow,
};

static const struct command *const prune_rows[] = {
	&command_prune_plan,
	&command_prune_apply,
	&command_prune_purge,
	&command_prune_restore,
	&command_prune_follow,
	NULL,
};

const struct command command_prune = {
	.name = "prune",
	.help = "remove files that upstream also has: plan, review, apply, undo",
	.rows = prune_rows,
};

// --- platform retire ---

// Deletes the files whose grace period is over. The next retire or prune purge deletes the rest.
static int purge_rest(struct prune_command *x, struct err *e)
{
	struct session *s = &x->s;
	struct purge_result result;
	const struct purge_options how = {.glob = (const char *const *)s->word,
		.globs = 1,
		.grace = s->grace == SESSION_UNSET ? s->config.prune_grace : s->grace,
		.is_retired_only = true,
		.is_dry = s->is_dry_run};
	x->done = "purged";
	x->would = "would be purged";
	memset(x->operation.count, 0, sizeof(x->operation.count));
	memset(x->operation.bytes, 0, sizeof(x->operation.bytes));
	if (purge(&x->operation, &s->config, NULL, &how, &result, e) < 0)
		return -1;
	sum_up(x);
	if (result.waiting && !s->is_quiet)
		printf("%s is over: then repeat this, or run wheelcache prune purge\n",
			COUNTED(result.waiting,
				"file waits until its grace period|files wait until their grace period"));
	return 0;
}

static int run_retire(void *self, struct err *e)
{
	struct prune_command *x = self;
	struct session *s = &x->s;
	if (take_one_word(s, "no PLATFORM is given", "PLATFORM", e) < 0 ||
		open_operation(x, "unlisted", "would be unlisted", e) < 0)
		return -1;
	const struct platform *p = store_platform_named(&s->store, str_from(s->word[0]));
	if (!p)
		return store_refuse_platform(&s->store, s->word[0], ERR_USAGE, e);
	const struct retire_options how = {.reason = s->reason ? s->reason : "", .is_dry = s->is_dry_run, .forces = x->forces};
	int retired = retire(&x->operation, &s->config, p, &how, e);
	sum_up(x);
	if (retired == 0)
		retired = purge_rest(x, e);
	return end_operation(x, retired, e);
}

static const struct option_row retire_rows[] = {
	{"reason", 'r', "TEXT", "the reason, for builders and for clients that request a file", TEXT(session, reason)},
	{"force", '\0', NULL, "retire it although lock files name some of its files", FLAG(prune_command, forces)},
};

static const struct command command_platform_retire = {
	.name = "platform retire",
	.arguments = "PLATFORM [STORE]",
	.help = "unlist and then delete all files of a platform",
	OPTIONS(retire_rows),
	.shared = SHARED_BASE | SHARED(GRACE) | SHARED(DRY_RUN) | SHARED(QUIET),
	.size = sizeof(struct prune_command),
	.begin = begin_prune,
	.run = run_retire,
	.release = release_prune,
};

static const struct command *const platform_rows[] = {
	&command_platform_retire,
	NULL,
};

const struct command command_platform = {
	.name = "platform",
	.help = "manage whole platforms: retire",
	.rows = platform_rows,
};
