// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cli/common/mark-common.h"
#include "cli/evidence/record-sender.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/state/publish/sidecar-ops.h"

static const struct option_row options[] = {
	{"server", '\0', "URL", "let this server do it: its base URL, https://HOST/", NO_KEY},
	{"reason", 'r', "TEXT", "the reason; pages show it", NO_KEY},
};

struct yank_command {
	struct mark_common mark; // first
	struct record_sender server;
	bool undo;
};

static int take_server_option(struct mark_common *m, const char *name, const char *value, struct err *e)
{
	struct yank_command *x = (struct yank_command *)m;
	const struct command_text texts[] = {{"server", &x->server.url}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0
									: record_sender_take(&x->server, name, value, e);
}

// --- by a server ---

static int write_order(const struct yank_command *x, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *list = jsondoc_array();
	jsondoc_add_str(list, x->mark.word);
	jsondoc_put(doc, "select", list);
	if (x->mark.platform)
		jsondoc_put_str(doc, "platform", x->mark.platform);
	if (x->mark.reason)
		jsondoc_put_str(doc, "reason", x->mark.reason);
	jsondoc_put_bool(doc, "undo", x->undo);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "the request has more than %d bytes", LIMIT_YANK) : 0;
}

// Names of a server are from outside.
static void report_remote(const struct yank_command *x, const char *platform, const char *filename, bool waits_for_release)
{
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, SIZE_MAX / 2);
	escape_terminal(&line, str_from(platform));
	buf_printf(&line, ": %s ", x->mark.done);
	escape_terminal(&line, str_from(filename));
	if (!x->mark.settings.is_quiet)
		printf("%s%s\n", line.data, waits_for_release ? mark_common_waits : "");
}

static int report_files(const struct yank_command *x, const struct jsondoc *doc, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "files");
	size_t count = list ? jsondoc_count(list) : 0;
	bool is_answer = count > 0;
	for (size_t i = 0; i < count && is_answer; i++) {
		const struct jsondoc *one = jsondoc_at(list, i);
		const char *platform = jsondoc_get_str(one, "platform"), *filename = jsondoc_get_str(one, "filename");
		is_answer = platform && filename;
		if (is_answer)
			report_remote(x, platform, filename, jsondoc_is_true(one, "waits_for_release"));
	}
	return is_answer ? 0 : err_set(e, ERR_NET, "it is no answer to a yank");
}

static int read_answer(const struct yank_command *x, struct str body, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(body, LIMIT_CLIENT_VALUES, e);
	if (doc && report_files(x, doc, e) == 0)
		return 0;
	e->kind = ERR_NET;
	return err_prefix(e, "%s: ", x->server.url);
}

static int post_order(struct yank_command *x, struct err *e)
{
	CLEANUP(buf_release) struct buf document;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct upload_client_answer answer;
	buf_init(&document, LIMIT_YANK);
	fetch_answer_init(&a, LIMIT_YANK_ANSWER);
	if (write_order(x, &document, e) < 0 ||
		record_sender_exchange(&x->server, "-/yank/", buf_view(&document), &a, &answer, e) < 0)
		return -1;
	return answer.status == 200 ? read_answer(x, buf_view(&a.body), e)
				    : record_sender_refused(&answer, ERR_NOT_FOUND, e);
}

static int yank_by_server(struct mark_common *m, struct err *e)
{
	struct yank_command *x = (struct yank_command *)m;
	if (!x->server.url)
		return 0;
	if (cli_config_has(&m->settings, "store", "path"))
		return err_set(e, ERR_USAGE, "--server: the server has a store of its own, so no STORE is given");
	return post_order(x, e) < 0 ? -1 : 1;
}

// --- the commands ---

static int run_command(struct yank_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	x->mark.take_option = take_server_option;
	x->mark.do_elsewhere = yank_by_server;
	record_sender_init(&x->server);
	int code = mark_common_run(&x->mark, self, argc, argv, e);
	record_sender_release(&x->server);
	return code;
}

static int yank_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_yank(p, c, m->file, m->reason, e);
}

static int run_yank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct yank_command x = {
		.mark = {.action = "yank", .done = "yanked", .mark = yank_file, .needs_reason = true}};
	return run_command(&x, self, argc, argv, e);
}

const struct command command_yank = {
	.name = "yank",
	.arguments = "FILE [STORE]",
	.help = "yank a file: clients install it only if they ask for its exact version",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.run = run_yank,
};

static int unyank_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_unyank(p, c, m->file, e);
}

static int run_unyank(const struct command *self, int argc, char **argv, struct err *e)
{
	struct yank_command x = {
		.mark = {.action = "unyank", .done = "no longer yanked:", .mark = unyank_file}, .undo = true};
	return run_command(&x, self, argc, argv, e);
}

const struct command command_unyank = {
	.name = "unyank",
	.arguments = "FILE [STORE]",
	.help = "undo yank",
	.options = options,
	.option_count = 1, // without the reason
	.shared = SHARED_BASE | SHARED(PLATFORM) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.run = run_unyank,
};
