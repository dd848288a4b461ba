// SPDX-License-Identifier: Apache-2.0
// What is posted about files by a token with a right of its own: evidence, promotions, yanks and statuses of projects.
#include "server/api/handlers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/mark.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/publish/status-change.h"
#include "lib/state/publish/yank-files.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "promoter/view-change.h"
#include "server/api/json-post.h"
#include "server/api/promote-document.h"
#include "server/core/auth.h"
#include "server/core/rate-limit.h"
#include "server/http/metrics.h"

// All that a token sends counts together, because the audit log has lines of it. The milliseconds until it may send
// more; 0: it may send this.
static int64_t take_turns(struct server_context *s, const struct token_grant *grant, size_t turns)
{
	struct rate_limit *limit = s->evidence_limit;
	return limit ? rate_limit_take(limit, grant->token[0].id, (unsigned)turns, clock_ms()) : 0;
}

// --- evidence ---

struct sent_evidence {
	struct json_post post; // first
	struct evidence record;
	struct buf views; // globs
	struct catalog_evidence note;
};

// Sorted by name, each once.
static void collect_tested_projects(const struct evidence *r, struct strset *out)
{
	for (size_t i = 0; i < r->wheels; i++) {
		CLEANUP(filename_release) struct filename name = {0};
		struct err ignored = ERR_INIT;
		if (filename_parse(str_from(r->wheel[i].filename), &name, &ignored) == 0)
			strset_add(out, name.project);
	}
	strset_sort(out);
}

static int add_stored_project(void *ctx, const char *project, struct err *e UNUSED)
{
	strset_add(ctx, project);
	return 0;
}

// Evidence counts for the bytes. So a record is also about the projects of which the store has these bytes, whatever
// the record calls them.
static int collect_stored_projects(struct server_context *s, const struct evidence *r, struct strset *out,
	struct err *e)
{
	struct catalog_lease lease;
	int result = 0;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	for (size_t i = 0; i < r->wheels && result == 0; i++)
		result = catalog_evidence_projects(lease.catalog, r->wheel[i].sha256, add_stored_project, out, e);
	catalog_pool_give(s->catalog_pool, &lease);
	strset_sort(out);
	return result;
}

// What is known already takes no room. A record is kept with its views.
static int take_quota(struct server_context *s, const struct token_grant *grant, const struct evidence *r, size_t bytes,
	const struct buf *views, int64_t *wait_ms, struct err *e)
{
	struct catalog_lease lease;
	uint64_t quota = server_context_site(s)->config.evidence_quota;
	if (!s->evidence_quota)
		return 0;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int known = evidence_file_is_known(lease.catalog, r, views->data, e);
	catalog_pool_give(s->catalog_pool, &lease);
	if (known)
		return known < 0 ? -1 : 0;
	*wait_ms = 1000 * evidence_quota_take(s->evidence_quota, grant->token[0].id, bytes + views->len, quota,
				  clock_wall_seconds());
	if (!*wait_ms)
		return 0;
	return err_set(e, ERR_BUSY, "the token \"%s\" has sent too much evidence today ([evidence] quota)",
		token_name(&grant->token[0]));
}

// Whether the token may send this record: appends the views for which it counts. ERR_DENIED: it is for other platforms
// or projects; ERR_INVALID: it is an override, which only a promotion makes; ERR_BUSY: the token sent too much in the
// last hour or today, and *wait_ms becomes when it may send more. A large record counts as several.
static int check_evidence(struct server_context *s, const struct token_grant *grant, const struct evidence *r,
	size_t bytes, struct buf *views, int64_t *wait_ms, struct err *e)
{
	CLEANUP(strset_release) struct strset projects = {0}, all = {0};
	if (r->overrides)
		return err_set(e, ERR_INVALID, "evidence: an override is made by a promotion only");
	collect_tested_projects(r, &projects);
	collect_tested_projects(r, &all);
	if (collect_stored_projects(s, r, &all, e) < 0)
		return -1;
	if (!token_grant_views(grant, r->platform, (const char *const *)all.item, all.count, views)) {
		// Names only projects that the record names.
		size_t i = 0;
		while (i < projects.count && token_grant_has(grant, r->platform, projects.item[i]))
			i++;
		if (i == projects.count)
			return err_set(e, ERR_DENIED,
				"the token \"%s\" may not send evidence about all of these wheels on %s",
				token_name(&grant->token[0]), r->platform);
		return err_set(e, ERR_DENIED, "the token \"%s\" may not send evidence about %s on %s",
			token_name(&grant->token[0]), projects.item[i], r->platform);
	}
	*wait_ms = take_turns(s, grant, bytes / LIMIT_EVIDENCE_UNIT + 1);
	if (*wait_ms)
		return err_set(e, ERR_BUSY, "the token \"%s\" has sent too much evidence in the last hour",
			token_name(&grant->token[0]));
	return take_quota(s, grant, r, bytes, views, wait_ms, e);
}

