// SPDX-License-Identifier: Apache-2.0
// The log of an attempt as plain text that is safe to show: what third-party code printed may hold anything. Pure; any
// thread.
#pragma once

#include "lib/base/buf.h"

// Adds the log to out. Line ends become "\n". Other control characters become their pictures (U+2400 and on), those of
// the range U+0080 to U+009F, marks that change the direction of text, and bytes that are not UTF-8 become U+FFFD. So a
// terminal obeys none of it.
void builds_log_clean(struct str log, struct buf *out);
