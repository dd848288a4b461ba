// SPDX-License-Identifier: Apache-2.0
// Pages in HTML: PEP 503, 592, 629, 658, 714, 740, 792, and what mirrors put beside it.
#pragma once

#include "lib/domain/index/simplepage-make.h"

enum simplepage_fault simplepage_read_html(struct simplepage_make *m, struct str body, struct err *e) MUST_CHECK;
