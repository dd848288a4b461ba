// SPDX-License-Identifier: Apache-2.0
// A cgroup (version 2) for each run, which limits and counts the memory of all its processes together, and ends them at
// once. It needs a cgroup of our own that is writable and has the memory controller: systemd's Delegate=yes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/mem.h"

enum { RUN_CGROUP_PATH = 512 };

// Returns the folder in which runs get their cgroups, or NULL if there is none. The first call moves this process into
// a cgroup "builder" below its own, since a cgroup with processes can pass no controller on. Any thread.
const char *run_cgroup_base(void);

struct run_cgroup {
	char path[RUN_CGROUP_PATH]; // "": none
};

// Makes a cgroup below base with a limit of memory, 0: none. False, with path "", if that fails. One thread each.
bool run_cgroup_make(struct run_cgroup *g, const char *base, int id, uint64_t memory);
// The name of the cgroup that run_cgroup_make makes, for another process.
void run_cgroup_name(struct run_cgroup *g, const char *base, int id);
// Moves the calling process into it.
bool run_cgroup_join(const struct run_cgroup *g);
void run_cgroup_kill(const struct run_cgroup *g);
// The most memory that it had, or 0 if the kernel does not count it (before 5.19).
uint64_t run_cgroup_peak(const struct run_cgroup *g);
bool run_cgroup_was_out_of_memory(const struct run_cgroup *g);
// Waits up to two seconds for processes that were killed.
void run_cgroup_remove(const struct run_cgroup *g);
