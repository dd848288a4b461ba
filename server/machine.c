// SPDX-License-Identifier: Apache-2.0
#include "server/machine.h"

#include <time.h>

#include "lib/base/jsondoc.h"
#include "lib/state/quota.h"
#include "server/releaser.h"
#include "server/vigil.h"

enum { JSON_MOST = 4 << 20 };

static struct reply *json_reply(unsigned status, const struct jsondoc *doc)
{
	struct buf text;
	buf_init(&text, JSON_MOST);
	jsondoc_write(doc, 2, &text);
	struct reply *r = reply_new(status, "application/json", blob_from_buf(&text));
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static void put_vigil(struct service *s, const struct platform *p, struct jsondoc *doc)
{
	struct vigil_state state;
	if (!s->vigil || !vigil_get(s->vigil, p->name, &state))
		return;
	jsondoc_put_bool(doc, "frozen", state.is_frozen);
	if (state.is_frozen)
		jsondoc_put_str(doc, "frozen-reason", state.reason);
	if (!p->quota_bytes && !p->quota_files)
		return;
	jsondoc_put_int(doc, "quota-percent", state.quota_percent);
	jsondoc_put_bool(doc, "quota-warning", state.quota_percent >= QUOTA_WARNING);
}

static void put_release(struct service *s, const struct platform *p, struct jsondoc *doc)
{
	struct releaser_state state;
	if (!s->releaser || !releaser_get(s->releaser, p, &state))
		return;
	struct jsondoc *release = jsondoc_object();
	jsondoc_put_bool(release, "running", state.is_running);
	jsondoc_put_bool(release, "failed", state.failures != 0);
	jsondoc_put_int(release, "failures", state.failures);
	jsondoc_put_int(release, "pending-since", state.pending_since);
	jsondoc_put_int(release, "succeeded", state.succeeded);
	if (state.failures)
		jsondoc_put_str(release, "error", state.error);
	jsondoc_put(doc, "release", release);
}

static struct jsondoc *platform_doc(struct service *s, const struct site *site, size_t i)
{
	struct catalog_totals t = service_platform_totals(s, i);
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "name", site->store.platform[i].name);
	jsondoc_put_int(doc, "projects", (int64_t)t.projects);
	jsondoc_put_int(doc, "files", (int64_t)t.files);
	jsondoc_put_int(doc, "bytes", (int64_t)t.bytes);
	put_vigil(s, &site->store.platform[i], doc);
	put_release(s, &site->store.platform[i], doc);
	return doc;
}

static bool is_ready(struct service *s)
{
	return atomic_load(&s->filled) && atomic_load(&s->names_known);
}

static bool is_unreleased(struct service *s, const struct site *site)
{
	struct releaser_state state;
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (s->releaser && releaser_get(s->releaser, &site->store.platform[i], &state) && state.failures)
			return true;
	return false;
}

static void put_scans(struct jsondoc *doc, const struct host_scans *scans)
{
	struct jsondoc *scan = jsondoc_object();
	jsondoc_put_bool(scan, "running", scans->is_running);
	jsondoc_put_bool(scan, "failed", scans->has_failed);
	jsondoc_put_int(scan, "ended", scans->ended);
	jsondoc_put_int(scan, "quarantined", (int64_t)scans->quarantined);
	jsondoc_put(doc, "scan", scan);
}

struct reply *machine_health(struct service *s, const struct call *call)
{
	(void)call;
	const struct site *site = service_site(s);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *platforms = jsondoc_array();
	struct host_scans scans;
	s->host->get_scans(s->host->ctx, &scans);
	jsondoc_put_str(doc, "status", scans.has_failed || !is_ready(s) || is_unreleased(s, site) ? "degraded" : "ok");
	jsondoc_put_str(doc, "version", PACKAGE_VERSION);
	jsondoc_put_int(doc, "uptime", time(NULL) - s->started);
	jsondoc_put_bool(doc, "ready", is_ready(s));
	put_scans(doc, &scans);
	jsondoc_put_int(doc, "page-cache", (int64_t)pagecache_bytes(s->cache));
	for (size_t i = 0; i < site->store.platform_count; i++)
		jsondoc_add(platforms, platform_doc(s, site, i));
	jsondoc_put(doc, "platforms", platforms);
	return json_reply(200, doc);
}

struct reply *machine_ready(struct service *s, const struct call *call)
{
	(void)call;
	bool ready = is_ready(s);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_bool(doc, "ready", ready);
	if (!ready)
		jsondoc_put_str(doc, "reason", "the store has not been indexed yet");
	return json_reply(ready ? 200 : 503, doc);
}
