// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/distinfo.h"
#include "lib/domain/wheel/record.h"
#include "lib/facts/sbom.h"
#include "lib/facts/wheel-reading.h"

// --- oddities: what no wheel needs, and what differs between systems ---

// Adds an oddity, unless there are LIMIT_ODDITIES of its kind.
static void add_oddity(struct wheel_reading *r, enum wheel_oddity kind, struct str path, const char *detail)
{
	struct wheel_facts *f = r->out;
	if (r->odd_count[kind] == LIMIT_ODDITIES)
		return;
	r->odd_count[kind]++;
	ARENA_GROW(&f->text, f->odd, f->odds, r->odd_room);
	f->odd[f->odds++] = (struct wheel_odd_member){
		.oddity = kind,
		.path = arena_copy(&f->text, path),
		.detail = detail ? arena_copy(&f->text, str_from(detail)) : NULL,
	};
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

static void find_oddities(struct wheel_reading *r)
{
	struct str tests = STR("");
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = r->zip.by_name[i];
		if (str_ends(m->name, STR(".pyc")) || str_ends(m->name, STR(".pyo")))
			add_oddity(r, WHEEL_ODDITY_PYC, m->name, NULL);
		// Links have all bits of the mode set, and say nothing by it; installers make folders of their own.
		if (m->mode & S_IWOTH && !S_ISLNK(m->mode) && !m->is_folder)
			add_oddity(r, WHEEL_ODDITY_WRITABLE, m->name, NULL);
		struct str path = m->name;
		struct str *last = &tests;
		struct str folder = top_folder(path);
		bool is_tests = str_ends(folder, STR("tests/")) || str_ends(folder, STR("test/"));
		struct str name = is_tests ? str_slice(folder, 0, folder.len - 1) : STR("");
		long slash = str_rfind(name, '/');
		name = str_slice(name, (size_t)(slash + 1), name.len);
		if (!str_eq(name, STR("tests")) && !str_eq(name, STR("test")))
			continue;
		if (!str_eq(folder, *last)) // members are in order of their names
			add_oddity(r, WHEEL_ODDITY_TOP_LEVEL_TESTS, folder, NULL);
		*last = folder;
	}
	// On systems that ignore the case of names, the second file replaces the first one.
	CLEANUP(mem_free) struct zipmember **order = xcalloc(r->zip.count + 1, sizeof(*order));
	for (size_t i = 0; i < r->zip.count; i++)
		order[i] = r->zip.by_name[i];
	qsort(order, r->zip.count, sizeof(*order), compare_nocase);
	for (size_t i = 1; i < r->zip.count && r->odd_count[WHEEL_ODDITY_CASE] < LIMIT_ODDITIES; i++) {
		if (!str_eq_nocase(order[i - 1]->name, order[i]->name))
			continue;
		CLEANUP(mem_free) char *other = xstrndup(order[i - 1]->name.ptr, order[i - 1]->name.len);
		add_oddity(r, WHEEL_ODDITY_CASE, order[i]->name, other);
	}
}

// --- ELF files ---

enum { MAGIC = 4 };

// A member that begins as an ELF file does.
struct elf_member {
	const struct zipmember *member;
	bool has_sha256; // of RECORD
	uint8_t sha256[SHA256_SIZE];
};

struct elf_members {
	struct elf_member *item; // in the order of the archive
	struct elf_member **by_name;
	size_t count, room;
	size_t facts_left; // bytes that the facts of further files may have
	struct arena text; // owns the arrays
};

static void elf_members_release(struct elf_members *l)
{
	arena_release(&l->text);
}

static int find_elf_members(struct wheel_reading *r, struct elf_members *l, struct err *e)
{
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = &r->zip.members[i];
		char magic[MAGIC];
		if (m->is_folder || m->size < MAGIC)
			continue;
		long n = zipload_head(r->load, m, magic, MAGIC, e);
		if (n < 0)
			return -1;
		if (!elf_is_elf((struct str){magic, (size_t)n}))
			continue;
		if (l->count == LIMIT_ELF_MEMBERS) {
			wheel_reading_cut(r, "too many ELF files");
			return 0;
		}
		ARENA_GROW(&l->text, l->item, l->count, l->room);
		l->item[l->count++] = (struct elf_member){.member = m};
	}
	return 0;
}

static int compare_elf_names(const void *a, const void *b)
{
	const struct elf_member *const *left = a, *const *right = b;
	return str_cmp((*left)->member->name, (*right)->member->name);
}

static int take_record_row(void *ctx, const struct record_row *row, struct err *e UNUSED)
{
	const struct elf_members *l = ctx;
	const struct zipmember member = {.name = row->path};
	const struct elf_member wanted = {.member = &member}, *key = &wanted;
	struct elf_member **found = bsearch(&key, l->by_name, l->count, sizeof(*l->by_name), compare_elf_names);
	if (found)
		(*found)->has_sha256 = record_hash_decode(row->hash, (*found)->sha256) == RECORD_HASH_SHA256;
	return 0;
}

