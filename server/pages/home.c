// SPDX-License-Identifier: Apache-2.0
#include "server/pages/home.h"

#include <string.h>
#include <time.h>

#include "builder/missing/branch.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/state/store/retired.h"
#include "lib/view/client-config.h"
#include "lib/view/view.h"
#include "server/core/auth.h"
#include "server/core/missing-counts.h"
#include "server/pages/html-layout.h"
#include "server/pages/page.h"

// --- what changes ---

static void put_removals(const struct overview_data *d, struct buf *out)
{
	if (!d->removals)
		return;
	buf_printf(out, "<h2>Removed in the last %d days</h2>\n", OVERVIEW_REMOVED_DAYS);
	html_begin_table(out, "Removed files", "card wide", "Project|Files|Removed|Why");
	for (size_t i = 0; i < d->removals; i++) {
		const struct overview_removal *r = &d->removal[i];
		html_begin_project_row(out, "-/", r->project);
		html_put(out, "<td>%m</td><td>%t</td><td class=\"why full\">%s</td></tr>\n", r->files, "file|files",
			r->when, r->reason);
	}
	html_end_table(out);
}

// --- builds ---

static void put_attempt(const struct results_attempt *a, const char *word, const char *class, struct buf *out)
{
	html_put(out, "<tr><th scope=\"row\"><a href=\"-/builds/%u/\">%s %s</a></th><td><span class=\"verdict "
		"%h\">%h</span></td><td>%s %s</td><td>%t</td><td class=\"why full\">%s</td></tr>\n", a->project,
		a->project, a->version, class, word, a->platform, a->python, a->begun, a->why);
}

static void put_build_list(const struct overview_data *d, struct buf *out)
{
	if (!d->has_builds)
		return;
	html_put(out, "<h2>Builds</h2>\n<p class=\"note\">%m, %m. <a href=\"-/builds/\">All builds</a></p>\n",
		d->running_total, "build runs|builds run", d->failing_total, "wheel fails|wheels fail");
	if (!d->runnings && !d->failings)
		return;
	html_begin_table(out, "Builds", "card wide", "Build|Now|Environment|Begun|Why");
	for (size_t i = 0; i < d->runnings; i++)
		put_attempt(&d->running[i], "running", "goes", out);
	for (size_t i = 0; i < d->failings; i++)
		put_attempt(&d->failing[i], results_result_name[d->failing[i].result], "wrong", out);
	html_end_table(out);
}

// --- what is old ---

// --- upstream ---

