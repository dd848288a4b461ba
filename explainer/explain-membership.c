// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-membership.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/format/compress.h"
#include "explainer/explain-parts.h"
#include "promoter/member-losses.h"
#include "promoter/wheel-tests.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/views/membership.h"

enum { RECORDS_MOST = 100 }; // about one file

// A file in a view, or its membership. Sorted by file.
struct view_file {
	const char *filename;
	int64_t platform;
	uint8_t sha256[SHA256_SIZE];
	size_t view;   // of the site
	int64_t since; // of a member
};

struct view_files {
	struct view_file *item;
	size_t count, room;
};

// A file of a generation, with a build that was tested in its place.
struct known_build {
	const char *filename;
	uint8_t sha256[SHA256_SIZE];
	struct membership_tested tested;
};

// A generation of the view that is explained.
struct known_generation {
	int64_t number, made;
	const char *action, *by, *reason;
	bool is_read;                     // its file; else the evidence is not known
	uint8_t (*evidence)[SHA256_SIZE]; // sorted
	size_t evidences;
	struct known_build *build;
	size_t builds;
};

struct explain_membership {
	const struct site *site;
	const struct view *view;
	const struct config_view *own; // of the view's membership; NULL: it has none
	const struct view *source;     // of own
	bool may_see_source;
	const struct explain_reader *reader;
	struct catalog *catalog;
	struct view_files shown, member;
	struct known_generation *known;
	size_t knowns, known_room;
	size_t read_bytes; // of their files
	struct wheel_tests tests;
	struct arena text;
	size_t current; // the view whose files are read
};

static void free_membership(struct explain_membership *m)
{
	if (!m)
		return;
	free(m->known);
	free(m->shown.item);
	free(m->member.item);
	wheel_tests_release(&m->tests);
	arena_release(&m->text);
	free(m);
}

void explain_membership_cleanup(struct explain_membership **m)
{
	free_membership(*m);
}

// --- which files are where ---

static int compare_view_files(const void *a, const void *b)
{
	const struct view_file *x = a, *y = b;
	int order = strcmp(x->filename, y->filename);
	order = order ? order : (x->platform > y->platform) - (x->platform < y->platform);
	return order ? order : memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

static int compare_view_files_and_views(const void *a, const void *b)
{
	const struct view_file *x = a, *y = b;
	int order = compare_view_files(a, b);
	return order ? order : (x->view > y->view) - (x->view < y->view);
}

static bool is_file_before(const void *element, const void *key)
{
	return compare_view_files(element, key) < 0;
}

static struct view_file *add_view_file(struct explain_membership *m, struct view_files *to, int64_t platform,
	const char *filename, const uint8_t *sha256)
{
	GROW(to->item, to->count, to->room);
	struct view_file *f = &to->item[to->count++];
	*f = (struct view_file){.filename = arena_copy(&m->text, str_from(filename)), .platform = platform};
	memcpy(f->sha256, sha256, SHA256_SIZE);
	return f;
}

static int take_shown_file(void *ctx, const struct platform *p, const struct catalog_file *f, struct err *e UNUSED)
{
	struct explain_membership *m = ctx;
	add_view_file(m, &m->shown, p->id, f->filename, f->sha256)->view = m->current;
	return 0;
}

static int take_member(void *ctx, const struct catalog_member *f, struct err *e UNUSED)
{
	struct explain_membership *m = ctx;
	add_view_file(m, &m->member, f->platform, f->filename, f->sha256)->since = f->since;
	return 0;
}

// The first entry of the file; end: behind the last one.
static const struct view_file *find_view_file(const struct view_files *in, const struct catalog_history *f,
	const struct view_file **end)
{
	struct view_file key = {.filename = f->filename, .platform = f->platform};
	memcpy(key.sha256, f->sha256, SHA256_SIZE);
	size_t at = in->count ? lower_bound(&key, in->item, in->count, sizeof(key), is_file_before) : 0;
	*end = in->item + in->count;
	return at < in->count && compare_view_files(&in->item[at], &key) == 0 ? &in->item[at] : NULL;
}

static int read_membership(struct explain_membership *m, const char *project, int64_t now, struct err *e)
{
	const struct view *v = m->view;
	if (catalog_view_members(m->catalog, v->membership, v->generation, project, take_member, m, e) < 0)
		return -1;
	if (m->member.count)
		qsort(m->member.item, m->member.count, sizeof(*m->member.item), compare_view_files);
	return wheel_tests_init(&m->tests, m->site, m->own, m->catalog, &m->text, now, e);
}

int explain_membership_new(const struct site *site, const struct view *view, struct catalog *c, const char *project,
	int64_t now, const struct explain_reader *reader, struct explain_membership **out, struct err *e)
{
	CLEANUP(explain_membership_cleanup) struct explain_membership *m = xcalloc(1, sizeof(*m));
	m->site = site;
	m->view = view;
	m->reader = reader;
	m->catalog = c;
	m->own = view->membership ? config_view(&site->config, view->membership) : NULL;
	m->source = m->own ? site_view(site, str_from(m->own->from)) : NULL;
	const struct site *s = m->site;
	for (m->current = 1; m->current < s->view_count; m->current++) {
		const struct view *v = &s->view[m->current];
		bool is_configured = config_view(&s->config, v->name) != NULL, is_source = v == m->source;
		if ((!is_configured && !is_source) || (v->is_private && !explain_may_read(m->reader, v)))
			continue;
		m->may_see_source |= is_source;
		struct view each = *v;
		each.shows_each |= is_source || v->membership; // what is promoted, and from where, is each platform's own
		if (view_files(&each, m->catalog, project, take_shown_file, m, e) < 0)
			return -1;
	}
	if (m->shown.count)
		qsort(m->shown.item, m->shown.count, sizeof(*m->shown.item), compare_view_files_and_views);
	if (m->own && read_membership(m, project, now, e) < 0)
		return -1;
	*out = STEAL_PTR(m);
	return 0;
}

// --- generations ---

static int compare_evidence_ids(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_SIZE);
}

