// SPDX-License-Identifier: Apache-2.0
// Which library the symbols of a module really bind to: loads it three times, each time in a process of its own, and
// reads what the dynamic loader reports (LD_DEBUG=bindings of glibc). It runs the module's constructors, so it is only
// for what the operator trusts. One thread at a time.
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "builder/probe/bind-judge.h"
#include "lib/base/err.h"

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
