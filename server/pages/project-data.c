// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explainer/explain-parts.h"
#include "explainer/explain-membership.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/suggest.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/pyspace.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/metadata.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/state/access/audit-recent.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-row.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/results/results.h"
#include "lib/state/store/retired.h"
#include "lib/state/upstream/file-cache.h"
#include "server/core/server-context.h"
#include "server/pages/page.h"

// --- what METADATA says ---


static const char *keep_value(struct project_metadata *m, struct str value, size_t most)
{
	return arena_copy(&m->text, str_head(pyspace_trim(value), most));
}

static void take_first(struct project_metadata *m, const char **field, struct str value)
{
	if (!*field && pyspace_trim(value).len)
		*field = keep_value(m, value, LIMIT_PROJECT_FIELD);
}

// A URL that a page may link to: no other scheme, nothing that is no URL.
static bool is_web_url(struct str url)
{
	bool is_http = str_starts(url, STR("https://")) || str_starts(url, STR("http://"));
	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)url.ptr[i] <= ' ' || (unsigned char)url.ptr[i] >= 0x7f ||
			strchr("\"<>\\^`{|}", url.ptr[i]))
			return false;
	return is_http && url.len <= LIMIT_PROJECT_FIELD;
}

static void take_link(struct project_metadata *m, struct str label, struct str url)
{
	url = pyspace_trim(url);
	if (!is_web_url(url))
		return;
	if (m->links >= LIMIT_PROJECT_LINKS) {
		m->has_more = true;
		return;
	}
	GROW(m->link, m->links, m->link_room);
	m->link[m->links++] =
		(struct project_link){keep_value(m, label, LIMIT_NOTE), keep_value(m, url, LIMIT_PROJECT_FIELD)};
}

static void take_field(struct project_metadata *m, const struct rfc822_field *f)
{
	const struct {
		struct str name;
		const char **field;
	} single[] = {
		{STR("Summary"), &m->summary},
		{STR("Author"), &m->author},
		{STR("Author-email"), &m->author},
		{STR("Requires-Python"), &m->requires_python},
		{STR("Description-Content-Type"), &m->description_type},
	};
	for (size_t i = 0; i < ARRAY_SIZE(single); i++)
		if (str_eq_nocase(f->name, single[i].name))
			take_first(m, single[i].field, f->value);
	if (str_eq_nocase(f->name, STR("Requires-Dist"))) {
		if (m->dependencies >= LIMIT_PROJECT_DEPENDENCIES) {
			m->has_more = true;
		} else {
			GROW(m->dependency, m->dependencies, m->dependency_room);
			m->dependency[m->dependencies++] = keep_value(m, f->value, LIMIT_PROJECT_FIELD);
		}
	} else if (str_eq_nocase(f->name, STR("Project-URL"))) {
		// "Label, URL"
		struct str url = f->value;
		struct str label = str_cut(&url, ',');
		take_link(m, label, url.ptr ? url : f->value);
	} else if (str_eq_nocase(f->name, STR("Home-page")))
		take_link(m, STR("Home page"), f->value);
}

void project_metadata_read(struct str metadata, struct project_metadata *out)
{
	struct rfc822_field f;
	struct str rest = metadata;
	*out = (struct project_metadata){0};
	while (rfc822_fields_next(&rest, &f))
		take_field(out, &f);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	description_take(metadata, &text);
	if (text.len)
		out->description = (struct str){arena_copy(&out->text, buf_view(&text)), text.len};
	struct str licence = metadata_licence(metadata);
	if (licence.len)
		out->license = keep_value(out, licence, licence.len);
}

void project_metadata_release(struct project_metadata *m)
{
	free(m->dependency);
	free(m->link);
	arena_release(&m->text);
	*m = (struct project_metadata){0};
}

static struct matrix_view matrix_view_of(const struct site *s, const struct view *v)
{
	return (struct matrix_view){(const struct platform *const *)v->platform, v->platform_count, v->membership,
		site_generation(s, v), v->name};
}

// --- the files of a project: the listed ones of one version, and those that are not listed ---

struct files_reader {
	const struct project_query *query;
	const struct matrix_view members; // only these files, if it has a membership
	struct project_files *out;
	struct catalog *catalog;
	const struct platform *platform;
};

