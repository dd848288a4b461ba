// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/state/access/audit-recent.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-history.h"
#include "lib/state/catalog/catalog-view.h"
#include "explainer/explain-audit.h"

struct files_reader {
	const struct project_files_query *query;
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
	const struct matrix_view *v = r->query->members;
	if (!v || !v->membership)
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
		.came = file->arrived ? file->arrived : file->mtime_ns / 1000000000,
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
	const struct project_files_query *q = r->query;
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
	const struct project_files_query *q = r->query;
	for (size_t i = 0; i < r->out->files && bytes < LIMIT_EXPLAIN_STATEMENTS; i++) {
		struct project_file *f = &r->out->file[i];
		struct catalog_attached found;
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_STATEMENT);
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

static void judge_files(struct files_reader *r)
{
	struct explain_audit judge = {.gate = r->query->gate, .catalog = r->catalog};
	for (size_t i = 0; judge.gate && i < r->out->files; i++) {
		struct project_file *f = &r->out->file[i];
		uint8_t sha256[SHA256_SIZE];
		struct jsondoc *row = jsondoc_object();
		if (hex_decode(str_from(f->sha256), sha256, SHA256_SIZE))
			explain_audit(&judge, f->platform, f->filename, sha256, row);
		f->audit = row;
	}
}

static bool is_named(const struct project_files_query *q, const char *platform)
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
	const struct project_files_query *q = r->query;
	r->out->has_all_uploads = true;
	const struct audit_query wanted = {.path = q->audit_path, .project = q->project, .most = LIMIT_AUDIT_READ};
	if (q->audit_path && q->nameds && r->out->files &&
		audit_recent(&wanted, take_upload, r, &r->out->has_all_uploads, &e) < 0)
		log_error("%s", e.msg);
}

// --- files that are not listed ---

static const struct platform *find_readable(const struct project_files_query *q, int64_t id)
{
	for (size_t i = 0; i < q->platforms; i++)
		if (q->platform[i]->id == id)
			return q->platform[i];
	return NULL;
}

// Unlisted files are found by the beginning of their names, which may be another project's.
static bool is_of_project(const struct project_files_query *q, const char *filename)
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

int project_files_read(struct catalog *c, const struct project_files_query *query, struct project_files *out,
	struct err *e)
{
	*out = (struct project_files){0};
	struct files_reader r = {.query = query, .out = out, .catalog = c};
	if (read_version(&r, query->version, take_listed, e) < 0 ||
		read_version(&r, query->before, take_before, e) < 0 || read_statements(&r, e) < 0 ||
		catalog_unlisted_histories(c, query->project, take_unlisted, &r, e) < 0) {
		project_files_release(out);
		return -1;
	}
	judge_files(&r);
	read_uploaders(&r);
	return 0;
}

void project_files_release(struct project_files *f)
{
	for (size_t i = 0; i < f->files; i++)
		jsondoc_cleanup(&f->file[i].audit);
	free(f->file);
	free(f->unlisted);
	arena_release(&f->text);
	*f = (struct project_files){0};
}
