// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/name-owner.h"

#include "lib/domain/index/simplepage.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/upstream/upstream.h"

struct looking {
	const struct strset *hidden;
	size_t count;
	struct name_presence *out;
};

static int take_place(void *ctx, const char *platform, int64_t files, int64_t arrived, struct err *e UNUSED)
{
	struct looking *l = ctx;
	for (size_t i = 0; i < l->count && files > 0; i++) {
		struct name_presence *p = &l->out[i];
		p->is_here = true;
		if (strset_has(&l->hidden[i], platform))
			continue;
		p->arrived = p->is_open && p->arrived < arrived ? p->arrived : arrived;
		p->is_open = true;
	}
	return 0;
}

int name_owner_look(struct catalog *c, const struct strset *hidden, size_t count, const char *project,
	struct name_presence *out, struct err *e)
{
	struct looking l = {hidden, count, out};
	for (size_t i = 0; i < count; i++)
		out[i] = (struct name_presence){0};
	return catalog_project_places(c, project, take_place, &l, e);
}

bool name_owner_is_hidden(const struct name_presence *p)
{
	return p->is_here && !p->is_open;
}

int64_t name_owner_oldest_upload(const struct simplepage *page)
{
	int64_t oldest = 0;
	for (size_t i = 0; page && i < page->files; i++) {
		int64_t when = page->file[i].uploaded;
		oldest = when && (!oldest || when < oldest) ? when : oldest;
	}
	return oldest;
}

// Whose a name is does not depend on which of its files are offered.
static const struct simplepage *all_of(const struct upstream_answer *a)
{
	return a->stale && a->listed ? a->listed : a->stale ? a->stale : a->page;
}

static enum name_owner judge_missing(const struct name_presence *p, const struct upstream_answer *a)
{
	if (a->fetched && a->fetched >= p->arrived)
		return NAME_OWNER_BOTH; // it had the project: a broken or vanished mirror makes no name ours
	return a->certain >= p->arrived ? NAME_OWNER_OURS : NAME_OWNER_UNDECIDED;
}

static enum name_owner judge_known(const struct name_presence *p, const struct upstream_answer *a)
{
	if (!p->arrived)
		return NAME_OWNER_BOTH;
	if (a->certain < p->arrived)
		return NAME_OWNER_UNDECIDED;
	if (a->had_since <= p->arrived)
		return NAME_OWNER_BOTH;
	return name_owner_oldest_upload(all_of(a)) ? NAME_OWNER_OURS : NAME_OWNER_UNDECIDED;
}

enum name_owner name_owner_judge(const struct name_presence *p, const struct upstream_answer *a)
{
	if (!p->is_open)
		return NAME_OWNER_BOTH;
	if (a->last_definitive == UPSTREAM_NOT_FOUND || a->last_definitive == UPSTREAM_ABSENT)
		return judge_missing(p, a);
	if (a->last_definitive == UPSTREAM_KNOWN || a->last_definitive == UPSTREAM_QUARANTINED)
		return judge_known(p, a);
	return NAME_OWNER_UNDECIDED;
}

bool name_owner_is_younger(int64_t ours, const struct upstream_answer *a)
{
	int64_t theirs = name_owner_oldest_upload(all_of(a));
	return ours && (!theirs || theirs > ours);
}

static bool is_age_certain(int64_t ours, const struct upstream_answer *a)
{
	return ours >= NAME_OWNER_NO_WHEELS_S && name_owner_oldest_upload(all_of(a));
}

int name_owner_find_age(const struct upstreams *u, struct catalog *c, const struct upstream_answer *a,
	enum name_age *out, struct err *e)
{
	int64_t ours = 0;
	if (catalog_project_oldest(c, a->project, &ours, e) < 0)
		return -1;
	if (upstream_rule(u, a->project) != NAME_RULE_MERGE || !name_owner_is_younger(ours, a))
		*out = NAME_AGE_OLDER;
	else
		*out = is_age_certain(ours, a) ? NAME_AGE_YOUNGER : NAME_AGE_MAYBE_YOUNGER;
	return 0;
}
