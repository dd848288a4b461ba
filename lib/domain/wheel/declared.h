// SPDX-License-Identifier: Apache-2.0
// What the sender of a file says of it, held against what the file is: the form of the legacy upload
// API. The page's facts come from the file; the form can only contradict them. Pure; thread-safe.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/text/filename.h"
#include "lib/format/multi-digest.h"

// NULL: nothing was said. Borrowed.
struct claims {
	const char *name;     // of the project, any spelling
	const char *version;  // any spelling
	const char *filetype; // "bdist_wheel" or "sdist"
	const char *digest[HASH_COUNT]; // hexadecimal
};

// ERR_INVALID with what was said and what is so. A digest that could not be counted (FIPS mode) is
// not compared.
int claims_check_bytes(
	const struct claims *claims, const struct hash_value hash[HASH_COUNT], struct err *e) MUST_CHECK;
// file is what was found in the file of this name.
int claims_check_name(const struct claims *claims, struct str filename, const struct filename *file,
	struct err *e) MUST_CHECK;
