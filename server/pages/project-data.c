// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/nearest.h"
#include "explainer/explain-losses.h"
#include "lib/state/results/results.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/store/retired.h"

// --- the matrix ---

static bool is_among(const struct platform *p, const struct platform *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == p)
			return true;
	return false;
}

bool project_query_reads(const struct project_query *q, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!is_among(v->platform[i], q->platform, q->platforms))
			return false;
	return true;
}

// Whether wheels of one platform of the view cover the others: the client may read all of it, and it shows all files.
static bool joins_platforms(const struct project_query *q, const struct view *v)
{
	return v->platform_count > 1 && !v->membership && project_query_reads(q, v);
}

static struct matrix_view matrix_view_of(const struct site *s, const struct view *v)
{
	return (struct matrix_view){
		(const struct platform *const *)v->platform, v->platform_count, v->membership, site_generation(s, v)};
}

// The caller frees the array.
static struct matrix_view *list_matrix_views(const struct project_query *q, size_t *count)
{
	struct matrix_view *list = xcalloc(q->site->view_count + 1, sizeof(*list));
	*count = 0;
	if (q->view)
		list[(*count)++] = matrix_view_of(q->site, q->view);
	for (size_t i = 0; !q->view && i < q->site->view_count; i++)
		if (joins_platforms(q, &q->site->view[i]))
			list[(*count)++] = matrix_view_of(q->site, &q->site->view[i]);
	return list;
}

static int keep_tried_version(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct project_data *d = ctx;
	if (!d->tried)
		d->tried = xstrdup(a->version);
	return 0;
}

static int find_tried_version(const struct project_query *q, struct project_data *d, struct err *e)
{
	CLEANUP(mem_free) const char **name = xcalloc(q->platforms + 1, sizeof(*name));
	for (size_t i = 0; i < q->platforms; i++)
		name[i] = q->platform[i]->name;
	const struct results_filter filter = {
		.project = q->project, .platforms = name, .platform_count = q->platforms, .limit = 1};
	return q->results ? results_list(q->results, &filter, keep_tried_version, d, e) : 0;
}

static int read_matrix(struct catalog *c, const struct project_query *q, struct project_data *d, struct err *e)
{
	size_t views;
	CLEANUP(mem_free) struct matrix_view *view = list_matrix_views(q, &views);
	CLEANUP(project_matrix_cleanup) struct project_matrix_maker *maker = NULL;
	CLEANUP(mem_free) bool *lacks_upstream = xcalloc(q->platforms + 1, sizeof(*lacks_upstream));
	CLEANUP(mem_free) bool *is_retired = xcalloc(q->platforms + 1, sizeof(*is_retired));
	for (size_t i = 0; i < q->platforms; i++) {
		is_retired[i] = retired_is(q->platform[i]);
		lacks_upstream[i] = !site_has_upstream(q->site, q->view, q->platform[i]);
	}
	const struct project_matrix_options options = {
		.config = &q->site->config,
		.platform = q->platform,
		.platforms = q->platforms,
		.view = view,
		.views = views,
		.lacks_upstream = lacks_upstream,
		.is_retired = is_retired,
		.wants_upstreams = true,
		.is_of_view = q->view != NULL,
		.results = q->results,
	};
	if (project_matrix_open(&options, &maker, e) < 0 ||
		project_matrix_make(maker, c, q->project, *q->version ? q->version : NULL, &d->matrix, e) < 0)
		return -1;
	if (find_tried_version(q, d, e) < 0)
		return -1;
	// A project that was only tried to be built, and that upstream is not known to have, is shown with that version.
	if (d->matrix.version || *q->version || !d->tried)
		return 0;
	project_matrix_release(&d->matrix);
	return project_matrix_make(maker, c, q->project, d->tried, &d->matrix, e);
}

// --- files, and METADATA of one of them ---

static int read_project_files(struct catalog *c, const struct project_query *q, struct project_data *d, struct err *e)
{
	const struct matrix_view members = q->view ? matrix_view_of(q->site, q->view) : (struct matrix_view){0};
	const struct project_files_query files = {
		.platform = q->platform,
		.platforms = q->platforms,
		.members = &members,
		.project = q->project,
		.version = d->matrix.version,
		.before = d->matrix.before,
		.limit = q->limit,
		.gate = q->gate,
		.audit_path = q->audit_path,
		.named = q->named,
		.nameds = q->nameds,
	};
	return project_files_read(c, &files, &d->files, e);
}

// A wheel's, since METADATA of an sdist may still be incomplete.
static const struct project_file *choose_metadata(const struct project_files *f)
{
	const struct project_file *found = NULL;
	for (size_t i = 0; i < f->files; i++) {
		bool is_wheel = filename_kind(str_from(f->file[i].filename)) == FILENAME_WHEEL;
		if (f->file[i].has_metadata && (!found || is_wheel))
			found = &f->file[i];
		if (found && is_wheel)
			break;
	}
	return found;
}

