// SPDX-License-Identifier: Apache-2.0
// The names of one library: of its files and SONAMEs ("libssl.so.3"), of the packages of distributions ("openssl-libs"),
// and of the project that makes it ("openssl"). Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// The project, or where the table has none the stem without "lib" and without the digits at its end. A slice of name, or
// constant.
struct str library_name_project(struct str name);
// Which of the names that this one stands for matches the glob, whose case does not matter; ptr NULL: none. The names are
// the project, the name itself, its stem, and what is left of the stem without additions ("libopenblas" of
// "libopenblas64_p-r0.so"), each with "lib" in front and without. So a search finds too much rather than too little. A
// slice of name, or constant.
struct str library_name_match(struct str name, const char *glob);
