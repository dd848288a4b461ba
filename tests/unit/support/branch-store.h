// SPDX-License-Identifier: Apache-2.0
// For cmocka: a configuration with branches, a store without files, its catalog, and a file of results, in a temporary
// folder. The catalog has what the test adds; nothing is asked over the network. A failure here fails the test. One
// thread.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/state/results/results.h"
#include "lib/state/store/store.h"

#define X86 "ubuntu-22.04-x86_64" // Python 3.10, glibc 2.35
#define ARM "debian-12-aarch64"   // Python 3.11, glibc 2.36
#define MANY "-manylinux_2_17_x86_64.whl"

struct branch_store {
	struct config config;
	struct store store;
	struct catalog *catalog;
	struct results *results;
};

// *state becomes the struct branch_store. Its branches: master and old (constraints), ended (it is over), loose
// (requirements, only Python 3.10).
int branch_store_set_up(void **state);
int branch_store_tear_down(void **state);
// The path of a file in the folder, relative; valid until the next call.
const char *branch_store_path(const char *name);
void branch_store_write(const char *name, const char *text);
void branch_store_set(struct branch_store *f, const char *section, const char *key, const char *value);
void branch_store_add(struct branch_store *f, const char *platform, const char *filename, const char *requires_python);
// The next generation of the view's membership adds a file of branch_store_add().
void branch_store_promote(struct branch_store *f, const char *view, const char *platform, const char *project,
	const char *filename);
void branch_store_add_tombstone(struct branch_store *f, const char *platform, const char *filename, const char *text);
// Both platforms are scanned at first.
void branch_store_set_scanned(struct branch_store *f, const char *platform, enum catalog_scanned scanned);
// The last answer of upstream about a project.
void branch_store_answer(struct branch_store *f, const char *project, const char *result, struct str facts);
// Its page. names: file names with blanks between; "!" in front: yanked; "<3.9:" in front: Requires-Python.
void branch_store_add_page(struct branch_store *f, const char *project, const char *names);
// An attempt on X86. awaiting: missing build requirements.
void branch_store_add_attempt(struct branch_store *f, const char *project, const char *version,
	enum results_result result, int64_t begun, const char *awaiting);
void branch_store_ok(int result, const struct err *e);
