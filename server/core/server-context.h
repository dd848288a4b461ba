// SPDX-License-Identifier: Apache-2.0
// What all handlers of a server share, and the types of handlers. A field that is a module's object has the module's
// name.
//
// server.c fills the context before the first request and releases it after the last one. In between, only fields that
// are atomic or have a lock change. Any thread may call the functions; the caller drops the references to replies that
// they return.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/state/catalog/changes.h"
#include "lib/view/view.h"
#include "server/core/catalog-pool.h"
#include "server/core/pagecache.h"
#include "server/core/project-directory.h"
#include "server/core/store-scans.h"
#include "server/message/body-handler.h"
#include "server/message/reply.h"
#include "server/message/request.h"

struct advisories;
struct advisory_monitor;
struct answers;
struct audit_place;
struct page_row;
struct missing_counts;
struct upload_policy;
struct rule_list;
struct wheel_gate;
struct auth;
struct build_results;
struct evidence_quota;
struct hook_queue;
struct rate_limit;
struct file_cache;
struct fetch_pool;
struct upstream_pages;
struct metrics;
struct owned_names;
struct mirror_pins;
struct release_scheduler;
struct upstream_files;
struct project_list;
struct upstream;
struct upstreams;
struct platform_monitor;
struct view_monitor;

// What a server has of one upstream for itself.
struct server_upstream {
	struct upstream *upstream;
	struct fetch_pool *fetch_pool; // for upstream_files
	struct upstream_files *upstream_files;
	struct file_cache *file_cache;
	struct project_list *project_list; // NULL: the list of projects is not merged
};

// After a start, before what no page waits for: clients that waited for the server have the processor.
enum { FIRST_PAGES_MS = 50 };

struct server_context {
	// A request reads each once. A reload replaces them; the old ones live until the server ends.
	struct site *_Atomic site;
	struct upload_policy *_Atomic upload_policy; // NULL: every upload is taken
	pthread_mutex_t refs_lock;     // of the next three
	struct rule_list *denied;      // see server_context_denied()
	struct wheel_gate *wheel_gate; // NULL: wheels are not audited; see server_context_gate()
	struct advisories *advisories; // see server_context_advisories()
	pthread_mutex_t lists_lock;    // of who changes them
	atomic_bool takes_facts;       // what is inside uploaded wheels is noted in the catalog

	struct answers *answers; // what clients have not read; NULL: it is not counted
	struct pagecache *pagecache;
	struct catalog_pool *catalog_pool;
	struct project_filter *project_filter; // projects that platforms have or had
	struct project_directory *project_directory;
	struct missing_counts *missing_counts;
	atomic_bool project_filter_is_complete; // false until catalog_watch has read the whole catalog
	atomic_bool lacks_directory;            // until catalog_watch has read all projects once
	struct changes *changes;                // the catalog's change count; NULL: there is none
	_Atomic uint32_t current_count;         // pagecache and project_filter contain all changes up to this count
	pthread_mutex_t current_lock;
	pthread_cond_t current_changed;
	pthread_mutex_t totals_lock;
	struct catalog_totals *totals; // by site->store.platform
	size_t totals_count;

	atomic_bool is_filled;   // a scan has looked at every platform, now or once
	atomic_bool is_stopping; // no handler begins work that takes long
	long started;            // seconds since 1970
	bool has_tls;            // URLs of this server begin with https
	unsigned search_ms;      // time limit of a search in the catalog; 0: none
	const struct audit_place *audit; // the audit log
	const char *catalog_path;
	const char *downloads_path; // the file of the counts
	const char *downloaders_path; // and of who downloaded
	struct store_scans *scans; // it outlives the server
	struct auth *auth;
	struct evidence_quota *evidence_quota; // NULL: none
	struct rate_limit *evidence_limit;   // of records of test runs, by token; NULL: none
	struct hook_queue *view_hooks;       // of [view] on-change; NULL: none are run
	struct build_results *build_results; // NULL: nothing was ever built
	struct release_scheduler *release_scheduler;
	struct platform_monitor *platform_monitor;
	struct advisory_monitor *advisory_monitor;
	struct view_monitor *view_monitor;         // NULL: nobody looks for silent pipelines and lost files
	struct metrics *metrics;                   // NULL: nothing is counted
	struct download_counter *download_counter; // NULL: nothing is counted

	// NULL and 0 where no view merges; the upstreams themselves until server_context_upstreams() is asked for them.
	struct upstreams *_Atomic upstreams; // also shows the results of the last requests
	struct upstream_pages *upstream_pages;
	struct owned_names *owned_names;
	struct mirror_pins *mirror_pins;
	struct server_upstream *upstream; // each of the upstreams, in their order
	size_t upstream_count;
};

// What a handler is called with. The parts of the path are percent-decoded, and empty where the route's path does not
// name them. All of it lasts until the handler returns.
struct route_match {
	const struct request *request;
	const struct page_row *page;       // of a route with a page for people (server/pages/page.h)
	const struct site *site;       // the site for all of this request: its rights were checked by it
	uint32_t pages_cleared;        // pagecache_cleared() from before site was read, for pagecache_epoch()
	const struct view *found_view; // of a route with ROUTE_RIGHT_READ_VIEW: never NULL, and the client may read it;
				       // a part where the path names one
	int64_t at;                    // seconds since 1970: the view as it was at this time; 0: as it is
	struct str upstream;           // the name in /files/upstream/:upstream/
	struct str view, platform;     // ptr NULL, as for all of these: the route has no such part
	struct str part;               // the platform of which a part of the view shows
	struct str project, version, file;
	struct str id;                         // of an attempt to build, or of a record
	struct str other_platform, other_file; // of a route that names two files
	struct buf_meter *meter; // for a worker handler: of the buffers of large answers; NULL: they are not counted
	struct continuation *continuation;     // for a worker handler; NULL: the answer must not wait
};

