// SPDX-License-Identifier: Apache-2.0
// The files of the last plan of a prune on its page: the form for searches, a page of the files, and what the parts of
// the page share. One thread for each catalog.
#pragma once

#include "server/pages/plan-applied.h"
#include "server/pages/plan-choice.h"

enum { PLAN_VERDICTS = 7 };
extern const char *const plan_verdict[PLAN_VERDICTS]; // in the order of the page

struct plan_sum {
	uint64_t files, bytes;
};

struct plan_page_writer {
	const struct page_query *query;
	const struct jsondoc *head; // the plan without its files
	struct buf *out;
	char text[LIMIT_FILE_NAME + 1]; // that is searched for, in lower case
	const char *id;                 // of the plan
	const char *verdict;            // that is shown: "": any; "removed", "kept", or a verdict
	struct plan_applied applied;
	struct plan_choice choice;
	size_t changes; // that were written
};

// A link to the same page with another query and the same choice; the caller closes it.
void plan_begin_link(struct plan_page_writer *w, const char *platform, const char *verdict, const char *text, uint64_t page);
bool plan_is_selected(const struct plan_page_writer *w, const struct platform *p);

// Collects files of the plan.
struct plan_collector {
	struct plan_rows *rows;
	const struct page_query *query;
};
// A catalog_planned_fn for it. A file of a platform that the client may not read is left out.
int plan_collect(void *ctx, const struct catalog_planned *f, struct err *e) MUST_CHECK;

void plan_put_form(struct plan_page_writer *w);
int plan_put_files(struct plan_page_writer *w, struct err *e) MUST_CHECK;
