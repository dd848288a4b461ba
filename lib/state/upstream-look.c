// SPDX-License-Identifier: Apache-2.0
// The indexes of the configuration, what the catalog has of them, and asking for many projects.
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/state/catalog-upstream.h"
#include "lib/state/ours.h"
#include "lib/state/upstream-row.h"

enum {
	BATCH = 64,  // projects that are written together
	SEVERAL = 3, // of so many projects a real index knows one
};

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
	rules_init(&u->rules, c);
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
	rules_release(&u->rules);
	names_release(&u->hidden_platforms);
	names_release(&u->noted);
	ours_close(u->ours);
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

static enum upstream_result result_named(const char *name)
{
	for (int i = 0; name && i < UPSTREAM_RESULT_COUNT; i++)
		if (strcmp(name, upstream_result_name[i]) == 0)
			return (enum upstream_result)i;
	return UPSTREAM_NEVER_ASKED;
}

// Those of an index that is configured no more are left where they are.
static int take_row(void *ctx, const struct catalog_upstream *found, struct err *e UNUSED)
{
	struct upstream_project *p = ctx;
	for (size_t i = 0; i < p->upstream->count; i++) {
		struct upstream_row *row = &p->row[i];
		if (strcmp(found->source, p->upstream->index[i].shown) != 0)
			continue;
		row->result = result_named(found->result);
		row->standing = result_named(found->standing);
		free(row->why);
		row->why = xstrdup(found->why);
		free(row->etag);
		row->etag = found->etag ? xstrdup(found->etag) : NULL;
		row->asked = found->asked;
		row->fetched = found->fetched;
		row->max_age = found->max_age;
		row->changed = found->changed;
		row->has_doubt = found->doubt != NULL;
		row->doubted = found->doubted;
		row->certain = found->certain;
		row->had_since = found->had_since;
		if (found->doubt)
			memcpy(row->doubt, found->doubt, SHA256_SIZE);
		buf_clear(&row->packed);
		buf_str(&row->packed, found->facts);
	}
	return 0;
}

int upstream_load(struct upstream *u, struct catalog *c, const char *project, struct upstream_project **out,
	struct err *e)
{
	struct upstream_project *p = xcalloc(1, sizeof(*p) + u->count * sizeof(p->row[0]));
	atomic_init(&p->refs, 1);
	p->name = xstrdup(project);
	p->upstream = u;
	for (size_t i = 0; i < u->count; i++) {
		struct upstream_row *row = &p->row[i];
		row->upstream = u;
		row->project = p;
		row->index = &u->index[i];
		row->max_age = -1;
		row->result = row->standing = UPSTREAM_NEVER_ASKED;
		buf_init(&row->packed, SIZE_MAX / 2);
	}
	if (c && (owner_look(c, &u->hidden_platforms, project, &p->here, e) < 0 ||
			 catalog_upstream_rows(c, project, take_row, p, e) < 0)) {
		upstream_project_unref(p);
		return -1;
	}
	for (size_t i = 0; i < u->count; i++)
		upstream_row_unpack(&p->row[i]);
	*out = p;
	return 0;
}

