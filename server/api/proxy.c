// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/kept-metadata.h"
#include "lib/state/upstream/offering.h"
#include "server/core/auth.h"
#include "server/message/reply.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/upstream-files.h"
#include "server/upstream/upstream-pages.h"

enum {
	CACHED_MS = 60000, // how long an open file is kept: a file of the cache never changes
	REFUSED_MS = 1000, // and a refusal, which a client may repeat
};

// One request.
struct proxy_request {
	struct server_context *context;
	const struct route_match *match;
	const struct view **view;  // those that the client may read that merge one of these
	size_t views;
	struct config_order named; // the upstreams that the address may mean, in the order of the configuration
	struct config_order order; // who is asked for the project: one that has the file, or as a view asks
	uint32_t asked;            // bits by number: the upstreams of order
	struct name_guard guard;
	char *project;
	char *filename;    // of the wheel or sdist
	char *cached_name; // in the file cache: filename, or with .metadata appended
	bool is_metadata;
	// From upstream's page; url NULL: the page has no such file.
	char *url;
	struct upstream_home home;
	const struct server_upstream *upstream; // whose file it is; NULL: unknown
	int64_t size;
	bool has_sha256, has_metadata_sha256;
	uint8_t sha256[SHA256_SIZE], metadata_sha256[SHA256_SIZE];
	bool has_metadata;
	bool is_known; // upstream has answered whether it has the project
	bool is_quarantined;
	bool has_private;           // there is a private view that merges one of them
	bool is_of_reader;          // another client may get another answer
	bool is_too_old;            // upstream's page: only what is kept here is sent
	bool has_file, is_unsaid;   // of the one that is looked at; is_unsaid: it has never answered
	bool is_ours, is_undecided; // the name, at all of them
	char why[256];              // upstream's result, for the answer
	// What is not offered (lib/state/upstream/offering.h).
	bool is_hidden;
	bool *hides;         // by upstream: of a file that is on no page any more, and perhaps still kept here
	const char *rule;    // that hides it
	struct buf words;    // what the rule says
	int64_t next;        // when that changes, in seconds since 1970; 0: never
};

static void proxy_request_release(struct proxy_request *w)
{
	free(w->project);
	free(w->filename);
	free(w->cached_name);
	free(w->url);
	free(w->hides);
	free(w->view);
	buf_release(&w->words);
}

static bool proxy_request_init(struct proxy_request *w, struct server_context *s, const struct route_match *match)
{
	struct str file = match->file;
	*w = (struct proxy_request){.context = s, .match = match, .size = -1};
	w->hides = xcalloc(s->upstream_count + 1, sizeof(*w->hides));
	buf_init(&w->words, LIMIT_PAGE);
	w->is_metadata = str_ends(file, STR(".metadata"));
	w->cached_name = xstrndup(file.ptr, file.len);
	w->filename = xstrndup(file.ptr, file.len - (w->is_metadata ? strlen(".metadata") : 0));
	w->project = xstrndup(match->project.ptr, match->project.len);
	return name_is_valid(match->project) && name_is_normal(match->project) && *w->filename;
}

static void note_next(struct proxy_request *w, const struct offering *o)
{
	w->next = o->next && (!w->next || o->next < w->next) ? o->next : w->next;
}

static void note_rule(struct proxy_request *w, const struct offering *o)
{
	enum offering_rule rule = offering_first_rule(o);
	w->rule = offering_rule_name[rule];
	buf_clear(&w->words);
	offering_write(o, rule, &w->words);
}

static void take_listed_file(struct proxy_request *w, const struct upstream_answer *answer, const struct simplepage_file *f)
{
	w->url = w->is_metadata ? xasprintf("%s.metadata", f->url) : xstrdup(f->url);
	w->home = upstream_home(answer, f);
	w->upstream = &w->context->upstream[w->home.number];
	w->size = f->size;
	w->has_metadata = f->has_metadata;
	w->has_sha256 = f->has_sha256;
	w->has_metadata_sha256 = f->has_metadata_sha256;
	memcpy(w->sha256, f->sha256, SHA256_SIZE);
	memcpy(w->metadata_sha256, f->metadata_sha256, SHA256_SIZE);
}

static const struct simplepage_file *find_file(const struct proxy_request *w, const struct upstream_answer *one)
{
	bool has_page = one->last_definitive == UPSTREAM_KNOWN && one->listed;
	return has_page ? simplepage_find(one->listed, w->filename) : NULL;
}

