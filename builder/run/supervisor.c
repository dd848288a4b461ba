// SPDX-License-Identifier: Apache-2.0
#include "builder/run/supervisor.h"

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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/os/clock.h"
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

// --- processes, by /proc ---
//
// The processes below one process, by /proc. A process whose parent has ended is below the nearest subreaper
// (PR_SET_CHILD_SUBREAPER) above it, so a subreaper has everything that it started below itself. One thread.

enum { STAT_MOST = 1024 }; // bytes of /proc/PID/stat that are read; the fields used are at its beginning

struct process {
	pid_t pid, parent, group, session;
	bool is_dead; // a zombie
	bool is_below;
};

struct process_list {
	struct process *items;
	size_t count, room;
};

static void free_list(struct process_list *l)
{
	free(l->items);
}

// Reads proc(5) /proc/PID/stat: "pid (name) state ppid pgrp session ...". The name may have any character.
static bool read_process(int proc, const char *pid, struct process *out)
{
	char path[64], text[STAT_MOST];
	snprintf(path, sizeof(path), "%.20s/stat", pid);
	CLEANUP(mem_close) int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	const char *behind_name = strrchr(text, ')');
	char status;
	int parent, group, session;
	if (!behind_name || sscanf(behind_name + 1, " %c %d %d %d", &status, &parent, &group, &session) != 4)
		return false;
	*out = (struct process){.pid = (pid_t)strtol(pid, NULL, 10),
		.parent = parent,
		.group = group,
		.session = session,
		.is_dead = status == 'Z' || status == 'X'};
	return true;
}

static void read_processes(struct process_list *l)
{
	CLEANUP(fs_close_dir) DIR *proc = opendir("/proc");
	for (const struct dirent *d; proc && (d = readdir(proc));) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		GROW(l->items, l->count, l->room);
		l->count += read_process(dirfd(proc), d->d_name, &l->items[l->count]);
	}
}

static bool is_child_of_marked(const struct process_list *l, const struct process *p, pid_t root)
{
	if (p->parent == root)
		return true;
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].is_below && l->items[i].pid == p->parent)
			return true;
	return false;
}

// Sends the signal to all processes below root, and to their process groups. Returns how many were still running. If
// /proc cannot be read: only to the group `group`, and 0.
static unsigned process_tree_signal(pid_t root, pid_t group, int signal)
{
	CLEANUP(free_list) struct process_list l = {NULL, 0, 0};
	unsigned running = 0;
	read_processes(&l);
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < l.count; i++)
			if (!l.items[i].is_below && is_child_of_marked(&l, &l.items[i], root))
				again = l.items[i].is_below = true;
	}
	if (!l.count)
		kill(-group, signal);
	for (size_t i = 0; i < l.count; i++) {
		const struct process *p = &l.items[i];
		if (!p->is_below || p->is_dead)
			continue;
		running++;
		kill(p->pid, signal);
		if (p->pid == p->group) // the whole group at once: no process of it can fork meanwhile
			kill(-p->group, signal);
	}
	return running;
}

unsigned process_tree_signal_session(pid_t session, int signal)
{
	CLEANUP(free_list) struct process_list l = {NULL, 0, 0};
	unsigned running = 0;
	read_processes(&l);
	for (size_t i = 0; i < l.count; i++)
		if (l.items[i].session == session && !l.items[i].is_dead) {
			kill(l.items[i].pid, signal);
			running++;
		}
	return running;
}

enum {
	TERM_MS = 2000,  // between SIGTERM and SIGKILL
	AGAIN_MS = 10,   // between two rounds of SIGKILL
	GONE_MS = 60000, // after that, what SIGKILL does not end (a process that hangs in the kernel) is left to it
	CANNOT_START = 127,
};

// The kernel ends the program before us if the machine runs out of memory (proc(5), oom_score_adj).
#define OOM_SCORE "500"

