// SPDX-License-Identifier: Apache-2.0
#include "server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/advisories/advisories.h"
#include "lib/audit/wheel-gate.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/hook.h"
#include "lib/os/processors.h"
#include "lib/os/safefile.h"
#include "lib/state/access/audit.h"
#include "lib/state/config/config.h"
#include "lib/state/config/state-files.h"
#include "lib/state/publish/upload-policy.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/mirror-pins.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"
#include "server/api/routes.h"
#include "server/catalog-watch.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/core/missing-counts.h"
#include "server/core/monitors.h"
#include "server/core/rate-limit.h"
#include "server/core/server-context.h"
#include "server/core/simple-pages.h"
#include "server/http/http.h"
#include "server/http/metrics.h"
#include "server/message/download-counter.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/project-list.h"
#include "server/upstream/upstream-files.h"
#include "server/upstream/upstream-pages.h"

enum {
	LOOK_ROUNDS = 5, // seconds, about, between two looks at the processors that the server may use
	GRACE_SECONDS = 30,  // for downloads under way at the stop
	HOOK_SECONDS = 5,    // for commands of on-change at the stop
	DAY_SECONDS = 86400,
	COUNTER_MS = 300000, // how often the download counts are written
	REFUSALS_MS = 60000, // window of the audit log's lines about refused requests
};

// A site with its upload policy, and the previous one. Requests hold no reference, since a cache hit must not write to
// memory that all threads read. So an old site stays until the stop; there is one for each reload.
struct generation {
	struct generation *before;
	struct site site;
	struct upload_policy *upload_policy;
};

struct server {
	struct server_context context;
	struct generation *newest;
	struct catalog_watch *catalog_watch;
	struct http *http;
	unsigned threads;    // event loops
	unsigned rounds;     // of look_around()
	unsigned processors; // that the server may use, as the log said last; 0: the configuration has the number of threads
	bool hands_over; // another process accepts from the socket: what is under way is answered in full
	FILE *access_log;
	struct trusted_proxies *trusted_proxies;
	char *access_log_path; // NULL: stdout, or none
	struct audit_place audit;
	char *catalog_path, *downloads_path, *downloaders_path;
	struct download_counter *downloaders; // NULL: who downloads is not recorded, and never was
};

// --- upstream ---

enum { PROJECT_LIST_SECONDS = 3600 }; // the list of all projects is requested at most so often

// Before any client gets the answer.
static int learn_answer(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	if (answer->is_changed)
		simple_pages_drop_project(ctx, answer->project);
	return name_guard_learn(ctx, answer, e);
}

static void drop_lists(void *ctx)
{
	simple_pages_drop_lists(ctx);
}

static void drop_page(void *ctx, const char *project)
{
	simple_pages_drop_project(ctx, project);
}

static unsigned project_list_age(const struct config_upstream *c)
{
	return (unsigned)(c->max_age > PROJECT_LIST_SECONDS ? c->max_age : PROJECT_LIST_SECONDS);
}

// A view whose platforms' machines are unknown lists all wheels, because any could fit.
static void warn_of_unknown_platforms(const struct site *site)
{
	for (size_t i = 0; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const struct platform *p = v->wheels.unknown;
		if (!v->upstreams.count || !v->wheels.is_enabled || v->wheels.tag.count)
			continue;
		CLEANUP(mem_free) char *name = v->name ? xasprintf("view %s", v->name) : xstrdup("the default view");
		if (p)
			log_warn("%s lists all of upstream's wheels: the machines of platform %s are unknown "
				 "([platform %s] pythons, arch and libc describe them)",
				name, p->name, p->name);
		else
			log_warn("%s lists all of upstream's wheels: it has no platform "
				 "([platform NAME] pythons, arch and libc describe its machines)",
				name);
	}
}