static const char *keep_in(struct project_files *f, const char *text)
{
	return text ? arena_copy(&f->text, str_from(text)) : NULL;
}

// --- listed files ---

static int is_member(struct files_reader *r, const struct catalog_file *file, struct err *e)
{
	const struct matrix_view *v = &r->members;
	if (!v->membership)
		return 1;
	return catalog_view_has(r->catalog, v->membership, v->generation, r->platform->id, file->filename, file->sha256,
		e);
}

static int take_listed(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct files_reader *r = ctx;
	struct project_files *out = r->out;
	int is_shown = is_member(r, file, e);
	if (is_shown <= 0)
		return is_shown;
	if (out->all_files++ >= r->query->limit)
		return 0;
	GROW(out->file, out->files, out->file_room);
	struct project_file *f = &out->file[out->files++];
	*f = (struct project_file){
		.platform = r->platform->name, // of the site
		.filename = keep_in(out, file->filename),
		.size = file->size,
		.came = catalog_file_came(file),
		.has_metadata = file->metadata_sha256 != NULL,
		.requires_python = keep_in(out, file->requires_python),
		.yanked = keep_in(out, file->yanked),
		.has_attestations = file->provenance != NULL,
	};
	if (file->metadata_sha256)
		memcpy(f->metadata_sha256, file->metadata_sha256, SHA256_SIZE);
	hex_encode(file->sha256, SHA256_SIZE, f->sha256);
	return 0;
}

// --- the version before ---

// Of a file's name what stands behind the version: "cp311-cp311-linux_x86_64.whl"; an sdist's ending.
static struct str tags_of_file(const char *filename)
{
	struct str name = str_from(filename);
	long dash = (long)name.len;
	if (filename_kind(name) != FILENAME_WHEEL)
		return str_ends(name, STR(".zip")) ? STR(".zip") : STR(".tar.gz");
	for (int i = 0; i < 3 && dash > 0; i++)
		dash = str_rfind(str_slice(name, 0, (size_t)dash), '-');
	return str_slice(name, (size_t)(dash + 1), name.len);
}

static int take_before(void *ctx, const struct catalog_file *file, struct err *e)
{
	struct files_reader *r = ctx;
	struct str tags = tags_of_file(file->filename);
	int is_shown = is_member(r, file, e);
	for (size_t i = 0; is_shown > 0 && i < r->out->files; i++) {
		struct project_file *f = &r->out->file[i];
		if (f->platform == r->platform->name && str_eq(tags_of_file(f->filename), tags))
			f->before = keep_in(r->out, file->filename);
	}
	return is_shown < 0 ? -1 : 0;
}

static int read_version(struct files_reader *r, const char *version, catalog_file_fn *fn, struct err *e)
{
	const struct project_query *q = r->query;
	CLEANUP(version_release) struct version v = {0};
	if (!version)
		return 0;
	if (version_parse(str_from(version), &v, e) < 0)
		return -1;
	for (size_t i = 0; i < q->platforms; i++) {
		r->platform = q->platform[i];
		if (r->platform->id &&
			catalog_version_files(r->catalog, r->platform->id, q->project, v.key, fn, r, e) < 0)
			return -1;
	}
	return 0;
}

// --- what is known of them ---

static void read_builder(struct project_files *out, struct project_file *f, struct str statement)
{
	struct err ignored = ERR_INIT;
	CLEANUP(provenance_release) struct provenance p = {0};
	if (provenance_read(statement, &p, &ignored) == 0)
		f->builder = keep_in(out, p.builder ? p.builder : p.predicate_type);
}

static int read_statements(struct files_reader *r, struct err *e)
{
	size_t bytes = 0;
	const struct project_query *q = r->query;
	for (size_t i = 0; i < r->out->files && bytes < LIMIT_EXPLAIN_STATEMENTS; i++) {
		struct project_file *f = &r->out->file[i];
		struct catalog_attached found;
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
		for (size_t k = 0; k < q->platforms; k++)
			if (strcmp(q->platform[k]->name, f->platform) == 0)
				r->platform = q->platform[k];
		int has = catalog_attached(r->catalog, r->platform->id, f->filename, ATTACHMENT_STATEMENT, &found,
			&text, e);
		if (has < 0)
			return -1;
		bytes += text.len;
		if (has)
			read_builder(r->out, f, buf_view(&text));
	}
	return 0;
}

