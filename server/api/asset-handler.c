// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include "lib/base/limits.h"
#include "server/pages/html-layout.h"
#include "server/message/negotiate.h"

enum { KEPT_FOR = 365 * 24 * 3600 };

static void make_asset_key(const struct request *r, enum html_asset_name which, struct page_key *key)
{
	page_key_make(key, PAGE_ASSET, NULL,
		PAGE_VALUES(PAGE_NUMBER(which), PAGE_NUMBER(negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]))));
}

static struct reply *find_asset(struct server_context *s, const struct request *r, enum html_asset_name which)
{
	struct page_key key;
	make_asset_key(r, which, &key);
	return pagecache_get(s->pagecache, &key);
}

static struct reply *make_asset(struct server_context *s, const struct route_match *match, enum html_asset_name which)
{
	struct err e = ERR_INIT;
	char etag[PAGE_ETAG_SIZE];
	struct page_key key;
	const struct html_asset *a = &html_asset[which];
	enum page_coding coding = negotiate_coding(match->request->header[HEADER_ACCEPT_ENCODING]);
	make_asset_key(match->request, which, &key);
	uint64_t epoch = pagecache_epoch(s->pagecache, &key, match->pages_cleared);
	CLEANUP(buf_release) struct buf packed = buf_up_to(LIMIT_PAGE);
	if (page_pack(str_from(a->text), coding, &packed, &e) < 0)
		return server_context_error(&e);
	page_etag(a->type, buf_view(&packed), etag);
	struct reply *r = reply_new(200, a->type, blob_from_buf(&packed));
	reply_header(r, "Cache-Control", "public, max-age=%d, immutable", KEPT_FOR);
	reply_header(r, "Vary", "Accept-Encoding");
	reply_header(r, "X-Content-Type-Options", "nosniff");
	if (page_coding_name[coding])
		reply_header(r, "Content-Encoding", "%s", page_coding_name[coding]);
	reply_set_etag(r, etag);
	pagecache_put(s->pagecache, &key, r, 0, epoch);
	return r;
}

struct reply *asset_style_inline(struct server_context *s, const struct route_match *match)
{
	return find_asset(s, match->request, HTML_STYLE);
}

struct reply *asset_style(struct server_context *s, struct catalog *c UNUSED, const struct route_match *match)
{
	return make_asset(s, match, HTML_STYLE);
}

struct reply *asset_script_inline(struct server_context *s, const struct route_match *match)
{
	return find_asset(s, match->request, HTML_SCRIPT);
}

struct reply *asset_script(struct server_context *s, struct catalog *c UNUSED, const struct route_match *match)
{
	return make_asset(s, match, HTML_SCRIPT);
}
