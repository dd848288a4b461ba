// SPDX-License-Identifier: Apache-2.0
#include "server/api/handlers.h"

#include <string.h>
#include <time.h>

#include "lib/advisories/advisories.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/catalog/catalog-told.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/retired.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/offering.h"
#include "lib/state/upstream/right-clock.h"
#include "promoter/view-change.h"
#include "server/core/auth.h"
#include "server/core/build-results.h"
#include "server/core/monitors.h"
#include "server/http/metrics.h"
#include "server/upstream/upstream-files.h"
#include "server/upstream/upstream-pages.h"

enum { JSON_MOST = 4 << 20 };

static struct reply *json_reply(unsigned status, const struct jsondoc *doc)
{
	struct buf text;
	buf_init(&text, JSON_MOST);
	jsondoc_write(doc, 2, &text);
	return reply_json(status, &text);
}

static void put_watch(struct server_context *s, bool sees_all, struct jsondoc *doc)
{
	struct store_scans_watch state = store_scans_watch(s->scans);
	struct jsondoc *watch = jsondoc_new("on:b", state.is_on);
	if (sees_all)
		jsondoc_set(watch, "folders:d refused:d", state.seen.folders, state.seen.refused);
	jsondoc_set(watch, "overflows:d floods:d scans:d lag-ms:d", state.seen.overflows, state.seen.floods,
		state.scans, state.lag * 1000);
	jsondoc_put(doc, "watch", watch);
}

// --- block lists ---

static bool has_broken_list(const struct advisories *a)
{
	struct advisories_source l = {0};
	for (size_t i = 0; i < advisories_sources(a) && !l.error; i++)
		advisories_source(a, i, &l);
	return l.error != NULL;
}

static void add_silence(void *ctx, const struct view_silence *s)
{
	const struct catalog_expected *x = &s->known;
	jsondoc_add(ctx, jsondoc_new("kind:s platform:s python:s last:T expected-seconds:d", x->kind,
		*x->platform ? x->platform : NULL, *x->python ? x->python : NULL, x->newest, s->seconds));
}

static void add_loss(void *ctx, const struct member_loss *l)
{
	jsondoc_add(ctx, jsondoc_new("platform:s project:s filename:s since:T", l->platform, l->project, l->filename,
		l->since));
}

static void put_platform_monitor(struct server_context *s, const struct platform *p, bool sees_all, struct jsondoc *doc)
{
	struct platform_monitor_state state;
	if (!s->platform_monitor || !platform_monitor_get(s->platform_monitor, p->name, &state))
		return;
	jsondoc_put_bool(doc, "frozen", state.is_frozen);
	if (state.is_frozen)
		jsondoc_put_str(doc, "frozen-reason", state.reason);
	jsondoc_put_bool(doc, "retired", retired_is(p));
	if (state.statuses_damaged)
		jsondoc_set(doc, "damaged-statuses:d status-error:s", state.statuses_damaged,
			sees_all ? state.status_error : "the .status of a project cannot be read");
	if (!p->quota_bytes && !p->quota_files)
		return;
	jsondoc_set(doc, "quota-percent:d quota-warning:b", state.quota_percent, state.quota_percent >= QUOTA_WARNING);
}

static struct jsondoc *platform_doc(struct server_context *s, const struct site *site, size_t i, bool sees_all)
{
	struct catalog_totals t = server_context_platform_totals(s, i);
	struct jsondoc *doc = jsondoc_new("name:s indexed:b projects:d files:d bytes:d", site->store.platform[i].name,
		site->store.platform[i].scanned == CATALOG_SCANNED, t.projects, t.files, t.bytes);
	put_platform_monitor(s, &site->store.platform[i], sees_all, doc);
	struct release_scheduler_state state;
	if (s->release_scheduler && release_scheduler_get(s->release_scheduler, &site->store.platform[i], &state)) {
		struct jsondoc *release = jsondoc_new("running:b failed:b failures:d pending-since:d succeeded:d",
			state.is_running, state.failures != 0, state.failures, state.pending_since, state.succeeded);
		if (state.failures)
			jsondoc_put_str(release, "error", state.error);
		jsondoc_put(doc, "release", release);
	}
	const char *silent = NULL;
	jsondoc_put_bool(doc, "watched", store_scans_watches(s->scans, site->store.platform[i].name, &silent));
	if (silent)
		jsondoc_put_str(doc, "file-system", silent);
	return doc;
}

