// SPDX-License-Identifier: Apache-2.0
#include "server/api/removed-file.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/tombstone.h"

static bool tombstone_is_of_project(const struct tombstone *t, const char *filename, struct str project)
{
	struct err unknown = ERR_INIT;
	CLEANUP(mem_free) char *of_name = t->project ? NULL : publish_project_of(filename, NULL, &unknown);
	const char *own = t->project ? t->project : of_name;
	return own && str_eq(str_from(own), project);
}

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

struct reply *removed_file_reply(struct server_context *s, struct catalog *c, const struct platform *p,
	const struct route_match *match, const char *filename, bool is_metadata)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 2 * LIMIT_SIDECAR);
	int found = catalog_tombstone_text(c, p->id, filename, &text, &e);
	if (found <= 0)
		return found < 0 ? server_context_error(&e) : NULL;
	CLEANUP(tombstone_release) struct tombstone t;
	tombstone_read(buf_view(&text), &t);
	if (!tombstone_is_of_project(&t, filename, match->project))
		return NULL;
	struct reply *r = may_redirect_to_upstream(server_context_site(s), &t) ? redirect_to_upstream(&t, is_metadata)
									       : gone_reply(&t, filename);
	server_context_set_freshness(s, r, p->is_private);
	return r;
}