// RECORD has most hashes, which takes a quarter off the time. Where it lies, only its own wheel's facts are wrong.
static int take_record(struct wheel_reading *r, struct elf_members *l, struct err *e)
{
	const struct zipmember *m = distinfo_member(&r->zip, r->folder, "RECORD");
	struct err why = ERR_INIT;
	struct str text;
	if (!l->count || !m)
		return 0;
	l->by_name = ARENA_NEW(&l->text, struct elf_member *, l->count);
	for (size_t i = 0; i < l->count; i++)
		l->by_name[i] = &l->item[i];
	qsort(l->by_name, l->count, sizeof(*l->by_name), compare_elf_names);
	if (wheel_reading_load(r, m, LIMIT_RECORD, &text, &why) == 0 &&
		record_foreach(text, take_record_row, l, &why) == 0)
		return 0;
	if (why.kind != ERR_IO)
		return 0;
	*e = why;
	return -1;
}

static size_t size_of_facts(const struct elf_facts *f)
{
	return f->text.total + f->symbols * sizeof(*f->symbol) +
	       (f->needed_versions + f->defined_versions) * sizeof(*f->needed_version) +
	       (f->needed.count + f->toolchain.count) * sizeof(*f->needed.item);
}

static int read_whole_elf(struct wheel_reading *r, struct elf_members *l, const struct elf_member *m,
	struct wheel_elf *elf, struct err *e)
{
	struct str bytes;
	if (wheel_reading_load(r, m->member, LIMIT_ELF_WHOLE, &bytes, e) < 0)
		return -1;
	if (!m->has_sha256)
		digest_sha256(bytes, elf->sha256);
	return elf_facts_read_parts(bytes, NULL, &l->facts_left, &elf->elf, e);
}

static int read_large_elf(struct wheel_reading *r, struct elf_members *l, const struct elf_member *m,
	struct wheel_elf *elf, struct err *e)
{
	CLEANUP(large_elf_release) struct large_elf large = {0};
	if (wheel_reading_spend(r, m->member->size, e) < 0 ||
		large_elf_load(r->load->source, m->member, m->has_sha256 ? NULL : elf->sha256, &large, e) < 0)
		return -1;
	if (elf_facts_read_parts(large.bytes, &large.parts, &l->facts_left, &elf->elf, e) == 0)
		return 0;
	e->kind = ERR_LIMIT; // its sections may not show all that it has
	return err_prefix(e, "of more than %d bytes, the sections lead to the facts: ", LIMIT_ELF_WHOLE);
}

static int read_elf(struct wheel_reading *r, struct elf_members *l, const struct elf_member *m, struct wheel_elf *elf,
	struct err *e)
{
	bool is_large = m->member->size > LIMIT_ELF_WHOLE;
	size_t before = l->facts_left;
	memcpy(elf->sha256, m->sha256, SHA256_SIZE);
	if ((is_large ? read_large_elf(r, l, m, elf, e) : read_whole_elf(r, l, m, elf, e)) < 0)
		return -1;
	size_t size = size_of_facts(&elf->elf), spent = before - l->facts_left;
	if (size <= before) { // the reading counts names, without what memory for them takes more
		l->facts_left = size > spent ? before - size : l->facts_left;
		return 0;
	}
	elf_facts_release(&elf->elf);
	return err_set(e, ERR_LIMIT, "the ELF files of the wheel have too many symbols");
}

// ERR_IO only; what is wrong with a file is one of its facts.
static int wheel_elves_read(struct wheel_reading *r, struct err *e)
{
	CLEANUP(elf_members_release) struct elf_members l = {.facts_left = LIMIT_FACTS};
	struct wheel_facts *f = r->out;
	if (find_elf_members(r, &l, e) < 0 || take_record(r, &l, e) < 0)
		return -1;
	f->elf = ARENA_NEW(&f->text, struct wheel_elf, l.count);
	for (; f->elfs < l.count; f->elfs++) {
		const struct elf_member *m = &l.item[f->elfs];
		struct wheel_elf *elf = &f->elf[f->elfs];
		struct err why = ERR_INIT;
		*elf = (struct wheel_elf){.path = arena_copy(&f->text, m->member->name), .size = m->member->size};
		if (read_elf(r, &l, m, elf, &why) == 0)
			continue;
		if (why.kind == ERR_IO) {
			*e = why;
			return -1;
		}
		elf->damage = arena_copy(&f->text, str_from(why.msg));
		elf->is_beyond_limit = why.kind == ERR_LIMIT;
		if (elf->is_beyond_limit)
			wheel_reading_cut(r, why.msg);
	}
	return 0;
}

