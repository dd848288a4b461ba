// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/apply.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/arena.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/freeze.h"
#include "pruner/operations/tombstones.h"
#include "pruner/plan/plan.h"

// How the second look at a file ended.
enum second_look {
	LOOK_MISSED, // the catalog has it no more
	LOOK_DONE,   // this run unlisted it before
	LOOK_CHANGED,
	LOOK_UNFOUNDED, // it would not be removed today
	LOOK_HOLDS,
};

// A file that the plan removes.
struct removal {
	const struct planfile_entry *planned;
	const struct platform *platform;
	enum second_look look;
	const char *words;                                        // what is wrong with it
	const char *verdict, *reason, *project, *requires_python; // of today
	struct tombstone_upstream upstream;
};

struct applying {
	struct operation *operation;
	const struct config *config;
	const struct policy *policy;
	const struct planfile *plan;
	const struct apply_options *options;
	struct removal *removal; // by platform and path
	size_t count;
	struct strset projects; // of those that are not done
	struct arena text;
	int64_t now;
};

static void applying_release(struct applying *a)
{
	free(a->removal);
	strset_release(&a->projects);
	arena_release(&a->text);
}

static const char *keep(struct applying *a, const char *s)
{
	return s ? arena_copy(&a->text, str_from(s)) : NULL;
}

struct policy_takes apply_takes(const struct planfile_head *head)
{
	struct policy_takes takes = {false};
	for (size_t i = 0; i < head->options; i++) {
		bool *class = policy_takes_class(&takes, head->option[i]);
		if (class)
			*class = true;
	}
	return takes;
}

// --- what is to be removed ---

static int compare_keys(const struct planfile_entry *a, const struct planfile_entry *b)
{
	int order = strcmp(a->platform, b->platform);
	return order ? order : strcmp(a->path, b->path);
}

static int compare(const void *a, const void *b)
{
	const struct removal *left = a, *right = b;
	return compare_keys(left->planned, right->planned);
}

static struct removal *find(const struct applying *a, const struct planfile_entry *entry)
{
	const struct removal wanted = {.planned = entry};
	return a->count ? bsearch(&wanted, a->removal, a->count, sizeof(wanted), compare) : NULL;
}

static int collect(struct applying *a, struct err *e)
{
	const struct planfile *plan = a->plan;
	a->removal = xcalloc(plan->count + 1, sizeof(*a->removal));
	for (size_t i = 0; i < plan->count; i++) {
		const struct planfile_entry *entry = &plan->entry[i];
		const struct platform *p = store_platform_named(a->operation->store, str_from(entry->platform));
		if (!entry->removes)
			continue;
		if (!p || !p->id)
			return err_set(e, ERR_CONFLICT, "the plan is of a platform %s, which the store has not",
				entry->platform);
		a->removal[a->count++] = (struct removal){.planned = entry, .platform = p};
	}
	qsort(a->removal, a->count, sizeof(*a->removal), compare);
	for (size_t i = 1; i < a->count; i++)
		if (compare(&a->removal[i - 1], &a->removal[i]) == 0)
			return err_set(e, ERR_INVALID, "the plan names %s of %s twice", a->removal[i].planned->path,
				a->removal[i].planned->platform);
	return 0;
}

static bool is_of_run(void *ctx, const struct tombstones_file *grave UNUSED, const struct tombstone *stone)
{
	const struct applying *a = ctx;
	return stone->run && strcmp(stone->run, a->plan->head.id) == 0;
}

static int find_done(struct applying *a, struct err *e)
{
	CLEANUP(tombstones_release) struct tombstones done;
	const struct tombstones_wanted wanted = {.fits = is_of_run, .ctx = a};
	if (tombstones_load(&done, a->operation->store, a->operation->catalog, &wanted, e) < 0)
		return -1;
	for (size_t i = 0; i < done.count; i++) {
		const struct tombstones_file *g = &done.item[i];
		CLEANUP(mem_free)
		char *path = *g->folder ? xasprintf("%s/%s", g->folder, g->filename) : xstrdup(g->filename);
		struct removal *r = find(a, &(struct planfile_entry){.platform = g->platform->name, .path = path});
		if (r)
			r->look = LOOK_DONE;
	}
	return 0;
}