// Of a file that is on no page any more only its age is known: it was old enough to be fetched.
static void judge_unlisted(struct proxy_request *w, const struct upstream_answer *one, size_t number)
{
	struct offering o;
	const struct simplepage_file file = {.filename = w->filename};
	upstream_judge(one, w->context->upstream[number].upstream, &file, &o);
	o.hides &= ~(1u << OFFERING_AGE);
	w->hides[number] = o.hides != 0;
	if (w->hides[number])
		note_rule(w, &o);
}

// The first upstream that lists the name decides, also where it hides the file.
static void judge_listed(struct proxy_request *w, const struct upstream_answer *one)
{
	struct offering o;
	const struct simplepage_file *f = find_file(w, one);
	if (!one->rules || w->url || w->is_hidden)
		return;
	if (!f) {
		judge_unlisted(w, one, upstream_home(one, NULL).number);
		return;
	}
	upstream_judge(one, upstream_home(one, f).upstream, f, &o);
	note_next(w, &o);
	w->is_hidden = !o.is_offered;
	if (w->is_hidden)
		note_rule(w, &o);
}

// The page of one upstream that the address may mean: of the first one that has the file.
static int take_page_file(void *ctx, const struct upstream_answer *one, struct err *e UNUSED)
{
	struct proxy_request *w = ctx;
	const struct simplepage_file *f = find_file(w, one);
	w->is_quarantined = w->is_quarantined || one->last_definitive == UPSTREAM_QUARANTINED;
	w->is_unsaid = !one->certain;
	judge_listed(w, one);
	if (f && !w->url && !w->is_hidden && !w->is_too_old)
		take_listed_file(w, one, f);
	return 0;
}

// What upstreams after one that may have the file have of that name is not what the address means. One that the view
// does not ask, because an upstream before it has the project, has nothing that the view offers.
static void stop_at_unsaid(struct proxy_request *w, const struct upstream_answer *answer, size_t at)
{
	uint32_t bit = (uint32_t)1 << w->named.item[at];
	bool has_failed = answer->depends & bit;
	if (w->url || w->is_hidden || !w->is_unsaid || (w->asked & bit && !has_failed))
		return;
	w->named.count = (uint8_t)(at + 1);
	w->is_known = w->is_known && !has_failed;
}

static int take_proxy_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct proxy_request *w = ctx;
	struct config_order left = w->guard.order;
	if (!config_order_has_none(&left))
		w->is_undecided = name_guard_settle(&w->guard, answer);
	left = w->guard.order;
	w->is_undecided = w->is_undecided && config_order_has_none(&left);
	w->is_ours = config_order_has_none(&left) && !w->is_undecided;
	w->is_too_old = answer->last_definitive == UPSTREAM_KNOWN && !answer->stale;
	w->is_known = (answer->last_definitive == UPSTREAM_KNOWN && !w->is_too_old) || answer->result == UPSTREAM_NOT_FOUND ||
		      answer->result == UPSTREAM_ABSENT || answer->last_definitive == UPSTREAM_QUARANTINED;
	snprintf(w->why, sizeof(w->why), "%s", upstream_result_name[answer->result]);
	for (size_t i = 0; i < w->named.count; i++) {
		if (left.aside & (uint32_t)1 << w->named.item[i])
			continue;
		if (upstream_report_one(w->context->upstreams, answer->of, w->named.item[i], left.is_together,
			    take_page_file, w, e) < 0)
			return -1;
		stop_at_unsaid(w, answer, i);
	}
	return 0;
}

static const uint8_t *expected_hash(const struct proxy_request *w)
{
	if (w->is_metadata)
		return w->has_metadata_sha256 ? w->metadata_sha256 : NULL;
	return w->has_sha256 ? w->sha256 : NULL;
}

// --- replies ---

// Without a name the address means the first upstream's file as soon as that has one of this name.
static bool is_of_first(const struct proxy_request *w)
{
	return !w->upstream || w->upstream == &w->context->upstream[w->named.item[0]];
}

static struct reply *set_file_headers(const struct proxy_request *w, struct reply *r, const uint8_t *sha256)
{
	char etag[ETAG_SIZE];
	bool is_public = server_context_site(w->context)->merges_publicly && !w->is_of_reader;
	reply_header(r, "Cache-Control", "%s, %s", is_public ? "public" : "private",
		is_of_first(w) ? "max-age=365000000, immutable" : "no-cache");
	reply_header(r, "Accept-Ranges", "bytes");
	if (sha256) {
		etag_of_sha256(sha256, etag);
		reply_set_etag(r, etag);
	}
	return r;
}

