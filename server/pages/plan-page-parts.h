// SPDX-License-Identifier: Apache-2.0
// What the parts of the plan's page share. Only plan-page*.c include it. One thread for each catalog.
#pragma once

#include "lib/format/jsondoc.h"
#include "server/pages/plan-applied.h"
#include "server/pages/plan-choice.h"
#include "server/pages/html-layout.h"
#include "server/pages/plan-page-query.h"

enum { PLAN_PAGE_VERDICTS = 7 };
extern const char *const plan_page_verdict[PLAN_PAGE_VERDICTS]; // in the order of the page

struct plan_page_sum {
	uint64_t files, bytes;
};

struct plan_page_writer {
	const struct html_frame *frame;
	const struct plan_page_query *query;
	struct catalog *catalog;
	const struct jsondoc *head; // the plan without its files
	struct buf *out;
	char text[LIMIT_FILE_NAME + 1]; // query->text in lower case
	const char *id;                 // of the plan
	const char *verdict;            // that is shown
	struct plan_applied applied;
	struct plan_choice choice;
	size_t changes; // that were written
};

// A link to the same page with another query and the same choice; the caller closes it.
void plan_page_begin_link(struct plan_page_writer *w, const char *platform, const char *verdict, const char *text,
	uint64_t page);
void plan_page_put_hidden(struct plan_page_writer *w, const char *name, const char *value);
// What is chosen, as a part of a form, but for these rows, which have boxes of their own. rows NULL: all.
void plan_page_put_choice(struct plan_page_writer *w, const struct plan_rows *rows);
// The name of a platform that the client may read; "" of another.
const char *plan_page_platform(const struct plan_page_writer *w, int64_t id);
bool plan_page_is_selected(const struct plan_page_writer *w, const struct platform *p);

// Collects files of the plan.
struct plan_page_collector {
	struct plan_rows *rows;
	const struct plan_page_query *query;
};
// A catalog_planned_fn for it. A file of a platform that the client may not read is left out.
int plan_page_collect(void *ctx, const struct catalog_planned *f, struct err *e) MUST_CHECK;

// plan-page-files.c: the form for searches, and a page of the files.
void plan_page_put_form(struct plan_page_writer *w);
int plan_page_put_files(struct plan_page_writer *w, struct err *e) MUST_CHECK;
// plan-page-changes.c: what the plan before said otherwise; nothing if there was none.
int plan_page_put_changes(struct plan_page_writer *w, struct err *e) MUST_CHECK;
