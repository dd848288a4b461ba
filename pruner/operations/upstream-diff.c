// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/upstream-diff.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/index/simplepage.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/upstream/name-owner.h"
#include "pruner/operations/recheck.h"
#include "pruner/operations/yanked-releases.h"

// A mark of one project: a tombstone, or a yank that follows upstream's.
struct marked {
	enum mark mark;
	const struct platform *platform;
	char *project, *filename, *folder, *text;
	char *requires_python; // of the bytes
	bool has_bytes;
};

// What is read before anybody is asked, and then by the answers.
struct search {
	struct upstream_diff *out;
	const struct store *store;
	struct catalog *catalog;
	const struct upstream *upstream;
	const struct upstream_diff_options *options;
	const struct platform *platform; // whose marks or projects are read
	struct marked *marked;           // by project
	size_t count, room;
	struct strset projects;
	size_t done;
};

static void search_release(struct search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct marked *m = &s->marked[i];
		char *owned[] = {m->project, m->filename, m->folder, m->text, m->requires_python};
		for (size_t k = 0; k < ARRAY_SIZE(owned); k++)
			free(owned[k]);
	}
	free(s->marked);
	strset_release(&s->projects);
}

void upstream_diff_release(struct upstream_diff *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct upstream_diff_step *step = &f->step[i];
		char *owned[] = {step->filename, step->project, step->folder, step->reason, step->text};
		for (size_t k = 0; k < ARRAY_SIZE(owned); k++)
			free(owned[k]);
	}
	free(f->step);
	*f = (struct upstream_diff){0};
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

// --- what is marked ---

// What is gone has no row that says whose it was.
static char *project_of(const struct catalog_marked *m, const char *said)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (m->project || said)
		return xstrdup(m->project ? m->project : said);
	return filename_parse(str_from(m->filename), &name, &unsaid) == 0 ? STEAL_PTR(name.project) : NULL;
}

static void add_mark(struct search *s, const struct catalog_marked *m, enum mark mark, char *project)
{
	GROW(s->marked, s->count, s->room);
	s->marked[s->count++] = (struct marked){
		.mark = mark,
		.platform = s->platform,
		.project = project,
		.filename = xstrdup(m->filename),
		.folder = xstrdup(m->folder_path),
		.text = xstrdup(m->text),
		.requires_python = copy(m->requires_python),
		.has_bytes = m->has_file,
	};
	strset_add(&s->projects, project);
}

// Only what upstream justified: what `remove` or a retirement took off is nobody's business here.
static int take_tombstone(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	struct search *s = ctx;
	CLEANUP(tombstone_release) struct tombstone t;
	tombstone_read(str_from(m->text ? m->text : ""), &t);
	char *project = t.run && recheck_is_upstreams(&t) ? project_of(m, t.project) : NULL;
	if (project)
		add_mark(s, m, MARK_PRUNED, project);
	s->out->pruned += project != NULL;
	return 0;
}

static int take_yank(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	struct search *s = ctx;
	char *project = m->text && mark_is_from_upstream(str_from(m->text)) ? project_of(m, NULL) : NULL;
	if (project)
		add_mark(s, m, MARK_YANKED, project);
	return 0;
}

static int take_project(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	struct search *s = ctx;
	strset_add(&s->projects, p->project);
	return 0;
}

static int by_project(const void *a, const void *b)
{
	const struct marked *x = a, *y = b;
	return strcmp(x->project, y->project);
}

static void sort(struct search *s)
{
	if (s->count)
		qsort(s->marked, s->count, sizeof(*s->marked), by_project);
	strset_sort(&s->projects);
}

static int read_platform(struct search *s, const struct platform *p, struct err *e)
{
	s->platform = p;
	if (!p->id)
		return 0;
	if (catalog_marks(s->catalog, p->id, MARK_PRUNED, take_tombstone, s, e) < 0)
		return -1;
	if (!s->options->yanks)
		return 0;
	if (catalog_marks(s->catalog, p->id, MARK_YANKED, take_yank, s, e) < 0)
		return -1;
	return catalog_projects(s->catalog, p->id, take_project, s, e);
}

