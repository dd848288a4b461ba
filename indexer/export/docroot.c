// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/docroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "indexer/export/output-dir.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

const char *const docroot_page_file[PAGE_FORMAT_COUNT][PAGE_CODING_COUNT] = {
	[PAGE_HTML] = {"index.html", "index.html.gz", "index.html.zst"},
	[PAGE_HTML_OLD_PIP] = {"index.old-pip.html", "index.old-pip.html.gz", "index.old-pip.html.zst"},
	[PAGE_JSON] = {"index.json", "index.json.gz", "index.json.zst"},
};

static const char marker[] = ".wheelcache-static"; // the inventory: proves that the folder is ours

struct docroot {
	char *path;
	int fd;
	struct manifest ours; // what the marker has: all that is there, and maybe more
	struct docroot_counts counts;
	struct output_dir here; // where we are at work
};

// The folder of a page, without its slash.
static char *page_folder(const char *path)
{
	return xstrndup(path, strlen(path) - 1);
}

static bool is_page(const char *path)
{
	return str_ends(str_from(path), STR("/"));
}

static int put_file(struct docroot *d, const char *name, struct str bytes, struct err *e)
{
	if (output_dir_has_file(&d->here, name, &bytes)) {
		d->counts.kept++;
		return 0;
	}
	d->counts.written++;
	return output_dir_put_file(&d->here, name, bytes, e);
}

int docroot_file(struct docroot *d, const char *path, struct str bytes, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	if (output_dir_enter(&d->here, at.folder, true, e) < 0)
		return -1;
	return put_file(d, at.name, bytes, e);
}

int docroot_link(struct docroot *d, const char *path, const char *target, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	if (output_dir_enter(&d->here, at.folder, true, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = xasprintf("%s/%s", d->path, at.folder);
	CLEANUP(mem_free) char *seen = fs_relative_path(folder, target);
	if (output_dir_has_link(&d->here, at.name, seen)) {
		d->counts.kept++;
		return 0;
	}
	d->counts.written++;
	return output_dir_put_link(&d->here, at.name, seen, e);
}

// The plain file is put last: where it is right, so are the packed ones, and need not be made to
// know it.
static bool has_form(const struct docroot *d, enum page_format format, struct str page)
{
	const char *const *file = docroot_page_file[format];
	bool is_right = output_dir_has_file(&d->here, file[PAGE_PLAIN], &page);
	for (int coding = PAGE_PLAIN + 1; coding < PAGE_CODING_COUNT; coding++)
		is_right = is_right && output_dir_has_file(&d->here, file[coding], NULL);
	return is_right;
}

int docroot_page(struct docroot *d, const char *path, enum page_format format, struct str page, struct err *e)
{
	CLEANUP(mem_free) char *folder = page_folder(path);
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, LIMIT_PAGE);
	if (output_dir_enter(&d->here, folder, true, e) < 0)
		return -1;
	if (has_form(d, format, page)) {
		d->counts.kept += PAGE_CODING_COUNT;
		return 0;
	}
	for (int coding = PAGE_CODING_COUNT; coding-- > 0;) {
		buf_clear(&packed);
		if (page_pack(page, (enum page_coding)coding, &packed, e) < 0 ||
			put_file(d, docroot_page_file[format][coding], buf_view(&packed), e) < 0)
			return -1;
	}
	return 0;
}

static bool is_there(const struct docroot *d, const char *path)
{
	struct stat st;
	return fstatat(d->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int foreign(const struct docroot *d, const char *path, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "%s/%s is in the way: it was not made by wheelcache", d->path, path);
}

static int check_page_free(const struct docroot *d, const char *path, struct err *e)
{
	for (int format = 0; format < PAGE_FORMAT_COUNT; format++) {
		for (int coding = 0; coding < PAGE_CODING_COUNT; coding++) {
			const char *name = docroot_page_file[format][coding];
			CLEANUP(mem_free) char *file = xasprintf("%s%s", path, name);
			if (is_there(d, file))
				return foreign(d, file, e);
		}
	}
	return 0;
}

static int check_free(const struct docroot *d, const char *path, struct err *e)
{
	if (!is_there(d, path))
		return 0;
	return is_page(path) ? check_page_free(d, path, e) : foreign(d, path, e);
}

static int write_marker(struct docroot *d, const struct manifest *a, const struct manifest *b, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_INVENTORY);
	manifest_print(a, b, &text);
	struct str bytes = buf_view(&text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "%s/%s: larger than %d bytes", d->path, marker, LIMIT_INVENTORY);
	if (output_dir_enter(&d->here, ".", false, e) < 0)
		return -1;
	if (!output_dir_has_file(&d->here, marker, &bytes) && output_dir_put_file(&d->here, marker, bytes, e) < 0)
		return -1;
	return output_dir_leave(&d->here, e);
}

int docroot_claim(struct docroot *d, const struct manifest *wanted, struct err *e)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (!manifest_has(&d->ours, wanted->path[i]) && check_free(d, wanted->path[i], e) < 0)
			return -1;
	return write_marker(d, &d->ours, wanted, e);
}

