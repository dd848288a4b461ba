// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/wheel-compare-forms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/limits.h"

enum {
	SYMBOLS_SHOWN = 20,
	HASH_SHOWN = 16, // digits
};

static const char *const three_columns[] = {"", "A", "B"};

// A hash is long, and JSON has all of it.
static const char *shorten(const char *name, const char *value, char out[HASH_SHOWN + 8])
{
	if (!value || strncmp(name, "SHA-256", strlen("SHA-256")) != 0)
		return value;
	snprintf(out, HASH_SHOWN + 8, "%.*s…", HASH_SHOWN, value);
	return out;
}

static void add_diff_row(struct report_sheet *s, const struct diff_row *row)
{
	char a[HASH_SHOWN + 8], b[HASH_SHOWN + 8];
	const char *const cell[] = {
		row->name, row->a ? shorten(row->name, row->a, a) : "–", row->b ? shorten(row->name, row->b, b) : "–"};
	report_sheet_row(s, cell, false);
}

static void add_table_note(struct report_sheet *s, size_t equal, size_t different, size_t listed)
{
	if (different > listed)
		report_sheet_note(s, "%zu equal; %zu more that differ are not listed.", equal, different - listed);
	else
		report_sheet_note(s, different ? "%zu equal." : "%zu equal, none differs.", equal);
}

static void add_rows_part(struct report_sheet *s, const char *title, const struct diff_rows *r)
{
	if (!r->equal && !r->different)
		return;
	report_sheet_part(s, title, three_columns, ARRAY_SIZE(three_columns));
	for (size_t i = 0; i < r->count; i++)
		if (!r->row[i].is_equal)
			add_diff_row(s, &r->row[i]);
	add_table_note(s, r->equal, r->different, r->count - r->listed_equal);
}

// --- members ---

static void add_member(struct report_sheet *s, const struct compare_member *m)
{
	char size[64];
	const char *b = m->b && m->a && strcmp(m->a, m->b) == 0 ? "" : m->b;
	if (m->a && m->b && m->a_size != m->b_size)
		snprintf(size, sizeof(size), "%" PRIu64 " → %" PRIu64, m->a_size, m->b_size);
	else
		snprintf(size, sizeof(size), "%" PRIu64, m->a ? m->a_size : m->b_size);
	const char *const cell[] = {compare_change_name[m->change], m->a ? m->a : b, m->a ? b : "", size};
	report_sheet_row(s, cell, false);
}

static void add_members(struct report_sheet *s, const struct wheel_compare *c)
{
	static const char *const head[] = {"", "path", "path in B", "bytes"};
	const struct compare_members *m = &c->members;
	size_t different = 0;
	for (int i = 0; i < COMPARE_CHANGE_COUNT; i++)
		different += m->count[i];
	report_sheet_part(s, "Members", head, ARRAY_SIZE(head));
	for (size_t i = 0; i < m->listed; i++)
		add_member(s, &m->row[i]);
	CLEANUP(buf_release) struct buf note = buf_up_to(512);
	buf_printf(&note, "%zu equal, %zu changed, %zu renamed, %zu added, %zu removed", m->equal,
		m->count[COMPARE_CHANGED], m->count[COMPARE_RENAMED], m->count[COMPARE_ADDED],
		m->count[COMPARE_REMOVED]);
	if (different > m->listed)
		buf_printf(&note, "; %zu more are not listed", different - m->listed);
	if (m->other_modes)
		buf_printf(&note, "; %zu equal ones are executable in one wheel only", m->other_modes);
	report_sheet_note(s, "%s. Compared by %s.", note.data,
		c->is_by_crc ? "size and CRC-32, which is no proof that they are equal" : "SHA-256");
}

// --- libraries ---

// "1,234: a, b, … and 12 more"
static void add_symbols_row(struct report_sheet *s, const char *library, const char *what, const struct symbol_list *l,
	bool is_marked)
{
	if (!l->count)
		return;
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	size_t shown = l->listed < SYMBOLS_SHOWN ? l->listed : SYMBOLS_SHOWN;
	for (size_t i = 0; i < shown; i++)
		buf_printf(&text, "%s%s", i ? ", " : "", l->name[i]);
	if (l->count > shown)
		buf_printf(&text, " and %zu more", l->count - shown);
	const char *const cell[] = {library, what, is_marked ? text.data : "", is_marked ? "" : text.data};
	report_sheet_row(s, cell, is_marked);
}

