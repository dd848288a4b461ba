// SPDX-License-Identifier: Apache-2.0
// Parses simple pages in HTML: PEP 503, 592, 629, 658, 714, 740, 792, and dialects of mirrors. Reads the page into m.
// Returns the fault, with *e set; SIMPLEPAGE_GOOD: none. Any thread; one at a time per m.
#pragma once

#include "lib/domain/index/simplepage-make.h"

enum simplepage_fault simplepage_read_html(struct simplepage_make *m, struct str body, struct err *e) MUST_CHECK;
