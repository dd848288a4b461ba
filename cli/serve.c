// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/scanner.h"
#include "cli/settings.h"
#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "lib/state/catalog.h"
#include "lib/state/store.h"
#include "lib/view/view.h"
#include "server/server.h"

// All is the main thread's, but for what is atomic. It waits for signals, and for word from the scanner.
struct serving {
	struct settings settings;
	struct config config; // as it is served
	char *catalog_path;
	int signals;             // signalfd
	int scanned;             // eventfd: a scan has ended
	atomic_bool scanning;
	atomic_bool scan_failed; // the last one
	struct server *_Atomic server; // NULL until the first scan of a new catalog has ended
	struct scanner *scanner;
	char *platforms; // that are served, as text: to see that there are others now
};

static void scan_began(void *ctx)
{
	struct serving *s = ctx;
	struct server *server = atomic_load(&s->server);
	atomic_store(&s->scanning, true);
	if (server)
		server_set_scanning(server, true, false);
}

static void scan_ended(void *ctx, const char *failed)
{
	struct serving *s = ctx;
	struct server *server = atomic_load(&s->server);
	atomic_store(&s->scanning, false);
	if (server)
		server_set_scanning(server, false, !failed);
	if (failed)
		log_error("scan: %s", failed);
	atomic_store(&s->scan_failed, failed != NULL);
	eventfd_write(s->scanned, 1);
}

static void wake_scanner(void *ctx)
{
	struct serving *s = ctx;
	scanner_wake(s->scanner);
}

static char *platform_text(const struct store *store)
{
	struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	for (size_t i = 0; i < store->platform_count; i++)
		buf_printf(&text, "%s=%s\n", store->platform[i].name, store->platform[i].path);
	return buf_steal(&text);
}

// The views, as the configuration and the store say now.
static int read_site(struct serving *s, const struct config *config, struct site *site, struct err *e)
{
	struct store store;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || store_open(config, &store, e) < 0)
		return -1;
	if (store_register(&store, catalog, e) < 0) {
		store_release(&store);
		return -1;
	}
	CLEANUP(mem_free) char *text = platform_text(&store);
	if (site_init(site, config, &store, catalog, e) < 0)
		return -1;
	free(s->platforms);
	s->platforms = STEAL_PTR(text);
	return 0;
}

// filled: the catalog holds what a whole scan saw; scanned: one that has just ended here.
static int start_server(struct serving *s, bool filled, bool scanned, struct err *e)
{
	struct site site;
	struct server_options options = {
		.config = &s->config,
		.catalog_path = s->catalog_path,
		.filled = filled,
		.on_stale = wake_scanner,
		.on_stale_ctx = s,
	};
	if (read_site(s, &s->config, &site, e) < 0)
		return -1;
	struct server *server = server_start(&options, &site, e);
	if (!server)
		return -1;
	atomic_store(&s->server, server);
	server_set_scanning(server, atomic_load(&s->scanning), scanned);
	printf("%s\n", server_url(server));
	fflush(stdout);
	return 0;
}

static int reload(struct serving *s, const struct config *config, struct err *e)
{
	struct site site;
	struct server *server = atomic_load(&s->server);
	if (!server)
		return 0; // it starts with the new one
	if (read_site(s, config, &site, e) < 0)
		return -1;
	server_reload(server, &site);
	return 0;
}

// Two copies: one is ours, one the scanner's.
static int reconfigure(struct serving *s, struct err *e)
{
	CLEANUP(config_release) struct config ours, theirs;
	config_init(&ours);
	config_init(&theirs);
	if (settings_read(&s->settings, &ours, e) < 0 || settings_read(&s->settings, &theirs, e) < 0 ||
		reload(s, &ours, e) < 0)
		return -1;
	struct config old = s->config;
	s->config = ours;
	ours = old;
	scanner_configure(s->scanner, &theirs);
	return 0;
}

static void on_hangup(struct serving *s)
{
	struct err e = ERR_INIT;
	if (reconfigure(s, &e) < 0)
		log_error("the configuration stays as it was: %s", e.msg);
	else
		log_info("the configuration was read again");
	scanner_wake(s->scanner);
}

