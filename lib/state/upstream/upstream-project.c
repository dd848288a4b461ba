// SPDX-License-Identifier: Apache-2.0
// A project, as loaded from the catalog.
#include <stdlib.h>
#include <string.h>

#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/upstream-row.h"

static enum upstream_result result_named(const char *name)
{
	for (int i = 0; name && i < UPSTREAM_RESULT_COUNT; i++)
		if (strcmp(name, upstream_result_name[i]) == 0)
			return (enum upstream_result)i;
	return UPSTREAM_NEVER_ASKED;
}

// Ignores rows of indexes that are no longer configured.
static int take_row(void *ctx, const struct catalog_upstream *found, struct err *e UNUSED)
{
	struct upstream_project *p = ctx;
	for (size_t i = 0; i < p->upstream->count; i++) {
		struct upstream_row *row = &p->row[i];
		if (strcmp(found->source, p->upstream->index[i].shown) != 0)
			continue;
		row->result = result_named(found->result);
		row->last_definitive = result_named(found->last_definitive);
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
		row->result = row->last_definitive = UPSTREAM_NEVER_ASKED;
		buf_init(&row->packed, SIZE_MAX / 2);
	}
	if (c && (name_owner_look(c, &u->hidden_platforms, project, &p->here, e) < 0 ||
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

bool upstream_project_is_superseded(const struct upstream_project *p)
{
	return atomic_load_explicit(&p->is_superseded, memory_order_acquire);
}

size_t upstream_project_unread(const struct upstream_project *p)
{
	size_t sum = 0;
	for (size_t i = 0; i < p->upstream->count; i++)
		sum += p->row[i].response.body.len;
	return sum;
}

size_t upstream_project_bytes(const struct upstream_project *p)
{
	size_t sum = sizeof(*p);
	for (size_t i = 0; i < p->upstream->count; i++) {
		const struct upstream_row *row = &p->row[i];
		sum += sizeof(*row) + row->packed.len + row->page.text.total +
		       row->page.files * sizeof(*row->page.file);
	}
	return sum;
}

int64_t upstream_project_changed(const struct upstream_project *p)
{
	int64_t newest = 0;
	for (size_t i = 0; i < p->upstream->count && !upstream_project_is_superseded(p); i++)
		newest = p->row[i].changed > newest ? p->row[i].changed : newest;
	return newest;
}
