// SPDX-License-Identifier: Apache-2.0
#include "lib/view/exposure.h"

#include <stdlib.h>
#include <string.h>

#include "lib/advisories/osv-record.h"
#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/purl.h"
#include "lib/facts/wheel-facts.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/upstream/upstream.h"

// What the lists say of a version of a project. Strings are in the arena.
struct judged {
	const char *project, *version, *upstream;
	const struct advisory *record;
	size_t records;
	const char *denied;
	bool is_hidden;
};

// A listed wheel that bundles a component.
struct bundler {
	const char *platform, *filename;
	const struct exposed_component *component;
};

struct exposure_reader {
	const struct exposure_query *query;
	struct exposure *out;
	struct judged last; // files come by version
	struct bundler *bundler; // by platform and file name
	size_t bundlers, bundler_room;
	struct strset bundling; // projects of these
	const struct exposed_component *component; // whose wheels are read
	const struct view *view;
	const char *path; // of the view
};

// --- what the lists say ---

struct record_taking {
	struct exposure_reader *reader;
	struct advisory *record;
	size_t records, room;
};

// Several lists may have one record.
static bool take_naming_record(void *ctx, const struct advisory *a)
{
	struct record_taking *t = ctx;
	if (!a->is_malicious && a->severity < t->reader->query->least)
		return true;
	for (size_t i = 0; i < t->records; i++)
		if (str_eq(t->record[i].id, a->id))
			return true;
	ARENA_GROW(&t->reader->out->text, t->record, t->records, t->room);
	t->record[t->records++] = *a;
	return true;
}

static int by_badness(const void *a, const void *b)
{
	const struct advisory *x = a, *y = b;
	if (advisory_is_worse(x, y) || advisory_is_worse(y, x))
		return advisory_is_worse(x, y) ? -1 : 1;
	return str_cmp(x->id, y->id);
}

