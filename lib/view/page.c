// SPDX-License-Identifier: Apache-2.0
#include "lib/view/page.h"

#include <string.h>
#include <time.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/format/compress.h"
#include "lib/format/digest.h"
#include "lib/format/escape.h"
#include "lib/state/store/project-status.h"
#include "lib/state/upstream/offering.h"
#include "lib/view/merge-upstream.h"

const char *const page_coding_name[PAGE_CODING_COUNT] = {
	[PAGE_GZIP] = "gzip",
	[PAGE_ZSTD] = "zstd",
};

// --- rendering: one renderer a format, each writes the same facts ---

// A page that is being written. versions and key are owned; the rest is borrowed.
struct render_state {
	struct buf *out;
	const char *project;       // NULL: the list of all projects
	struct str link_prefix;    // what precedes files/ in links: "../../", or an absolute URL
	struct str separator;      // between two entries; empty before the first
	const char *status;        // PEP 792; NULL: active, which is not written
	const char *status_reason; // NULL: none
	const char *left_out;      // names of platforms, of which the page lacks files for their names; NULL: none
	struct buf versions;       // JSON: each version's text once, comma-separated
	struct buf key;            // JSON: the version key of the last file ...
	size_t key_start;          // ... and the offset in versions of the first text of that key
};

struct renderer {
	void (*begin)(struct render_state *r);
	void (*file)(struct render_state *r, const struct page_file *listed);
	void (*version)(struct render_state *r,
		const struct version *version); // a version without a file, between the files or after them
	void (*project)(struct render_state *r, const char *project);
	void (*end)(struct render_state *r);
};

// Appends "../../files/<platform>/<project>/<file>", or "../../files/upstream/<name>/<project>/<file>",
// percent-encoded, so that it needs no escaping in HTML or JSON. A link never has a query, because pip appends
// ".metadata" after it (pip#12033).
static void put_url(struct render_state *r, const struct page_file *listed)
{
	buf_str(r->out, r->link_prefix);
	buf_str(r->out, STR("files/"));
	escape_url(r->out, str_from(listed->place));
	buf_putc(r->out, '/');
	if (listed->upstream_name) {
		buf_puts(r->out, listed->upstream_name);
		buf_putc(r->out, '/');
	}
	escape_url(r->out, str_from(r->project));
	buf_putc(r->out, '/');
	escape_url(r->out, str_from(listed->file.filename));
}

static void put_sha256(struct buf *out, const uint8_t *sha256)
{
	char hex[SHA256_HEX];
	hex_encode(sha256, SHA256_SIZE, hex);
	buf_add(out, hex, sizeof(hex));
}

// Whether the file has a provenance object (PEP 740); if so, appends its URL to out: upstream's, or that of our file
// with ".provenance" behind it.
static bool put_provenance_url(struct render_state *r, const struct page_file *listed, struct buf *out)
{
	if (listed->upstream && listed->upstream->provenance)
		buf_puts(out, listed->upstream->provenance);
	else if (!listed->upstream && listed->file.provenance) {
		struct render_state url = *r;
		url.out = out;
		put_url(&url, listed);
		buf_puts(out, attachment_ending[ATTACHMENT_PROVENANCE]);
	} else
		return false;
	return true;
}

// Whether the file has .metadata whose hash is unknown.
static bool has_unhashed_metadata(const struct page_file *listed)
{
	return !listed->file.metadata_sha256 && listed->upstream && listed->upstream->has_metadata;
}

// --- HTML ---

static void put_meta(struct buf *out, struct str name, const char *content)
{
	buf_str(out, STR("<meta name=\""));
	buf_str(out, name);
	buf_str(out, STR("\" content=\""));
	escape_html(out, str_from(content));
	buf_str(out, STR("\">\n"));
}