static void add_library(struct report_sheet *s, const struct library_diff *d)
{
	const char *library = d->a ? d->a->path : d->b->path;
	const char *const is_there[] = {library, "library", d->a ? d->a->path : "–", d->b ? d->b->path : "–"};
	size_t rows = s->part[s->parts - 1].rows;
	if (!d->a || !d->b || strcmp(d->a->path, d->b->path) != 0)
		report_sheet_row(s, is_there, !d->b);
	for (size_t i = 0; d->a && d->b && i < d->rows.count; i++) {
		const struct diff_row *row = &d->rows.row[i];
		const char *const cell[] = {library, row->name, row->a ? row->a : "–", row->b ? row->b : "–"};
		if (!row->is_equal)
			report_sheet_row(s, cell, false);
	}
	add_symbols_row(s, library, "exported symbols gone", &d->gone, true);
	add_symbols_row(s, library, "exported symbols new", &d->added, false);
	const char *const damaged[] = {library, "cannot be read", d->a && d->a->damage ? d->a->damage : "",
		d->b && d->b->damage ? d->b->damage : ""};
	const char *const other[] = {library, "other bytes, equal facts", "", ""};
	if (d->is_unreadable)
		report_sheet_row(s, damaged, true);
	else if (rows == s->part[s->parts - 1].rows)
		report_sheet_row(s, other, false);
}

// --- provenance ---

// The columns of people: where it is from has three of ours.
static void write_cell(const struct provenance_row *row, int column, struct buf *out)
{
	static const enum provenance_column of[][3] = {{COLUMN_VERSION, COLUMN_VERSION, COLUMN_VERSION},
		{COLUMN_SOURCE, COLUMN_HOW, COLUMN_DIGEST}, {COLUMN_PATH, COLUMN_PATH, COLUMN_PATH},
		{COLUMN_OPTIONS, COLUMN_OPTIONS, COLUMN_OPTIONS}};
	for (size_t i = 0; i < ARRAY_SIZE(of[0]); i++) {
		const char *value = i && of[column][i] == of[column][0] ? NULL : provenance_column(row, of[column][i]);
		if (value)
			buf_printf(out, "%s%s", out->len ? ", " : "", value);
	}
	if (!out->len)
		buf_puts(out, row ? "–" : "not used");
}

static void add_provenance_row(struct report_sheet *s, const struct provenance_pair *p)
{
	enum { CELLS = 4 };
	struct buf cell[CELLS];
	const char *text[1 + CELLS] = {(p->a ? p->a : p->b)->component};
	for (int i = 0; i < CELLS; i++) {
		CLEANUP(buf_release) struct buf a = buf_up_to(SIZE_MAX / 2);
		CLEANUP(buf_release) struct buf b = buf_up_to(SIZE_MAX / 2);
		buf_init(&cell[i], SIZE_MAX / 2);
		write_cell(p->a, i, &a);
		write_cell(p->b, i, &b);
		// What both have, or "A → B".
		buf_puts(&cell[i], a.data);
		if (strcmp(a.data, b.data) != 0)
			buf_printf(&cell[i], " → %s", b.data);
		text[1 + i] = cell[i].data;
	}
	report_sheet_row(s, text, !p->a || !p->b || p->has_other_path);
	for (int i = 0; i < CELLS; i++)
		buf_release(&cell[i]);
}

static const char *without_provenance(const struct wheel_compare *c)
{
	return !c->a.provenance && !c->b.provenance ? "Neither wheel has one."
	       : !c->a.provenance                   ? "A has none."
	       : !c->b.provenance                   ? "B has none."
						    : NULL;
}

