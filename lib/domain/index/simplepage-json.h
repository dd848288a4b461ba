// SPDX-License-Identifier: Apache-2.0
// Pages in JSON: PEP 691, 700, 714, 740, 792.
#pragma once

#include "lib/domain/index/simplepage-make.h"

enum simplepage_fault simplepage_read_json(struct simplepage_make *m, struct str body, struct err *e) MUST_CHECK;
