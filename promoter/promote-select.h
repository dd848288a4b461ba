// SPDX-License-Identifier: Apache-2.0
// Which files a promotion or a demotion is about: PROJECT, PROJECT==VERSION (as a specifier of PEP 440 compares), the
// name of a wheel or an sdist, or its path below the store. A path begins with a platform, and means the file on that
// one; PLATFORM/FILE is enough. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "lib/state/publish/file-select.h"

struct promote_word {
	const char *text;     // as given; borrowed
	const char *filename; // a slice of text; NULL: it is a project
	char *platform;       // of a path; NULL: any
	const char *path;     // below the platform, a slice of text; NULL: anywhere
	bool is_elsewhere;    // the caller sets it: the platform's file of this name has another path, so nothing is meant
	struct project_select select; // none: it is a file
	size_t number;        // in the order given
	bool is_matched;
};

// Words that are files come first, by file name; then the projects, by name.
struct promote_select {
	struct promote_word *word;
	size_t words, files;
};

// A file that words may mean; all are borrowed. project in normal form; version: NULL or "": unknown.
struct promote_subject {
	const char *platform, *project, *version, *filename;
};

// The texts must outlive *out, which the caller releases. ERR_USAGE names a word that is none of these.
int promote_select_read(const char *const *text, size_t count, struct promote_select *out, struct err *e) MUST_CHECK;
void promote_select_release(struct promote_select *s); // for CLEANUP
// Whether one of the words means the file, or there are no words. Notes the words that do.
bool promote_select_matches(struct promote_select *s, const struct promote_subject *f);
// Whether one of the words means the file by its name or by its version, and not only by its project.
bool promote_select_names(const struct promote_select *s, const struct promote_subject *f);
// The first word that meant no file so far; NULL: there is none.
const struct promote_word *promote_select_unmatched(const struct promote_select *s);
