// SPDX-License-Identifier: Apache-2.0
#include "builder/step/sdist-fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/net/fetch-pool.h"
#include "lib/os/fs.h"

enum {
	BLOCK = 1 << 16,
	URL_MOST = 4 * LIMIT_PATH,
	FIRST_PAUSE_MS = 500,
	OK = 200,
	NOT_FOUND = 404,
	TOO_MANY = 429,
	SERVER_ERRORS = 500,
};

#define FILE_SCHEME "file:"

struct sdist_download {
	const struct sdist_source *source;
	const struct config_upstream *upstream; // whose file it is, or the first
	const char *path;
	int fd;
	uint64_t most, size; // bytes
	struct digest *digest;
	bool is_temporary; // another try may succeed
	struct err *e;     // ERR_NONE: no failure
};

// --- the file ---

static void sdist_download_release(struct sdist_download *d)
{
	mem_close(&d->fd);
	digest_free(d->digest);
}

static uint64_t size_limit(const struct sdist_source *source, const struct missing_row *row)
{
	uint64_t most = source->config->max_file;
	return row->sdist.size >= 0 && (uint64_t)row->sdist.size < most ? (uint64_t)row->sdist.size : most;
}

static int begin_file(struct sdist_download *d, struct err *e)
{
	d->digest = digest_new();
	digest_begin(d->digest);
	d->fd = open(d->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return d->fd < 0 ? err_errno(e, fs_kind_of_write(), "%s", d->path) : 0;
}

// Begins again, for another try.
static int empty_file(struct sdist_download *d, struct err *e)
{
	d->size = 0;
	digest_begin(d->digest);
	if (ftruncate(d->fd, 0) < 0 || lseek(d->fd, 0, SEEK_SET) < 0)
		return err_errno(e, ERR_IO, "%s", d->path);
	return 0;
}

static int append_piece(struct sdist_download *d, struct str piece, struct err *e)
{
	d->size += piece.len;
	if (d->size > d->most)
		return err_set(e, ERR_LIMIT, "the sdist has more than %llu bytes", (unsigned long long)d->most);
	digest_add(d->digest, piece.ptr, piece.len);
	while (piece.len) {
		ssize_t n = write(d->fd, piece.ptr, piece.len);
		if (n < 0 && errno != EINTR)
			return err_errno(e, fs_kind_of_write(), "%s", d->path);
		piece = str_slice(piece, n < 0 ? 0 : (size_t)n, piece.len);
	}
	return 0;
}

// --- from our store ---

static int copy_from_store(struct sdist_download *d, const char *place, struct err *e)
{
	struct place_info info = {.kind = PLACE_UNKNOWN};
	char block[BLOCK];
	const struct platform *p = d->source->platform;
	if (!p)
		return err_set(e, ERR_NOT_FOUND, "%s is in a store that is not here", place);
	CLEANUP(place_file_close) struct place_file *file = place_open(p->place, place, e);
	if (!file)
		return -1;
	if (place_file_info(file, &info, e) < 0 || info.kind != PLACE_FILE)
		return err_set(e, ERR_INVALID, "%s is no regular file", place);
	for (size_t at = 0, got = sizeof(block); got == sizeof(block); at += got) {
		if (place_file_read_at(file, at, block, sizeof(block), &got, e) < 0)
			return err_prefix(e, "%s: ", place);
		if (append_piece(d, (struct str){block, got}, e) < 0)
			return -1;
	}
	return 0;
}

// --- from a server ---

static enum fetch_flow on_sdist_head(void *ctx, const struct fetch_answer *answer, const char *url)
{
	struct sdist_download *d = ctx;
	if (answer->status == OK)
		return FETCH_GO_ON;
	d->is_temporary = answer->status >= SERVER_ERRORS || answer->status == TOO_MANY;
	enum err_kind refusal = answer->status == NOT_FOUND ? ERR_NOT_FOUND : ERR_DENIED;
	err_set(d->e, d->is_temporary ? ERR_NET : refusal, "%s: HTTP status %u", url, answer->status);
	return FETCH_STOP;
}

static enum fetch_flow on_sdist_body(void *ctx, struct str piece)
{
	struct sdist_download *d = ctx;
	if (d->source->stop && atomic_load(d->source->stop)) {
		err_set(d->e, ERR_BUSY, "the builder was stopped");
		return FETCH_STOP;
	}
	return append_piece(d, piece, d->e) < 0 ? FETCH_STOP : FETCH_GO_ON;
}

// ERR_NET: the network, or what this builder may reach, is the reason, and not the wheel.
static void on_sdist_done(void *ctx, const struct fetch_result *result)
{
	static const struct {
		enum err_kind kind; // ERR_NONE: ERR_DENIED
		bool is_temporary;
		const char *advice;
	} rows[FETCH_FAILURE_COUNT] = {
		[FETCH_REFUSED] = {ERR_NET, true, NULL},
		[FETCH_RESOLVE] = {ERR_NET, true, NULL},
		[FETCH_TIMEOUT] = {ERR_NET, true, NULL},
		[FETCH_TRUNCATED] = {ERR_NET, true, NULL},
		[FETCH_TLS] = {ERR_NET, false, NULL}, // the certificates of a host, or of a proxy before all hosts
		[FETCH_TOO_LARGE] = {ERR_LIMIT, false, NULL},
		[FETCH_REDIRECT] = {ERR_NET, false, "[upstream] allow-hosts names hosts that may be asked"},
		[FETCH_PASSWORD] = {ERR_NET, false, NULL},
		[FETCH_FORBIDDEN] = {ERR_NET, false,
			"[upstream] url may have one, and with allow-private = yes any host"},
	};
	struct sdist_download *d = ctx;
	enum err_kind kind = rows[result->failure].kind;
	const char *advice = rows[result->failure].advice;
	if (result->failure == FETCH_WHOLE || d->e->kind != ERR_NONE)
		return;
	d->is_temporary = rows[result->failure].is_temporary;
	err_set(d->e, kind == ERR_NONE ? ERR_DENIED : kind, "%s", result->why);
	if (advice)
		err_advise(d->e, "%s", advice);
}

static bool is_sdist_stopped(const struct sdist_source *s)
{
	return s->stop && atomic_load(s->stop);
}

static int download(struct sdist_download *d, const struct fetch_pool_options *options, const char *url,
	const char *home, struct err *e)
{
	struct fetch_pool *pool = fetch_pool_new(options);
	for (unsigned try = 0; try <= d->upstream->retries && !is_sdist_stopped(d->source); try++) {
		struct err why = ERR_INIT;
		d->e = &why;
		d->is_temporary = false;
		if (try == 0 || empty_file(d, &why) == 0) {
			const struct fetch_request request = {
				.url = url,
				.configured_url = home,
				.delay_ms = try ? (uint64_t)FIRST_PAUSE_MS << try : 0,
				.total_seconds = (unsigned)d->source->seconds,
				.limit = d->most + 1,
				.on_head = on_sdist_head,
				.on_body = on_sdist_body,
				.is_raw = true,
				.on_done = on_sdist_done,
				.ctx = d,
			};
			fetch_pool_get(pool, &request);
			fetch_pool_run(pool);
		}
		*e = why;
		if (!d->is_temporary)
			break;
	}
	fetch_pool_free(pool);
	if (is_sdist_stopped(d->source))
		return err_set(e, ERR_BUSY, "the builder was stopped");
	return e->kind == ERR_NONE ? 0 : -1;
}

// Its index of the same origin; NULL: none.
static char *index_of_origin(const struct config_upstream *u, const struct fetch_url *target)
{
	struct err ignored = ERR_INIT;
	for (struct str rest = str_from(u->urls); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(fetch_url_release) struct fetch_url configured = {0};
		CLEANUP(mem_free) char *text = xstrndup(word.ptr, word.len);
		if (word.len && fetch_url_parse(text, &configured, &ignored) == 0 &&
			fetch_url_same_origin(&configured, target))
			return STEAL_PTR(text);
	}
	return NULL;
}

// The configured URL of the server that gave this one, so that its password goes along: of the same origin, else the
// first. Its upstream is then that of the download.
static char *home_of_url(struct sdist_download *d, const char *url)
{
	const struct config_upstreams *all = &d->source->config->upstreams;
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url target = {0};
	if (fetch_url_parse(url, &target, &ignored) < 0)
		return NULL;
	for (size_t i = 0; i < all->count; i++) {
		char *home = index_of_origin(&all->item[i], &target);
		if (!home)
			continue;
		d->upstream = &all->item[i];
		return home;
	}
	struct str rest = str_from(d->upstream->urls), first = str_cut(&rest, ' ');
	return xstrndup(first.ptr, first.len);
}

// With user and password, which the pool sends to this origin alone and never shows.
static char *url_on_server(const struct sdist_source *s, const struct missing_row *row, const char *filename)
{
	const struct str part[] = {str_from(row->platform), str_from(row->project), str_from(filename)};
	CLEANUP(buf_release) struct buf url = buf_up_to(URL_MOST);
	const char *host = strstr(s->from, "://");
	struct str scheme = str_slice(str_from(s->from), 0, host ? (size_t)(host - s->from) + strlen("://") : 0);
	buf_str(&url, scheme);
	if (s->fetch.user && s->fetch.password) {
		escape_url(&url, str_from(s->fetch.user));
		buf_putc(&url, ':');
		escape_url(&url, str_from(s->fetch.password));
		buf_putc(&url, '@');
	}
	buf_puts(&url, s->from + scheme.len);
	buf_puts(&url, "files");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		buf_putc(&url, '/');
		escape_url(&url, part[i]);
	}
	return buf_steal(&url);
}