static bool is_named(const struct project_query *q, const char *platform)
{
	for (size_t i = 0; i < q->nameds; i++)
		if (strcmp(q->named[i]->name, platform) == 0)
			return true;
	return false;
}

static int take_upload(void *ctx, const struct audit_entry *a, const char *time UNUSED, struct err *e UNUSED)
{
	struct files_reader *r = ctx;
	struct project_files *out = r->out;
	if (!a->who || !a->file || !a->sha256 || !a->platform || !a->action || strcmp(a->action, "upload") != 0 ||
		!a->result || strcmp(a->result, "done") != 0 || !is_named(r->query, a->platform))
		return 0;
	for (size_t i = 0; i < out->files; i++) {
		struct project_file *f = &out->file[i];
		if (!f->uploader && strcmp(f->filename, a->file) == 0 && strcmp(f->sha256, a->sha256) == 0 &&
			strcmp(f->platform, a->platform) == 0)
			f->uploader = keep_in(out, a->who);
	}
	return 0;
}

// A log that cannot be read hides nothing else.
static void read_uploaders(struct files_reader *r)
{
	struct err e = ERR_INIT;
	const struct project_query *q = r->query;
	r->out->has_all_uploads = true;
	const struct audit_query wanted = {.path = q->audit_path, .project = q->project, .most = LIMIT_AUDIT_READ};
	if (q->audit_path && q->nameds && r->out->files &&
		audit_recent(&wanted, take_upload, r, &r->out->has_all_uploads, &e) < 0)
		log_error("%s", e.msg);
}

// --- files that are not listed ---

static const struct platform *find_readable(const struct project_query *q, int64_t id)
{
	for (size_t i = 0; i < q->platforms; i++)
		if (q->platform[i]->id == id)
			return q->platform[i];
	return NULL;
}

// Unlisted files are found by the beginning of their names, which may be another project's.
static bool is_of_project(const struct project_query *q, const char *filename)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse_listed(str_from(filename), q->project, &name, &ignored) == 0;
}

static const char *name_of_state(const struct catalog_history *f)
{
	static const char *const name[] = {
		[FILE_IS_REFUSED] = "quarantined", [FILE_IS_DUPLICATE] = "copy", [FILE_IS_UNLISTED] = "unlisted"};
	return f->state == FILE_IS_UNLISTED && !f->has_file ? "removed" : name[f->state];
}

static int take_unlisted(void *ctx, const struct catalog_history *f, struct err *e UNUSED)
{
	struct files_reader *r = ctx;
	struct project_files *out = r->out;
	const struct platform *p = find_readable(r->query, f->platform);
	if (!p || f->state == FILE_IS_LISTED || !is_of_project(r->query, f->filename))
		return 0;
	if (out->all_unlisted++ >= r->query->limit)
		return 0;
	GROW(out->unlisted, out->unlisted_count, out->unlisted_room);
	out->unlisted[out->unlisted_count++] = (struct project_unlisted){
		.platform = p->name,
		.filename = keep_in(out, f->filename),
		.state = name_of_state(f),
		.reason = keep_in(out, f->reason),
	};
	return 0;
}

// --- the matrix ---

static bool is_among(const struct platform *p, const struct platform *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == p)
			return true;
	return false;
}

// Whether the client may read all that the view has.
static bool project_query_reads(const struct project_query *q, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!is_among(v->platform[i], q->platform, q->platforms))
			return false;
	return true;
}

struct matrix_view *matrix_views_of(const struct project_query *q, size_t *count)
{
	struct matrix_view *list = xcalloc(q->site->view_count + 1, sizeof(*list));
	*count = 0;
	if (q->view)
		list[(*count)++] = matrix_view_of(q->site, q->view);
	for (size_t i = 0; !q->view && !q->site->has_no_default && i < q->site->view_count; i++) {
		const struct view *v = &q->site->view[i];
		if (v->platform_count > 1 && !v->membership && project_query_reads(q, v))
			list[(*count)++] = matrix_view_of(q->site, v);
	}
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
	CLEANUP(mem_free) struct matrix_view *view = matrix_views_of(q, &views);
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
	// A project that was only tried to be built, and that upstream is not known to have, is shown with that
	// version.
	if (d->matrix.version || *q->version || !d->tried)
		return 0;
	project_matrix_release(&d->matrix);
	return project_matrix_make(maker, c, q->project, d->tried, &d->matrix, e);
}

