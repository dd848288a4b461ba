// SPDX-License-Identifier: Apache-2.0
#include "promoter/view-change.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/state/config/promotion-rules.h"

// A wheel of the record; the first one of each project is its project's.
struct changed_project {
	char *project, *version; // owned
};

struct telling {
	struct catalog *catalog;
	const struct catalog_evidence *note;
	struct hook_queue *queue;
	struct changed_project *project; // by name, each once
	size_t projects;
	// Of one view.
	const struct config_view *view;
	const struct promotion_rule *rule;
	bool is_green, was_known, was_green;
};

// --- projects ---

static int compare_projects(const void *a, const void *b)
{
	return strcmp(((const struct changed_project *)a)->project, ((const struct changed_project *)b)->project);
}

static void add_changed_project(struct telling *x, const char *filename)
{
	CLEANUP(filename_release) struct filename name = {0};
	struct err ignored = ERR_INIT;
	if (filename_parse(str_from(filename), &name, &ignored) < 0)
		return;
	x->project[x->projects++] = (struct changed_project){STEAL_PTR(name.project), xstrdup(name.version.text)};
}

static void free_projects(struct telling *x)
{
	while (x->projects--) {
		free(x->project[x->projects].project);
		free(x->project[x->projects].version);
	}
	free(x->project);
}

static void collect_changed_projects(struct telling *x, const struct evidence *r)
{
	size_t kept = 0;
	x->project = xcalloc(r->wheels + 1, sizeof(*x->project));
	for (size_t i = 0; i < r->wheels; i++)
		add_changed_project(x, r->wheel[i].filename);
	qsort(x->project, x->projects, sizeof(*x->project), compare_projects);
	for (size_t i = 0; i < x->projects; i++) {
		if (kept && compare_projects(&x->project[kept - 1], &x->project[i]) == 0) {
			free(x->project[i].project);
			free(x->project[i].version);
			continue;
		}
		x->project[kept++] = x->project[i];
	}
	x->projects = kept;
}

// --- red and green ---

static bool give_record(void *ctx, const struct promotion_rule *rule UNUSED, const struct promotion_cell *cell UNUSED,
	struct promotion_record *out)
{
	*out = *(const struct promotion_record *)ctx;
	return true;
}

// By its tests alone: a record does not become red by its age.
static bool is_record_green(const struct promotion_rule *rule, const struct catalog_evidence *r)
{
	CLEANUP(buf_release) struct buf why;
	struct promotion_record record = {.kind = r->kind,
		.made = r->made,
		.received = r->made,
		.passed = r->passed,
		.failed = r->failed,
		.skipped = r->skipped};
	const struct promotion_cell cell = {r->platform, r->python};
	buf_init(&why, LIMIT_REASON);
	return promotion_rule_holds(rule, &cell, r->made, give_record, &record, &why);
}

static int note_state_before(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct telling *x = ctx;
	x->was_known = true;
	x->was_green = is_record_green(x->rule, r);
	return 0;
}

static void add_command(struct telling *x, const struct changed_project *p)
{
	const struct catalog_evidence *r = x->note;
	char id[SHA256_HEX + 1] = "";
	hex_encode(r->id, SHA256_SIZE, id);
	CLEANUP(mem_free) char *passed = xasprintf("%" PRIu64, r->passed), *failed = xasprintf("%" PRIu64, r->failed);
	CLEANUP(mem_free) char *skipped = xasprintf("%" PRIu64, r->skipped);
	CLEANUP(mem_free) char *about = xasprintf("%s of %s in %s", r->kind, p->project, x->view->name);
	const char *word = x->is_green ? "green" : "red";
	CLEANUP(mem_free)
	char *line = xasprintf("%s %s %s %s %s %s %s", word, x->view->name, r->kind, r->platform, r->python, p->project,
		p->version);
	const char *const variables[][2] = {{"CHANGE", word}, {"VIEW", x->view->name},
		{"KIND", r->kind}, {"PLATFORM", r->platform}, {"PYTHON", r->python}, {"PROJECT", p->project},
		{"VERSION", p->version}, {"PASSED", passed}, {"FAILED", failed}, {"SKIPPED", skipped}, {"EVIDENCE", id},
		{"BY", r->by}};
	const struct hook_value values[] = {{'p', r->platform}, {'v', r->python}, {'n', p->project}, {'r', p->version}};
	const struct hook_job job = {
		x->view->on_change, about, p->project, line, values, ARRAY_SIZE(values), variables,
		ARRAY_SIZE(variables)};
	hook_queue_add(x->queue, &job);
}

static int tell_project(struct telling *x, const struct changed_project *p, struct err *e)
{
	x->was_known = x->was_green = false;
	if (catalog_evidence_before(x->catalog, x->view->name, p->project, x->note, note_state_before, x, e) < 0)
		return -1;
	if (x->was_known ? x->was_green != x->is_green : !x->is_green)
		add_command(x, p);
	return 0;
}

// --- the views ---

static bool has_platform(const struct config_view *v, const char *platform)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (strcmp(v->platforms[i], platform) == 0)
			return true;
	return false;
}

static bool has_cell(const struct promotion_rules *rules, const struct catalog_evidence *r)
{
	for (size_t i = 0; i < rules->cells; i++)
		if (strcmp(rules->cell[i].platform, r->platform) == 0 && strcmp(rules->cell[i].python, r->python) == 0)
			return true;
	return rules->cells == 0;
}

static const struct promotion_rule *find_rule(const struct promotion_rules *rules, const char *kind)
{
	for (size_t i = 0; i < rules->rules; i++)
		if (strcmp(rules->rule[i].kind, kind) == 0)
			return &rules->rule[i];
	return NULL;
}

static int tell_view(struct telling *x, const struct config_view *v, struct err *e)
{
	CLEANUP(promotion_rules_release) struct promotion_rules rules = {0};
	if (!v->on_change || !v->requires || !catalog_evidence_counts_for(x->note, v->name) ||
		!has_platform(v, x->note->platform))
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
	collect_changed_projects(&x, r);
	for (size_t i = 0; i < config->view_count && result == 0; i++)
		result = tell_view(&x, &config->views[i], e);
	free_projects(&x);
	return result;
}
