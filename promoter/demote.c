// SPDX-License-Identifier: Apache-2.0
#include "promoter/demote.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/filename.h"
#include "promoter/promotion-run.h"

// --- members ---

// The members of a generation as rows.
struct member_rows {
	struct promote_answer rows;
	bool *is_listed; // of each row
	size_t room;
};

static void member_rows_release(struct member_rows *m)
{
	promote_answer_release(&m->rows);
	free(m->is_listed);
}

static int add_member_row(void *ctx, const struct catalog_member *member, struct err *e UNUSED)
{
	struct member_rows *m = ctx;
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool is_named = filename_parse_listed(str_from(member->filename), member->project, &name, &ignored) == 0;
	struct promote_row row = {.platform = member->platform_name,
		.project = member->project,
		.version = is_named ? name.version.text : "",
		.filename = member->filename};
	memcpy(row.sha256, member->sha256, SHA256_SIZE);
	GROW(m->is_listed, m->rows.rows, m->room);
	m->is_listed[m->rows.rows] = member->is_listed;
	promote_answer_add(&m->rows, &row);
	return 0;
}

static int read_member_rows(struct catalog *c, const char *view, int64_t generation, struct member_rows *out,
	struct err *e)
{
	*out = (struct member_rows){0};
	return catalog_view_members(c, view, generation, NULL, add_member_row, out, e);
}

// --- demotion ---

// The arguments of the functions below; what stays the same however often it is tried.
struct membership_edit {
	const struct site *site;
	struct catalog *catalog;
	struct promotion_step step;
	bool dry_run;
	const struct promote_request *request; // of a demotion
	struct promote_select *select;         // likewise
	int64_t target;                        // of a rollback
	char *folder;
};

static void membership_edit_release(struct membership_edit *d)
{
	free(d->folder);
}

static int init_edit(struct membership_edit *d, struct err *e)
{
	if (!promotion_run_view(&d->site->config, d->step.view, e) || views_folder(&d->site->config, &d->folder, e) < 0)
		return -1;
	d->step.folder = d->folder;
	return d->dry_run ? 0 : promotion_run_refresh(d->folder, d->catalog, d->step.view, e);
}

static int choose_demoted(const struct membership_edit *d, struct promote_answer *out, struct err *e)
{
	const struct promote_request *r = d->request;
	CLEANUP(member_rows_release) struct member_rows members = {0};
	if (read_member_rows(d->catalog, r->to, d->step.generation, &members, e) < 0 ||
		promotion_run_look_up_paths(d->site, d->catalog, d->select, e) < 0)
		return -1;
	for (size_t i = 0; i < members.rows.rows; i++) {
		const struct promote_row *row = &members.rows.row[i];
		const struct promote_subject subject = {row->platform, row->project, row->version, row->filename};
		if ((!r->may || r->may(r->may_ctx, row->platform, row->project)) &&
			promote_select_matches(d->select, &subject))
			promote_answer_add(out, row)->result = PROMOTE_ENDED;
	}
	const struct promote_word *unmatched = promote_select_unmatched(d->select);
	if (unmatched)
		return err_set(e, ERR_USAGE,
			"%s: view %s has no such file; wheelcache explain says what is known of it", unmatched->text,
			r->to);
	return 0;
}

// --- rollback ---

