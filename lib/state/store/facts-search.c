// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/facts-search.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "lib/facts/library-name.h"
#include "lib/base/mem.h"
#include "lib/domain/text/library-version.h"
#include "lib/state/catalog/catalog-facts.h"
#include "lib/state/store/store.h"
#include "lib/state/store/facts-reader.h"
#include "lib/state/store/packed-facts.h"

const char *const facts_search_name[FACTS_SEARCH_KINDS] = {"needs", "bundles", "sbom", "symbol", "toolchain"};

struct searching {
	struct catalog *catalog;
	const struct facts_search *search;
	struct inside_result *out;
	// What the next wheels have:
	struct catalog_facts_name name;
	const char *use, *library, *stem, *matched;
	bool is_file, is_beside, is_unknown;
};

void inside_result_release(struct inside_result *r)
{
	free(r->hit);
	free(r->blind);
	arena_release(&r->text);
	*r = (struct inside_result){0};
}

// --- what matches ---

static bool matches_version(const struct facts_search *s, struct str version)
{
	static const struct {
		const char *text;
		bool less, equal, more;
	} row[] = {{"<", true, false, false}, {"<=", true, true, false}, {"==", false, true, false},
		{">=", false, true, true}, {">", false, false, true}};
	struct str wanted = str_from(s->version);
	// A wanted version without revision is compared with what the authors of the library released.
	if (str_find(wanted, '-') < 0)
		version = library_version_upstream(version);
	int order = library_version_compare(version, wanted);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (strcmp(row[i].text, s->compare) == 0)
			return order < 0 ? row[i].less : order > 0 ? row[i].more : row[i].equal;
	return false;
}

// Packages of languages are no libraries, even if they have the name of one, as the crate openssl.
static bool is_of_language(const char *purl)
{
	static const struct str types[] = {STR("pkg:cargo/"), STR("pkg:composer/"), STR("pkg:cran/"), STR("pkg:gem/"),
		STR("pkg:golang/"), STR("pkg:hackage/"), STR("pkg:hex/"), STR("pkg:maven/"), STR("pkg:npm/"),
		STR("pkg:nuget/"), STR("pkg:pub/"), STR("pkg:pypi/"), STR("pkg:swift/")};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_starts(str_from(purl), types[i]))
			return true;
	return false;
}

static bool matches_purl(const char *pattern, const char *purl)
{
	struct str all = str_from(purl);
	size_t end = all.len;
	if (fnmatch(pattern, purl, 0) == 0)
		return true;
	for (const char *mark = "#?@"; *mark; mark++) { // subpath, qualifiers, version: from the end
		long at = str_rfind(str_slice(all, 0, end), *mark);
		if (at <= 0)
			continue;
		end = (size_t)at;
		CLEANUP(mem_free) char *shorter = xstrndup(purl, end);
		if (fnmatch(pattern, shorter, 0) == 0)
			return true;
	}
	return false;
}

static bool matches_name(const struct facts_search *s, const struct catalog_facts_name *name)
{
	if (s->kind == FACTS_SEARCH_SBOM)
		return matches_purl(s->pattern, *name->purl ? name->purl : name->name);
	if (s->kind != FACTS_SEARCH_BUNDLES)
		return fnmatch(s->pattern, name->name, 0) == 0;
	return false;
}

// Whether a component says the version of files that have another name: openssl-libs of libssl.so.3.
static bool is_beside(const struct facts_search *s, const struct catalog_facts_name *name)
{
	return s->kind == FACTS_SEARCH_BUNDLES && name->kind == CATALOG_FACTS_COMPONENT &&
	       !is_of_language(name->purl) &&
	       str_eq(library_name_project(str_from(name->name)), library_name_project(str_from(s->pattern)));
}

// --- wheels ---

static const char *copy_some(struct arena *a, const char *text)
{
	return text && *text ? arena_copy(a, str_from(text)) : NULL;
}

