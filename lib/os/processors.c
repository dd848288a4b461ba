// SPDX-License-Identifier: Apache-2.0
#include "lib/os/processors.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"

// 0: it is unknown. The kernel refuses a mask that has no room for all processors that the machine could have.
static unsigned count_allowed(void)
{
	for (size_t room = CPU_SETSIZE; room <= LIMIT_PROCESSORS; room *= 2) {
		size_t size = CPU_ALLOC_SIZE(room);
		CLEANUP(mem_free) cpu_set_t *set = xcalloc(1, size);
		if (sched_getaffinity(0, size, set) == 0)
			return (unsigned)CPU_COUNT_S(size, set);
		if (errno != EINVAL)
			return 0;
	}
	return 0;
}

// Adds a file of a cgroup to b, and says whether it is there.
static bool read_value(const char *folder, const char *name, struct buf *b)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, name);
	return fs_read_regular(path, b, &ignored) == 0;
}

// One cgroup: quota and period in microseconds, in one file (v2) or in two (v1). "max" or -1: there is no quota.
static void bound_by_quota(struct processors *p, const char *folder)
{
	const char *name = "cpu.max";
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CGROUPS);
	if (!read_value(folder, name, &text)) {
		buf_clear(&text);
		name = "cpu.cfs_quota_us";
		if (!read_value(folder, name, &text) || !read_value(folder, "cpu.cfs_period_us", &text))
			return;
	}
	uint64_t quota, period;
	struct str rest = buf_view(&text);
	if (!decimal_cut(&rest, UINT64_MAX, &quota) || !decimal_parse(str_trim(rest), UINT64_MAX, &period) ||
		!quota || !period)
		return;
	uint64_t count = quota / period + (quota % period != 0);
	if (count >= p->count)
		return;
	p->count = (unsigned)count;
	snprintf(p->why, sizeof(p->why), "a CPU quota of %.3g (%s/%s)", (double)quota / (double)period, folder,
		name);
}

// A cgroup and all above it, up to the one that is mounted at mount. A container may have only that one; path is then
// the machine's.
static void bound_by_groups(struct processors *p, const char *root, const char *mount, struct str path)
{
	if (str_starts(path, STR("/.."))) // outside of the cgroup namespace
		return;
	for (long end = path.len == 1 ? 0 : (long)path.len; end >= 0; end = str_rfind(path, '/')) {
		path.len = (size_t)end;
		CLEANUP(mem_free) char *folder = xasprintf("%s/sys/fs/cgroup%s" STR_FMT, root, mount, STR_ARG(path));
		bound_by_quota(p, folder);
	}
}

static bool names_cpu(struct str controllers)
{
	while (controllers.ptr)
		if (str_eq(str_cut(&controllers, ','), STR("cpu")))
			return true;
	return false;
}

struct processors processors_find(const char *root)
{
	unsigned all = (unsigned)get_nprocs(), allowed = count_allowed();
	struct processors p = {.count = allowed ? allowed : all ? all : 1, .why = "one per processor"};
	if (p.count < all)
		snprintf(p.why, sizeof(p.why), "its affinity allows %u of %s", allowed,
			COUNTED(all, "processor|processors"));
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CGROUPS);
	CLEANUP(mem_free) char *self = xasprintf("%s/proc/self", root);
	if (!read_value(self, "cgroup", &text))
		return p;
	// A line is "NUMBER:CONTROLLERS:PATH"; that of v2 has no controllers.
	for (struct str rest = buf_view(&text); rest.ptr;) {
		struct str path = str_cut(&rest, '\n');
		str_cut(&path, ':');
		struct str controllers = str_cut(&path, ':');
		if (!path.ptr)
			continue;
		if (names_cpu(controllers))
			bound_by_groups(&p, root, "/cpu", path);
		if (controllers.len)
			continue;
		bound_by_groups(&p, root, "", path);
		bound_by_groups(&p, root, "/unified", path); // beside v1
	}
	return p;
}
