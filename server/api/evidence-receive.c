// SPDX-License-Identifier: Apache-2.0
#include "server/api/evidence-receive.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "promoter/view-change.h"
#include "lib/state/store/wanted-contents.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"
#include "server/core/evidence-quota.h"
#include "server/core/rate-limit.h"
#include "server/api/view-post.h"
#include "server/http/metrics.h"

static const struct view_post_limits limits = {"evidence", LIMIT_EVIDENCE, LIMIT_EVIDENCE_VALUES, NULL};

struct sent_evidence {
	struct view_post post; // first
	struct evidence record;
	struct buf views; // globs
	struct catalog_evidence note;
	int64_t wait_ms; // until the token may send more
};

// --- whether the token may say it ---

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

// Evidence counts for the bytes. So a record is also about the projects of which the store has these bytes, whatever the
// record calls them.
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

// Names only projects that the record names.
static int refuse_record(const struct token_grant *grant, const struct evidence *r, const struct strset *projects,
	struct err *e)
{
	size_t i = 0;
	while (i < projects->count && token_grant_has(grant, r->platform, projects->item[i]))
		i++;
	if (i == projects->count)
		return err_set(e, ERR_DENIED, "the token \"%s\" may not send evidence about all of these wheels on %s",
			token_name(&grant->token[0]), r->platform);
	return err_set(e, ERR_DENIED, "the token \"%s\" may not send evidence about %s on %s",
		token_name(&grant->token[0]), projects->item[i], r->platform);
}

// A large record counts as several.
static int64_t take_turn(struct server_context *s, const struct token_grant *grant, size_t bytes)
{
	unsigned tries = (unsigned)(bytes / LIMIT_EVIDENCE_UNIT) + 1;
	return s->evidence_limit ? rate_limit_take(s->evidence_limit, grant->token[0].id, tries, clock_ms()) : 0;
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

int evidence_receive_check(struct server_context *s, const struct token_grant *grant, const struct evidence *r,
	size_t bytes, struct buf *views, int64_t *wait_ms, struct err *e)
{
	CLEANUP(strset_release) struct strset projects = {0}, all = {0};
	if (r->overrides)
		return err_set(e, ERR_INVALID, "evidence: an override is made by a promotion only");
	collect_tested_projects(r, &projects);
	collect_tested_projects(r, &all);
	if (collect_stored_projects(s, r, &all, e) < 0)
		return -1;
	if (!token_grant_views(grant, r->platform, (const char *const *)all.item, all.count, views))
		return refuse_record(grant, r, &projects, e);
	*wait_ms = take_turn(s, grant, bytes);
	if (*wait_ms)
		return err_set(e, ERR_BUSY, "the token \"%s\" has sent too much evidence in the last hour",
			token_name(&grant->token[0]));
	return take_quota(s, grant, r, bytes, views, wait_ms, e);
}

void evidence_receive_tell(struct server_context *s, struct catalog *c, const struct evidence *r,
	const struct catalog_evidence *note)
{
	struct err e = ERR_INIT;
	const struct config *config = &server_context_site(s)->config;
	if (s->view_hooks && view_change_tell(config, c, r, note, s->view_hooks, &e) < 0)
		log_warn("[view] on-change: %s", e.msg);
}

// --- answers ---

static void write_evidence_audit(const struct sent_evidence *x, const char *id, bool is_new)
{
	const struct evidence *r = &x->record;
	CLEANUP(mem_free)
	char *words = xasprintf("%s, Python %s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64
				" skipped, about %zu wheels, for %s",
		r->kind, r->python, r->passed, r->failed, r->skipped, r->wheels, x->views.data);
	upload_sender_audit(&x->post.sender, (struct audit_entry){.platform = r->platform,
						     .file = r->wheels == 1 ? r->wheel[0].filename : NULL,
						     .sha256 = id,
						     .result = is_new ? "done" : "same",
						     .reason = words});
}

static struct reply *answer_recorded(const struct sent_evidence *x, bool is_new)
{
	char id[SHA256_HEX + 1] = "";
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	hex_encode(x->note.id, SHA256_SIZE, id);
	write_evidence_audit(x, id, is_new);
	metrics_add(x->post.sender.context->metrics, METRIC_EVIDENCE_RECEIVED, is_new);
	CLEANUP(mem_free)
	char *message = xasprintf("%s: %s", id, is_new ? "recorded" : "known already: nothing changed");
	jsondoc_put_str(doc, "message", message);
	jsondoc_put_str(doc, "id", id);
	jsondoc_put_str(doc, "result", is_new ? "recorded" : "known");
	jsondoc_put_str(doc, "views", x->views.data);
	return view_post_answer(&x->post, is_new ? 201 : 200, message, doc);
}

static struct reply *refuse_evidence(struct sent_evidence *x, const struct err *why)
{
	metrics_add(x->post.sender.context->metrics, METRIC_EVIDENCE_REFUSED, 1);
	return x->wait_ms ? view_post_too_many(&x->post, x->wait_ms, why) : view_post_failed(&x->post, NULL, why);
}

// --- the body handler ---

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
		evidence_receive_tell(s, lease.catalog, &x->record, &x->note);
		learn_contents(s, lease.catalog);
	}
	catalog_pool_give(s->catalog_pool, &lease);
	return added;
}

static int read_evidence(struct sent_evidence *x, struct err *e)
{
	struct str text = buf_view(&x->post.body);
	if (view_post_check_body(&x->post, &limits, e) < 0 || evidence_read(text, &x->record, e) < 0)
		return -1;
	return evidence_receive_check(x->post.sender.context, &x->post.grant, &x->record, text.len, &x->views,
		&x->wait_ms, e);
}

static struct reply *take_evidence_bytes(struct body_handler *r, struct str bytes)
{
	return view_post_take(&((struct sent_evidence *)r)->post, bytes, &limits);
}

static struct reply *end_evidence(struct body_handler *r)
{
	struct err e = ERR_INIT;
	struct sent_evidence *x = (struct sent_evidence *)r;
	struct reply *refusal = view_post_check_again(&x->post, TOKEN_EVIDENCE, NULL);
	if (refusal)
		return refusal;
	int added = read_evidence(x, &e) < 0 ? -1 : keep_evidence(x, &e);
	return added < 0 ? refuse_evidence(x, &e) : answer_recorded(x, added);
}

static void sent_evidence_free(struct body_handler *r)
{
	struct sent_evidence *x = (struct sent_evidence *)r;
	view_post_release(&x->post);
	evidence_release(&x->record);
	buf_release(&x->views);
	free(x);
}

static const struct body_handler_ops evidence_ops = {
	.take = take_evidence_bytes, .end = end_evidence, .free = sent_evidence_free};

struct body_handler *evidence_receive(struct server_context *s, const struct route_match *match, struct reply **refusal)
{
	struct sent_evidence *x = xcalloc(1, sizeof(*x));
	view_post_begin(&x->post, &evidence_ops, s, match->request, "evidence", &limits);
	buf_init(&x->views, LIMIT_TOKENS);
	*refusal = view_post_admit(&x->post, match->request, TOKEN_EVIDENCE, NULL, &limits);
	if (!*refusal)
		return &x->post.handler;
	sent_evidence_free(&x->post.handler);
	return NULL;
}
