// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/specifier.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/upstream/name-owner.h"
#include "explainer/explain-parts.h"
#include "lib/install/resolve.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/view/merge-upstream.h"

// Where files come from: their sources.
enum file_origin { FROM_NOWHERE = 0, FROM_HERE = 1, FROM_UPSTREAM = 2, FROM_BOTH = 4 };

static const char names_kept_out[] =
	"a platform of the source has the project, so its files come into the view by promotion "
	"alone; [upstream] shared would merge it";

// A file that the view shows.
struct shown {
	const char *filename, *requires_python;
	bool is_yanked;
	const struct platform *platform;
};

// The verdict of the last plan about a file.
struct planned {
	int64_t platform;
	const char *path;
	struct jsondoc *facts; // ownership passes to the file's row
};

struct explanation {
	const struct upstream_answer *answer;
	const struct explain_about *about;
	const struct view *view; // of about
	const char *project;     // of about
	struct catalog *catalog;
	const char *owner;             // why upstream's files are ignored; NULL: they are not
	const struct simplepage *page; // upstream's page; NULL: ignored or unknown
	int64_t generation;            // of the view's membership, if it has one
	struct project_status status;  // of the project on the view's platforms
	bool is_kept_out;              // upstream's files, because the view's come by promotion alone
	char *specifier; // "==1.0"; NULL: any version
	struct jsondoc *here, *lost, *builds; // builds NULL: not known
	struct explain_audit audit;
	struct explain_log log;
	struct arena text;
	struct shown *shown; // sorted by name
	size_t shown_count, shown_room;
	size_t statement_bytes; // of statements of provenance that were read
	struct planned *planned;
	size_t planned_count, planned_room;
};

static void explanation_release(struct explanation *x)
{
	for (size_t i = 0; i < x->planned_count; i++)
		jsondoc_cleanup(&x->planned[i].facts);
	free(x->planned);
	free(x->shown);
	free(x->specifier);
	explain_log_release(&x->log);
	jsondoc_cleanup(&x->here);
	jsondoc_cleanup(&x->lost);
	jsondoc_cleanup(&x->builds);
	project_status_release(&x->status);
	arena_release(&x->text);
}

static const char *explanation_copy(struct explanation *x, const char *s)
{
	return s ? arena_copy(&x->text, str_from(s)) : NULL;
}

static const struct platform *find_view_platform(const struct explanation *x, int64_t id)
{
	for (size_t i = 0; i < x->view->platform_count; i++)
		if (x->view->platform[i]->id == id)
			return x->view->platform[i];
	return NULL;
}

// Whether a file belongs to the project and has a requested version. otherwise is the result for an unparsable name.
static bool matches_request(const struct explanation *x, const char *filename, bool otherwise)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, &ignored) < 0)
		return otherwise;
	return strcmp(name.project, x->project) == 0 &&
	       (!x->specifier || specifier_set_admits(str_from(x->specifier), &name.version));
}

// --- the last plan ---

