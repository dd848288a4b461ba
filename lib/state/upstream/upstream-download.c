// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/upstream-download.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/domain/index/simplepage.h"
#include "lib/net/fetch-pool.h"
#include "lib/os/fs.h"

enum { STATUS_OK = 200 };

struct wanted_download {
	const struct config *config;
	const char *filename;
	char *url; // NULL: upstream has no such file
	struct upstream_home home;
	int64_t size;     // -1: unknown
	bool has_sha256;
	uint8_t expected[SHA256_SIZE];
	struct digest *digest;
	struct upstream_download *out;
	struct err *e;
};

static void wanted_download_release(struct wanted_download *w)
{
	free(w->url);
	digest_free(w->digest);
}

// --- the page ---

static void ignore_done(void *ctx, struct upstream_project *p)
{
	(void)ctx, (void)p;
}


int upstream_ask(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx, struct err *e)
{
	struct upstream_project *p = NULL;
	struct config_order order;
	if (upstream_find_order(u, c, project, &order, e) < 0 || upstream_load(u, c, project, &p, e) < 0)
		return -1;
	upstream_request(u, p, &order, ignore_done, NULL);
	upstreams_run(u);
	upstream_parse(u, p);
	int result = upstream_report(u, p, &order, fn, ctx, e);
	upstream_project_unref(p);
	return result;
}

static int take_file(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct wanted_download *w = ctx;
	const struct simplepage_file *f = answer->page ? simplepage_find(answer->page, w->filename) : NULL;
	bool is_certain = answer->page || answer->result == UPSTREAM_ABSENT || answer->result == UPSTREAM_NOT_FOUND;
	if (!f)
		return is_certain ? err_set(e, ERR_NOT_FOUND, "upstream has no %s", w->filename)
				  : err_set(e, ERR_NET, "upstream: %s: %s", upstream_result_name[answer->result],
					    answer->why);
	if (!f->has_sha256)
		return err_set(e, ERR_INVALID, "upstream's page has no SHA-256 of %s", w->filename);
	w->url = xstrdup(f->url);
	w->home = upstream_home(answer, f);
	w->size = f->size;
	memcpy(w->expected, f->sha256, SHA256_SIZE);
	return 0;
}

// --- the file ---

static enum fetch_flow on_download_head(void *ctx, const struct fetch_answer *answer, const char *url)
{
	struct wanted_download *w = ctx;
	if (answer->status == STATUS_OK)
		return FETCH_GO_ON;
	err_set(w->e, answer->status == 404 ? ERR_NOT_FOUND : ERR_NET, "%s: HTTP status %u", url, answer->status);
	return FETCH_STOP;
}

static enum fetch_flow on_download_body(void *ctx, struct str piece)
{
	struct wanted_download *w = ctx;
	digest_add(w->digest, piece.ptr, piece.len);
	while (piece.len) {
		ssize_t n = pwrite(w->out->fd, piece.ptr, piece.len, (off_t)w->out->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_errno(w->e, fs_kind_of_write(), "a file in the folder for temporary files");
			return FETCH_STOP;
		}
		w->out->size += (uint64_t)n;
		piece = str_slice(piece, (size_t)n, piece.len);
	}
	return FETCH_GO_ON;
}

static void on_download_done(void *ctx, const struct fetch_result *result)
{
	struct wanted_download *w = ctx;
	if (result->failure != FETCH_WHOLE && w->e->kind == ERR_NONE)
		err_set(w->e, result->failure == FETCH_TOO_LARGE ? ERR_LIMIT : ERR_NET, "%s", result->why);
}

static int open_scratch(struct err *e)
{
	const char *folder = getenv("TMPDIR");
	CLEANUP(mem_free) char *path = xasprintf("%s/wheelcache-XXXXXX", folder && *folder ? folder : "/tmp");
	int fd = mkostemp(path, 0);
	if (fd < 0)
		return err_errno(e, fs_kind_of_write(), "%s", path);
	unlink(path);
	return fd;
}

static int check_download(struct wanted_download *w, struct err *e)
{
	digest_end(w->digest, w->out->sha256);
	if (w->size >= 0 && w->out->size != (uint64_t)w->size)
		return err_set(e, ERR_INVALID, "upstream's %s has %llu bytes instead of %lld", w->filename,
			(unsigned long long)w->out->size, (long long)w->size);
	if (memcmp(w->out->sha256, w->expected, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "upstream's %s does not have the SHA-256 that its page says",
			w->filename);
	return 0;
}

static int run_download(struct wanted_download *w, struct err *e)
{
	struct err why = ERR_INIT;
	const struct fetch_request request = {
		.url = w->url,
		.configured_url = w->home.url,
		.limit = w->config->max_file,
		.on_head = on_download_head,
		.on_body = on_download_body,
		.is_raw = true,
		.on_done = on_download_done,
		.ctx = w,
	};
	w->e = &why;
	w->digest = digest_new();
	digest_begin(w->digest);
	fetch_pool_get(upstream_pool(w->home.upstream), &request);
	fetch_pool_run(upstream_pool(w->home.upstream));
	if (why.kind != ERR_NONE) {
		*e = why;
		return -1;
	}
	return check_download(w, e);
}

int upstream_download(const struct config *config, struct upstreams *u, struct catalog *c, const char *project,
	const char *filename, struct upstream_download *out, struct err *e)
{
	CLEANUP(wanted_download_release)
	struct wanted_download w = {.config = config, .filename = filename, .out = out};
	if (upstream_ask(u, c, project, take_file, &w, e) < 0)
		return -1;
	if (w.size >= 0 && (uint64_t)w.size > config->max_file)
		return err_set(e, ERR_LIMIT, "upstream's %s has %lld bytes, more than [upload] max-file", filename,
			(long long)w.size);
	*out = (struct upstream_download){.fd = open_scratch(e)};
	if (out->fd < 0 || run_download(&w, e) < 0) {
		mem_close(&out->fd);
		return -1;
	}
	return 0;
}
