// SPDX-License-Identifier: Apache-2.0
// What the machine says about a build, as data, never read from a log: versions of the compiler, libc and the
// interpreter; the build requirements that pip installed; those that the sdist asks for. Asked where the foreign
// programs run, behind [build] wrap. What cannot be had is left out. Not for several threads of one room.
#pragma once

#include <stddef.h>

#include "builder/missing/missing.h"
#include "builder/step/sandbox.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/format/jsondoc.h"

// What is known before: "builder", "host", "host_libc" (the machine's own), "note", "branches", "wrap", and "index"
// without its password. The caller frees the document.
struct jsondoc *build_facts_begin(const struct config *config, const struct missing_row *row, const char *index,
	const char *host);
// Puts "interpreter", "compiler", "cpu_baseline" (the level of the processor that the compiler builds for with CFLAGS:
// "x86-64-v2", "armv8"), "libc" and "system" into provenance. -1 only if the interpreter cannot be run: then
// nothing can be built. ERR_INVALID, ERR_IO.
int build_facts_machine(struct sandbox *r, struct jsondoc *provenance, struct err *e) MUST_CHECK;
// Puts "requirements" into provenance: [{"name", "version", "sha256"}], as each `pip install` of the build reported,
// and their names (normal form, sorted) into names. reports: the reports, one after the other; not of pip: none.
void build_facts_requirements(struct str reports, struct jsondoc *provenance, struct strset *names);
// Adds the projects (normal form, sorted) that build-system.requires of the sdist names for this Python.
void build_facts_wanted(struct sandbox *r, struct strset *out);

// Collects what several programs write to one path one after the other, while others of them run: each `pip install` of
// a build writes its report there (PIP_REPORT), and a file would keep the last one alone. The path is a named pipe,
// which a thread empties. Any thread may open and close one.

struct report_pipe;

// Makes the named pipe. most: bytes that are kept; what comes after them is read and dropped. ERR_IO.
int report_pipe_open(const char *path, size_t most, struct report_pipe **out, struct err *e) MUST_CHECK;
// Removes the named pipe, since a program that opens it now would wait forever. Appends what was written to out; NULL:
// drops it. A NULL pipe is fine.
void report_pipe_close(struct report_pipe *p, struct buf *out);
