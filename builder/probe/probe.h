// SPDX-License-Identifier: Apache-2.0
// A scratch folder in which foreign code runs, in processes of its own with a time limit: the checks of an audit that
// only running can make. One thread at a time.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "builder/run/run.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"

struct probe {
	uint64_t seconds;        // the time limit of each program
	const atomic_bool *stop; // ends the program when it becomes true; NULL: never
	int parent;              // the open folder of temporary files, which has the scratch folder
	char *name, *folder;     // of the scratch folder; folder is absolute
	unsigned logs;           // made so far
};

// Makes the folder below TMPDIR, or /tmp. The caller calls probe_close whatever this returns. ERR_FULL, ERR_IO.
int probe_open(struct probe *p, uint64_t seconds, const atomic_bool *stop, struct err *e) MUST_CHECK;
// Removes the folder. A failure is only logged.
void probe_close(struct probe *p);
// Writes a new file of ours into the folder. ERR_FULL, ERR_IO.
int probe_write(const struct probe *p, const char *name, const char *text, struct err *e) MUST_CHECK;
// Runs a program (NULL behind its words) in the folder. Of our environment it has only PATH; HOME and TMPDIR are the
// folder. Appends its output to `output`: of a long one the beginning and the end. ERR_BUSY: it was stopped by `stop`;
// ERR_IO: it could not be started.
int probe_run(struct probe *p, const char *const *words, struct run_outcome *out, struct buf *output,
	struct err *e) MUST_CHECK;
// The absolute path of a file, of which the folder has no links and the name is as it is: so the dynamic loader calls a
// library, and a virtual environment's Python finds its environment. The caller frees it.
char *probe_path(const char *path, struct err *e) MUST_CHECK;
// The path of a program in PATH; NULL: there is none. needs_elf: a script of that name, such as one of pyenv, is passed
// over, because no emulator runs it. The caller frees it.
char *probe_find_program(const char *name, bool needs_elf);
// Whether the file is an ELF file that can be read.
bool probe_is_elf(const char *path);
// Appends how a program ended that did not end well, such as "it was ended by signal 4 (Illegal instruction)".
void probe_print_end(const struct probe *p, const struct run_outcome *o, struct buf *out);
// Appends the last line of its output, if there is one: "; it said: …".
void probe_print_last_line(const struct buf *output, struct buf *out);
// Whether the words "NAME=value" set a variable: a name of letters, digits and "_".
bool probe_is_variable(const char *text);
