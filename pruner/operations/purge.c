// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/purge.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "builder/missing/kept-versions.h"
#include "lib/os/clock.h"
#include "lib/state/access/downloads.h"
#include "lib/state/publish/publish.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/pins.h"
#include "pruner/plan/verdict.h"

// A tombstone whose grace period is over.
struct purge_candidate {
	const struct tombstones_file *file;
	const char *project;       // "" where it is unknown
	bool is_own, is_purgeable; // is_own: it was unlisted for a reason that upstream has no part in
	const char *reason;        // why it may not be purged; NULL: it may
};

struct purge_state {
	struct operation *operation;
	const struct policy *policy;
	struct kept_locks locks;
	const struct purge_options *options;
	struct purge_result *result;
	struct upstreams *upstreams;
	struct downloads *downloads; // NULL: there are no counts
	struct tombstones tombstones;
	struct purge_candidate *candidate; // by project
	size_t count;
	const char **project; // those that upstream is asked about, each once
	size_t projects;
	struct arena text; // of all of these
	int64_t now;
};

static void purge_state_release(struct purge_state *p)
{
	kept_locks_release(&p->locks);
	arena_release(&p->text);
	tombstones_release(&p->tombstones);
	upstreams_free(p->upstreams);
	downloads_close(p->downloads);
}

// reason: TOMBSTONE_RETIRED or TOMBSTONE_EXPIRED.
static bool is_tombstone_of(const struct tombstone *stone, const char *reason)
{
	return stone->verdict && strcmp(stone->verdict, reason) == 0;
}

// --- the candidates ---

static bool is_past_grace(void *ctx, const struct tombstones_file *file, const struct tombstone *stone)
{
	struct purge_state *p = ctx;
	if (!file->has_file || !stone->run || (p->options->is_retired_only && !is_tombstone_of(stone, TOMBSTONE_RETIRED)))
		return false;
	bool is_over =
		stone->when > 0 && stone->when <= p->now && (uint64_t)(p->now - stone->when) >= p->options->grace;
	p->result->waiting += !is_over;
	return is_over;
}

static int compare_by_project(const void *a, const void *b)
{
	const struct purge_candidate *left = a, *right = b;
	int order = strcmp(left->project, right->project);
	return order ? order : (left->file > right->file) - (left->file < right->file);
}

// A quarantined file has no project in the catalog; then the file name gives it.
static const char *find_project_of_file(struct purge_state *p, const struct tombstones_file *f)
{
	struct err unknown = ERR_INIT;
	CLEANUP(mem_free) char *by_name = f->file.project ? NULL : publish_project_of(f->file.filename, NULL, &unknown);
	return f->file.project ? f->file.project : by_name ? arena_strdup(&p->text, by_name) : "";
}

// A lock that names the bytes; NULL: none does.
static const char *find_lock(struct purge_state *p, const struct tombstones_file *f)
{
	const char *lock = kept_locks_find(&p->locks, f->file.sha256);
	return lock ? arena_printf(&p->text, KEPT_LOCKS_WORDS, lock) : NULL;
}

// What pins a version that a view no longer keeps; NULL: nothing does. Upstream need not have it.
static const char *find_list(struct purge_state *p, const struct tombstones_file *f)
{
	struct err unknown = ERR_INIT;
	CLEANUP(version_release) struct version version = {0};
	CLEANUP(buf_release) struct buf why = buf_up_to(2 * LIMIT_PATH);
	const struct kept_versions kept = {
		.packages = p->policy->packages, .pins = p->policy->pins, .branches = p->policy->branches};
	if (!f->file.project || !f->version || version_parse(str_from(f->version), &version, &unknown) < 0)
		return NULL;
	bool is_wanted = kept_versions_pin(&kept, f->file.project, &version, f->file.platform->name, &why);
	return is_wanted ? arena_copy(&p->text, buf_view(&why)) : NULL;
}

