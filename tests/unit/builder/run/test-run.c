// SPDX-License-Identifier: Apache-2.0
#include "builder/run/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "builder/run/supervisor.h"
#include "lib/os/clock.h"

enum {
	PATIENCE_MS = 60000,
	LOG_LIMIT = 1 << 20,
	MEMORY = 400 << 20,
	AT_ONCE = 8,
};

static char folder[32];
static char marker[64]; // a variable of all programs that the tests run

// One run: its words, its options, and what came of it.
struct sample {
	const char *words[5];
	const char *variable; // one more
	struct run_options options;
	struct run_outcome outcome;
	char *log;
	struct err e;
	int result;
};

static void free_sample(struct sample *s)
{
	free(s->log);
}

static void run_sample(struct sample *s)
{
	char path[64];
	CLEANUP(run_log_cleanup) struct run_log *log = NULL;
	const char *environment[] = {"PATH=/usr/bin:/bin", marker, s->variable, NULL};
	snprintf(path, sizeof(path), "%s/log-%p", folder, (void *)s);
	assert_int_equal(run_log_open(path, LOG_LIMIT, &log, &s->e), 0);
	s->options.argv = s->words;
	s->options.log = log;
	s->options.environment = environment;
	s->options.folder = s->options.folder ? s->options.folder : folder;
	s->options.seconds = s->options.seconds ? s->options.seconds : PATIENCE_MS / 1000;
	s->result = run_program(&s->options, &s->outcome, &s->e);
	struct buf text;
	buf_init(&text, 2 * LOG_LIMIT);
	assert_int_equal(run_log_text(log, &text, &s->e), 0);
	s->log = buf_steal(&text);
	unlink(path);
}

#define SHELL(text)                                                                                                    \
	{                                                                                                              \
		.words = { "sh", "-c", text }                                                                          \
	}
#define PYTHON(text)                                                                                                   \
	{                                                                                                              \
		.words = { "python3", "-c", text }                                                                     \
	}

static void assert_end(const struct sample *s, enum run_end end, int code)
{
	if (s->result < 0)
		fail_msg("%s: %s", s->words[2], s->e.msg);
	if (s->outcome.end != end || s->outcome.code != code)
		fail_msg("%s: end %d, code %d, log %s", s->words[2], (int)s->outcome.end, s->outcome.code, s->log);
}

// Counts the processes that have the marker in their environment.
static unsigned count_marked(void)
{
	unsigned count = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *d; (d = readdir(proc));) {
		char path[300], text[4096];
		snprintf(path, sizeof(path), "/proc/%s/environ", d->d_name);
		int fd = d->d_name[0] >= '1' && d->d_name[0] <= '9' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));
		count += n > 0 && memmem(text, (size_t)n, marker, strlen(marker));
		if (fd >= 0)
			close(fd);
	}
	closedir(proc);
	return count;
}

static void wait_until_marked(bool are_there)
{
	int64_t end = clock_ms() + PATIENCE_MS;
	while ((count_marked() > 0) != are_there && clock_ms() < end)
		usleep(20000);
	assert_int_equal(count_marked() > 0, are_there);
}

// --- how a program ends ---

static void test_exit_codes_and_signals(void **state UNUSED)
{
	struct {
		struct sample sample;
		enum run_end end;
		int code;
	} row[] = {
		{SHELL("exit 0"), RUN_EXITED, 0},
		{SHELL("echo out; echo err >&2; exit 7"), RUN_EXITED, 7},
		{SHELL("kill -9 $$"), RUN_SIGNALLED, SIGKILL},
		{SHELL("kill -6 $$"), RUN_SIGNALLED, SIGABRT},
		{SHELL("kill -11 $$"), RUN_SIGNALLED, SIGSEGV},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(free_sample) struct sample s = row[i].sample;
		run_sample(&s);
		assert_end(&s, row[i].end, row[i].code);
		assert_int_equal(s.outcome.left, 0);
		assert_string_equal(s.log, i == 1 ? "out\nerr\n" : "");
	}
}

