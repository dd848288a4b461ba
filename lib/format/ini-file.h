// SPDX-License-Identifier: Apache-2.0
// INI files, by inih: "[section]", "key = value", "#" and ";" begin a comment. An indented line
// goes on with the value above it and comes as another call for the same key. Lines have at most
// 197 bytes.
#pragma once

#include <stddef.h>

#include "lib/base/err.h"

// Called for each key, and with key and value NULL where a section begins (one without keys is told
// as well); all strings are borrowed for the call. Returns 0, or -1 with *e set: the reading ends
// and the error gets "path:line: " in front.
typedef int ini_file_handler(void *ctx, const char *section, const char *key, const char *value, struct err *e);

int ini_file_read_file(const char *path, ini_file_handler *handler, void *ctx, struct err *e) MUST_CHECK;