// Runs on-change of the views in which this new record changes something.
static void tell_of_evidence(struct server_context *s, struct catalog *c, const struct evidence *r,
	const struct catalog_evidence *note)
{
	struct err e = ERR_INIT;
	const struct config *config = &server_context_site(s)->config;
	if (s->view_hooks && view_change_tell(config, c, r, note, s->view_hooks, &e) < 0)
		log_warn("[view] on-change: %s", e.msg);
}

// So that pages say at once that it is about equal contents. What takes longer is left to the next scan.
static void learn_contents(struct server_context *s, struct catalog *c)
{
	struct err e = ERR_INIT;
	if (wanted_contents_take(&server_context_site(s)->store, c, LIMIT_CONTENTS_MS, NULL, &e) < 0)
		log_warn("evidence: %s", e.msg);
}

static int keep_evidence(struct sent_evidence *x, struct err *e)
{
	struct server_context *s = x->post.sender.context;
	const struct config *c = &server_context_site(s)->config;
	CLEANUP(mem_free) char *folder = NULL;
	struct catalog_lease lease;
	if (views_folder(c, &folder, e) < 0 || catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	x->note = (struct catalog_evidence){
		.by = x->post.sender.token_name, .address = x->post.sender.peer, .views = x->views.data};
	int added = evidence_file_add(folder, lease.catalog, &x->record, &x->note, e);
	if (added > 0) {
		tell_of_evidence(s, lease.catalog, &x->record, &x->note);
		learn_contents(s, lease.catalog);
	}
	catalog_pool_give(s->catalog_pool, &lease);
	return added;
}

static int read_evidence(struct sent_evidence *x, struct err *e)
{
	struct str text = buf_view(&x->post.body);
	buf_init(&x->views, LIMIT_TOKENS);
	if (evidence_read(text, &x->record, e) < 0)
		return -1;
	return check_evidence(x->post.sender.context, &x->post.grant, &x->record, text.len, &x->views,
		&x->post.wait_ms, e);
}

static int run_evidence(struct json_post *p, struct reply **answer, struct err *e)
{
	struct sent_evidence *x = (struct sent_evidence *)p;
	int added = read_evidence(x, e) < 0 ? -1 : keep_evidence(x, e);
	if (added < 0)
		return -1;
	bool is_new = added;
	char id[SHA256_HEX + 1] = "";
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	hex_encode(x->note.id, SHA256_SIZE, id);
	const struct evidence *r = &x->record;
	CLEANUP(mem_free)
	char *words = xasprintf("%s, Python %s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64
				" skipped, about %s, for %s",
		r->kind, r->python, r->passed, r->failed, r->skipped, COUNTED(r->wheels, "wheel|wheels"),
		x->views.data);
	sender_audit(&x->post.sender, (struct audit_entry){.platform = r->platform,
						     .file = r->wheels == 1 ? r->wheel[0].filename : NULL,
						     .sha256 = id,
						     .result = is_new ? "done" : "same",
						     .reason = words});
	metrics_add(x->post.sender.context->metrics, METRIC_EVIDENCE_RECEIVED, is_new);
	CLEANUP(mem_free)
	char *message = xasprintf("%s: %s", id, is_new ? "recorded" : "known already: nothing changed");
	jsondoc_set(doc, "message:s id:s result:s views:s", message, id, is_new ? "recorded" : "known", x->views.data);
	*answer = json_post_answer(&x->post, is_new ? 201 : 200, message, doc);
	return 0;
}

static struct reply *fail_evidence(struct json_post *p, const struct err *why)
{
	if (why->kind != ERR_BUSY)
		metrics_add(p->sender.context->metrics, METRIC_EVIDENCE_REFUSED, 1);
	return json_post_failed(p, why);
}

static void release_evidence(struct json_post *p)
{
	struct sent_evidence *x = (struct sent_evidence *)p;
	evidence_release(&x->record);
	buf_release(&x->views);
}

struct body_handler *evidence_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	static const struct json_post_kind kind = {
		.size = sizeof(struct sent_evidence),
		.action = "evidence",
		.right = TOKEN_EVIDENCE,
		.what = "evidence:",
		.one = "evidence",
		.many = "documents",
		.room_for = "it",
		.bytes = LIMIT_EVIDENCE,
		.values = LIMIT_EVIDENCE_VALUES,
		.run = run_evidence,
		.fail = fail_evidence,
		.release = release_evidence,
	};
	return json_post_receive(&kind, s, match, refusal);
}