static void html_begin(struct render_state *r)
{
	buf_str(r->out, STR("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			    "<meta name=\"pypi:repository-version\" content=\"1.4\">\n<title>"));
	if (r->project)
		buf_str(r->out, STR("Links for "));
	escape_html(r->out, r->project ? str_from(r->project) : STR("Simple index"));
	buf_str(r->out, STR("</title>\n"));
	if (r->status)
		put_meta(r->out, STR("pypi:project-status"), r->status);
	if (r->status_reason)
		put_meta(r->out, STR("pypi:project-status-reason"), r->status_reason);
	buf_str(r->out, STR("</head>\n<body>\n"));
	if (!r->project)
		return;
	buf_str(r->out, STR("<h1>Links for "));
	escape_html(r->out, str_from(r->project));
	buf_str(r->out, STR("</h1>\n"));
}

static void put_attribute(struct buf *out, struct str name, const char *value)
{
	buf_str(out, name);
	buf_str(out, STR("=\""));
	escape_html(out, str_from(value));
	buf_putc(out, '"');
}

static void put_sha256_attribute(struct buf *out, struct str name, const uint8_t *sha256)
{
	buf_str(out, name);
	buf_str(out, STR("=\"sha256="));
	put_sha256(out, sha256);
	buf_putc(out, '"');
}

// Writes the hash of the metadata under both names (PEP 658 and 714). pip 22.3 to 23.1 know only the old name, and
// compare the Name in METADATA with the requirement as spelled: "pip install pyyaml" rejects a wheel whose METADATA
// says PyYAML. Without the old name they download the wheel and install it.
static void put_link(struct render_state *r, const struct page_file *listed, bool is_old_pip)
{
	struct buf *out = r->out;
	const struct catalog_file *file = &listed->file;
	buf_str(out, STR("<a href=\""));
	put_url(r, listed);
	if (file->sha256) {
		buf_str(out, STR("#sha256="));
		put_sha256(out, file->sha256);
	}
	buf_putc(out, '"');
	if (file->requires_python)
		put_attribute(out, STR(" data-requires-python"), file->requires_python);
	if (file->yanked)
		put_attribute(out, STR(" data-yanked"), file->yanked);
	if (file->metadata_sha256)
		put_sha256_attribute(out, STR(" data-core-metadata"), file->metadata_sha256);
	if (file->metadata_sha256 && !is_old_pip)
		put_sha256_attribute(out, STR(" data-dist-info-metadata"), file->metadata_sha256);
	if (has_unhashed_metadata(listed))
		buf_str(out, is_old_pip ? STR(" data-core-metadata=\"true\"")
					: STR(" data-core-metadata=\"true\" data-dist-info-metadata=\"true\""));
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PAGE);
	if (put_provenance_url(r, listed, &url))
		put_attribute(r->out, STR(" data-provenance"), url.data);
	buf_putc(out, '>');
	escape_html(out, str_from(file->filename));
	buf_str(out, STR("</a><br>\n"));
}

static void html_file(struct render_state *r, const struct page_file *listed)
{
	put_link(r, listed, false);
}

static void html_file_old_pip(struct render_state *r, const struct page_file *listed)
{
	put_link(r, listed, true);
}

static void html_version(struct render_state *r UNUSED, const struct version *version UNUSED)
{
}

static void html_project(struct render_state *r, const char *project)
{
	buf_str(r->out, STR("<a href=\""));
	escape_url(r->out, str_from(project));
	buf_str(r->out, STR("/\">"));
	escape_html(r->out, str_from(project));
	buf_str(r->out, STR("</a><br>\n"));
}

static void html_end(struct render_state *r)
{
	if (r->left_out) {
		buf_str(r->out, STR("<p>Left out, because other bytes have the same names here: files of "));
		escape_html(r->out, str_from(r->left_out));
		buf_str(r->out, STR(". Each platform has all of its own at an address of its own.</p>\n"));
	}
	buf_str(r->out, STR("</body>\n</html>\n"));
}

// Frozen at 1.4 (PEP 833): no size, no upload time, no versions.
static const struct renderer render_html = {html_begin, html_file, html_version, html_project, html_end};
static const struct renderer render_html_old_pip = {html_begin, html_file_old_pip, html_version, html_project, html_end};

