// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/blob.h"
#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/domain/text/name.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/merge-upstream.h"
#include "lib/view/page.h"
#include "server/core/simple-pages.h"
#include "server/http/metrics.h"
#include "server/message/negotiate.h"
#include "server/message/request.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/project-list.h"
#include "server/upstream/upstream-pages.h"

enum { FORMAT_SIZE = 64 };

// The page that a request is for.
struct page_target {
	const struct view *view;
	int64_t generation;                // of the view's membership, of which the whole page is made
	char project[LIMIT_FILE_NAME + 1]; // normalised; "" for the list
	enum variant variant;
	enum page_coding coding;
	bool is_own;       // the view merges upstream, which the request does not want
	bool merges;       // upstream is asked, for its files or for the owner of the name
	struct config_order order; // of upstreams, that the rules for names admit
	bool is_upstreams;         // only upstream's files are listed
	struct page_key key;
};

static bool set_target_project(struct page_target *t, struct str name)
{
	if (!name_is_valid(name) || name.len >= sizeof(t->project))
		return false;
	if (name_is_normal(name)) {
		memcpy(t->project, name.ptr, name.len);
		t->project[name.len] = '\0';
		return true;
	}
	CLEANUP(buf_release) struct buf normal = buf_up_to(sizeof(t->project) - 1);
	name_normalize(name, &normal);
	memcpy(t->project, normal.data, normal.len + 1);
	return true;
}

static bool view_may_have(struct server_context *s, const struct view *v, const char *project)
{
	if (!atomic_load_explicit(&s->project_filter_is_complete, memory_order_acquire))
		return true;
	for (size_t i = 0; i < v->platform_count; i++)
		if (project_filter_may_have(s->project_filter, v->platform[i]->id, str_from(project)))
			return true;
	return false;
}

static const char no_project[] = "no such project; wheelcache explain and /-/explain/VIEW/PROJECT say more";

static struct reply *not_acceptable(struct server_context *s, const struct view *v)
{
	struct reply *r = reply_text(406, "406 Not Acceptable: there are application/vnd.pypi.simple.v1+json, "
					  "application/vnd.pypi.simple.v1+html and text/html");
	server_context_set_freshness(s, r, v->is_private);
	return r;
}

// "?upstream=no": what is here alone, of which an uploader asks. Upstream may be away, and its hash of a name be
// another.
static bool wants_own(const struct request *r)
{
	const char *value = r->argument[ARGUMENT_UPSTREAM];
	return value && strcmp(value, "no") == 0;
}

// Fills the target. A reply if there is no page to look for.
static struct reply *find_target(struct server_context *s, const struct route_match *match, struct page_target *t)
{
	const struct request *r = match->request;
	bool is_root = !match->project.ptr;
	char text[FORMAT_SIZE];
	t->project[0] = '\0';
	t->view = match->found_view;
	bool is_name = is_root || set_target_project(t, match->project);
	t->order = t->view->upstreams;
	enum name_rule rule = t->order.count ? name_rules_admit(&match->site->rules, t->project, &t->order) : NAME_RULE_MERGE;
	t->is_own = t->view->upstreams.count && t->project[0] && wants_own(r);
	t->merges = is_name && t->project[0] && t->order.count && !t->is_own && s->upstream_pages;
	t->is_upstreams = t->merges && rule == NAME_RULE_UPSTREAM;
	t->generation = site_generation(match->site, t->view);
	if ((t->view->is_incomplete || t->generation == GENERATION_UNKNOWN) && !t->is_upstreams)
		return server_context_not_filled();
	if (!is_name || (!is_root && !t->merges && !view_may_have(s, t->view, t->project)))
		return server_context_not_found_in(s, t->view->is_private, no_project);
	// The value of ?format=, decoded into out.
	int variant = negotiate_variant(r->header[HEADER_ACCEPT],
		r->format && urlpath_decode(str_from(r->format), text, FORMAT_SIZE) ? text : NULL,
		r->header[HEADER_USER_AGENT]);
	if (variant < 0)
		return not_acceptable(s, t->view);
	t->variant = (enum variant)variant;
	t->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	struct simple_page p = {.site = match->site,
		.view = t->view,
		.generation = t->generation,
		.is_past = match->at != 0,
		.project = t->project,
		.variant = t->variant,
		.coding = t->coding,
		.is_own = t->is_own};
	if (p.is_past)
		p.changes = simple_pages_changes(s, t->view, t->project, match->pages_cleared);
	simple_pages_key(&p, &t->key);
	return NULL;
}

