// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/follow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/base/strset.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/upstream/name-owner.h"
#include "pruner/operations/operation.h"
#include "pruner/operations/recheck.h"
#include "pruner/plan/pins.h"

// A file with a mark: a tombstone, or a yank that follows upstream's.
struct marked_file {
	enum mark mark;
	const struct platform *platform;
	const char *project, *filename, *folder, *text;
	const char *requires_python; // of its bytes, if they are there
	bool has_bytes;
};

// The state of a search: the marks are read first, then each answer is compared with them.
struct diff_search {
	struct upstream_diff *out;
	const struct store *store;
	struct catalog *catalog;
	const struct upstreams *upstreams;
	const struct upstream_diff_options *options;
	const struct platform *platform; // the current one
	struct marked_file *marked;      // by project
	size_t count, room;
	struct strset projects;
	size_t done;
	struct arena text; // of the marks
};

static void diff_search_release(struct diff_search *s)
{
	arena_release(&s->text);
	strset_release(&s->projects);
}

void upstream_diff_release(struct upstream_diff *f)
{
	arena_release(&f->room);
	*f = (struct upstream_diff){0};
}

// --- the marks ---

static struct upstream_diff_step *add_step(struct upstream_diff *out, enum upstream_diff_kind kind,
	const struct platform *p, const char *project, const char *filename, const char *reason)
{
	ARENA_GROW(&out->room, out->step, out->count, out->steps_room);
	struct upstream_diff_step *step = &out->step[out->count++];
	*step = (struct upstream_diff_step){.kind = kind,
		.platform = p,
		.project = arena_strdup(&out->room, project),
		.filename = arena_strdup(&out->room, filename),
		.reason = arena_strdup(&out->room, reason)};
	return step;
}

// A file whose bytes are gone has no row with its project; then the tombstone or the file name gives it. Returns
// whether the project is known.
static bool add_marked_file(struct diff_search *s, const struct catalog_marked *m, enum mark mark, const char *said)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	const char *project = m->project ? m->project : said;
	if (!project && filename_parse(str_from(m->filename), &name, &ignored) == 0)
		project = name.project;
	if (!project)
		return false;
	ARENA_GROW(&s->text, s->marked, s->count, s->room);
	struct marked_file *one = &s->marked[s->count++];
	*one = (struct marked_file){
		.mark = mark,
		.platform = s->platform,
		.project = arena_strdup(&s->text, project),
		.filename = arena_strdup(&s->text, m->filename),
		.folder = arena_strdup(&s->text, m->folder_path),
		.text = arena_strdup(&s->text, m->text ? m->text : ""),
		.requires_python = arena_strdup(&s->text, m->requires_python),
		.has_bytes = m->has_file,
	};
	strset_add(&s->projects, one->project);
	return true;
}

// A file that a view took while it was pruned is listed again, whatever upstream has: the prune was killed before it
// could do so. 1: it was added; 0: no view has it.
static int add_if_pinned(struct diff_search *s, const struct catalog_marked *m, const struct tombstone *t,
	struct err *e)
{
	CLEANUP(mem_free) char *view = NULL;
	bool is_retired = t->verdict && strcmp(t->verdict, TOMBSTONE_RETIRED) == 0;
	if (!t->run || is_retired || !m->has_file || !m->sha256 || !m->project)
		return 0;
	if (pins_find(s->catalog, s->platform->id, m->filename, m->sha256, &view, e) < 0)
		return -1;
	if (!view)
		return 0;
	CLEANUP(mem_free) char *words = xasprintf("view %s has it", view);
	struct upstream_diff_step *step =
		add_step(s->out, UPSTREAM_DIFF_RELIST, s->platform, m->project, m->filename, words);
	step->folder = arena_strdup(&s->out->room, m->folder_path);
	step->has_sha256 = true;
	memcpy(step->sha256, m->sha256, SHA256_SIZE);
	return 1;
}

// Adds only files that were pruned for what upstream has, not those of `remove` or of a retirement.
static int add_tombstone(void *ctx, const struct catalog_marked *m, struct err *e)
{
	struct diff_search *s = ctx;
	CLEANUP(tombstone_release) struct tombstone t;
	tombstone_read(str_from(m->text ? m->text : ""), &t);
	int pinned = add_if_pinned(s, m, &t, e);
	if (pinned)
		return pinned < 0 ? -1 : 0;
	if (t.run && recheck_is_due_to_upstream(&t))
		s->out->pruned += add_marked_file(s, m, MARK_PRUNED, t.project);
	return 0;
}

static int add_followed_yank(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	struct diff_search *s = ctx;
	if (m->text && mark_is_from_upstream(str_from(m->text)))
		add_marked_file(s, m, MARK_YANKED, NULL);
	return 0;
}