// What one upstream has for itself. c->upstreams has as many as s->upstreams, which were made of it.
static int start_one(struct server_context *s, const struct config *c, size_t i, struct err *e)
{
	const struct config_upstream *own = &c->upstreams.item[i];
	struct server_upstream *u = &s->upstream[s->upstream_count++];
	CLEANUP(mem_free) char *files = state_file_upstream(own, s->catalog_path);
	u->upstream = upstreams_item(s->upstreams, i);
	if (file_cache_open(files, own->files_size, s->mirror_pins, &u->file_cache, e) < 0)
		return -1;
	if (strcmp(c->upstream_root, "all") == 0)
		u->project_list = project_list_new(&(struct project_list_options){
			.folder = files,
			.url = upstream_url(s->upstreams, u->upstream),
			.pool = upstream_pool(u->upstream),
			.max_age = project_list_age(own),
			.is_offline = c->upstream_offline,
			.changed = drop_lists,
			.ctx = s,
		});
	u->fetch_pool = upstream_new_pool(own);
	fetch_pool_start(u->fetch_pool);
	u->upstream_files =
		upstream_files_new(u->fetch_pool, (unsigned)own->concurrency, u->file_cache, s->metrics);
	return 0;
}

// Does nothing if no view merges. c is borrowed until stop_upstream(). On an error stop_upstream() cleans
// up. One thread, before the server answers requests. Errors: the file cache's, and those of the file of owned names.
static int start_upstream(struct server_context *s, const struct config *c, struct err *e)
{
	CLEANUP(mem_free) char *ours = state_file(c, s->catalog_path, STATE_FILE_OWNED_NAMES);
	if (!server_context_site(s)->merges)
		return 0;
	struct upstreams *u = NULL;
	if (upstreams_new(c, &u, e) < 0)
		return -1;
	CLEANUP(mem_free) char *mirrors = state_file(c, s->catalog_path, STATE_FILE_MIRRORS);
	s->mirror_pins = mirror_pins_new(mirrors);
	upstreams_use_pins(u, s->mirror_pins);
	upstreams_use_lists(u, s->advisories);
	s->upstreams = u;
	warn_of_unknown_platforms(server_context_site(s));
	if (owned_names_open(ours, &s->owned_names, e) < 0)
		return -1;
	owned_names_watch(s->owned_names, drop_page, s);
	s->upstream = xcalloc(c->upstreams.count + 1, sizeof(*s->upstream));
	for (size_t i = 0; i < c->upstreams.count; i++)
		if (start_one(s, c, i, e) < 0)
			return -1;
	s->upstream_pages = upstream_pages_start(c, s->upstreams, s->catalog_pool, s->metrics, learn_answer, s);
	return 0;
}

// Resumes the clients that wait for a page: the server is stopping, and clients ask again. Downloads continue. Any
// thread.
static void cancel_upstream_pages(struct server_context *s)
{
	upstream_pages_cancel(s->upstream_pages);
	for (size_t i = 0; i < s->upstream_count; i++)
		project_list_cancel(s->upstream[i].project_list);
}

// Resumes clients that have left, and drops work that only they wanted. Any thread.
static void drop_left_clients(struct server_context *s)
{
	for (size_t i = 0; i < s->upstream_count; i++)
		upstream_files_drop_left(s->upstream[i].upstream_files);
	if (s->upstream_pages)
		upstream_pages_drop_left(s->upstream_pages);
}

// Resumes all clients that wait for upstream, now and from now on. Any thread.
static void cancel_upstream(struct server_context *s)
{
	cancel_upstream_pages(s);
	for (size_t i = 0; i < s->upstream_count; i++)
		upstream_files_cancel(s->upstream[i].upstream_files);
}

// Ends all requests in flight, by freeing the fetch pools, and frees the parts. One thread, when no other thread
// answers requests or watches the catalog.
static void stop_upstream(struct server_context *s)
{
	cancel_upstream(s);
	for (size_t i = 0; i < s->upstream_count; i++) {
		fetch_pool_free(s->upstream[i].fetch_pool);
		upstream_files_free(s->upstream[i].upstream_files);
	}
	upstream_pages_free(s->upstream_pages);
	upstreams_free(atomic_exchange(&s->upstreams, NULL));
	for (size_t i = 0; i < s->upstream_count; i++) {
		project_list_free(s->upstream[i].project_list);
		file_cache_close(s->upstream[i].file_cache);
	}
	free(s->upstream);
	owned_names_close(s->owned_names);
	mirror_pins_free(s->mirror_pins);
}

