// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/view-losses.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/install/index-files.h"
#include "lib/view/site-check.h"
#include "pruner/plan/verdict.h"

enum { KEPT_TEXTS = 100000 }; // tag sets that are kept between projects

struct view_losses {
	struct site site; // its store is the caller's
	const struct view **view;
	struct planfile_view *loss; // of each
	struct planfile_view *found;
	size_t views;
	struct fits fits; // its places: all environments of all platforms
	struct strset gone; // "PLATFORM-ID/FILENAME"
	struct index_files files;
	int64_t platform; // that is being read
	struct arena text;
};

bool view_losses_has_verdict(const char *verdict)
{
	static const enum verdict_kind rests[] = {VERDICT_DUPLICATE, VERDICT_SUPERSEDED, VERDICT_PURE};
	for (size_t i = 0; i < ARRAY_SIZE(rests); i++)
		if (verdict && strcmp(verdict, verdict_name[rests[i]]) == 0)
			return true;
	return false;
}

int view_losses_open(const struct config *c, const struct store *s, struct catalog *catalog, struct view_losses **out,
	struct err *e)
{
	struct view_losses *l = xcalloc(1, sizeof(*l));
	if (site_borrow(&l->site, c, s, catalog, e) < 0) {
		free(l);
		return -1;
	}
	size_t count = l->site.view_count + l->site.part_count;
	l->view = ARENA_NEW(&l->text, const struct view *, count);
	l->loss = ARENA_NEW(&l->text, struct planfile_view, count);
	l->found = ARENA_NEW(&l->text, struct planfile_view, count);
	for (size_t i = 0; i < count; i++) {
		const struct view *v = i < l->site.view_count ? &l->site.view[i] : &l->site.part[i - l->site.view_count];
		if (v->is_private || v->has_upstream || v->membership || !v->platform_count)
			continue;
		l->loss[l->views].view = v->name ? v->name : VIEW_DEFAULT_PATH;
		l->view[l->views++] = v;
	}
	for (size_t i = 0; i < s->platform_count; i++)
		fits_add_platform(&l->fits, &l->site.store.platform[i]);
	*out = l;
	return 0;
}

void view_losses_free(struct view_losses *l)
{
	if (!l)
		return;
	fits_release(&l->fits);
	strset_release(&l->gone);
	site_release(&l->site);
	arena_release(&l->text);
	free(l);
}

void view_losses_cleanup(struct view_losses **l)
{
	view_losses_free(*l);
}

static char *key_of_gone(int64_t platform, const char *filename)
{
	return xasprintf("%lld/%s", (long long)platform, filename);
}

void view_losses_remove(struct view_losses *l, int64_t platform, const char *filename)
{
	CLEANUP(mem_free) char *key = key_of_gone(platform, filename);
	if (l && l->views)
		strset_add(&l->gone, key);
}

// --- one project ---

// A file that is not promoted is one that goes.
static int add_staying_or_gone(void *ctx, const struct catalog_file *file, struct err *e UNUSED)
{
	struct view_losses *l = ctx;
	CLEANUP(mem_free) char *key = key_of_gone(l->platform, file->filename);
	index_files_add_ours(&l->files, l->platform, file, !strset_has(&l->gone, key));
	return 0;
}

static bool view_shows_platform(const struct view *v, int64_t platform)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (v->platform[i]->id == platform)
			return true;
	return false;
}

// Whether some micro version of the place has nothing in place of the file that goes: of a wheel a wheel, and of what
// is not yanked something that is not.
static bool is_missed_at(struct view_losses *l, const struct view *v, const struct index_release *release,
	const struct index_file *gone, size_t place)
{
	uint64_t needed = index_files_micros(&l->files, place, gone);
	for (size_t i = release->first; i < release->end && needed; i++) {
		const struct index_file *f = &l->files.file[i];
		if (!f->is_unpromoted && view_shows_platform(v, f->platform) && (f->is_wheel || !gone->is_wheel) &&
			(!f->is_yanked || gone->is_yanked))
			needed &= ~index_files_micros(&l->files, place, f);
	}
	return needed;
}

static bool is_missed(struct view_losses *l, const struct view *v, const struct index_release *release,
	const struct index_file *gone)
{
	for (size_t i = 0; i < l->fits.places; i++)
		if (view_shows_platform(v, l->fits.place[i].platform->id) && is_missed_at(l, v, release, gone, i))
			return true;
	return false;
}

static bool loses_version(struct view_losses *l, const struct view *v, const struct index_release *release)
{
	for (size_t i = release->first; i < release->end; i++) {
		const struct index_file *f = &l->files.file[i];
		if (f->is_unpromoted && view_shows_platform(v, f->platform) && is_missed(l, v, release, f))
			return true;
	}
	return false;
}

static bool keeps_a_file(const struct view_losses *l, const struct view *v)
{
	for (size_t i = 0; i < l->files.count; i++)
		if (!l->files.file[i].is_unpromoted && view_shows_platform(v, l->files.file[i].platform))
			return true;
	return false;
}

static void count_losses_of_view(struct view_losses *l, size_t view, const char *project)
{
	size_t count;
	const struct index_release *release = index_files_admitted(&l->files, "", &count);
	struct planfile_view *loss = &l->loss[view];
	uint64_t before = loss->versions;
	for (size_t i = 0; i < count; i++) {
		if (!loses_version(l, l->view[view], &release[i]))
			continue;
		loss->versions++;
		if (!loss->first)
			loss->first = arena_printf(&l->text, "%s %s", project,
				l->files.file[release[i].first].version.text);
	}
	loss->projects += loss->versions > before && !keeps_a_file(l, l->view[view]);
}

int view_losses_count(struct view_losses *l, struct catalog *c, const char *project, struct err *e)
{
	if (!l || !l->gone.count)
		return 0;
	strset_sort(&l->gone);
	fits_trim(&l->fits, KEPT_TEXTS);
	index_files_init(&l->files, project, &l->fits);
	int result = 0;
	for (size_t i = 0; i < l->site.store.platform_count && result == 0; i++) {
		l->platform = l->site.store.platform[i].id;
		if (l->platform)
			result = catalog_project_files(c, l->platform, project, add_staying_or_gone, l, e);
	}
	for (size_t i = 0; i < l->views && result == 0; i++)
		count_losses_of_view(l, i, project);
	index_files_release(&l->files);
	strset_release(&l->gone);
	return result;
}

const struct planfile_view *view_losses_found(const struct view_losses *l, size_t *count)
{
	*count = 0;
	for (size_t i = 0; l && i < l->views; i++)
		if (l->loss[i].versions)
			l->found[(*count)++] = l->loss[i];
	return l ? l->found : NULL;
}

int view_losses_refuse(const struct view_losses *l, struct err *e)
{
	size_t views;
	const struct planfile_view *view = view_losses_found(l, &views);
	CLEANUP(buf_release) struct buf names = buf_up_to(ERR_MSG_SIZE / 2);
	for (size_t i = 0; i < views && !names.failed; i++)
		buf_printf(&names, "%s%s (%s, %s, %s first)", i ? ", " : "", view[i].view,
			COUNTED(view[i].projects, "project|projects"), COUNTED(view[i].versions, "version|versions"),
			view[i].first);
	if (!views)
		return 0;
	return err_set(e, ERR_CONFLICT,
		"clients of %s not merge upstream would lose: %s%s. Nothing was done: set upstream = "
		"merge, or name the views in [prune] clients-have-upstream",
		COUNTED(views, "view that does|views that do"), names.len ? names.data : "", names.failed ? " …" : "");
}