// --- JSON. uv drops the whole page if an optional key is null, so absent facts have no key ---

static void json_begin(struct render_state *r)
{
	buf_str(r->out, STR("{\"meta\":{\"api-version\":\"1.4\"},"));
	if (r->project) {
		buf_str(r->out, STR("\"name\":"));
		escape_json(r->out, str_from(r->project));
		if (r->status) {
			buf_str(r->out, STR(",\"project-status\":{\"status\":"));
			escape_json(r->out, str_from(r->status));
			if (r->status_reason) {
				buf_str(r->out, STR(",\"reason\":"));
				escape_json(r->out, str_from(r->status_reason));
			}
			buf_putc(r->out, '}');
		}
		buf_str(r->out, STR(",\"files\":[\n"));
	} else {
		buf_str(r->out, STR("\"projects\":[\n"));
	}
}

static void json_put_number(struct buf *out, uint64_t n, size_t digits)
{
	char text[20];
	size_t at = sizeof(text);
	do
		text[--at] = (char)('0' + n % 10);
	while (n /= 10);
	while (sizeof(text) - at < digits)
		text[--at] = '0';
	buf_add(out, text + at, sizeof(text) - at);
}

// Writes "2026-01-02T03:04:05Z". Nanoseconds in 64 bits only reach years with four digits.
static void json_put_time(struct buf *out, int64_t mtime_ns)
{
	const int64_t second = 1000000000;
	time_t t = (time_t)(mtime_ns / second - (mtime_ns % second < 0));
	struct tm tm;
	gmtime_r(&t, &tm);
	const struct {
		int value;
		char end;
	} part[] = {{tm.tm_year + 1900, '-'}, {tm.tm_mon + 1, '-'}, {tm.tm_mday, 'T'}, {tm.tm_hour, ':'},
		{tm.tm_min, ':'}, {tm.tm_sec, 'Z'}};
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		json_put_number(out, (uint64_t)part[i].value, 2);
		buf_putc(out, part[i].end);
	}
}

// Adds a version to the list. Equal versions are adjacent, in any spelling (1.0, 1.0.0); each spelling is listed once.
static void json_add_version(struct render_state *r, const char *text, struct str key)
{
	struct buf *all = &r->versions;
	if (!str_eq(buf_view(&r->key), key)) {
		buf_clear(&r->key);
		buf_str(&r->key, key);
		r->key_start = all->len;
	}
	size_t before = all->len;
	buf_putc(all, ',');
	escape_json(all, str_from(text));
	size_t length = all->len - before;
	const char *first = memmem(all->data + r->key_start, all->len - r->key_start, all->data + before, length);
	if (first != all->data + before)
		all->len = before;
}

// PEP 691: the reason if there is one, else true.
static void json_put_yanked(struct buf *out, struct str reason)
{
	buf_str(out, STR(",\"yanked\":"));
	if (reason.len)
		escape_json(out, reason);
	else
		buf_str(out, STR("true"));
}

// Ours are always known. Upstream's are copied from its page if it has them.
static void json_put_size_and_time(struct buf *out, const struct page_file *listed)
{
	const struct simplepage_file *u = listed->upstream;
	if (!u || u->size >= 0) {
		buf_str(out, STR(",\"size\":"));
		json_put_number(out, u ? (uint64_t)u->size : listed->file.size, 1);
	}
	if (u && u->upload_time) {
		buf_str(out, STR(",\"upload-time\":"));
		escape_json(out, str_from(u->upload_time));
	} else if (!u) {
		buf_str(out, STR(",\"upload-time\":\""));
		json_put_time(out, catalog_file_uploaded(&listed->file));
		buf_putc(out, '"');
	}
}

