// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/home-page.h"

#include <time.h>

#include "lib/format/escape.h"
#include "server/handlers/html-layout.h"

const char home_page_policy[] =
	"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct web {
	const struct site *site;
	const struct home_page_stats *stats;
	struct str base;     // without "/" at its end
	struct str distrust; // what pip must be told to trust; empty: nothing
	struct buf *out;
};

// pip takes plain http from this machine only, unless it is told otherwise (--trusted-host).
static struct str distrusted_host(struct str base)
{
	static const struct str plain = STR("http://");
	if (!str_starts(base, plain))
		return STR("");
	struct str host = str_slice(base, plain.len, base.len);
	host = str_cut(&host, '/');
	struct str rest = host, name = str_cut(&rest, ':');
	bool is_here =
		str_eq(name, STR("localhost")) || str_starts(name, STR("127.")) || str_starts(host, STR("[::1]"));
	return is_here ? STR("") : host;
}

static void add_text(struct web *w, const char *text)
{
	escape_html(w->out, str_from(text));
}

// The index URL of the default view.
static void add_index(struct web *w)
{
	escape_html(w->out, w->base);
	buf_puts(w->out, "/simple/");
}

static void add_state(struct web *w)
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

static void add_head(struct web *w)
{
	html_begin(w->out, "wheelcache", "Python wheels, ready to install with pip and uv");
	add_state(w);
	buf_puts(w->out, "</header>\n");
}

static void add_totals(struct web *w)
{
	size_t count = 0;
	struct catalog_totals all = {0};
	for (size_t i = 0; i < w->site->store.platform_count; i++) {
		if (w->site->store.platform[i].is_private)
			continue;
		count++;
		all.files += w->stats->platform[i].files;
		all.bytes += w->stats->platform[i].bytes;
	}
	buf_puts(w->out, "<dl><div><dt>Platforms</dt><dd>");
	html_count(w->out, count);
	buf_puts(w->out, "</dd></div><div><dt>Files</dt><dd>");
	html_count(w->out, all.files);
	buf_puts(w->out, "</dd></div><div><dt>Size</dt><dd>");
	html_size(w->out, all.bytes);
	buf_puts(w->out, "</dd></div></dl>\n");
}

static void begin_lines(struct web *w, const char *title)
{
	buf_printf(w->out, "<figure class=\"card\"><figcaption>%s</figcaption><pre><code>", title);
}

static void end_lines(struct web *w)
{
	buf_puts(w->out, "</code></pre></figure>\n");
}

static void add_trust(struct web *w, const char *before)
{
	if (!w->distrust.len)
		return;
	buf_puts(w->out, before);
	escape_html(w->out, w->distrust);
}

static void add_lines(struct web *w)
{
	buf_puts(w->out, "<h2>Install from here</h2>\n<div class=\"lines\">\n");
	begin_lines(w, "pip");
	buf_puts(w->out, "pip install --index-url ");
	add_index(w);
	add_trust(w, " --trusted-host ");
	buf_puts(w->out, " NAME");
	end_lines(w);
	begin_lines(w, "uv");
	buf_puts(w->out, "uv pip install --default-index ");
	add_index(w);
	buf_puts(w->out, " NAME");
	end_lines(w);
	buf_puts(w->out, "<div class=\"half\">\n");
	begin_lines(w, "pip.conf");
	buf_puts(w->out, "[global]\nindex-url = ");
	add_index(w);
	add_trust(w, "\ntrusted-host = ");
	end_lines(w);
	begin_lines(w, "uv.toml");
	buf_puts(w->out, "[[index]]\nurl = &quot;");
	add_index(w);
	buf_puts(w->out, "&quot;\ndefault = true");
	end_lines(w);
	buf_puts(w->out, "</div>\n</div>\n");
}

static void add_platform_names(struct web *w, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++) {
		buf_puts(w->out, i ? ", <span class=\"name\">" : "<span class=\"name\">");
		add_text(w, v->platform[i]->name);
		buf_puts(w->out, "</span>");
	}
}