// Answers on the event loop and must not block. NULL: it would have to block, and the worker handler is called. The
// caller drops the reply.
typedef struct reply *handle_inline_fn(struct server_context *s, const struct route_match *match);
// Answers on a worker thread, with a catalog connection. NULL: the handler has passed match->continuation to a module
// that resumes it; then the handler is called once more. After it has passed the continuation it must touch nothing of
// match.
typedef struct reply *handle_worker_fn(struct server_context *s, struct catalog *c, const struct route_match *match);
// Chooses, on the event loop and without blocking, the handler of a POST's body when the header has arrived. NULL: the
// request is refused, and the caller drops *refusal. match is valid during this call only.
typedef struct body_handler *receive_fn(struct server_context *s, const struct route_match *match,
	struct reply **refusal);

// Valid until the server ends.
struct site *server_context_site(struct server_context *s);
// The gate that judges wheels now, for the caller to unref; NULL: wheels are not audited. It has what platforms provide
// in memory, so that of an old configuration does not live until the server ends.
struct wheel_gate *server_context_gate(struct server_context *s);
void server_context_set_gate(struct server_context *s, struct wheel_gate *gate); // takes it over
// The block lists as they are now, for the caller to unref.
struct advisories *server_context_advisories(struct server_context *s);
// Takes them over. expected: where others than these are in use they are dropped; NULL: they count in any case.
void server_context_set_advisories(struct server_context *s, const struct advisories *expected, struct advisories *a);
// Whether pagecache and project_filter contain all that any process has committed: an inline handler may use them.
static inline bool server_context_is_current(struct server_context *s)
{
	return changes_read(s->changes) == atomic_load_explicit(&s->current_count, memory_order_acquire);
}
// The upstreams, for what the catalog has of them: pages ask also where no view merges. NULL: an error, which is
// logged.
struct upstreams *server_context_upstreams(struct server_context *s);
// Waits, for two seconds at most, until they contain all that was committed before the call. On a worker thread only.
void server_context_catch_up(struct server_context *s);
// The same for project_directory. False: it was not read within two seconds after the start of the server.
bool server_context_has_directory(struct server_context *s);
// For catalog_watch: they contain all changes up to this count.
void server_context_set_current(struct server_context *s, uint32_t count);
// The totals of a platform by its index in the site. Zeros until catalog_watch has counted.
struct catalog_totals server_context_platform_totals(struct server_context *s, size_t platform);
// The files that are kept here of these upstreams (bits by number), together. *files and *bytes are 0 before.
void server_context_kept(struct server_context *s, uint32_t upstreams, uint64_t *files, uint64_t *bytes);
// Adds the Cache-Control of an answer that may change: a page, or a 404.
void server_context_set_freshness(struct server_context *s, struct reply *r, bool is_private);
// The same for a page that becomes another one at this time (seconds since 1970; 0: at none): a client does not use it
// longer. Returns for how many milliseconds the reply may be kept; 0: until it is dropped.
int64_t server_context_set_freshness_until(struct server_context *s, struct reply *r, bool is_private, int64_t until);
// The texts of the 404 for an unknown path, and for the default view where there is none (site.has_no_default), which
// the doctor of a client knows.
extern const char server_context_no_page[], server_context_no_default[];
// 404. what is a literal: there is one reply for each, which is kept in the page cache.
struct reply *server_context_not_found(struct server_context *s, const char *what);
// 404. Where is_private, shared caches must not keep it.
struct reply *server_context_not_found_in(struct server_context *s, bool is_private, const char *what);
// [server] deny, which the caller gives back; NULL: none.
struct rule_list *server_context_denied(struct server_context *s);
void server_context_set_denied(struct server_context *s, struct rule_list *l); // takes it over
// Reads the list again if it has changed: whether it has.
bool server_context_look_at_denied(struct server_context *s);
// The lists of `deny` and `allow`, those of upstreams (bits by number) and of [server], and the holds if they cannot be
// read: [{"upstream"?, "key", "list", "error"?, "failed"? (since when it cannot be read)}, …]. Without folders "list"
// and "error" have less. *has_broken: one cannot be read. The caller frees it.
struct jsondoc *server_context_rule_lists(struct server_context *s, uint32_t upstreams, bool has_folders, bool *has_broken);
// 403, as for a file that a rule hides (lib/state/upstream/offering.h), if one of the platforms has the project in
// quarantine; NULL: none has.
struct reply *server_context_withdrawn(struct server_context *s, struct catalog *c, const char *project,
	const struct platform *const *platform, size_t count);
// 503 for a platform that no scan has read yet: at a 404 a client would use another index.
struct reply *server_context_not_filled(void);
// 503: the queue of requests to upstream is full, for all clients or for this one. pip and uv try again.
struct reply *server_context_busy(void);
// The answer to a read that failed: its status by error_status(). The message, which may name paths of ours, is only
// logged.
struct reply *server_context_error(const struct err *e);
