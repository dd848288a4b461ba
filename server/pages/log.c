// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/state/access/audit-recent.h"
#include "server/core/auth.h"
#include "server/pages/page.h"

// --- the entries of the audit log that a client may see, the newest ---

struct log_query {
	const struct site *site;
	const struct token_grant *grant; // what the client may read
	const struct audit_asked *asked;
};

struct log_line {
	struct audit_entry entry;
	const char *time;
};

struct log_data {
	struct log_line *line; // all that were read, the oldest first; those to show are the last ones
	size_t lines, room;
	size_t first;  // to show
	bool is_whole; // the log was read from its beginning, or from `since`
	struct arena text;
};

struct log_taker {
	const struct log_query *query;
	struct log_data *data;
	bool reads_all; // all projects of all platforms
};

static bool reads_platforms(const struct token_grant *g, const struct platform *const *platform, size_t count,
	bool only_private)
{
	for (size_t i = 0; i < count; i++)
		if ((!only_private || platform[i]->is_private) && !token_grant_reads(g, platform[i]->name, NULL))
			return false;
	return true;
}

static bool reads_all_of(const struct site *s, const struct token_grant *g)
{
	for (size_t i = 0; i < s->store.platform_count; i++)
		if (!token_grant_reads(g, s->store.platform[i].name, NULL))
			return false;
	return s->store.platform_count > 0;
}

// The name of a view is for who may read the view.
static bool sees_view_of_entry(const struct log_query *q, const char *name)
{
	const struct view *v = site_view(q->site, str_from(name));
	return v && reads_platforms(q->grant, (const struct platform *const *)v->platform, v->platform_count, true);
}

static bool sees_entry(const struct log_taker *t, const struct audit_entry *a)
{
	if (t->reads_all)
		return true;
	// What tokens there are is for who may read everything.
	return a->platform && (!a->action || strncmp(a->action, "token", strlen("token")) != 0) &&
	       token_grant_reads(t->query->grant, a->platform, a->project) &&
	       (!a->view || sees_view_of_entry(t->query, a->view));
}

static int take_log_entry(void *ctx, const struct audit_entry *a, const char *time, struct err *e UNUSED)
{
	struct log_taker *t = ctx;
	struct log_data *d = t->data;
	if (!sees_entry(t, a))
		return 0;
	struct log_line line = {*a, time};
	if (!t->reads_all && (!a->result || strcmp(a->result, "done") != 0))
		line.entry.reason = NULL; // why a token was refused names what else it may do
	const char **const field[] = {&line.entry.who, &line.entry.peer, &line.entry.action, &line.entry.view,
		&line.entry.platform, &line.entry.project, &line.entry.file, &line.entry.sha256, &line.entry.result,
		&line.entry.reason, &line.time};
	for (size_t i = 0; i < ARRAY_SIZE(field); i++)
		if (*field[i])
			*field[i] = arena_copy(&d->text, str_from(*field[i]));
	GROW(d->line, d->lines, d->room);
	d->line[d->lines++] = line;
	return 0;
}

static void log_data_release(struct log_data *d)
{
	free(d->line);
	arena_release(&d->text);
}

// --- for programs ---

// --- for people ---

static void put_log_cell(struct buf *out, const char *class, const char *text)
{
	html_put(out, "<td class=\"%h\">%s</td>", class, text);
}

static void put_log_row(struct buf *out, const struct log_line *l)
{
	const struct audit_entry *a = &l->entry;
	bool is_done = a->result && strcmp(a->result, "done") == 0;
	buf_puts(out, "<tr><th scope=\"row\">");
	// Day and time, without fractions of a second; what is no time stays as it is.
	const char *time = l->time;
	enum { DAY = 10, SECOND = 19 };
	CLEANUP(buf_release) struct buf parts = buf_up_to(sizeof("2026-01-02 03:04:05 UTC"));
	if (strlen(time) > SECOND && time[DAY] == 'T') {
		buf_printf(&parts, "%.10s %.8s UTC", time, time + DAY + 1);
		time = parts.data;
	}
	html_put(out, "%s</th>", time);
	put_log_cell(out, "name", a->who);
	put_log_cell(out, "name", a->peer);
	put_log_cell(out, "name", a->action);
	put_log_cell(out, "name", a->platform);
	buf_puts(out, "<td class=\"file\">");
	bool has_page = a->project && name_is_valid(str_from(a->project)); // a token's line has a glob
	if (has_page)
		html_put(out, "<a href=\"../project/%u\">", a->project);
	html_put(out, "%s%h%h%s</td><td><span class=\"verdict%h\">%s</span></td>",
		a->file ? a->file : a->project ? a->project : "", has_page ? "</a>" : "",
		a->view ? " in the view " : "", a->view, is_done ? " good" : " goes", a->result);
	put_log_cell(out, "why full", a->reason);
	buf_puts(out, "</tr>\n");
}

