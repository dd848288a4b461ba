// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "cli/common/probe-places.h"
#include "cli/common/serve-check.h"
#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/retired.h"
#include "lib/state/store/store.h"
#include "lib/view/view.h"
#include "server/http/listen.h"
#include "server/core/store-scans.h"
#include "server/core/server-context.h"
#include "server/server.h"

enum { LARGE_BLOCK = 128 << 10 }; // bytes; what glibc begins with

// Used by the main thread only, which waits for signals and for the end of scans.
struct serve_command {
	struct session session; // its configuration is the one in effect
	struct tls *tls;        // NULL: plain HTTP
	int socket;             // the server takes it over when it starts
	bool is_passed;         // by the process that started this one
	char *url;
	int signals;           // signalfd
	int scanned;           // eventfd: a scan has ended
	struct server *server; // NULL until the first scan of a new catalog has ended
	struct store_scans *scans;
	struct progress progress; // of the first scan
	char *serves;             // describe_site() of the current server, to notice changes
	bool is_incomplete;       // at least one platform was never scanned
};

static void on_scan_end(void *ctx)
{
	struct serve_command *s = ctx;
	eventfd_write(s->scanned, 1);
}

static void show_progress(void *ctx, const struct walk_progress *walk)
{
	progress_walk(&((struct serve_command *)ctx)->progress, walk);
}

static void end_progress(void *ctx)
{
	progress_end(&((struct serve_command *)ctx)->progress);
}