static void put_upstream(const struct overview_data *d, struct buf *out)
{
	const struct overview_upstream *u = &d->upstream;
	if (!u->indexes)
		return;
	buf_puts(out, "<h2>Upstream</h2>\n");
	html_begin_table(out, "Upstream", "card wide", "Index|State|Last answer|Last error");
	for (size_t i = 0; i < u->indexes; i++) {
		const char *name = u->index[i].name;
		html_put(out, "<tr><th scope=\"row\" class=\"file\">%s%h%s</th>", name, name ? ": " : "", u->index[i].url);
		const struct upstream_health *x = &u->index[i];
		const char *class = u->is_offline ? " goes" : x->is_failing ? " wrong" : x->answered ? " good" : "";
		buf_printf(out, "<td><span class=\"verdict%s\">%s</span></td><td>", class,
			u->is_offline	? "offline"
			: x->is_failing ? "fails"
			: x->answered	? "answers"
					: "not asked yet");
		if (x->answered)
			html_time(out, x->answered);
		buf_puts(out, "</td><td class=\"why full\">");
		if (x->failed)
			html_put(out, "%h, %t", upstream_result_name[x->failure], x->failed);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
	for (size_t i = 0; i < u->rules; i++)
		html_put(out, "<p class=\"note\">%s</p>\n", u->rule[i].says);
	buf_puts(out, "<p class=\"note\">");
	if (u->is_offline)
		buf_puts(out, "It is not asked: [upstream] offline = yes. Clients get what is cached. ");
	html_put(out, "%m cached, and %m with %b. Answers and errors are those since this server started.</p>\n",
		u->projects, "project’s page is|projects’ pages are", u->files, "file|files", u->bytes);
}

// First of all: nobody else tells of a file that is not on its page.
static void put_problems(const struct overview_data *d, struct buf *out)
{
	if (!d->problem_total)
		return;
	html_put(out, "<h2>Problems</h2>\n<p class=\"note\">%m quarantined, or for other machines than those of the "
		"platform", d->problem_total, "file is|files are");
	if (d->problem_total > d->problems)
		buf_printf(out, "; the first %zu", d->problems);
	buf_puts(out, ":</p>\n");
	html_begin_table(out, "Problems", "card wide", "File|Platform|State|Why");
	for (size_t i = 0; i < d->problems; i++) {
		const struct overview_problem *p = &d->problem[i];
		html_put(out, "<tr><th scope=\"row\">%s</th><td>%s</td><td><span class=\"verdict %h\">%h</span></td>"
			"<td class=\"why full\">%s</td></tr>\n", p->path, p->platform, p->is_listed ? "goes" : "wrong",
			p->is_listed ? "listed" : "quarantined", p->reason);
	}
	html_end_table(out);
}

static void put_overview(const struct overview_data *d, struct buf *out)
{
	put_problems(d, out);
	put_upstream(d, out);
	if (d->arrivals) {
		buf_puts(out, "<h2>New files</h2>\n");
		html_begin_table(out, "New files", "card wide", "Project|Version|Files|Came");
		for (size_t i = 0; i < d->arrivals; i++) {
			const struct overview_arrival *a = &d->arrival[i];
			html_begin_project_row(out, "-/", a->project);
			html_put(out, "<td>%s</td><td>%m on %m</td><td>%t</td></tr>\n", a->version, a->files,
				"file|files", a->platforms, "platform|platforms", a->when);
		}
		html_end_table(out);
	}
	put_removals(d, out);
	put_build_list(d, out);
	if (d->plan) {
		html_put(out, "<h2>Last prune</h2>\n<p class=\"note\"><a href=\"-/plan/\">The plan</a> of %t removes "
			"%m with %b", d->plan_made, d->plan_files, "file|files", d->plan_bytes);
		if (d->plan_applied)
			html_put(out, ". It was applied at %t", d->plan_applied);
		buf_puts(out, ".</p>\n");
	}
	if (d->olds || d->views)
		buf_puts(out, "<h2>Stale projects</h2>\n");
	for (size_t i = 0; i < d->views; i++) {
		const struct overview_view *v = &d->view[i];
		html_put(out, "<p class=\"note\">View <a href=\"-/channel/%u/\">%s</a>: %m stale, and %m soon.</p>\n",
			v->view, v->view, v->stale, "project is|projects are", v->ending, "version ends|versions end");
	}
	if (!d->olds)
		return;
	html_put(out, "<p class=\"note\">%m no new file for %d days; without one for longest:</p>\n", d->old_total,
		"project has|projects have", OVERVIEW_OLD_DAYS);
	html_begin_table(out, "Stale projects", "card wide", "Project|Newest file");
	for (size_t i = 0; i < d->olds; i++) {
		html_begin_project_row(out, "-/", d->old[i].project);
		html_put(out, "<td>%t</td></tr>\n", d->old[i].when);
	}
	html_end_table(out);
}

// --- the whole page ---

struct home_page_writer {
	const struct html_frame *frame;
	const struct site *site;
	const struct home_page_stats *stats;
	struct str base;           // without "/" at its end
	struct client_index index; // that the page leads to
	struct buf untrusted_host; // for pip's --trusted-host; empty: not needed
	struct buf *out;
};

static void put_html_text(struct home_page_writer *w, const char *text)
{
	escape_html(w->out, str_from(text));
}

static bool is_on_home(const struct home_page_stats *stats, const struct platform *p)
{
	return readable_has(stats->readable, p, NULL) && !retired_is(p);
}

// Of several platforms, the first one that the client may read stands for the job's: pip must not get what was built
// for another one. Where the default view shows nothing to the client, the index is the platform's own.
static void choose_index(struct home_page_writer *w, const char *base)
{
	const struct store *store = &w->site->store;
	const struct view *v = &w->site->view[0];
	CLEANUP(mem_free) const struct platform **list = xcalloc(store->platform_count + 1, sizeof(*list));
	size_t count = 0;
	for (size_t i = 0; i < store->platform_count; i++)
		if (is_on_home(w->stats, &store->platform[i]))
			list[count++] = &store->platform[i];
	if (count && !w->site->has_no_default && (!v->platform_count || !readable_has_view(w->stats->readable, v, NULL)))
		v = site_view(w->site, str_from(list[0]->name));
	w->index = install_index_of(w->site, v, list, count, base);
}

static void put_index_url(struct home_page_writer *w)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PAGE);
	client_config_url(&w->index, &url);
	escape_html(w->out, buf_view(&url));
}

