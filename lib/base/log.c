// SPDX-License-Identifier: Apache-2.0
#include "lib/base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/charclass.h"

const char *const log_level_name[LOG_LEVEL_COUNT] = {"error", "warn", "info", "debug"};

static _Atomic int current = LOG_LEVEL_INFO;

void log_set_level(enum log_level level)
{
	atomic_store(&current, (int)level);
}

// The journal's priorities are those of sd-daemon(3).
static const char *prefix(enum log_level level)
{
	static const char *const priority[LOG_LEVEL_COUNT] = {"<3>", "<4>", "<6>", "<7>"};
	static const char *const word[LOG_LEVEL_COUNT] = {"error: ", "warning: ", "", "debug: "};
	return getenv("JOURNAL_STREAM") ? priority[level] : word[level];
}

// Replaces what could command a terminal or forge a line: names come from outside. Returns the new length.
static size_t clean_line(char *line, size_t len)
{
	size_t out = 0;
	for (size_t i = 0; i < len; out++) {
		size_t bad = charclass_unshowable((struct str){line + i, len - i});
		line[out] = bad ? '?' : line[i];
		i += bad ? bad : 1;
	}
	return out;
}

// A line is one write(), so that lines of threads and processes do not mix.
static void write_line(enum log_level level, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void write_line(enum log_level level, const char *fmt, va_list ap)
{
	if (!((int)level <= atomic_load(&current)))
		return;
	char line[1024];
	int head = snprintf(line, sizeof(line), "%swheelcache: ", prefix(level));
	int body = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, ap);
	size_t len = (size_t)head + (size_t)(body < 0 ? 0 : body);
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	len = clean_line(line, len);
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		return; // there is no other place for a message
}

#define LOG_FUNCTION(name, level)                                                                                      \
	void name(const char *fmt, ...)                                                                                \
	{                                                                                                              \
		va_list ap;                                                                                            \
		va_start(ap, fmt);                                                                                     \
		write_line(level, fmt, ap);                                                                            \
		va_end(ap);                                                                                            \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