// The platforms and the identity of the catalog file, which may be removed and made again. The caller frees it.
static char *describe_site(const struct serve_command *s, const struct store *store)
{
	struct stat st = {0};
	struct buf text = buf_up_to(SIZE_MAX / 2);
	for (size_t i = 0; i < store->platform_count; i++)
		buf_printf(&text, "%s=%s %d\n", store->platform[i].name, place_path(store->platform[i].place),
			store->platform[i].scanned);
	if (stat(s->session.catalog_path, &st) == 0)
		buf_printf(&text, "%ju:%ju\n", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return buf_steal(&text);
}

// Adds to the store what the catalog knows of it.
static int open_store(const struct config *config, struct store *store, struct catalog *catalog, struct err *e)
{
	if (store_open(config, STORE_PROMPT, store, e) < 0)
		return -1;
	if (store_recall(store, catalog, e) == 0 && store_register(store, catalog, e) == 0)
		return 0;
	store_release(store);
	return -1;
}

// Builds the views from the current configuration and store.
static int read_site(struct serve_command *s, const struct config *config, struct catalog *catalog, struct site *site,
	struct err *e)
{
	struct store store;
	if (open_store(config, &store, catalog, e) < 0)
		return -1;
	retired_look(&store);
	CLEANUP(mem_free) char *text = describe_site(s, &store);
	bool is_incomplete = false;
	for (size_t i = 0; i < store.platform_count; i++)
		is_incomplete |= store.platform[i].scanned != CATALOG_SCANNED;
	if (site_init(site, config, &store, catalog, e) < 0)
		return -1;
	free(s->serves);
	s->serves = STEAL_PTR(text);
	s->is_incomplete = is_incomplete;
	return 0;
}

static int open_catalog(const struct serve_command *s, struct catalog **out, struct err *e)
{
	return catalog_open(s->session.catalog_path, out, e);
}

// Takes the catalog over.
static int start_server(struct serve_command *s, struct catalog *catalog, bool filled, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *owned = catalog;
	struct site site;
	struct server_options options = {
		.config = &s->session.config,
		.catalog_path = s->session.catalog_path,
		.socket = s->socket,
		.url = s->url,
		.is_passed = s->is_passed,
		.tls = s->tls,
		.is_filled = filled,
		.scans = s->scans,
	};
	if (read_site(s, &s->session.config, owned, &site, e) < 0)
		return -1;
	options.catalog = STEAL_PTR(owned);
	s->server = server_start(&options, &site, e);
	if (!s->server)
		return -1;
	mem_steal_fd(&s->socket);
	printf("%s\n", server_url(s->server));
	fflush(stdout);
	return 0;
}

static int reload_server(struct serve_command *s, const struct config *config, struct catalog *catalog, struct err *e)
{
	struct site site;
	return read_site(s, config, catalog, &site, e) < 0 ? -1 : server_reload(s->server, config, &site, e);
}

static void warn_of_restart_key(void *ctx UNUSED, const char *section, const char *key)
{
	log_warn("[%s] %s has changed: this takes effect after a restart", section, key);
}

static void warn_of(void *ctx UNUSED, const char *text)
{
	log_warn("%s", text);
}

// Reads two copies: the server's and the scanner's.
static int reconfigure(struct serve_command *s, struct err *e)
{
	CLEANUP(config_release) struct config ours, theirs;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	config_init(&ours);
	config_init(&theirs);
	if (session_read(&s->session, &ours, e) < 0 || session_read(&s->session, &theirs, e) < 0)
		return -1;
	if (s->server && !config_keep_upstreams(&ours, &s->session.config))
		log_warn("which [upstream NAME] there are has changed: this takes effect after a restart");
	// Without a server yet, it will start with the new configuration.
	if (s->server && (open_catalog(s, &catalog, e) < 0 || reload_server(s, &ours, catalog, e) < 0))
		return -1;
	serve_check_branches(&ours, warn_of, NULL);
	config_restart_keys(&s->session.config, &ours, warn_of_restart_key, NULL);
	struct config old = s->session.config;
	s->session.config = ours;
	ours = old;
	store_scans_configure(s->scans, &theirs);
	return 0;
}

static void renew_certificate(struct serve_command *s)
{
	struct err e = ERR_INIT;
	if (s->tls && tls_renew(s->tls, &e) < 0)
		log_error("the certificate is unchanged: %s", e.msg);
}

static void on_hangup(struct serve_command *s)
{
	struct err e = ERR_INIT;
	renew_certificate(s);
	if (s->server)
		server_reopen_log(s->server);
	if (reconfigure(s, &e) < 0)
		log_error("the configuration is unchanged: %s", e.msg);
	else
		log_info("the configuration is reloaded");
	store_scans_wake(s->scans);
}

// Whether the catalog holds a scan of all platforms, or of any. Then the server can start before the next scan ends.
static int was_scanned(struct catalog *catalog, bool *all, bool *any, struct err *e)
{
	return catalog_was_scanned(catalog, all, e) < 0 ? -1 : catalog_any_was_scanned(catalog, any, e);
}

// Reloads the server if a scan found a new platform folder, or made a removed catalog again.
static int reload_changed_site(struct serve_command *s, struct catalog *catalog, struct err *e)
{
	struct store store;
	if (open_store(&s->session.config, &store, catalog, e) < 0)
		return -1;
	CLEANUP(mem_free) char *text = describe_site(s, &store);
	store_release(&store);
	return strcmp(text, s->serves) == 0 ? 0 : reload_server(s, &s->session.config, catalog, e);
}

static int after_scan(struct serve_command *s, struct err *e)
{
	struct err failure = ERR_INIT;
	bool filled = false, any = false;
	eventfd_t times;
	eventfd_read(s->scanned, &times);
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	bool is_read = open_catalog(s, &catalog, &failure) == 0 && was_scanned(catalog, &filled, &any, &failure) == 0;
	if (!is_read)
		log_error("%s", failure.msg);
	struct store_scans_state scans = store_scans_state(s->scans);
	filled |= scans.has_looked;
	if (!s->server)
		return !catalog && open_catalog(s, &catalog, e) < 0 ? -1 : start_server(s, STEAL_PTR(catalog), filled, e);
	if (filled)
		server_set_filled(s->server);
	is_read &= any || s->is_incomplete; // otherwise it was removed again: catalog-watch wants another scan
	if (is_read && (!scans.has_failed || (scans.has_looked && s->is_incomplete)) &&
		reload_changed_site(s, catalog, &failure) < 0)
		log_error("platforms: %s", failure.msg);
	return 0;
}

// Until SIGTERM or SIGINT.
static int run_until_stopped(struct serve_command *s, struct err *e)
{
	struct pollfd wait[] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->scanned, .events = POLLIN}};
	for (;;) {
		struct signalfd_siginfo signal;
		if (poll(wait, ARRAY_SIZE(wait), -1) < 0) {
			if (errno == EINTR)
				continue;
			return err_errno(e, ERR_IO, "poll");
		}
		if (wait[1].revents && after_scan(s, e) < 0)
			return -1;
		if (!wait[0].revents || read(s->signals, &signal, sizeof(signal)) != sizeof(signal))
			continue;
		if (signal.ssi_signo != SIGHUP)
			return 0;
		on_hangup(s);
	}
}