static void keep_known_builds(struct explain_membership *m, const struct membership_file *f, struct known_generation *g)
{
	for (size_t i = 0; i < f->testeds; i++) {
		struct known_build *b = &g->build[g->builds++];
		*b = (struct known_build){.filename = arena_copy(&m->text, str_from(f->filename)), .tested = f->tested[i]};
		memcpy(b->sha256, f->sha256, SHA256_SIZE);
	}
}

// The ids of the evidence of a generation's file. One that cannot be read has none.
static void read_evidence_ids(struct explain_membership *m, struct str packed, struct known_generation *g)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EXPLAIN_GENERATIONS);
	CLEANUP(membership_release) struct membership_change change = {0};
	if (m->read_bytes >= LIMIT_EXPLAIN_GENERATIONS || decompress_zstd(packed, &text, &ignored) < 0)
		return;
	m->read_bytes += text.len;
	if (membership_read(buf_view(&text), &change, &ignored) < 0)
		return;
	g->is_read = true;
	size_t testeds = 0;
	for (size_t i = 0; i < change.adds; i++)
		testeds += change.add[i].testeds;
	g->build = arena_alloc_aligned(&m->text, (testeds + 1) * sizeof(*g->build));
	for (size_t i = 0; i < change.adds; i++)
		keep_known_builds(m, &change.add[i], g);
	if (!change.evidences)
		return;
	g->evidence = (uint8_t(*)[SHA256_SIZE])arena_alloc(&m->text, change.evidences * SHA256_SIZE);
	g->evidences = change.evidences;
	memcpy(g->evidence, change.evidence, change.evidences * SHA256_SIZE);
	qsort(g->evidence, g->evidences, SHA256_SIZE, compare_evidence_ids);
}

static int take_known(void *ctx, const struct catalog_generation *from, struct err *e UNUSED)
{
	struct explain_membership *m = ctx;
	struct known_generation *g = &m->known[m->knowns - 1];
	g->made = from->made;
	g->action = arena_copy(&m->text, str_from(from->action));
	g->by = arena_copy(&m->text, str_from(from->by));
	g->reason = arena_copy(&m->text, str_from(from->reason));
	read_evidence_ids(m, from->packed, g);
	return 0;
}

