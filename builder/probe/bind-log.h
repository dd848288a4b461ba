// SPDX-License-Identifier: Apache-2.0
// Parses what glibc's dynamic loader writes with LD_DEBUG=bindings: a line for each symbol that it has bound (ld.so(8)).
// A pure function; any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/str.h"

// A binding; slices of the line.
struct bind_log_line {
	struct str from, to; // the paths of the file that needs the symbol, and of the one that has it
	struct str symbol;
	struct str version; // "": none
};

// Parses a line without its end, such as
//	     14230:	binding file ./a.so [0] to ./libb.so.0 [0]: normal symbol `f' [B_1.0]
// False: it is another line of the loader, or none.
bool bind_log_parse(struct str line, struct bind_log_line *out);