// --- the state, of what the client may know of ---

static bool sees_view(struct server_context *s, const struct request *r, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!auth_sees(s, r, v->platform[i]))
			return false;
	return true;
}

static bool sees_all(struct server_context *s, const struct request *r, const struct site *site)
{
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (!auth_sees(s, r, &site->store.platform[i]))
			return false;
	return true;
}

static bool is_unreleased(struct server_context *s, const struct platform *p)
{
	struct release_scheduler_state state;
	return s->release_scheduler && release_scheduler_get(s->release_scheduler, p, &state) && state.failures;
}

static bool has_damaged_status(struct server_context *s, const struct platform *p)
{
	struct platform_monitor_state state;
	return s->platform_monitor && platform_monitor_get(s->platform_monitor, p->name, &state) && state.statuses_damaged;
}

static bool is_view_degraded(struct server_context *s, const struct site *site, const struct view *v)
{
	if (site_generation(site, v) == GENERATION_UNKNOWN)
		return true;
	return v->membership && v->name && view_monitor_losses(s->view_monitor, v->name, 0, NULL, NULL) > 0;
}

// A platform that was not scanned, whose volume is not released, or with a status that cannot be read; a view with a
// membership of which nothing is known, or whose clients miss released files.
static bool is_degraded(struct server_context *s, const struct request *r, const struct site *site)
{
	for (size_t i = 0; i < site->store.platform_count; i++) {
		const struct platform *p = &site->store.platform[i];
		if ((p->scanned != CATALOG_SCANNED || is_unreleased(s, p) || has_damaged_status(s, p)) && auth_sees(s, r, p))
			return true;
	}
	for (size_t i = 0; i < site->view_count; i++)
		if (is_view_degraded(s, site, &site->view[i]) && sees_view(s, r, &site->view[i]))
			return true;
	return false;
}

static uint64_t count_quarantined(struct server_context *s, const struct request *r, const struct site *site)
{
	uint64_t count = 0;
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (auth_sees(s, r, &site->store.platform[i]))
			count += server_context_platform_totals(s, i).quarantined;
	return count;
}

// Why the clock is doubted by which files of upstreams are offered: appended to why.
static bool is_clock_doubted(struct server_context *s, struct buf *why)
{
	struct right_clock *clock = s->upstream_pages ? upstreams_clock(s->upstreams) : NULL;
	return clock && right_clock_is_doubted(clock, why);
}

static struct jsondoc *views_doc(struct server_context *s, const struct site *site, const struct request *r)
{
	struct jsondoc *views = jsondoc_array();
	for (size_t i = 1; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		if (!v->membership || !sees_view(s, r, v))
			continue;
		int64_t generation = site_generation(site, v);
		struct jsondoc *doc = jsondoc_new("name:s indexed:b generation:d", v->name,
			generation != GENERATION_UNKNOWN, generation < 0 ? 0 : generation);
		struct jsondoc *silent = jsondoc_array();
		view_monitor_silences(s->view_monitor, v->name, add_silence, silent);
		jsondoc_put(doc, "silent", silent);
		struct jsondoc *lost = jsondoc_array();
		size_t count = view_monitor_losses(s->view_monitor, v->name, LIMIT_LOST_NAMED, add_loss, lost);
		jsondoc_set(doc, "lost-files:d lost:j", count, lost);
		jsondoc_add(views, doc);
	}
	return views;
}

// The upstreams that a view merges which the client sees: bits by number.
static uint32_t seen_upstreams(struct server_context *s, const struct site *site, const struct request *r)
{
	uint32_t seen = 0;
	for (size_t i = 0; i < site->view_count; i++)
		for (size_t k = 0; k < site->view[i].upstreams.count && sees_view(s, r, &site->view[i]); k++)
			seen |= (uint32_t)1 << site->view[i].upstreams.item[k];
	return seen;
}

// Each index of these.
static struct jsondoc *upstreams_doc(struct server_context *s, const struct site *site, const struct request *r)
{
	uint32_t seen = seen_upstreams(s, site, r);
	struct upstream_health one;
	struct jsondoc *doc = jsondoc_array();
	for (size_t i = 0; seen && s->upstream_pages && upstream_health(s->upstreams, i, &one); i++)
		if (seen & (uint32_t)1 << one.number)
			jsondoc_add(doc, jsondoc_new("name:k index:s failing:b answered:T failed:T failure:k", one.name, one.url,
						 one.is_failing, one.answered, one.failed,
						 one.failed ? upstream_result_name[one.failure] : NULL));
	return doc;
}