// --- what has to hold of the whole ---

static int check_plan(const struct applying *a, struct err *e)
{
	const struct planfile_head *h = &a->plan->head;
	const char *store = a->operation->store->path ? a->operation->store->path : "";
	if (strcmp(h->store, store) != 0)
		return err_set(e, ERR_CONFLICT, "the plan is of the store %s, not of %s", h->store, store);
	if (strcmp(h->policy_hash, a->policy->hash) != 0 && !a->options->accepts_changed_policy)
		return err_set(e, ERR_CONFLICT,
			"[prune], its lists, [upstream] or a platform's profile changed since the "
			"plan was made: make a new one, or take --accept-changed-policy");
	return 0;
}

static int check_failures(const struct applying *a, const struct planfile_head *h, const char *when, struct err *e)
{
	if (h->failed * 100 <= h->projects * a->options->max_failures)
		return 0;
	const struct planfile_failure *first = h->failures ? &h->failure[0] : NULL;
	return err_set(e, ERR_NET, "%s %llu of %llu look-ups failed (%s: %s), and --max-failures is %llu%%", when,
		(unsigned long long)h->failed, (unsigned long long)h->projects, first ? first->project : "?",
		first ? first->result : "?", (unsigned long long)a->options->max_failures);
}

static int check_frozen(const struct applying *a, struct err *e)
{
	const struct platform *last = NULL;
	for (size_t i = 0; i < a->count; i++) {
		if (a->removal[i].platform != last && freeze_check(a->removal[i].platform, e) < 0)
			return -1;
		last = a->removal[i].platform;
	}
	return 0;
}

// --- the second look ---

static void take_evidence(struct applying *a, struct removal *r, const struct planfile_entry *now)
{
	const struct planfile_evidence *found = &now->evidence;
	r->verdict = now->verdict; // a constant
	r->reason = keep(a, now->reason);
	r->project = keep(a, now->project);
	r->requires_python = keep(a, now->requires_python);
	r->upstream = (struct tombstone_upstream){.filename = keep(a, found->filename),
		.url = keep(a, found->url),
		.index = keep(a, found->index),
		.has_sha256 = found->has_sha256,
		.uploaded = found->uploaded,
		.is_identical = found->is_identical};
	memcpy(r->upstream.sha256, found->sha256, SHA256_SIZE);
}

static bool is_same_file(const struct planfile_entry *then, const struct planfile_entry *now)
{
	return then->size == now->size && then->mtime_ns == now->mtime_ns && then->has_sha256 == now->has_sha256 &&
	       (!then->has_sha256 || memcmp(then->sha256, now->sha256, SHA256_SIZE) == 0);
}

// The catalog may be behind the disk.
static bool is_on_disk(const struct removal *r)
{
	struct stat st;
	struct err ignored = ERR_INIT;
	CLEANUP(mem_close) int fd = store_open_file(r->platform, r->planned->path, &ignored);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == r->planned->size &&
	       fs_mtime_ns(&st) == r->planned->mtime_ns;
}

static int look_at_entry(void *ctx, const struct planfile_entry *now, struct err *e UNUSED)
{
	struct applying *a = ctx;
	struct removal *r = find(a, now);
	if (!r || r->look == LOOK_DONE)
		return 0;
	r->look = LOOK_HOLDS;
	r->words = "";
	take_evidence(a, r, now);
	if (!is_same_file(r->planned, now) || !is_on_disk(r)) {
		r->look = LOOK_CHANGED;
		r->words = "it is another file now than the one that was decided on";
	} else if (!now->removes) {
		r->look = LOOK_UNFOUNDED;
		r->words = r->reason;
	}
	return 0;
}