static int read_file_metadata(struct catalog *c, struct project_data *d, struct err *e)
{
	struct err why = ERR_INIT;
	const struct project_file *f = choose_metadata(&d->files);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_METADATA);
	if (!f || d->metadata_of)
		return 0;
	if (catalog_metadata(c, f->metadata_sha256, &text, &why) < 0) {
		*e = why;
		return why.kind == ERR_NOT_FOUND ? 0 : -1;
	}
	project_metadata_read(buf_view(&text), &d->metadata);
	d->metadata_of = f->filename;
	return 0;
}

// False: the cache does not have the file.
static bool read_cached_metadata(const struct project_query *q, const struct matrix_metadata *m, struct buf *text)
{
	struct err unsaid = ERR_INIT;
	struct file_cache_file file;
	CLEANUP(mem_free) char *name = xasprintf("%s.metadata", m->filename);
	if (file_cache_find(q->file_cache, q->project, name, m->has_sha256 ? m->sha256 : NULL, &file, &unsaid) < 0)
		return false;
	CLEANUP(mem_close) int fd = file.fd;
	CLEANUP(mem_free) char *bytes = file.size <= LIMIT_METADATA ? xmalloc(file.size + 1) : NULL;
	bool is_whole = bytes && pread(fd, bytes, file.size, 0) == (ssize_t)file.size;
	if (is_whole)
		buf_add(text, bytes, file.size);
	return is_whole && text->len && !text->failed;
}

// A client has asked for METADATA of these files, or it is not known.
static void read_upstreams_metadata(const struct project_query *q, struct project_data *d)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_METADATA);
	for (size_t i = 0; q->file_cache && i < d->matrix.metadatas && !d->metadata_of; i++)
		if (read_cached_metadata(q, &d->matrix.metadata[i], &text)) {
			project_metadata_read(buf_view(&text), &d->metadata);
			d->metadata_of = d->matrix.metadata[i].filename;
		}
}

static void hide_upstreams(struct project_data *d)
{
	project_matrix_release(&d->matrix);
	d->matrix.upstream.result = UPSTREAM_NEVER_ASKED;
}

// --- what views have lost ---

static bool may_read_view(void *ctx, const struct view *v)
{
	return project_query_reads(ctx, v);
}

static bool may_name(void *ctx, const struct platform *p)
{
	const struct project_query *q = ctx;
	return is_among(p, q->named, q->nameds);
}

static int read_lost(struct catalog *c, const struct project_query *q, struct project_data *d, struct err *e)
{
	struct project_query asked = *q;
	const struct explain_reader reader = {may_read_view, may_name, &asked};
	const struct explain_losses losses = {q->site, c, q->project, q->nameds ? q->audit_path : NULL, &reader};
	return explain_losses_read(&losses, &d->lost, e);
}

// --- the whole ---

static bool is_anything_known(const struct project_query *q, const struct project_data *d)
{
	return d->matrix.version || (!*q->version && (d->files.unlisted_count || jsondoc_count(d->lost)));
}

// Reads in one transaction, so that no file comes twice or never while others write.
static int read_whole_project(struct catalog *c, const struct project_query *q, struct project_data *d, struct err *e)
{
	if (catalog_read_begin(c, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = c;
	if (read_matrix(snapshot, q, d, e) < 0)
		return -1;
	if (d->matrix.is_upstreams && q->hides_upstreams)
		hide_upstreams(d);
	if (read_project_files(snapshot, q, d, e) < 0 || read_lost(snapshot, q, d, e) < 0)
		return -1;
	read_upstreams_metadata(q, d);
	return is_anything_known(q, d) ? read_file_metadata(snapshot, d, e) : 1;
}

int project_data_read(struct catalog *c, const struct project_query *query, struct project_data *out, struct err *e)
{
	*out = (struct project_data){0};
	if (*query->version && !version_is_valid(str_from(query->version)))
		return 1;
	int result = read_whole_project(c, query, out, e);
	if (result)
		project_data_release(out);
	return result;
}

void project_data_release(struct project_data *d)
{
	project_matrix_release(&d->matrix);
	project_files_release(&d->files);
	project_metadata_release(&d->metadata);
	jsondoc_cleanup(&d->lost);
	free(d->tried);
	*d = (struct project_data){0};
}

bool project_query_has(const struct project_query *q, const struct matrix_cell *cell)
{
	return (!*q->only_platform || strcmp(q->only_platform, cell->platform) == 0) &&
	       (!*q->only_python || strcmp(q->only_python, cell->python) == 0);
}

// --- a name that was meant ---

struct meant_name {
	struct nearest nearest;
	char *best; // a name of LIMIT_FILE_NAME bytes at most
};

static int offer_name(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	struct meant_name *s = ctx;
	nearest_offer(&s->nearest, p->project);
	if (s->nearest.word == p->project) { // which is borrowed for this call
		snprintf(s->best, LIMIT_FILE_NAME + 1, "%s", p->project);
		s->nearest.word = s->best;
	}
	return 0;
}

int project_data_nearest(struct catalog *c, const struct project_query *query, char name[LIMIT_FILE_NAME + 1],
	struct err *e)
{
	struct meant_name s = {.best = name};
	*name = '\0';
	nearest_init(&s.nearest, str_from(query->project));
	for (size_t i = 0; i < query->platforms; i++)
		if (query->platform[i]->id && catalog_projects(c, query->platform[i]->id, offer_name, &s, e) < 0)
			return -1;
	return 0;
}