struct reply *status_health_inline(struct server_context *s, const struct route_match *match)
{
	const struct site *site = server_context_site(s);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *platforms = jsondoc_array();
	struct store_scans_state scans = store_scans_state(s->scans);
	bool ready = atomic_load(&s->is_filled), sees = sees_all(s, match->request, site);
	CLEANUP(advisories_cleanup) struct advisories *lists = server_context_advisories(s);
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_WORDS);
	bool is_doubted = is_clock_doubted(s, &why);
	bool has_broken;
	struct jsondoc *rules = server_context_rule_lists(s, sees ? UINT32_MAX : seen_upstreams(s, site, match->request), sees, &has_broken);
	bool is_fine = !scans.has_failed && ready && !is_doubted && !is_degraded(s, match->request, site) &&
		       !has_broken_list(lists) && !has_broken;
	jsondoc_set(doc, "status:s version:s uptime:d ready:b clock:k", is_fine ? "ok" : "degraded", PACKAGE_VERSION,
		time(NULL) - s->started, ready, is_doubted ? why.data : NULL);
	uint64_t quarantined = count_quarantined(s, match->request, site);
	struct jsondoc *scan = jsondoc_new("running:b failed:b ended:d quarantined:d", scans.is_running,
		scans.has_failed, scans.ended, quarantined);
	jsondoc_put(doc, "scan", scan);
	put_watch(s, sees, doc);
	jsondoc_put_int(doc, "page-cache", (int64_t)pagecache_bytes(s->pagecache));
	for (size_t i = 0; i < site->store.platform_count; i++)
		if (auth_sees(s, match->request, &site->store.platform[i]))
			jsondoc_add(platforms, platform_doc(s, site, i, sees));
	jsondoc_set(doc, "platforms:j views:j upstreams:j block-lists:j rule-lists:j", platforms,
		views_doc(s, site, match->request), upstreams_doc(s, site, match->request), advisories_json(lists, sees),
		rules);
	return json_reply(200, doc);
}

struct reply *status_ready_inline(struct server_context *s, const struct route_match *match)
{
	(void)match;
	bool ready = atomic_load(&s->is_filled);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_bool(doc, "ready", ready);
	if (!ready)
		jsondoc_put_str(doc, "reason", "the store has not been indexed yet");
	return json_reply(ready ? 200 : 503, doc);
}

// --- metrics ---

static void put_gauge(struct buf *out, const char *name, const char *help, double value)
{
	metrics_head(out, name, "gauge", help);
	metrics_line(out, name, NULL, value);
}

// Private platforms are omitted.
static void put_platform_gauges(struct server_context *s, struct buf *out)
{
	static const struct {
		const char *name, *help;
		size_t offset; // in struct catalog_totals
	} rows[] = {
		{"platform_projects", "Projects with files on a platform.", offsetof(struct catalog_totals, projects)},
		{"platform_files", "Files on a platform.", offsetof(struct catalog_totals, files)},
		{"platform_bytes", "Bytes of the files on a platform.", offsetof(struct catalog_totals, bytes)},
	};
	const struct site *site = server_context_site(s);
	for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
		metrics_head(out, rows[row].name, "gauge", rows[row].help);
		for (size_t i = 0; i < site->store.platform_count; i++) {
			struct catalog_totals t = server_context_platform_totals(s, i);
			const char *const labels[] = {"platform", site->store.platform[i].name, NULL};
			if (!site->store.platform[i].is_private)
				metrics_line(out, rows[row].name, labels,
					(double)*(const uint64_t *)(const void *)((const char *)&t + rows[row].offset));
		}
	}
}

struct retained_gauges {
	struct server_context *context;
	struct buf *out;
	size_t row; // which of the gauges
};

static const struct retained_gauge {
	const char *name, *help;
} retained_gauges[] = {
	{"view_retained_timestamp_seconds", "As of when wheelcache retain decided last about a view, since 1970."},
	{"view_ended_versions", "Versions that the last wheelcache retain ended in a view."},
	{"view_ending_versions", "Versions of a view that end within its warn-days."},
	{"view_stale_projects", "Projects of a view of which an environment has only an old version."},
	{"view_retention_in_doubt", "1 if wheelcache retain could end nothing in a view."},
};