// How many files are left to be done.
static size_t collect_projects(struct applying *a)
{
	size_t left = 0;
	for (size_t i = 0; i < a->count; i++) {
		const struct removal *r = &a->removal[i];
		left += r->look != LOOK_DONE;
		if (r->look != LOOK_DONE && r->planned->project)
			strset_add(&a->projects, r->planned->project);
	}
	strset_sort(&a->projects);
	return left;
}

// The same decisions once more, by what upstream and the catalog have now.
static int look_again(struct applying *a, struct err *e)
{
	CLEANUP(plan_release) struct plan now = {0};
	if (!collect_projects(a))
		return 0;
	const struct plan_options options = {.projects = &a->projects,
		.entry = look_at_entry,
		.entry_ctx = a,
		.progress = a->options->look_progress,
		.ctx = a->options->ctx};
	if (plan_make(a->config, a->operation->store, a->operation->catalog, a->policy, &options, &now, e) < 0)
		return -1;
	return check_failures(a, &now.head, "now", e);
}

// --- what is wrong ---

static int check_look(const struct applying *a, enum second_look from, enum second_look to, bool is_skipped,
	const char *what, const char *option, struct err *e)
{
	size_t wrong = 0;
	const struct removal *first = NULL;
	for (size_t i = 0; i < a->count; i++) {
		const struct removal *r = &a->removal[i];
		if (r->look < from || r->look > to || r->look == LOOK_DONE)
			continue;
		const char *words = r->words ? r->words : "the catalog has it no more";
		operation_tell(a->operation, r->platform, r->planned->filename, OPERATION_KEPT, r->planned->size,
			words);
		first = first ? first : r;
		wrong++;
	}
	if (!wrong || is_skipped)
		return 0;
	return err_set(e, ERR_CONFLICT, "%zu files %s, %s/%s first: make a new plan, or leave them out with %s", wrong,
		what, first->planned->platform, first->planned->path, option);
}

static int check_looks(const struct applying *a, struct err *e)
{
	struct err why = ERR_INIT;
	int changed = check_look(a, LOOK_MISSED, LOOK_CHANGED, a->options->skips_changed_wheels,
		"are not those that the plan decided on", "--skip-changed-wheels", e);
	int unfounded = check_look(a, LOOK_UNFOUNDED, LOOK_UNFOUNDED, a->options->skips_changed_evidence,
		"would not be removed today", "--skip-changed-evidence", changed < 0 ? &why : e);
	return changed < 0 || unfounded < 0 ? -1 : 0;
}

static int check_share(const struct platform *p, const char *what, const char *option, uint64_t part, uint64_t whole,
	uint64_t most, struct err *e)
{
	if (part <= whole / 100 * most + whole % 100 * most / 100)
		return 0;
	return err_set(e, ERR_LIMIT, "the plan takes %llu of %llu %s of %s, and %s is %llu%%", (unsigned long long)part,
		(unsigned long long)whole, what, p->name, option, (unsigned long long)most);
}

// What is in quarantine is not, nor a copy of a name that is listed from elsewhere, nor what this run unlisted before.
static bool is_listed(const struct applying *a, const struct removal *r)
{
	struct err unknown = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	return r->look != LOOK_DONE &&
	       catalog_find_file(a->operation->catalog, r->platform->id, r->planned->filename, &place, &unknown) == 0 &&
	       !place.is_unlisted && strcmp(place.path, r->planned->path) == 0;
}