// The list of projects of the upstream at a place of the view's order; NULL: it is not merged.
static struct project_list *list_at(const struct server_context *s, const struct page_target *t, size_t i)
{
	return s->upstream_count ? s->upstream[t->view->upstreams.item[i]].project_list : NULL;
}

static bool merges_list(const struct server_context *s, const struct page_target *t)
{
	bool merges = false;
	for (size_t i = 0; i < t->view->upstreams.count && !t->project[0]; i++)
		merges = merges || list_at(s, t, i);
	return merges;
}

// Whether no list of projects is to be fetched first.
static bool lists_are_fresh(const struct server_context *s, const struct page_target *t)
{
	for (size_t i = 0; i < t->view->upstreams.count; i++)
		if (list_at(s, t, i) && !project_list_is_fresh(list_at(s, t, i)))
			return false;
	return true;
}

struct reply *simple_inline(struct server_context *s, const struct route_match *match)
{
	struct page_target t;
	if (!server_context_is_current(s))
		return NULL;
	struct reply *refused = find_target(s, match, &t);
	if (refused || (t.merges && !upstream_pages_is_fresh(s->upstream_pages, str_from(t.project), &t.order)) ||
		(merges_list(s, &t) && !lists_are_fresh(s, &t)))
		return refused;
	struct reply *r = pagecache_get(s->pagecache, &t.key);
	if (r && match->project.ptr)
		metrics_add(s->metrics, METRIC_PAGE_HITS, 1);
	return r;
}

// Sorted names of projects of upstreams, for the list of projects.
struct more_names {
	struct blob **names; // one for each upstream; NULL: none
	size_t lists;
};

static void more_names_release(struct more_names *m)
{
	for (size_t i = 0; i < m->lists; i++)
		blob_unref(m->names[i]);
	free(m->names);
}

// The names of a list that its upstream may be asked for, which its page would have. It costs nothing without a rule.
static struct blob *keep_admitted(const struct site *site, size_t upstream, struct blob *names)
{
	const struct name_rules *rules = &site->rules;
	if (!names || (!rules->projects[upstream] && !rules->names[upstream][NAME_RULE_NOT_ASKED]))
		return names;
	CLEANUP(buf_release) struct buf kept = buf_up_to(LIMIT_PROJECT_LIST);
	for (struct str rest = blob_view(names); rest.len;) {
		char name[LIMIT_FILE_NAME + 1];
		struct str line = str_cut(&rest, '\n');
		if (line.len >= sizeof(name))
			continue;
		memcpy(name, line.ptr, line.len);
		name[line.len] = '\0';
		if (name_rules_find(rules, upstream, name) != NAME_RULE_NOT_ASKED)
			buf_printf(&kept, "%s\n", name);
	}
	blob_unref(names);
	return blob_from_buf(&kept);
}

static int render_root(const struct view *v, struct catalog *c, const struct more_names *more, enum page_format format,
	struct buf *page, struct err *e)
{
	size_t lists = more ? more->lists : 0;
	CLEANUP(mem_free) struct str *names = xcalloc(lists + 1, sizeof(*names));
	for (size_t i = 0; i < lists; i++)
		names[i] = more->names[i] ? blob_view(more->names[i]) : (struct str){"", 0};
	return page_root(v, c, names, lists, format, page, e);
}