static void test_what_cannot_be_started(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample program = {.words = {"/nowhere/cc"}};
	run_sample(&program);
	assert_int_equal(program.result, -1);
	assert_int_equal(program.e.kind, ERR_IO);
	assert_string_equal(program.e.msg, "cannot run /nowhere/cc: No such file or directory");
	CLEANUP(free_sample) struct sample place = {.words = {"true"}, .options.folder = "/nowhere"};
	run_sample(&place);
	assert_int_equal(place.result, -1);
	assert_string_equal(place.e.msg, "cannot run true in /nowhere: No such file or directory");
}

static void test_path_is_that_of_its_environment(void **state UNUSED)
{
	char path[64], variable[64];
	snprintf(path, sizeof(path), "%s/only-here", folder);
	snprintf(variable, sizeof(variable), "PATH=%s", folder);
	FILE *script = fopen(path, "w");
	fputs("#!/bin/sh\necho found in $PWD\n", script);
	fchmod(fileno(script), 0755);
	fclose(script);
	char log_path[64];
	snprintf(log_path, sizeof(log_path), "%s/log", folder);
	struct err e = ERR_INIT;
	CLEANUP(run_log_cleanup) struct run_log *log = NULL;
	assert_int_equal(run_log_open(log_path, LOG_LIMIT, &log, &e), 0);
	struct run_options o = {.argv = (const char *const[]){"only-here", NULL},
		.environment = (const char *const[]){variable, NULL},
		.folder = "/",
		.log = log};
	struct run_outcome outcome;
	assert_int_equal(run_program(&o, &outcome, &e), 0);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LOG_LIMIT);
	assert_int_equal(run_log_text(log, &text, &e), 0);
	assert_string_equal(text.data, "found in /\n");
	unlink(path);
	unlink(log_path);
}

// --- what it inherits ---

static void test_it_inherits_nothing(void **state UNUSED)
{
	int open_fd = open("/", O_RDONLY); // without O_CLOEXEC
	setenv("OF_THE_PARENT", "x", 1);
	CLEANUP(free_sample)
	struct sample s = SHELL("readlink /proc/self/fd/0; ls /proc/self/fd | wc -l; ulimit -c;"
				"grep NoNewPrivs /proc/self/status; env | grep -Ev '^(PWD|SHLVL|_)=' | sort");
	s.variable = "ONE=1";
	run_sample(&s);
	assert_end(&s, RUN_EXITED, 0);
	char expected[256]; // `ls` itself opens the folder
	snprintf(expected, sizeof(expected), "/dev/null\n4\n0\nNoNewPrivs:\t1\nONE=1\nPATH=/usr/bin:/bin\n%s\n",
		marker);
	assert_string_equal(s.log, expected);
	close(open_fd);
	unsetenv("OF_THE_PARENT");
}

static void test_setuid_programs_work_if_asked(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample s = SHELL("grep NoNewPrivs /proc/self/status");
	s.options.setuid_works = true;
	run_sample(&s);
	assert_string_equal(s.log, "NoNewPrivs:\t0\n");
}

static void test_it_has_a_session_of_its_own(void **state UNUSED)
{
	CLEANUP(free_sample)
	struct sample s = PYTHON("import os; p = os.getpid()\n"
				 "print(os.getsid(0) == p, os.getpgid(0) == p, os.getppid() == 1)");
	run_sample(&s);
	assert_string_equal(s.log, "True True False\n");
}

// Signals that a thread of ours blocks or ignores are neither for the program.
static void test_signals_are_as_usual(void **state UNUSED)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	signal(SIGPIPE, SIG_IGN);
	CLEANUP(free_sample)
	struct sample s = PYTHON("for line in open('/proc/self/status'):\n"
				 "    if line[:6] in ('SigBlk', 'ShdPnd'):\n"
				 "        print(line[:6], int(line[7:], 16))");
	run_sample(&s);
	assert_string_equal(s.log, "ShdPnd 0\nSigBlk 0\n");
	CLEANUP(free_sample) struct sample writer = SHELL("(seq 100000; echo $? >&2) | true");
	run_sample(&writer);
	assert_string_equal(writer.log, "141\n"); // SIGPIPE
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// --- limits ---