// Of what is listed, and what goes beside that.
static int check_cap(const struct applying *a, const struct platform *p, struct err *e)
{
	struct catalog_totals listed;
	uint64_t files = 0, bytes = 0, more_files = 0, more_bytes = 0;
	if (catalog_totals(a->operation->catalog, p->id, &listed, e) < 0)
		return -1;
	for (size_t i = 0; i < a->count; i++) {
		const struct removal *r = &a->removal[i];
		if (r->platform != p || (r->look != LOOK_HOLDS && r->look != LOOK_DONE))
			continue;
		files++;
		bytes += r->planned->size;
		bool is_more = !is_listed(a, r);
		more_files += is_more;
		more_bytes += is_more ? r->planned->size : 0;
	}
	if (check_share(p, "files", "--max-files", files, listed.files + more_files, a->options->max_files, e) < 0)
		return -1;
	return check_share(p, "bytes", "--max-bytes", bytes, listed.bytes + more_bytes, a->options->max_bytes, e);
}

static int check_caps(const struct applying *a, struct err *e)
{
	for (size_t i = 0; i < a->operation->store->platform_count; i++)
		if (a->operation->store->platform[i].id && check_cap(a, &a->operation->store->platform[i], e) < 0)
			return -1;
	return 0;
}

// --- doing it ---

static int unlist(struct applying *a, const struct removal *r, struct err *trouble, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *folder = operation_folder(r->planned->path);
	struct tombstone stone = {.reason = r->reason,
		.when = a->now,
		.by = a->operation->who,
		.verdict = r->verdict,
		.run = a->plan->head.id,
		.project = r->project,
		.has_sha256 = r->planned->has_sha256,
		.size = (int64_t)r->planned->size,
		.requires_python = r->requires_python,
		.upstream = r->upstream};
	memcpy(stone.sha256, r->planned->sha256, SHA256_SIZE);
	const char *name = r->planned->filename;
	int done =
		is_on_disk(r)
			? sidecar_ops_remove(r->platform, a->operation->catalog, name, folder, &stone, false, &why)
			: err_set(&why, ERR_CONFLICT, "it became another file, or went, since it was looked at again");
	operation_tell(a->operation, r->platform, name, done < 0 ? OPERATION_FAILED : OPERATION_DONE, r->planned->size,
		why.msg);
	if (done < 0)
		*trouble = why;
	return operation_note(a->operation,
		&(struct operation_op_event){.platform = r->platform,
			.action = "prune",
			.project = r->project,
			.file = name,
			.sha256 = stone.has_sha256 ? stone.sha256 : NULL,
			.reason = r->reason,
			.failure = done < 0 ? &why : NULL},
		e);
}

static int unlist_all(struct applying *a, struct err *trouble, struct err *e)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct removal *r = &a->removal[i];
		const char *name = r->planned->filename;
		if (a->options->file_progress)
			a->options->file_progress(a->options->ctx, i, a->count);
		if (r->look == LOOK_DONE)
			operation_tell(a->operation, r->platform, name, OPERATION_BEFORE, r->planned->size, "");
		else if (r->look == LOOK_HOLDS && a->options->is_dry)
			operation_tell(a->operation, r->platform, name, OPERATION_WOULD, r->planned->size, "");
		else if (r->look == LOOK_HOLDS && unlist(a, r, trouble, e) < 0)
			return -1;
	}
	return 0;
}

int apply(struct operation *x, const struct config *c, const struct policy *policy, const struct planfile *plan,
	const struct apply_options *options, struct err *e)
{
	struct err trouble = ERR_INIT;
	CLEANUP(applying_release)
	struct applying a = {.operation = x,
		.config = c,
		.policy = policy,
		.plan = plan,
		.options = options,
		.now = clock_wall_seconds()};
	if (check_plan(&a, e) < 0 || check_failures(&a, &plan->head, "when the plan was made", e) < 0 ||
		collect(&a, e) < 0 || check_frozen(&a, e) < 0 || find_done(&a, e) < 0 || look_again(&a, e) < 0 ||
		check_looks(&a, e) < 0 || check_caps(&a, e) < 0 || unlist_all(&a, &trouble, e) < 0 ||
		operation_end(x, trouble.kind ? &trouble : e) < 0 || trouble.kind) {
		if (trouble.kind)
			*e = trouble;
		return -1;
	}
	return 0;
}
