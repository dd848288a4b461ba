// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/misplaced.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/domain/text/name.h"

struct misplaced_candidate {
	char *filename;
	char *project;
};

void misplaced_init(struct misplaced *m, misplaced_fn *fn, void *ctx)
{
	*m = (struct misplaced){.fn = fn, .ctx = ctx};
}

static void clear_folder(struct misplaced *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->candidate[i].filename);
		free(m->candidate[i].project);
	}
	free(m->folder);
	free(m->project);
	m->folder = m->project = NULL;
	m->count = 0;
}

void misplaced_release(struct misplaced *m)
{
	clear_folder(m);
	free(m->candidate);
	m->candidate = NULL;
}

// The normalised project name in the path of a folder; NULL where it has none. The caller frees it.
static char *project_of_folder(const char *folder, bool *has_letter)
{
	struct str rest = str_from(folder), first = str_cut(&rest, '/');
	*has_letter = first.len == 1 && rest.ptr;
	struct str named = *has_letter ? rest : first;
	bool is_one = *has_letter || (!rest.ptr && first.len > 1);
	if (!is_one || !name_is_valid(named))
		return NULL;
	struct buf out = buf_up_to(SIZE_MAX / 2);
	name_normalize(named, &out);
	return buf_steal(&out);
}

void misplaced_end(struct misplaced *m)
{
	for (size_t i = 0; i < m->count && (m->is_sorted || !m->is_mixed); i++)
		m->fn(m->ctx, m->platform, m->folder, m->candidate[i].filename, m->candidate[i].project);
	clear_folder(m);
}

void misplaced_add(struct misplaced *m, int64_t platform, const char *folder, const char *filename, const char *project)
{
	if (!m->folder || m->platform != platform || strcmp(m->folder, folder) != 0) {
		misplaced_end(m);
		m->platform = platform;
		m->folder = xstrdup(folder);
		m->project = project_of_folder(folder, &m->is_sorted);
		m->is_mixed = false;
	}
	if (!m->project)
		return;
	if (strcmp(m->project, project) == 0) {
		m->is_sorted = true;
		return;
	}
	m->is_mixed |= m->count && strcmp(m->candidate[0].project, project) != 0;
	GROW(m->candidate, m->count, m->room);
	m->candidate[m->count++] = (struct misplaced_candidate){xstrdup(filename), xstrdup(project)};
}
