// SPDX-License-Identifier: Apache-2.0
#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "server/pages/channel-page.h"
#include "server/pages/page.h"

enum { MAY_SEE_SOURCE }; // number of the query

// --- JSON ---

// "": there is none, null.
static void put_or_null(struct jsondoc *out, const char *key, const char *text)
{
	jsondoc_put_str(out, key, text && *text ? text : NULL);
}

static struct jsondoc *new_item(struct jsondoc *list)
{
	struct jsondoc *item = jsondoc_object();
	jsondoc_add(list, item);
	return item;
}

static struct jsondoc *tests_json(const struct channel_data *d, const struct channel_row *row)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; row->test && i < d->kinds; i++) {
		const struct wheel_test *t = &row->test[i];
		struct jsondoc *one = new_item(list);
		jsondoc_put_str(one, "kind", d->kind[i]);
		jsondoc_put_str(one, "result", wheel_test_result_name[t->result]);
		put_or_null(one, "evidence", t->id);
		put_or_null(one, "by", t->by);
		put_or_null(one, "why", t->why);
		put_or_null(one, "tested", t->tested);
		jsondoc_put_str(one, "as", *t->id ? promotion_match_name[t->match] : NULL);
	}
	return list;
}

static struct jsondoc *rows_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->rows; i++) {
		const struct channel_row *row = &d->row[i];
		struct jsondoc *one = new_item(list);
		jsondoc_put_str(one, "project", row->project);
		jsondoc_put_str(one, "platform", row->platform);
		jsondoc_put_str(one, "python", row->python);
		jsondoc_put_str(one, "state", view_channel_state_name[row->state]);
		jsondoc_put_str(one, "version", row->version);
		jsondoc_put_time(one, "came", row->came);
		jsondoc_put_str(one, "newest", row->newest);
		jsondoc_put_str(one, "tested", d->kinds && row->next ? row->next->version : NULL);
		jsondoc_put(one, "tests", tests_json(d, row));
	}
	return list;
}

static struct jsondoc *states_json(const struct channel_data *d)
{
	struct jsondoc *out = jsondoc_object();
	for (int i = 0; i < VIEW_CHANNEL_STATE_COUNT; i++)
		jsondoc_put_int(out, view_channel_state_name[i], (int64_t)d->state[i]);
	return out;
}

static struct jsondoc *waiting_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->waitings; i++) {
		const struct channel_waiting *w = &d->waiting[i];
		struct jsondoc *one = new_item(list);
		jsondoc_put_str(one, "project", w->project);
		jsondoc_put_str(one, "version", w->wheel->version);
		jsondoc_put_str(one, "filename", w->wheel->filename);
		jsondoc_put_str(one, "platform", w->wheel->platform);
		jsondoc_put_sha256(one, "sha256", w->wheel->sha256);
		jsondoc_put_bool(one, "ready", !*w->why);
		jsondoc_put_bool(one, "left", w->has_left);
		put_or_null(one, "why", w->why);
	}
	return list;
}

static struct jsondoc *endings_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->endings; i++) {
		struct jsondoc *one = new_item(list);
		jsondoc_put_str(one, "project", d->ending[i].project);
		jsondoc_put_str(one, "version", d->ending[i].version);
		jsondoc_put_time(one, "ends", d->ending[i].ends);
	}
	return list;
}

static struct jsondoc *test_days_json(const struct channel_runs *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < CHANNEL_DAYS; i++) {
		char day[CLOCK_TEXT];
		struct jsondoc *one = new_item(list);
		clock_write(r->day[i].day, day);
		day[10] = '\0';
		jsondoc_put_str(one, "day", day);
		jsondoc_put_int(one, "passed", (int64_t)r->day[i].passed);
		jsondoc_put_int(one, "failed", (int64_t)r->day[i].failed);
		jsondoc_put_int(one, "skipped", (int64_t)r->day[i].skipped);
	}
	return list;
}

static struct jsondoc *runs_json(const struct channel_runs *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->runs; i++) {
		const struct catalog_evidence *run = &r->run[i];
		struct jsondoc *one = new_item(list);
		jsondoc_put_sha256(one, "evidence", run->id);
		jsondoc_put_str(one, "kind", run->kind);
		jsondoc_put_str(one, "platform", run->platform);
		jsondoc_put_str(one, "python", run->python);
		jsondoc_put_time(one, "made", run->made);
		jsondoc_put_time(one, "received", run->received);
		put_or_null(one, "by", run->by);
		put_or_null(one, "address", run->address);
		jsondoc_put_int(one, "passed", (int64_t)run->passed);
		jsondoc_put_int(one, "failed", (int64_t)run->failed);
		jsondoc_put_int(one, "skipped", (int64_t)run->skipped);
		jsondoc_put_int(one, "wheels", (int64_t)run->wheels);
		jsondoc_put_str(one, "override", run->overrides);
	}
	return list;
}

static struct jsondoc *generations_json(const struct channel_runs *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->generations; i++) {
		const struct catalog_generation *g = &r->generation[i];
		struct jsondoc *one = new_item(list);
		jsondoc_put_int(one, "generation", g->number);
		jsondoc_put_time(one, "made", g->made);
		jsondoc_put_str(one, "action", g->action);
		put_or_null(one, "by", g->by);
		put_or_null(one, "reason", g->reason);
		jsondoc_put_int(one, "added", (int64_t)g->added);
		jsondoc_put_int(one, "removed", (int64_t)g->removed);
		struct jsondoc *files = jsondoc_array();
		for (size_t k = 0; k < r->change[i].files; k++)
			jsondoc_add(files, generation_file_json(&r->change[i].file[k]));
		jsondoc_put(one, "files", files);
	}
	return list;
}

