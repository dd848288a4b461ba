// SPDX-License-Identifier: Apache-2.0
#include "server/pages/search.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/owned-names.h"
#include "server/pages/page.h"

// --- what is found ---

struct name_search {
	const struct search_places *in;
	const struct readable *readable;
	const struct name_query *query;
	struct search_data *out;
	size_t limit;
	bool wants_near;
	bool is_here; // the client may read a file of it
	struct search_found *filled; // that gets what is there of its project
};

// The better first: of equal matches the shorter name, then the first by letters.
static int compare_found(const struct search_found *a, const struct search_found *b)
{
	size_t a_len = strlen(a->name), b_len = strlen(b->name);
	if (a->match != b->match)
		return a->match < b->match ? -1 : 1;
	if (a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return strcmp(a->name, b->name);
}

// Keeps the best ones in order. Names are copied only then.
static void keep_found(struct name_search *s, const char *name, enum name_match match, bool is_upstreams)
{
	struct search_data *d = s->out;
	struct search_found fresh = {.name = name, .match = match, .is_upstreams = is_upstreams};
	size_t at = d->count;
	d->total++;
	while (at > 0 && compare_found(&fresh, &d->found[at - 1]) < 0)
		at--;
	if (at == s->limit)
		return;
	if (d->count < s->limit) {
		GROW(d->found, d->count, d->room);
		d->count++;
	}
	memmove(&d->found[at + 1], &d->found[at], (d->count - 1 - at) * sizeof(fresh));
	fresh.name = arena_copy(&d->text, str_from(name));
	d->found[at] = fresh;
}

// What the client may not read is not compared, so that the time says nothing about it.
static void match_project(void *ctx, const struct project_entry *p)
{
	struct name_search *s = ctx;
	if (!readable_has_project(s->readable, p))
		return;
	enum name_match match = name_query_match(s->query, str_from(p->name), s->wants_near);
	if (match != NAME_MATCH_NONE)
		keep_found(s, p->name, match, false);
}

static void note_readable(void *ctx, const struct project_entry *p)
{
	struct name_search *s = ctx;
	s->is_here = readable_has_project(s->readable, p);
}

// Whether clients get this project from upstream: the rules let its name be asked for, and it is not ours alone.
static bool comes_from_upstream(struct name_search *s, const char *name)
{
	if (!readable_merged(s->readable, s->in->owned_names, name))
		return false;
	s->is_here = false;
	project_directory_get(s->in->directory, name, note_readable, s);
	return !s->is_here;
}

static int match_upstreams(void *ctx, const char *name, struct err *e UNUSED)
{
	struct name_search *s = ctx;
	enum name_match match = name_query_match(s->query, str_from(name), s->wants_near);
	if (match != NAME_MATCH_NONE && comes_from_upstream(s, name))
		keep_found(s, name, match, true);
	return 0;
}

static int match_all(struct name_search *s, struct err *e)
{
	project_directory_each(s->in->directory, match_project, s);
	return s->in->catalog && s->readable->site->merges
		       ? catalog_upstream_names(s->in->catalog, "", INT64_MAX, match_upstreams, s, e)
		       : 0;
}

// --- what is there of the projects that were found ---

static int compare_platforms(const void *a, const void *b)
{
	const struct platform *x = *(const struct platform *const *)a, *y = *(const struct platform *const *)b;
	return (x > y) - (x < y); // one array has all of them
}

static void fill_found(void *ctx, const struct project_entry *p)
{
	const struct name_search *s = ctx;
	struct search_found *f = s->filled;
	f->platform = arena_alloc_aligned(&s->out->text, p->places * sizeof(*f->platform));
	f->platforms = f->files = 0;
	for (size_t i = 0; i < p->places; i++) {
		const struct project_place *place = &p->place[i];
		const struct platform *at =
			place->files ? readable_platform(s->readable, place->platform, p->name) : NULL;
		if (!at)
			continue;
		f->platform[f->platforms++] = at;
		f->files += place->files;
		f->newest = f->newest > place->newest ? f->newest : place->newest;
	}
	qsort(f->platform, f->platforms, sizeof(*f->platform), compare_platforms);
}

int search_data_find(const struct search_places *in, const struct readable *readable, const struct name_query *query,
	size_t limit, struct search_data *out, struct err *e)
{
	*out = (struct search_data){0};
	struct name_search s = {.in = in, .readable = readable, .query = query, .out = out, .limit = limit};
	int result = match_all(&s, e);
	if (result == 0 && !out->count) {
		s.wants_near = out->is_near = true;
		result = match_all(&s, e);
	}
	for (size_t i = 0; i < out->count; i++) {
		s.filled = &out->found[i];
		if (!s.filled->is_upstreams)
			project_directory_get(in->directory, s.filled->name, fill_found, &s);
	}
	if (result < 0)
		search_data_release(out);
	return result;
}

void search_data_release(struct search_data *d)
{
	arena_release(&d->text);
	free(d->found);
	*d = (struct search_data){0};
}

// --- the document ---

static struct jsondoc *project_json(const struct search_found *f)
{
	struct jsondoc *one = jsondoc_object(), *platforms = jsondoc_array();
	CLEANUP(mem_free) char *url = xasprintf("project/%s", f->name); // a name in normal form needs no escapes
	jsondoc_set(one, "name:s match:s files:d", f->name, name_match_name[f->match], f->files);
	for (size_t i = 0; i < f->platforms; i++)
		jsondoc_add_str(platforms, f->platform[i]->name);
	jsondoc_set(one, "platforms:j upstream:b newest:t url:s", platforms, f->is_upstreams, f->newest, url);
	return one;
}

static int make_search(struct page_query *q, struct jsondoc **out, struct err *e)
{
	struct name_query name;
	CLEANUP(search_data_release) struct search_data data = {0};
	const struct search_places in = {q->context->project_directory, q->catalog, q->context->owned_names};
	name_query_read(str_from(q->text[ARGUMENT_TEXT]), &name);
	if (name.len && search_data_find(&in, &q->readable, &name, q->limit, &data, e) < 0)
		return -1;
	struct jsondoc *doc = *out = jsondoc_object(), *projects = jsondoc_array();
	jsondoc_set(doc, "query:s name:s", q->text[ARGUMENT_TEXT], name.text);
	for (size_t i = 0; i < data.count; i++)
		jsondoc_add(projects, project_json(&data.found[i]));
	jsondoc_set(doc, "projects:j total:d near:b", projects, data.total, data.is_near);
	return 0;
}

// --- HTML ---

static void put_result(struct buf *out, const struct jsondoc *found)
{
	const struct jsondoc *platforms = jsondoc_get(found, "platforms");
	html_begin_project_row(out, "", html_get(found, "name"));
	if (jsondoc_is_true(found, "upstream")) {
		buf_puts(out, "<td class=\"n\"></td><td></td><td class=\"full\"><span class=\"verdict\">upstream’s</span></td></tr>\n");
		return;
	}
	html_count_cell(out, html_get_count(found, "files"), "file|files");
	buf_puts(out, "<td class=\"name\">");
	if (!jsondoc_is_null(found, "newest"))
		html_time_of(out, html_get(found, "newest"));
	buf_puts(out, "</td><td class=\"full\">");
	for (size_t i = 0; i < jsondoc_count(platforms); i++)
		html_put(out, "%h%s</span>", i ? ", <span class=\"name\">" : "<span class=\"name\">",
			jsondoc_at_str(platforms, i));
	buf_puts(out, "</td></tr>\n");
}

// A heading says what follows, also to those that do not see the table.
static void put_answer(struct page_query *q, struct buf *out, const struct jsondoc *doc)
{
	const struct jsondoc *projects = jsondoc_get(doc, "projects");
	uint64_t total = html_get_count(doc, "total");
	bool is_near = jsondoc_is_true(doc, "near");
	buf_puts(out, "<h2>");
	if (!*html_get(doc, "name")) {
		buf_puts(out, "That is no name of a project</h2>\n");
		return;
	}
	if (total && !is_near) {
		html_put(out, "%m", total, "project|projects");
	} else {
		buf_puts(out, "No project");
	}
	html_put(out, " with “%s”</h2>\n", html_get(doc, "name"));
	if (is_near)
		buf_puts(out, jsondoc_count(projects) ? "<p class=\"note\">These names are similar:</p>\n"
						      : "<p class=\"note\">No name is similar.</p>\n");
	if (jsondoc_count(projects)) {
		size_t count = jsondoc_count(projects);
		html_begin_table(out, "Projects", "card wide", "Project|Files|Newest file|Platforms");
		for (size_t i = 0; i < count; i++)
			put_result(out, jsondoc_at(projects, i));
		html_end_table(out);
		if (total > count) {
			html_put(out, "<p class=\"note\">%n more. Type more letters, or see ", total - count);
			all_projects_link(q->site, page_frame(q)->root, out);
			buf_puts(out, ".</p>\n");
		}
	}
}

// The form of the page is in the place of the one that the frame has.
static void write_search_html(struct page_query *q, const struct jsondoc *doc, struct buf *out)
{
	page_frame(q)->has_search = false;
	html_begin(out, page_frame(q), "Search", "Projects by name");
	buf_puts(out, "</header>\n");
	// html-script.h shows what is found while a person types. Without it this is a plain form.
	html_put(out, "<form role=\"search\" method=\"get\" action=\"search\"><label class=\"sr\" for=\"name\">Name "
		"of a project</label><input type=\"search\" id=\"name\" name=\"q\" maxlength=\"%d\" "
		"placeholder=\"Name of a project\" autocapitalize=\"none\" spellcheck=\"false\" value=\"%s\">"
		"<button>Search</button></form>\n", LIMIT_FILE_NAME, q->text[ARGUMENT_TEXT]);
	if (*q->text[ARGUMENT_TEXT])
		put_answer(q, out, doc);
	CLEANUP(buf_release) struct buf link = buf_up_to(LIMIT_PATH);
	all_projects_link(q->site, page_frame(q)->root, &link);
	html_end(out, "%h", link.data);
}

const struct page_row search_page = {
	.section = HTML_SECTION_NONE,
	.needs_directory = true,
	.reads_query = true,
	.rows = 20,
	.rows_most = LIMIT_SEARCH_RESULTS,
	.most = 1 << 20,
	.make = make_search,
	.form = {[PAGE_FORM_HTML] = write_search_html},
};
