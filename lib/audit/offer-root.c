// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/offer-root.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/audit/offer-folders.h"
#include "lib/base/limits.h"
#include "lib/domain/elf/elf-arch.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

// A name in a folder that may be a library's. Several names may be one file.
struct root_file {
	char *path; // in the root; owned
	size_t name;
	size_t rank; // of the folder
	dev_t device;
	ino_t inode;
	off_t size;
};

struct root_reading {
	int root;
	struct offer_table *table;
	struct root_file *file;
	size_t files, room;
	size_t entries; // of all folders
	int seconds;    // that it may take
	int64_t end_ms;
	struct buf bytes; // of one library
};

// "libssl.so", "libssl.so.3": what the loader is asked for.
static bool is_library_name(const char *name)
{
	const char *at = name;
	while ((at = strstr(at, ".so")) != NULL) {
		at += 3;
		if (!*at || *at == '.')
			return true;
	}
	return false;
}

static int check_time(const struct root_reading *r, struct err *e)
{
	return clock_ms() < r->end_ms
		       ? 0
		       : err_set(e, ERR_TIME, "reading the libraries takes more than %d seconds", r->seconds);
}

// --- finding files ---

// What cannot be opened, such as a link that leads nowhere, is no library.
static int take_entry(struct root_reading *r, const char *folder, size_t rank, const char *name, struct err *e)
{
	struct stat st;
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, name);
	CLEANUP(mem_close) int fd = fs_open_in_root(r->root, path, O_PATH, &ignored);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (r->files >= LIMIT_OFFER_LIBRARIES)
		return err_set(e, ERR_LIMIT, "more than %d names of libraries", LIMIT_OFFER_LIBRARIES);
	GROW(r->file, r->files, r->room);
	r->file[r->files] = (struct root_file){.path = STEAL_PTR(path),
		.name = strlen(folder) + 1,
		.rank = rank,
		.device = st.st_dev,
		.inode = st.st_ino,
		.size = st.st_size};
	r->files++;
	return 0;
}

static int take_folder(struct root_reading *r, const char *folder, size_t rank, struct err *e)
{
	struct err why = ERR_INIT;
	int fd = fs_open_in_root(r->root, folder, O_RDONLY | O_DIRECTORY, &why);
	if (fd < 0 && why.kind != ERR_NOT_FOUND)
		return err_set(e, why.kind, "%s", why.msg);
	CLEANUP(fs_close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	while (dir && (entry = readdir(dir)) != NULL) {
		if (++r->entries > LIMIT_OFFER_ENTRIES)
			return err_set(e, ERR_LIMIT, "the folders of libraries have more than %d names",
				LIMIT_OFFER_ENTRIES);
		if ((r->entries % 1024 == 0 && check_time(r, e) < 0) ||
			(is_library_name(entry->d_name) && take_entry(r, folder, rank, entry->d_name, e) < 0))
			return -1;
	}
	return 0;
}

static int compare_inodes(const void *a, const void *b)
{
	const struct root_file *one = a, *other = b;
	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->inode != other->inode)
		return one->inode < other->inode ? -1 : 1;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return strcmp(one->path, other->path);
}

// --- reading a library ---

// False: it cannot be read.
static int read_bytes(struct root_reading *r, const struct root_file *file, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = fs_open_in_root(r->root, file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || st.st_dev != file->device || st.st_ino != file->inode)
		return err_set(e, ERR_BUSY, "%s: it was replaced meanwhile", file->path);
	buf_clear(&r->bytes);
	return fs_read_fd(fd, file->path, &r->bytes, e);
}

static void add_contents(struct root_reading *r, struct offer_library *l, const struct elf_facts *facts)
{
	for (size_t i = 0; i < facts->needed.count; i++)
		offer_table_add_text(r->table, &l->needed, str_from(facts->needed.item[i]));
	for (size_t i = 0; i < facts->defined_versions; i++)
		offer_table_add_text(r->table, &l->version, str_from(facts->defined_version[i].name));
	offer_table_sort_versions(l);
	for (size_t i = 0; i < facts->symbols; i++) {
		const struct elf_symbol *s = &facts->symbol[i];
		if (!s->is_imported)
			offer_table_add_symbol(r->table, l, str_from(s->name), str_from(s->version ? s->version : ""));
	}
}

