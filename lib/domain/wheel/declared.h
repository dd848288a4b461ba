// SPDX-License-Identifier: Apache-2.0
// What the sender of a file says of it, held against what the file is: the form of the legacy upload
// API. The page's facts come from the file; the form can only contradict them. Pure; thread-safe.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/text/filename.h"
#include "lib/format/multi-digest.h"

// NULL: nothing was said. Borrowed.
struct declared {
	const char *name;                 // of the project, any spelling
	const char *version;              // any spelling
	const char *filetype;             // "bdist_wheel" or "sdist"
	const char *digest[DIGEST_COUNT]; // hexadecimal
};

// ERR_INVALID with what was said and what is so. A digest that could not be counted (FIPS mode) is
// not compared.
int declared_check_bytes(const struct declared *claims, const struct digest_value hash[DIGEST_COUNT],
	struct err *e) MUST_CHECK;
// file is what was found in the file of this name.
int declared_check_name(const struct declared *claims, struct str filename, const struct filename *file,
	struct err *e) MUST_CHECK;
