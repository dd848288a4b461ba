// SPDX-License-Identifier: Apache-2.0
#include "lib/os/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/os/clock.h"

extern char **environ;

enum {
	POLL_MS = 20,
	MERCY_MS = 2000,   // between the request to end and the end
	OUTPUT_KEPT = 256, // of its end: the reason mostly stands there
	COMMAND_MOST = 1 << 20,
	NO_PROGRAM = 127, // POSIX, "Consequences of Shell Errors"; posix_spawn() may leave it to the child, too
};

struct output {
	char text[OUTPUT_KEPT];
	size_t len;
};

// --- words ---

bool hook_is_valid(const char *command, const char *letters)
{
	for (const char *at = strchr(command, '%'); at; at = strchr(at + 2, '%'))
		if (!at[1] || (at[1] != '%' && !strchr(letters, at[1])))
			return false;
	return str_trim(str_from(command)).len != 0;
}

static const char *value_of(char letter, const struct hook_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].letter == letter)
			return values[i].text;
	return "%";
}

static char *expand(struct str word, const struct hook_value *values, size_t count)
{
	struct buf out;
	buf_init(&out, COMMAND_MOST);
	for (size_t i = 0; i < word.len; i++)
		if (word.ptr[i] == '%' && i + 1 < word.len)
			buf_puts(&out, value_of(word.ptr[++i], values, count));
		else
			buf_putc(&out, word.ptr[i]);
	return buf_steal(&out);
}

static void free_words(char ***words)
{
	for (char **word = *words; *word; word++)
		free(*word);
	free(*words);
}

static char **split(const char *command, const struct hook_value *values, size_t count)
{
	char **words = NULL;
	size_t used = 0, room = 0;
	for (const char *at = command + strspn(command, " \t"); *at; at += strspn(at, " \t")) {
		size_t len = strcspn(at, " \t");
		GROW(words, used, room);
		words[used++] = expand((struct str){at, len}, values, count);
		at += len;
	}
	GROW(words, used, room);
	words[used] = NULL;
	return words;
}

// --- its output ---

static void keep(struct output *out, const char *bytes, size_t len)
{
	size_t over = out->len + len > OUTPUT_KEPT ? out->len + len - OUTPUT_KEPT : 0;
	memmove(out->text, out->text + over, out->len - over);
	out->len -= over;
	memcpy(out->text + out->len, bytes, len);
	out->len += len;
}

// Waits a little for something to read; *fd is closed at its end. False where nothing came.
static bool read_some(int *fd, struct output *out)
{
	char block[OUTPUT_KEPT / 2];
	struct pollfd wait = {.fd = *fd, .events = POLLIN};
	if (poll(&wait, 1, POLL_MS) <= 0)
		return false;
	ssize_t n = read(*fd, block, sizeof(block));
	if (n > 0)
		keep(out, block, (size_t)n);
	else
		mem_close(fd);
	return n > 0;
}

// One line of plain text.
static struct str plain(struct output *out)
{
	for (size_t i = 0; i < out->len; i++)
		if (out->text[i] < ' ' || out->text[i] > '~')
			out->text[i] = ' ';
	return str_trim((struct str){out->text, out->len});
}

// --- its life ---

static int spawn(char **words, int output, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, usual;
	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE); // a server ignores it
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &usual);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int code = posix_spawnp(pid, words[0], &files, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code;
}

// False where it has not ended in time. What it leaves running in the background may keep the pipe open.
static bool await(pid_t pid, int *fd, const _Atomic int64_t *end_ms, struct output *out, int *status)
{
	for (;;) {
		while (read_some(fd, out) && clock_ms() < atomic_load(end_ms))
			;
		if (waitpid(pid, status, WNOHANG) == pid) {
			while (read_some(fd, out) && clock_ms() < atomic_load(end_ms))
				; // its last words
			return true;
		}
		if (clock_ms() >= atomic_load(end_ms))
			return false;
	}
}

static void end_group(pid_t pid, int *fd, struct output *out)
{
	int status;
	const _Atomic int64_t soon = clock_ms() + MERCY_MS;
	kill(-pid, SIGTERM);
	bool has_ended = await(pid, fd, &soon, out, &status);
	kill(-pid, SIGKILL); // also those that it left
	while (!has_ended && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int tell(const char *name, int status, struct str said, struct err *e)
{
	const char *colon = said.len ? ": " : "";
	if (WIFSIGNALED(status))
		return err_set(e, ERR_IO, "%s was ended by signal %d%s" STR_FMT, name, WTERMSIG(status), colon,
			STR_ARG(said));
	if (WEXITSTATUS(status) == NO_PROGRAM && !said.len)
		return err_set(e, ERR_IO, "cannot run %s: it ended with %d", name, NO_PROGRAM);
	if (WEXITSTATUS(status) != 0)
		return err_set(e, ERR_IO, "%s ended with %d%s" STR_FMT, name, WEXITSTATUS(status), colon,
			STR_ARG(said));
	return 0;
}

int hook_run(const char *command, const struct hook_value *values, size_t count, const _Atomic int64_t *end_ms,
	struct err *e)
{
	CLEANUP(free_words) char **words = split(command, values, count);
	CLEANUP(mem_close) int from = -1;
	struct output out = {.len = 0};
	int pipe_fds[2], status = 0;
	pid_t pid;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_errno(e, ERR_IO, "pipe");
	from = pipe_fds[0];
	errno = spawn(words, pipe_fds[1], &pid);
	close(pipe_fds[1]);
	if (errno)
		return err_errno(e, ERR_IO, "cannot run %s", words[0]);
	if (await(pid, &from, end_ms, &out, &status))
		return tell(words[0], status, plain(&out), e);
	end_group(pid, &from, &out);
	struct str said = plain(&out);
	return err_set(e, ERR_IO, "%s did not end in time and was ended%s" STR_FMT, words[0], said.len ? ": " : "",
		STR_ARG(said));
}
