// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/volume-release.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/hook.h"
#include "lib/os/safefile.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/state-files.h"
#include "lib/state/store/catalog-update.h"

enum {
	PROBE_MS = 10000, // AFS clients see a release within 20 ms; other methods may be slower
	PROBE_PAUSE_MS = 50,
};

static const char wanted[] = "wanted", running[] = "running";

static char *note_path(const char *catalog, const char *name, const char *ending)
{
	CLEANUP(mem_free) char *folder = state_file(NULL, catalog, STATE_FILE_RELEASE);
	return xasprintf("%s/%s.%s", folder, name, ending);
}

// --- requests ---

static int open_folder(const char *catalog, struct err *e)
{
	CLEANUP(mem_free) char *path = state_file(NULL, catalog, STATE_FILE_RELEASE);
	return safefile_folder(path, true, e);
}

static int add_lines(const char *path, int folder, struct str lines, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = safefile_open(path, O_WRONLY | O_CREAT | O_APPEND, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	bool is_new = st.st_size == 0;
	if (st.st_size < LIMIT_RELEASE && write(fd, lines.ptr, lines.len) != (ssize_t)lines.len)
		return err_errno(e, fs_kind_of_write(), "%s", path);
	return is_new && (fsync(fd) < 0 || fs_sync_dir(folder, e) < 0) ? err_errno(e, ERR_IO, "%s", path) : 0;
}

int volume_release_want(const char *catalog, const struct platform *p, const char *folder, const char *filename,
	struct err *e)
{
	if (!p->release)
		return 0;
	CLEANUP(mem_free) char *line = xasprintf("%s%s%s\n", folder, *folder ? "/" : "", filename);
	CLEANUP(mem_free) char *path = note_path(catalog, p->name, wanted);
	CLEANUP(mem_close) int fd = open_folder(catalog, e);
	return fd < 0 ? -1 : add_lines(path, fd, str_from(line), e);
}

static bool is_noted(const char *catalog, const struct platform *p, const char *ending, int64_t *since)
{
	struct stat st;
	CLEANUP(mem_free) char *path = note_path(catalog, p->name, ending);
	if (stat(path, &st) < 0)
		return false;
	if (st.st_ctime < *since)
		*since = st.st_ctime;
	return true;
}

bool volume_release_is_wanted(const char *catalog, const struct platform *p, int64_t *since)
{
	*since = INT64_MAX;
	bool is_wanted = p->release && is_noted(catalog, p, wanted, since);
	return (p->release && is_noted(catalog, p, running, since)) || is_wanted;
}

// --- the requested files ---

static int read_note(const char *path, struct buf *out, struct err *e)
{
	struct err missing = ERR_INIT;
	if (safefile_read(path, out, &missing) == 0 || missing.kind == ERR_NOT_FOUND)
		return 0;
	*e = missing;
	return -1;
}

// The next path, which the caller frees; NULL: there is no more. Skips a line that a full disk has cut off.
static char *next_path(struct str *lines)
{
	if (str_find(*lines, '\n') < 0)
		return NULL;
	struct str line = str_cut(lines, '\n');
	return xstrndup(line.ptr, line.len);
}

static bool is_there(int folder, const char *name)
{
	struct stat st;
	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

// Moves the requested lines to the running ones before the command runs, so that later requests cause another release.
// 0: nothing is requested. Under the lock.
static int take_wanted(const char *from, const char *to, struct buf *lines, int folder, struct err *e)
{
	CLEANUP(buf_release) struct buf more = buf_up_to(2 * LIMIT_RELEASE);
	const char *from_name = strrchr(from, '/') + 1, *to_name = strrchr(to, '/') + 1;
	if (!is_there(folder, to_name)) {
		if (renameat(folder, from_name, folder, to_name) < 0)
			return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "%s", from);
	} else if (is_there(folder, from_name)) {
		if (read_note(from, &more, e) < 0 || add_lines(to, folder, buf_view(&more), e) < 0)
			return -1;
		unlinkat(folder, from_name, 0);
	}
	return read_note(to, lines, e) < 0 ? -1 : 1;
}

// --- the probe ---

// 1: exists; 0: does not; -1: unknown.
static int stat_path(const struct place *place, const char *path, struct place_info *out)
{
	struct err why = ERR_INIT;
	CLEANUP(place_file_close) struct place_file *file = place_open(place, path, &why);
	if (!file)
		return why.kind == ERR_NOT_FOUND ? 0 : -1;
	return place_file_info(file, out, &why) < 0 ? -1 : 1;
}

static bool is_shown(const struct platform *p, const char *path)
{
	struct place_info there, here;
	int is_written = stat_path(p->written, path, &there);
	int is_served = stat_path(p->place, path, &here);
	return is_written >= 0 && is_written == is_served &&
	       (!is_written || there.version.size == here.version.size);
}

static int wait_until_shown(const struct platform *p, struct str lines, const _Atomic int64_t *end_ms, struct err *e)
{
	if (!store_is_split(p))
		return 0;
	int64_t until = clock_ms() + PROBE_MS;
	for (char *path; (path = next_path(&lines)) != NULL; free(path)) {
		while (!is_shown(p, path)) {
			if (clock_ms() >= until || clock_ms() >= atomic_load(end_ms)) {
				err_set(e, ERR_IO, "release command %s succeeded, but %s/%s still differs from that in %s", p->release,
					place_path(p->place), path, place_path(p->written));
				free(path);
				return -1;
			}
			poll(NULL, 0, PROBE_PAUSE_MS);
		}
	}
	return 0;
}

// Updates the catalog. The next scan does it if this fails.
static void update_catalog(const char *catalog_path, const struct platform *p, struct str lines)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	if (!store_is_split(p) || !p->id)
		return;
	bool is_open = catalog_open(catalog_path, &catalog, &e) == 0;
	for (char *path; is_open && (path = next_path(&lines)) != NULL; free(path)) {
		struct err why = ERR_INIT;
		if (catalog_update_look(p, catalog, path, &why) < 0)
			log_debug("platform %s: %s is left to the scan: %s", p->name, path, why.msg);
	}
}