// --- files, and METADATA of one of them ---

static int read_file_metadata(struct catalog *c, struct project_data *d, struct err *e)
{
	struct err why = ERR_INIT;
	// A wheel's, since METADATA of an sdist may still be incomplete.
	const struct project_file *found = NULL;
	for (size_t i = 0; i < d->files.files; i++) {
		bool is_wheel = filename_kind(str_from(d->files.file[i].filename)) == FILENAME_WHEEL;
		if (d->files.file[i].has_metadata && (!found || is_wheel))
			found = &d->files.file[i];
		if (found && is_wheel)
			break;
	}
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	if (!found || d->metadata_of)
		return 0;
	if (catalog_metadata(c, found->metadata_sha256, &text, &why) < 0)
		return err_unless_missing(e, &why);
	project_metadata_read(buf_view(&text), &d->metadata);
	d->metadata_of = found->filename;
	return 0;
}

// False: no cache has the file.
static bool read_cached_metadata(const struct project_query *q, const struct matrix_metadata *m, struct buf *text)
{
	size_t i = 0;
	struct err unsaid = ERR_INIT;
	struct file_cache_file file;
	CLEANUP(mem_free) char *name = xasprintf("%s.metadata", m->filename);
	while (i < q->upstream_count && file_cache_find(q->upstream[i].file_cache, q->project, name,
						m->has_sha256 ? m->sha256 : NULL, &file, &unsaid) < 0)
		i++;
	if (i == q->upstream_count)
		return false;
	CLEANUP(mem_close) int fd = file.fd;
	CLEANUP(mem_free) char *bytes = file.size <= LIMIT_METADATA ? xmalloc(file.size + 1) : NULL;
	bool is_whole = bytes && pread(fd, bytes, file.size, 0) == (ssize_t)file.size;
	if (is_whole)
		buf_add(text, bytes, file.size);
	return is_whole && text->len && !text->failed;
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

// --- the whole ---

// Reads in one transaction, so that no file comes twice or never while others write.
static int read_whole_project(struct catalog *c, const struct project_query *q, struct project_data *d, struct err *e)
{
	if (catalog_read_begin(c, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *snapshot = c;
	if (read_matrix(snapshot, q, d, e) < 0 ||
		project_status_find(snapshot, q->project, q->platform, q->platforms, &d->status, e) < 0)
		return -1;
	if (d->matrix.is_upstreams && q->hides_upstreams) {
		project_matrix_release(&d->matrix);
		d->matrix.upstream.result = UPSTREAM_NEVER_ASKED;
	}
	struct files_reader r = {.query = q,
		.members = q->view ? matrix_view_of(q->site, q->view) : (struct matrix_view){0},
		.out = &d->files,
		.catalog = snapshot};
	if (read_version(&r, d->matrix.version, take_listed, e) < 0 ||
		read_version(&r, d->matrix.before, take_before, e) < 0 || read_statements(&r, e) < 0 ||
		catalog_unlisted_histories(snapshot, q->project, take_unlisted, &r, e) < 0)
		return -1;
	struct explain_audit judge = {.gate = r.query->gate, .catalog = r.catalog};
	for (size_t i = 0; judge.gate && i < r.out->files; i++) {
		struct project_file *f = &r.out->file[i];
		uint8_t sha256[SHA256_SIZE];
		struct jsondoc *row = jsondoc_object();
		if (hex_decode(str_from(f->sha256), sha256, SHA256_SIZE))
			explain_audit(&judge, f->platform, f->filename, sha256, row);
		f->audit = row;
	}
	read_uploaders(&r);
	struct project_query asked = *q;
	const struct explain_reader reader = {may_read_view, may_name, &asked};
	const struct explain_losses losses = {q->site, snapshot, q->project, q->nameds ? q->audit_path : NULL, &reader};
	if (explain_losses_read(&losses, &d->lost, e) < 0)
		return -1;
	// A client has asked for METADATA of these files, or it is not known.
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	for (size_t i = 0; q->upstream_count && i < d->matrix.metadatas && !d->metadata_of; i++)
		if (read_cached_metadata(q, &d->matrix.metadata[i], &text)) {
			project_metadata_read(buf_view(&text), &d->metadata);
			d->metadata_of = d->matrix.metadata[i].filename;
		}
	return (d->matrix.version || (!*q->version && (d->files.unlisted_count || jsondoc_count(d->lost))))
		       ? read_file_metadata(snapshot, d, e)
		       : 1;
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
	struct project_files *f = &d->files;
	for (size_t i = 0; i < f->files; i++)
		jsondoc_cleanup(&f->file[i].audit);
	free(f->file);
	free(f->unlisted);
	arena_release(&f->text);
	*f = (struct project_files){0};
	project_metadata_release(&d->metadata);
	jsondoc_cleanup(&d->lost);
	project_status_release(&d->status);
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
	struct suggest suggest;
	char *best; // a name of LIMIT_FILE_NAME bytes at most
};

static int suggest_name(void *ctx, const struct catalog_project *p, struct err *e UNUSED)
{
	struct meant_name *s = ctx;
	suggest_add(&s->suggest, p->project);
	if (s->suggest.word == p->project) { // which is borrowed for this call
		snprintf(s->best, LIMIT_FILE_NAME + 1, "%s", p->project);
		s->suggest.word = s->best;
	}
	return 0;
}

int project_data_suggest(struct catalog *c, const struct project_query *query, char name[LIMIT_FILE_NAME + 1],
	struct err *e)
{
	struct meant_name s = {.best = name};
	*name = '\0';
	suggest_init(&s.suggest, str_from(query->project));
	for (size_t i = 0; i < query->platforms; i++)
		if (query->platform[i]->id && catalog_projects(c, query->platform[i]->id, suggest_name, &s, e) < 0)
			return -1;
	return 0;
}

// --- the command that installs what the page shows ---

static bool has_file(const struct project_data *d, const struct platform *p)
{
	for (size_t i = 0; i < d->files.files; i++)
		if (strcmp(d->files.file[i].platform, p->name) == 0)
			return true;
	return false;
}

// The platforms with a file of the version, those in use first; of upstream's project all. The caller frees the array.
static const struct platform **list_homes(const struct project_data *d, const struct project_query *q, size_t *count)
{
	const struct platform **list = xcalloc(q->platforms + 1, sizeof(const struct platform *));
	*count = 0;
	for (int retired = 0; retired < 2; retired++)
		for (size_t i = 0; i < q->platforms; i++)
			if (retired_is(q->platform[i]) == retired &&
				(d->matrix.has_upstreams || has_file(d, q->platform[i])))
				list[(*count)++] = q->platform[i];
	return list;
}

static bool has_any(const struct view *v, const struct platform *const *homes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (view_has(v, homes[i]))
			return true;
	return false;
}

// Of a page of no view: the default one, if that has what the page shows. NULL: none has it.
static const struct view *choose_view(const struct project_data *d, const struct project_query *q,
	const struct platform *const *homes, size_t count)
{
	const struct site *s = q->site;
	if (!q->view && s->has_no_default) // platforms merge as the first one does
		return count && (!d->matrix.has_upstreams || s->view[1].upstreams.count) ? &s->view[0] : NULL;
	if (!d->matrix.has_upstreams) {
		const struct view *first = q->view ? q->view : &s->view[0];
		if (has_any(first, homes, count) && (q->view || (!first->membership && project_query_reads(q, first))))
			return first;
		return count && !q->view ? site_view(s, str_from(homes[0]->name)) : NULL;
	}
	if (q->view)
		return q->view->upstreams.count ? q->view : NULL;
	for (size_t i = 0; i < s->view_count; i++)
		if (s->view[i].upstreams.count && project_query_reads(q, &s->view[i]))
			return &s->view[i];
	return NULL;
}

bool project_install_find(const struct project_data *d, const struct project_query *q, struct client_index *index,
	struct buf *command)
{
	size_t count;
	CLEANUP(mem_free) const struct platform **homes = list_homes(d, q, &count);
	const struct view *v = d->matrix.version ? choose_view(d, q, homes, count) : NULL;
	if (!v)
		return false;
	CLEANUP(mem_free)
	char *requirement = *q->version ? xasprintf("%s==%s", q->project, d->matrix.version) : xstrdup(q->project);
	*index = install_index_of(q->site, v, homes, count, q->base);
	install_index_command(index, requirement, command);
	return true;
}