// What decides about uploads, and about what upstream has.
struct policies {
	struct rule_list *denied;
	struct upload_policy *upload;
	struct wheel_gate *gate;
	struct advisories *advisories;
};

static int policies_read(const struct config *c, const char *catalog_path, struct policies *out, struct err *e)
{
	*out = (struct policies){0};
	if (rule_list_open(c->deny, NULL, &out->denied, e) == 0 && upload_policy_new(c, &out->upload, e) == 0 && wheel_gate_new(c, &out->gate, e) == 0 &&
		advisories_open(c, catalog_path, &out->advisories, e) == 0)
		return 0;
	rule_list_unref(out->denied);
	upload_policy_free(out->upload);
	wheel_gate_unref(out->gate);
	return -1;
}

// Takes site and policies over.
static void put_site(struct server *s, struct site *site, struct policies *policies, bool takes_facts)
{
	struct generation *g = xcalloc(1, sizeof(*g));
	g->site = *site;
	g->upload_policy = policies->upload;
	g->before = s->newest;
	s->newest = g;
	*site = (struct site){0};
	atomic_store(&s->context.takes_facts, takes_facts);
	atomic_store_explicit(&s->context.upload_policy, policies->upload, memory_order_release);
	server_context_set_denied(&s->context, policies->denied);
	server_context_set_gate(&s->context, policies->gate);
	server_context_set_advisories(&s->context, NULL, policies->advisories);
	atomic_store_explicit(&s->context.site, &g->site, memory_order_release);
}

static void count_request(void *ctx, const struct request *request, unsigned status, uint64_t bytes)
{
	const struct server_context *s = ctx;
	metrics_request(s->metrics, (enum metric_route)request->metric, status, bytes);
}

static void cancel_work(void *ctx)
{
	struct server_context *s = ctx;
	atomic_store(&s->is_stopping, true);
	cancel_upstream(s);
}

// Stops and frees everything, in the reverse order of its start.
static void server_free(struct server *s)
{
	if (!s->hands_over) {
		atomic_store(&s->context.is_stopping, true);
		cancel_upstream_pages(&s->context);
	}
	http_stop(s->http, GRACE_SECONDS);
	release_scheduler_stop(s->context.release_scheduler);
	catalog_watch_stop(s->catalog_watch); // which uses upstream
	advisory_monitor_stop(s->context.advisory_monitor); // which tells upstream of lists
	stop_upstream(&s->context);
	view_monitor_stop(s->context.view_monitor);
	platform_monitor_stop(s->context.platform_monitor);
	pagecache_free(s->context.pagecache);
	answers_free(s->context.answers);
	download_counter_stop(s->context.download_counter);
	download_counter_stop(s->downloaders);
	project_filter_free(s->context.project_filter);
	project_directory_free(s->context.project_directory);
	missing_counts_free(s->context.missing_counts);
	metrics_free(s->context.metrics);
	catalog_pool_free(s->context.catalog_pool);
	auth_free(s->context.auth);
	rate_limit_free(s->context.evidence_limit);
	evidence_quota_free(s->context.evidence_quota);
	hook_queue_free(s->context.view_hooks, HOOK_SECONDS);
	build_results_free(s->context.build_results);
	for (struct generation *g = s->newest, *before; g; g = before) {
		before = g->before;
		site_release(&g->site);
		upload_policy_free(g->upload_policy);
		free(g);
	}
	if (s->access_log && s->access_log != stdout)
		fclose(s->access_log);
	pthread_mutex_destroy(&s->context.totals_lock);
	server_context_set_gate(&s->context, NULL);
	server_context_set_denied(&s->context, NULL);
	server_context_set_advisories(&s->context, NULL, NULL);
	pthread_mutex_destroy(&s->context.refs_lock);
	pthread_mutex_destroy(&s->context.lists_lock);
	pthread_mutex_destroy(&s->context.current_lock);
	pthread_cond_destroy(&s->context.current_changed);
	changes_close(s->context.changes);
	free(s->context.totals);
	trusted_proxies_free(s->trusted_proxies);
	free(s->access_log_path);
	audit_refusals_free(s->audit.refusals);
	audit_place_release(&s->audit);
	free(s->catalog_path);
	free(s->downloads_path);
	free(s->downloaders_path);
	free(s);
}

