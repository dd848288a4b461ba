// SPDX-License-Identifier: Apache-2.0
// Opens a maker of matrices, and makes one for each project.
#include "builder/missing/project-matrix.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "builder/missing/matrix-parts.h"

enum { KEPT_NUMBERS = 100000 }; // tag sets, and texts of Requires-Python, that are kept from project to project

// --- what is the same for all projects ---

static bool has_cells(const struct project_matrix_maker *m, size_t platform)
{
	return !m->options.is_retired || !m->options.is_retired[platform];
}

static void list_places(struct project_matrix_maker *m)
{
	for (size_t i = 0; i < m->options.platforms; i++)
		m->places += has_cells(m, i) ? m->options.platform[i]->profile.environment_count : 0;
	m->place = xcalloc(m->places + 1, sizeof(*m->place));
	m->environment = xcalloc(m->places + 1, sizeof(*m->environment));
	struct matrix_place *place = m->place;
	for (size_t i = 0; i < m->options.platforms; i++) {
		const struct platform *p = m->options.platform[i];
		for (size_t k = 0; has_cells(m, i) && k < p->profile.environment_count; k++, place++) {
			CLEANUP(buf_release) struct buf python;
			buf_init(&python, LIMIT_FILE_NAME);
			python_print(&p->profile.environment[k].python, &python);
			*place = (struct matrix_place){p, &p->profile.environment[k], xstrdup(python.data),
				m->options.lacks_upstream && m->options.lacks_upstream[i]};
			m->environment[place - m->place] = place->environment;
		}
	}
}

static bool view_has_platform(const struct matrix_view *v, const struct platform *p)
{
	for (size_t i = 0; i < v->platforms; i++)
		if (v->platform[i] == p)
			return true;
	return false;
}

static void list_together(struct project_matrix_maker *m)
{
	const struct project_matrix_options *o = &m->options;
	m->together = xcalloc(o->platforms * o->platforms + 1, sizeof(*m->together));
	m->name = xcalloc(o->platforms + 1, sizeof(*m->name));
	for (size_t i = 0; i < o->platforms; i++) {
		m->name[i] = o->platform[i]->name;
		for (size_t k = 0; k < o->platforms; k++)
			for (size_t v = 0; v < o->views && !m->together[i * o->platforms + k]; v++)
				m->together[i * o->platforms + k] = view_has_platform(&o->view[v], o->platform[i]) &&
								    view_has_platform(&o->view[v], o->platform[k]);
	}
}

int project_matrix_open(const struct project_matrix_options *options, struct project_matrix_maker **out, struct err *e)
{
	CLEANUP(project_matrix_cleanup) struct project_matrix_maker *m = xcalloc(1, sizeof(*m));
	m->options = *options;
	if (upstream_new(options->config, &m->upstream, e) < 0)
		return -1;
	list_places(m);
	list_together(m);
	fits_init(&m->fits, m->environment, m->places);
	*out = STEAL_PTR(m);
	return 0;
}

void project_matrix_free(struct project_matrix_maker *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->places && m->place; i++)
		free(m->place[i].python);
	fits_release(&m->fits);
	upstream_free(m->upstream);
	free(m->place);
	free(m->environment);
	free(m->together);
	free(m->name);
	free(m);
}

void project_matrix_cleanup(struct project_matrix_maker **m)
{
	project_matrix_free(*m);
	*m = NULL;
}

// --- one project ---

static void matrix_work_release(struct matrix_work *w)
{
	offers_release(&w->offers);
	version_release(&w->chosen);
	version_release(&w->before);
	free(w->arrival);
}

// Whether upstream has said what it has, or that it has nothing.
static bool is_certain(const struct upstream_answer *a)
{
	return a->page || a->stale || a->result == UPSTREAM_ABSENT || a->result == UPSTREAM_NOT_FOUND ||
	       a->result == UPSTREAM_QUARANTINED || a->result == UPSTREAM_PRIVATE;
}

