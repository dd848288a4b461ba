// SPDX-License-Identifier: Apache-2.0
// What a promotion is about: the view, its source, and the files that the source shows.
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "promoter/promote.h"
#include "promoter/promotion-run.h"

const struct config_view *promote_view(const struct config *c, const char *name, struct err *e)
{
	const struct config_view *v = config_view(c, name);
	if (v && v->from)
		return v;
	if (!v)
		config_refuse_view(c, name, ERR_NOT_FOUND, e);
	else
		err_set(e, ERR_USAGE,
			"view %s has no \"from\", so nothing is promoted into it: it shows all files of its platforms",
			name);
	return NULL;
}

int promotion_find_source(struct promotion_run *run, struct err *e)
{
	const struct promote_request *r = run->request;
	run->config = promote_view(&run->site->config, r->to, e);
	if (!run->config)
		return -1;
	const char *from = run->config->from;
	if (r->from && strcmp(r->from, from) != 0)
		return err_set(e, ERR_USAGE, "files come into view %s from %s, not from %s", r->to, from, r->from);
	const struct view *source = site_view(run->site, str_from(from));
	if (!source)
		return site_refuse_view(run->site, from, ERR_NOT_FOUND, e);
	if (site_generation(run->site, source) == GENERATION_UNKNOWN)
		return err_set(e, ERR_BUSY, "what view %s shows is not known as a whole: run wheelcache index", from);
	// The source with the platforms that the view has too.
	run->source = *source;
	run->source.shows_each = true;
	run->source.platform = ARENA_NEW(&run->own, const struct platform *, source->platform_count);
	run->source.platform_count = 0;
	for (size_t i = 0; i < source->platform_count; i++)
		if (config_view_has(run->config, source->platform[i]->name))
			run->source.platform[run->source.platform_count++] = source->platform[i];
	return 0;
}

int promotion_refuse_late(struct err *e)
{
	return err_set(e, ERR_BUSY, "the decision took too long, and nothing was promoted: select fewer files");
}

int promotion_check_time(const struct promotion_run *run, struct err *e)
{
	return clock_thread_ms() <= run->cpu_end ? 0 : promotion_refuse_late(e);
}

int promotion_check_reason(const char *reason, struct err *e)
{
	if (strlen(reason) > LIMIT_REASON)
		return err_set(e, ERR_USAGE, "a reason has more than %d bytes", LIMIT_REASON);
	for (const char *c = reason; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_USAGE, "a reason has a control character, such as a line end");
	return 0;
}

void promotion_hide_cell(const struct promotion_run *run, const struct promote_row *row, struct buf *why)
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

// --- the selection ---

int promotion_look_up_paths(const struct site *site, struct catalog *c, struct promote_select *select, struct err *e)
{
	for (size_t i = 0; i < select->files; i++) {
		struct promote_word *w = &select->word[i];
		const struct platform *p = w->path ? site_platform(site, str_from(w->platform)) : NULL;
		struct err why = ERR_INIT;
		CLEANUP(catalog_place_release) struct catalog_place place = {0};
		if (!p)
			continue;
		if (catalog_find_file(c, p->id, w->filename, &place, &why) == 0)
			w->is_elsewhere = strcmp(place.path, w->path) != 0;
		else if (why.kind != ERR_NOT_FOUND)
			return err_set(e, why.kind, "%s", why.msg);
	}
	return 0;
}

bool promotion_names(const struct promotion_run *run, const struct promote_row *row)
{
	const struct promote_subject subject = {row->platform, row->project, row->version, row->filename};
	return promote_select_names(&run->select, &subject);
}

// --- its files ---

// The arguments of add_candidate.
struct source_project {
	struct promotion_run *run;
	const char *name;
};

static int add_candidate(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e)
{
	const struct source_project *p = ctx;
	const struct promote_subject subject = {platform->name, p->name, file->version, file->filename};
	struct promotion_run *run = p->run;
	const struct promote_request *r = run->request;
	if (promotion_check_time(run, e) < 0)
		return -1;
	if ((r->may && !r->may(r->may_ctx, platform->name, p->name)) ||
		!promote_select_matches(&run->select, &subject))
		return 0;
	struct promote_row row = {
		.platform = platform->name, .project = p->name, .version = file->version, .filename = file->filename};
	memcpy(row.sha256, file->sha256, SHA256_SIZE);
	promote_answer_add(run->answer, &row);
	ARENA_GROW(&run->text, run->candidate, run->candidates, run->room);
	run->candidate[run->candidates++] = (struct promotion_candidate){.platform = platform,
		.requires_python = arena_strdup(&run->text, file->requires_python),
		.came = catalog_file_came(file),
		.is_yanked = file->yanked != NULL,
		.version_key = {arena_copy(&run->text, file->version_key), file->version_key.len}};
	return 0;
}

static int add_source_name(void *ctx, const char *project, struct err *e UNUSED)
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
	struct store_search s = {.select = {&word, 1, w->filename != NULL}, .project = w->select.project};
	for (size_t i = 0; i < run->site->store.platform_count && !s.is_found; i++) {
		struct err ignored = ERR_INIT;
		CLEANUP(catalog_place_release) struct catalog_place place = {0};
		const struct platform *p = &run->site->store.platform[i];
		s.platform = p->name;
		if (w->filename)
			s.is_found = is_word_on(w, p) && catalog_find_file(run->catalog, p->id, w->filename, &place,
								 &ignored) == 0;
		else if (catalog_project_files(run->catalog, p->id, w->select.project, look_at_store_file, &s, &ignored) < 0)
			break;
	}
	return s.is_found;
}

int promotion_collect(struct promotion_run *run, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	promote_answer_clear(run->answer);
	arena_release(&run->text);
	run->candidates = run->room = run->lacks = run->lack_room = run->build_room = 0;
	if (promotion_look_up_paths(run->site, run->catalog, &run->select, e) < 0)
		return -1;
	if (!run->select.words && view_projects(&run->source, run->catalog, add_source_name, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < run->select.words; i++) {
		const struct promote_word *w = &run->select.word[i];
		if (w->select.project)
			strset_add(&names, w->select.project);
		else if (promotion_check_time(run, e) < 0 || add_file_projects(run, w, &names, e) < 0)
			return -1;
	}
	strset_sort(&names);
	for (size_t i = 0; i < names.count; i++) {
		struct source_project p = {run, names.item[i]};
		if (promotion_check_time(run, e) < 0 ||
			view_files(&run->source, run->catalog, p.name, add_candidate, &p, e) < 0)
			return -1;
	}
	const struct promote_word *unmatched = promote_select_unmatched(&run->select);
	if (!unmatched)
		return 0;
	// Only on the store's machine is the rest of the store told of.
	const struct promote_request *r = run->request;
	if (!r->may && !*r->address && is_in_store(run, unmatched))
		return err_set(e, ERR_USAGE, "%s: it is in the store, but not in view %s on the platforms of view %s",
			unmatched->text, run->config->from, r->to);
	if (*r->address) // the source may be private
		return err_set(e, ERR_USAGE,
			"%s: what view %s takes its files from has no such file; wheelcache explain says what is known of it",
			unmatched->text, r->to);
	return err_set(e, ERR_USAGE, "%s: view %s has no such file; wheelcache explain says what is known of it",
		unmatched->text, run->config->from);
}
