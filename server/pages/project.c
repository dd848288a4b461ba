// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/state/access/audit.h"
#include "server/core/auth.h"
#include "server/pages/page.h"
#include "server/pages/project-page.h"

// --- JSON ---

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
	html_put(&url, "/files/%u/%u/%u", f->platform, q->project, f->filename);
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

// --- what is asked for ---

// The view of "?view=", if the client may read it; "simple" is the default one. A view that does not exist, or that the
// client may not know, is answered as by /VIEW/simple/.
static struct reply *find_asked_view(struct page_query *q)
{
	const char *name = q->text[ARGUMENT_VIEW];
	const struct view *v = site_view(q->site, strcmp(name, "simple") == 0 ? STR("") : str_from(name));
	if (!*name)
		return NULL;
	struct reply *refused = auth_named_view(q->context, q->match->request, str_from(name), &v, q->project);
	if (refused || !v)
		return refused ? refused : server_context_not_found(q->context, "no such view");
	if (site_is_incomplete(q->site, v))
		return server_context_not_filled();
	q->view = v;
	page_show_view(q, v);
	return NULL;
}

enum { HIDES_UPSTREAMS }; // a number of the query: with ?view= its platforms do not say what the client may read of upstream

static struct reply *prepare_project(struct page_query *q)
{
	q->number[HIDES_UPSTREAMS] = q->site->merges && !readable_merges(&q->readable, q->project);
	struct reply *refused = find_asked_view(q);
	bool was_scanned = !q->platforms;
	for (size_t i = 0; i < q->platforms; i++)
		was_scanned |= q->platform[i]->scanned == CATALOG_SCANNED;
	return refused ? refused : was_scanned ? NULL : server_context_not_filled();
}

// --- nothing is known: the answer is the same for a project that only private platforms have ---

static void put_unknown_page(const struct page_query *q, const char *meant, struct buf *out)
{
	const char *version = q->text[ARGUMENT_VERSION];
	html_begin(out, &q->frame, *version ? "No such version" : "No such project", "Nothing is known of it here");
	buf_puts(out, "</header>\n<p>");
	buf_puts(out, *version ? "This version is not known. <a href=\"./"
			       : "No platform that you may read has a file "
				 "of a project of this name.");
	if (*version)
		html_put(out, "%u\">All versions</a>.", q->project);
	buf_puts(out, "</p>\n");
	if (*meant && !*version)
		html_put(out, "<p>Did you mean <a href=\"./%u\">%s</a>?</p>\n", meant, meant);
	html_end(out, "<a href=\"../../\">overview</a>");
}

static void put_unknown_json(const struct page_query *q, const char *meant, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "error", *q->text[ARGUMENT_VERSION] ? "no such version" : "no such project");
	jsondoc_put_str(doc, "meant", *meant && strcmp(meant, q->project) != 0 ? meant : NULL);
	jsondoc_write(doc, 2, out);
}

// A token may be for some projects only. So only platforms whose list of projects the client may read are searched.
static int reply_unknown(struct page_query *q, struct err *e)
{
	char meant[LIMIT_FILE_NAME + 1];
	struct project_query searched = {.project = q->project};
	CLEANUP(buf_release) struct buf page;
	CLEANUP(mem_free) const struct platform **listed = readable_list(&q->readable, NULL, &searched.platforms);
	searched.platform = listed;
	buf_init(&page, 1 << 20);
	if (project_data_nearest(q->catalog, &searched, meant, e) < 0)
		return -1;
	bool is_json = q->form == PAGE_FORM_JSON;
	if (is_json)
		put_unknown_json(q, meant, &page);
	else
		put_unknown_page(q, meant, &page);
	struct reply *r = reply_new(404, is_json ? "application/json" : "text/html; charset=utf-8", blob_from_buf(&page));
	server_context_set_freshness(q->context, r, q->site->has_private);
	reply_header(r, "Vary", "Accept");
	reply_header(r, "Content-Security-Policy", "%s", html_policy);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	return page_answer(q, r);
}

// --- the page ---

static int write_project(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(project_data_release) struct project_data data = {0};
	CLEANUP(results_cleanup) struct results *results = page_find_results(q->context);
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *gate = server_context_gate(q->context);
	const struct project_query asked = {
		.site = q->site,
		.view = q->view,
		.platform = (const struct platform *const *)q->platform,
		.platforms = q->platforms,
		.project = q->project,
		.version = q->text[ARGUMENT_VERSION],
		.only_platform = q->text[ARGUMENT_PLATFORM],
		.only_python = q->text[ARGUMENT_PYTHON],
		.limit = q->limit,
		.now = q->now,
		.results = results,
		.gate = gate,
		.upstream = q->context->upstream,
		.upstream_count = q->context->upstream_count,
		.hides_upstreams = q->number[HIDES_UPSTREAMS],
		.audit_path = q->context->audit ? q->context->audit->path : NULL,
		.base = q->base,
		.named = (const struct platform *const *)q->named,
		.nameds = q->nameds,
	};
	int result = project_data_read(q->catalog, &asked, &data, e);
	if (result)
		return result < 0 ? -1 : reply_unknown(q, e);
	if (q->form == PAGE_FORM_HTML) {
		project_page_write(&q->frame, &data, &asked, out);
		return 0;
	}
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = project_json(&data, &asked);
	jsondoc_write(doc, 2, out);
	return 0;
}

static const struct page_argument arguments[] = {
	{ARGUMENT_VIEW, .form = FORM_VIEW},
	{ARGUMENT_PLATFORM, .form = FORM_PLATFORM},
	{ARGUMENT_PYTHON, .form = FORM_PYTHON},
	{ARGUMENT_VERSION, .form = FORM_TEXT},
};

const struct page_row project_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_PROJECT,
	.scope = PAGE_SCOPE_PROJECT,
	.shows_names = true,
	.has_base = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON,
	.rows = 200,
	.rows_most = LIMIT_PROJECT_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_project,
	.write = write_project,
};
