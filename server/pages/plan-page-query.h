// SPDX-License-Identifier: Apache-2.0
// What the page of a plan is asked for.
#pragma once

#include "lib/view/view.h"
#include "server/core/named.h"

struct upstream;

// The client's query, which is not trusted. All pointers are borrowed.
struct plan_page_query {
	const struct platform *const *platform; // that the client may read, in their order
	size_t platforms;
	const char *only; // the name of one of them; "": all
	const char *
		verdict; // "": any; "removed", "kept", or a verdict; NULL: what is removed, if anything is and text is ""
	const char *text;          // "": any
	uint64_t page;             // from 1
	const char *plan, *chosen; // the id of the plan that the numbers in chosen (plan-choice.h) are of
	const struct named *named; // of which platforms the client may know who applied the plan
	const struct site *site;
	struct upstream *upstream; // NULL: what holds now is not shown
};
