// SPDX-License-Identifier: Apache-2.0
#include "builder/step/step-room.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/run/run.h"
#include "builder/step/log-reason.h"
#include "builder/step/step-environment.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/machine/environment.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/hook.h"
#include "lib/os/tree.h"

enum {
	LOG_LINE = 4096,  // bytes of a command in the log
	LOG_SLACK = 4096, // what the log has beyond its limit: the line that says what was dropped
	SIGNAL_EXIT = 128,
};

// --- the folder ---

static int set_interpreter(struct step_room *r, const char *python, struct err *e)
{
	struct python p;
	if (python_parse(str_from(python), &p, e) < 0)
		return -1;
	r->interpreter =
		xasprintf("%s%u.%u%s", p.is_pypy ? "pypy" : "python", p.major, p.minor, p.is_free_threaded ? "t" : "");
	return 0;
}

static int make_folders(struct step_room *r, struct err *e)
{
	static const char *const names[] = {"", "/sdist", "/out", "/home", "/tmp", "/cwd"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s%s", r->folder, names[i]);
		if (mkdir(path, S_IRWXU) < 0)
			return err_errno(e, fs_kind_of_write(), "%s", path);
	}
	return 0;
}

int step_room_open(struct step_room *r, const struct config *config, const struct step_values *values, const char *work,
	const char *id, struct err *e)
{
	*r = (struct step_room){.config = config, .values = *values, .parent = -1, .id = xstrdup(id)};
	r->end_ms = clock_ms() + (int64_t)config->build_timeout * 1000;
	r->parent = fs_open_dir(work, e);
	CLEANUP(mem_free) char *real = r->parent < 0 ? NULL : fs_real_path(work, e);
	if (!real)
		return -1;
	r->folder = xasprintf("%s/%s", real, id);
	r->output = xasprintf("%s/out", r->folder);
	r->environment = step_environment_make(config, r->folder, values->index);
	CLEANUP(mem_free) char *log = xasprintf("%s/log", r->folder);
	if (set_interpreter(r, values->python, e) < 0 || make_folders(r, e) < 0)
		return -1;
	return run_log_open(log, config->build_log_size, &r->log, e);
}

void step_room_close(struct step_room *r)
{
	struct err e = ERR_INIT;
	run_log_close(r->log);
	if (r->parent >= 0 && tree_remove(r->parent, r->id, &e) < 0)
		log_warn("%s: %s", r->folder, e.msg);
	mem_close(&r->parent);
	hook_free_words(&r->environment);
	free(r->id);
	free(r->folder);
	free(r->output);
	free(r->sdist);
	free(r->wheel);
	free(r->venv);
	free(r->interpreter);
	*r = (struct step_room){.parent = -1};
}

// --- the words of a command ---

struct words {
	char **item;
	size_t count, room;
};

static void words_release(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->item[i]);
	free(w->item);
}

static void append_word(struct words *w, char *word)
{
	GROW(w->item, w->count, w->room);
	w->item[w->count++] = word;
}

static void append_command(struct words *w, const struct step_room *r, const char *command, const char *index)
{
	const struct hook_value values[] = {
		{'p', r->values.platform},
		{'v', r->values.python},
		{'n', r->values.project},
		{'r', r->values.version},
		{'i', index},
		{'y', r->interpreter},
		{'d', r->folder},
		{'o', r->output},
		{'s', r->sdist ? r->sdist : ""},
		{'w', r->wheel ? r->wheel : ""},
		{'e', r->venv ? r->venv : ""},
	};
	char **made = hook_words(command, values, ARRAY_SIZE(values));
	for (char **word = made; *word; word++)
		append_word(w, *word);
	free(made);
}

static void make_words(struct words *w, const struct step_room *r, const char *command, const struct strset *more,
	const char *index)
{
	if (r->config->build_wrap)
		append_command(w, r, r->config->build_wrap, index);
	append_command(w, r, command, index);
	for (size_t i = 0; more && i < more->count; i++)
		append_word(w, xstrdup(more->item[i]));
}

// Without the password that the index may have. A line end in a word must not begin a line of the log.
static void log_command(struct step_room *r, const char *command, const struct strset *more)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	CLEANUP(words_release) struct words w = {0};
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, LOG_LINE);
	make_words(&w, r, command, more, fetch_url_parse(r->values.index, &url, &ignored) < 0 ? "" : url.text);
	for (size_t i = 0; i < w.count && !line.failed; i++)
		buf_printf(&line, " %s", w.item[i]);
	for (size_t i = 0; i < line.len; i++)
		if ((unsigned char)line.data[i] < ' ')
			line.data[i] = ' ';
	run_log_line(r->log, "---%s", line.data);
}

// --- what a program's end means ---

// *signal: the one that ended the build backend, if pip says so.
static enum log_cause append_reason(struct step_room *r, struct buf *out, int *signal)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, r->config->build_log_size + LOG_SLACK);
	*signal = 0;
	if (run_log_text(r->log, &text, &ignored) < 0)
		return LOG_CAUSE_PROGRAM;
	*signal = log_reason_signal(log_reason_part(buf_view(&text)));
	return log_reason(log_reason_part(buf_view(&text)), out);
}

static bool is_crash(int signal)
{
	static const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSEGV, SIGSYS, SIGTRAP};
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		if (signal == crashes[i])
			return true;
	return false;
}