static const struct known_generation *find_generation(struct explain_membership *m, int64_t number, struct err *e)
{
	for (size_t i = 0; i < m->knowns; i++)
		if (m->known[i].number == number)
			return &m->known[i];
	GROW(m->known, m->knowns, m->known_room);
	m->known[m->knowns++] = (struct known_generation){.number = number, .action = "", .by = "", .reason = ""};
	if (catalog_view_generation(m->catalog, m->view->membership, number, take_known, m, e) < 0)
		return NULL;
	return &m->known[m->knowns - 1];
}

// --- a member ---

// Who sees names on a platform of the view. Of the view itself: on all of them.
static bool sees_names_on(const struct explain_membership *m, const char *platform)
{
	for (size_t i = 0; i < m->view->platform_count; i++)
		if ((!platform || strcmp(m->view->platform[i]->name, platform) == 0) &&
			!explain_sees_names(m->reader, m->view->platform[i]))
			return false;
	return true;
}

// The arguments of add_record_doc.
struct record_list {
	const struct explain_membership *membership;
	const struct known_generation *generation;
	const struct view *view;
	struct jsondoc *list;
	const struct membership_tested *tested; // what the records are about; NULL: the file itself
};

static bool shows_platform_of(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (strcmp(v->platform[i]->name, name) == 0)
			return true;
	return false;
}

static int add_record_doc(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	const struct record_list *to = ctx;
	const struct known_generation *g = to->generation;
	if (!g->evidences || !bsearch(r->id, g->evidence, g->evidences, SHA256_SIZE, compare_evidence_ids) ||
		!shows_platform_of(to->view, r->platform))
		return 0;
	struct jsondoc *one = jsondoc_object();
	jsondoc_add(to->list, one);
	jsondoc_put_sha256(one, "evidence", r->id);
	jsondoc_put_str(one, "kind", r->kind);
	jsondoc_put_str(one, "platform", r->platform);
	jsondoc_put_str(one, "python", r->python);
	jsondoc_put_known_time(one, "received", r->received);
	if (sees_names_on(to->membership, r->platform))
		jsondoc_put_str(one, "by", r->by);
	jsondoc_put_int(one, "passed", (int64_t)r->passed);
	jsondoc_put_int(one, "failed", (int64_t)r->failed);
	jsondoc_put_int(one, "skipped", (int64_t)r->skipped);
	jsondoc_put_known_str(one, "override", r->overrides);
	if (!to->tested)
		return 0;
	jsondoc_put_sha256(one, "tested", to->tested->sha256);
	jsondoc_put_str(one, "as", promotion_match_name[to->tested->match]);
	return 0;
}

// The other builds by whose tests the generation took the file.
static const struct known_build *find_known_build(const struct known_generation *g, const struct catalog_history *f,
	const struct known_build *after)
{
	for (size_t i = after ? (size_t)(after - g->build) + 1 : 0; i < g->builds; i++)
		if (strcmp(g->build[i].filename, f->filename) == 0 && memcmp(g->build[i].sha256, f->sha256, SHA256_SIZE) == 0)
			return &g->build[i];
	return NULL;
}

static int put_member(struct explain_membership *m, const struct catalog_history *f, int64_t since, struct jsondoc *out,
	struct err *e)
{
	const struct known_generation *g = find_generation(m, since, e);
	if (!g)
		return -1;
	struct record_list list = {m, g, m->view, NULL, NULL};
	jsondoc_put_bool(out, "member", true);
	jsondoc_put_int(out, "generation", since);
	jsondoc_put_known_time(out, "made", g->made);
	jsondoc_put_known_str(out, "action", g->action);
	jsondoc_put_known_str(out, "by", sees_names_on(m, NULL) ? g->by : NULL);
	jsondoc_put_known_str(out, "reason", g->reason);
	if (!g->is_read)
		return 0;
	jsondoc_put(out, "evidence", list.list = jsondoc_array());
	struct catalog *c = list.membership->catalog;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(f->filename), &name, e) < 0)
		return -1;
	const struct catalog_tested wheel = {.project = name.project, .sha256 = f->sha256};
	if (catalog_evidence_of(c, &wheel, RECORDS_MOST, add_record_doc, &list, e) < 0)
		return -1;
	const struct known_build *b = NULL;
	while ((b = find_known_build(list.generation, f, b))) {
		const struct catalog_tested other = {.project = name.project, .sha256 = b->tested.sha256};
		list.tested = &b->tested;
		if (catalog_evidence_of(c, &other, RECORDS_MOST, add_record_doc, &list, e) < 0)
			return -1;
	}
	return 0;
}

