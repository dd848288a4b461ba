// SPDX-License-Identifier: Apache-2.0
#include "builder/run/run.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY = 65534 };

static bool child_can_read(const char *name, const char *secret)
{
	pid_t parent = getpid(), child = fork();
	if (child == 0) {
		char path[64], text[1 << 16];
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)parent, name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text), secret ? (off_t)(uintptr_t)secret : 0);
		_exit(n > 0 && memmem(text, (size_t)n, "the-token", 9) ? 1 : 0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

// Run as an ordinary user in a process of its own, whose environment has had a secret from its start.
static int hide_secrets_main(void)
{
	const char *secret = getenv("SECRET");
	char copy[] = "the-token";
	prctl(PR_SET_DUMPABLE, 1);
	if (!child_can_read("environ", NULL) || !child_can_read("mem", copy))
		return 77; // this kernel hides it anyway
	run_hide_secrets((const char *const[]){"SECRET", "ABSENT", NULL});
	if (memcmp(secret, "\0\0\0", 3) != 0 || getenv("SECRET"))
		return 11;
	return child_can_read("environ", NULL) || child_can_read("mem", copy) ? 12 : 0;
}

static void test_secrets_are_hidden(void **state UNUSED)
{
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
			_exit(77);
		char program[] = "/proc/self/exe", mode[] = "hide-secrets", secret[] = "SECRET=the-token";
		execve(program, (char *[]){program, mode, NULL}, (char *[]){secret, NULL});
		_exit(77);
	}
	int status = 0;
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		print_message("other processes cannot read this one here, or it cannot become another user\n");
		skip();
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1) {
		print_message("under valgrind /proc/self/exe is valgrind\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "hide-secrets") == 0)
		return hide_secrets_main();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secrets_are_hidden),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
