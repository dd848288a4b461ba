// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/charclass.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/results/results-json.h"
#include "lib/state/store/retired.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/pages/html-layout.h"
#include "server/pages/page.h"

// --- the attempts ---

static const struct trend_words attempt_words = {"Attempts", {[TREND_GOOD] = "good", [TREND_BAD] = "failed"}};

struct builds_reader {
	const struct builds_query *query;
	struct builds_data *data;
};

static const char *copy_text(struct arena *text, const char *s)
{
	return arena_copy(text, str_from(s ? s : ""));
}

struct results_attempt builds_data_copy(struct arena *text, const struct results_attempt *a)
{
	struct results_attempt copy = *a;
	const char **const member[] = {&copy.id, &copy.platform, &copy.python, &copy.project, &copy.version, &copy.step,
		&copy.why, &copy.files, &copy.sdist, &copy.awaiting, &copy.recipe, &copy.builder, &copy.provenance};
	if (a->result == RESULTS_RUNNING)
		copy.provenance = "{}"; // it names a folder of this machine
	for (size_t i = 0; i < ARRAY_SIZE(member); i++)
		*member[i] = copy_text(text, *member[i]);
	return copy;
}

// Whether one more attempt may be copied.
static bool is_within_limits(struct builds_reader *r, size_t count)
{
	if (count < r->query->limit && r->data->text.total < LIMIT_BUILDS_TEXT)
		return true;
	r->data->has_more = true;
	return false;
}

static int take_failure(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct builds_reader *r = ctx;
	struct builds_data *d = r->data;
	if (!is_within_limits(r, d->failures))
		return 0;
	GROW(d->failure, d->failures, d->failure_room);
	d->failure[d->failures++] =
		(struct builds_failure){.attempt = builds_data_copy(&d->text, a), .since = a->begun, .count = 1};
	return 0;
}

static int take_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct builds_reader *r = ctx;
	struct builds_data *d = r->data;
	if (!is_within_limits(r, d->attempts))
		return 0;
	GROW(d->attempt, d->attempts, d->attempt_room);
	d->attempt[d->attempts++] = builds_data_copy(&d->text, a);
	return 0;
}

static int count_running(void *ctx, const struct results_attempt *a UNUSED, struct err *e UNUSED)
{
	struct builds_reader *r = ctx;
	r->data->running++;
	return 0;
}

static int take_day(void *ctx, int64_t day, uint64_t good, uint64_t failed, struct err *e UNUSED)
{
	struct builds_data *d = ((struct builds_reader *)ctx)->data;
	struct trend_day *at = trend_day_of(d->day, day);
	if (at) {
		at->count[TREND_GOOD] += good;
		at->count[TREND_BAD] += failed;
	}
	return 0;
}

// Since when it fails. The failures of other versions and recipes do not count.
static int read_since(struct results *results, struct builds_failure *f, struct err *e)
{
	struct results_history history = {0};
	const struct results_attempt *a = &f->attempt;
	if (results_history(results, a->platform, a->python, a->project, a->version, &history, e) < 0)
		return -1;
	if (history.failures) {
		f->since = history.first_failed;
		f->count = history.failures;
	}
	results_history_release(&history);
	return 0;
}

static const char *or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static struct results_filter filter_of(const struct builds_query *q)
{
	return (struct results_filter){
		.platforms = q->platforms,
		.platform_count = q->platform_count,
		.platform = or_null(q->platform),
		.project = or_null(q->project),
		.limit = q->limit + 1,
	};
}

