// SPDX-License-Identifier: Apache-2.0
// The upstreams of the configuration, and their indexes.
#include <stdlib.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream-row.h"

static int add_index(struct upstreams *u, struct upstream *one, struct str url, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	const char *slash = str_ends(url, STR("/")) ? "" : "/";
	u->index = xreallocarray(u->index, u->indexes + 1, sizeof(*u->index));
	struct upstream_index *index = &u->index[u->indexes++];
	*index = (struct upstream_index){.upstream = one, .url = xasprintf(STR_FMT "%s", STR_ARG(url), slash)};
	if (u->indexes > LIMIT_UPSTREAM_INDEXES)
		return err_set(e, ERR_USAGE, "[upstream] url: there are more than %d", LIMIT_UPSTREAM_INDEXES);
	if (fetch_url_parse(index->url, &parts, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "[upstream] url: number %zu is ", u->indexes);
	}
	index->shown = STEAL_PTR(parts.text);
	for (const struct upstream_index *other = u->index; other < index; other++)
		if (other->upstream != one && strcmp(other->shown, index->shown) == 0)
			return err_set(e, ERR_USAGE, "[upstream %s] and %s have the same url", other->upstream->name,
				one->name);
	return 0;
}

struct fetch_pool *upstream_new_pool(const struct config_upstream *c)
{
	const struct fetch_pool_options options = {
		.fetch.ca_file = c->ca_file,
		.fetch.connect_seconds = (unsigned)c->connect_timeout,
		.fetch.stall_seconds = (unsigned)c->timeout,
		.concurrency = (unsigned)c->concurrency,
		.allow_hosts = c->allow_hosts,
		.password_file = c->password_file,
		.allow_private = c->allow_private,
	};
	return fetch_pool_new(&options);
}

static int add_upstream(struct upstreams *u, const struct config_upstream *c, struct err *e)
{
	struct upstream *one = &u->item[u->count++];
	one->name = xstrdup(c->name);
	one->timeout = (unsigned)c->timeout;
	one->retries = (unsigned)c->retries;
	one->concurrency = (unsigned)c->concurrency;
	one->max_page = c->max_page;
	one->trust_404 = c->trust_404;
	for (struct str rest = str_from(c->urls); rest.len;)
		if (add_index(u, one, str_cut(&rest, ' '), e) < 0)
			return -1;
	one->pool = upstream_new_pool(c);
	return 0;
}

int upstreams_new(const struct config *c, struct upstreams **out, struct err *e)
{
	CLEANUP(upstreams_cleanup) struct upstreams *u = xcalloc(1, sizeof(*u));
	u->item = xcalloc(c->upstreams.count + 1, sizeof(*u->item));
	config_default_order(c, &u->order);
	u->state = c->state ? xstrdup(c->state) : NULL;
	name_rules_init(&u->rules, c);
	for (size_t i = 0; i < c->upstreams.count; i++) {
		config_hidden_platforms(c, i, &u->hidden[i]);
		if (add_upstream(u, &c->upstreams.item[i], e) < 0)
			return -1;
	}
	if (upstreams_configure(u, c, e) < 0)
		return -1;
	*out = STEAL_PTR(u);
	return 0;
}

int upstreams_configure(struct upstreams *u, const struct config *c, struct err *e)
{
	for (size_t i = 0; i < u->count; i++) {
		const struct config_upstream *now = config_upstreams_named(&c->upstreams, u->item[i].name);
		if (!now)
			continue;
		u->item[i].max_age = (int64_t)now->max_age;
		u->item[i].negative_max_age = (int64_t)now->negative_max_age;
		u->item[i].stale = (int64_t)now->stale;
	}
	return upstream_rules_configure(u, c, e);
}

