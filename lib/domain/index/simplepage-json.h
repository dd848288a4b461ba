// SPDX-License-Identifier: Apache-2.0
// Parses simple pages in JSON: PEP 691, 700, 714, 740, 792. Reads the page into m. Returns the fault, with *e set;
// SIMPLEPAGE_GOOD: none. Any thread; one at a time per m.
#pragma once

#include "lib/domain/index/simplepage-make.h"

enum simplepage_fault simplepage_read_json(struct simplepage_make *m, struct str body, struct err *e) MUST_CHECK;
