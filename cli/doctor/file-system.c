// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/file-system.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/os/fs.h"
#include "lib/state/store/tempname.h"

static const struct file_system local = {"a local disk", false}, afs = {"AFS", true};

static const struct {
	unsigned magic;
	struct file_system is;
} kinds[] = {
	{AFS_SUPER_MAGIC, {"AFS", true}},
	{AFS_FS_MAGIC, {"AFS", true}},
	{NFS_SUPER_MAGIC, {"NFS", true}},
	{CIFS_SUPER_MAGIC, {"CIFS", true}},
	{SMB2_SUPER_MAGIC, {"SMB", true}},
	{FUSE_SUPER_MAGIC, {"FUSE", true}},
	{TMPFS_MAGIC, {"tmpfs", false}},
};

static bool is_in_mount(const char *path, const char *mount)
{
	size_t len = strlen(mount);
	return strncmp(path, mount, len) == 0 && (!path[len] || path[len] == '/');
}

// The client of AFS that is a FUSE file system (afsd.fuse) is mounted as "AFS".
static bool is_afs_by_fuse(const char *path)
{
	struct err ignored = ERR_INIT;
	struct mntent mount;
	char text[BUFSIZ];
	bool found = false;
	CLEANUP(mem_free) char *real = fs_real_path(path, &ignored);
	FILE *f = setmntent("/proc/self/mounts", "re");
	while (f && real && !found && getmntent_r(f, &mount, text, sizeof(text)))
		found = strcmp(mount.mnt_fsname, afs.name) == 0 && is_in_mount(real, mount.mnt_dir);
	if (f)
		endmntent(f);
	return found;
}

struct file_system file_system_of(const char *path)
{
	struct statfs disk;
	if (statfs(path, &disk) < 0)
		return local;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((unsigned)disk.f_type == kinds[i].magic)
			return kinds[i].magic == FUSE_SUPER_MAGIC && is_afs_by_fuse(path) ? afs : kinds[i].is;
	return local;
}

int file_system_try_write(const char *folder, struct err *e)
{
	char name[TEMPNAME_NAME];
	CLEANUP(mem_close) int dirfd = fs_open_dir(folder, e);
	if (dirfd < 0)
		return -1;
	tempname_name(name);
	CLEANUP(mem_close) int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || unlinkat(dirfd, name, 0) < 0)
		return err_errno(e, ERR_IO, "%s", folder);
	return 0;
}
