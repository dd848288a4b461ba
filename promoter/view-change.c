// SPDX-License-Identifier: Apache-2.0
#include "promoter/view-change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"

// The rule of the kind; NULL: the view does not require it.
static const struct promotion_rule *find_rule(const struct promotion_rules *rules, const char *kind)
{
	for (size_t i = 0; i < rules->rules; i++)
		if (strcmp(rules->rule[i].kind, kind) == 0)
			return &rules->rule[i];
	return NULL;
}

// --- tests that fail or succeed again ---

// A wheel of the record; the first one of each project is its project's.
struct changed_project {
	const char *project, *version;
};

struct telling {
	struct catalog *catalog;
	const struct catalog_evidence *note;
	struct hook_queue *queue;
	struct changed_project *project; // by name, each once
	size_t projects;
	struct arena text;
	// Of one view.
	const struct config_view *view;
	const struct promotion_rule *rule;
	bool is_green, was_known, was_green;
};

static int compare_projects(const void *a, const void *b)
{
	return strcmp(((const struct changed_project *)a)->project, ((const struct changed_project *)b)->project);
}

static bool give_record(void *ctx, const struct promotion_rule *rule UNUSED, const struct promotion_cell *cell UNUSED,
	struct promotion_record *out)
{
	*out = *(const struct promotion_record *)ctx;
	return true;
}

// By its tests alone: a record does not become red by its age.
static bool is_record_green(const struct promotion_rule *rule, const struct catalog_evidence *r)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_REASON);
	struct promotion_record record = {.kind = r->kind,
		.made = r->made,
		.received = r->made,
		.passed = r->passed,
		.failed = r->failed,
		.skipped = r->skipped};
	const struct promotion_cell cell = {r->platform, r->python};
	return promotion_rule_holds(rule, &cell, r->made, give_record, &record, &why);
}

static int note_state_before(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct telling *x = ctx;
	x->was_known = true;
	x->was_green = is_record_green(x->rule, r);
	return 0;
}

