// SPDX-License-Identifier: Apache-2.0
// What is not offered, and why: the rules of upstreams, block lists, lines of `deny` and `allow`, holds and waivers,
// statuses of our projects, and which files of upstreams these and their age hide now; and what was served, or is
// listed, although lists name it (lib/view/exposure.h). Of what is hidden a row stands for the files of one version
// that cool, or for all of a project that are hidden for one reason. The projects are looked through by name, for
// WALK_MS or until the rows are full; the next page begins behind the last one.
//
// Who may not read all platforms sees the upstreams that his views merge, and the projects that he reads on one of his
// platforms: which other names upstream was asked for says what others do. Who downloaded is for who sees all names.
#include <fnmatch.h>
#include <string.h>

#include "lib/advisories/advisories.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/view/exposure.h"
#include "server/pages/page.h"

enum {
	GROUPS_MOST = 50,    // rows of a project at an upstream; files of others are counted
	NAMES_AT_ONCE = 200, // that are read from the catalog
	WALK_MS = 500,       // of the processor, for what is hidden, and again for what was served
};

struct hidden_group {
	const char *version; // that cools; NULL: all files with this reason
	const char *says, *source;
	enum offering_rule rule;
	uint64_t files;
	int64_t first, last; // from when on the first and the last of them are offered; 0: it is not known
};

struct security_walk {
	struct page_query *query;
	struct upstreams *upstreams; // NULL: none
	bool has_all;                // the asker reads all platforms
	uint32_t merged;             // the upstreams that he sees, bits by number
	bool is_here;                // the asker reads the project on one of them
	struct jsondoc *rows;
	uint64_t left; // hidden files without a row
	struct hidden_group group[GROUPS_MOST]; // of one project at one upstream
	size_t groups;
	struct strset names; // read ahead
	const char *last;    // the project that was looked at last; NULL: none
	int64_t end_ms;      // by clock_thread_ms()
	struct arena text;   // of one project
	struct arena kept;
};

// --- what the asker may read ---

static bool reads_all(const struct page_query *q)
{
	const struct store *store = &q->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (store->platform[i].is_private && !token_grant_reads(&q->readable.grant, store->platform[i].name, NULL))
			return false;
	return true;
}

// As on other pages, only a token makes names of people visible.
static bool sees_all_names(const struct page_query *q)
{
	const struct store *store = &q->site->store;
	bool sees = store->platform_count > 0;
	for (size_t i = 0; i < store->platform_count && sees; i++)
		sees = readable_names(&q->readable, &store->platform[i], NULL);
	return sees;
}

static void note_here(void *ctx, const struct project_entry *p)
{
	struct security_walk *w = ctx;
	w->is_here = readable_has_project(&w->query->readable, p);
}

static bool may_see(struct security_walk *w, const char *project)
{
	w->is_here = w->has_all;
	if (!w->has_all)
		project_directory_get(w->query->context->project_directory, project, note_here, w);
	return w->is_here;
}

// --- hidden files ---

static const char *version_of(struct security_walk *w, const char *filename, const char *project)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse_listed(str_from(filename), project, &name, &ignored) < 0
		       ? NULL
		       : arena_copy(&w->text, str_from(name.version.text));
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

// NULL: there are too many.
static struct hidden_group *find_group(struct security_walk *w, enum offering_rule rule, const char *version, const char *says)
{
	for (size_t i = 0; i < w->groups; i++) {
		struct hidden_group *g = &w->group[i];
		if (g->rule == rule && is_same_text(g->version, version) && (version || strcmp(g->says, says) == 0))
			return g;
	}
	if (w->groups == GROUPS_MOST)
		return NULL;
	w->group[w->groups] = (struct hidden_group){.rule = rule, .version = version, .says = arena_copy(&w->text, str_from(says))};
	return &w->group[w->groups++];
}

