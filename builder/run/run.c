// SPDX-License-Identifier: Apache-2.0
#include "builder/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder/run/supervisor.h"
#include "lib/os/clock.h"

extern char **environ;

enum {
	POLL_MS = 100,     // how often the stop flag is looked at
	BLOCK = 64 << 10,  // bytes of output that are read at once
	KILL_ROUNDS = 200, // of
	KILL_MS = 10,
	WORDS_MOST = 64,         // bytes of a text of memory_words
	NEAR_THE_END = 64 << 10, // bytes
	NUMBER = 24,
	MORE_ARGS = SUPERVISOR_ARGV + 1,
};

// What programs print when they get no memory. With RLIMIT_AS nothing else tells.
static const char *const memory_words[] = {
	"MemoryError",            // Python
	"Cannot allocate memory", // strerror(ENOMEM): make, sh, gcc, ld
	"std::bad_alloc",         // C++
	"out of memory",          // gcc, ld, Go, Fortran, rustc
	"memory allocation of ",  // Rust
	"memory exhausted",       // ld, gcc
};

// One run of a program.
struct run {
	const struct run_options *options;
	pid_t supervisor;
	int control, output; // owned
	struct supervisor_report report;
	bool is_asked_to_stop;
	uint64_t bytes;   // of output
	uint64_t said_at; // how many bytes there were when the output last had one of memory_words; 0: never
	size_t carried;   // bytes of the end of the last block that are in front of the next one
	char block[WORDS_MOST + BLOCK];
};

// --- starting the supervisor ---

// Our program's file. Under valgrind this is it too, whereas /proc/self/exe is valgrind. A file that an upgrade has
// replaced is only in /proc/self/exe.
static const char *own_program(char *path, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", path, room - 1);
	if (n > 0)
		path[n] = '\0';
	return n > 0 && access(path, X_OK) == 0 ? path : "/proc/self/exe";
}

static int spawn_supervisor(pid_t *pid, char **words, const char *const *environment, int control, int output)
{
	char path[PATH_MAX];
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t empty, all;
	sigemptyset(&empty);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, control, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &empty);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	char **variables = (char **)(uintptr_t)environment;
	int code = posix_spawn(pid, own_program(path, sizeof(path)), &files, &attr, words, variables);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code;
}

static int spawn_with_words(struct run *r, int control, int output)
{
	const struct run_options *o = r->options;
	const char *cgroup = run_cgroup_base();
	char seconds[NUMBER], memory[NUMBER];
	size_t count = 0;
	while (o->argv[count])
		count++;
	CLEANUP(mem_free) const char **words = xcalloc(count + MORE_ARGS + 1, sizeof(*words));
	snprintf(seconds, sizeof(seconds), "%" PRIu64, o->seconds);
	snprintf(memory, sizeof(memory), "%" PRIu64, o->memory);
	words[0] = "wheelcache";
	words[1] = SUPERVISOR_COMMAND;
	words[1 + SUPERVISOR_SECONDS] = seconds;
	words[1 + SUPERVISOR_MEMORY] = memory;
	words[1 + SUPERVISOR_SETUID] = o->setuid_works ? "1" : "0";
	words[1 + SUPERVISOR_CGROUP] = cgroup ? cgroup : "";
	words[1 + SUPERVISOR_FOLDER] = o->folder;
	memcpy(words + 1 + SUPERVISOR_ARGV, o->argv, count * sizeof(*words));
	return spawn_supervisor(&r->supervisor, (char **)(uintptr_t)words, o->environment, control, output);
}

// Moves a descriptor away from standard input and output, which our own may be closed.
static void lift(int *fd)
{
	if (*fd > STDERR_FILENO)
		return;
	int lifted = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(*fd);
	*fd = lifted;
}

