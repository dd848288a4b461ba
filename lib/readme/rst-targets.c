// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/rst-targets.h"

#include <stdlib.h>

void rst_targets_release(struct rst_targets *t)
{
	mem_free(&t->item);
	mem_free(&t->anonymous);
	arena_release(&t->text);
}

// Adds the name without quotes and escapes, as all spellings of it compare.
static void normalise_name(const char *kind, struct str name, struct buf *out)
{
	size_t begin = strlen(kind);
	buf_puts(out, kind);
	if (name.len >= 2 && name.ptr[0] == '`' && name.ptr[name.len - 1] == '`')
		name = str_slice(name, 1, name.len - 1);
	for (size_t i = 0; i < name.len; i++) {
		bool is_blank = name.ptr[i] == ' ' || name.ptr[i] == '\n';
		bool is_repeated = is_blank && (out->len == begin || out->data[out->len - 1] == ' ');
		if (name.ptr[i] != '\\' && !is_repeated)
			buf_putc(out, is_blank ? ' ' : ascii_lower(name.ptr[i]));
	}
	while (out->len > begin && out->data[out->len - 1] == ' ')
		out->len--;
}

long rst_name_end(struct str text)
{
	bool is_quoted = text.len && text.ptr[0] == '`';
	for (size_t i = 1; i < text.len; i++) {
		if (text.ptr[i] == '\\')
			i++;
		else if (is_quoted && text.ptr[i] == '`')
			is_quoted = false;
		else if (!is_quoted && text.ptr[i] == ':' && (i + 1 == text.len || text.ptr[i + 1] == ' '))
			return (long)i;
	}
	return -1;
}

size_t rst_options_end(const struct rst *r, size_t from, size_t to)
{
	size_t margin = from < to ? r->line[from].indent : 0;
	while (from < to && !rst_is_blank(r, from) &&
		(r->line[from].indent > margin ||
			(r->line[from].text.ptr[r->line[from].indent] == ':' && rst_name_end(rst_text(r, from)) > 1)))
		from++;
	return from;
}

struct str rst_option(const struct rst *r, size_t from, size_t to, struct str name)
{
	size_t end = rst_options_end(r, from, to);
	for (; from < end; from++) {
		struct str text = rst_text(r, from);
		long colon = rst_name_end(text);
		if (colon > 1 && str_eq(str_slice(text, 1, (size_t)colon), name))
			return str_trim(str_slice(text, (size_t)colon + 1, text.len));
	}
	return STR("");
}

static void add_rst_name(struct rst_targets *t, const char *kind, struct rst_name item)
{
	CLEANUP(buf_release) struct buf name;
	buf_init(&name, LIMIT_README * 2);
	normalise_name(kind, item.name, &name);
	item.name = (struct str){arena_copy(&t->text, buf_view(&name)), name.len};
	GROW(t->item, t->count, t->room);
	t->item[t->count++] = item;
}

static void add_anonymous(struct rst_targets *t, struct str url)
{
	GROW(t->anonymous, t->anonymous_count, t->anonymous_room);
	t->anonymous[t->anonymous_count++] = url;
}

// The URL of a target goes on in the lines below it, without the blanks between them.
static struct str join_url(struct rst_targets *t, const struct rst *r, size_t i, struct str first)
{
	CLEANUP(buf_release) struct buf url;
	size_t margin = r->line[i].indent, end = i + 1;
	while (end < r->count && !rst_is_blank(r, end) && r->line[end].indent > margin)
		end++;
	buf_init(&url, LIMIT_README_URL);
	if (end == i + 1)
		return first;
	buf_str(&url, first);
	for (i++; i < end; i++)
		buf_str(&url, rst_text(r, i));
	return (struct str){arena_copy(&t->text, buf_view(&url)), url.len};
}

// "_name: URL" and "__: URL" behind the two dots.
static void take_target(struct rst_targets *t, const struct rst *r, size_t i, struct str text)
{
	text = str_slice(text, 1, text.len);
	long colon =
		text.len && text.ptr[0] == '_' ? (text.len > 1 && text.ptr[1] == ':' ? 1 : -1) : rst_name_end(text);
	if (colon < 0)
		return;
	struct str url = join_url(t, r, i, str_trim(str_slice(text, (size_t)colon + 1, text.len)));
	if (text.ptr[0] == '_')
		add_anonymous(t, url);
	else if (url.len)
		add_rst_name(t, "", (struct rst_name){.name = str_slice(text, 0, (size_t)colon), .url = url});
}

// "|name| image:: URL" behind the two dots.
static void take_replacement(struct rst_targets *t, const struct rst *r, size_t i, struct str text)
{
	struct str rest = str_slice(text, 1, text.len), name = str_cut(&rest, '|');
	rest = rest.ptr ? str_trim(rest) : rest;
	size_t end = rst_body_end(r, i + 1, r->count, r->line[i].indent);
	for (size_t at = 0; at + 1 < rest.len; at++) {
		if (rest.ptr[at] != ':' || rest.ptr[at + 1] != ':')
			continue;
		const struct rst_replacement replacement = {
			.directive = str_slice(rest, 0, at),
			.argument = str_trim(str_slice(rest, at + 2, rest.len)),
			.alt = rst_option(r, i + 1, end, STR("alt")),
			.target = rst_option(r, i + 1, end, STR("target")),
		};
		add_rst_name(t, "|", (struct rst_name){.name = name, .replacement = replacement});
		return;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct rst_name *x = a, *y = b;
	int order = str_cmp(x->name, y->name);
	return order ? order : (x->url.ptr > y->url.ptr) - (x->url.ptr < y->url.ptr);
}

void rst_targets_collect(struct rst_targets *t, const struct rst *r)
{
	*t = (struct rst_targets){0};
	for (size_t i = 0; i < r->count; i++) {
		struct str text = rst_text(r, i);
		if (str_starts(text, STR(".. _")))
			take_target(t, r, i, str_slice(text, 3, text.len));
		else if (str_starts(text, STR(".. |")))
			take_replacement(t, r, i, str_slice(text, 3, text.len));
		else if (str_starts(text, STR("__ ")))
			add_anonymous(t, str_trim(str_slice(text, 3, text.len)));
	}
	if (t->count)
		qsort(t->item, t->count, sizeof(*t->item), compare_names);
}

static const struct rst_name *find_name(const struct rst_targets *t, const char *kind, struct str name)
{
	CLEANUP(buf_release) struct buf key;
	size_t low = 0, high = t->count;
	buf_init(&key, LIMIT_README * 2);
	normalise_name(kind, name, &key);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (str_cmp(t->item[middle].name, buf_view(&key)) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->count && str_eq(t->item[low].name, buf_view(&key)) ? &t->item[low] : NULL;
}

bool rst_targets_find(const struct rst_targets *t, struct str name, struct str *url)
{
	for (int hops = 0; hops < 4; hops++) {
		const struct rst_name *found = find_name(t, "", name);
		if (!found)
			return false;
		*url = found->url;
		if (!str_ends(found->url, STR("_")) || str_ends(found->url, STR("\\_")))
			return true;
		name = str_slice(found->url, 0, found->url.len - 1);
	}
	return false;
}

const struct rst_replacement *rst_targets_replacement(const struct rst_targets *t, struct str name)
{
	const struct rst_name *found = find_name(t, "|", name);
	return found ? &found->replacement : NULL;
}
