// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/wheel-facts.h"

#include <stdlib.h>

#include "lib/audit/sbom.h"
#include "lib/audit/wheel-oddities.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipload.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/distinfo.h"

enum { MAGIC = 4 };

struct wheel_reading {
	struct wheel_facts *out;
	struct zipdirectory zip;
	struct zipload load;
	struct wheel_oddities oddities;
	struct str folder; // "<name>-<version>.dist-info"
	size_t elf_room, component_room;
	uint64_t unpacked_left; // bytes that may still be unpacked
	size_t facts_left;      // bytes that the facts of further ELF files may have
};

static void wheel_reading_release(struct wheel_reading *r)
{
	zipdirectory_release(&r->zip);
	zipload_release(&r->load);
}

// Endings of files that no loader maps: most members, which then cost nothing.
static bool is_surely_text(struct str name)
{
	static const struct str endings[] = {STR(".py"), STR(".pyi"), STR(".txt"), STR(".h"), STR(".hpp"), STR(".pyx"),
		STR(".pxd"), STR(".md"), STR(".rst"), STR(".json"), STR(".html"), STR(".js"), STR(".css"), STR(".cuh")};
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(name, endings[i]))
			return true;
	return false;
}

static void note_cut(struct wheel_reading *r, const char *why)
{
	if (!r->out->is_cut)
		r->out->cut = arena_copy(&r->out->text, str_from(why));
	r->out->is_cut = true;
}

// Loads a member under the limits. ERR_LIMIT and ERR_INVALID concern the member; ERR_IO the wheel.
static int load_member(struct wheel_reading *r, const struct zipmember *m, uint64_t most, struct str *bytes,
	struct err *e)
{
	if (m->size > most)
		return err_set(e, ERR_LIMIT, "%llu bytes, more than %llu", (unsigned long long)m->size,
			(unsigned long long)most);
	if (m->size > r->unpacked_left)
		return err_set(e, ERR_LIMIT, "the members of the wheel unpack to too many bytes");
	r->unpacked_left -= m->size;
	return zipload_whole(&r->load, m, bytes, e);
}

static size_t size_of_facts(const struct elf_facts *f)
{
	return f->text.total + f->symbols * sizeof(*f->symbol) +
	       (f->needed_versions + f->defined_versions) * sizeof(*f->needed_version) +
	       (f->needed.count + f->toolchain.count) * sizeof(*f->needed.item);
}

static int parse_elf(struct wheel_reading *r, struct str bytes, struct wheel_elf *elf, struct err *e)
{
	digest_sha256(bytes, elf->sha256);
	if (elf_facts_read(bytes, &elf->elf, e) < 0)
		return -1;
	size_t size = size_of_facts(&elf->elf);
	if (size > r->facts_left) {
		elf_facts_release(&elf->elf);
		return err_set(e, ERR_LIMIT, "the ELF files of the wheel have too many symbols");
	}
	r->facts_left -= size;
	return 0;
}

static int read_elf(struct wheel_reading *r, const struct zipmember *m, struct err *e)
{
	struct wheel_facts *f = r->out;
	struct err why = ERR_INIT;
	struct str bytes;
	if (f->elfs == LIMIT_ELF_MEMBERS) {
		note_cut(r, "too many ELF files");
		return 0;
	}
	GROW(f->elf, f->elfs, r->elf_room);
	struct wheel_elf *elf = &f->elf[f->elfs++];
	*elf = (struct wheel_elf){.path = arena_copy(&f->text, m->name), .size = m->size};
	if (load_member(r, m, LIMIT_ELF_WHOLE, &bytes, &why) == 0 && parse_elf(r, bytes, elf, &why) == 0)
		return 0;
	if (why.kind == ERR_IO) {
		*e = why;
		return -1;
	}
	elf->damage = arena_copy(&f->text, str_from(why.msg));
	if (why.kind == ERR_LIMIT)
		note_cut(r, why.msg);
	return 0;
}

static int read_elves(struct wheel_reading *r, struct err *e)
{
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = &r->zip.members[i];
		char magic[MAGIC];
		if (m->is_folder || m->size < MAGIC || is_surely_text(m->name))
			continue;
		long n = zipload_head(&r->load, m, magic, MAGIC, e);
		if (n < 0 || (elf_is_elf((struct str){magic, (size_t)n}) && read_elf(r, m, e) < 0))
			return -1;
	}
	return 0;
}

