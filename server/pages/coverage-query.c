// SPDX-License-Identifier: Apache-2.0
#include "server/pages/coverage-query.h"

#include <fnmatch.h>
#include <string.h>

#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "server/pages/arguments.h"
#include "server/message/negotiate.h"

enum { PAGE_ROWS = 50 }; // of a page for people, unless the client says a limit

// A glob keeps its special characters.
static bool normalize_names(char list[REQUEST_ARGUMENT_SIZE])
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, REQUEST_ARGUMENT_SIZE - 1);
	name_normalize(str_from(list), &normal);
	if (normal.failed)
		return false;
	memcpy(list, normal.data ? normal.data : "", normal.len);
	list[normal.len] = '\0';
	return true;
}

static bool read_states(struct coverage_query *q)
{
	struct str rest = str_from(q->states);
	while (rest.len) {
		struct str word = str_cut(&rest, ' ');
		if (!word.len)
			continue;
		enum wheel_status state = wheel_status_find(word, wheel_status_matrix, WHEEL_STATUSES_OF_MATRIX);
		if (state == WHEEL_STATUS_COUNT)
			return false;
		q->wants_state[state] = true;
	}
	return true;
}

static enum coverage_form read_form(const struct request *r)
{
	if (r->format && strcmp(r->format, "csv") == 0)
		return COVERAGE_CSV;
	return negotiate_page_json(r->header[HEADER_ACCEPT], r->format) ? COVERAGE_JSON : COVERAGE_HTML;
}

struct reply *coverage_query_read(const struct request *r, struct coverage_query *out)
{
	static const enum argument_form forms[ARGUMENT_COUNT] = {[ARGUMENT_PROJECTS] = FORM_PROJECTS,
		[ARGUMENT_PLATFORMS] = FORM_PLATFORMS,
		[ARGUMENT_PYTHON] = FORM_PYTHONS,
		[ARGUMENT_STATE] = FORM_WORDS,
		[ARGUMENT_AFTER] = FORM_PROJECT};
	struct arguments a;
	struct reply *refused = arguments_read(r, forms, &a);
	if (refused)
		return refused;
	memcpy(out->projects, a.text[ARGUMENT_PROJECTS], sizeof(out->projects));
	memcpy(out->platforms, a.text[ARGUMENT_PLATFORMS], sizeof(out->platforms));
	memcpy(out->pythons, a.text[ARGUMENT_PYTHON], sizeof(out->pythons));
	memcpy(out->states, a.text[ARGUMENT_STATE], sizeof(out->states));
	memcpy(out->after, a.text[ARGUMENT_AFTER], sizeof(out->after));
	out->form = read_form(r);
	size_t usual = out->form == COVERAGE_HTML ? PAGE_ROWS : LIMIT_COVERAGE_ROWS;
	out->limit = arguments_limit(&a, usual, LIMIT_COVERAGE_ROWS);
	if (!normalize_names(out->projects))
		return arguments_refuse("a part of the query is malformed or too long");
	return read_states(out) ? NULL
				: arguments_refuse("state is a list of ours, covered, upstream, building, excluded, "
						   "failed, unmerged, unknown and missing");
}

bool coverage_query_is_full(const struct coverage_query *q, const struct coverage_taken *t, int64_t now_ms)
{
	return t->rows >= q->limit || t->rows * t->columns >= LIMIT_COVERAGE_CELLS || t->bytes >= LIMIT_COVERAGE_TEXT ||
	       now_ms - t->begun_ms >= LIMIT_COVERAGE_MS;
}

bool coverage_query_has(const char *list, const char *name)
{
	struct str rest = str_from(list);
	bool has_any = false;
	while (rest.len) {
		char glob[REQUEST_ARGUMENT_SIZE];
		struct str word = str_cut(&rest, ' ');
		if (!word.len)
			continue;
		has_any = true;
		memcpy(glob, word.ptr, word.len); // a word of an argument is no longer than it
		glob[word.len] = '\0';
		if (strcmp(glob, name) == 0 || fnmatch(glob, name, 0) == 0)
			return true;
	}
	return !has_any;
}

static void put_argument(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	buf_printf(out, "%c%s=", out->len && strchr(out->data, '?') ? '&' : '?', name);
	escape_url(out, str_from(value));
}

void coverage_query_url(const struct coverage_query *q, const char *after, struct buf *out)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PATH);
	buf_puts(&url, "coverage");
	put_argument(&url, "projects", q->projects);
	put_argument(&url, "platforms", q->platforms);
	put_argument(&url, "python", q->pythons);
	put_argument(&url, "state", q->states);
	put_argument(&url, "after", after);
	put_argument(&url, "format", q->form == COVERAGE_JSON ? "json" : q->form == COVERAGE_CSV ? "csv" : "");
	buf_printf(&url, "%climit=%zu", strchr(url.data, '?') ? '&' : '?', q->limit);
	buf_str(out, buf_view(&url));
}

void coverage_query_cell_url(const char *project, const char *platform, const char *python, struct buf *out)
{
	buf_puts(out, "coverage?projects=");
	escape_url(out, str_from(project));
	buf_puts(out, "&platforms=");
	escape_url(out, str_from(platform));
	buf_puts(out, "&python=");
	escape_url(out, str_from(python));
}
