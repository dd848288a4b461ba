// SPDX-License-Identifier: Apache-2.0
// The framework of the pages for people. A page is a row, struct page_row, in a file of its own: what may be asked,
// what the asker must be able to read, how the answer is made as a document, and how HTML is made of that document.
// page.c does the rest for all of them: it reads and checks the query, finds out once what the asker may read, makes
// the key of the page cache from these typed values, chooses the form, compresses, and keeps what is costly.
//
// A route of the table has page_inline and page_worker as its handlers, and the row as its page. Any thread; a query
// belongs to one.
#pragma once

#include "lib/format/jsondoc.h"
#include "lib/state/access/downloads.h"
#include "lib/state/results/results.h"
#include "lib/view/client-config.h"
#include "lib/view/view.h"
#include "server/core/readable.h"
#include "server/core/server-context.h"
#include "server/message/negotiate.h"
#include "server/pages/html-layout.h"

enum page_form { PAGE_FORM_HTML, PAGE_FORM_JSON, PAGE_FORM_CSV, PAGE_FORM_TEXT, PAGE_FORM_COUNT };

// Globs have "*", "?" and "[…]"; a list has blanks or commas between. Empty text has every form.
enum argument_form {
	FORM_TEXT,   // any
	FORM_CHOICE, // one of the words of the argument's row
	FORM_CHOICES, // a list of them
	FORM_PYTHON,
	FORM_PYTHONS, // a list of Pythons and globs
	FORM_PLATFORM,
	FORM_PLATFORM_GLOB,
	FORM_PLATFORMS, // a list of platforms and globs
	FORM_PROJECT,
	FORM_PROJECT_GLOB,
	FORM_PROJECTS, // a list of projects and globs
	FORM_VIEW,
	FORM_COUNT,
};

struct page_argument {
	enum request_argument name;
	enum argument_form form;
	bool is_normalized;        // becomes the normal form of projects' names; globs keep their special characters
	const char *const *choice; // of FORM_CHOICE and FORM_CHOICES
	size_t choices;
	const char *refusal; // of these two: what the 400 says; a literal
};

// Whose platforms an answer may show.
enum page_scope {
	PAGE_SCOPE_NONE,     // it shows no platform; or all who pass prepare get the same; or the page decides, and is not kept
	PAGE_SCOPE_ALL,      // projects of platforms that the asker may read, also in part. Kept only of what everybody may read
	PAGE_SCOPE_WHOLE,    // platforms whose list of projects the asker may read
	PAGE_SCOPE_PROJECT,  // platforms on which he may read the project of the path
	PAGE_SCOPE_VIEW,     // those of the route's view, which he may read
};

enum { PAGE_QUERY_NUMBERS = 3 };

// A request for a page. The texts are the client's: not trusted, apart from their forms.
struct page_query {
	const struct page_row *page;
	struct server_context *context;
	struct catalog *catalog; // NULL on the event loop
	const struct route_match *match;
	const struct site *site;
	struct readable readable;                 // what the asker may read
	const struct platform **platform, **named; // of the scope; and those of them whose names of people and tokens he sees
	size_t platforms, nameds;
	enum page_form form;
	enum page_coding coding;
	// Decoded; "": not given. A kept page has only those that its row names; in others a text without a form needs
	// no row.
	char text[ARGUMENT_COUNT][REQUEST_ARGUMENT_SIZE];
	size_t limit;                                     // rows of each list
	char project[LIMIT_FILE_NAME + 1];                // of the path, in normal form
	char *base;        // of a page with has_base: the URL of the server as the client knows it; it is not trusted
	int64_t now;       // seconds since 1970
	bool is_private;   // shared caches must not keep the answer
	// Set by the page's functions.
	const struct view *view;             // that the query names
	uint64_t number[PAGE_QUERY_NUMBERS]; // what else the page is made of; part of its key
	struct reply *refused;               // the answer where make returns 1
	struct html_frame frame;             // of page_frame()
	struct buf link;                     // the header Link
	struct page_key key;
};

struct page_row {
	enum html_section section;
	enum page_kind kind;          // PAGE_COSTLY and above: the answer is kept for a multiple of the time that it took
	enum page_scope scope;
	bool is_data_first;           // JSON, unless the client asks for HTML
	bool shows_names;             // of people and tokens
	bool has_base;
	bool needs_directory;         // of projects: what was written before the request is found
	bool has_own_frame;           // its frame has the sections of this asker, not those of everybody
	bool reads_query;
	unsigned char forms;          // 1 << enum page_form for each; 0: HTML and JSON
	unsigned char indent;         // of JSON
	size_t rows, rows_of_data, rows_most; // limit: usual for people, usual for programs (0: the same), the most
	size_t most;                  // bytes
	const struct page_argument *argument;
	size_t arguments;