// What fails now, since when, what runs, and the trend.
static int read_summary(struct results *results, struct builds_reader *r, struct err *e)
{
	struct results_filter failed = filter_of(r->query), running = filter_of(r->query);
	struct results_filter all = filter_of(r->query);
	failed.only_failed = true;
	running.only_running = true;
	if (results_list(results, &failed, take_failure, r, e) < 0 ||
		results_list(results, &running, count_running, r, e) < 0 ||
		results_days(results, &all, r->query->now, TREND_DAYS, take_day, r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->data->failures; i++)
		if (read_since(results, &r->data->failure[i], e) < 0)
			return -1;
	return 0;
}

static void release_builds_data(struct builds_data *d)
{
	arena_release(&d->text);
	free(d->failure);
	free(d->attempt);
	*d = (struct builds_data){0};
}

// results NULL: nothing was built yet. Errors as in results.h; ERR_TIME: the search takes too long. The caller releases
// *out if this returns 0.
static int read_builds_data(struct results *results, const struct builds_query *query, struct builds_data *out,
	struct err *e)
{
	*out = (struct builds_data){0};
	trend_begin(out->day, query->now);
	struct builds_reader r = {query, out};
	struct results_filter filter = filter_of(query);
	filter.result = or_null(query->result);
	if (!results || ((query->only_attempts || read_summary(results, &r, e) == 0) &&
				results_list(results, &filter, take_attempt, &r, e) == 0))
		return 0;
	release_builds_data(out);
	return -1;
}

// --- parts of a row ---

static void put_duration(struct buf *out, double seconds)
{
	uint64_t s = (uint64_t)(seconds + 0.5);
	if (seconds < 9.95)
		buf_printf(out, "%.1f s", seconds);
	else if (s < 60)
		buf_printf(out, "%" PRIu64 " s", s);
	else if (s < 3600)
		buf_printf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
}

// --- the facts ---

static void begin_fact(struct buf *out, const char *name)
{
	buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

static void put_fact(struct buf *out, const char *name, struct str value)
{
	if (!value.len)
		return;
	begin_fact(out, name);
	escape_html(out, value);
	buf_puts(out, "</dd></div>");
}

// "FILENAME SHA256 SIZE" lines.
static void put_made_files(struct buf *out, const char *files)
{
	struct str rest = str_from(files);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		struct str name = str_cut(&line, ' '), sha256 = str_cut(&line, ' ');
		begin_fact(out, "Made");
		escape_html(out, name);
		buf_puts(out, " <code>");
		escape_html(out, sha256);
		buf_puts(out, "</code> ");
		escape_html(out, line);
		buf_puts(out, " bytes</dd></div>");
	}
}

static void put_build_totals(struct buf *out, const struct builds_data *d)
{
	uint64_t good = 0, failed = 0;
	for (size_t i = 0; i < TREND_DAYS; i++) {
		good += d->day[i].count[TREND_GOOD];
		failed += d->day[i].count[TREND_BAD];
	}
	buf_puts(out, "<dl>");
	html_total(out, "Fail now", d->failures);
	html_total(out, "Running", d->running);
	html_total(out, "Good in 60 days", good);
	html_total(out, "Failed in 60 days", failed);
	buf_puts(out, "</dl>\n");
}

// --- what the rows of all projects have in common ---

// The result, the step where it failed, and the log.
static void put_result_cell(struct buf *out, const struct results_attempt *a, bool is_in_folder)
{
	CLEANUP(buf_release) struct buf folder = buf_up_to(LIMIT_PATH);
	if (is_in_folder)
		html_put(&folder, "%u/", a->project);
	buf_puts(out, "<td>");
	const char *colour = a->result == RESULTS_OK ? " good" : results_is_failure(a->result) ? " goes" : "";
	buf_printf(out, "<span class=\"verdict%s\">%s</span>", colour, results_result_name[a->result]);
	if (results_is_failure(a->result) && *a->step)
		html_put(out, " in %s", a->step);
	buf_putc(out, ' ');
	if (a->has_log)
		html_put(out, "<a href=\"%h%u\">log</a>", is_in_folder ? folder.data : "", a->id);
	buf_puts(out, "</td>");
}

// Project and version, with a link to the project's page.
static void put_project_head(struct buf *out, const struct results_attempt *a)
{
	html_put(out, "<tr><th scope=\"row\"><a href=\"%u/\">%s</a> %s</th><td><span class=\"name\">%s</span> <span "
		"class=\"name\">Python %s</span></td>", a->project, a->project, a->version, a->platform, a->python);
	put_result_cell(out, a, true);
}

static void put_why(struct buf *out, const struct results_attempt *a)
{
	html_put(out, "<td class=\"why full\">%s", a->why);
}

// --- /-/builds/ ---

static void put_failure_rows(struct buf *out, const struct builds_data *d)
{
	if (!d->failures) {
		buf_puts(out, "<p class=\"note\">Nothing fails: the last attempt at each wheel was good.</p>\n");
		return;
	}
	html_begin_table(out, "What fails now", "card wide builds", "Project|Platform|Result|Fails since|Why");
	for (size_t i = 0; i < d->failures; i++) {
		const struct builds_failure *f = &d->failure[i];
		put_project_head(out, &f->attempt);
		html_put(out, "<td>%t", f->since);
		if (f->count > 1)
			html_put(out, ", %m", f->count, "time|times");
		buf_puts(out, "</td>");
		put_why(out, &f->attempt);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

static void put_choice(struct buf *out, const char *value, const char *words, const char *chosen)
{
	html_put(out, "<option value=\"%s%h%s</option>", value,
		chosen && strcmp(value, chosen) == 0 ? "\" selected>" : "\">", words);
}

static void put_attempt_rows(struct buf *out, const struct builds_data *d)
{
	html_begin_table(out, "The last attempts", "card wide builds", "Project|Platform|Result|Begun|Took|Why");
	for (size_t i = 0; i < d->attempts; i++) {
		const struct results_attempt *a = &d->attempt[i];
		put_project_head(out, a);
		html_put(out, "<td>%t</td><td class=\"name\">", a->begun);
		if (a->result != RESULTS_RUNNING)
			put_duration(out, a->seconds);
		buf_puts(out, "</td>");
		put_why(out, a);
		buf_puts(out, "</td></tr>\n");
	}
	html_end_table(out);
}

void builds_page_write(const struct html_frame *frame, const struct builds_data *data,
	const struct builds_page_query *query, struct buf *out)
{
	html_begin(out, frame, "Builds", "What builders tried, and what fails now");
	buf_puts(out, data->failures ? "<span class=\"state busy still\">" : "<span class=\"state\">");
	if (data->failures)
		html_put(out, "%m</span>\n</header>\n", data->failures, "fails|fail");
	else
		buf_puts(out, "Nothing fails</span>\n</header>\n");
	put_build_totals(out, data);
	buf_puts(out, "<h2>What fails now</h2>\n");
	put_failure_rows(out, data);
	buf_puts(out, "<h2>The last 60 days</h2>\n");
	trend_write(data->day, &attempt_words, out);
	buf_puts(out, "<h2>The last attempts</h2>\n");
	buf_puts(out, "<form method=\"get\" action=\"./\"><select name=\"platform\" aria-label=\"Platform\">");
	put_choice(out, "", "All platforms", query->search->platform);
	for (size_t i = 0; i < query->platforms; i++)
		put_choice(out, query->platform[i], query->platform[i], query->search->platform);
	buf_puts(out, "</select><select name=\"result\" aria-label=\"Result\">");
	put_choice(out, "", "Any result", query->search->result);
	for (size_t i = 0; i < RESULTS_RESULT_COUNT; i++)
		put_choice(out, results_result_name[i], results_result_name[i], query->search->result);
	html_put(out, "</select><input type=\"search\" name=\"project\" placeholder=\"Project\" "
		"aria-label=\"Project\" value=\"%s\"><button>Show</button></form>\n", query->search->project);
	if (data->attempts)
		put_attempt_rows(out, data);
	else
		buf_puts(out, "<p class=\"note\">There are none.</p>\n");
	if (data->has_more) {
		const char *const part[][2] = {{"platform", query->search->platform},
			{"project", query->search->project}, {"result", query->search->result}};
		buf_puts(out, "<nav aria-label=\"Rows\"><a href=\"./?");
		for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
			if (!*part[i][1])
				continue;
			html_put(out, "%h=%u&amp;", part[i][0], part[i][1]);
		}
		buf_printf(out, "limit=%" PRIu64 "\">Show more</a></nav>\n", 4 * query->search->limit);
	}
	html_end(out, "<a href=\"?format=json\">JSON</a>");
}

// --- /-/builds/PROJECT/ ---

static bool is_same_group(const struct results_attempt *a, const struct results_attempt *b)
{
	return strcmp(a->platform, b->platform) == 0 && strcmp(a->python, b->python) == 0;
}

// By platform, then Python (3.9 before 3.10), then the newest first.
static int compare_attempts(const void *a, const void *b)
{
	const struct results_attempt *const *x = a, *const *y = b;
	int order = strcmp((*x)->platform, (*y)->platform);
	order = order ? order : strverscmp((*x)->python, (*y)->python);
	return order ? order : (*x > *y) - (*x < *y); // they are in this order in the array
}

static void put_attempt(struct buf *out, const struct results_attempt *a)
{
	html_put(out, "<tr><th scope=\"row\">%t</th><td class=\"name\">%s</td>", a->begun, a->version);
	put_result_cell(out, a, false);
	buf_puts(out, "<td class=\"name\">");
	if (a->result != RESULTS_RUNNING)
		put_duration(out, a->seconds);
	buf_puts(out, "</td><td class=\"name\">");
	if (a->peak_memory)
		html_size(out, a->peak_memory);
	buf_puts(out, "</td>");
	put_why(out, a);
	struct str sdist = str_from(a->sdist);
	struct str name = str_cut(&sdist, ' ');
	buf_puts(out, "<details><summary>Facts</summary><dl class=\"facts\">");
	put_fact(out, "Builder", str_from(a->builder));
	put_fact(out, "Sdist", name);
	put_fact(out, "Its SHA-256", sdist);
	put_made_files(out, a->files);
	put_fact(out, "Missing build requirements", str_from(a->awaiting));
	if (a->peak_memory) {
		begin_fact(out, "Peak memory");
		html_put(out, "%b</dd></div>", a->peak_memory);
	}
	put_fact(out, "Recipe", str_from(a->recipe));
	put_fact(out, "Attempt", str_from(a->id));
	buf_puts(out, "</dl>");
	struct err none = ERR_INIT;
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = *a->provenance ? jsondoc_read(str_from(a->provenance), &none) : NULL;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_BUILDS_TEXT);
	if (doc) {
		jsondoc_write(doc, 2, &text);
		buf_puts(out, "<pre><code>");
		escape_html(out, str_trim(buf_view(&text)));
		buf_puts(out, "</code></pre>");
	}
	buf_puts(out, "</details></td></tr>\n");
}

void builds_page_project(const struct html_frame *frame, const struct builds_data *data, const char *project,
	uint64_t limit, struct buf *out)
{
	const struct results_attempt **order CLEANUP(mem_free) =
		xcalloc(data->attempts + 1, sizeof(const struct results_attempt *));
	for (size_t i = 0; i < data->attempts; i++)
		order[i] = &data->attempt[i];
	qsort(order, data->attempts, sizeof(*order), compare_attempts);
	CLEANUP(mem_free) char *title = xasprintf("Builds of %s", project);
	html_begin(out, frame, title, "Each attempt, the newest first");
	buf_puts(out, "</header>\n");
	for (size_t i = 0; i < data->attempts; i++) {
		if (i == 0 || !is_same_group(order[i - 1], order[i])) {
			const struct results_attempt *a = order[i];
			html_put(out, "<h2>%s, Python %s</h2>\n", a->platform, a->python);
			CLEANUP(mem_free) char *label = xasprintf("%s, Python %s", a->platform, a->python);
			html_begin_table(out, label, "card wide builds", "Begun|Version|Result|Took|Memory|Why");
		}
		put_attempt(out, order[i]);
		if (i + 1 == data->attempts || !is_same_group(order[i], order[i + 1]))
			html_end_table(out);
	}
	if (data->has_more)
		buf_printf(out, "<nav aria-label=\"Rows\"><a href=\"./?limit=%" PRIu64 "\">Show more</a></nav>\n",
			4 * limit);
	html_end(out, "<a href=\"?format=json\">JSON</a> · <a href=\"../../project/%u\">project</a>", project);
}

// --- JSON ---

static struct jsondoc *failures_json(const struct builds_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->failures; i++) {
		const struct builds_failure *f = &d->failure[i];
		jsondoc_add(list, jsondoc_set(results_json(&f->attempt), "since:t failures:d", f->since, f->count));
	}
	return list;
}

