// SPDX-License-Identifier: Apache-2.0
#include "lib/view/exposure.h"

#include <stdlib.h>
#include <string.h>

#include "lib/advisories/osv-record.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/purl.h"
#include "lib/facts/wheel-facts.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/usage.h"

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

struct exposure_work {
	const struct exposure_query *query;
	struct exposure *out;
	struct judged last; // files come by version
	struct bundler *bundler; // by platform and file name
	size_t bundlers, bundler_room;
	struct strset bundling; // projects of these
	const struct exposed_component *component; // whose wheels are read
	const struct platform *looked; // where a project of the store was looked at last, and whether it is in quarantine there
	const char *looked_project;
	bool is_withdrawn;
	const struct view *view;
	const char *path; // of the view
};

// --- what the reader may know ---

static bool reads(const struct exposure_work *r, const char *platform, const char *upstream, const char *project)
{
	const struct exposure_reader *reader = r->query->reader;
	return !reader || reader->reads(reader->ctx, platform, upstream, project);
}

static bool reads_view(const struct exposure_work *r, const char *project)
{
	const struct exposure_reader *reader = r->query->reader;
	return !reader || reader->reads_view(reader->ctx, r->view, project);
}

static bool is_time_over(struct exposure_work *r)
{
	struct exposure *x = r->out;
	x->is_cut = x->is_cut || (r->query->cpu_end && clock_thread_ms() > r->query->cpu_end);
	return x->is_cut;
}

// --- what the lists say ---

