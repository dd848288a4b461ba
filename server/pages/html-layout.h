// SPDX-License-Identifier: Apache-2.0
// What the pages for people share: the frame around a page, and the elements that all have. No state: any thread. out's
// ceiling limits what is added.
//
// html-style.h has the one style. A page uses these classes of it, and has no style of its own:
//   .card: a box. .wide: a table in it is a list: it is as long as its rows, its heads stay in sight, long names wrap;
//     in a narrow window each row becomes lines. .matrix: a table of cells, which scrolls sideways; with .fits it does
//     not, and its heads stay in sight. In a narrow window its cells stand in lines: data-of of a .cell is its Python,
//     data-part of a td the platform that begins there; .heads are heads once more, .pythons the second line of heads.
//     .builds: smaller.
//   .cell with the name of a state (.ours, .covered, .upstream, .building, .excluded, .failed, .unknown, .missing) and
//     its letter as text. .lost: the version before had a wheel there. .key: a list (ul) that explains the letters.
//   .verdict with .good, .goes or .wrong: a word with a colour. .state, .busy, .still: the word in the page's head.
//   th and td: .n is a number (data-of: its unit in a narrow window), .kind a value (data-of: its name there), .why a
//     reason, .file a file's name, .full a line of its own in a narrow window. span.name is never broken.
//   .note: a sentence. .lines, .half: boxes below or beside each other. .prose: text with its own headings, such as a
//     README. .sr: for screen readers only. figure.card with figcaption and pre > code: a command to copy.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/form.h"
#include "lib/format/jsondoc.h"

// The sections that the navigation of every page shows, in this order.
enum html_section {
	HTML_SECTION_HOME,
	HTML_SECTION_COVERAGE,
	HTML_SECTION_BUILDS,
	HTML_SECTION_PLAN,
	HTML_SECTION_DOCS,
	HTML_SECTION_COUNT,
	HTML_SECTION_NONE = HTML_SECTION_COUNT,
};

// Where a page is. page-frame.h makes the one of a request.
struct html_frame {
	const char *root;       // the relative URL of "/", such as "../../"; NULL: a file, which has its style in it
	enum html_section here; // the section that the page belongs to
	unsigned sections;      // 1 << enum html_section for each that exists
	bool has_search;        // the header has a form for searches
};

// The header Content-Security-Policy of all pages: style and script are files of this server.
extern const char html_policy[];

// Adds all up to the words below the title. The caller may add a .state, and adds "</header>".
void html_begin(struct buf *out, const struct html_frame *frame, const char *title, const char *words);
// Adds all from "</main>" on, with HTML for the last line: a form and its values, as for html_put().
#define html_end(out, ...) html_end_values(out, FORM_VALUES(__VA_ARGS__))
void html_end_values(struct buf *out, const struct form_value *links);
// The box of a table. label: for screen readers, different from those of other boxes; class: of the box; a .matrix,
// which may scroll, gets the focus. The caller closes the <div>.
void html_begin_box(struct buf *out, const char *label, const char *class);
// A table in such a box, up to the first row. heads: HTML of the columns, with "|" between.
void html_begin_table(struct buf *out, const char *label, const char *class, const char *heads);
void html_end_table(struct buf *out);
void html_text(struct buf *out, const char *text); // escaped
// Adds HTML in which "%" and a letter stand for the next value: of a text (NULL: "") "%s" adds it escaped, "%u" as a
// segment of a URL, "%h" as the HTML that it is; of an integer "%d" adds its digits, "%n" the same with commas, "%t"
// the time that it is, as html_time(), "%b" its bytes, as html_size(); of an integer and a text "%m" adds "1 file" or
// "1,234 files" where the text is "file|files". "%%" is "%". Up to 19 values.
#define html_put(out, ...) html_put_values(out, FORM_VALUES(__VA_ARGS__))
void html_put_values(struct buf *out, const struct form_value *value);
// Begins a row of a table with the name of a project, which leads to its page. up: what leads to "/-/", such as "../".
void html_begin_project_row(struct buf *out, const char *up, const char *project);
// "2026-01-02 03:04 UTC", as an element <time>.
void html_time(struct buf *out, int64_t seconds);
void html_time_of(struct buf *out, const char *when); // the same of what clock_write() wrote
// What a document has: the string of a key, "" if it has none or null; a number, 0 if none.
const char *html_get(const struct jsondoc *doc, const char *key);
uint64_t html_get_count(const struct jsondoc *doc, const char *key);
// A cell with a number; its unit, of "file|files", is shown in a narrow window.
void html_count_cell(struct buf *out, uint64_t n, const char *units);
// A cell with the first digits of a hash, whose title is the whole; its name is shown in a narrow window. NULL or "":
// none.
void html_hash_cell(struct buf *out, const char *name, const char *hex);
void html_count(struct buf *out, uint64_t n); // "1,234,567"
// A number with its name, in a <dl>.
void html_total(struct buf *out, const char *name, uint64_t n);
void html_size(struct buf *out, uint64_t bytes); // "5.5 GB"
// A field of a form, with this value.
void html_field(struct buf *out, const char *name, const char *label, const char *value);

// The style and the script that the pages share. A page names them with their version, so clients keep them for as long
// as they like and a new program's pages load new ones. The versions are made once.
enum html_asset_name { HTML_STYLE, HTML_SCRIPT, HTML_ASSET_COUNT };

struct html_asset {
	const char *path; // from "/": "-/style.css"
	const char *type; // Content-Type
	const char *text;
};

extern const struct html_asset html_asset[HTML_ASSET_COUNT];

enum { HTML_ASSET_VERSION = 17 }; // bytes, with the NUL
// 16 digits that change with the text.
const char *html_asset_version(enum html_asset_name which);
