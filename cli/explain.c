// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/nearest.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "explainer/explain-losses.h"
#include "explainer/explain-membership.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream.h"
#include "explainer/explain.h"
#include "lib/view/site-check.h"
#include "lib/view/view-time.h"

static const struct option_row options[] = {
	{"view", '\0', "NAME", "explain for this view or platform; the default view", NO_KEY},
	{"json", 'j', NULL, "print the result as JSON", NO_KEY},
};

struct explain_command {
	struct cli_config settings;
	struct config config;
	const char *view, *version;
	struct buf project; // normalised
	char *file_version; // of the file that is given; NULL: none is
};

static int take_explain_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct explain_command *l = ctx;
	const struct command_text texts[] = {{"view", &l->view}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0 : err_set(e, ERR_USAGE, "--%s", name);
}

// The project of a file's name or path, and its version.
static int take_file_word(struct explain_command *l, const char *word, struct err *e)
{
	const char *slash = strrchr(word, '/');
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(slash ? slash + 1 : word), &name, e) < 0)
		return err_prefix(e, "%s: ", word);
	buf_puts(&l->project, name.project);
	l->file_version = xstrdup(name.version.text);
	if (!l->version)
		l->version = l->file_version;
	return 0;
}

// PROJECT, PROJECT==VERSION or FILE.
static int take_project_word(struct explain_command *l, const char *word, struct err *e)
{
	const char *equals = strstr(word, "==");
	if (filename_kind(str_from(word)) != FILENAME_OTHER)
		return take_file_word(l, word, e);
	if (equals && l->version)
		return err_set(e, ERR_USAGE, "the version is given twice: %s, %s", word, l->version);
	if (equals) {
		CLEANUP(mem_free) char *project = xstrndup(word, (size_t)(equals - word));
		l->version = equals + 2;
		return take_project_word(l, project, e);
	}
	if (!name_is_valid(str_from(word)))
		return err_set(e, ERR_USAGE, "%s is not a valid project name, nor the name of a file", word);
	name_normalize(str_from(word), &l->project);
	return 0;
}

static int take_line(struct explain_command *l, const struct command *self, int argc, char **argv, struct err *e)
{
	int first = cli_config_options(&l->settings, self, argc, argv, take_explain_option, l, e);
	if (first < 0)
		return -1;
	if (first == argc || argc - first > 2)
		return err_set(e, ERR_USAGE, "expected one PROJECT and at most one VERSION, or one FILE");
	l->version = argv[first + 1];
	if (take_project_word(l, argv[first], e) < 0)
		return -1;
	return cli_config_read(&l->settings, &l->config, e);
}

// The arguments of print_explanation.
struct explain_call {
	const struct explain_command *command;
	struct catalog *catalog;
	struct explain_about about;
};

