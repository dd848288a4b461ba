// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/apply.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/freeze.h"
#include "pruner/plan/pins.h"
#include "pruner/plan/plan.h"
#include "pruner/plan/view-losses.h"

// --- files that are left out ---

static int add_word(struct exceptions *x, struct str word, struct err *e)
{
	const struct exception one = {.word = arena_copy(&x->text, word)};
	if (!word.len)
		return err_set(e, ERR_USAGE, "--except: expected the name of a file, or a glob of names");
	if (!strpbrk(one.word, "*?[")) {
		ARENA_GROW(&x->text, x->name, x->names, x->name_room);
		x->name[x->names++] = one;
		return 0;
	}
	if (x->globs == LIMIT_EXCEPTION_GLOBS)
		return err_set(e, ERR_USAGE, "--except: more than %d globs", LIMIT_EXCEPTION_GLOBS);
	ARENA_GROW(&x->text, x->glob, x->globs, x->glob_room);
	x->glob[x->globs++] = one;
	return 0;
}

int exceptions_add(struct exceptions *x, const char *word, struct err *e)
{
	if (*word != '@')
		return add_word(x, str_from(word), e);
	const char *path = word + 1;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EXCEPTIONS);
	if (fs_read_file(path, &text, e) < 0)
		return -1;
	struct str rest = buf_view(&text);
	while (rest.len) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		if (line.len && line.ptr[0] != '#' && add_word(x, line, e) < 0)
			return -1;
	}
	return 0;
}

static int compare_exceptions(const void *a, const void *b)
{
	return strcmp(((const struct exception *)a)->word, ((const struct exception *)b)->word);
}

void exceptions_sort(struct exceptions *x)
{
	if (x->names)
		qsort(x->name, x->names, sizeof(*x->name), compare_exceptions);
}

// A word may be there twice: both are used.
static bool note_name(struct exceptions *x, const char *name)
{
	const struct exception wanted = {.word = name};
	struct exception *found =
		x->names ? bsearch(&wanted, x->name, x->names, sizeof(*x->name), compare_exceptions) : NULL;
	if (!found)
		return false;
	while (found > x->name && strcmp(found[-1].word, name) == 0)
		found--;
	for (; found < x->name + x->names && strcmp(found->word, name) == 0; found++)
		found->is_used = true;
	return true;
}

static bool note_globs(struct exceptions *x, const char *name)
{
	bool is_any = false;
	for (size_t i = 0; i < x->globs; i++)
		if (fnmatch(x->glob[i].word, name, 0) == 0 || strcmp(x->glob[i].word, name) == 0)
			is_any = x->glob[i].is_used = true;
	return is_any;
}

bool exceptions_take(struct exceptions *x, const struct planfile_entry *file)
{
	bool is_taken = false;
	if (!x->names && !x->globs)
		return false;
	CLEANUP(mem_free) char *name = xasprintf("%s/%s", file->platform, file->filename);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", file->platform, file->path);
	const char *const spelling[] = {file->filename, name, path};
	for (size_t i = 0; i < ARRAY_SIZE(spelling); i++) {
		is_taken |= note_name(x, spelling[i]);
		is_taken |= note_globs(x, spelling[i]);
	}
	return is_taken;
}

const char *exceptions_unused(const struct exceptions *x)
{
	for (size_t i = 0; i < x->names; i++)
		if (!x->name[i].is_used)
			return x->name[i].word;
	for (size_t i = 0; i < x->globs; i++)
		if (!x->glob[i].is_used)
			return x->glob[i].word;
	return NULL;
}

void exceptions_release(struct exceptions *x)
{
	arena_release(&x->text);
	*x = (struct exceptions){0};
}

// --- the plan ---

// What the recheck of a planned file found. The order matters to check_rechecked.
enum rechecked {
	RECHECKED_MISSING, // the catalog no longer has it
	RECHECKED_DONE,    // this run has already unlisted it
	RECHECKED_CHANGED,
	RECHECKED_UNFOUNDED, // its verdict is no longer to remove it
	RECHECKED_HOLDS,
};

// A file that the plan removes.
struct planned_removal {
	const struct planfile_entry *planned;
	struct operation_file file; // its project is that of the recheck
	enum rechecked rechecked;
	bool was_unlisted;
	const char *words;                              // why it is not removed
	const char *verdict, *reason, *requires_python; // of the recheck
	struct tombstone_upstream upstream;
};

