// SPDX-License-Identifier: Apache-2.0
// Which files a promotion or a demotion is about: PROJECT, PROJECT==VERSION (as a specifier of PEP 440 compares), or the
// name or path of a wheel or an sdist. One thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct specifier_set;

struct promote_word {
	const char *text;     // as given; borrowed
	const char *filename; // a slice of text; NULL: it is a project
	char *project;        // normal form; NULL: it is a file
	struct specifier_set *specifier; // "==1.0"; NULL: all versions
	size_t number;        // in the order given
	bool is_matched;
};

// Words that are files come first, by file name; then the projects, by name.
struct promote_select {
	struct promote_word *word;
	size_t words, files;
};

// The texts must outlive *out, which the caller releases. ERR_USAGE names a word that is none of the three.
int promote_select_read(const char *const *text, size_t count, struct promote_select *out, struct err *e) MUST_CHECK;
void promote_select_release(struct promote_select *s); // for CLEANUP
// Whether one of the words means the file, or there are no words. Notes the words that do. project in normal form.
bool promote_select_matches(struct promote_select *s, const char *project, const char *version, const char *filename);
// Whether one of the words means the file by its name or by its version, and not only by its project.
bool promote_select_names(const struct promote_select *s, const char *project, const char *version,
	const char *filename);
// The first word that meant no file so far; NULL: there is none.
const struct promote_word *promote_select_unmatched(const struct promote_select *s);
