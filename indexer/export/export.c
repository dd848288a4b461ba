// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "indexer/export/docroot.h"
#include "indexer/walk/scan-report.h"
#include "lib/base/limits.h"
#include "lib/net/url.h"
#include "lib/os/fs.h"
#include "lib/view/page.h"

struct exporting {
	const struct site *site;
	struct catalog *catalog;
	const struct export_options *options;
	char *folder; // real path
	char *base;   // as views want it; NULL: none
	struct manifest wanted;
	struct docroot *root;
	uint64_t done;
	struct view view;                // whose pages are being made
	const struct platform *platform; // whose files are being linked
};

static void export_release(struct exporting *x)
{
	docroot_cleanup(&x->root);
	manifest_release(&x->wanted);
	free(x->folder);
	free(x->base);
}

// The real path of a folder that may be missing, in one that may not.
static char *resolve(const char *folder, struct err *e)
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

// Whether path is outer, or below it.
static bool is_within(const char *path, const char *outer)
{
	size_t len = strcmp(outer, "/") == 0 ? 0 : strlen(outer);
	return strncmp(path, outer, len) == 0 && (path[len] == '/' || !path[len]);
}

static int check_apart(const char *folder, const char *store, struct err *e)
{
	if (store && is_within(folder, store))
		return err_set(e, ERR_USAGE, "--static %s: that is in the store %s", folder, store);
	if (store && is_within(store, folder))
		return err_set(e, ERR_USAGE, "--static %s: the store %s is in it", folder, store);
	return 0;
}

// A platform's folder may be reached by a link.
static int check_platform(const char *folder, const struct platform *p, struct err *e)
{
	struct err absent = ERR_INIT;
	CLEANUP(mem_free) char *real = fs_real_path(p->path, &absent);
	return check_apart(folder, real ? real : p->path, e);
}

static int prepare(struct exporting *x, struct err *e)
{
	const struct export_options *o = x->options;
	x->base = o->base ? url_base(str_from(o->base)) : NULL;
	if (o->base && !x->base)
		return err_set(e, ERR_USAGE, "--base %s: not an http:// or https:// address without query", o->base);
	x->folder = resolve(o->folder, e);
	if (!x->folder)
		return err_prefix(e, "--static ");
	if (check_apart(x->folder, x->site->store.path, e) < 0)
		return -1;
	for (size_t i = 0; i < x->site->store.platform_count; i++)
		if (check_platform(x->folder, &x->site->store.platform[i], e) < 0)
			return -1;
	return 0;
}

int export_check(const struct site *site, const struct export_options *options, struct err *e)
{
	CLEANUP(export_release) struct exporting x = {.site = site, .options = options};
	return prepare(&x, e);
}

// The page of a project, or (project "") the list, with a slash at its end.
static char *page_path(const struct exporting *x, const char *project)
{
	return xasprintf("%s%ssimple/%s%s", x->view.name ? x->view.name : "", x->view.name ? "/" : "", project,
		*project ? "/" : "");
}

static char *file_path(const struct exporting *x, const struct catalog_location *file, const char *ending)
{
	return xasprintf("files/%s/%s/%s%s", x->platform->name, file->project, file->filename, ending);
}

// A longer name no file can have; nor does a server find it.
static bool has_metadata(const struct catalog_location *file)
{
	return file->metadata_sha256 && strlen(file->filename) + strlen(".metadata") <= LIMIT_FILE_NAME;
}

static int want_file(void *ctx, const struct catalog_location *file, struct err *e UNUSED)
{
	struct exporting *x = ctx;
	manifest_add(&x->wanted, file_path(x, file, ""));
	if (has_metadata(file))
		manifest_add(&x->wanted, file_path(x, file, ".metadata"));
	return 0;
}

static int want_page(void *ctx, const char *project, struct err *e UNUSED)
{
	struct exporting *x = ctx;
	manifest_add(&x->wanted, page_path(x, project));
	return 0;
}

static void report(struct exporting *x)
{
	x->done++;
	if (x->options->progress)
		x->options->progress(x->options->ctx, x->done, x->wanted.count);
}

