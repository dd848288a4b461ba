// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild.h"

#include <stdlib.h>
#include <string.h>

#include "lib/audit/audit-layout.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/domain/elf/stable-abi.h"

// --- what a file finds ---
//
// What a wheel's ELF files find when they are loaded on a platform: the libraries that the wheel brings, those of the
// platform that it needs, with what these need, and the interpreter's. For rebuild.h. One thread at a time.

struct rebuild_scope {
	const struct wheel_facts *facts;
	const struct platform_offer *offer;
	struct layout layout;
	const struct offer_library **library; // of the platform
	size_t libraries;
	const char **exported; // symbols of the wheel's ELF files, sorted; made when they are first asked for
	size_t exports;
	size_t work; // steps so far
	struct arena text;
};

enum rebuild_search {
	REBUILD_SEARCH_SYSTEM, // libraries that the wheel does not bring come from the loader's folders
	REBUILD_SEARCH_FOLDER, // or from a folder outside of the site-packages
	REBUILD_SEARCH_PACKAGE // or from another package beside this one
};

// Libraries that an interpreter has loaded already, as CPython is usually built.
static const char *const of_python[] = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
	"libutil.so.1", "libz.so.1", "libexpat.so.1", "libc.so"};

// Whether a file of the wheel has this name, or this SONAME.
static bool rebuild_scope_brings(struct rebuild_scope *s, const char *soname)
{
	const struct layout *l = &s->layout;
	size_t first;
	s->work++;
	return layout_equal(l->by_base, l->count, soname, &first) > first ||
	       layout_equal(l->by_soname, l->sonames, soname, &first) > first;
}

// --- names ---

// --- libraries of the platform ---

static void add_library(struct rebuild_scope *s, bool *is_listed, const char *arch, const char *soname)
{
	const struct offer_library *l = platform_offer_find(s->offer, arch, str_from(soname));
	if (!l || is_listed[platform_offer_number(s->offer, l)])
		return;
	is_listed[platform_offer_number(s->offer, l)] = true;
	s->library[s->libraries++] = l;
}

static void add_needs_of_file(struct rebuild_scope *s, bool *is_listed, const struct elf_facts *elf)
{
	const char *arch = elf_arch(elf);
	for (size_t i = 0; arch && i < elf->needed.count; i++)
		if (!rebuild_scope_brings(s, elf->needed.item[i]))
			add_library(s, is_listed, arch, elf->needed.item[i]);
	for (size_t i = 0; arch && i < ARRAY_SIZE(of_python); i++)
		add_library(s, is_listed, arch, of_python[i]);
}

// What the libraries need is behind them in the list, which therefore grows meanwhile.
static void list_libraries(struct rebuild_scope *s)
{
	size_t most = platform_offer_count(s->offer);
	CLEANUP(mem_free) bool *is_listed = xcalloc(most + 1, sizeof(*is_listed));
	s->library = ARENA_NEW(&s->text, const struct offer_library *, most);
	for (size_t i = 0; i < s->facts->elfs; i++)
		if (!s->facts->elf[i].damage)
			add_needs_of_file(s, is_listed, &s->facts->elf[i].elf);
	for (size_t i = 0; i < s->libraries; i++)
		for (size_t k = 0; k < s->library[i]->needed.count; k++)
			add_library(s, is_listed, s->library[i]->arch, s->library[i]->needed.item[k]);
}

// --- questions ---

// Whether any library in scope has the symbol, or a file of the wheel. version NULL: any.
static bool rebuild_scope_has_symbol(struct rebuild_scope *s, const char *symbol, const char *version)
{
	s->work += s->libraries + 1;
	for (size_t i = 0; i < s->libraries; i++)
		if (!s->library[i]->is_readable || offer_library_has_symbol(s->library[i], symbol, version))
			return true;
	if (!s->exported) {
		size_t room = 0;
		for (size_t i = 0; i < s->facts->elfs; i++)
			room += s->facts->elf[i].damage ? 0 : s->facts->elf[i].elf.symbols;
		s->exported = ARENA_NEW(&s->text, const char *, room);
		for (size_t i = 0; i < s->facts->elfs; i++) {
			const struct wheel_elf *w = &s->facts->elf[i];
			for (size_t k = 0; !w->damage && k < w->elf.symbols; k++)
				if (!w->elf.symbol[k].is_imported)
					s->exported[s->exports++] = w->elf.symbol[k].name;
		}
		qsort(s->exported, s->exports, sizeof(*s->exported), compare_strings);
		s->work += room;
	}
	size_t at = lower_bound(symbol, s->exported, s->exports, sizeof(*s->exported), is_string_before);
	return at < s->exports && strcmp(s->exported[at], symbol) == 0;
}

