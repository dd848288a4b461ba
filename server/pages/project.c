// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/state/access/audit.h"
#include "server/core/auth.h"
#include "server/pages/page.h"
#include "server/pages/project-data.h"

// --- JSON ---

static struct jsondoc *cell_json(const struct matrix_cell *c)
{
	return jsondoc_new("platform:s python:s state:s lost:b filename:s from:s why:s since:t attempt:s has_log:b",
		c->platform, c->python, wheel_status_name[c->state], c->is_lost, c->filename, c->from, c->why, c->since,
		c->attempt, c->has_log);
}

static struct jsondoc *newest_json(const struct project_matrix *m)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < m->newests; i++) {
		const struct matrix_newest *n = &m->newest[i];
		jsondoc_add(list, jsondoc_new("platform:s python:s version:s filename:s sdist:b newer:s "
			"newer_versions:d why:s", n->platform, n->python, n->version, n->filename, n->is_sdist,
			n->newer, n->newers, n->why));
	}
	return list;
}

static struct jsondoc *versions_json(const struct project_matrix *m, uint64_t limit)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < m->releases && i < limit; i++) {
		const struct matrix_release *r = &m->release[i];
		struct jsondoc *out = jsondoc_new("version:s files:d wheels:d bytes:d first:t last:t yanked:b "
			"prerelease:b", r->version, r->files, r->wheels, r->bytes, r->first, r->last, r->is_yanked,
			r->is_prerelease);
		if (m->has_upstreams)
			jsondoc_put_str(out, "requires_python", r->requires_python);
		jsondoc_add(list, out);
	}
	return list;
}

static struct jsondoc *file_json(const struct project_query *q, const struct project_file *f)
{
	struct jsondoc *out = jsondoc_object();
	const struct jsondoc *audit = f->audit ? jsondoc_get(f->audit, "audit") : NULL;
	jsondoc_set(out, "platform:s filename:s", f->platform, f->filename);
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PATH);
	html_put(&url, "/files/%u/%u/%u", f->platform, q->project, f->filename);
	jsondoc_set(out, "url:s size:d sha256:s came:t requires_python:s yanked:s uploaded_by:s built_by:s "
		"attestations:b before:s", url.data, f->size, f->sha256, f->came, f->requires_python, f->yanked,
		f->uploader, f->builder, f->has_attestations, f->before);
	if (audit)
		jsondoc_put(out, "audit", jsondoc_copy(audit));
	return out;
}

static struct jsondoc *metadata_json(const struct project_data *d)
{
	const struct project_metadata *m = &d->metadata;
	struct jsondoc *out = jsondoc_object(), *dependencies = jsondoc_array();
	CLEANUP(mem_free)
	char *description = m->description.len ? xstrndup(m->description.ptr, m->description.len) : NULL;
	for (size_t i = 0; i < m->dependencies; i++)
		jsondoc_add_str(dependencies, m->dependency[i]);
	struct jsondoc *links = jsondoc_array();
	for (size_t k = 0; k < m->links; k++)
		jsondoc_add(links, jsondoc_new("label:s url:s", m->link[k].label, m->link[k].url));
	jsondoc_set(out, "of:s summary:s author:s license:s requires_python:s requires_dist:j project_urls:j "
		"description_content_type:s description:s", d->metadata_of, m->summary, m->author, m->license,
		m->requires_python, dependencies, links, m->description_type, description);
	return out;
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
	jsondoc_set(doc, "platforms:j version:s before:s tried:s", platforms, m->version, m->before, m->tried);
	struct jsondoc *status = project_status_json(&d->status, q->platforms > 0 && q->nameds == q->platforms);
	if (status)
		jsondoc_put(doc, "status", status);
	struct client_index index;
	CLEANUP(buf_release) struct buf command = buf_up_to(LIMIT_PAGE);
	if (project_install_find(d, q, &index, &command))
		jsondoc_put_str(doc, "install", command.data);
	struct jsondoc *cells = jsondoc_array();
	for (size_t j = 0; j < d->matrix.cells; j++)
		if (project_query_has(q, &d->matrix.cell[j]))
			jsondoc_add(cells, cell_json(&d->matrix.cell[j]));
	struct jsondoc *state_totals = jsondoc_object();
	for (size_t n = 0; n < WHEEL_STATUSES_OF_MATRIX; n++)
		jsondoc_put_int(state_totals, wheel_status_name[wheel_status_matrix[n]],
			(int64_t)m->count[wheel_status_matrix[n]]);
	jsondoc_put_int(state_totals, "lost", (int64_t)m->lost);
	struct jsondoc *conflicts = m->upstream.conflicts ? jsondoc_array() : NULL;
	for (size_t i = 0; i < m->upstream.conflicts; i++) {
		const struct matrix_conflict *one = &m->upstream.conflict[i];
		jsondoc_add(conflicts, jsondoc_new("filename:s counts:s other:s", one->filename, one->counts, one->other));
	}
	struct jsondoc *upstream = jsondoc_new("result:s known:b asked:t fetched:t newest:s hidden:d",
		upstream_result_name[m->upstream.result], m->upstream.is_known, m->upstream.asked, m->upstream.fetched,
		m->upstream.newest, m->upstream.hidden);
	if (conflicts)
		jsondoc_put(upstream, "conflicts", conflicts);
	jsondoc_set(doc, "cells:j totals:j upstream:j upstreams:b", cells, state_totals, upstream, m->has_upstreams);
	if (m->has_upstreams)
		jsondoc_put(doc, "newest_for", newest_json(m));
	struct jsondoc *files = jsondoc_array();
	for (size_t k = 0; k < d->files.files; k++)
		jsondoc_add(files, file_json(q, &d->files.file[k]));
	struct jsondoc *unlisted = jsondoc_array();
	for (size_t at = 0; at < d->files.unlisted_count; at++)
		jsondoc_add(unlisted, jsondoc_new("platform:s filename:s state:s reason:s",
			d->files.unlisted[at].platform, d->files.unlisted[at].filename, d->files.unlisted[at].state,
			d->files.unlisted[at].reason));
	jsondoc_set(doc, "versions:j lost_members:j files:j unlisted:j", versions_json(m, q->limit),
		jsondoc_copy(d->lost), files, unlisted);
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
	if (q->site->has_no_default && v == q->site->view)
		return server_context_not_found(q->context, server_context_no_default);
	if (site_is_incomplete(q->site, v))
		return server_context_not_filled();
	q->view = v;
	page_show_view(q, v);
	return NULL;
}

