// SPDX-License-Identifier: Apache-2.0
#include "lib/os/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"

extern char **environ;

enum {
	POLL_MS = 20,
	KILL_MS = 2000,    // between SIGTERM and SIGKILL
	OUTPUT_KEPT = 256, // bytes of the end of its output, where the reason usually is
	COMMAND_MOST = 1 << 20,
	NO_PROGRAM = 127, // the exit code of a shell (POSIX) and of posix_spawn()'s child if there is no such program
};

struct output {
	char text[OUTPUT_KEPT];
	size_t len;
	struct buf *whole; // gets all of it instead; NULL: nobody wants it
};

// --- words ---

bool hook_is_valid(const char *command, const char *letters)
{
	for (const char *at = strchr(command, '%'); at; at = strchr(at + 2, '%'))
		if (!at[1] || (at[1] != '%' && !strchr(letters, at[1])))
			return false;
	return str_trim(str_from(command)).len != 0;
}

bool hook_uses(const char *command, char letter)
{
	for (const char *at = strchr(command, '%'); at && at[1]; at = strchr(at + 2, '%'))
		if (at[1] == letter)
			return true;
	return false;
}

static const char *value_of_letter(char letter, const struct hook_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].letter == letter)
			return values[i].text;
	return "%";
}

static char *expand_word(struct str word, const struct hook_value *values, size_t count)
{
	struct buf out = buf_up_to(COMMAND_MOST);
	for (size_t i = 0; i < word.len; i++)
		if (word.ptr[i] == '%' && i + 1 < word.len)
			buf_puts(&out, value_of_letter(word.ptr[++i], values, count));
		else
			buf_putc(&out, word.ptr[i]);
	return buf_steal(&out);
}

void hook_free_words(char ***words)
{
	for (char **word = *words; word && *word; word++)
		free(*word);
	free(*words);
	*words = NULL;
}

char **hook_words(const char *command, const struct hook_value *values, size_t count)
{
	char **words = NULL;
	size_t used = 0, room = 0;
	for (const char *at = command + strspn(command, " \t"); *at; at += strspn(at, " \t")) {
		size_t len = strcspn(at, " \t");
		GROW(words, used, room);
		words[used++] = expand_word((struct str){at, len}, values, count);
		at += len;
	}
	GROW(words, used, room);
	words[used] = NULL;
	return words;
}

// --- the environment ---

static bool is_replaced(const char *entry, const char *const *variables)
{
	size_t name = strcspn(entry, "=") + 1;
	for (; *variables; variables++)
		if (strncmp(entry, *variables, name) == 0)
			return true;
	return false;
}

// An array whose strings are borrowed; the caller frees it.
static const char **merge_environment(const char *const *variables)
{
	const char **all = NULL;
	size_t used = 0, room = 0;
	for (char **entry = environ; entry && *entry; entry++) {
		if (is_replaced(*entry, variables))
			continue;
		GROW(all, used, room);
		all[used++] = *entry;
	}
	for (; *variables; variables++) {
		GROW(all, used, room);
		all[used++] = *variables;
	}
	GROW(all, used, room);
	all[used] = NULL;
	return all;
}

// --- output ---

static void append_output(struct output *out, const char *bytes, size_t len)
{
	if (out->whole) {
		buf_add(out->whole, bytes, len);
		return;
	}
	size_t over = out->len + len > OUTPUT_KEPT ? out->len + len - OUTPUT_KEPT : 0;
	memmove(out->text, out->text + over, out->len - over);
	out->len -= over;
	memcpy(out->text + out->len, bytes, len);
	out->len += len;
}

// Reads some output, after waiting up to POLL_MS for it. At the end of the output it closes *fd. False if nothing came.
static bool read_some(int *fd, struct output *out)
{
	char block[OUTPUT_KEPT / 2];
	struct pollfd wait = {.fd = *fd, .events = POLLIN};
	if (poll(&wait, 1, POLL_MS) <= 0)
		return false;
	ssize_t n = read(*fd, block, sizeof(block));
	if (n > 0)
		append_output(out, block, (size_t)n);
	else
		mem_close(fd);
	return n > 0;
}

// Makes the output one line of printable text.
static struct str as_one_line(struct output *out)
{
	for (size_t i = 0; i < out->len; i++)
		if (out->text[i] < ' ' || out->text[i] > '~')
			out->text[i] = ' ';
	return str_trim((struct str){out->text, out->len});
}

// --- the process ---

static int spawn(char **words, const char *const *variables, int output, bool takes_errors, pid_t *pid)
{
	static const char *const none[] = {NULL};
	CLEANUP(mem_free) const char **environment = merge_environment(variables ? variables : none);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t empty, defaults;
	sigemptyset(&empty);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE); // the server ignores it
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	if (takes_errors)
		posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigmask(&attr, &empty);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	int code = posix_spawnp(pid, words[0], &files, &attr, words, (char **)(void *)environment);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return code;
}