// Returns a descriptor or -1. The names of streams are opened as they are; other paths by safefile_open().
static int open_log_file(const char *path, struct err *e)
{
	static const char *const stream[] = {"/dev/stdout", "/dev/stderr", "/dev/null"};
	for (size_t i = 0; i < ARRAY_SIZE(stream); i++)
		if (strcmp(path, stream[i]) == 0) {
			int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
			return fd < 0 ? err_errno(e, ERR_IO, "%s", path) : fd;
		}
	return safefile_open(path, O_WRONLY | O_CREAT | O_APPEND, e);
}

static int open_access_log(struct server *s, const char *path, struct err *e)
{
	if (!path)
		return 0;
	bool is_stdout = strcmp(path, "-") == 0;
	CLEANUP(mem_close) int fd = is_stdout ? -1 : open_log_file(path, e);
	if (!is_stdout && fd < 0)
		return err_prefix(e, "cannot open the access log ");
	s->access_log = is_stdout ? stdout : fdopen(mem_steal_fd(&fd), "a");
	if (!s->access_log)
		return err_errno(e, ERR_IO, "cannot open the access log %s", path);
	s->access_log_path = is_stdout ? NULL : xstrdup(path);
	setvbuf(s->access_log, NULL, _IOLBF, BUFSIZ);
	return 0;
}

// Replaces the file behind the stream, since threads may be writing to the stream.
void server_reopen_log(struct server *s)
{
	if (!s->access_log_path)
		return;
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int fd = open_log_file(s->access_log_path, &e);
	if (fd >= 0 && dup3(fd, fileno(s->access_log), O_CLOEXEC) < 0)
		err_errno(&e, ERR_IO, "%s", s->access_log_path);
	if (e.kind != ERR_NONE)
		log_error("cannot open the access log again: %s", e.msg);
}

// --- event loops ---

static void choose_threads(struct server *s, const struct config *c)
{
	struct processors may = processors_find("");
	s->threads = c->threads ? (unsigned)c->threads : may.count;
	s->processors = c->threads ? 0 : may.count;
	log_info("answers in %s: %s", COUNTED(s->threads, "thread|threads"), c->threads ? "[server] threads" : may.why);
}

// A quota or an affinity may change at any time. libmicrohttpd has its threads until its end.
static void look_at_processors(struct server *s)
{
	struct processors may = processors_find("");
	if (!s->processors || may.count == s->processors)
		return;
	s->processors = may.count;
	if (may.count == s->threads)
		log_info("the server answers in as many threads again as fit: %s", may.why);
	else
		log_warn("the server answers in %s, and %u would fit now: %s; a restart takes the new number",
			COUNTED(s->threads, "thread|threads"), may.count, may.why);
}

static bool records_downloaders(const struct config *c)
{
	return strcmp(c->record_downloads, "who") == 0;
}

// About once a second.
static void look_around(void *ctx)
{
	struct server *s = (struct server *)(void *)((char *)ctx - offsetof(struct server, context));
	drop_left_clients(&s->context);
	if (s->rounds++ % LOOK_ROUNDS == 0)
		look_at_processors(s);
}

static void note_downloader(void *ctx, const struct request *request, const struct download_count *count)
{
	const struct server *s = (struct server *)(void *)((char *)ctx - offsetof(struct server, context));
	CLEANUP(mem_free) char *token = auth_token(ctx, request);
	CLEANUP(mem_free) char *who = token ? xasprintf("token %s", token) : xasprintf("address %s", request->peer);
	download_counter_note(s->downloaders, count, who);
}