void wheel_compare_sheet(const struct wheel_compare *c, struct report_sheet *out)
{
	CLEANUP(mem_free) char *names = xasprintf("%s and %s", c->a.label, c->b.label);
	report_sheet_begin(out, compare_verdict_words[c->verdict], names);
	add_rows_part(out, "Files", &c->file);
	if (c->verdict == COMPARE_IDENTICAL && !c->provenance.different)
		return;
	add_rows_part(out, "Metadata", &c->metadata);
	if (c->has_facts) {
		static const char *const head[] = {"library", "", "A", "B"};
		if (c->libraries_equal || c->libraries_different) {
			report_sheet_part(out, "Libraries", head, ARRAY_SIZE(head));
			for (size_t i = 0; i < c->libraries; i++)
				add_library(out, &c->library[i]);
			add_table_note(out, c->libraries_equal, c->libraries_different, c->libraries);
		}
		add_rows_part(out, "Components", &c->components);
	} else {
		const struct compare_side *side = c->a.facts ? &c->b : &c->a;
		report_sheet_part(out, "Libraries", three_columns, 0);
		report_sheet_note(out, "Unknown: what is inside %s was not read%s%s.", side->filename,
			side->why ? ": " : "", side->why ? side->why : "");
	}
	static const char *const head[] = {"component", "version", "from", "installed", "options"};
	const struct provenance_diff *d = &c->provenance;
	const char *none = without_provenance(c);
	size_t listed = 0;
	report_sheet_part(out, "Provenance", head, ARRAY_SIZE(head));
	for (size_t i = 0; !none && i < d->listed; i++) {
		if (d->row[i].is_equal)
			continue;
		add_provenance_row(out, &d->row[i]);
		listed++;
	}
	if (none)
		report_sheet_note(out, "%s", none);
	else
		add_table_note(out, d->equal, d->different, listed);
	add_members(out, c); // the last: a wheel may have hundreds
}

// --- JSON ---

// A text of a wheel: a longer one than any real one is cut.
static void put_cut(struct jsondoc *o, const char *key, const char *text)
{
	if (!text || strlen(text) <= LIMIT_COMPARE_TEXT) {
		jsondoc_put_str(o, key, text);
		return;
	}
	struct str head = str_head(str_from(text), LIMIT_COMPARE_TEXT);
	CLEANUP(mem_free) char *cut = xstrndup(head.ptr, head.len);
	jsondoc_put_str(o, key, cut);
}

static struct jsondoc *side_json(const struct compare_side *s)
{
	struct jsondoc *o = jsondoc_object();
	jsondoc_put_str(o, "name", s->label);
	jsondoc_put_str(o, "filename", s->filename);
	jsondoc_put_int(o, "size", (int64_t)s->size);
	jsondoc_put_sha256(o, "sha256", s->sha256);
	jsondoc_put_bool(o, "facts", s->facts != NULL);
	if (!s->facts && s->why)
		jsondoc_put_str(o, "why", s->why);
	jsondoc_put_bool(o, "provenance", s->provenance != NULL);
	return o;
}

static struct jsondoc *table_json(size_t equal, size_t different, struct jsondoc *list)
{
	struct jsondoc *o = jsondoc_object();
	jsondoc_put_int(o, "equal", (int64_t)equal);
	jsondoc_put_int(o, "different", (int64_t)different);
	jsondoc_put(o, "list", list);
	return o;
}

static struct jsondoc *rows_json(const struct diff_rows *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->count; i++) {
		struct jsondoc *o = jsondoc_object();
		put_cut(o, "name", r->row[i].name);
		put_cut(o, "a", r->row[i].a);
		put_cut(o, "b", r->row[i].b);
		jsondoc_put_bool(o, "equal", r->row[i].is_equal);
		jsondoc_add(list, o);
	}
	return table_json(r->equal, r->different, list);
}

static void put_member_side(struct jsondoc *o, const char *path_key, const char *size_key, const char *path,
	uint64_t size)
{
	put_cut(o, path_key, path);
	if (path)
		jsondoc_put_int(o, size_key, (int64_t)size);
}