// At most until other rules hold of the file.
static void keep_reply(const struct proxy_request *w, struct reply *r, int64_t ms)
{
	int64_t left_ms = w->next ? w->next * 1000 - clock_wall_ns() / 1000000 : ms;
	if (is_of_first(w) && !w->is_of_reader)
		files_cache_reply(w->context, w->match, r, left_ms < 1 ? 1 : left_ms < ms ? left_ms : ms);
}

// Metadata is no download.
static void count_download(const struct proxy_request *w, const struct server_upstream *u, struct reply *r)
{
	CLEANUP(mem_free) char *place = xasprintf("upstream/%s/%s", upstream_name(u->upstream), w->project);
	if (!w->is_metadata)
		r->count = download_counter_of(w->context->download_counter, place, w->match->file);
}

static struct reply *send_cached(const struct proxy_request *w, const struct file_cache_file *file)
{
	struct err e = ERR_INIT;
	struct blob *body = blob_map(file->fd, (size_t)file->size, &e);
	if (!body)
		return server_context_error(&e);
	blob_prefetch(body);
	struct reply *r = set_file_headers(w, reply_new(200, "application/octet-stream", body), file->sha256);
	count_download(w, w->upstream, r);
	keep_reply(w, r, CACHED_MS);
	return r;
}

static struct reply *refuse_hidden(const struct proxy_request *w)
{
	struct reply *r = reply_problem(403, w->rule, w->words.data);
	keep_reply(w, r, REFUSED_MS);
	return r;
}

// NULL: it is in no file cache: in that of its upstream, or of the first that the address may mean. Without an expected
// hash it is found by its name alone.
static struct reply *find_cached(struct proxy_request *w)
{
	struct reply *r = NULL;
	for (size_t i = 0; i < w->named.count && !r; i++) {
		const struct server_upstream *u = &w->context->upstream[w->named.item[i]];
		struct err e = ERR_INIT;
		struct file_cache_file file;
		if ((w->upstream && w->upstream != u) ||
			file_cache_find(u->file_cache, w->project, w->cached_name, expected_hash(w), &file, &e) < 0)
			continue;
		w->upstream = u;
		r = w->hides[w->named.item[i]] ? refuse_hidden(w) : send_cached(w, &file);
		close(file.fd);
	}
	return r;
}

static struct reply *set_no_store(struct reply *r)
{
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static struct reply *redirect_to_upstream(const struct proxy_request *w)
{
	struct reply *r = reply_text(302, "302 Found: it is upstream's");
	reply_header(r, "Location", "%s", w->url);
	return set_no_store(r);
}

static struct reply *bad_gateway(const struct proxy_request *w, const char *why)
{
	return set_no_store(reply_text(502, "502 Bad Gateway: %s: upstream: %s", w->cached_name, why));
}

// The download is complete, but may not be in the file cache yet.
static struct reply *send_downloaded(const struct proxy_request *w, struct file_fetch_result *result)
{
	if (result->file.fd < 0)
		return bad_gateway(w, "it was kept, and is gone");
	struct reply *r = send_cached(w, &result->file);
	mem_close(&result->file.fd);
	return r;
}

// A HEAD is answered from upstream's page. The body of the reply is never read.
static ssize_t read_empty_stream(struct stream *s UNUSED, uint64_t at UNUSED, char *out UNUSED, size_t room UNUSED)
{
	return -1;
}

static void await_empty_stream(struct stream *s UNUSED, uint64_t at UNUSED, struct continuation *w)
{
	w->resume(w);
}

static void unref_empty_stream(struct stream *s UNUSED)
{
}

// --- metadata from the wheel, if upstream does not send it ---

// Closes the wheel.
static struct reply *extract_metadata(struct proxy_request *w, struct file_cache_file *file)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	int kept = kept_metadata_add(w->upstream->file_cache, w->project, w->filename, file, expected_hash(w), sha256, &e);
	mem_close(&file->fd);
	if (kept < 0)
		return bad_gateway(w, e.msg);
	struct reply *r = find_cached(w);
	return r ? r : bad_gateway(w, "its metadata is not kept here");
}

// --- downloads ---

static struct reply *send_stream(const struct proxy_request *w, const struct file_fetch_result *result)
{
	struct reply *r = reply_stream(200, "application/octet-stream", result->stream, result->length);
	count_download(w, w->upstream, r);
	return set_file_headers(w, r, expected_hash(w));
}