static void add_hidden_file(struct security_walk *w, const struct upstream_answer *a, const struct simplepage_file *f)
{
	struct offering o;
	CLEANUP(buf_release) struct buf says = buf_up_to(LIMIT_PAGE), source = buf_up_to(LIMIT_PAGE);
	upstream_judge(a, upstream_home(a, f).upstream, f, &o);
	enum offering_rule rule = offering_first_rule(&o);
	offering_write(&o, rule, &says);
	offering_source(&o, rule, &source);
	bool is_of_version = rule == OFFERING_AGE && o.from < INT64_MAX;
	struct hidden_group *g =
		find_group(w, rule, is_of_version ? version_of(w, f->filename, a->project) : NULL, says.data);
	w->left += !g;
	if (!g)
		return;
	g->source = g->source ? g->source : arena_copy(&w->text, buf_view(&source));
	g->first = !g->files || (o.next && o.next < g->first) ? o.next : g->first;
	g->last = o.next > g->last ? o.next : g->last;
	g->files++;
}

static int add_hidden_answer(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	struct security_walk *w = ctx;
	w->groups = 0;
	for (size_t i = 0; a->hidden && i < a->listed->files; i++)
		if (a->hidden[i])
			add_hidden_file(w, a, &a->listed->file[i]);
	for (size_t i = 0; i < w->groups; i++) {
		const struct hidden_group *g = &w->group[i];
		jsondoc_add(w->rows, jsondoc_new("project:s upstream:s rule:s version:k says:s source:s files:d offered:T all-offered:T",
					     a->project, upstream_name(upstream_home(a, NULL).upstream),
					     offering_rule_name[g->rule], g->version, g->says, g->source, g->files, g->first,
					     g->last));
	}
	return 0;
}

// The upstreams that are merged for the asker, each by itself: a view may name them in another order.
static int walk_project(struct security_walk *w, const char *project, struct err *e)
{
	struct page_query *q = w->query;
	struct upstream_project *p = NULL;
	uint32_t merged = w->upstreams ? readable_merged(&q->readable, q->context->owned_names, project) : 0;
	arena_release(&w->text);
	if (!merged || !may_see(w, project))
		return 0;
	if (upstream_load(w->upstreams, q->catalog, project, &p, e) < 0)
		return -1;
	int result = 0;
	for (size_t i = 0; i < upstreams_count(w->upstreams) && result == 0; i++) {
		const struct config_order one = {.item = {(uint8_t)i}, .count = 1, .is_together = true};
		if (merged & (uint32_t)1 << i)
			result = upstream_report(w->upstreams, p, &one, add_hidden_answer, w, e);
	}
	upstream_project_unref(p);
	return result;
}

static int note_walk_name(void *ctx, const char *project, struct err *e UNUSED)
{
	struct security_walk *w = ctx;
	strset_add(&w->names, project);
	return 0;
}

// *has_more: there are projects behind the last one.
static int walk_projects(struct security_walk *w, bool *has_more, struct err *e)
{
	const struct page_query *q = w->query;
	w->last = arena_copy(&w->kept, str_from(q->text[ARGUMENT_AFTER]));
	do {
		strset_release(&w->names);
		if (catalog_upstream_names(q->catalog, w->last, NAMES_AT_ONCE, note_walk_name, w, e) < 0)
			return -1;
		size_t i = 0;
		for (; i < w->names.count && !*has_more; i++) {
			if (walk_project(w, w->names.item[i], e) < 0)
				return -1;
			*has_more = jsondoc_count(w->rows) >= q->limit || clock_thread_ms() > w->end_ms;
		}
		w->last = i ? arena_copy(&w->kept, str_from(w->names.item[i - 1])) : w->last;
	} while (!*has_more && w->names.count == NAMES_AT_ONCE);
	return 0;
}

static void security_walk_release(struct security_walk *w)
{
	strset_release(&w->names);
	arena_release(&w->text);
	arena_release(&w->kept);
}

// --- rules ---

struct rule_lines {
	struct security_walk *walk;
	struct jsondoc *doc, *lines;
	uint64_t left; // lines without a row
};

// Whether the asker reads the project on a platform that the line is for.
static bool may_see_line(struct security_walk *w, const struct requirement *line)
{
	const struct store *store = &w->query->site->store;
	bool sees = may_see(w, line->project);
	if (w->has_all || !line->platform || !sees)
		return sees;
	for (size_t i = 0; i < store->platform_count; i++)
		if (fnmatch(line->platform, store->platform[i].name, 0) == 0 &&
			readable_has(&w->query->readable, &store->platform[i], line->project))
			return true;
	return false;
}

