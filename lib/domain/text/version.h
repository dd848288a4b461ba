// SPDX-License-Identifier: Apache-2.0
// Versions (PEP 440), with integers of any size. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

// A parsed version. It owns two byte strings.
struct version {
	char *text;         // normal form; trailing zeros of the release are kept
	struct str key;     // owned bytes that sort as PEP 440 orders (memcmp; a prefix is less). Equal versions have
			    // equal keys (1.0 == 1.0.0). May hold NUL bytes.
	bool is_prerelease; // has a pre or dev part
	bool is_local;      // has a "+local" part
};

// Parses whatever packaging.version.Version accepts: blanks around it, a leading "v", any case. On success the caller
// releases *out; otherwise ERR_INVALID, and *out is not touched.
int version_parse(struct str text, struct version *out, struct err *e) MUST_CHECK;
// Whether version_parse() accepts the text.
bool version_is_valid(struct str text);
void version_release(struct version *v);
// Below 0: a is the older one; 0: they are equal.
int version_cmp(const struct version *a, const struct version *b);
