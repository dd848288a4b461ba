// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "indexer/export/docroot.h"
#include "indexer/walk/scan-report.h"
#include "lib/base/limits.h"
#include "lib/net/url.h"
#include "lib/os/fs.h"
#include "lib/place/place-s3.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/view/page.h"

struct export
{
	const struct site *site;
	struct catalog *catalog;
	const struct export_options *options;
	char *folder; // real path
	char *base;   // normalised for struct view; NULL: none
	struct manifest wanted;
	struct docroot *root;
	uint64_t done;
	struct view view;                // whose pages are being made
	const struct platform *platform; // whose files are being linked
	char *project;                   // of the file, on project_of
	const struct platform *project_of;
	bool is_withdrawn; // it is in quarantine there
	struct rule_list *denied; // [server] deny
};

static void export_release(struct export *x)
{
	docroot_cleanup(&x->root);
	manifest_release(&x->wanted);
	free(x->folder);
	free(x->base);
	free(x->project);
	rule_list_unref(x->denied);
}

// The real path of a folder that may be missing, but whose parent must exist.
static char *resolve_folder(const char *folder, struct err *e)
{
	struct err missing = ERR_INIT;
	struct str path = str_from(folder);
	char *real = fs_real_path(folder, &missing);
	if (real)
		return real;
	if (missing.kind != ERR_NOT_FOUND || !path.len) {
		*e = missing;
		return NULL;
	}
	while (path.len > 1 && path.ptr[path.len - 1] == '/')
		path.len--;
	long slash = str_rfind(path, '/');
	CLEANUP(mem_free)
	char *parent = slash < 0 ? xstrdup(".") : xstrndup(folder, (size_t)slash + 1);
	CLEANUP(mem_free) char *above = fs_real_path(parent, e);
	struct str name = str_slice(path, (size_t)(slash + 1), path.len);
	return above ? xasprintf("%s/" STR_FMT, strcmp(above, "/") == 0 ? "" : above, STR_ARG(name)) : NULL;
}

// Whether path is outer or below it.
static bool is_below(const char *path, const char *outer)
{
	size_t len = strcmp(outer, "/") == 0 ? 0 : strlen(outer);
	return strncmp(path, outer, len) == 0 && (path[len] == '/' || !path[len]);
}

static int check_apart(const char *folder, const char *store, struct err *e)
{
	if (store && is_below(folder, store))
		return err_set(e, ERR_USAGE, "--static %s: that is in the store %s", folder, store);
	if (store && is_below(store, folder))
		return err_set(e, ERR_USAGE, "--static %s: the store %s is in it", folder, store);
	return 0;
}

// A platform's folder may be reached by a link.
static int check_platform_folder(const char *folder, const struct platform *p, struct err *e)
{
	struct err absent = ERR_INIT;
	if (place_s3_is(place_path(p->place)))
		return err_set(e, ERR_USAGE, "platform %s is in a bucket: a static index has links to files on a disk", p->name);
	CLEANUP(mem_free) char *real = fs_real_path(place_path(p->place), &absent);
	return check_apart(folder, real ? real : place_path(p->place), e);
}

static int prepare_export(struct export *x, struct err *e)
{
	const struct export_options *o = x->options;
	if (rule_list_open(x->site->config.deny, NULL, &x->denied, e) < 0)
		return -1;
	x->base = o->base ? url_base(str_from(o->base)) : NULL;
	if (o->base && !x->base)
		return err_set(e, ERR_USAGE, "--base %s: not an http:// or https:// address without query", o->base);
	x->folder = resolve_folder(o->folder, e);
	if (!x->folder)
		return err_prefix(e, "--static ");
	if (check_apart(x->folder, x->site->store.path, e) < 0)
		return -1;
	for (size_t i = 0; i < x->site->store.platform_count; i++)
		if (check_platform_folder(x->folder, &x->site->store.platform[i], e) < 0)
			return -1;
	return 0;
}

int export_check(const struct site *site, const struct export_options *options, struct err *e)
{
	CLEANUP(export_release) struct export x = {.site = site, .options = options};
	return prepare_export(&x, e);
}

// The path of a project's page, or (project "") of the project list, with a slash at its end.
static char *page_path(const struct export *x, const char *project)
{
	return xasprintf("%s%ssimple/%s%s", x->view.name ? x->view.name : "", x->view.name ? "/" : "", project,
		*project ? "/" : "");
}