struct supervision {
	int control, signals, start_error; // descriptors; control -1: our caller is dead
	pid_t pid;                         // of the program
	uint64_t memory;
	bool setuid_works;
	const char *folder;
	char **argv;
	struct run_cgroup cgroup;
	bool has_ended;
	struct supervisor_report report;
};

// What the program's process writes into a pipe if it cannot start the program.
struct start_error {
	int error;
	bool in_folder;
};

static void tell(const struct supervision *s, const struct supervisor_report *report)
{
	if (s->control >= 0 && send(s->control, report, sizeof(*report), MSG_NOSIGNAL) < 0)
		return; // our caller is dead
}

// --- the process of the program, before it is one ---

static void become_program(const struct supervision *s, pid_t parent, int errors)
{
	const struct supervisor_report begins = {.pid = getpid()};
	struct start_error failed = {0, false};
	bool is_in_cgroup = run_cgroup_join(&s->cgroup);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CANNOT_START);
	// With 1, neither a file nor a pipe gets a core (core(5)); with 0 a pipe still would.
	const struct rlimit core = {1, 1}, space = {s->memory, s->memory};
	setrlimit(RLIMIT_CORE, &core);
	if (s->memory && !is_in_cgroup)
		setrlimit(RLIMIT_AS, &space);
	if (!s->setuid_works)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	// Signals have their default actions already, since posix_spawn() set these.
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	tell(s, &begins); // before the program can kill the supervisor
	if (chdir(s->folder) < 0)
		failed = (struct start_error){errno, true};
	else {
		execvp(s->argv[0], s->argv);
		failed.error = errno;
	}
	_exit(write(errors, &failed, sizeof(failed)) > 0 ? CANNOT_START : CANNOT_START + 1);
}

// --- starting it ---

// Writes a number into our oom_score_adj, which a child inherits. Returns the one before.
static void set_oom_score(int fd, const char *number)
{
	if (pwrite(fd, number, strlen(number), 0) < 0)
		return; // without it the kernel chooses by size alone
}

static void start_program(struct supervision *s)
{
	char before[16] = "0";
	int errors[2];
	pid_t self = getpid();
	CLEANUP(mem_close) int score = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	ssize_t n = pread(score, before, sizeof(before) - 1, 0);
	before[n > 0 ? n : 1] = '\0';
	if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) < 0) {
		s->report.error = errno;
		return;
	}
	set_oom_score(score, OOM_SCORE);
	s->pid = fork();
	s->report = (struct supervisor_report){.pid = s->pid, .error = s->pid < 0 ? errno : 0};
	if (s->pid == 0)
		become_program(s, self, errors[1]);
	set_oom_score(score, before);
	prctl(PR_SET_DUMPABLE, 0); // the program cannot trace us
	close(errors[1]);
	s->start_error = errors[0];
}

// --- watching it ---

// Collects processes that have ended. False if none is left.
static bool reap(struct supervision *s)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == s->pid) {
			s->has_ended = true;
			s->report.status = status;
		}
	return pid == 0;
}

// Waits for a signal, a message or the end of our caller, or ms. Returns the message, or 0; at the end of our caller
// control becomes -1.
static char wait_for_something(struct supervision *s, int64_t ms)
{
	struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->control, .events = POLLIN}};
	struct signalfd_siginfo ended;
	char message = 0;
	if (poll(fds, 2, ms > INT32_MAX ? INT32_MAX : (int)ms) <= 0)
		return 0;
	if (fds[0].revents && read(s->signals, &ended, sizeof(ended)) < 0)
		return 0;
	if (fds[1].revents && recv(s->control, &message, 1, MSG_DONTWAIT) <= 0 && errno != EAGAIN)
		mem_close(&s->control);
	return message;
}