// --- a promotion ---

struct sent_promotion {
	struct json_post post; // first
	struct promote_document document;
	struct token_grant override, evidence, read;
	struct buf evidence_views;
	struct promote_answer answer;
};

// The token has the right promote, that to override where it overrides, and may know of the file.
static bool may_promote(void *ctx, const char *platform, const char *project)
{
	const struct sent_promotion *x = ctx;
	const struct site *site = server_context_site(x->post.sender.context);
	const struct platform *p = site_platform(site, str_from(platform));
	return token_grant_has(&x->post.grant, platform, project) &&
	       (!x->document.request.override || token_grant_has(&x->override, platform, project)) && p &&
	       (!p->is_private || token_grant_has(&x->read, platform, project));
}

// A promotion names the view's platforms. So the token may read something of each private one.
static bool sees_view(const struct view *v, const struct token_grant *read)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->platform[i]->is_private && !token_grant_has(read, v->platform[i]->name, NULL))
			return false;
	return true;
}

// NULL: the client may know of the view of the path, and it has a membership.
static struct reply *check_promoted_view(struct json_post *p, const struct route_match *match)
{
	struct server_context *s = p->sender.context;
	CLEANUP(token_grant_release) struct token_grant read = {0};
	const struct view *v = match->view.len ? site_view(match->site, match->view) : NULL;
	auth_read_grant(s, match->request, &read);
	if (v && !sees_view(v, &read))
		v = NULL;
	if (!v) {
		struct reply *refused = auth_unknown(s, match->request, TOKEN_READ, match->view, NULL);
		return refused ? refused : server_context_not_found_in(s, match->site->has_private, "no such view");
	}
	if (v->membership)
		return NULL;
	return reply_text(400, "400 Bad Request: %s has no \"from\": it shows all files of its platforms",
		v->name ? v->name : "the default view");
}

// The further rights that this document needs. NULL: the token has them.
static struct reply *check_further_rights(struct sent_promotion *x)
{
	CLEANUP(mem_free) char *who = NULL, *same = NULL;
	struct server_context *s = x->post.sender.context;
	const struct promote_request *r = &x->document.request;
	const struct request sender = sender_request(&x->post.sender);
	struct reply *refusal = NULL;
	if (r->override)
		refusal = auth_grant(s, &sender, TOKEN_OVERRIDE, x->post.view, &x->override, &who);
	if (!refusal && r->evidences)
		refusal = auth_grant(s, &sender, TOKEN_EVIDENCE, NULL, &x->evidence, &same);
	auth_read_grant(s, &sender, &x->read);
	if (refusal)
		sender_audit(&x->post.sender, (struct audit_entry){.result = "refused",
						      .reason = "the token may not override, or send evidence"});
	return refusal;
}

static int promote_files(struct sent_promotion *x, struct err *e)
{
	struct server_context *s = x->post.sender.context;
	struct promote_request *r = &x->document.request;
	struct catalog_lease lease;
	r->to = x->post.view;
	r->by = x->post.sender.token_name;
	r->address = x->post.sender.peer;
	r->evidence_views = x->evidence_views.data;
	r->may = may_promote;
	r->may_ctx = x;
	r->hooks = s->view_hooks;
	r->cpu_ms = LIMIT_PROMOTE_CPU_MS;
	r->catalog_ms = LIMIT_PROMOTE_MS;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int result = promote_run(server_context_site(s), lease.catalog, x->post.sender.audit, r, clock_wall_seconds(),
		&x->answer, e);
	catalog_pool_give(s->catalog_pool, &lease);
	return result;
}

