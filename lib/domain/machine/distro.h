// SPDX-License-Identifier: Apache-2.0
// The libc of the usual distributions and the Pythons in their own archives: constants, generated from distros.txt.
// Pure functions; any thread.
#pragma once

#include "lib/base/str.h"

struct distro {
	const char *os, *version;
	const char *codename; // may be used instead of the version; NULL: none
	const char *libc;     // as machine_parse_libc() reads it
	const char *pythons;  // as python_parse() reads them, separated by blanks
};

// The distribution of a platform name "<os>-<version>-<arch>". The version may have more parts than that of the row
// ("9.4", "8-stream", "3.20.3"). NULL if the table has none.
const struct distro *distro_find(struct str slug);