struct jsondoc *builds_json(const struct builds_data *data, bool only_attempts)
{
	struct jsondoc *doc = jsondoc_object(), *attempts = jsondoc_array();
	for (size_t i = 0; i < data->attempts; i++)
		jsondoc_add(attempts, results_json(&data->attempt[i]));
	if (!only_attempts)
		jsondoc_set(doc, "failing:j running:d days:j", failures_json(data), data->running, trend_json(data->day, &attempt_words));
	jsondoc_set(doc, "attempts:j more:b", attempts, data->has_more);
	return doc;
}

// --- the log of an attempt ---

#define REPLACEMENT "\xef\xbf\xbd"

// The length of the well-formed UTF-8 character at the beginning of s; 0: there is none.
static size_t character_length(struct str s)
{
	unsigned char c = (unsigned char)s.ptr[0];
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	return len <= s.len && str_is_utf8(str_slice(s, 0, len)) ? len : 0;
}

// Returns how many bytes of the log it takes.
static size_t put_control(struct str rest, struct buf *out)
{
	unsigned char c = (unsigned char)rest.ptr[0];
	if (c == '\r') {
		buf_putc(out, '\n');
		return rest.len > 1 && rest.ptr[1] == '\n' ? 2 : 1;
	}
	buf_puts(out, "\xe2\x90");
	buf_putc(out, (char)(c == 0x7f ? 0xa1 : 0x80 + c));
	return 1;
}