// filename and url are adjacent, so that compression finds the repetition.
static void json_file(struct render_state *r, const struct page_file *listed)
{
	struct buf *out = r->out;
	const struct catalog_file *file = &listed->file;
	buf_str(out, r->separator);
	r->separator = STR(",\n");
	buf_str(out, STR("{\"filename\":"));
	escape_json(out, str_from(file->filename));
	buf_str(out, STR(",\"url\":\""));
	put_url(r, listed);
	buf_str(out, STR("\",\"hashes\":{"));
	if (file->sha256) {
		buf_str(out, STR("\"sha256\":\""));
		put_sha256(out, file->sha256);
		buf_putc(out, '"');
	}
	buf_putc(out, '}');
	json_put_size_and_time(out, listed);
	if (file->requires_python) {
		buf_str(out, STR(",\"requires-python\":"));
		escape_json(out, str_from(file->requires_python));
	}
	if (file->yanked)
		json_put_yanked(out, str_from(file->yanked));
	if (file->metadata_sha256) {
		// It omits "dist-info-metadata", whose dict crashes pip 22.3 to 23.1 (PEP 714).
		buf_str(out, STR(",\"core-metadata\":{\"sha256\":\""));
		put_sha256(out, file->metadata_sha256);
		buf_str(out, STR("\"}"));
	}
	if (has_unhashed_metadata(listed))
		buf_str(out, STR(",\"core-metadata\":true"));
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PAGE);
	if (put_provenance_url(r, listed, &url)) {
		buf_str(r->out, STR(",\"provenance\":"));
		escape_json(r->out, buf_view(&url));
	}
	buf_putc(out, '}');
	if (file->version)
		json_add_version(r, file->version, file->version_key);
}

// PEP 700: the versions are a set.
static void json_version(struct render_state *r, const struct version *version)
{
	json_add_version(r, version->text, version->key);
}

static void json_project(struct render_state *r, const char *project)
{
	buf_str(r->out, r->separator);
	r->separator = STR(",\n");
	buf_str(r->out, STR("{\"name\":"));
	escape_json(r->out, str_from(project));
	buf_putc(r->out, '}');
}

static void json_end(struct render_state *r)
{
	buf_str(r->out, STR("\n]"));
	if (r->project) {
		struct str versions = buf_view(&r->versions);
		buf_str(r->out, STR(",\"versions\":["));
		buf_str(r->out, versions.len ? str_slice(versions, 1, versions.len) : versions);
		buf_putc(r->out, ']');
	}
	if (r->left_out) { // PEP 691: keys with an underscore are the server's own
		buf_str(r->out, STR(",\"_left-out\":"));
		escape_json(r->out, str_from(r->left_out));
	}
	buf_str(r->out, STR("}\n"));
}

static const struct renderer render_json = {json_begin, json_file, json_version, json_project, json_end};

// --- pages ---

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
	CLEANUP(buf_release) struct buf names = buf_up_to(LIMIT_PAGE);
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->left_out[i])
			buf_printf(&names, "%s%s", names.len ? ", " : "", v->platform[i]->name);
	return names.len ? buf_steal(&names) : NULL;
}

static int end_project(struct page *p, bool is_known, struct err *e)
{
	if (is_known)
		page_begin(p);
	return p->has_begun ? page_end(p, e) : err_set(e, ERR_NOT_FOUND, "no project %s here", p->r.project);
}

// A project of ours that is in quarantine: neither our files are listed nor those of upstream.
static int write_withdrawn(struct page *p, const struct view *v, struct catalog *c, const char *project, struct err *e)
{
	bool is_known = v->upstreams.count;
	if ((!is_known && view_files(v, c, project, note_member, &is_known, e) < 0) ||
		(!is_known && has_members(v, c, project, &is_known, e) < 0))
		return -1;
	return end_project(p, is_known, e);
}

