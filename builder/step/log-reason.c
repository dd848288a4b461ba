// SPDX-License-Identifier: Apache-2.0
#include "builder/step/log-reason.h"

#include "builder/step/log-patterns.h"

enum {
	ESCAPE = 0x1b,
	DELETE = 0x7f,
	LINE = 64 << 10, // bytes of a line that count
	ADVICE = 40,     // lines behind the error that say what to do about it, at most
	LINES = 10000,   // that are looked at, the last ones: a log may have millions
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
		STR("\xc3\x97"), STR("\xe2\x9d\x8c"), STR("\xe2\x94\x9c"), STR("\xe2\x96\xb6"), STR(">"),
		STR("|")}; // ╰ ─ │ × ❌ ├ ▶
	line = str_trim(line);
	for (size_t i = 0; i < ARRAY_SIZE(frames);)
		if (str_starts(line, frames[i])) {
			line = str_trim(str_slice(line, frames[i].len, line.len));
			i = 0;
		} else
			i++;
	return line;
}

static bool has_words(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (ascii_is_alnum(line.ptr[i]))
			return true;
	return false;
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

// A line of the output.
struct choice {
	enum log_class class;
	size_t end; // of the line, an offset; 0: none
};

static bool is_last_word(enum log_class class)
{
	return class >= LOG_ABSENT;
}

static bool is_cause(enum log_class class)
{
	return class == LOG_ERROR || class == LOG_MESSAGE || class == LOG_AWAY;
}

// The last line that says why a program failed: not far above the end, behind advice; otherwise the last line that looks
// like an error, otherwise the last one. A summary is better than nothing.
static struct choice find_last_word(struct str output, struct buf *line)
{
	struct choice last = {0}, hint = {0}, summary = {0};
	size_t lines = 0;
	for (struct str rest = output; rest.len && lines < ADVICE;) {
		size_t end = rest.len;
		struct str text = take_last_line(&rest, line);
		struct choice found = {has_words(text) ? log_patterns_class(text) : LOG_REMARK, end};
		if (is_last_word(found.class))
			return last.class == LOG_HINT && found.class != LOG_AWAY ? last : found;
		if (found.class == LOG_SUMMARY && !summary.end)
			summary = found;
		if (found.class != LOG_HINT && found.class != LOG_WORDS)
			continue;
		lines++;
		if (found.class == LOG_HINT && !hint.end)
			hint = found;
		if (!last.end)
			last = found;
	}
	return hint.end ? hint : last.end ? last : summary;
}

// The first line of the output that is_wanted, before `end`; *found stays if there is none.
static void find_first(struct str output, size_t end, bool (*is_wanted)(enum log_class class), struct buf *line,
	struct choice *found)
{
	struct str rest = str_slice(output, 0, end);
	while (rest.len) {
		struct str raw = str_cut(&rest, '\n'), one = raw;
		size_t at = (size_t)(raw.ptr + raw.len - output.ptr);
		enum log_class class = log_patterns_class(take_last_line(&one, line));
		if (!is_wanted(class))
			continue;
		*found = (struct choice){class, at};
		return;
	}
}

// The last line before a failed command that looks like an error: of a program that pip does not know.
static void find_hint(struct str output, struct buf *line, struct choice *found)
{
	struct str rest = str_slice(output, 0, found->end);
	size_t lines = 0;
	while (rest.len && lines++ < ADVICE) {
		size_t end = rest.len;
		if (log_patterns_class(take_last_line(&rest, line)) != LOG_HINT)
			continue;
		*found = (struct choice){LOG_HINT, end};
		return;
	}
}

static bool is_tool(enum log_class class)
{
	return class == LOG_TOOL;
}

static bool is_retry(enum log_class class)
{
	return class == LOG_RETRY;
}

static struct choice choose_line(struct str output, struct buf *line)
{
	struct choice found = find_last_word(output, line);
	if (found.class == LOG_TOOL || found.class == LOG_ERROR)
		find_first(output, found.end, is_cause, line, &found);
	if (found.class == LOG_ABSENT)
		find_first(output, found.end, is_retry, line, &found);
	if (found.class == LOG_TOOL) {
		find_first(output, found.end, is_tool, line, &found);
		find_hint(output, line, &found);
	}
	return found;
}

// The last of the causes that cargo names below an error.
static void append_cause(struct str behind, struct buf *line, struct buf *reason)
{
	CLEANUP(buf_release) struct buf cause;
	bool is_next = false;
	buf_init(&cause, LINE);
	for (size_t lines = 0; behind.len && lines < ADVICE; lines++) {
		struct str raw = str_cut(&behind, '\n');
		struct str text = take_last_line(&raw, line);
		if (is_next && has_words(text)) {
			buf_clear(&cause);
			buf_str(&cause, text);
		} else if (has_words(text) && !str_eq(text, STR("Caused by:")))
			break;
		is_next = str_eq(text, STR("Caused by:"));
	}
	if (cause.len)
		buf_printf(reason, ": %s", cause.data);
}

// Appends the paragraph that a line announces.
static void append_paragraph(struct str behind, struct buf *line, struct buf *reason)
{
	size_t begun = reason->len;
	while (behind.len && reason->len < LOG_REASON) {
		struct str raw = str_cut(&behind, '\n');
		struct str text = take_last_line(&raw, line);
		if (!text.len && reason->len > begun)
			return;
		if (has_words(text) && log_patterns_class(text) == LOG_REMARK)
			return;
		if (text.len)
			buf_printf(reason, " " STR_FMT, STR_ARG(text));
	}
}

// Appends the line, and what belongs to it.
static void append_choice(struct str output, const struct choice *found, struct buf *line, struct buf *reason)
{
	struct str rest = str_slice(output, 0, found->end), behind = str_slice(output, found->end, output.len);
	buf_str(reason, take_last_line(&rest, line));
	str_cut(&behind, '\n');
	if (str_ends(buf_view(reason), STR(":")))
		append_paragraph(behind, line, reason);
	else if (str_starts(buf_view(reason), STR("error: ")))
		append_cause(behind, line, reason);
	struct str advice = log_patterns_advice(buf_view(reason));
	if (advice.len)
		buf_printf(reason, " (" STR_FMT ")", STR_ARG(advice));
}

static struct str last_lines(struct str output, size_t count)
{
	size_t from = output.len;
	while (from && count--) {
		long end = str_rfind(str_slice(output, 0, from - 1), '\n');
		from = end < 0 ? 0 : (size_t)end + 1;
	}
	return str_slice(output, from, output.len);
}

enum log_cause log_reason(struct str output, struct buf *out)
{
	CLEANUP(buf_release) struct buf line, reason;
	buf_init(&line, LINE);
	buf_init(&reason, 2 * LINE);
	output = last_lines(output, LINES);
	struct choice found = choose_line(output, &line);
	if (!found.end)
		return LOG_CAUSE_PROGRAM;
	append_choice(output, &found, &line, &reason);
	append_text(buf_view(&reason), out);
	return found.class == LOG_AWAY || found.class == LOG_RETRY ? LOG_CAUSE_AWAY : LOG_CAUSE_PROGRAM;
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
