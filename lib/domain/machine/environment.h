// SPDX-License-Identifier: Apache-2.0
// One Python on one kind of machine, and which wheels it installs: its compatibility tags in the
// order of preference, as python3-packaging has them (PEP 425, 384, 600, 656, 803). Pure; read by
// any number of threads.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/tag.h"

struct python {
	bool is_pypy;
	bool is_threaded; // free-threaded: "3.13t"
	unsigned major, minor;
};

struct machine {
	const char *arch; // as platform_arch() spells it; a constant
	bool is_musl;     // else glibc
	unsigned libc_major, libc_minor;
};

// "3.12", "3.13t", "pp311". ERR_INVALID.
int python_parse(struct str text, struct python *out, struct err *e) MUST_CHECK;
// The other way round.
void python_print(const struct python *p, struct buf *out);
// "glibc 2.35", "musl 1.2", into the machine's libc. ERR_INVALID.
int machine_parse_libc(struct str text, struct machine *out, struct err *e) MUST_CHECK;

struct environment {
	struct python python;
	// Tags are <pair>-<platform> for each of the first `native` pairs with each platform, then
	// <pair>-any for those that follow. Each text ends with NUL.
	char (*pair)[24];     // "cp311-abi3"
	char (*platform)[32]; // "manylinux_2_17_x86_64"
	size_t pairs, native, platforms;
	size_t pair_room, platform_room;
};

void environment_init(struct environment *env, const struct machine *m, const struct python *p);
void environment_release(struct environment *env);
// Calls fn for each tag, the most preferred one first, each once.
int environment_tags(const struct environment *env, tag_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// The place of a tag (in lower case) in that order, from 0; -1 where it does not install.
long environment_rank(const struct environment *env, struct str tag);
// The best place that a tag of the wheel has; -1 where none installs. ERR_LIMIT as tag_foreach()
// has it.
int environment_best(const struct environment *env, const struct filename *wheel, long *best, struct err *e) MUST_CHECK;
