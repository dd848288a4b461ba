// SPDX-License-Identifier: Apache-2.0
// The facts of an ELF file that decide where it loads: machine, libraries, symbol versions, symbols, search paths and
// marks (System V gABI, GNU extensions). Read with libelf the way the dynamic loader reads: by program headers and the
// dynamic segment. The file is never run or loaded. Pure functions; any thread; any thread may read the facts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

// A version that the file needs of a library (GLIBC_2.34 of libc.so.6), or that it defines (library NULL).
struct elf_version {
	const char *library, *name;
	bool is_weak; // VER_FLG_WEAK: the loader only warns if the library lacks it
};

// A dynamic symbol.
struct elf_symbol {
	const char *name;
	const char *version; // NULL: none
	const char *library; // that has the version, for imported ones; NULL: any
	bool is_imported;    // it is undefined here; otherwise the file exports it
	bool is_weak;        // an imported one may stay undefined
	bool is_function;    // for imported ones often not known: the linker leaves NOTYPE
};

struct elf_list { // of strings, which are the facts'
	const char **item;
	size_t count;
};

// Owns everything that it points to.
struct elf_facts {
	unsigned machine; // EM_X86_64 (62), …
	bool is_64, is_big_endian;
	bool is_shared, is_relocatable,
		is_executable; // ET_DYN; ET_REL: an object file; ET_EXEC, or ET_DYN with an interpreter
	// It has a dynamic segment, and is no file of debugging information alone; otherwise the next fields are empty
	bool is_dynamic;
	const char *soname, *rpath, *runpath; // NULL: none
	struct elf_list needed;               // DT_NEEDED, in order
	struct elf_version *needed_version, *defined_version;
	size_t needed_versions, defined_versions;
	struct elf_symbol *symbol; // of DT_SYMTAB, in its order, without local ones and those without a name
	size_t symbols;
	struct elf_list toolchain; // the strings of .comment, each once
	char build_id[2 * 64 + 1]; // hexadecimal; "": none
	bool has_stack_mark;       // it has PT_GNU_STACK. Without it the kernel makes the stack executable on x86
	bool is_stack_executable;  // PT_GNU_STACK says so
	bool has_textrel;
	uint32_t isa_needed, isa_used; // x86: bits of .note.gnu.property; 0: none
	struct arena text;
};

// Whether the bytes begin as an ELF file does.
bool elf_is_elf(struct str bytes);
// Reads a whole file in memory, which may be changed by nobody meanwhile. ERR_INVALID: it is damaged, or contradicts
// itself; ERR_LIMIT: it has more than LIMIT_ELF_STRINGS segments, libraries or versions, LIMIT_ELF_SYMBOLS symbols,
// LIMIT_ELF_SECTIONS sections, a name longer than LIMIT_ELF_STRING or LIMIT_ELF_LIBRARY, or more than LIMIT_ELF_TEXT
// bytes of names. Time and memory are bounded by these limits and the size of the file. The caller releases *out if
// this returns 0.
int elf_facts_read(struct str bytes, struct elf_facts *out, struct err *e) MUST_CHECK;
// The same for a file of which bytes has only these parts, and zeros between them; NULL: it has all. left: bytes that
// the facts of this file and further ones may have, less those of this file, even if it fails: names in a file overlap,
// so a small file can take long. ERR_LIMIT: it has more.
struct elf_outline;
int elf_facts_read_parts(struct str bytes, const struct elf_outline *parts, size_t *left, struct elf_facts *out,
	struct err *e) MUST_CHECK;
void elf_facts_release(struct elf_facts *f); // for CLEANUP

// The architecture of an ELF file, as platform tags spell it (PEP 600). Pure functions; any thread.

// The kind of machine that an ELF file is for.
struct elf_arch {
	const char *name; // in platform tags: "x86_64"
	unsigned machine; // EM_X86_64
	bool is_64, is_big_endian;
};
// By the name in a platform tag; "armv6l" is the same machine as "armv7l". NULL: the table does not have it.
const struct elf_arch *elf_arch_find(struct str name);
bool elf_arch_fits(const struct elf_arch *a, const struct elf_facts *f);
// NULL: the table does not have it. All 32-bit ARM is armv7l, all 32-bit x86 i686.
const struct elf_arch *elf_arch_of(const struct elf_facts *f);
// The name of the same.
const char *elf_arch(const struct elf_facts *f);
// Whether it is the code of a processor that Python runs on, and not of a graphics card or of the kernel's BPF.
bool elf_arch_is_host(const struct elf_facts *f);
// The name of the file's machine, for people. A number if the table does not have it: *room holds it.
const char *elf_arch_name(const struct elf_facts *f, char room[32]);
