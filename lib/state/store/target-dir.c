// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/target-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/sidecar.h"

char *target_dir_choose(const struct platform *p, struct catalog *c, const char *project, struct err *e)
{
	CLEANUP(mem_free) char *known = NULL;
	if (catalog_project_folder(c, p->id, project, &known, e) < 0)
		return NULL;
	return known ? STEAL_PTR(known) : xasprintf("%c/%s", project[0], project);
}

static int make_and_open(const struct platform *p, const char *path, unsigned *made, struct err *e)
{
	CLEANUP(mem_close) int here = store_open_writable_folder(p, "", e);
	struct str rest = str_from(path);
	while (here >= 0 && rest.len) {
		struct str part = str_cut(&rest, '/');
		CLEANUP(mem_free) char *name = xstrndup(part.ptr, part.len);
		if (mkdirat(here, name, 0755) == 0) {
			++*made;
			if (fs_sync_dir(here, e) < 0)
				return -1;
		} else if (errno != EEXIST) {
			return err_errno(e, fs_kind_of_write(), "%s/%s", p->name, path);
		}
		int next = fs_open_beneath(here, name, O_RDONLY | O_DIRECTORY, e);
		if (next < 0 && e->kind == ERR_DENIED)
			return err_set(e, ERR_INVALID,
				"%s/%s: %s is a link that leads elsewhere: nothing is written there", p->name, path,
				name);
		mem_close(&here);
		here = next;
	}
	return here < 0 ? -1 : mem_steal_fd(&here);
}

// A platform that has lost all its files is more likely a volume that is not mounted: files written below its mount
// point would be hidden by it.
static int check_mounted(const struct platform *p, struct catalog *c, struct err *e)
{
	struct catalog_usage known;
	CLEANUP(mem_close) int fd = store_open_writable_folder(p, "", e);
	int empty = fd < 0 ? -1 : fs_is_empty(fd, e);
	if (empty <= 0)
		return empty;
	if (catalog_usage(c, p->id, &known, e) < 0)
		return -1;
	if (known.files)
		return err_set(e, ERR_IO,
			"platform %s: %s is empty, but the catalog knows %llu files there; is its volume "
			"mounted?",
			p->name, p->write_path ? p->write_path : p->path, (unsigned long long)known.files);
	return 0;
}

// Retries: another upload that was given up may have removed the folder meanwhile.
int target_dir_open(const struct platform *p, struct catalog *c, const char *folder, unsigned *made, struct err *e)
{
	struct err first = ERR_INIT;
	if (check_mounted(p, c, e) < 0)
		return -1;
	int fd = make_and_open(p, folder, made, &first);
	if (fd < 0 && first.kind == ERR_NOT_FOUND)
		return make_and_open(p, folder, made, e);
	if (fd < 0)
		*e = first;
	return fd;
}

void target_dir_drop(const struct platform *p, const char *folder, unsigned made)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *path = xstrdup(folder);
	for (; made; made--) {
		char *slash = strrchr(path, '/');
		CLEANUP(mem_free) char *name = xstrdup(slash ? slash + 1 : path);
		*(slash ? slash : path) = '\0';
		CLEANUP(mem_close) int parent = store_open_writable_folder(p, path, &ignored);
		if (parent < 0 || unlinkat(parent, name, AT_REMOVEDIR) < 0)
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
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_REASON);
	int found = catalog_tombstone(c, p->id, filename, &reason, e);
	return found > 0 ? deny_name(filename, &reason, e) : found;
}

// Tombstones in other folders are found in the catalog, as far as a scan has read them.
int target_dir_check(const struct platform *p, struct catalog *c, int fd, const char *filename, struct err *e)
{
	CLEANUP(buf_release) struct buf text, reason;
	buf_init(&text, LIMIT_SIDECAR);
	buf_init(&reason, LIMIT_REASON);
	int found = sidecar_read(fd, filename, MARK_PRUNED, &text, e);
	if (found <= 0)
		return found < 0 ? -1 : target_dir_check_again(p, c, filename, e);
	mark_reason(MARK_PRUNED, buf_view(&text), &reason);
	return deny_name(filename, &reason, e);
}
