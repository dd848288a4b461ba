// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-builds.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/domain/text/specifier.h"

enum { BUILDS_MOST = 500 }; // attempts that are reported

// The newest attempt for a platform, Python and version.
struct tried_wheel {
	struct results_attempt newest; // RESULTS_RUNNING: none has ended
	bool is_running;
};

struct tried_wheels {
	const char *specifier; // "==VERSION"; NULL: all versions
	struct tried_wheel item[BUILDS_MOST];
	size_t count;
	struct arena text;
};

static void free_tried(struct tried_wheels **t)
{
	arena_release(&(*t)->text);
	free(*t);
}

static bool is_asked_for(const struct tried_wheels *t, const char *version)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version parsed = {0};
	if (!t->specifier)
		return true;
	return version_parse(str_from(version), &parsed, &ignored) == 0 &&
	       specifier_set_admits(str_from(t->specifier), &parsed);
}

static struct tried_wheel *find_tried(struct tried_wheels *t, const struct results_attempt *a)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct results_attempt *b = &t->item[i].newest;
		if (strcmp(a->platform, b->platform) == 0 && strcmp(a->python, b->python) == 0 &&
			strcmp(a->version, b->version) == 0)
			return &t->item[i];
	}
	return NULL;
}

static void keep_newest(struct tried_wheels *t, struct tried_wheel *tried, const struct results_attempt *a)
{
	struct results_attempt *n = &tried->newest;
	const char **const text[] = {&n->id, &n->platform, &n->python, &n->project, &n->version, &n->step, &n->why};
	*n = *a;
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		*text[i] = arena_copy(&t->text, str_from(*text[i]));
}

// The newest comes first.
static int add_tried(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct tried_wheels *t = ctx;
	struct tried_wheel *tried = find_tried(t, a);
	if (!tried && (t->count == BUILDS_MOST || !is_asked_for(t, a->version)))
		return 0;
	if (!tried) {
		tried = &t->item[t->count++];
		tried->is_running = a->result == RESULTS_RUNNING;
		keep_newest(t, tried, a);
	} else if (tried->newest.result == RESULTS_RUNNING && a->result != RESULTS_RUNNING)
		keep_newest(t, tried, a);
	return 0;
}

static int put_failures(struct results *r, const struct results_attempt *a, struct jsondoc *out, struct err *e)
{
	CLEANUP(results_history_release) struct results_history h = {0};
	if (!results_is_failure(a->result))
		return 0;
	if (results_history(r, a->platform, a->python, a->project, a->version, &h, e) < 0)
		return -1;
	jsondoc_put_int(out, "failures", h.failures);
	jsondoc_put_time(out, "since", h.first_failed);
	return 0;
}

static int add_build(struct results *r, const struct tried_wheel *tried, struct jsondoc *all, struct err *e)
{
	const struct results_attempt *a = &tried->newest;
	struct jsondoc *out = jsondoc_object();
	jsondoc_add(all, out);
	jsondoc_put_str(out, "platform", a->platform);
	jsondoc_put_str(out, "python", a->python);
	jsondoc_put_str(out, "version", a->version);
	jsondoc_put_str(out, "result", results_result_name[a->result]);
	jsondoc_put_str(out, "step", a->step);
	jsondoc_put_str(out, "why", a->why);
	jsondoc_put_time(out, "begun", a->begun);
	jsondoc_put_str(out, "id", a->id);
	jsondoc_put_bool(out, "running", tried->is_running);
	return put_failures(r, a, out, e);
}

static int list_tried(struct results *r, const struct view *view, const char *project, struct tried_wheels *t,
	struct err *e)
{
	CLEANUP(mem_free) const char **name = xcalloc(view->platform_count + 1, sizeof(*name));
	for (size_t i = 0; i < view->platform_count; i++)
		name[i] = view->platform[i]->name;
	const struct results_filter filter = {
		.project = project, .platforms = name, .platform_count = view->platform_count};
	return results_list(r, &filter, add_tried, t, e);
}

struct jsondoc *explain_builds(struct results *r, const struct view *view, const char *project, const char *version,
	struct err *e)
{
	CLEANUP(mem_free) char *specifier = version ? xasprintf("==%s", version) : NULL;
	CLEANUP(free_tried) struct tried_wheels *t = xcalloc(1, sizeof(*t));
	CLEANUP(jsondoc_cleanup) struct jsondoc *all = jsondoc_array();
	t->specifier = specifier;
	if (list_tried(r, view, project, t, e) < 0)
		return NULL;
	for (size_t i = 0; i < t->count; i++)
		if (add_build(r, &t->item[i], all, e) < 0)
			return NULL;
	return STEAL_PTR(all);
}

// --- text ---

static void print_build(const struct jsondoc *build, struct buf *out)
{
	const char *why = jsondoc_get_str(build, "why"), *since = jsondoc_get_str(build, "since");
	const char *step = jsondoc_get_str(build, "step"), *result = jsondoc_get_str(build, "result");
	int64_t failures = 0;
	buf_printf(out, "  %s, Python %s: %s %s", jsondoc_get_str(build, "platform"), jsondoc_get_str(build, "python"),
		jsondoc_get_str(build, "version"), result);
	if (*step && strcmp(result, results_result_name[RESULTS_OK]) != 0)
		buf_printf(out, " (%s)", step);
	buf_printf(out, " at %s", jsondoc_get_str(build, "begun"));
	if (since && jsondoc_get_int(build, "failures", &failures) && failures > 1)
		buf_printf(out, ", %lld times since %s", (long long)failures, since);
	if (*why)
		buf_printf(out, ": %s", why);
	buf_printf(out, "\n    wheelcache builds --log %.10s\n", jsondoc_get_str(build, "id"));
	if (jsondoc_is_true(build, "running") && strcmp(result, results_result_name[RESULTS_RUNNING]) != 0)
		buf_puts(out, "    another attempt is running\n");
}

void explain_builds_text(const struct jsondoc *builds, struct buf *out)
{
	buf_puts(out, builds && jsondoc_count(builds) ? "\nLast attempts to build a wheel:\n" : "");
	for (size_t i = 0; builds && i < jsondoc_count(builds); i++)
		print_build(jsondoc_at(builds, i), out);
}
