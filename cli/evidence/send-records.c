// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/evidence/record-sender.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/format/escape.h"
#include "lib/os/fs.h"

// A record, and the file that has it.
struct sent_record {
	struct evidence record;
	const char *path;
};

struct send_command {
	struct cli_config settings;
	struct record_sender to;
	struct sent_record *record;
	size_t records, room;
	struct jsondoc *sent; // an array, for --json
	struct err first;     // the first failure
};

static const struct option_row options[] = {
	{"to", '\0', "URL", "the base URL of the server: https://HOST/", NO_KEY},
};

static int take_send_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct send_command *x = ctx;
	const struct command_text texts[] = {{"to", &x->to.url}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0
									: record_sender_take(&x->to, name, value, e);
}

static int check_send_line(const struct send_command *x, const char *first, struct err *e)
{
	if (!x->to.url)
		return err_set(e, ERR_USAGE, "--to URL is missing");
	return first ? 0 : err_set(e, ERR_USAGE, "no FILE is given");
}

// --- the records ---

static void note_sent(struct send_command *x, const char *path, const char *id, const char *result,
	const struct err *why)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_str(one, "file", path);
	if (id[0])
		jsondoc_put_str(one, "id", id);
	jsondoc_put_str(one, "result", result);
	jsondoc_put_str(one, "reason", why ? why->msg : "");
	jsondoc_add(x->sent, one);
	if (why && x->first.kind == ERR_NONE)
		x->first = *why;
	else if (why)
		log_error("%s", why->msg);
	if (why || x->settings.is_json || x->settings.is_quiet)
		return;
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, SIZE_MAX / 2);
	escape_terminal_line(&line, "%s: %s as %s", path, result, id);
	fputs(line.data, stdout);
}

// The arguments of keep_sent_record.
struct sent_file {
	struct send_command *command;
	const char *path;
};

static int keep_sent_record(void *ctx, struct evidence *record, struct err *e UNUSED)
{
	const struct sent_file *f = ctx;
	struct send_command *x = f->command;
	GROW(x->record, x->records, x->room);
	x->record[x->records++] = (struct sent_record){*record, f->path};
	*record = (struct evidence){0};
	return 0;
}

static void read_sent_file(struct send_command *x, const char *path)
{
	CLEANUP(buf_release) struct buf file;
	struct sent_file sent = {x, path};
	struct err why = ERR_INIT;
	buf_init(&file, LIMIT_EVIDENCE_LIST);
	if (fs_read_file(path, &file, &why) == 0) {
		if (evidence_read_each(buf_view(&file), keep_sent_record, &sent, &why) == 0)
			return;
		err_prefix(&why, "%s: ", path);
	}
	if (why.kind != ERR_USAGE)
		why.kind = ERR_INVALID;
	note_sent(x, path, "", "failed", &why);
}

// False: an error that each further record would have.
static bool send_record(struct send_command *x, const struct sent_record *r)
{
	CLEANUP(buf_release) struct buf text;
	char id[SHA256_HEX + 1] = "";
	struct err why = ERR_INIT;
	buf_init(&text, LIMIT_EVIDENCE);
	evidence_write(&r->record, &text);
	int result = text.failed ? err_set(&why, ERR_INVALID, "%s: the record has more than %d bytes", r->path,
					   LIMIT_EVIDENCE)
				 : record_sender_send(&x->to, buf_view(&text), id, &why);
	note_sent(x, r->path, id, result < 0 ? "failed" : record_sender_result[result], result < 0 ? &why : NULL);
	return result >= 0 || why.kind == ERR_INVALID;
}

static int by_send_order(const void *a, const void *b)
{
	return evidence_compare(&((const struct sent_record *)a)->record, &((const struct sent_record *)b)->record);
}

// What comes later counts, so the newest record is sent last, whatever the names of the files are.
static void send_files(struct send_command *x, char **path, size_t count)
{
	for (size_t i = 0; i < count; i++)
		read_sent_file(x, path[i]);
	if (x->records)
		qsort(x->record, x->records, sizeof(*x->record), by_send_order);
	for (size_t i = 0; i < x->records && send_record(x, &x->record[i]); i++)
		;
}

static int print_sent(const struct send_command *x, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	buf_init(&text, SIZE_MAX / 2);
	jsondoc_put(doc, "files", x->sent);
	jsondoc_write(doc, 2, &text);
	if (x->settings.is_json)
		fputs(text.data, stdout);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "standard output") : 0;
}

static void send_command_release(struct send_command *x)
{
	for (size_t i = 0; i < x->records; i++)
		evidence_release(&x->record[i].record);
	free(x->record);
	record_sender_release(&x->to);
}

static int run_send(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(send_command_release) struct send_command x = {0};
	record_sender_init(&x.to);
	int first = cli_config_options(&x.settings, self, argc, argv, take_send_option, &x, e);
	if (first < 0 || check_send_line(&x, argv[first], e) < 0 || record_sender_open(&x.to, e) < 0)
		return err_exit_code(e->kind);
	x.sent = jsondoc_array();
	send_files(&x, argv + first, (size_t)(argc - first));
	if (print_sent(&x, e) == 0)
		*e = x.first;
	return err_exit_code(e->kind);
}

const struct command command_evidence_send = {
	.name = "evidence send",
	.arguments = "FILE... --to=URL",
	.help = "send records of test runs to a server",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TOKEN_FILE),
	.run = run_send,
};
