// SPDX-License-Identifier: Apache-2.0
#include "builder/step/log-reason.h"

enum {
	ESCAPE = 0x1b,
	DELETE = 0x7f,
	LINE = 64 << 10, // bytes of a line that count
};

// Lines that begin so say that something failed before, or nothing.
static const struct str remarks[] = {
	STR("note: "),
	STR("hint: "),
	STR("[notice]"),
	STR("[end of output]"),
	STR("No available output."),
	STR("WARNING: "),
	STR("error: subprocess-exited-with-error"),
	STR("error: metadata-generation-failed"),
	STR("error: failed-wheel-build-for-install"),
	STR("ERROR: Failed building wheel"),
	STR("ERROR: Failed to build "),
	STR("Failed to build "),
	STR("Encountered error while "),
	STR("See above for "),
	STR("exit code: "),
	STR("ninja: build stopped"),
	STR("collect2: error: ld returned"),
};

// --- one line ---

// The rest behind an escape sequence (ECMA-48: CSI, or ESC and one character).
static struct str skip_escape(struct str s)
{
	if (s.len < 2 || s.ptr[1] != '[')
		return str_slice(s, s.len < 2 ? s.len : 2, s.len);
	size_t at = 2;
	while (at < s.len && (s.ptr[at] < '@' || s.ptr[at] > '~'))
		at++;
	return str_slice(s, at < s.len ? at + 1 : at, s.len);
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == DELETE;
}

// Removes escape sequences; control characters become blanks.
static void clean_line(struct str line, struct buf *out)
{
	while (line.len) {
		if (*line.ptr == ESCAPE) {
			line = skip_escape(line);
			continue;
		}
		buf_putc(out, is_control(*line.ptr) ? ' ' : *line.ptr);
		line = str_slice(line, 1, line.len);
	}
}

// Without the frame that pip draws around the output of a program.
static struct str strip_frame(struct str line)
{
	static const struct str frames[] = {STR("\xe2\x95\xb0"), STR("\xe2\x94\x80"), STR("\xe2\x94\x82"),
		STR("\xc3\x97"), STR("\xe2\x9d\x8c"), STR(">"), STR("|")}; // ╰ ─ │ × ❌
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		line = str_trim(line);
		while (str_starts(line, frames[i]))
			line = str_trim(str_slice(line, frames[i].len, line.len));
	}
	return line;
}

static bool has_part(struct str line, struct str part)
{
	for (; line.len >= part.len; line = str_slice(line, 1, line.len))
		if (str_starts(line, part))
			return true;
	return false;
}

static bool is_remark(struct str line)
{
	for (size_t i = 0; i < ARRAY_SIZE(remarks); i++)
		if (str_starts(line, remarks[i]))
			return true;
	bool is_count = *line.ptr == '[' && str_ends(line, STR(" of output]")); // "[3 lines of output]"
	return is_count || str_ends(line, STR(": started")) || has_part(line, STR(": finished with status "));
}

// A summary of pip's: better than nothing.
static bool is_summary(struct str line)
{
	return has_part(line, STR(" did not run successfully"));
}

static bool has_words(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (ascii_is_alnum(line.ptr[i]))
			return true;
	return false;
}

// "error: command '/usr/bin/gcc' failed with exit code 1", "make: *** [Makefile:3: x.o] Error 1": of setuptools, make; of
// setup.py files that call cmake.
static bool is_of_compiler(struct str line)
{
	return str_starts(line, STR("error: command ")) || str_starts(line, STR("error: Command ")) ||
	       str_starts(line, STR("subprocess.CalledProcessError: ")) || has_part(line, STR(": *** "));
}

static bool is_compiler_error(struct str line)
{
	return has_part(line, STR(": error: ")) || has_part(line, STR(": fatal error: ")) ||
	       has_part(line, STR("error[E")) || has_part(line, STR(": undefined reference to "));
}