static int by_member(const void *a, const void *b)
{
	const struct promote_row *x = a, *y = b;
	int order = strcmp(x->project, y->project);
	order = order ? order : strcmp(x->filename, y->filename);
	order = order ? order : strcmp(x->platform, y->platform);
	return order ? order : memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

static void sort_members(struct member_rows *m)
{
	for (size_t i = 0; i < m->rows.rows; i++)
		if (!m->is_listed[i])
			m->rows.row[i].reason = "the store does not list it, so no page shows it";
	if (m->rows.rows)
		qsort(m->rows.row, m->rows.rows, sizeof(*m->rows.row), by_member);
}

static void add_difference(struct promote_answer *out, const struct promote_row *row, enum promote_result result)
{
	struct promote_row *copy = promote_answer_add(out, row);
	copy->result = result;
	if (result == PROMOTE_ENDED)
		copy->reason = "";
}

// Both are sorted.
static void compare_generations(const struct promote_answer *now, const struct promote_answer *then,
	struct promote_answer *out)
{
	for (size_t i = 0, k = 0; i < now->rows || k < then->rows;) {
		int order = i == now->rows ? 1 : k == then->rows ? -1 : by_member(&now->row[i], &then->row[k]);
		if (order < 0)
			add_difference(out, &now->row[i], PROMOTE_ENDED);
		if (order > 0)
			add_difference(out, &then->row[k], PROMOTE_DONE);
		i += order <= 0;
		k += order >= 0;
	}
}

static int choose_rolled_back(const struct membership_edit *d, struct promote_answer *out, struct err *e)
{
	CLEANUP(member_rows_release) struct member_rows now = {0};
	CLEANUP(member_rows_release) struct member_rows then = {0};
	if (d->target < 0 || d->target > d->step.generation)
		return err_set(e, ERR_NOT_FOUND, "view %s has no generation %lld, but 0 to %lld", d->step.view,
			(long long)d->target, (long long)d->step.generation);
	if (read_member_rows(d->catalog, d->step.view, d->step.generation, &now, e) < 0 ||
		read_member_rows(d->catalog, d->step.view, d->target, &then, e) < 0)
		return -1;
	sort_members(&now);
	sort_members(&then);
	compare_generations(&now.rows, &then.rows, out);
	return 0;
}

// --- both ---

static int choose_rows(struct membership_edit *d, struct promote_answer *out, struct err *e)
{
	CLEANUP(catalog_read_end) struct catalog *reading = NULL;
	if (catalog_read_begin(d->catalog, e) < 0)
		return -1;
	reading = d->catalog;
	promote_answer_clear(out);
	if (promotion_run_generation(d->catalog, d->step.view, &d->step.generation, e) < 0 ||
		(d->select ? choose_demoted(d, out, e) : choose_rolled_back(d, out, e)) < 0)
		return -1;
	promote_answer_count(out);
	out->generation = d->step.generation;
	return 0;
}

static int edit_membership(struct membership_edit *d, struct promote_answer *out, struct err *e)
{
	for (int tries = 1;; tries++) {
		struct err why = ERR_INIT;
		if (choose_rows(d, out, e) < 0)
			return -1;
		if (d->dry_run || !out->rows || promotion_step_write(&d->step, d->catalog, out, &why) == 0)
			return 0;
		if (why.kind == ERR_CONFLICT && tries < PROMOTION_TRIES)
			continue;
		*e = why;
		return -1;
	}
}

static int run_edit(struct membership_edit *d, struct audit *audit, struct promote_answer *out, struct err *e)
{
	const struct promotion_step *s = &d->step;
	if (promotion_run_check_reason(s->reason, e) < 0 || init_edit(d, e) < 0 || edit_membership(d, out, e) < 0)
		return -1;
	if (d->dry_run)
		return 0;
	return promote_answer_audit(out, audit, s->action, s->view, s->by, s->address, s->reason, e);
}

int demote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	struct promote_answer *out, struct err *e)
{
	CLEANUP(promote_select_release) struct promote_select select = {0};
	CLEANUP(membership_edit_release)
	struct membership_edit d = {.site = site,
		.catalog = c,
		.step = {.view = r->to, .action = "demote", .by = r->by, .address = r->address, .reason = r->reason},
		.dry_run = r->dry_run,
		.request = r,
		.select = &select};
	*out = (struct promote_answer){0};
	if (!r->selects)
		return err_set(e, ERR_USAGE, "no PROJECT and no FILE is given");
	if (promote_select_read(r->select, r->selects, &select, e) < 0)
		return -1;
	return run_edit(&d, audit, out, e);
}

int rollback_run(const struct site *site, struct catalog *c, struct audit *audit, const char *view, int64_t generation,
	const char *reason, const char *by, bool dry_run, struct promote_answer *out, struct err *e)
{
	CLEANUP(membership_edit_release)
	struct membership_edit d = {.site = site,
		.catalog = c,
		.step = {.view = view, .action = "rollback", .by = by, .address = "", .reason = reason},
		.dry_run = dry_run,
		.target = generation};
	*out = (struct promote_answer){0};
	return run_edit(&d, audit, out, e);
}
