// SPDX-License-Identifier: Apache-2.0
#include "indexer/export/docroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

// --- the folder that is open ---

// The open folder of a static export: its files are compared and replaced, each whole. It never leaves the root,
// whatever links are in it. Names are single path components. Errors are ERR_IO.
struct output_dir {
	const char *root_path; // for messages; borrowed, as is root
	int root;
	char *path; // below the root; ".": the root itself; NULL: no folder is open
	int fd;
	bool is_changed; // and not synced yet
	struct timespec floor;  // no file that is put gets an older mtime
	struct timespec newest; // mtime of those that were put
};

// The forms of one page in this folder. Web servers make the ETag of a file from its size and the second of its mtime.
struct output_forms {
	const char *const *name;
	size_t count;
};

// A path, split into folder and name.
struct output_path {
	char *folder; // for output_dir_enter; to be released
	const char *name;
};

static const char output_dir_tmp_name[] = ".wheelcache-tmp";

static struct output_path output_path_of(const char *path)
{
	long slash = str_rfind(str_from(path), '/');
	if (slash < 0)
		return (struct output_path){xstrdup("."), path};
	return (struct output_path){xstrndup(path, (size_t)slash), path + slash + 1};
}

static void output_path_release(struct output_path *p)
{
	free(p->folder);
}

static void output_dir_init(struct output_dir *d, const char *root_path, int root)
{
	*d = (struct output_dir){.root_path = root_path, .root = root, .fd = -1};
}

static void output_dir_release(struct output_dir *d)
{
	mem_close(&d->fd);
	free(d->path);
	d->path = NULL;
	d->is_changed = false;
}

// Prefixes the message with the path of the folder; returns -1.
static int prefix_folder(const struct output_dir *d, struct err *e)
{
	bool is_root = strcmp(d->path, ".") == 0;
	return err_prefix(e, "%s/%s%s", d->root_path, is_root ? "" : d->path, is_root ? "" : "/");
}

static int output_dir_leave(struct output_dir *d, struct err *e)
{
	int result = d->is_changed && fs_sync_dir(d->fd, e) < 0 ? prefix_folder(d, e) : 0;
	output_dir_release(d);
	return result;
}

static int open_dir_beneath(int root, const char *path, bool make, struct err *e);

