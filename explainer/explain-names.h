// SPDX-License-Identifier: Apache-2.0
// Whose files of a project clients get, and by which rule of names. Any thread.
#pragma once

#include <stdbool.h>

#include "lib/format/jsondoc.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream.h"

// Borrowed.
struct explain_names {
	enum name_rule rule;
	bool is_ours;     // explain_about
	bool merges;      // the view
	bool is_kept_out; // merge_upstream_is_kept_out()
	const struct upstream_answer *answer;
};
// The object "names" of explain.h. The caller owns it.
struct jsondoc *explain_names(const struct explain_names *names);
// Why upstream's files are kept out.
extern const char explain_names_kept_out[];
