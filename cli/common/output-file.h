// SPDX-License-Identifier: Apache-2.0
// Writes a command's result to a file that the operator named. Main thread only.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"

// The file appears complete, or stays as it was. option: its name, such as "--output", for messages. ERR_USAGE: there
// is something else than a regular file, such as a link or /dev/stdout, which must not be replaced; ERR_IO, ERR_FULL.
int output_file_write(const char *option, const char *path, struct str bytes, struct err *e) MUST_CHECK;