static void put_scan_state(struct home_page_writer *w)
{
	const struct home_page_stats *s = w->stats;
	time_t t = (time_t)s->last_scan;
	struct tm tm;
	char when[96];
	buf_puts(w->out, s->is_scanning ? "<span class=\"state busy\">" : "<span class=\"state\">");
	if (s->is_scanning)
		buf_puts(w->out, s->last_scan ? "Scanning · last scan " : "First scan is running");
	else
		buf_puts(w->out, s->last_scan ? "Last scan " : "Not scanned yet");
	if (s->last_scan && gmtime_r(&t, &tm) &&
		strftime(when, sizeof(when), "<time datetime=\"%FT%TZ\">%F %R UTC</time>", &tm))
		buf_puts(w->out, when);
	buf_puts(w->out, "</span>\n");
}

static void put_size_total(struct home_page_writer *w, const char *name, uint64_t bytes)
{
	html_put(w->out, "<div><dt>%h</dt><dd>%b</dd></div>", name, bytes);
}

static void put_store_totals(struct home_page_writer *w)
{
	size_t count = 0;
	struct catalog_totals all = {0};
	for (size_t i = 0; i < w->site->store.platform_count; i++) {
		if (!is_on_home(w->stats, &w->site->store.platform[i]))
			continue;
		count++;
		all.files += w->stats->platform[i].totals.files;
		all.bytes += w->stats->platform[i].totals.bytes;
	}
	buf_puts(w->out, "<dl>");
	if (all.files || !w->stats->overview->upstream.indexes) {
		html_total(w->out, "Platforms", count);
		html_total(w->out, "Files", all.files);
		put_size_total(w, "Size", all.bytes);
	}
	const struct overview_upstream *u = &w->stats->overview->upstream;
	if (u->indexes) {
		html_total(w->out, "Cached projects", u->projects);
		html_total(w->out, "Cached files", u->files);
		put_size_total(w, "Cached size", u->bytes);
	}
	buf_puts(w->out, "</dl>\n");
}

static void begin_figure(struct home_page_writer *w, const char *title)
{
	buf_printf(w->out, "<figure class=\"card\"><figcaption>%s</figcaption><pre><code>", title);
}

static void end_figure(struct home_page_writer *w)
{
	buf_puts(w->out, "</code></pre></figure>\n");
}

