// SPDX-License-Identifier: Apache-2.0
// What lock files of Python projects name: uv.lock, pylock.toml (PEP 751), poetry.lock, pdm.lock, Pipfile.lock and
// requirements with hashes. Which of these a file is, its content says, never its name. Versions of a format that are
// not known are refused, and unknown keys ignored. What a lock cannot say is unknown: Pipfile.lock and requirements
// name no files but hashes, and poetry before 2 has no markers.
//
// A lock is constant once it is read (lock-read.h), so any thread may use it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/format/digest.h"

enum lock_kind {
	LOCK_UV,
	LOCK_PYLOCK,
	LOCK_POETRY,
	LOCK_PDM,
	LOCK_PIPFILE,
	LOCK_REQUIREMENTS,
	LOCK_KIND_COUNT,
};
extern const char *const lock_kind_name[LOCK_KIND_COUNT]; // "uv.lock", "pylock.toml", …

struct lock_file {
	const char *filename; // NULL: the lock has only its hash
	const char *url;      // NULL: none
	int64_t size;         // bytes; -1: unknown
	unsigned line;
	bool has_sha256;
	uint8_t sha256[SHA256_SIZE];
};

// A version of a project. The strings live as long as the lock.
struct lock_package {
	const char *project;         // normal form
	const char *version;         // a valid version; NULL: the lock names none
	const char *marker;          // as the file has it, for reports; NULL: none
	const char *requires_python; // NULL: none is known
	const char *source;          // "git", "path", …, of what no index has; NULL: an index has it
	unsigned line;
	size_t file, files; // lock->file[file] is its first one
	size_t slot;        // of itself; those of its extras follow
};

// What has dependencies: a package or an extra of it; the project that is locked, a group or an extra of it.
struct lock_slot {
	size_t package;            // LOCK_NO_PACKAGE: it is of the project
	bool is_root;              // it is of the project: wanted, if its group or its extra is
	const char *group, *extra; // NULL: none. pdm does not tell them apart: both are the same
	size_t edge, edges;        // lock->edge[edge] is its first one
};
#define LOCK_NO_PACKAGE SIZE_MAX

struct lock_edge {
	size_t from, to; // slots
	size_t marker;   // lock->marker[marker] is its condition; the first one is ""
};

struct lock {
	enum lock_kind kind;
	const char *requires_python; // of the project, a valid specifier set; NULL: none
	struct lock_package *package;
	size_t packages, package_room;
	struct lock_file *file;
	size_t files, file_room;
	struct lock_slot *slot;
	size_t slots, slot_room;
	struct lock_edge *edge; // by from
	size_t edges, edge_room;
	const char **marker; // the different ones, all valid
	size_t markers, marker_room;
	size_t skipped; // packages with a source, and such lines of requirements
	struct buf text;
	struct arena room;
};

void lock_release(struct lock *l);
