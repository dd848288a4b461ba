// SPDX-License-Identifier: Apache-2.0
// Files by a word: a project and the specifier of its versions; and several files by one word: PROJECT and a specifier,
// such as mine==1.* or mine>=1,<2, or a glob of file names, such as mine-1.*. One thread.
#pragma once

#include "lib/base/strset.h"
#include "lib/state/store/store.h"

struct specifier_set;
struct specifier_version;

// A project, and which of its versions: PROJECT, PROJECT==VERSION, "PROJECT >= 1".
struct project_select {
	char *project;                   // normal form; NULL: none was read
	struct specifier_set *specifier; // NULL: all versions
};
// at: where the specifier begins; at the end of the word there is none. False: the name or the specifier is none. The
// caller releases *out, also then.
bool project_select_read(const char *word, size_t at, struct project_select *out);
void project_select_release(struct project_select *s); // for CLEANUP
// version NULL: it is not known.
bool project_select_admits(const struct project_select *s, const struct specifier_version *version);

struct file_select {
	const char *word;             // as given; borrowed
	struct project_select select; // none: the word is a glob
};

// Whether the word is such a selection, and not the name or path of one file.
bool file_select_is(const char *word);
// ERR_USAGE: an invalid project or specifier. The caller releases *out, also on an error.
int file_select_read(const char *word, struct file_select *out, struct err *e) MUST_CHECK;
void file_select_release(struct file_select *s); // for CLEANUP

// project: normal form.
typedef int file_select_fn(void *ctx, const char *project, const char *filename, struct err *e);
// Calls fn for each listed file of the platform that is selected.
int file_select_each(const struct file_select *s, const struct platform *p, struct catalog *c, file_select_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Adds the names of the listed files that the word selects; platform NULL: on all platforms. names becomes sorted.
// ERR_USAGE: as file_select_read(); ERR_NOT_FOUND: no file; errors of the catalog.
int file_select_names(const char *word, const struct store *store, const char *platform, struct catalog *c,
	struct strset *names, struct err *e) MUST_CHECK;