static int put_metadata(struct exporting *x, const struct catalog_location *file, struct err *e)
{
	CLEANUP(mem_free) char *path = file_path(x, file, ".metadata");
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_METADATA);
	report(x);
	if (catalog_metadata(x->catalog, file->metadata_sha256, &text, e) < 0)
		return err_prefix(e, "%s: ", path);
	return docroot_file(x->root, path, buf_view(&text), e);
}

static int put_file(void *ctx, const struct catalog_location *file, struct err *e)
{
	struct exporting *x = ctx;
	CLEANUP(mem_free) char *path = file_path(x, file, "");
	CLEANUP(mem_free) char *target = xasprintf("%s/%s", x->platform->path, file->path);
	report(x);
	if (docroot_link(x->root, path, target, e) < 0)
		return -1;
	return has_metadata(file) ? put_metadata(x, file, e) : 0;
}

static int put_page(void *ctx, const char *project, struct err *e)
{
	struct exporting *x = ctx;
	CLEANUP(mem_free) char *path = page_path(x, project);
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, LIMIT_PAGE);
	report(x);
	for (int format = 0; format < PAGE_FORMAT_COUNT; format++) {
		buf_clear(&page);
		int made =
			*project ? page_project(&x->view, x->catalog, project, NULL, (enum page_format)format, &page, e)
				 : page_root(&x->view, x->catalog, STR(""), (enum page_format)format, &page, e);
		if (made < 0 || docroot_page(x->root, path, (enum page_format)format, buf_view(&page), e) < 0)
			return -1;
	}
	return 0;
}

static int each_file(struct exporting *x, catalog_location_fn *fn, struct err *e)
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

static void set_view(struct exporting *x, size_t i)
{
	x->view = x->site->view[i];
	x->view.base = x->base;
}

static int each_project(struct exporting *x, view_name_fn *fn, struct err *e)
{
	for (size_t i = 0; i < x->site->view_count; i++) {
		set_view(x, i);
		if (x->view.is_private)
			continue;
		if (view_projects(&x->view, x->catalog, fn, x, e) < 0)
			return -1;
	}
	return 0;
}

static int each_root(struct exporting *x, view_name_fn *fn, struct err *e)
{
	for (size_t i = 0; i < x->site->view_count; i++) {
		set_view(x, i);
		if (x->view.is_private)
			continue;
		if (fn(x, "", e) < 0)
			return -1;
	}
	return 0;
}

// What a page leads to comes before it, and goes after it.
static int bring_up_to_date(struct exporting *x, struct err *e)
{
	if (each_file(x, want_file, e) < 0 || each_project(x, want_page, e) < 0 || each_root(x, want_page, e) < 0)
		return -1;
	manifest_sort(&x->wanted);
	if (docroot_open(x->folder, &x->root, e) < 0 || docroot_claim(x->root, &x->wanted, e) < 0)
		return -1;
	if (each_file(x, put_file, e) < 0 || each_project(x, put_page, e) < 0 || each_root(x, put_page, e) < 0)
		return -1;
	return docroot_settle(x->root, &x->wanted, e);
}

static void sum_up(const struct exporting *x, struct summary *summary)
{
	if (!x->root)
		return;
	const struct docroot_counts *counts = docroot_counts(x->root);
	summary->number[SCAN_REPORT_EXPORT_WRITTEN] += counts->written;
	summary->number[SCAN_REPORT_EXPORT_REMOVED] += counts->removed;
	summary->number[SCAN_REPORT_EXPORT_KEPT] += counts->kept;
}

int export_run(const struct site *site, struct catalog *catalog, const struct export_options *options,
	struct summary *summary, struct err *e)
{
	CLEANUP(export_release)
	struct exporting x = {.site = site, .catalog = catalog, .options = options};
	if (prepare(&x, e) < 0 || catalog_read_begin(catalog, e) < 0)
		return -1;
	CLEANUP(catalog_read_end) struct catalog *reading UNUSED = catalog;
	int result = bring_up_to_date(&x, e);
	sum_up(&x, summary);
	return result;
}
