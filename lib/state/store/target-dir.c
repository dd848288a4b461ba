// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/target-dir.h"

#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/sidecar.h"

static char *folder_of_project(const char *project)
{
	return xasprintf("%c/%s", project[0], project);
}

char *target_dir_choose(const struct platform *p, struct catalog *c, const char *project, struct err *e)
{
	CLEANUP(mem_free) char *known = NULL;
	if (catalog_project_folder(c, p->id, project, &known, e) < 0)
		return NULL;
	return known ? STEAL_PTR(known) : folder_of_project(project);
}

char *target_dir_named(const struct platform *p, struct catalog *c, const char *project, struct err *e)
{
	CLEANUP(mem_free) char *folder = target_dir_choose(p, c, project, e);
	CLEANUP(mem_free) char *after = folder ? sidecar_subject(STR(""), MARK_STATUS, folder) : NULL;
	bool is_named = after && strcmp(after, project) == 0;
	return is_named || !folder ? STEAL_PTR(folder) : folder_of_project(project);
}

static struct place_folder *make_and_open(const struct platform *p, const char *path, unsigned *made, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *here = place_open_folder(p->written, "", e);
	struct str rest = str_from(path);
	while (here && rest.len) {
		struct str part = str_cut(&rest, '/');
		CLEANUP(mem_free) char *name = xstrndup(part.ptr, part.len);
		int new = place_make_folder(here, name, e);
		if (new < 0) {
			err_prefix(e, "%s/%s: ", p->name, path);
			return NULL;
		}
		*made += (unsigned)new;
		struct place_folder *next = place_enter(here, name, e);
		if (!next && e->kind == ERR_DENIED)
			err_set(e, ERR_INVALID, "%s/%s: %s is a link that leads elsewhere: nothing is written there",
				p->name, path, name);
		place_folder_close(&here);
		here = next;
	}
	return STEAL_PTR(here);
}

// A platform that has lost all its files is more likely a volume that is not mounted: files written below its mount
// point would be hidden by it.
static int check_mounted(const struct platform *p, struct catalog *c, struct err *e)
{
	struct catalog_usage known;
	CLEANUP(place_folder_close) struct place_folder *top = place_open_folder(p->written, "", e);
	int empty = top ? place_is_empty(top, e) : -1;
	if (empty <= 0)
		return empty;
	if (catalog_usage(c, p->id, &known, e) < 0)
		return -1;
	if (known.files)
		return err_set(e, ERR_IO,
			"platform %s: %s is empty, but the catalog knows %s there; is its volume "
			"mounted?",
			p->name, place_path(p->written), COUNTED(known.files, "file|files"));
	return 0;
}

// Retries: another upload that was given up may have removed the folder meanwhile.
struct place_folder *target_dir_open(const struct platform *p, struct catalog *c, const char *folder, unsigned *made,
	struct err *e)
{
	struct err first = ERR_INIT;
	if (check_mounted(p, c, e) < 0)
		return NULL;
	struct place_folder *f = make_and_open(p, folder, made, &first);
	if (!f && first.kind == ERR_NOT_FOUND)
		return make_and_open(p, folder, made, e);
	if (!f)
		*e = first;
	return f;
}

void target_dir_drop(const struct platform *p, const char *folder, unsigned made)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *path = xstrdup(folder);
	for (; made; made--) {
		char *slash = strrchr(path, '/');
		CLEANUP(mem_free) char *name = xstrdup(slash ? slash + 1 : path);
		*(slash ? slash : path) = '\0';
		CLEANUP(place_folder_close) struct place_folder *parent = place_open_folder(p->written, path, &ignored);
		if (!parent || place_remove_folder(parent, name, &ignored) < 0)
			return;
	}
}

static int deny_name(const char *filename, const struct buf *reason, struct err *e)
{
	return err_set(e, ERR_DENIED,
		"%s was removed here, and its name is not used again: %s; give the file another version or build tag",
		filename, reason->len ? reason->data : "no reason was given");
}

int target_dir_check_again(const struct platform *p, struct catalog *c, const char *filename, struct err *e)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_REASON);
	int found = catalog_tombstone(c, p->id, filename, &reason, e);
	return found > 0 ? deny_name(filename, &reason, e) : found;
}

// Tombstones in other folders are found in the catalog, as far as a scan has read them.
int target_dir_check(const struct platform *p, struct catalog *c, struct place_folder *folder, const char *filename,
	struct err *e)
{
	CLEANUP(buf_release) struct buf text, reason;
	buf_init(&text, LIMIT_SIDECAR);
	buf_init(&reason, LIMIT_REASON);
	int found = sidecar_read(folder, filename, MARK_PRUNED, &text, e);
	if (found <= 0)
		return found < 0 ? -1 : target_dir_check_again(p, c, filename, e);
	mark_reason(MARK_PRUNED, buf_view(&text), &reason);
	return deny_name(filename, &reason, e);
}