// upstream NULL: those of [server] deny, which are about files of ours too.
static void add_rule_lines(struct rule_lines *x, const char *upstream, const char *list, const struct requirements *of)
{
	for (size_t i = 0; i < of->count; i++) {
		const struct requirement *line = &of->item[i];
		if (!may_see_line(x->walk, line))
			continue;
		if (jsondoc_count(x->lines) >= x->walk->query->limit) {
			x->left++;
			continue;
		}
		jsondoc_add(x->lines, jsondoc_new("upstream:k list:s project:s specifier:k platform:k reason:k source:s", upstream,
					      list, line->project, line->specifier, line->platform, line->reason,
					      fs_path_as_told(line->source, false)));
	}
}

// name NULL: all of them.
static bool sees_upstream(const struct security_walk *w, const struct offering_rules *rules, size_t count, const char *name)
{
	bool sees = !name || w->has_all;
	for (size_t i = 0; i < count && !sees; i++)
		sees = (w->merged & (uint32_t)1 << i) && strcmp(rules[i].upstream, name) == 0;
	return sees;
}

// Those of upstreams and projects that the asker does not see are left out.
static struct jsondoc *holds_doc(struct security_walk *w, const struct offering_rules *rules, size_t count)
{
	const struct holds *all = rules->holds;
	CLEANUP(mem_free) struct hold *hold = xcalloc(all->holds + 1, sizeof(*hold));
	CLEANUP(mem_free) struct waiver *waiver = xcalloc(all->waivers + 1, sizeof(*waiver));
	struct holds shown = {.hold = hold, .waiver = waiver};
	for (size_t i = 0; i < all->holds; i++)
		if (sees_upstream(w, rules, count, all->hold[i].upstream))
			hold[shown.holds++] = all->hold[i];
	for (size_t i = 0; i < all->waivers; i++)
		if (sees_upstream(w, rules, count, all->waiver[i].upstream) && may_see(w, all->waiver[i].project))
			waiver[shown.waivers++] = all->waiver[i];
	return holds_json(&shown, w->query->number[0]);
}

static void add_rules(void *ctx, const struct offering_rules *rules, size_t count)
{
	struct rule_lines *x = ctx;
	struct jsondoc *upstreams = jsondoc_array();
	for (size_t i = 0; i < count; i++) {
		const struct offering_rules *r = &rules[i];
		if (!sees_upstream(x->walk, rules, count, r->upstream))
			continue;
		jsondoc_add(upstreams, jsondoc_new("name:s cooldown-seconds:d cooldown-unknown:s cooldown-exempt:k lists:b", r->upstream,
					       r->cooldown, offering_unknown_name[r->unknown],
					       x->walk->has_all ? r->exempt : NULL, r->lists != NULL));
		add_rule_lines(x, r->upstream, "deny", r->deny);
		add_rule_lines(x, r->upstream, "allow", r->allow);
	}
	jsondoc_put(x->doc, "upstreams", upstreams);
	if (count)
		jsondoc_put(x->doc, "holds", holds_doc(x->walk, rules, count));
}

// --- statuses of our projects ---

struct status_rows {
	struct security_walk *walk;
	struct strset names; // of the projects that have one on a platform where the asker reads them
	const char *project;
	struct jsondoc *rows;
	const char **text; // of the rows of the project, so that platforms with the same one share a row
	struct jsondoc **platforms;
	size_t texts, room, place_room;
};

static int note_status(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	struct status_rows *x = ctx;
	// The command writes it on each platform: that says nothing of a project which only others have.
	if (readable_platform(&x->walk->query->readable, m->platform, m->filename) && may_see(x->walk, m->filename))
		strset_add(&x->names, m->filename);
	return 0;
}

