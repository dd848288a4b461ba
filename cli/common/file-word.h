// SPDX-License-Identifier: Apache-2.0
// FILE on a command line: the name of a wheel or an sdist, or its path. A path is one of the file system, the address
// of one in a bucket, or if its folder is not there, one below the store, such as PLATFORM/FILE. It means the file on
// one platform; a name, on all of them. The bytes need not be there any more. One thread.
#pragma once

#include "lib/state/store/store.h"

struct file_word {
	const char *name;                // of the file; a part of the word
	const struct platform *platform; // borrowed from the store; NULL: it is a name alone, for any platform
	char *folder;                    // relative to the platform; NULL: it is a name alone
	bool exists;                     // there is a file at the path
};

// Whether it is the name or the path of a wheel or an sdist, and not a folder.
bool file_word_fits(const char *word);
// The caller releases *out. ERR_USAGE: it is no name of a file, or a path outside of all platforms.
int file_word_read(const char *word, const struct store *store, struct file_word *out, struct err *e) MUST_CHECK;
void file_word_release(struct file_word *w); // for CLEANUP; all zero is fine
// Whether the word may mean a file of this platform.
bool file_word_is_on(const struct file_word *w, const struct platform *p);
// ERR_CONFLICT: the path is that of another file than the one that the catalog has of this name.
int file_word_check(const struct file_word *w, struct catalog *c, struct err *e) MUST_CHECK;