static int add_project_name(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	struct diff_search *s = ctx;
	strset_add(&s->projects, p->project);
	return 0;
}

static int compare_marks_by_project(const void *a, const void *b)
{
	const struct marked_file *x = a, *y = b;
	return strcmp(x->project, y->project);
}

static int read_marks_of_platform(struct diff_search *s, const struct platform *p, struct err *e)
{
	s->platform = p;
	if (!p->id)
		return 0;
	if (catalog_marks(s->catalog, p->id, MARK_PRUNED, add_tombstone, s, e) < 0)
		return -1;
	if (!s->options->yanks)
		return 0;
	if (catalog_marks(s->catalog, p->id, MARK_YANKED, add_followed_yank, s, e) < 0)
		return -1;
	return catalog_projects(s->catalog, p->id, add_project_name, s, e);
}

// --- the steps that follow from an answer ---

struct project_diff {
	struct diff_search *search;
	const struct upstream_answer *answer;
	const struct platform *platform; // the current one
	struct yanked_releases *yanks;   // NULL: yanks are not followed, or upstream has no page
	bool is_other_project;           // upstream's project is another one: yanks that followed it are undone
	bool is_doubtful;                // it may be another one: its yanks are neither followed nor undone
};

static void add_yank_step(struct project_diff *of, const struct platform *p, const char *filename, const char *text)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_SIDECAR);
	mark_reason(MARK_YANKED, str_from(text), &reason);
	struct upstream_diff_step *step =
		add_step(of->search->out, UPSTREAM_DIFF_YANK, p, of->answer->project, filename, reason.data);
	step->text = arena_strdup(&of->search->out->room, text);
}

// A search for a listed wheel of the same release and tags with another build number: the lost file was built again.
struct rebuilt {
	const struct filename *name;
	bool is_found;
};

static bool has_tags_of(const struct filename *a, const struct filename *b)
{
	return a->kind == b->kind && version_cmp(&a->version, &b->version) == 0 && str_eq(a->python, b->python) &&
	       str_eq(a->abi, b->abi) && str_eq(a->platform, b->platform);
}

static int check_if_rebuilt(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct rebuilt *r = ctx;
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(file->filename), &name, &ignored) == 0)
		r->is_found |= has_tags_of(&name, r->name);
	return 0;
}

static int is_rebuilt(struct diff_search *s, const struct marked_file *m, bool *out, struct err *e)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	struct rebuilt r = {.name = &name};
	*out = false;
	if (filename_parse(str_from(m->filename), &name, &ignored) < 0)
		return 0;
	if (catalog_project_files(s->catalog, m->platform->id, m->project, check_if_rebuilt, &r, e) < 0)
		return -1;
	*out = r.is_found;
	return 0;
}

static int recheck_pruned_file(struct project_diff *of, struct replacement *replacement, const struct marked_file *m,
	struct err *e)
{
	struct upstream_diff *out = of->search->out;
	bool rebuilt = false;
	CLEANUP(tombstone_release) struct tombstone t;
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_SIDECAR);
	tombstone_read(str_from(m->text), &t);
	const struct recheck_file file = {m->filename, &t, m->has_bytes, m->requires_python};
	enum recheck_result now = recheck_tombstone(m->platform, &file, of->answer, replacement, &words);
	if (now == RECHECK_HOLDS || now == RECHECK_UNKNOWN)
		return 0;
	if (!m->has_bytes && is_rebuilt(of->search, m, &rebuilt, e) < 0)
		return -1;
	if (rebuilt)
		return 0;
	struct upstream_diff_step *step = add_step(out, m->has_bytes ? UPSTREAM_DIFF_RELIST : UPSTREAM_DIFF_LOST,
		m->platform, m->project, m->filename, words.data);
	step->folder = arena_strdup(&out->room, m->folder);
	step->has_sha256 = t.has_sha256;
	memcpy(step->sha256, t.sha256, SHA256_SIZE);
	const char *text = m->has_bytes && of->yanks ? yanked_releases_of_name(of->yanks, m->filename) : NULL;
	if (text)
		add_yank_step(of, m->platform, m->filename, text);
	return 0;
}

static void recheck_yank(struct project_diff *of, const struct marked_file *m)
{
	if (of->is_other_project)
		add_step(of->search->out, UPSTREAM_DIFF_UNYANK, m->platform, m->project, m->filename,
			"the name was ours before upstream had it");
	if (!of->yanks)
		return;
	const char *text = yanked_releases_of_name(of->yanks, m->filename);
	if (text && strcmp(text, m->text) != 0)
		add_yank_step(of, m->platform, m->filename, text);
	if (!text && yanked_releases_offers(of->yanks, m->filename))
		add_step(of->search->out, UPSTREAM_DIFF_UNYANK, m->platform, m->project, m->filename,
			"upstream has undone its yank");
}

