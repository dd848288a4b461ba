// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild-list.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/store/retired.h"
#include "lib/state/store/facts-reader.h"

struct list_making {
	struct rebuild_list *out;
	struct catalog *catalog;
	const struct platform_offer *offer; // of the platform; NULL: unknown
	struct rebuild_platform *platform;
	const struct audit_policy *policy;
};

// --- one wheel ---

static const struct rebuild_reason *copy_reasons(struct arena *a, const struct rebuild_verdict *v)
{
	struct rebuild_reason *copy = arena_alloc_aligned(a, (v->reasons + 1) * sizeof(*copy));
	for (size_t i = 0; i < v->reasons; i++) {
		const struct rebuild_reason *r = &v->reason[i];
		const char *const text[] = {r->member, r->library, r->detail, r->instead};
		const char *kept[ARRAY_SIZE(text)];
		for (size_t k = 0; k < ARRAY_SIZE(text); k++)
			kept[k] = text[k] ? arena_copy(a, str_from(text[k])) : NULL;
		copy[i] = (struct rebuild_reason){r->state, kept[0], kept[1], kept[2], kept[3]};
	}
	return copy;
}

static const char *describe_verdict(struct arena *a, const struct rebuild_verdict *v)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(3 * LIMIT_ELF_STRING);
	rebuild_verdict_print(v, &why);
	return arena_copy(a, buf_view(&why));
}

static int take_wheel_facts(void *ctx, const struct stored_wheel *wheel, const struct wheel_facts *facts,
	const char *why, struct err *e UNUSED)
{
	struct list_making *m = ctx;
	struct rebuild_list *l = m->out;
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(rebuild_verdict_release) struct rebuild_verdict v = {0};
	if (filename_parse(str_from(wheel->filename), &name, &ignored) < 0)
		return 0;
	CLEANUP(audit_rules_cleanup)
	struct audit_rules *rules = audit_rules_new(m->policy, wheel->project, m->platform->platform->name);
	rebuild_judge(m->offer ? facts : NULL, &name, m->offer ? why : "nothing is known of what the platform offers",
		m->offer, rules, &v);
	ARENA_GROW(&l->text, l->row, l->rows, l->room);
	struct rebuild_row *r = &l->row[l->rows++];
	*r = (struct rebuild_row){.platform = m->platform->platform,
		.project = arena_copy(&l->text, str_from(wheel->project)),
		.version = arena_copy(&l->text, str_from(name.version.text)),
		.filename = arena_copy(&l->text, str_from(wheel->filename)),
		.state = v.state,
		.why = describe_verdict(&l->text, &v),
		.reason = copy_reasons(&l->text, &v),
		.reasons = v.reasons};
	hex_encode(wheel->sha256, SHA256_SIZE, r->sha256);
	m->platform->total[v.state]++;
	l->total[v.state]++;
	return 0;
}

// --- what takes the place of a wheel ---

// A wheel among those that differ from it in the build tag, or in the tag of the platform.
struct ranked_wheel {
	struct rebuild_row *row;
	struct filename name;
};

static int compare_alike(const struct ranked_wheel *a, const struct ranked_wheel *b)
{
	int order = version_cmp(&a->name.version, &b->name.version);
	order = order ? order : str_cmp(a->name.python, b->name.python);
	return order ? order : str_cmp(a->name.abi, b->name.abi);
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked_wheel *one = a, *other = b;
	int order = compare_alike(one, other);
	order = order ? order : filename_compare_builds(one->name.build, other->name.build);
	return order ? order : strcmp(one->row->filename, other->row->filename);
}

// The wheels are alike, the one that clients prefer is the last.
static void rank_alike(struct ranked_wheel *wheel, size_t count)
{
	const struct ranked_wheel *best = NULL;
	unsigned build = filename_build_number(wheel[count - 1].name.build) + 1;
	for (size_t i = count; i-- > 0;) {
		struct rebuild_row *r = wheel[i].row;
		bool is_below = best && filename_compare_builds(wheel[i].name.build, best->name.build) < 0;
		r->build = build;
		r->replacement = is_below ? best->row->filename : NULL;
		if (!best && !rebuild_is_wanted(r->state) && !r->is_yanked)
			best = &wheel[i];
	}
}

