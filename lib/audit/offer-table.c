// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/offer-table.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/search.h"

struct offer_library *offer_table_add(struct offer_table *t, struct str arch, struct str soname, struct str path)
{
	GROW(t->library, t->libraries, t->library_room);
	struct offer_library *l = &t->library[t->libraries++];
	*l = (struct offer_library){.arch = arena_copy(&t->text, arch),
		.soname = arena_copy(&t->text, soname),
		.path = arena_copy(&t->text, path),
		.is_readable = true};
	return l;
}

void offer_table_add_name(struct offer_table *t, size_t library, struct str name, size_t rank)
{
	GROW(t->name, t->names, t->name_room);
	t->name[t->names++] = (struct offer_name){t->library[library].arch, arena_copy(&t->text, name), rank, library};
}

void offer_table_add_text(struct offer_table *t, struct offer_names *list, struct str text)
{
	GROW(list->item, list->count, list->room);
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
	GROW(l->symbol, l->symbols, l->room);
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

// Keeps the first of equal names.
static void sort_names(struct offer_table *t)
{
	size_t kept = 0;
	if (t->names)
		qsort(t->name, t->names, sizeof(*t->name), compare_offer_names);
	for (size_t i = 0; i < t->names; i++) {
		const struct offer_name *last = kept ? &t->name[kept - 1] : NULL, *now = &t->name[i];
		if (!last || strcmp(last->name, now->name) != 0 || strcmp(last->arch, now->arch) != 0)
			t->name[kept++] = *now;
	}
	t->names = kept;
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

static void release_library(struct offer_library *l)
{
	free(l->needed.item);
	free(l->version.item);
	free(l->symbol);
}

// Leaves out those without names, sorts, and corrects the indexes that names have.
static void sort_libraries(struct offer_table *t)
{
	CLEANUP(mem_free) struct sorted_library *sorted = xcalloc(t->libraries + 1, sizeof(*sorted));
	CLEANUP(mem_free) size_t *index = xcalloc(t->libraries + 1, sizeof(*index));
	CLEANUP(mem_free) bool *is_found = xcalloc(t->libraries + 1, sizeof(*is_found));
	size_t count = 0;
	for (size_t i = 0; i < t->names; i++)
		is_found[t->name[i].library] = true;
	for (size_t i = 0; i < t->libraries; i++) {
		if (is_found[i])
			sorted[count++] = (struct sorted_library){t->library[i], i};
		else
			release_library(&t->library[i]);
	}
	qsort(sorted, count, sizeof(*sorted), compare_libraries);
	for (size_t i = 0; i < count; i++) {
		t->library[i] = sorted[i].library;
		index[sorted[i].before] = i;
	}
	t->libraries = count;
	for (size_t i = 0; i < t->names; i++)
		t->name[i].library = index[t->name[i].library];
}

void offer_table_finish(struct offer_table *t)
{
	sort_names(t);
	sort_libraries(t);
	for (size_t i = 0; i < t->libraries; i++) {
		struct offer_library *l = &t->library[i];
		offer_table_sort_versions(l);
		if (l->symbols)
			qsort(l->symbol, l->symbols, sizeof(*l->symbol), compare_symbols);
	}
}

void offer_table_release(struct offer_table *t)
{
	for (size_t i = 0; i < t->libraries; i++)
		release_library(&t->library[i]);
	free(t->library);
	free(t->name);
	arena_release(&t->text);
	*t = (struct offer_table){0};
}
