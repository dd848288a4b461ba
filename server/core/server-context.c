// SPDX-License-Identifier: Apache-2.0
#include "server/core/server-context.h"

#include "lib/advisories/advisories.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/publish/upload-policy.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/upstream.h"
#include "lib/audit/wheel-gate.h"
#include "server/message/reply.h"

enum { CATCH_UP_MS = 2000 };

struct site *server_context_site(struct server_context *s)
{
	return atomic_load_explicit(&s->site, memory_order_acquire);
}

struct wheel_gate *server_context_gate(struct server_context *s)
{
	pthread_mutex_lock(&s->refs_lock);
	struct wheel_gate *gate = wheel_gate_ref(s->wheel_gate);
	pthread_mutex_unlock(&s->refs_lock);
	return gate;
}

void server_context_set_gate(struct server_context *s, struct wheel_gate *gate)
{
	pthread_mutex_lock(&s->refs_lock);
	struct wheel_gate *old = s->wheel_gate;
	s->wheel_gate = gate;
	pthread_mutex_unlock(&s->refs_lock);
	wheel_gate_unref(old);
}

struct rule_list *server_context_denied(struct server_context *s)
{
	pthread_mutex_lock(&s->refs_lock);
	struct rule_list *l = rule_list_ref(s->denied);
	pthread_mutex_unlock(&s->refs_lock);
	return l;
}

void server_context_set_denied(struct server_context *s, struct rule_list *l)
{
	pthread_mutex_lock(&s->refs_lock);
	struct rule_list *old = s->denied;
	s->denied = l;
	pthread_mutex_unlock(&s->refs_lock);
	rule_list_unref(old);
}

bool server_context_look_at_denied(struct server_context *s)
{
	CLEANUP(rule_list_cleanup) struct rule_list *before = server_context_denied(s);
	bool has_changed = rule_list_has_changed(before);
	if (has_changed)
		server_context_set_denied(s, rule_list_renew(before));
	return has_changed;
}

struct told_lists {
	struct jsondoc *doc;
	uint32_t upstreams;
	bool has_folders, has_broken;
};

static void add_told_list(void *ctx, const struct upstreams_list *l)
{
	struct told_lists *t = ctx;
	bool is_seen = l->upstream ? t->upstreams & (uint32_t)1 << l->number : l->error || strcmp(l->key, "holds") != 0;
	if (!is_seen)
		return;
	struct jsondoc *doc = jsondoc_new("upstream:k key:s list:s", l->upstream, l->key, fs_path_as_told(l->path, t->has_folders));
	if (l->error)
		jsondoc_set(doc, "error:s failed:T", t->has_folders ? l->error : "it cannot be read", l->failed);
	t->has_broken |= l->error != NULL;
	jsondoc_add(t->doc, doc);
}

struct jsondoc *server_context_rule_lists(struct server_context *s, uint32_t upstreams, bool has_folders, bool *has_broken)
{
	struct told_lists t = {jsondoc_array(), upstreams, has_folders, false};
	CLEANUP(rule_list_cleanup) struct rule_list *list = server_context_denied(s);
	struct upstreams_list denied = {.key = "deny"};
	if (list) {
		rule_list_tell(list, &denied.path, &denied.error, &denied.failed);
		add_told_list(&t, &denied);
	}
	if (s->upstreams)
		upstreams_lists(s->upstreams, add_told_list, &t);
	*has_broken = t.has_broken;
	return t.doc;
}

struct advisories *server_context_advisories(struct server_context *s)
{
	pthread_mutex_lock(&s->refs_lock);
	struct advisories *a = advisories_ref(s->advisories);
	pthread_mutex_unlock(&s->refs_lock);
	return a;
}

// What decides by them has the same.
static void use_advisories(struct server_context *s)
{
	struct advisories *now = server_context_advisories(s);
	pthread_mutex_lock(&s->current_lock);
	struct upstreams *u = s->upstreams;
	pthread_mutex_unlock(&s->current_lock);
	if (u)
		upstreams_use_lists(u, now);
	upload_policy_use_lists(atomic_load(&s->upload_policy), now);
	advisories_unref(now);
}

void server_context_set_advisories(struct server_context *s, const struct advisories *expected, struct advisories *a)
{
	pthread_mutex_lock(&s->lists_lock);
	pthread_mutex_lock(&s->refs_lock);
	struct advisories *old = expected && s->advisories != expected ? a : s->advisories;
	if (old != a)
		s->advisories = a;
	pthread_mutex_unlock(&s->refs_lock);
	advisories_unref(old);
	if (old != a && a)
		use_advisories(s);
	pthread_mutex_unlock(&s->lists_lock);
}

struct upstreams *server_context_upstreams(struct server_context *s)
{
	struct err e = ERR_INIT;
	pthread_mutex_lock(&s->current_lock);
	struct upstreams *u = s->upstreams;
	if (!u && upstreams_new(&server_context_site(s)->config, &u, &e) < 0) {
		log_error("%s", e.msg);
	} else if (!s->upstreams) {
		struct advisories *lists = server_context_advisories(s);
		upstreams_use_lists(u, lists);
		advisories_unref(lists);
	}
	s->upstreams = u;
	pthread_mutex_unlock(&s->current_lock);
	if (u && !s->upstream_pages)
		upstreams_look(u); // nobody else does
	return u;
}

static void catch_up(struct server_context *s, bool for_directory)
{
	uint32_t wanted = changes_read(s->changes);
	int64_t end_ms = clock_ms() + CATCH_UP_MS;
	bool in_time = true;
	pthread_mutex_lock(&s->current_lock);
	while (in_time && (!changes_is_past(wanted, atomic_load(&s->current_count)) ||
				  (for_directory && atomic_load(&s->lacks_directory))))
		in_time = clock_wait(&s->current_changed, &s->current_lock, end_ms);
	pthread_mutex_unlock(&s->current_lock);
}