static void put_install_commands(struct home_page_writer *w)
{
	buf_puts(w->out, "<h2>Install from here</h2>\n<div class=\"lines\">\n");
	begin_figure(w, "pip");
	CLEANUP(buf_release) struct buf command = buf_up_to(LIMIT_PAGE);
	install_index_command(&w->index, "NAME", &command);
	escape_html(w->out, buf_view(&command));
	end_figure(w);
	begin_figure(w, "uv");
	buf_puts(w->out, "uv pip install --default-index ");
	put_index_url(w);
	buf_puts(w->out, " NAME");
	end_figure(w);
	buf_puts(w->out, "<div class=\"half\">\n");
	begin_figure(w, "pip.conf");
	buf_puts(w->out, "[global]\nindex-url = ");
	put_index_url(w);
	if (w->untrusted_host.len) {
		buf_puts(w->out, "\ntrusted-host = ");
		escape_html(w->out, buf_view(&w->untrusted_host));
	}
	end_figure(w);
	begin_figure(w, "uv.toml");
	buf_puts(w->out, "[[index]]\nurl = &quot;");
	put_index_url(w);
	buf_puts(w->out, "&quot;\ndefault = true");
	end_figure(w);
	buf_puts(w->out, "</div>\n</div>\n");
	if (w->index.needs_token)
		buf_puts(w->out, "<p class=\"note\">pip asks for a user name, which may be any, and for the token as "
				 "password.</p>\n");
	if (w->index.platform) {
		html_put(w->out, "<p class=\"note\">This is the index for jobs on <span class=\"name\">%s</span>. Each platform "
			"has its own: see ", w->index.platform);
		if (!w->index.view && w->site->has_no_default) // no page has the addresses of all
			buf_puts(w->out, "the table of platforms below.</p>\n");
		else
			html_put(w->out, "<a href=\"-/client-config/%u\">the addresses of all</a>.</p>\n",
				w->index.view ? w->index.view : "simple");
	}
	buf_puts(w->out, "<p class=\"note\">Poetry, PDM, tox, Docker and CI systems: see <a href=\"");
	install_index_page(&w->index, w->out);
	buf_puts(w->out, "\">how clients use this index</a>.</p>\n");
}

static size_t count_in_use(const struct view *v)
{
	size_t count = 0;
	for (size_t i = 0; i < v->platform_count; i++)
		count += !retired_is(v->platform[i]);
	return count;
}

static void put_platform_names(struct home_page_writer *w, const struct view *v)
{
	size_t in_use = count_in_use(v), shown = 0;
	for (size_t i = 0; i < v->platform_count; i++) {
		if (in_use && retired_is(v->platform[i]))
			continue;
		buf_puts(w->out, shown++ ? ", <span class=\"name\">" : "<span class=\"name\">");
		put_html_text(w, v->platform[i]->name);
		buf_puts(w->out, "</span>");
	}
	buf_puts(w->out, in_use || !shown ? "" : " (retired)");
}

// Says that the view shows only a part of its platforms' files.
static void put_promotion(struct home_page_writer *w, const struct view *v)
{
	// The view or platform from which files are promoted into this one, if the client may know it;
	const struct config_view *own = v->membership ? config_view(&w->site->config, v->membership) : NULL;
	const struct view *from = own ? site_view(w->site, str_from(own->from)) : NULL;
	const char *source = from && readable_has_view(w->stats->readable, from, NULL) ? own->from : NULL;
	if (!v->membership)
		return;
	buf_puts(w->out, ": files that were promoted");
	if (source) {
		buf_puts(w->out, " from <span class=\"name\">");
		put_html_text(w, source);
		buf_puts(w->out, "</span>");
	}
}

// Says what /simple/ shows, if the table below does not make that obvious.
static void put_default_note(struct home_page_writer *w)
{
	const struct view *v = &w->site->view[0];
	if ((w->site->store.platform_count < 2 && !v->membership) ||
		!readable_has_view(w->stats->readable, v, NULL) || !v->platform_count)
		return;
	buf_puts(w->out, w->index.platform ? "<p class=\"note\"><a href=\"simple/\"><code>/simple/</code></a> shows "
				     : "<p class=\"note\">This index shows ");
	put_platform_names(w, v);
	put_promotion(w, v);
	buf_puts(w->out, count_in_use(v) < 2 ? ".</p>\n"
		 : v->membership       ? " as one. Where two of them have other bytes of one name, it has neither.</p>\n"
				       : " as one. Where two of them have a file of the same name, the first "
					 "one’s is seen, whatever the job runs on.</p>\n");
}

