// SPDX-License-Identifier: Apache-2.0
// The processes below one process, by /proc. A process whose parent has ended is below the nearest subreaper
// (PR_SET_CHILD_SUBREAPER) above it, so a subreaper has everything that it started below itself. One thread.
#pragma once

#include <sys/types.h>

// Sends the signal to all processes below root, and to their process groups. Returns how many were still running. If
// /proc cannot be read: only to the group `group`, and 0.
unsigned process_tree_signal(pid_t root, pid_t group, int signal);
// Sends the signal to all processes of a session. Returns how many were still running.
unsigned process_tree_signal_session(pid_t session, int signal);
