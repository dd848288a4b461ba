// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/audit/audit-work.h"
#include "lib/facts/library-name.h"

enum { COST_LIBRARY = 128 }; // a look into all indexes, and a finding

// Where a library is that a file needs and that no search path within the wheel leads to.
enum library_place {
	PLACE_SYSTEM, // allowed by the tag or the policy, or offered by the platform
	PLACE_HASHED, // the wheel has it under a name with a hash
	PLACE_LOOSE,  // the wheel has it, but nothing leads there
	PLACE_BEYOND, // the search path leaves the wheel, which is a finding of its own: another package may have it
	PLACE_OTHER,  // the same within the folders of the wheel's packages: another wheel may have it
	PLACE_UNKNOWN,
	PLACE_PYTHON, // libpython
	PLACE_NOWHERE,
};

// Whether one is the beginning of the other, up to a dot: ".so.1" of ".so.1.2.3".
static bool is_version_of(struct str one, struct str other)
{
	struct str shorter = one.len < other.len ? one : other, longer = one.len < other.len ? other : one;
	return str_starts(longer, shorter) && (longer.len == shorter.len || longer.ptr[shorter.len] == '.');
}

static struct str ending_of(struct str name)
{
	const char *at = memmem(name.ptr, name.len, ".so", 3);
	return at ? str_slice(name, (size_t)(at - name.ptr), name.len) : (struct str){"", 0};
}

// The copy of that library whose name has a hash. NULL: there is none.
static const struct layout_file *find_hashed(struct audit_work *w, const char *name)
{
	struct str stem = wheel_library_stem(str_from(name));
	CLEANUP(mem_free) char *key = xstrndup(stem.ptr, stem.len);
	size_t i, end = layout_equal(w->layout.hashed, w->layout.hashes, key, &i);
	for (; i < end && audit_links_step(&w->links, 1); i++) {
		const struct layout_file *f = &w->layout.file[w->layout.hashed[i].file];
		if (is_version_of(ending_of(str_from(f->base)), ending_of(str_from(name))))
			return f;
	}
	return NULL;
}

// A file of the wheel with that file name or SONAME. NULL: there is none.
static const struct layout_file *find_loose(const struct audit_work *w, const char *name)
{
	const struct layout *l = &w->layout;
	size_t i;
	if (layout_equal(l->by_base, l->count, name, &i) > i)
		return &l->file[l->by_base[i].file];
	if (layout_equal(l->by_soname, l->sonames, name, &i) > i)
		return &l->file[l->by_soname[i].file];
	return NULL;
}

static bool is_of_system(const struct audit_work *w, const struct promise_arch *a, const struct layout_file *f,
	const char *name)
{
	const struct platform_offer *offer = w->offer;
	struct str soname = str_from(name);
	bool is_allowed = promise_is_strict(a) && promise_allows_library(a, soname);
	return is_allowed || manylinux_is_loader(soname) || str_starts(soname, STR("ld-musl-")) ||
	       (offer && platform_offer_has(offer, a->arch->name, soname)) ||
	       audit_rules_allow(w->rules, f->elf->path, name);
}

static enum library_place find_place(struct audit_work *w, uint32_t file, const struct promise_arch *a,
	const char *name)
{
	const struct layout_file *f = &w->layout.file[file];
	if (is_of_system(w, a, f, name))
		return PLACE_SYSTEM;
	if (find_hashed(w, name))
		return PLACE_HASHED;
	if (find_loose(w, name))
		return PLACE_LOOSE;
	enum layout_place farthest = audit_links_farthest(&w->links, file);
	if (farthest >= LAYOUT_ABSENT)
		return farthest == LAYOUT_ABSENT ? PLACE_OTHER : PLACE_BEYOND;
	if (str_starts(str_from(name), STR("libpython")) && strstr(name, ".so"))
		return PLACE_PYTHON;
	bool is_unknown = w->facts->is_cut || w->links.is_cut || (!promise_is_strict(a) && !w->offer);
	return is_unknown ? PLACE_UNKNOWN : PLACE_NOWHERE;
}

