// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "cli/common/file-word.h"
#include "cli/common/promotion-common.h"
#include "cli/common/record-sender.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/hook.h"
#include "promoter/promote.h"

struct promote_command {
	struct session s;
	const char *to, *from, *override;
	bool all_or_nothing, newest;
	struct session_list evidence;
	struct evidence *record;
	size_t records, room;
	struct hook_queue *hooks;
	struct record_sender server;
};

// --- evidence that is given ---

static int take_given_record(void *ctx, struct evidence *record, struct err *e UNUSED)
{
	struct promote_command *x = ctx;
	GROW(x->record, x->records, x->room);
	x->record[x->records++] = *record;
	*record = (struct evidence){0};
	return 0;
}

static int read_given_file(struct promote_command *x, const char *path, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EVIDENCE_LIST);
	if (fs_read_regular(path, &text, e) < 0)
		return -1;
	if (evidence_read_each(buf_view(&text), take_given_record, x, e) < 0)
		return err_prefix(e, "%s: ", path);
	return 0;
}

// --- by a server ---

static int put_records(struct jsondoc *doc, const struct promote_request *r, struct err *e)
{
	struct jsondoc *list = jsondoc_array();
	jsondoc_put(doc, "evidence", list); // may be empty, and needs no right then
	for (size_t i = 0; i < r->evidences; i++) {
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EVIDENCE);
		evidence_write(&r->evidence[i], &text);
		struct jsondoc *one = jsondoc_read(buf_view(&text), e);
		if (!one)
			return -1;
		jsondoc_add(list, one);
	}
	return 0;
}

static int write_promotion(const struct promote_request *r, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->selects; i++)
		jsondoc_add_str(list, r->select[i]);
	if (r->selects)
		jsondoc_put(doc, "select", list);
	else
		jsondoc_cleanup(&list);
	if (put_records(doc, r, e) < 0)
		return -1;
	const char *const texts[][2] = {{"from", r->from}, {"reason", r->reason}, {"override", r->override}};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i][1] && *texts[i][1])
			jsondoc_put_str(doc, texts[i][0], texts[i][1]);
	jsondoc_put_bool(doc, "all_or_nothing", r->all_or_nothing);
	jsondoc_put_bool(doc, "newest", r->newest);
	jsondoc_put_bool(doc, "dry_run", r->dry_run);
	jsondoc_write(doc, 0, out);
	return out->failed ? err_set(e, ERR_LIMIT, "the promotion has more than %d bytes", LIMIT_EVIDENCE) : 0;
}

// 409: something was refused, as the answer says, or another conflict.
static int read_promotion(const struct record_sender *s, const struct fetch_answer *a,
	const struct upload_client_answer *answer, struct promote_answer *out, struct err *e)
{
	struct err why = ERR_INIT;
	if (answer->status != 200 && answer->status != 409)
		return record_sender_refused(answer, ERR_USAGE, e); // 404: there is no such view
	if (promote_answer_read(buf_view(&a->body), out, &why) < 0)
		return answer->status == 409 ? err_set(e, ERR_NET, "%s", answer->why.msg)
					     : err_set(e, ERR_NET, "%s: %s", s->url, why.msg);
	return 0;
}

// Asks the server of *s to do what r says, of which the sender, `may` and `hooks` are not read. Errors have the kinds,
// and so the exit codes, of promote_run(): ERR_USAGE: the server finds the request wrong; ERR_DENIED: the token;
// ERR_NET: no answer, or none of a promotion. The caller releases *out, also on an error.
static int promote_remote(struct record_sender *s, const struct session *x, const struct promote_request *r,
	struct promote_answer *out, struct err *e)
{
	CLEANUP(buf_release) struct buf document = buf_up_to(LIMIT_EVIDENCE);
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct upload_client_answer answer;
	*out = (struct promote_answer){0};
	fetch_answer_init(&a, LIMIT_PROMOTE_ANSWER);
	if (!platform_name_is_valid(str_from(r->to)))
		return err_set(e, ERR_USAGE, "--to: \"%s\" is no name of a view", r->to);
	CLEANUP(mem_free) char *route = xasprintf("-/promote/%s", r->to);
	if (write_promotion(r, &document, e) < 0 ||
		record_sender_exchange(s, x, route, buf_view(&document), &a, &answer, e) < 0)
		return -1;
	return read_promotion(s, &a, &answer, out, e);
}

// --- the words of the command line ---

static int read_file_word(const struct session *s, const char *word, struct file_word *out, struct err *e)
{
	if (file_word_read(word, &s->store, out, e) < 0)
		err_advise(e,
			"a path is that of a file in the store, such as PLATFORM/FILE; the name alone means "
			"the file on each platform");
	else if (file_word_check(out, s->catalog, e) == 0)
		return 0;
	// A server, which does not look at the disk, calls both a word that means no file.
	if (e->kind == ERR_NOT_FOUND || e->kind == ERR_CONFLICT)
		e->kind = ERR_USAGE;
	return -1;
}

// The words for struct promote_request: of a file, its path below the store. In their order; the caller releases *out.
// ERR_USAGE: a path outside of all platforms, in no folder, or of another file than the one that the catalog has of
// this name.
static int read_selection(const struct session *s, struct strset *out, struct err *e)
{
	for (size_t i = 0; i < s->words; i++) {
		CLEANUP(file_word_release) struct file_word file = {0};
		CLEANUP(mem_free) char *below = NULL;
		if (file_word_fits(s->word[i]) && read_file_word(s, s->word[i], &file, e) < 0)
			return -1;
		if (file.platform)
			below = xasprintf("%s/%s", file.platform->name, file.name);
		strset_add(out, below ? below : s->word[i]);
	}
	return 0;
}

