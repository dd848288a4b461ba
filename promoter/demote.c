// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "promoter/promotion-run.h"

// What stays the same however often a change of a membership is tried.
struct membership_edit {
	const struct site *site;
	struct catalog *catalog;
	struct promotion_step step;
	bool dry_run;
	const struct promote_request *request; // of a demotion
	struct promote_select *select;         // likewise
	int64_t target;                        // of a rollback
	struct promote_answer *answer;
};

// --- members ---

static int add_member_row(void *ctx, const struct catalog_member *member, struct err *e UNUSED)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool is_named = filename_parse_listed(str_from(member->filename), member->project, &name, &ignored) == 0;
	struct promote_row row = {.platform = member->platform_name,
		.project = member->project,
		.version = is_named ? name.version.text : "",
		.filename = member->filename,
		.reason = member->is_listed ? "" : "the store does not list it, so no page shows it"};
	memcpy(row.sha256, member->sha256, SHA256_SIZE);
	promote_answer_add(ctx, &row);
	return 0;
}

// The members of a generation as rows. The reason says what a rollback says of it.
static int read_member_rows(const struct membership_edit *d, int64_t generation, struct promote_answer *out,
	struct err *e)
{
	return catalog_view_members(d->catalog, d->step.view, generation, NULL, add_member_row, out, e);
}

static void add_change(struct promote_answer *out, const struct promote_row *row, enum promote_result result)
{
	struct promote_row *copy = promote_answer_add(out, row);
	copy->result = result;
	if (result == PROMOTE_ENDED)
		copy->reason = "";
}

// --- demotion ---

// The arguments of has_left.
struct untested_search {
	struct membership_edit *edit;
	const struct strset *gone; // "PLATFORM/FILENAME" of all rows
	size_t from, to;           // the rows of a project
};

static bool has_left(void *ctx, const char *platform, const char *filename)
{
	const struct untested_search *s = ctx;
	CLEANUP(mem_free) char *name = xasprintf("%s/%s", platform, filename);
	return strset_has(s->gone, name);
}

static void add_untested(void *ctx, const struct wheel_untested *u)
{
	const struct untested_search *s = ctx;
	struct promote_answer *a = s->edit->answer;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REASON);
	for (size_t i = s->from; u->leaves && i < s->to; i++) {
		struct promote_row *row = &a->row[i];
		if (strcmp(row->platform, u->leaves->platform) != 0 || strcmp(row->filename, u->leaves->filename) != 0)
			continue;
		buf_printf(&text, "%s%spip takes %s/%s from /%s/simple/ in its place, untested: %s", row->reason,
			*row->reason ? "; " : "", u->wheel->platform, u->wheel->filename, s->edit->step.view, u->why);
		if (!text.failed)
			promote_answer_set(a, row, row->result, buf_view(&text));
	}
}

// Says in the rows which members pip takes in the place of the files that go, where no tests allow it.
static int find_untested(struct membership_edit *d, struct err *e)
{
	const struct config_view *own = config_view(&d->site->config, d->step.view);
	const struct promote_row *row = d->answer->row;
	struct view v = *site_view(d->site, str_from(own->name));
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(wheel_tests_release) struct wheel_tests tests = {0};
	CLEANUP(strset_release) struct strset gone = {0};
	for (size_t i = 0; i < d->answer->rows; i++) {
		CLEANUP(mem_free) char *name = xasprintf("%s/%s", row[i].platform, row[i].filename);
		strset_add(&gone, name);
	}
	strset_sort(&gone);
	v.generation = d->step.generation;
	if (wheel_tests_init(&tests, d->site, own, d->catalog, &text, 0, e) < 0)
		return -1;
	for (size_t from = 0, to; from < d->answer->rows; from = to) {
		for (to = from + 1; to < d->answer->rows && strcmp(row[to].project, row[from].project) == 0;)
			to++;
		struct untested_search s = {d, &gone, from, to};
		if (wheel_tests_untested(&tests, &v, row[from].project, has_left, add_untested, &s, e) < 0)
			return -1;
	}
	return 0;
}