static bool is_of_glibc(struct str name)
{
	static const struct str names[] = {STR("libc.so.6"), STR("libm.so.6"), STR("libpthread.so.0"),
		STR("libdl.so.2"), STR("librt.so.1"), STR("libutil.so.1")};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static void find_missing(struct audit_work *w, const struct promise_arch *a, const char *member, const char *name)
{
	struct str soname = str_from(name);
	if (a->musl && is_of_glibc(soname))
		audit_find(w, AUDIT_MISSING_LIBRARY, member,
			"needs %s, which is glibc's, but systems of %s have musl: it does not load there", name,
			a->musl_tag);
	else if (a->glibc && (str_starts(soname, STR("libc.musl-")) || str_eq(soname, STR("libc.so"))))
		audit_find(w, AUDIT_MISSING_LIBRARY, member,
			"needs %s, which is musl's, but systems of %s have glibc: it does not load there", name,
			a->glibc_tag);
	else if (strchr(name, '/'))
		audit_find(w, AUDIT_MISSING_LIBRARY, member,
			"needs the file %s by its path, which only the machine that built it has: it does not load "
			"elsewhere",
			name);
	else if (promise_is_strict(a))
		audit_find(w, AUDIT_MISSING_LIBRARY, member,
			"needs %s, which is neither in the wheel nor allowed by %s: it fails to load unless the system has it, "
			"or Python code has loaded it before",
			name, promise_tag(a));
	else
		audit_find(w, AUDIT_MISSING_LIBRARY, member,
			"needs %s, which is neither in the wheel nor on the platform: it fails to load", name);
}

static void judge_library(struct audit_work *w, uint32_t file, const struct promise_arch *a, const char *name)
{
	const char *member = w->layout.file[file].elf->path;
	switch (find_place(w, file, a, name)) {
	case PLACE_HASHED:
		audit_find(w, AUDIT_UNHASHED_NAME, member,
			"needs %s, but the wheel has that library as %s: it fails to load, or takes another copy of the "
			"system",
			name, find_hashed(w, name)->base);
		break;
	case PLACE_LOOSE:
		audit_find(w, AUDIT_LOOSE_LIBRARY, member,
			"needs %s, which the wheel has as %s, but no RPATH leads there: it loads only if Python code loads "
			"the library before",
			name, find_loose(w, name)->elf->path);
		break;
	case PLACE_OTHER:
		audit_find(w, AUDIT_LOOSE_LIBRARY, member,
			"needs %s, which is not in the wheel; its search path leads to a folder of the package where another "
			"wheel may put it",
			name);
		break;
	case PLACE_PYTHON: // a Python that was built without a shared library, as Debian's, has no libpython
		if (promise_is_strict(a))
			audit_find(w, AUDIT_MISSING_LIBRARY, member,
				"needs %s, which is neither in the wheel nor allowed by %s: it fails to load with a Python that has "
				"no shared library, such as Debian's",
				name, promise_tag(a));
		else
			audit_find(w, AUDIT_LIBPYTHON, member,
				"needs %s: it fails to load with a Python that has no shared library, such as Debian's",
				name);
		break;
	case PLACE_NOWHERE:
		find_missing(w, a, member, name);
		break;
	case PLACE_SYSTEM:
	case PLACE_BEYOND:
	case PLACE_UNKNOWN:
		break;
	}
}

static bool defines(const struct elf_facts *f, const char *version)
{
	for (size_t i = 0; i < f->defined_versions; i++)
		if (strcmp(f->defined_version[i].name, version) == 0)
			return true;
	return f->defined_versions == 0; // then the loader only warns
}

static void judge_file(struct audit_work *w, uint32_t file)
{
	static const struct elf_arch unknown = {.name = ""};
	static const struct promise_arch nothing = {.arch = &unknown};
	const struct elf_facts *elf = &w->layout.file[file].elf->elf;
	const struct promise_arch *a = promise_find(&w->promise, elf);
	if ((!a && w->promise.count) || w->promise.is_elsewhere || !elf_arch_is_host(elf))
		return; // a finding of its own
	for (size_t n = 0; n < elf->needed.count; n++)
		if (audit_links_target(&w->links, file, n) == LINK_NONE && audit_links_step(&w->links, COST_LIBRARY))
			judge_library(w, file, a ? a : &nothing, elf->needed.item[n]);
	// A version that the bundled copy of a library does not have.
	const struct layout_file *f = &w->layout.file[file];
	for (size_t i = 0; i < f->elf->elf.needed_versions; i++) {
		const struct elf_version *v = &f->elf->elf.needed_version[i];
		uint32_t target = audit_links_find(&w->links, file, v->library);
		if (v->is_weak || target == LINK_NONE)
			continue;
		const struct layout_file *bundled = &w->layout.file[target];
		if (audit_links_step(&w->links, bundled->elf->elf.defined_versions) &&
			!defines(&bundled->elf->elf, v->name))
			audit_find(w, AUDIT_MISSING_LIBRARY, f->elf->path,
				"needs %s of %s, which the wheel's %s does not have: it fails to load, with \"version `%s' not "
				"found\"",
				v->name, v->library, bundled->elf->path, v->name);
	}
}

void audit_check_libraries(struct audit_work *w)
{
	for (uint32_t i = 0; i < w->layout.count; i++)
		judge_file(w, i);
}