static int run_promotion(struct json_post *p, struct reply **answer, struct err *e)
{
	struct sent_promotion *x = (struct sent_promotion *)p;
	struct server_context *s = p->sender.context;
	if (promote_document_read(buf_view(&p->body), &x->document, e) < 0)
		return -1;
	*answer = check_further_rights(x);
	if (*answer)
		return 0;
	p->wait_ms = take_turns(s, &p->grant, promote_document_tries(0));
	if (p->wait_ms)
		return err_set(e, ERR_BUSY, "the token has promoted too much in the last hour");
	const struct promote_request *r = &x->document.request;
	buf_init(&x->evidence_views, LIMIT_TOKENS);
	for (size_t i = 0; i < r->evidences; i++) {
		CLEANUP(buf_release) struct buf views = buf_up_to(LIMIT_TOKENS);
		if (check_evidence(x->post.sender.context, &x->evidence, &r->evidence[i], x->document.bytes[i], &views,
			    &x->post.wait_ms, e) < 0)
			return -1;
		if (i && !str_eq(buf_view(&views), buf_view(&x->evidence_views)))
			return err_set(e, ERR_DENIED, "records differ in their views; send them first with "
						   "wheelcache evidence send");
		buf_clear(&x->evidence_views);
		buf_str(&x->evidence_views, buf_view(&views));
	}
	if (promote_files(x, e) < 0)
		return -1;
	if (!x->document.request.dry_run && x->answer.count[PROMOTE_REFUSED])
		take_turns(s, &p->grant, promote_document_tries(x->answer.count[PROMOTE_REFUSED]));
	struct metrics *m = x->post.sender.context->metrics;
	// As the exit status of the command: a promotion of which a part was refused is no success, for curl -f either.
	bool is_partial = x->answer.count[PROMOTE_REFUSED] || x->answer.count[PROMOTE_HELD];
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	if (!r->dry_run) {
		metrics_add(m, METRIC_PROMOTED_FILES, x->answer.count[PROMOTE_DONE]);
		metrics_add(m, METRIC_PROMOTION_REFUSED_FILES, x->answer.count[PROMOTE_REFUSED]);
	}
	size_t left_out = promote_answer_cut(&x->answer, LIMIT_PROMOTE_ROWS);
	promote_write_json(&x->answer, x->post.view, r->dry_run, &text);
	struct reply *reply = reply_json(is_partial ? 409 : 200, &text);
	if (left_out)
		reply_header(reply, "Wheelcache-Rows-Left-Out", "%zu", left_out);
	*answer = reply;
	return 0;
}

static void release_promotion(struct json_post *p)
{
	struct sent_promotion *x = (struct sent_promotion *)p;
	promote_document_release(&x->document);
	promote_answer_release(&x->answer);
	token_grant_release(&x->override);
	token_grant_release(&x->evidence);
	token_grant_release(&x->read);
	buf_release(&x->evidence_views);
}

struct body_handler *promote_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	static const struct json_post_kind kind = {
		.size = sizeof(struct sent_promotion),
		.action = "promote",
		.right = TOKEN_PROMOTE,
		.is_of_view = true,
		.takes_long = true,
		.what = "promotion:",
		.one = "promotion",
		.many = "documents",
		.room_for = "it",
		.bytes = LIMIT_EVIDENCE,
		.values = LIMIT_PROMOTE_VALUES,
		.keys = promote_document_keys,
		.check = check_promoted_view,
		.run = run_promotion,
		.release = release_promotion,
	};
	return json_post_receive(&kind, s, match, refusal);
}

// --- yanks, and statuses of projects: of a token with the right yank ---

struct sent_mark {
	struct json_post post; // first
	struct token_grant read;
};

struct sent_yank {
	struct sent_mark by; // first
	struct yank_request request;
	struct yank_files files;
};

static bool may_know(void *ctx, const struct platform *p, const char *project)
{
	const struct sent_mark *x = ctx;
	return !p->is_private || token_grant_has(&x->read, p->name, project);
}

static bool may_yank(void *ctx, const struct platform *p, const char *project)
{
	const struct sent_mark *x = ctx;
	return token_grant_has(&x->post.grant, p->name, project);
}

// Each file counts as a record of evidence, and a request as a promotion does.
static int take_yank_turns(struct sent_mark *x, size_t turns, struct err *e)
{
	x->post.wait_ms = take_turns(x->post.sender.context, &x->post.grant, turns);
	return x->post.wait_ms ? err_set(e, ERR_BUSY, "the token has yanked too much in the last hour") : 0;
}

