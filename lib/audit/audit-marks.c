// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/audit/audit-checks.h"
#include "lib/base/limits.h"

enum { EM_I386 = 3, EM_AMD64 = 62 };

// Without a mark glibc takes the default of the processor, which is an executable stack on x86.
static void judge_stack(struct audit_work *w, const struct wheel_elf *elf)
{
	const struct elf_facts *f = &elf->elf;
	bool is_x86 = f->machine == EM_I386 || f->machine == EM_AMD64;
	if (f->is_stack_executable)
		audit_find(w, AUDIT_EXECUTABLE_STACK, elf->path,
			"asks for an executable stack: glibc 2.41 and newer refuse to load it into a running Python, and "
			"others give up a protection");
	else if (!f->has_stack_mark && is_x86)
		audit_find(w, AUDIT_EXECUTABLE_STACK, elf->path,
			"has no PT_GNU_STACK, so that glibc takes its stack as executable: 2.41 and newer refuse to load it "
			"into a running Python");
}

void audit_check_marks(struct audit_work *w)
{
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct wheel_elf *elf = w->layout.file[i].elf;
		if (!elf_arch_is_host(&elf->elf) || !elf->elf.is_dynamic)
			continue;
		judge_stack(w, elf);
		if (elf->elf.has_textrel)
			audit_find(w, AUDIT_TEXTREL, elf->path,
				"has relocations in its code (TEXTREL): hardened systems refuse to load it, and its pages are "
				"not shared");
	}
}

// What is said of an oddity.
static const struct {
	enum audit_code code;
	const char *why;
} oddities[WHEEL_ODDITY_COUNT] = {
	[WHEEL_ODDITY_PYC] = {AUDIT_JUNK, "is compiled Python, which installers make themselves"},
	[WHEEL_ODDITY_TOP_LEVEL_TESTS] = {AUDIT_JUNK,
		"is installed at the top level, where it collides with the tests of other packages"},
	[WHEEL_ODDITY_CASE] = {AUDIT_JUNK,
		"differs from another member by case only: some file systems keep one of them"},
	[WHEEL_ODDITY_WRITABLE] = {AUDIT_WRITABLE, "has a mode that lets every user change it"},
	[WHEEL_ODDITY_SBOM] = {AUDIT_SBOM, "is an SBOM that cannot be read"},
};

void audit_check_members(struct audit_work *w)
{
	for (size_t i = 0; i < w->facts->odds; i++) {
		const struct wheel_odd_member *odd = &w->facts->odd[i];
		const char *detail = odd->detail;
		audit_find(w, oddities[odd->oddity].code, odd->path, "%s%s%s", oddities[odd->oddity].why,
			detail ? ": " : "", detail ? detail : "");
	}
	if (w->facts->is_cut) {
		w->report->is_incomplete = audit_rules_level(w->rules, AUDIT_INCOMPLETE, NULL) != AUDIT_OFF;
		audit_find(w, AUDIT_INCOMPLETE, NULL, "is not read as a whole, so that something may be unknown: %s",
			w->facts->cut);
	}
	if (w->links.is_cut)
		audit_find(w, AUDIT_TOO_COMPLEX, NULL,
			"is not judged as a whole: its libraries and symbols need more than %d steps",
			LIMIT_AUDIT_STEPS);
}