static char *file_path(const struct export *x, const struct catalog_location *file, const char *ending)
{
	return xasprintf("files/%s/%s/%s%s", x->platform->name, file->project, file->filename, ending);
}

// A longer name no file can have; nor does a server find it.
static bool has_metadata(const struct catalog_location *file)
{
	return file->metadata_sha256 && strlen(file->filename) + strlen(".metadata") <= LIMIT_FILE_NAME;
}

static bool has_attachment(const struct catalog_location *file, enum attachment kind)
{
	return kind == ATTACHMENT_STATEMENT ? file->statement != NULL : file->provenance != NULL;
}

// Locations come by project.
static int look_at_status(struct export *x, const char *project, struct err *e)
{
	CLEANUP(project_status_release) struct project_status status = {0};
	if (x->project && strcmp(x->project, project) == 0 && x->project_of == x->platform)
		return 0;
	if (project_status_find(x->catalog, project, &x->platform, 1, &status, e) < 0)
		return -1;
	free(x->project);
	x->project = xstrdup(project);
	x->project_of = x->platform;
	x->is_withdrawn = status.status == SIMPLEPAGE_QUARANTINED;
	return 0;
}

// Whether clients must not have the file.
static int look_at_rules(struct export *x, const struct catalog_location *file, bool *is_hidden, struct err *e)
{
	*is_hidden = false;
	if (look_at_status(x, file->project, e) < 0)
		return -1;
	*is_hidden = x->is_withdrawn || rule_list_find(x->denied, file->project, file->filename, x->platform->name);
	return 0;
}

static int add_wanted_file(void *ctx, const struct catalog_location *file, struct err *e)
{
	struct export *x = ctx;
	bool is_hidden;
	if (look_at_rules(x, file, &is_hidden, e) < 0 || is_hidden)
		return is_hidden ? 0 : -1;
	manifest_add(&x->wanted, file_path(x, file, ""));
	if (has_metadata(file))
		manifest_add(&x->wanted, file_path(x, file, ".metadata"));
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		if (has_attachment(file, (enum attachment)kind))
			manifest_add(&x->wanted, file_path(x, file, attachment_ending[kind]));
	return 0;
}

static int add_wanted_page(void *ctx, const char *project, struct err *e UNUSED)
{
	struct export *x = ctx;
	manifest_add(&x->wanted, page_path(x, project));
	return 0;
}

static void report_progress(struct export *x)
{
	x->done++;
	if (x->options->progress)
		x->options->progress(x->options->ctx, x->done, x->wanted.count);
}

static int export_metadata(struct export *x, const struct catalog_location *file, struct err *e)
{
	CLEANUP(mem_free) char *path = file_path(x, file, ".metadata");
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	report_progress(x);
	if (catalog_metadata(x->catalog, file->metadata_sha256, &text, e) < 0)
		return err_prefix(e, "%s: ", path);
	return docroot_file(x->root, path, buf_view(&text), e);
}

static int export_attachment(struct export *x, const struct catalog_location *file, enum attachment kind, struct err *e)
{
	struct catalog_attached found;
	CLEANUP(mem_free) char *path = file_path(x, file, attachment_ending[kind]);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	report_progress(x);
	int result = catalog_attached(x->catalog, x->platform->id, file->filename, kind, &found, &text, e);
	if (result < 0)
		return err_prefix(e, "%s: ", path);
	return result ? docroot_file(x->root, path, buf_view(&text), e) : 0;
}

static int export_file(void *ctx, const struct catalog_location *file, struct err *e)
{
	struct export *x = ctx;
	bool is_hidden;
	if (look_at_rules(x, file, &is_hidden, e) < 0 || is_hidden)
		return is_hidden ? 0 : -1;
	CLEANUP(mem_free) char *path = file_path(x, file, "");
	CLEANUP(mem_free) char *target = xasprintf("%s/%s", place_path(x->platform->place), file->path);
	report_progress(x);
	if (docroot_link(x->root, path, target, e) < 0)
		return -1;
	if (has_metadata(file) && export_metadata(x, file, e) < 0)
		return -1;
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		if (has_attachment(file, (enum attachment)kind) &&
			export_attachment(x, file, (enum attachment)kind, e) < 0)
			return -1;
	return 0;
}

