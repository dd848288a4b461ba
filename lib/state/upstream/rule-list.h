// SPDX-License-Identifier: Apache-2.0
// A list of packages of the operator, and the file that it was read from: [server] deny, [upstream] deny and allow. Its
// lines are constant; a list that has changed is another one. Reference-counted; any thread. NULL is a list without
// lines.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/domain/text/requirement.h"

struct rule_list;

// path NULL: *out is NULL. key_of_upstream: "deny" or "allow"; NULL: [server] deny, whose lines may be for some
// platforms. ERR_USAGE, ERR_IO, ERR_NOT_FOUND.
int rule_list_open(const char *path, const char *key_of_upstream, struct rule_list **out, struct err *e) MUST_CHECK;
// Another reading of its file, with an error in the log if that cannot be read: then the lines are those of l.
struct rule_list *rule_list_renew(struct rule_list *l);
struct rule_list *rule_list_ref(struct rule_list *l);
void rule_list_unref(struct rule_list *l);
void rule_list_cleanup(struct rule_list **l); // for CLEANUP
// Borrowed.
const struct requirements *rule_list_lines(const struct rule_list *l);
// The first line that has a file of the project (normal form) on the platform, borrowed; NULL: none. A file whose
// version its name does not say is of each version.
const struct requirement *rule_list_find(const struct rule_list *l, const char *project, const char *filename,
	const char *platform);
// Whether the file is another one now. An editor may just replace it: it is missing if it is so at two looks. One
// thread.
bool rule_list_has_changed(struct rule_list *l);
// Its path, and why it could not be read again (NULL: it could), since when in seconds since 1970. Borrowed.
void rule_list_tell(const struct rule_list *l, const char **path, const char **error, int64_t *failed);