static int add_status(void *ctx, int64_t platform, const char *folder_path UNUSED, struct str text, struct err *e UNUSED)
{
	struct status_rows *x = ctx;
	struct err damaged = ERR_INIT; // its reason says it
	struct arena *a = &x->walk->text;
	const struct page_query *q = x->walk->query;
	CLEANUP(project_status_release) struct project_status status = {0};
	const struct platform *p = readable_platform(&q->readable, platform, x->project);
	size_t i = 0;
	while (p && i < x->texts && !str_eq(text, str_from(x->text[i])))
		i++;
	if (p && i == x->texts) {
		int read UNUSED = project_status_read(text, &status, &damaged);
		struct jsondoc *row = project_status_json(&status, q->number[0]);
		if (!row)
			return 0; // a file that says "active"
		ARENA_GROW(a, x->text, x->texts, x->room);
		ARENA_GROW(a, x->platforms, x->texts, x->place_room);
		x->text[i] = arena_copy(a, text);
		x->platforms[i] = jsondoc_array();
		jsondoc_add(x->rows, jsondoc_set(row, "project:s platforms:j", x->project, x->platforms[i]));
		x->texts++;
	}
	if (p)
		jsondoc_add_str(x->platforms[i], p->name);
	return 0;
}

static void status_rows_release(struct status_rows *x)
{
	strset_release(&x->names);
}

static int put_statuses(struct security_walk *w, struct jsondoc *doc, struct err *e)
{
	const struct page_query *q = w->query;
	const struct store *store = &q->site->store;
	CLEANUP(status_rows_release) struct status_rows x = {.walk = w, .rows = jsondoc_array()};
	jsondoc_put(doc, "statuses", x.rows);
	for (size_t i = 0; i < store->platform_count; i++)
		if (q->readable.is_readable[i] && store->platform[i].id > 0 &&
			catalog_marks(q->catalog, store->platform[i].id, MARK_STATUS, note_status, &x, e) < 0)
			return -1;
	strset_sort(&x.names);
	size_t shown = 0;
	for (; shown < x.names.count && jsondoc_count(x.rows) < q->limit; shown++) {
		arena_release(&w->text);
		x = (struct status_rows){.walk = w, .names = x.names, .project = x.names.item[shown], .rows = x.rows};
		if (catalog_statuses(q->catalog, x.project, add_status, &x, e) < 0)
			return -1;
	}
	jsondoc_put_int(doc, "statuses-left-out", (int64_t)(x.names.count - shown));
	return 0;
}

// --- what was served ---

static bool reads_served(void *ctx, const char *platform, const char *upstream, const char *project)
{
	struct security_walk *w = ctx;
	const struct page_query *q = w->query;
	const struct platform *p = platform ? site_platform(q->site, str_from(platform)) : NULL;
	const struct config_upstreams *all = &q->site->config.upstreams;
	bool sees = w->has_all;
	if (platform)
		return p && readable_has(&q->readable, p, project);
	for (size_t i = 0; i < all->count && !sees; i++)
		sees = (w->merged & (uint32_t)1 << i) && strcmp(all->item[i].name, upstream) == 0;
	return sees && may_see(w, project);
}

static bool reads_served_view(void *ctx, const struct view *v, const char *project)
{
	const struct security_walk *w = ctx;
	return readable_has_view(&w->query->readable, v, project);
}

// Without lists there is nothing to be said.
static int put_served(struct security_walk *w, const struct advisories *lists, const struct rule_list *denied, struct jsondoc *doc,
	struct err *e)
{
	struct server_context *s = w->query->context;
	if (!w->upstreams || !exposure_has_lists(&w->query->site->config, lists))
		return 0;
	CLEANUP(exposure_release) struct exposure found = {0};
	CLEANUP(downloads_cleanup) struct downloads *downloads = page_find_downloads(s->downloads_path);
	CLEANUP(downloads_cleanup)
	struct downloads *downloaders = w->query->number[0] ? page_find_downloads(s->downloaders_path) : NULL;
	const struct exposure_reader reader = {.reads = reads_served,
		.reads_view = reads_served_view,
		.ctx = w,
		.upstreams = w->has_all ? UINT32_MAX : w->merged};
	const struct exposure_query q = {.site = w->query->site,
		.catalog = w->query->catalog,
		.upstreams = w->upstreams,
		.lists = lists,
		.denied = denied,
		.downloads = downloads,
		.downloaders = downloaders,
		.reader = &reader,
		.cpu_end = clock_thread_ms() + WALK_MS};
	if (exposure_read(&q, &found, e) < 0)
		return -1;
	size_t limit = w->query->limit;
	jsondoc_put(doc, "served", exposure_json(&found, limit));
	jsondoc_put_int(doc, "served-left-out", (int64_t)(found.files > limit ? found.files - limit : 0));
	return 0;
}