static void rank_project(struct rebuild_row *row, size_t count)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) struct ranked_wheel *wheel = xcalloc(count, sizeof(*wheel));
	size_t wheels = 0;
	for (size_t i = 0; i < count; i++) {
		wheel[wheels].row = &row[i];
		wheels += filename_parse(str_from(row[i].filename), &wheel[wheels].name, &ignored) == 0;
	}
	qsort(wheel, wheels, sizeof(*wheel), compare_ranked);
	for (size_t i = 0, end; i < wheels; i = end) {
		for (end = i + 1; end < wheels && compare_alike(&wheel[i], &wheel[end]) == 0;)
			end++;
		rank_alike(wheel + i, end - i);
	}
	for (size_t i = 0; i < wheels; i++)
		filename_release(&wheel[i].name);
}

// --- projects ---

struct project_rows {
	struct rebuild_row *row; // by file name
	size_t count;
};

static int compare_filename(const void *filename, const void *row)
{
	return strcmp(filename, ((const struct rebuild_row *)row)->filename);
}

static int note_yank(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	const struct project_rows *rows = ctx;
	struct rebuild_row *r = bsearch(file->filename, rows->row, rows->count, sizeof(*rows->row), compare_filename);
	if (r)
		r->is_yanked = file->yanked != NULL;
	return 0;
}

static bool has_wanted(const struct project_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rebuild_is_wanted(rows->row[i].state))
			return true;
	return false;
}

static int finish_projects(struct list_making *m, size_t from, struct err *e)
{
	struct rebuild_list *l = m->out;
	for (size_t end; from < l->rows; from = end) {
		for (end = from + 1; end < l->rows && strcmp(l->row[end].project, l->row[from].project) == 0;)
			end++;
		struct project_rows rows = {l->row + from, end - from};
		if (!has_wanted(&rows))
			continue;
		if (catalog_project_files(m->catalog, m->platform->platform->id, rows.row->project, note_yank, &rows,
			    e) < 0)
			return -1;
		rank_project(rows.row, rows.count);
	}
	return 0;
}

// --- all platforms ---

static int list_platforms(const struct store *store, const struct rebuild_options *o, struct rebuild_list *l,
	struct err *e)
{
	bool is_any_known = false;
	l->platform = ARENA_NEW(&l->text, struct rebuild_platform, store->platform_count);
	for (size_t i = 0; i < store->platform_count; i++) {
		const struct platform *p = &store->platform[i];
		const char *provides = o->against ? o->against : p->provides;
		if (!store_is_wanted(o->platform, o->platforms, p->name) || retired_is(p))
			continue;
		l->platform[l->platforms++] = (struct rebuild_platform){
			.platform = p, .provides = provides ? arena_copy(&l->text, str_from(provides)) : NULL};
		is_any_known |= provides != NULL;
	}
	if (!l->platforms && retired_refuse(store, o->platform, o->platforms, e) < 0)
		return -1;
	if (!l->platforms)
		return store_refuse_platform(store, o->platforms ? o->platform[0] : "", ERR_USAGE, e);
	return is_any_known ? 0
			    : err_set(e, ERR_USAGE,
				      "it is not known what a platform offers: set [platform] provides, "
				      "or give --against ROOT");
}

static int judge_all(const struct store *store, struct catalog *c, const struct audit_policy *policy,
	struct rebuild_list *l, struct err *e)
{
	CLEANUP(platform_offer_cleanup) struct platform_offer *offer = NULL;
	const char *opened = NULL;
	for (size_t i = 0; i < l->platforms; i++) {
		struct rebuild_platform *p = &l->platform[i];
		struct list_making m = {.out = l, .catalog = c, .platform = p, .policy = policy};
		if (p->provides && (!opened || strcmp(opened, p->provides) != 0)) {
			platform_offer_cleanup(&offer);
			if (platform_offer_open(p->provides, &offer, e) < 0)
				return err_prefix(e, "platform %s: ", p->platform->name);
			opened = p->provides;
		}
		m.offer = p->provides ? offer : NULL;
		size_t from = m.out->rows;
		const char *const glob[] = {m.platform->platform->name};
		const struct facts_reader_query query = {.platform = glob, .platforms = 1, .only_catalog = !m.offer};
		if (facts_reader_each(store, m.catalog, &query, take_wheel_facts, &m, e) < 0)
			return -1;
		if (finish_projects(&m, from, e) < 0)
			return -1;
	}
	return 0;
}

