// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/asset-handler.h"

#include <stdio.h>

#include "lib/base/limits.h"
#include "server/handlers/html-assets.h"
#include "server/message/negotiate.h"

enum { ASSET_KEY = 32, KEPT_FOR = 365 * 24 * 3600 };

// The keys of pages begin with a digit.
static struct str asset_key(const struct request *r, enum html_asset_name which, char key[ASSET_KEY])
{
	snprintf(key, ASSET_KEY, "a/%d/%d", which, negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]));
	return str_from(key);
}

static struct reply *find_asset(struct server_context *s, const struct request *r, enum html_asset_name which)
{
	char key[ASSET_KEY];
	return pagecache_get(s->pagecache, asset_key(r, which, key));
}

static struct reply *make_asset(struct server_context *s, const struct route_match *match, enum html_asset_name which)
{
	struct err e = ERR_INIT;
	char key[ASSET_KEY], etag[PAGE_ETAG_SIZE];
	const struct html_asset *a = &html_asset[which];
	enum page_coding coding = negotiate_coding(match->request->header[HEADER_ACCEPT_ENCODING]);
	struct str name = asset_key(match->request, which, key);
	uint64_t epoch = pagecache_epoch(s->pagecache, name, match->pages_cleared);
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, LIMIT_PAGE);
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
	pagecache_put(s->pagecache, name, r, 0, epoch);
	return r;
}

struct reply *asset_handler_style_inline(struct server_context *s, const struct route_match *match)
{
	return find_asset(s, match->request, HTML_STYLE);
}

struct reply *asset_handler_style(struct server_context *s, struct catalog *c UNUSED, const struct route_match *match)
{
	return make_asset(s, match, HTML_STYLE);
}

struct reply *asset_handler_script_inline(struct server_context *s, const struct route_match *match)
{
	return find_asset(s, match->request, HTML_SCRIPT);
}

struct reply *asset_handler_script(struct server_context *s, struct catalog *c UNUSED, const struct route_match *match)
{
	return make_asset(s, match, HTML_SCRIPT);
}
