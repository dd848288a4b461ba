// SPDX-License-Identifier: Apache-2.0
// What a promotion is about: the view, its source, and the files that the source shows.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "promoter/promotion-run.h"
#include "lib/state/views/views-sync.h"

// --- the view and its source ---

static bool has_platform_named(const struct config_view *v, const char *name)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (strcmp(v->platforms[i], name) == 0)
			return true;
	return false;
}

// The source with the platforms that the view has too.
static void take_source(struct promotion_run *run, const struct view *source)
{
	run->source = *source;
	run->source.shows_each = true;
	run->source.platform = xcalloc(source->platform_count + 1, sizeof(struct platform *));
	run->source.platform_count = 0;
	for (size_t i = 0; i < source->platform_count; i++)
		if (has_platform_named(run->config, source->platform[i]->name))
			run->source.platform[run->source.platform_count++] = source->platform[i];
}

const struct config_view *promotion_run_view(const struct config *c, const char *name, struct err *e)
{
	const struct config_view *v = config_view(c, name);
	if (!v) {
		config_refuse_view(c, name, ERR_NOT_FOUND, e);
		return NULL;
	}
	if (v->from)
		return v;
	err_set(e, ERR_USAGE,
		"view %s has no \"from\", so nothing is promoted into it: it shows all files of its platforms", name);
	return NULL;
}

static int find_source(struct promotion_run *run, const struct promote_request *r, struct err *e)
{
	run->config = promotion_run_view(&run->site->config, r->to, e);
	if (!run->config)
		return -1;
	if (r->from && strcmp(r->from, run->config->from) != 0)
		return err_set(e, ERR_USAGE, "files come into view %s from %s, not from %s", r->to, run->config->from,
			r->from);
	const struct view *source = site_view(run->site, str_from(run->config->from));
	if (!source)
		return site_refuse_view(run->site, run->config->from, ERR_NOT_FOUND, e);
	if (site_generation(run->site, source) == GENERATION_UNKNOWN)
		return err_set(e, ERR_BUSY, "what view %s shows is not known as a whole: run wheelcache index",
			run->config->from);
	take_source(run, source);
	return 0;
}

int promotion_run_init(struct promotion_run *run, const struct site *site, struct catalog *c,
	const struct promote_request *r, struct promote_answer *out, struct err *e)
{
	*run = (struct promotion_run){.site = site,
		.catalog = c,
		.request = r,
		.answer = out,
		.cpu_end = r->cpu_ms ? clock_thread_ms() + r->cpu_ms : INT64_MAX};
	promote_evidence_init(&run->evidence, c, r->to);
	if (find_source(run, r, e) < 0 || views_folder(&site->config, &run->folder, e) < 0)
		return -1;
	return promote_select_read(r->select, r->selects, &run->select, e);
}

void promotion_run_release(struct promotion_run *run)
{
	promotion_judge_release(&run->judge);
	promote_evidence_release(&run->evidence);
	promote_select_release(&run->select);
	free(run->source.platform);
	free(run->folder);
	free(run->given);
	free(run->candidate);
	free(run->lack);
	*run = (struct promotion_run){0};
}

static int refuse_damaged(const char *view, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"the membership of view %s is not known as a whole: wheelcache check names damaged files, and wheelcache "
		"index reads the membership",
		view);
}

int promotion_run_refresh(const char *folder, struct catalog *c, const char *view, struct err *e)
{
	struct views_sync_counts counts = {0};
	int is_whole = views_sync_view(folder, view, c, NULL, NULL, &counts, e);
	if (is_whole < 0)
		return -1;
	return is_whole ? 0 : refuse_damaged(view, e);
}

int promotion_run_generation(struct catalog *c, const char *view, int64_t *generation, struct err *e)
{
	struct catalog_view known;
	if (catalog_view_find(c, view, &known, e) < 0)
		return -1;
	if (known.is_damaged)
		return refuse_damaged(view, e);
	*generation = known.generation;
	return 0;
}