static struct jsondoc *lost_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->losts; i++) {
		struct jsondoc *one = new_item(list);
		jsondoc_put_str(one, "platform", d->lost[i]->platform);
		jsondoc_put_str(one, "project", d->lost[i]->project);
		jsondoc_put_str(one, "filename", d->lost[i]->filename);
		jsondoc_put_known_time(one, "since", d->lost[i]->since);
	}
	return list;
}

static struct jsondoc *expected_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->silences.count; i++) {
		const struct view_silence *s = &d->silences.item[i];
		const struct catalog_expected *x = &s->known;
		struct jsondoc *one = new_item(list);
		jsondoc_put_str(one, "kind", x->kind);
		put_or_null(one, "platform", x->platform);
		put_or_null(one, "python", x->python);
		jsondoc_put_str(one, "state", s->is_silent ? "silent" : "reporting");
		jsondoc_put_int(one, "seconds", s->seconds);
		jsondoc_put_time(one, "since", x->known);
		jsondoc_put_known_time(one, "last", x->newest);
	}
	return list;
}

static struct jsondoc *kinds_json(const struct channel_data *d)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < d->kinds; i++)
		jsondoc_add_str(list, d->kind[i]);
	return list;
}

struct jsondoc *channel_json(const struct channel_data *d)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "view", d->view);
	jsondoc_put_str(doc, "from", d->source);
	jsondoc_put_int(doc, "generation", d->runs.members.generation);
	jsondoc_put_bool(doc, "damaged", d->runs.members.is_damaged);
	jsondoc_put(doc, "lost", lost_json(d));
	jsondoc_put(doc, "expected", expected_json(d));
	jsondoc_put_str(doc, "tests_for", d->judge);
	jsondoc_put(doc, "kinds", kinds_json(d));
	jsondoc_put_int(doc, "projects", (int64_t)d->projects);
	jsondoc_put(doc, "states", states_json(d));
	jsondoc_put(doc, "environments", rows_json(d));
	jsondoc_put_int(doc, "ready", (int64_t)d->ready);
	jsondoc_put_int(doc, "left", (int64_t)d->left);
	jsondoc_put_int(doc, "refused", (int64_t)d->refused);
	jsondoc_put(doc, "waiting", waiting_json(d));
	jsondoc_put(doc, "endings", endings_json(d));
	jsondoc_put(doc, "days", test_days_json(&d->runs));
	jsondoc_put_int(doc, "overrides", (int64_t)d->runs.overrides);
	jsondoc_put(doc, "evidence", runs_json(&d->runs));
	jsondoc_put(doc, "generations", generations_json(&d->runs));
	jsondoc_put_bool(doc, "more", d->has_more);
	return doc;
}

// --- the page ---

// Whether the client may read the view from which files are promoted: it may have a private platform that this one lacks.
static bool may_see_source(const struct page_query *q, const struct config_view *own)
{
	const struct view *source = own->from ? site_view(q->site, str_from(own->from)) : NULL;
	for (size_t i = 0; source && i < source->platform_count; i++)
		if (source->platform[i]->is_private && !readable_names(&q->readable, source->platform[i], NULL))
			return false;
	return source;
}

static struct reply *prepare_channel(struct page_query *q)
{
	const struct view *view = q->match->found_view;
	const struct config_view *own = view->name ? config_view(&q->site->config, view->name) : NULL;
	if (!own || q->match->at)
		return server_context_not_found_in(q->context, view->is_private,
			"no channel: the configuration has no such view");
	if (site_is_incomplete(q->site, view))
		return server_context_not_filled();
	q->number[MAY_SEE_SOURCE] = may_see_source(q, own);
	q->nameds = page_names_view(q, view) ? q->nameds : 0;
	q->is_private = view->is_private || q->site->has_private || q->nameds;
	return NULL;
}

static int write_channel(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(channel_data_release) struct channel_data data = {0};
	const struct channel_query asked = {
		.site = q->site,
		.view = q->match->found_view,
		.may_see_source = q->number[MAY_SEE_SOURCE],
		.sees_names = q->nameds > 0,
		.project = q->text[ARGUMENT_PROJECT],
		.limit = q->limit,
		.now = q->now,
	};
	if (channel_data_read(q->catalog, &asked, &data, e) < 0)
		return -1;
	if (q->form == PAGE_FORM_HTML) {
		channel_page_write(&q->frame, &data, &asked, out);
		return 0;
	}
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = channel_json(&data);
	jsondoc_write(doc, 2, out);
	return 0;
}

static const struct page_argument arguments[] = {{ARGUMENT_PROJECT, .form = FORM_PROJECT_GLOB}};

const struct page_row channel_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_CHANNEL,
	.scope = PAGE_SCOPE_VIEW,
	.shows_names = true,
	.forms = 1 << PAGE_FORM_HTML | 1 << PAGE_FORM_JSON,
	.rows = 500,
	.rows_most = LIMIT_CHANNEL_ROWS,
	.most = 64 << 20,
	PAGE_ARGUMENTS(arguments),
	.prepare = prepare_channel,
	.write = write_channel,
};