static int make_dir_beneath(int root, const char *path, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	CLEANUP(mem_close) int parent = open_dir_beneath(root, at.folder, true, e);
	if (parent < 0)
		return -1;
	if (mkdirat(parent, at.name, 0755) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	return fs_sync_dir(parent, e);
}

// Opens or makes one component at a time from the root, so that no link leads out of it.
static int open_dir_beneath(int root, const char *path, bool make, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_beneath(root, path, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND && make)
		return make_dir_beneath(root, path, e) < 0 ? -1 : open_dir_beneath(root, path, false, e);
	if (fd < 0)
		*e = why;
	return fd;
}

static int output_dir_enter(struct output_dir *d, const char *path, bool make, struct err *e)
{
	if (d->path && strcmp(d->path, path) == 0)
		return 0;
	if (output_dir_leave(d, e) < 0)
		return -1;
	d->fd = open_dir_beneath(d->root, path, make, e);
	if (d->fd < 0)
		return err_prefix(e, "%s/", d->root_path);
	d->path = xstrdup(path);
	d->is_changed = unlinkat(d->fd, output_dir_tmp_name, 0) == 0;
	return 0;
}

static bool is_content(int fd, struct str bytes)
{
	char block[16384];
	ssize_t n;
	while ((n = read(fd, block, sizeof(block))) > 0) {
		if ((size_t)n > bytes.len || memcmp(block, bytes.ptr, (size_t)n) != 0)
			return false;
		bytes = str_slice(bytes, (size_t)n, bytes.len);
	}
	return n == 0 && !bytes.len;
}

static bool output_dir_has_file(const struct output_dir *d, const char *name, const struct str *bytes)
{
	struct stat st;
	if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return false;
	if (!bytes || (size_t)st.st_size != bytes->len)
		return !bytes && st.st_size > 0;
	CLEANUP(mem_close) int fd = openat(d->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && is_content(fd, *bytes);
}

static bool output_dir_has_link(const struct output_dir *d, const char *name, const char *target)
{
	char found[LIMIT_PATH + 1];
	ssize_t n = readlinkat(d->fd, name, found, sizeof(found));
	return n >= 0 && str_eq((struct str){found, (size_t)n}, str_from(target));
}

static bool output_dir_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

// Whether a form that is there has this size, and an mtime in this second.
static bool is_second_taken(int dirfd, const char *name, off_t size, time_t second)
{
	struct stat other;
	return fstatat(dirfd, name, &other, AT_SYMLINK_NOFOLLOW) == 0 && other.st_mtim.tv_sec == second &&
	       other.st_size == size;
}

static void set_mtime(struct output_dir *d, const struct fs_tmp *tmp, const struct output_forms *forms)
{
	struct stat st;
	if (fstat(tmp->fd, &st) < 0)
		return;
	struct stat before;
	struct timespec t = output_dir_is_before(st.st_mtim, d->floor) ? d->floor : st.st_mtim;
	if (fstatat(d->fd, tmp->name, &before, AT_SYMLINK_NOFOLLOW) == 0 && t.tv_sec <= before.st_mtim.tv_sec)
		t = (struct timespec){.tv_sec = before.st_mtim.tv_sec + 1};
	for (size_t i = 0; forms && i < forms->count; i++)
		if (is_second_taken(d->fd, forms->name[i], st.st_size, t.tv_sec)) {
			t = (struct timespec){.tv_sec = t.tv_sec + 1};
			i = (size_t)-1; // each form takes one second at most, so this ends
		}
	const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, t};
	if (output_dir_is_before(st.st_mtim, t) && futimens(tmp->fd, times) < 0)
		return;
	if (output_dir_is_before(d->newest, t))
		d->newest = t;
}

static int output_dir_put_file(struct output_dir *d, const char *name, const struct output_forms *forms, struct str bytes,
	struct err *e)
{
	CLEANUP(fs_tmp_release) struct fs_tmp tmp;
	d->is_changed = true;
	if (fs_tmp_open(&tmp, d->fd, output_dir_tmp_name, name, e) < 0 || fs_tmp_write(&tmp, bytes, e) < 0)
		return prefix_folder(d, e);
	set_mtime(d, &tmp, forms);
	return fs_tmp_publish(&tmp, e) < 0 ? prefix_folder(d, e) : 0;
}

static int output_dir_put_link(struct output_dir *d, const char *name, const char *target, struct err *e)
{
	d->is_changed = true;
	if (symlinkat(target, d->fd, output_dir_tmp_name) == 0 &&
		renameat(d->fd, output_dir_tmp_name, d->fd, name) == 0)
		return 0;
	err_errno(e, ERR_IO, "%s", name);
	return prefix_folder(d, e);
}

static int output_dir_remove(struct output_dir *d, const char *name, struct err *e)
{
	if (unlinkat(d->fd, name, 0) == 0) {
		d->is_changed = true;
		return 1;
	}
	if (errno == ENOENT)
		return 0;
	err_errno(e, ERR_IO, "%s", name);
	return prefix_folder(d, e);
}

static int output_dir_remove_empty(struct output_dir *d, struct err *e)
{
	CLEANUP(mem_free) char *path = xstrdup(d->path);
	if (output_dir_leave(d, e) < 0)
		return -1;
	while (strcmp(path, ".") != 0) {
		CLEANUP(output_path_release) struct output_path at = output_path_of(path);
		struct err gone = ERR_INIT;
		CLEANUP(mem_close) int parent = open_dir_beneath(d->root, at.folder, false, &gone);
		if (parent < 0 || unlinkat(parent, at.name, AT_REMOVEDIR) < 0)
			return 0;
		free(path);
		path = STEAL_PTR(at.folder);
	}
	return 0;
}

// --- the whole ---

const char *const docroot_page_file[PAGE_FORMAT_COUNT][PAGE_CODING_COUNT] = {
	[PAGE_HTML] = {"index.html", "index.html.gz", "index.html.zst"},
	[PAGE_HTML_OLD_PIP] = {"index.old-pip.html", "index.old-pip.html.gz", "index.old-pip.html.zst"},
	[PAGE_JSON] = {"index.json", "index.json.gz", "index.json.zst"},
};

static const char marker[] = ".wheelcache-static"; // the manifest; it proves that wheelcache made the folder

struct docroot {
	char *path;
	int fd;
	struct manifest own; // the paths in the marker: all that wheelcache put there, and perhaps more
	struct docroot_counts counts;
	struct output_dir dir; // the open folder
};

// The folder of a page, without its slash.
static char *page_folder(const char *path)
{
	return xstrndup(path, strlen(path) - 1);
}

static bool is_page_path(const char *path)
{
	return str_ends(str_from(path), STR("/"));
}

static int put_docroot_file(struct docroot *d, const char *name, const struct output_forms *forms, struct str bytes,
	struct err *e)
{
	if (output_dir_has_file(&d->dir, name, &bytes)) {
		d->counts.kept++;
		return 0;
	}
	d->counts.written++;
	return output_dir_put_file(&d->dir, name, forms, bytes, e);
}

int docroot_file(struct docroot *d, const char *path, struct str bytes, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	if (output_dir_enter(&d->dir, at.folder, true, e) < 0)
		return -1;
	return put_docroot_file(d, at.name, NULL, bytes, e);
}

int docroot_link(struct docroot *d, const char *path, const char *target, struct err *e)
{
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	if (output_dir_enter(&d->dir, at.folder, true, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = xasprintf("%s/%s", d->path, at.folder);
	CLEANUP(mem_free) char *seen = fs_relative_path(folder, target);
	if (output_dir_has_link(&d->dir, at.name, seen)) {
		d->counts.kept++;
		return 0;
	}
	d->counts.written++;
	return output_dir_put_link(&d->dir, at.name, seen, e);
}

// The plain file is written last: where it is up to date, the packed files are too, and need not be packed to compare
// them.
static bool has_page_format(const struct docroot *d, enum page_format format, struct str page)
{
	const char *const *file = docroot_page_file[format];
	bool is_current = output_dir_has_file(&d->dir, file[PAGE_PLAIN], &page);
	for (int coding = PAGE_PLAIN + 1; coding < PAGE_CODING_COUNT; coding++)
		is_current = is_current && output_dir_has_file(&d->dir, file[coding], NULL);
	return is_current;
}

void docroot_next(struct docroot *d)
{
	d->dir.floor = d->dir.newest;
}

int docroot_page(struct docroot *d, const char *path, enum page_format format, struct str page, struct err *e)
{
	CLEANUP(mem_free) char *folder = page_folder(path);
	if (output_dir_enter(&d->dir, folder, true, e) < 0)
		return -1;
	if (has_page_format(d, format, page)) {
		d->counts.kept += PAGE_CODING_COUNT;
		return 0;
	}
	// The plain file gets no older mtime than the packed ones.
	static const struct output_forms forms = {&docroot_page_file[0][0], (size_t)PAGE_FORMAT_COUNT * PAGE_CODING_COUNT};
	const struct timespec floor = d->dir.floor, newest = d->dir.newest;
	d->dir.newest = floor;
	for (int coding = PAGE_CODING_COUNT; coding-- > 0;) {
		CLEANUP(buf_release) struct buf packed = buf_up_to(LIMIT_PAGE);
		if (coding == PAGE_PLAIN)
			d->dir.floor = d->dir.newest;
		if (page_pack(page, (enum page_coding)coding, &packed, e) < 0 ||
			put_docroot_file(d, docroot_page_file[format][coding], &forms, buf_view(&packed), e) < 0)
			return -1;
	}
	d->dir.floor = floor;
	if (output_dir_is_before(d->dir.newest, newest))
		d->dir.newest = newest;
	return 0;
}

static bool path_exists(const struct docroot *d, const char *path)
{
	struct stat st;
	return fstatat(d->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int foreign_file_error(const struct docroot *d, const char *path, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "%s/%s is in the way: it was not made by wheelcache", d->path, path);
}

static int check_path_free(const struct docroot *d, const char *path, struct err *e)
{
	if (!path_exists(d, path))
		return 0;
	if (!is_page_path(path))
		return foreign_file_error(d, path, e);
	for (int format = 0; format < PAGE_FORMAT_COUNT; format++) {
		for (int coding = 0; coding < PAGE_CODING_COUNT; coding++) {
			const char *name = docroot_page_file[format][coding];
			CLEANUP(mem_free) char *file = xasprintf("%s%s", path, name);
			if (path_exists(d, file))
				return foreign_file_error(d, file, e);
		}
	}
	return 0;
}

static int write_marker(struct docroot *d, const struct manifest *a, const struct manifest *b, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MANIFEST);
	manifest_print(a, b, &text);
	struct str bytes = buf_view(&text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "%s/%s: larger than %d bytes", d->path, marker, LIMIT_MANIFEST);
	if (output_dir_enter(&d->dir, ".", false, e) < 0)
		return -1;
	if (!output_dir_has_file(&d->dir, marker, &bytes) && output_dir_put_file(&d->dir, marker, NULL, bytes, e) < 0)
		return -1;
	return output_dir_leave(&d->dir, e);
}

int docroot_claim(struct docroot *d, const struct manifest *wanted, struct err *e)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (!manifest_has(&d->own, wanted->path[i]) && check_path_free(d, wanted->path[i], e) < 0)
			return -1;
	return write_marker(d, &d->own, wanted, e);
}

static int remove_file_name(struct docroot *d, const char *name, struct err *e)
{
	int found = output_dir_remove(&d->dir, name, e);
	d->counts.removed += found > 0;
	return found;
}

static int remove_page_files(struct docroot *d, struct err *e)
{
	for (int format = 0; format < PAGE_FORMAT_COUNT; format++)
		for (int coding = 0; coding < PAGE_CODING_COUNT; coding++)
			if (remove_file_name(d, docroot_page_file[format][coding], e) < 0)
				return -1;
	return 0;
}

static int remove_own_path(struct docroot *d, const char *path, struct err *e)
{
	struct err gone = ERR_INIT;
	CLEANUP(output_path_release) struct output_path at = output_path_of(path);
	if (output_dir_enter(&d->dir, at.folder, false, &gone) < 0)
		return err_unless_missing(e, &gone);
	int result = is_page_path(path) ? remove_page_files(d, e) : remove_file_name(d, at.name, e);
	return result < 0 ? -1 : output_dir_remove_empty(&d->dir, e);
}

static int remove_unwanted(struct docroot *d, const struct manifest *wanted, bool pages, struct err *e)
{
	for (size_t i = 0; i < d->own.count; i++)
		if (is_page_path(d->own.path[i]) == pages && !manifest_has(wanted, d->own.path[i]) &&
			remove_own_path(d, d->own.path[i], e) < 0)
			return -1;
	return 0;
}

int docroot_settle(struct docroot *d, const struct manifest *wanted, struct err *e)
{
	static const struct manifest none = {0};
	if (remove_unwanted(d, wanted, true, e) < 0 || remove_unwanted(d, wanted, false, e) < 0 ||
		output_dir_leave(&d->dir, e) < 0)
		return -1;
	return write_marker(d, wanted, &none, e);
}

// Fails unless the folder is empty, except for the temporary file of a run that was killed before it wrote the marker.
static int check_folder_empty(const struct docroot *d, struct err *e)
{
	CLEANUP(fs_close_dir) DIR *dir = opendir(d->path);
	if (!dir)
		return err_errno(e, ERR_IO, "%s", d->path);
	for (struct dirent *entry; errno = 0, (entry = readdir(dir)) != NULL;) {
		static const char *const harmless[] = {".", "..", output_dir_tmp_name};
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
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_MANIFEST);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", d->path, marker);
	if (fs_read_file(path, &text, &missing) == 0)
		return manifest_parse(buf_view(&text), &d->own, e) < 0 ? err_prefix(e, "%s ", path) : 0;
	if (missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	return check_folder_empty(d, e) < 0 ? -1 : write_marker(d, &d->own, &d->own, e);
}

// On a file system that cannot lock folders, this does nothing: the operator must not start two exports.
static int lock_docroot(const struct docroot *d, struct err *e)
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
	output_dir_init(&d->dir, d->path, d->fd);
	if (d->fd < 0 || lock_docroot(d, e) < 0 || read_marker(d, e) < 0)
		return -1;
	*out = STEAL_PTR(d);
	return 0;
}

void docroot_cleanup(struct docroot **d)
{
	if (!*d)
		return;
	manifest_release(&(*d)->own);
	output_dir_release(&(*d)->dir);
	mem_close(&(*d)->fd);
	free((*d)->path);
	free(*d);
	*d = NULL;
}

const struct docroot_counts *docroot_counts(const struct docroot *d)
{
	return &d->counts;
}
