// SPDX-License-Identifier: Apache-2.0
// The branches of the configuration ([branch NAME]) with the lines of their requirements and constraints files, what
// their lock files pin, and what each of them wants in one environment. The files are read as pip reads them
// (lib/domain/text/requirements-file). After branches_read() a struct branches is constant, so any thread may read it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/domain/lock/lock-memo.h"
#include "lib/domain/machine/environment.h"
#include "lib/format/digest.h"
#include "lib/state/config/config.h"

// A line of a requirements or constraints file. The strings live as long as the branches.
struct branch_line {
	const char *project;   // normal form
	const char *specifier; // a valid specifier set; "": all versions
	const char *marker;    // a valid marker; "": none
	const char *extras;    // names with commas between, in any spelling; "": none
	const char *source;    // "path:line", for reports
	size_t order;          // its place among the lines of the branch
	unsigned number;       // of the line
	bool is_constraint;
	bool is_pinned; // as pip has it: one specifier is "===", or "==" without ".*"
	bool has_url;   // "NAME @ URL": it wants a file that no index decides about
	bool is_locked; // it is what a lock pins, where the lock wants it
	size_t package; // its number among those of all locks of the branch
};

struct branch_source {
	const char *path;
	const char *kind; // how it is read: "requirements", "constraints", "lock"
	uint8_t sha256[SHA256_SIZE];
};

struct branch {
	const char *name;
	const struct config_branch *config; // borrowed
	struct branch_line *line;           // by project, then in the order of the files
	size_t lines;
	bool has_requirements;      // it has requirements; otherwise the pinned constraints are wanted
	bool allows_pre;            // a file has --pre
	bool is_over;               // until is past: it wants nothing, and its files are not read
	struct branch_source *file; // those that were read
	size_t files;
	const struct lock_memo **lock; // each with a reference
	size_t locks;
};

struct branches {
	struct branch *branch; // in the order of the configuration
	size_t count;
	struct arena text;
};

// Reads the files of the branches whose names match the glob; NULL: all. Globs are expanded in the order of names; -r
// and -c lead to further files, relative to the file that has them; a file is read once as requirements, and once as
// constraints. -r in a constraints file leads to requirements, as in pip. Options that say where files come from have
// no effect, and neither have hashes. now: seconds since 1970.
// Locks are read by lib/domain/lock.
// ERR_USAGE, with "path:line: " where a line is to blame: a file that is missing, has no line, or includes itself; a
// glob without a file; an invalid line or marker; a constraint with extras; a branch that has neither a requirement nor
// a pinned constraint nor a lock that names a version; no branch of this name; LIMIT_BRANCH_DEPTH, _LINES, _TEXT or
// _SPECIFIERS. ERR_IO: a file cannot be read. The caller releases *out if this returns 0.
int branches_read(const struct config *c, const char *glob, int64_t now, struct branches *out,
	struct err *e) MUST_CHECK;
// Reads one requirements file with those that it includes, as one branch without a name and a configuration. The same
// errors, also where it has no requirement.
int branches_read_file(const char *path, struct branches *out, struct err *e) MUST_CHECK;
void branches_release(struct branches *b);
// Whether its last day is past. now: seconds since 1970.
bool branch_is_over(const struct config_branch *config, int64_t now);

// Whether [branch] platforms has the platform, and [branch] pythons the Python.
bool branch_has_platform(const struct branch *b, const char *platform);
bool branch_has_python(const struct branch *b, const struct python *p);

// What a branch wants of one project on some micro versions of one Python.
struct branch_want {
	const char *project;   // normal form
	const char *specifier; // of all lines that hold there, requirements and constraints, joined with commas; ""
	uint64_t micros; // bit n: on x.y.n; 0: the markers hold nowhere: it is not wanted (one want a project then)
	bool is_pinned;  // as in struct branch_line
	bool allows_pre; // --pre
	bool has_url;
	const char *source; // "path:line" of the first line that wants it
};

// The wants of a branch in one environment, by project. Micro versions with the same specifiers are one want; a
// project has several wants if its lines differ among micro versions, or locks pin several versions of it. An unpinned
// constraint alone wants nothing; a branch that is over wants nothing. The strings are in text or in the branches. *out
// is a heap array, which the caller frees; NULL if there are none.
int branch_wants(const struct branch *b, const struct machine *machine, const struct python *python, struct arena *text,
	struct branch_want **out, size_t *count, struct err *e) MUST_CHECK;
