// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/offer-table.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/search.h"

struct offer_library *offer_table_add(struct offer_table *t, struct str arch, struct str soname, struct str path)
{
	ARENA_GROW(&t->rows, t->library, t->libraries, t->library_room);
	struct offer_library *l = &t->library[t->libraries++];
	*l = (struct offer_library){.arch = arena_copy(&t->text, arch),
		.soname = arena_copy(&t->text, soname),
		.path = arena_copy(&t->text, path),
		.is_readable = true};
	return l;
}

void offer_table_add_name(struct offer_table *t, size_t library, struct str name, size_t rank)
{
	ARENA_GROW(&t->rows, t->name, t->names, t->name_room);
	t->name[t->names++] = (struct offer_name){t->library[library].arch, arena_copy(&t->text, name), rank, library};
}

void offer_table_add_text(struct offer_table *t, struct offer_names *list, struct str text)
{
	ARENA_GROW(&t->rows, list->item, list->count, list->room);
	list->item[list->count++] = arena_copy(&t->text, text);
}

void offer_table_sort_versions(struct offer_library *l)
{
	if (l->version.count)
		qsort(l->version.item, l->version.count, sizeof(*l->version.item), compare_strings);
}

static bool is_own_version_before(const void *element, const void *key)
{
	return str_cmp(str_from(*(const char *const *)element), *(const struct str *)key) < 0;
}

// The library's own copy of a version, or a new one.
static const char *own_version(struct offer_table *t, const struct offer_library *l, struct str version)
{
	const struct offer_names *v = &l->version;
	size_t at = lower_bound(&version, v->item, v->count, sizeof(*v->item), is_own_version_before);
	bool is_own = at < v->count && str_eq(version, str_from(v->item[at]));
	return is_own ? v->item[at] : arena_copy(&t->text, version);
}

void offer_table_add_symbol(struct offer_table *t, struct offer_library *l, struct str name, struct str version)
{
	ARENA_GROW(&t->rows, l->symbol, l->symbols, l->room);
	l->symbol[l->symbols++] =
		(struct offer_symbol){arena_copy(&t->text, name), version.len ? own_version(t, l, version) : NULL};
	t->symbols++;
}

int offer_table_check(const struct offer_table *t, struct err *e)
{
	if (t->libraries > LIMIT_OFFER_LIBRARIES || t->names > LIMIT_OFFER_LIBRARIES)
		return err_set(e, ERR_LIMIT, "more than %d libraries, or names of libraries", LIMIT_OFFER_LIBRARIES);
	if (t->symbols > LIMIT_OFFER_SYMBOLS)
		return err_set(e, ERR_LIMIT, "more than %d symbols", LIMIT_OFFER_SYMBOLS);
	if (t->text.total > LIMIT_OFFER_TEXT)
		return err_set(e, ERR_LIMIT, "more than %d bytes of names", LIMIT_OFFER_TEXT);
	return 0;
}

// --- sorting ---

static int compare_symbols(const void *a, const void *b)
{
	const struct offer_symbol *one = a, *other = b;
	int order = strcmp(one->name, other->name);
	return order ? order : strcmp(one->version ? one->version : "", other->version ? other->version : "");
}

static int compare_offer_names(const void *a, const void *b)
{
	const struct offer_name *one = a, *other = b;
	int order = strcmp(one->name, other->name);
	order = order ? order : strcmp(one->arch, other->arch);
	order = order ? order : (one->rank > other->rank) - (one->rank < other->rank);
	return order ? order : (one->library > other->library) - (one->library < other->library);
}

struct sorted_library {
	struct offer_library library;
	size_t before; // its index
};

static int compare_libraries(const void *a, const void *b)
{
	const struct sorted_library *one = a, *other = b;
	int order = strcmp(one->library.arch, other->library.arch);
	order = order ? order : strcmp(one->library.soname, other->library.soname);
	order = order ? order : strcmp(one->library.path, other->library.path);
	return order ? order : (one->before > other->before) - (one->before < other->before);
}

