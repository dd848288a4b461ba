// SPDX-License-Identifier: Apache-2.0
#include "lib/os/silent-fs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static void test_network_file_systems_tell_nothing(void **state UNUSED)
{
	assert_string_equal(silent_fs_of_type(AFS_SUPER_MAGIC), "AFS");
	assert_string_equal(silent_fs_of_type(AFS_FS_MAGIC), "AFS");
	assert_string_equal(silent_fs_of_type(NFS_SUPER_MAGIC), "NFS");
	assert_string_equal(silent_fs_of_type(V9FS_MAGIC), "9p");
	assert_string_equal(silent_fs_of_type(0xffffffff00000000 | SMB2_SUPER_MAGIC), "SMB"); // of a signed f_type
}

static void test_local_file_systems_tell(void **state UNUSED)
{
	static const unsigned long types[] = {
		EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		assert_null(silent_fs_of_type(types[i]));
}

static void test_an_open_file_is_asked_for_its_file_system(void **state UNUSED)
{
	CLEANUP(mem_close) int fd = open("/proc", O_RDONLY | O_CLOEXEC);
	assert_null(silent_fs_name(fd));
	assert_null(silent_fs_name(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_network_file_systems_tell_nothing),
		cmocka_unit_test(test_local_file_systems_tell),
		cmocka_unit_test(test_an_open_file_is_asked_for_its_file_system),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