static void put_log_link(struct buf *out, const struct page_query *q, size_t limit, const char *format,
	const char *words)
{
	html_put(out, "<a href=\"./?q=%u&amp;since=%u", q->text[ARGUMENT_TEXT], q->text[ARGUMENT_SINCE]);
	if (limit)
		buf_printf(out, "&amp;limit=%zu", limit);
	buf_printf(out, "%s%s\">%s</a>", *format ? "&amp;format=" : "", format, words);
}

static void write_log_html(struct page_query *q, const struct log_data *d, struct buf *out)
{
	html_begin(out, page_frame(q), "Log", "Who did what to which file");
	buf_puts(out, "</header>\n<form method=\"get\" action=\"./\">");
	html_field(out, "q", "File or project", q->text[ARGUMENT_TEXT]);
	html_field(out, "since", "Since 2026-11-22, or 7d", q->text[ARGUMENT_SINCE]);
	buf_puts(out, "<button>Show</button></form>\n");
	if (d->first == d->lines) {
		buf_puts(out, "<p class=\"note\">There is no such entry that your token may see.</p>\n");
	} else {
		html_begin_table(out, "Entries", "card wide builds", "Time|Who|From|Action|Platform|What|Result|Why");
		for (size_t i = d->lines; i-- > d->first;)
			put_log_row(out, &d->line[i]);
		html_end_table(out);
	}
	if (!d->is_whole)
		buf_puts(out, "<p class=\"note\">Older entries are in the log on the server: wheelcache log.</p>\n");
	buf_puts(out, "<nav aria-label=\"Forms\">");
	if (d->first && q->limit < LIMIT_LOG_ROWS)
		put_log_link(out, q, 4 * q->limit, "", "Show more");
	put_log_link(out, q, 0, "json", "JSON");
	put_log_link(out, q, 0, "text", "Text");
	buf_puts(out, "</nav>\n");
	html_end(out, "<a href=\"../docs/operating.md\">how the log is kept</a>");
}

// --- the page ---

// NULL, or the 400.
static struct reply *read_asked(const struct page_query *q, struct audit_asked *out)
{
	struct err e = ERR_INIT;
	const char *subject = q->text[ARGUMENT_TEXT], *since = q->text[ARGUMENT_SINCE];
	if (*subject && audit_asked_subject(out, subject, &e) < 0)
		return page_refuse("q is the name of a project or of a file");
	if (*since && audit_asked_since(out, since, &e) < 0)
		return page_refuse("since is a time, such as 2026-11-22, or a duration, such as 7d");
	return NULL;
}

static int write_log(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(mem_free) char *who = NULL;
	CLEANUP(token_grant_release) struct token_grant grant = {0};
	CLEANUP(audit_asked_release) struct audit_asked asked = {0};
	CLEANUP(log_data_release) struct log_data data = {0};
	struct reply *refused = read_asked(q, &asked);
	if (!refused)
		refused = auth_grant(q->context, q->match->request, TOKEN_READ, NULL, &grant, &who);
	if (refused)
		return page_answer(q, refused);
	const struct log_query query = {q->site, &grant, &asked};
	const struct audit_place *audit = q->context->audit;
	struct audit_query wanted = {.path = audit ? audit->path : NULL, .most = LIMIT_AUDIT_READ};
	struct log_taker t = {&query, &data, reads_all_of(q->site, query.grant)};
	audit_asked_query(query.asked, &wanted);
	if (wanted.path && audit_recent(&wanted, take_log_entry, &t, &data.is_whole, e) < 0)
		return -1;
	data.first = data.lines > q->limit ? data.lines - q->limit : 0;
	q->is_private = true;
	if (q->form == PAGE_FORM_HTML)
		write_log_html(q, &data, out);
	else if (q->form == PAGE_FORM_TEXT) {
		for (size_t i = data.first; i < data.lines; i++) {
			CLEANUP(buf_release) struct buf line;
			buf_init(&line, SIZE_MAX / 2); // each field is bounded
			audit_entry_text(&data.line[i].entry, data.line[i].time, &line);
			escape_terminal_line(out, "%s", line.data);
		}
	} else {
		buf_puts(out, "{\"entries\": [\n");
		for (size_t i = data.first; i < data.lines; i++) {
			if (i > data.first)
				buf_putc(out, ',');
			audit_entry_json(&data.line[i].entry, data.line[i].time, out);
		}
		buf_printf(out, "], \"more\": %s}\n", (data.first > 0 || !data.is_whole) ? "true" : "false");
	}
	return 0;
}

const struct page_row log_page = {
	.section = HTML_SECTION_NONE,
	.reads_query = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON | 1 << PAGE_FORM_TEXT,
	.rows = 200,
	.rows_most = LIMIT_LOG_ROWS,
	.most = 64 << 20,
	.write = write_log,
};
