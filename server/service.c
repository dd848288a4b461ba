// SPDX-License-Identifier: Apache-2.0
#include "server/service.h"

#include "lib/base/log.h"

struct site *service_site(struct service *s)
{
	return atomic_load_explicit(&s->site, memory_order_acquire);
}

struct catalog_totals service_platform_totals(struct service *s, size_t platform)
{
	struct catalog_totals found = {0};
	pthread_mutex_lock(&s->totals_lock);
	if (platform < s->totals_count)
		found = s->totals[platform];
	pthread_mutex_unlock(&s->totals_lock);
	return found;
}

void service_fresh(struct service *s, struct reply *r)
{
	reply_header(r, "Cache-Control", "public, max-age=%llu, must-revalidate",
		(unsigned long long)service_site(s)->page_max_age);
}

static struct reply *not_found(struct service *s, const char *what)
{
	struct reply *r = reply_text(404, "404 Not Found: %s", what);
	service_fresh(s, r);
	return r;
}

// The words are the key: those of pages begin with a digit, those of files with "f/".
struct reply *service_not_found(struct service *s, const char *what)
{
	uint64_t mark = pagecache_mark(s->cache);
	struct reply *r = pagecache_get(s->cache, str_from(what));
	if (!r) {
		r = not_found(s, what);
		pagecache_put(s->cache, str_from(what), r, 0, mark);
	}
	return r;
}

struct reply *service_error(struct service *s, const struct err *e)
{
	static const unsigned status[ERR_COUNT] = {
		[ERR_USAGE] = 500, [ERR_INVALID] = 500, [ERR_NOT_FOUND] = 404, [ERR_CONFLICT] = 409,
		[ERR_DENIED] = 403, [ERR_LIMIT] = 500, [ERR_BUSY] = 503, [ERR_IO] = 503, [ERR_DB] = 503,
		[ERR_NET] = 502,
	};
	if (e->kind == ERR_NOT_FOUND)
		return not_found(s, e->msg);
	log_error("%s", e->msg);
	struct reply *r = reply_text(status[e->kind], "%u: %s", status[e->kind], e->msg);
	reply_header(r, "Cache-Control", "no-store");
	if (status[e->kind] == 503)
		reply_header(r, "Retry-After", "1");
	return r;
}