void upstreams_free(struct upstreams *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->count; i++)
		fetch_pool_free(u->item[i].pool);
	for (size_t i = 0; i < u->count; i++) {
		free(u->item[i].name);
		strset_release(&u->item[i].noted);
		strset_release(&u->hidden[i]);
	}
	for (size_t i = 0; i < u->indexes; i++) {
		free(u->index[i].url);
		free(u->index[i].shown);
	}
	free(u->item);
	free(u->index);
	free(u->state);
	name_rules_release(&u->rules);
	owned_names_close(u->ours);
	upstream_rules_release(u);
	pthread_mutex_destroy(&u->lock);
	pthread_mutex_destroy(&u->change_lock);
	free(u);
}

void upstreams_cleanup(struct upstreams **u)
{
	upstreams_free(*u);
	*u = NULL;
}

void upstreams_use_pins(struct upstreams *u, struct mirror_pins *pins)
{
	u->pins = pins;
}

size_t upstreams_count(const struct upstreams *u)
{
	return u->count;
}

size_t upstream_number(const struct upstreams *u, const struct upstream *one)
{
	return (size_t)(one - u->item);
}

struct upstream *upstreams_item(struct upstreams *u, size_t i)
{
	return i < u->count ? &u->item[i] : NULL;
}

void upstreams_start(struct upstreams *u)
{
	for (size_t i = 0; i < u->count; i++)
		fetch_pool_start(u->item[i].pool);
}

// A project may go from one pool to another, also back.
void upstreams_run(struct upstreams *u)
{
	do
		for (size_t i = 0; i < u->count; i++)
			fetch_pool_run(u->item[i].pool);
	while (atomic_load(&u->asked));
}

void upstreams_cancel(struct upstreams *u)
{
	u->is_ending = true;
	for (size_t i = 0; i < u->count; i++)
		fetch_pool_cancel(u->item[i].pool, 0);
}

unsigned upstreams_concurrency(const struct upstreams *u)
{
	unsigned sum = 0;
	for (size_t i = 0; i < u->count; i++)
		sum += u->item[i].concurrency;
	return sum;
}

const char *upstream_name(const struct upstream *u)
{
	return u->name;
}

const char *upstream_url(const struct upstreams *u, const struct upstream *one)
{
	size_t i = 0;
	while (u->index[i].upstream != one)
		i++;
	return u->index[i].url;
}

struct fetch_pool *upstream_pool(const struct upstream *u)
{
	return u->pool;
}

enum name_rule upstream_rule(const struct upstreams *u, const char *project)
{
	struct config_order order = u->order;
	return name_rules_admit(&u->rules, project, &order);
}

const char *upstream_owner(enum name_rule rule, bool is_ours, bool is_hidden)
{
	if (rule != NAME_RULE_MERGE)
		return name_rule_asks_upstream(rule) ? NULL : name_rule_text[rule];
	if (is_hidden)
		return "only private platforms have it: upstream is not asked ([upstream] shared would)";
	return is_ours ? "upstream did not know it when it came here: the name is ours" : NULL;
}

bool upstream_health(const struct upstreams *u, size_t index, struct upstream_health *out)
{
	if (index >= u->indexes)
		return false;
	const struct upstream_index *x = &u->index[index];
	*out = (struct upstream_health){
		.number = upstream_number(u, x->upstream),
		.name = u->count > 1 ? x->upstream->name : NULL,
		.url = x->shown,
		.answered = x->answered_s,
		.failed = x->failed_s,
		.failure = x->failed_by,
		.is_failing = x->is_failing};
	return true;
}

// Where the index was not asked, because it rests, its health is as it was.
void upstream_row_note_health(const struct upstream_row *row)
{
	struct upstream_index *x = row->index;
	if (!row->response.sent)
		return;
	bool is_answer = row->result == UPSTREAM_KNOWN || row->result == UPSTREAM_NOT_FOUND ||
			 row->result == UPSTREAM_QUARANTINED;
	if (is_answer)
		x->answered_s = row->asked;
	else
		x->failed_by = row->result;
	if (!is_answer)
		x->failed_s = row->asked;
	x->is_failing = !is_answer;
}