static int add_hit(void *ctx, const struct catalog_facts_wheel *wheel, struct err *e UNUSED)
{
	struct searching *s = ctx;
	struct inside_result *r = s->out;
	struct arena *a = &r->text;
	if (!store_is_wanted(s->search->platform, s->search->platforms, wheel->platform))
		return 0;
	GROW(r->hit, r->hits, r->hit_room);
	struct inside_hit *hit = &r->hit[r->hits++];
	*hit = (struct inside_hit){
		.platform = arena_copy(a, str_from(wheel->platform)),
		.project = arena_copy(a, str_from(wheel->project)),
		.filename = arena_copy(a, str_from(wheel->filename)),
		.path = arena_copy(a, str_from(wheel->path)),
		.name = s->name.name,
		.version = s->name.version,
		.purl = s->name.purl,
		.use = s->use,
		.library = s->library,
		.matched = s->matched,
		.stem = s->stem,
		.is_file = s->is_file,
		.is_beside = s->is_beside,
		.is_unknown = s->is_unknown,
	};
	hex_encode(wheel->sha256, SHA256_SIZE, hit->sha256);
	return 0;
}

static int add_users(void *ctx, int64_t word, const struct catalog_facts_name *name, struct err *e)
{
	struct searching *s = ctx;
	struct arena *a = &s->out->text;
	// The name of a library that is what was sought; ptr NULL: none.
	bool may_match = s->search->kind == FACTS_SEARCH_BUNDLES && !is_of_language(name->purl);
	struct str matched = may_match ? library_name_match(str_from(name->name), s->search->pattern) : (struct str){0};
	bool matches = matched.ptr || matches_name(s->search, name);
	s->is_beside = !matches && is_beside(s->search, name);
	if (!matches && !s->is_beside)
		return 0;
	s->is_file = name->kind == CATALOG_FACTS_BUNDLES;
	if (s->is_beside)
		matched = library_name_project(str_from(name->name));
	s->matched = matched.ptr ? arena_copy(a, matched) : NULL;
	s->name = (struct catalog_facts_name){
		name->kind, arena_copy(a, str_from(name->name)), copy_some(a, name->version), copy_some(a, name->purl)};
	s->is_unknown = s->search->compare && !s->name.version;
	if (s->search->kind == FACTS_SEARCH_BUNDLES) {
		s->library = arena_copy(a, library_name_project(str_from(name->name)));
		s->stem = arena_copy(a, wheel_library_stem(str_from(name->name)));
	}
	return catalog_facts_uses(s->catalog, word, add_hit, s, e);
}

static int find_words(struct searching *s, enum catalog_facts_kind kind, struct err *e)
{
	return catalog_facts_words(s->catalog, kind, add_users, s, e);
}

// --- the order of hits, and what is left of bundled libraries ---

static int compare_hit_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_wheel(const struct inside_hit *a, const struct inside_hit *b)
{
	int order = strcmp(a->platform, b->platform);
	order = order ? order : strcmp(a->filename, b->filename);
	return order ? order : strcmp(a->path, b->path);
}

// The hits of one library in one wheel stand together: files, by their stems; components without version; with version.
static int by_library(const void *a, const void *b)
{
	const struct inside_hit *x = a, *y = b;
	int order = by_wheel(x, y);
	order = order ? order : compare_hit_texts(x->library, y->library);
	order = order ? order : (x->version != NULL) - (y->version != NULL);
	order = order ? order : y->is_file - x->is_file;
	return order ? order : compare_hit_texts(x->stem, y->stem);
}

static int by_certainty(const void *a, const void *b)
{
	const struct inside_hit *x = a, *y = b;
	int order = x->is_unknown - y->is_unknown;
	order = order ? order : by_wheel(x, y);
	order = order ? order : strcmp(x->name, y->name);
	order = order ? order : compare_hit_texts(x->version, y->version);
	order = order ? order : compare_hit_texts(x->purl, y->purl);
	return order ? order : compare_hit_texts(x->use, y->use);
}

static bool is_same_stem(const struct inside_hit *a, const struct inside_hit *b)
{
	return a->is_file && by_library(a, b) == 0;
}

// A file without version is left out if a component of the wheel says the version of this library; not if the wheel has
// two files with that stem, because then one of them may be another version.
static bool is_kept(const struct searching *s, const struct inside_hit *group, size_t count, size_t i)
{
	const struct inside_hit *hit = &group[i];
	if (hit->is_beside && !group[0].is_file)
		return false;
	if (hit->version)
		return !s->search->compare || matches_version(s->search, str_from(hit->version));
	bool is_double = (i && is_same_stem(hit, hit - 1)) || (i + 1 < count && is_same_stem(hit, hit + 1));
	return is_double || !group[count - 1].version;
}

