// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-provenance.h"

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/state/catalog/catalog-attachment.h"

static void put_said(struct jsondoc *out, const char *key, const char *text)
{
	if (text && *text)
		jsondoc_put_str(out, key, text);
}

static struct jsondoc *row_doc(const struct provenance_row *r)
{
	struct jsondoc *out = jsondoc_object();
	jsondoc_put_str(out, "kind", provenance_kind_name[r->kind]);
	jsondoc_put_str(out, "component", r->component);
	put_said(out, "version", r->version);
	put_said(out, "source", r->source);
	put_said(out, "digest", r->digest);
	put_said(out, "path", r->path);
	put_said(out, "how", r->how);
	put_said(out, "options", r->options);
	return out;
}

struct jsondoc *explain_provenance(const struct provenance *p, bool has_rows)
{
	struct jsondoc *out = jsondoc_object(), *rows = has_rows ? jsondoc_array() : NULL;
	jsondoc_put_str(out, "predicate", p->predicate_type);
	put_said(out, "build_type", p->build_type);
	put_said(out, "builder", p->builder);
	put_said(out, "invocation", p->invocation);
	put_said(out, "started", p->started);
	put_said(out, "finished", p->finished);
	for (size_t i = 0; has_rows && i < p->rows; i++)
		jsondoc_add(rows, row_doc(&p->row[i]));
	if (rows)
		jsondoc_put(out, "rows", rows);
	if (p->is_cut)
		jsondoc_put_bool(out, "cut", true);
	return out;
}

int explain_provenance_put(struct catalog *c, const struct catalog_history *file, bool has_rows, size_t *bytes,
	struct jsondoc *row, struct err *e)
{
	struct catalog_attached found;
	struct err unreadable = ERR_INIT;
	bool is_served = file->state == FILE_IS_LISTED || file->state == FILE_IS_UNLISTED;
	CLEANUP(provenance_release) struct provenance p = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_STATEMENT);
	if (file->provenance)
		jsondoc_put_bool(row, "attestations", true);
	if (!file->statement || !is_served || *bytes > LIMIT_EXPLAIN_STATEMENTS)
		return 0;
	int result = catalog_attached(c, file->platform, file->filename, ATTACHMENT_STATEMENT, &found, &text, e);
	*bytes += text.len;
	if (result > 0 && provenance_read(buf_view(&text), &p, &unreadable) == 0)
		jsondoc_put(row, "provenance", explain_provenance(&p, has_rows));
	return result < 0 ? -1 : 0;
}

// --- text ---

// The uploader chooses the text: a line feed in it would forge a line of the explanation.
static void print_said(struct buf *out, const char *before, const char *text)
{
	if (!text)
		return;
	buf_puts(out, before);
	escape_terminal(out, str_from(text));
}

static void print_provenance_row(const struct jsondoc *row, const char *indent, struct buf *out)
{
	buf_printf(out, "%s  %-10s", indent, jsondoc_get_str(row, "kind"));
	print_said(out, "  ", jsondoc_get_str(row, "component"));
	print_said(out, " ", jsondoc_get_str(row, "version"));
	print_said(out, ", from ", jsondoc_get_str(row, "source"));
	print_said(out, ", ", jsondoc_get_str(row, "digest"));
	print_said(out, ", in ", jsondoc_get_str(row, "path"));
	print_said(out, ", as ", jsondoc_get_str(row, "how"));
	print_said(out, ", built with ", jsondoc_get_str(row, "options"));
	buf_putc(out, '\n');
}

void explain_provenance_text(const struct jsondoc *provenance, const char *indent, struct buf *out)
{
	const struct jsondoc *rows = jsondoc_get(provenance, "rows");
	const char *builder = jsondoc_get_str(provenance, "builder");
	buf_puts(out, indent);
	print_said(out, builder ? "built by " : "a statement of ",
		builder ? builder : jsondoc_get_str(provenance, "predicate"));
	print_said(out, ", finished ", jsondoc_get_str(provenance, "finished"));
	print_said(out, ", invocation ", jsondoc_get_str(provenance, "invocation"));
	buf_putc(out, '\n');
	for (size_t i = 0; rows && i < jsondoc_count(rows); i++)
		print_provenance_row(jsondoc_at(rows, i), indent, out);
	if (jsondoc_is_true(provenance, "cut"))
		buf_printf(out, "%s  further rows are left out\n", indent);
}
