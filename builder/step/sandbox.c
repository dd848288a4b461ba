// SPDX-License-Identifier: Apache-2.0
#include "builder/step/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/run/run.h"
#include "builder/step/log-reason.h"
#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/domain/machine/environment.h"
#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/hook.h"

enum {
	LOG_LINE = 4096,  // bytes of a command in the log
	LOG_SLACK = 4096, // what the log has beyond its limit: the line that says what was dropped
	SIGNAL_EXIT = 128,
};

// --- the folder ---

static int set_interpreter(struct sandbox *r, const char *python, struct err *e)
{
	struct python p;
	if (python_parse(str_from(python), &p, e) < 0)
		return -1;
	r->interpreter =
		xasprintf("%s%u.%u%s", p.is_pypy ? "pypy" : "python", p.major, p.minor, p.is_free_threaded ? "t" : "");
	return 0;
}

// folder: %d; its home/ and tmp/ are HOME and TMPDIR. A variable that [build] environment lists and our environment has
// goes before ours, except these two. "NAME=value", NULL at the end; hook_free_words frees it.
static char **make_environment(const struct config *config, const char *folder, const char *index);

int sandbox_open(struct sandbox *r, const struct config *config, const struct step_values *values, const char *work,
	const char *id, struct err *e)
{
	*r = (struct sandbox){.config = config, .values = *values, .parent = -1, .id = xstrdup(id)};
	r->end_ms = clock_ms() + (int64_t)config->build_timeout * 1000;
	r->parent = fs_open_dir(work, e);
	CLEANUP(mem_free) char *real = r->parent < 0 ? NULL : fs_real_path(work, e);
	if (!real)
		return -1;
	r->folder = xasprintf("%s/%s", real, id);
	r->output = xasprintf("%s/out", r->folder);
	r->environment = make_environment(config, r->folder, values->index);
	CLEANUP(mem_free) char *log = xasprintf("%s/log", r->folder);
	if (set_interpreter(r, values->python, e) < 0)
		return -1;
	static const char *const names[] = {"", "/sdist", "/out", "/home", "/tmp", "/cwd"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(mem_free) char *path = xasprintf("%s%s", r->folder, names[i]);
		if (mkdir(path, S_IRWXU) < 0)
			return err_errno(e, fs_kind_of_write(), "%s", path);
	}
	return run_log_open(log, config->build_log_size, &r->log, e);
}

void sandbox_close(struct sandbox *r)
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
	*r = (struct sandbox){.parent = -1};
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

static void append_command(struct words *w, const struct sandbox *r, const char *command, const char *index)
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

static void make_words(struct words *w, const struct sandbox *r, const char *command, const struct strset *more,
	const char *index)
{
	if (r->config->build_wrap)
		append_command(w, r, r->config->build_wrap, index);
	append_command(w, r, command, index);
	for (size_t i = 0; more && i < more->count; i++)
		append_word(w, xstrdup(more->item[i]));
}

// Without the password that the index may have. A line end in a word must not begin a line of the log.
static void log_command(struct sandbox *r, const char *command, const struct strset *more)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	CLEANUP(words_release) struct words w = {0};
	CLEANUP(buf_release) struct buf line = buf_up_to(LOG_LINE);
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
static enum log_cause append_reason(struct sandbox *r, struct buf *out, int *signal)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(r->config->build_log_size + LOG_SLACK);
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

static int report_signal(struct sandbox *r, int signal, struct str reason, struct err *e)
{
	r->cause = RESULTS_CRASHED;
	return err_set(e, ERR_INVALID, "it was ended by signal %d (%s)%s" STR_FMT, signal, strsignal(signal),
		reason.len ? ": " : "", STR_ARG(reason));
}

// [build] wrap, as a shell, ends with 128 and the number of the signal that ended the program in it.
static int report_exit(struct sandbox *r, int code, int signal, struct str reason, struct err *e)
{
	if (code > SIGNAL_EXIT && is_crash(code - SIGNAL_EXIT))
		signal = code - SIGNAL_EXIT;
	if (is_crash(signal))
		return report_signal(r, signal, reason, e);
	if (!reason.len)
		return err_set(e, ERR_INVALID, "it ended with exit code %d and said nothing", code);
	return err_set(e, ERR_INVALID, STR_FMT, STR_ARG(reason));
}

