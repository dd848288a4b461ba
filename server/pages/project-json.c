// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-json.h"

#include <string.h>

#include "lib/format/escape.h"
#include "server/pages/project-install.h"

static struct jsondoc *cell_json(const struct matrix_cell *c)
{
	struct jsondoc *out = jsondoc_object();
	jsondoc_put_str(out, "platform", c->platform);
	jsondoc_put_str(out, "python", c->python);
	jsondoc_put_str(out, "state", wheel_status_name[c->state]);
	jsondoc_put_bool(out, "lost", c->is_lost);
	jsondoc_put_str(out, "filename", c->filename);
	jsondoc_put_str(out, "from", c->from);
	jsondoc_put_str(out, "why", c->why);
	jsondoc_put_time(out, "since", c->since);
	jsondoc_put_str(out, "attempt", c->attempt);
	jsondoc_put_bool(out, "has_log", c->has_log);
	return out;
}

static struct jsondoc *cells_json(const struct project_data *d, const struct project_query *q)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->matrix.cells; i++)
		if (project_query_has(q, &d->matrix.cell[i]))
			jsondoc_add(list, cell_json(&d->matrix.cell[i]));
	return list;
}

static struct jsondoc *state_totals_json(const struct project_matrix *m)
{
	struct jsondoc *out = jsondoc_object();
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MATRIX; i++)
		jsondoc_put_int(out, wheel_status_name[wheel_status_matrix[i]], (int64_t)m->count[wheel_status_matrix[i]]);
	jsondoc_put_int(out, "lost", (int64_t)m->lost);
	return out;
}

static struct jsondoc *newest_json(const struct project_matrix *m)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < m->newests; i++) {
		const struct matrix_newest *n = &m->newest[i];
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", n->platform);
		jsondoc_put_str(one, "python", n->python);
		jsondoc_put_str(one, "version", n->version);
		jsondoc_put_str(one, "filename", n->filename);
		jsondoc_put_bool(one, "sdist", n->is_sdist);
		jsondoc_put_str(one, "newer", n->newer);
		jsondoc_put_int(one, "newer_versions", (int64_t)n->newers);
		jsondoc_put_str(one, "why", n->why);
		jsondoc_add(list, one);
	}
	return list;
}

static struct jsondoc *upstream_json(const struct project_matrix *m)
{
	struct jsondoc *out = jsondoc_object();
	jsondoc_put_str(out, "result", upstream_result_name[m->upstream.result]);
	jsondoc_put_bool(out, "known", m->upstream.is_known);
	jsondoc_put_time(out, "asked", m->upstream.asked);
	jsondoc_put_time(out, "fetched", m->upstream.fetched);
	jsondoc_put_str(out, "newest", m->upstream.newest);
	return out;
}

static struct jsondoc *versions_json(const struct project_matrix *m, uint64_t limit)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < m->releases && i < limit; i++) {
		const struct matrix_release *r = &m->release[i];
		struct jsondoc *out = jsondoc_object();
		jsondoc_put_str(out, "version", r->version);
		jsondoc_put_int(out, "files", (int64_t)r->files);
		jsondoc_put_int(out, "wheels", (int64_t)r->wheels);
		jsondoc_put_int(out, "bytes", (int64_t)r->bytes);
		jsondoc_put_time(out, "first", r->first);
		jsondoc_put_time(out, "last", r->last);
		jsondoc_put_bool(out, "yanked", r->is_yanked);
		jsondoc_put_bool(out, "prerelease", r->is_prerelease);
		if (m->has_upstreams)
			jsondoc_put_str(out, "requires_python", r->requires_python);
		jsondoc_add(list, out);
	}
	return list;
}

static void put_file_url(struct jsondoc *out, const struct project_query *q, const struct project_file *f)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	buf_puts(&url, "/files/");
	escape_url(&url, str_from(f->platform));
	buf_putc(&url, '/');
	escape_url(&url, str_from(q->project));
	buf_putc(&url, '/');
	escape_url(&url, str_from(f->filename));
	jsondoc_put_str(out, "url", url.data);
}

static struct jsondoc *file_json(const struct project_query *q, const struct project_file *f)
{
	struct jsondoc *out = jsondoc_object();
	const struct jsondoc *audit = f->audit ? jsondoc_get(f->audit, "audit") : NULL;
	jsondoc_put_str(out, "platform", f->platform);
	jsondoc_put_str(out, "filename", f->filename);
	put_file_url(out, q, f);
	jsondoc_put_int(out, "size", (int64_t)f->size);
	jsondoc_put_str(out, "sha256", f->sha256);
	jsondoc_put_time(out, "came", f->came);
	jsondoc_put_str(out, "requires_python", f->requires_python);
	jsondoc_put_str(out, "yanked", f->yanked);
	jsondoc_put_str(out, "uploaded_by", f->uploader);
	jsondoc_put_str(out, "built_by", f->builder);
	jsondoc_put_bool(out, "attestations", f->has_attestations);
	jsondoc_put_str(out, "before", f->before);
	if (audit)
		jsondoc_put(out, "audit", jsondoc_copy(audit));
	return out;
}