static bool is_url_of(const char *url, const char *address)
{
	const char *found = strstr(url, address);
	return found && (!found[strlen(address)] || strcmp(found + strlen(address), "/") == 0);
}

// At the start only: a running server keeps its store.
static int adopt_catalog(struct serve_command *s, struct catalog *catalog, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	if (store_open(&s->session.config, STORE_PROMPT, &store, e) < 0)
		return -1;
	return session_adopt(&s->session, &store, catalog, e);
}

static void report_probe(void *ctx, const char *address, enum s3_probe_result result, const char *what,
	const char *words)
{
	struct err *wrong = ctx;
	if (result == S3_PROBE_FINE)
		log_debug("%s: %s: %s", address, what, words);
	else if (result == S3_PROBE_WEAK)
		log_warn("%s: %s: %s", address, what, words);
	else if (result == S3_PROBE_NO_WRITE)
		log_error("%s: uploads are off, and all that writes: %s: %s", address, what, words);
	else if (result == S3_PROBE_AWAY)
		log_error("%s: what is known is served: %s", address, words);
	else if (wrong->kind == ERR_NONE)
		err_set(wrong, ERR_IO, "%s: %s: %s", address, what, words);
}

// Reports configuration errors before the scan begins. The caller closes the catalog, which is opened once: SQLite
// parses the schema at each opening, and removes its log when the last connection closes.
static int prepare_server(struct serve_command *s, struct catalog **catalog, bool *all, bool *any, struct err *e)
{
	if (session_read(&s->session, &s->session.config, e) < 0 ||
		serve_check(&s->session.config, warn_of, NULL, &s->tls, e) < 0)
		return -1;
	struct err wrong = ERR_INIT;
	if (session_locate(&s->session, true, e) < 0)
		return -1;
	if (probe_places(&s->session.config, s->session.catalog_path, report_probe, &wrong) == S3_PROBE_WRONG) {
		*e = wrong;
		return -1;
	}
	// A socket that was passed takes precedence over [server] listen.
	if (passed_socket_take(&s->socket, &s->url, e) < 0)
		return -1;
	s->is_passed = s->socket >= 0;
	if (!s->is_passed)
		s->socket = listen_open(s->session.config.listen, &s->url, e);
	if (s->socket < 0 || (s->tls && tls_url(&s->url, e) < 0))
		return -1;
	if (s->is_passed && !is_url_of(s->url, s->session.config.listen))
		log_warn("[server] listen = %s has no effect: the socket that was passed, such as of "
			 "wheelcache.socket, listens on %s",
			s->session.config.listen, s->url);
	session_warn_of_readers(&s->session);
	if (open_catalog(s, catalog, e) < 0 || adopt_catalog(s, *catalog, e) < 0)
		return -1;
	return was_scanned(*catalog, all, any, e);
}

