// SPDX-License-Identifier: Apache-2.0
#include "lib/view/page.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/compress.h"
#include "lib/format/digest.h"
#include "lib/view/merge-upstream.h"
#include "lib/view/render.h"

const char *const page_coding_name[PAGE_CODING_COUNT] = {
	[PAGE_GZIP] = "gzip",
	[PAGE_ZSTD] = "zstd",
};

static const struct renderer *const renderer[PAGE_FORMAT_COUNT] = {
	[PAGE_HTML] = &render_html,
	[PAGE_HTML_OLD_PIP] = &render_html_old_pip,
	[PAGE_JSON] = &render_json,
};

// A page that begins with its first entry: a project without files has none.
struct page {
	const struct renderer *with;
	struct rendering r;
	bool has_begun;
};

static void page_init(struct page *p, const struct view *v, const char *project, enum page_format format,
	struct buf *out)
{
	*p = (struct page){.with = renderer[format], .r = {.out = out, .project = project}};
	p->r.up = v->base ? str_from(v->base) : v->name ? STR("../../../") : STR("../../");
	buf_init(&p->r.versions, LIMIT_PAGE);
	buf_init(&p->r.key, LIMIT_PAGE);
}

static void page_release(struct page *p)
{
	buf_release(&p->r.versions);
	buf_release(&p->r.key);
}

static void page_begin(struct page *p)
{
	if (!p->has_begun)
		p->with->begin(&p->r);
	p->has_begun = true;
}

static int page_end(struct page *p, struct err *e)
{
	p->with->end(&p->r);
	if (p->r.out->failed || p->r.versions.failed)
		return err_set(e, ERR_LIMIT, "page of %s: larger than %zu bytes",
			p->r.project ? p->r.project : "all projects", p->r.out->cap);
	return 0;
}

static void on_file(void *ctx, const struct listed *listed)
{
	struct page *p = ctx;
	page_begin(p);
	p->with->file(&p->r, listed);
}

static void on_version(void *ctx, const struct version *version)
{
	struct page *p = ctx;
	page_begin(p);
	p->with->version(&p->r, version);
}

enum {
	FILE_BYTES = 300, // that a file takes on a page, about
	MOST_ROOM = 16 << 20,
};

// Room for upstream's files at once: else they are copied each time that it doubles.
static void reserve(struct buf *out, const struct upstream_answer *upstream)
{
	size_t files = upstream && upstream->stale ? upstream->stale->files : 0;
	size_t left = out->cap - out->len, most = left < MOST_ROOM ? left : MOST_ROOM;
	buf_reserve(out, files < most / FILE_BYTES ? files * FILE_BYTES : most);
}

int page_project(const struct view *v, struct catalog *c, const char *project, const struct upstream_answer *upstream,
	enum page_format format, struct buf *out, struct err *e)
{
	CLEANUP(page_release) struct page p;
	bool is_known = false;
	reserve(out, upstream);
	page_init(&p, v, project, format, out);
	p.r.status = merge_upstream_status(upstream);
	p.r.status_reason = merge_upstream_status_reason(upstream);
	if (merge_upstream_files(v, c, project, upstream, on_file, on_version, &p, &is_known, e) < 0)
		return -1;
	if (is_known)
		page_begin(&p);
	if (!p.has_begun)
		return err_set(e, ERR_NOT_FOUND, "no project %s here", project);
	return page_end(&p, e);
}

// The view's names, with those of others put between them; both are sorted.
struct listing {
	struct page *page;
	struct str more;
};

static void give_more(struct listing *l, const char *before)
{
	while (l->more.len) {
		char name[LIMIT_FILE_NAME + 1];
		struct str rest = l->more, line = str_cut(&rest, '\n');
		int order = before ? str_cmp(line, str_from(before)) : -1;
		if (order > 0)
			return;
		if (order < 0 && line.len < sizeof(name)) {
			memcpy(name, line.ptr, line.len);
			name[line.len] = '\0';
			l->page->with->project(&l->page->r, name);
		}
		l->more = rest;
	}
}

static int on_project(void *ctx, const char *project, struct err *e UNUSED)
{
	struct listing *l = ctx;
	give_more(l, project);
	l->page->with->project(&l->page->r, project);
	return 0;
}

int page_root(const struct view *v, struct catalog *c, struct str more, enum page_format format, struct buf *out,
	struct err *e)
{
	CLEANUP(page_release) struct page p;
	struct listing l = {.page = &p, .more = more};
	page_init(&p, v, NULL, format, out);
	page_begin(&p);
	if (view_projects(v, c, on_project, &l, e) < 0)
		return -1;
	give_more(&l, NULL);
	return page_end(&p, e);
}

// 18 recorded pages of PyPI, JSON of 12.9 MB: gzip 1 (libdeflate): 2.29 MB in 44 ms, 5: 2.10 in 67, 6: 2.03 in 86, 9: 1.96
// in 306; zlib's 6: 2.06 in 239. zstd 1: 2.01 MB in 20 ms, 3: 2.26 in 39, 6: 2.12 in 94, 9: 2.06 in 146. Small pages are alike: most of a
// page are hashes, and a repetition of few of their digits costs more than the digits, which the greedy low levels of zstd
// leave alone.
enum { GZIP_LEVEL = 5, ZSTD_LEVEL = 1 };

int page_pack(struct str page, enum page_coding coding, struct buf *out, struct err *e)
{
	if (coding == PAGE_GZIP)
		return compress_gzip(page, GZIP_LEVEL, out, e);
	if (coding == PAGE_ZSTD)
		return compress_zstd(page, ZSTD_LEVEL, out, e);
	buf_str(out, page);
	return out->failed ? err_set(e, ERR_LIMIT, "page: larger than %zu bytes", out->cap) : 0;
}

void page_etag(const char *type, struct str body, char out[PAGE_ETAG_SIZE])
{
	enum { BYTES = 20 };
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	digest_begin(d);
	digest_add(d, type, strlen(type) + 1);
	digest_add(d, body.ptr, body.len);
	digest_end(d, sha256);
	out[0] = '"';
	hex_encode(sha256, BYTES, out + 1);
	memcpy(out + 1 + 2 * BYTES, "\"", 2);
}