static void choose_libraries(struct searching *s)
{
	struct inside_result *r = s->out;
	size_t kept = 0;
	if (r->hits)
		qsort(r->hit, r->hits, sizeof(*r->hit), by_library);
	CLEANUP(mem_free) struct inside_hit *all = r->hit;
	size_t count = r->hits;
	r->hit = xcalloc(count + 1, sizeof(*r->hit));
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && by_wheel(&all[from], &all[to]) == 0 &&
				    compare_hit_texts(all[from].library, all[to].library) == 0;)
			to++;
		for (size_t i = from; i < to; i++)
			if (is_kept(s, &all[from], to - from, i - from))
				r->hit[kept++] = all[i];
	}
	r->hits = kept;
	r->hit_room = count + 1;
}

// --- symbols ---

static bool has_symbol(const struct wheel_facts *f, const char *symbol, bool is_imported)
{
	for (size_t i = 0; i < f->elfs; i++)
		for (size_t k = 0; k < f->elf[i].elf.symbols; k++)
			if (f->elf[i].elf.symbol[k].is_imported == is_imported &&
				strcmp(f->elf[i].elf.symbol[k].name, symbol) == 0)
				return true;
	return false;
}

struct symbol_check {
	struct searching *searching;
	bool is_imported;
};

static int add_checked(void *ctx, const struct catalog_facts_wheel *wheel, struct err *e)
{
	const struct symbol_check *check = ctx;
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	struct err why = ERR_INIT;
	bool is_readable = facts_reader_get(check->searching->catalog, wheel->sha256, &facts, &why) == 0;
	if (is_readable && !has_symbol(&facts, check->searching->search->pattern, check->is_imported))
		return 0;
	return add_hit(check->searching, wheel, e);
}

static int find_symbol(struct searching *s, bool is_imported, struct err *e)
{
	CLEANUP(mem_free) int64_t *id = NULL;
	size_t count;
	struct symbol_check check = {s, is_imported};
	struct str symbol = str_from(s->search->pattern);
	s->name = (struct catalog_facts_name){.name = arena_copy(&s->out->text, symbol)};
	s->use = is_imported ? "imported" : "exported";
	if (catalog_facts_symbol(s->catalog, packed_facts_symbol(symbol, is_imported), &id, &count, e) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		int result = count <= FACTS_SEARCH_CHECKED
				     ? catalog_facts_files(s->catalog, id[i], add_checked, &check, e)
				     : catalog_facts_files(s->catalog, id[i], add_hit, s, e);
		if (result < 0)
			return -1;
	}
	return 0;
}

// --- the whole ---

static int add_blind(void *ctx, const char *platform, uint64_t wheels, struct err *e UNUSED)
{
	struct searching *s = ctx;
	struct inside_result *r = s->out;
	if (!store_is_wanted(s->search->platform, s->search->platforms, platform))
		return 0;
	GROW(r->blind, r->blinds, r->blind_room);
	r->blind[r->blinds++] = (struct inside_blind){arena_copy(&r->text, str_from(platform)), wheels};
	return 0;
}

static int find_all(struct searching *s, struct err *e)
{
	switch (s->search->kind) {
	case FACTS_SEARCH_NEEDS:
		return find_words(s, CATALOG_FACTS_NEEDS, e);
	case FACTS_SEARCH_BUNDLES:
		if (find_words(s, CATALOG_FACTS_BUNDLES, e) < 0 || find_words(s, CATALOG_FACTS_COMPONENT, e) < 0)
			return -1;
		choose_libraries(s);
		return 0;
	case FACTS_SEARCH_SBOM:
		return find_words(s, CATALOG_FACTS_COMPONENT, e);
	case FACTS_SEARCH_TOOLCHAIN:
		return find_words(s, CATALOG_FACTS_TOOLCHAIN, e);
	case FACTS_SEARCH_SYMBOL:
		return find_symbol(s, false, e) < 0 ? -1 : find_symbol(s, true, e);
	case FACTS_SEARCH_KINDS:
		break;
	}
	return 0;
}

int facts_search(struct catalog *c, const struct facts_search *search, struct inside_result *out, struct err *e)
{
	struct searching s = {.catalog = c, .search = search, .out = out};
	*out = (struct inside_result){0};
	CLEANUP(catalog_read_end) struct catalog *reading = NULL;
	if (catalog_read_begin(c, e) < 0)
		return -1;
	reading = c;
	if (find_all(&s, e) < 0 || catalog_facts_unknown(c, WHEEL_FACTS_VERSION, add_blind, &s, e) < 0)
		return -1;
	if (out->hits)
		qsort(out->hit, out->hits, sizeof(*out->hit), by_certainty);
	return 0;
}