static struct jsondoc *members_json(const struct compare_members *m)
{
	struct jsondoc *o = jsondoc_object(), *list = jsondoc_array();
	jsondoc_put_int(o, "equal", (int64_t)m->equal);
	for (int i = 0; i < COMPARE_CHANGE_COUNT; i++)
		jsondoc_put_int(o, compare_change_name[i], (int64_t)m->count[i]);
	jsondoc_put_int(o, "other_modes", (int64_t)m->other_modes);
	for (size_t i = 0; i < m->listed; i++) {
		struct jsondoc *row = jsondoc_object();
		jsondoc_put_str(row, "change", compare_change_name[m->row[i].change]);
		put_member_side(row, "a", "a_size", m->row[i].a, m->row[i].a_size);
		put_member_side(row, "b", "b_size", m->row[i].b, m->row[i].b_size);
		jsondoc_add(list, row);
	}
	jsondoc_put(o, "list", list);
	return o;
}

static struct jsondoc *symbols_json(const struct symbol_list *s)
{
	struct jsondoc *o = jsondoc_object(), *list = jsondoc_array();
	for (size_t i = 0; i < s->listed; i++)
		jsondoc_add_str(list, s->name[i]);
	jsondoc_put_int(o, "count", (int64_t)s->count);
	jsondoc_put(o, "list", list);
	return o;
}

static struct jsondoc *library_json(const struct library_diff *d)
{
	struct jsondoc *o = jsondoc_object();
	put_cut(o, "a", d->a ? d->a->path : NULL);
	put_cut(o, "b", d->b ? d->b->path : NULL);
	if (d->is_unreadable)
		jsondoc_put_bool(o, "unreadable", true);
	jsondoc_put(o, "facts", rows_json(&d->rows));
	jsondoc_put(o, "symbols_gone", symbols_json(&d->gone));
	jsondoc_put(o, "symbols_new", symbols_json(&d->added));
	return o;
}

static struct jsondoc *libraries_json(const struct wheel_compare *c)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < c->libraries; i++)
		jsondoc_add(list, library_json(&c->library[i]));
	return table_json(c->libraries_equal, c->libraries_different, list);
}

static void put_provenance_row(struct jsondoc *o, const char *key, const struct provenance_row *row)
{
	if (!row) {
		jsondoc_put_str(o, key, NULL);
		return;
	}
	struct jsondoc *columns = jsondoc_object();
	for (int i = 0; i < COLUMN_COUNT; i++)
		put_cut(columns, provenance_column_name[i], provenance_column(row, (enum provenance_column)i));
	jsondoc_put(o, key, columns);
}

static struct jsondoc *provenance_json(const struct provenance_diff *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->listed; i++) {
		const struct provenance_pair *p = &d->row[i];
		struct jsondoc *o = jsondoc_object();
		jsondoc_put_str(o, "kind", provenance_kind_name[(p->a ? p->a : p->b)->kind]);
		put_cut(o, "component", (p->a ? p->a : p->b)->component);
		put_provenance_row(o, "a", p->a);
		put_provenance_row(o, "b", p->b);
		jsondoc_put_bool(o, "equal", p->is_equal);
		jsondoc_put_bool(o, "other_path", p->has_other_path);
		jsondoc_add(list, o);
	}
	return table_json(d->equal, d->different, list);
}

struct jsondoc *wheel_compare_json(const struct wheel_compare *c)
{
	struct jsondoc *o = jsondoc_object();
	jsondoc_put_str(o, "verdict", compare_verdict_name[c->verdict]);
	jsondoc_put_str(o, "members_by", c->is_by_crc ? "crc32" : "sha256");
	jsondoc_put(o, "a", side_json(&c->a));
	jsondoc_put(o, "b", side_json(&c->b));
	jsondoc_put(o, "file", rows_json(&c->file));
	jsondoc_put(o, "metadata", rows_json(&c->metadata));
	jsondoc_put(o, "members", members_json(&c->members));
	if (c->has_facts) {
		jsondoc_put(o, "libraries", libraries_json(c));
		jsondoc_put(o, "components", rows_json(&c->components));
	}
	jsondoc_put(o, "provenance", provenance_json(&c->provenance));
	return o;
}
