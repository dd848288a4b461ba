// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/made-facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t count_names(const char *const names[NAMES])
{
	size_t n = 0;
	while (n < NAMES && names[n])
		n++;
	return n;
}

static struct elf_version make_version(struct arena *a, const char *text, bool is_defined)
{
	bool is_weak = *text == '?';
	struct str rest = str_from(text + is_weak), library = str_cut(&rest, ' ');
	if (is_defined)
		return (struct elf_version){NULL, text, false};
	return (struct elf_version){arena_copy(a, library), arena_copy(a, rest), is_weak};
}

static struct elf_symbol make_symbol(const char *text)
{
	bool is_marked = *text == '+' || *text == '?';
	return (struct elf_symbol){.name = text + is_marked, .is_imported = *text != '+', .is_weak = *text == '?'};
}

static void make_elf(struct wheel_elf *out, const struct made_elf *m, uint8_t number)
{
	struct elf_facts *f = &out->elf;
	*out = (struct wheel_elf){.path = m->path, .damage = m->damage};
	memset(out->sha256, m->hash ? m->hash : 100 + number, SHA256_SIZE);
	if (m->damage)
		return;
	f->machine = m->machine ? m->machine : X86_64;
	f->is_64 = m->machine != I386;
	f->is_shared = f->is_dynamic = !m->is_object;
	f->is_relocatable = m->is_object;
	f->soname = m->soname;
	f->rpath = m->rpath;
	f->runpath = m->runpath;
	f->has_stack_mark = !m->has_no_mark;
	f->is_stack_executable = m->has_executable_stack;
	f->has_textrel = m->has_textrel;
	f->needed = (struct elf_list){xcalloc(NAMES, sizeof(char *)), count_names(m->needed)};
	memcpy(f->needed.item, m->needed, f->needed.count * sizeof(char *));
	f->needed_versions = count_names(m->versions);
	f->needed_version = xcalloc(NAMES, sizeof(*f->needed_version));
	for (size_t i = 0; i < f->needed_versions; i++)
		f->needed_version[i] = make_version(&f->text, m->versions[i], false);
	f->defined_versions = count_names(m->defines);
	f->defined_version = xcalloc(NAMES, sizeof(*f->defined_version));
	for (size_t i = 0; i < f->defined_versions; i++)
		f->defined_version[i] = make_version(&f->text, m->defines[i], true);
	f->symbols = count_names(m->symbols);
	f->symbol = xcalloc(NAMES, sizeof(*f->symbol));
	for (size_t i = 0; i < f->symbols; i++)
		f->symbol[i] = make_symbol(m->symbols[i]);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void made_facts_init(struct made_facts *made, const struct audit_case *c)
{
	struct wheel_facts *f = &made->facts;
	const char **members = made->member;
	*f = (struct wheel_facts){
		.elf = xcalloc(FILES, sizeof(*f->elf)), .member = members, .is_purelib = c->is_purelib};
	for (; f->elfs < FILES && c->elf[f->elfs].path; f->elfs++) {
		make_elf(&f->elf[f->elfs], &c->elf[f->elfs], (uint8_t)f->elfs);
		members[f->members++] = c->elf[f->elfs].path;
	}
	qsort(members, f->members, sizeof(*members), compare_paths);
}

void made_facts_release(struct made_facts *made)
{
	for (size_t i = 0; i < made->facts.elfs; i++)
		elf_facts_release(&made->facts.elf[i].elf);
	free(made->facts.elf);
}

void audit_made(const struct wheel_facts *facts, const char *name, const struct audit_options *options,
	struct audit_report *out)
{
	CLEANUP(mem_free) char *filename = xasprintf("demo-1-%s.whl", name);
	CLEANUP(filename_release) struct filename parsed = {0};
	struct err e = ERR_INIT;
	if (filename_parse(str_from(filename), &parsed, &e) < 0)
		fail_msg("%s: %s", filename, e.msg);
	audit_wheel(facts, &parsed, options, out);
}

void list_findings(const struct audit_report *r, struct buf *out)
{
	buf_init(out, SIZE_MAX / 2);
	for (size_t i = 0; i < r->count; i++)
		buf_printf(out, "%s%s %s %s", i ? "\n" : "", audit_level_name[r->finding[i].level],
			audit_code_name[r->finding[i].code], r->finding[i].member ? r->finding[i].member : "-");
}

void check_case(const struct audit_case *c, size_t number)
{
	static const struct audit_policy policy = {0};
	const struct audit_options options = {.policy = &policy};
	CLEANUP(made_facts_release) struct made_facts made;
	CLEANUP(audit_report_release) struct audit_report report;
	CLEANUP(buf_release) struct buf found;
	made_facts_init(&made, c);
	audit_made(&made.facts, c->name, &options, &report);
	list_findings(&report, &found);
	if (strcmp(found.len ? found.data : "", c->expected) != 0)
		fail_msg("case %zu, %s:\n%s\nexpected:\n%s\n%s", number, c->name, found.data, c->expected,
			report.count ? report.finding[0].why : "");
	if (c->tag && strcmp(report.tag, c->tag) != 0)
		fail_msg("case %zu, %s: tag %s, expected %s", number, c->name, report.tag, c->tag);
	if (c->why && !strstr(report.finding[0].why, c->why))
		fail_msg("case %zu, %s: %s", number, c->name, report.finding[0].why);
}
