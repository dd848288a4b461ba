// SPDX-License-Identifier: Apache-2.0
#include "server/pages/packed-reply.h"

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "server/core/answer-spool.h"
#include "server/http/answers.h"

enum {
	KEPT_SECONDS = 3, // a costly page is kept so long,
	KEPT_SHARE = 20,  // or this many times as long as it took
	KEPT_MOST = 60,
};

struct reply *packed_reply(struct server_context *s, enum page_coding coding, const char *type, const char *policy,
	struct buf *page, bool is_private)
{
	struct err e = ERR_INIT;
	char etag[PAGE_ETAG_SIZE];
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, page->len + (1 << 20));
	packed.meter = page->meter;
	if (coding != PAGE_PLAIN && page_pack(buf_view(page), coding, &packed, &e) < 0)
		return packed_reply_failed(&packed, &e);
	struct buf *sent = coding == PAGE_PLAIN ? page : &packed;
	page_etag(type, buf_view(sent), etag);
	struct reply *r = reply_new(200, type, answer_spool(s->catalog_path, sent));
	server_context_set_freshness(s, r, is_private);
	reply_header(r, "Vary", "Accept, Accept-Encoding");
	reply_header(r, "Content-Security-Policy", "%s", policy);
	reply_header(r, "X-Content-Type-Options", "nosniff");
	if (page_coding_name[coding])
		reply_header(r, "Content-Encoding", "%s", page_coding_name[coding]);
	reply_set_etag(r, etag);
	return r;
}

struct reply *packed_reply_failed(const struct buf *page, const struct err *e)
{
	return page->meter && page->meter->is_refused ? reply_busy(answers_unread) : server_context_error(e);
}

static unsigned kept_seconds(int64_t took_ms)
{
	int64_t seconds = KEPT_SHARE * took_ms / 1000;
	return seconds < KEPT_SECONDS ? KEPT_SECONDS : seconds > KEPT_MOST ? KEPT_MOST : (unsigned)seconds;
}

static struct reply *make_costly(struct server_context *s, struct catalog *c, const struct costly_page *p,
	struct buf_meter *meter, uint64_t epoch, packed_reply_make_fn *make, const void *query)
{
	struct err e = ERR_INIT;
	int64_t begun = clock_ms();
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, p->most);
	page.meter = meter;
	int result = make(s, c, query, &page, &e);
	if (result > 0)
		return NULL;
	if (result < 0) {
		err_prefix(&e, "%s%s: ", p->path, p->name);
		return packed_reply_failed(&page, &e);
	}
	struct reply *r = packed_reply(s, p->coding, p->type, p->policy, &page, p->is_private);
	if (r->status == 200 && p->link && p->link->len)
		reply_header(r, "Link", "%s", p->link->data);
	if (r->status == 200 && p->key)
		pagecache_put(s->pagecache, p->key, r, kept_seconds(clock_ms() - begun), epoch);
	return r;
}

struct reply *packed_reply_costly(struct server_context *s, struct catalog *c, const struct costly_page *p,
	const struct route_match *match, packed_reply_make_fn *make, const void *query)
{
	struct page_making making;
	if (!p->key)
		return make_costly(s, c, p, match->meter, 0, make, query);
	uint64_t epoch = pagecache_epoch(s->pagecache, p->key, match->pages_cleared);
	pagecache_make_begin(s->pagecache, &making, p->key);
	struct reply *r = pagecache_get(s->pagecache, p->key);
	if (!r)
		r = make_costly(s, c, p, match->meter, epoch, make, query);
	pagecache_make_end(s->pagecache, &making);
	return r;
}