static int on_planned_file(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
{
	struct explanation *x = ctx;
	if (!find_view_platform(x, f->platform))
		return 0;
	GROW(x->planned, x->planned_count, x->planned_room);
	struct jsondoc *facts = jsondoc_object();
	jsondoc_put_known_str(facts, "verdict", f->verdict);
	jsondoc_put_bool(facts, "removes", f->removes);
	jsondoc_put_known_str(facts, "why", f->why);
	jsondoc_put_known_str(facts, "reason", f->reason);
	jsondoc_put_known_str(facts, "upstream", f->upstream);
	x->planned[x->planned_count++] = (struct planned){f->platform, explanation_copy(x, f->path), facts};
	return 0;
}

static void put_planned(struct explanation *x, struct jsondoc *row, int64_t platform, const char *path)
{
	for (size_t i = 0; i < x->planned_count; i++) {
		struct planned *p = &x->planned[i];
		if (p->facts && p->platform == platform && strcmp(p->path, path) == 0)
			jsondoc_put(row, "plan", STEAL_PTR(p->facts));
	}
}

// --- files here ---

static int compare_shown(const void *a, const void *b)
{
	return strcmp(((const struct shown *)a)->filename, ((const struct shown *)b)->filename);
}

static int on_shown_file(void *ctx, const struct platform *platform, const struct catalog_file *f, struct err *e UNUSED)
{
	struct explanation *x = ctx;
	if (rule_list_find(x->about->denied, x->project, f->filename, platform->name))
		return 0;
	GROW(x->shown, x->shown_count, x->shown_room);
	x->shown[x->shown_count++] = (struct shown){
		.filename = explanation_copy(x, f->filename),
		.requires_python = explanation_copy(x, f->requires_python),
		.is_yanked = f->yanked != NULL,
		.platform = platform,
	};
	return 0;
}

static const struct shown *find_shown(const struct explanation *x, const char *filename)
{
	const struct shown key = {.filename = filename};
	return x->shown_count ? bsearch(&key, x->shown, x->shown_count, sizeof(key), compare_shown) : NULL;
}

static struct jsondoc *new_file_row(const struct platform *p, const char *filename, const char *state)
{
	struct jsondoc *row = jsondoc_object();
	jsondoc_put_str(row, "platform", p->name);
	jsondoc_put_str(row, "filename", filename);
	jsondoc_put_str(row, "state", state);
	return row;
}

static const char *state_name(const struct catalog_history *f)
{
	static const char *const name[] = {
		[FILE_IS_LISTED] = "listed",
		[FILE_IS_REFUSED] = "quarantined",
		[FILE_IS_DUPLICATE] = "copy",
		[FILE_IS_UNLISTED] = "unlisted",
	};
	if (!f->has_file)
		return "removed";
	return f->yanked && f->state == FILE_IS_LISTED ? "yanked" : name[f->state];
}

bool explain_may_read(const struct explain_reader *r, const struct view *v)
{
	return !r || !r->may_read || r->may_read(r->ctx, v);
}

bool explain_sees_names(const struct explain_reader *r, const struct platform *p)
{
	return !r || !r->sees_names || r->sees_names(r->ctx, p);
}

static void put_tombstone(struct jsondoc *row, const char *text, bool sees_names)
{
	CLEANUP(tombstone_release) struct tombstone t = {0};
	struct jsondoc *removal = jsondoc_object(), *upstream;
	tombstone_read(str_from(text), &t);
	jsondoc_put_known_time(removal, "when", t.when);
	jsondoc_put_known_str(removal, "by", sees_names ? t.by : NULL);
	jsondoc_put_known_str(removal, "verdict", t.verdict);
	jsondoc_put_known_str(removal, "run", t.run);
	if (t.upstream.filename) {
		upstream = jsondoc_object();
		jsondoc_put_known_str(upstream, "filename", t.upstream.filename);
		jsondoc_put_known_str(upstream, "url", t.upstream.url);
		jsondoc_put_bool(upstream, "identical", t.upstream.is_identical);
		jsondoc_put(removal, "upstream", upstream);
	}
	jsondoc_put(row, "removal", removal);
}

// Says whether the view has a listed file, and if not, why.
static int put_presence(const struct explanation *x, const struct catalog_history *f, const struct platform *p,
	struct jsondoc *row, struct err *e)
{
	const struct view *v = x->view;
	const struct shown *shown = find_shown(x, f->filename);
	int is_member = !v->membership || !f->sha256 ? 1
						     : catalog_view_has(x->catalog, v->membership, v->generation,
							       f->platform, f->filename, f->sha256, e);
	if (is_member < 0)
		return -1;
	if (!is_member)
		jsondoc_put_bool(row, "not-promoted", true);
	else if (shown && shown->platform != p && !v->shows_each)
		jsondoc_put_str(row, "hidden-by", shown->platform->name);
	else if (!shown && v->membership && !v->shows_each && !v->omits_ours) {
		CLEANUP(mem_free) char *address = xasprintf("/%s/%s/simple/", v->membership, p->name);
		jsondoc_put_str(row, "only-at", address);
	}
	return 0;
}

static int on_history(void *ctx, const struct catalog_history *f, struct err *e)
{
	struct explanation *x = ctx;
	const struct platform *p = find_view_platform(x, f->platform);
	if (!p || !matches_request(x, f->filename, true))
		return 0;
	struct jsondoc *row = new_file_row(p, f->filename, state_name(f));
	jsondoc_add(x->here, row);
	if (f->state == FILE_IS_LISTED && put_presence(x, f, p, row, e) < 0)
		return -1;
	const struct requirement *denied =
		f->state == FILE_IS_LISTED ? rule_list_find(x->about->denied, x->project, f->filename, p->name) : NULL;
	if (denied) {
		CLEANUP(buf_release) struct buf says = buf_up_to(LIMIT_PAGE);
		offering_write_deny(denied, NULL, &says);
		jsondoc_put_str(row, "denied", says.data);
	}
	if (f->state == FILE_IS_LISTED && x->about->put_file &&
		x->about->put_file(x->about->put_file_ctx, p, f, row, e) < 0)
		return -1;
	jsondoc_put_str(row, "path", f->path);
	if (f->has_file)
		jsondoc_put_int(row, "size", (int64_t)f->size);
	if (f->sha256)
		jsondoc_put_sha256(row, "sha256", f->sha256);
	jsondoc_put_known_str(row, "requires-python", f->requires_python);
	jsondoc_put_known_str(row, "reason", f->reason ? f->reason : f->yanked);
	bool sees_names = explain_sees_names(x->about->reader, p);
	if (f->tombstone)
		put_tombstone(row, f->tombstone, sees_names);
	if (sees_names && f->sha256) {
		char hex[SHA256_HEX + 1] = "";
		hex_encode(f->sha256, SHA256_SIZE, hex);
		const struct explain_act *upload = explain_log_find(&x->log, p->name, f->filename, hex);
		if (upload) {
			jsondoc_put_str(row, "uploaded_by", upload->by);
			jsondoc_put_str(row, "uploaded", upload->when);
		}
	}
	struct download found;
	if (x->about->downloads && downloads_find(x->about->downloads, p->name, f->filename, &found)) {
		struct jsondoc *out = jsondoc_object();
		jsondoc_put_int(out, "count", (int64_t)found.count);
		jsondoc_put_known_time(out, "last", found.last);
		jsondoc_put(row, "downloads", out);
	}
	if (f->state == FILE_IS_LISTED)
		explain_audit(&x->audit, p->name, f->filename, f->sha256, row);
	put_planned(x, row, f->platform, f->path);
	return explain_provenance_put(x->catalog, f, x->about->version != NULL, &x->statement_bytes, row, e);
}

static int collect_here(struct explanation *x, struct err *e)
{
	if (view_files(x->view, x->catalog, x->project, on_shown_file, x, e) < 0)
		return -1;
	if (x->shown_count)
		qsort(x->shown, x->shown_count, sizeof(x->shown[0]), compare_shown);
	if (catalog_plan_project(x->catalog, x->project, on_planned_file, x, e) < 0)
		return -1;
	return catalog_histories(x->catalog, x->project, on_history, x, e);
}

// --- files of upstream ---

// Whether the view's page omits this wheel of upstream. It never omits a name that is here too.
static bool is_omitted(const struct explanation *x, const struct simplepage_file *f)
{
	bool is_shown = x->about->rule != NAME_RULE_UPSTREAM && find_shown(x, f->filename);
	return x->view->upstreams.count && !is_shown && !wheel_filter_admits(&x->view->wheels, f->filename);
}

static bool has_several(const struct explanation *x)
{
	return x->about->upstreams && upstreams_count(x->about->upstreams) > 1;
}

static struct jsondoc *upstream_file_doc(const struct explanation *x, const struct simplepage_file *f)
{
	struct jsondoc *out = jsondoc_object();
	if (has_several(x))
		jsondoc_put_str(out, "upstream", upstream_name(upstream_home(x->answer, f).upstream));
	jsondoc_put_str(out, "filename", f->filename);
	jsondoc_put_str(out, "url", f->url);
	if (f->yanked)
		jsondoc_put_str(out, "yanked", f->yanked);
	jsondoc_put_known_str(out, "requires-python", f->requires_python);
	jsondoc_put_known_str(out, "upload-time", f->upload_time);
	if (f->size >= 0)
		jsondoc_put_int(out, "size", f->size);
	if (f->has_sha256)
		jsondoc_put_sha256(out, "sha256", f->sha256);
	if (is_omitted(x, f))
		jsondoc_put_bool(out, "left-out", true);
	if (f->is_cut)
		jsondoc_put_bool(out, "cut", true);
	return out;
}

// --- each of several upstreams ---

enum { CONFLICTS = 20 };

struct each_upstream {
	const char *owner;
	struct jsondoc *row;
};

static int fill_each(void *ctx, const struct upstream_answer *one, struct err *e UNUSED)
{
	struct each_upstream *each = ctx;
	if (each->owner) {
		jsondoc_put_str(each->row, "result", upstream_result_name[UPSTREAM_PRIVATE]);
		jsondoc_put_str(each->row, "why", each->owner);
		return 0;
	}
	jsondoc_put_str(each->row, "result", upstream_result_name[one->result]);
	jsondoc_put_known_str(each->row, "why", *one->why ? one->why : NULL);
	jsondoc_put_known_str(each->row, "index", one->index);
	jsondoc_put_known_time(each->row, "asked", one->asked);
	jsondoc_put_known_time(each->row, "fetched", one->fetched);
	if (one->stale)
		jsondoc_put_int(each->row, "files", (int64_t)one->stale->files);
	return 0;
}

static struct jsondoc *each_doc(const struct explanation *x, const struct upstream_answer *answer)
{
	struct jsondoc *out = jsondoc_array();
	const struct config_order *order = x->view->upstreams.count ? &x->view->upstreams : &x->about->order;
	for (size_t i = 0; i < order->count && answer->of; i++) {
		struct err ignored = ERR_INIT;
		size_t number = order->item[i];
		struct each_upstream each = {x->about->owner[number], jsondoc_object()};
		jsondoc_put_str(each.row, "name", upstream_name(upstreams_item(x->about->upstreams, number)));
		if (upstream_report_one(x->about->upstreams, answer->of, number, order->is_together, fill_each, &each,
			    &ignored) == 0)
			jsondoc_add(out, each.row);
	}
	return out;
}

struct conflict_rows {
	const struct explanation *x;
	struct jsondoc *rows;
};

static void add_conflict(void *ctx, const char *filename, const char *first, const char *other)
{
	struct conflict_rows *c = ctx;
	if (jsondoc_count(c->rows) >= CONFLICTS || !matches_request(c->x, filename, false))
		return;
	struct jsondoc *row = jsondoc_object();
	jsondoc_set(row, "filename:s counts:s other:s", filename, first, other);
	jsondoc_add(c->rows, row);
}

static void put_each_answer(const struct explanation *x, const struct upstream_answer *answer, struct jsondoc *out)
{
	if (!has_several(x))
		return;
	struct conflict_rows conflicts = {x, jsondoc_array()};
	jsondoc_put(out, "each", each_doc(x, answer));
	upstream_conflicts(answer, add_conflict, &conflicts);
	if (jsondoc_count(conflicts.rows))
		jsondoc_put(out, "conflicts", conflicts.rows);
	else
		jsondoc_cleanup(&conflicts.rows);
}

enum { HIDDEN_MOST = 50 }; // files that are listed without a version

// All rules that hide a file, and when that changes by itself.
static struct jsondoc *hidden_doc(const struct upstream_answer *answer, const struct simplepage_file *f)
{
	struct offering o;
	struct jsondoc *rules = jsondoc_array();
	upstream_judge(answer, upstream_home(answer, f).upstream, f, &o);
	for (enum offering_rule rule = 0; rule < OFFERING_RULE_COUNT; rule++) {
		CLEANUP(buf_release) struct buf says = buf_up_to(LIMIT_PAGE), source = buf_up_to(LIMIT_PAGE);
		if (!(o.hides & 1u << rule))
			continue;
		offering_write(&o, rule, &says);
		offering_source(&o, rule, &source);
		jsondoc_add(rules, jsondoc_new("rule:s says:s source:s", offering_rule_name[rule], says.data, source.data));
	}
	return jsondoc_new("filename:s upload-time:k seen:T offered:T rules:j", f->filename, f->upload_time, f->seen, o.next,
		rules);
}

static void add_hidden_files(const struct explanation *x, const struct upstream_answer *answer, struct jsondoc *out)
{
	int64_t count = 0;
	if (!answer->hidden)
		return;
	struct jsondoc *hidden = jsondoc_array();
	for (size_t i = 0; i < answer->listed->files; i++) {
		const struct simplepage_file *f = &answer->listed->file[i];
		if (!answer->hidden[i])
			continue;
		count++;
		bool is_of_version = x->about->version && matches_request(x, f->filename, false);
		if (is_of_version || (!x->about->version && count <= HIDDEN_MOST))
			jsondoc_add(hidden, hidden_doc(answer, f));
	}
	jsondoc_set(out, "not-offered:d hidden:j", count, hidden);
}

static struct jsondoc *upstream_doc(const struct explanation *x, const struct upstream_answer *answer,
	bool is_of_version)
{
	struct jsondoc *out = jsondoc_object();
	if (x->owner) {
		jsondoc_put_str(out, "result", upstream_result_name[UPSTREAM_PRIVATE]);
		jsondoc_put_str(out, "why", x->owner);
		put_each_answer(x, answer, out);
		return out;
	}
	struct jsondoc *files = is_of_version ? jsondoc_array() : NULL;
	jsondoc_put_str(out, "result", upstream_result_name[answer->result]);
	jsondoc_put_known_str(out, "why", answer->why);
	jsondoc_put_known_str(out, "index", answer->index);
	jsondoc_put_known_time(out, "asked", answer->asked);
	jsondoc_put_known_time(out, "fetched", answer->fetched);
	put_each_answer(x, answer, out);
	if (!x->page) {
		jsondoc_cleanup(&files);
		return out;
	}
	jsondoc_put_bool(out, "stale", !answer->page);
	jsondoc_put_str(out, "status", simplepage_status_name[x->page->status]);
	jsondoc_put_int(out, "files", (int64_t)x->page->files);
	int64_t count = 0;
	for (size_t i = 0; i < x->page->files; i++)
		count += is_omitted(x, &x->page->file[i]);
	if (count)
		jsondoc_put_int(out, "left-out", count);
	add_hidden_files(x, answer, out);
	for (size_t i = 0; files && i < x->page->files; i++)
		if (matches_request(x, x->page->file[i].filename, false))
			jsondoc_add(files, upstream_file_doc(x, &x->page->file[i]));
	if (files)
		jsondoc_put(out, "file", files);
	return out;
}

// --- the rule of names ---

static const struct {
	const char *files, *why;
} by_rule[NAME_RULE_COUNT] = {
	[NAME_RULE_MERGE] = {"both", "no rule applies"},
	[NAME_RULE_PRIVATE] = {"here", "[upstream] private: upstream is never asked for it"},
	[NAME_RULE_LOCAL] = {"here", "[upstream] local-only: upstream is not asked for it"},
	[NAME_RULE_NOT_ASKED] = {"here", "[upstream] projects or not-projects: upstream is not asked for it"},
	[NAME_RULE_UPSTREAM] = {"upstream", "[upstream] upstream-only"},
	[NAME_RULE_SHARED] = {"both", "[upstream] shared: always merged"},
};

// Describes upstream's project under a name that is ours.
static struct jsondoc *taken_doc(const struct simplepage *page, int64_t fetched)
{
	struct jsondoc *out = jsondoc_object();
	int64_t since = 0;
	for (size_t i = 0; i < page->files; i++)
		if (page->file[i].uploaded && (!since || page->file[i].uploaded < since))
			since = page->file[i].uploaded;
	jsondoc_put_int(out, "files", (int64_t)page->files);
	jsondoc_put_known_time(out, "since", since);
	jsondoc_put_known_time(out, "fetched", fetched);
	return out;
}

// Whose files of the project clients get, and by which rule.
static struct jsondoc *names_doc(const struct explanation *x, const struct upstream_answer *answer)
{
	const struct explain_about *about = x->about;
	struct jsondoc *out = jsondoc_object();
	bool is_first = about->rule == NAME_RULE_MERGE && about->is_ours;
	const char *files = by_rule[about->rule].files, *why = by_rule[about->rule].why;
	if (!x->view->upstreams.count) {
		files = "here";
		why = "the view does not merge";
	} else if (is_first) {
		files = "here";
		why = "upstream did not know the name when its first file came here; [upstream] shared would merge it";
	} else if (x->is_kept_out) {
		files = "here";
		why = names_kept_out;
	}
	jsondoc_put_str(out, "rule", name_rule_text[about->rule]);
	jsondoc_put_bool(out, "ours", about->is_ours);
	jsondoc_put_str(out, "files", files);
	jsondoc_put_str(out, "why", why);
	if (is_first && answer->stale)
		jsondoc_put(out, "taken", taken_doc(answer->listed, answer->fetched));
	return out;
}

// --- what pip takes ---

static void put_choice(struct index_files *files, struct jsondoc *out, const char *key, size_t place,
	enum file_origin source, const char *requested)
{
	uint64_t micros;
	const struct index_file *f = resolve_file(files, place, source, requested, &micros);
	if (!f)
		return;
	struct jsondoc *chosen = jsondoc_object();
	jsondoc_put_str(chosen, "filename", f->filename);
	jsondoc_put_str(chosen, "version", f->version.text);
	jsondoc_put_str(chosen, "from", f->sources & FROM_HERE ? "here" : "upstream");
	if (f->is_yanked)
		jsondoc_put_bool(chosen, "yanked", true);
	if (micros != UINT64_MAX)
		jsondoc_put_bool(chosen, "some-micros", true);
	jsondoc_put(out, key, chosen);
}

// Upstream's also with a field that is cut, because clients get them.
static void add_files(const struct explanation *x, const struct platform *only, struct index_files *to)
{
	for (size_t i = 0; x->page && i < x->page->files; i++) {
		const struct simplepage_file *f = &x->page->file[i];
		const struct index_file file = {.filename = f->filename,
			.is_yanked = f->yanked != NULL,
			.sources = FROM_UPSTREAM | FROM_BOTH,
			.upstream = f};
		index_files_add(to, &file, f->requires_python);
	}
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct shown *s = &x->shown[i];
		bool is_upstreams = x->page && simplepage_find(x->page, s->filename);
		const struct index_file file = {.filename = s->filename,
			.is_yanked = s->is_yanked,
			.sources = is_upstreams ? FROM_HERE : FROM_HERE | FROM_BOTH};
		if (!only || only == s->platform)
			index_files_add(to, &file, s->requires_python);
	}
}

