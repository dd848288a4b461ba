// SPDX-License-Identifier: Apache-2.0
// The modules that a wheel installs at the top, which an import of them tests. One thread at a time.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"

// Adds the modules of the wheel's files, sorted: packages and modules at the top; of a namespace package, which has no
// file of its own, the packages and extension modules below it ("google.cloud.storage"). Private ones ("_x"), and those
// that many projects install by mistake (tests, docs, setup, …), only if there is nothing else. No module: the wheel
// has only data or type stubs. At most LIMIT_TOP_MODULES. The file was checked before. ERR_INVALID, ERR_IO.
int top_modules_read(const char *wheel, struct strset *out, struct err *e) MUST_CHECK;
// The path of a wheel's member in the folder of modules, where an installer puts it; empty: it is put elsewhere.
struct str top_modules_installed_path(struct str path);
// For one file of a wheel: appends the module that it stands for, such as "a" for "a/__init__.py" and
// "a.cpython-311-x86_64-linux-gnu.so"; nothing if it stands for none at the top.
void top_modules_of_path(struct str path, struct buf *out);
