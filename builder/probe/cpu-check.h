// SPDX-License-Identifier: Apache-2.0
// Imports the modules of a wheel with qemu-user, which emulates an older processor: an instruction that it does not
// have ends the process with SIGILL. It runs the wheel's code, so it is only for what the operator trusts. One thread
// at a time.
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"

// A level of the x86-64 psABI.
struct cpu_level {
	const char *name;  // "x86-64-v2"
	const char *model; // what qemu calls such a processor; NULL: it emulates none
};
// Finds "v2" or "x86-64-v2". ERR_USAGE: there is no such level, or qemu does not emulate it.
const struct cpu_level *cpu_level_find(const char *text, struct err *e) MUST_CHECK;

struct cpu_options {
	const char *wheel;
	const struct cpu_level *level;
	const char *python;          // the absolute path of an interpreter for x86-64
	const char *const *variable; // "NAME=value" for it
	size_t variables;
	const char *const *skip; // globs of modules that are not imported
	size_t skips;
	uint64_t seconds;        // for all
	const atomic_bool *stop; // NULL: never
};

enum cpu_result {
	CPU_IMPORTED,
	CPU_ILLEGAL,      // an illegal instruction ended the import
	CPU_NOT_IMPORTED, // for another reason: nothing is known
	CPU_RESULT_COUNT,
};

struct cpu_module {
	enum cpu_result result;
	const char *name;   // "numpy.linalg"
	const char *member; // of an illegal instruction: the extension module that was being loaded; NULL: none was
	const char *why;    // it was not imported; NULL: it was
};

struct cpu_report {
	struct cpu_module *module; // owned, sorted by name
	size_t count;
	unsigned number[CPU_RESULT_COUNT]; // of modules with each result
	unsigned skipped;                  // modules that `skip` names
	unsigned left_out;                 // modules above LIMIT_CPU_MODULES
	struct arena text;
};

// Imports packages and modules at the top, and all extension modules. ERR_NOT_FOUND, ERR_INVALID, ERR_LIMIT: the wheel
// cannot be unpacked; ERR_IO: no qemu, or the interpreter itself does not run on such a processor; ERR_BUSY: stopped.
// The caller releases *out whatever this returns.
int cpu_check(const struct cpu_options *o, struct cpu_report *out, struct err *e) MUST_CHECK;
void cpu_report_release(struct cpu_report *r);

// Unpacks the modules of a wheel, as an installer does, without its scripts, headers and data. One thread at a time.

// Unpacks into the open, empty folder, which no other program changes meanwhile; never outside it. Adds each path that
// was made to *paths. ERR_INVALID: it is no sound archive, or one of its paths leads out; ERR_LIMIT; ERR_FULL, ERR_IO.
int wheel_unpack(const char *wheel, int folder, struct strset *paths, struct err *e) MUST_CHECK;