// The link is relative, so that it works behind any prefix. A narrow column breaks the line before the name.
static void put_index_cell(struct home_page_writer *w, const struct view *v)
{
	html_put(w->out, "<td class=\"full\"><a href=\"%u/simple/\"><code>", v->name);
	escape_html(w->out, w->base);
	html_put(w->out, "/<wbr>%u/simple/</code></a></td>", v->name);
}

// The index of the next view that the client may read, from i on.
static size_t next_view(const struct site *s, const struct readable *r, size_t i)
{
	while (i < s->view_count && !readable_has_view(r, &s->view[i], NULL))
		i++;
	return i;
}

static void put_views(struct home_page_writer *w)
{
	size_t first = next_view(w->site, w->stats->readable, 1 + w->site->store.platform_count);
	if (first >= w->site->view_count)
		return;
	buf_puts(w->out, "<h2>Views</h2>\n");
	html_begin_table(w->out, "Views", "card wide", "Name|Platforms, in order|Index URL");
	for (size_t i = first; i < w->site->view_count; i = next_view(w->site, w->stats->readable, i + 1)) {
		const struct view *v = &w->site->view[i];
		buf_puts(w->out, "<tr><th scope=\"row\">");
		// The name of a view that the configuration names, with a link to its page as a channel.
		html_put(w->out, "<a href=\"-/channel/%u/\">", v->name);
		put_html_text(w, v->name);
		buf_puts(w->out, "</a></th><td class=\"full\">");
		put_platform_names(w, v);
		put_promotion(w, v);
		buf_puts(w->out, "</td>");
		put_index_cell(w, v);
		buf_puts(w->out, "</tr>\n");
	}
	html_end_table(w->out);
}

static void put_number_cell(struct home_page_writer *w, uint64_t n, const char *unit)
{
	html_put(w->out, "<td class=\"n\" data-of=\"%h\">%n</td>", unit, n);
}

// A link to what is missing on the platform, if a branch wants anything there.
static void put_missing_cell(struct home_page_writer *w, const char *platform, const struct home_page_platform *p)
{
	const struct config *c = &w->site->config;
	bool is_wanted = false;
	for (size_t i = 0; i < c->branch_count; i++)
		is_wanted |= branch_has_platform(&(struct branch){.config = &c->branches[i]}, platform);
	buf_puts(w->out, "<td>");
	if (is_wanted) {
		html_put(w->out, "<a href=\"-/missing/%u?format=html\">", platform);
		if (p->is_missing_known)
			html_count(w->out, p->missing);
		buf_puts(w->out, p->is_missing_known ? " missing</a> as of " : "what is missing</a>");
		if (p->is_missing_known)
			html_time(w->out, p->missing_counted);
	}
	buf_puts(w->out, "</td>");
}

static bool has_readable_platform(const struct home_page_writer *w)
{
	for (size_t i = 0; i < w->site->store.platform_count; i++)
		if (readable_has(w->stats->readable, &w->site->store.platform[i], NULL))
			return true;
	return false;
}

