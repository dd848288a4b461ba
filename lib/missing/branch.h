// SPDX-License-Identifier: Apache-2.0
// The branches of the configuration ([branch NAME]) with the lines of their requirements and constraints files, and
// what each of them wants in one environment. The files are read as pip reads them (lib/domain/text/requirements-file).
// After branches_read() a struct branches is constant, so any thread may read it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/domain/machine/environment.h"
#include "lib/state/config/config.h"

// A line of a requirements or constraints file. The strings live as long as the branches.
struct branch_line {
	const char *project;   // normal form
	const char *specifier; // a valid specifier set; "": all versions
	const char *marker;    // a valid marker; "": none
	const char *source;    // "path:line", for reports
	bool is_constraint;
	bool has_url; // "NAME @ URL": it wants a file that no index decides about
};

struct branch {
	const char *name;
	const struct config_branch *config; // borrowed
	struct branch_line *line;           // in the order of the files; constraints too
	size_t lines;
	bool has_requirements;   // the branch names requirements files; otherwise the pinned constraints are wanted
	bool allows_pre;         // a file has --pre
	bool is_over;            // until is past: it wants nothing
	const char *const *file; // paths of the files that were read, each once
	size_t files;
};

struct branches {
	struct branch *branch; // in the order of the configuration
	size_t count;
	struct arena text;
};

// Reads the files of the branches whose names match the glob; NULL: all. Globs are expanded in the order of names; -r
// and -c lead to further files, relative to the file that has them; a file is read once. now: seconds since 1970.
// ERR_USAGE, with "path:line: " where a line is to blame: a pattern or file that is missing, a file without any line, an
// invalid line or marker, files that include each other deeper than LIMIT_BRANCH_DEPTH, more than LIMIT_BRANCH_LINES
// lines, a branch without files, no branch of this name. The caller releases *out if this returns 0.
int branches_read(const struct config *c, const char *glob, int64_t now, struct branches *out,
	struct err *e) MUST_CHECK;
void branches_release(struct branches *b);

// Whether [branch] platforms has the platform, and [branch] pythons the Python.
bool branch_has_platform(const struct branch *b, const char *platform);
bool branch_has_python(const struct branch *b, const struct python *p);

// What a branch wants of one project on some micro versions of one Python.
struct branch_want {
	const char *project;   // normal form
	const char *specifier; // all lines that hold there, requirements and constraints, joined with commas; ""
	uint64_t micros; // bit n: on x.y.n; 0: the markers hold nowhere: it is not wanted (one want a project then)
	bool is_pinned;  // as pip has it: one specifier is "===", or "==" without "*"
	bool allows_pre; // --pre
	bool has_url;
	const char *source; // "path:line" of its first line
};

// The wants of a branch in one environment, by project. Micro versions on which the same lines hold are one want; a
// project has several wants if its lines differ among micro versions. An unpinned constraint alone wants nothing; a
// branch that is over wants nothing. The strings are in text or in the branches. *out is a heap array, which the caller
// frees.
int branch_wants(const struct branch *b, const struct machine *machine, const struct python *python, struct arena *text,
	struct branch_want **out, size_t *count, struct err *e) MUST_CHECK;
