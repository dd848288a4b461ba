// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/offer-list.h"

#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"

#define HEAD "wheelcache-provides 1 "

// --- printing ---

static void put_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text > ' ' && *text < 0x7f && *text != '%' && *text != '@')
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

static void put_line(struct buf *out, const char *keyword, const char *text)
{
	buf_puts(out, keyword);
	put_escaped(out, text);
	buf_putc(out, '\n');
}

static void put_library(struct buf *out, const struct offer_library *l)
{
	buf_puts(out, "library ");
	put_escaped(out, l->arch);
	buf_putc(out, ' ');
	put_escaped(out, l->soname);
	put_line(out, " ", l->path);
	if (!l->is_readable)
		buf_puts(out, "unreadable\n");
}

static void put_contents(struct buf *out, const struct offer_library *l)
{
	for (size_t i = 0; i < l->needed.count; i++)
		put_line(out, "needed ", l->needed.item[i]);
	for (size_t i = 0; i < l->version.count; i++)
		put_line(out, "version ", l->version.item[i]);
	for (size_t i = 0; i < l->symbols; i++) {
		buf_putc(out, ' ');
		put_escaped(out, l->symbol[i].name);
		if (l->symbol[i].version)
			buf_putc(out, '@');
		put_line(out, "", l->symbol[i].version ? l->symbol[i].version : "");
	}
}

// The names of a library are not beside each other in the table: next[i] is the name behind name i, of the same library.
struct name_chains {
	size_t *first, *next; // NAME_NONE: none
};
#define NAME_NONE SIZE_MAX

static void make_chains(const struct offer_table *t, struct name_chains *out)
{
	*out = (struct name_chains){xcalloc(t->libraries + 1, sizeof(size_t)), xcalloc(t->names + 1, sizeof(size_t))};
	for (size_t i = 0; i < t->libraries; i++)
		out->first[i] = NAME_NONE;
	for (size_t i = t->names; i-- > 0;) {
		out->next[i] = out->first[t->name[i].library];
		out->first[t->name[i].library] = i;
	}
}

static void release_chains(struct name_chains *c)
{
	mem_free(&c->first);
	mem_free(&c->next);
}

static size_t count_lines(const struct offer_table *t)
{
	size_t lines = t->libraries + t->names;
	for (size_t i = 0; i < t->libraries; i++) {
		const struct offer_library *l = &t->library[i];
		lines += !l->is_readable + l->needed.count + l->version.count + l->symbols;
	}
	return lines;
}

int offer_list_print(const struct offer_table *t, struct buf *out, struct err *e)
{
	CLEANUP(release_chains) struct name_chains chains;
	make_chains(t, &chains);
	buf_printf(out, HEAD "%zu %zu\n", t->libraries, count_lines(t));
	for (size_t i = 0; i < t->libraries; i++) {
		put_library(out, &t->library[i]);
		for (size_t k = chains.first[i]; k != NAME_NONE; k = chains.next[k])
			put_line(out, "name ", t->name[k].name);
		put_contents(out, &t->library[i]);
	}
	return out->failed ? err_set(e, ERR_LIMIT, "the list is larger than %zu bytes", out->cap) : 0;
}

// --- parsing ---

struct list_reader {
	struct offer_table *table;
	uint64_t libraries, lines; // as the header says
	uint64_t line;             // the number of lines behind the header
	struct buf text[3];        // unescaped words of the line
};

static int hex_value(char c)
{
	return ascii_is_digit(c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// False: it has a byte that is never printed, or a bad escape.
static bool unescape(struct str word, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < word.len; i++) {
		char c = word.ptr[i];
		if (c <= ' ' || c >= 0x7f || c == '@')
			return false;
		if (c == '%') {
			int high = i + 2 < word.len ? hex_value(word.ptr[i + 1]) : -1;
			int low = high < 0 ? -1 : hex_value(word.ptr[i + 2]);
			if (low < 0 || !(high || low))
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		buf_putc(out, c);
	}
	return word.len > 0 && !out->failed;
}

// There is at least one.
static struct offer_library *last_library(const struct list_reader *r)
{
	return &r->table->library[r->table->libraries - 1];
}

static bool take_library(struct list_reader *r, struct str rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->text); i++)
		if (!unescape(str_cut(&rest, ' '), &r->text[i]))
			return false;
	if (rest.ptr)
		return false;
	if (r->table->libraries)
		offer_table_sort_versions(last_library(r));
	offer_table_add(r->table, buf_view(&r->text[0]), buf_view(&r->text[1]), buf_view(&r->text[2]));
	return true;
}