void offer_table_finish(struct offer_table *t)
{
	// Keeps the first of equal names.
	size_t kept = 0;
	if (t->names)
		qsort(t->name, t->names, sizeof(*t->name), compare_offer_names);
	for (size_t i = 0; i < t->names; i++) {
		const struct offer_name *last = kept ? &t->name[kept - 1] : NULL, *now = &t->name[i];
		if (!last || strcmp(last->name, now->name) != 0 || strcmp(last->arch, now->arch) != 0)
			t->name[kept++] = *now;
	}
	t->names = kept;
	// Leaves out those without names, sorts, and corrects the indexes that names have.
	CLEANUP(mem_free) struct sorted_library *sorted = xcalloc(t->libraries + 1, sizeof(*sorted));
	CLEANUP(mem_free) size_t *index = xcalloc(t->libraries + 1, sizeof(*index));
	CLEANUP(mem_free) bool *is_found = xcalloc(t->libraries + 1, sizeof(*is_found));
	size_t count = 0;
	for (size_t i = 0; i < t->names; i++)
		is_found[t->name[i].library] = true;
	for (size_t i = 0; i < t->libraries; i++)
		if (is_found[i])
			sorted[count++] = (struct sorted_library){t->library[i], i};
	qsort(sorted, count, sizeof(*sorted), compare_libraries);
	for (size_t i = 0; i < count; i++) {
		t->library[i] = sorted[i].library;
		index[sorted[i].before] = i;
	}
	t->libraries = count;
	for (size_t i = 0; i < t->names; i++)
		t->name[i].library = index[t->name[i].library];
	for (size_t i = 0; i < t->libraries; i++) {
		struct offer_library *l = &t->library[i];
		offer_table_sort_versions(l);
		if (l->symbols)
			qsort(l->symbol, l->symbols, sizeof(*l->symbol), compare_symbols);
	}
}

void offer_table_release(struct offer_table *t)
{
	arena_release(&t->rows);
	arena_release(&t->text);
	*t = (struct offer_table){0};
}

#define HEAD "wheelcache-provides 1 "

// --- printing a list ---

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

// The names of a library are not beside each other in the table: next[i] is the name behind name i, of the same
// library.
struct name_chains {
	size_t *first, *next; // NAME_NONE: none
};
#define NAME_NONE SIZE_MAX

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
	CLEANUP(arena_release) struct arena room = {0};
	struct name_chains chains = {ARENA_NEW(&room, size_t, t->libraries), ARENA_NEW(&room, size_t, t->names)};
	for (size_t i = 0; i < t->libraries; i++)
		chains.first[i] = NAME_NONE;
	for (size_t i = t->names; i-- > 0;) {
		chains.next[i] = chains.first[t->name[i].library];
		chains.first[t->name[i].library] = i;
	}
	buf_printf(out, HEAD "%zu %zu\n", t->libraries, count_lines(t));
	for (size_t i = 0; i < t->libraries; i++) {
		buf_puts(out, "library ");
		put_escaped(out, t->library[i].arch);
		buf_putc(out, ' ');
		put_escaped(out, t->library[i].soname);
		put_line(out, " ", t->library[i].path);
		if (!t->library[i].is_readable)
			buf_puts(out, "unreadable\n");
		for (size_t k = chains.first[i]; k != NAME_NONE; k = chains.next[k])
			put_line(out, "name ", t->name[k].name);
		put_contents(out, &t->library[i]);
	}
	return out->failed ? err_set(e, ERR_LIMIT, "the list is larger than %zu bytes", out->cap) : 0;
}

// --- parsing a list ---

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

static int read_lines(struct list_reader *r, struct str list, struct err *e)
{
	if (!str_ends(list, STR("\n")))
		return err_set(e, ERR_INVALID, "the last line has no end: the list was cut");
	list.len--;
	struct str head = str_cut(&list, '\n');
	if (!str_starts(head, STR(HEAD)))
		return err_set(e, ERR_INVALID, "line 1: not a list of `wheelcache provides`, version 1");
	struct str rest = str_slice(head, sizeof(HEAD) - 1, head.len), libraries = str_cut(&rest, ' ');
	if (!decimal_parse(libraries, LIMIT_OFFER_LIBRARIES, &r->libraries) ||
		!decimal_parse(rest, UINT32_MAX, &r->lines))
		return err_set(e, ERR_INVALID, "line 1: no numbers of libraries and lines");
	while (list.ptr) {
		r->line++;
		if (!take_line(r, str_cut(&list, '\n')))
			return err_set(e, ERR_INVALID, "line %llu is damaged", (unsigned long long)r->line + 1);
		if (offer_table_check(r->table, e) < 0)
			return -1;
	}
	if (r->line != r->lines || r->table->libraries != r->libraries)
		return err_set(e, ERR_INVALID, "it has %s behind the first, and that says %llu: it was cut",
			COUNTED(r->line, "line|lines"), (unsigned long long)r->lines);
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
