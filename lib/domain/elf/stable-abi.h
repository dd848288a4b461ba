// SPDX-License-Identifier: Apache-2.0
// The symbols of CPython's stable ABI (PEP 384, 652), by the version that added each one: constants, generated from
// stable-abi.txt. Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// Whether the symbol is one of Python's C API: it begins with "Py" or "_Py".
bool stable_abi_is_python(struct str symbol);
// The minor version of Python 3 that added the symbol to the stable ABI; -1: the stable ABI does not have it.
int stable_abi_since(struct str symbol);
// Whether the stable ABI has a symbol with the same beginning, up to "_": PyUnicode_AsUTF8 is of the family of
// PyUnicode_New, and so Python's own. Libraries of others have such names too, as shiboken's PyDate_FromDate.
bool stable_abi_has_kin(struct str symbol);