static int put_retained_line(void *ctx, const struct catalog_retained *row, struct err *e UNUSED)
{
	const struct retained_gauges *g = ctx;
	const struct view *v = site_view(server_context_site(g->context), str_from(row->view));
	const double value[] = {
		(double)row->looked, (double)row->ended, (double)row->ending, (double)row->stale, row->in_doubt};
	const char *const labels[] = {"view", row->view, NULL};
	if (v && !v->is_private)
		metrics_line(g->out, retained_gauges[g->row].name, labels, value[g->row]);
	return 0;
}

// Private views are omitted.
static void put_retained_gauges(struct server_context *s, struct catalog *c, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(retained_gauges); i++) {
		struct err unsaid = ERR_INIT;
		struct retained_gauges g = {s, out, i};
		metrics_head(out, retained_gauges[i].name, "gauge", retained_gauges[i].help);
		if (catalog_retained(c, put_retained_line, &g, &unsaid) < 0)
			return; // the next request tries again
	}
}

static void put_plan_rows(struct server_context *s, const struct jsondoc *totals, const char *name, const char *key,
	const char *help, struct buf *out)
{
	metrics_head(out, name, "gauge", help);
	for (size_t i = 0; totals && i < jsondoc_count(totals); i++) {
		const struct jsondoc *row = jsondoc_at(totals, i);
		const char *platform = jsondoc_get_str(row, "platform"), *verdict = jsondoc_get_str(row, "verdict");
		const struct platform *p = platform ? site_platform(server_context_site(s), str_from(platform)) : NULL;
		int64_t value = 0;
		if (!p || p->is_private || !verdict || !jsondoc_get_int(row, key, &value))
			continue;
		const char *why = jsondoc_get_str(row, "why");
		const char *const labels[] = {"platform", platform, "verdict", verdict, "removes",
			jsondoc_is_true(row, "removes") ? "yes" : "no", "why", why ? why : "", NULL};
		metrics_line(out, name, labels, (double)value);
	}
}

static void put_plan_gauges(struct server_context *s, struct catalog *c, struct buf *out)
{
	struct err e = ERR_INIT;
	int64_t made = 0;
	CLEANUP(buf_release) struct buf id = buf_up_to(JSON_MOST), head = buf_up_to(JSON_MOST);
	if (catalog_plan_last(c, &id, &made, &head, &e) < 0)
		return;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&head), &e);
	put_gauge(out, "plan_made_timestamp_seconds", "When the last plan of a prune was made, since 1970.",
		(double)made);
	const struct jsondoc *totals = doc ? jsondoc_get(doc, "totals") : NULL;
	put_plan_rows(s, totals, "plan_files", "files", "Files by verdict in the last plan.", out);
	put_plan_rows(s, totals, "plan_bytes", "bytes", "Bytes by verdict in the last plan.", out);
}

static void put_queue(const char *of, const struct fair_queue_counts *counts, struct buf *out)
{
	CLEANUP(mem_free)
	char *waiting = xasprintf("upstream_%s_waiting", of), *under_way = xasprintf("upstream_%s_under_way", of);
	put_gauge(out, waiting, "What is to be asked of upstream and waits for its turn.", (double)counts->waiting);
	put_gauge(out, under_way, "What upstream is being asked for.", (double)counts->under_way);
}

// Of each of several.
static void put_upstream_gauge(struct server_context *s, const char *name, const char *help, int which, struct buf *out)
{
	struct upstream_health one;
	metrics_head(out, name, "gauge", help);
	for (size_t i = 0; i < s->upstream_count && upstream_health(s->upstreams, i, &one); i++) {
		const char *const labels[] = {"upstream", one.name, NULL};
		uint64_t files = 0, bytes = 0;
		server_context_kept(s, (uint32_t)1 << i, &files, &bytes);
		const double values[] = {one.is_failing, (double)one.answered, (double)bytes};
		metrics_line(out, name, labels, values[which]);
	}
}

static void put_upstream_gauges(struct server_context *s, struct buf *out)
{
	if (s->upstream_count < 2)
		return;
	put_upstream_gauge(s, "upstream_failing", "1 if the last request for a page of this upstream failed.", 0, out);
	put_upstream_gauge(s, "upstream_answered_timestamp_seconds",
		"When this upstream last answered, since 1970; 0: not since the start.", 1, out);
	put_upstream_gauge(s, "upstream_kept_bytes_of", "Bytes of the files of this upstream that are kept here.", 2, out);
}

