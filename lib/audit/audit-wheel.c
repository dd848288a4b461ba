// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-wheel.h"

#include <stdlib.h>
#include <string.h>

#include "lib/audit/audit-work.h"
#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/elf/stable-abi.h"
#include "lib/facts/library-name.h"

// --- wrong machines, native code in pure wheels, damaged files ---

static bool is_library_name(const char *path)
{
	struct str name = str_from(path);
	return str_ends(name, STR(".so")) || strstr(path, ".so.");
}

// Whether one file at least has a machine of the name; then the others may be data.
static bool has_fitting(const struct audit_work *w)
{
	for (size_t i = 0; i < w->layout.count; i++)
		if (promise_find(&w->promise, &w->layout.file[i].elf->elf))
			return true;
	return false;
}

static void judge_machine(struct audit_work *w, const struct layout_file *f, bool has_other)
{
	char room[32];
	const char *machine = elf_arch_name(&f->elf->elf, room);
	bool is_elsewhere = w->promise.is_elsewhere;
	if (!elf_arch_is_host(&f->elf->elf) || (!is_elsewhere && !w->promise.count) || w->promise.is_any ||
		promise_find(&w->promise, &f->elf->elf) || (w->promise.is_not_judged && !is_elsewhere))
		return;
	if (f->is_module || wheel_is_bundled(f->elf->path) || (!is_elsewhere && !has_other))
		audit_find(w, AUDIT_WRONG_MACHINE, f->elf->path, "is for %s, which the platform %s cannot load",
			is_elsewhere ? "ELF systems such as Linux" : machine, w->promise.first);
	else
		audit_find(w, AUDIT_FOREIGN_FILE, f->elf->path, "is for %s, and useless on the platform %s",
			is_elsewhere ? "ELF systems such as Linux" : machine, w->promise.first);
}

// Where pure and native packages have folders of their own, as lib and lib64, they may be shared by several machines.
static void judge_purelib(struct audit_work *w)
{
	CLEANUP(mem_free) char *data = xasprintf(STR_FMT ".data/purelib/", STR_ARG(w->name->stem));
	size_t count = 0;
	const char *first = NULL;
	for (size_t i = 0; i < w->layout.count; i++) {
		struct str path = str_from(w->layout.file[i].elf->path);
		bool is_in_data = str_starts(path, str_slice(str_from(data), 0, strlen(data) - strlen("purelib/")));
		if (!elf_arch_is_host(&w->layout.file[i].elf->elf) ||
			!(is_in_data ? str_starts(path, str_from(data)) : w->facts->is_purelib))
			continue;
		first = first ? first : path.ptr;
		count++;
	}
	if (count && !w->promise.is_any)
		audit_find(w, AUDIT_PURELIB, first,
			"is native code where pure Python is installed (%s): machines may share that folder",
			COUNTED(count, "such file|such files"));
}

static void audit_check_machines(struct audit_work *w)
{
	bool has_other = has_fitting(w);
	for (size_t i = 0; i < w->facts->elfs; i++) {
		const struct wheel_elf *elf = &w->facts->elf[i];
		if (!elf->damage)
			continue;
		if (elf->is_beyond_limit)
			audit_find(w, AUDIT_DAMAGED_DATA, elf->path, "is not judged: %s", elf->damage);
		else if (is_library_name(elf->path))
			audit_find(w, AUDIT_DAMAGED, elf->path, "cannot be read, so that it does not load: %s",
				elf->damage);
		else
			audit_find(w, AUDIT_DAMAGED_DATA, elf->path, "begins as an ELF file, but cannot be read: %s",
				elf->damage);
	}
	for (size_t i = 0; i < w->layout.count; i++) {
		judge_machine(w, &w->layout.file[i], has_other);
		const struct layout_file *f = &w->layout.file[i];
		char room[32];
		const char *machine = elf_arch_name(&f->elf->elf, room);
		if (!w->promise.is_any || !elf_arch_is_host(&f->elf->elf))
			continue;
		if (f->elf->elf.is_relocatable)
			audit_find(w, AUDIT_FOREIGN_FILE, f->elf->path,
				"is an object file for %s in a wheel for any platform", machine);
		else
			audit_find(w, AUDIT_NATIVE_IN_PURE, f->elf->path,
				"is native code for %s, but the wheel is for any platform: it installs where this cannot run",
				machine);
	}
	judge_purelib(w);
}