// --- what follows from an answer ---

struct project {
	struct search *search;
	const struct upstream_answer *answer;
	const struct platform *platform; // whose files are walked
	struct yanked_releases *yanks;   // NULL: nobody follows them, or upstream's page is none
	bool is_unknown_names;           // upstream's project is another one: its yanks are taken back
	bool is_doubtful;                // it may be: no yank of it is followed, and none is taken back
};

static struct upstream_diff_step *add_step(struct upstream_diff *out, enum upstream_diff_kind kind,
	const struct platform *p, const char *project, const char *filename, const char *reason)
{
	GROW(out->step, out->count, out->room);
	struct upstream_diff_step *step = &out->step[out->count++];
	*step = (struct upstream_diff_step){.kind = kind,
		.platform = p,
		.project = xstrdup(project),
		.filename = xstrdup(filename),
		.reason = xstrdup(reason)};
	return step;
}

static void add_yank(struct project *of, const struct platform *p, const char *filename, const char *text)
{
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_SIDECAR);
	mark_reason(MARK_YANKED, str_from(text), &reason);
	struct upstream_diff_step *step =
		add_step(of->search->out, UPSTREAM_DIFF_YANK, p, of->answer->project, filename, reason.data);
	step->text = xstrdup(text);
}

// A wheel of the same release and tags that is listed, under another build number: what was lost was built again.
struct rebuilt {
	const struct filename *name;
	bool is_there;
};

static bool has_tags_of(const struct filename *a, const struct filename *b)
{
	return a->kind == b->kind && version_cmp(&a->version, &b->version) == 0 && str_eq(a->python, b->python) &&
	       str_eq(a->abi, b->abi) && str_eq(a->platform, b->platform);
}

static int look_if_rebuilt(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct rebuilt *r = ctx;
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(file->filename), &name, &unsaid) == 0)
		r->is_there |= has_tags_of(&name, r->name);
	return 0;
}

static int is_rebuilt(struct search *s, const struct marked *m, bool *out, struct err *e)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	struct rebuilt r = {.name = &name};
	*out = false;
	if (filename_parse(str_from(m->filename), &name, &unsaid) < 0)
		return 0;
	if (catalog_project_files(s->catalog, m->platform->id, m->project, look_if_rebuilt, &r, e) < 0)
		return -1;
	*out = r.is_there;
	return 0;
}

static int reconsider_tombstone(struct project *of, struct coverage *coverage, const struct marked *m, struct err *e)
{
	struct upstream_diff *out = of->search->out;
	bool rebuilt = false;
	CLEANUP(tombstone_release) struct tombstone t;
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, LIMIT_SIDECAR);
	tombstone_read(str_from(m->text), &t);
	const struct recheck_file file = {m->filename, &t, m->has_bytes, m->requires_python};
	enum recheck_result now = justify(m->platform, &file, of->answer, coverage, &words);
	if (now == RECHECK_HOLDS || now == RECHECK_UNKNOWN)
		return 0;
	if (!m->has_bytes && is_rebuilt(of->search, m, &rebuilt, e) < 0)
		return -1;
	if (rebuilt)
		return 0;
	struct upstream_diff_step *step = add_step(out, m->has_bytes ? UPSTREAM_DIFF_RELIST : UPSTREAM_DIFF_LOST,
		m->platform, m->project, m->filename, words.data);
	step->folder = xstrdup(m->folder);
	step->has_sha256 = t.has_sha256;
	memcpy(step->sha256, t.sha256, SHA256_SIZE);
	const char *text = m->has_bytes && of->yanks ? yanked_releases_of_name(of->yanks, m->filename) : NULL;
	if (text)
		add_yank(of, m->platform, m->filename, text);
	return 0;
}

static void reconsider_yank(struct project *of, const struct marked *m)
{
	if (of->is_unknown_names)
		add_step(of->search->out, UPSTREAM_DIFF_UNYANK, m->platform, m->project, m->filename,
			"the name was ours before upstream had it");
	if (!of->yanks)
		return;
	const char *text = yanked_releases_of_name(of->yanks, m->filename);
	if (text && strcmp(text, m->text) != 0)
		add_yank(of, m->platform, m->filename, text);
	if (!text && yanked_releases_offers(of->yanks, m->filename))
		add_step(of->search->out, UPSTREAM_DIFF_UNYANK, m->platform, m->project, m->filename,
			"upstream has taken its yank back");
}