void builds_log_clean(struct str log, struct buf *out)
{
	while (log.len) {
		unsigned char c = (unsigned char)log.ptr[0];
		size_t len = 1;
		if ((c >= ' ' && c < 0x7f) || c == '\n' || c == '\t') {
			buf_putc(out, (char)c);
		} else if (c < 0x80) {
			len = put_control(log, out);
		} else {
			len = character_length(log);
			struct str one = str_slice(log, 0, len);
			if (len && !charclass_unshowable(one))
				buf_str(out, one);
			else
				buf_puts(out, REPLACEMENT);
			len = len ? len : 1;
		}
		log = str_slice(log, len, log.len);
	}
}

// --- attempts ---

// A client that names a private platform is asked for its token; a name that is unknown looks the same.
static struct reply *check_named_platform(struct page_query *q)
{
	const struct request *r = q->match->request;
	struct str name = str_from(q->text[ARGUMENT_PLATFORM]);
	const struct platform *p = site_platform(q->site, name);
	if (!name.len || strpbrk(name.ptr, "*?["))
		return NULL;
	if (!p)
		return auth_unknown(q->context, r, TOKEN_READ, name, NULL);
	return p->is_private ? auth_check(q->context, r, TOKEN_READ, p->name, NULL, NULL) : NULL;
}