// The names of the files, which are one; count of them. The loader also finds a library by its SONAME, for which
// ldconfig makes a link; a file that has this name comes first.
static void add_names(struct root_reading *r, const struct root_file *file, size_t count, const char *soname)
{
	size_t library = r->table->libraries - 1;
	for (size_t i = 0; i < count; i++)
		offer_table_add_name(r->table, library, str_from(file[i].path + file[i].name), 2 * file[i].rank);
	offer_table_add_name(r->table, library, str_from(soname), 2 * file[0].rank + 1);
}

static void add_unreadable(struct root_reading *r, const struct root_file *file, size_t count)
{
	const char *name = file[0].path + file[0].name;
	offer_table_add(r->table, STR(OFFER_ANY_ARCH), str_from(name), str_from(file[0].path))->is_readable = false;
	add_names(r, file, count, name);
}

// A text file with the name of a library is for linkers, and no library.
static int take_file(struct root_reading *r, const struct root_file *file, size_t count, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(elf_facts_release) struct elf_facts facts = {0};
	if (file->size > LIMIT_OFFER_FILE || read_bytes(r, file, &why) < 0) {
		add_unreadable(r, file, count);
		return offer_table_check(r->table, e);
	}
	if (!elf_is_elf(buf_view(&r->bytes)))
		return 0;
	if (elf_facts_read(buf_view(&r->bytes), &facts, &why) < 0) {
		add_unreadable(r, file, count);
		return offer_table_check(r->table, e);
	}
	const char *arch = elf_arch(&facts), *soname = facts.soname ? facts.soname : file->path + file->name;
	if (!facts.is_shared || !facts.is_dynamic || !arch)
		return 0;
	add_contents(r, offer_table_add(r->table, str_from(arch), str_from(soname), str_from(file->path)), &facts);
	add_names(r, file, count, soname);
	return offer_table_check(r->table, e);
}

struct file_group { // the names of one file
	const struct root_file *first;
	size_t count;
};

// In the order of the folders; in one folder the highest version first, which is what ldconfig takes of two files with
// one SONAME.
static int compare_groups(const void *a, const void *b)
{
	const struct root_file *one = ((const struct file_group *)a)->first;
	const struct root_file *other = ((const struct file_group *)b)->first;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return strverscmp(other->path, one->path);
}

static size_t make_groups(struct root_reading *r, struct file_group *group)
{
	size_t count = 0;
	if (r->files)
		qsort(r->file, r->files, sizeof(*r->file), compare_inodes);
	for (size_t i = 0; i < r->files; i++) {
		const struct root_file *first = count ? group[count - 1].first : NULL, *now = &r->file[i];
		if (first && now->device == first->device && now->inode == first->inode)
			group[count - 1].count++;
		else
			group[count++] = (struct file_group){now, 1};
	}
	qsort(group, count, sizeof(*group), compare_groups);
	return count;
}

static int take_files(struct root_reading *r, struct err *e)
{
	CLEANUP(mem_free) struct file_group *group = xcalloc(r->files + 1, sizeof(*group));
	size_t count = make_groups(r, group);
	for (size_t i = 0; i < count; i++)
		if (check_time(r, e) < 0 || take_file(r, group[i].first, group[i].count, e) < 0)
			return -1;
	return r->table->libraries ? 0 : err_set(e, ERR_INVALID, "its folders of libraries have no library");
}

static void release_reading(struct root_reading *r)
{
	for (size_t i = 0; i < r->files; i++)
		free(r->file[i].path);
	free(r->file);
	buf_release(&r->bytes);
}

int offer_root_read(int root, int seconds, struct offer_table *t, struct err *e)
{
	CLEANUP(offer_folders_release) struct offer_folders folders = {0};
	CLEANUP(release_reading)
	struct root_reading r = {
		.root = root, .table = t, .seconds = seconds, .end_ms = clock_ms() + (int64_t)seconds * 1000};
	buf_init(&r.bytes, LIMIT_OFFER_FILE);
	if (offer_folders_find(root, &folders, e) < 0)
		return -1;
	for (size_t i = 0; i < folders.count; i++)
		if (take_folder(&r, folders.path[i], i, e) < 0)
			return -1;
	return take_files(&r, e);
}