static bool is_mark_before(const void *mark, const void *project)
{
	return strcmp(((const struct marked_file *)mark)->project, project) < 0;
}

static int recheck_marked_files(struct project_diff *of, struct err *e)
{
	struct diff_search *s = of->search;
	const struct upstream_answer *a = of->answer;
	CLEANUP(replacement_cleanup) struct replacement *replacement = a->page ? replacement_new(a->page, a->project) : NULL;
	size_t i = s->count ? lower_bound(a->project, s->marked, s->count, sizeof(*s->marked), is_mark_before) : 0;
	for (; i < s->count && strcmp(s->marked[i].project, a->project) == 0; i++) {
		const struct marked_file *m = &s->marked[i];
		if (m->mark == MARK_PRUNED && recheck_pruned_file(of, replacement, m, e) < 0)
			return -1;
		if (m->mark == MARK_YANKED)
			recheck_yank(of, m);
	}
	return 0;
}

// A file that is already yanked keeps its mark: an operator may have had another reason.
static int check_listed_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct project_diff *of = ctx;
	const char *text = file->yanked ? NULL : yanked_releases_of_key(of->yanks, file->version_key);
	if (text)
		add_yank_step(of, of->platform, file->filename, text);
	return 0;
}

static int check_listed_files(struct project_diff *of, struct err *e)
{
	const struct store *store = of->search->store;
	for (size_t i = 0; i < store->platform_count; i++) {
		of->platform = &store->platform[i];
		if (of->platform->id && catalog_project_files(of->search->catalog, of->platform->id,
						of->answer->project, check_listed_file, of, e) < 0)
			return -1;
	}
	return 0;
}

static int handle_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct diff_search *s = ctx;
	bool is_known = answer->result == UPSTREAM_KNOWN;
	struct project_diff of = {.search = s, .answer = answer};
	// Finds out whether upstream's project is another one than ours, which the operator can rule out by a name
	// rule.
	const struct upstream_answer *a = of.answer;
	enum name_age age;
	of.is_other_project = a->is_ours;
	if (a->result == UPSTREAM_KNOWN) {
		if (name_owner_find_age(of.search->upstreams, of.search->catalog, a, &age, e) < 0)
			return -1;
		of.is_doubtful = age != NAME_AGE_OLDER;
		of.is_other_project = age == NAME_AGE_YOUNGER;
	}
	CLEANUP(yanked_releases_cleanup)
	struct yanked_releases *yanks = is_known && s->options->yanks && !of.is_doubtful
						? yanked_releases_new(answer->listed, answer->project, answer->index)
						: NULL;
	of.yanks = yanks;
	s->out->unknown += !is_known && answer->result != UPSTREAM_ABSENT;
	s->done++;
	if (s->options->progress)
		s->options->progress(s->options->ctx, s->done, s->projects.count, s->out->unknown);
	if (recheck_marked_files(&of, e) < 0)
		return -1;
	return yanks && yanked_releases_has_any(yanks) ? check_listed_files(&of, e) : 0;
}

int upstream_diff_find(const struct store *store, struct catalog *c, struct upstreams *u,
	const struct upstream_diff_options *o, struct upstream_diff *out, struct err *e)
{
	*out = (struct upstream_diff){0};
	CLEANUP(diff_search_release)
	struct diff_search s = {.out = out, .store = store, .catalog = c, .upstreams = u, .options = o};
	for (size_t i = 0; i < store->platform_count; i++)
		if (read_marks_of_platform(&s, &store->platform[i], e) < 0)
			return -1;
	if (s.count)
		qsort(s.marked, s.count, sizeof(*s.marked), compare_marks_by_project);
	strset_sort(&s.projects);
	out->projects = s.projects.count;
	return upstream_lookup(u, c, (const char *const *)s.projects.item, s.projects.count, handle_answer, &s, e);
}

// --- doing the steps ---

// One step that is being done.
struct follow_step_state {
	const struct upstream_diff_step *step;
	struct catalog *catalog;
	bool is_skipped; // it is already done, or an operator's mark is there
};

// Reads the yank mark from the writable volume: the catalog does not know a mark that is not released yet. 1: there is
// one; 0: none; -1: error.
static int read_written_yank(const struct follow_step_state *d, struct buf *text, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(d->catalog, s->platform->id, s->filename, &place, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = operation_folder(place.path);
	CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(s->platform->written, folder, e);
	return open ? sidecar_read(open, s->filename, MARK_YANKED, text, e) : -1;
}

static int relist_file(struct follow_step_state *d, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	if (!s->has_sha256)
		return err_set(e, ERR_CONFLICT, "its tombstone has no SHA-256");
	return sidecar_ops_restore(s->platform, d->catalog, s->filename, s->folder, s->sha256, e);
}

static int yank_file(struct follow_step_state *d, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_SIDECAR);
	int found = read_written_yank(d, &text, e);
	if (found < 0)
		return -1;
	d->is_skipped =
		found && (!mark_is_from_upstream(buf_view(&text)) || str_eq(buf_view(&text), str_from(s->text)));
	return d->is_skipped ? 0 : sidecar_ops_yank(s->platform, d->catalog, s->filename, s->text, e);
}