static void test_time_limit(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample polite = SHELL("trap 'echo bye; exit 3' TERM; sleep 1000 & wait");
	polite.options.seconds = 1;
	run_sample(&polite);
	assert_end(&polite, RUN_TIMED_OUT, 3);
	assert_string_equal(polite.log, "bye\n");
	CLEANUP(free_sample) struct sample stubborn = SHELL("trap '' TERM; while :; do sleep 1; done");
	stubborn.options.seconds = 1;
	run_sample(&stubborn);
	assert_end(&stubborn, RUN_TIMED_OUT, SIGKILL);
	assert_true(stubborn.outcome.seconds >= 3);
	assert_int_equal(count_marked(), 0);
}

static void *set_soon(void *flag)
{
	wait_until_marked(true);
	atomic_store((atomic_bool *)flag, true);
	return NULL;
}

static void test_stop_flag(void **state UNUSED)
{
	atomic_bool stop = false;
	pthread_t thread;
	CLEANUP(free_sample) struct sample s = SHELL("sleep 1000 & sleep 1000");
	s.options.stop = &stop;
	pthread_create(&thread, NULL, set_soon, &stop);
	run_sample(&s);
	pthread_join(thread, NULL);
	assert_end(&s, RUN_STOPPED, SIGTERM);
	assert_int_equal(count_marked(), 0);
}

static void test_flood_of_output(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample s = SHELL("echo begin; head -c 1073741824 /dev/zero; echo end");
	s.options.seconds = 10 * PATIENCE_MS / 1000;
	run_sample(&s);
	assert_end(&s, RUN_EXITED, 0);
	assert_memory_equal(s.log, "begin\n", 6);
}

static void test_memory_limit(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample eater = PYTHON("x = []\nwhile True: x.append(bytearray(1 << 24))");
	eater.options.memory = MEMORY;
	run_sample(&eater);
	assert_int_equal(eater.outcome.end, RUN_OUT_OF_MEMORY);
	assert_true(eater.outcome.peak_memory > MEMORY / 2 && eater.outcome.peak_memory <= MEMORY);
	CLEANUP(free_sample) struct sample modest = PYTHON("x = bytearray(1 << 24); raise SystemExit(5)");
	modest.options.memory = MEMORY;
	run_sample(&modest);
	assert_end(&modest, RUN_EXITED, 5);
	CLEANUP(free_sample) struct sample unlimited = PYTHON("x = bytearray(b'x') * (500 << 20)");
	run_sample(&unlimited);
	assert_end(&unlimited, RUN_EXITED, 0);
	assert_true(unlimited.outcome.peak_memory > 500 << 20);
	assert_non_null(strstr(run_memory_limit_kind(), " by "));
}

// Each process is below the limit, and all together are not.
static void test_memory_limit_of_the_group(void **state UNUSED)
{
	if (strncmp(run_memory_limit_kind(), "the whole group", 15) != 0) {
		print_message("no cgroup is writable here\n");
		skip();
	}
	CLEANUP(free_sample)
	struct sample s = SHELL("for i in 1 2 3; do python3 -c 'x = bytearray(b\"x\") * (200 << 20); "
				"import time; time.sleep(1000)' & done; wait");
	s.options.memory = MEMORY;
	run_sample(&s);
	assert_int_equal(s.outcome.end, RUN_OUT_OF_MEMORY);
	assert_true(s.outcome.peak_memory > MEMORY / 2 && s.outcome.peak_memory <= MEMORY);
}

// --- what it leaves behind ---

static void test_processes_in_the_background(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample s = SHELL("for i in $(seq 200); do sleep 1000 & done");
	run_sample(&s);
	assert_end(&s, RUN_EXITED, 0);
	assert_int_equal(s.outcome.left, 200);
	assert_int_equal(count_marked(), 0);
}

// Each process forks until there are 256, in sessions of their own.
static void test_bounded_fork_bomb(void **state UNUSED)
{
	CLEANUP(free_sample)
	struct sample s = PYTHON("import os, time\n"
				 "for i in range(8):\n"
				 "    if os.fork() == 0: os.setsid()\n"
				 "time.sleep(1000)\n");
	s.options.seconds = 2;
	run_sample(&s);
	assert_int_equal(s.outcome.end, RUN_TIMED_OUT);
	assert_in_range(s.outcome.left, 100, 255);
	assert_int_equal(count_marked(), 0);
}

