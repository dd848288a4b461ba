// SPDX-License-Identifier: Apache-2.0
// Made facts of wheels, and cases of what an audit finds in them. The test ends at the first failure.
#pragma once

#include "lib/audit/audit-wheel.h"

enum { FILES = 5, NAMES = 4, X86_64 = 62, AARCH64 = 183, I386 = 3, BPF = 247 };

// An ELF file. machine 0: x86_64.
struct made_elf {
	const char *path;
	unsigned machine;
	const char *soname, *rpath, *runpath, *damage;
	const char *needed[NAMES];
	const char *versions[NAMES]; // "libc.so.6 GLIBC_2.17"; '?' in front: weak
	const char *defines[NAMES];
	const char *symbols[NAMES]; // "PyList_New"; '+' in front: exported; '?': weak
	bool is_object, has_executable_stack, has_no_mark, has_textrel;
	uint8_t hash; // 0: one of its own
};

struct audit_case {
	const char *name; // without "demo-1-" and ".whl"
	struct made_elf elf[FILES];
	const char *expected; // "level code member" by line
	const char *tag;
	const char *why; // part of the first sentence; NULL: any
	bool is_purelib;
};

struct made_facts {
	struct wheel_facts facts;
	const char *member[FILES];
};

void made_facts_init(struct made_facts *made, const struct audit_case *c);
void made_facts_release(struct made_facts *made); // for CLEANUP
// name: without "demo-1-" and ".whl".
void audit_made(const struct wheel_facts *facts, const char *name, const struct audit_options *options,
	struct audit_report *out);
// Sets out to the findings, as audit_case.expected has them.
void list_findings(const struct audit_report *r, struct buf *out);
void check_case(const struct audit_case *c, size_t number);

#define CHECK_CASES(cases)                                                                                             \
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)                                                                 \
	check_case(&(cases)[i], i)

#define NAME "cp311-cp311-manylinux_2_17_x86_64"
#define MODULE "demo/m.so"