static int report_signal(struct step_room *r, int signal, struct str reason, struct err *e)
{
	r->cause = RESULTS_CRASHED;
	return err_set(e, ERR_INVALID, "it was ended by signal %d (%s)%s" STR_FMT, signal, strsignal(signal),
		reason.len ? ": " : "", STR_ARG(reason));
}

// [build] wrap, as a shell, ends with 128 and the number of the signal that ended the program in it.
static int report_exit(struct step_room *r, int code, int signal, struct str reason, struct err *e)
{
	if (code > SIGNAL_EXIT && is_crash(code - SIGNAL_EXIT))
		signal = code - SIGNAL_EXIT;
	if (is_crash(signal))
		return report_signal(r, signal, reason, e);
	if (!reason.len)
		return err_set(e, ERR_INVALID, "it ended with exit code %d and said nothing", code);
	return err_set(e, ERR_INVALID, STR_FMT, STR_ARG(reason));
}

static int report_end(struct step_room *r, const struct run_outcome *o, struct err *e)
{
	int signal;
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LOG_REASON);
	if (o->end == RUN_EXITED && o->code == 0)
		return 0;
	bool is_away = append_reason(r, &reason, &signal) == LOG_CAUSE_AWAY;
	switch (o->end) {
	case RUN_EXITED:
		if (is_away)
			r->cause = RESULTS_WAITING;
		return report_exit(r, o->code, signal, buf_view(&reason), e);
	case RUN_SIGNALLED:
		return report_signal(r, o->code, buf_view(&reason), e);
	case RUN_OUT_OF_MEMORY:
		r->cause = RESULTS_CRASHED;
		return err_set(e, ERR_INVALID, "out of memory: it needs more than %llu MB",
			(unsigned long long)(r->config->build_memory >> 20));
	case RUN_TIMED_OUT:
		r->cause = RESULTS_TIMED_OUT;
		return err_set(e, ERR_TIME, "it was not done when its time was over; its last words: %s",
			reason.len ? reason.data : "none");
	case RUN_STOPPED:
		break;
	}
	r->cause = RESULTS_INTERRUPTED;
	return err_set(e, ERR_BUSY, "the builder was stopped");
}

// --- running ---

uint64_t step_room_seconds(const struct step_room *r)
{
	int64_t left = (r->end_ms - clock_ms() + 999) / 1000;
	return left > 1 ? (uint64_t)left : 1;
}

int step_room_run_again(struct step_room *r, const char *command, const struct strset *more, struct err *e)
{
	CLEANUP(words_release) struct words w = {0};
	CLEANUP(mem_free) char *cwd = xasprintf("%s/cwd", r->folder);
	struct run_outcome outcome = {0};
	make_words(&w, r, command, more, r->values.index);
	append_word(&w, NULL);
	log_command(r, command, more);
	const struct run_options options = {
		.argv = (const char *const *)w.item,
		.environment = (const char *const *)r->environment,
		.folder = cwd,
		.log = r->log,
		.seconds = step_room_seconds(r),
		.memory = r->config->build_memory,
		.setuid_works =
			r->config->build_wrap != NULL, // rootless containers need it; they limit what runs in them
		.stop = r->stop,
	};
	if (run_program(&options, &outcome, e) < 0)
		return -1;
	if (outcome.peak_memory > r->peak_memory)
		r->peak_memory = outcome.peak_memory;
	int result = report_end(r, &outcome, e);
	if (outcome.left)
		run_log_line(r->log, "%u processes were left, and killed", outcome.left);
	return result;
}

static int make_venv(struct step_room *r, struct err *e)
{
	free(r->venv);
	r->venv = xasprintf("%s/env-%u", r->folder, ++r->venvs);
	return step_room_run_again(r, "%y -m venv %e", NULL, e) < 0 ? err_prefix(e, "its virtual environment: ") : 0;
}

int step_room_run(struct step_room *r, const char *command, const struct strset *more, struct err *e)
{
	const char *wrap = r->config->build_wrap;
	bool needs_venv = hook_uses(command, 'e') || (wrap && hook_uses(wrap, 'e'));
	if (needs_venv && make_venv(r, e) < 0)
		return -1;
	return step_room_run_again(r, command, more, e);
}

// --- questions ---

int step_room_write(const struct step_room *r, const char *name, const char *text, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", r->folder, name);
	unlink(path); // what a foreign program may have put there
	CLEANUP(mem_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_errno(e, fs_kind_of_write(), "%s", path);
	return 0;
}

int step_room_read(const struct step_room *r, const char *name, struct buf *out, struct err *e)
{
	struct stat st;
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", r->folder, name);
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "%s is no regular file", path);
	return fs_read_fd(fd, path, out, e);
}

int step_room_ask(struct step_room *r, const char *script, const char *argument, unsigned seconds, struct buf *out,
	struct err *e)
{
	CLEANUP(mem_free) char *answer = xasprintf("%s/answer", r->folder);
	CLEANUP(mem_free)
	char *command = xasprintf("%s -I %%d/ask.py %%d/answer %s", r->venv ? "%e/bin/python" : "%y", argument);
	int64_t end_ms = r->end_ms, soon = clock_ms() + (int64_t)seconds * 1000;
	if (step_room_write(r, "ask.py", script, e) < 0)
		return -1;
	unlink(answer);
	r->end_ms = soon < end_ms ? soon : end_ms;
	int asked = step_room_run_again(r, command, NULL, e);
	r->end_ms = end_ms;
	if (r->cause != RESULTS_INTERRUPTED)
		r->cause = RESULTS_RUNNING;
	return asked < 0 ? -1 : step_room_read(r, "answer", out, e);
}