// --- all lines ---

// Cuts the last line off *rest, and cleans it into line.
static struct str take_last_line(struct str *rest, struct buf *line)
{
	long end = str_rfind(*rest, '\n');
	struct str raw = str_slice(*rest, (size_t)(end + 1), rest->len);
	*rest = str_slice(*rest, 0, end < 0 ? 0 : (size_t)end);
	buf_clear(line);
	clean_line(str_slice(raw, raw.len > line->cap ? raw.len - line->cap : 0, raw.len), line);
	return strip_frame(buf_view(line));
}

static void find_compiler_error(struct str output, struct buf *line, struct buf *reason)
{
	while (output.len) {
		struct str text = take_last_line(&output, line);
		if (is_compiler_error(text)) {
			buf_clear(reason);
			buf_str(reason, text);
		}
	}
}

// Without the first bytes of a character whose rest was cut off.
static struct str without_cut_character(struct str text)
{
	enum { LONGEST = 4 };
	for (size_t cut = 0; cut < LONGEST && cut <= text.len; cut++)
		if (str_is_utf8(str_slice(text, 0, text.len - cut)))
			return str_slice(text, 0, text.len - cut);
	return text;
}

static void append_text(struct str text, struct buf *out)
{
	text = without_cut_character(text);
	if (str_is_utf8(text)) {
		buf_str(out, str_head(text, LOG_REASON));
		return;
	}
	for (size_t i = 0; i < text.len && i < LOG_REASON; i++)
		buf_putc(out, (unsigned char)text.ptr[i] < 0x80 ? text.ptr[i] : '?');
}

void log_reason_line(struct str text, struct buf *out)
{
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, LINE);
	clean_line(str_slice(text, 0, text.len < LINE ? text.len : LINE), &line);
	append_text(str_trim(buf_view(&line)), out);
}

// Appends the last line that has words and is no remark. *rest: what is before it.
static void find_last_line(struct str output, bool with_summaries, struct buf *line, struct buf *reason,
	struct str *rest)
{
	*rest = output;
	while (rest->len && !reason->len) {
		struct str text = take_last_line(rest, line);
		if (has_words(text) && !is_remark(text) && (with_summaries || !is_summary(text)))
			buf_str(reason, text);
	}
}

void log_reason(struct str output, struct buf *out)
{
	CLEANUP(buf_release) struct buf line, reason;
	buf_init(&line, LINE);
	buf_init(&reason, LINE);
	struct str rest;
	find_last_line(output, false, &line, &reason, &rest);
	if (!reason.len)
		find_last_line(output, true, &line, &reason, &rest);
	if (is_of_compiler(buf_view(&reason)))
		find_compiler_error(rest, &line, &reason);
	append_text(buf_view(&reason), out);
}

int log_reason_signal(struct str output)
{
	enum { MOST_DIGITS = 2 };
	const struct str before = STR("exit code: -");
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, LINE);
	while (output.len) {
		struct str text = take_last_line(&output, &line);
		if (!str_starts(text, before) || text.len - before.len > MOST_DIGITS)
			continue;
		int signal = 0;
		for (size_t i = before.len; i < text.len && ascii_is_digit(text.ptr[i]); i++)
			signal = signal * 10 + (text.ptr[i] - '0');
		return signal;
	}
	return 0;
}

struct str log_reason_part(struct str log)
{
	struct str mark = STR(LOG_REASON_MARK), rest = log;
	while (rest.len) {
		long end = str_rfind(rest, '\n');
		struct str line = str_slice(rest, (size_t)(end + 1), rest.len);
		if (str_starts(line, mark)) {
			struct str behind = str_slice(log, (size_t)(line.ptr + line.len - log.ptr), log.len);
			return behind.len ? str_slice(behind, 1, behind.len) : behind;
		}
		rest = str_slice(rest, 0, end < 0 ? 0 : (size_t)end);
	}
	return log;
}