// version "": unknown.
static struct record_taking records_about(struct exposure_reader *r, struct str project, struct str version)
{
	struct record_taking t = {.reader = r};
	advisories_about(r->query->lists, project, version, take_naming_record, &t);
	if (t.records)
		qsort(t.record, t.records, sizeof(*t.record), by_badness);
	return t;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

// version NULL: unknown. upstream NULL: the file is ours.
static const struct judged *judge_version(struct exposure_reader *r, const char *upstream, const char *project,
	const struct version *version)
{
	struct judged *j = &r->last;
	struct arena *a = &r->out->text;
	const char *text = version ? version->text : NULL;
	if (j->project && is_same(j->upstream, upstream) && is_same(j->project, project) && is_same(j->version, text))
		return j;
	*j = (struct judged){.project = arena_strdup(a, project),
		.version = arena_strdup(a, text),
		.upstream = arena_strdup(a, upstream)};
	struct record_taking t = records_about(r, str_from(project), str_from(text ? text : ""));
	j->record = t.record;
	j->records = t.records;
	j->is_hidden = upstreams_hide_version(r->query->upstreams, upstream, project, version, a, &j->denied);
	return j;
}

static bool is_exposed(const struct judged *j)
{
	return j->records || j->denied;
}

static struct exposed_file *add_file(struct exposure_reader *r, const struct judged *j)
{
	struct exposure *x = r->out;
	GROW(x->file, x->files, x->room);
	x->file[x->files] = (struct exposed_file){.project = j->project,
		.version = j->version,
		.record = j->record,
		.records = j->records,
		.denied = j->denied};
	return &x->file[x->files++];
}

// --- what wheels bundle ---

static int take_bundler(void *ctx, const struct catalog_facts_wheel *wheel, struct err *e UNUSED)
{
	struct exposure_reader *r = ctx;
	struct err unclear = ERR_INIT;
	struct filename name;
	bool is_clear = filename_parse(str_from(wheel->filename), &name, &unclear) == 0;
	struct exposed_file *x = add_file(r, judge_version(r, NULL, wheel->project, is_clear ? &name.version : NULL));
	x->platform = arena_strdup(&r->out->text, wheel->platform);
	x->filename = arena_strdup(&r->out->text, wheel->filename);
	x->component = arena_memdup(&r->out->text, &r->component, sizeof(r->component));
	x->components = x->component_room = 1;
	GROW(r->bundler, r->bundlers, r->bundler_room);
	r->bundler[r->bundlers++] = (struct bundler){x->platform, x->filename, r->component};
	strset_add(&r->bundling, wheel->project);
	if (is_clear)
		filename_release(&name);
	return 0;
}

static int take_component(void *ctx, int64_t word, const struct catalog_facts_name *name, struct err *e)
{
	struct exposure_reader *r = ctx;
	struct arena *a = &r->out->text;
	struct purl purl;
	CLEANUP(arena_release) struct arena scratch = {0};
	if (!*name->purl || !purl_read(str_from(name->purl), &scratch, &purl))
		return 0;
	struct str project = osv_project(purl.type, purl.name, &scratch);
	struct str version = purl.version.len ? purl.version : str_from(name->version);
	struct record_taking t = project.len ? records_about(r, project, version) : (struct record_taking){0};
	if (!t.records)
		return 0;
	const struct exposed_component component = {.name = arena_strdup(a, name->name),
		.purl = arena_strdup(a, name->purl),
		.version = version.len ? arena_copy(a, version) : NULL,
		.record = t.record,
		.records = t.records};
	r->component = arena_memdup(a, &component, sizeof(component));
	return catalog_facts_uses(r->query->catalog, word, take_bundler, r, e);
}

static int add_unread(void *ctx, const char *platform UNUSED, uint64_t wheels, struct err *e UNUSED)
{
	struct exposure_reader *r = ctx;
	r->out->unread += wheels;
	return 0;
}

static int compare_bundlers(const void *a, const void *b)
{
	const struct bundler *x = a, *y = b;
	int order = strcmp(x->platform, y->platform);
	return order ? order : strcmp(x->filename, y->filename);
}

static int read_bundlers(struct exposure_reader *r, struct err *e)
{
	struct catalog *c = r->query->catalog;
	if (catalog_facts_words(c, CATALOG_FACTS_COMPONENT, take_component, r, e) < 0 ||
		catalog_facts_unknown(c, WHEEL_FACTS_VERSION, add_unread, r, e) < 0)
		return -1;
	strset_sort(&r->bundling);
	if (r->bundlers)
		qsort(r->bundler, r->bundlers, sizeof(*r->bundler), compare_bundlers);
	return 0;
}

static bool bundles_bad(const struct exposure_reader *r, const char *platform, const char *filename)
{
	const struct bundler key = {.platform = platform, .filename = filename};
	return r->bundlers && bsearch(&key, r->bundler, r->bundlers, sizeof(key), compare_bundlers);
}

// --- what was downloaded ---

// The project of an sdist of ours is not plain from its name: the catalog knows it, if the file is still there.
static int name_of_ours(const struct exposure_reader *r, const char *platform, const char *file, struct filename *name,
	struct err *why)
{
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	const struct platform *p = site_platform(r->query->site, str_from(platform));
	bool is_sdist = filename_kind(str_from(file)) == FILENAME_SDIST;
	if (is_sdist && p && catalog_find_file(r->query->catalog, p->id, file, &place, why) == 0)
		return filename_parse_listed(str_from(file), place.project, name, why);
	return filename_parse(str_from(file), name, why);
}

static void put_download(struct exposure_reader *r, struct exposed_file *x, struct str who, const struct download *d)
{
	static const struct str token = STR("token "), address = STR("address ");
	if (!who.ptr) {
		x->download = *d;
		return;
	}
	struct exposed_by by = {.download = *d};
	if (str_starts(who, token))
		by.token = arena_copy(&r->out->text, str_slice(who, token.len, who.len));
	else if (str_starts(who, address))
		by.address = arena_copy(&r->out->text, str_slice(who, address.len, who.len));
	x->by = arena_memdup(&r->out->text, &by, sizeof(by));
	x->bys = x->by_room = 1;
}

static int take_upstream_download(struct exposure_reader *r, const struct downloaded_file *f, const struct download *d)
{
	struct err unclear = ERR_INIT;
	struct filename name = {0};
	CLEANUP(mem_free) char *upstream = xstrndup(f->upstream.ptr, f->upstream.len);
	CLEANUP(mem_free) char *project = xstrndup(f->project.ptr, f->project.len);
	bool is_clear = filename_parse_listed(f->filename, project, &name, &unclear) == 0;
	const struct judged *j = judge_version(r, upstream, project, is_clear ? &name.version : NULL);
	if (is_exposed(j)) {
		struct exposed_file *x = add_file(r, j);
		x->upstream = j->upstream;
		x->filename = arena_copy(&r->out->text, f->filename);
		x->is_hidden = j->is_hidden;
		put_download(r, x, f->who, d);
	}
	filename_release(&name);
	return 0;
}

static int take_our_download(struct exposure_reader *r, const struct downloaded_file *f, const struct download *d)
{
	struct err unclear = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(mem_free) char *platform = xstrndup(f->platform.ptr, f->platform.len);
	CLEANUP(mem_free) char *file = xstrndup(f->filename.ptr, f->filename.len);
	if (name_of_ours(r, platform, file, &name, &unclear) < 0)
		return 0; // no distribution
	const struct judged *j = judge_version(r, NULL, name.project, &name.version);
	if (!is_exposed(j) && !bundles_bad(r, platform, file))
		return 0;
	struct exposed_file *x = add_file(r, j);
	x->platform = arena_strdup(&r->out->text, platform);
	x->filename = arena_strdup(&r->out->text, file);
	put_download(r, x, f->who, d);
	return 0;
}

static int take_download(void *ctx, const struct downloaded_file *f, const struct download *d, struct err *e UNUSED)
{
	struct exposure_reader *r = ctx;
	r->out->downloaded += !f->who.ptr;
	return f->platform.ptr ? take_our_download(r, f, d) : take_upstream_download(r, f, d);
}

// --- what views list ---

static int take_listed(void *ctx, const struct platform *platform, const struct catalog_file *f, struct err *e UNUSED)
{
	struct exposure_reader *r = ctx;
	struct err unclear = ERR_INIT;
	struct version version = {0};
	bool is_clear = f->version && version_parse(str_from(f->version), &version, &unclear) == 0;
	const struct judged *j = judge_version(r, NULL, r->last.project, is_clear ? &version : NULL);
	if (is_exposed(j) || bundles_bad(r, platform->name, f->filename)) {
		struct exposed_file *x = add_file(r, j);
		x->platform = platform->name;
		x->filename = arena_strdup(&r->out->text, f->filename);
		x->is_yanked = f->yanked != NULL;
		x->view = ARENA_NEW(&r->out->text, const char *, 1);
		x->view[0] = r->path;
		x->views = x->view_room = 1;
	}
	if (is_clear)
		version_release(&version);
	return 0;
}

static int take_view_project(void *ctx, const char *project, struct err *e)
{
	struct exposure_reader *r = ctx;
	bool is_any = is_exposed(judge_version(r, NULL, project, NULL)); // of any version
	if (!is_any && !strset_has(&r->bundling, project))
		return 0;
	return view_files(r->view, r->query->catalog, project, take_listed, r, e);
}

static int read_views(struct exposure_reader *r, struct err *e)
{
	const struct site *site = r->query->site;
	for (size_t i = site->has_no_default ? 1 : 0; i < site->view_count; i++) {
		r->view = &site->view[i];
		const char *name = r->view->name;
		r->path = name ? arena_printf(&r->out->text, "/%s/", name) : "/";
		if (view_projects(r->view, r->query->catalog, take_view_project, r, e) < 0)
			return -1;
	}
	return 0;
}

// --- a row for each file ---

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_place(const void *a, const void *b)
{
	const struct exposed_file *x = a, *y = b;
	int order = compare_texts(x->platform, y->platform);
	order = order ? order : compare_texts(x->upstream, y->upstream);
	order = order ? order : compare_texts(x->project, y->project);
	return order ? order : strcmp(x->filename, y->filename);
}

static int by_recent_download(const struct exposed_by *x, const struct exposed_by *y)
{
	int order = (x->download.last < y->download.last) - (x->download.last > y->download.last);
	order = order ? order : compare_texts(x->token, y->token);
	return order ? order : compare_texts(x->address, y->address);
}

// The row of the downloads, then those who did it, the latest first, what is bundled, and views.
static int by_place_and_kind(const void *a, const void *b)
{
	const struct exposed_file *x = a, *y = b;
	int order = by_place(a, b);
	order = order ? order : (x->views > 0) - (y->views > 0);
	order = order ? order : (x->components > 0) - (y->components > 0);
	order = order ? order : (x->bys > 0) - (y->bys > 0);
	if (!order && x->bys)
		return by_recent_download(x->by, y->by);
	if (!order && x->components)
		return strcmp(x->component[0]->purl, y->component[0]->purl);
	return order ? order : compare_texts(x->views ? x->view[0] : NULL, y->views ? y->view[0] : NULL);
}

static void join_file(struct exposure *x, struct exposed_file *f, const struct exposed_file *more)
{
	if (more->views) {
		ARENA_GROW(&x->text, f->view, f->views, f->view_room);
		f->view[f->views++] = more->view[0];
		f->is_yanked |= more->is_yanked;
	} else if (more->components) {
		ARENA_GROW(&x->text, f->component, f->components, f->component_room);
		f->component[f->components++] = more->component[0];
	} else if (more->bys) {
		ARENA_GROW(&x->text, f->by, f->bys, f->by_room);
		f->by[f->bys++] = more->by[0];
	}
}

static void join_files(struct exposure *x)
{
	size_t kept = 0;
	if (!x->files)
		return;
	qsort(x->file, x->files, sizeof(*x->file), by_place_and_kind);
	for (size_t i = 1; i < x->files; i++) {
		struct exposed_file *f = &x->file[kept];
		if (by_place(f, &x->file[i]) != 0) {
			x->file[++kept] = x->file[i];
			continue;
		}
		join_file(x, f, &x->file[i]);
	}
	x->files = kept + 1;
}

// NULL: a line of `deny` alone names it.
static const struct advisory *worst_of_file(const struct exposed_file *f)
{
	const struct advisory *worst = f->records ? f->record : NULL;
	for (size_t i = 0; i < f->components; i++)
		if (!worst || advisory_is_worse(f->component[i]->record, worst))
			worst = f->component[i]->record;
	return worst;
}

// Malware, then what the operator denies, then by severity.
static int by_danger(const void *a, const void *b)
{
	const struct exposed_file *x = a, *y = b;
	static const struct advisory none;
	const struct advisory *worst = worst_of_file(x), *other = worst_of_file(y);
	worst = worst ? worst : &none;
	other = other ? other : &none;
	int order = other->is_malicious - worst->is_malicious;
	order = order ? order : (y->denied != NULL) - (x->denied != NULL);
	order = order ? order : (worst->severity < other->severity) - (worst->severity > other->severity);
	order = order ? order : strcmp(x->project, y->project);
	order = order ? order : compare_texts(x->version, y->version);
	return order ? order : by_place(a, b);
}

static void release_reader(struct exposure_reader *r)
{
	free(r->bundler);
	strset_release(&r->bundling);
}

int exposure_read(const struct exposure_query *q, struct exposure *out, struct err *e)
{
	*out = (struct exposure){0};
	CLEANUP(release_reader) struct exposure_reader r = {.query = q, .out = out};
	CLEANUP(catalog_read_end) struct catalog *snapshot = NULL;
	if (upstream_rules_open(q->upstreams, q->catalog, e) < 0 || catalog_read_begin(q->catalog, e) < 0)
		return -1;
	snapshot = q->catalog;
	if (read_bundlers(&r, e) < 0 || (q->downloads && downloads_each(q->downloads, take_download, &r, e) < 0) ||
		(q->downloaders && downloads_each(q->downloaders, take_download, &r, e) < 0) || read_views(&r, e) < 0)
		return -1;
	join_files(out);
	if (out->files)
		qsort(out->file, out->files, sizeof(*out->file), by_danger);
	return 0;
}

void exposure_release(struct exposure *x)
{
	free(x->file);
	arena_release(&x->text);
	*x = (struct exposure){0};
}