static void put_platform_table(struct home_page_writer *w)
{
	// A server that only mirrors has none.
	if (!has_readable_platform(w) && w->stats->overview->upstream.indexes)
		return;
	buf_puts(w->out, "<h2>Platforms</h2>\n");
	html_begin_box(w->out, "Platforms", "card wide");
	html_put(w->out, "<table>\n<thead><tr><th scope=\"col\">Name</th><th scope=\"col\" "
		"class=\"n\">Projects</th><th scope=\"col\" class=\"n\">Files</th><th scope=\"col\" "
		"class=\"n\">Size</th><th scope=\"col\">Index URL</th>%h",
		w->site->config.branch_count ? "<th scope=\"col\">Branches</th></tr></thead>\n<tbody>\n"
			: "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < w->site->store.platform_count; i++) {
		if (!is_on_home(w->stats, &w->site->store.platform[i]))
			continue;
		const struct catalog_totals *p = &w->stats->platform[i].totals;
		buf_puts(w->out, "<tr><th scope=\"row\">");
		put_html_text(w, w->site->store.platform[i].name);
		buf_puts(w->out, "</th>");
		put_number_cell(w, p->projects, "projects");
		put_number_cell(w, p->files, "files");
		html_put(w->out, "<td class=\"n\">%b</td>", p->bytes);
		put_index_cell(w, &w->site->view[1 + i]);
		if (w->site->config.branch_count)
			put_missing_cell(w, w->site->store.platform[i].name, &w->stats->platform[i]);
		buf_puts(w->out, "</tr>\n");
	}
	html_end_table(w->out);
}

static void home_page_writer_release(struct home_page_writer *w)
{
	buf_release(&w->untrusted_host);
}

void home_page_write(const struct html_frame *frame, const struct site *s, const struct home_page_stats *stats,
	const char *base_url, struct buf *out)
{
	struct str base = str_from(base_url);
	while (base.len && base.ptr[base.len - 1] == '/')
		base.len--;
	CLEANUP(home_page_writer_release)
	struct home_page_writer w = {.frame = frame, .site = s, .stats = stats, .base = base, .out = out};
	buf_init(&w.untrusted_host, LIMIT_PAGE);
	client_config_distrusted(base, &w.untrusted_host);
	choose_index(&w, base_url);
	html_begin(w.out, w.frame, "wheelcache", "Python wheels, ready to install with pip and uv");
	put_scan_state(&w);
	buf_puts(w.out, "</header>\n");
	// The client may read nothing of this server, as it is.
	if (w.site->has_private && !has_readable_platform(&w) && !w.stats->overview->upstream.indexes) {
		buf_puts(w.out, "<h2>All of this server is private</h2>\n<p>");
		if (w.stats->readable->grant.count)
			buf_puts(w.out, "Of this your token may read what the search finds. To use another one: ");
		buf_puts(w.out, "<a href=\"?sign-in=1\">Sign in</a>. The browser asks for a user name, which may be "
			"any, and for a password: a token that may read. It keeps them until it is closed.</p>\n<p>The "
			"operator makes a token: <code>wheelcache token add --read</code>. pip and uv need one too: "
			"see <a href=\"-/docs/clients.md\">clients and CI systems</a>.</p>\n");
	} else {
		put_store_totals(&w);
		put_install_commands(&w);
		put_default_note(&w);
		put_overview(w.stats->overview, w.out);
		put_views(&w);
		put_platform_table(&w);
	}
	CLEANUP(buf_release) struct buf links = buf_up_to(LIMIT_PAGE);
	all_projects_link(s, frame->root, &links);
	buf_puts(&links, " · <a href=\"-/usage/\">usage</a> · "
			 "<a href=\"-/security/\">security</a> · "
			 "<a href=\"-/log/\" title=\"needs a token that may read\">log</a>");
	if (w.stats->readable->has_private)
		buf_puts(&links, " · signed in until the browser is closed");
	else if (w.site->has_private)
		buf_puts(&links, " · <a href=\"?sign-in=1\" title=\"needs a token that may read\">sign in</a>");
	html_end(w.out, "%h", links.data);
}

// --- JSON ---

static struct jsondoc *platform_json(const struct platform *p, const struct home_page_platform *stats)
{
	struct jsondoc *one = jsondoc_new("name:s projects:d files:d bytes:d", p->name, stats->totals.projects,
		stats->totals.files, stats->totals.bytes);
	if (stats->is_missing_known)
		jsondoc_set(one, "missing:d missing_counted:t", stats->missing, stats->missing_counted);
	return one;
}

