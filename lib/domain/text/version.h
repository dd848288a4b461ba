// SPDX-License-Identifier: Apache-2.0
// Versions: PEP 440. Integers of any size. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

// A parsed version: plain value with two owned byte strings.
struct version {
	char *text;         // normal form, NUL-terminated; trailing zeros of the release are kept
	struct str key;     // bytes that sort (memcmp, a prefix is less) as PEP 440 orders; equal
			    // versions have equal keys (1.0 == 1.0.0). May hold NUL bytes. Also owned.
	bool is_prerelease; // has a pre or dev part
	bool is_local;      // has a "+local" part
};

// Parses what packaging.version.Version accepts (blanks around it, "v", any case). ERR_INVALID
// otherwise.
int version_parse(struct str text, struct version *out, struct err *e) MUST_CHECK;
bool version_is_valid(struct str text);
void version_release(struct version *v);
int version_cmp(const struct version *a, const struct version *b);
