// SPDX-License-Identifier: Apache-2.0
// What a line of a build's output says of the failure, by a table of what build tools print. Pure; any thread.
#pragma once

#include "lib/base/str.h"

enum log_class {
	LOG_WORDS,   // no pattern knows it
	LOG_HINT,    // words that errors have: it is taken where nothing says more
	LOG_REMARK,  // something failed before, or nothing
	LOG_SUMMARY, // better than nothing
	LOG_RETRY,   // the index does not answer pip, which goes on
	LOG_ABSENT,  // pip finds no such project: after a LOG_RETRY it has not seen the index
	LOG_AWAY,    // the index or a file host is out of reach
	LOG_TOOL,    // a tool failed, which said why before
	LOG_ERROR,   // an error of a tool: the first one says most
	LOG_MESSAGE, // the last words of a program, and a tool's error if a LOG_TOOL follows
	LOG_END,     // the last words of a program
};

// The line has no blanks at its ends.
enum log_class log_patterns_class(struct str line);
// What to do about this reason, which the program that gave it cannot know; empty: nothing.
struct str log_patterns_advice(struct str reason);