static int find_candidates(struct purge_state *p, struct err *e)
{
	const struct tombstones_wanted wanted = {
		.glob = p->options->glob, .globs = p->options->globs, .matches = is_past_grace, .ctx = p};
	if (tombstones_load(&p->tombstones, p->operation->store, p->operation->catalog, &wanted, e) < 0)
		return -1;
	p->count = p->tombstones.count;
	p->candidate = ARENA_NEW(&p->text, struct purge_candidate, p->count);
	for (size_t i = 0; i < p->count; i++) {
		const struct tombstones_file *f = &p->tombstones.item[i];
		CLEANUP(tombstone_release) struct tombstone stone;
		tombstone_read(str_from(f->text), &stone);
		bool is_expired = is_tombstone_of(&stone, TOMBSTONE_EXPIRED);
		p->candidate[i] = (struct purge_candidate){.file = f,
			.project = find_project_of_file(p, f),
			.is_own = is_expired || is_tombstone_of(&stone, TOMBSTONE_RETIRED),
			.reason = find_lock(p, f)};
		if (!p->candidate[i].reason && is_expired)
			p->candidate[i].reason = find_list(p, f);
		p->candidate[i].is_purgeable = p->candidate[i].is_own && !p->candidate[i].reason;
	}
	qsort(p->candidate, p->count, sizeof(*p->candidate), compare_by_project);
	return 0;
}

// --- upstream's answers ---

static bool is_before_project(const void *candidate, const void *project)
{
	return strcmp(((const struct purge_candidate *)candidate)->project, project) < 0;
}

static int decide_project_candidates(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct purge_state *p = ctx;
	struct verdict_upstream upstream;
	enum name_age age;
	p->result->projects++;
	p->result->unknown += answer->result != UPSTREAM_KNOWN && answer->result != UPSTREAM_ABSENT;
	if (p->options->progress)
		p->options->progress(p->options->ctx, p->result->projects, p->projects, p->result->unknown);
	if (name_owner_find_age(p->upstreams, p->operation->catalog, answer, &age, e) < 0)
		return -1;
	verdict_upstream_init(&upstream, answer->project, answer);
	upstream.is_younger = age != NAME_AGE_OLDER;
	size_t first = lower_bound(answer->project, p->candidate, p->count, sizeof(*p->candidate), is_before_project);
	for (size_t i = first; i < p->count; i++) {
		if (strcmp(p->candidate[i].project, answer->project) != 0)
			break;
		if (!p->candidate[i].is_own) {
			struct purge_candidate *one = &p->candidate[i];
			const struct tombstones_file *f = one->file;
			struct policy policy = *p->policy;
			CLEANUP(tombstone_release) struct tombstone stone;
			CLEANUP(verdict_release) struct verdict v;
			tombstone_read(str_from(f->text), &stone);
			policy.takes = (struct policy_takes){.taken_over = p->policy->takes.taken_over};
			bool *class = stone.verdict ? policy_takes_class(&policy.takes, stone.verdict) : NULL;
			if (class) // of the first verdict, which is decided by again
				*class = true;
			const struct verdict_file file = {.filename = f->file.filename,
				.project = f->file.project,
				.version = f->version,
				.sha256 = f->file.sha256,
				.mtime = f->mtime_ns / 1000000000,
				.requires_python = f->requires_python,
				.refusal = f->refusal,
				.lock = kept_locks_find(&p->locks, f->file.sha256),
				.was_downloaded = policy_was_downloaded(p->policy, p->downloads, f->file.platform->name,
					f->file.filename, p->now)};
			verdict_decide(&policy, f->file.platform, &file, &upstream, p->now, &v);
			one->is_purgeable = v.removes;
			one->reason = v.removes ? NULL : arena_strdup(&p->text, v.reason.data);
		}
	}
	verdict_upstream_release(&upstream);
	return 0;
}