static int reconsider_marked(struct project *of, struct err *e)
{
	struct search *s = of->search;
	const struct upstream_answer *a = of->answer;
	CLEANUP(coverage_cleanup) struct coverage *coverage = a->page ? coverage_new(a->page, a->project) : NULL;
	size_t i = 0, end = s->count;
	while (i < end) { // the first that is not before it
		size_t middle = i + (end - i) / 2;
		bool is_before = strcmp(s->marked[middle].project, a->project) < 0;
		*(is_before ? &i : &end) = is_before ? middle + 1 : middle;
	}
	for (; i < s->count && strcmp(s->marked[i].project, a->project) == 0; i++) {
		const struct marked *m = &s->marked[i];
		if (m->mark == MARK_PRUNED && reconsider_tombstone(of, coverage, m, e) < 0)
			return -1;
		if (m->mark == MARK_YANKED)
			reconsider_yank(of, m);
	}
	return 0;
}

// Whoever yanked it here may have had another reason: his mark stays.
static int look_at_listed(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct project *of = ctx;
	const char *text = file->yanked ? NULL : yanked_releases_of_key(of->yanks, file->version_key);
	if (text)
		add_yank(of, of->platform, file->filename, text);
	return 0;
}

static int look_at_platforms(struct project *of, struct err *e)
{
	const struct store *store = of->search->store;
	for (size_t i = 0; i < store->platform_count; i++) {
		of->platform = &store->platform[i];
		if (of->platform->id && catalog_project_files(of->search->catalog, of->platform->id,
						of->answer->project, look_at_listed, of, e) < 0)
			return -1;
	}
	return 0;
}

// Unless the operator says that both are the same.
static int see_if_unknown_names(struct project *of, struct err *e)
{
	const struct upstream_answer *a = of->answer;
	enum name_age age;
	of->is_unknown_names = a->is_ours;
	if (a->result != UPSTREAM_KNOWN)
		return 0;
	if (name_owner_find_age(of->search->upstream, of->search->catalog, a, &age, e) < 0)
		return -1;
	of->is_doubtful = age != NAME_AGE_OLDER;
	of->is_unknown_names = age == NAME_AGE_YOUNGER;
	return 0;
}

static int take_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct search *s = ctx;
	bool is_known = answer->result == UPSTREAM_KNOWN;
	struct project of = {.search = s, .answer = answer};
	if (see_if_unknown_names(&of, e) < 0)
		return -1;
	CLEANUP(yanked_releases_cleanup)
	struct yanked_releases *yanks = is_known && s->options->yanks && !of.is_doubtful
						? yanked_releases_new(answer->page, answer->project, answer->index)
						: NULL;
	of.yanks = yanks;
	s->out->unknown += !is_known && answer->result != UPSTREAM_ABSENT;
	s->done++;
	if (s->options->progress)
		s->options->progress(s->options->ctx, s->done, s->projects.count, s->out->unknown);
	if (reconsider_marked(&of, e) < 0)
		return -1;
	return yanks && yanked_releases_has_any(yanks) ? look_at_platforms(&of, e) : 0;
}

int upstream_diff_find(const struct store *store, struct catalog *c, struct upstream *u,
	const struct upstream_diff_options *o, struct upstream_diff *out, struct err *e)
{
	*out = (struct upstream_diff){0};
	CLEANUP(search_release)
	struct search s = {.out = out, .store = store, .catalog = c, .upstream = u, .options = o};
	for (size_t i = 0; i < store->platform_count; i++)
		if (read_platform(&s, &store->platform[i], e) < 0)
			return -1;
	sort(&s);
	out->projects = s.projects.count;
	return upstream_lookup(u, c, (const char *const *)s.projects.item, s.projects.count, take_answer, &s, e);
}