// --- choosing ---

static int get_sdist(struct sdist_download *d, const struct missing_row *row, struct err *e)
{
	bool is_ours = str_starts(str_from(row->sdist.url), STR(FILE_SCHEME));
	if (is_ours && d->source->from) {
		struct fetch_pool_options options = {.fetch = d->source->fetch, .concurrency = 1};
		CLEANUP(mem_free) char *url = url_on_server(d->source, row, row->sdist.filename);
		options.fetch.user = options.fetch.password = NULL;
		options.fetch.progress = NULL;
		return download(d, &options, url, NULL, e);
	}
	if (is_ours)
		return copy_from_store(d, row->sdist.url + strlen(FILE_SCHEME), e);
	CLEANUP(mem_free) char *home = home_of_url(d, row->sdist.url);
	const struct config_upstream *u = d->upstream;
	const struct fetch_pool_options options = {
		.fetch.ca_file = fetch_ca_file(u->ca_file),
		.fetch.connect_seconds = (unsigned)u->connect_timeout,
		.fetch.stall_seconds = (unsigned)u->timeout,
		.concurrency = 1,
		.allow_hosts = u->allow_hosts,
		.password_file = u->password_file,
		.allow_private = u->allow_private,
	};
	return download(d, &options, row->sdist.url, home, e);
}

