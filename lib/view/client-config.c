// SPDX-License-Identifier: Apache-2.0
#include "lib/view/client-config.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/format/escape.h"

enum { TEXT_MOST = 1 << 20 };

// The words that a text may have.
struct client_words {
	bool needs_token;
	struct buf index, distrusted;
	struct str scheme, rest, netloc, host; // of index
};

static const struct str scheme_end = STR("://");

static struct str cut_slashes(const char *base)
{
	struct str s = str_from(base);
	while (s.len && s.ptr[s.len - 1] == '/')
		s.len--;
	return s;
}

void client_config_url(const struct client_index *x, struct buf *out)
{
	buf_str(out, cut_slashes(x->base));
	if (x->view) {
		buf_putc(out, '/');
		escape_url(out, str_from(x->view));
	}
	if (x->platform) {
		buf_putc(out, '/');
		escape_url(out, str_from(x->platform));
	}
	buf_puts(out, "/simple/");
}

// The host without the port; of IPv6 with the brackets.
static struct str host_of(struct str netloc)
{
	long end = netloc.len && netloc.ptr[0] == '[' ? str_find(netloc, ']') + 1 : str_find(netloc, ':');
	return end > 0 ? str_slice(netloc, 0, (size_t)end) : netloc;
}

// pip uses plain http only with this machine, and with hosts that --trusted-host names.
void client_config_distrusted(struct str base, struct buf *out)
{
	static const struct str plain = STR("http://");
	if (!str_starts(base, plain))
		return;
	struct str rest = str_slice(base, plain.len, base.len);
	struct str netloc = str_cut(&rest, '/');
	struct str host = host_of(netloc);
	if (!str_eq(host, STR("localhost")) && !str_starts(host, STR("127.")) && !str_eq(host, STR("[::1]")))
		buf_str(out, netloc);
}

static void find_words(const struct client_index *x, struct client_words *w)
{
	buf_init(&w->index, TEXT_MOST);
	buf_init(&w->distrusted, TEXT_MOST);
	w->needs_token = x->needs_token;
	client_config_url(x, &w->index);
	struct str all = buf_view(&w->index);
	client_config_distrusted(all, &w->distrusted);
	long end = str_find(all, ':');
	size_t begin = end < 0 || (size_t)end + scheme_end.len > all.len ? 0 : (size_t)end + scheme_end.len;
	w->scheme = str_slice(all, 0, begin ? (size_t)end : 0);
	w->rest = str_slice(all, begin, all.len);
	struct str rest = w->rest;
	w->netloc = str_cut(&rest, '/');
	w->host = host_of(w->netloc);
}

static void client_words_release(struct client_words *w)
{
	buf_release(&w->index);
	buf_release(&w->distrusted);
}

// Cuts the condition off a line. Returns false if the line is not wanted.
static bool take_condition(const struct client_words *w, struct str *line)
{
	const struct {
		struct str word;
		bool holds;
	} condition[] = {
		{STR("?token "), w->needs_token},
		{STR("?open "), !w->needs_token},
		{STR("?http "), w->distrusted.len > 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(condition); i++)
		if (str_starts(*line, condition[i].word)) {
			*line = str_slice(*line, condition[i].word.len, line->len);
			return condition[i].holds;
		}
	return true;
}

static void put_replaced(const struct client_words *w, struct str line, struct buf *out)
{
	const struct {
		struct str word, value;
	} row[] = {
		{STR("<index>"), buf_view(&w->index)},
		{STR("<scheme>"), w->scheme},
		{STR("<rest>"), w->rest},
		{STR("<netloc>"), w->netloc},
		{STR("<host>"), w->host},
	};
	while (line.len) {
		size_t i = 0;
		while (i < ARRAY_SIZE(row) && !str_starts(line, row[i].word))
			i++;
		if (i < ARRAY_SIZE(row))
			buf_str(out, row[i].value);
		else
			buf_putc(out, line.ptr[0]);
		line = str_slice(line, i < ARRAY_SIZE(row) ? row[i].word.len : 1, line.len);
	}
	buf_putc(out, '\n');
}

bool client_config_needs(const struct client_index *x, const struct client_template *t)
{
	return x->needs_token || !t->is_for_token;
}

void client_config_write(const struct client_index *x, const struct client_template *t, struct buf *out)
{
	CLEANUP(client_words_release) struct client_words w;
	struct str rest = str_from(t->text);
	find_words(x, &w);
	buf_printf(out, "%s %s\n", t->marker, t->path);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (take_condition(&w, &line))
			put_replaced(&w, line, out);
	}
}

bool client_config_has(const char *client)
{
	for (size_t i = 0; i < client_template_count; i++)
		if (strcmp(client_template[i].client, client) == 0)
			return true;
	return false;
}

struct client_index client_config_part(const struct client_index *x, const char *platform)
{
	struct client_index part = {.base = x->base, .needs_token = x->needs_token};
	part.view = x->whole ? x->whole : platform;
	part.platform = x->whole ? platform : NULL;
	return part;
}

static struct jsondoc *part_indexes(const struct client_index *x)
{
	CLEANUP(buf_release) struct buf url;
	struct jsondoc *list = jsondoc_array();
	buf_init(&url, TEXT_MOST);
	for (size_t i = 0; i < x->platform_count; i++) {
		const struct client_index part = client_config_part(x, x->platforms[i]);
		struct jsondoc *one = jsondoc_object();
		buf_clear(&url);
		client_config_url(&part, &url);
		jsondoc_put_str(one, "platform", x->platforms[i]);
		jsondoc_put_str(one, "index", url.data);
		jsondoc_add(list, one);
	}
	return list;
}

struct jsondoc *client_config_json(const struct client_index *x, const char *client)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, TEXT_MOST);
	struct jsondoc *doc = jsondoc_object(), *files = jsondoc_array();
	client_config_url(x, &text);
	jsondoc_put_str(doc, "index", text.data);
	jsondoc_put_bool(doc, "needs_token", x->needs_token);
	jsondoc_put(doc, "platforms", part_indexes(x));
	for (size_t i = 0; i < client_template_count; i++) {
		const struct client_template *t = &client_template[i];
		if ((client && strcmp(client, t->client) != 0) || !client_config_needs(x, t))
			continue;
		struct jsondoc *file = jsondoc_object();
		text.len = 0;
		client_config_write(x, t, &text);
		jsondoc_put_str(file, "client", t->client);
		jsondoc_put_str(file, "path", t->path);
		jsondoc_put_str(file, "text", text.data);
		jsondoc_add(files, file);
	}
	jsondoc_put(doc, "files", files);
	return doc;
}