enum { HIDES_UPSTREAMS }; // a number of the query: with ?view= its platforms do not say what the client may read of upstream

static struct reply *prepare_project(struct page_query *q)
{
	uint32_t readable = readable_upstreams(&q->readable, q->project);
	struct config_order order;
	config_default_order(&q->site->config, &order);
	name_rules_admit(&q->site->rules, q->project, &order);
	bool hides = !readable;
	for (size_t i = 0; i < order.count; i++)
		hides = hides || !(readable & (uint32_t)1 << order.item[i]);
	q->number[HIDES_UPSTREAMS] = q->site->merges && hides;
	struct reply *refused = find_asked_view(q);
	bool was_scanned = !q->platforms;
	for (size_t i = 0; i < q->platforms; i++)
		was_scanned |= q->platform[i]->scanned == CATALOG_SCANNED;
	return refused ? refused : was_scanned ? NULL : server_context_not_filled();
}

// --- nothing is known: the answer is the same for a project that only private platforms have ---

static void put_unknown_page(struct page_query *q, const char *meant, struct buf *out)
{
	const char *version = q->text[ARGUMENT_VERSION];
	html_begin(out, page_frame(q), *version ? "No such version" : "No such project", "Nothing is known of it here");
	html_put(out, "</header>\n<p>%h",
		*version ? "This version is not known. <a href=\"./"
			 : "No platform that you may read has a file of a project of this name.");
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
	jsondoc_set(doc, "error:s meant:s", *q->text[ARGUMENT_VERSION] ? "no such version" : "no such project",
		*meant && strcmp(meant, q->project) != 0 ? meant : NULL);
	jsondoc_write(doc, 2, out);
}

// A token may be for some projects only. So only platforms whose list of projects the client may read are searched.
static int reply_unknown(struct page_query *q, struct err *e)
{
	char meant[LIMIT_FILE_NAME + 1];
	struct project_query searched = {.project = q->project};
	CLEANUP(buf_release) struct buf page = buf_up_to(1 << 20);
	CLEANUP(mem_free) const struct platform **listed = readable_list(&q->readable, NULL, &searched.platforms);
	searched.platform = listed;
	if (project_data_suggest(q->catalog, &searched, meant, e) < 0)
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
		project_page_write(page_frame(q), &data, &asked, out);
		return 0;
	}
	return page_write_json(project_json(&data, &asked), out);
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
	.rows = 200,
	.rows_most = LIMIT_PROJECT_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_project,
	.write = write_project,
};
