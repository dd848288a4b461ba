// SPDX-License-Identifier: Apache-2.0
#include "server/pages/log-data.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"

struct log_taker {
	const struct log_query *query;
	struct log_data *data;
	bool reads_all; // all projects of all platforms
};

static bool reads_platforms(const struct token_grant *g, const struct platform *const *platform, size_t count,
	bool only_private)
{
	for (size_t i = 0; i < count; i++)
		if ((!only_private || platform[i]->is_private) && !token_grant_reads(g, platform[i]->name, NULL))
			return false;
	return true;
}

static bool reads_all_of(const struct site *s, const struct token_grant *g)
{
	for (size_t i = 0; i < s->store.platform_count; i++)
		if (!token_grant_reads(g, s->store.platform[i].name, NULL))
			return false;
	return s->store.platform_count > 0;
}

// The name of a view is for who may read the view.
static bool sees_view_of_entry(const struct log_query *q, const char *name)
{
	const struct view *v = site_view(q->site, str_from(name));
	return v && reads_platforms(q->grant, (const struct platform *const *)v->platform, v->platform_count, true);
}

// What tokens there are is for who may read everything.
static bool is_of_tokens(const struct audit_entry *a)
{
	return a->action && strncmp(a->action, "token", strlen("token")) == 0;
}

static bool sees_entry(const struct log_taker *t, const struct audit_entry *a)
{
	if (t->reads_all)
		return true;
	return a->platform && !is_of_tokens(a) && token_grant_reads(t->query->grant, a->platform, a->project) &&
	       (!a->view || sees_view_of_entry(t->query, a->view));
}

static int take_log_entry(void *ctx, const struct audit_entry *a, const char *time, struct err *e UNUSED)
{
	struct log_taker *t = ctx;
	struct log_data *d = t->data;
	if (!sees_entry(t, a))
		return 0;
	struct log_line line = {*a, time};
	if (!t->reads_all && (!a->result || strcmp(a->result, "done") != 0))
		line.entry.reason = NULL; // why a token was refused names what else it may do
	const char **const field[] = {&line.entry.who, &line.entry.peer, &line.entry.action, &line.entry.view,
		&line.entry.platform, &line.entry.project, &line.entry.file, &line.entry.sha256, &line.entry.result,
		&line.entry.reason, &line.time};
	for (size_t i = 0; i < ARRAY_SIZE(field); i++)
		if (*field[i])
			*field[i] = arena_copy(&d->text, str_from(*field[i]));
	GROW(d->line, d->lines, d->room);
	d->line[d->lines++] = line;
	return 0;
}

int log_data_read(const struct log_query *q, struct log_data *out, struct err *e)
{
	struct audit_query wanted = {.path = q->audit_path, .most = LIMIT_AUDIT_READ};
	struct log_taker t = {q, out, reads_all_of(q->site, q->grant)};
	*out = (struct log_data){0};
	audit_asked_query(q->asked, &wanted);
	if (audit_recent(&wanted, take_log_entry, &t, &out->is_whole, e) < 0)
		return -1;
	out->first = out->lines > q->limit ? out->lines - q->limit : 0;
	return 0;
}

void log_data_release(struct log_data *d)
{
	free(d->line);
	arena_release(&d->text);
	*d = (struct log_data){0};
}
