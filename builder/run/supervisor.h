// SPDX-License-Identifier: Apache-2.0
// The process between us and a foreign program. It is a subreaper, so that what the program started stays below it, and
// it ends all of it when the program has ended, at the time limit, when we say so, or when we are dead: then its
// standard input, a socket of which we hold the other end, is at its end. It is our own program with another main
// function, because a process with threads must not run more than exec() in a child.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/mem.h"

// A cgroup (version 2) for each run, which limits and counts the memory of all its processes together, and ends them at
// once. It needs a cgroup of our own that is writable and has the memory controller: systemd's Delegate=yes.

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

// The first argument of this program that makes it a supervisor.
#define SUPERVISOR_COMMAND "build-supervisor"

// The arguments behind SUPERVISOR_COMMAND; the words of the program are behind them.
enum supervisor_arg {
	SUPERVISOR_SECONDS = 1, // time limit; 0: none
	SUPERVISOR_MEMORY,      // bytes; 0: no limit
	SUPERVISOR_SETUID,      // "1": set-user-ID programs work
	SUPERVISOR_CGROUP,      // run_cgroup_base(), or ""
	SUPERVISOR_FOLDER,
	SUPERVISOR_ARGV,
};

// One message on the socket to us. We send one byte to stop the program.
struct supervisor_report {
	bool is_over;   // false: the program begins in a moment, and only `pid` is set
	pid_t pid;      // of the program, which is also its session
	int error;      // errno if the program could not be started, else 0
	bool in_folder; // the error is of its working folder
	int status;     // of waitpid()
	bool timed_out, stopped, out_of_memory;
	unsigned left; // processes that were there when the program had ended
	uint64_t peak_memory;
};

// The main function; argv[0] is SUPERVISOR_COMMAND. Never returns while something of the program is left.
int supervisor_main(int argc, char **argv);
// Sends the signal to all processes of a session. Returns how many were still running.
unsigned process_tree_signal_session(pid_t session, int signal);
