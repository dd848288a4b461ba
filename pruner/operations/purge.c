// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/purge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/os/clock.h"
#include "lib/state/access/downloads.h"
#include "lib/state/publish/publish.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/operations/tombstones.h"
#include "pruner/plan/verdict.h"

// A grave whose grace is over.
struct candidate {
	const struct tombstones_file *grave;
	char *project; // whose it is
	bool is_retired, may_go;
	char *words; // why it may not
};

struct purging {
	struct operation *operation;
	const struct policy *policy;
	const struct purge_options *options;
	struct purge_result *result;
	struct upstream *upstream;
	struct downloads *downloads; // NULL: nobody counted
	struct tombstones tombstones;
	struct candidate *candidate; // by project
	size_t count;
	const char **project; // each once, of those that upstream is asked about
	size_t projects;
	int64_t now;
};

static void purging_release(struct purging *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->candidate[i].project);
		free(p->candidate[i].words);
	}
	free(p->candidate);
	free(p->project);
	tombstones_release(&p->tombstones);
	upstream_free(p->upstream);
	downloads_close(p->downloads);
}

static bool is_retired(const struct tombstone *stone)
{
	return stone->verdict && strcmp(stone->verdict, TOMBSTONE_RETIRED) == 0;
}

// --- what is to be looked at ---

static bool fits(void *ctx, const struct tombstones_file *grave, const struct tombstone *stone)
{
	struct purging *p = ctx;
	if (!grave->has_file || !stone->run || (p->options->is_retired_only && !is_retired(stone)))
		return false;
	bool is_over =
		stone->when > 0 && stone->when <= p->now && (uint64_t)(p->now - stone->when) >= p->options->grace;
	p->result->waiting += !is_over;
	return is_over;
}

static int compare(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	return order ? order : (left->grave > right->grave) - (left->grave < right->grave);
}

// What is in quarantine has no project in the catalog; its name says one.
static char *project_of(const struct tombstones_file *g)
{
	struct err unknown = ERR_INIT;
	char *by_name = g->project ? xstrdup(g->project) : publish_project_of(g->filename, NULL, &unknown);
	return by_name ? by_name : xstrdup("");
}

static int find(struct purging *p, struct err *e)
{
	const struct tombstones_wanted wanted = {
		.glob = p->options->glob, .globs = p->options->globs, .fits = fits, .ctx = p};
	if (tombstones_load(&p->tombstones, p->operation->store, p->operation->catalog, &wanted, e) < 0)
		return -1;
	p->count = p->tombstones.count;
	p->candidate = xcalloc(p->count + 1, sizeof(*p->candidate));
	for (size_t i = 0; i < p->count; i++) {
		const struct tombstones_file *g = &p->tombstones.item[i];
		CLEANUP(tombstone_release) struct tombstone stone;
		tombstone_read(str_from(g->text), &stone);
		p->candidate[i] =
			(struct candidate){.grave = g, .project = project_of(g), .is_retired = is_retired(&stone)};
		p->candidate[i].may_go = p->candidate[i].is_retired;
	}
	qsort(p->candidate, p->count, sizeof(*p->candidate), compare);
	return 0;
}

// --- what upstream says ---

// As it was decided then: what was asked for then is asked for now.
static struct policy_takes take_as_then(const struct tombstone *stone)
{
	struct policy_takes takes = {false};
	bool *class = stone->verdict ? policy_takes_class(&takes, stone->verdict) : NULL;
	if (class)
		*class = true;
	return takes;
}

static void judge(struct purging *p, struct candidate *one, const struct verdict_upstream *upstream)
{
	const struct tombstones_file *g = one->grave;
	struct policy policy = *p->policy;
	CLEANUP(tombstone_release) struct tombstone stone;
	CLEANUP(verdict_release) struct verdict v;
	tombstone_read(str_from(g->text), &stone);
	policy.takes = take_as_then(&stone);
	policy.takes.taken_over = p->policy->takes.taken_over;
	const struct verdict_file file = {.filename = g->filename,
		.project = g->project,
		.version = g->version,
		.sha256 = g->has_sha256 ? g->sha256 : NULL,
		.mtime = g->mtime_ns / 1000000000,
		.requires_python = g->requires_python,
		.refusal = g->refusal,
		.was_downloaded =
			policy_was_downloaded(p->policy, p->downloads, g->platform->name, g->filename, p->now)};
	verdict_decide(&policy, g->platform, &file, upstream, p->now, &v);
	one->may_go = v.removes;
	one->words = v.removes ? NULL : xstrdup(v.reason.data);
}