// Whether it has taken more than LIMIT_REBUILD_WORK steps.
static bool rebuild_scope_is_exhausted(const struct rebuild_scope *s)
{
	return s->work > LIMIT_REBUILD_WORK;
}

// --- search paths ---

static const struct layout_file *find_placed(const struct layout *l, const struct wheel_elf *file)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->file[i].elf == file)
			return &l->file[i];
	return NULL;
}

// Where the file's RPATH or RUNPATH leads, at most.
static enum rebuild_search rebuild_scope_search(struct rebuild_scope *s, const struct wheel_elf *file)
{
	const char *path = layout_search_path(&file->elf);
	const struct layout_file *placed = path ? find_placed(&s->layout, file) : NULL;
	enum rebuild_search found = REBUILD_SEARCH_SYSTEM;
	CLEANUP(buf_release) struct buf room = buf_up_to(LIMIT_ELF_STRING + LIMIT_PATH);
	s->work += s->layout.count + 1;
	for (struct str rest = str_from(placed ? path : ""); rest.len && !rebuild_scope_is_exhausted(s);) {
		struct str entry = str_cut(&rest, ':');
		static const enum rebuild_search of_place[LAYOUT_PLACE_COUNT] = {
			[LAYOUT_HERE] = REBUILD_SEARCH_SYSTEM,
			[LAYOUT_ABSENT] = REBUILD_SEARCH_PACKAGE,
			[LAYOUT_PACKAGE] = REBUILD_SEARCH_PACKAGE,
			[LAYOUT_OUTSIDE] = REBUILD_SEARCH_FOLDER,
			[LAYOUT_ABSOLUTE] = REBUILD_SEARCH_FOLDER,
			[LAYOUT_RELATIVE] = REBUILD_SEARCH_SYSTEM,
			[LAYOUT_UNKNOWN] = REBUILD_SEARCH_FOLDER,
		};
		enum rebuild_search one = of_place[layout_resolve(&s->layout, placed->dir, entry, &room)];
		found = one > found ? one : found;
		s->work += 100;
	}
	return found;
}

const char *const rebuild_state_name[REBUILD_STATE_COUNT] = {
	[REBUILD_FITS] = "fits",
	[REBUILD_UNKNOWN] = "unknown",
	[REBUILD_SYMBOL] = "symbol-gone",
	[REBUILD_VERSION] = "version-gone",
	[REBUILD_SONAME] = "soname-gone",
};

struct rebuild_judging {
	struct rebuild_scope scope;
	struct rebuild_verdict *out;
	struct audit_rules *rules; // NULL: none
	bool has_arch;             // an ELF file was for the platform's architecture
};

// One file of the wheel.
struct judged_file {
	const struct wheel_elf *file;
	const char *arch;
	const struct offer_library *plain; // a library of the platform without versions that it needs; NULL: none
	size_t plains;                     // how many there are
	bool is_whole;                     // all its libraries are known
};

// --- reasons ---

static bool is_same_or_null(const char *one, const char *other)
{
	return one && other ? strcmp(one, other) == 0 : one == other;
}

static const char *copy_into_verdict(struct rebuild_judging *j, const char *text)
{
	return text ? arena_copy(&j->out->text, str_from(text)) : NULL;
}

static struct rebuild_reason *find_least(struct rebuild_verdict *v)
{
	struct rebuild_reason *least = &v->reason[0];
	for (size_t i = 1; i < v->reasons; i++)
		if (v->reason[i].state <= least->state)
			least = &v->reason[i];
	return least;
}

// Where the list is full, a worse reason takes the place of a lesser one.
static void add_reason(struct rebuild_judging *j, struct rebuild_reason r)
{
	struct rebuild_verdict *v = j->out;
	_Static_assert(ARRAY_SIZE(v->reason) == LIMIT_REBUILD_REASONS, "the list has as many as may be listed");
	v->state = r.state > v->state ? r.state : v->state;
	for (size_t i = 0; i < v->reasons; i++)
		if (v->reason[i].state == r.state && is_same_or_null(v->reason[i].library, r.library) &&
			is_same_or_null(v->reason[i].detail, r.detail))
			return;
	struct rebuild_reason *place = v->reasons < LIMIT_REBUILD_REASONS ? &v->reason[v->reasons] : find_least(v);
	if (v->reasons < LIMIT_REBUILD_REASONS)
		v->reasons++;
	else if (place->state >= r.state)
		return;
	*place = (struct rebuild_reason){r.state, copy_into_verdict(j, r.member), copy_into_verdict(j, r.library),
		copy_into_verdict(j, r.detail), copy_into_verdict(j, r.instead)};
}

