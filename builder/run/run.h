// SPDX-License-Identifier: Apache-2.0
// Runs one foreign program with limits: a time, memory of the whole group, the size of its log. When it is over, no
// process that it started is left, also none that left its process group or session. It gets no descriptor but
// standard input (/dev/null) and output, and no variable but those given. Any thread, several at once.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "builder/run/run-log.h"
#include "lib/base/err.h"

struct run_options {
	const char *const *argv;        // NULL at the end; argv[0] is looked up in PATH of environment
	const char *const *environment; // "NAME=value", NULL at the end
	const char *folder;             // its working folder
	struct run_log *log;            // of standard output and standard error
	uint64_t seconds;               // a time limit; 0: none
	uint64_t memory;                // bytes; 0: none
	bool setuid_works;              // it may run set-user-ID programs, as podman does with newuidmap
	const atomic_bool *stop;        // ends the program when it becomes true; NULL: never
};

enum run_end {
	RUN_EXITED,    // code
	RUN_SIGNALLED, // code is the signal; also if the process that watches it was killed or stopped
	RUN_TIMED_OUT,
	// The memory limit ended it. Without a cgroup that is a guess: it failed, and near the end of its output is
	// what programs print when they get no memory.
	RUN_OUT_OF_MEMORY,
	RUN_STOPPED, // by stop
};

struct run_outcome {
	enum run_end end;
	int code;
	double seconds;
	uint64_t peak_memory; // bytes, of the whole group where a cgroup counts it, else of its largest process
	unsigned left;        // processes that were still there at the end, and were killed
};

// The program is run below a process of our own program (builder/run/supervisor.h): the main function passes the first
// argument SUPERVISOR_COMMAND on. At the time limit and at stop the process group gets SIGTERM, and all that is left
// SIGKILL two seconds later. Core dumps are off. ERR_IO: it could not be started.
int run_program(const struct run_options *options, struct run_outcome *out, struct err *e) MUST_CHECK;
// How memory is limited here: "the whole group, by cgroup v2" or "each process, by RLIMIT_AS: no cgroup is writable".
const char *run_memory_limit_kind(void);
// To be called by a process that holds secrets before it runs programs: other processes of the user can then read
// neither its memory nor its environment in /proc. Wipes and unsets the variables of these names (NULL at the end);
// what getenv() returned for them must have been copied before. One thread, before others are started.
void run_hide_secrets(const char *const *variables);