void home_json_write(const struct site *s, const struct home_page_stats *stats, const char *base_url, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *platforms = jsondoc_array(), *views = jsondoc_array();
	jsondoc_set(doc, "url:s scanning:b last_scan:t", base_url, stats->is_scanning, stats->last_scan);
	for (size_t i = 0; i < s->store.platform_count; i++)
		if (is_on_home(stats, &s->store.platform[i]))
			jsondoc_add(platforms, platform_json(&s->store.platform[i], &stats->platform[i]));
	for (size_t i = next_view(s, stats->readable, 1 + s->store.platform_count); i < s->view_count;
		i = next_view(s, stats->readable, i + 1))
		jsondoc_add_str(views, s->view[i].name);
	jsondoc_set(doc, "platforms:j views:j", platforms, views);
	overview_json_put(stats->overview, doc);
	jsondoc_write(doc, 2, out);
}

// --- the page ---

enum { HOME_SCAN_ENDED, HOME_IS_SCANNING, HOME_HAS_TOKEN }; // numbers of the query

static struct reply *prepare_home(struct page_query *q)
{
	const struct request *r = q->match->request;
	struct reply *refused = !q->catalog && r->argument[ARGUMENT_SIGN_IN] ? auth_sign_in(q->context, r) : NULL;
	struct store_scans_state scans = store_scans_state(q->context->scans);
	q->number[HOME_SCAN_ENDED] = (uint64_t)scans.ended;
	q->number[HOME_IS_SCANNING] = scans.is_running;
	q->number[HOME_HAS_TOKEN] = q->readable.grant.count > 0;
	q->is_private = q->site->has_private;
	return refused;
}

static int write_home(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(overview_data_release) struct overview_data overview = {0};
	if (overview_data_read(q->context, q->catalog, &q->readable, q->now, &overview, e) < 0)
		return -1;
	struct home_page_platform *list = xcalloc(q->site->store.platform_count + 1, sizeof(*list));
	for (size_t i = 0; i < q->site->store.platform_count; i++) {
		list[i].totals = server_context_platform_totals(q->context, i);
		list[i].is_missing_known = missing_counts_get(q->context->missing_counts,
			q->site->store.platform[i].name, &list[i].missing, &list[i].missing_counted);
	}
	CLEANUP(mem_free) struct home_page_platform *platforms = list;
	const struct home_page_stats stats = {
		.platform = platforms,
		.overview = &overview,
		.readable = &q->readable,
		.is_scanning = q->number[HOME_IS_SCANNING],
		.last_scan = (int64_t)q->number[HOME_SCAN_ENDED],
	};
	if (q->form == PAGE_FORM_HTML)
		home_page_write(page_frame(q), q->site, &stats, q->base, out);
	else
		home_json_write(q->site, &stats, q->base, out);
	return 0;
}

// Who may read the same platforms gets the same page, apart from the server's address.
const struct page_row home_page = {
	.section = HTML_SECTION_HOME,
	.kind = PAGE_HOME,
	.scope = PAGE_SCOPE_WHOLE,
	.has_base = true,
	.needs_directory = true,
	.has_own_frame = true,
	.most = 4 << 20,
	.prepare = prepare_home,
	.write = write_home,
};

// A private view is treated as absent, not as refused: a browser asks for /favicon.ico, and must not ask its user for
// a password.
struct reply *home_view_inline(struct server_context *s, const struct route_match *match)
{
	const struct request *request = match->request;
	struct str when;
	const struct view *v = view_time_split(match->site, match->view, &when);
	bool has_token = request->header[HEADER_AUTHORIZATION] != NULL;
	CLEANUP(reply_cleanup)
	struct reply *refused = v && v->is_private && has_token ? auth_read(s, request, v, NULL) : NULL;
	if (!v || refused || (v->is_private && !has_token))
		return server_context_not_found(s, server_context_no_page);
	struct reply *r = reply_text(302, "302 Found: its index is simple/");
	const char *last = strrchr(request->path, '/') + 1;
	reply_header(r, "Location", "./%s%ssimple/", last, *last ? "/" : "");
	return r;
}