// The page as a reply. NULL: *e says why. more: further names for the list of projects; NULL: none. *keep_ms: for how
// long it may be kept, as pagecache_put() takes it; NULL: not at all.
static struct reply *render_reply(struct server_context *s, struct catalog *c, const struct page_target *t,
	const struct upstream_answer *upstream, const struct more_names *more, int64_t *keep_ms, struct err *e)
{
	CLEANUP(buf_release) struct buf page = buf_up_to(LIMIT_PAGE), packed = buf_up_to(LIMIT_PAGE);
	bool is_plain = t->coding == PAGE_PLAIN; // it may be large, so it is not copied
	struct view view = *t->view;
	enum page_format format = variant_row[t->variant].format;
	view.generation = t->generation;
	CLEANUP(rule_list_cleanup) struct rule_list *denied = server_context_denied(s);
	view.omits_ours = t->is_upstreams;
	view.denied = denied;
	if ((t->project[0] ? page_project(&view, c, t->project, upstream, format, &page, e)
			     : render_root(&view, c, more, format, &page, e)) < 0 ||
		(!is_plain && page_pack(buf_view(&page), t->coding, &packed, e) < 0))
		return NULL;
	metrics_add(s->metrics, METRIC_PAGE_RENDERS, 1);
	// Vary: what the choice depends on (RFC 9110 section 12.5.5). User-Agent, because some pips cannot read the
	// JSON.
	struct buf *body = is_plain ? &page : &packed;
	char etag[PAGE_ETAG_SIZE];
	const char *type = variant_row[t->variant].type;
	page_etag(type, buf_view(body), etag);
	struct reply *r = reply_new(200, type, blob_from_buf(body));
	reply_header(r, "Vary", "Accept, Accept-Encoding, User-Agent");
	if (keep_ms)
		*keep_ms = server_context_set_freshness_until(s, r, t->view->is_private, upstream ? upstream->next : 0);
	else
		reply_header(r, "Cache-Control", "no-store");
	reply_set_etag(r, etag);
	if (page_coding_name[t->coding])
		reply_header(r, "Content-Encoding", "%s", page_coding_name[t->coding]);
	return r;
}

// Keeps also that a view with a membership does not have a project: its platforms may have it, so that the project
// filter does not tell.
static struct reply *render_and_cache(struct server_context *s, struct catalog *c, const struct page_target *t,
	const struct upstream_answer *upstream, const struct more_names *more, uint64_t epoch)
{
	struct err e = ERR_INIT;
	int64_t keep_ms = 0;
	struct reply *r = render_reply(s, c, t, upstream, more, &keep_ms, &e);
	if (!r && e.kind != ERR_NOT_FOUND)
		return server_context_error(&e);
	bool is_kept = r || (t->view->membership && !t->merges);
	if (!r)
		r = server_context_not_found_in(s, t->view->is_private, no_project);
	if (is_kept)
		pagecache_put(s->pagecache, &t->key, r, keep_ms, epoch);
	return r;
}

// If many clients want a page at once, one thread renders it, and the others wait for that.
static struct reply *render_once(struct server_context *s, struct catalog *c, const struct page_target *t,
	const struct upstream_answer *upstream, const struct more_names *more, uint64_t epoch)
{
	struct page_making making;
	pagecache_make_begin(s->pagecache, &making, &t->key);
	struct reply *r = pagecache_get(s->pagecache, &t->key);
	if (!r)
		r = render_and_cache(s, c, t, upstream, more, epoch);
	pagecache_make_end(s->pagecache, &making);
	return r;
}

// A page that upstream's answer decides.
struct merge_request {
	struct server_context *context;
	struct catalog *catalog;
	const struct page_target *target;
	uint64_t epoch;
	struct name_guard guard;
	bool is_kept_out; // upstream's files, by merge_upstream_is_kept_out()
	bool is_too_old;   // what is known must not be used any more
	bool is_undecided; // an upstream has not said whether the name is ours: it is left out, for now
	struct reply *reply;
};