static void put_queues(struct server_context *s, struct buf *out)
{
	struct fair_queue_counts counts;
	uint64_t reserved = 0;
	if (!s->upstream_pages)
		return;
	upstream_pages_count(s->upstream_pages, &counts);
	put_queue("pages", &counts, out);
	counts = (struct fair_queue_counts){0};
	for (size_t i = 0; i < s->upstream_count; i++) {
		struct fair_queue_counts own;
		upstream_files_count(s->upstream[i].upstream_files, &own);
		counts.waiting += own.waiting;
		counts.under_way += own.under_way;
		reserved += file_cache_reserved(s->upstream[i].file_cache);
	}
	put_queue("files", &counts, out);
	put_gauge(out, "upstream_under_way_bytes", "Bytes that are reserved for files of upstream on their way.",
		(double)reserved);
}

// Private platforms are omitted.
static int put_attempt_counts(struct server_context *s, struct results *r, struct buf *out, struct err *e)
{
	const struct site *site = server_context_site(s);
	metrics_head(out, "build_attempts_total", "counter", "Attempts to build a wheel, by result.");
	for (size_t i = 0; i < site->store.platform_count; i++) {
		uint64_t count[RESULTS_RESULT_COUNT];
		const char *platform = site->store.platform[i].name;
		if (site->store.platform[i].is_private)
			continue;
		if (results_totals(r, platform, count, e) < 0)
			return -1;
		for (size_t k = 0; k < RESULTS_RESULT_COUNT; k++) {
			const char *const labels[] = {"platform", platform, "result", results_result_name[k], NULL};
			if (k != RESULTS_RUNNING)
				metrics_line(out, "build_attempts_total", labels, (double)count[k]);
		}
	}
	return 0;
}

static int add_failing(void *ctx, const struct results_attempt *a UNUSED, struct err *e UNUSED)
{
	++*(uint64_t *)ctx;
	return 0;
}

static int put_failing_builds(struct server_context *s, struct results *r, struct buf *out, struct err *e)
{
	const struct site *site = server_context_site(s);
	metrics_head(out, "builds_failing", "gauge",
		"Projects, on each Python of a platform, whose last build failed.");
	for (size_t i = 0; i < site->store.platform_count; i++) {
		uint64_t failing = 0;
		const char *platform = site->store.platform[i].name;
		const struct results_filter filter = {.platforms = &platform, .platform_count = 1, .only_failed = true};
		const char *const labels[] = {"platform", platform, NULL};
		if (site->store.platform[i].is_private || retired_is(&site->store.platform[i]))
			continue;
		if (results_list(r, &filter, add_failing, &failing, e) < 0)
			return -1;
		metrics_line(out, "builds_failing", labels, (double)failing);
	}
	return 0;
}

static void put_builds(struct server_context *s, struct buf *out)
{
	struct err e = ERR_INIT;
	CLEANUP(results_cleanup) struct results *r = NULL;
	if (build_results_open(s->build_results, s->search_ms, &r, &e) == 0 && put_attempt_counts(s, r, out, &e) == 0 &&
		put_failing_builds(s, r, out, &e) == 0)
		return;
	if (e.kind != ERR_NOT_FOUND)
		log_error("%s", e.msg);
}

static void put_watch_metrics(struct server_context *s, bool sees_all, struct buf *out)
{
	struct store_scans_watch state = store_scans_watch(s->scans);
	const struct {
		const char *name, *type, *help;
		double value;
		bool is_of_all;
	} row[] = {
		{"watch_folders", "gauge", "Folders of the store whose changes are seen at once.",
			(double)state.seen.folders, true},
		{"watch_refused_folders", "gauge", "Folders that the system has no watch for.", (double)state.seen.refused,
			true},
		{"watch_overflows_total", "counter", "Times that the kernel dropped events.", (double)state.seen.overflows, false},
		{"watch_floods_total", "counter", "Times that too many folders changed.", (double)state.seen.floods, false},
		{"watch_scans_total", "counter", "Scans of what had changed.", (double)state.scans, false},
		{"watch_fruitless_scans_total", "counter", "Those that changed nothing.", (double)state.fruitless, false},
		{"watch_lag_seconds", "gauge", "From the first change to the end of the last such scan.", state.lag, false},
		{"watch_longest_lag_seconds", "gauge", "The longest of these times.", state.longest_lag, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		if (row[i].is_of_all && !sees_all)
			continue;
		metrics_head(out, row[i].name, row[i].type, row[i].help);
		metrics_line(out, row[i].name, NULL, row[i].value);
	}
}

struct view_newest {
	int64_t number, made;
};

static int take_newest_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	*(struct view_newest *)ctx = (struct view_newest){g->number, g->made};
	return 0;
}

