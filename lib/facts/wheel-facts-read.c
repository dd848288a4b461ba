// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "lib/facts/sbom.h"
#include "lib/facts/wheel-elves.h"
#include "lib/facts/wheel-reader.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/distinfo.h"

static int add_components(struct wheel_reading *r, const char *member, const struct sbom *sbom, struct err *e)
{
	struct wheel_facts *f = r->out;
	if (sbom->count > LIMIT_SBOM_COMPONENTS - f->components)
		return err_set(e, ERR_LIMIT, "the SBOMs of the wheel have more than %d components",
			LIMIT_SBOM_COMPONENTS);
	f->component = xreallocarray(f->component, f->components + sbom->count + 1, sizeof(*f->component));
	for (size_t i = 0; i < sbom->count; i++) {
		const struct sbom_component *c = &sbom->component[i];
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
	if (wheel_reading_load(r, m, LIMIT_SBOM, &bytes, &why) == 0 &&
		sbom_read(bytes, &r->out->text, &sbom, &why) == 0 && add_components(r, path, &sbom, &why) == 0)
		return 0;
	if (why.kind == ERR_IO) {
		*e = why;
		return -1;
	}
	wheel_oddities_add(&r->oddities, WHEEL_ODDITY_SBOM, m->name, why.msg);
	if (why.kind == ERR_LIMIT)
		wheel_reading_cut(r, why.msg);
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
		.oddities = {.facts = out},
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
	free(f->elf);
	free(f->component);
	free(f->odd);
	free((void *)(uintptr_t)f->member);
	arena_release(&f->text);
	*f = (struct wheel_facts){0};
}