int page_project(const struct view *shown, struct catalog *c, const char *project,
	const struct upstream_answer *upstream, enum page_format format, struct buf *out, struct err *e)
{
	CLEANUP(page_release) struct page p;
	CLEANUP(mem_free) bool *left_out = xcalloc(shown->platform_count + 1, sizeof(*left_out));
	CLEANUP(mem_free) char *names = NULL;
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_PAGE);
	const struct requirement *denied;
	struct view copy = *shown, *v = &copy;
	bool is_known = false;
	v->left_out = left_out;
	// Allocates room for upstream's files at once. Otherwise the page is copied each time that the buffer doubles.
	size_t files = upstream && upstream->stale ? upstream->stale->files : 0;
	size_t left = out->cap - out->len, most = left < MOST_ROOM ? left : MOST_ROOM;
	buf_reserve(out, files < most / FILE_BYTES ? files * FILE_BYTES : most);
	page_init(&p, v, project, format, out);
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_find(c, project, v->platform, v->platform_count, &status, e) < 0)
		return -1;
	bool is_ours = status.status != SIMPLEPAGE_ACTIVE;
	p.r.status = is_ours ? simplepage_status_name[status.status] : merge_upstream_status(upstream);
	p.r.status_reason = is_ours ? status.reason : merge_upstream_status_reason(upstream);
	if (status.status == SIMPLEPAGE_QUARANTINED)
		return write_withdrawn(&p, v, c, project, e);
	if (merge_upstream_files(v, c, project, upstream, on_page_file, on_page_version, &p, &is_known, &denied, e) < 0)
		return -1;
	p.r.left_out = names = name_left_out(v);
	if (!p.has_begun && !is_known && has_members(v, c, project, &is_known, e) < 0)
		return -1;
	if (!p.has_begun && upstream && upstream->blocked) { // and nothing of ours is there
		p.r.status = simplepage_status_name[SIMPLEPAGE_QUARANTINED];
		p.r.status_reason = upstream->blocked;
	} else if (!p.has_begun && denied) {
		offering_write_deny(denied, NULL, &why);
		p.r.status = simplepage_status_name[SIMPLEPAGE_QUARANTINED];
		p.r.status_reason = why.data;
		is_known = true;
	}
	return end_project(&p, is_known, e);
}

// Merges the sorted names of the view with the sorted names in each of more.
struct project_listing {
	struct page *page;
	struct str *more;
	size_t lists;
};

// The least of the next names of the lists; ptr NULL: there is none.
static struct str next_of_more(const struct project_listing *l)
{
	struct str least = {NULL, 0};
	for (size_t i = 0; i < l->lists; i++) {
		struct str rest = l->more[i], line = rest.len ? str_cut(&rest, '\n') : (struct str){NULL, 0};
		if (line.ptr && (!least.ptr || str_cmp(line, least) < 0))
			least = line;
	}
	return least;
}

static void skip_of_more(struct project_listing *l, struct str name)
{
	for (size_t i = 0; i < l->lists; i++) {
		struct str rest = l->more[i];
		if (rest.len && str_eq(str_cut(&rest, '\n'), name))
			l->more[i] = rest;
	}
}

static void list_more(struct project_listing *l, const char *before)
{
	for (struct str line; (line = next_of_more(l)).ptr;) {
		char name[LIMIT_FILE_NAME + 1];
		int order = before ? str_cmp(line, str_from(before)) : -1;
		if (order > 0)
			return;
		if (order < 0 && line.len < sizeof(name)) {
			memcpy(name, line.ptr, line.len);
			name[line.len] = '\0';
			l->page->renderer->project(&l->page->r, name);
		}
		skip_of_more(l, line);
	}
}

static int on_view_project(void *ctx, const char *project, struct err *e UNUSED)
{
	struct project_listing *l = ctx;
	list_more(l, project);
	l->page->renderer->project(&l->page->r, project);
	return 0;
}

int page_root(const struct view *v, struct catalog *c, struct str *more, size_t lists, enum page_format format,
	struct buf *out, struct err *e)
{
	CLEANUP(page_release) struct page p;
	struct project_listing l = {.page = &p, .more = more, .lists = lists};
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
// its digits, and the greedy low levels of zstd do not use one. Of large pages
// ISA-L's 1 takes a fourth of libdeflate's 5, for 10 % more bytes.
enum { ZSTD_LEVEL = 1 };

int page_pack(struct str page, enum page_coding coding, struct buf *out, struct err *e)
{
	if (coding == PAGE_GZIP)
		return compress_gzip(page, out, e);
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
