// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/platform-offer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/audit/offer-list.h"
#include "lib/audit/offer-root.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/search.h"
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
	return offer_root_read(root, LIMIT_OFFER_SECONDS, t, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

static int open_list(const char *path, struct offer_table *t, struct err *e)
{
	CLEANUP(buf_release) struct buf list;
	buf_init(&list, LIMIT_OFFER_LIST);
	if (fs_read_regular(path, &list, e) < 0)
		return -1;
	return offer_list_parse(buf_view(&list), t, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

// Every machine has one. A folder that is not the root of a machine, or of which a part is not mounted, would make
// wheels look broken that are not.
static bool has_libc(const struct offer_table *t)
{
	static const char *const heads[] = {"libc.so.", "ld-musl-"};
	for (size_t i = 0; i < t->names; i++)
		for (size_t k = 0; k < ARRAY_SIZE(heads); k++)
			if (str_starts(str_from(t->name[i].name), str_from(heads[k])))
				return true;
	return false;
}

int platform_offer_open(const char *path, struct platform_offer **out, struct err *e)
{
	struct stat st;
	CLEANUP(platform_offer_cleanup) struct platform_offer *o = xcalloc(1, sizeof(*o));
	bool is_root = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if ((is_root ? open_root(path, &o->table, e) : open_list(path, &o->table, e)) < 0)
		return -1;
	offer_table_finish(&o->table);
	if (!has_libc(&o->table))
		return err_set(e, ERR_INVALID, "%s: it has no C library, as the root of every machine has", path);
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

struct name_key {
	struct str name;
	const char *arch;
};

static bool is_offer_name_before(const void *element, const void *key)
{
	const struct offer_name *n = element;
	const struct name_key *k = key;
	int order = str_cmp(str_from(n->name), k->name);
	return order < 0 || (order == 0 && strcmp(n->arch, k->arch) < 0);
}

static const struct offer_library *find_offered(const struct offer_table *t, const char *arch, struct str name)
{
	const struct name_key key = {name, arch};
	size_t at = lower_bound(&key, t->name, t->names, sizeof(*t->name), is_offer_name_before);
	bool is_found =
		at < t->names && str_eq(name, str_from(t->name[at].name)) && strcmp(arch, t->name[at].arch) == 0;
	return is_found ? &t->library[t->name[at].library] : NULL;
}

size_t platform_offer_count(const struct platform_offer *o)
{
	return o->table.libraries;
}

size_t platform_offer_number(const struct platform_offer *o, const struct offer_library *l)
{
	return (size_t)(l - o->table.library);
}

static bool is_arch_before(const void *element, const void *key)
{
	return strcmp(((const struct offer_library *)element)->arch, key) < 0;
}

bool platform_offer_has_arch(const struct platform_offer *o, const char *arch)
{
	const struct offer_table *t = &o->table;
	size_t at = lower_bound(arch, t->library, t->libraries, sizeof(*t->library), is_arch_before);
	return at < t->libraries && strcmp(t->library[at].arch, arch) == 0;
}

// What musl's loader does not look for: "lib", one of these, and a dot.
static bool is_reserved_by_musl(struct str name)
{
	static const char *const parts[] = {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."};
	for (size_t i = 0; str_starts(name, STR("lib")) && i < ARRAY_SIZE(parts); i++)
		if (str_starts(str_slice(name, 3, name.len), str_from(parts[i])))
			return true;
	return false;
}

static const struct offer_library *find_musl(const struct offer_table *t, const char *arch)
{
	for (size_t i = 0; i < t->names; i++)
		if (strncmp(t->name[i].name, "ld-musl-", 8) == 0 && strcmp(t->name[i].arch, arch) == 0)
			return &t->library[t->name[i].library];
	return NULL;
}

const struct offer_library *platform_offer_find(const struct platform_offer *o, const char *arch, struct str soname)
{
	const struct offer_library *l = find_offered(&o->table, arch, soname);
	l = l ? l : find_offered(&o->table, OFFER_ANY_ARCH, soname);
	return l || !is_reserved_by_musl(soname) ? l : find_musl(&o->table, arch);
}

bool platform_offer_has(const struct platform_offer *o, const char *arch, struct str soname)
{
	return platform_offer_find(o, arch, soname) != NULL;
}

bool offer_library_has_version(const struct offer_library *l, const char *version)
{
	size_t at = lower_bound(version, l->version.item, l->version.count, sizeof(*l->version.item), is_string_before);
	return !l->version.count || (at < l->version.count && strcmp(l->version.item[at], version) == 0);
}

static bool is_symbol_before(const void *element, const void *key)
{
	return strcmp(((const struct offer_symbol *)element)->name, key) < 0;
}

bool offer_library_has_symbol(const struct offer_library *l, const char *symbol, const char *version)
{
	size_t at = lower_bound(symbol, l->symbol, l->symbols, sizeof(*l->symbol), is_symbol_before);
	for (; at < l->symbols && strcmp(l->symbol[at].name, symbol) == 0; at++)
		if (!version || !l->version.count ||
			(l->symbol[at].version && strcmp(l->symbol[at].version, version) == 0))
			return true;
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
