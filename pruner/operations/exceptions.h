// SPDX-License-Identifier: Apache-2.0
// The files of a plan that its operator leaves out: names, or globs of them. Each word is compared with the file's name,
// with PLATFORM/NAME and with PLATFORM/PATH. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct planfile_entry;

struct exception {
	char *word; // owned
	bool is_used;
};

// All zero is an empty list.
struct exceptions {
	struct exception *glob, *name; // name: without special characters; sorted by exceptions_sort
	size_t globs, names, glob_room, name_room;
};

// Adds a word, or for "@FILE" each line of the file that is neither empty nor a comment ("#"). ERR_USAGE where the word is
// empty, or there are more than LIMIT_EXCEPTION_GLOBS globs; ERR_NOT_FOUND, ERR_IO and ERR_LIMIT of the file.
int exceptions_add(struct exceptions *x, const char *word, struct err *e) MUST_CHECK;
// After the last exceptions_add.
void exceptions_sort(struct exceptions *x);
// Whether the file is left out. Notes which word says so.
bool exceptions_take(struct exceptions *x, const struct planfile_entry *file);
// A word that left out no file; NULL: there is none.
const char *exceptions_unused(const struct exceptions *x);
void exceptions_release(struct exceptions *x);
