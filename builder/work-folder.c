// SPDX-License-Identifier: Apache-2.0
#include "builder/work-folder.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/step/attempt.h"
#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"

static char *lock_path(const char *folder)
{
	return xasprintf("%s.lock", folder);
}

// Takes the lock of a work folder. Returns its descriptor, or -1 with ERR_BUSY if its builder lives.
static int lock_folder(const char *folder, struct err *e)
{
	CLEANUP(mem_free) char *path = lock_path(folder);
	CLEANUP(mem_free) char *owner = xasprintf("process %ld", (long)getpid());
	return safefile_lock(path, false, owner, e);
}

static int make_folder(const char *path, struct err *e)
{
	CLEANUP(mem_close) int fd = safefile_folder(path, true, e);
	return fd < 0 ? -1 : 0;
}

int work_folder_open(const struct config *c, const char *results, const char *platform, struct work_folder *out,
	struct err *e)
{
	CLEANUP(mem_free) char *root = c->build_work_path ? xstrdup(c->build_work_path) : xasprintf("%s.work", results);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", root, platform);
	if (fs_make_parent(root, e) < 0 || make_folder(root, e) < 0 || make_folder(path, e) < 0)
		return err_prefix(e, "the work folder: ");
	int lock = lock_folder(path, e);
	if (lock < 0 && e->kind == ERR_BUSY)
		return err_prefix(e,
			"another builder works in %s (each builder needs a [build] work-path of its own): ", path);
	if (lock < 0)
		return -1;
	*out = (struct work_folder){.path = STEAL_PTR(path), .lock = lock};
	return 0;
}

void work_folder_release(struct work_folder *w)
{
	free(w->path);
	if (w->lock > 0)
		close(w->lock);
	*w = (struct work_folder){0};
}

char *work_folder_provenance(const struct work_folder *w)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct buf out = buf_up_to(SIZE_MAX / 2);
	jsondoc_put_str(doc, "work", w->path);
	jsondoc_write(doc, 0, &out);
	return buf_steal(&out);
}

// --- what a killed builder left ---

struct left_attempts {
	const char *host;
	struct results_attempt *item;
	size_t count, room;
	struct arena text;
};

static void release_left(struct left_attempts *l)
{
	free(l->item);
	arena_release(&l->text);
}

static int keep_left(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	struct left_attempts *l = ctx;
	// One that was sent to a server whose file this is has a folder that anyone with a token may have named.
	if (a->is_sent || strcmp(a->builder, l->host) != 0)
		return 0;
	struct results_attempt copy = *a;
	const char **const text[] = {&copy.id, &copy.platform, &copy.python, &copy.project, &copy.version, &copy.step,
		&copy.why, &copy.files, &copy.sdist, &copy.awaiting, &copy.recipe, &copy.builder, &copy.provenance};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		*text[i] = arena_copy(&l->text, str_from(*text[i] ? *text[i] : ""));
	GROW(l->item, l->count, l->room);
	l->item[l->count++] = copy;
	return 0;
}

// The work folder of a running attempt; NULL: unknown. The caller frees it.
static char *folder_of_attempt(const struct results_attempt *a)
{
	struct err ignored = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(str_from(a->provenance), &ignored);
	const char *work = doc ? jsondoc_get_str(doc, "work") : NULL;
	return work ? xstrdup(work) : NULL;
}

static bool lives_elsewhere(const struct work_folder *w, const char *folder)
{
	struct err e = ERR_INIT;
	if (!folder || strcmp(folder, w->path) == 0)
		return false;
	CLEANUP(mem_free) char *path = lock_path(folder);
	if (access(path, F_OK) < 0)
		return false;
	CLEANUP(mem_close) int lock = lock_folder(folder, &e);
	return lock < 0;
}

static int end_left(struct results *results, const struct config *c, struct results_attempt *a, const char *folder,
	struct err *e)
{
	CLEANUP(mem_free) char *path = attempt_log_path(folder ? folder : "", a->id);
	struct err ignored = ERR_INIT;
	enum results_change change;
	CLEANUP(buf_release) struct buf log = buf_up_to(LIMIT_RESULT_LOG);
	bool has_log = folder && safefile_read(path, &log, &ignored) == 0;
	a->result = RESULTS_INTERRUPTED;
	a->why = "the builder was killed, or the machine stopped";
	a->provenance = "{}";
	return results_put(results, a, has_log ? buf_view(&log) : (struct str){0}, c->build_keep_results, &change, e);
}

int work_folder_recover(const struct work_folder *w, struct results *results, const struct config *c, const char *host,
	struct err *e)
{
	CLEANUP(release_left) struct left_attempts left = {.host = host};
	const struct results_filter filter = {.only_running = true};
	if (results_list(results, &filter, keep_left, &left, e) < 0)
		return -1;
	for (size_t i = 0; i < left.count; i++) {
		CLEANUP(mem_free) char *folder = folder_of_attempt(&left.item[i]);
		if (!lives_elsewhere(w, folder) && end_left(results, c, &left.item[i], folder, e) < 0)
			return -1;
	}
	return attempt_clean(w->path, e);
}
