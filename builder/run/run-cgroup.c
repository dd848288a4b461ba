// SPDX-License-Identifier: Apache-2.0
#include "builder/run/run-cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "lib/os/fs.h"

enum {
	FILE_MOST = 4096,
	NUMBER = 24,
	REMOVE_ROUNDS = 200, // of
	REMOVE_MS = 10,
};

#define MOUNT "/sys/fs/cgroup"
#define RUN_PREFIX "run-"

static bool join_path(char *out, size_t room, const char *folder, const char *name)
{
	int n = snprintf(out, room, "%s/%s", folder, name);
	return n > 0 && (size_t)n < room;
}

static bool read_control(const char *folder, const char *name, char text[FILE_MOST])
{
	char path[RUN_CGROUP_PATH];
	if (!join_path(path, sizeof(path), folder, name))
		return false;
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, FILE_MOST - 1);
	text[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

static bool write_control(const char *folder, const char *name, const char *text)
{
	char path[RUN_CGROUP_PATH];
	if (!join_path(path, sizeof(path), folder, name))
		return false;
	CLEANUP(mem_close) int fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool has_memory(const char *folder, const char *list)
{
	char text[FILE_MOST];
	if (!read_control(folder, list, text))
		return false;
	for (const char *at = text; (at = strstr(at, "memory")); at += 6)
		if ((at == text || at[-1] == ' ') && (at[6] == ' ' || at[6] == '\n' || at[6] == '\0'))
			return true;
	return false;
}

// --- the folder of all runs ---

// A cgroup that has processes cannot pass a controller on, so this process moves into one below it.
static bool pass_memory_on(const char *folder)
{
	char below[RUN_CGROUP_PATH];
	if (has_memory(folder, "cgroup.subtree_control"))
		return true;
	if (!join_path(below, sizeof(below), folder, "builder") || (mkdir(below, 0755) < 0 && errno != EEXIST))
		return false;
	if (write_control(below, "cgroup.procs", "0") && write_control(folder, "cgroup.subtree_control", "+memory"))
		return true;
	write_control(folder, "cgroup.procs", "0");
	rmdir(below);
	return false;
}

// Ends and removes what a supervisor left that was killed.
static void remove_leftovers(const char *folder)
{
	CLEANUP(fs_close_dir) DIR *dir = opendir(folder);
	for (const struct dirent *d; dir && (d = readdir(dir));) {
		struct run_cgroup g;
		if (strncmp(d->d_name, RUN_PREFIX, strlen(RUN_PREFIX)) != 0)
			continue;
		int id = (int)strtol(d->d_name + strlen(RUN_PREFIX), NULL, 10);
		if (id <= 0 || kill(id, 0) == 0 || errno != ESRCH)
			continue;
		run_cgroup_name(&g, folder, id);
		run_cgroup_kill(&g);
		run_cgroup_remove(&g);
	}
}

// The cgroup of this process, below MOUNT: the line "0::/path" of /proc/self/cgroup (cgroups(7)).
static bool find_own(char *folder, size_t room)
{
	char text[FILE_MOST];
	struct statfs file_system;
	if (statfs(MOUNT, &file_system) < 0 || file_system.f_type != CGROUP2_SUPER_MAGIC)
		return false;
	if (!read_control("/proc/self", "cgroup", text) || strncmp(text, "0::/", 4) != 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strncmp(text, "0::/..", 6) != 0 && join_path(folder, room, MOUNT, text + 4);
}

static char base[RUN_CGROUP_PATH - NUMBER];

static void find_base(void)
{
	bool is_good = find_own(base, sizeof(base)) && has_memory(base, "cgroup.controllers") && pass_memory_on(base) &&
		       access(base, W_OK) == 0;
	if (is_good)
		remove_leftovers(base);
	else
		*base = '\0';
}

const char *run_cgroup_base(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, find_base);
	return *base ? base : NULL;
}

// --- the cgroup of a run ---

void run_cgroup_name(struct run_cgroup *g, const char *folder, int id)
{
	int n = snprintf(g->path, sizeof(g->path), "%s/" RUN_PREFIX "%d", folder, id);
	if (n < 0 || (size_t)n >= sizeof(g->path))
		g->path[0] = '\0';
}

bool run_cgroup_make(struct run_cgroup *g, const char *folder, int id, uint64_t memory)
{
	char limit[NUMBER];
	snprintf(limit, sizeof(limit), "%" PRIu64, memory);
	run_cgroup_name(g, folder, id);
	if (g->path[0] && mkdir(g->path, 0755) == 0 && (!memory || write_control(g->path, "memory.max", limit))) {
		if (memory)
			write_control(g->path, "memory.swap.max", "0"); // a kernel without swap has no such file
		write_control(g->path, "memory.oom.group", "1");
		return true;
	}
	run_cgroup_remove(g);
	g->path[0] = '\0';
	return false;
}

bool run_cgroup_join(const struct run_cgroup *g)
{
	return g->path[0] && write_control(g->path, "cgroup.procs", "0");
}

void run_cgroup_kill(const struct run_cgroup *g)
{
	if (g->path[0])
		write_control(g->path, "cgroup.kill", "1"); // since Linux 5.14; the supervisor also kills each process
}

uint64_t run_cgroup_peak(const struct run_cgroup *g)
{
	char text[FILE_MOST];
	return g->path[0] && read_control(g->path, "memory.peak", text) ? strtoull(text, NULL, 10) : 0;
}

bool run_cgroup_was_out_of_memory(const struct run_cgroup *g)
{
	char text[FILE_MOST];
	if (!g->path[0] || !read_control(g->path, "memory.events", text))
		return false;
	const char *kills = strstr(text, "\noom_kill ");
	return kills && strtoull(kills + strlen("\noom_kill "), NULL, 10) > 0;
}

// A process that was killed is in its cgroup until the kernel has done with it.
void run_cgroup_remove(const struct run_cgroup *g)
{
	for (int i = 0; g->path[0] && i < REMOVE_ROUNDS && rmdir(g->path) < 0 && errno == EBUSY; i++)
		poll(NULL, 0, REMOVE_MS);
}
