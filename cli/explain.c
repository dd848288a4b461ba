// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/base/suggest.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "explainer/explain-membership.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/state-files.h"
#include "lib/state/results/results.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"
#include "explainer/explain.h"
#include "lib/view/view.h"

struct explain_command {
	struct session s;
	const char *view, *version;
	const char *project; // normalised
};

// PROJECT, PROJECT==VERSION or FILE.
static int take_project_word(struct explain_command *l, const char *word, struct err *e)
{
	const char *equals = strstr(word, "==");
	if (filename_kind(str_from(word)) != FILENAME_OTHER) {
		// The project of a file's name or path, and its version.
		const char *slash = strrchr(word, '/');
		CLEANUP(filename_release) struct filename name = {0};
		if (filename_parse(str_from(slash ? slash + 1 : word), &name, e) < 0)
			return err_prefix(e, "%s: ", word);
		l->project = arena_strdup(&l->s.arena, name.project);
		if (!l->version)
			l->version = arena_copy(&l->s.arena, str_from(name.version.text));
		return 0;
	}
	if (equals && l->version)
		return err_set(e, ERR_USAGE, "the version is given twice: %s, %s", word, l->version);
	if (equals) {
		CLEANUP(mem_free) char *project = xstrndup(word, (size_t)(equals - word));
		l->version = equals + 2;
		return take_project_word(l, project, e);
	}
	if (!name_is_valid(str_from(word)))
		return err_set(e, ERR_USAGE, "%s is not a valid project name, nor the name of a file", word);
	l->project = session_project(&l->s, str_from(word));
	return 0;
}

// The arguments of print_explanation.
struct explain_call {
	struct explain_command *command;
	struct explain_about about;
};

static int print_explanation(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct explain_call *x = ctx;
	struct session *s = &x->command->s;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = explain(&x->about, s->catalog, answer, e);
	if (!doc)
		return -1;
	if (s->is_json)
		session_json(s, STEAL_PTR(doc));
	else
		explain_text(doc, &s->out);
	return 0;
}

// The project with the name that is most like the given one.
struct similar_project {
	struct suggest suggest;
	char *name; // the word of nearest; NULL: there is none
};

static int suggest_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct similar_project *s = ctx;
	suggest_add(&s->suggest, project->project);
	if (s->suggest.word != project->project)
		return 0;
	free(s->name);
	s->suggest.word = s->name = xstrdup(project->project);
	return 0;
}

static int advise_project(const struct explain_call *x, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct similar_project s = {.name = NULL};
	const struct view *v = x->about.view;
	suggest_init(&s.suggest, str_from(x->about.project));
	for (size_t i = 0; i < v->platform_count; i++)
		if (catalog_projects(x->command->s.catalog, v->platform[i]->id, suggest_project, &s, &ignored) < 0)
			break;
	CLEANUP(mem_free) char *name = s.name;
	if (name && strcmp(name, x->about.project) == 0)
		return err_advise(e, "wheelcache explain %s lists its versions", name);
	return name ? err_advise(e, "did you mean %s?", name) : -1;
}

// What stands for the default view where there is none: all platforms, each by its own index.
static const struct view *show_each_platform(struct explain_command *l, struct view *out)
{
	struct store *store = &l->s.store;
	size_t room = 0;
	*out = l->s.site.view[1]; // of a platform, which merges as all do
	out->name = NULL;
	out->wheels = (struct wheel_filter){0};
	out->platform = NULL;
	out->platform_count = 0;
	out->shows_each = true;
	for (size_t i = 0; i < store->platform_count; i++) {
		ARENA_GROW(&l->s.arena, out->platform, out->platform_count, room);
		out->platform[out->platform_count++] = &store->platform[i];
		out->is_private |= store->platform[i].is_private;
	}
	return out;
}

// past has the storage of a view at a time, or of each platform.
static const struct view *find_view(struct explain_command *l, struct view *past, struct err *e)
{
	const struct site *site = &l->s.site;
	struct str when;
	int64_t at;
	if (!l->view && site->has_no_default)
		return show_each_platform(l, past);
	const struct view *v = view_time_split(site, l->view ? str_from(l->view) : (struct str){0}, &when);
	const char *wrong = v && when.ptr ? view_time_read(v, when, &at) : NULL;
	if (!v)
		site_refuse_view(site, l->view, ERR_NOT_FOUND, e);
	if (wrong)
		err_set(e, ERR_NOT_FOUND, "%s: %s", l->view, wrong);
	if (!v || wrong || !when.ptr)
		return wrong ? NULL : v;
	return view_time_find(site, v, l->s.catalog, at, past, e) < 0 ? NULL : past;
}

