// SPDX-License-Identifier: Apache-2.0
// The wheel that a step has made: found in its output folder, and checked as strictly as an upload. No foreign program
// of the attempt runs meanwhile. One thread at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/domain/machine/environment.h"
#include "lib/format/digest.h"

struct built_wheel {
	char *path, *filename; // owned; NULL: none
	char *requires_python; // owned; NULL: none
	char sha256[SHA256_HEX + 1];
	uint64_t size;
};

// What the wheel has to be.
struct built_wheel_want {
	const char *project, *version;         // in any spelling (PEP 503, 440); a local part belongs to the version
	const struct environment *environment; // it has to install there
};

// Replaces *wheel, the one before the step, by the only wheel in the folder. A step may leave the one before beside its
// own: that one is removed. ERR_INVALID: no wheel, several wheels, a link, another project or version, tags that do not
// install there, or what the checks of an upload say. ERR_LIMIT, ERR_IO. On an error *wheel stays.
int built_wheel_find(const char *folder, const struct built_wheel_want *want, struct built_wheel *wheel,
	struct err *e) MUST_CHECK;
// Whether the wheel is for any platform.
bool built_wheel_is_pure(const struct built_wheel *wheel);
void built_wheel_release(struct built_wheel *wheel); // for CLEANUP; all zero is fine
