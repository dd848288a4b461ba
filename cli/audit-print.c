// SPDX-License-Identifier: Apache-2.0
#include "cli/audit-print.h"

#include <inttypes.h>
#include <string.h>

#include "lib/facts/wheel-facts-json.h"
#include "lib/domain/elf/elf-arch.h"
#include "lib/format/escape.h"

static void put_count(struct buf *out, unsigned count, const char *what)
{
	if (count)
		buf_printf(out, ", %u %s%s", count, what, count == 1 ? "" : "s");
}

static void put_head(const struct audit_report *r, const char *filename, const char *platform, struct buf *out)
{
	escape_terminal(out, str_from(filename));
	if (platform) {
		buf_puts(out, " of ");
		escape_terminal(out, str_from(platform));
	}
	buf_printf(out, *r->tag ? ": keeps %s" : ": its platform is not judged%s", r->tag);
	if (strcmp(r->tag, r->symbol_tag) != 0)
		buf_printf(out, " (by symbol versions alone %s)", r->symbol_tag);
	put_count(out, r->errors, "error");
	put_count(out, r->warnings, "warning");
	buf_putc(out, '\n');
}

static bool is_equal_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static bool is_equal_finding(const struct audit_finding *one, const struct audit_finding *other)
{
	return one->level == other->level && one->code == other->code && is_equal_text(one->rule, other->rule) &&
	       strcmp(one->why, other->why) == 0;
}

static void put_finding(const struct audit_finding *f, size_t others, struct buf *out)
{
	buf_printf(out, "  %-5s  %-16s  ", audit_level_name[f->level], audit_code_name[f->code]);
	if (f->rule) {
		buf_puts(out, "rule ");
		escape_terminal(out, str_from(f->rule));
		buf_puts(out, ": ");
	}
	if (f->member) {
		escape_terminal(out, str_from(f->member));
		if (others)
			buf_printf(out, " and %zu more", others);
		buf_puts(out, ": ");
	}
	escape_terminal(out, str_from(f->why));
	buf_putc(out, '\n');
}

void audit_print_report(const struct audit_report *r, const char *filename, const char *platform, struct buf *out)
{
	CLEANUP(mem_free) bool *is_said = xcalloc(r->count + 1, sizeof(*is_said));
	put_head(r, filename, platform, out);
	for (size_t i = 0; i < r->count; i++) {
		size_t others = 0;
		for (size_t k = i + 1; !is_said[i] && k < r->count; k++)
			if (!is_said[k] && is_equal_finding(&r->finding[i], &r->finding[k])) {
				is_said[k] = true;
				others++;
			}
		if (!is_said[i])
			put_finding(&r->finding[i], others, out);
	}
	if (r->errors + r->warnings > r->count)
		buf_printf(out, "  and %zu findings more\n", r->errors + r->warnings - r->count);
}

// A line "    name  value"; NULL: none.
static void put_fact(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(out, "    %-9s  ", name);
	escape_terminal(out, str_from(value));
	buf_putc(out, '\n');
}

static void put_strings(struct buf *out, const char *name, const struct elf_list *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		put_fact(out, i ? "" : name, strings->item[i]);
}

static void put_needed_versions(struct buf *out, const struct elf_facts *f)
{
	const char *library = "";
	for (size_t i = 0; i < f->needed_versions; i++) {
		const struct elf_version *v = &f->needed_version[i];
		bool is_next = strcmp(v->library, library) != 0;
		if (is_next) {
			buf_printf(out, "%s    %-9s  ", i ? "\n" : "", i ? "" : "versions");
			escape_terminal(out, str_from(v->library));
			buf_putc(out, ':');
			library = v->library;
		}
		buf_putc(out, ' ');
		escape_terminal(out, str_from(v->name));
	}
	buf_puts(out, f->needed_versions ? "\n" : "");
}

static void put_defined_versions(struct buf *out, const struct elf_facts *f)
{
	for (size_t i = 0; i < f->defined_versions; i++)
		put_fact(out, i ? "" : "defines", f->defined_version[i].name);
}

static void put_symbol_counts(struct buf *out, const struct elf_facts *f)
{
	size_t imported = 0;
	for (size_t i = 0; i < f->symbols; i++)
		imported += f->symbol[i].is_imported;
	if (f->is_dynamic)
		buf_printf(out, "    %-9s  %zu imported, %zu exported\n", "symbols", imported, f->symbols - imported);
}

static void put_isa(struct buf *out, const char *name, uint32_t bits)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 256);
	wheel_elf_isa(bits, &text);
	put_fact(out, name, text.len ? text.data : NULL);
}

static void put_elf(struct buf *out, const struct elf_facts *f)
{
	char room[32];
	const char *stack = wheel_elf_stack(f);
	buf_printf(out, "    %-9s  %s, %d bit, %s%s\n", "machine", elf_arch_name(f, room), f->is_64 ? 64 : 32,
		wheel_elf_kind(f), f->has_textrel ? ", TEXTREL" : "");
	put_fact(out, "SONAME", f->soname);
	put_strings(out, "needs", &f->needed);
	put_fact(out, "RPATH", f->rpath);
	put_fact(out, "RUNPATH", f->runpath);
	put_needed_versions(out, f);
	put_defined_versions(out, f);
	put_symbol_counts(out, f);
	put_strings(out, "toolchain", &f->toolchain);
	put_fact(out, "build id", *f->build_id ? f->build_id : NULL);
	put_fact(out, "stack", stack ? stack : f->is_dynamic ? "no mark" : NULL);
	put_isa(out, "ISA needed", f->isa_needed);
	put_isa(out, "ISA used", f->isa_used);
}

void audit_print_facts(const struct wheel_facts *f, struct buf *out)
{
	for (size_t i = 0; i < f->elfs; i++) {
		buf_puts(out, "  ");
		escape_terminal(out, str_from(f->elf[i].path));
		buf_printf(out, " (%" PRIu64 " bytes)\n", f->elf[i].size);
		put_fact(out, "damaged", f->elf[i].damage);
		if (!f->elf[i].damage)
			put_elf(out, &f->elf[i].elf);
	}
	for (size_t i = 0; i < f->components; i++) {
		const struct wheel_component *c = &f->component[i];
		buf_puts(out, "  contains ");
		escape_terminal(out, str_from(c->name));
		buf_putc(out, ' ');
		escape_terminal(out, str_from(c->version ? c->version : "of unknown version"));
		buf_puts(out, ", says ");
		escape_terminal(out, str_from(c->member));
		buf_putc(out, '\n');
	}
}
