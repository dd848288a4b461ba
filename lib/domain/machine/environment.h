// SPDX-License-Identifier: Apache-2.0
// One Python on one kind of machine, and which wheels it installs: its compatibility tags in order of preference, as
// python3-packaging computes them (PEP 425, 384, 600, 656, 803). Pure functions; any thread may read an environment.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/text/filename.h"

struct python {
	bool is_pypy;
	bool is_free_threaded; // "3.13t"
	unsigned major, minor;
};

struct machine {
	const char *arch; // as platform_arch() spells it; static, never freed
	bool is_musl;     // false: glibc
	unsigned libc_major, libc_minor;
};

// Parses "3.12", "3.13t" or "pp311". ERR_INVALID if it is none of these.
int python_parse(struct str text, struct python *out, struct err *e) MUST_CHECK;
// Appends the same spelling to out.
void python_print(const struct python *p, struct buf *out);
// Parses "glibc 2.35" or "musl 1.2" into the libc of the machine. ERR_INVALID if it is neither.
int machine_parse_libc(struct str text, struct machine *out, struct err *e) MUST_CHECK;

struct environment {
	struct python python;
	// The tags are <pair>-<platform> for each of the first `native` pairs with each platform, then <pair>-any for
	// each further pair.
	char (*pair)[24];     // "cp311-abi3"
	char (*platform)[32]; // "manylinux_2_17_x86_64"
	size_t pairs, native, platforms;
	size_t pair_room, platform_room;
};

// Computes the tags. The caller releases the environment.
void environment_init(struct environment *env, const struct machine *m, const struct python *p);
void environment_release(struct environment *env);
// Calls fn once for each tag, the most preferred one first. Errors only as fn returns them.
int environment_tags(const struct environment *env, filename_tag_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Whether it has a tag with this Python and ABI, "cp312-abi3"; with this platform, or "any". In lower case.
bool environment_has_pair(const struct environment *env, struct str pair);
bool environment_has_platform(const struct environment *env, struct str platform);
// The index of a tag (in lower case) in that order, from 0; -1 if it is not one of the tags.
long environment_rank(const struct environment *env, struct str tag);
// *best is the lowest rank among the tags of the wheel; -1 if the wheel does not install. ERR_LIMIT as filename_tags().
int environment_best(const struct environment *env, const struct filename *wheel, long *best, struct err *e) MUST_CHECK;