void server_context_catch_up(struct server_context *s)
{
	if (!server_context_is_current(s))
		catch_up(s, false);
}

bool server_context_has_directory(struct server_context *s)
{
	if (!server_context_is_current(s) || atomic_load(&s->lacks_directory))
		catch_up(s, true);
	return !atomic_load(&s->lacks_directory);
}

void server_context_set_current(struct server_context *s, uint32_t count)
{
	pthread_mutex_lock(&s->current_lock);
	atomic_store_explicit(&s->current_count, count, memory_order_release);
	pthread_cond_broadcast(&s->current_changed);
	pthread_mutex_unlock(&s->current_lock);
}

struct catalog_totals server_context_platform_totals(struct server_context *s, size_t platform)
{
	struct catalog_totals found = {0};
	pthread_mutex_lock(&s->totals_lock);
	if (platform < s->totals_count)
		found = s->totals[platform];
	pthread_mutex_unlock(&s->totals_lock);
	return found;
}

void server_context_kept(struct server_context *s, uint32_t upstreams, uint64_t *files, uint64_t *bytes)
{
	for (size_t i = 0; i < s->upstream_count; i++) {
		uint64_t own_files = 0, own_bytes = 0;
		if (!(upstreams & (uint32_t)1 << i))
			continue;
		file_cache_totals(s->upstream[i].file_cache, &own_files, &own_bytes);
		*files += own_files;
		*bytes += own_bytes;
	}
}

static void set_max_age(struct reply *r, bool is_private, int64_t seconds)
{
	reply_header(r, "Cache-Control", "%s, max-age=%lld, must-revalidate", is_private ? "private" : "public",
		(long long)seconds);
}

void server_context_set_freshness(struct server_context *s, struct reply *r, bool is_private)
{
	set_max_age(r, is_private, (int64_t)server_context_site(s)->page_max_age);
}

// The age is at most half of the time that is left, and the reply is made again when it is all of that: so no client
// has the page for too long, and it is made some ten times.
int64_t server_context_set_freshness_until(struct server_context *s, struct reply *r, bool is_private, int64_t until)
{
	int64_t age = (int64_t)server_context_site(s)->page_max_age;
	int64_t left_ms = until * 1000 - clock_wall_ns() / 1000000;
	if (!until) {
		set_max_age(r, is_private, age);
		return 0;
	}
	left_ms = left_ms < 1 ? 1 : left_ms;
	age = age < left_ms / 2000 ? age : left_ms / 2000;
	set_max_age(r, is_private, age);
	return left_ms - age * 1000;
}

const char server_context_no_page[] =
	"no such page; indexes are at /PLATFORM/simple/ and /VIEW/simple/, and the page at / has links to the others";
const char server_context_no_default[] =
	"no index of all platforms here: each has its own, /PLATFORM/simple/, and / has the list";

struct reply *server_context_not_found(struct server_context *s, const char *what)
{
	struct page_key key;
	page_key_make(&key, PAGE_NOT_FOUND, NULL, PAGE_VALUES(PAGE_TEXT(str_from(what))));
	struct reply *r = pagecache_get(s->pagecache, &key);
	if (!r) {
		uint64_t epoch = pagecache_epoch(s->pagecache, &key, pagecache_cleared(s->pagecache));
		r = reply_text(404, "404 Not Found: %s", what);
		server_context_set_freshness(s, r, false);
		pagecache_put(s->pagecache, &key, r, 0, epoch);
	}
	return r;
}

struct reply *server_context_not_found_in(struct server_context *s, bool is_private, const char *what)
{
	if (!is_private)
		return server_context_not_found(s, what);
	struct reply *r = reply_text(404, "404 Not Found: %s", what);
	server_context_set_freshness(s, r, true);
	return r;
}

struct reply *server_context_withdrawn(struct server_context *s, struct catalog *c, const char *project,
	const struct platform *const *platform, size_t count)
{
	struct err e = ERR_INIT;
	const char *contact = server_context_site(s)->config.contact;
	const char *name = simplepage_status_name[SIMPLEPAGE_QUARANTINED];
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_find(c, project, platform, count, &status, &e) < 0)
		return server_context_error(&e);
	if (status.status != SIMPLEPAGE_QUARANTINED)
		return NULL;
	CLEANUP(mem_free)
	char *words = xasprintf("%s: %s%s%s", name, status.reason, contact ? "; ask " : "", contact ? contact : "");
	return reply_problem(403, name, words);
}

struct reply *server_context_error(const struct err *e)
{
	const struct error_status *answer = error_status(e->kind, ERROR_OF_READ);
	(answer->is_fault ? log_error : log_debug)("%s", e->msg);
	struct reply *r = reply_text(answer->status, "%u %s%s%s", answer->status, answer->title,
		answer->detail ? ": " : "", answer->detail ? answer->detail : "");
	reply_header(r, "Cache-Control", "no-store");
	if (answer->retry_after)
		reply_header(r, "Retry-After", "%u", answer->retry_after);
	return r;
}

struct reply *server_context_busy(void)
{
	return reply_busy("too much is asked of upstream at once; ask again");
}

struct reply *server_context_not_filled(void)
{
	struct reply *r = reply_text(503,
		"503 Service Unavailable: what is asked for has not been indexed yet; ask again: the first scan runs, or "
		"the folder of a platform does not answer, which \"wheelcache doctor\" on the server says");
	reply_header(r, "Cache-Control", "no-store");
	reply_header(r, "Retry-After", "10");
	return r;
}
