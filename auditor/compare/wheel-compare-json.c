// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "auditor/compare/wheel-compare.h"
#include "lib/base/limits.h"

static void put_hex(struct jsondoc *o, const char *key, const uint8_t sha256[SHA256_SIZE])
{
	char hex[SHA256_HEX + 1] = "";
	hex_encode(sha256, SHA256_SIZE, hex);
	jsondoc_put_str(o, key, hex);
}

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
	put_hex(o, "sha256", s->sha256);
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
