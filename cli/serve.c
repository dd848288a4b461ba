// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/background-scan.h"
#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"
#include "lib/view/view.h"
#include "server/http/listen.h"
#include "server/server.h"

// All is the main thread's, which waits for signals and for the end of scans.
struct serving {
	struct cli_config settings;
	struct config config; // as it is served
	char *catalog_path;
	struct tls *tls; // NULL: plain HTTP
	int socket;      // the server's, once it has started
	char *url;
	int signals; // signalfd
	int scanned; // eventfd: a scan has ended
	struct server_callbacks callbacks;
	struct server *server; // NULL until the first scan of a new catalog has ended
	struct background_scan *scanner;
	char *serves;       // platforms and catalog, as text: to see that they are others now
	bool is_incomplete; // one of the platforms was never scanned
};

static void scan_ended(void *ctx)
{
	struct serving *s = ctx;
	eventfd_write(s->scanned, 1);
}

static void get_scans(void *ctx, struct server_callbacks_scans *out)
{
	struct serving *s = ctx;
	*out = background_scan_state(s->scanner);
}

static void hurry_scanner(void *ctx)
{
	struct serving *s = ctx;
	background_scan_hurry(s->scanner);
}

// The platforms that are there, and which file the catalog is: it may be removed, and is made again then.
static char *describe(const struct serving *s, const struct store *store)
{
	struct stat st = {0};
	struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	for (size_t i = 0; i < store->platform_count; i++)
		buf_printf(&text, "%s=%s %d\n", store->platform[i].name, store->platform[i].path,
			store->platform[i].scanned);
	if (stat(s->catalog_path, &st) == 0)
		buf_printf(&text, "%ju:%ju\n", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return buf_steal(&text);
}

// The store with what the catalog knows of it.
static int open_store(const struct serving *s, const struct config *config, struct store *store,
	struct catalog **catalog, struct err *e)
{
	if (store_open(config, STORE_PROMPT, store, e) < 0)
		return -1;
	if (catalog_open(s->catalog_path, catalog, e) == 0 && store_recall(store, *catalog, e) == 0 &&
		store_register(store, *catalog, e) == 0)
		return 0;
	store_release(store);
	return -1;
}

// The views, as the configuration and the store say now.
static int read_site(struct serving *s, const struct config *config, struct site *site, struct err *e)
{
	struct store store;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (open_store(s, config, &store, &catalog, e) < 0)
		return -1;
	CLEANUP(mem_free) char *text = describe(s, &store);
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

static int start_server(struct serving *s, bool filled, struct err *e)
{
	struct site site;
	struct server_options options = {
		.config = &s->config,
		.catalog_path = s->catalog_path,
		.socket = s->socket,
		.url = s->url,
		.tls = s->tls,
		.is_filled = filled,
		.callbacks = &s->callbacks,
	};
	if (read_site(s, &s->config, &site, e) < 0)
		return -1;
	s->server = server_start(&options, &site, e);
	if (!s->server)
		return -1;
	mem_steal_fd(&s->socket);
	printf("%s\n", server_url(s->server));
	fflush(stdout);
	return 0;
}

static int reload(struct serving *s, const struct config *config, struct err *e)
{
	struct site site;
	if (!s->server)
		return 0; // it starts with the new one
	if (read_site(s, config, &site, e) < 0)
		return -1;
	return server_reload(s->server, config, &site, e);
}

// What was read at the start and stays: texts, and other fields by their size.
static const struct {
	const char *key;
	size_t at, size; // in struct config; size 0: a text, or NULL
} stays[] = {
#define TEXT(field) offsetof(struct config, field), 0
#define VALUE(field) offsetof(struct config, field), sizeof(((struct config *)0)->field)
	{"[catalog] path", TEXT(catalog)},
	{"[tokens] path", TEXT(tokens)},
	{"[audit] path", TEXT(audit)},
	{"[server] listen", TEXT(listen)},
	{"[server] access-log", TEXT(access_log)},
	{"[server] tls-cert", TEXT(tls_cert)},
	{"[server] tls-key", TEXT(tls_key)},
	{"[server] threads", VALUE(threads)},
	{"[server] page-cache", VALUE(page_cache)},
	{"[server] connections", VALUE(connections)},
	{"[server] timeout", VALUE(timeout)},
	{"[upstream] url", TEXT(upstream_urls)},
	{"[upstream] indexes", TEXT(upstream_indexes)},
	{"[upstream] ca-file", TEXT(upstream_ca_file)},
	{"[upstream] timeout", VALUE(upstream_timeout)},
	{"[upstream] connect-timeout", VALUE(upstream_connect_timeout)},
	{"[upstream] retries", VALUE(upstream_retries)},
	{"[upstream] concurrency", VALUE(upstream_concurrency)},
	{"[upstream] max-page", VALUE(upstream_max_page)},
	{"[upstream] allow-hosts", TEXT(upstream_allow_hosts)},
	{"[upstream] allow-private", VALUE(upstream_allow_private)},
	{"[upstream] trust-404", VALUE(upstream_trust_404)},
	{"[upstream] files-path", TEXT(upstream_files_path)},
	{"[upstream] root", TEXT(upstream_root)},
#undef TEXT
#undef VALUE
};

static const char *text_at(const void *field)
{
	const char *const *text = field;
	return *text ? *text : "";
}

static void tell_unchanged(const struct config *before, const struct config *now)
{
	for (size_t i = 0; i < ARRAY_SIZE(stays); i++) {
		const void *was = (const char *)before + stays[i].at, *is = (const char *)now + stays[i].at;
		bool differs =
			stays[i].size ? memcmp(was, is, stays[i].size) != 0 : strcmp(text_at(was), text_at(is)) != 0;
		if (differs)
			log_warn("%s has changed: it counts after a restart", stays[i].key);
	}
}

// Two copies: one is ours, one the scanner's.
static int reconfigure(struct serving *s, struct err *e)
{
	CLEANUP(config_release) struct config ours, theirs;
	config_init(&ours);
	config_init(&theirs);
	if (cli_config_read(&s->settings, &ours, e) < 0 || cli_config_read(&s->settings, &theirs, e) < 0 ||
		reload(s, &ours, e) < 0)
		return -1;
	tell_unchanged(&s->config, &ours);
	struct config old = s->config;
	s->config = ours;
	ours = old;
	background_scan_configure(s->scanner, &theirs);
	return 0;
}

static void renew_certificate(struct serving *s)
{
	struct err e = ERR_INIT;
	if (s->tls && tls_renew(s->tls, &e) < 0)
		log_error("the certificate stays as it was: %s", e.msg);
}

static void on_hangup(struct serving *s)
{
	struct err e = ERR_INIT;
	renew_certificate(s);
	if (s->server)
		server_reopen_log(s->server);
	if (reconfigure(s, &e) < 0)
		log_error("the configuration stays as it was: %s", e.msg);
	else
		log_info("the configuration was read again");
	background_scan_wake(s->scanner);
}

// A new folder in a store whose platforms are its folders is a new platform; a catalog that was removed has been made
// again by this scan.
static int look_around(struct serving *s, struct err *e)
{
	struct store store;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (open_store(s, &s->config, &store, &catalog, e) < 0)
		return -1;
	CLEANUP(mem_free) char *text = describe(s, &store);
	store_release(&store);
	return strcmp(text, s->serves) == 0 ? 0 : reload(s, &s->config, e);
}

// Whether the catalog holds what a scan saw, of all platforms or of one: then there is something to serve while the next one runs.
static int was_scanned(struct serving *s, bool *all, bool *any, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (catalog_open(s->catalog_path, &catalog, e) < 0 || catalog_was_scanned(catalog, all, e) < 0)
		return -1;
	return catalog_any_was_scanned(catalog, any, e);
}

static int after_scan(struct serving *s, struct err *e)
{
	struct err trouble = ERR_INIT;
	bool filled = false, any = false;
	eventfd_t times;
	eventfd_read(s->scanned, &times);
	if (was_scanned(s, &filled, &any, &trouble) < 0)
		log_error("%s", trouble.msg);
	struct server_callbacks_scans scans = background_scan_state(s->scanner);
	filled |= scans.has_looked;
	if (!s->server)
		return start_server(s, filled, e);
	if (filled)
		server_set_filled(s->server);
	if ((!scans.has_failed || (scans.has_looked && s->is_incomplete)) && look_around(s, &trouble) < 0)
		log_error("platforms: %s", trouble.msg);
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

// What cannot work is told before the scan begins.
static int prepare(struct serving *s, bool *all, bool *any, struct err *e)
{
	struct store store;
	if (cli_config_read(&s->settings, &s->config, e) < 0 || store_open(&s->config, STORE_PROMPT, &store, e) < 0)
		return -1;
	store_release(&store);
	s->catalog_path = cli_config_catalog(&s->config, e);
	if (!s->catalog_path || tls_load(s->config.tls_cert, s->config.tls_key, &s->tls, e) < 0)
		return -1;
	s->socket = listen_open(s->config.listen, &s->url, e);
	if (s->socket < 0 || (s->tls && tls_url(&s->url, e) < 0))
		return -1;
	cli_config_warn_of_readers(&s->settings, &s->config, s->catalog_path);
	return was_scanned(s, all, any, e);
}

static int start(struct serving *s, struct err *e)
{
	bool all = false, any = false;
	CLEANUP(config_release) struct config theirs;
	config_init(&theirs);
	if (prepare(s, &all, &any, e) < 0 || cli_config_read(&s->settings, &theirs, e) < 0)
		return -1;
	s->callbacks = (struct server_callbacks){.get_scans = get_scans, .on_stale = hurry_scanner, .ctx = s};
	s->scanner = background_scan_new(&theirs, s->catalog_path, scan_ended, s, !all);
	if ((all || any) && start_server(s, all, e) < 0)
		return -1;
	background_scan_start(s->scanner);
	return 0;
}

static void serving_release(struct serving *s)
{
	background_scan_stop(s->scanner);
	server_stop(s->server); // which asks the scanner
	background_scan_free(s->scanner);
	mem_close(&s->socket);
	mem_close(&s->signals);
	mem_close(&s->scanned);
	config_release(&s->config);
	tls_free(s->tls);
	free(s->catalog_path);
	free(s->serves);
	free(s->url);
}

static const struct option_row options[] = {
	{"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE"},
	{"catalog", '\0', "FILE", "keep the catalog in FILE"},
	{"listen", 'l', "ADDRESS", "ADDR:PORT (port 0: any free one), [V6]:PORT or unix:PATH; 127.0.0.1:8080"},
	{"url", '\0', "URL", "what clients call this server: links to files are absolute then"},
	{"access-log", '\0', "FILE", "a line a request in the combined format; \"-\": to stdout"},
	{"tls-cert", '\0', "FILE", "speak HTTPS with the certificate in FILE (PEM)"},
	{"tls-key", '\0', "FILE", "the key of the certificate"},
	{"log-level", '\0', "LEVEL", "error, warn, info or debug"},
	{"threads", '\0', "N", "threads that answer requests; one a processor"},
	{"page-cache", '\0', "SIZE", "bytes of ready answers to keep, as 64M"},
	{"rescan", '\0', "SECONDS", "pause between scans of the store; 0: only at the start and on SIGHUP"},
	{"upstream", '\0', NULL, "have what upstream (PyPI) has, too; without a STORE: that alone"},
	{"upstream-url", '\0', "URL", "the simple index that upstream is"},
	{"offline", '\0', NULL, "do not ask upstream: serve what is here"},
};

static const struct cli_config_option keys[] = {
	{"catalog", "catalog", "path"},
	{"listen", "server", "listen"},
	{"url", "server", "url"},
	{"access-log", "server", "access-log"},
	{"log-level", "server", "log-level"},
	{"threads", "server", "threads"},
	{"page-cache", "server", "page-cache"},
	{"rescan", "server", "rescan"},
	{"tls-cert", "server", "tls-cert"},
	{"tls-key", "server", "tls-key"},
	{"upstream", "upstream", "merge"},
	{"upstream-url", "upstream", "url"},
	{"offline", "upstream", "offline"},
};

static int take_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct serving *s = ctx;
	if (cli_config_take(&s->settings, keys, ARRAY_SIZE(keys), name, value ? value : "yes"))
		return 0;
	return err_set(e, ERR_USAGE, "--%s", name);
}

static int run(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(serving_release) struct serving s = {.socket = -1, .signals = -1, .scanned = -1};
	config_init(&s.config);
	if (cli_config_take_line(&s.settings, self, argc, argv, take_option, &s, e) < 0)
		return err_exit_code(e->kind);
	s.signals = block_signals();
	s.scanned = eventfd(0, EFD_CLOEXEC);
	return start(&s, e) == 0 && run_until_stopped(&s, e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_serve = {
	.name = "serve",
	.arguments = "[STORE]",
	.help = "serve a store to pip and uv, and keep its index up to date",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};