	// Completes the query, also on the event loop, without blocking. NULL, or the answer, for the caller to drop.
	struct reply *(*prepare)(struct page_query *q);
	// Makes the document, which the caller frees. 1: there is nothing to show, and q->refused is the answer.
	int (*make)(struct page_query *q, struct jsondoc **out, struct err *e);
	// Writes the document in a form; NULL: JSON as it is.
	void (*form[PAGE_FORM_COUNT])(struct page_query *q, const struct jsondoc *doc, struct buf *out);
	// Instead of both, where a document would take too much memory: writes the form of the query. 1: as make.
	int (*write)(struct page_query *q, struct buf *out, struct err *e);
};
#define PAGE_ARGUMENTS(list) .reads_query = true, .argument = (list), .arguments = ARRAY_SIZE(list)

// The handlers of the routes that have a page.
handle_inline_fn page_inline;
handle_worker_fn page_worker;

// 400 with what is wrong; what: a literal.
struct reply *page_refuse(const char *what);
// 404 for whoever may read what the query is about.
struct reply *page_not_found(const struct page_query *q, const char *what);
// Sets the answer of a page that has nothing to show: 1.
int page_answer(struct page_query *q, struct reply *answer);
// The frame of the page, for HTML. It is made at first use, so that who is refused costs no look at what there is.
struct html_frame *page_frame(struct page_query *q);
// Whether the asker sees the names of people and tokens beside the platform's files, or all of the view's.
bool page_names(const struct page_query *q, const struct platform *p);
bool page_names_view(const struct page_query *q, const struct view *v);
// Shows the platforms of a view, all of which the asker may read, instead of those of the scope.
void page_show_view(struct page_query *q, const struct view *v);
// Writes a document as the JSON of a page, and frees it: 0.
int page_write_json(struct jsondoc *doc, struct buf *out);
// Opens the results of builds; *out NULL: nothing was built. The caller closes them.
int page_open_results(struct server_context *s, struct results **out, struct err *e) MUST_CHECK;
// The same, where a failure is only logged.
struct results *page_find_results(struct server_context *s);
// Counts of downloads; NULL: nothing was counted, or the file is torn, which is only logged: the rest is told.
struct downloads *page_find_downloads(const char *path);
// Whether a name is one of a list of names and globs. An empty list has all.
bool page_list_has(const char *list, const char *name);

// Reads and checks the arguments of the page and the number of rows, of a query with a page. NULL, or the
// 400.
struct reply *page_read_arguments(struct page_query *q, const struct request *r);

// The part of a page that says which members of views the store has lost: of explainer/explain-membership.h. lost: NULL
// or empty: nothing is written. The first writes a word for the header; up: the path from the page to "/-".
void losses_state(const struct jsondoc *lost, struct buf *out);
void losses_table(const struct jsondoc *lost, const char *up, struct buf *out);

// Which index of this server a job takes, and the command that installs from it: a job on one platform takes that
// platform's index, so that pip gets nothing that was built for another one.
//
// The view's index for jobs on the first of these platforms that the view has; of a view with one platform its own.
// base: the URL of this server. All is borrowed.
struct client_index install_index_of(const struct site *s, const struct view *v,
	const struct platform *const *platform, size_t platforms, const char *base);
// Adds "pip install --index-url URL REQUIREMENT", as text. The requirement has no characters that a shell reads but
// "!", with which it is quoted.
void install_index_command(const struct client_index *x, const char *requirement, struct buf *out);
// Adds the path, from "/" on, of the page that says how clients use the index, as part of a URL.
void install_index_page(const struct client_index *x, struct buf *out);
// Adds the link to all projects: to the list of the default view, or, where there is none, to the table of what each
// takes. root: the relative URL of "/".
void all_projects_link(const struct site *s, const char *root, struct buf *out);

// The pages.
extern const struct page_row builds_page, builds_project_page, builds_log_page, channel_page, client_page, compare_page,
	coverage_page, documentation_page, evidence_page, explain_page, home_page, log_page, missing_page,
	plan_page, project_page, search_page, security_page, usage_page;
