// SPDX-License-Identifier: Apache-2.0
// What the readers of the kinds of locks share. All errors begin with "path:line: ". One thread at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/lock/lock.h"
#include "lib/format/toml.h"

struct lock_reading {
	struct lock *lock;
	const char *path;
	const struct toml *toml;
	size_t *marker_index; // by hash: numbers of lock->marker; 0: free
	size_t marker_room;
	size_t *root; // the slots of lock_find_root()
	size_t roots, root_room;
	bool has_prefix; // the caller puts the line in front of errors
	struct err *e;
};

int lock_refuse(struct lock_reading *r, unsigned line, const char *fmt, ...) PRINTF_LIKE(3, 4);

// Adds a package and its slot. version: empty: unknown. Both are checked, and copied where they do not end with NUL.
int lock_add_package(struct lock_reading *r, struct str project, struct str version, unsigned line);
// Adds a file to the newest package. filename: empty: it is the last part of the URL. url: empty: none. Without both
// only the hash is known, such as "sha256:…"; empty: none.
int lock_add_file(struct lock_reading *r, struct str filename, struct str url, struct str hash, int64_t size,
	unsigned line);
// Adds a slot, and returns its number.
size_t lock_add_slot(struct lock_reading *r, const struct lock_slot *slot);
// The slot of the project for a group or an extra, or for neither. *slot: its number.
int lock_find_root(struct lock_reading *r, const char *group, const char *extra, unsigned line, size_t *slot);
// The number of a marker, which is checked. "": 0.
int lock_find_marker(struct lock_reading *r, struct str marker, unsigned line, size_t *number);
int lock_add_edge(struct lock_reading *r, size_t from, size_t to, size_t marker);
// For projects of a lock that says neither who wants them nor in which group.
int lock_add_wanted(struct lock_reading *r, const char *group, struct str marker, unsigned line);

// The string of a key in a table of TOML; empty: there is none. Other values are refused, and so is NUL in one.
int lock_get_text(struct lock_reading *r, const struct toml_value *table, const char *key, struct str *out);
// The major version in a text such as "4.5.0", which must be one from least to most.
int lock_check_version(struct lock_reading *r, const struct toml_value *table, const char *key, int least, int most);
// Keeps the Requires-Python of the project, unless it is no specifier set.
void lock_set_python(struct lock_reading *r, struct str specifier);

int lock_read_uv(struct lock_reading *r);
int lock_read_pylock(struct lock_reading *r);
int lock_read_poetry(struct lock_reading *r);
int lock_read_pdm(struct lock_reading *r);
int lock_read_pipfile(struct lock_reading *r);
int lock_read_requirements(struct lock_reading *r);