static int ask_upstream(struct purge_state *p, const struct config *c, struct err *e)
{
	p->project = ARENA_NEW(&p->text, const char *, p->count);
	for (size_t i = 0; i < p->count; i++) {
		const struct purge_candidate *one = &p->candidate[i];
		bool is_new = !p->projects || strcmp(p->project[p->projects - 1], one->project) != 0;
		if (!one->is_own && is_new)
			p->project[p->projects++] = one->project;
	}
	if (!p->projects)
		return 0;
	if (policy_open_downloads(p->policy, c, catalog_path(p->operation->catalog), &p->downloads, e) < 0 ||
		upstreams_new(c, &p->upstreams, e) < 0)
		return -1;
	return upstream_lookup(p->upstreams, p->operation->catalog, p->project, p->projects, decide_project_candidates,
		p, e);
}

// --- deleting ---

// An error of this file goes to *trouble, so that the others are tried; -1 only where the audit log fails.
static int purge_candidate(struct purge_state *p, const struct tombstones_file *f, struct err *trouble, struct err *e)
{
	struct err why = ERR_INIT;
	int pinned = operation_report_pinned(p->operation, &f->file, false, e);
	if (pinned)
		return pinned < 0 ? -1 : 0;
	if (p->options->is_dry) {
		operation_report(p->operation, &f->file, OPERATION_WOULD, "");
		return 0;
	}
	int purged =
		sidecar_ops_purge(f->file.platform, p->operation->catalog, f->file.filename, f->file.folder, str_from(f->text), &why);
	if (purged == 0)
		return 0; // it was already gone
	bool is_kept = purged < 0 && why.kind == ERR_CONFLICT;
	operation_report(p->operation, &f->file, purged > 0 ? OPERATION_DONE : is_kept ? OPERATION_KEPT : OPERATION_FAILED,
		why.msg);
	if (purged < 0 && !is_kept)
		*trouble = why;
	return operation_audit(p->operation, &f->file, "purge", NULL, purged < 0 ? &why : NULL, e);
}

static int compare_by_tombstone(const void *a, const void *b)
{
	const struct purge_candidate *left = a, *right = b;
	return (left->file > right->file) - (left->file < right->file);
}

// In the order of platforms: a frozen platform is reported once.
static int purge_candidates(struct purge_state *p, struct err *trouble, struct err *e)
{
	const struct platform *frozen = NULL;
	qsort(p->candidate, p->count, sizeof(*p->candidate), compare_by_tombstone);
	for (size_t i = 0; i < p->count; i++) {
		const struct purge_candidate *one = &p->candidate[i];
		const struct tombstones_file *f = one->file;
		struct err why = ERR_INIT;
		if (f->file.platform == frozen)
			continue;
		if (!one->is_purgeable) {
			operation_report(p->operation, &f->file, OPERATION_KEPT,
				one->reason ? one->reason : "what upstream has is not known");
			continue;
		}
		if (purge_candidate(p, f, &why, e) < 0)
			return -1;
		if (why.kind)
			*trouble = why;
		frozen = why.kind == ERR_BUSY ? f->file.platform : frozen;
	}
	return 0;
}

int purge(struct operation *x, const struct config *c, const struct policy *policy, const struct purge_options *options,
	struct purge_result *out, struct err *e)
{
	struct err trouble = ERR_INIT;
	*out = (struct purge_result){0};
	CLEANUP(purge_state_release)
	struct purge_state p = {
		.operation = x, .policy = policy, .options = options, .result = out, .now = clock_wall_seconds()};
	if (pins_sync(c, x->catalog, e) < 0 || kept_locks_read(c, p.now, NULL, &p.locks, e) < 0 ||
		find_candidates(&p, e) < 0 || ask_upstream(&p, c, e) < 0 || purge_candidates(&p, &trouble, e) < 0)
		return -1;
	if (trouble.kind)
		*e = trouble;
	return trouble.kind ? -1 : 0;
}