int volume_release_backlog(const char *catalog, const struct platform *p, struct volume_release_backlog *out,
	struct err *e)
{
	CLEANUP(buf_release) struct buf lines = buf_up_to(4 * LIMIT_RELEASE);
	*out = (struct volume_release_backlog){0};
	if (!p->release || !store_is_split(p))
		return 0;
	CLEANUP(mem_free) char *from = note_path(catalog, p->name, wanted);
	CLEANUP(mem_free) char *to = note_path(catalog, p->name, running);
	if (read_note(to, &lines, e) < 0 || read_note(from, &lines, e) < 0)
		return -1;
	struct str rest = buf_view(&lines);
	for (char *path; (path = next_path(&rest)) != NULL; free(path)) {
		struct place_info there, here;
		if (stat_path(p->written, path, &there) == 1 && stat_path(p->place, path, &here) == 0) {
			out->files++;
			out->bytes += there.version.size;
		}
	}
	return 0;
}

// --- the run ---

static int run_release_command(const char *catalog, const struct platform *p, struct str lines,
	const _Atomic int64_t *end_ms, struct err *e)
{
	const struct hook_value values[] = {
		{'p', place_path(p->place)}, {'v', p->volume}, {'w', place_path(p->written)}};
	if (hook_run(p->release, values, ARRAY_SIZE(values), NULL, end_ms, e) < 0 ||
		wait_until_shown(p, lines, end_ms, e) < 0)
		return -1;
	update_catalog(catalog, p, lines);
	return 0;
}

int volume_release_run(const char *catalog, const struct platform *p, const _Atomic int64_t *end_ms, bool waits,
	struct err *e)
{
	CLEANUP(buf_release) struct buf lines = buf_up_to(4 * LIMIT_RELEASE);
	CLEANUP(mem_free) char *lock_path = note_path(catalog, p->volume, "lock");
	CLEANUP(mem_free) char *from = note_path(catalog, p->name, wanted);
	CLEANUP(mem_free) char *to = note_path(catalog, p->name, running);
	CLEANUP(mem_close) int folder = open_folder(catalog, e);
	if (folder < 0)
		return -1;
	CLEANUP(mem_close) int lock = safefile_lock(lock_path, waits, "another release", e);
	if (lock < 0)
		return -1;
	int taken = take_wanted(from, to, &lines, folder, e);
	if (taken <= 0)
		return taken;
	if (run_release_command(catalog, p, buf_view(&lines), end_ms, e) < 0)
		return -1;
	return unlinkat(folder, strrchr(to, '/') + 1, 0) < 0 ? err_errno(e, ERR_IO, "%s", to) : 1;
}
