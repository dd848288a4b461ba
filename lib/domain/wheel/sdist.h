// SPDX-License-Identifier: Apache-2.0
// What an sdist's bytes say (PEP 517, 625, 643). Thread-safe.
#pragma once

#include "lib/domain/wheel/wheel.h"

// Reads a .tar.gz or .zip to its end (a truncated one is found) and fills out->metadata with
// PKG-INFO of its top folder, out->requires_python with what that says. Without a PKG-INFO metadata
// stays empty: a finding, under STRICT an error.
//
// *name may be empty where filename_parse() refused it: PKG-INFO must say then which project and
// version it is. *name is corrected where PKG-INFO shows that the file name was split at the wrong
// dash; ERR_INVALID where the two contradict each other, or the archive is damaged.
int sdist_examine(const struct byte_source *bytes, struct str filename, enum strictness strictness,
	struct filename *name, struct wheel *out, struct err *e) MUST_CHECK;