static struct jsondoc *files_json(const struct project_data *d, const struct project_query *q)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->files.files; i++)
		jsondoc_add(list, file_json(q, &d->files.file[i]));
	return list;
}

static struct jsondoc *unlisted_json(const struct project_files *f)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < f->unlisted_count; i++) {
		struct jsondoc *out = jsondoc_object();
		jsondoc_put_str(out, "platform", f->unlisted[i].platform);
		jsondoc_put_str(out, "filename", f->unlisted[i].filename);
		jsondoc_put_str(out, "state", f->unlisted[i].state);
		jsondoc_put_str(out, "reason", f->unlisted[i].reason);
		jsondoc_add(list, out);
	}
	return list;
}

static struct jsondoc *links_json(const struct project_metadata *m)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < m->links; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "label", m->link[i].label);
		jsondoc_put_str(one, "url", m->link[i].url);
		jsondoc_add(list, one);
	}
	return list;
}

static struct jsondoc *metadata_json(const struct project_data *d)
{
	const struct project_metadata *m = &d->metadata;
	struct jsondoc *out = jsondoc_object(), *dependencies = jsondoc_array();
	CLEANUP(mem_free)
	char *description = m->description.len ? xstrndup(m->description.ptr, m->description.len) : NULL;
	for (size_t i = 0; i < m->dependencies; i++)
		jsondoc_add_str(dependencies, m->dependency[i]);
	jsondoc_put_str(out, "of", d->metadata_of);
	jsondoc_put_str(out, "summary", m->summary);
	jsondoc_put_str(out, "author", m->author);
	jsondoc_put_str(out, "license", m->license);
	jsondoc_put_str(out, "requires_python", m->requires_python);
	jsondoc_put(out, "requires_dist", dependencies);
	jsondoc_put(out, "project_urls", links_json(m));
	jsondoc_put_str(out, "description_content_type", m->description_type);
	jsondoc_put_str(out, "description", description);
	return out;
}

static void put_install_json(const struct project_data *d, const struct project_query *q, struct jsondoc *doc)
{
	struct client_index index;
	CLEANUP(buf_release) struct buf command;
	buf_init(&command, LIMIT_PAGE);
	if (project_install_find(d, q, &index, &command))
		jsondoc_put_str(doc, "install", command.data);
}

static struct jsondoc *project_json(const struct project_data *d, const struct project_query *q)
{
	const struct project_matrix *m = &d->matrix;
	struct jsondoc *doc = jsondoc_object(), *platforms = jsondoc_array();
	for (size_t i = 0; i < q->platforms; i++)
		jsondoc_add_str(platforms, q->platform[i]->name);
	jsondoc_put_str(doc, "project", q->project);
	if (q->view)
		jsondoc_put_str(doc, "view", q->view->name ? q->view->name : "simple");
	jsondoc_put(doc, "platforms", platforms);
	jsondoc_put_str(doc, "version", m->version);
	jsondoc_put_str(doc, "before", m->before);
	jsondoc_put_str(doc, "tried", m->tried);
	put_install_json(d, q, doc);
	jsondoc_put(doc, "cells", cells_json(d, q));
	jsondoc_put(doc, "totals", state_totals_json(m));
	jsondoc_put(doc, "upstream", upstream_json(m));
	jsondoc_put_bool(doc, "upstreams", m->has_upstreams);
	if (m->has_upstreams)
		jsondoc_put(doc, "newest_for", newest_json(m));
	jsondoc_put(doc, "versions", versions_json(m, q->limit));
	jsondoc_put(doc, "lost_members", jsondoc_copy(d->lost));
	jsondoc_put(doc, "files", files_json(d, q));
	jsondoc_put(doc, "unlisted", unlisted_json(&d->files));
	if (d->metadata_of)
		jsondoc_put(doc, "metadata", metadata_json(d));
	jsondoc_put_bool(doc, "more",
		m->releases > q->limit || d->files.files < d->files.all_files ||
			d->files.unlisted_count < d->files.all_unlisted);
	return doc;
}

int project_json_write(const struct project_data *data, const struct project_query *query, struct buf *out,
	struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = project_json(data, query);
	jsondoc_write(doc, 2, out);
	return out->failed ? err_set(e, ERR_LIMIT, "a project: more than %zu bytes of JSON", out->cap) : 0;
}
