// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/os/fs.h"
#include "lib/state/config/config-type.h"
#include "uploader/evidence-sender.h"

enum { RETRIES = 5, CONNECT_SECONDS = 20, TIMEOUT_SECONDS = 300, TOKEN_MOST = 512 };

struct send_command {
	struct cli_config settings;
	const char *url, *ca_file, *token_file;
	uint64_t retries, timeout;
	struct buf token; // of token_file
	struct evidence_sender *sender;
	struct jsondoc *sent; // an array, for --json
	struct err first;     // the first failure
};

static const struct option_row options[] = {
	{"to", '\0', "URL", "the base URL of the server: https://HOST/", NO_KEY},
	{"token-file", '\0', "FILE", "the token; the variable WHEELCACHE_TOKEN, or netrc", NO_KEY},
};

static int take_send_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct send_command *x = ctx;
	const struct command_text texts[] = {{"to", &x->url}, {"ca-file", &x->ca_file}, {"token-file", &x->token_file}};
	const struct cli_config_number numbers[] = {
		{"retries", &config_type_integer, &x->retries}, {"timeout", &config_type_seconds, &x->timeout}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static int check_send_line(const struct send_command *x, const char *first, struct err *e)
{
	if (!x->url)
		return err_set(e, ERR_USAGE, "--to URL is missing");
	if (!first)
		return err_set(e, ERR_USAGE, "no FILE is given");
	return x->timeout ? 0 : err_set(e, ERR_USAGE, "--timeout is not 1 or more");
}

// --- the server ---

static const char *get_set_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

// The first line of the file.
static int read_token_file(struct send_command *x, struct err *e)
{
	if (!x->token_file)
		return 0;
	if (fs_read_file(x->token_file, &x->token, e) < 0)
		return -1;
	x->token.len = strcspn(x->token.len ? x->token.data : "", "\r\n");
	if (x->token.len)
		x->token.data[x->token.len] = '\0';
	return x->token.len ? 0 : err_set(e, ERR_USAGE, "%s: it has no token", x->token_file);
}

static int open_sender(struct send_command *x, struct err *e)
{
	if (read_token_file(x, e) < 0)
		return -1;
	const struct fetch_options fetch = {
		.ca_file = x->ca_file,
		.user = "__token__",
		.password = x->token_file ? x->token.data : get_set_variable("WHEELCACHE_TOKEN"),
		.netrc = get_set_variable("NETRC"),
		.connect_seconds = CONNECT_SECONDS,
		.stall_seconds = (unsigned)x->timeout,
	};
	return evidence_sender_new(x->url, &fetch, (unsigned)x->retries, &x->sender, e);
}

// --- the records ---

static int read_record(const char *path, struct buf *text, char id[SHA256_HEX + 1], struct err *e)
{
	CLEANUP(evidence_release) struct evidence r = {0};
	CLEANUP(buf_release) struct buf file;
	uint8_t sha256[SHA256_SIZE];
	buf_init(&file, LIMIT_EVIDENCE);
	if (fs_read_file(path, &file, e) < 0)
		return -1;
	if (evidence_read(buf_view(&file), &r, e) < 0)
		return err_prefix(e, "%s: ", path);
	evidence_write(&r, text);
	if (text->failed)
		return err_set(e, ERR_LIMIT, "%s: the record has more than %d bytes", path, LIMIT_EVIDENCE);
	digest_sha256(buf_view(text), sha256);
	hex_encode(sha256, SHA256_SIZE, id);
	id[SHA256_HEX] = '\0';
	return 0;
}

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
	if (!why && !x->settings.is_json && !x->settings.is_quiet)
		printf("%s: %s as %s\n", path, result, id);
}

// False: an error that each further record would have.
static bool send_file(struct send_command *x, const char *path)
{
	static const char *const result_name[] = {"known", "recorded"};
	CLEANUP(buf_release) struct buf record;
	char id[SHA256_HEX + 1] = "";
	struct err why = ERR_INIT;
	buf_init(&record, LIMIT_EVIDENCE);
	int result = read_record(path, &record, id, &why);
	if (result == 0)
		result = evidence_sender_send(x->sender, buf_view(&record), &why);
	else if (why.kind != ERR_USAGE)
		why.kind = ERR_INVALID;
	note_sent(x, path, id, result < 0 ? "failed" : result_name[result], result < 0 ? &why : NULL);
	return result >= 0 || why.kind == ERR_INVALID;
}

// A file, and what decides when it is sent. One that cannot be read is sent first, and says so then.
struct send_order {
	struct evidence record; // numbers alone
	const char *path;
};

static struct send_order read_send_order(const char *path)
{
	struct err ignored = ERR_INIT;
	CLEANUP(evidence_release) struct evidence r = {0};
	CLEANUP(buf_release) struct buf file;
	buf_init(&file, LIMIT_EVIDENCE);
	if (fs_read_regular(path, &file, &ignored) < 0 || evidence_read(buf_view(&file), &r, &ignored) < 0)
		return (struct send_order){{.made = INT64_MIN}, path};
	return (struct send_order){{.made = r.made, .passed = r.passed, .failed = r.failed, .skipped = r.skipped}, path};
}

static int by_send_order(const void *a, const void *b)
{
	return evidence_compare(&((const struct send_order *)a)->record, &((const struct send_order *)b)->record);
}

// What comes later counts, so the newest record is sent last, whatever the names of the files are.
static void send_files(struct send_command *x, char **path, size_t count)
{
	CLEANUP(mem_free) struct send_order *file = xcalloc(count + 1, sizeof(*file));
	for (size_t i = 0; i < count; i++)
		file[i] = read_send_order(path[i]);
	qsort(file, count, sizeof(*file), by_send_order);
	for (size_t i = 0; i < count && send_file(x, file[i].path); i++)
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
	if (x->token.data)
		explicit_bzero(x->token.data, x->token.len);
	buf_release(&x->token);
	evidence_sender_free(x->sender);
}

static int run_send(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(send_command_release) struct send_command x = {.retries = RETRIES, .timeout = TIMEOUT_SECONDS};
	buf_init(&x.token, TOKEN_MOST);
	int first = cli_config_options(&x.settings, self, argc, argv, take_send_option, &x, e);
	if (first < 0 || check_send_line(&x, argv[first], e) < 0 || open_sender(&x, e) < 0)
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
	.shared = SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE),
	.run = run_send,
};