static int report_end(struct sandbox *r, const struct run_outcome *o, struct err *e)
{
	int signal;
	CLEANUP(buf_release) struct buf reason = buf_up_to(LOG_REASON);
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

uint64_t sandbox_seconds(const struct sandbox *r)
{
	int64_t left = (r->end_ms - clock_ms() + 999) / 1000;
	return left > 1 ? (uint64_t)left : 1;
}

int sandbox_run_again(struct sandbox *r, const char *command, const struct strset *more, struct err *e)
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
		.seconds = sandbox_seconds(r),
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
		run_log_line(r->log, "%s left, and killed", COUNTED(outcome.left, "process was|processes were"));
	return result;
}

static int make_venv(struct sandbox *r, struct err *e)
{
	free(r->venv);
	r->venv = xasprintf("%s/env-%u", r->folder, ++r->venvs);
	return sandbox_run_again(r, "%y -m venv %e", NULL, e) < 0 ? err_prefix(e, "its virtual environment: ") : 0;
}

int sandbox_run(struct sandbox *r, const char *command, const struct strset *more, struct err *e)
{
	const char *wrap = r->config->build_wrap;
	bool needs_venv = hook_uses(command, 'e') || (wrap && hook_uses(wrap, 'e'));
	if (needs_venv && make_venv(r, e) < 0)
		return -1;
	return sandbox_run_again(r, command, more, e);
}

// --- questions ---

int sandbox_write(const struct sandbox *r, const char *name, const char *text, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", r->folder, name);
	unlink(path); // what a foreign program may have put there
	CLEANUP(mem_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		return err_errno(e, fs_kind_of_write(), "%s", path);
	return 0;
}

int sandbox_read(const struct sandbox *r, const char *name, struct buf *out, struct err *e)
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

int sandbox_ask(struct sandbox *r, const char *script, const char *argument, unsigned seconds, struct buf *out,
	struct err *e)
{
	CLEANUP(mem_free) char *answer = xasprintf("%s/answer", r->folder);
	CLEANUP(mem_free)
	char *command = xasprintf("%s -I %%d/ask.py %%d/answer %s", r->venv ? "%e/bin/python" : "%y", argument);
	int64_t end_ms = r->end_ms, soon = clock_ms() + (int64_t)seconds * 1000;
	if (sandbox_write(r, "ask.py", script, e) < 0)
		return -1;
	unlink(answer);
	r->end_ms = soon < end_ms ? soon : end_ms;
	int asked = sandbox_run_again(r, command, NULL, e);
	r->end_ms = end_ms;
	if (r->cause != RESULTS_INTERRUPTED)
		r->cause = RESULTS_RUNNING;
	return asked < 0 ? -1 : sandbox_read(r, "answer", out, e);
}

// --- which Python there is ---

enum { ANSWER = 32, ASK_SECONDS = 60 };

// What execvp() says, bwrap, podman or a shell.
static bool says_absent(const char *message, const char *interpreter)
{
	bool is_about = interpreter && strstr(message, interpreter);
	return is_about && (strstr(message, "No such file or directory") || strstr(message, "not found"));
}

static int ask_micro(struct sandbox *room, struct err *e)
{
	static const char script[] = "import sys\nopen(sys.argv[1], 'w').write(str(sys.version_info[2]))\n";
	uint64_t micro;
	CLEANUP(buf_release) struct buf answer = buf_up_to(ANSWER);
	if (sandbox_ask(room, script, "", ASK_SECONDS, &answer, e) < 0)
		return says_absent(e->msg, room->interpreter) ? PYTHON_CHECK_ABSENT : PYTHON_CHECK_UNKNOWN;
	return decimal_parse(buf_view(&answer), INT16_MAX, &micro) ? (int)micro : PYTHON_CHECK_UNKNOWN;
}

int sandbox_python_micro(const struct config *config, const char *work, const char *platform, const char *python,
	const char *index)
{
	struct err e = ERR_INIT;
	struct sandbox room;
	char id[RESULTS_ID + 1];
	const struct step_values values = {platform, python, "python", "0", index};
	results_new_id(id);
	bool is_open = sandbox_open(&room, config, &values, work, id, &e) == 0;
	int micro = is_open ? ask_micro(&room, &e) : PYTHON_CHECK_UNKNOWN;
	sandbox_close(&room);
	return micro;
}

// --- the environment ---

struct variables {
	char **item; // "NAME=value"
	size_t count, room;
};

static void append_variable(struct variables *v, char *text)
{
	GROW(v->item, v->count, v->room);
	v->item[v->count++] = text;
}

static const char *value_of(const struct variables *v, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < v->count; i++)
		if (strncmp(v->item[i], name, len) == 0 && v->item[i][len] == '=')
			return v->item[i] + len + 1;
	return NULL;
}

