// SPDX-License-Identifier: Apache-2.0
// The process between us and a foreign program. It is a subreaper, so that what the program started stays below it, and
// it ends all of it when the program has ended, at the time limit, when we say so, or when we are dead: then its
// standard input, a socket of which we hold the other end, is at its end. It is our own program with another main
// function, because a process with threads must not run more than exec() in a child.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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
