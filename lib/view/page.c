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

static const struct renderer *const renderers[PAGE_FORMAT_COUNT] = {
	[PAGE_HTML] = &render_html,
	[PAGE_HTML_OLD_PIP] = &render_html_old_pip,
	[PAGE_JSON] = &render_json,
};

// A page that is being written. It begins with the first entry, because a project without files has no page.
struct page {
	const struct renderer *renderer;
	struct render_state r;
	bool has_begun;
};

static void page_init(struct page *p, const struct view *v, const char *project, enum page_format format,
	struct buf *out)
{
	*p = (struct page){.renderer = renderers[format], .r = {.out = out, .project = project}};
	p->r.link_prefix = v->base    ? str_from(v->base)
			   : v->whole ? STR("../../../../")
			   : v->name  ? STR("../../../")
				      : STR("../../");
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
		p->renderer->begin(&p->r);
	p->has_begun = true;
}

static int page_end(struct page *p, struct err *e)
{
	p->renderer->end(&p->r);
	if (p->r.out->failed || p->r.versions.failed)
		return err_set(e, ERR_LIMIT, "page of %s: larger than %zu bytes",
			p->r.project ? p->r.project : "all projects", p->r.out->cap);
	return 0;
}

static void on_page_file(void *ctx, const struct page_file *listed)
{
	struct page *p = ctx;
	page_begin(p);
	p->renderer->file(&p->r, listed);
}

static void on_page_version(void *ctx, const struct version *version)
{
	struct page *p = ctx;
	page_begin(p);
	p->renderer->version(&p->r, version);
}

enum {
	FILE_BYTES = 300, // of a file on a page, approximately
	MOST_ROOM = 16 << 20,
};

// Allocates room for upstream's files at once. Otherwise the page is copied each time that the buffer doubles.
static void reserve_page(struct buf *out, const struct upstream_answer *upstream)
{
	size_t files = upstream && upstream->stale ? upstream->stale->files : 0;
	size_t left = out->cap - out->len, most = left < MOST_ROOM ? left : MOST_ROOM;
	buf_reserve(out, files < most / FILE_BYTES ? files * FILE_BYTES : most);
}

static int note_member(void *ctx, const struct platform *platform UNUSED, const struct catalog_file *file UNUSED,
	struct err *e UNUSED)
{
	*(bool *)ctx = true;
	return 0;
}

// Whether platforms of the view have members that only their own addresses show. The list of projects has their names.
static int has_members(const struct view *v, struct catalog *c, const char *project, bool *out, struct err *e)
{
	struct view each = *v;
	each.shows_each = true;
	return v->membership && v->platform_count > 1 ? view_files(&each, c, project, note_member, out, e) : 0;
}

// The names of the platforms of which the page lacks something, with commas; NULL: of none. The caller frees it.
static char *name_left_out(const struct view *v)
{
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, LIMIT_PAGE);
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->left_out[i])
			buf_printf(&names, "%s%s", names.len ? ", " : "", v->platform[i]->name);
	return names.len ? buf_steal(&names) : NULL;
}

int page_project(const struct view *shown, struct catalog *c, const char *project,
	const struct upstream_answer *upstream, enum page_format format, struct buf *out, struct err *e)
{
	CLEANUP(page_release) struct page p;
	CLEANUP(mem_free) bool *left_out = xcalloc(shown->platform_count + 1, sizeof(*left_out));
	CLEANUP(mem_free) char *names = NULL;
	struct view copy = *shown, *v = &copy;
	bool is_known = false;
	v->left_out = left_out;
	reserve_page(out, upstream);
	page_init(&p, v, project, format, out);
	p.r.status = merge_upstream_status(upstream);
	p.r.status_reason = merge_upstream_status_reason(upstream);
	if (merge_upstream_files(v, c, project, upstream, on_page_file, on_page_version, &p, &is_known, e) < 0)
		return -1;
	p.r.left_out = names = name_left_out(v);
	if (!p.has_begun && !is_known && has_members(v, c, project, &is_known, e) < 0)
		return -1;
	if (is_known)
		page_begin(&p);
	if (!p.has_begun)
		return err_set(e, ERR_NOT_FOUND, "no project %s here", project);
	return page_end(&p, e);
}

// Merges the sorted names of the view with the sorted names in more.
struct project_listing {
	struct page *page;
	struct str more;
};

static void list_more(struct project_listing *l, const char *before)
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
			l->page->renderer->project(&l->page->r, name);
		}
		l->more = rest;
	}
}

static int on_view_project(void *ctx, const char *project, struct err *e UNUSED)
{
	struct project_listing *l = ctx;
	list_more(l, project);
	l->page->renderer->project(&l->page->r, project);
	return 0;
}

int page_root(const struct view *v, struct catalog *c, struct str more, enum page_format format, struct buf *out,
	struct err *e)
{
	CLEANUP(page_release) struct page p;
	struct project_listing l = {.page = &p, .more = more};
	page_init(&p, v, NULL, format, out);
	page_begin(&p);
	if (view_projects(v, c, on_view_project, &l, e) < 0)
		return -1;
	list_more(&l, NULL);
	return page_end(&p, e);
}

// Measured with 18 recorded pages of PyPI (12.9 MB of JSON). gzip 1 (libdeflate): 2.29 MB in 44 ms, 5: 2.10 in 67, 6:
// 2.03 in 86, 9: 1.96 in 306; zlib's 6: 2.06 in 239. zstd 1: 2.01 MB in 20 ms, 3: 2.26 in 39, 6: 2.12 in 94, 9: 2.06 in
// 146. Small pages give the same picture. Most of a page are hashes. A reference to a short repetition costs more than
// its digits, and the greedy low levels of zstd do not use one.
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