static void add_unknown(struct rebuild_judging *j, const char *member, const char *library, const char *why)
{
	add_reason(j, (struct rebuild_reason){REBUILD_UNKNOWN, member, library, why, NULL});
}

// --- libraries ---

// Neither brought nor offered.
static void judge_absent(struct rebuild_judging *j, struct judged_file *f, const char *soname)
{
	const char *instead = platform_offer_successor(j->scope.offer, f->arch, str_from(soname));
	enum rebuild_search search = rebuild_scope_search(&j->scope, f->file);
	f->is_whole = false;
	j->scope.work += platform_offer_count(j->scope.offer);
	if (strncmp(soname, "libpython", 9) == 0 || strncmp(soname, "libpypy", 7) == 0) // the interpreter's
		return;
	if (j->rules && audit_rules_allow(j->rules, f->file->path, soname))
		return;
	if (search == REBUILD_SEARCH_PACKAGE)
		add_unknown(j, f->file->path, soname, "it may be in another package");
	else if (search == REBUILD_SEARCH_FOLDER && !instead)
		add_unknown(j, f->file->path, soname, "it may be in a folder that RPATH names");
	else
		add_reason(j, (struct rebuild_reason){REBUILD_SONAME, f->file->path, soname, NULL, instead});
}

// --- versions ---

static void judge_versions(struct rebuild_judging *j, const struct judged_file *f)
{
	const struct elf_facts *elf = &f->file->elf;
	for (size_t i = 0; i < elf->needed_versions && !rebuild_scope_is_exhausted(&j->scope); i++) {
		const struct elf_version *v = &elf->needed_version[i];
		if (v->is_weak || rebuild_scope_brings(&j->scope, v->library))
			continue;
		const struct offer_library *l = platform_offer_find(j->scope.offer, f->arch, str_from(v->library));
		if (l && !l->is_readable)
			add_unknown(j, f->file->path, v->library, "the platform's copy cannot be read");
		else if (l && !offer_library_has_version(l, v->name))
			add_reason(j,
				(struct rebuild_reason){REBUILD_VERSION, f->file->path, v->library, v->name, NULL});
	}
}

// --- symbols ---

// A symbol with a version comes from the library that has the version, or from where that library moved it.
static bool is_versioned_gone(struct rebuild_judging *j, const struct judged_file *f, const struct elf_symbol *s)
{
	if (rebuild_scope_brings(&j->scope, s->library))
		return false;
	const struct offer_library *l = platform_offer_find(j->scope.offer, f->arch, str_from(s->library));
	if (!l || !l->is_readable || !offer_library_has_version(l, s->version)) // known already
		return false;
	return !offer_library_has_symbol(l, s->name, s->version) &&
	       !rebuild_scope_has_symbol(&j->scope, s->name, s->version);
}

// A symbol without a version may be one of the program that loads the file, such as the interpreter. It was a library's
// only if one is needed that has no versions.
static bool is_plain_gone(struct rebuild_judging *j, const struct judged_file *f, const struct elf_symbol *s)
{
	return f->plain && f->is_whole && !stable_abi_is_python(str_from(s->name)) &&
	       !offer_library_has_symbol(f->plain, s->name, NULL) &&
	       !rebuild_scope_has_symbol(&j->scope, s->name, NULL);
}

// Further symbols change nothing.
static bool has_enough_symbols(struct rebuild_judging *j)
{
	return j->out->reasons == LIMIT_REBUILD_REASONS && find_least(j->out)->state >= REBUILD_SYMBOL;
}

static void judge_symbols(struct rebuild_judging *j, const struct judged_file *f)
{
	size_t count = has_enough_symbols(j) ? 0 : f->file->elf.symbols;
	for (size_t i = 0; i < count && !rebuild_scope_is_exhausted(&j->scope); i++) {
		const struct elf_symbol *s = &f->file->elf.symbol[i];
		bool is_versioned = s->version && s->library;
		j->scope.work++;
		if (!s->is_imported || s->is_weak ||
			!(is_versioned ? is_versioned_gone(j, f, s) : is_plain_gone(j, f, s)))
			continue;
		CLEANUP(mem_free)
		char *detail = is_versioned ? xasprintf("%s@%s", s->name, s->version) : xstrdup(s->name);
		add_reason(j, (struct rebuild_reason){REBUILD_SYMBOL, f->file->path,
				      is_versioned     ? s->library
				      : f->plains == 1 ? f->plain->soname
						       : NULL,
				      detail, NULL});
		if (has_enough_symbols(j))
			return;
	}
}