int sdist_fetch(const struct sdist_source *source, const struct missing_row *row, const char *path,
	char sha256[SHA256_HEX + 1], struct err *e)
{
	CLEANUP(sdist_download_release)
	struct sdist_download d = {.source = source,
		.upstream = source->config->upstreams.item,
		.path = path,
		.fd = -1,
		.most = size_limit(source, row)};
	if (row->sdist.size >= 0 && (uint64_t)row->sdist.size > source->config->max_file)
		return err_set(e, ERR_LIMIT, "the sdist has %lld bytes, more than [upload] max-file",
			(long long)row->sdist.size);
	if (begin_file(&d, e) < 0 || get_sdist(&d, row, e) < 0)
		return -1;
	uint8_t digest[SHA256_SIZE];
	digest_end(d.digest, digest);
	hex_encode(digest, SHA256_SIZE, sha256);
	sha256[SHA256_HEX] = '\0';
	if (row->sdist.size >= 0 && d.size != (uint64_t)row->sdist.size)
		return err_set(e, ERR_INVALID, "the sdist has %llu bytes instead of %lld", (unsigned long long)d.size,
			(long long)row->sdist.size);
	if (row->sdist.sha256 && strcasecmp(sha256, row->sdist.sha256) != 0)
		return err_set(e, ERR_INVALID, "the sdist has the hash %s instead of %s", sha256, row->sdist.sha256);
	return 0;
}