static bool take_unreadable(struct list_reader *r, struct str rest)
{
	last_library(r)->is_readable = false;
	return rest.ptr == NULL;
}

static bool take_name(struct list_reader *r, struct str rest)
{
	if (!unescape(rest, &r->text[0]))
		return false;
	offer_table_add_name(r->table, r->table->libraries - 1, buf_view(&r->text[0]), 0);
	return true;
}

static bool take_needed(struct list_reader *r, struct str rest)
{
	if (!unescape(rest, &r->text[0]))
		return false;
	offer_table_add_text(r->table, &last_library(r)->needed, buf_view(&r->text[0]));
	return true;
}

static bool take_version(struct list_reader *r, struct str rest)
{
	if (!unescape(rest, &r->text[0]))
		return false;
	offer_table_add_text(r->table, &last_library(r)->version, buf_view(&r->text[0]));
	return true;
}

static bool take_symbol(struct list_reader *r, struct str rest)
{
	struct str name = str_cut(&rest, '@');
	buf_clear(&r->text[1]);
	if (!unescape(name, &r->text[0]) || (rest.ptr && !unescape(rest, &r->text[1])))
		return false;
	if (!last_library(r)->symbols)
		offer_table_sort_versions(last_library(r));
	offer_table_add_symbol(r->table, last_library(r), buf_view(&r->text[0]), buf_view(&r->text[1]));
	return true;
}

static const struct line_kind {
	const char *keyword;
	bool needs_library; // one before it
	bool (*take)(struct list_reader *r, struct str rest);
} kinds[] = {
	{"", true, take_symbol}, // the line begins with a blank
	{"name", true, take_name},
	{"version", true, take_version},
	{"needed", true, take_needed},
	{"library", false, take_library},
	{"unreadable", true, take_unreadable},
};

static bool take_line(struct list_reader *r, struct str line)
{
	struct str keyword = str_cut(&line, ' ');
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_eq(keyword, str_from(kinds[i].keyword)))
			return (!kinds[i].needs_library || r->table->libraries) && kinds[i].take(r, line);
	return false;
}

static int read_head(struct list_reader *r, struct str head, struct err *e)
{
	if (!str_starts(head, STR(HEAD)))
		return err_set(e, ERR_INVALID, "line 1: not a list of `wheelcache provides`, version 1");
	struct str rest = str_slice(head, sizeof(HEAD) - 1, head.len), libraries = str_cut(&rest, ' ');
	if (!decimal_parse(libraries, LIMIT_OFFER_LIBRARIES, &r->libraries) ||
		!decimal_parse(rest, UINT32_MAX, &r->lines))
		return err_set(e, ERR_INVALID, "line 1: no numbers of libraries and lines");
	return 0;
}

static int read_lines(struct list_reader *r, struct str list, struct err *e)
{
	if (!str_ends(list, STR("\n")))
		return err_set(e, ERR_INVALID, "the last line has no end: the list was cut");
	list.len--;
	if (read_head(r, str_cut(&list, '\n'), e) < 0)
		return -1;
	while (list.ptr) {
		r->line++;
		if (!take_line(r, str_cut(&list, '\n')))
			return err_set(e, ERR_INVALID, "line %llu is damaged", (unsigned long long)r->line + 1);
		if (offer_table_check(r->table, e) < 0)
			return -1;
	}
	if (r->line != r->lines || r->table->libraries != r->libraries)
		return err_set(e, ERR_INVALID, "it has %llu lines behind the first, and that says %llu: it was cut",
			(unsigned long long)r->line, (unsigned long long)r->lines);
	return r->libraries ? 0 : err_set(e, ERR_INVALID, "it has no library");
}

int offer_list_parse(struct str list, struct offer_table *t, struct err *e)
{
	struct list_reader r = {.table = t};
	for (size_t i = 0; i < ARRAY_SIZE(r.text); i++)
		buf_init(&r.text[i], LIMIT_ELF_STRING);
	int result = read_lines(&r, list, e);
	for (size_t i = 0; i < ARRAY_SIZE(r.text); i++)
		buf_release(&r.text[i]);
	return result;
}