// --- the document ---

static struct reply *prepare_security(struct page_query *q)
{
	q->number[0] = sees_all_names(q);
	return NULL;
}

static int make_security(struct page_query *q, struct jsondoc **out, struct err *e)
{
	struct jsondoc *doc = *out = jsondoc_object();
	CLEANUP(security_walk_release)
	struct security_walk w = {.query = q,
		.upstreams = server_context_upstreams(q->context),
		.has_all = reads_all(q),
		.merged = readable_upstreams(&q->readable, NULL),
		.rows = jsondoc_array(),
		.end_ms = clock_thread_ms() + WALK_MS};
	struct rule_lines lines = {&w, doc, jsondoc_array(), 0};
	CLEANUP(advisories_cleanup) struct advisories *lists = server_context_advisories(q->context);
	CLEANUP(rule_list_cleanup) struct rule_list *denied = server_context_denied(q->context);
	bool has_more = false, has_broken;
	const char *project = q->text[ARGUMENT_PROJECT];
	jsondoc_set(doc, "made:t merges:b block-lists:j rule-lists:j hidden:j lines:j", q->now, w.merged != 0,
		advisories_json(lists, w.has_all),
		server_context_rule_lists(q->context, w.has_all ? UINT32_MAX : w.merged, w.has_all, &has_broken), w.rows,
		lines.lines);
	add_rule_lines(&lines, NULL, "deny", rule_list_lines(denied));
	if (w.upstreams && !q->context->upstream_pages)
		upstreams_look(w.upstreams); // where views merge, the catalog's watch does
	int result = *project ? walk_project(&w, project, e) : q->site->merges ? walk_projects(&w, &has_more, e) : 0;
	if (result < 0 || (w.upstreams && upstreams_rules(w.upstreams, q->catalog, add_rules, &lines, e) < 0) ||
		put_statuses(&w, doc, e) < 0 || put_served(&w, lists, denied, doc, e) < 0)
		return -1;
	jsondoc_set(doc, "files-left-out:d lines-left-out:d after:k", w.left, lines.left, has_more ? w.last : NULL);
	return 0;
}

// --- HTML ---

static void put_hidden_row(struct buf *out, const struct jsondoc *row)
{
	const char *version = html_get(row, "version");
	html_begin_project_row(out, "../", html_get(row, "project"));
	html_put(out, "<td class=\"name\">%s</td><td class=\"name\">%s</td>", version, html_get(row, "upstream"));
	html_count_cell(out, html_get_count(row, "files"), "file|files");
	html_put(out, "<td><span class=\"verdict%h\">%s</span></td><td class=\"name kind\" data-of=\"from\">",
		strcmp(html_get(row, "rule"), offering_rule_name[OFFERING_RECORD]) == 0 ? " goes" : "", html_get(row, "rule"));
	if (*html_get(row, "offered"))
		html_time_of(out, html_get(row, "offered"));
	html_put(out, "</td><td class=\"why full\">%s</td></tr>\n", html_get(row, "says"));
}

static void put_hidden_table(struct page_query *q, const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *rows = jsondoc_get(doc, "hidden");
	const char *after = html_get(doc, "after");
	uint64_t left = html_get_count(doc, "files-left-out");
	buf_puts(out, "<h2>Not offered now</h2>\n<form method=\"get\" action=\"./\">");
	html_field(out, "project", "Project", q->text[ARGUMENT_PROJECT]);
	buf_puts(out, "<button>Show</button></form>\n");
	if (jsondoc_count(rows)) {
		html_begin_table(out, "Not offered now", "card wide", "Project|Version|Upstream|Files|Rule|Offered from|Why");
		for (size_t i = 0; i < jsondoc_count(rows); i++)
			put_hidden_row(out, jsondoc_at(rows, i));
		html_end_table(out);
	} else {
		html_put(out, "<p class=\"note\">%h</p>\n",
			jsondoc_is_true(doc, "merges") ? *after ? "Nothing is hidden up to here." : "Nothing is hidden."
						       : "No view merges an upstream, so none of its files is shown or hidden.");
	}
	if (left)
		html_put(out, "<p class=\"note\">%m more, which the explanation of the project tells.</p>\n", left, "file|files");
	if (*after)
		html_put(out, "<nav aria-label=\"More\"><a href=\"./?after=%u&amp;limit=%d\">After %s</a></nav>\n", after, q->limit, after);
}

