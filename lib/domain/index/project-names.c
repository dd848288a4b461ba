// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/index/project-names.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/format/json-sax.h"
#include "lib/format/markup.h"

struct project_names {
	struct buf *out;
	bool has_projects; // JSON: the list was found
	bool is_in_link;   // HTML
	struct buf link;   // its text so far
};

static void add_project_name(struct project_names *p, struct str name)
{
	if (!name_is_valid(name) || name.len > LIMIT_FILE_NAME)
		return;
	name_normalize(name, p->out);
	buf_putc(p->out, '\n');
}

// --- JSON: {"projects": [{"name": …}, …]} ---

static void on_list_value(void *ctx, const struct json_sax_value *v)
{
	struct project_names *p = ctx;
	if (v->depth < 1 || !v->key[0].ptr || !str_eq(v->key[0], STR("projects")))
		return;
	p->has_projects |= v->depth == 1 && v->kind == JSON_SAX_ARRAY;
	if (v->depth == 3 && !v->key[1].ptr && v->key[2].ptr && str_eq(v->key[2], STR("name")) &&
		v->kind == JSON_SAX_STRING)
		add_project_name(p, v->text);
}

static int read_json_list(struct project_names *p, struct str body, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	bool is_cut;
	if (json_sax_read(body, &room, on_list_value, p, &is_cut, e) < 0)
		return -1;
	if (!p->has_projects)
		return err_set(e, ERR_INVALID, "JSON, but not a list of projects");
	return 0;
}

// --- HTML: the text of each link ---

static void begin_list_element(void *ctx, const char *name, const char *const *attributes UNUSED)
{
	struct project_names *p = ctx;
	if (strcmp(name, "a") != 0)
		return;
	p->is_in_link = true;
	buf_clear(&p->link);
}

static void end_list_element(void *ctx, const char *name)
{
	struct project_names *p = ctx;
	if (!p->is_in_link || strcmp(name, "a") != 0)
		return;
	p->is_in_link = false;
	if (!p->link.failed)
		add_project_name(p, str_trim(buf_view(&p->link)));
}

static void add_link_text(void *ctx, struct str text)
{
	struct project_names *p = ctx;
	if (p->is_in_link)
		buf_str(&p->link, text);
}

static int read_html_list(struct project_names *p, struct str body, struct err *e)
{
	static const struct markup_handler handler = {begin_list_element, end_list_element, add_link_text, NULL};
	buf_init(&p->link, LIMIT_PATH);
	int result = markup_read_html(body, &handler, p, e);
	buf_release(&p->link);
	return result;
}

int project_names_read(struct str body, struct str content_type, struct buf *out, struct err *e)
{
	struct project_names p = {.out = out};
	struct str type = str_trim(str_cut(&content_type, ';'));
	bool is_json = str_eq_nocase(type, STR("application/vnd.pypi.simple.v1+json"));
	return (is_json ? read_json_list : read_html_list)(&p, body, e);
}