// Where the files come from that clients get, of the view or of one platform's own index.
static enum file_origin origin_for_clients(const struct explanation *x, const struct platform *only,
	enum simplepage_status status, const struct jsondoc *names)
{
	const char *files = jsondoc_get_str(names, "files");
	if (status == SIMPLEPAGE_QUARANTINED)
		return FROM_NOWHERE;
	if (!x->view->upstreams.count)
		return (only ? site_has_upstream(x->about->site, NULL, only) : x->view->has_upstream) ? FROM_BOTH : FROM_HERE;
	return strcmp(files, "here") == 0 ? FROM_HERE : strcmp(files, "upstream") == 0 ? FROM_UPSTREAM : FROM_BOTH;
}

// Adds the choices in the environments of these platforms, which are one index. only: the only one, of a view that
// shows each; else NULL.
static int put_choices(struct explanation *x, const struct platform *const *platform, size_t count,
	const struct platform *only, const struct jsondoc *names, struct jsondoc *out, struct err *e)
{
	struct fits fits = {0};
	struct index_files files;
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_find(x->catalog, x->project, platform, count, &status, e) < 0)
		return -1;
	enum file_origin client = origin_for_clients(x, only, status.status, names);
	for (size_t i = 0; i < count; i++)
		fits_add_platform(&fits, platform[i]);
	index_files_init(&files, x->project, &fits);
	add_files(x, only, &files);
	for (size_t i = 0; i < fits.places; i++) {
		const struct fits_place *place = &fits.place[i];
		struct jsondoc *row = jsondoc_object();
		jsondoc_put_str(row, "platform", place->platform->name);
		jsondoc_put_str(row, "python", place->python);
		put_choice(&files, row, "here", i, FROM_HERE, x->specifier);
		put_choice(&files, row, "upstream", i, FROM_UPSTREAM, x->specifier);
		put_choice(&files, row, "both", i, FROM_BOTH, x->specifier);
		if (client != FROM_NOWHERE)
			put_choice(&files, row, "client", i, client, x->specifier);
		jsondoc_add(out, row);
	}
	index_files_release(&files);
	fits_release(&fits);
	return 0;
}

