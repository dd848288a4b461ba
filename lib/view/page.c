// SPDX-License-Identifier: Apache-2.0
#include "lib/view/page.h"

#include <string.h>

#include "lib/base/digest.h"
#include "lib/base/limits.h"
#include "lib/base/pack.h"
#include "lib/view/blend.h"
#include "lib/view/render.h"

const char *const page_type[PAGE_FORMAT_COUNT] = {
	[PAGE_HTML] = "text/html; charset=utf-8",
	[PAGE_HTML_OLD_PIP] = "text/html; charset=utf-8",
	[PAGE_JSON] = "application/vnd.pypi.simple.v1+json",
};

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

static void on_version(void *ctx, const char *version)
{
	struct page *p = ctx;
	page_begin(p);
	p->with->version(&p->r, version);
}

int page_project(const struct view *v, struct catalog *c, const char *project, const struct upstream_answer *upstream,
	enum page_format format, struct buf *out, struct err *e)
{
	CLEANUP(page_release) struct page p;
	bool is_known = false;
	page_init(&p, v, project, format, out);
	p.r.status = blend_status(upstream);
	p.r.status_reason = blend_status_reason(upstream);
	if (blend_files(v, c, project, upstream, on_file, on_version, &p, &is_known, e) < 0)
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

// Measured with random hashes (one a file, one a version of 20 files), 5,000 files, JSON of 2.3 MB: gzip 4: 343 KB in
// 26 ms, 6: 319 KB in 37 ms, 9: 311 KB in 51 ms; zstd 2: 324 KB in 4 ms, 6: 306 KB in 13 ms, 12: 301 KB in 70 ms,
// 19: 285 KB in 948 ms. HTML of 2.4 MB: gzip 6: 239 KB, zstd 6: 225 KB. The hashes alone are 168 KB. Below 256 KB each
// level takes less than 5 ms; a root of 250,000 names gains nothing from effort.
static const struct {
	size_t up_to; // bytes of the plain page
	int gzip, zstd;
} effort[] = {{256 << 10, 9, 9}, {8 << 20, 6, 6}, {SIZE_MAX, 4, 2}};

int page_pack(struct str page, enum page_coding coding, struct buf *out, struct err *e)
{
	size_t i = 0;
	while (page.len > effort[i].up_to)
		i++;
	if (coding == PAGE_GZIP)
		return pack_gzip_hashes(page, effort[i].gzip, out, e);
	if (coding == PAGE_ZSTD)
		return pack_zstd_hashes(page, effort[i].zstd, out, e);
	buf_str(out, page);
	return out->failed ? err_set(e, ERR_LIMIT, "page: larger than %zu bytes", out->cap) : 0;
}

void page_etag(struct str page, enum page_coding coding, char out[PAGE_ETAG_SIZE])
{
	static const char *const suffix[PAGE_CODING_COUNT] = {"\"", "-gz\"", "-zst\""};
	enum { BYTES = 20 };
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(page, sha256);
	out[0] = '"';
	hex_encode(sha256, BYTES, out + 1);
	memcpy(out + 1 + 2 * BYTES, suffix[coding], strlen(suffix[coding]) + 1);
}