static int start_http(struct server *s, const struct server_options *options, struct err *e)
{
	const struct config *c = options->config;
	choose_threads(s, c);
	struct http_options o = {
		.socket = options->socket,
		.url = options->url,
		.is_passed = options->is_passed,
		.threads = s->threads,
		.connections = (unsigned)c->connections,
		.timeout = (unsigned)c->timeout,
		.tls = options->tls,
		.answers = s->context.answers,
		.access_log = s->access_log,
		.proxies = s->trusted_proxies,
		.handle_inline = routes_inline,
		.handle_worker = routes_worker,
		.on_checked = look_around,
		.cancel = cancel_work,
		.on_answered = count_request,
		.receive = routes_receive,
		.pool = routes_pool,
		.token = routes_token,
		.on_downloaded = records_downloaders(c) ? note_downloader : NULL,
		.ctx = &s->context,
	};
	s->http = http_start(&o, e);
	return s->http ? 0 : -1;
}

// Opened here, as its own lines are not limited.
static void write_refusals(void *ctx, const struct audit_unwritten *what)
{
	const struct server *s = ctx;
	struct err e = ERR_INIT;
	struct audit_place place = s->audit;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(mem_free)
	char *reason =
		xasprintf("%s no line%s", COUNTED(what->lines, "more within a minute has|more within a minute have"),
			what->peer ? "" : ", of several clients");
	const struct audit_entry entry = {
		.who = what->who, .peer = what->peer, .action = what->action, .result = "refused", .reason = reason};
	place.refusals = NULL;
	if (audit_open(&place, &audit, &e) < 0 || audit_write(audit, &entry, &e) < 0)
		log_error("%s", e.msg);
}

// What was recorded once is dropped in time.
static void start_counters(struct server *s, const struct config *c)
{
	const struct downloads_place counts = {
		.path = s->downloads_path, .kept = (int64_t)DOWNLOADS_DAYS * DAY_SECONDS, .most = LIMIT_DOWNLOADS};
	const struct downloads_place who = {.path = s->downloaders_path,
		.kept = (int64_t)c->downloaders_kept,
		.each = LIMIT_DOWNLOADERS_EACH,
		.most = LIMIT_DOWNLOADERS};
	s->context.download_counter = download_counter_start(&counts, COUNTER_MS);
	if (records_downloaders(c) || access(s->downloaders_path, F_OK) == 0)
		s->downloaders = download_counter_start(&who, COUNTER_MS);
}