static int put_environments(struct explanation *x, const struct jsondoc *names, struct jsondoc *out, struct err *e)
{
	const struct view *v = x->view;
	const struct platform *const *platform = (const struct platform *const *)v->platform;
	if (!v->shows_each)
		return put_choices(x, platform, v->platform_count, NULL, names, out, e);
	for (size_t i = 0; i < v->platform_count; i++)
		if (put_choices(x, platform + i, 1, platform[i], names, out, e) < 0)
			return -1;
	return 0;
}

// --- the document ---

static struct jsondoc *status_doc(const struct explanation *x)
{
	bool sees_names = true;
	for (size_t i = 0; i < x->view->platform_count; i++)
		sees_names = sees_names && explain_sees_names(x->about->reader, x->view->platform[i]);
	return project_status_json(&x->status, sees_names);
}

static struct jsondoc *explanation_doc(struct explanation *x, const struct upstream_answer *answer, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *out = jsondoc_object();
	struct jsondoc *platforms = jsondoc_array(), *environments = jsondoc_array();
	jsondoc_put_str(out, "project", x->project);
	jsondoc_put_known_str(out, "version", x->about->version);
	jsondoc_put_known_str(out, "view", x->view->name);
	if (x->view->shows_each)
		jsondoc_put_bool(out, "each", true);
	if (x->view->membership)
		jsondoc_put_int(out, "generation", x->generation);
	for (size_t i = 0; i < x->view->platform_count; i++)
		jsondoc_add_str(platforms, x->view->platform[i]->name);
	jsondoc_put(out, "platforms", platforms);
	struct jsondoc *rule = names_doc(x, answer);
	jsondoc_put(out, "names", rule);
	struct jsondoc *status = status_doc(x);
	if (status)
		jsondoc_put(out, "status", status);
	if (jsondoc_count(x->lost))
		jsondoc_put(out, "lost", STEAL_PTR(x->lost));
	jsondoc_put(out, "here", STEAL_PTR(x->here));
	jsondoc_put(out, "upstream", upstream_doc(x, answer, x->about->version != NULL));
	jsondoc_put(out, "environments", environments);
	if (put_environments(x, rule, environments, e) < 0)
		return NULL;
	if (x->builds)
		jsondoc_put(out, "builds", STEAL_PTR(x->builds));
	return STEAL_PTR(out);
}