static void take_upstream(struct matrix_work *w)
{
	const struct upstream_answer *a = w->answer;
	w->page = a->page ? a->page : a->stale;
	w->out->upstream.result = a->result;
	w->out->upstream.is_known = is_certain(a);
	w->out->upstream.asked = a->asked;
	w->out->upstream.fetched = w->page ? a->fetched : 0;
	if (w->page)
		offers_add_page(&w->offers, w->page);
}

// When the first file of the version came, to us or else to upstream.
static void find_first(struct matrix_work *w)
{
	for (size_t i = 0; i < w->out->releases; i++)
		if (str_eq(w->out->release[i].key, w->chosen.key))
			w->first = w->out->release[i].first;
	for (size_t i = w->now.first; !w->first && i < w->now.end; i++) {
		const struct offer *f = &w->offers.offer[i];
		const struct simplepage_file *file = f->platform ? NULL : simplepage_find(w->page, f->filename);
		if (file && file->uploaded && (!w->first || file->uploaded < w->first))
			w->first = file->uploaded;
	}
}

static int decide_matrix(struct matrix_work *w, struct err *e)
{
	struct project_matrix *m = w->out;
	matrix_choose_versions(w);
	if (!w->chosen.text)
		return 0;
	if (matrix_add_files(w, e) < 0 || matrix_read_attempts(w, e) < 0)
		return -1;
	if (w->now.first == w->now.end && !w->attempts)
		return 0;
	find_first(w);
	m->version = arena_copy(&m->text, str_from(w->chosen.text));
	m->before = w->before.text ? arena_copy(&m->text, str_from(w->before.text)) : NULL;
	m->cell = xcalloc(w->maker->places + 1, sizeof(*m->cell));
	for (; m->cells < w->maker->places; m->cells++) {
		struct matrix_cell *cell = &m->cell[m->cells];
		if (matrix_decide_cell(w, m->cells, cell, e) < 0)
			return -1;
		m->count[cell->state]++;
		m->lost += cell->is_lost;
	}
	m->has_upstreams = m->is_upstreams && w->maker->options.wants_upstreams;
	if (m->has_upstreams)
		matrix_read_upstreams(w);
	return 0;
}

static int decide_with_upstream(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct matrix_work *w = ctx;
	w->answer = answer;
	fits_trim(&w->maker->fits, KEPT_NUMBERS);
	offers_init(&w->offers, w->out->project, &w->maker->fits);
	take_upstream(w);
	int result = decide_matrix(w, e);
	matrix_work_release(w); // the offers borrow from the answer
	return result;
}

// Where the matrix shows no file of ours, it does not tell either whether others, which its platforms do not have, hide
// the name.
static int load_upstream(struct upstream *u, struct catalog *c, const char *project, struct matrix_work *w, struct err *e)
{
	return w->out->releases ? upstream_load_cached(u, c, project, decide_with_upstream, w, e)
				: upstream_load_cached_open(u, c, project, decide_with_upstream, w, e);
}

int project_matrix_make(struct project_matrix_maker *m, struct catalog *c, const char *project, const char *version,
	struct project_matrix *out, struct err *e)
{
	CLEANUP(version_release) struct version wanted = {0};
	*out = (struct project_matrix){0};
	out->project = arena_copy(&out->text, str_from(project));
	struct matrix_work w = {.maker = m, .catalog = c, .out = out, .wanted = version ? &wanted : NULL};
	if ((!version || version_parse(str_from(version), &wanted, e) == 0) && matrix_read_releases(&w, e) == 0 &&
		load_upstream(m->upstream, c, project, &w, e) == 0)
		return 0;
	project_matrix_release(out);
	return -1;
}

void project_matrix_release(struct project_matrix *m)
{
	free(m->release);
	free(m->cell);
	free(m->newest);
	free(m->metadata);
	arena_release(&m->text);
	*m = (struct project_matrix){0};
}
