// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/format/digest.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/state/upstream/upstream.h"

static const char no_such_file[] = "no such file; the page of its project lists the files";

enum {
	// How long an open file is sent without a check of the disk. Then a worker thread checks it: a volume that
	// hangs must not block the event loop.
	FILE_MS = 1000,
	BLOCK = 1 << 18,
};

// The right was checked for the platform, or for upstream where it is empty.
static void make_file_key(const struct route_match *match, struct page_key *key)
{
	const struct page_readers all = {.site = match->site};
	page_key_make(key, PAGE_FILE, &all,
		PAGE_VALUES(PAGE_TEXT(match->platform), PAGE_TEXT(match->upstream), PAGE_TEXT(match->project),
			PAGE_TEXT(match->file)));
}

struct reply *files_inline(struct server_context *s, const struct route_match *match)
{
	struct page_key key;
	make_file_key(match, &key);
	return pagecache_get(s->pagecache, &key);
}

static void set_headers(struct server_context *s, const struct platform *p, const uint8_t sha256[SHA256_SIZE],
	struct reply *r)
{
	char etag[ETAG_SIZE];
	etag_of_sha256(sha256, etag);
	if (p->is_mutable)
		server_context_set_freshness(s, r, p->is_private);
	else
		reply_header(r, "Cache-Control", "%s, max-age=365000000, immutable",
			p->is_private ? "private" : "public");
	reply_header(r, "Accept-Ranges", "bytes");
	reply_set_etag(r, etag);
}

// The catalog is older than the disk: requests a scan.
static int report_stale(struct server_context *s, const char *name, const char *what, struct err *e)
{
	store_scans_hurry(s->scans);
	return err_set(e, ERR_BUSY, "%s %s since it was indexed", name, what);
}

// AFS: an open or cached file may vanish at any time (ESTALE, EIO). A second try finds the new one.
static struct place_file *open_place(const struct platform *p, const struct catalog_place *place, struct err *e)
{
	struct place_file *file = place_open(p->place, place->path, e);
	return file || e->kind != ERR_IO ? file : place_open(p->place, place->path, e);
}

static int hash_file(struct place_file *open, uint64_t size, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	const struct byte_source file = place_file_source(open, size);
	digest_begin(d);
	for (uint64_t at = 0; at < size; at += BLOCK) {
		size_t len = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
		if (byte_source_read(&file, at, block, len, e) < 0)
			return -1;
		digest_add(d, block, len);
	}
	digest_end(d, sha256);
	return 0;
}

// The file has the size and time of the one that was hashed, but another id: the store was moved, or `cp -p` replaced
// the file. So its bytes are hashed again. The next scan records the version.
static int check_bytes(struct server_context *s, const struct catalog_place *place, struct place_file *file, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	int hashed = hash_file(file, place->size, sha256, e);
	if (hashed < 0 && e->kind == ERR_IO)
		return err_prefix(e, "%s: ", place->path);
	if (hashed < 0 || memcmp(sha256, place->sha256, SHA256_SIZE) != 0)
		return report_stale(s, place->path, "has changed on the disk", e);
	store_scans_hurry(s->scans);
	return 0;
}

// Maps the file if it is still the one that was hashed: other bytes must not be sent under this hash. *is_gone: it was
// deleted.
static struct blob *map_place(struct server_context *s, const struct platform *p, const struct catalog_place *place,
	bool *is_gone, struct err *e)
{
	struct place_info now;
	const struct place_version known = {place->size, place->mtime_ns, place->inode};
	CLEANUP(place_file_close) struct place_file *file = open_place(p, place, e);
	*is_gone = !file && e->kind == ERR_NOT_FOUND;
	if (!file && !*is_gone)
		return NULL;
	if (!file) {
		report_stale(s, place->path, "has gone from the disk", e);
		return NULL;
	}
	if (place_file_info(file, &now, e) < 0) {
		err_prefix(e, "%s: ", place->path);
		return NULL;
	}
	enum place_match match = place_version_match(&now.version, &known);
	if (match == PLACE_OTHER) {
		report_stale(s, place->path, "has changed on the disk", e);
		return NULL;
	}
	if (match == PLACE_ALIKE && check_bytes(s, place, file, e) < 0)
		return NULL;
	return place_file_blob(file, place->size, e);
}

// --- files that were removed ---

// Anybody with write access to the store may have written it, so only a URL goes into a header.
static bool is_safe_url(const char *text)
{
	struct str url = str_from(text);
	for (size_t i = 0; i < url.len; i++)
		if (url.ptr[i] <= ' ' || url.ptr[i] > '~')
			return false;
	return url.len <= LIMIT_PATH && (str_starts(url, STR("https://")) || str_starts(url, STR("http://")));
}