static void set_variable(struct variables *v, const char *name, const char *value)
{
	if (value && !value_of(v, name))
		append_variable(v, xasprintf("%s=%s", name, value));
}

// pip takes an index by http: only from a host that is named so.
static void trust_index(struct variables *v, const char *index)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	if (fetch_url_parse(index, &url, &ignored) < 0 || strcmp(url.scheme, "http") != 0)
		return;
	CLEANUP(mem_free) char *host = xasprintf("%s:%s", url.host, url.port);
	set_variable(v, "PIP_TRUSTED_HOST", host);
}

static char **make_environment(const struct config *config, const char *folder, const char *index)
{
	CLEANUP(mem_free) char *home = xasprintf("%s/home", folder);
	CLEANUP(mem_free) char *tmp = xasprintf("%s/tmp", folder);
	CLEANUP(mem_free) char *report = xasprintf("%s/" STEP_ENVIRONMENT_REPORT, folder);
	const char *const fixed[][2] = {
		{"PIP_REPORT", report}, // of `pip install`, which makes the build environment
		{"PIP_CONFIG_FILE", "/dev/null"},
		{"PIP_INDEX_URL", index},
		{"PIP_NO_CACHE_DIR", "1"},
		{"PIP_NO_INPUT", "1"},
		{"PIP_DISABLE_PIP_VERSION_CHECK", "1"},
		{"PIP_NO_COLOR", "1"},
		{"UV_NO_CONFIG", "1"},
		{"UV_DEFAULT_INDEX", index},
		{"PYTHONNOUSERSITE", "1"},
		{"PYTHONUNBUFFERED", "1"}, // a log that ends with the reason
		// The earliest time that a ZIP file can have: two builds of one sdist do not differ by their times
		// (reproducible-builds.org, SOURCE_DATE_EPOCH).
		{"SOURCE_DATE_EPOCH", "315532800"},
	};
	struct variables v = {0};
	set_variable(&v, "HOME", home);
	set_variable(&v, "TMPDIR", tmp);
	for (struct str rest = str_from(config->build_environment ? config->build_environment : ""); rest.len;) {
		struct str word = str_cut(&rest, ' ');
		CLEANUP(mem_free) char *name = xstrndup(word.ptr, word.len);
		if (*name)
			set_variable(&v, name, getenv(name));
	}
	// One variable serves all: uv and Python take SSL_CERT_FILE, pip and others have names of their own.
	static const char *const names[] = {
		"PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CARGO_HTTP_CAINFO", "GIT_SSL_CAINFO"};
	const char *given = value_of(&v, "SSL_CERT_FILE");
	CLEANUP(mem_free) char *file = xstrdup(given ? given : "");
	for (size_t i = 0; *file && i < ARRAY_SIZE(names); i++)
		set_variable(&v, names[i], file);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		set_variable(&v, fixed[i][0], fixed[i][1]);
	trust_index(&v, index);
	append_variable(&v, NULL);
	return v.item;
}