// --- the stable ABI ---

enum { MINOR_MOST = 1000 };

// Symbols of the wheel's own files that look like Python's, sorted.
struct own_symbols {
	const char **name;
	size_t count, room;
	struct arena text;
};

static void own_symbols_release(struct own_symbols *o)
{
	arena_release(&o->text);
}

static bool has_tag(struct str set, struct str tag)
{
	while (set.ptr)
		if (str_eq(str_cut(&set, '.'), tag))
			return true;
	return false;
}

// The minor version of the lowest Python 3 of the name; MINOR_MOST: none. Only cp3 tags stand before abi3 (PEP 425).
static unsigned lowest_python(struct str set)
{
	uint64_t lowest = MINOR_MOST, minor;
	while (set.ptr) {
		struct str tag = str_cut(&set, '.');
		if (str_starts(tag, STR("cp3")) && decimal_parse(str_slice(tag, 3, tag.len), MINOR_MOST, &minor) &&
			minor < lowest)
			lowest = minor;
	}
	return (unsigned)lowest;
}

static bool is_own(const struct own_symbols *o, const char *name)
{
	return o->count && bsearch(&name, o->name, o->count, sizeof(*o->name), compare_strings);
}

static bool is_of_python(const struct own_symbols *own, const struct elf_symbol *s)
{
	return s->is_imported && !s->is_weak && !s->library && stable_abi_is_python(str_from(s->name)) &&
	       !is_own(own, s->name);
}

// Whether the library may have symbols of its own that look like Python's, as shiboken's does: neither this wheel has
// it, nor is it one of the system's.
static bool is_of_others(const char *library)
{
	struct str soname = str_from(library);
	const struct manylinux *row = NULL, *last = NULL;
	while ((row = manylinux_next("x86_64", row)))
		last = row;
	return !manylinux_allows_library(last, soname) && !manylinux_is_loader(soname) &&
	       !str_starts(soname, STR("libc.")) && !str_starts(soname, STR("libpython"));
}

static bool needs_others(struct audit_work *w, uint32_t file)
{
	const struct elf_list *needed = &w->layout.file[file].elf->elf.needed;
	for (size_t n = 0; n < needed->count; n++)
		if (audit_links_target(&w->links, file, n) == LINK_NONE && is_of_others(needed->item[n]))
			return true;
	return false;
}

struct abi3_list {
	struct buf names;
	size_t count;
};

static void judge_symbols(struct audit_work *w, uint32_t file, const struct own_symbols *own, unsigned lowest,
	struct abi3_list *absent, struct abi3_list *newer)
{
	const struct layout_file *f = &w->layout.file[file];
	bool has_others = needs_others(w, file);
	if (!audit_links_step(&w->links, f->elf->elf.symbols / 2))
		return;
	for (size_t i = 0; i < f->elf->elf.symbols; i++) {
		const struct elf_symbol *s = &f->elf->elf.symbol[i];
		int since = is_of_python(own, s) ? stable_abi_since(str_from(s->name)) : 0;
		CLEANUP(mem_free)
		char *text = since > (int)lowest ? xasprintf("%.200s (of Python 3.%d)", s->name, since) : NULL;
		if (since < 0 && (!has_others || stable_abi_has_kin(str_from(s->name))))
			audit_list_name(&absent->names, absent->count++, s->name);
		if (text)
			audit_list_name(&newer->names, newer->count++, text);
	}
	audit_list_end(&absent->names, absent->count);
	audit_list_end(&newer->names, newer->count);
	if (absent->count)
		audit_find(w, AUDIT_ABI3, f->elf->path,
			"imports %s, outside of the stable ABI that the tag abi3 promises: another Python than the one it was "
			"built with may fail to load it",
			absent->names.data);
	if (newer->count)
		audit_find(w, AUDIT_ABI3, f->elf->path,
			"imports %s, which the stable ABI has only since then, but the name promises cp3%u: an older Python may "
			"lack it, and then fails to load the module",
			newer->names.data, lowest);
}