// Whether upstream's last answer is definitive. "No such project" is, as long as it is the last answer.
static bool is_definitive(const struct upstream_answer *upstream)
{
	bool is_missing = upstream->result == UPSTREAM_NOT_FOUND || upstream->result == UPSTREAM_ABSENT;
	return upstream->last_definitive == UPSTREAM_KNOWN
		       ? upstream->stale != NULL
		       : upstream->last_definitive == UPSTREAM_QUARANTINED || is_missing;
}

// Upstream cannot be asked, and has never answered. The page has our files, if there are any, and is not cached. It is
// never a 404, which clients read as "no such project".
static struct reply *reply_without_upstream(const struct merge_request *m, const struct upstream_answer *upstream)
{
	struct err e = ERR_INIT;
	struct reply *r = render_reply(m->context, m->catalog, m->target, NULL, NULL, NULL, &e);
	if (r || e.kind != ERR_NOT_FOUND)
		return r ? r : server_context_error(&e);
	if (is_definitive(upstream))
		r = reply_text(502, "502 Bad Gateway: %s: upstream has not said whether the name is ours",
			m->target->project);
	else
		r = reply_text(502, "502 Bad Gateway: %s: upstream cannot be asked: %s", m->target->project,
			server_context_site(m->context)->is_offline ? "the server is offline"
								    : upstream_result_name[upstream->result]);
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

// What the upstreams have that are not set aside.
static int on_rest_known(void *ctx, const struct upstream_answer *upstream, struct err *unused UNUSED)
{
	struct merge_request *m = ctx;
	struct err e = ERR_INIT;
	if (m->is_too_old || !is_definitive(upstream))
		m->reply = reply_without_upstream(m, upstream);
	else if (!m->is_undecided)
		m->reply = render_once(m->context, m->catalog, m->target, upstream, NULL, m->epoch);
	else if (!(m->reply = render_reply(m->context, m->catalog, m->target, upstream, NULL, false, &e)))
		m->reply = e.kind == ERR_NOT_FOUND ? reply_without_upstream(m, upstream) : server_context_error(&e);
	return 0;
}

static int on_upstream_known(void *ctx, const struct upstream_answer *upstream, struct err *e)
{
	struct merge_request *m = ctx;
	bool is_ours = config_order_has_none(&m->guard.order);
	m->is_too_old = upstream->last_definitive == UPSTREAM_KNOWN && !upstream->stale;
	m->is_undecided = !is_ours && !m->is_kept_out && name_guard_settle(&m->guard, upstream);
	bool has_none = m->is_kept_out || config_order_has_none(&m->guard.order);
	if (has_none && m->is_undecided)
		m->reply = reply_without_upstream(m, upstream);
	else if (has_none)
		m->reply = render_once(m->context, m->catalog, m->target, NULL, NULL, m->epoch);
	else
		return upstream_report(m->context->upstreams, upstream->of, &m->guard.order, on_rest_known, m, e);
	return 0;
}

static struct reply *reply_merged(struct server_context *s, struct catalog *c, const struct route_match *match,
	const struct page_target *t, uint64_t epoch)
{
	struct err e = ERR_INIT;
	struct merge_request m = {.context = s, .catalog = c, .target = t, .epoch = epoch};
	if (name_guard_begin(&m.guard, s, c, t->view, &t->order, t->project, &e) < 0 ||
		merge_upstream_is_kept_out(t->view, c, t->project, m.guard.rule, &m.is_kept_out, &e) < 0)
		return server_context_error(&e);
	if (!m.guard.order.count)
		return render_once(s, c, t, NULL, NULL, epoch);
	int64_t since = name_guard_since(&m.guard);
	bool is_decided = m.is_kept_out || config_order_has_none(&m.guard.order); // whatever upstream answers
	struct continuation *continuation = is_decided ? NULL : match->continuation;
	const struct config_order order = m.guard.order;
	int result = upstream_pages_get(s->upstream_pages, c, t->project, &order, match->request->peer, since, continuation,
		on_upstream_known, &m, &e);
	if (result == UPSTREAM_PAGES_ANSWERED)
		return m.reply;
	reply_unref(m.reply);
	if (result == UPSTREAM_PAGES_BUSY)
		return server_context_busy();
	return result == UPSTREAM_PAGES_LATER ? NULL : server_context_error(&e);
}

// Without projects that are blocked as a whole.
static void leave_out_blocked(struct server_context *s, size_t upstream, struct blob **names)
{
	CLEANUP(buf_release) struct buf kept = buf_up_to(LIMIT_PROJECT_LIST);
	if (!*names || !upstreams_offered_names(s->upstreams, s->upstream[upstream].upstream, blob_view(*names), &kept))
		return;
	blob_unref(*names);
	*names = blob_from_buf(&kept);
}

// The list of a view with all projects of its upstreams. Where an upstream's list is not known, it lacks that.
static struct reply *reply_list(struct server_context *s, struct catalog *c, const struct route_match *match,
	const struct page_target *t, uint64_t epoch)
{
	size_t count = t->view->upstreams.count;
	CLEANUP(more_names_release)
	struct more_names more = {xcalloc(count + 1, sizeof(*more.names)), count};
	for (size_t i = 0; i < count; i++)
		if (list_at(s, t, i) && !project_list_get(list_at(s, t, i), match->continuation, &more.names[i]))
			return NULL;
	for (size_t i = 0; i < count; i++) {
		more.names[i] = keep_admitted(match->site, t->view->upstreams.item[i], more.names[i]);
		leave_out_blocked(s, t->view->upstreams.item[i], &more.names[i]);
	}
	return render_once(s, c, t, NULL, &more, epoch);
}

struct reply *simple_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct page_target t;
	server_context_catch_up(s);
	struct reply *r = find_target(s, match, &t);
	if (r)
		return r;
	uint64_t epoch = pagecache_epoch(s->pagecache, &t.key, match->pages_cleared);
	if (merges_list(s, &t))
		return reply_list(s, c, match, &t, epoch);
	r = t.merges ? reply_merged(s, c, match, &t, epoch) : render_once(s, c, &t, NULL, NULL, epoch);
	if (r && match->project.ptr)
		metrics_add(s->metrics, METRIC_PAGE_MISSES, 1);
	return r;
}