// --- the wheel ---

static void judge_file(struct rebuild_judging *j, const struct wheel_elf *file)
{
	struct judged_file f = {.file = file, .is_whole = true};
	if (file->damage) {
		add_unknown(j, file->path, NULL, file->damage);
		return;
	}
	f.arch = elf_arch(&file->elf);
	if (!f.arch || !platform_offer_has_arch(j->scope.offer, f.arch))
		return;
	j->has_arch = true;
	const struct elf_facts *elf = &f.file->elf;
	for (size_t i = 0; i < elf->needed.count && !rebuild_scope_is_exhausted(&j->scope); i++) {
		const char *soname = elf->needed.item[i];
		if (rebuild_scope_brings(&j->scope, soname))
			continue;
		const struct offer_library *l = platform_offer_find(j->scope.offer, f.arch, str_from(soname));
		if (!l) {
			judge_absent(j, &f, soname);
			continue;
		}
		if (!l->version.count && l->is_readable) {
			f.plain = l;
			f.plains++;
		}
	}
	judge_versions(j, &f);
	judge_symbols(j, &f);
}

static void judge_wheel(struct rebuild_judging *j)
{
	const struct wheel_facts *facts = j->scope.facts;
	for (size_t i = 0; i < facts->elfs; i++)
		judge_file(j, &facts->elf[i]);
	if (!j->has_arch)
		add_unknown(j, NULL, NULL, "none of its ELF files is for the architecture of the platform's libraries");
	if (rebuild_scope_is_exhausted(&j->scope))
		add_unknown(j, NULL, NULL, "it has too many symbols to judge them all");
}

void rebuild_judge(const struct wheel_facts *facts, const struct filename *name, const char *why,
	const struct platform_offer *offer, struct audit_rules *rules, struct rebuild_verdict *out)
{
	struct rebuild_judging j = {.out = out, .rules = rules};
	*out = (struct rebuild_verdict){.state = REBUILD_FITS};
	if (!facts) {
		add_unknown(&j, NULL, NULL, why);
		return;
	}
	if (facts->is_cut)
		add_unknown(&j, NULL, NULL, facts->cut);
	if (!facts->elfs)
		return;
	// All are borrowed. The caller releases the scope.
	j.scope = (struct rebuild_scope){.facts = facts, .offer = offer};
	layout_init(&j.scope.layout, facts, name);
	list_libraries(&j.scope);
	judge_wheel(&j);
	layout_release(&j.scope.layout);
	arena_release(&j.scope.text);
	j.scope = (struct rebuild_scope){0};
	// The worst first, otherwise in the order in which they were found.
	for (size_t i = 1; i < out->reasons; i++)
		for (size_t k = i; k > 0 && out->reason[k].state > out->reason[k - 1].state; k--) {
			struct rebuild_reason swapped = out->reason[k];
			out->reason[k] = out->reason[k - 1];
			out->reason[k - 1] = swapped;
		}
}

void rebuild_verdict_release(struct rebuild_verdict *v)
{
	arena_release(&v->text);
	*v = (struct rebuild_verdict){0};
}

void rebuild_verdict_print(const struct rebuild_verdict *v, struct buf *out)
{
	const struct rebuild_reason *r = &v->reason[0];
	const char *library = v->reasons && r->library ? r->library : "";
	if (!v->reasons)
		return;
	if (r->state == REBUILD_SONAME && r->instead)
		buf_printf(out, "%s is gone; %s is there", library, r->instead);
	else if (r->state == REBUILD_SONAME)
		buf_printf(out, "%s is gone; nothing replaces it", library);
	else if (r->state == REBUILD_VERSION)
		buf_printf(out, "%s does not define version %s", library, r->detail);
	else if (r->state == REBUILD_SYMBOL && !r->library)
		buf_printf(out, "no library defines %s", r->detail);
	else if (r->state == REBUILD_SYMBOL)
		buf_printf(out, "%s does not define %s", library, r->detail);
	else
		buf_printf(out, "%s%s%s",
			*library    ? library
			: r->member ? r->member
				    : "",
			*library || r->member ? ": " : "", r->detail);
}