static void audit_check_abi3(struct audit_work *w)
{
	CLEANUP(own_symbols_release) struct own_symbols own = {0};
	unsigned lowest = lowest_python(w->name->python);
	if ((!has_tag(w->name->abi, STR("abi3")) && !has_tag(w->name->abi, STR("abi3t"))) || lowest == MINOR_MOST)
		return;
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct elf_facts *f = &w->layout.file[i].elf->elf;
		bool is_in_time = audit_links_step(&w->links, f->symbols / 4);
		for (size_t k = 0; is_in_time && k < f->symbols; k++)
			if (!f->symbol[k].is_imported && stable_abi_is_python(str_from(f->symbol[k].name))) {
				ARENA_GROW(&own.text, own.name, own.count, own.room);
				own.name[own.count++] = f->symbol[k].name;
			}
	}
	if (own.count)
		qsort(own.name, own.count, sizeof(*own.name), compare_strings);
	for (uint32_t i = 0; i < w->layout.count; i++) {
		const struct layout_file *f = &w->layout.file[i];
		// A module that its name binds to one version, such as x.cpython-311-x86_64-linux-gnu.so, is imported
		// by no other.
		if (f->elf->elf.is_shared && elf_arch_is_host(&f->elf->elf) &&
			!(strstr(f->base, ".cpython-") || strstr(f->base, ".pypy"))) {
			struct abi3_list absent = {.count = 0}, newer = {.count = 0};
			buf_init(&absent.names, LIMIT_AUDIT_WHY);
			buf_init(&newer.names, LIMIT_AUDIT_WHY);
			judge_symbols(w, i, &own, lowest, &absent, &newer);
			buf_release(&absent.names);
			buf_release(&newer.names);
		}
	}
}

// --- RPATH and RUNPATH ---

// What is said of the folders of a search path, by where they lead; NULL: nothing.
static const struct {
	enum audit_code code;
	const char *why;
} words[] = {
	[LAYOUT_HERE] = {AUDIT_CODE_COUNT, NULL},
	[LAYOUT_ABSENT] = {AUDIT_CODE_COUNT, NULL},
	[LAYOUT_UNKNOWN] = {AUDIT_CODE_COUNT, NULL},
	[LAYOUT_ABSOLUTE] = {AUDIT_ABSOLUTE_RPATH,
		"the system may have another library there, or an attacker put one there: it loads before the right one"},
	[LAYOUT_OUTSIDE] = {AUDIT_RPATH, "that is outside of the installed packages, and depends on where they are"},
	[LAYOUT_PACKAGE] = {AUDIT_RPATH,
		"that is a folder of another package, whose libraries may be absent or of another version"},
	[LAYOUT_RELATIVE] = {AUDIT_RPATH,
		"without $ORIGIN, it is relative to the folder in which a program is started"},
};
enum { COST_ENTRY = 256 }; // searches among the names of members
enum { PLACES = ARRAY_SIZE(words), PATH_MOST = 256 << 10, SHOWN = 100 };

struct path_list {
	struct buf names;
	size_t count;
};

static void judge_path(struct audit_work *w, const struct layout_file *f, const char *path)
{
	struct path_list lists[PLACES] = {0};
	struct str rest = str_from(path);
	CLEANUP(buf_release) struct buf room = buf_up_to(PATH_MOST);
	for (size_t i = 0; i < PLACES; i++)
		buf_init(&lists[i].names, LIMIT_AUDIT_WHY);
	for (size_t i = 0; rest.ptr && i < LIMIT_AUDIT_SEARCH_PATHS && audit_links_step(&w->links, COST_ENTRY); i++) {
		struct str entry = str_cut(&rest, ':');
		enum layout_place place = layout_resolve(&w->layout, f->dir, entry, &room);
		if (!words[place].why)
			continue;
		CLEANUP(mem_free)
		char *text = entry.len ? xasprintf("\"" STR_FMT "\"", STR_ARG(str_head(entry, SHOWN)))
				       : xstrdup("an empty name");
		audit_list_name(&lists[place].names, lists[place].count++, text);
	}
	for (size_t i = 0; i < PLACES; i++) {
		audit_list_end(&lists[i].names, lists[i].count);
		if (lists[i].count)
			audit_find(w, words[i].code, f->elf->path, "searches %s: %s", lists[i].names.data,
				words[i].why);
		buf_release(&lists[i].names);
	}
}

// --- executable stacks, TEXTREL, oddities of members ---

enum { EM_I386 = 3, EM_AMD64 = 62 };