static void put_until(struct buf *out, const char *name, const char *time)
{
	html_put(out, "<td class=\"name kind\" data-of=\"%h\">", name);
	if (*time)
		html_time_of(out, time);
	buf_puts(out, "</td>");
}

static void put_upstream_of(struct buf *out, const struct jsondoc *row)
{
	const char *upstream = html_get(row, "upstream"), *by = html_get(row, "by");
	html_put(out, "<td class=\"name\">%s</td><td class=\"why full\">%s%h%s%h</td></tr>\n", *upstream ? upstream : "all",
		html_get(row, "reason"), *by ? " (" : "", by, *by ? ")" : "");
}

static void put_hold_tables(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *all = jsondoc_get(doc, "holds");
	const struct jsondoc *holds = all ? jsondoc_get(all, "holds") : NULL, *waivers = all ? jsondoc_get(all, "waivers") : NULL;
	if (holds && jsondoc_count(holds)) {
		buf_puts(out, "<h2>Holds</h2>\n");
		html_begin_table(out, "Holds", "card wide", "Hold|What was uploaded after|Upstream|Why");
		for (size_t i = 0; i < jsondoc_count(holds); i++) {
			html_put(out, "<tr><th scope=\"row\">%s</th>", html_get(jsondoc_at(holds, i), "id"));
			put_until(out, "after", html_get(jsondoc_at(holds, i), "after"));
			put_upstream_of(out, jsondoc_at(holds, i));
		}
		html_end_table(out);
	}
	if (!waivers || !jsondoc_count(waivers))
		return;
	buf_puts(out, "<h2>Waivers</h2>\n");
	html_begin_table(out, "Waivers", "card wide", "Project|Waiver|Until|Upstream|Why");
	for (size_t i = 0; i < jsondoc_count(waivers); i++) {
		const struct jsondoc *one = jsondoc_at(waivers, i);
		const char *version = html_get(one, "version"), *record = html_get(one, "record");
		html_begin_project_row(out, "../", html_get(one, "project"));
		html_put(out, "<td class=\"name\">%s%h%s%h%s</td>", html_get(one, "id"), *version ? " for " : "", version,
			*record ? " with " : "", record);
		put_until(out, "until", html_get(one, "until"));
		put_upstream_of(out, one);
	}
	html_end_table(out);
}