// What /simple/ shows, where that is not plain from the table below.
static void add_default_note(struct web *w)
{
	const struct view *v = &w->site->view[0];
	if (w->site->store.platform_count < 2 || v->is_private || !v->platform_count)
		return;
	buf_puts(w->out, "<p class=\"note\">This index shows ");
	add_platform_names(w, v);
	buf_puts(w->out, v->platform_count < 2 ? ".</p>\n"
					       : ". Where two of them have a file of the same name, the first "
						 "one’s is seen.</p>\n");
}

// The link is relative, so that it works behind any prefix. A narrow column breaks the text before the name.
static void add_index_cell(struct web *w, const struct view *v)
{
	buf_puts(w->out, "<td class=\"full\"><a href=\"");
	escape_url(w->out, str_from(v->name));
	buf_puts(w->out, "/simple/\"><code>");
	escape_html(w->out, w->base);
	buf_puts(w->out, "/<wbr>");
	escape_url(w->out, str_from(v->name));
	buf_puts(w->out, "/simple/</code></a></td>");
}

// Where the next view for everybody is, from i on.
static size_t next_public(const struct site *s, size_t i)
{
	while (i < s->view_count && s->view[i].is_private)
		i++;
	return i;
}

static void add_views(struct web *w)
{
	size_t first = next_public(w->site, 1 + w->site->store.platform_count);
	if (first >= w->site->view_count)
		return;
	buf_puts(w->out, "<h2>Views</h2>\n<div class=\"card wide\"><table>\n<thead><tr><th>Name</th><th>Platforms, in "
			 "order</th><th>Index URL</th></tr></thead>\n<tbody>\n");
	for (size_t i = first; i < w->site->view_count; i = next_public(w->site, i + 1)) {
		const struct view *v = &w->site->view[i];
		buf_puts(w->out, "<tr><th scope=\"row\">");
		add_text(w, v->name);
		buf_puts(w->out, "</th><td class=\"full\">");
		add_platform_names(w, v);
		buf_puts(w->out, "</td>");
		add_index_cell(w, v);
		buf_puts(w->out, "</tr>\n");
	}
	buf_puts(w->out, "</tbody>\n</table></div>\n");
}

static void add_number_cell(struct web *w, uint64_t n, const char *unit)
{
	buf_printf(w->out, "<td class=\"n\" data-of=\"%s\">", unit);
	html_count(w->out, n);
	buf_puts(w->out, "</td>");
}

static void add_platforms(struct web *w)
{
	buf_puts(w->out, "<h2>Platforms</h2>\n<div class=\"card wide\"><table>\n<thead><tr><th>Name</th>"
			 "<th class=\"n\">Projects</th><th class=\"n\">Files</th><th class=\"n\">Size</th>"
			 "<th>Index URL</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < w->site->store.platform_count; i++) {
		if (w->site->store.platform[i].is_private)
			continue;
		const struct catalog_totals *p = &w->stats->platform[i];
		buf_puts(w->out, "<tr><th scope=\"row\">");
		add_text(w, w->site->store.platform[i].name);
		buf_puts(w->out, "</th>");
		add_number_cell(w, p->projects, "projects");
		add_number_cell(w, p->files, "files");
		buf_puts(w->out, "<td class=\"n\">");
		html_size(w->out, p->bytes);
		buf_puts(w->out, "</td>");
		add_index_cell(w, &w->site->view[1 + i]);
		buf_puts(w->out, "</tr>\n");
	}
	buf_puts(w->out, "</tbody>\n</table></div>\n");
}

int home_page_page(const struct site *s, const struct home_page_stats *stats, const char *base_url, struct buf *out,
	struct err *e)
{
	struct str base = str_from(base_url);
	while (base.len && base.ptr[base.len - 1] == '/')
		base.len--;
	struct web w = {s, stats, base, distrusted_host(base), out};
	add_head(&w);
	add_totals(&w);
	add_lines(&w);
	add_default_note(&w);
	add_views(&w);
	add_platforms(&w);
	html_end(out, "<a href=\"simple/\">all projects</a> · <a href=\"-/plan/\">the last plan</a>");
	return out->failed ? err_set(e, ERR_LIMIT, "web page: larger than %zu bytes", out->cap) : 0;
}
