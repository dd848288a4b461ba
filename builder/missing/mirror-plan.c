// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/mirror-plan.h"

#include <stdlib.h>
#include <string.h>

#include "builder/missing/required-files.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/state/upstream/rule-list.h"

struct planning {
	struct mirror_plan *out;
	struct locked_row **row; // of upstream's files, by project and filename
	size_t rows, next;
};

static bool is_for_mirror(const struct locked_row *row)
{
	bool is_wheel = row->filename && filename_kind(str_from(row->filename)) == FILENAME_WHEEL;
	return row->status == LOCKED_UPSTREAM && row->filename && (is_wheel || row->is_wanted);
}

static int compare_locked_files(const void *a, const void *b)
{
	const struct locked_row *x = *(struct locked_row *const *)a, *y = *(struct locked_row *const *)b;
	int order = strcmp(x->project, y->project);
	return order ? order : strcmp(x->filename, y->filename);
}

static void add_mirror_want(struct planning *x, const struct locked_row *row, const struct upstream_answer *answer,
	const struct simplepage_file *f)
{
	struct arena *text = &x->out->text;
	const struct upstream_home home = upstream_home(answer, f);
	struct mirror_want *w = &x->out->want[x->out->wants++];
	*w = (struct mirror_want){.project = row->project,
		.filename = row->filename,
		.url = arena_strdup(text, f->url),
		.home = arena_strdup(text, home.url),
		.upstream = home.number,
		.size = f->size,
		.has_metadata = f->has_metadata,
		.has_metadata_sha256 = f->has_metadata_sha256};
	memcpy(w->metadata_sha256, f->metadata_sha256, SHA256_SIZE);
	if (f->has_sha256)
		memcpy(w->sha256, f->sha256, SHA256_SIZE);
	else if (!hex_decode(str_from(row->sha256), w->sha256, SHA256_SIZE))
		x->out->wants--;
}

// The rows of one file, of all locks and platforms. Without any hash its bytes could be anything.
static void take_rows(struct planning *x, size_t first, size_t end, const struct upstream_answer *answer,
	const struct simplepage_file *f)
{
	struct locked_row *hashed = NULL;
	for (size_t i = first; i < end; i++)
		if (f->has_sha256 || x->row[i]->sha256)
			hashed = x->row[i];
	if (hashed)
		add_mirror_want(x, hashed, answer, f);
	for (size_t i = first; i < end && !hashed; i++) {
		x->row[i]->status = LOCKED_UNKNOWN;
		x->row[i]->why = "neither the lock nor upstream's page has a SHA-256";
	}
}

static int take_pages_files(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct planning *x = ctx;
	const char *project = answer->project;
	while (x->next < x->rows && strcmp(x->row[x->next]->project, project) == 0) {
		size_t first = x->next;
		const char *filename = x->row[first]->filename;
		const struct simplepage_file *f = answer->page ? simplepage_find(answer->page, filename) : NULL;
		if (!f)
			return err_set(e, ERR_NET,
				"upstream's page of %s does not have %s any more, or is too large to be kept",
				project, filename);
		while (x->next < x->rows && compare_locked_files(&x->row[x->next], &x->row[first]) == 0)
			x->next++;
		take_rows(x, first, x->next, answer, f);
	}
	return 0;
}

static int plan_wants(struct planning *x, struct catalog *catalog, struct err *e)
{
	struct mirror_plan *out = x->out;
	x->row = ARENA_NEW(&out->text, struct locked_row *, out->found.rows);
	for (size_t i = 0; i < out->found.rows; i++)
		if (is_for_mirror(&out->found.row[i]))
			x->row[x->rows++] = &out->found.row[i];
	if (x->rows)
		qsort(x->row, x->rows, sizeof(*x->row), compare_locked_files);
	out->want = ARENA_NEW(&out->text, struct mirror_want, x->rows);
	while (x->next < x->rows)
		if (upstream_load_cached(out->upstreams, catalog, x->row[x->next]->project, take_pages_files, x, e) < 0)
			return -1;
	return 0;
}

