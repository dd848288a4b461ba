// SPDX-License-Identifier: Apache-2.0
// What is to be built, in the forms that CI systems read. Only rows with the status MISSING count. Pure; any thread.
#pragma once

#include "lib/missing/missing.h"

enum {
	MISSING_MATRIX_ENTRIES = 256,       // of a GitHub matrix
	MISSING_MATRIX_CHARACTERS = 450000, // of its JSON, in UTF-16
};

// A part of the projects, for several machines: all rows of a project are in the same part, everywhere. 0 of 0: all.
struct missing_shard {
	unsigned index, count; // 1 to count
};
// Parses "K/N". ERR_USAGE.
int missing_shard_parse(const char *text, struct missing_shard *out, struct err *e) MUST_CHECK;
bool missing_shard_has(const struct missing_shard *shard, const char *project);

// Append to out. ERR_LIMIT: it does not fit; for GitHub the message says which N of --shard K/N fits.
int missing_github(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK; // "matrix={…}" and "count=N", two lines for $GITHUB_OUTPUT
int missing_jenkins(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK; // YAML: a matrix job
int missing_zuul(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK; // YAML: a job a platform, and the child_jobs to return
int missing_requirements(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK; // lines for pip, "project==version", each once, by name
