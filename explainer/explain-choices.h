// SPDX-License-Identifier: Apache-2.0
// What pip takes in each environment of a view: of the files here, of those of upstream, of both, and of what its
// clients get. One thread at a time.
#pragma once

#include "lib/install/index-files.h"
#include "lib/format/jsondoc.h"
#include "lib/view/view.h"

// Where the files come from: their sources.
enum file_origin { FROM_HERE = 1, FROM_UPSTREAM = 2, FROM_BOTH = 4 };

// The array "environments" of explain.h: of each place of the files' struct fits. client: what clients of the view get.
// requested: "==1.0"; NULL: any version. The caller owns it.
struct jsondoc *explain_choices(struct index_files *files, enum file_origin client, const char *requested);
