// SPDX-License-Identifier: Apache-2.0
// A list of packages of the operator, and the file that it was read from: [server] deny, [upstream] deny and allow. Its lines
// are constant; a list that has changed is another one. Reference-counted; any thread. NULL is a list without lines.
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "lib/base/err.h"
#include "lib/domain/text/requirement.h"

struct rule_list;

// Reads the lines alone, to be released in any case. The errors of rule_list_open().
int rule_list_read(const char *path, bool has_platforms, struct requirements *out, struct err *e) MUST_CHECK;
// path NULL: *out is NULL. has_platforms: lines may be for some platforms. ERR_USAGE, ERR_IO, ERR_NOT_FOUND.
int rule_list_open(const char *path, bool has_platforms, struct rule_list **out, struct err *e) MUST_CHECK;
struct rule_list *rule_list_ref(struct rule_list *l);
void rule_list_unref(struct rule_list *l);
void rule_list_cleanup(struct rule_list **l); // for CLEANUP
// Borrowed.
const struct requirements *rule_list_lines(const struct rule_list *l);
// The first line that has a file of the project (normal form) on the platform, borrowed; NULL: none. A file whose version its
// name does not say is of each version.
const struct requirement *rule_list_find(const struct rule_list *l, const char *project, const char *filename,
	const char *platform);
// Whether a file of lines is another one than `seen`, or missing at two looks: an editor may just replace it. *is_missing: at
// the last look.
bool rule_list_file_has_changed(const char *path, const struct stat *seen, bool *is_missing);
// The same of the list's file. One thread.
bool rule_list_has_changed(struct rule_list *l);
// What is there now could not be read: it is looked at when it has changed again. One thread.
void rule_list_blame(struct rule_list *l);