enum view_gauge { VIEW_GENERATION, VIEW_GENERATION_TIME, VIEW_LOST_FILES, VIEW_GAUGES };

static int read_view_gauge(struct catalog *c, const char *membership, enum view_gauge which, double *out, struct err *e)
{
	struct view_newest newest = {0};
	CLEANUP(member_losses_release) struct member_losses lost = {0};
	if (which == VIEW_LOST_FILES ? member_losses_read(c, membership, NULL, &lost, e) < 0
				     : catalog_view_generations(c, membership, INT64_MAX, 1, take_newest_generation,
					       &newest, e) < 0)
		return -1;
	const double value[VIEW_GAUGES] = {(double)newest.number, (double)newest.made, (double)lost.count};
	*out = value[which];
	return 0;
}

static int put_view_gauge(struct catalog *c, const struct site *site, enum view_gauge which, struct buf *out,
	struct err *e)
{
	static const char *const rows[VIEW_GAUGES][2] = {
		{"view_generation", "The newest generation of a view with a membership; 0: none."},
		{"view_generation_timestamp_seconds", "When it was made, since 1970; 0: none."},
		{"view_lost_files", "Members of a view whose bytes the store no longer lists."},
	};
	metrics_head(out, rows[which][0], "gauge", rows[which][1]);
	for (size_t i = 1; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const char *const labels[] = {"view", v->name, NULL};
		double value = 0;
		if (!v->membership || v->is_private)
			continue;
		if (read_view_gauge(c, v->membership, which, &value, e) < 0)
			return -1;
		metrics_line(out, rows[which][0], labels, value);
	}
	return 0;
}

// A cell of a view that is not private is none of a private platform.
static int put_silences(struct catalog *c, const struct site *site, struct buf *out, struct err *e)
{
	for (size_t i = 1; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const struct config_view *own = v->membership ? config_view(&site->config, v->name) : NULL;
		CLEANUP(view_silences_release) struct view_silences s = {0};
		if (!own || v->is_private)
			continue;
		if (view_silence_read(own, c, clock_wall_seconds(), false, &s, e) < 0)
			return -1;
		for (size_t k = 0; k < s.count; k++) {
			const struct catalog_expected *x = &s.item[k].known;
			const char *const labels[] = {"view", v->name, "kind", x->kind, "platform", x->platform,
				"python", x->python, NULL};
			metrics_line(out, "view_silent", labels, s.item[k].is_silent);
		}
	}
	return 0;
}

static void put_list_gauges(struct server_context *s, bool sees_all, struct buf *out)
{
	static const char *const rows[][2] = {
		{"block_list_records", "Records of a block list."},
		{"block_list_malformed", "Records of a block list that break the schema of OSV."},
		{"block_list_loaded_timestamp_seconds", "When a block list was read last, since 1970."},
		{"block_list_failed", "1 if a block list cannot be read again: the last one counts."},
	};
	CLEANUP(advisories_cleanup) struct advisories *lists = server_context_advisories(s);
	for (size_t row = 0; row < ARRAY_SIZE(rows) && advisories_sources(lists); row++) {
		metrics_head(out, rows[row][0], "gauge", rows[row][1]);
		for (size_t i = 0; i < advisories_sources(lists); i++) {
			struct advisories_source l;
			advisories_source(lists, i, &l);
			const double value[] = {(double)l.state.records, (double)l.state.wrong, (double)l.state.loaded,
				l.error != NULL};
			const char *const labels[] = {"list", fs_path_as_told(l.path, sees_all), NULL};
			metrics_line(out, rows[row][0], labels, value[row]);
		}
	}
}