static int choose_demoted(struct membership_edit *d, struct err *e)
{
	const struct promote_request *r = d->request;
	CLEANUP(promote_answer_release) struct promote_answer members = {0};
	if (read_member_rows(d, d->step.generation, &members, e) < 0 ||
		promotion_look_up_paths(d->site, d->catalog, d->select, e) < 0)
		return -1;
	for (size_t i = 0; i < members.rows; i++) {
		const struct promote_row *row = &members.row[i];
		const struct promote_subject subject = {row->platform, row->project, row->version, row->filename};
		if ((!r->may || r->may(r->may_ctx, row->platform, row->project)) &&
			promote_select_matches(d->select, &subject))
			add_change(d->answer, row, PROMOTE_ENDED);
	}
	const struct promote_word *unmatched = promote_select_unmatched(d->select);
	if (unmatched)
		return err_set(e, ERR_USAGE,
			"%s: view %s has no such file; wheelcache explain says what is known of it", unmatched->text,
			r->to);
	return find_untested(d, e);
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

static int choose_rolled_back(const struct membership_edit *d, struct err *e)
{
	CLEANUP(promote_answer_release) struct promote_answer now = {0};
	CLEANUP(promote_answer_release) struct promote_answer then = {0};
	if (d->target < 0 || d->target > d->step.generation)
		return err_set(e, ERR_NOT_FOUND, "view %s has no generation %lld, but 0 to %lld", d->step.view,
			(long long)d->target, (long long)d->step.generation);
	if (read_member_rows(d, d->step.generation, &now, e) < 0 || read_member_rows(d, d->target, &then, e) < 0)
		return -1;
	if (now.rows)
		qsort(now.row, now.rows, sizeof(*now.row), by_member);
	if (then.rows)
		qsort(then.row, then.rows, sizeof(*then.row), by_member);
	for (size_t i = 0, k = 0; i < now.rows || k < then.rows;) {
		int order = i == now.rows ? 1 : k == then.rows ? -1 : by_member(&now.row[i], &then.row[k]);
		if (order < 0)
			add_change(d->answer, &now.row[i], PROMOTE_ENDED);
		if (order > 0)
			add_change(d->answer, &then.row[k], PROMOTE_DONE);
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

// --- both ---

static int choose_rows(struct membership_edit *d, struct err *e)
{
	CLEANUP(catalog_read_end) struct catalog *reading = NULL;
	if (catalog_read_begin(d->catalog, e) < 0)
		return -1;
	reading = d->catalog;
	promote_answer_clear(d->answer);
	if (promotion_generation(d->catalog, d->step.view, &d->step.generation, e) < 0 ||
		(d->select ? choose_demoted(d, e) : choose_rolled_back(d, e)) < 0)
		return -1;
	promote_answer_count(d->answer);
	d->answer->generation = d->step.generation;
	return 0;
}

static int choose_and_write(void *ctx, struct err *e)
{
	struct membership_edit *d = ctx;
	if (choose_rows(d, e) < 0)
		return -1;
	return d->dry_run || !d->answer->rows ? 0 : promotion_step_write(&d->step, d->catalog, d->answer, e);
}

static int run_edit(struct membership_edit *d, struct audit *audit, struct err *e)
{
	struct promotion_step *s = &d->step;
	CLEANUP(mem_free) char *folder = NULL;
	if (promotion_check_reason(s->reason, e) < 0 || !promote_view(&d->site->config, s->view, e) ||
		views_folder(&d->site->config, &folder, e) < 0)
		return -1;
	s->folder = folder;
	if ((!d->dry_run && promotion_refresh(folder, d->catalog, s->view, e) < 0) ||
		promotion_try(choose_and_write, d, e) < 0)
		return -1;
	if (d->dry_run)
		return 0;
	return promote_answer_audit(d->answer, audit, s->action, s->view, s->by, s->address, s->reason, e);
}

int demote_run(const struct site *site, struct catalog *c, struct audit *audit, const struct promote_request *r,
	struct promote_answer *out, struct err *e)
{
	CLEANUP(promote_select_release) struct promote_select select = {0};
	struct membership_edit d = {.site = site,
		.catalog = c,
		.step = {.view = r->to, .action = "demote", .by = r->by, .address = r->address, .reason = r->reason},
		.dry_run = r->dry_run,
		.request = r,
		.select = &select,
		.answer = out};
	*out = (struct promote_answer){0};
	if (!r->selects)
		return err_set(e, ERR_USAGE, "no PROJECT and no FILE is given");
	if (promote_select_read(r->select, r->selects, &select, e) < 0)
		return -1;
	return run_edit(&d, audit, e);
}

int rollback_run(const struct site *site, struct catalog *c, struct audit *audit, const char *view, int64_t generation,
	const char *reason, const char *by, bool dry_run, struct promote_answer *out, struct err *e)
{
	struct membership_edit d = {.site = site,
		.catalog = c,
		.step = {.view = view, .action = "rollback", .by = by, .address = "", .reason = reason},
		.dry_run = dry_run,
		.target = generation,
		.answer = out};
	*out = (struct promote_answer){0};
	return run_edit(&d, audit, e);
}
