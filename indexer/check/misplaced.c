// SPDX-License-Identifier: Apache-2.0
#include "indexer/check/misplaced.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/domain/text/name.h"

struct layout_stray {
	char *filename;
	char *project;
};

void misplaced_init(struct misplaced *l, misplaced_fn *fn, void *ctx)
{
	*l = (struct misplaced){.fn = fn, .ctx = ctx};
}

static void forget_folder(struct misplaced *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->stray[i].filename);
		free(l->stray[i].project);
	}
	free(l->folder);
	free(l->project);
	l->folder = l->project = NULL;
	l->count = 0;
}

void misplaced_release(struct misplaced *l)
{
	forget_folder(l);
	free(l->stray);
	l->stray = NULL;
}

// The project that a folder names, normalised; NULL where it names none.
static char *project_of(const char *folder, bool *has_letter)
{
	struct str rest = str_from(folder), first = str_cut(&rest, '/');
	*has_letter = first.len == 1 && rest.ptr;
	struct str named = *has_letter ? rest : first;
	bool is_one = *has_letter || (!rest.ptr && first.len > 1);
	if (!is_one || !name_is_valid(named))
		return NULL;
	struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	name_normalize(named, &out);
	return buf_steal(&out);
}

void misplaced_end(struct misplaced *l)
{
	for (size_t i = 0; i < l->count && (l->is_sorted || !l->is_mixed); i++)
		l->fn(l->ctx, l->platform, l->folder, l->stray[i].filename, l->stray[i].project);
	forget_folder(l);
}

static void begin_folder(struct misplaced *l, int64_t platform, const char *folder)
{
	misplaced_end(l);
	l->platform = platform;
	l->folder = xstrdup(folder);
	l->project = project_of(folder, &l->is_sorted);
	l->is_mixed = false;
}

void misplaced_see(struct misplaced *l, int64_t platform, const char *folder, const char *filename, const char *project)
{
	if (!l->folder || l->platform != platform || strcmp(l->folder, folder) != 0)
		begin_folder(l, platform, folder);
	if (!l->project)
		return;
	if (strcmp(l->project, project) == 0) {
		l->is_sorted = true;
		return;
	}
	l->is_mixed |= l->count && strcmp(l->stray[0].project, project) != 0;
	GROW(l->stray, l->count, l->room);
	l->stray[l->count++] = (struct layout_stray){xstrdup(filename), xstrdup(project)};
}