struct record_taking {
	struct exposure_work *reader;
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
static struct record_taking records_about(struct exposure_work *r, struct str project, struct str version)
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
static const struct judged *judge_version(struct exposure_work *r, const char *upstream, const char *project,
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
	uint32_t seen = r->query->reader ? r->query->reader->upstreams : UINT32_MAX;
	j->is_hidden = upstreams_hide_version(r->query->upstreams, upstream, seen, project, version, a, &j->denied);
	return j;
}

static bool is_exposed(const struct judged *j)
{
	return j->records || j->denied;
}

static struct exposed_file *add_file(struct exposure_work *r, const struct judged *j)
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

// --- a file of the store ---

static int look_at_withdrawal(struct exposure_work *r, const struct platform *p, const char *project, struct err *e)
{
	CLEANUP(project_status_release) struct project_status status = {0};
	if (r->looked == p && is_same(r->looked_project, project))
		return 0;
	if (project_status_find(r->query->catalog, project, &p, 1, &status, e) < 0)
		return -1;
	r->looked = p;
	r->looked_project = arena_strdup(&r->out->text, project);
	r->is_withdrawn = status.status == SIMPLEPAGE_QUARANTINED;
	return 0;
}

// Whether clients do not get it, and what the line of [server] deny says that hides it. p NULL: the platform is gone.
static int judge_ours(struct exposure_work *r, const struct platform *p, const char *project, const char *filename,
	struct exposed_file *x, struct err *e)
{
	CLEANUP(buf_release) struct buf says = buf_up_to(LIMIT_PAGE);
	const struct requirement *line = p ? rule_list_find(r->query->denied, project, filename, p->name) : NULL;
	if (line) {
		offering_write_deny(line, NULL, &says);
		x->denied = arena_copy(&r->out->text, buf_view(&says));
	}
	if (p && look_at_withdrawal(r, p, project, e) < 0)
		return -1;
	x->is_hidden = line || (p && r->is_withdrawn);
	return 0;
}

// *out NULL: nothing says that it is bad.
static int add_ours(struct exposure_work *r, const struct judged *j, const char *platform, const char *filename, bool bundles,
	struct exposed_file **out, struct err *e)
{
	struct exposed_file found = {.denied = j->denied};
	*out = NULL;
	if (judge_ours(r, site_platform(r->query->site, str_from(platform)), j->project, filename, &found, e) < 0)
		return -1;
	if (!is_exposed(j) && !found.denied && !bundles)
		return 0;
	*out = add_file(r, j);
	(*out)->denied = found.denied;
	(*out)->is_hidden = found.is_hidden;
	(*out)->platform = arena_strdup(&r->out->text, platform);
	(*out)->filename = arena_strdup(&r->out->text, filename);
	return 0;
}

// --- what wheels bundle ---

static int take_bundler(void *ctx, const struct catalog_facts_wheel *wheel, struct err *e)
{
	struct exposure_work *r = ctx;
	struct err unclear = ERR_INIT;
	struct filename name;
	if (!reads(r, wheel->platform, NULL, wheel->project) || is_time_over(r))
		return 0;
	bool is_clear = filename_parse(str_from(wheel->filename), &name, &unclear) == 0;
	struct exposed_file *x;
	const struct judged *j = judge_version(r, NULL, wheel->project, is_clear ? &name.version : NULL);
	if (is_clear)
		filename_release(&name);
	if (add_ours(r, j, wheel->platform, wheel->filename, true, &x, e) < 0)
		return -1;
	x->component = arena_memdup(&r->out->text, &r->component, sizeof(r->component));
	x->components = x->component_room = 1;
	GROW(r->bundler, r->bundlers, r->bundler_room);
	r->bundler[r->bundlers++] = (struct bundler){x->platform, x->filename, r->component};
	strset_add(&r->bundling, wheel->project);
	return 0;
}

static int take_component(void *ctx, int64_t word, const struct catalog_facts_name *name, struct err *e)
{
	struct exposure_work *r = ctx;
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

static int add_unread(void *ctx, const char *platform, uint64_t wheels, struct err *e UNUSED)
{
	struct exposure_work *r = ctx;
	r->out->unread += reads(r, platform, NULL, NULL) ? wheels : 0;
	return 0;
}

static int compare_bundlers(const void *a, const void *b)
{
	const struct bundler *x = a, *y = b;
	int order = strcmp(x->platform, y->platform);
	return order ? order : strcmp(x->filename, y->filename);
}

static int read_bundlers(struct exposure_work *r, struct err *e)
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

static bool bundles_bad(const struct exposure_work *r, const char *platform, const char *filename)
{
	const struct bundler key = {.platform = platform, .filename = filename};
	return r->bundlers && bsearch(&key, r->bundler, r->bundlers, sizeof(key), compare_bundlers);
}

// --- what was downloaded ---

// The project of an sdist of ours is not plain from its name: the catalog knows it, if the file is still there.
static int name_of_ours(const struct exposure_work *r, const char *platform, const char *file, struct filename *name,
	struct err *why)
{
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	const struct platform *p = site_platform(r->query->site, str_from(platform));
	bool is_sdist = filename_kind(str_from(file)) == FILENAME_SDIST;
	if (is_sdist && p && catalog_find_file(r->query->catalog, p->id, file, &place, why) == 0)
		return filename_parse_listed(str_from(file), place.project, name, why);
	return filename_parse(str_from(file), name, why);
}

static void put_download(struct exposure_work *r, struct exposed_file *x, struct str who, const struct download *d)
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

static int take_upstream_download(struct exposure_work *r, const struct downloaded_file *f, const struct download *d)
{
	struct err unclear = ERR_INIT;
	struct filename name = {0};
	CLEANUP(mem_free) char *upstream = xstrndup(f->upstream.ptr, f->upstream.len);
	CLEANUP(mem_free) char *project = xstrndup(f->project.ptr, f->project.len);
	if (!reads(r, NULL, upstream, project))
		return 0;
	r->out->downloaded += !f->who.ptr;
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

static int take_our_download(struct exposure_work *r, const struct downloaded_file *f, const struct download *d, struct err *e)
{
	struct err unclear = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(mem_free) char *platform = xstrndup(f->platform.ptr, f->platform.len);
	CLEANUP(mem_free) char *file = xstrndup(f->filename.ptr, f->filename.len);
	bool is_distribution = name_of_ours(r, platform, file, &name, &unclear) == 0;
	if (!reads(r, platform, NULL, is_distribution ? name.project : NULL))
		return 0;
	r->out->downloaded += !f->who.ptr;
	if (!is_distribution)
		return 0;
	struct exposed_file *x;
	const struct judged *j = judge_version(r, NULL, name.project, &name.version);
	if (add_ours(r, j, platform, file, bundles_bad(r, platform, file), &x, e) < 0)
		return -1;
	if (x)
		put_download(r, x, f->who, d);
	return 0;
}

static int take_download(void *ctx, const struct downloaded_file *f, const struct download *d, struct err *e)
{
	struct exposure_work *r = ctx;
	if (is_time_over(r))
		return 0;
	return f->platform.ptr ? take_our_download(r, f, d, e) : take_upstream_download(r, f, d);
}

// --- what views list ---

// What is hidden is listed nowhere.
static int take_listed(void *ctx, const struct platform *platform, const struct catalog_file *f, struct err *e)
{
	struct exposure_work *r = ctx;
	struct err unclear = ERR_INIT;
	struct version version = {0};
	bool is_clear = f->version && version_parse(str_from(f->version), &version, &unclear) == 0;
	const struct judged *j = judge_version(r, NULL, r->last.project, is_clear ? &version : NULL);
	if (is_clear)
		version_release(&version);
	struct exposed_file *x, hidden = {0};
	if (judge_ours(r, platform, j->project, f->filename, &hidden, e) < 0)
		return -1;
	if (hidden.is_hidden)
		return 0;
	if (add_ours(r, j, platform->name, f->filename, bundles_bad(r, platform->name, f->filename), &x, e) < 0)
		return -1;
	if (x) {
		x->is_yanked = f->yanked != NULL;
		x->view = ARENA_NEW(&r->out->text, const char *, 1);
		x->view[0] = r->path;
		x->views = x->view_room = 1;
	}
	return 0;
}

static int take_view_project(void *ctx, const char *project, struct err *e)
{
	struct exposure_work *r = ctx;
	if (is_time_over(r))
		return 0;
	bool is_any = is_exposed(judge_version(r, NULL, project, NULL)); // of any version
	if ((!is_any && !strset_has(&r->bundling, project)) || !reads_view(r, project))
		return 0;
	return view_files(r->view, r->query->catalog, project, take_listed, r, e);
}

static int read_views(struct exposure_work *r, struct err *e)
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

static void release_reader(struct exposure_work *r)
{
	free(r->bundler);
	strset_release(&r->bundling);
}

int exposure_read(const struct exposure_query *q, struct exposure *out, struct err *e)
{
	*out = (struct exposure){0};
	CLEANUP(release_reader) struct exposure_work r = {.query = q, .out = out};
	CLEANUP(catalog_read_end) struct catalog *snapshot = NULL;
	if (upstream_rules_open(q->upstreams, q->catalog, e) < 0 || catalog_read_begin(q->catalog, e) < 0)
		return -1;
	snapshot = q->catalog;
	out->since = q->downloads ? downloads_since(q->downloads) : 0;
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

bool exposure_has_lists(const struct config *c, const struct advisories *lists)
{
	bool has_any = advisories_sources(lists) || c->deny;
	for (size_t i = 0; i < c->upstreams.count && !has_any; i++)
		has_any = c->upstreams.item[i].deny != NULL;
	return has_any;
}

// --- as a document ---

static void put_reason(const struct advisory *record, size_t records, struct buf *out)
{
	if (records)
		advisory_reason(record, out);
	if (records > 1)
		buf_printf(out, ", and %zu more", records - 1);
}

void exposed_file_why(const struct exposed_file *f, struct buf *out)
{
	size_t begin = out->len;
	put_reason(f->record, f->records, out);
	if (f->denied)
		buf_printf(out, "%s%s", out->len > begin ? "; " : "", f->denied);
	for (size_t i = 0; i < f->components; i++) {
		buf_printf(out, "%sbundles %s: ", out->len > begin ? "; " : "", f->component[i]->purl);
		put_reason(f->component[i]->record, f->component[i]->records, out);
	}
	if (f->upstream && !f->is_hidden)
		buf_puts(out, " (clients still get it)");
}

static struct jsondoc *records_json(const struct advisory *record, size_t records)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < records; i++) {
		const struct advisory *a = &record[i];
		CLEANUP(mem_free) char *id = xstrndup(a->id.ptr, a->id.len);
		struct jsondoc *one = jsondoc_new("id:s malware:b", id, a->is_malicious);
		if (a->severity && !a->is_wrong)
			jsondoc_put_real(one, "severity", a->severity / 10.0);
		else
			jsondoc_put_str(one, "severity", NULL);
		jsondoc_add(all, one);
	}
	return all;
}

static void put_exposed_day(struct jsondoc *doc, const char *key, int64_t day)
{
	char text[CLOCK_TEXT];
	usage_write_date(day, text);
	jsondoc_put_str(doc, key, day ? text : NULL);
}

static struct jsondoc *downloaders_json(const struct exposed_file *f)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < f->bys; i++) {
		const struct exposed_by *by = &f->by[i];
		struct jsondoc *one = jsondoc_new("token:s address:s downloads:d", by->token, by->address, by->download.count);
		put_exposed_day(one, "first", by->download.first);
		put_exposed_day(one, "last", by->download.last);
		jsondoc_add(all, one);
	}
	return all;
}

