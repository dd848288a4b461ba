// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/wheel-facts-json.h"

#include <string.h>

#include "lib/domain/elf/elf-facts.h"
#include "lib/facts/library-name.h"

static const char *const oddity_name[WHEEL_ODDITY_COUNT] = {
	[WHEEL_ODDITY_PYC] = "pyc",
	[WHEEL_ODDITY_TOP_LEVEL_TESTS] = "top-level-tests",
	[WHEEL_ODDITY_CASE] = "case",
	[WHEEL_ODDITY_WRITABLE] = "writable",
	[WHEEL_ODDITY_SBOM] = "sbom",
};

const char *wheel_elf_kind(const struct elf_facts *f)
{
	return f->is_executable ? "executable" : f->is_shared ? "shared" : f->is_relocatable ? "object" : "other";
}

const char *wheel_elf_stack(const struct elf_facts *f)
{
	return !f->has_stack_mark ? NULL : f->is_stack_executable ? "rwx" : "rw";
}

// The bits of GNU_PROPERTY_X86_ISA_1 (x86-64 psABI).
static const char *const isa_levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

void wheel_elf_isa(uint32_t bits, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(isa_levels); i++)
		if (bits & 1u << i)
			buf_printf(out, "%s%s", out->len ? ", " : "", isa_levels[i]);
}

static struct jsondoc *isa_list(uint32_t bits)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < ARRAY_SIZE(isa_levels); i++)
		if (bits & 1u << i)
			jsondoc_add_str(list, isa_levels[i]);
	return list;
}

static struct jsondoc *string_list(const struct elf_list *strings)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < strings->count; i++)
		jsondoc_add_str(list, strings->item[i]);
	return list;
}

// The versions of one library stand together.
static struct jsondoc *needed_versions(const struct elf_facts *f)
{
	struct jsondoc *list = jsondoc_array(), *names = NULL;
	for (size_t i = 0; i < f->needed_versions; i++) {
		const struct elf_version *v = &f->needed_version[i];
		if (!i || strcmp(v->library, f->needed_version[i - 1].library) != 0) {
			struct jsondoc *one = jsondoc_object();
			names = jsondoc_array();
			jsondoc_put_str(one, "library", v->library);
			jsondoc_put(one, "versions", names);
			jsondoc_add(list, one);
		}
		jsondoc_add_str(names, v->name);
	}
	return list;
}

static struct jsondoc *defined_versions(const struct elf_facts *f)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < f->defined_versions; i++)
		jsondoc_add_str(list, f->defined_version[i].name);
	return list;
}

static struct jsondoc *symbols_of(const struct elf_facts *f, bool is_imported, bool is_weak)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < f->symbols; i++) {
		const struct elf_symbol *s = &f->symbol[i];
		if (s->is_imported != is_imported || (is_imported && s->is_weak != is_weak))
			continue;
		CLEANUP(mem_free) char *text = s->version ? xasprintf("%s@%s", s->name, s->version) : NULL;
		jsondoc_add_str(list, text ? text : s->name);
	}
	return list;
}

static void put_elf(struct jsondoc *doc, const struct elf_facts *f)
{
	char room[32];
	jsondoc_put_str(doc, "machine", elf_arch_name(f, room));
	jsondoc_put_int(doc, "class", f->is_64 ? 64 : 32);
	jsondoc_put_str(doc, "kind", wheel_elf_kind(f));
	jsondoc_put_str(doc, "soname", f->soname);
	jsondoc_put(doc, "needed", string_list(&f->needed));
	jsondoc_put_str(doc, "rpath", f->rpath);
	jsondoc_put_str(doc, "runpath", f->runpath);
	jsondoc_put(doc, "needed_versions", needed_versions(f));
	jsondoc_put(doc, "defined_versions", defined_versions(f));
	jsondoc_put(doc, "imported", symbols_of(f, true, false));
	jsondoc_put(doc, "imported_weak", symbols_of(f, true, true));
	jsondoc_put(doc, "exported", symbols_of(f, false, false));
	jsondoc_put(doc, "toolchain", string_list(&f->toolchain));
	jsondoc_put_str(doc, "build_id", *f->build_id ? f->build_id : NULL);
	jsondoc_put_str(doc, "stack", wheel_elf_stack(f));
	jsondoc_put_bool(doc, "textrel", f->has_textrel);
	jsondoc_put(doc, "isa_needed", isa_list(f->isa_needed));
	jsondoc_put(doc, "isa_used", isa_list(f->isa_used));
}

static struct jsondoc *elf_json(const struct wheel_elf *elf)
{
	struct jsondoc *doc = jsondoc_object();
	char hash[2 * SHA256_SIZE + 1];
	hex_encode(elf->sha256, SHA256_SIZE, hash);
	hash[2 * SHA256_SIZE] = '\0';
	jsondoc_put_str(doc, "path", elf->path);
	jsondoc_put_int(doc, "size", (int64_t)elf->size);
	jsondoc_put_str(doc, "sha256", hash);
	jsondoc_put_bool(doc, "bundled", wheel_is_bundled(elf->path));
	jsondoc_put_str(doc, "damage", elf->damage);
	if (!elf->damage)
		put_elf(doc, &elf->elf);
	return doc;
}

static struct jsondoc *component_json(const struct wheel_component *c)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "sbom", c->member);
	jsondoc_put_str(doc, "name", c->name);
	jsondoc_put_str(doc, "version", c->version);
	jsondoc_put_str(doc, "purl", c->purl);
	return doc;
}

static struct jsondoc *odd_json(const struct wheel_odd_member *o)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "oddity", oddity_name[o->oddity]);
	jsondoc_put_str(doc, "path", o->path);
	jsondoc_put_str(doc, "detail", o->detail);
	return doc;
}

struct jsondoc *wheel_facts_json(const struct wheel_facts *f)
{
	struct jsondoc *doc = jsondoc_object(), *elf = jsondoc_array(), *components = jsondoc_array(),
		       *odd = jsondoc_array();
	for (size_t i = 0; i < f->elfs; i++)
		jsondoc_add(elf, elf_json(&f->elf[i]));
	for (size_t i = 0; i < f->components; i++)
		jsondoc_add(components, component_json(&f->component[i]));
	for (size_t i = 0; i < f->odds; i++)
		jsondoc_add(odd, odd_json(&f->odd[i]));
	jsondoc_put_int(doc, "members", (int64_t)f->members);
	jsondoc_put_bool(doc, "purelib", f->is_purelib);
	jsondoc_put_str(doc, "cut", f->is_cut ? f->cut : NULL);
	jsondoc_put(doc, "elf", elf);
	jsondoc_put(doc, "components", components);
	jsondoc_put(doc, "odd", odd);
	return doc;
}