int promotion_run_check_reason(const char *reason, struct err *e)
{
	if (strlen(reason) > LIMIT_REASON)
		return err_set(e, ERR_USAGE, "a reason has more than %d bytes", LIMIT_REASON);
	for (const char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_USAGE, "a reason has a control character, such as a line end");
	return 0;
}

void promotion_run_hide_cell(const struct promotion_run *run, const struct promote_row *row, struct buf *why)
{
	const struct promote_request *r = run->request;
	const struct str all = buf_view(why);
	long slash = str_find(all, '/');
	const char *colon = strstr(why->data, ": ");
	if (!r->may || slash < 0 || !colon)
		return;
	CLEANUP(mem_free) char *platform = xstrndup(all.ptr, (size_t)slash);
	if (!site_platform(run->site, str_from(platform)) || r->may(r->may_ctx, platform, row->project))
		return;
	CLEANUP(mem_free) char *rest = xstrdup(colon);
	buf_clear(why);
	buf_printf(why, "another cell%s", rest);
}

int promotion_run_check_time(const struct promotion_run *run, struct err *e)
{
	if (clock_thread_ms() <= run->cpu_end)
		return 0;
	return err_set(e, ERR_BUSY, "the decision took too long, and nothing was promoted: select fewer files");
}

// --- the selection ---

static int look_up_path(const struct platform *p, struct catalog *c, struct promote_word *w, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(c, p->id, w->filename, &place, &why) == 0)
		w->is_elsewhere = strcmp(place.path, w->path) != 0;
	else if (why.kind != ERR_NOT_FOUND)
		return err_set(e, why.kind, "%s", why.msg);
	return 0;
}

int promotion_run_look_up_paths(const struct site *site, struct catalog *c, struct promote_select *select,
	struct err *e)
{
	for (size_t i = 0; i < select->files; i++) {
		struct promote_word *w = &select->word[i];
		const struct platform *p = w->path ? site_platform(site, str_from(w->platform)) : NULL;
		if (p && look_up_path(p, c, w, e) < 0)
			return -1;
	}
	return 0;
}

bool promotion_run_names(const struct promotion_run *run, const struct promote_row *row)
{
	const struct promote_subject subject = {row->platform, row->project, row->version, row->filename};
	return promote_select_names(&run->select, &subject);
}

// --- its files ---

// The arguments of take_candidate.
struct source_project {
	struct promotion_run *run;
	const char *name;
};

static int take_candidate(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e)
{
	const struct source_project *p = ctx;
	const struct promote_subject subject = {platform->name, p->name, file->version, file->filename};
	struct promotion_run *run = p->run;
	const struct promote_request *r = run->request;
	if (promotion_run_check_time(run, e) < 0)
		return -1;
	if ((r->may && !r->may(r->may_ctx, platform->name, p->name)) ||
		!promote_select_matches(&run->select, &subject))
		return 0;
	struct promote_row row = {
		.platform = platform->name, .project = p->name, .version = file->version, .filename = file->filename};
	memcpy(row.sha256, file->sha256, SHA256_SIZE);
	promote_answer_add(run->answer, &row);
	GROW(run->candidate, run->candidates, run->room);
	run->candidate[run->candidates++] = (struct promotion_candidate){.platform = platform,
		.requires_python =
			file->requires_python ? arena_copy(&run->answer->text, str_from(file->requires_python)) : NULL,
		.came = file->arrived ? file->arrived : file->mtime_ns / 1000000000,
		.version_key = {arena_copy(&run->answer->text, file->version_key), file->version_key.len}};
	return 0;
}

static int take_source_name(void *ctx, const char *project, struct err *e UNUSED)
{
	strset_add(ctx, project);
	return 0;
}

static bool is_word_on(const struct promote_word *w, const struct platform *p)
{
	return !w->is_elsewhere && (!w->platform || strcmp(w->platform, p->name) == 0);
}