struct upstream_project *upstream_project_ref(struct upstream_project *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

void upstream_project_unref(struct upstream_project *p)
{
	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
		return;
	for (size_t i = 0; i < p->upstream->count; i++)
		upstream_row_release(&p->row[i]);
	free(p->name);
	free(p);
}

const char *upstream_project_name(const struct upstream_project *p)
{
	return p->name;
}

bool upstream_project_is_outdone(const struct upstream_project *p)
{
	return atomic_load_explicit(&p->is_outdone, memory_order_acquire);
}

size_t upstream_project_unread(const struct upstream_project *p)
{
	size_t sum = 0;
	for (size_t i = 0; i < p->upstream->count; i++)
		sum += p->row[i].said.body.len;
	return sum;
}

size_t upstream_project_bytes(const struct upstream_project *p)
{
	size_t sum = sizeof(*p);
	for (size_t i = 0; i < p->upstream->count; i++) {
		const struct upstream_row *row = &p->row[i];
		sum += sizeof(*row) + row->packed.len + row->page.text.total + row->page.files * sizeof(*row->page.file);
	}
	return sum;
}

int64_t upstream_project_changed(const struct upstream_project *p)
{
	int64_t newest = 0;
	for (size_t i = 0; i < p->upstream->count && !upstream_project_is_outdone(p); i++)
		newest = p->row[i].changed > newest ? p->row[i].changed : newest;
	return newest;
}

enum rule upstream_rule(const struct upstream *u, const char *project)
{
	return rules_find(&u->rules, project);
}

bool upstream_is_younger(const struct upstream *u, int64_t ours, const struct upstream_answer *a)
{
	return upstream_rule(u, a->project) == RULE_MERGE && owner_is_younger(ours, a);
}

const char *upstream_owner(enum rule rule, bool is_ours, bool is_hidden)
{
	if (rule != RULE_MERGE)
		return rule_asks(rule) ? NULL : rule_name[rule];
	if (is_hidden)
		return "only private platforms have it: upstream is not asked ([upstream] shared would)";
	return is_ours ? "upstream did not know it when it came here: the name is ours" : NULL;
}

// Opened where it is asked for first, by whichever thread.
static int open_ours(struct upstream *u, struct catalog *c, struct err *e)
{
	CLEANUP(mem_free) char *path = ours_path(catalog_path(c));
	pthread_mutex_lock(&u->lock);
	int opened = u->ours ? 0 : ours_open(path, &u->ours, e);
	pthread_mutex_unlock(&u->lock);
	return opened;
}

// Whose a name is, and why.
struct ownership {
	const char *why; // NULL: upstream may be asked, and what it says counts
	bool is_ours;
};

static int find_owner(struct upstream *u, struct catalog *c, const char *project, struct ownership *out, struct err *e)
{
	struct presence here;
	if (open_ours(u, c, e) < 0 || owner_look(c, &u->hidden_platforms, project, &here, e) < 0)
		return -1;
	out->is_ours = ours_has(u->ours, project) && !names_has(&u->noted, project);
	out->why = upstream_owner(rules_find(&u->rules, project), out->is_ours, owner_is_hidden(&here));
	return 0;
}

static int tell_private(const char *project, const struct ownership *owner, upstream_fn *fn, void *ctx, struct err *e)
{
	const struct upstream_answer answer = {.result = UPSTREAM_PRIVATE, .standing = UPSTREAM_NEVER_ASKED,
		.project = project, .index = "", .why = owner->why, .max_age = -1, .is_ours = owner->is_ours};
	return fn(ctx, &answer, e);
}

int upstream_recall_any(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	struct upstream_project *p;
	if (upstream_load(u, c, project, &p, e) < 0)
		return -1;
	int r = upstream_tell(u, p, fn, ctx, e);
	upstream_project_unref(p);
	return r;
}

int upstream_recall(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e)
{
	struct ownership owner;
	if (find_owner(u, c, project, &owner, e) < 0)
		return -1;
	return owner.why ? tell_private(project, &owner, fn, ctx, e) : upstream_recall_any(u, c, project, fn, ctx, e);
}

struct look {
	struct upstream *upstream;
	struct catalog *catalog;
	const char *const *projects;
	size_t next, count;
	upstream_fn *fn;
	void *ctx;
	struct err *e;
	bool has_failed;
	struct upstream_project *batch[BATCH]; // to be written
	size_t batched;
	size_t known;          // projects that upstream has
	struct names unknown;  // that it does not, and are ours for that
	const struct upstream_project *project; // that is told of
};

static void look_release(struct look *l)
{
	names_release(&l->unknown);
}

static void give_up(struct look *l)
{
	l->has_failed = l->upstream->is_leaving = true;
	fetch_pool_cancel(l->upstream->pool, 0);
}

static int flush(struct look *l)
{
	int r = upstream_keep(l->upstream, l->catalog, l->batch, l->batched, l->e);
	for (size_t i = 0; i < l->batched; i++)
		upstream_project_unref(l->batch[i]);
	l->batched = 0;
	return r;
}

static void on_answer(void *ctx, struct upstream_project *p);

static int ask_next(struct look *l)
{
	struct upstream_project *p;
	struct ownership owner = {.why = ""};
	const char *project = NULL;
	while (owner.why) {
		if (l->next == l->count)
			return 0;
		project = l->projects[l->next++];
		if (find_owner(l->upstream, l->catalog, project, &owner, l->e) < 0 ||
			(owner.why && tell_private(project, &owner, l->fn, l->ctx, l->e) < 0))
			return -1;
	}
	if (upstream_load(l->upstream, l->catalog, project, &p, l->e) < 0)
		return -1;
	upstream_ask(l->upstream, p, on_answer, l);
	return 0;
}

// What upstream has under a name that turns out to be ours is told to nobody. That it has nothing is noted at the end.
static int tell(void *ctx, const struct upstream_answer *a, struct err *e)
{
	struct look *l = ctx;
	const char *project = l->project->name;
	bool is_missing = a->standing == UPSTREAM_NOT_FOUND || a->standing == UPSTREAM_ABSENT;
	bool is_ours = rules_find(&l->upstream->rules, project) == RULE_MERGE &&
		       owner_judge(&l->project->here, a) == OWNER_OURS;
	l->known += a->result == UPSTREAM_KNOWN;
	if (!is_ours)
		return l->fn(l->ctx, a, e);
	if (is_missing) {
		names_add(&l->unknown, project);
		return l->fn(l->ctx, a, e);
	}
	const struct ownership owner = {upstream_owner(RULE_MERGE, true, false), true};
	return ours_add(l->upstream->ours, project, e) < 0 ? -1 : tell_private(project, &owner, l->fn, l->ctx, e);
}

static int take_answer(struct look *l, struct upstream_project *p)
{
	upstream_settle(l->upstream, p);
	l->project = p;
	int r = upstream_tell(l->upstream, p, tell, l, l->e);
	upstream_project_slim(p);
	l->batch[l->batched++] = p;
	if (r < 0 || (l->batched == BATCH && flush(l) < 0))
		return -1;
	return ask_next(l);
}

static void on_answer(void *ctx, struct upstream_project *p)
{
	struct look *l = ctx;
	if (l->has_failed)
		upstream_project_unref(p);
	else if (take_answer(l, p) < 0)
		give_up(l);
}

// An index that knows none of many projects is rather the wrong one, or in disorder, than that all of them are ours.
static int note_unknown(struct look *l, struct err *e)
{
	struct upstream *u = l->upstream;
	names_release(&u->noted);
	names_sort(&l->unknown);
	if (l->unknown.count >= SEVERAL && !l->known && !u->trust_404) {
		log_warn("upstream knows none of %zu projects: that they are ours is not noted (is [upstream] url right? "
			 "trust-404 = yes, or private, would tell)", l->unknown.count);
		return 0;
	}
	for (size_t i = 0; i < l->unknown.count; i++) {
		names_add(&u->noted, l->unknown.item[i]);
		if (ours_add(u->ours, l->unknown.item[i], e) < 0)
			return -1;
	}
	return 0;
}

int upstream_look(struct upstream *u, struct catalog *c, const char *const *projects, size_t count, upstream_fn *fn,
	void *ctx, struct err *e)
{
	CLEANUP(look_release)
	struct look l = {.upstream = u, .catalog = c, .projects = projects, .count = count, .fn = fn, .ctx = ctx, .e = e};
	for (unsigned i = 0; i < u->concurrency && !l.has_failed; i++)
		if (ask_next(&l) < 0)
			give_up(&l);
	fetch_pool_run(u->pool);
	u->is_leaving = false;
	struct err unsaid = ERR_INIT; // what was learned before it failed is good
	l.e = l.has_failed ? &unsaid : e;
	int r = flush(&l) < 0 || note_unknown(&l, l.e) < 0 ? -1 : 0;
	return l.has_failed ? -1 : r;
}
