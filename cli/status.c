// SPDX-License-Identifier: Apache-2.0
// The status of a project of the store (PEP 792), on all platforms.
#include <stdio.h>

#include "cli/common/command.h"
#include "cli/common/record-sender.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/state/publish/status-change.h"

struct status_command {
	struct session s;
	struct status_change change;
	struct record_sender server; // --server
};

static const char waits_for_release[] = "; the pages show it once its volume is released";

static int take_status_words(struct status_command *x, struct err *e)
{
	struct session *s = &x->s;
	struct status_change *change = &x->change;
	if (s->words < 2 || s->words > 3)
		return err_set(e, ERR_USAGE, "give PROJECT, a status (active, archived, deprecated or quarantined), and at most one STORE");
	if (!name_is_valid(str_from(s->word[0])))
		return err_set(e, ERR_USAGE, "\"%s\" is no name of a project", s->word[0]);
	if (status_change_name(s->word[1], &change->status, e) < 0)
		return -1;
	change->project = session_project(s, str_from(s->word[0]));
	change->reason = s->reason;
	change->who = session_account(s);
	session_take_store(s, s->word[2]);
	if (change->status != SIMPLEPAGE_ACTIVE && (!s->reason || !*s->reason))
		return err_set(e, ERR_USAGE, "--reason TEXT is missing: clients and the log of changes show it");
	return status_change_check(change, e);
}

static void tell_platform(const struct status_command *x, const char *platform, bool waits)
{
	CLEANUP(buf_release) struct buf name = buf_up_to(SIZE_MAX / 2);
	escape_terminal(&name, str_from(platform)); // a server's is from outside
	if (!x->s.is_quiet)
		printf("%s: %s is %s%s\n", name.data, x->change.project, simplepage_status_name[x->change.status],
			waits ? waits_for_release : "");
}

static int tell_done(void *ctx, const struct platform *p, struct err *e)
{
	struct status_command *x = ctx;
	if (session_release_volume(&x->s, p, "set the status of", x->change.project, e) < 0)
		return -1;
	tell_platform(x, p->name, store_is_split(p) && !p->release);
	return 0;
}

static int read_answer(const struct status_command *x, struct str body, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(body, LIMIT_CLIENT_VALUES, e);
	const struct jsondoc *list = doc ? jsondoc_get(doc, "platforms") : NULL;
	for (size_t i = 0; list && i < jsondoc_count(list); i++) {
		const struct jsondoc *one = jsondoc_at(list, i);
		const char *platform = one ? jsondoc_get_str(one, "platform") : NULL;
		if (platform)
			tell_platform(x, platform, jsondoc_is_true(one, "waits_for_release"));
	}
	return list && jsondoc_count(list) ? 0 : err_set(e, ERR_NET, "%s: it is no answer to a status", x->server.url);
}

static int ask_server(struct status_command *x, struct err *e)
{
	const struct status_change *change = &x->change;
	if (x->s.word[2])
		return err_set(e, ERR_USAGE, "--server: the server has a store of its own, so no STORE is given");
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_YANK);
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct upload_client_answer answer;
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_new("project:s status:s reason:k", change->project, simplepage_status_name[change->status],
		change->reason);
	jsondoc_write(doc, 0, &text);
	fetch_answer_init(&a, LIMIT_YANK_ANSWER);
	if (record_sender_exchange(&x->server, &x->s, "-/status/", buf_view(&text), &a, &answer, e) < 0)
		return -1;
	return answer.status == 200 ? read_answer(x, buf_view(&a.body), e) : record_sender_refused(&answer, ERR_NOT_FOUND, e);
}

static int run_status(void *self, struct err *e)
{
	struct status_command *x = self;
	struct session *s = &x->s;
	if (take_status_words(x, e) < 0)
		return -1;
	if (x->server.url)
		return ask_server(x, e);
	if (session_open(s, SESSION_LOCATE | SESSION_STORE | SESSION_CHANGE | SESSION_AUDIT | SESSION_REGISTER, e) < 0)
		return -1;
	return status_change_make(&x->change, &s->store, s->catalog, s->audit, tell_done, x, e);
}

static void release_status(void *self)
{
	record_sender_release(&((struct status_command *)self)->server);
}

static const struct option_row options[] = {
	{"server", '\0', "URL", "let this server set it: its base URL, https://HOST/", TEXT(status_command, server.url)},
	{"reason", 'r', "TEXT", "the reason, which pages show", TEXT(session, reason)},
};

const struct command command_status = {
	.name = "status",
	.arguments = "PROJECT STATUS [STORE]",
	.help = "say that a project is archived, deprecated, quarantined or active",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.size = sizeof(struct status_command),
	.run = run_status,
	.release = release_status,
};