static struct server *server_new(const struct server_options *o, struct site *site, struct policies *policies)
{
	struct server *s = xcalloc(1, sizeof(*s));
	s->hands_over = o->is_passed;
	s->context.scans = o->scans;
	s->context.answers = answers_new();
	s->context.pagecache = pagecache_new((size_t)o->config->page_cache);
	s->context.project_filter = project_filter_new();
	s->context.project_directory = project_directory_new();
	s->context.missing_counts = missing_counts_new();
	s->context.metrics = metrics_new();
	s->context.catalog_pool = catalog_pool_new(o->catalog_path);
	catalog_pool_give(s->context.catalog_pool, &(struct catalog_lease){.catalog = o->catalog});
	s->context.changes = changes_open(o->catalog_path);
	CLEANUP(mem_free) char *tokens = state_file(o->config, o->catalog_path, STATE_FILE_TOKENS);
	s->context.auth = auth_new(tokens);
	s->context.evidence_limit = rate_limit_new(LIMIT_EVIDENCE_AT_ONCE, LIMIT_EVIDENCE_EACH_MS);
	s->trusted_proxies = trusted_proxies_new(o->config->trusted_proxies);
	s->context.evidence_quota = evidence_quota_new();
	s->context.view_hooks = hook_queue_new("[view]");
	s->context.build_results = build_results_new(o->config, o->catalog_path);
	audit_place_init(&s->audit, o->config, o->catalog_path);
	s->audit.refusals = audit_refusals_new(REFUSALS_MS, write_refusals, s);
	s->context.audit = &s->audit;
	s->catalog_path = xstrdup(o->catalog_path);
	s->context.catalog_path = s->catalog_path;
	s->downloads_path = state_file(o->config, o->catalog_path, STATE_FILE_DOWNLOADS);
	s->context.downloads_path = s->downloads_path;
	s->downloaders_path = state_file(o->config, o->catalog_path, STATE_FILE_DOWNLOADERS);
	s->context.downloaders_path = s->downloaders_path;
	pthread_mutex_init(&s->context.totals_lock, NULL);
	pthread_mutex_init(&s->context.current_lock, NULL);
	pthread_mutex_init(&s->context.refs_lock, NULL);
	pthread_mutex_init(&s->context.lists_lock, NULL);
	clock_cond_init(&s->context.current_changed);
	atomic_store(&s->context.is_filled, o->is_filled);
	s->context.started = time(NULL);
	s->context.has_tls = o->tls != NULL;
	s->context.search_ms = LIMIT_SEARCH_MS;
	put_site(s, site, policies, o->config->takes_facts);
	s->context.platform_monitor = platform_monitor_start(&s->context);
	s->context.view_monitor = view_monitor_start(&s->context);
	s->context.advisory_monitor = advisory_monitor_start(&s->context);
	s->context.release_scheduler = release_scheduler_start(&s->context);
	start_counters(s, o->config);
	return s;
}

struct server *server_start(const struct server_options *options, struct site *site, struct err *e)
{
	struct policies policies;
	if (policies_read(options->config, options->catalog_path, &policies, e) < 0) {
		catalog_close(options->catalog);
		site_release(site);
		return NULL;
	}
	struct server *s = server_new(options, site, &policies);
	bool ok = open_access_log(s, options->config->access_log, e) == 0 &&
		  start_upstream(&s->context, options->config, e) == 0 &&
		  (s->catalog_watch = catalog_watch_start(&s->context, e)) != NULL && start_http(s, options, e) == 0;
	if (ok)
		return s;
	server_free(s);
	return NULL;
}

const char *server_url(const struct server *s)
{
	return http_url(s->http);
}

int server_reload(struct server *s, const struct config *config, struct site *site, struct err *e)
{
	struct policies policies;
	if (policies_read(config, s->catalog_path, &policies, e) < 0) {
		site_release(site);
		return -1;
	}
	if (site->merges && !s->context.upstream_pages) {
		log_warn("[upstream] merge has changed: this takes effect after a restart");
		site_unmerge(site);
	}
	atomic_store(&s->context.project_filter_is_complete, false); // until catalog_watch has read the catalog
	catalog_pool_renew(s->context.catalog_pool);
	put_site(s, site, &policies, config->takes_facts);
	// Takes over what a reload may change: cache lifetimes, whether upstream is asked, the size of the file cache.
	if (s->context.upstream_pages)
		upstream_pages_configure(s->context.upstream_pages, config);
	for (size_t i = 0; i < s->context.upstream_count; i++) {
		struct server_upstream *u = &s->context.upstream[i];
		const struct config_upstream *own =
			config_upstreams_named(&config->upstreams, upstream_name(u->upstream));
		if (own)
			file_cache_limit(u->file_cache, own->files_size);
		if (own && u->project_list)
			project_list_configure(u->project_list, project_list_age(own), config->upstream_offline);
	}
	warn_of_unknown_platforms(server_context_site(&s->context));
	pagecache_clear(s->context.pagecache);
	catalog_watch_reopen(s->catalog_watch);
	advisory_monitor_hurry(s->context.advisory_monitor);
	release_scheduler_update(s->context.release_scheduler);
	return 0;
}

void server_set_filled(struct server *s)
{
	atomic_store(&s->context.is_filled, true);
}

void server_stop(struct server *s)
{
	if (s)
		server_free(s);
}