// --- the wheel ---

static int add_components(struct wheel_reading *r, const char *member, const struct sbom *sbom, struct err *e)
{
	struct wheel_facts *f = r->out;
	if (sbom->count > LIMIT_SBOM_COMPONENTS - f->components)
		return err_set(e, ERR_LIMIT, "the SBOMs of the wheel have more than %d components",
			LIMIT_SBOM_COMPONENTS);
	for (size_t i = 0; i < sbom->count; i++) {
		const struct sbom_component *c = &sbom->component[i];
		ARENA_GROW(&f->text, f->component, f->components, r->component_room);
		f->component[f->components++] = (struct wheel_component){member, c->name, c->version, c->purl};
	}
	return 0;
}

static int read_sbom(struct wheel_reading *r, const struct zipmember *m, struct err *e)
{
	struct sbom sbom = {0};
	struct err why = ERR_INIT;
	struct str bytes;
	const char *path = arena_copy(&r->out->text, m->name);
	if (wheel_reading_load(r, m, LIMIT_SBOM, &bytes, &why) == 0 &&
		sbom_read(bytes, &r->out->text, &sbom, &why) == 0 && add_components(r, path, &sbom, &why) == 0)
		return 0;
	if (why.kind == ERR_IO) {
		*e = why;
		return -1;
	}
	add_oddity(r, WHEEL_ODDITY_SBOM, m->name, why.msg);
	if (why.kind == ERR_LIMIT)
		wheel_reading_cut(r, why.msg);
	return 0;
}

static int read_wheelfile(struct wheel_reading *r, struct err *e)
{
	const struct zipmember *m = distinfo_member(&r->zip, r->folder, "WHEEL");
	struct err why = ERR_INIT;
	struct rfc822_field field;
	struct str text;
	if (!m)
		return 0;
	if (wheel_reading_load(r, m, LIMIT_METADATA, &text, &why) < 0) {
		if (why.kind != ERR_IO)
			return 0;
		*e = why;
		return -1;
	}
	while (rfc822_fields_next(&text, &field))
		if (str_eq_nocase(field.name, STR("Root-Is-Purelib")))
			r->out->is_purelib = str_eq_nocase(str_trim(field.value), STR("true"));
	return 0;
}

static int read_wheel_parts(struct wheel_reading *r, const struct filename *name, struct err *e)
{
	CLEANUP(findings_release) struct findings ignored;
	findings_init(&ignored);
	if (distinfo_find(&r->zip, name, LENIENT, &ignored, &r->folder, e) < 0)
		return -1;
	struct wheel_facts *f = r->out;
	const char **names = ARENA_NEW(&f->text, const char *, r->zip.count);
	for (size_t i = 0; i < r->zip.count; i++)
		if (!r->zip.by_name[i]->is_folder)
			names[f->members++] = arena_copy(&f->text, r->zip.by_name[i]->name);
	f->member = names;
	find_oddities(r);
	if (read_wheelfile(r, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = xasprintf(STR_FMT "/sboms/", STR_ARG(r->folder));
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = r->zip.by_name[i];
		if (!m->is_folder && str_starts(m->name, str_from(folder)) && read_sbom(r, m, e) < 0)
			return -1;
	}
	return wheel_elves_read(r, e);
}

static int read_wheel_by(struct zipload *load, const struct byte_source *bytes, const struct filename *name,
	struct wheel_facts *out, struct err *e)
{
	CLEANUP(findings_release) struct findings ignored;
	findings_init(&ignored);
	CLEANUP(wheel_reading_release)
	struct wheel_reading r = {
		.out = out,
		.load = load,
		.unpacked_left = wheel_reading_most(bytes->size),
	};
	load->source = bytes;
	if (zipframe_read(bytes, LENIENT, &ignored, &r.zip, e) < 0)
		return -1;
	*out = (struct wheel_facts){0};
	if (read_wheel_parts(&r, name, e) == 0)
		return 0;
	wheel_facts_release(out);
	return -1;
}

int wheel_facts_read_by(struct wheel_reader *r, const struct byte_source *bytes, const struct filename *name,
	struct wheel_facts *out, struct err *e)
{
	return read_wheel_by(&r->load, bytes, name, out, e);
}

int wheel_facts_read(const struct byte_source *bytes, const struct filename *name, struct wheel_facts *out,
	struct err *e)
{
	CLEANUP(zipload_release) struct zipload load = {0};
	return read_wheel_by(&load, bytes, name, out, e);
}

void wheel_facts_release(struct wheel_facts *f)
{
	for (size_t i = 0; i < f->elfs; i++)
		elf_facts_release(&f->elf[i].elf);
	arena_release(&f->text);
	*f = (struct wheel_facts){0};
}