static int start_supervisor(struct run *r, struct err *e)
{
	int control[2], output[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return err_errno(e, ERR_IO, "socketpair");
	CLEANUP(mem_close) int its_control = control[1];
	r->control = control[0];
	if (pipe2(output, O_CLOEXEC) < 0)
		return err_errno(e, ERR_IO, "pipe");
	CLEANUP(mem_close) int its_output = output[1];
	r->output = output[0];
	lift(&its_control);
	lift(&its_output);
	errno = spawn_with_words(r, its_control, its_output);
	return errno ? err_errno(e, ERR_IO, "cannot start a process for %s", r->options->argv[0]) : 0;
}

// --- its output ---

// Reads some output. False if there was none.
static bool read_output(struct run *r)
{
	ssize_t n = read(r->output, r->block + r->carried, BLOCK);
	if (n <= 0) {
		if (n == 0)
			mem_close(&r->output);
		return false;
	}
	run_log_add(r->options->log, (struct str){r->block + r->carried, (size_t)n});
	r->bytes += (uint64_t)n;
	if (r->options->memory) {
		size_t len = r->carried + (size_t)n;
		for (size_t i = 0; i < ARRAY_SIZE(memory_words); i++)
			if (memmem(r->block, len, memory_words[i], strlen(memory_words[i])))
				r->said_at = r->bytes;
		r->carried = len < WORDS_MOST ? len : WORDS_MOST;
		memmove(r->block, r->block + len - r->carried, r->carried);
	}
	return true;
}

// --- until its end ---

static void watch_run(struct run *r)
{
	while (!r->report.is_over) {
		struct pollfd fds[] = {{.fd = r->control, .events = POLLIN}, {.fd = r->output, .events = POLLIN}};
		if (r->options->stop && atomic_load(r->options->stop) && !r->is_asked_to_stop)
			r->is_asked_to_stop = send(r->control, "s", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
		// The program can stop the supervisor, which has the same user. It would never end then.
		siginfo_t info = {.si_pid = 0};
		if (waitid(P_PID, (id_t)r->supervisor, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid)
			kill(r->supervisor, SIGKILL);
		if (poll(fds, 2, POLL_MS) <= 0)
			continue;
		if (fds[1].revents)
			read_output(r);
		if (fds[0].revents && recv(r->control, &r->report, sizeof(r->report), 0) != sizeof(r->report))
			return; // the supervisor is dead
	}
}

// --- the outcome ---

static bool was_out_of_memory(const struct run *r)
{
	if (r->report.out_of_memory)
		return true;
	return r->options->memory && !run_cgroup_base() && r->said_at && r->bytes - r->said_at < NEAR_THE_END;
}

static enum run_end find_end(const struct run *r, int status)
{
	if (r->report.stopped || r->report.timed_out)
		return r->report.stopped ? RUN_STOPPED : RUN_TIMED_OUT;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return RUN_EXITED;
	if (was_out_of_memory(r))
		return RUN_OUT_OF_MEMORY;
	return WIFSIGNALED(status) ? RUN_SIGNALLED : RUN_EXITED;
}

static int fill_outcome(const struct run *r, int supervisor_status, struct run_outcome *out, struct err *e)
{
	int status = r->report.is_over ? r->report.status : supervisor_status;
	if (r->report.error) {
		const struct run_options *o = r->options;
		errno = r->report.error;
		return err_errno(e, ERR_IO, "cannot run %s%s%s", o->argv[0], r->report.in_folder ? " in " : "",
			r->report.in_folder ? o->folder : "");
	}
	if (!r->report.is_over && !WIFSIGNALED(supervisor_status))
		return err_set(e, ERR_IO, "the process that was to run %s ended with %d", r->options->argv[0],
			WEXITSTATUS(supervisor_status));
	out->end = find_end(r, status);
	out->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	out->peak_memory = r->report.peak_memory;
	out->left = r->report.left;
	return 0;
}

static void free_run(struct run **r)
{
	mem_close(&(*r)->control);
	mem_close(&(*r)->output);
	free(*r);
}

int run_program(const struct run_options *options, struct run_outcome *out, struct err *e)
{
	CLEANUP(free_run) struct run *r = xmalloc(sizeof(*r));
	memset(r, 0, offsetof(struct run, block));
	r->options = options;
	r->control = r->output = -1;
	int64_t begin = clock_ms();
	if (start_supervisor(r, e) < 0)
		return -1;
	watch_run(r);
	int status = 0;
	while (waitpid(r->supervisor, &status, 0) < 0 && errno == EINTR)
		;
	if (!r->report.is_over) {
		// The supervisor was killed. The kernel ended the program with it, but not what the program started.
		struct run_cgroup g = {.path = ""};
		if (run_cgroup_base()) {
			run_cgroup_name(&g, run_cgroup_base(), r->supervisor);
			run_cgroup_kill(&g);
			run_cgroup_remove(&g);
		}
		// A process may fork and end while /proc is read, so nothing is found twice.
		for (int i = 0, found_none = 0; i < KILL_ROUNDS && found_none < 2 && r->report.pid > 0; i++) {
			found_none = process_tree_signal_session(r->report.pid, SIGKILL) ? 0 : found_none + 1;
			poll(NULL, 0, KILL_MS);
		}
	}
	// Reads what is still in the pipe. A process that is not below the supervisor could have been handed
	// the other end of it, so the end of the output is not waited for.
	struct pollfd rest = {.fd = r->output, .events = POLLIN};
	int pipe_size = r->output < 0 ? 0 : fcntl(r->output, F_GETPIPE_SZ);
	uint64_t most = r->bytes + (pipe_size > 0 ? (uint64_t)pipe_size : 0);
	while (r->output >= 0 && r->bytes < most && poll(&rest, 1, 0) > 0 && read_output(r))
		;
	*out = (struct run_outcome){.seconds = (double)(clock_ms() - begin) / 1000};
	return fill_outcome(r, status, out, e);
}

const char *run_memory_limit_kind(void)
{
	return run_cgroup_base() ? "the whole group, by cgroup v2"
				 : "each process, by RLIMIT_AS: no cgroup is writable";
}

// --- secrets ---

static bool is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);
	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

void run_hide_secrets(const char *const *variables)
{
	prctl(PR_SET_DUMPABLE, 0);
	for (const char *const *name = variables; *name; name++) {
		for (char **entry = environ; entry && *entry; entry++)
			if (is_variable(*entry, *name))
				explicit_bzero(*entry + strlen(*name) + 1, strlen(*entry) - strlen(*name) - 1);
		unsetenv(*name);
	}
}
