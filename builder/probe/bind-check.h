// SPDX-License-Identifier: Apache-2.0
// Which library the symbols of a module really bind to: loads it three times, each time in a process of its own, and
// reads what the dynamic loader reports (LD_DEBUG=bindings of glibc). It runs the module's constructors, so it is only
// for what the operator trusts. One thread at a time.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/base/str.h"

struct bind_expectation {
	const char *symbol, *library; // globs; the library's is for its file name or its SONAME
};

enum bind_result {
	BIND_NEEDED_OK,
	BIND_NEEDED_ABSENT,
	BIND_OK,
	BIND_WRONG,  // the symbol is bound to another library
	BIND_ABSENT, // no symbol of this name is bound
	BIND_RESULT_COUNT,
};

// One line about a run. Its strings are in `text` of the lines, except `library`, which is the expectation's.
struct bind_line {
	enum bind_result result;
	const char *symbol;  // of needed libraries: the SONAME; what was expected if there is none
	const char *target;  // the path of the library; NULL: none
	const char *library; // what was expected
};

struct bind_lines {
	struct bind_line *line; // owned
	size_t count, room;
	unsigned errors;
	struct arena text;
};

enum bind_mode {
	BIND_PLAIN,
	BIND_PRELOADED, // the libraries of `preload` are loaded first, with RTLD_GLOBAL
	BIND_DEEPBIND,  // the same, and the module with RTLD_DEEPBIND
	BIND_MODE_COUNT,
};
extern const char *const bind_mode_name[BIND_MODE_COUNT]; // "plain", "preloaded", "deepbind"

struct bind_options {
	const char *module;
	const char *const *preload;
	size_t preloads;
	const char *const *variable; // "NAME=value"
	size_t variables;
	const struct bind_expectation *expect;
	size_t expects;
	const char *const *needed; // globs: each must match a needed library of the module
	size_t neededs;
	const char *python;      // an interpreter that loads it, in place of a small program; NULL: none
	const char *loader;      // the path of wheelcache-dlopen
	uint64_t seconds;        // for each run
	const atomic_bool *stop; // NULL: never
};

struct bind_run {
	const char *skipped;     // why there was no run; NULL: there was one
	char *failure;           // why the module was not loaded; NULL: it was
	struct bind_lines lines; // of a module that was not loaded, only those about needed libraries
	unsigned errors;         // of the lines, and the failure
};

struct bind_report {
	struct bind_run run[BIND_MODE_COUNT];
};

// ERR_NOT_FOUND; ERR_INVALID: the module is no ELF file that can be read; ERR_LIMIT: more bindings than LIMIT_BINDINGS;
// ERR_BUSY: stopped; ERR_IO, also if the loader is not glibc's and reports nothing. The caller releases *out whatever
// this returns.
int bind_check(const struct bind_options *o, struct bind_report *out, struct err *e) MUST_CHECK;
void bind_report_release(struct bind_report *r);

// Parses what glibc's dynamic loader writes with LD_DEBUG=bindings: a line for each symbol that it has bound
// (ld.so(8)). A pure function; any thread.

// A binding; slices of the line.
struct bind_log_line {
	struct str from, to; // the paths of the file that needs the symbol, and of the one that has it
	struct str symbol;
	struct str version; // "": none
};

// Parses a line without its end, such as
//	     14230:	binding file ./a.so [0] to ./libb.so.0 [0]: normal symbol `f' [B_1.0]
// False: it is another line of the loader, or none.
bool bind_log_parse(struct str line, struct bind_log_line *out);