static void audit_check_marks(struct audit_work *w)
{
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct wheel_elf *elf = w->layout.file[i].elf;
		if (!elf_arch_is_host(&elf->elf) || !elf->elf.is_dynamic)
			continue;
		// Without a mark glibc takes the default of the processor, which is an executable stack on x86.
		const struct elf_facts *f = &elf->elf;
		bool is_x86 = f->machine == EM_I386 || f->machine == EM_AMD64;
		if (f->is_stack_executable)
			audit_find(w, AUDIT_EXECUTABLE_STACK, elf->path,
				"asks for an executable stack: glibc 2.41 and newer refuse to load it into a running Python, and "
				"others give up a protection");
		else if (!f->has_stack_mark && is_x86)
			audit_find(w, AUDIT_EXECUTABLE_STACK, elf->path,
				"has no PT_GNU_STACK, so that glibc takes its stack as executable: 2.41 and newer refuse to load it "
				"into a running Python");
		if (elf->elf.has_textrel)
			audit_find(w, AUDIT_TEXTREL, elf->path,
				"has relocations in its code (TEXTREL): hardened systems refuse to load it, and its pages are "
				"not shared");
	}
}

// What is said of an oddity.
static const struct {
	enum audit_code code;
	const char *why;
} oddities[WHEEL_ODDITY_COUNT] = {
	[WHEEL_ODDITY_PYC] = {AUDIT_JUNK, "is compiled Python, which installers make themselves"},
	[WHEEL_ODDITY_TOP_LEVEL_TESTS] = {AUDIT_JUNK,
		"is installed at the top level, where it collides with the tests of other packages"},
	[WHEEL_ODDITY_CASE] = {AUDIT_JUNK,
		"differs from another member by case only: some file systems keep one of them"},
	[WHEEL_ODDITY_WRITABLE] = {AUDIT_WRITABLE, "has a mode that lets every user change it"},
	[WHEEL_ODDITY_SBOM] = {AUDIT_SBOM, "is an SBOM that cannot be read"},
};

// --- equal SONAMEs, equal bytes ---

static int compare_bytes(const void *a, const void *b)
{
	const struct wheel_elf *one = *(const struct wheel_elf *const *)a, *other = *(const struct wheel_elf *const *)b;
	int order = memcmp(one->sha256, other->sha256, SHA256_SIZE);
	return order ? order : strcmp(one->path, other->path);
}

static int compare_sonames(const void *a, const void *b)
{
	const struct wheel_elf *one = *(const struct wheel_elf *const *)a, *other = *(const struct wheel_elf *const *)b;
	int order = strcmp(one->elf.soname, other->elf.soname);
	if (!order && one->elf.machine != other->elf.machine)
		order = one->elf.machine < other->elf.machine ? -1 : 1;
	if (!order && one->elf.is_64 != other->elf.is_64)
		order = one->elf.is_64 ? 1 : -1;
	return order ? order : compare_bytes(a, b);
}

static bool has_same_bytes(const struct wheel_elf *one, const struct wheel_elf *other)
{
	return memcmp(one->sha256, other->sha256, SHA256_SIZE) == 0;
}

static bool has_same_soname(const struct wheel_elf *one, const struct wheel_elf *other)
{
	return strcmp(one->elf.soname, other->elf.soname) == 0 && one->elf.machine == other->elf.machine &&
	       one->elf.is_64 == other->elf.is_64;
}

static void list_others(struct buf *out, const struct wheel_elf *const *group, size_t count)
{
	buf_init(out, LIMIT_AUDIT_WHY);
	for (size_t i = 1; i < count; i++)
		audit_list_name(out, i - 1, group[i]->path);
	audit_list_end(out, count - 1);
}

static void find_equal_bytes(struct audit_work *w, const struct wheel_elf *const *group, size_t count)
{
	CLEANUP(buf_release) struct buf others;
	list_others(&others, group, count);
	audit_find(w, AUDIT_TWIN_BYTES, group[0]->path,
		"has the same bytes as %s: copies are loaded as separate libraries, each with state of its own",
		others.data);
}