// Tells the service manager about this process, by the protocol of sd_notify(3), in lines such as "READY=1". Without a
// manager that asks for it ($NOTIFY_SOCKET) nothing is sent. After a failure the manager ends the start after its
// limit.
static void notify_manager(const char *lines)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, strlen(path));
	if (*path == '@') // an abstract socket
		to.sun_path[0] = '\0';
	CLEANUP(mem_close) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (fd < 0 || sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&to, len) < 0)
		log_warn("the service manager at %s is not told: %s", path, strerror(errno));
}

static int start_serving(struct serve_command *s, struct err *e)
{
	bool all = false, any = false;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(config_release) struct config theirs;
	config_init(&theirs);
	if (prepare_server(s, &catalog, &all, &any, e) < 0 || session_read(&s->session, &theirs, e) < 0)
		return -1;
	const struct store_scans_options scans = {
		.config = &theirs,
		.catalog_path = s->session.catalog_path,
		.on_end = on_scan_end,
		.progress = all ? NULL : show_progress,
		.end_progress = end_progress,
		.ctx = s,
	};
	progress_begin(&s->progress, !all);
	s->scans = store_scans_new(&scans);
	if ((all || any) && start_server(s, STEAL_PTR(catalog), all, e) < 0)
		return -1;
	store_scans_start(s->scans, s->server ? FIRST_PAGES_MS : 0);
	notify_manager("READY=1"); // also during the first scan, which may take hours: clients wait in the socket
	return 0;
}

static void release_serve(void *self)
{
	struct serve_command *s = self;
	notify_manager("STOPPING=1");
	store_scans_stop(s->scans);
	server_stop(s->server); // before the scans, which it asks for
	store_scans_free(s->scans);
	mem_close(&s->socket);
	mem_close(&s->signals);
	mem_close(&s->scanned);
	tls_free(s->tls);
	free(s->serves);
	free(s->url);
}

static const struct option_row options[] = {
	{"listen", 'l', "ADDRESS", "ADDR:PORT (port 0: any free one), [V6]:PORT or unix:PATH; 127.0.0.1:8080",
		KEY("server", "listen")},
	{"url", '\0', "URL", "the public URL of this server; makes links to files absolute", KEY("server", "url")},
	{"access-log", '\0', "FILE", "log each request in the combined format; \"-\": to stdout",
		KEY("server", "access-log")},
	{"tls-cert", '\0', "FILE", "serve HTTPS with the certificate in FILE (PEM)", KEY("server", "tls-cert")},
	{"tls-key", '\0', "FILE", "the key of the certificate", KEY("server", "tls-key")},
	{"threads", '\0', "N", "answer requests in N threads; one per processor", KEY("server", "threads")},
	{"page-cache", '\0', "SIZE", "keep at most SIZE bytes of ready answers, such as 64M",
		KEY("server", "page-cache")},
	{"rescan", '\0', "SECONDS", "pause between scans of the store; 0: scan only at the start and on SIGHUP",
		KEY("server", "rescan")},
	{"offline", '\0', NULL, "never contact upstream; serve what is cached", KEY("upstream", "offline")},
};

static void begin_serve(void *self)
{
	struct serve_command *s = self;
	s->socket = s->signals = s->scanned = -1;
}

static int run_serve(void *self, struct err *e)
{
	struct serve_command *s = self;
	// What makes a large page goes back to the system when it is freed: else glibc raises this limit to the largest
	// block that was freed, and each thread keeps such blocks in a heap of its own.
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	if (session_has_key(&s->session, "store", "path"))
		s->session.search = SESSION_SEARCH_NONE;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL); // inherited by all later threads
	signal(SIGPIPE, SIG_IGN);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
	s->scanned = eventfd(0, EFD_CLOEXEC);
	return start_serving(s, e) < 0 ? -1 : run_until_stopped(s, e);
}

const struct command command_serve = {
	.name = "serve",
	.arguments = "[STORE]",
	.help = "serve a store to pip and uv, and keep the catalog up to date",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(UPSTREAM) | SHARED(UPSTREAM_URL),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct serve_command),
	.begin = begin_serve,
	.run = run_serve,
	.release = release_serve,
};
