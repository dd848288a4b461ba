// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/platform-offer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/audit/offer-list.h"
#include "lib/audit/offer-root.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

struct platform_offer {
	struct offer_table table;
};

// --- opening ---

static int open_root(const char *path, struct offer_table *t, struct err *e)
{
	CLEANUP(mem_close) int root = fs_open_dir(path, e);
	if (root < 0)
		return -1;
	return offer_root_read(root, t, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

static int open_list(const char *path, struct offer_table *t, struct err *e)
{
	CLEANUP(buf_release) struct buf list;
	buf_init(&list, LIMIT_OFFER_LIST);
	if (fs_read_regular(path, &list, e) < 0)
		return -1;
	return offer_list_parse(buf_view(&list), t, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

int platform_offer_open(const char *path, struct platform_offer **out, struct err *e)
{
	struct stat st;
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = xcalloc(1, sizeof(*o));
	bool is_root = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if ((is_root ? open_root(path, &o->table, e) : open_list(path, &o->table, e)) < 0)
		return -1;
	offer_table_finish(&o->table);
	*out = STEAL_PTR(o);
	return 0;
}

void platform_offer_free(struct platform_offer *o)
{
	if (o)
		offer_table_release(&o->table);
	free(o);
}

void platform_offer_cleanup(struct platform_offer **o)
{
	platform_offer_free(*o);
	*o = NULL;
}

int platform_offer_print(const struct platform_offer *o, struct buf *out, struct err *e)
{
	return offer_list_print(&o->table, out, e);
}

// --- searching ---

static const struct offer_library *find_name(const struct offer_table *t, const char *arch, struct str name)
{
	size_t from = 0, to = t->names;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = str_cmp(name, str_from(t->name[middle].name));
		order = order ? order : strcmp(arch, t->name[middle].arch);
		if (order == 0)
			return &t->library[t->name[middle].library];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}

const struct offer_library *platform_offer_find(const struct platform_offer *o, const char *arch, struct str soname)
{
	const struct offer_library *l = find_name(&o->table, arch, soname);
	return l ? l : find_name(&o->table, OFFER_ANY_ARCH, soname);
}

bool platform_offer_has(const struct platform_offer *o, const char *arch, struct str soname)
{
	return platform_offer_find(o, arch, soname) != NULL;
}

bool offer_library_has_version(const struct offer_library *l, struct str version)
{
	size_t from = 0, to = l->version.count;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = str_cmp(version, str_from(l->version.item[middle]));
		if (order == 0)
			return true;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return l->version.count == 0;
}

// The first symbol of this name or behind it.
static size_t find_symbol(const struct offer_library *l, struct str name)
{
	size_t from = 0, to = l->symbols;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (str_cmp(name, str_from(l->symbol[middle].name)) > 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool offer_library_has_symbol(const struct offer_library *l, struct str symbol, struct str version)
{
	for (size_t i = find_symbol(l, symbol); i < l->symbols; i++) {
		const struct offer_symbol *s = &l->symbol[i];
		if (!str_eq(symbol, str_from(s->name)))
			return false;
		if (!version.len || !l->version.count || (s->version && str_eq(version, str_from(s->version))))
			return true;
	}
	return false;
}

// --- successors ---

// "libre2" of "libre2.so.9".
static struct str cut_so(struct str name)
{
	for (size_t i = 0; i + 3 <= name.len; i++)
		if (memcmp(name.ptr + i, ".so", 3) == 0)
			return str_slice(name, 0, i);
	return name;
}

// "libldap" of "libldap-2.5", "libpython" of "libpython3.11"; but all of "libre2", whose number is of the name.
static struct str cut_release(struct str name)
{
	size_t at = name.len, dots = 0;
	while (at > 0 && (ascii_is_digit(name.ptr[at - 1]) || name.ptr[at - 1] == '.'))
		dots += name.ptr[--at] == '.';
	if (at == name.len || at == 0)
		return name;
	if (name.ptr[at - 1] == '-')
		return str_slice(name, 0, at - 1);
	return dots ? str_slice(name, 0, at) : name;
}

// 2: the names differ only behind ".so"; 1: also in a version before it; 0: it is another library.
static int likeness(struct str one, struct str other)
{
	one = cut_so(one);
	other = cut_so(other);
	if (str_eq(one, other))
		return 2;
	return str_eq(cut_release(one), cut_release(other)) ? 1 : 0;
}

const char *platform_offer_successor(const struct platform_offer *o, const char *arch, struct str soname)
{
	const char *best = NULL;
	int best_likeness = 0;
	for (size_t i = 0; i < o->table.libraries; i++) {
		const struct offer_library *l = &o->table.library[i];
		struct str name = str_from(l->soname);
		if (strcmp(l->arch, arch) != 0 || str_eq(name, soname))
			continue;
		int found = likeness(name, soname);
		if (found > best_likeness || (found && found == best_likeness && strverscmp(l->soname, best) > 0)) {
			best = l->soname;
			best_likeness = found;
		}
	}
	return best;
}
