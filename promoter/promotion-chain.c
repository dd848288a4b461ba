// SPDX-License-Identifier: Apache-2.0
// What the chain of views behind the source knows of a version, for --all-or-nothing. A version is all of its files that
// some view of the chain shows, so a file that one of these views holds back holds back the version.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "promoter/promotion-run.h"
#include "promoter/wheel-tests.h"

// A file that the view before shows. Its strings are in the text of the search.
struct chain_file {
	const struct platform *platform;
	struct catalog_file row;
};

struct chain_search {
	struct promotion_run *run;
	struct strset projects;           // with a version that is to be whole
	struct strset versions;           // these: a project and a version key
	struct strset files;              // of the answer, and of views before: a platform and a file name
	struct strset found;              // further ones, of the view before
	const struct config_view *view;   // that does not show all that the one before it does
	const struct platform **platform; // of the view before, those that the promotion is about
	struct wheel_tests tests;         // of the view
	const char *project;              // that is looked at
	struct chain_file *shown;         // of it, what the view before shows of these versions
	size_t shown_count, shown_room;
	struct arena text;
};

static void chain_search_release(struct chain_search *s)
{
	wheel_tests_release(&s->tests);
	strset_release(&s->projects);
	strset_release(&s->versions);
	strset_release(&s->files);
	strset_release(&s->found);
	arena_release(&s->text);
	free(s->shown);
	mem_free(&s->platform);
}

// "PROJECT/HEX".
static char *version_name(const char *project, struct str key)
{
	CLEANUP(mem_free) char *hex = xcalloc(2 * key.len + 1, 1);
	hex_encode((const uint8_t *)key.ptr, key.len, hex);
	return xasprintf("%s/%s", project, hex);
}

static char *file_name(const char *platform, const char *filename)
{
	return xasprintf("%s/%s", platform, filename);
}

// A version is to be whole if one of its files would be promoted, or if it is named.
static void collect_versions(struct chain_search *s)
{
	struct promotion_run *run = s->run;
	for (size_t i = 0; i < run->answer->rows; i++) {
		const struct promote_row *row = &run->answer->row[i];
		CLEANUP(mem_free) char *file = file_name(row->platform, row->filename);
		strset_add(&s->files, file);
		if (row->result != PROMOTE_DONE &&
			!promotion_run_names(run, row))
			continue;
		CLEANUP(mem_free) char *version = version_name(row->project, run->candidate[i].version_key);
		strset_add(&s->versions, version);
		strset_add(&s->projects, row->project);
	}
	strset_sort(&s->files);
	strset_sort(&s->versions);
	strset_sort(&s->projects);
}

static bool is_part_of_version(const struct chain_search *s, const struct platform *p, const struct catalog_file *f,
	const char *file)
{
	struct promotion_run *run = s->run;
	const struct promote_request *r = run->request;
	const struct promote_subject subject = {p->name, s->project, f->version, f->filename};
	CLEANUP(mem_free) char *version = version_name(s->project, f->version_key);
	return strset_has(&s->versions, version) && !strset_has(&s->files, file) &&
	       (!r->may || r->may(r->may_ctx, p->name, s->project)) &&
	       promote_select_matches(&run->select, &subject);
}

static void ignore_lack(void *ctx UNUSED, const struct promotion_rule *rule UNUSED,
	const struct promotion_cell *cell UNUSED)
{
}

// Why the view does not have the file; "": it could have it. NULL: no evidence can make the view take it, such as a
// source archive, so that it is no part of what can be released.
static int find_reason(struct chain_search *s, const struct platform *p, const struct catalog_file *f,
	const char **why, struct err *e)
{
	const struct promotion_file file = {p->name, f->filename, f->requires_python, f->sha256, NULL, NULL};
	struct judged_wheel wheel = {.platform = p->name,
		.version = f->version,
		.filename = f->filename,
		.platform_id = p->id,
		.requires_python = f->requires_python};
	memcpy(wheel.sha256, f->sha256, SHA256_SIZE);
	*why = NULL;
	if (!promotion_judge_lacks(&s->tests.judge, &file, ignore_lack, NULL))
		return 0;
	if (wheel_tests_left(&s->tests, &wheel, why, e) < 0)
		return -1;
	return **why ? 0 : wheel_tests_why(&s->tests, &wheel, why, e);
}

