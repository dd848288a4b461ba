// SPDX-License-Identifier: Apache-2.0
// The indexes of the configuration.
#include <stdlib.h>
#include <string.h>

#include "lib/base/str.h"
#include "lib/state/upstream/owned-names.h"
#include "lib/state/upstream/upstream-row.h"

static int add_index(struct upstream *u, struct str url, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	const char *slash = str_ends(url, STR("/")) ? "" : "/";
	u->index = xreallocarray(u->index, u->count + 1, sizeof(*u->index));
	struct upstream_index *index = &u->index[u->count++];
	*index = (struct upstream_index){.url = xasprintf(STR_FMT "%s", STR_ARG(url), slash)};
	if (fetch_url_parse(index->url, &parts, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "[upstream] url: number %zu is ", u->count);
	}
	index->shown = STEAL_PTR(parts.text);
	return 0;
}

struct fetch_pool *upstream_new_pool(const struct config *c)
{
	const struct fetch_pool_options options = {
		.fetch.ca_file = c->upstream_ca_file,
		.fetch.connect_seconds = (unsigned)c->upstream_connect_timeout,
		.fetch.stall_seconds = (unsigned)c->upstream_timeout,
		.concurrency = (unsigned)c->upstream_concurrency,
		.allow_hosts = c->upstream_allow_hosts,
		.allow_private = c->upstream_allow_private,
	};
	return fetch_pool_new(&options);
}

int upstream_new(const struct config *c, struct upstream **out, struct err *e)
{
	CLEANUP(upstream_cleanup) struct upstream *u = xcalloc(1, sizeof(*u));
	u->timeout = (unsigned)c->upstream_timeout;
	u->retries = (unsigned)c->upstream_retries;
	u->concurrency = (unsigned)c->upstream_concurrency;
	u->max_page = c->upstream_max_page;
	u->trust_404 = c->upstream_trust_404;
	u->is_together = c->upstream_indexes && strcmp(c->upstream_indexes, "together") == 0;
	u->state = c->state ? xstrdup(c->state) : NULL;
	name_rules_init(&u->rules, c);
	config_hidden_platforms(c, &u->hidden_platforms);
	for (struct str rest = str_from(c->upstream_urls); rest.len;)
		if (add_index(u, str_cut(&rest, ' '), e) < 0)
			return -1;
	u->pool = upstream_new_pool(c);
	*out = STEAL_PTR(u);
	return 0;
}

void upstream_free(struct upstream *u)
{
	if (!u)
		return;
	fetch_pool_free(u->pool);
	for (size_t i = 0; i < u->count; i++) {
		free(u->index[i].url);
		free(u->index[i].shown);
	}
	free(u->index);
	free(u->state);
	name_rules_release(&u->rules);
	strset_release(&u->hidden_platforms);
	strset_release(&u->noted);
	owned_names_close(u->ours);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

void upstream_cleanup(struct upstream **u)
{
	upstream_free(*u);
	*u = NULL;
}

const char *upstream_first_url(const struct upstream *u)
{
	return u->index[0].url;
}

struct fetch_pool *upstream_pool(struct upstream *u)
{
	return u->pool;
}

enum name_rule upstream_rule(const struct upstream *u, const char *project)
{
	return name_rules_find(&u->rules, project);
}

const char *upstream_owner(enum name_rule rule, bool is_ours, bool is_hidden)
{
	if (rule != NAME_RULE_MERGE)
		return name_rule_asks_upstream(rule) ? NULL : name_rule_text[rule];
	if (is_hidden)
		return "only private platforms have it: upstream is not asked ([upstream] shared would)";
	return is_ours ? "upstream did not know it when it came here: the name is ours" : NULL;
}

bool upstream_health(const struct upstream *u, size_t index, struct upstream_health *out)
{
	if (index >= u->count)
		return false;
	const struct upstream_index *x = &u->index[index];
	*out = (struct upstream_health){
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