// Results that cannot be read hide nothing else.
static void read_builds(struct explanation *x)
{
	struct err ignored = ERR_INIT;
	const struct explain_about *about = x->about;
	if (about->results)
		x->builds = explain_builds(about->results, x->view, x->project, about->version, &ignored);
}

int explain_find_names(const struct site *site, struct catalog *c, struct owned_names *ours, struct explain_about *about,
	struct err *e)
{
	const struct config_upstreams *u = &site->config.upstreams;
	const char *project = about->project;
	struct name_presence here[LIMIT_UPSTREAMS] = {0};
	struct config_order order = about->view->upstreams;
	about->site = site;
	if (!order.count)
		config_default_order(&site->config, &order);
	about->order = order;
	about->rule = name_rules_admit(&site->rules, project, &order);
	if (name_owner_look(c, site->hidden, u->count, project, here, e) < 0)
		return -1;
	about->order = order.count ? order : about->order;
	about->is_hidden = about->is_ours = true;
	for (size_t i = 0; i < about->order.count; i++) {
		size_t number = about->order.item[i];
		about->is_hidden = about->is_hidden && name_owner_is_hidden(&here[number]);
		about->is_ours = about->is_ours && ours && owned_names_has(ours, project, u->item[number].name);
	}
	for (size_t i = 0; i < u->count; i++) {
		bool is_ours = ours && owned_names_has(ours, project, u->item[i].name);
		enum name_rule rule = name_rules_find(&site->rules, i, project);
		about->owner[i] =
			upstream_owner(rule, is_ours, name_owner_is_hidden(&here[i]) && about->view->is_private);
		if (is_ours && rule == NAME_RULE_MERGE)
			about->order.aside |= (uint32_t)1 << i;
	}
	return 0;
}