static bool is_same_file(const struct tombstone *t)
{
	const struct tombstone_upstream *u = &t->upstream;
	return t->has_sha256 && u->has_sha256 && memcmp(t->sha256, u->sha256, SHA256_SIZE) == 0;
}

static bool may_redirect_to_upstream(const struct site *site, const struct tombstone *t)
{
	return t->upstream.url && is_safe_url(t->upstream.url) &&
	       (is_same_file(t) ? site->redirects_same : site->redirects_others);
}

static struct reply *redirect_to_upstream(const struct tombstone *t, bool is_metadata)
{
	const char *ending = is_metadata ? ".metadata" : "";
	struct reply *r = reply_text(302, "302 Found: %s%s", t->upstream.url, ending);
	reply_header(r, "Location", "%s%s", t->upstream.url, ending);
	return r;
}

static struct reply *gone_reply(const struct tombstone *t, const char *filename)
{
	char when[CLOCK_TEXT];
	struct buf text;
	buf_init(&text, SIZE_MAX / 2); // a tombstone has a size limit
	buf_printf(&text, "410 Gone: %s was removed", filename);
	if (t->when) {
		clock_write(t->when, when);
		buf_printf(&text, " at %s", when);
	}
	buf_printf(&text, ": %s\n", *t->reason ? t->reason : "no reason was given");
	if (t->upstream.url && is_safe_url(t->upstream.url))
		buf_printf(&text, "Upstream has %s\n", t->upstream.url);
	return reply_new(410, "text/plain; charset=utf-8", blob_from_buf(&text));
}

struct removed_judging {
	const struct tombstone *tombstone;
	struct reply *refused;
};

// Upstream's file, as its page has it; else as it was when ours was removed.
static int judge_replacement(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct offering o;
	struct removed_judging *j = ctx;
	const struct tombstone_upstream *u = &j->tombstone->upstream;
	const struct simplepage_file gone = {.filename = u->filename, .uploaded = u->uploaded};
	const struct simplepage_file *f = answer->listed ? simplepage_find(answer->listed, u->filename) : NULL;
	upstream_judge(answer, upstream_home(answer, f).upstream, f ? f : &gone, &o);
	if (o.is_offered)
		return 0;
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_PAGE);
	offering_write(&o, offering_first_rule(&o), &words);
	j->refused = reply_problem(403, offering_rule_name[offering_first_rule(&o)], words.data);
	return 0;
}

// A refusal, if upstream's file is not offered; NULL: it is.
static struct reply *refuse_hidden(struct server_context *s, struct catalog *c, const struct tombstone *t,
	const char *project)
{
	struct err e = ERR_INIT;
	struct removed_judging j = {.tombstone = t};
	struct upstreams *upstreams = t->upstream.filename ? server_context_upstreams(s) : NULL;
	if (upstreams && upstream_load_cached_any(upstreams, c, project, NULL, judge_replacement, &j, &e) < 0)
		return server_context_error(&e);
	return j.refused;
}

// The answer for a file whose bytes were deleted and whose tombstone is there: 302 to upstream's file if that is the
// same file, or if [prune] redirect allows it. Else 410, with the reason, the time, and what upstream has. NULL: the
// catalog has no tombstone of this name, or the file is of another project than the URL's.
static struct reply *answer_removed(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match, const char *filename, bool is_metadata)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_SIDECAR);
	int found = catalog_tombstone_text(c, p->id, filename, &text, &e);
	if (found <= 0)
		return found < 0 ? server_context_error(&e) : NULL;
	CLEANUP(tombstone_release) struct tombstone t;
	tombstone_read(buf_view(&text), &t);
	struct err unknown = ERR_INIT;
	CLEANUP(mem_free) char *of_name = t.project ? NULL : publish_project_of(filename, NULL, &unknown);
	const char *own = t.project ? t.project : of_name;
	if (!own || !str_eq(str_from(own), match->project))
		return NULL;
	bool may_redirect = may_redirect_to_upstream(server_context_site(s), &t);
	struct reply *refused = may_redirect ? refuse_hidden(s, c, &t, own) : NULL;
	if (refused)
		return refused;
	struct reply *r = may_redirect ? redirect_to_upstream(&t, is_metadata) : gone_reply(&t, filename);
	server_context_set_freshness(s, r, p->is_private);
	return r;
}

// --- answers ---

// A purge deletes the bytes before it updates the catalog.
static struct reply *send_file(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct catalog_place *place, const struct route_match *match, const char *name)
{
	bool is_gone;
	struct err e = ERR_INIT;
	struct blob *body = map_place(s, p, place, &is_gone, &e);
	struct reply *removed = is_gone && place->is_unlisted ? answer_removed(s, c, p, match, name, false) : NULL;
	if (!body)
		return removed ? removed : server_context_error(&e);
	struct reply *r = reply_new(200, "application/octet-stream", body);
	r->count = download_counter_of(s->download_counter, p->name, match->file);
	set_headers(s, p, place->sha256, r);
	return r;
}

