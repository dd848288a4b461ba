// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/progress.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/net/fetch.h"
#include "lib/os/fs.h"
#include "uploader/push.h"

enum {
	JOBS = 4,
	MAX_JOBS = 64,
	CONNECT_SECONDS = 20,
	SUMMARY_MAX = 256 << 20,
};

struct push_command {
	struct session s;
	const char *url;
	uint64_t jobs;
	const char *provenance;
	struct buf statement; // the file that --provenance names
	struct progress progress;
};

static void show_progress(void *ctx, const struct push_progress *p)
{
	progress_push(ctx, p->files, p->all_files, p->bytes, p->all_bytes);
}

static int print_report(const struct push_command *x, const struct push_report *pushed, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(SUMMARY_MAX);
	if (x->s.is_json)
		push_report_json(pushed, &text);
	else if (x->s.is_quiet)
		push_report_problems(pushed, &text);
	else
		push_report_text(pushed, &text);
	fwrite(text.data, 1, text.len, stdout);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the summary is too long");
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "the summary");
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

static int run_push(void *self, struct err *e)
{
	struct push_command *x = self;
	CLEANUP(upload_url_release) struct upload_url t = {0};
	if (!x->url)
		return err_set(e, ERR_USAGE, "--to URL is missing: https://HOST/upload/PLATFORM/");
	if (!x->s.words)
		return err_set(e, ERR_USAGE, "no FILE is given");
	if (x->jobs < 1 || x->jobs > MAX_JOBS)
		return err_set(e, ERR_USAGE, "--jobs is not between 1 and %d", MAX_JOBS);
	if (x->s.timeout < 1)
		return err_set(e, ERR_USAGE, "--timeout is not 1 or more");
	if (upload_url_init(&t, x->url, e) < 0 || read_statement_file(x, e) < 0)
		return -1;
	CLEANUP(push_report_release) struct push_report pushed;
	const struct push_options push = {
		.target = &t,
		.jobs = (unsigned)x->jobs,
		.retries = (unsigned)x->s.retries,
		.statement = x->provenance ? x->statement.data : NULL,
		.sends_again = x->provenance != NULL,
		.fetch = {.ca_file = fetch_ca_file(x->s.ca_file),
			.user = "__token__",
			.password = session_variable("WHEELCACHE_TOKEN"),
			.netrc = session_variable("NETRC"),
			.connect_seconds = CONNECT_SECONDS,
			.stall_seconds = (unsigned)x->s.timeout},
		.progress = show_progress,
		.ctx = &x->progress,
	};
	progress_begin(&x->progress, !x->s.is_quiet);
	push_run(&push, x->s.word, x->s.words, &pushed);
	progress_end(&x->progress);
	return print_report(x, &pushed, e) < 0 ? -1 : push_report_verdict(&pushed, e);
}

static void begin_push(void *self)
{
	struct push_command *x = self;
	x->jobs = JOBS;
	buf_init(&x->statement, LIMIT_STATEMENT);
}

static void release_push(void *self)
{
	buf_release(&((struct push_command *)self)->statement);
}

static const struct option_row options[] = {
	{"to", '\0', "URL", "the upload URL of the platform: https://HOST/upload/PLATFORM/", TEXT(push_command, url)},
	{"jobs", 'j', "N", "send N files at once; 4", NUMBER(push_command, jobs, integer)},
	{"provenance", '\0', "FILE", "send this statement of provenance, which is about each of the files",
		TEXT(push_command, provenance)},
};

const struct command command_push = {
	.name = "push",
	.arguments = "FILE... --to=URL",
	.help = "upload wheels and sdists to a platform of a server",
	OPTIONS(options),
	.shared = SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE),
	.size = sizeof(struct push_command),
	.begin = begin_push,
	.run = run_push,
	.release = release_push,
};
