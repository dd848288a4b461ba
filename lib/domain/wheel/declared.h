// SPDX-License-Identifier: Apache-2.0
// Compares what the form of the legacy upload API declares about a file with the file itself. The index uses only the
// facts of the file; a form that contradicts them is rejected. Pure functions; any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/text/filename.h"
#include "lib/format/digest.h"

// The fields of the form; NULL: not given. Borrowed.
struct declared {
	const char *name;                 // of the project, any spelling
	const char *version;              // any spelling
	const char *filetype;             // "bdist_wheel" or "sdist"
	const char *digest[DIGEST_COUNT]; // hexadecimal
};

// Compares the declared digests with those of the file. ERR_INVALID with both values if one differs. A digest that
// could not be computed (FIPS mode) is not compared.
int declared_check_bytes(const struct declared *form, const struct digest_value hash[DIGEST_COUNT],
	struct err *e) MUST_CHECK;
// Compares the declared name, version and type with those of the file. filename is its name; file is what the name and
// the content say. ERR_INVALID with both values if one differs.
int declared_check_name(const struct declared *form, struct str filename, const struct filename *file,
	struct err *e) MUST_CHECK;