struct apply_state {
	struct operation *operation;
	const struct config *config;
	const struct policy *policy;
	const struct planfile *plan;
	const struct apply_options *options;
	struct planned_removal *removal; // by platform and path
	size_t count;
	struct strset projects; // of the files that are not done
	struct arena text;
	int64_t now;
};

static void apply_state_release(struct apply_state *a)
{
	strset_release(&a->projects);
	arena_release(&a->text);
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

// --- the removals of the plan ---

static int compare_removals(const void *a, const void *b)
{
	const struct planned_removal *left = a, *right = b;
	int order = strcmp(left->planned->platform, right->planned->platform);
	return order ? order : strcmp(left->planned->path, right->planned->path);
}

static struct planned_removal *find_removal(const struct apply_state *a, const struct planfile_entry *entry)
{
	const struct planned_removal wanted = {.planned = entry};
	return a->count ? bsearch(&wanted, a->removal, a->count, sizeof(wanted), compare_removals) : NULL;
}

static bool is_left_out(struct apply_state *a, const struct planfile_entry *entry)
{
	const struct platform *p = store_platform_named(a->operation->store, str_from(entry->platform));
	if (!a->options->except || !exceptions_take(a->options->except, entry))
		return false;
	const struct operation_file file = {.platform = p, .filename = entry->filename, .size = entry->size};
	if (p)
		operation_report(a->operation, &file, OPERATION_KEPT, "it is left out by --except");
	return true;
}

// A word that leaves out nothing may be misspelt: then a file would go that shall stay.
static int check_exceptions(const struct apply_state *a, struct err *e)
{
	const char *unused = a->options->except ? exceptions_unused(a->options->except) : NULL;
	return unused ? err_set(e, ERR_NOT_FOUND,
				"--except %s: the plan removes no such file. Nothing was done: correct the name, or omit it",
				unused)
		      : 0;
}

static int collect_removals(struct apply_state *a, struct err *e)
{
	const struct planfile *plan = a->plan;
	a->removal = ARENA_NEW(&a->text, struct planned_removal, plan->count);
	for (size_t i = 0; i < plan->count; i++) {
		const struct planfile_entry *entry = &plan->entry[i];
		const struct platform *p = store_platform_named(a->operation->store, str_from(entry->platform));
		if (!entry->removes || is_left_out(a, entry))
			continue;
		if (!p || !p->id)
			return err_set(e, ERR_CONFLICT, "the plan is for platform %s, which the store does not have",
				entry->platform);
		CLEANUP(mem_free) char *folder = operation_folder(entry->path);
		a->removal[a->count++] = (struct planned_removal){.planned = entry,
			.file = {.platform = p,
				.filename = entry->filename,
				.folder = arena_strdup(&a->text, folder),
				.sha256 = entry->has_sha256 ? entry->sha256 : NULL,
				.size = entry->size}};
	}
	qsort(a->removal, a->count, sizeof(*a->removal), compare_removals);
	for (size_t i = 1; i < a->count; i++)
		if (compare_removals(&a->removal[i - 1], &a->removal[i]) == 0)
			return err_set(e, ERR_INVALID, "the plan names %s of %s twice", a->removal[i].planned->path,
				a->removal[i].planned->platform);
	return 0;
}

static bool is_tombstone_of_run(void *ctx, const struct tombstones_file *file UNUSED, const struct tombstone *stone)
{
	const struct apply_state *a = ctx;
	return stone->run && strcmp(stone->run, a->plan->head.id) == 0;
}

static int mark_done_removals(struct apply_state *a, struct err *e)
{
	CLEANUP(tombstones_release) struct tombstones done;
	const struct tombstones_wanted wanted = {.matches = is_tombstone_of_run, .ctx = a};
	if (tombstones_load(&done, a->operation->store, a->operation->catalog, &wanted, e) < 0)
		return -1;
	for (size_t i = 0; i < done.count; i++) {
		const struct tombstones_file *f = &done.item[i];
		const struct operation_file *of = &f->file;
		CLEANUP(mem_free)
		char *path = *of->folder ? xasprintf("%s/%s", of->folder, of->filename) : xstrdup(of->filename);
		struct planned_removal *r =
			find_removal(a, &(struct planfile_entry){.platform = of->platform->name, .path = path});
		if (r)
			r->rechecked = RECHECKED_DONE;
	}
	return 0;
}

// --- checks of the whole plan ---

static int check_plan_store_and_policy(const struct apply_state *a, struct err *e)
{
	const struct planfile_head *h = &a->plan->head;
	const char *store = a->operation->store->path ? a->operation->store->path : "";
	if (strcmp(h->store, store) != 0)
		return err_set(e, ERR_CONFLICT, "the plan is for the store %s, not for %s", h->store, store);
	if (strcmp(h->policy_hash, a->policy->hash) != 0 && !a->options->accepts_changed_policy)
		return err_set(e, ERR_CONFLICT,
			"[prune], its lists, [upstream] or a platform's profile changed since the "
			"plan was made: make a new one, or use --accept-changed-policy");
	return 0;
}

static int check_lookup_failures(const struct apply_state *a, const struct planfile_head *h, const char *when,
	struct err *e)
{
	if (h->failed * 100 <= h->projects * a->options->max_failures)
		return 0;
	const struct planfile_failure *first = h->failures ? &h->failure[0] : NULL;
	return err_set(e, ERR_NET, "%s %llu of %s failed (%s: %s), and --max-failures is %llu%%", when,
		(unsigned long long)h->failed, COUNTED(h->projects, "look-up|look-ups"), first ? first->project : "?",
		first ? first->result : "?", (unsigned long long)a->options->max_failures);
}

static int check_frozen(const struct apply_state *a, struct err *e)
{
	const struct platform *last = NULL;
	for (size_t i = 0; i < a->count; i++) {
		if (a->removal[i].file.platform != last && freeze_check(a->removal[i].file.platform, e) < 0)
			return -1;
		last = a->removal[i].file.platform;
	}
	return 0;
}

// --- the recheck of each file ---

static bool is_same_file(const struct planfile_entry *then, const struct planfile_entry *now)
{
	return then->size == now->size && then->mtime_ns == now->mtime_ns && then->has_sha256 == now->has_sha256 &&
	       (!then->has_sha256 || memcmp(then->sha256, now->sha256, SHA256_SIZE) == 0);
}

// Compares the planned file with the disk, because the catalog may be older.
static bool is_on_disk(const struct planned_removal *r)
{
	struct place_info now;
	struct err ignored = ERR_INIT;
	const struct place_version planned = {r->planned->size, r->planned->mtime_ns, 0};
	CLEANUP(place_file_close) struct place_file *file = place_open(r->file.platform->place, r->planned->path, &ignored);
	return file && place_file_info(file, &now, &ignored) == 0 && now.kind == PLACE_FILE &&
	       place_version_match(&now.version, &planned) != PLACE_OTHER;
}

static int recheck_entry(void *ctx, const struct planfile_entry *now, struct err *e UNUSED)
{
	struct apply_state *a = ctx;
	struct planned_removal *r = find_removal(a, now);
	if (!r || r->rechecked == RECHECKED_DONE)
		return 0;
	r->rechecked = RECHECKED_HOLDS;
	r->words = "";
	const struct planfile_evidence *found = &now->evidence;
	r->verdict = now->verdict; // a constant
	r->reason = arena_strdup(&a->text, now->reason);
	r->file.project = arena_strdup(&a->text, now->project);
	r->requires_python = arena_strdup(&a->text, now->requires_python);
	r->upstream = (struct tombstone_upstream){.filename = arena_strdup(&a->text, found->filename),
		.url = arena_strdup(&a->text, found->url),
		.index = arena_strdup(&a->text, found->index),
		.has_sha256 = found->has_sha256,
		.uploaded = found->uploaded,
		.is_identical = found->is_identical};
	memcpy(r->upstream.sha256, found->sha256, SHA256_SIZE);
	if (!is_same_file(r->planned, now) || !is_on_disk(r)) {
		r->rechecked = RECHECKED_CHANGED;
		r->words = "it is no longer the file that the plan decided on";
	} else if (!now->removes) {
		r->rechecked = RECHECKED_UNFOUNDED;
		r->words = r->reason;
	}
	return 0;
}

// Returns how many files are left to do, and collects their projects.
static size_t collect_projects_left(struct apply_state *a)
{
	size_t left = 0;
	for (size_t i = 0; i < a->count; i++) {
		const struct planned_removal *r = &a->removal[i];
		left += r->rechecked != RECHECKED_DONE;
		if (r->rechecked != RECHECKED_DONE && r->planned->project)
			strset_add(&a->projects, r->planned->project);
	}
	strset_sort(&a->projects);
	return left;
}

// Decides again, from what upstream and the catalog have now.
static int recheck_removals(struct apply_state *a, struct err *e)
{
	CLEANUP(plan_release) struct plan now = {0};
	if (!collect_projects_left(a))
		return 0;
	const struct plan_options options = {.projects = &a->projects,
		.entry = recheck_entry,
		.entry_ctx = a,
		.progress = a->options->lookup_progress,
		.ctx = a->options->ctx};
	if (plan_make(a->config, a->operation->store, a->operation->catalog, a->policy, &options, &now, e) < 0)
		return -1;
	return check_lookup_failures(a, &now.head, "now", e);
}

// --- checks of the recheck ---

static int check_rechecked(const struct apply_state *a, enum rechecked from, enum rechecked to, bool is_skipped,
	const char *what, const char *option, struct err *e)
{
	size_t wrong = 0;
	const struct planned_removal *first = NULL;
	for (size_t i = 0; i < a->count; i++) {
		const struct planned_removal *r = &a->removal[i];
		if (r->rechecked < from || r->rechecked > to || r->rechecked == RECHECKED_DONE)
			continue;
		const char *words = r->words ? r->words : "the catalog no longer has it";
		operation_report(a->operation, &r->file, OPERATION_KEPT, words);
		first = first ? first : r;
		wrong++;
	}
	if (!wrong || is_skipped)
		return 0;
	return err_set(e, ERR_CONFLICT, "%s %s, %s/%s first: make a new plan, or leave %s out with %s",
		COUNTED(wrong, "file|files"), what, first->planned->platform, first->planned->path,
		wrong == 1 ? "it" : "them", option);
}

static int check_all_rechecked(const struct apply_state *a, struct err *e)
{
	struct err why = ERR_INIT;
	int changed = check_rechecked(a, RECHECKED_MISSING, RECHECKED_CHANGED, a->options->skips_changed_wheels,
		"are no longer those that the plan decided on", "--skip-changed-wheels", e);
	int unfounded = check_rechecked(a, RECHECKED_UNFOUNDED, RECHECKED_UNFOUNDED, a->options->skips_changed_evidence,
		"would not be removed today", "--skip-changed-evidence", changed < 0 ? &why : e);
	return changed < 0 || unfounded < 0 ? -1 : 0;
}

static int check_share(const struct platform *p, const char *what, const char *option, uint64_t part, uint64_t whole,
	uint64_t most, struct err *e)
{
	if (part <= whole / 100 * most + whole % 100 * most / 100)
		return 0;
	return err_set(e, ERR_LIMIT, "the plan removes %llu of %llu %s of %s, and %s is %llu%%",
		(unsigned long long)part, (unsigned long long)whole, what, p->name, option, (unsigned long long)most);
}

// False for a quarantined file, for a second file of a name that is listed from another folder, and for a file that
// this run has already unlisted.
static bool is_removal_listed(const struct apply_state *a, const struct planned_removal *r)
{
	struct err unknown = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	return r->rechecked != RECHECKED_DONE &&
	       catalog_find_file(a->operation->catalog, r->file.platform->id, r->planned->filename, &place, &unknown) == 0 &&
	       !place.is_unlisted && strcmp(place.path, r->planned->path) == 0;
}

// The caps are shares of the listed files, plus the removals that are not listed.
static int check_cap(const struct apply_state *a, const struct platform *p, struct err *e)
{
	struct catalog_totals listed;
	uint64_t files = 0, bytes = 0, more_files = 0, more_bytes = 0;
	if (catalog_totals(a->operation->catalog, p->id, &listed, e) < 0)
		return -1;
	for (size_t i = 0; i < a->count; i++) {
		const struct planned_removal *r = &a->removal[i];
		if (r->file.platform != p || (r->rechecked != RECHECKED_HOLDS && r->rechecked != RECHECKED_DONE))
			continue;
		files++;
		bytes += r->planned->size;
		bool is_more = !is_removal_listed(a, r);
		more_files += is_more;
		more_bytes += is_more ? r->planned->size : 0;
	}
	if (check_share(p, "files", "--max-files", files, listed.files + more_files, a->options->max_files, e) < 0)
		return -1;
	return check_share(p, "bytes", "--max-bytes", bytes, listed.bytes + more_bytes, a->options->max_bytes, e);
}

static int check_caps(const struct apply_state *a, struct err *e)
{
	for (size_t i = 0; i < a->operation->store->platform_count; i++)
		if (a->operation->store->platform[i].id && check_cap(a, &a->operation->store->platform[i], e) < 0)
			return -1;
	return 0;
}

// --- what clients would lose ---

static int compare_by_project(const void *a, const void *b)
{
	const struct planned_removal *const *left = a, *const *right = b;
	return strcmp((*left)->file.project, (*right)->file.project);
}

// The removals that rest on upstream's files, by project. The caller frees the array.
static struct planned_removal **list_by_project(const struct apply_state *a, size_t *count)
{
	struct planned_removal **list = xcalloc(a->count + 1, sizeof(struct planned_removal *)), *r = a->removal;
	for (*count = 0; r < a->removal + a->count; r++)
		if (r->rechecked == RECHECKED_HOLDS && r->file.project && view_losses_has_verdict(r->verdict))
			list[(*count)++] = r;
	qsort(list, *count, sizeof(struct planned_removal *), compare_by_project);
	return list;
}

static int check_views(const struct apply_state *a, struct err *e)
{
	size_t count = 0;
	CLEANUP(mem_free) struct planned_removal **list = list_by_project(a, &count);
	CLEANUP(view_losses_cleanup) struct view_losses *losses = NULL;
	if (view_losses_open(a->config, a->operation->store, a->operation->catalog, &losses, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		view_losses_remove(losses, list[i]->file.platform->id, list[i]->planned->filename);
		bool is_last = i + 1 == count || compare_by_project(&list[i], &list[i + 1]) != 0;
		if (is_last && view_losses_count(losses, a->operation->catalog, list[i]->file.project, e) < 0)
			return -1;
	}
	return view_losses_refuse(losses, e);
}

// --- unlisting ---

static int unlist_file(struct apply_state *a, struct planned_removal *r, struct err *trouble, struct err *e)
{
	struct operation_unlisting u = {.stone = {.reason = r->reason,
						.when = a->now,
						.verdict = r->verdict,
						.run = a->plan->head.id,
						.requires_python = r->requires_python,
						.upstream = r->upstream},
		.action = "prune",
		.reason = r->reason,
		.words = "",
		.is_dry = a->options->is_dry,
		.has_changed = !a->options->is_dry && !is_on_disk(r)};
	int done = operation_unlist(a->operation, &r->file, &u, trouble, e);
	r->was_unlisted = done > 0;
	return done < 0 ? -1 : 0;
}

static int unlist_all(struct apply_state *a, struct err *trouble, struct err *e)
{
	for (size_t i = 0; i < a->count; i++) {
		struct planned_removal *r = &a->removal[i];
		if (a->options->file_progress)
			a->options->file_progress(a->options->ctx, i, a->count);
		if (r->rechecked == RECHECKED_DONE)
			operation_report(a->operation, &r->file, OPERATION_BEFORE, "");
		else if (r->rechecked == RECHECKED_HOLDS && unlist_file(a, r, trouble, e) < 0)
			return -1;
	}
	return 0;
}

// A view may have taken a file in the meantime.
static int list_pinned_again(struct apply_state *a, struct err *trouble, struct err *e)
{
	if (a->options->is_dry)
		return 0;
	if (pins_sync(a->config, a->operation->catalog, e) < 0)
		return -1;
	for (size_t i = 0; i < a->count; i++) {
		const struct planned_removal *r = &a->removal[i];
		bool is_unlisted = r->was_unlisted || r->rechecked == RECHECKED_DONE; // by an earlier attempt
		if (is_unlisted && operation_relist_pinned(a->operation, &r->file, trouble, e) < 0)
			return -1;
	}
	return 0;
}

int apply(struct operation *x, const struct config *c, const struct policy *policy, const struct planfile *plan,
	const struct apply_options *options, struct err *e)
{
	struct err trouble = ERR_INIT;
	CLEANUP(apply_state_release)
	struct apply_state a = {.operation = x,
		.config = c,
		.policy = policy,
		.plan = plan,
		.options = options,
		.now = clock_wall_seconds()};
	if (check_plan_store_and_policy(&a, e) < 0 ||
		check_lookup_failures(&a, &plan->head, "when the plan was made", e) < 0 ||
		collect_removals(&a, e) < 0 || check_exceptions(&a, e) < 0 || check_frozen(&a, e) < 0 ||
		mark_done_removals(&a, e) < 0 || recheck_removals(&a, e) < 0 || check_all_rechecked(&a, e) < 0 ||
		check_caps(&a, e) < 0 || check_views(&a, e) < 0 || unlist_all(&a, &trouble, e) < 0 ||
		list_pinned_again(&a, &trouble, e) < 0 || operation_end(x, trouble.kind ? &trouble : e) < 0 ||
		trouble.kind) {
		if (trouble.kind)
			*e = trouble;
		return -1;
	}
	return 0;
}