static struct reply *reply_of_fetch_file(const struct proxy_request *w, struct file_fetch_result *result)
{
	switch (result->state) {
	case FILE_FETCH_LATER:
		return NULL;
	case FILE_FETCH_STREAM:
		return send_stream(w, result);
	case FILE_FETCH_FULL:
		return redirect_to_upstream(w); // the cache has no room, but the client can download it
	case FILE_FETCH_ABSENT:
		return set_no_store(reply_text(404, "404 Not Found: %s: %s", w->cached_name, result->why));
	case FILE_FETCH_KEPT:
		return send_downloaded(w, result);
	case FILE_FETCH_BUSY:
		return server_context_busy();
	case FILE_FETCH_FAILED:
	default:
		return bad_gateway(w, result->why);
	}
}

static void request_file(const struct proxy_request *w, bool is_wheel, struct file_fetch_result *result)
{
	const struct request *r = w->match->request;
	size_t length = strlen(w->url) - (w->is_metadata && is_wheel ? strlen(".metadata") : 0);
	CLEANUP(mem_free) char *url = xstrndup(w->url, length);
	const struct file_request request = {
		.project = w->project,
		.filename = is_wheel ? w->filename : w->cached_name,
		.url = url,
		.home = w->home.url,
		.sha256 = is_wheel ? (w->has_sha256 ? w->sha256 : NULL) : expected_hash(w),
		.size = is_wheel ? w->size : -1,
		.peer = r->peer,
	};
	upstream_files_get(w->upstream->upstream_files, &request, w->is_metadata || r->header[HEADER_RANGE],
		w->match->continuation, result);
}

enum { STEP_METADATA, STEP_WHEEL };

// step records that the metadata failed. Else, if the wheel takes longer than that failure is remembered, the metadata
// would be requested again, and so on without end.
static struct reply *fetch_metadata(struct proxy_request *w)
{
	struct file_fetch_result result = {.state = FILE_FETCH_FAILED};
	if (w->match->continuation->step == STEP_METADATA)
		request_file(w, false, &result);
	bool is_wheel = filename_kind(str_from(w->filename)) == FILENAME_WHEEL; // other files contain no METADATA
	if (!is_wheel || (result.state != FILE_FETCH_ABSENT && result.state != FILE_FETCH_FAILED))
		return reply_of_fetch_file(w, &result);
	w->match->continuation->step = STEP_WHEEL;
	struct err e = ERR_INIT;
	struct file_cache_file wheel;
	if (file_cache_find(w->upstream->file_cache, w->project, w->filename, w->has_sha256 ? w->sha256 : NULL, &wheel,
		    &e) < 0) {
		request_file(w, true, &result);
		if (result.state != FILE_FETCH_KEPT)
			return reply_of_fetch_file(w, &result);
		wheel = result.file;
	}
	return extract_metadata(w, &wheel);
}

// Whether the client has the file already: a 304 needs no bytes.
static bool client_has_file(const struct proxy_request *w)
{
	char etag[ETAG_SIZE];
	if (!w->has_sha256)
		return false;
	etag_of_sha256(w->sha256, etag);
	return etag_matches(w->match->request->header[HEADER_IF_NONE_MATCH], etag);
}

static struct reply *fetch_file(const struct proxy_request *w)
{
	struct file_fetch_result result;
	if (w->size >= 0 && (w->match->request->method == METHOD_HEAD || client_has_file(w))) {
		static const struct stream_ops ops = {read_empty_stream, await_empty_stream, unref_empty_stream};
		static struct stream nothing = {&ops};
		return set_file_headers(w, reply_stream(200, "application/octet-stream", &nothing, (uint64_t)w->size),
			expected_hash(w));
	}
	request_file(w, true, &result);
	return reply_of_fetch_file(w, &result);
}

// The same words whether upstream said so or must not be asked: they must not reveal which names are here.
static const char no_such_file[] = "upstream has no such file";

static struct reply *send_decided(struct proxy_request *w)
{
	const struct site *site = server_context_site(w->context);
	if (w->is_ours)
		return server_context_not_found(w->context, no_such_file);
	if (w->is_undecided)
		return bad_gateway(w, "it has not said whether the name is ours");
	if (w->is_quarantined && !w->url)
		return server_context_not_found(w->context, "upstream has this project in quarantine");
	if (w->is_hidden)
		return refuse_hidden(w);
	struct reply *cached = find_cached(w);
	if (cached)
		return cached;
	if (!w->url)
		return w->is_known ? server_context_not_found(w->context, no_such_file) : bad_gateway(w, w->why);
	if (w->is_metadata && !w->has_metadata)
		return server_context_not_found(w->context, "this file has no metadata");
	const struct config_upstream *own =
		config_upstreams_named(&site->config.upstreams, upstream_name(w->home.upstream));
	if (own && config_upstream_redirects(own))
		return redirect_to_upstream(w);
	if (site->is_offline)
		return bad_gateway(w, "it is not kept here, and the server is offline");
	return w->is_metadata ? fetch_metadata(w) : fetch_file(w);
}