static int tell_project(struct telling *x, const struct changed_project *p, struct err *e)
{
	x->was_known = x->was_green = false;
	if (catalog_evidence_before(x->catalog, x->view->name, p->project, x->note, note_state_before, x, e) < 0)
		return -1;
	if (x->was_known ? x->was_green != x->is_green : !x->is_green) {
		struct arena *a = &x->text;
		const struct catalog_evidence *r = x->note;
		const char *word = x->is_green ? "green" : "red", *view = x->view->name;
		char id[SHA256_HEX + 1] = "";
		hex_encode(r->id, SHA256_SIZE, id);
		const char *line = arena_printf(a, "%s %s %s %s %s %s %s", word, view, r->kind, r->platform, r->python,
			p->project, p->version);
		const char *const variables[][2] = {{"CHANGE", word}, {"VIEW", view}, {"KIND", r->kind},
			{"PLATFORM", r->platform}, {"PYTHON", r->python}, {"PROJECT", p->project},
			{"VERSION", p->version}, {"PASSED", arena_printf(a, "%" PRIu64, r->passed)},
			{"FAILED", arena_printf(a, "%" PRIu64, r->failed)},
			{"SKIPPED", arena_printf(a, "%" PRIu64, r->skipped)}, {"EVIDENCE", id}, {"BY", r->by}};
		const struct hook_value values[] = {
			{'p', r->platform}, {'v', r->python}, {'n', p->project}, {'r', p->version}};
		const struct hook_job job = {x->view->on_change,
			arena_printf(a, "%s of %s in %s", r->kind, p->project, view), p->project, line, values,
			ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
		hook_queue_add(x->queue, &job);
	}
	return 0;
}

static bool has_cell(const struct promotion_rules *rules, const struct catalog_evidence *r)
{
	for (size_t i = 0; i < rules->cells; i++)
		if (strcmp(rules->cell[i].platform, r->platform) == 0 && strcmp(rules->cell[i].python, r->python) == 0)
			return true;
	return rules->cells == 0;
}

static int tell_view(struct telling *x, const struct config_view *v, struct err *e)
{
	CLEANUP(promotion_rules_release) struct promotion_rules rules = {0};
	if (!v->on_change || !v->requires || !catalog_evidence_counts_for(x->note, v->name) ||
		!config_view_has(v, x->note->platform))
		return 0;
	if (promotion_rules_read(v->requires, v->cells, &rules, e) < 0)
		return -1;
	x->view = v;
	x->rule = find_rule(&rules, x->note->kind);
	if (!x->rule || !has_cell(&rules, x->note))
		return 0;
	x->is_green = is_record_green(x->rule, x->note);
	for (size_t i = 0; i < x->projects; i++)
		if (tell_project(x, &x->project[i], e) < 0)
			return -1;
	return 0;
}

int view_change_tell(const struct config *config, struct catalog *c, const struct evidence *r,
	const struct catalog_evidence *note, struct hook_queue *queue, struct err *e)
{
	struct telling x = {.catalog = c, .note = note, .queue = queue};
	int result = 0;
	if (r->overrides)
		return 0;
	size_t kept = 0;
	x.project = ARENA_NEW(&x.text, struct changed_project, r->wheels);
	for (size_t i = 0; i < r->wheels; i++) {
		CLEANUP(filename_release) struct filename name = {0};
		struct err ignored = ERR_INIT;
		if (filename_parse(str_from(r->wheel[i].filename), &name, &ignored) == 0)
			x.project[x.projects++] = (struct changed_project){
				arena_strdup(&x.text, name.project), arena_strdup(&x.text, name.version.text)};
	}
	qsort(x.project, x.projects, sizeof(*x.project), compare_projects);
	for (size_t i = 0; i < x.projects; i++)
		if (!kept || compare_projects(&x.project[kept - 1], &x.project[i]) != 0)
			x.project[kept++] = x.project[i];
	x.projects = kept;
	for (size_t i = 0; i < config->view_count && result == 0; i++)
		result = tell_view(&x, &config->views[i], e);
	arena_release(&x.text);
	return result;
}

// --- pipelines that stopped reporting ---

static void add_expected(struct view_silences *s, const struct config_view *v, const struct expectation *x,
	const char *platform, const char *python, int64_t now)
{
	GROW(s->item, s->count, s->room);
	s->item[s->count++] = (struct view_silence){
		.known = {.view = v->name, .kind = x->kind, .platform = platform, .python = python, .known = now},
		.seconds = x->seconds};
}

static int recall_expected(struct view_silence *s, struct catalog *c, struct err *e)
{
	int found = catalog_expected_find(c, &s->known, e);
	s->is_stored = found > 0;
	s->was_silent = s->known.is_silent;
	s->was_newest = s->known.newest;
	return found;
}

// The arguments of note_run: the expectations of one kind, and how many of them have found their newest run.
struct run_search {
	const struct config_view *view;
	struct view_silence *item;
	size_t count, found;
	bool *is_found;
};

static int note_run(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct run_search *s = ctx;
	if (!config_view_has(s->view, r->platform) || !catalog_evidence_counts_for(r, s->view->name))
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		struct catalog_expected *x = &s->item[i].known;
		if (s->is_found[i])
			continue;
		if (!(!*x->platform || (strcmp(x->platform, r->platform) == 0 && strcmp(x->python, r->python) == 0)))
			continue;
		s->is_found[i] = true;
		s->found++;
		x->newest = r->received > x->newest ? r->received : x->newest;
	}
	return s->found == s->count;
}

// What is older than the expectation allows says nothing new, once a look has been kept.
static int64_t first_time(const struct view_silence *item, size_t count, int64_t now)
{
	int64_t from = now;
	for (size_t i = 0; i < count; i++) {
		const struct view_silence *s = &item[i];
		int64_t oldest = now - s->seconds > s->known.newest ? now - s->seconds : s->known.newest + 1;
		oldest = s->is_stored ? oldest : 0;
		from = oldest < from ? oldest : from;
	}
	return from;
}

static int look_for_runs(struct view_silences *s, const struct config_view *v, struct catalog *c, int64_t now,
	struct err *e)
{
	for (size_t from = 0, to; from < s->count; from = to) {
		const char *kind = s->item[from].known.kind;
		for (to = from + 1; to < s->count && s->item[to].known.kind == kind;)
			to++;
		CLEANUP(mem_free) bool *is_found = xcalloc(to - from, sizeof(*is_found));
		struct run_search search = {v, &s->item[from], to - from, 0, is_found};
		if (catalog_evidence_runs(c, kind, first_time(search.item, search.count, now), note_run, &search, e) < 0)
			return -1;
	}
	return 0;
}

static int64_t silent_since(const struct view_silence *s)
{
	return s->known.newest ? s->known.newest : s->known.known;
}