static unsigned needs_of_change(const struct session *s)
{
	return SESSION_VIEWS | (s->is_dry_run ? 0 : SESSION_MAKE | SESSION_AUDIT);
}

// --- promote ---

static int promote_here(struct promote_command *x, const struct promote_request *r, struct promote_answer *out,
	struct err *e)
{
	CLEANUP(strset_release) struct strset select = {0};
	if (promotion_common_check_view(&x->s, r->to, e) < 0 || read_selection(&x->s, &select, e) < 0)
		return -1;
	struct promote_request here = *r;
	here.select = (const char *const *)select.item;
	here.selects = select.count;
	here.by = session_account(&x->s);
	return promote_run(&x->s.site, x->s.catalog, x->s.audit, &here, clock_wall_seconds(), out, e);
}

static void begin_promote(void *self)
{
	struct promote_command *x = self;
	x->hooks = hook_queue_new("[view]");
}

static int run_promote(void *self, struct err *e)
{
	struct promote_command *x = self;
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	if (!x->to)
		return err_set(e, ERR_USAGE, "--to VIEW is missing");
	if (x->override && !str_trim(str_from(x->override)).len)
		return err_set(e, ERR_USAGE, "--override needs a reason");
	// What cannot be read is no evidence, so nothing is promoted.
	for (size_t i = 0; i < x->evidence.count; i++) {
		if (read_given_file(x, x->evidence.item[i], e) == 0)
			continue;
		e->kind = ERR_USAGE;
		return -1;
	}
	if (!x->server.url && session_open(&x->s, needs_of_change(&x->s), e) < 0)
		return -1;
	const struct promote_request r = {.to = x->to,
		.from = x->from,
		.select = (const char *const *)x->s.word,
		.selects = x->s.words,
		.evidence = x->record,
		.evidences = x->records,
		.evidence_views = "*",
		.reason = x->s.reason ? x->s.reason : "",
		.override = x->override,
		.address = "",
		.hooks = x->hooks,
		.all_or_nothing = x->all_or_nothing,
		.newest = x->newest,
		.dry_run = x->s.is_dry_run};
	int result =
		x->server.url ? promote_remote(&x->server, &x->s, &r, &answer, e) : promote_here(x, &r, &answer, e);
	if (result < 0)
		return -1;
	promotion_common_print(&x->s, &answer, x->to);
	return answer.count[PROMOTE_REFUSED] || answer.count[PROMOTE_HELD] ? 1 : 0;
}

static void release_promote(void *self)
{
	struct promote_command *x = self;
	for (size_t i = 0; i < x->records; i++)
		evidence_release(&x->record[i]);
	free(x->record);
	record_sender_release(&x->server);
	hook_queue_free(x->hooks, HOOK_QUEUE_SECONDS);
}

static const struct option_row options[] = {
	{"to", '\0', "VIEW", "promote into this view", TEXT(promote_command, to)},
	{"from", '\0', "VIEW", "only if files come into the view from this one", TEXT(promote_command, from)},
	{"evidence", 'e', "FILE...", "records of test runs; they count with those that were sent before",
		LIST(promote_command, evidence)},
	{"override", '\0', "REASON", "promote without the evidence that is required; pages show it",
		TEXT(promote_command, override)},
	{"all-or-nothing", '\0', NULL, "promote nothing if a file is refused", FLAG(promote_command, all_or_nothing)},
	{"server", '\0', "URL", "let this server promote: its base URL, https://HOST/",
		TEXT(promote_command, server.url)},
	{"newest", '\0', NULL, "only the newest version of each project for each Python",
		FLAG(promote_command, newest)},
};

const struct command command_promote = {
	.name = "promote",
	.arguments = "[PROJECT[==VERSION] | FILE]...",
	.help = "promote tested files into a view",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(REASON) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET) |
		  SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(TOKEN_FILE),
	.size = sizeof(struct promote_command),
	.begin = begin_promote,
	.run = run_promote,
	.release = release_promote,
};

// --- demote ---

struct demote_command {
	struct session s;
	const char *from;
};

static int run_demote(void *self, struct err *e)
{
	struct demote_command *x = self;
	CLEANUP(promote_answer_release) struct promote_answer answer = {0};
	CLEANUP(strset_release) struct strset select = {0};
	if (!x->from)
		return err_set(e, ERR_USAGE, "--from VIEW is missing");
	if (session_open(&x->s, needs_of_change(&x->s), e) < 0 || promotion_common_check_view(&x->s, x->from, e) < 0 ||
		read_selection(&x->s, &select, e) < 0)
		return -1;
	const struct promote_request r = {.to = x->from,
		.select = (const char *const *)select.item,
		.selects = select.count,
		.reason = x->s.reason ? x->s.reason : "",
		.by = session_account(&x->s),
		.address = "",
		.dry_run = x->s.is_dry_run};
	if (demote_run(&x->s.site, x->s.catalog, x->s.audit, &r, &answer, e) < 0)
		return -1;
	promotion_common_print(&x->s, &answer, x->from);
	return 0;
}

static const struct option_row demote_options[] = {
	{"from", '\0', "VIEW", "take the files out of this view", TEXT(demote_command, from)},
};

const struct command command_demote = {
	.name = "demote",
	.arguments = "PROJECT[==VERSION] | FILE...",
	.help = "take files out of a view",
	OPTIONS(demote_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(REASON) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.size = sizeof(struct demote_command),
	.run = run_demote,
};
