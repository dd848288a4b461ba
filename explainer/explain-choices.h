// SPDX-License-Identifier: Apache-2.0
// What pip takes in each environment of a view: of the files here, of those of upstream, of both, and of what its
// clients get. One thread at a time.
#pragma once

#include "lib/install/finder.h"
#include "lib/format/jsondoc.h"
#include "lib/view/view.h"

// Where the files of the finder come from.
enum file_origin { FROM_HERE = 1, FROM_UPSTREAM = 2, FROM_BOTH = 4 };

// The array "environments" of explain.h. client: what clients of the view get. The caller owns it.
struct jsondoc *explain_choices(const struct view *view, enum file_origin client, struct finder *finder);