// Finds the upstreams that the address may mean, of those that views merge that the client may read, and how the first
// of these views asks; without a name, the first that asks most of them. A reply: the client may read none, or one has
// the project in quarantine; NULL with none: no view merges them.
static struct reply *find_named(struct proxy_request *w, struct catalog *c)
{
	const struct site *site = server_context_site(w->context);
	struct str name = w->match->upstream;
	struct reply *refused = NULL;
	uint32_t merged = 0;
	w->view = xcalloc(site->view_count + 1, sizeof(*w->view));
	for (size_t i = 0; i < site->view_count; i++) {
		struct config_order order = site->view[i].upstreams;
		bool means_one = !name.ptr && order.count;
		for (size_t k = 0; k < order.count; k++)
			means_one |= str_eq(name, str_from(site->config.upstreams.item[order.item[k]].name));
		if (!means_one)
			continue;
		w->has_private = w->has_private || site->view[i].is_private;
		struct reply *r = site->view[i].is_private ? auth_read(w->context, w->match->request, &site->view[i], w->project)
							   : NULL;
		reply_unref(refused);
		refused = r;
		if (r)
			continue;
		r = server_context_withdrawn(w->context, c, w->project, site->view[i].platform, site->view[i].platform_count);
		if (r)
			return r;
		w->view[w->views++] = &site->view[i];
		name_rules_admit(&site->rules, w->project, &order);
		if (!w->order.count || (!name.ptr && order.count > w->order.count))
			w->order = order;
		for (size_t k = 0; k < order.count; k++)
			merged |= (uint32_t)1 << order.item[k];
		refused = NULL;
	}
	for (size_t i = 0; i < site->config.upstreams.count; i++)
		if (merged & (uint32_t)1 << i && (!name.ptr || str_eq(name, str_from(site->config.upstreams.item[i].name))))
			w->named.item[w->named.count++] = (uint8_t)i;
	if (!w->views)
		return refused;
	reply_unref(refused);
	return NULL;
}

// --- the upstreams that a view asks before the one whose file it is ---

struct earlier {
	struct proxy_request *request;
	struct name_guard guard;
	size_t number;  // whose file it is
	bool is_listed; // by one of them: the first that lists the name decides
	bool hides;
	bool is_unsaid; // one has never answered
};

static int judge_earlier(void *ctx, const struct upstream_answer *one, struct err *e UNUSED)
{
	struct offering o;
	struct earlier *x = ctx;
	struct proxy_request *w = x->request;
	const struct simplepage_file *f = find_file(w, one);
	x->is_unsaid = x->is_unsaid || !one->certain;
	if (!f)
		return 0;
	upstream_judge(one, upstream_home(one, f).upstream, f, &o);
	x->is_listed = true;
	x->hides = !o.is_offered;
	note_next(w, &o);
	if (x->hides && !w->rule)
		note_rule(w, &o);
	return 0;
}

static bool order_has(const struct config_order *order, size_t number)
{
	size_t i = 0;
	while (i < order->count && order->item[i] != number)
		i++;
	return i < order->count;
}

static int judge_all_earlier(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct earlier *x = ctx;
	const struct config_order *order = &x->guard.order;
	for (size_t i = 0; order->item[i] != x->number && !x->is_listed; i++)
		if (!(order->aside & (uint32_t)1 << order->item[i]) &&
			upstream_report_one(x->request->context->upstreams, answer->of, order->item[i],
				order->is_together, judge_earlier, x, e) < 0)
			return -1;
	return 0;
}

// 1: the view must not ask the one whose file it is.
static int look_before(struct earlier *x, struct catalog *c, const struct view *v, const struct config_order *order,
	struct err *e)
{
	struct proxy_request *w = x->request;
	if (name_guard_begin(&x->guard, w->context, c, v, order, w->project, e) < 0)
		return -1;
	if (!order_has(&x->guard.order, x->number))
		return 1;
	return upstream_pages_load_cached(w->context->upstream_pages, c, w->project, &x->guard.order, judge_all_earlier,
		x, e);
}

