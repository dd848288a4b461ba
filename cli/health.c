// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/net/fetch.h"

enum { TIMEOUT_SECONDS = 5 };

struct health_command {
	struct session s;
	bool is_ready;
};

static const struct option_row options[] = {
	{"ready", '\0', NULL, "fail until a scan has looked at every platform", FLAG(health_command, is_ready)},
};

static void begin_health(void *self)
{
	((struct health_command *)self)->s.timeout = TIMEOUT_SECONDS;
}

static int run_health(void *self, struct err *e)
{
	const struct health_command *x = self;
	if (x->s.words > 1)
		return err_set(e, ERR_USAGE, "one URL at most, not also %s", x->s.word[1]);
	const char *base = x->s.words ? x->s.word[0] : "http://127.0.0.1:8080/";
	size_t length = strlen(base);
	CLEANUP(mem_free)
	char *url = xasprintf("%s%s%s", base, length && base[length - 1] == '/' ? "" : "/",
		x->is_ready ? "-/ready" : "-/health");
	const struct fetch_options with = {
		.ca_file = fetch_ca_file(x->s.ca_file),
		.connect_seconds = (unsigned)x->s.timeout,
		.stall_seconds = (unsigned)x->s.timeout,
		.is_direct = true,
	};
	CLEANUP(fetch_answer_release) struct fetch_answer answer;
	fetch_answer_init(&answer, LIMIT_HEALTH);
	struct fetch *f = fetch_new(&with);
	int result = fetch_get(f, url, NULL, &answer, e);
	fetch_free(f);
	if (result < 0)
		return -1;
	if (answer.status != 200)
		return err_set(e, ERR_NET, "%s: status %u%s", url, answer.status,
			answer.status == 503 && x->is_ready ? ": the first scan has not ended" : "");
	if (!x->s.is_quiet)
		fwrite(answer.body.data, 1, answer.body.len, stdout);
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "cannot write the answer");
}

const struct command command_health = {
	.name = "health",
	.arguments = "[URL]",
	.help = "ask a server whether it answers: for probes of containers and monitors",
	OPTIONS(options),
	.shared = SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(QUIET),
	.size = sizeof(struct health_command),
	.begin = begin_health,
	.run = run_health,
};
