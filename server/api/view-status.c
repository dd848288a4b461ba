// SPDX-License-Identifier: Apache-2.0
#include "server/api/view-status.h"

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "promoter/view-silence.h"
#include "server/core/view-monitor.h"
#include "server/http/metrics.h"

// --- health ---

static void add_silence(void *ctx, const struct view_silence *s)
{
	const struct catalog_expected *x = &s->known;
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "kind", x->kind);
	jsondoc_put_str(doc, "platform", *x->platform ? x->platform : NULL);
	jsondoc_put_str(doc, "python", *x->python ? x->python : NULL);
	jsondoc_put_known_time(doc, "last", x->newest);
	jsondoc_put_int(doc, "expected-seconds", s->seconds);
	jsondoc_add(ctx, doc);
}

static void add_loss(void *ctx, const struct member_loss *l)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "platform", l->platform);
	jsondoc_put_str(doc, "project", l->project);
	jsondoc_put_str(doc, "filename", l->filename);
	jsondoc_put_known_time(doc, "since", l->since);
	jsondoc_add(ctx, doc);
}

void view_status_put(struct server_context *s, const struct view *v, struct jsondoc *doc)
{
	struct jsondoc *silent = jsondoc_array();
	view_monitor_silences(s->view_monitor, v->name, add_silence, silent);
	jsondoc_put(doc, "silent", silent);
	struct jsondoc *lost = jsondoc_array();
	size_t count = view_monitor_losses(s->view_monitor, v->name, LIMIT_LOST_NAMED, add_loss, lost);
	jsondoc_put_int(doc, "lost-files", (int64_t)count);
	jsondoc_put(doc, "lost", lost);
}

bool view_status_has_losses(struct server_context *s, const struct view *v)
{
	return view_monitor_losses(s->view_monitor, v->name, 0, NULL, NULL) > 0;
}

// --- metrics ---

struct view_newest {
	int64_t number, made;
};

static int take_newest_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	*(struct view_newest *)ctx = (struct view_newest){g->number, g->made};
	return 0;
}

static int put_generations(struct catalog *c, const struct site *site, bool wants_time, struct buf *out, struct err *e)
{
	for (size_t i = 1; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const char *const labels[] = {"view", v->name, NULL};
		struct view_newest newest = {0};
		if (!v->membership || v->is_private)
			continue;
		if (catalog_view_generations(c, v->membership, INT64_MAX, 1, take_newest_generation, &newest, e) < 0)
			return -1;
		metrics_line(out, wants_time ? "view_generation_timestamp_seconds" : "view_generation", labels,
			(double)(wants_time ? newest.made : newest.number));
	}
	return 0;
}

static int put_lost_members(struct catalog *c, const struct site *site, struct buf *out, struct err *e)
{
	for (size_t i = 1; i < site->view_count; i++) {
		const struct view *v = &site->view[i];
		const char *const labels[] = {"view", v->name, NULL};
		CLEANUP(member_losses_release) struct member_losses lost = {0};
		if (!v->membership || v->is_private)
			continue;
		if (member_losses_read(c, v->membership, NULL, &lost, e) < 0)
			return -1;
		metrics_line(out, "view_lost_files", labels, (double)lost.count);
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

void view_status_metrics(struct server_context *s, struct catalog *c, struct buf *out)
{
	struct err e = ERR_INIT;
	const struct site *site = server_context_site(s);
	metrics_head(out, "view_generation", "gauge", "The newest generation of a view with a membership; 0: none.");
	if (put_generations(c, site, false, out, &e) < 0)
		log_error("%s", e.msg);
	metrics_head(out, "view_generation_timestamp_seconds", "gauge", "When it was made, since 1970; 0: none.");
	if (put_generations(c, site, true, out, &e) < 0)
		log_error("%s", e.msg);
	metrics_head(out, "view_lost_files", "gauge", "Members of a view whose bytes the store no longer lists.");
	if (put_lost_members(c, site, out, &e) < 0)
		log_error("%s", e.msg);
	metrics_head(out, "view_silent", "gauge", "1 if test runs that a view expects do not come any more.");
	if (put_silences(c, site, out, &e) < 0)
		log_error("%s", e.msg);
}
