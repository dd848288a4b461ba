// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/packed-facts.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/base/strset.h"
#include "lib/facts/library-name.h"

void packed_facts_release(struct packed_facts *t)
{
	free(t->why);
	free(t->name);
	buf_release(&t->packed);
	name_hashes_release(&t->symbols);
	arena_release(&t->text);
	*t = (struct packed_facts){0};
}

// --- names ---

// Names that are too long, or too many, are not found by searches; the facts have them.
static void take_name_of_kind(struct packed_facts *t, enum catalog_facts_kind kind, struct str name,
	const char *version, const char *purl)
{
	struct str more[] = {str_from(version ? version : ""), str_from(purl ? purl : "")};
	if (!name.len || t->names == LIMIT_INSIDE_NAMES || name.len + more[0].len + more[1].len > LIMIT_INSIDE_NAME)
		return;
	GROW(t->name, t->names, t->room);
	t->name[t->names++] = (struct catalog_facts_name){.kind = kind,
		.name = arena_copy(&t->text, name),
		.version = arena_copy(&t->text, more[0]),
		.purl = arena_copy(&t->text, more[1])};
}

static int by_inside_name(const void *a, const void *b)
{
	const struct catalog_facts_name *x = a, *y = b;
	int order = x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->version, y->version);
	return order ? order : strcmp(x->purl, y->purl);
}

static struct str file_part(const char *path)
{
	struct str all = str_from(path);
	return str_slice(all, (size_t)(str_rfind(all, '/') + 1), all.len);
}

static void take_needs(struct packed_facts *t, const struct wheel_facts *f)
{
	CLEANUP(strset_release) struct strset provided = {0}, needed = {0};
	// What the members of the wheel can be needed as.
	for (size_t i = 0; i < f->elfs; i++) {
		strset_add(&provided, file_part(f->elf[i].path).ptr);
		if (f->elf[i].elf.soname)
			strset_add(&provided, f->elf[i].elf.soname);
	}
	strset_sort(&provided);
	for (size_t i = 0; i < f->elfs; i++)
		for (size_t k = 0; k < f->elf[i].elf.needed.count; k++)
			if (!strset_has(&provided, f->elf[i].elf.needed.item[k]))
				strset_add(&needed, f->elf[i].elf.needed.item[k]);
	strset_sort(&needed);
	for (size_t i = 0; i < needed.count; i++)
		take_name_of_kind(t, CATALOG_FACTS_NEEDS, str_from(needed.item[i]), NULL, NULL);
}

static void add_bundled(struct packed_facts *t, struct str library)
{
	CLEANUP(buf_release) struct buf plain = buf_up_to(LIMIT_INSIDE_NAME);
	bool is_hashed = wheel_library_is_hashed(library, &plain);
	take_name_of_kind(t, CATALOG_FACTS_BUNDLES, is_hashed ? buf_view(&plain) : library, NULL, NULL);
}

// --- symbols ---

// A symbol that the wheel imports from outside has the halves of its hash exchanged.
static uint64_t imported_hash(uint64_t hash)
{
	return hash << 32 | hash >> 32;
}