static const char detached[] = "import os, signal, time\n"
			       "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
			       "if os.fork(): os._exit(0)\n"
			       "os.setsid()\n"
			       "if os.fork(): os._exit(0)\n"
			       "os.closerange(0, 100); os.chdir('/')\n"
			       "time.sleep(1000)\n";

static void test_daemon(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample s = {.words = {"python3", "-c", detached}};
	run_sample(&s);
	assert_end(&s, RUN_EXITED, 0);
	assert_true(s.outcome.left >= 1);
	assert_int_equal(count_marked(), 0);
}

// The supervisor of a program is killed by it. The kernel and run_program() then end what is in its session.
static void test_supervisor_is_killed(void **state UNUSED)
{
	for (int i = 0; i < 10; i++) {
		CLEANUP(free_sample)
		struct sample s = SHELL("sleep 1000 & kill -9 $PPID; while :; do sleep 0.01 & done");
		run_sample(&s);
		assert_end(&s, RUN_SIGNALLED, SIGKILL);
		wait_until_marked(false);
	}
}

static void test_supervisor_is_stopped(void **state UNUSED)
{
	CLEANUP(free_sample) struct sample s = SHELL("kill -STOP $PPID; sleep 1000");
	run_sample(&s);
	assert_end(&s, RUN_SIGNALLED, SIGKILL);
	wait_until_marked(false);
}

static void test_parent_is_killed(void **state UNUSED)
{
	pid_t parent = fork();
	if (parent == 0) {
		struct sample s = {.words = {"sh", "-c", "python3 -c \"$CODE\"; sleep 1000"}};
		char code[sizeof(detached) + 8];
		snprintf(code, sizeof(code), "CODE=%s", detached);
		s.variable = code;
		run_sample(&s);
		_exit(0);
	}
	wait_until_marked(true);
	usleep(300000); // it has detached, or has not yet
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	wait_until_marked(false);
}

static void *run_in_thread(void *sample)
{
	run_sample(sample);
	return NULL;
}

static void test_eight_at_once(void **state UNUSED)
{
	struct sample s[AT_ONCE];
	pthread_t thread[AT_ONCE];
	for (int i = 0; i < AT_ONCE; i++) {
		s[i] = (struct sample)SHELL("sleep 1000 & for i in 1 2 3 4 5; do sleep 0.1; echo $i; done; exit 9");
		pthread_create(&thread[i], NULL, run_in_thread, &s[i]);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		pthread_join(thread[i], NULL);
		assert_end(&s[i], RUN_EXITED, 9);
		assert_string_equal(s[i].log, "1\n2\n3\n4\n5\n");
		assert_int_equal(s[i].outcome.left, 1);
		free_sample(&s[i]);
	}
	assert_int_equal(count_marked(), 0);
}

static int make_folder(void **state UNUSED)
{
	snprintf(folder, sizeof(folder), "/tmp/run-XXXXXX");
	snprintf(marker, sizeof(marker), "RUN_TEST=%d", (int)getpid());
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes_and_signals),
		cmocka_unit_test(test_what_cannot_be_started),
		cmocka_unit_test(test_path_is_that_of_its_environment),
		cmocka_unit_test(test_it_inherits_nothing),
		cmocka_unit_test(test_setuid_programs_work_if_asked),
		cmocka_unit_test(test_it_has_a_session_of_its_own),
		cmocka_unit_test(test_signals_are_as_usual),
		cmocka_unit_test(test_time_limit),
		cmocka_unit_test(test_stop_flag),
		cmocka_unit_test(test_flood_of_output),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_memory_limit_of_the_group),
		cmocka_unit_test(test_processes_in_the_background),
		cmocka_unit_test(test_bounded_fork_bomb),
		cmocka_unit_test(test_daemon),
		cmocka_unit_test(test_supervisor_is_killed),
		cmocka_unit_test(test_supervisor_is_stopped),
		cmocka_unit_test(test_parent_is_killed),
		cmocka_unit_test(test_eight_at_once),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