static int print_explanation(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct explain_call *x = ctx;
	CLEANUP(buf_release) struct buf out;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = explain(&x->about, x->catalog, answer, e);
	buf_init(&out, LIMIT_PAGE);
	if (!doc)
		return -1;
	if (x->command->settings.is_json)
		jsondoc_write(doc, 2, &out);
	else
		explain_text(doc, &out);
	if (out.failed || fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

// The project with the name that is most like the given one.
struct similar_project {
	struct nearest nearest;
	char *name; // the word of nearest; NULL: there is none
};

static int offer_project(void *ctx, const struct catalog_project *project, struct err *e UNUSED)
{
	struct similar_project *s = ctx;
	nearest_offer(&s->nearest, project->project);
	if (s->nearest.word != project->project)
		return 0;
	free(s->name);
	s->nearest.word = s->name = xstrdup(project->project);
	return 0;
}

static int advise_project(const struct explain_call *x, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct similar_project s = {.name = NULL};
	const struct view *v = x->about.view;
	nearest_init(&s.nearest, str_from(x->about.project));
	for (size_t i = 0; i < v->platform_count; i++)
		if (catalog_projects(x->catalog, v->platform[i]->id, offer_project, &s, &ignored) < 0)
			break;
	CLEANUP(mem_free) char *name = s.name;
	if (name && strcmp(name, x->about.project) == 0)
		return err_advise(e, "wheelcache explain %s lists its versions", name);
	return name ? err_advise(e, "did you mean %s?", name) : -1;
}

static bool is_owned_name(const struct catalog *c, const char *project)
{
	struct err ignored = ERR_INIT;
	CLEANUP(owned_names_cleanup) struct owned_names *ours = NULL;
	CLEANUP(mem_free) char *path = owned_names_path(catalog_path(c));
	return owned_names_open(path, &ours, &ignored) == 0 && owned_names_has(ours, project);
}

// NULL if nothing was built yet. Results that cannot be read hide nothing else.
static struct results *open_build_results(const struct explain_command *l, const struct catalog *c)
{
	struct err why = ERR_INIT;
	struct results *r = NULL;
	CLEANUP(mem_free) char *path = results_path(&l->config, catalog_path(c));
	if (results_open_read(path, &r, &why) < 0 && why.kind != ERR_NOT_FOUND)
		log_warn("%s", why.msg);
	return r;
}

// past has the storage of a view at a time.
static const struct view *find_view(const struct explain_command *l, const struct site *site, struct catalog *c,
	struct view *past, struct err *e)
{
	struct str when;
	int64_t at;
	const struct view *v = view_time_split(site, l->view ? str_from(l->view) : (struct str){0}, &when);
	const char *wrong = v && when.ptr ? view_time_read(v, when, &at) : NULL;
	if (!v)
		site_refuse_view(site, l->view, ERR_NOT_FOUND, e);
	if (wrong)
		err_set(e, ERR_NOT_FOUND, "%s: %s", l->view, wrong);
	if (!v || wrong || !when.ptr)
		return wrong ? NULL : v;
	return view_time_find(site, v, c, at, past, e) < 0 ? NULL : past;
}

static int explain_in(const struct explain_command *l, struct catalog *c, struct err *e)
{
	struct store store = {0};
	CLEANUP(site_release) struct site site = {0};
	CLEANUP(upstream_cleanup) struct upstream *upstream = NULL;
	if (store_open(&l->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	if (site_check_find(&l->config, &store, c, e) < 0) {
		store_release(&store);
		return -1;
	}
	if (site_init(&site, &l->config, &store, c, e) < 0 || upstream_new(&l->config, &upstream, e) < 0)
		return -1;
	struct err ignored = ERR_INIT;
	CLEANUP(downloads_cleanup) struct downloads *downloads = NULL;
	struct explain_call x = {
		.command = l, .catalog = c, .about = {.project = l->project.data, .version = l->version}};
	struct view past;
	x.about.view = find_view(l, &site, c, &past, e);
	if (!x.about.view)
		return -1;
	x.about.rule = name_rules_find(&site.rules, l->project.data);
	x.about.is_ours = is_owned_name(c, l->project.data);
	struct name_presence here;
	if (name_owner_look(c, &site.hidden_platforms, l->project.data, &here, e) < 0)
		return -1;
	x.about.is_hidden = name_owner_is_hidden(&here);
	if (downloads_open(catalog_path(c), &downloads, &ignored) == 0) // otherwise there are no counts
		x.about.downloads = downloads;
	CLEANUP(results_cleanup) struct results *results = open_build_results(l, c);
	x.about.results = results;
	CLEANUP(wheel_gate_cleanup) struct wheel_gate *gate = NULL;
	if (wheel_gate_new(&l->config, &gate, e) < 0)
		return -1;
	x.about.gate = gate;
	CLEANUP(mem_free) char *audit = audit_path(&l->config, catalog_path(c));
	x.about.audit_path = audit;
	CLEANUP(explain_membership_cleanup) struct explain_membership *membership = NULL;
	if (explain_membership_new(&site, x.about.view, c, l->project.data, clock_wall_seconds(), NULL, &membership, e) < 0)
		return -1;
	x.about.put_file = explain_membership_put;
	x.about.put_file_ctx = membership;
	CLEANUP(jsondoc_cleanup) struct jsondoc *lost = NULL;
	const struct explain_losses losses = {&site, c, l->project.data, audit, NULL};
	if (explain_losses_read(&losses, &lost, e) < 0)
		return -1;
	x.about.lost = lost;
	if (upstream_load_cached_any(upstream, c, l->project.data, print_explanation, &x, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND ? advise_project(&x, e) : -1;
}

static int explain_line(struct explain_command *l, const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (take_line(l, self, argc, argv, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&l->config, e);
	if (!path || catalog_open_read(path, &catalog, e) < 0)
		return -1;
	return explain_in(l, catalog, e);
}

static void explain_command_release(struct explain_command *l)
{
	config_release(&l->config);
	buf_release(&l->project);
	free(l->file_version);
}

static int run_explain(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(explain_command_release) struct explain_command l = {0};
	config_init(&l.config);
	buf_init(&l.project, LIMIT_FILE_NAME);
	return explain_line(&l, self, argc, argv, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_explain = {
	.name = "explain",
	.arguments = "PROJECT [VERSION] | PROJECT==VERSION | FILE",
	.help = "explain why a wheel is or is not offered",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(UPSTREAM) | SHARED(UPSTREAM_URL),
	.run = run_explain,
};