uint64_t packed_facts_symbol(struct str symbol, bool is_imported)
{
	uint64_t hash = name_hashes_of(symbol);
	return is_imported ? imported_hash(hash) : hash;
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static size_t count_wheel_symbols(const struct wheel_facts *f)
{
	size_t n = 0;
	for (size_t i = 0; i < f->elfs; i++)
		n += f->elf[i].elf.symbols;
	return n;
}

static size_t hash_wheel_symbols(const struct wheel_facts *f, bool is_imported, uint64_t *out)
{
	size_t n = 0;
	for (size_t i = 0; i < f->elfs; i++)
		for (size_t k = 0; k < f->elf[i].elf.symbols; k++)
			if (f->elf[i].elf.symbol[k].is_imported == is_imported)
				out[n++] = name_hashes_of(str_from(f->elf[i].elf.symbol[k].name));
	if (n)
		qsort(out, n, sizeof(*out), by_hash);
	return n;
}

// The exported symbols, and the imported ones that no member of the wheel exports.
static void take_symbol_hashes(struct packed_facts *t, const struct wheel_facts *f)
{
	CLEANUP(mem_free) uint64_t *hash = xcalloc(count_wheel_symbols(f) + 1, sizeof(*hash));
	size_t exported = hash_wheel_symbols(f, false, hash), count = exported;
	size_t imported = hash_wheel_symbols(f, true, hash + exported);
	for (size_t i = 0, k = 0; i < imported; i++) {
		uint64_t wanted = hash[exported + i];
		while (k < exported && hash[k] < wanted)
			k++;
		if (k == exported || hash[k] != wanted)
			hash[count++] = imported_hash(wanted);
	}
	name_hashes_make(&t->symbols, hash, count);
}

// --- the whole ---

void packed_facts_pack(struct wheel_reader *r, const struct wheel_facts *f, struct packed_facts *out)
{
	struct err why = ERR_INIT;
	buf_init(&out->packed, SIZE_MAX / 2);
	out->is_taken = true;
	if (wheel_facts_pack_by(r, f, &out->packed, &why) < 0) {
		out->why = xstrdup(why.msg);
		return;
	}
	take_needs(out, f);
	for (size_t i = 0; i < f->elfs; i++) {
		const struct wheel_elf *elf = &f->elf[i];
		struct str file = file_part(elf->path), soname = str_from(elf->elf.soname ? elf->elf.soname : "");
		// A library has a folder of its own, or its name or its SONAME says so; most extension modules have no
		// "lib" in front.
		bool has_name = str_starts(file_part(elf->path), STR("lib")) ||
				(elf->elf.soname && str_starts(str_from(elf->elf.soname), STR("lib")));
		if (!(wheel_is_bundled(elf->path) || (has_name && (elf->elf.soname || elf->elf.is_dynamic))))
			continue;
		add_bundled(out, file);
		if (!str_eq(wheel_library_stem(file), wheel_library_stem(soname)))
			add_bundled(out, soname);
	}
	for (size_t i = 0; i < f->components; i++) {
		const struct wheel_component *c = &f->component[i];
		take_name_of_kind(out, CATALOG_FACTS_COMPONENT, str_from(c->name), c->version, c->purl);
	}
	CLEANUP(strset_release) struct strset all = {0};
	for (size_t i = 0; i < f->elfs; i++)
		for (size_t k = 0; k < f->elf[i].elf.toolchain.count; k++)
			strset_add(&all, f->elf[i].elf.toolchain.item[k]);
	strset_sort(&all);
	for (size_t i = 0; i < all.count; i++)
		take_name_of_kind(out, CATALOG_FACTS_TOOLCHAIN, str_from(all.item[i]), NULL, NULL);
	size_t kept = 0;
	if (out->names)
		qsort(out->name, out->names, sizeof(*out->name), by_inside_name);
	for (size_t i = 0; i < out->names; i++)
		if (!kept || by_inside_name(&out->name[i], &out->name[kept - 1]) != 0)
			out->name[kept++] = out->name[i];
	out->names = kept;
	take_symbol_hashes(out, f);
}

int packed_facts_fail(const struct err *why, struct packed_facts *out, struct err *e)
{
	if (why->kind != ERR_INVALID && why->kind != ERR_LIMIT) {
		*e = *why;
		return -1;
	}
	out->is_taken = true;
	out->why = xstrdup(why->msg);
	return 0;
}

static int read_wheel(struct wheel_reader *r, const struct byte_source *bytes, const struct filename *name,
	struct packed_facts *out, struct err *e)
{
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	struct err why = ERR_INIT;
	if (wheel_facts_read_by(r, bytes, name, &facts, &why) < 0)
		return packed_facts_fail(&why, out, e);
	packed_facts_pack(r, &facts, out);
	return 0;
}

int packed_facts_read_file(struct wheel_reader *r, const struct byte_source *bytes, struct place_file *file,
	const struct place_version *before, const struct filename *name, struct packed_facts *out, struct err *e)
{
	struct place_info after;
	if (read_wheel(r, bytes, name, out, e) < 0)
		return -1;
	struct err gone = ERR_INIT;
	if (place_file_info(file, &after, &gone) == 0 && place_version_match(&after.version, before) != PLACE_OTHER)
		return 0;
	packed_facts_release(out);
	return err_set(e, ERR_BUSY, "changed while it was read");
}

size_t packed_facts_size(const struct packed_facts *t)
{
	size_t size = sizeof(*t) + t->packed.room + t->room * sizeof(*t->name) + t->text.total;
	for (size_t i = 0; i < NAME_HASHES_SLICES; i++)
		size += t->symbols.slice[i].room;
	return size;
}

int packed_facts_put(const struct packed_facts *t, struct catalog *c, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	if (!t->is_taken)
		return 0;
	const struct catalog_facts inside = {
		.version = WHEEL_FACTS_VERSION,
		.why = t->why,
		.packed = buf_view(&t->packed),
		.name = t->name,
		.names = t->names,
		.symbols = &t->symbols,
	};
	return catalog_facts_put(c, sha256, &inside, e);
}