struct jsondoc *explain(const struct explain_about *about, struct catalog *c, const struct upstream_answer *answer,
	struct err *e)
{
	CLEANUP(explanation_release)
	struct explanation x = {
		.about = about, .answer = answer, .view = about->view, .project = about->project, .catalog = c};
	x.owner = upstream_owner(about->rule, about->is_ours, about->is_hidden && about->view->is_private);
	struct catalog_view newest;
	x.generation = x.view->generation;
	if (x.view->membership && x.generation == GENERATION_NEWEST) {
		if (catalog_view_find(x.catalog, x.view->membership, &newest, e) < 0)
			return NULL;
		x.generation = newest.generation;
	}
	if (merge_upstream_is_kept_out(about->view, c, about->project, about->rule, &x.is_kept_out, e) < 0 ||
		project_status_find(c, about->project, about->view->platform, about->view->platform_count, &x.status, e) < 0)
		return NULL;
	x.owner = x.owner || !x.is_kept_out || !about->view->upstreams.count ? x.owner : names_kept_out;
	if (!x.owner)
		x.page = answer->page ? answer->page : answer->stale;
	x.here = jsondoc_array();
	x.audit = (struct explain_audit){.gate = about->gate, .catalog = c};
	CLEANUP(version_release) struct version asked = {0};
	if (about->version && version_parse(str_from(about->version), &asked, e) < 0)
		return NULL;
	x.specifier = about->version ? xasprintf("==%s", asked.text) : NULL;
	explain_log_read(&x.log, about->audit_path, about->project);
	if (collect_here(&x, e) < 0)
		return NULL;
	read_builds(&x);
	const struct jsondoc *all = x.about->lost;
	x.lost = jsondoc_array();
	for (size_t i = 0; all && i < jsondoc_count(all); i++)
		if (matches_request(&x, jsondoc_get_str(jsondoc_at(all, i), "filename"), true))
			jsondoc_add(x.lost, jsondoc_copy(jsondoc_at(all, i)));
	if (jsondoc_count(x.here) || jsondoc_count(x.lost) || x.page || (x.builds && jsondoc_count(x.builds)))
		return explanation_doc(&x, answer, e);
	const char *space = about->version ? " " : "", *version = about->version ? about->version : "";
	if (x.owner)
		err_set(e, ERR_NOT_FOUND, "nothing of %s%s%s is here, and upstream's files are ignored (%s)",
			about->project, space, version, x.owner);
	else
		err_set(e, ERR_NOT_FOUND, "nothing is known of %s%s%s, neither here nor upstream (%s)", about->project,
			space, version, upstream_result_name[answer->result]);
	return NULL;
}