static int add_components(struct wheel_reading *r, const char *member, const struct sbom *sbom, struct err *e)
{
	struct wheel_facts *f = r->out;
	for (size_t i = 0; i < sbom->count; i++) {
		const struct sbom_component *c = &sbom->component[i];
		if (f->components == LIMIT_SBOM_COMPONENTS)
			return err_set(e, ERR_LIMIT, "more than %d components", LIMIT_SBOM_COMPONENTS);
		GROW(f->component, f->components, r->component_room);
		f->component[f->components++] = (struct wheel_component){member, c->name, c->version, c->purl};
	}
	return 0;
}

static int read_sbom(struct wheel_reading *r, const struct zipmember *m, struct err *e)
{
	CLEANUP(sbom_release) struct sbom sbom = {0};
	struct err why = ERR_INIT;
	struct str bytes;
	const char *path = arena_copy(&r->out->text, m->name);
	if (load_member(r, m, LIMIT_SBOM, &bytes, &why) == 0 && sbom_read(bytes, &r->out->text, &sbom, &why) == 0 &&
		add_components(r, path, &sbom, &why) == 0)
		return 0;
	if (why.kind == ERR_IO) {
		*e = why;
		return -1;
	}
	wheel_oddities_add(&r->oddities, WHEEL_ODDITY_SBOM, m->name, why.msg);
	if (why.kind == ERR_LIMIT)
		note_cut(r, why.msg);
	return 0;
}

static int read_sboms(struct wheel_reading *r, struct err *e)
{
	CLEANUP(mem_free) char *folder = xasprintf(STR_FMT "/sboms/", STR_ARG(r->folder));
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = r->zip.by_name[i];
		if (!m->is_folder && str_starts(m->name, str_from(folder)) && read_sbom(r, m, e) < 0)
			return -1;
	}
	return 0;
}

static int read_wheelfile(struct wheel_reading *r, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf(STR_FMT "/WHEEL", STR_ARG(r->folder));
	const struct zipmember *m = zipdirectory_find(&r->zip, str_from(path));
	struct err why = ERR_INIT;
	struct rfc822_field field;
	struct str text;
	if (!m)
		return 0;
	if (load_member(r, m, LIMIT_METADATA, &text, &why) < 0) {
		*e = why;
		return why.kind == ERR_IO ? -1 : 0;
	}
	while (rfc822_fields_next(&text, &field))
		if (str_eq_nocase(field.name, STR("Root-Is-Purelib")))
			r->out->is_purelib = str_eq_nocase(str_trim(field.value), STR("true"));
	return 0;
}

static void take_names(struct wheel_reading *r)
{
	struct wheel_facts *f = r->out;
	const char **names = xcalloc(r->zip.count + 1, sizeof(*names));
	for (size_t i = 0; i < r->zip.count; i++)
		if (!r->zip.by_name[i]->is_folder)
			names[f->members++] = arena_copy(&f->text, r->zip.by_name[i]->name);
	f->member = names;
}

static int read_wheel_parts(struct wheel_reading *r, const struct filename *name, struct err *e)
{
	CLEANUP(findings_release) struct findings ignored;
	findings_init(&ignored);
	if (distinfo_find(&r->zip, name, LENIENT, &ignored, &r->folder, e) < 0)
		return -1;
	take_names(r);
	wheel_oddities_find(&r->oddities, &r->zip);
	if (read_wheelfile(r, e) < 0 || read_sboms(r, e) < 0)
		return -1;
	return read_elves(r, e);
}

int wheel_facts_read(const struct byte_source *bytes, const struct filename *name, struct wheel_facts *out,
	struct err *e)
{
	CLEANUP(findings_release) struct findings ignored;
	findings_init(&ignored);
	CLEANUP(wheel_reading_release)
	struct wheel_reading r = {
		.out = out,
		.load = {.source = bytes},
		.oddities = {.facts = out},
		.unpacked_left = LIMIT_UNPACKED + bytes->size * LIMIT_UNPACKED_RATIO,
		.facts_left = LIMIT_FACTS,
	};
	if (zipframe_read(bytes, LENIENT, &ignored, &r.zip, e) < 0)
		return -1;
	*out = (struct wheel_facts){0};
	if (read_wheel_parts(&r, name, e) == 0)
		return 0;
	wheel_facts_release(out);
	return -1;
}

void wheel_facts_release(struct wheel_facts *f)
{
	for (size_t i = 0; i < f->elfs; i++)
		elf_facts_release(&f->elf[i].elf);
	free(f->elf);
	free(f->component);
	free(f->odd);
	free((void *)(uintptr_t)f->member);
	arena_release(&f->text);
	*f = (struct wheel_facts){0};
}
