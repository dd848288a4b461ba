// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/wheel-oddities.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/limits.h"

void wheel_oddities_add(struct wheel_oddities *o, enum wheel_oddity kind, struct str path, const char *detail)
{
	struct wheel_facts *f = o->facts;
	if (o->count[kind] == LIMIT_ODDITIES)
		return;
	o->count[kind]++;
	GROW(f->odd, f->odds, o->room);
	f->odd[f->odds++] = (struct wheel_odd_member){
		.oddity = kind,
		.path = arena_copy(&f->text, path),
		.detail = detail ? arena_copy(&f->text, str_from(detail)) : NULL,
	};
}

static bool is_bytecode(struct str path)
{
	return str_ends(path, STR(".pyc")) || str_ends(path, STR(".pyo"));
}

// Links have all bits of the mode set, and say nothing by it; installers make folders of their own.
static bool is_writable(const struct zipmember *m)
{
	return m->mode & S_IWOTH && !S_ISLNK(m->mode) && !m->is_folder;
}

// The folder at the top of site-packages in which the path is, with its slash.
static struct str top_folder(struct str path)
{
	struct str rest = path, top = str_cut(&rest, '/');
	if (rest.ptr && str_ends(top, STR(".data"))) { // NAME.data/purelib/FOLDER/…
		struct str kind = str_cut(&rest, '/');
		if (!str_eq(kind, STR("purelib")) && !str_eq(kind, STR("platlib")))
			return STR("");
		top = str_cut(&rest, '/');
	}
	return rest.ptr ? str_slice(path, 0, (size_t)(top.ptr + top.len - path.ptr) + 1) : STR("");
}

static void find_top_level_tests(struct wheel_oddities *o, struct str path, struct str *last)
{
	struct str folder = top_folder(path);
	bool is_tests = str_ends(folder, STR("tests/")) || str_ends(folder, STR("test/"));
	struct str name = is_tests ? str_slice(folder, 0, folder.len - 1) : STR("");
	long slash = str_rfind(name, '/');
	name = str_slice(name, (size_t)(slash + 1), name.len);
	if (!str_eq(name, STR("tests")) && !str_eq(name, STR("test")))
		return;
	if (!str_eq(folder, *last)) // members are in order of their names
		wheel_oddities_add(o, WHEEL_ODDITY_TOP_LEVEL_TESTS, folder, NULL);
	*last = folder;
}

static int compare_nocase(const void *a, const void *b)
{
	const struct zipmember *const *left = a, *const *right = b;
	struct str one = (*left)->name, other = (*right)->name;
	size_t len = one.len < other.len ? one.len : other.len;
	for (size_t i = 0; i < len; i++) {
		char x = ascii_lower(one.ptr[i]), y = ascii_lower(other.ptr[i]);
		if (x != y)
			return (unsigned char)x < (unsigned char)y ? -1 : 1;
	}
	return one.len != other.len ? (one.len < other.len ? -1 : 1) : str_cmp(one, other);
}

// On systems that ignore the case of names, the second file replaces the first one.
static void find_same_names(struct wheel_oddities *o, const struct zipdirectory *zip)
{
	CLEANUP(mem_free) struct zipmember **order = xcalloc(zip->count + 1, sizeof(*order));
	for (size_t i = 0; i < zip->count; i++)
		order[i] = zip->by_name[i];
	qsort(order, zip->count, sizeof(*order), compare_nocase);
	for (size_t i = 1; i < zip->count && o->count[WHEEL_ODDITY_CASE] < LIMIT_ODDITIES; i++) {
		if (!str_eq_nocase(order[i - 1]->name, order[i]->name))
			continue;
		CLEANUP(mem_free) char *other = xstrndup(order[i - 1]->name.ptr, order[i - 1]->name.len);
		wheel_oddities_add(o, WHEEL_ODDITY_CASE, order[i]->name, other);
	}
}

void wheel_oddities_find(struct wheel_oddities *o, const struct zipdirectory *zip)
{
	struct str tests = STR("");
	for (size_t i = 0; i < zip->count; i++) {
		const struct zipmember *m = zip->by_name[i];
		if (is_bytecode(m->name))
			wheel_oddities_add(o, WHEEL_ODDITY_PYC, m->name, NULL);
		if (is_writable(m))
			wheel_oddities_add(o, WHEEL_ODDITY_WRITABLE, m->name, NULL);
		find_top_level_tests(o, m->name, &tests);
	}
	find_same_names(o, zip);
}
