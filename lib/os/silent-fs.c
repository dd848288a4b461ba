// SPDX-License-Identifier: Apache-2.0
#include "lib/os/silent-fs.h"

#include <stddef.h>
#include <sys/vfs.h>

#include "lib/base/mem.h"

// The numbers are of linux/magic.h, of statfs(2), and of the file systems that the kernel does not come with.
static const struct {
	unsigned long type;
	const char *name;
} rows[] = {
	{0x00001397, "AFS"}, // OpenAFS
	{0x5346414f, "AFS"}, // OpenAFS
	{0x6b414653, "AFS"}, // the kernel's own
	{0x00006969, "NFS"},
	{0x0000517b, "SMB"},
	{0xfe534d42, "SMB"},
	{0xff534d42, "SMB"},
	{0x01021997, "9p"},
	{0x65735546, "FUSE"},
	{0x00c36400, "Ceph"},
	{0x0bd00bd0, "Lustre"},
	{0x47504653, "GPFS"},
	{0x01161970, "GFS2"},
	{0x7461636f, "OCFS2"},
	{0x19830326, "BeeGFS"},
	{0x20030528, "OrangeFS"},
	{0x73757245, "Coda"},
	{0x786f4256, "vboxsf"},
	{0xbacbacbc, "vmhgfs"},
};

const char *silent_fs_of_type(unsigned long type)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].type == (type & 0xffffffff))
			return rows[i].name;
	return NULL;
}

const char *silent_fs_name(int fd)
{
	struct statfs st;
	return fstatfs(fd, &st) == 0 ? silent_fs_of_type((unsigned long)st.f_type) : NULL;
}
