// SPDX-License-Identifier: Apache-2.0
// How many processors this process may use: those of its affinity (sched_setaffinity(2), cpuset), or fewer where the
// CPU quota of its cgroup, or of one above it, pays for fewer. cgroups v1, v2 and both at once (cgroups(7)). Any
// thread; nothing here fails: what cannot be read, or has no meaning, is no bound.
#pragma once

struct processors {
	unsigned count; // at least 1. A part of one counts as one: a quota of 1.5 is worth a second thread
	char why[256];  // for people, such as "its affinity allows 1 of 4 processors"; a long path is cut
};

// root: the folder that has /proc and /sys; "": those of the machine. As things are now: a quota may change at any
// time.
struct processors processors_find(const char *root);
