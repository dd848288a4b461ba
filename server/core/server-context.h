// SPDX-License-Identifier: Apache-2.0
// What all handlers share: the site, the catalog, the ready replies, the names; and what handlers look like.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/state/catalog/changes.h"
#include "lib/view/view.h"
#include "server/core/catalog-pool.h"
#include "server/core/pagecache.h"
#include "server/core/project-filter.h"
#include "server/core/server-callbacks.h"
#include "server/message/body-handler.h"
#include "server/message/reply.h"

struct upload_policy;
struct auth;
struct file_cache;
struct fetch_pool;
struct upstream_pages;
struct metrics;
struct owned_names;
struct release_scheduler;
struct upstream_files;
struct project_list;
struct upstream;
struct platform_monitor;

struct server_context {
	struct site *_Atomic site;                   // read once a request; a reload puts another one in its place
	struct upload_policy *_Atomic upload_policy; // the same; NULL: whatever comes is wanted
	struct pagecache *cache;
	struct catalog_pool *readers;
	struct project_filter *names; // that platforms have or had: what is not in it is not there
	struct changes *changes;      // the catalog's change count; NULL: there is none
	_Atomic uint32_t caught;      // the count that names and cache are as new as
	pthread_mutex_t caught_lock;
	pthread_cond_t caught_up;
	atomic_bool names_known; // before that a name may be anywhere
	atomic_bool filled;      // a scan has looked at every platform, now or once
	long started;            // seconds since 1970
	bool has_tls;            // its URLs begin with https
	unsigned search_ms;      // how long a request may search the catalog; 0: for ever
	atomic_bool is_stopping; // nothing that takes long is begun any more
	const struct server_callbacks *host;
	struct auth *auth; // whose tokens count
	const char *audit_path;
	const char *catalog_path;
	struct release_scheduler *release_scheduler; // has platforms released
	struct metrics *metrics;                     // what the server did; NULL: nobody counts
	struct download_counter *download_counter;   // what was downloaded; NULL: nobody counts
	struct platform_monitor *platform_monitor;   // how the platforms are
	// Where views merge what upstream has; else NULL.
	struct upstream_pages *upstream_pages;
	struct fetch_pool *files_pool; // of retrieve
	struct upstream_files *upstream_files;
	struct file_cache *file_cache;
	struct owned_names *ours;
	struct project_list *project_list; // NULL as well where lists have only what is here
	struct upstream *upstream;         // of gateway; else to tell what its indexes said to others
	pthread_mutex_t totals_lock;
	struct catalog_totals *totals; // by site->store.platform
	size_t totals_count;
};

// The parts of a request's path that the route's pattern names, percent-decoded; empty where it names none.
struct route_match {
	const struct request *request;
	struct str view; // or the platform of a file
	struct str project;
	struct str file;
	struct continuation *continuation; // in a work half: see handle_worker_fn
};

// On the event loop: NULL where it would have to block, or does not know.
typedef struct reply *handle_inline_fn(struct server_context *s, const struct route_match *call);
// On a worker thread, with a connection to the catalog. NULL: call->again was given to somebody who wakes it when this is
// to be called once more; that is the last thing that it does.
typedef struct reply *handle_worker_fn(struct server_context *s, struct catalog *c, const struct route_match *call);
// On the event loop, when the header of a POST is there: who takes its body; NULL: nobody, and *refusal (handed over)
// is the answer. The call does not outlive it: what is needed of it later is copied.
typedef struct body_handler *receive_fn(struct server_context *s, const struct route_match *call,
	struct reply **refusal);

struct site *service_site(struct server_context *s);
// Whether names and cache hold all that anybody has committed so far: what a quick half may answer from.
static inline bool service_is_current(struct server_context *s)
{
	return changes_read(s->changes) == atomic_load_explicit(&s->caught, memory_order_acquire);
}
// On a worker: waits until they hold what was committed before the call, for two seconds at most.
void service_catch_up(struct server_context *s);
// They hold all up to this count.
void server_context_caught(struct server_context *s, uint32_t count);
// The totals of a platform of the site by its index; zeros while nothing is known.
struct catalog_totals server_context_platform_totals(struct server_context *s, size_t platform);
// Cache-Control of what may change: pages, and answers that say "not here".
void server_context_fresh(struct server_context *s, struct reply *r, bool is_private);
// 404; what is a literal, and the reply is made once for each: clients ask for what is not there all day.
struct reply *server_context_not_found(struct server_context *s, const char *what);
// The same to somebody who was let in: what is not there may be nobody else's business.
struct reply *server_context_not_found_in(struct server_context *s, bool is_private, const char *what);
// 503, of a platform that no scan has read yet, and of what it may hold: a 404 would send clients elsewhere.
struct reply *server_context_not_filled(void);
// The queue of what is to be asked of upstream is full, for all or for this client: pip and uv ask again.
struct reply *server_context_busy(void);
// The answer to a read that failed: its status by error_status(). The message, which may name paths of ours, is only logged.
struct reply *server_context_error(const struct err *e);
