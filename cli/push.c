// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/state/config/config-type.h"
#include "uploader/push.h"

enum {
	JOBS = 4,
	MOST_JOBS = 64,
	RETRIES = 5,
	CONNECT_SECONDS = 20,
	TIMEOUT_SECONDS = 300, // a server looks at a large wheel before it says anything
	SUMMARY_MAX = 256 << 20,
};

struct pushing {
	const char *url;
	uint64_t jobs, retries, timeout;
	const char *ca_file;
	bool is_json, is_quiet;
	struct progress progress;
};

static const struct option_row options[] = {
	{"to", '\0', "URL", "the platform's upload URL: https://HOST/upload/PLATFORM/"},
	{"jobs", 'j', "N", "send N files at once; 4"},
	{"retries", '\0', "N", "try N times again after a lost connection or an error of the server; 5"},
	{"timeout", '\0', "TIME", "give a connection up after so long without a byte, as 5m"},
	{"ca-file", '\0', "FILE", "trust the certificates in FILE (PEM), not the system's"},
	{"json", '\0', NULL, "print the summary as JSON"},
	{"quiet", 'q', NULL, "no progress bar and no summary"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct pushing *x = ctx;
	const struct command_flag flags[] = {
		{"json", &x->is_json},
		{"quiet", &x->is_quiet},
	};
	const struct cli_config_number numbers[] = {
		{"jobs", &config_type_integer, &x->jobs},
		{"retries", &config_type_integer, &x->retries},
		{"timeout", &config_type_seconds, &x->timeout},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	if (strcmp(name, "to") == 0) {
		x->url = value;
		return 0;
	}
	if (strcmp(name, "ca-file") == 0) {
		x->ca_file = value;
		return 0;
	}
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static int check_options(const struct pushing *x, int files, struct err *e)
{
	if (!x->url)
		return err_set(e, ERR_USAGE, "--to is missing: where do they go?");
	if (files < 1)
		return err_set(e, ERR_USAGE, "no file is named");
	if (x->jobs < 1 || x->jobs > MOST_JOBS)
		return err_set(e, ERR_USAGE, "--jobs is not between 1 and %d", MOST_JOBS);
	if (x->timeout < 1)
		return err_set(e, ERR_USAGE, "--timeout is not 1 or more");
	return 0;
}

// Empty is as unset: CI systems set variables of secrets that a job may not see to nothing.
static const char *environment(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static void show_progress(void *ctx, const struct push_progress *p)
{
	progress_push(ctx, p->files, p->all_files, p->bytes, p->all_bytes);
}

static int print(const struct pushing *x, const struct push_report *pushed, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SUMMARY_MAX);
	if (x->is_quiet && !x->is_json)
		return 0;
	(x->is_json ? push_report_json : push_report_text)(pushed, &text);
	fwrite(text.data, 1, text.len, stdout);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the summary is too long");
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "the summary");
}

static int push_files(struct pushing *x, const struct upload_url *t, char **paths, size_t count, struct err *e)
{
	CLEANUP(push_report_release) struct push_report pushed;
	const struct push_options push = {
		.target = t,
		.jobs = (unsigned)x->jobs,
		.retries = (unsigned)x->retries,
		.fetch = {.ca_file = x->ca_file,
			.user = "__token__",
			.password = environment("WHEELCACHE_TOKEN"),
			.netrc = environment("NETRC"),
			.connect_seconds = CONNECT_SECONDS,
			.stall_seconds = (unsigned)x->timeout},
		.progress = show_progress,
		.ctx = &x->progress,
	};
	progress_begin(&x->progress, !x->is_quiet);
	push_run(&push, paths, count, &pushed);
	progress_end(&x->progress);
	return print(x, &pushed, e) < 0 ? -1 : push_report_verdict(&pushed, e);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(upload_url_release) struct upload_url t = {0};
	struct pushing x = {.jobs = JOBS, .retries = RETRIES, .timeout = TIMEOUT_SECONDS};
	int first = command_options(self, argc, argv, take_option, &x, e);
	if (first < 0 || check_options(&x, argc - first, e) < 0 || upload_url_init(&t, x.url, e) < 0 ||
		push_files(&x, &t, argv + first, (size_t)(argc - first), e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_push = {
	.name = "push",
	.arguments = "FILE... --to=URL",
	.help = "send wheels and sdists to a server's platform",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};