// Waits for the process and reads its output. False if it has not ended in time. It does not wait for the end of the
// output: a process in the background may keep the pipe open.
static bool wait_for_process(pid_t pid, int *fd, const _Atomic int64_t *end_ms, struct output *out, int *status)
{
	for (;;) {
		while (read_some(fd, out) && clock_ms() < atomic_load(end_ms))
			;
		if (waitpid(pid, status, WNOHANG) == pid) {
			while (read_some(fd, out) && clock_ms() < atomic_load(end_ms))
				; // the rest of its output
			return true;
		}
		if (clock_ms() >= atomic_load(end_ms))
			return false;
	}
}

static void end_group(pid_t pid, int *fd, struct output *out)
{
	int status;
	const _Atomic int64_t kill_at = clock_ms() + KILL_MS;
	kill(-pid, SIGTERM);
	bool has_ended = wait_for_process(pid, fd, &kill_at, out, &status);
	kill(-pid, SIGKILL); // also its processes in the background
	while (!has_ended && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static int report_status(const char *name, int status, struct str last_output, struct err *e)
{
	const char *colon = last_output.len ? ": " : "";
	if (WIFSIGNALED(status))
		return err_set(e, ERR_IO, "%s was ended by signal %d%s" STR_FMT, name, WTERMSIG(status), colon,
			STR_ARG(last_output));
	if (WEXITSTATUS(status) == NO_PROGRAM && !last_output.len)
		return err_set(e, ERR_IO, "cannot run %s: it ended with %d", name, NO_PROGRAM);
	if (WEXITSTATUS(status) != 0)
		return err_set(e, ERR_IO, "%s ended with %d%s" STR_FMT, name, WEXITSTATUS(status), colon,
			STR_ARG(last_output));
	return 0;
}

static int run_words(char **words, const char *const *variables, const _Atomic int64_t *end_ms, struct buf *whole,
	struct err *e)
{
	CLEANUP(mem_close) int from = -1;
	struct output out = {.whole = whole};
	int pipe_fds[2], status = 0;
	pid_t pid;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_errno(e, ERR_IO, "pipe");
	from = pipe_fds[0];
	errno = spawn(words, variables, pipe_fds[1], !whole, &pid);
	close(pipe_fds[1]);
	if (errno)
		return err_errno(e, ERR_IO, "cannot run %s", words[0]);
	if (wait_for_process(pid, &from, end_ms, &out, &status))
		return report_status(words[0], status, as_one_line(&out), e);
	end_group(pid, &from, &out);
	struct str last_output = as_one_line(&out);
	return err_set(e, ERR_IO, "%s did not end in time and was ended%s" STR_FMT, words[0],
		last_output.len ? ": " : "", STR_ARG(last_output));
}

int hook_run(const char *command, const struct hook_value *values, size_t count, const char *const *variables,
	const _Atomic int64_t *end_ms, struct err *e)
{
	CLEANUP(hook_free_words) char **words = hook_words(command, values, count);
	return run_words(words, variables, end_ms, NULL, e);
}

int hook_read(const char *command, const _Atomic int64_t *end_ms, struct buf *out, struct err *e)
{
	CLEANUP(hook_free_words) char **words = hook_words(command, NULL, 0);
	if (run_words(words, NULL, end_ms, out, e) < 0)
		return -1;
	return out->failed ? err_set(e, ERR_LIMIT, "%s prints more than %zu bytes", words[0], out->cap) : 0;
}

// --- on-change ---

struct queued_hook {
	const char *command, *about, *project;
	struct hook_value *value;
	size_t values;
	const char **variable; // NULL at the end, after a place for WHEELCACHE_CHANGES
	size_t variables;
	struct buf changes; // a line each
	size_t joined;      // number of changes
	struct arena text;  // of all else
};

struct hook_queue {
	const char *section;
	pthread_mutex_t lock; // of all that follows
	pthread_cond_t changed;
	struct queued_hook *queue[HOOK_QUEUE_MOST]; // a ring
	size_t first, count;
	size_t dropped; // commands, in all
	bool has_thread, is_ending;
	pthread_t thread;
	int64_t last_ms;         // while it ends: when the last command is ended
	_Atomic int64_t ends_ms; // of the running command
};

// --- one command ---

static void free_hook(struct queued_hook *q)
{
	buf_release(&q->changes);
	arena_release(&q->text);
	free(q);
}

// The newer one takes the lines of the older one, which it replaces.
static void join_hooks(struct queued_hook *newer, struct queued_hook *older)
{
	if (older->joined < HOOK_QUEUE_JOINED)
		buf_str(&older->changes, buf_view(&newer->changes));
	newer->joined += older->joined;
	struct buf lines = older->changes;
	older->changes = newer->changes;
	newer->changes = lines;
}

// --- the queue ---

// Waits for a command. NULL: the thread ends. Under the lock.
static struct queued_hook *take_hook(struct hook_queue *h)
{
	while (!h->count && !h->is_ending)
		pthread_cond_wait(&h->changed, &h->lock);
	if (!h->count)
		return NULL;
	struct queued_hook *c = h->queue[h->first];
	h->first = (h->first + 1) % HOOK_QUEUE_MOST;
	h->count--;
	int64_t ends = clock_ms() + HOOK_QUEUE_SECONDS * 1000LL;
	atomic_store(&h->ends_ms, h->is_ending && h->last_ms < ends ? h->last_ms : ends);
	return c;
}

static void drop_hook(struct hook_queue *h, struct queued_hook *c)
{
	if (h->dropped++ == 0)
		log_warn("%s on-change is not run for %s: too many changes wait", h->section, c->about);
	free_hook(c);
}

static void *run_hooks(void *ctx)
{
	struct hook_queue *h = ctx;
	pthread_mutex_lock(&h->lock);
	for (struct queued_hook *c; (c = take_hook(h));) {
		if (h->is_ending && clock_ms() >= h->last_ms) {
			drop_hook(h, c);
			continue;
		}
		pthread_mutex_unlock(&h->lock);
		struct err e = ERR_INIT;
		if (c->joined > HOOK_QUEUE_JOINED)
			buf_printf(&c->changes, "and %zu more\n", c->joined - HOOK_QUEUE_JOINED);
		c->variable[c->variables] = arena_printf(&c->text, "WHEELCACHE_CHANGES=%.*s", (int)c->changes.len - 1,
			c->changes.data); // without the last line end
		if (hook_run(c->command, c->value, c->values, c->variable, &h->ends_ms, &e) < 0)
			log_warn("%s on-change for %s: %s", h->section, c->about, e.msg);
		free_hook(c);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

static bool start_thread(struct hook_queue *h)
{
	if (!h->has_thread)
		h->has_thread = pthread_create(&h->thread, NULL, run_hooks, h) == 0;
	return h->has_thread;
}

struct hook_queue *hook_queue_new(const char *section)
{
	struct hook_queue *h = xcalloc(1, sizeof(*h));
	h->section = section;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	return h;
}

void hook_queue_free(struct hook_queue *h, unsigned seconds)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->is_ending = true;
	h->last_ms = clock_ms() + (int64_t)seconds * 1000;
	if (atomic_load(&h->ends_ms) > h->last_ms)
		atomic_store(&h->ends_ms, h->last_ms);
	pthread_cond_signal(&h->changed);
	pthread_mutex_unlock(&h->lock);
	if (h->has_thread)
		pthread_join(h->thread, NULL);
	if (h->dropped)
		log_warn("%s on-change was not run for %s", h->section, COUNTED(h->dropped, "change|changes"));
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

// The place of one that waits for the same command and project. NULL: there is none. Under the lock.
static struct queued_hook **find_hook(struct hook_queue *h, const struct queued_hook *q)
{
	for (size_t i = 0; i < h->count; i++) {
		struct queued_hook **at = &h->queue[(h->first + i) % HOOK_QUEUE_MOST];
		if (strcmp((*at)->project, q->project) == 0 && strcmp((*at)->command, q->command) == 0)
			return at;
	}
	return NULL;
}

void hook_queue_add(struct hook_queue *h, const struct hook_job *job)
{
	if (!job->command)
		return;
	struct queued_hook *q = xcalloc(1, sizeof(*q));
	q->command = arena_strdup(&q->text, job->command);
	q->about = arena_strdup(&q->text, job->about);
	q->project = arena_strdup(&q->text, job->project);
	q->value = ARENA_NEW(&q->text, struct hook_value, job->values);
	for (; q->values < job->values; q->values++)
		q->value[q->values] = (struct hook_value){
			job->value[q->values].letter, arena_strdup(&q->text, job->value[q->values].text)};
	q->joined = 1;
	buf_init(&q->changes, SIZE_MAX / 2);
	buf_printf(&q->changes, "%s\n", job->change);
	q->variable = ARENA_NEW(&q->text, const char *, job->variables + 2);
	for (size_t i = 0; i < job->variables; i++)
		q->variable[q->variables++] = arena_printf(&q->text, "WHEELCACHE_%s=%s", job->variable[i][0],
			job->variable[i][1] ? job->variable[i][1] : "");
	pthread_mutex_lock(&h->lock);
	struct queued_hook **same = find_hook(h, q);
	if (same) {
		join_hooks(q, *same);
		free_hook(*same);
		*same = q;
	} else if (h->count == HOOK_QUEUE_MOST || !start_thread(h)) {
		drop_hook(h, q);
	} else {
		h->queue[(h->first + h->count++) % HOOK_QUEUE_MOST] = q;
		pthread_cond_signal(&h->changed);
	}
	pthread_mutex_unlock(&h->lock);
}
