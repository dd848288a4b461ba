// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"
#include "builder/run/run.h"
#include "builder/server-answer.h"
#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"
#include "auditor/rebuild/rebuild-set.h"
#include "lib/net/ca-file.h"
#include "lib/state/catalog/catalog.h"

enum {
	CONNECT_SECONDS = 20,
	TIMEOUT_SECONDS = 300, // a server checks a large wheel before it answers
	REPORT_MOST = 256 << 20,
};

struct build_command {
	struct cli_config settings;
	struct config config;
	struct build_options build;
	const char *from, *shard, *retry, *ca_file, *rebuild;
	struct rebuild_set *rebuilds;
	struct strset python, only;
	char *base, *catalog, *token;
};

static atomic_bool is_signalled;

static const struct option_row options[] = {
	{"platform", 'p', "NAME", "build for this platform", NO_KEY},
	{"python", '\0', "V...", "only for these Pythons; may be repeated", NO_KEY},
	{"from", '\0', "URL", "ask the server at URL what is missing; else our own store", NO_KEY},
	{"to", '\0', "URL", "publish at this upload URL; else at that of --from, or in our own store", NO_KEY},
	{"jobs", 'j', "N", "build N wheels at once; one per processor", "build", "jobs"},
	{"shard", '\0', "K/N", "build the K-th of N parts of the projects", NO_KEY},
	{"only", '\0', "NAME...", "build only these projects; may be repeated", NO_KEY},
	{"rebuild", '\0', "FILE", "build again the wheels in FILE, of rebuilds --json", NO_KEY},
	{"retry", '\0', "WHICH", "also what failed before: failed, timed-out or all", NO_KEY},
};

static int add_python(struct build_command *x, const char *value, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	struct python python;
	buf_init(&text, 64);
	if (python_parse(str_from(value), &python, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "--python: ");
	}
	python_print(&python, &text);
	strset_add(&x->python, text.data);
	return 0;
}

static int add_only(struct build_command *x, const char *value, struct err *e)
{
	CLEANUP(buf_release) struct buf name;
	buf_init(&name, strlen(value) + 1);
	if (!name_is_valid(str_from(value)))
		return err_set(e, ERR_USAGE, "--only: %s is not a valid project name", value);
	name_normalize(str_from(value), &name);
	strset_add(&x->only, name.data);
	return 0;
}

static int take_build_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct build_command *x = ctx;
	const struct command_text texts[] = {
		{"platform", &x->build.platform},
		{"from", &x->from},
		{"to", &x->build.to},
		{"shard", &x->shard},
		{"retry", &x->retry},
		{"rebuild", &x->rebuild},
		{"ca-file", &x->ca_file},
	};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	if (strcmp(name, "python") == 0)
		return add_python(x, value, e);
	if (strcmp(name, "only") == 0)
		return add_only(x, value, e);
	return err_set(e, ERR_USAGE, "--%s", name);
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
	o->is_dry_run = x->settings.is_dry_run;
	o->is_quiet = x->settings.is_quiet;
	return 0;
}

// A builder of a server has no store; the place of its results is then fixed, or configured.
static char *catalog_of_builder(const struct build_command *x, struct err *e)
{
	bool has_place = x->config.store || x->config.catalog;
	return x->from && !has_place ? catalog_default_path("/build") : cli_config_catalog(&x->config, e);
}

// An empty variable counts as unset: CI systems set secrets that a job may not see to the empty string.
static char *copy_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? xstrdup(value) : NULL;
}

// No program that is run sees the token: neither its own environment nor that of this process has it.
static void take_token(struct build_command *x)
{
	static const char *const secrets[] = {"WHEELCACHE_TOKEN", NULL};
	const char *netrc = getenv("NETRC");
	x->token = copy_variable("WHEELCACHE_TOKEN");
	run_hide_secrets(secrets);
	x->build.fetch = (struct fetch_options){
		.ca_file = ca_file_choose(x->ca_file),
		.user = "__token__",
		.password = x->token,
		.netrc = netrc && *netrc ? netrc : NULL,
		.connect_seconds = CONNECT_SECONDS,
		.stall_seconds = TIMEOUT_SECONDS,
	};
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

static int print_build(const struct build_command *x, const struct build_report *report, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, REPORT_MOST);
	if (x->settings.is_quiet && !x->settings.is_json)
		return 0;
	(x->settings.is_json ? build_report_json : build_report_text)(report, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the report is too long");
	if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int build_line(struct build_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(build_report_release) struct build_report report = {0};
	int first = cli_config_options(&x->settings, self, argc, argv, take_build_option, x, e);
	if (first < 0)
		return -1;
	if (first < argc)
		return err_set(e, ERR_USAGE, "%s: no argument is taken here (a project is --only, a store --store)",
			argv[first]);
	if (x->from)
		x->settings.search = CLI_CONFIG_SEARCH_VARIABLE;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || take_build_options(x, e) < 0)
		return -1;
	x->catalog = catalog_of_builder(x, e);
	if (!x->catalog)
		return -1;
	take_token(x);
	take_signals(x);
	x->build.config = &x->config;
	x->build.catalog = x->catalog;
	if (build_run(&x->build, &report, e) < 0 || print_build(x, &report, e) < 0)
		return -1;
	return build_report_verdict(&report, e);
}

static void release_build_command(struct build_command *x)
{
	config_release(&x->config);
	strset_release(&x->python);
	strset_release(&x->only);
	rebuild_set_free(x->rebuilds);
	free(x->base);
	free(x->catalog);
	free(x->token);
}

static int run_build(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(release_build_command) struct build_command x = {0};
	config_init(&x.config);
	return build_line(&x, self, argc, argv, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_build = {
	.name = "build",
	.arguments = "--platform=NAME",
	.help = "build the wheels that are missing, and publish each",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE),
	.run = run_build,
};
