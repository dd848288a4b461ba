// SPDX-License-Identifier: Apache-2.0
// What is to be built, in the forms that CI systems read. Only rows with the status MISSING count. Pure; any thread.
#pragma once

#include "builder/missing/missing.h"

enum {
	CI_MATRIX_ENTRIES = 256,       // of a GitHub matrix
	CI_MATRIX_CHARACTERS = 450000, // of its JSON, in UTF-16
};

// A part of the projects, for several machines: all rows of a project are in the same part, everywhere. 0 of 0: all.
struct missing_shard {
	unsigned index, count; // 1 to count
};
// Parses "K/N". ERR_USAGE.
int missing_shard_parse(const char *text, struct missing_shard *out, struct err *e) MUST_CHECK;
bool missing_shard_has(const struct missing_shard *shard, const char *project);

// Append to out. ERR_LIMIT: it does not fit; for GitHub the message says which N of --shard K/N fits. Rows are grouped
// by platform and Python, so the rows of an environment must stand together, as missing_make() has them.
//
// GitHub: two lines for $GITHUB_OUTPUT, as an empty matrix fails a workflow. All values are strings.
//   matrix={"include":[{"platform":"ubuntu-22.04-x86_64","python":"3.10","arch":"x86_64","wheels":"2",
//                       "requirements":"a==1 b==2"}]}
//   count=1
int ci_matrix_github(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK;
// Jenkins: YAML in the shape of a matrix job: the axes platform, python and requirements, and one rule of include a
// cell, whose values are regular expressions that match exactly one value each. taskName differs for each cell.
int ci_matrix_jenkins(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK;
// Zuul: YAML with the keys jobs, a list as in a configuration of Zuul with one job a platform, and child_jobs, the
// names of these for zuul_return.
int ci_matrix_zuul(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e) MUST_CHECK;
// Lines for pip, "project==version", each once, by name.
int ci_matrix_requirements(const struct missing *m, const struct missing_shard *shard, struct buf *out,
	struct err *e) MUST_CHECK;