// A new folder in a store whose platforms are its folders is a new platform.
static void look_for_platforms(struct serving *s)
{
	struct err e = ERR_INIT;
	struct store store;
	if (store_open(&s->config, &store, &e) < 0)
		return; // the scan has said so
	CLEANUP(mem_free) char *text = platform_text(&store);
	store_release(&store);
	if (strcmp(text, s->platforms) != 0 && reload(s, &s->config, &e) < 0)
		log_error("platforms: %s", e.msg);
}

static int after_scan(struct serving *s, struct err *e)
{
	eventfd_t times;
	eventfd_read(s->scanned, &times);
	bool filled = !atomic_load(&s->scan_failed);
	if (!atomic_load(&s->server))
		return start_server(s, filled, filled, e);
	look_for_platforms(s);
	return 0;
}

// Until SIGTERM or SIGINT.
static int run_until_stopped(struct serving *s, struct err *e)
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

static int block_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL); // also in every thread that is born from now on
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

// Whether a scan has been here: then there is something to serve while the next one runs.
static int was_scanned(struct serving *s, bool *scanned, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (catalog_open(s->catalog_path, &catalog, e) < 0)
		return -1;
	return catalog_was_scanned(catalog, scanned, e);
}

static int start(struct serving *s, struct err *e)
{
	bool scanned = false;
	CLEANUP(config_release) struct config theirs;
	config_init(&theirs);
	s->catalog_path = settings_catalog(&s->config, e);
	if (!s->catalog_path || settings_read(&s->settings, &theirs, e) < 0 || was_scanned(s, &scanned, e) < 0)
		return -1;
	struct scanner_events events = {.began = scan_began, .ended = scan_ended, .ctx = s};
	s->scanner = scanner_start(&theirs, s->catalog_path, &events, !scanned);
	return scanned ? start_server(s, true, false, e) : 0;
}

static void serving_release(struct serving *s)
{
	scanner_stop(s->scanner); // it tells the server
	server_stop(atomic_load(&s->server)); // which wakes the scanner
	scanner_free(s->scanner);
	mem_close(&s->signals);
	mem_close(&s->scanned);
	config_release(&s->config);
	free(s->catalog_path);
	free(s->platforms);
}

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "keep the catalog in FILE"},
	{"listen", 'l', "ADDRESS", "ADDR:PORT (port 0: any free one), [V6]:PORT or unix:PATH; 127.0.0.1:8080"},
	{"access-log", '\0', "FILE", "a line a request in the combined format; \"-\": to stdout"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
	{"threads", '\0', "N", "threads that answer requests; one a processor"},
	{"page-cache", '\0', "SIZE", "bytes of ready answers to keep, as 64M"},
	{"rescan", '\0', "SECONDS", "pause between scans of the store; 0: only at the start and on SIGHUP"},
};

static const struct setting_option keys[] = {
	{"catalog", "catalog", "path"},		 {"listen", "server", "listen"},
	{"access-log", "server", "access-log"},	 {"log-level", "server", "log-level"},
	{"threads", "server", "threads"},	 {"page-cache", "server", "page-cache"},
	{"rescan", "server", "rescan"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct serving *s = ctx;
	if (settings_take(&s->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(serving_release) struct serving s = {.signals = -1, .scanned = -1};
	config_init(&s.config);
	int first = command_options(self, argc, argv, take_option, &s, e);
	if (first < 0)
		return err_exit_code(e->kind);
	if (argc - first > 1) {
		err_set(e, ERR_USAGE, "one STORE at most, not also %s", argv[first + 1]);
		return err_exit_code(e->kind);
	}
	if (first < argc)
		settings_give(&s.settings, "store", "path", argv[first]);
	s.signals = block_signals();
	s.scanned = eventfd(0, EFD_CLOEXEC);
	bool good = settings_read(&s.settings, &s.config, e) == 0 && start(&s, e) == 0 &&
		run_until_stopped(&s, e) == 0;
	return good ? 0 : err_exit_code(e->kind);
}

const struct command command_serve = {
	.name = "serve",
	.arguments = "[STORE]",
	.help = "serve a store to pip and uv, and keep its index up to date",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};
