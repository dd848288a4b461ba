// SPDX-License-Identifier: Apache-2.0
// The names of one library: of its files and SONAMEs ("libssl.so.3"), of the packages of distributions
// ("openssl-libs"), and of the project that makes it ("openssl"). Pure functions; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/base/str.h"

// The project, or where the table has none the stem without "lib" and without the digits at its end. A slice of name,
// or constant.
struct str library_name_project(struct str name);
// Which of the names that this one stands for matches the glob, whose case does not matter; ptr NULL: none. The names
// are the project, the name itself, its stem, and what is left of the stem without additions ("libopenblas" of
// "libopenblas64_p-r0.so"), each with "lib" in front and without; at last the stem, where it begins with the glob, of
// three letters or more ("tbb" of "libtbbmalloc"). So a search finds too much rather than too little. A slice of name,
// or constant.
struct str library_name_match(struct str name, const char *glob);

// Whether the member is in a folder of bundled libraries, at any depth: "*.libs" (auditwheel) or ".dylibs" (delocate).
bool wheel_is_bundled(const char *path);
// The stem of a library's file name, path or SONAME: what stands before the first dot, without auditwheel's hash and
// without a number behind a dash, so that all names of a library have one stem: "libssl" of "libssl-3a1b2c3d.so.3" and
// of "libssl.so.3", "libldap" of "libldap-2.5.so.0" and of "libldap.so.2". A slice of name.
struct str wheel_library_stem(struct str name);
// Whether the file name, path or SONAME has the hash that auditwheel adds: "-" and eight hexadecimal digits before the
// first dot. *plain, unless NULL: the name of the file that was copied, appended ("libssl.so.3"); the SONAME that
// others need may be shorter (libx.so.1 of libx.so.1.2).
bool wheel_library_is_hashed(struct str name, struct buf *plain);
