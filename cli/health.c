// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/net/ca-file.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config-type.h"

enum { TIMEOUT_SECONDS = 5 };

struct health_command {
	struct cli_config settings;
	const char *ca_file;
	uint64_t timeout;
	bool is_ready;
};

static const struct option_row options[] = {
	{"ready", '\0', NULL, "fail until a scan has looked at every platform", NO_KEY},
};

static int take_health_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct health_command *x = ctx;
	const struct command_text texts[] = {{"ca-file", &x->ca_file}};
	const struct command_flag flags[] = {{"ready", &x->is_ready}};
	const struct cli_config_number numbers[] = {{"timeout", &config_type_seconds, &x->timeout}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value) ||
		command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static int print_answer(const struct health_command *x, const char *url, const struct fetch_answer *answer,
	struct err *e)
{
	if (answer->status != 200)
		return err_set(e, ERR_NET, "%s: status %u%s", url, answer->status,
			answer->status == 503 && x->is_ready ? ": the first scan has not ended" : "");
	if (!x->settings.is_quiet)
		fwrite(answer->body.data, 1, answer->body.len, stdout);
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "cannot write the answer");
}

static int ask_server(const struct health_command *x, const char *base, struct err *e)
{
	size_t length = strlen(base);
	CLEANUP(mem_free)
	char *url = xasprintf("%s%s%s", base, length && base[length - 1] == '/' ? "" : "/",
		x->is_ready ? "-/ready" : "-/health");
	const struct fetch_options with = {
		.ca_file = ca_file_choose(x->ca_file),
		.connect_seconds = (unsigned)x->timeout,
		.stall_seconds = (unsigned)x->timeout,
		.is_direct = true,
	};
	CLEANUP(fetch_answer_release) struct fetch_answer answer;
	fetch_answer_init(&answer, LIMIT_HEALTH);
	struct fetch *f = fetch_new(&with);
	int result = fetch_get(f, url, NULL, &answer, e);
	fetch_free(f);
	return result < 0 ? -1 : print_answer(x, url, &answer, e);
}

static int check_url_count(int argc, char **argv, int first, struct err *e)
{
	if (first < 0)
		return -1;
	return argc - first > 1 ? err_set(e, ERR_USAGE, "one URL at most, not also %s", argv[first + 1]) : 0;
}

static int run_health(const struct command *self, int argc, char **argv, struct err *e)
{
	struct health_command x = {.timeout = TIMEOUT_SECONDS};
	int first = cli_config_options(&x.settings, self, argc, argv, take_health_option, &x, e);
	if (check_url_count(argc, argv, first, e) < 0)
		return err_exit_code(e->kind);
	const char *url = argc > first ? argv[first] : "http://127.0.0.1:8080/";
	return ask_server(&x, url, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_health = {
	.name = "health",
	.arguments = "[URL]",
	.help = "ask a server whether it answers: for probes of containers and monitors",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(QUIET),
	.run = run_health,
};
