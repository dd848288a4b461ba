// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/run/run.h"
#include "builder/build-server.h"
#include "cli/common/command.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"
#include "auditor/rebuild/rebuild-set.h"
#include "lib/net/fetch.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/state-files.h"

enum {
	CONNECT_SECONDS = 20,
};

struct build_command {
	struct session s;
	struct build_options build;
	const char *platform, *to, *from, *shard, *retry, *rebuild;
	struct rebuild_set *rebuilds;
	struct strset python, only;
	char *base, *token;
};

static atomic_bool is_signalled;

static int add_python(void *self, const struct option_row *row UNUSED, const char *value, struct err *e)
{
	struct build_command *x = self;
	CLEANUP(buf_release) struct buf text = buf_up_to(64);
	struct python python;
	if (python_parse(str_from(value), &python, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "--python: ");
	}
	python_print(&python, &text);
	strset_add(&x->python, text.data);
	return 0;
}

static int add_only(void *self, const struct option_row *row UNUSED, const char *value, struct err *e)
{
	struct build_command *x = self;
	if (!name_is_valid(str_from(value)))
		return err_set(e, ERR_USAGE, "--only: %s is not a valid project name", value);
	strset_add(&x->only, session_project(&x->s, str_from(value)));
	return 0;
}

static int parse_retry(const char *text, enum schedule_retry *out, struct err *e)
{
	static const struct {
		const char *word;
		enum schedule_retry retry;
	} row[] = {
		{"failed", SCHEDULE_RETRY_FAILED},
		{"timed-out", SCHEDULE_RETRY_TIMED_OUT},
		{"all", SCHEDULE_RETRY_ALL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (strcmp(text, row[i].word) == 0) {
			*out = row[i].retry;
			return 0;
		}
	return err_set(e, ERR_USAGE, "--retry: \"%s\" is neither failed nor timed-out nor all", text);
}

static int take_build_options(struct build_command *x, struct err *e)
{
	struct build_options *o = &x->build;
	o->platform = x->platform;
	o->to = x->to;
	if (!o->platform)
		return err_set(e, ERR_USAGE, "--platform NAME is missing");
	if (!platform_name_is_valid(str_from(o->platform)))
		return err_set(e, ERR_USAGE, "--platform: %s is not the name of a platform", o->platform);
	if (x->shard && missing_shard_parse(x->shard, &o->shard, e) < 0)
		return -1;
	if (x->retry && parse_retry(x->retry, &o->retry, e) < 0)
		return -1;
	if (x->from && !(x->base = server_answer_base(x->from, "from", e)))
		return -1;
	if (x->rebuild && rebuild_set_read(x->rebuild, &x->rebuilds, e) < 0)
		return err_prefix(e, "--rebuild: ");
	o->rebuild = x->rebuilds;
	strset_sort(&x->python);
	strset_sort(&x->only);
	o->from = x->base;
	o->python = (const char *const *)x->python.item;
	o->pythons = x->python.count;
	o->project = (const char *const *)x->only.item;
	o->projects = x->only.count;
	o->is_dry_run = x->s.is_dry_run;
	o->is_quiet = x->s.is_quiet;
	return 0;
}

// The first signal ends the build in order, the second one at once.
static void take_signal(int number UNUSED)
{
	atomic_store(&is_signalled, true);
}

static void take_signals(struct build_command *x)
{
	struct sigaction action = {.sa_handler = take_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	x->build.stop = &is_signalled;
}

static int run_build(void *self, struct err *e)
{
	struct build_command *x = self;
	struct session *s = &x->s;
	CLEANUP(build_report_release) struct build_report report = {0};
	if (s->words)
		return err_set(e, ERR_USAGE, "%s: no argument is taken here (a project is --only, a store --store)",
			s->word[0]);
	if (x->from)
		s->search = SESSION_SEARCH_VARIABLE;
	if (session_read(s, &s->config, e) < 0 || take_build_options(x, e) < 0)
		return -1;
	// A builder of a server has no store; the place of its results is then fixed, or configured.
	bool has_place = x->s.config.store || x->s.config.catalog;
	s->catalog_path = x->from && !has_place ? catalog_default_path("/build") : cli_config_catalog(&x->s.config, e);
	if (!s->catalog_path || session_locate(s, !x->build.is_dry_run, e) < 0)
		return -1;
	// No program that is run sees the token: neither its own environment nor that of this process has it.
	static const char *const secrets[] = {"WHEELCACHE_TOKEN", NULL};
	const char *token = session_variable("WHEELCACHE_TOKEN");
	x->token = token ? xstrdup(token) : NULL;
	run_hide_secrets(secrets);
	x->build.fetch = (struct fetch_options){
		.ca_file = fetch_ca_file(x->s.ca_file),
		.user = "__token__",
		.password = x->token,
		.netrc = session_variable("NETRC"),
		.connect_seconds = CONNECT_SECONDS,
		.stall_seconds = (unsigned)x->s.timeout,
	};
	take_signals(x);
	x->build.config = &s->config;
	x->build.catalog = s->catalog_path;
	if (build_run(&x->build, &report, e) < 0)
		return -1;
	if (s->is_json || !s->is_quiet)
		(s->is_json ? build_report_json : build_report_text)(&report, &s->out);
	if (session_print(s, e) < 0)
		return -1;
	return build_report_verdict(&report, e);
}

static void release_build(void *self)
{
	struct build_command *x = self;
	strset_release(&x->python);
	strset_release(&x->only);
	rebuild_set_free(x->rebuilds);
	free(x->base);
	free(x->token);
}

static const struct option_row options[] = {
	{"platform", 'p', "NAME", "build for this platform", TEXT(build_command, platform)},
	{"python", '\0', "V...", "only for these Pythons; may be repeated", CALL(add_python)},
	{"from", '\0', "URL", "ask the server at URL what is missing; else our own store", TEXT(build_command, from)},
	{"to", '\0', "URL", "publish at this upload URL; else at that of --from, or in our own store",
		TEXT(build_command, to)},
	{"jobs", 'j', "N", "build N wheels at once; one per processor", KEY("build", "jobs")},
	{"shard", '\0', "K/N", "build the K-th of N parts of the projects", TEXT(build_command, shard)},
	{"only", '\0', "NAME...", "build only these projects; may be repeated", CALL(add_only)},
	{"rebuild", '\0', "FILE", "build again the wheels in FILE, of rebuilds --json", TEXT(build_command, rebuild)},
	{"retry", '\0', "WHICH", "also what failed before: failed, timed-out or all", TEXT(build_command, retry)},
};

const struct command command_build = {
	.name = "build",
	.arguments = "--platform=NAME",
	.help = "build the wheels that are missing, and publish each",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE),
	.size = sizeof(struct build_command),
	.run = run_build,
	.release = release_build,
};