// --- a view as JSON ---

struct reply *simple_view_inline(struct server_context *s, const struct route_match *match)
{
	const struct view *v = match->found_view;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf body = buf_up_to(LIMIT_PAGE);
	struct jsondoc *platforms = jsondoc_array();
	for (size_t i = 0; i < v->platform_count; i++)
		jsondoc_add_str(platforms, v->platform[i]->name);
	const char *configured = match->site->config.default_view; // may be none, of a store with one platform
	bool is_view = configured && site_view(match->site, str_from(configured));
	jsondoc_set(doc, "name:s platforms:j upstream:b", v->name ? v->name : is_view ? configured : "simple", platforms,
		v->upstreams.count);
	if (match->site->config.upstreams.count > 1) {
		struct jsondoc *names = jsondoc_array();
		for (size_t i = 0; i < v->upstreams.count; i++)
			jsondoc_add_str(names, match->site->config.upstreams.item[v->upstreams.item[i]].name);
		jsondoc_put(doc, "upstreams", names);
	}
	if (v->membership && !match->at && !site_is_incomplete(match->site, v))
		jsondoc_put_int(doc, "generation", site_generation(match->site, v));
	jsondoc_write(doc, 0, &body);
	struct reply *r = reply_new(200, "application/json", blob_from_buf(&body));
	server_context_set_freshness(s, r, v->is_private);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	return r;
}