static struct reply *send_metadata(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct catalog_place *place)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	if (!place->has_metadata)
		return server_context_not_found_in(s, p->is_private, "this file has no metadata");
	if (catalog_metadata(c, place->metadata_sha256, &text, &e) < 0)
		return server_context_error(&e);
	struct reply *r = reply_new(200, "application/octet-stream", blob_from_buf(&text));
	set_headers(s, p, place->metadata_sha256, r);
	return r;
}

// An attachment may change, unlike its file: the operator replaces it, or a scan finds another one.
static struct reply *send_attachment(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match, const char *filename, enum attachment kind)
{
	struct err e = ERR_INIT;
	struct catalog_attached found;
	char etag[ETAG_SIZE];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	int result = catalog_attached(c, p->id, filename, kind, &found, &text, &e);
	if (result < 0)
		return server_context_error(&e);
	if (!result && p->scanned != CATALOG_SCANNED)
		return server_context_not_filled();
	if (!result || !str_eq(str_from(found.project), match->project))
		return server_context_not_found_in(s, p->is_private, no_such_file);
	etag_of_sha256(found.sha256, etag);
	struct reply *r = reply_new(200, "application/json", blob_from_buf(&text));
	server_context_set_freshness(s, r, p->is_private);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	reply_set_etag(r, etag);
	return r;
}

static struct reply *send_no_file(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match, const char *name, bool is_metadata)
{
	struct reply *removed = answer_removed(s, c, p, match, name, is_metadata);
	return removed ? removed : server_context_not_found_in(s, p->is_private, no_such_file);
}

static struct reply *find_and_send(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match)
{
	struct err e = ERR_INIT;
	struct str of;
	enum attachment kind;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (attachment_is(match->file, &of, &kind)) {
		CLEANUP(mem_free) char *filename = xstrndup(of.ptr, of.len);
		return send_attachment(s, c, p, match, filename, kind);
	}
	bool is_metadata = str_ends(match->file, STR(".metadata"));
	size_t len = match->file.len - (is_metadata ? strlen(".metadata") : 0);
	CLEANUP(mem_free) char *name = xstrndup(match->file.ptr, len);
	if (catalog_find_file(c, p->id, name, &place, &e) < 0 && e.kind != ERR_NOT_FOUND)
		return server_context_error(&e);
	if (e.kind == ERR_NOT_FOUND)
		return p->scanned == CATALOG_SCANNED ? send_no_file(s, c, p, match, name, is_metadata)
						     : server_context_not_filled();
	if (!str_eq(str_from(place.project), match->project))
		return server_context_not_found_in(s, p->is_private,
			no_such_file); // the URL's project was checked, not the file's
	return is_metadata ? send_metadata(s, c, p, &place) : send_file(s, c, p, &place, match, name);
}

// A refusal, if [server] deny hides the file or what is beside it; NULL: it does not.
static struct reply *refuse_denied(struct server_context *s, const struct platform *p, const char *project, struct str file)
{
	struct str of;
	enum attachment kind;
	CLEANUP(rule_list_cleanup) struct rule_list *denied = server_context_denied(s);
	if (str_ends(file, STR(".metadata")))
		file = str_slice(file, 0, file.len - strlen(".metadata"));
	else if (attachment_is(file, &of, &kind))
		file = of;
	CLEANUP(mem_free) char *filename = xstrndup(file.ptr, file.len);
	const struct requirement *line = rule_list_find(denied, project, filename, p->name);
	if (!line)
		return NULL;
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_PAGE);
	offering_write_deny(line, server_context_site(s)->config.contact, &words);
	return reply_problem(403, offering_rule_name[OFFERING_DENY], words.data);
}

void files_cache_reply(struct server_context *s, const struct route_match *match, struct reply *r, int64_t ms)
{
	struct page_key key;
	make_file_key(match, &key);
	pagecache_put(s->pagecache, &key, r, ms, pagecache_epoch(s->pagecache, &key, match->pages_cleared));
}

struct reply *files_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct page_key key;
	make_file_key(match, &key);
	uint64_t epoch = pagecache_epoch(s->pagecache, &key, match->pages_cleared);
	const struct platform *p = site_platform(match->site, match->platform);
	if (!p)
		return server_context_not_found(s, "no such platform");
	CLEANUP(mem_free) char *project = xstrndup(match->project.ptr, match->project.len);
	struct reply *r = server_context_withdrawn(s, c, project, &p, 1);
	r = r ? r : refuse_denied(s, p, project, match->file);
	r = r ? r : find_and_send(s, c, p, match);
	if (r->status == 200)
		pagecache_put(s->pagecache, &key, r, FILE_MS, epoch);
	return r;
}