// --- what keeps a file out ---

// The arguments of add_lack.
struct lack_list {
	const struct explain_membership *membership;
	struct jsondoc *list;
};

static void add_lack(void *ctx, const struct promotion_rule *rule, const struct promotion_cell *cell,
	const struct wheel_test *test)
{
	const struct lack_list *to = ctx;
	if (test->result == WHEEL_TEST_GREEN || test->result == WHEEL_TEST_OVERRIDE)
		return;
	struct jsondoc *one = jsondoc_object();
	jsondoc_add(to->list, one);
	jsondoc_put_str(one, "kind", rule->kind);
	jsondoc_put_str(one, "platform", cell->platform);
	jsondoc_put_str(one, "python", cell->python);
	jsondoc_put_str(one, "result", wheel_test_result_name[test->result]);
	jsondoc_put_known_str(one, "why", test->why);
	jsondoc_put_known_str(one, "tested", test->tested);
	jsondoc_put_known_str(one, "as", *test->tested ? promotion_match_name[test->match] : NULL);
	jsondoc_put_known_str(one, "evidence", test->id);
	jsondoc_put_known_str(one, "by", sees_names_on(to->membership, cell->platform) ? test->by : NULL);
}

static bool is_offered(const struct explain_membership *m, const struct catalog_history *f)
{
	const struct view_file *end, *at = find_view_file(&m->shown, f, &end);
	const struct view_file *first = at;
	for (; at && at < end && compare_view_files(at, first) == 0; at++)
		if (&m->site->view[at->view] == m->source)
			return true;
	return false;
}

static void put_not_offered(const struct explain_membership *m, struct jsondoc *out)
{
	CLEANUP(mem_free) char *why = xasprintf("%s does not show it", m->own->from);
	jsondoc_put_str(out, "why", m->may_see_source ? why : "its source does not show it");
	jsondoc_put(out, "lacks", jsondoc_array());
}

// --- a file ---

static void put_views(const struct explain_membership *m, const struct catalog_history *f, struct jsondoc *row)
{
	const struct view_file *end, *at = find_view_file(&m->shown, f, &end), *first = at;
	struct jsondoc *names = NULL;
	for (; at && at < end && compare_view_files(at, first) == 0; at++) {
		const char *name = m->site->view[at->view].name;
		if (!config_view(&m->site->config, name))
			continue; // the source may be a platform
		names = names ? names : jsondoc_array();
		jsondoc_add_str(names, name);
	}
	if (names)
		jsondoc_put(row, "views", names);
}

int explain_membership_put(void *ctx, const struct platform *p, const struct catalog_history *f, struct jsondoc *row,
	struct err *e)
{
	struct explain_membership *m = ctx;
	const struct view_file *end;
	if (!f->sha256)
		return 0;
	put_views(m, f, row);
	if (!m->own)
		return 0;
	struct jsondoc *out = jsondoc_object();
	jsondoc_put(row, "membership", out);
	jsondoc_put_str(out, "view", m->own->name);
	const struct view_file *member = find_view_file(&m->member, f, &end);
	if (member)
		return put_member(m, f, member->since, out, e);
	struct promotion_file w = {.platform = p->name,
		.platform_id = p->id,
		.filename = f->filename,
		.requires_python = f->requires_python,
		.sha256 = f->sha256};
	struct lack_list lacks = {.membership = m};
	const char *left, *why;
	jsondoc_put_bool(out, "member", false);
	if (m->view->generation != GENERATION_NEWEST)
		return 0; // what was known of it then is not known
	if (m->may_see_source && !is_offered(m, f)) {
		put_not_offered(m, out);
		return 0;
	}
	if (wheel_tests_left(&m->tests, &w, &left, e) < 0 || wheel_tests_why(&m->tests, &w, &why, e) < 0)
		return -1;
	jsondoc_put_str(out, "why", *left ? left : *why ? why : "it can be promoted");
	jsondoc_put(out, "lacks", lacks.list = jsondoc_array());
	return wheel_tests_each(&m->tests, &w, add_lack, &lacks, e);
}