// Of [server] and the upstreams that the client sees; the holds only while they cannot be read.
static void put_rule_list_gauges(struct server_context *s, const struct route_match *match, bool sees_all, struct buf *out)
{
	bool has_broken;
	uint32_t seen = sees_all ? UINT32_MAX : seen_upstreams(s, match->site, match->request);
	CLEANUP(jsondoc_cleanup) struct jsondoc *rows = server_context_rule_lists(s, seen, sees_all, &has_broken);
	if (jsondoc_count(rows))
		metrics_head(out, "rule_list_failed", "gauge",
			"1 if a list of deny or allow, or the holds, cannot be read again: what was read last counts.");
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const struct jsondoc *row = jsondoc_at(rows, i);
		const char *upstream = jsondoc_get_str(row, "upstream");
		const char *const labels[] = {"upstream", upstream ? upstream : "", "key", jsondoc_get_str(row, "key"), "list",
			jsondoc_get_str(row, "list"), NULL};
		metrics_line(out, "rule_list_failed", labels, jsondoc_get_str(row, "error") != NULL);
	}
}

static void count_holds(void *ctx, const struct offering_rules *rules, size_t upstreams)
{
	double *count = ctx;
	if (!upstreams)
		return;
	count[0] = (double)rules->holds->holds;
	count[1] = (double)rules->holds->waivers;
}

static void put_holds(struct server_context *s, struct catalog *c, struct buf *out)
{
	double count[2] = {0};
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf why = buf_up_to(LIMIT_WORDS);
	if (!s->upstream_pages)
		return;
	if (upstreams_rules(s->upstreams, c, count_holds, count, &e) < 0)
		log_error("%s", e.msg);
	put_gauge(out, "holds", "Holds of files of upstreams.", count[0]);
	put_gauge(out, "waivers", "Waivers of projects of upstreams.", count[1]);
	put_gauge(out, "clock_doubted", "1 while nothing new of upstreams is shown, because the clock has jumped.",
		is_clock_doubted(s, &why));
}

struct reply *status_metrics(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	static const char *const version[] = {"version", PACKAGE_VERSION, NULL};
	struct store_scans_state scans = store_scans_state(s->scans);
	struct buf out;
	buf_init(&out, JSON_MOST);
	metrics_head(&out, "build_info", "gauge", "The version that is running.");
	metrics_line(&out, "build_info", version, 1);
	put_gauge(&out, "start_timestamp_seconds", "When the server started, since 1970.", (double)s->started);
	put_gauge(&out, "page_cache_bytes", "Memory of pages that are ready to be sent.",
		(double)pagecache_bytes(s->pagecache));
	put_gauge(&out, "scan_ended_timestamp_seconds",
		"When the last scan of the store ended that went well, since 1970.", (double)scans.ended);
	put_watch_metrics(s, sees_all(s, match->request, match->site), &out);
	put_holds(s, c, &out);
	put_list_gauges(s, sees_all(s, match->request, match->site), &out);
	put_rule_list_gauges(s, match, sees_all(s, match->request, match->site), &out);
	put_gauge(&out, "quarantined_files", "Files that are not listed, for a reason that wheelcache check has.",
		(double)count_quarantined(s, match->request, match->site));
	metrics_write(s->metrics, &out);
	put_platform_gauges(s, &out);
	uint64_t files = 0, bytes = 0;
	if (s->upstream_count) {
		server_context_kept(s, UINT32_MAX, &files, &bytes);
		put_gauge(&out, "upstream_kept_files", "Files of upstream that are kept here.", (double)files);
		put_gauge(&out, "upstream_kept_bytes", "Bytes of the files of upstream that are kept here.",
			(double)bytes);
	}
	put_upstream_gauges(s, &out);
	put_queues(s, &out);
	put_plan_gauges(s, c, &out);
	put_retained_gauges(s, c, &out);
	put_builds(s, &out);
	struct err e = ERR_INIT;
	const struct site *site = server_context_site(s);
	for (int which = 0; which < VIEW_GAUGES; which++)
		if (put_view_gauge(c, site, (enum view_gauge)which, &out, &e) < 0)
			log_error("%s", e.msg);
	metrics_head(&out, "view_silent", "gauge", "1 if test runs that a view expects do not come any more.");
	if (put_silences(c, site, &out, &e) < 0)
		log_error("%s", e.msg);
	struct reply *r = reply_new(200, "text/plain; version=0.0.4; charset=utf-8", blob_from_buf(&out));
	reply_header(r, "Cache-Control", "no-store");
	return r;
}