static int remove_name(struct docroot *d, const char *name, struct err *e)
{
	int found = output_dir_remove(&d->here, name, e);
	d->counts.removed += found > 0;
	return found;
}

static int remove_page(struct docroot *d, struct err *e)
{
	for (int format = 0; format < PAGE_FORMAT_COUNT; format++)
		for (int coding = 0; coding < PAGE_CODING_COUNT; coding++)
			if (remove_name(d, docroot_page_file[format][coding], e) < 0)
				return -1;
	return 0;
}

static int remove_path(struct docroot *d, const char *path, struct err *e)
{
	struct err gone = ERR_INIT;
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	if (output_dir_enter(&d->here, at.folder, false, &gone) < 0) {
		if (gone.kind == ERR_NOT_FOUND)
			return 0;
		*e = gone;
		return -1;
	}
	int result = is_page(path) ? remove_page(d, e) : remove_name(d, at.name, e);
	return result < 0 ? -1 : output_dir_remove_empty(&d->here, e);
}

static int remove_unwanted(struct docroot *d, const struct manifest *wanted, bool pages, struct err *e)
{
	for (size_t i = 0; i < d->ours.count; i++)
		if (is_page(d->ours.path[i]) == pages && !manifest_has(wanted, d->ours.path[i]) &&
			remove_path(d, d->ours.path[i], e) < 0)
			return -1;
	return 0;
}

int docroot_settle(struct docroot *d, const struct manifest *wanted, struct err *e)
{
	static const struct manifest none = {0};
	if (remove_unwanted(d, wanted, true, e) < 0 || remove_unwanted(d, wanted, false, e) < 0 ||
		output_dir_leave(&d->here, e) < 0)
		return -1;
	return write_marker(d, wanted, &none, e);
}

// Whether nothing is in the folder but what a run left that was killed before it had written the
// marker.
static int check_empty(const struct docroot *d, struct err *e)
{
	CLEANUP(fs_close_dir) DIR *dir = opendir(d->path);
	if (!dir)
		return err_errno(e, ERR_IO, "%s", d->path);
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		static const char *const harmless[] = {".", "..", output_dir_unready};
		size_t i = 0;
		while (i < ARRAY_SIZE(harmless) && strcmp(entry->d_name, harmless[i]) != 0)
			i++;
		if (i == ARRAY_SIZE(harmless))
			return err_set(e, ERR_USAGE, "%s is not empty, and no static export: there is no %s in it",
				d->path, marker);
	}
	return errno ? err_errno(e, ERR_IO, "%s", d->path) : 0;
}

static int read_marker(struct docroot *d, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_INVENTORY);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", d->path, marker);
	if (fs_read_file(path, &text, &missing) == 0)
		return manifest_parse(buf_view(&text), &d->ours, e) < 0 ? err_prefix(e, "%s ", path) : 0;
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	return check_empty(d, e) < 0 ? -1 : write_marker(d, &d->ours, &d->ours, e);
}

// Where a file system cannot lock folders, the operator must not start two.
static int lock(const struct docroot *d, struct err *e)
{
	if (flock(d->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(e, ERR_BUSY, "%s: another process is exporting there", d->path);
	return 0;
}

int docroot_open(const char *path, struct docroot **out, struct err *e)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return err_errno(e, ERR_IO, "cannot make the folder %s", path);
	CLEANUP(docroot_cleanup) struct docroot *d = xcalloc(1, sizeof(*d));
	d->path = xstrdup(path);
	d->fd = fs_open_dir(path, e);
	output_dir_init(&d->here, d->path, d->fd);
	if (d->fd < 0 || lock(d, e) < 0 || read_marker(d, e) < 0)
		return -1;
	*out = STEAL_PTR(d);
	return 0;
}

void docroot_cleanup(struct docroot **d)
{
	if (!*d)
		return;
	manifest_release(&(*d)->ours);
	output_dir_release(&(*d)->here);
	mem_close(&(*d)->fd);
	free((*d)->path);
	free(*d);
	*d = NULL;
}

const struct docroot_counts *docroot_counts(const struct docroot *d)
{
	return &d->counts;
}