// Of files with equal bytes the other finding tells more.
static void find_equal_sonames(struct audit_work *w, const struct wheel_elf *const *group, size_t count)
{
	CLEANUP(buf_release) struct buf others = {0};
	if (has_same_bytes(group[0], group[count - 1]))
		return;
	list_others(&others, group, count);
	audit_find(w, AUDIT_TWIN_SONAME, group[0]->path,
		"has the SONAME %s, as %s: the first one that is loaded serves all that need this name",
		group[0]->elf.soname, others.data);
}

typedef bool is_twin_fn(const struct wheel_elf *one, const struct wheel_elf *other);
typedef void find_twins_fn(struct audit_work *w, const struct wheel_elf *const *group, size_t count);

static void each_group(struct audit_work *w, const struct wheel_elf **files, size_t count, is_twin_fn *is_twin,
	find_twins_fn *find)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && is_twin(files[i], files[end]);)
			end++;
		if (end - i > 1)
			find(w, files + i, end - i);
	}
}

// Python loads modules by their paths, so that their SONAMEs mean nothing.
static void audit_check_twins(struct audit_work *w)
{
	size_t count = 0, named = 0;
	CLEANUP(mem_free) const struct wheel_elf **files = xcalloc(w->layout.count + 1, sizeof(*files));
	CLEANUP(mem_free) const struct wheel_elf **sonames = xcalloc(w->layout.count + 1, sizeof(*sonames));
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct layout_file *f = &w->layout.file[i];
		if (!f->elf->elf.is_shared || !elf_arch_is_host(&f->elf->elf))
			continue;
		files[count++] = f->elf;
		if (f->elf->elf.soname && !f->is_module)
			sonames[named++] = f->elf;
	}
	qsort(files, count, sizeof(*files), compare_bytes);
	each_group(w, files, count, has_same_bytes, find_equal_bytes);
	qsort(sonames, named, sizeof(*sonames), compare_sonames);
	each_group(w, sonames, named, has_same_soname, find_equal_sonames);
}

// --- the whole ---

static void audit_work_release(struct audit_work *w)
{
	audit_links_release(&w->links);
	layout_release(&w->layout);
}

static void add_of_rule(void *ctx, enum audit_code code, enum audit_level level, const char *rule, const char *member,
	const char *why)
{
	audit_report_add(ctx, (struct audit_finding){code, level, member, rule, why});
}

void audit_wheel(const struct wheel_facts *facts, const struct filename *name, const struct audit_options *options,
	struct audit_report *out)
{
	CLEANUP(audit_rules_cleanup)
	struct audit_rules *rules = audit_rules_new(options->policy, name->project, options->platform);
	CLEANUP(audit_work_release)
	struct audit_work w = {.facts = facts, .name = name, .rules = rules, .offer = options->offer, .report = out};
	*out = (struct audit_report){0};
	promise_init(&w.promise, name);
	layout_init(&w.layout, facts, name);
	audit_links_init(&w.links, &w.layout);
	audit_check_machines(&w);
	audit_check_tag(&w);
	audit_check_libraries(&w);
	for (size_t i = 0; i < w.layout.count; i++) {
		const char *path = layout_search_path(&w.layout.file[i].elf->elf);
		if (path && elf_arch_is_host(&w.layout.file[i].elf->elf))
			judge_path(&w, &w.layout.file[i], path);
	}
	audit_check_abi3(&w);
	audit_check_marks(&w);
	audit_check_twins(&w);
	for (size_t i = 0; i < w.facts->odds; i++) {
		const struct wheel_odd_member *odd = &w.facts->odd[i];
		const char *detail = odd->detail;
		audit_find(&w, oddities[odd->oddity].code, odd->path, "%s%s%s", oddities[odd->oddity].why,
			detail ? ": " : "", detail ? detail : "");
	}
	if (w.facts->is_cut) {
		w.report->is_incomplete = audit_rules_level(w.rules, AUDIT_INCOMPLETE, NULL) != AUDIT_OFF;
		audit_find(&w, AUDIT_INCOMPLETE, NULL, "is not read as a whole, so that something may be unknown: %s",
			w.facts->cut);
	}
	if (w.links.is_cut)
		audit_find(&w, AUDIT_TOO_COMPLEX, NULL,
			"is not judged as a whole: its libraries and symbols need more than %d steps",
			LIMIT_AUDIT_STEPS);
	audit_rules_apply(rules, facts, add_of_rule, out);
	audit_report_finish(out);
}