static int read_yank(struct sent_yank *x, struct err *e)
{
	struct yank_request *r = &x->request;
	if (json_post_tree(&x->by.post, e) < 0)
		return -1;
	const struct posted_object p = {"yank", x->by.post.json};
	if (posted_object_select(&p, LIMIT_YANK_SELECTS, &x->by.post.arena, &r->select, &r->selects, e) < 0 ||
		posted_object_line(&p, "platform", LIMIT_FILE_NAME, &r->platform, e) < 0 ||
		posted_object_flag(&p, "undo", &r->undo, e) < 0 ||
		posted_object_line(&p, "reason", LIMIT_REASON, &r->reason, e) < 0)
		return -1;
	if (!r->reason && !r->undo)
		return err_set(e, ERR_INVALID, "yank: \"reason\" is missing: clients and the audit log show it");
	if (r->reason && mark_is_from_upstream(str_from(r->reason)))
		return err_set(e, ERR_INVALID, "yank: \"reason\" has the words that mark a yank of upstream");
	if (!r->selects)
		return err_set(e, ERR_INVALID, "yank: \"select\" is missing");
	r->who = x->by.post.sender.token_name;
	r->peer = x->by.post.sender.peer;
	r->sees = may_know;
	r->may = may_yank;
	r->ctx = x;
	x->by.post.sender.action = yank_files_action[r->undo];
	return 0;
}

static struct reply *answer_yank(const struct sent_yank *x)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < x->files.files; i++) {
		const struct yank_file *f = &x->files.file[i];
		jsondoc_add(list, jsondoc_new("platform:s project:s filename:s waits_for_release:b", f->platform->name,
			f->project, f->name, store_is_split(f->platform)));
	}
	jsondoc_set(doc, "action:s files:j", yank_files_action[x->request.undo], list);
	jsondoc_write(doc, 0, &text);
	return reply_json(200, &text);
}

static int choose_files(struct sent_yank *x, struct catalog *c, struct err *e)
{
	struct server_context *s = x->by.post.sender.context;
	catalog_limit(c, s->search_ms);
	int result = yank_files_choose(&x->request, &server_context_site(s)->store, c, &x->files, e);
	catalog_limit(c, 0);
	if (result < 0 && e->kind == ERR_TIME)
		return err_set(e, ERR_BUSY, "it takes too long to find these files: name fewer of them");
	return result;
}

static int mark_yanked(struct sent_yank *x, struct err *e)
{
	struct server_context *s = x->by.post.sender.context;
	struct catalog_lease lease;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int result = choose_files(x, lease.catalog, e);
	if (result == 0)
		result = take_yank_turns(&x->by, x->files.files, e);
	if (result == 0)
		result = yank_files_check(&x->files, lease.catalog, e);
	if (result == 0)
		result = yank_files_mark(&x->request, &x->files, lease.catalog, x->by.post.sender.audit, e);
	catalog_pool_give(s->catalog_pool, &lease);
	return result;
}

static int run_yank(struct json_post *p, struct reply **answer, struct err *e)
{
	static const struct error_status none = {.status = 404, .title = "Not Found"};
	struct sent_yank *x = (struct sent_yank *)p;
	const struct request sender = sender_request(&p->sender);
	auth_read_grant(p->sender.context, &sender, &x->by.read);
	if (read_yank(x, e) < 0 || take_yank_turns(&x->by, LIMIT_PROMOTE_COST, e) < 0)
		return -1;
	if (mark_yanked(x, e) == 0)
		*answer = answer_yank(x);
	else if (e->kind == ERR_NOT_FOUND)
		*answer = json_post_refused(p, &none, e);
	return *answer ? 0 : -1;
}

static void release_yank(struct json_post *p)
{
	struct sent_yank *x = (struct sent_yank *)p;
	token_grant_release(&x->by.read);
	yank_files_release(&x->files);
}

