// SPDX-License-Identifier: Apache-2.0
// What the usual distributions have: their libc, and the Pythons in their own archives. Constants, of distros.txt.
#pragma once

#include "lib/base/str.h"

struct distro {
	const char *os, *version;
	const char *codename; // which may stand for the version; NULL: none
	const char *libc;     // as machine_parse_libc() reads it
	const char *pythons;  // as python_parse() reads them, a blank between
};

// What "<os>-<version>-<arch>" is made of; a version may say more than the row ("9.4",
// "8-stream", "3.20.3"). NULL where there is no such row.
const struct distro *distro_find(struct str slug);