static bool asks_for_project(const struct page_query *q)
{
	return q->match->project.len > 0;
}

// The list of all leaves out retired platforms, unless one is named: what was built for it stays known. The caller
// frees the array.
static const char **list_names(const struct page_query *q, size_t *count)
{
	const char **name = xcalloc(q->platforms + 1, sizeof(const char *));
	*count = 0;
	for (size_t i = 0; i < q->platforms; i++)
		if (asks_for_project(q) || !retired_is(q->platform[i]) ||
			strcmp(q->text[ARGUMENT_PLATFORM], q->platform[i]->name) == 0)
			name[(*count)++] = q->platform[i]->name;
	return name;
}

// A project without an attempt that the client may see is unknown.
static int write_builds(struct page_query *q, struct buf *out, struct err *e)
{
	const char *project = asks_for_project(q) ? q->project : q->text[ARGUMENT_PROJECT];
	size_t names;
	CLEANUP(mem_free) const char **name = list_names(q, &names);
	CLEANUP(results_cleanup) struct results *results = NULL;
	CLEANUP(release_builds_data) struct builds_data data = {0};
	const struct builds_query asked = {
		.platforms = name,
		.platform_count = names,
		.platform = q->text[ARGUMENT_PLATFORM],
		.project = project,
		.result = q->text[ARGUMENT_RESULT],
		.limit = q->limit,
		.now = q->now,
		.only_attempts = asks_for_project(q),
	};
	if (page_open_results(q->context, &results, e) < 0 || read_builds_data(results, &asked, &data, e) < 0)
		return -1;
	if (asks_for_project(q) && !data.attempts)
		return page_answer(q, page_not_found(q, "no build of this project is known"));
	if (q->form == PAGE_FORM_JSON)
		return page_write_json(builds_json(&data, asked.only_attempts), out);
	const struct builds_page_query shown = {&asked, name, names};
	if (asks_for_project(q))
		builds_page_project(page_frame(q), &data, project, q->limit, out);
	else
		builds_page_write(page_frame(q), &data, &shown, out);
	return 0;
}