int rebuild_list_make(const struct store *store, struct catalog *c, const struct rebuild_options *options,
	struct rebuild_list *out, struct err *e)
{
	CLEANUP(rebuild_list_release) struct rebuild_list l = {.made = clock_wall_seconds()};
	if (list_platforms(store, options, &l, e) < 0 || judge_all(store, c, options->policy, &l, e) < 0)
		return -1;
	*out = l;
	l = (struct rebuild_list){0};
	return 0;
}

void rebuild_list_release(struct rebuild_list *l)
{
	arena_release(&l->text);
	*l = (struct rebuild_list){0};
}

bool rebuild_row_is_wanted(const struct rebuild_row *r)
{
	return rebuild_is_wanted(r->state) && !r->replacement;
}

// --- JSON ---

static struct jsondoc *state_totals_json(const uint64_t total[REBUILD_STATE_COUNT])
{
	struct jsondoc *totals = jsondoc_object();
	for (size_t i = 0; i < REBUILD_STATE_COUNT; i++)
		jsondoc_put_int(totals, rebuild_state_name[i], (int64_t)total[i]);
	return totals;
}

static struct jsondoc *reason_json(const struct rebuild_reason *r)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_str(one, "state", rebuild_state_name[r->state]);
	jsondoc_put_str(one, "member", r->member);
	jsondoc_put_str(one, "library", r->library);
	jsondoc_put_str(one, "detail", r->detail);
	jsondoc_put_str(one, "instead", r->instead);
	return one;
}

static struct jsondoc *wheel_json(const struct rebuild_row *r)
{
	struct jsondoc *row = jsondoc_object(), *reasons = jsondoc_array();
	jsondoc_put_str(row, "platform", r->platform->name);
	jsondoc_put_str(row, "project", r->project);
	jsondoc_put_str(row, "version", r->version);
	jsondoc_put_str(row, "filename", r->filename);
	jsondoc_put_str(row, "sha256", r->sha256);
	jsondoc_put_str(row, "state", rebuild_state_name[r->state]);
	jsondoc_put_str(row, "why", r->why);
	jsondoc_put_bool(row, "yanked", r->is_yanked);
	if (r->build)
		jsondoc_put_int(row, "build", r->build);
	else
		jsondoc_put_str(row, "build", NULL);
	jsondoc_put_str(row, "replacement", r->replacement);
	for (size_t i = 0; i < r->reasons; i++)
		jsondoc_add(reasons, reason_json(&r->reason[i]));
	jsondoc_put(row, "reasons", reasons);
	return row;
}

struct jsondoc *rebuild_list_json(const struct rebuild_list *l, bool all)
{
	struct jsondoc *doc = jsondoc_object(), *platforms = jsondoc_array(), *rows = jsondoc_array();
	char made[CLOCK_TEXT];
	clock_write(l->made, made);
	jsondoc_put_str(doc, "made", made);
	for (size_t i = 0; i < l->platforms; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", l->platform[i].platform->name);
		jsondoc_put_str(one, "provides", l->platform[i].provides);
		jsondoc_put(one, "totals", state_totals_json(l->platform[i].total));
		jsondoc_add(platforms, one);
	}
	jsondoc_put(doc, "platforms", platforms);
	jsondoc_put(doc, "totals", state_totals_json(l->total));
	for (size_t i = 0; i < l->rows; i++)
		if (all || l->row[i].state != REBUILD_FITS)
			jsondoc_add(rows, wheel_json(&l->row[i]));
	jsondoc_put(doc, "rows", rows);
	return doc;
}