// The projects of the selected files, wherever the store has such a file.
static int add_file_projects(struct promotion_run *run, const struct promote_word *w, struct strset *names,
	struct err *e)
{
	for (size_t i = 0; i < run->source.platform_count; i++) {
		const struct platform *p = run->source.platform[i];
		struct err why = ERR_INIT;
		CLEANUP(catalog_place_release) struct catalog_place place = {0};
		if (!is_word_on(w, p))
			continue;
		if (catalog_find_file(run->catalog, p->id, w->filename, &place, &why) == 0) {
			strset_add(names, place.project);
		} else if (why.kind != ERR_NOT_FOUND) {
			*e = why;
			return -1;
		}
	}
	return 0;
}

static int find_projects(struct promotion_run *run, struct strset *names, struct err *e)
{
	if (!run->select.words && view_projects(&run->source, run->catalog, take_source_name, names, e) < 0)
		return -1;
	for (size_t i = 0; i < run->select.words; i++) {
		const struct promote_word *w = &run->select.word[i];
		if (w->project)
			strset_add(names, w->project);
		else if (promotion_run_check_time(run, e) < 0 || add_file_projects(run, w, names, e) < 0)
			return -1;
	}
	strset_sort(names);
	return 0;
}

// --- a selection that means nothing ---

// The arguments of look_at_store_file.
struct store_search {
	struct promote_select select; // of one word
	const char *platform, *project;
	bool is_found;
};

static int look_at_store_file(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct store_search *s = ctx;
	const struct promote_subject subject = {s->platform, s->project, file->version, file->filename};
	s->is_found |= promote_select_matches(&s->select, &subject);
	return 0;
}

// Whether some platform lists a file that the word means. An error is none.
static bool is_in_store(const struct promotion_run *run, const struct promote_word *w)
{
	struct promote_word word = *w;
	struct store_search s = {.select = {&word, 1, w->filename != NULL}, .project = w->project};
	for (size_t i = 0; i < run->site->store.platform_count && !s.is_found; i++) {
		struct err ignored = ERR_INIT;
		CLEANUP(catalog_place_release) struct catalog_place place = {0};
		const struct platform *p = &run->site->store.platform[i];
		s.platform = p->name;
		if (w->filename)
			s.is_found = is_word_on(w, p) && catalog_find_file(run->catalog, p->id, w->filename, &place,
								 &ignored) == 0;
		else if (catalog_project_files(run->catalog, p->id, w->project, look_at_store_file, &s, &ignored) < 0)
			break;
	}
	return s.is_found;
}

// Only on the store's machine is the rest of the store told of.
static int refuse_unmatched(const struct promotion_run *run, const struct promote_word *w, struct err *e)
{
	const struct promote_request *r = run->request;
	if (!r->may && !*r->address && is_in_store(run, w))
		return err_set(e, ERR_USAGE, "%s: it is in the store, but not in view %s on the platforms of view %s",
			w->text, run->config->from, r->to);
	if (*r->address) // the source may be private
		return err_set(e, ERR_USAGE,
			"%s: what view %s takes its files from has no such file; wheelcache explain says what is known of it",
			w->text, r->to);
	return err_set(e, ERR_USAGE, "%s: view %s has no such file; wheelcache explain says what is known of it",
		w->text, run->config->from);
}

int promotion_run_collect(struct promotion_run *run, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	promote_answer_clear(run->answer);
	run->candidates = run->lacks = 0;
	if (promotion_run_look_up_paths(run->site, run->catalog, &run->select, e) < 0 ||
		find_projects(run, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct source_project p = {run, names.item[i]};
		if (promotion_run_check_time(run, e) < 0 ||
			view_files(&run->source, run->catalog, p.name, take_candidate, &p, e) < 0)
			return -1;
	}
	const struct promote_word *unmatched = promote_select_unmatched(&run->select);
	return unmatched ? refuse_unmatched(run, unmatched, e) : 0;
}