static const struct page_argument arguments[] = {
	{ARGUMENT_PLATFORM, .form = FORM_PLATFORM_GLOB},
	{ARGUMENT_PROJECT, .form = FORM_PROJECT_GLOB, .is_normalized = true},
};

#define BUILDS_ROW(of)                                                                                                 \
	{                                                                                                              \
		.section = HTML_SECTION_BUILDS, .scope = (of), .rows = 100, .rows_most = LIMIT_BUILDS_ROWS,            \
		.most = 32 << 20, PAGE_ARGUMENTS(arguments), .prepare = check_named_platform, .write = write_builds,   \
	}
const struct page_row builds_page = BUILDS_ROW(PAGE_SCOPE_WHOLE);
const struct page_row builds_project_page = BUILDS_ROW(PAGE_SCOPE_PROJECT);

// --- the log of one ---

struct found_attempt {
	const struct page_query *request;
	bool is_found, is_running;
};

static int check_attempt(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct found_attempt *f = ctx;
	const struct page_query *b = f->request;
	for (size_t i = 0; i < b->platforms; i++)
		if (strcmp(a->platform, b->platform[i]->name) == 0 && strcmp(a->project, b->project) == 0)
			f->is_found = true;
	f->is_running = a->result == RESULTS_RUNNING;
	return 0;
}

// ERR_NOT_FOUND: no such attempt, one that the client may not see, or one without a log.
static int read_clean_log(const struct page_query *b, const char *id, struct buf *out, struct err *e)
{
	CLEANUP(results_cleanup) struct results *results = NULL;
	struct found_attempt found = {.request = b};
	CLEANUP(buf_release) struct buf raw = buf_up_to(LIMIT_RESULT_LOG);
	raw.meter = out->meter;
	if (build_results_open(b->context->build_results, b->context->search_ms, &results, e) < 0 ||
		results_find(results, id, check_attempt, &found, e) < 0)
		return -1;
	if (!found.is_found)
		return err_set(e, ERR_NOT_FOUND, "no such attempt");
	if (results_log(results, id, &raw, e) < 0)
		return -1;
	builds_log_clean(buf_view(&raw), out);
	if (found.is_running)
		buf_puts(out, "\n--- This attempt is running. Its log ends here for now. ---\n");
	return 0;
}

static int write_log(struct page_query *q, struct buf *out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *id = xstrndup(q->match->id.ptr, q->match->id.len);
	if (read_clean_log(q, id, out, &why) == 0)
		return 0;
	if (why.kind == ERR_NOT_FOUND)
		return page_answer(q, page_not_found(q, "there is no such attempt, or it has no log"));
	*e = why;
	return -1;
}

const struct page_row builds_log_page = {
	.scope = PAGE_SCOPE_PROJECT,
	.forms = 1 << PAGE_FORM_TEXT,
	.most = 3 * (size_t)LIMIT_RESULT_LOG + LIMIT_NOTE,
	PAGE_ARGUMENTS(arguments),
	.prepare = check_named_platform,
	.write = write_log,
};