// Runs until the program's process has ended, or our caller has.
static void watch(struct supervision *s, uint64_t seconds)
{
	int64_t end = seconds && seconds < INT32_MAX ? clock_ms() + (int64_t)seconds * 1000 : INT64_MAX;
	int64_t give_up = INT64_MAX;
	while (reap(s), !s->has_ended && s->control >= 0 && clock_ms() < give_up) {
		int64_t now = clock_ms();
		bool is_ending = give_up != INT64_MAX;
		if (!is_ending && (s->report.stopped || now >= end)) {
			s->report.timed_out = !s->report.stopped;
			if (kill(-s->pid, SIGTERM) < 0)
				kill(s->pid, SIGTERM); // it has no group yet
			end = now + TERM_MS;
			give_up = end + GONE_MS;
		} else if (now >= end) {
			process_tree_signal(getpid(), s->pid, SIGKILL);
			run_cgroup_kill(&s->cgroup);
			end = now + AGAIN_MS;
		}
		if (wait_for_something(s, end - now) && give_up == INT64_MAX)
			s->report.stopped = true;
	}
}

// --- the report ---

static void supervise(struct supervision *s, uint64_t seconds)
{
	start_program(s);
	if (!s->report.error) {
		watch(s, seconds);
		// Ends everything that is below us. A process that forks and ends while /proc is read is found in the
		// next round only, so that the cgroup, which counts nothing, is ended after the second one.
		int64_t give_up = clock_ms() + GONE_MS;
		for (int round = 0; reap(s) && clock_ms() < give_up; round++) {
			unsigned running = process_tree_signal(getpid(), s->pid, SIGKILL);
			if (running > s->report.left)
				s->report.left = running;
			if (round)
				run_cgroup_kill(&s->cgroup);
			wait_for_something(s, AGAIN_MS);
		}
		struct start_error failed;
		struct rusage usage;
		if (read(s->start_error, &failed, sizeof(failed)) == sizeof(failed)) {
			s->report.error = failed.error;
			s->report.in_folder = failed.in_folder;
		}
		getrusage(RUSAGE_CHILDREN, &usage);
		s->report.peak_memory = run_cgroup_peak(&s->cgroup);
		if (!s->report.peak_memory)
			s->report.peak_memory = (uint64_t)usage.ru_maxrss * 1024;
		s->report.out_of_memory = run_cgroup_was_out_of_memory(&s->cgroup);
	}
	s->report.is_over = true;
	run_cgroup_remove(&s->cgroup);
	tell(s, &s->report);
}

// --- the beginning ---

// Standard input is the socket. The program gets /dev/null there, and no other descriptor.
static bool take_socket(struct supervision *s)
{
	int kind = 0;
	socklen_t len = sizeof(kind);
	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &len) < 0 || kind != SOCK_SEQPACKET)
		return false;
	closefrom(STDERR_FILENO + 1);
	s->control = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	CLEANUP(mem_close) int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return s->control >= 0 && dup2(nothing, STDIN_FILENO) == STDIN_FILENO;
}

// Blocks all signals: only SIGKILL ends a supervisor before its work is done.
static bool watch_signals(struct supervision *s)
{
	sigset_t all, child;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	s->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->signals >= 0;
}

int supervisor_main(int argc, char **argv)
{
	struct supervision s = {.control = -1};
	if (argc <= SUPERVISOR_ARGV || !take_socket(&s)) {
		fputs("wheelcache " SUPERVISOR_COMMAND " is for \"wheelcache build\" only\n", stderr);
		return 2;
	}
	uint64_t seconds = strtoull(argv[SUPERVISOR_SECONDS], NULL, 10);
	s.memory = strtoull(argv[SUPERVISOR_MEMORY], NULL, 10);
	s.setuid_works = *argv[SUPERVISOR_SETUID] == '1';
	s.folder = argv[SUPERVISOR_FOLDER];
	s.argv = argv + SUPERVISOR_ARGV;
	if (*argv[SUPERVISOR_CGROUP] && !run_cgroup_make(&s.cgroup, argv[SUPERVISOR_CGROUP], getpid(), s.memory))
		return 2;
	if (!watch_signals(&s) || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return 2;
	supervise(&s, seconds);
	return 0;
}