static int take_shown(void *ctx, const struct platform *p, const struct catalog_file *f, struct err *e UNUSED)
{
	struct chain_search *s = ctx;
	CLEANUP(mem_free) char *file = file_name(p->name, f->filename);
	if (!is_part_of_version(s, p, f, file))
		return 0;
	strset_add(&s->found, file);
	GROW(s->shown, s->shown_count, s->shown_room);
	s->shown[s->shown_count] = (struct chain_file){p, *f};
	catalog_file_copy(&s->text, &s->shown[s->shown_count++].row);
	return 0;
}

static int add_held_back(struct chain_search *s, const struct platform *p, const struct catalog_file *f, struct err *e)
{
	const char *reason;
	CLEANUP(buf_release) struct buf why, words;
	buf_init(&why, LIMIT_REASON + LIMIT_FILE_NAME);
	buf_init(&words, LIMIT_REASON + 2 * LIMIT_FILE_NAME);
	if (find_reason(s, p, f, &reason, e) < 0)
		return -1;
	if (!reason)
		return 0;
	struct promote_row row = {.platform = p->name,
		.project = s->project,
		.version = f->version,
		.filename = f->filename,
		.result = PROMOTE_REFUSED};
	memcpy(row.sha256, f->sha256, SHA256_SIZE);
	buf_puts(&why, *reason ? reason : "promote it there first");
	promotion_run_hide_cell(s->run, &row, &why);
	buf_printf(&words, "view %s has not taken it: %s", s->view->name, why.data);
	row.reason = words.data;
	promote_answer_add(s->run->answer, &row);
	return 0;
}

// The platforms that the promotion is about.
static size_t choose_platforms(struct chain_search *s, const struct view *before)
{
	const struct view *source = &s->run->source;
	size_t count = 0;
	mem_free(&s->platform);
	s->platform = xcalloc(before->platform_count + 1, sizeof(struct platform *));
	for (size_t i = 0; i < before->platform_count; i++)
		for (size_t k = 0; k < source->platform_count; k++)
			if (before->platform[i] == source->platform[k])
				s->platform[count++] = before->platform[i];
	return count;
}

// The files are judged when all are read, because the tests of one list the files of the project again.
static int compare_project(struct chain_search *s, const struct view *shown, struct err *e)
{
	s->shown_count = 0;
	if (view_files(shown, s->run->catalog, s->project, take_shown, s, e) < 0)
		return -1;
	for (size_t i = 0; i < s->shown_count; i++)
		if (add_held_back(s, s->shown[i].platform, &s->shown[i].row, e) < 0)
			return -1;
	return 0;
}

// What the view before this one shows, and this one does not.
static int compare_view(struct chain_search *s, struct err *e)
{
	struct promotion_run *run = s->run;
	const struct view *before = site_view(run->site, str_from(s->view->from));
	if (!before)
		return 0;
	struct view shown = *before;
	shown.shows_each = true;
	shown.platform_count = choose_platforms(s, before);
	shown.platform = s->platform;
	wheel_tests_release(&s->tests);
	if (wheel_tests_init(&s->tests, run->site, s->view, run->catalog, &s->text, run->judge.now, e) < 0)
		return -1;
	for (size_t i = 0; i < s->projects.count; i++) {
		s->project = s->projects.item[i];
		if (compare_project(s, &shown, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < s->found.count; i++)
		strset_add(&s->files, s->found.item[i]);
	strset_sort(&s->files);
	strset_release(&s->found);
	return 0;
}

int promotion_run_add_chain(struct promotion_run *run, struct err *e)
{
	CLEANUP(chain_search_release) struct chain_search s = {.run = run};
	const struct config *c = &run->site->config;
	collect_versions(&s);
	for (s.view = config_view(c, run->config->from); s.view && s.view->from; s.view = config_view(c, s.view->from))
		if (compare_view(&s, e) < 0)
			return -1;
	return 0;
}