static int export_page(void *ctx, const char *project, struct err *e)
{
	struct export *x = ctx;
	CLEANUP(mem_free) char *path = page_path(x, project);
	CLEANUP(buf_release) struct buf page = buf_up_to(LIMIT_PAGE);
	report_progress(x);
	for (int format = 0; format < PAGE_FORMAT_COUNT; format++) {
		buf_clear(&page);
		int made =
			*project ? page_project(&x->view, x->catalog, project, NULL, (enum page_format)format, &page, e)
				 : page_root(&x->view, x->catalog, NULL, 0, (enum page_format)format, &page, e);
		if (made < 0 || docroot_page(x->root, path, (enum page_format)format, buf_view(&page), e) < 0)
			return -1;
	}
	return 0;
}

static int for_each_file(struct export *x, catalog_location_fn *fn, struct err *e)
{
	for (size_t i = 0; i < x->site->store.platform_count; i++) {
		x->platform = &x->site->store.platform[i];
		if (x->platform->is_private)
			continue;
		if (catalog_locations(x->catalog, x->platform->id, fn, x, e) < 0)
			return -1;
	}
	return 0;
}

// All that a server has for everybody: the views, and behind them their parts. A part of a private view is private.
static bool select_view(struct export *x, size_t i)
{
	const struct site *s = x->site;
	x->view = i < s->view_count ? s->view[i] : s->part[i - s->view_count];
	x->view.base = x->base;
	x->view.denied = x->denied;
	return !x->view.is_private && (i > 0 || !s->has_no_default);
}

static int for_each_project(struct export *x, view_name_fn *fn, struct err *e)
{
	for (size_t i = 0; i < x->site->view_count + x->site->part_count; i++)
		if (select_view(x, i) && view_projects(&x->view, x->catalog, fn, x, e) < 0)
			return -1;
	return 0;
}

static int for_each_root(struct export *x, view_name_fn *fn, struct err *e)
{
	for (size_t i = 0; i < x->site->view_count + x->site->part_count; i++)
		if (select_view(x, i) && fn(x, "", e) < 0)
			return -1;
	return 0;
}

// A file is put before the page that links to it, and removed after it.
static int update_docroot(struct export *x, struct err *e)
{
	if (for_each_file(x, add_wanted_file, e) < 0 || for_each_project(x, add_wanted_page, e) < 0 ||
		for_each_root(x, add_wanted_page, e) < 0)
		return -1;
	manifest_sort(&x->wanted);
	if (docroot_open(x->folder, &x->root, e) < 0 || docroot_claim(x->root, &x->wanted, e) < 0)
		return -1;
	if (for_each_file(x, export_file, e) < 0)
		return -1;
	docroot_next(x->root);
	if (for_each_project(x, export_page, e) < 0)
		return -1;
	docroot_next(x->root);
	return for_each_root(x, export_page, e) < 0 ? -1 : docroot_settle(x->root, &x->wanted, e);
}

// A view of which nothing is known is not exported as if it were empty.
static int check_memberships(const struct export *x, struct err *e)
{
	for (size_t i = 0; i < x->site->view_count; i++) {
		const struct view *v = &x->site->view[i];
		struct catalog_view found;
		if (!v->membership || v->is_private)
			continue;
		if (catalog_view_find(x->catalog, v->membership, &found, e) < 0)
			return -1;
		if (found.is_damaged && !found.generation)
			return err_set(e, ERR_IO,
				"view %s: a file of its membership is missing or damaged, so %s is left unchanged",
				v->membership, x->folder);
	}
	return 0;
}

int export_run(const struct site *site, struct catalog *catalog, const struct export_options *options,
	struct summary *summary, struct err *e)
{
	CLEANUP(export_release)
	struct export x = {.site = site, .catalog = catalog, .options = options};
	if (prepare_export(&x, e) < 0 || catalog_read_begin(catalog, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *reading UNUSED = catalog;
	int result = check_memberships(&x, e) < 0 ? -1 : update_docroot(&x, e);
	if (x.root) {
		const struct docroot_counts *counts = docroot_counts(x.root);
		summary->number[SCAN_REPORT_EXPORT_WRITTEN] += counts->written;
		summary->number[SCAN_REPORT_EXPORT_REMOVED] += counts->removed;
		summary->number[SCAN_REPORT_EXPORT_KEPT] += counts->kept;
	}
	return result;
}