// --- licences ---

static struct index_file *find_file_of_want(struct index_files *files, const struct mirror_want *w)
{
	for (size_t i = 0; files && i < files->count; i++)
		if (!files->file[i].platform && strcmp(files->file[i].filename, w->filename) == 0)
			return &files->file[i];
	return NULL;
}

static const struct closure_metadata *glance_at_want(struct known_projects *known, const struct mirror_want *w)
{
	struct index_files *files = known_projects_files(known, w->project);
	const struct index_file *f = find_file_of_want(files, w);
	return f ? known_projects_glance(known, files, f) : NULL;
}

static int find_licences(struct mirror_plan *out, struct known_projects *known, struct err *e)
{
	out->licence = ARENA_NEW(&out->text, const char *, out->wants);
	for (int round = 0; round < 2; round++) { // pages, then METADATA
		for (size_t i = 0; i < out->wants; i++)
			glance_at_want(known, &out->want[i]);
		if (known_projects_get(known, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < out->wants; i++) {
		const struct closure_metadata *metadata = glance_at_want(known, &out->want[i]);
		out->licence[i] = arena_strdup(&out->text, metadata ? metadata->licence : NULL);
	}
	return 0;
}

// --- all ---

static int find_required(struct required_files *r, const struct mirror_sources *s, struct err *e)
{
	for (size_t i = 0; i < s->requirements.count; i++)
		if (required_files_add(r, s->requirements.path[i], e) < 0)
			return -1;
	for (size_t i = 0; i < s->top.count; i++)
		if (required_files_add_top(r, s->top.path[i], s->versions, e) < 0)
			return -1;
	if (required_files_find(r, e) < 0)
		return -1;
	return s->wants_builds ? required_files_add_builds(r, e) : 0;
}

static int find_all(struct planning *x, const struct known_order *order, const struct mirror_sources *sources,
	struct known_projects *known, struct err *e)
{
	struct mirror_plan *out = x->out;
	struct required_files *r = required_files_new(order, known, &out->found);
	int result = find_required(r, sources, e);
	required_files_free(r);
	if (result < 0)
		return -1;
	locked_files_sort(&out->found);
	return plan_wants(x, order->catalog, e) < 0 ? -1 : find_licences(out, known, e);
}

int mirror_plan_make(const struct config *c, const struct store *store, struct catalog *catalog,
	const struct mirror_sources *sources, const struct missing_options *options, struct mirror_plan *out,
	struct err *e)
{
	const struct marker_choice all = {.all_extras = true, .all_groups = true};
	struct planning x = {.out = out};
	CLEANUP(fits_release) struct fits fits = {0};
	CLEANUP(rule_list_cleanup) struct rule_list *denied = NULL;
	*out = (struct mirror_plan){0};
	if (sources->locks.count && locked_files_find(c, store, catalog, sources->locks.path, sources->locks.count, &all,
					    options, &out->found, e) < 0)
		return -1;
	int result = upstreams_new(c, &out->upstreams, e) < 0 || rule_list_open(c->deny, NULL, &denied, e) < 0 ||
				     locked_files_places(store, catalog, options, &fits, e) < 0
			     ? -1
			     : 0;
	const struct known_order order = {c, store, catalog, out->upstreams, &fits, denied, options};
	struct known_projects *known = known_projects_new(&order);
	result = result < 0 ? -1 : find_all(&x, &order, sources, known, e);
	known_projects_free(known);
	if (result < 0)
		mirror_plan_release(out);
	return result;
}

void mirror_plan_release(struct mirror_plan *p)
{
	locked_files_release(&p->found);
	upstreams_free(p->upstreams);
	arena_release(&p->text);
	*p = (struct mirror_plan){0};
}
