// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/audit/audit-checks.h"

static bool is_library_name(const char *path)
{
	struct str name = str_from(path);
	return str_ends(name, STR(".so")) || strstr(path, ".so.");
}

static void find_damaged(struct audit_work *w, const struct wheel_elf *elf)
{
	if (elf->is_beyond_limit)
		audit_find(w, AUDIT_DAMAGED_DATA, elf->path, "is not judged: %s", elf->damage);
	else if (is_library_name(elf->path))
		audit_find(w, AUDIT_DAMAGED, elf->path, "cannot be read, so that it does not load: %s", elf->damage);
	else
		audit_find(w, AUDIT_DAMAGED_DATA, elf->path, "begins as an ELF file, but cannot be read: %s",
			elf->damage);
}

// Whether one file at least has a machine of the name; then the others may be data.
static bool has_fitting(const struct audit_work *w)
{
	for (size_t i = 0; i < w->layout.count; i++)
		if (promise_find(&w->promise, &w->layout.file[i].elf->elf))
			return true;
	return false;
}

static bool loads_by_itself(const struct layout_file *f)
{
	return f->is_module || wheel_is_bundled(f->elf->path);
}

static void judge_machine(struct audit_work *w, const struct layout_file *f, bool has_other)
{
	char room[32];
	const char *machine = elf_arch_name(&f->elf->elf, room);
	bool is_elsewhere = w->promise.is_elsewhere;
	if (!elf_arch_is_host(&f->elf->elf) || (!is_elsewhere && !w->promise.count) || w->promise.is_any ||
		promise_find(&w->promise, &f->elf->elf) || (w->promise.is_not_judged && !is_elsewhere))
		return;
	if (loads_by_itself(f) || (!is_elsewhere && !has_other))
		audit_find(w, AUDIT_WRONG_MACHINE, f->elf->path, "is for %s, which the platform %s cannot load",
			is_elsewhere ? "ELF systems such as Linux" : machine, w->promise.first);
	else
		audit_find(w, AUDIT_FOREIGN_FILE, f->elf->path, "is for %s, and useless on the platform %s",
			is_elsewhere ? "ELF systems such as Linux" : machine, w->promise.first);
}

static void judge_pure(struct audit_work *w, const struct layout_file *f)
{
	char room[32];
	const char *machine = elf_arch_name(&f->elf->elf, room);
	if (!w->promise.is_any || !elf_arch_is_host(&f->elf->elf))
		return;
	if (f->elf->elf.is_relocatable)
		audit_find(w, AUDIT_FOREIGN_FILE, f->elf->path, "is an object file for %s in a wheel for any platform",
			machine);
	else
		audit_find(w, AUDIT_NATIVE_IN_PURE, f->elf->path,
			"is native code for %s, but the wheel is for any platform: it installs where this cannot run",
			machine);
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
			"is native code where pure Python is installed (%zu such %s): machines may share that folder",
			count, count == 1 ? "file" : "files");
}

void audit_check_machines(struct audit_work *w)
{
	bool has_other = has_fitting(w);
	for (size_t i = 0; i < w->facts->elfs; i++)
		if (w->facts->elf[i].damage)
			find_damaged(w, &w->facts->elf[i]);
	for (size_t i = 0; i < w->layout.count; i++) {
		judge_machine(w, &w->layout.file[i], has_other);
		judge_pure(w, &w->layout.file[i]);
	}
	judge_purelib(w);
}