// --- members that the store has lost ---

static bool sees_names_of(const struct explain_losses *x, const char *platform)
{
	const struct platform *p = site_platform(x->site, str_from(platform));
	return p && explain_sees_names(x->reader, p);
}

static void put_removal(struct jsondoc *doc, const struct explain_act *r, bool sees_names)
{
	jsondoc_put_str(doc, "since", r->when);
	jsondoc_put_str(doc, "action", r->action);
	if (sees_names && *r->by)
		jsondoc_put_str(doc, "by", r->by);
	if (sees_names && *r->reason)
		jsondoc_put_str(doc, "reason", r->reason);
}

static struct jsondoc *loss_doc(const struct explain_losses *x, const struct view *v, const struct member_loss *l,
	const struct explain_act *r)
{
	char sha256[SHA256_HEX + 1] = "";
	struct jsondoc *doc = jsondoc_object();
	hex_encode(l->sha256, SHA256_SIZE, sha256);
	jsondoc_put_str(doc, "view", v->name);
	jsondoc_put_str(doc, "platform", l->platform);
	jsondoc_put_str(doc, "filename", l->filename);
	jsondoc_put_str(doc, "sha256", sha256);
	jsondoc_put_int(doc, "generation", l->generation);
	if (r)
		put_removal(doc, r, sees_names_of(x, l->platform));
	else
		jsondoc_put_known_time(doc, "since", l->since);
	CLEANUP(mem_free)
	char *why = r ? xasprintf("wheelcache %s took it off the pages", r->action)
		      : xstrdup("the store does not have these bytes any more, and no command of wheelcache removed them");
	CLEANUP(mem_free)
	char *advice = xasprintf("%scopy the file with SHA-256 %s back to its platform; or take it out of the view: "
				 "wheelcache demote --from %s %s",
		r ? "wheelcache prune restore lists it again while its bytes are there, else " : "", sha256, v->name,
		l->filename);
	jsondoc_put_str(doc, "why", why);
	jsondoc_put_str(doc, "advice", advice);
	return doc;
}

static int add_losses_of(const struct explain_losses *x, const struct view *v, struct explain_log *log,
	struct jsondoc *list, struct err *e)
{
	CLEANUP(member_losses_release) struct member_losses lost = {0};
	if (member_losses_read(x->catalog, v->membership, x->project, &lost, e) < 0)
		return -1;
	if (lost.count)
		explain_log_read(log, x->audit_path, x->project);
	for (size_t i = 0; i < lost.count; i++) {
		const struct member_loss *l = &lost.item[i];
		jsondoc_add(list, loss_doc(x, v, l, explain_log_find(log, l->platform, l->filename, NULL)));
	}
	return 0;
}

int explain_losses_read(const struct explain_losses *x, struct jsondoc **out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *list = jsondoc_array();
	CLEANUP(explain_log_release) struct explain_log log = {0};
	const struct config *c = &x->site->config;
	for (size_t i = 0; i < c->view_count; i++) {
		const struct view *v = c->views[i].from ? site_view(x->site, str_from(c->views[i].name)) : NULL;
		if (!v || !v->membership || (v->is_private && !explain_may_read(x->reader, v)))
			continue;
		if (add_losses_of(x, v, &log, list, e) < 0)
			return -1;
	}
	*out = STEAL_PTR(list);
	return 0;
}