static int unyank_file(struct follow_step_state *d, struct err *e)
{
	const struct upstream_diff_step *s = d->step;
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_SIDECAR);
	int found = read_written_yank(d, &text, e);
	if (found < 0)
		return -1;
	d->is_skipped = !found || !mark_is_from_upstream(buf_view(&text));
	return d->is_skipped ? 0 : sidecar_ops_unyank(s->platform, d->catalog, s->filename, e);
}

static const struct {
	int (*fn)(struct follow_step_state *d, struct err *e); // NULL: there is nothing to do
	const char *action;                                    // for the audit log
} step_actions[UPSTREAM_DIFF_COUNT] = {
	[UPSTREAM_DIFF_RELIST] = {relist_file, "restore"},
	[UPSTREAM_DIFF_LOST] = {NULL, NULL},
	[UPSTREAM_DIFF_YANK] = {yank_file, "yank"},
	[UPSTREAM_DIFF_UNYANK] = {unyank_file, "unyank"},
};

struct follow_state {
	struct catalog *catalog;
	const struct upstream_diff *diff;
	const struct follow_options *options;
	struct operation *operation; // NULL in a dry run
	struct follow_counts *counts;
};

static void report_step(const struct follow_state *r, enum follow_result result, const struct platform *p,
	const struct upstream_diff_step *s, const char *why)
{
	r->counts->of[result]++;
	if (result == FOLLOW_DONE)
		r->counts->done[s->kind]++;
	r->options->report(r->options->ctx, result, p, s, why);
}

static int run_step(const struct follow_state *r, const struct upstream_diff_step *s, struct err *e)
{
	struct err why = ERR_INIT;
	struct follow_step_state d = {.step = s, .catalog = r->catalog};
	bool is_done = step_actions[s->kind].fn(&d, &why) == 0;
	const struct operation_file file = {.platform = s->platform,
		.filename = s->filename,
		.project = s->project,
		.sha256 = s->has_sha256 ? s->sha256 : NULL};
	if (!d.is_skipped && operation_audit(r->operation, &file, step_actions[s->kind].action, s->reason,
				     is_done ? NULL : &why, e) < 0)
		return -1;
	enum follow_result result = !is_done ? FOLLOW_FAILED : d.is_skipped ? FOLLOW_SKIPPED : FOLLOW_DONE;
	report_step(r, result, s->platform, s, is_done ? s->reason : why.msg);
	return 0;
}

// Runs all steps of one platform, whose freeze is checked once.
static int run_steps_of_platform(const struct follow_state *r, const struct platform *p, struct err *e)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(buf_release) struct buf frozen = buf_up_to(2 * LIMIT_WORDS);
	int is_held = freeze_is(p, &frozen, &unsaid); // on an error the first step fails
	for (size_t i = 0; i < r->diff->count; i++) {
		const struct upstream_diff_step *s = &r->diff->step[i];
		if (s->platform != p)
			continue;
		if (s->kind == UPSTREAM_DIFF_LOST)
			report_step(r, FOLLOW_LOST, p, s, s->reason);
		else if (is_held > 0)
			report_step(r, FOLLOW_HELD, p, s, frozen.data);
		else if (!r->operation)
			report_step(r, FOLLOW_DONE, p, s, s->reason);
		else if (run_step(r, s, e) < 0)
			return -1;
	}
	return 0;
}

static bool has_steps_on(const struct upstream_diff *f, const struct platform *p)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->step[i].platform == p)
			return true;
	return false;
}

static int run_all_steps(const struct follow_state *r, const struct store *store, struct err *e)
{
	for (size_t i = 0; i < store->platform_count; i++)
		if (has_steps_on(r->diff, &store->platform[i]) && run_steps_of_platform(r, &store->platform[i], e) < 0)
			return -1;
	return 0;
}

int follow_run(const struct store *store, struct catalog *c, const struct upstream_diff *f,
	const struct follow_options *o, struct follow_counts *out, struct err *e)
{
	*out = (struct follow_counts){0};
	struct follow_state r = {.catalog = c, .diff = f, .options = o, .counts = out};
	if (o->is_dry_run)
		return run_all_steps(&r, store, e);
	CLEANUP(operation_release) struct operation operation;
	r.operation = &operation;
	if (operation_begin(&operation, store, c, o->audit, o->who, e) < 0 || run_all_steps(&r, store, e) < 0)
		return -1;
	return operation_end(&operation, e);
}
