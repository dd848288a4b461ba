// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/base/limits.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/net/ca-file.h"
#include "lib/os/fs.h"
#include "lib/state/config/config-type.h"
#include "uploader/push.h"

enum {
	JOBS = 4,
	MAX_JOBS = 64,
	RETRIES = 5,
	CONNECT_SECONDS = 20,
	TIMEOUT_SECONDS = 300, // a server checks a large wheel before it answers
	SUMMARY_MAX = 256 << 20,
};

struct push_command {
	struct cli_config settings;
	const char *url;
	uint64_t jobs, retries, timeout;
	const char *ca_file, *provenance;
	struct buf statement; // the file that --provenance names
	struct progress progress;
};

static const struct option_row options[] = {
	{"to", '\0', "URL", "the upload URL of the platform: https://HOST/upload/PLATFORM/", NO_KEY},
	{"jobs", 'j', "N", "send N files at once; 4", NO_KEY},
	{"provenance", '\0', "FILE", "send this statement of provenance, which is about each of the files", NO_KEY},
};

static int take_push_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct push_command *x = ctx;
	const struct command_text texts[] = {
		{"to", &x->url},
		{"ca-file", &x->ca_file},
		{"provenance", &x->provenance},
	};
	const struct cli_config_number numbers[] = {
		{"jobs", &config_type_integer, &x->jobs},
		{"retries", &config_type_integer, &x->retries},
		{"timeout", &config_type_seconds, &x->timeout},
	};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static int check_options(const struct push_command *x, int files, struct err *e)
{
	if (!x->url)
		return err_set(e, ERR_USAGE, "--to URL is missing: https://HOST/upload/PLATFORM/");
	if (files < 1)
		return err_set(e, ERR_USAGE, "no FILE is given");
	if (x->jobs < 1 || x->jobs > MAX_JOBS)
		return err_set(e, ERR_USAGE, "--jobs is not between 1 and %d", MAX_JOBS);
	if (x->timeout < 1)
		return err_set(e, ERR_USAGE, "--timeout is not 1 or more");
	return 0;
}

// An empty variable counts as unset: CI systems set secrets that a job may not see to the empty string.
static const char *get_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static void show_progress(void *ctx, const struct push_progress *p)
{
	progress_push(ctx, p->files, p->all_files, p->bytes, p->all_bytes);
}

static int print_report(const struct push_command *x, const struct push_report *pushed, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SUMMARY_MAX);
	if (x->settings.is_json)
		push_report_json(pushed, &text);
	else if (x->settings.is_quiet)
		push_report_problems(pushed, &text);
	else
		push_report_text(pushed, &text);
	fwrite(text.data, 1, text.len, stdout);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the summary is too long");
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "the summary");
}

static int push_files(struct push_command *x, const struct upload_url *t, char **paths, size_t count, struct err *e)
{
	CLEANUP(push_report_release) struct push_report pushed;
	const struct push_options push = {
		.target = t,
		.jobs = (unsigned)x->jobs,
		.retries = (unsigned)x->retries,
		.statement = x->provenance ? x->statement.data : NULL,
		.sends_again = x->provenance != NULL,
		.fetch = {.ca_file = ca_file_choose(x->ca_file),
			.user = "__token__",
			.password = get_variable("WHEELCACHE_TOKEN"),
			.netrc = get_variable("NETRC"),
			.connect_seconds = CONNECT_SECONDS,
			.stall_seconds = (unsigned)x->timeout},
		.progress = show_progress,
		.ctx = &x->progress,
	};
	progress_begin(&x->progress, !x->settings.is_quiet);
	push_run(&push, paths, count, &pushed);
	progress_end(&x->progress);
	return print_report(x, &pushed, e) < 0 ? -1 : push_report_verdict(&pushed, e);
}

static int read_statement_file(struct push_command *x, struct err *e)
{
	CLEANUP(provenance_release) struct provenance p = {0};
	if (!x->provenance)
		return 0;
	if (fs_read_file(x->provenance, &x->statement, e) < 0)
		return -1;
	if (memchr(x->statement.data, '\0', x->statement.len))
		return err_set(e, ERR_INVALID, "%s: no JSON: it has a NUL", x->provenance);
	return provenance_read(buf_view(&x->statement), &p, e) < 0 ? err_prefix(e, "%s: ", x->provenance) : 0;
}

static void push_command_release(struct push_command *x)
{
	buf_release(&x->statement);
}

static int run_push(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(upload_url_release) struct upload_url t = {0};
	CLEANUP(push_command_release)
	struct push_command x = {.jobs = JOBS, .retries = RETRIES, .timeout = TIMEOUT_SECONDS};
	buf_init(&x.statement, LIMIT_STATEMENT);
	int first = cli_config_options(&x.settings, self, argc, argv, take_push_option, &x, e);
	if (first < 0 || check_options(&x, argc - first, e) < 0 || upload_url_init(&t, x.url, e) < 0 ||
		read_statement_file(&x, e) < 0 || push_files(&x, &t, argv + first, (size_t)(argc - first), e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_push = {
	.name = "push",
	.arguments = "FILE... --to=URL",
	.help = "upload wheels and sdists to a platform of a server",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE),
	.run = run_push,
};