static int explain_project(struct explain_command *l, struct err *e)
{
	struct session *s = &l->s;
	struct catalog *c = s->catalog;
	const char *project = l->project;
	struct err ignored = ERR_INIT;
	struct explain_call x = {
		.command = l, .about = {.project = project, .version = l->version, .upstreams = s->upstreams}};
	struct view past;
	struct owned_names *names = NULL; // of a file that cannot be read: none
	CLEANUP(mem_free) char *path = state_file(&s->config, s->catalog_path, STATE_FILE_OWNED_NAMES);
	if (owned_names_open(path, &names, &ignored) < 0)
		names = NULL;
	CLEANUP(owned_names_cleanup) struct owned_names *ours = names;
	CLEANUP(rule_list_cleanup) struct rule_list *denied = NULL;
	if (rule_list_open(s->config.deny, NULL, &denied, e) < 0)
		return -1;
	x.about.denied = denied;
	x.about.view = find_view(l, &past, e);
	if (!x.about.view || explain_find_names(&s->site, c, ours, &x.about, e) < 0)
		return -1;
	CLEANUP(downloads_cleanup) struct downloads *downloads = NULL;
	CLEANUP(mem_free) char *counts = state_file(&s->config, s->catalog_path, STATE_FILE_DOWNLOADS);
	if (downloads_open(counts, &downloads, &ignored) == 0) // otherwise there are no counts
		x.about.downloads = downloads;
	struct err why = ERR_INIT;
	struct results *r = NULL;
	if (results_open_of(&l->s.config, l->s.catalog_path, false, &r, &why) < 0)
		log_warn("%s", why.msg);
	CLEANUP(results_cleanup) struct results *results = r;
	x.about.results = results;
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *gate = NULL;
	if (wheel_gate_new(&s->config, &gate, e) < 0)
		return -1;
	x.about.gate = gate;
	CLEANUP(mem_free) char *audit = state_file(&s->config, s->catalog_path, STATE_FILE_AUDIT);
	x.about.audit_path = audit;
	CLEANUP(explain_membership_cleanup) struct explain_membership *membership = NULL;
	if (explain_membership_new(&s->site, x.about.view, c, project, clock_wall_seconds(), NULL, &membership, e) < 0)
		return -1;
	x.about.put_file = explain_membership_put;
	x.about.put_file_ctx = membership;
	CLEANUP(jsondoc_cleanup) struct jsondoc *lost = NULL;
	const struct explain_losses losses = {&s->site, c, project, audit, NULL};
	if (explain_losses_read(&losses, &lost, e) < 0)
		return -1;
	x.about.lost = lost;
	if (upstream_load_cached_any(s->upstreams, c, project, &x.about.order, print_explanation, &x, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND ? advise_project(&x, e) : -1;
}

static int run_explain(void *self, struct err *e)
{
	struct explain_command *l = self;
	struct session *s = &l->s;
	if (!s->words || s->words > 2)
		return err_set(e, ERR_USAGE, "expected one PROJECT and at most one VERSION, or one FILE");
	l->version = s->word[1];
	if (take_project_word(l, s->word[0], e) < 0 || session_open(s, SESSION_VIEWS | SESSION_UPSTREAM, e) < 0)
		return -1;
	return explain_project(l, e);
}

static const struct option_row options[] = {
	{"view", '\0', "NAME", "explain for this view or platform; the default view", TEXT(explain_command, view)},
	{"json", 'j', NULL, "print the result as JSON", FLAG(session, is_json)},
};

const struct command command_explain = {
	.name = "explain",
	.arguments = "PROJECT [VERSION] | PROJECT==VERSION | FILE",
	.help = "explain why a wheel is or is not listed",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(UPSTREAM) | SHARED(UPSTREAM_URL),
	.size = sizeof(struct explain_command),
	.run = run_explain,
};