// A name that an upstream hides is hidden of those after it too, unless the client may read a view that asks them in
// another order. If an upstream may hide it in each, *ask becomes as a view asks.
static int judge_by_views(struct proxy_request *w, struct catalog *c, size_t number, struct config_order *ask,
	bool *is_hidden, struct err *e)
{
	const struct site *site = server_context_site(w->context);
	struct config_order asks = {.count = 0};
	bool is_offered = false;
	*is_hidden = true;
	for (size_t i = 0; i < w->views && (!is_offered || w->has_private); i++) {
		struct earlier x = {.request = w, .number = number};
		struct config_order order = w->view[i]->upstreams;
		name_rules_admit(&site->rules, w->project, &order);
		if (!order_has(&order, number))
			continue;
		int looked = order.item[0] == number ? 0 : look_before(&x, c, w->view[i], &order, e);
		if (looked < 0)
			return -1;
		if (looked)
			continue;
		if (!asks.count || (*is_hidden && !x.hides))
			asks = order;
		*is_hidden = *is_hidden && x.hides;
		is_offered = is_offered || (!x.hides && !x.is_unsaid);
		w->is_of_reader = w->is_of_reader || (x.hides && w->has_private);
	}
	*is_hidden = *is_hidden && asks.count;
	if (!is_offered && asks.count)
		*ask = asks;
	return 0;
}

// By the file's upstream; by that of the address, if no page has the file.
static int judge_found(struct proxy_request *w, struct catalog *c, struct err *e)
{
	struct config_order unused;
	size_t number = w->url ? w->home.number : w->named.item[0];
	bool has_upstream = w->url || w->match->upstream.ptr;
	return w->is_hidden || !has_upstream ? 0 : judge_by_views(w, c, number, &unused, &w->is_hidden, e);
}

// --- whom to ask ---

static int note_if_has_file(void *ctx, const struct upstream_answer *one, struct err *e UNUSED)
{
	struct proxy_request *w = ctx;
	w->has_file = find_file(w, one) != NULL;
	w->is_unsaid = !one->certain;
	return 0;
}

// An upstream that is known to have the file, which those before it have not, is asked alone, unless one before it may
// hide it. Else none is asked that the view would not ask: it must not learn the names of others.
static int find_order(struct proxy_request *w, struct catalog *c, struct err *e)
{
	for (size_t i = 0; i < w->named.count && !w->is_unsaid; i++) {
		struct config_order one = {
			.item = {w->named.item[i]}, .count = 1, .is_together = w->order.is_together};
		if (upstream_pages_load_cached(w->context->upstream_pages, c, w->project, &one, note_if_has_file, w, e) < 0)
			return -1;
		if (!w->has_file)
			continue;
		bool was_hidden;
		if (judge_by_views(w, c, w->named.item[i], &one, &was_hidden, e) < 0)
			return -1;
		w->order = one;
		break;
	}
	for (size_t i = 0; i < w->order.count; i++)
		w->asked |= (uint32_t)1 << w->order.item[i];
	return 0;
}

struct reply *proxy_inline(struct server_context *s, const struct route_match *match)
{
	return server_context_site(s)->merges_publicly ? files_inline(s, match) : NULL;
}

struct reply *proxy_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	CLEANUP(proxy_request_release) struct proxy_request w;
	bool is_name = proxy_request_init(&w, s, match);
	if (!s->upstream_pages || !is_name)
		return server_context_not_found(s, no_such_file);
	struct reply *refused = find_named(&w, c);
	if (refused)
		return refused;
	if (!w.named.count)
		return server_context_not_found(s, no_such_file);
	if (find_order(&w, c, &e) < 0 || name_guard_begin(&w.guard, s, c, NULL, &w.order, w.project, &e) < 0)
		return server_context_error(&e);
	if (!w.guard.order.count)
		return server_context_not_found(s, no_such_file);
	w.order = w.guard.order;
	int told = upstream_pages_get(s->upstream_pages, c, w.project, &w.order, match->request->peer,
		name_guard_since(&w.guard), match->continuation, take_proxy_answer, &w, &e);
	if (told < 0 || (told == UPSTREAM_PAGES_ANSWERED && judge_found(&w, c, &e) < 0))
		return server_context_error(&e);
	if (told == UPSTREAM_PAGES_BUSY)
		return server_context_busy();
	return told == UPSTREAM_PAGES_LATER ? NULL : send_decided(&w);
}