static void put_lists(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *lists = jsondoc_get(doc, "block-lists");
	if (!jsondoc_count(lists))
		return;
	buf_puts(out, "<h2>Block lists</h2>\n");
	html_begin_table(out, "Block lists", "card wide", "List|Records|Left out|Loaded|State");
	for (size_t i = 0; i < jsondoc_count(lists); i++) {
		const struct jsondoc *one = jsondoc_at(lists, i);
		const struct jsondoc *notes = jsondoc_get(one, "malformed-records");
		const char *error = html_get(one, "error");
		html_put(out, "<tr><th scope=\"row\" class=\"file\">%s</th>", html_get(one, "list"));
		html_count_cell(out, html_get_count(one, "records"), "record|records");
		html_count_cell(out, html_get_count(one, "malformed"), "left out|left out");
		put_until(out, "loaded", html_get(one, "loaded"));
		html_put(out, "<td class=\"why full\"><span class=\"verdict %h\">%h</span>%h%s", *error ? "wrong" : "good",
			*error ? "old" : "good", *error ? " " : "", error);
		for (size_t k = 0; k < jsondoc_count(notes); k++)
			html_put(out, "<br>%s", jsondoc_at_str(notes, k));
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

// Lists of packages, and holds, that cannot be read.
static void put_broken_lists(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *lists = jsondoc_get(doc, "rule-lists");
	for (size_t i = 0; i < jsondoc_count(lists); i++) {
		const struct jsondoc *one = jsondoc_at(lists, i);
		if (!*html_get(one, "error"))
			continue;
		html_put(out, "<p class=\"note\"><span class=\"verdict wrong\">old</span> What %s of %s said before counts, since ",
			html_get(one, "list"), html_get(one, "key"));
		html_time_of(out, html_get(one, "failed"));
		html_put(out, ": %s</p>\n", html_get(one, "error"));
	}
}

static void put_rule_lines(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *lines = jsondoc_get(doc, "lines");
	uint64_t left = html_get_count(doc, "lines-left-out");
	if (!jsondoc_count(lines))
		return;
	buf_puts(out, "<h2>Denied and allowed</h2>\n");
	html_begin_table(out, "Denied and allowed", "card wide", "Project|Versions|List|Files of|Why");
	for (size_t i = 0; i < jsondoc_count(lines); i++) {
		const struct jsondoc *one = jsondoc_at(lines, i);
		const char *versions = html_get(one, "specifier"), *upstream = html_get(one, "upstream");
		const char *platform = html_get(one, "platform");
		html_begin_project_row(out, "../", html_get(one, "project"));
		html_put(out, "<td class=\"name\">%s</td><td class=\"name\">%s, %s</td><td class=\"name\">%s%s</td>"
			"<td class=\"why full\">%s</td></tr>\n", *versions ? versions : "all", html_get(one, "list"),
			html_get(one, "source"), *upstream ? upstream : *platform ? "here: " : "here, and all", platform,
			html_get(one, "reason"));
	}
	html_end_table(out);
	if (left)
		html_put(out, "<p class=\"note\">%m more.</p>\n", left, "line|lines");
}

static void put_upstreams(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *all = jsondoc_get(doc, "upstreams");
	if (!all || !jsondoc_count(all))
		return;
	buf_puts(out, "<h2>Upstreams</h2>\n");
	html_begin_table(out, "Upstreams", "card wide", "Upstream|Cooldown|Without an upload time|Exempt");
	for (size_t i = 0; i < jsondoc_count(all); i++) {
		const struct jsondoc *one = jsondoc_at(all, i);
		uint64_t seconds = html_get_count(one, "cooldown-seconds");
		html_put(out, "<tr><th scope=\"row\">%s</th><td class=\"name\">", html_get(one, "name"));
		if (!seconds)
			buf_puts(out, "none");
		else if (seconds % 86400)
			html_put(out, "%m", seconds, "second|seconds");
		else
			html_put(out, "%m", seconds / 86400, "day|days");
		html_put(out, "</td><td class=\"name\">%s</td><td class=\"why full\">%s</td></tr>\n",
			html_get(one, "cooldown-unknown"), html_get(one, "cooldown-exempt"));
	}
	html_end_table(out);
}

static void put_status_table(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *rows = jsondoc_get(doc, "statuses");
	uint64_t left = html_get_count(doc, "statuses-left-out");
	if (!jsondoc_count(rows))
		return;
	buf_puts(out, "<h2>Statuses of our projects</h2>\n");
	html_begin_table(out, "Statuses", "card wide", "Project|Status|Platforms|Since|Why");
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const struct jsondoc *one = jsondoc_at(rows, i), *platforms = jsondoc_get(one, "platforms");
		const char *status = html_get(one, "status"), *by = html_get(one, "by");
		html_begin_project_row(out, "../", html_get(one, "project"));
		html_put(out, "<td><span class=\"verdict%h\">%s</span></td><td class=\"name\">",
			strcmp(status, simplepage_status_name[SIMPLEPAGE_QUARANTINED]) == 0 ? " goes" : "", status);
		for (size_t k = 0; k < jsondoc_count(platforms); k++)
			html_put(out, "%h%s", k ? " " : "", jsondoc_at_str(platforms, k));
		buf_puts(out, "</td>");
		put_until(out, "since", html_get(one, "when"));
		html_put(out, "<td class=\"why full\">%s%h%s%h</td></tr>\n", html_get(one, "reason"), *by ? " (" : "", by,
			*by ? ")" : "");
	}
	html_end_table(out);
	if (left)
		html_put(out, "<p class=\"note\">%m more.</p>\n", left, "project|projects");
}

static void put_served_row(struct buf *out, const struct jsondoc *row)
{
	const char *platform = html_get(row, "platform"), *first = html_get(row, "first"), *last = html_get(row, "last");
	const struct jsondoc *views = jsondoc_get(row, "views"), *by = jsondoc_get(row, "by");
	html_begin_project_row(out, "../", html_get(row, "project"));
	html_put(out, "<td class=\"file\">%s</td><td class=\"name\">%s</td>", html_get(row, "filename"),
		*platform ? platform : html_get(row, "upstream"));
	html_count_cell(out, html_get_count(row, "downloads"), "download");
	html_put(out, "<td class=\"name kind\" data-of=\"downloaded\">%s%h%s</td><td class=\"name kind\" data-of=\"listed by\">",
		strcmp(first, last) == 0 ? "" : first, *first && strcmp(first, last) != 0 ? " – " : "", last);
	for (size_t i = 0; i < jsondoc_count(views); i++)
		html_put(out, "%h%s", i ? " " : "", jsondoc_at_str(views, i));
	html_put(out, "</td><td class=\"why full\">%s", html_get(row, "why"));
	for (size_t i = 0; i < jsondoc_count(by); i++) {
		const struct jsondoc *one = jsondoc_at(by, i);
		const char *token = html_get(one, "token"), *address = html_get(one, "address");
		html_put(out, "<br>%m by %h%s, last on %s", html_get_count(one, "downloads"), "download|downloads",
			*token ? "token " : *address ? "address " : "others", *token ? token : address, html_get(one, "last"));
	}
	buf_puts(out, "</td></tr>\n");
}

static void put_served_table(const struct jsondoc *doc, struct buf *out)
{
	const struct jsondoc *served = jsondoc_get(doc, "served"), *files = served ? jsondoc_get(served, "files") : NULL;
	uint64_t left = html_get_count(doc, "served-left-out"), unread = served ? html_get_count(served, "without_facts") : 0;
	if (!served)
		return;
	const char *since = html_get(served, "counted_since");
	buf_puts(out, "<h2>Served or listed here</h2>\n");
	if (jsondoc_count(files)) {
		html_begin_table(out, "Served or listed here", "card wide", "Project|File|From|Downloads|Downloaded|Listed by|Why");
		for (size_t i = 0; i < jsondoc_count(files); i++)
			put_served_row(out, jsondoc_at(files, i));
		html_end_table(out);
	} else if (*since) {
		html_put(out, "<p class=\"note\">Of %m downloaded since %s, and of what is listed, no list names any.</p>\n",
			html_get_count(served, "downloaded"), "file|files", since);
	} else {
		buf_puts(out, "<p class=\"note\">Of what is listed no list names anything. No downloads were counted.</p>\n");
	}
	if (left)
		html_put(out, "<p class=\"note\">%m more, which wheelcache exposed tells.</p>\n", left, "file|files");
	if (!jsondoc_is_null(served, "complete"))
		buf_puts(out, "<p class=\"note\">Not all was looked at: it takes too long for a page. wheelcache exposed does.</p>\n");
	if (unread)
		html_put(out, "<p class=\"note\">Of %m it is not known what they bundle.</p>\n", unread, "wheel|wheels");
}

static void write_security_html(struct page_query *q, const struct jsondoc *doc, struct buf *out)
{
	html_begin(out, page_frame(q), "Security", "Which files are not offered, and why, and which were served");
	buf_puts(out, "</header>\n");
	put_hidden_table(q, doc, out);
	put_served_table(doc, out);
	put_hold_tables(doc, out);
	put_lists(doc, out);
	put_broken_lists(doc, out);
	put_rule_lines(doc, out);
	put_status_table(doc, out);
	put_upstreams(doc, out);
	buf_puts(out, "<nav aria-label=\"Forms\"><a href=\"./?format=json\">JSON</a></nav>\n");
	html_end(out, "<a href=\"../docs/upstream.md\">which files are offered</a>");
}

static const struct page_argument arguments[] = {
	{ARGUMENT_PROJECT, FORM_PROJECT, .is_normalized = true},
	{ARGUMENT_AFTER, FORM_PROJECT, .is_normalized = true},
};

const struct page_row security_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_SECURITY,
	.scope = PAGE_SCOPE_ALL,
	.needs_directory = true,
	.indent = 2,
	.rows = 200,
	.rows_of_data = 1000,
	.rows_most = LIMIT_SECURITY_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_security,
	.make = make_security,
	.form = {[PAGE_FORM_HTML] = write_security_html},
};