static size_t first_of(const struct purging *p, const char *project)
{
	size_t low = 0, high = p->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(p->candidate[middle].project, project) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int judge_project(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct purging *p = ctx;
	struct verdict_upstream upstream;
	enum name_age age;
	p->result->projects++;
	p->result->unknown += answer->result != UPSTREAM_KNOWN && answer->result != UPSTREAM_ABSENT;
	if (p->options->progress)
		p->options->progress(p->options->ctx, p->result->projects, p->projects, p->result->unknown);
	if (name_owner_find_age(p->upstream, p->operation->catalog, answer, &age, e) < 0)
		return -1;
	verdict_upstream_init(&upstream, answer->project, answer);
	upstream.is_younger = age != NAME_AGE_OLDER;
	for (size_t i = first_of(p, answer->project); i < p->count; i++) {
		if (strcmp(p->candidate[i].project, answer->project) != 0)
			break;
		if (!p->candidate[i].is_retired)
			judge(p, &p->candidate[i], &upstream);
	}
	verdict_upstream_release(&upstream);
	return 0;
}

static int ask(struct purging *p, const struct config *c, struct err *e)
{
	p->project = xcalloc(p->count + 1, sizeof(*p->project));
	for (size_t i = 0; i < p->count; i++) {
		const struct candidate *one = &p->candidate[i];
		bool is_new = !p->projects || strcmp(p->project[p->projects - 1], one->project) != 0;
		if (!one->is_retired && is_new)
			p->project[p->projects++] = one->project;
	}
	if (!p->projects)
		return 0;
	if (policy_open_downloads(p->policy, catalog_path(p->operation->catalog), &p->downloads, e) < 0 ||
		upstream_new(c, &p->upstream, e) < 0)
		return -1;
	return upstream_lookup(p->upstream, p->operation->catalog, p->project, p->projects, judge_project, p, e);
}

// --- deleting ---

static int note(struct purging *p, const struct tombstones_file *g, const struct err *failure, struct err *e)
{
	return operation_note(p->operation,
		&(struct operation_op_event){.platform = g->platform,
			.action = "purge",
			.project = g->project,
			.file = g->filename,
			.sha256 = g->has_sha256 ? g->sha256 : NULL,
			.failure = failure},
		e);
}

// trouble gets what went wrong; the others are tried.
static int purge_one(struct purging *p, const struct tombstones_file *g, struct err *trouble, struct err *e)
{
	struct err why = ERR_INIT;
	if (p->options->is_dry) {
		operation_tell(p->operation, g->platform, g->filename, OPERATION_WOULD, g->size, "");
		return 0;
	}
	int purged =
		sidecar_ops_purge(g->platform, p->operation->catalog, g->filename, g->folder, str_from(g->text), &why);
	if (purged == 0)
		return 0; // it was gone before
	bool is_kept = purged < 0 && why.kind == ERR_CONFLICT;
	operation_tell(p->operation, g->platform, g->filename,
		purged > 0 ? OPERATION_DONE
		: is_kept  ? OPERATION_KEPT
			   : OPERATION_FAILED,
		g->size, why.msg);
	if (purged < 0 && !is_kept)
		*trouble = why;
	return note(p, g, purged < 0 ? &why : NULL, e);
}

static int compare_tombstones(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	return (left->grave > right->grave) - (left->grave < right->grave);
}

// By platform: one that is frozen is told of once.
static int delete_all(struct purging *p, struct err *trouble, struct err *e)
{
	const struct platform *frozen = NULL;
	qsort(p->candidate, p->count, sizeof(*p->candidate), compare_tombstones);
	for (size_t i = 0; i < p->count; i++) {
		const struct candidate *one = &p->candidate[i];
		const struct tombstones_file *g = one->grave;
		struct err why = ERR_INIT;
		if (g->platform == frozen)
			continue;
		if (!one->may_go) {
			operation_tell(p->operation, g->platform, g->filename, OPERATION_KEPT, g->size,
				one->words ? one->words : "nobody said what upstream has");
			continue;
		}
		if (purge_one(p, g, &why, e) < 0)
			return -1;
		if (why.kind)
			*trouble = why;
		frozen = why.kind == ERR_BUSY ? g->platform : frozen;
	}
	return 0;
}

int purge(struct operation *x, const struct config *c, const struct policy *policy, const struct purge_options *options,
	struct purge_result *out, struct err *e)
{
	struct err trouble = ERR_INIT;
	*out = (struct purge_result){0};
	CLEANUP(purging_release)
	struct purging p = {
		.operation = x, .policy = policy, .options = options, .result = out, .now = clock_wall_seconds()};
	if (find(&p, e) < 0 || ask(&p, c, e) < 0 || delete_all(&p, &trouble, e) < 0)
		return -1;
	if (trouble.kind)
		*e = trouble;
	return trouble.kind ? -1 : 0;
}