struct body_handler *yank_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	static const char *const keys[] = {"select", "platform", "reason", "undo", NULL};
	static const struct json_post_kind kind = {
		.size = sizeof(struct sent_yank),
		.action = "yank",
		.right = TOKEN_YANK,
		.takes_long = true,
		.what = "yank:",
		.one = "yank",
		.many = "documents",
		.room_for = "it",
		.bytes = LIMIT_YANK,
		.values = LIMIT_YANK_VALUES,
		.keys = keys,
		.run = run_yank,
		.release = release_yank,
	};
	return json_post_receive(&kind, s, match, refusal);
}

struct sent_status {
	struct sent_mark by; // first
	struct status_change change;
	struct jsondoc *platforms;
};

static int read_status(struct sent_status *x, struct err *e)
{
	struct json_post *post = &x->by.post;
	struct status_change *change = &x->change;
	const char *name = NULL, *status = NULL;
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	if (json_post_tree(post, e) < 0)
		return -1;
	const struct posted_object p = {"status", post->json};
	if (posted_object_line(&p, "project", LIMIT_FILE_NAME, &name, e) < 0 ||
		posted_object_line(&p, "status", LIMIT_FILE_NAME, &status, e) < 0 ||
		posted_object_line(&p, "reason", LIMIT_REASON, &change->reason, e) < 0)
		return -1;
	if (!name || !name_is_valid(str_from(name)))
		return err_set(e, ERR_INVALID, "status: \"project\" is no name of a project");
	if (!status)
		return err_set(e, ERR_INVALID, "status: \"status\" is missing");
	if (status_change_name(status, &change->status, e) < 0)
		return -1;
	name_normalize(str_from(name), &normal);
	change->project = arena_copy(&post->arena, buf_view(&normal));
	change->who = post->sender.token_name;
	change->peer = post->sender.peer;
	change->sees = may_know;
	change->may = may_yank;
	change->ctx = x;
	post->project = change->project;
	return status_change_check(change, e);
}

static int note_status(void *ctx, const struct platform *p, struct err *e UNUSED)
{
	struct sent_status *x = ctx;
	jsondoc_add(x->platforms, jsondoc_new("platform:s waits_for_release:b", p->name, store_is_split(p)));
	return 0;
}

static int change_status(struct sent_status *x, struct err *e)
{
	struct catalog_lease lease;
	struct sender *sender = &x->by.post.sender;
	struct server_context *s = sender->context;
	if (catalog_pool_take(s->catalog_pool, &lease, e) < 0)
		return -1;
	int result = status_change_make(&x->change, &server_context_site(s)->store, lease.catalog, sender->audit, note_status, x, e);
	catalog_pool_give(s->catalog_pool, &lease);
	return result;
}

static int run_status(struct json_post *p, struct reply **answer, struct err *e)
{
	static const struct error_status none = {.status = 404, .title = "Not Found"};
	struct sent_status *x = (struct sent_status *)p;
	const struct request sender = sender_request(&p->sender);
	auth_read_grant(p->sender.context, &sender, &x->by.read);
	if (read_status(x, e) < 0 || take_yank_turns(&x->by, LIMIT_PROMOTE_COST, e) < 0)
		return -1;
	x->platforms = jsondoc_array();
	if (change_status(x, e) == 0) {
		CLEANUP(buf_release) struct buf text = buf_up_to(SIZE_MAX / 2);
		CLEANUP(jsondoc_cleanup)
		struct jsondoc *doc = jsondoc_new("project:s status:s platforms:j", x->change.project,
			simplepage_status_name[x->change.status], STEAL_PTR(x->platforms));
		jsondoc_write(doc, 0, &text);
		*answer = reply_json(200, &text);
	} else if (e->kind == ERR_NOT_FOUND) {
		*answer = json_post_refused(p, &none, e);
	}
	return *answer ? 0 : -1;
}

static void release_status(struct json_post *p)
{
	struct sent_status *x = (struct sent_status *)p;
	token_grant_release(&x->by.read);
	jsondoc_cleanup(&x->platforms);
}

struct body_handler *status_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	static const char *const keys[] = {"project", "status", "reason", NULL};
	static const struct json_post_kind kind = {
		.size = sizeof(struct sent_status),
		.action = "status",
		.right = TOKEN_YANK,
		.takes_long = true,
		.what = "status:",
		.one = "status",
		.many = "documents",
		.room_for = "it",
		.bytes = LIMIT_SIDECAR,
		.values = LIMIT_YANK_VALUES,
		.keys = keys,
		.run = run_status,
		.release = release_status,
	};
	return json_post_receive(&kind, s, match, refusal);
}
