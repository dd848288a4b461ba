// SPDX-License-Identifier: Apache-2.0
// Lists of reStructuredText: bullets, numbers, fields (":name: text"), options ("-v  text"), definitions. Each function
// writes the list that begins in line i and returns the first line behind it, or i if none begins there.
#pragma once

#include "lib/readme/rst-lines.h"

size_t rst_bullet_list(struct rst *r, size_t i, size_t to, size_t margin);
size_t rst_numbered_list(struct rst *r, size_t i, size_t to, size_t margin);
size_t rst_field_list(struct rst *r, size_t i, size_t to, size_t margin);
size_t rst_option_list(struct rst *r, size_t i, size_t to, size_t margin);
// A line that the next one, which is indented, defines.
size_t rst_definition_list(struct rst *r, size_t i, size_t to, size_t margin);