static struct jsondoc *bundled_json(const struct exposed_file *f)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < f->components; i++) {
		const struct exposed_component *c = f->component[i];
		jsondoc_add(all, jsondoc_new("name:s version:s purl:s records:j", c->name, c->version, c->purl,
					 records_json(c->record, c->records)));
	}
	return all;
}

static struct jsondoc *exposed_file_json(const struct exposed_file *f)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(SIZE_MAX / 2);
	struct jsondoc *doc = jsondoc_new("platform:s upstream:s project:s version:s filename:s downloads:d", f->platform,
		f->upstream, f->project, f->version, f->filename, f->download.count);
	put_exposed_day(doc, "first", f->download.first);
	put_exposed_day(doc, "last", f->download.last);
	struct jsondoc *views = jsondoc_array();
	for (size_t i = 0; i < f->views; i++)
		jsondoc_add_str(views, f->view[i]);
	exposed_file_why(f, &why);
	return jsondoc_set(doc, "by:j records:j bundled:j denied:s hidden:b yanked:b views:j why:s", downloaders_json(f),
		records_json(f->record, f->records), bundled_json(f), f->denied, f->is_hidden, f->is_yanked, views,
		why.data);
}

struct jsondoc *exposure_json(const struct exposure *x, size_t most)
{
	struct jsondoc *doc = jsondoc_object(), *files = jsondoc_array();
	for (size_t i = 0; i < x->files && i < most; i++)
		jsondoc_add(files, exposed_file_json(&x->file[i]));
	put_exposed_day(doc, "counted_since", x->since);
	jsondoc_set(doc, "downloaded:d without_facts:d", x->downloaded, x->unread);
	if (x->is_cut)
		jsondoc_put_bool(doc, "complete", false);
	jsondoc_put(doc, "files", files);
	return doc;
}