int view_silence_read(const struct config_view *v, struct catalog *c, int64_t now, bool looks, struct view_silences *out,
	struct err *e)
{
	*out = (struct view_silences){0};
	if (!v->expect)
		return 0;
	if (expectations_read(v->expect, &out->expected, e) < 0 ||
		promotion_rules_read(v->requires, v->cells, &out->rules, e) < 0)
		return -1;
	const struct promotion_rules *rules = &out->rules;
	for (size_t i = 0; i < out->expected.count; i++) {
		const struct expectation *x = &out->expected.item[i];
		bool has_cells = rules->cells && find_rule(rules, x->kind);
		for (size_t k = 0; has_cells && k < rules->cells; k++)
			add_expected(out, v, x, rules->cell[k].platform, rules->cell[k].python, now);
		if (!has_cells)
			add_expected(out, v, x, "", "", now);
	}
	for (size_t i = 0; i < out->count; i++)
		if (recall_expected(&out->item[i], c, e) < 0)
			return -1;
	if (looks && look_for_runs(out, v, c, now, e) < 0)
		return -1;
	for (size_t i = 0; i < out->count; i++) {
		struct view_silence *s = &out->item[i];
		s->is_silent = now - silent_since(s) > s->seconds;
		out->silent += s->is_silent;
	}
	return 0;
}

void view_silences_release(struct view_silences *s)
{
	expectations_release(&s->expected);
	promotion_rules_release(&s->rules);
	free(s->item);
	*s = (struct view_silences){0};
}

void view_silence_describe(const struct view_silence *s, struct buf *out)
{
	char since[CLOCK_TEXT];
	const struct catalog_expected *x = &s->known;
	clock_write(silent_since(s), since);
	buf_puts(out, x->kind);
	if (*x->platform)
		buf_printf(out, " on %s/%s", x->platform, x->python);
	buf_printf(out, ": no test run %s %s", x->newest ? "since" : "came, expected since", since);
}

static void tell_silence(const struct config_view *v, const struct view_silence *s, struct hook_queue *queue)
{
	char since[CLOCK_TEXT];
	const struct catalog_expected *x = &s->known;
	const char *word = s->is_silent ? "silent" : "reporting";
	clock_write(silent_since(s), since);
	CLEANUP(mem_free) char *about = xasprintf("%s in %s", x->kind, v->name);
	CLEANUP(mem_free)
	char *line = xasprintf("%s %s %s %s %s", word, v->name, x->kind, *x->platform ? x->platform : "-",
		*x->python ? x->python : "-");
	const char *const variables[][2] = {{"CHANGE", word}, {"VIEW", v->name}, {"KIND", x->kind},
		{"PLATFORM", x->platform}, {"PYTHON", x->python}, {"SINCE", since}};
	const struct hook_value values[] = {{'p', x->platform}, {'v', x->python}, {'n', ""}, {'r', ""}};
	const struct hook_job job = {
		v->on_change, about, about, line, values, ARRAY_SIZE(values), variables, ARRAY_SIZE(variables)};
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_REASON);
	view_silence_describe(s, &words);
	if (s->is_silent)
		log_warn("view %s: silent: %s", v->name, words.data);
	else
		log_info("view %s: %s reports again", v->name, x->kind);
	hook_queue_add(queue, &job);
}

// Another server may have kept it meanwhile. 1: the change is to be told of; 0: it is not.
static int keep_expected(struct view_silence *s, struct catalog *c, struct err *e)
{
	struct catalog_expected row = s->known;
	int found = catalog_expected_find(c, &row, e);
	bool was_silent = found > 0 && row.is_silent;
	if (found < 0)
		return -1;
	s->known.is_silent = s->is_silent;
	return catalog_expected_put(c, &s->known, e) < 0 ? -1 : was_silent != s->is_silent;
}

static int keep_changes(struct view_silences *s, struct catalog *c, bool *is_told, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0)
		return -1;
	for (size_t i = 0; i < s->count; i++) {
		int tells = keep_expected(&s->item[i], c, e);
		if (tells < 0)
			return -1;
		is_told[i] = tells > 0;
	}
	return catalog_commit(&t, e);
}

int view_silence_note(const struct config_view *v, struct catalog *c, int64_t now, struct hook_queue *queue,
	struct err *e)
{
	CLEANUP(view_silences_release) struct view_silences s = {0};
	bool has_changed = false;
	if (view_silence_read(v, c, now, true, &s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.count; i++)
		has_changed |= !s.item[i].is_stored || s.item[i].is_silent != s.item[i].was_silent ||
			       s.item[i].known.newest != s.item[i].was_newest;
	if (!has_changed)
		return 0;
	CLEANUP(mem_free) bool *is_told = xcalloc(s.count, sizeof(*is_told));
	if (keep_changes(&s, c, is_told, e) < 0)
		return -1;
	for (size_t i = 0; i < s.count; i++)
		if (is_told[i])
			tell_silence(v, &s.item[i], queue);
	return 0;
}
