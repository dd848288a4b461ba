// SPDX-License-Identifier: Apache-2.0
#include "builder/step/log-reason.h"

#include "lib/base/mem.h"
#include "lib/base/str.h"

// --- patterns ---
//
// What a line of a build's output says of the failure, by a table of what build tools print. Pure; any thread.

enum log_class {
	LOG_WORDS,   // no pattern knows it
	LOG_HINT,    // words that errors have: it is taken where nothing says more
	LOG_REMARK,  // something failed before, or nothing
	LOG_SUMMARY, // better than nothing
	LOG_RETRY,   // the index does not answer pip, which goes on
	LOG_ABSENT,  // pip finds no such project: after a LOG_RETRY it has not seen the index
	LOG_AWAY,    // the index or a file host is out of reach
	LOG_TOOL,    // a tool failed, which said why before
	LOG_ERROR,   // an error of a tool: the first one says most
	LOG_MESSAGE, // the last words of a program, and a tool's error if a LOG_TOOL follows
	LOG_END,     // the last words of a program
};

enum place { AT_START, ANYWHERE, AT_END };

struct pattern {
	enum place place;
	struct str text;
	enum log_class class;
};

// The first match counts. tests/data/build-logs has a log for most of them.
static const struct pattern patterns[] = {
	// pip
	{ANYWHERE, STR(" after connection broken by "), LOG_RETRY},
	{ANYWHERE, STR("Could not fetch URL "), LOG_RETRY},
	{AT_START, STR("ERROR: No matching distribution found for "), LOG_ABSENT},
	{AT_START, STR("ERROR: Could not find a version that satisfies "), LOG_ABSENT},
	{AT_START, STR("ERROR: Could not install packages due to an OSError: HTTP"), LOG_AWAY},
	{AT_START, STR("ERROR: HTTP error 5"), LOG_AWAY},
	{AT_START, STR("ERROR: HTTP error 429 "), LOG_AWAY},
	{ANYWHERE, STR(" because of HTTP error 5"), LOG_AWAY},
	{ANYWHERE, STR(" because of HTTP error 429 "), LOG_AWAY},
	{AT_START, STR("ERROR: ResolutionImpossible: "), LOG_TOOL},
	{AT_START, STR("The conflict is caused by:"), LOG_ERROR},
	{AT_START, STR("pip._vendor.urllib3.exceptions."), LOG_AWAY},
	{AT_START, STR("pip._vendor.requests.exceptions."), LOG_AWAY},
	{AT_START, STR("error: subprocess-exited-with-error"), LOG_REMARK},
	{AT_START, STR("error: metadata-generation-failed"), LOG_REMARK},
	{AT_START, STR("error: failed-wheel-build-for-install"), LOG_REMARK},
	{AT_START, STR("ERROR: Failed building wheel"), LOG_REMARK},
	{AT_START, STR("ERROR: Failed to build "), LOG_REMARK},
	{AT_START, STR("Failed to build "), LOG_REMARK},
	{AT_START, STR("Encountered error while "), LOG_REMARK},
	{AT_START, STR("See above for "), LOG_REMARK},
	{AT_START, STR("exit code: "), LOG_REMARK},
	{AT_START, STR("Processing /"), LOG_REMARK},
	{AT_START, STR("Looking in "), LOG_REMARK},
	{AT_START, STR("Building wheels for collected packages: "), LOG_REMARK},
	{AT_START, STR("[notice]"), LOG_REMARK},
	{AT_START, STR("[end of output]"), LOG_REMARK},
	{AT_START, STR("No available output."), LOG_REMARK},
	{AT_END, STR(" of output]"), LOG_REMARK}, // "[3 lines of output]"
	{AT_END, STR(": started"), LOG_REMARK},
	{ANYWHERE, STR(": finished with status "), LOG_REMARK},
	{ANYWHERE, STR(" did not run successfully"), LOG_SUMMARY},
	// uv
	{ANYWHERE, STR("Failed to fetch: `"), LOG_AWAY},
	{ANYWHERE, STR("error sending request for url ("), LOG_AWAY},
	// of any tool
	{AT_START, STR("note: "), LOG_REMARK},
	{AT_START, STR("hint: "), LOG_REMARK},
	{AT_START, STR("help: "), LOG_REMARK},
	{AT_START, STR("WARNING: "), LOG_REMARK},
	{AT_START, STR("Warning: "), LOG_REMARK},
	{AT_START, STR("warning: "), LOG_REMARK},
	{ANYWHERE, STR(": warning: "), LOG_REMARK},
	{ANYWHERE, STR(": note: "), LOG_REMARK},
	{AT_START, STR("File \""), LOG_REMARK}, // of a traceback, with the line of code behind it
	{AT_START, STR("raise "), LOG_REMARK},
	{AT_START, STR("During handling of the above exception"), LOG_REMARK},
	{AT_START, STR("The above exception was the direct cause"), LOG_REMARK},
	// make, ninja, and what calls them
	{ANYWHERE, STR(": *** No rule to make target "), LOG_ERROR},
	{ANYWHERE, STR(": *** "), LOG_TOOL},
	{AT_START, STR("ninja: build stopped"), LOG_TOOL},
	{AT_START, STR("FAILED: "), LOG_TOOL},
	{ANYWHERE, STR("CalledProcessError: "), LOG_TOOL},
	{ANYWHERE, STR("CompileError: "), LOG_TOOL}, // also Cython's
	{ANYWHERE, STR("LinkError: "), LOG_TOOL},
	{ANYWHERE, STR("DistutilsExecError: "), LOG_TOOL},
	{AT_START, STR("error: command "), LOG_TOOL},
	{AT_START, STR("error: Command "), LOG_TOOL},
	// Rust
	{AT_START, STR("error: can't find Rust compiler"), LOG_TOOL}, // setuptools-rust: rustup may have said why
	{AT_START, STR("Error running maturin: "), LOG_TOOL},
	{AT_START, STR("error: could not compile "), LOG_TOOL},
	{AT_START, STR("error: aborting due to "), LOG_TOOL},
	{AT_START, STR("error: `cargo "), LOG_TOOL},
	{AT_START, STR("Error: command ["), LOG_TOOL},
	{ANYWHERE, STR("maturin failed"), LOG_TOOL},
	{ANYWHERE, STR(" exited with an error: error: "), LOG_ERROR},
	{AT_START, STR("error[E"), LOG_ERROR},
	// CMake, and scikit-build-core
	{AT_START, STR("CMake Error"), LOG_ERROR},
	{AT_START, STR("CMake Warning"), LOG_REMARK},
	{AT_START, STR("CMake Deprecation Warning"), LOG_REMARK},
	{AT_START, STR("-- Configuring incomplete"), LOG_TOOL},
	{AT_START, STR("See also \""), LOG_REMARK},
	{AT_START, STR("Call Stack (most recent call first)"), LOG_REMARK},
	{AT_START, STR("*** CMake "), LOG_TOOL},
	{AT_START, STR("fatal: "), LOG_ERROR}, // git, of FetchContent
	// Meson: "../meson.build:3:7: ERROR: …"
	{AT_START, STR("A full log can be found at "), LOG_REMARK},
	{ANYWHERE, STR(": ERROR: "), LOG_ERROR},
	// Compilers and linkers
	{AT_START, STR("collect2: error: ld returned"), LOG_REMARK},
	{ANYWHERE, STR("linker command failed with exit code"), LOG_REMARK},
	{AT_START, STR("compilation terminated."), LOG_REMARK},
	{AT_START, STR("unable to execute "), LOG_ERROR},
	{ANYWHERE, STR(": error: "), LOG_ERROR},
	{ANYWHERE, STR(": fatal error: "), LOG_ERROR},
	{ANYWHERE, STR(": Error: "), LOG_ERROR}, // SWIG, as
	{ANYWHERE, STR(": undefined reference to "), LOG_ERROR},
	{ANYWHERE, STR(": cannot find -l"), LOG_ERROR},
	{ANYWHERE, STR(": multiple definition of "), LOG_ERROR},
	{AT_START, STR("Error: "), LOG_ERROR}, // gfortran
	{AT_START, STR("Fatal Error: "), LOG_ERROR},
	{AT_START, STR("virtual memory exhausted"), LOG_ERROR},
	{ANYWHERE, STR(": out of memory"), LOG_ERROR},
	{AT_START, STR("LLVM ERROR: "), LOG_ERROR},
	{ANYWHERE, STR("what():  std::bad_alloc"), LOG_ERROR},
	// setuptools, and anything
	{AT_START, STR("error in "), LOG_END},
	{AT_START, STR("error: "), LOG_MESSAGE},
	{AT_START, STR("ERROR: "), LOG_END},
	// nvcc, and shells
	{ANYWHERE, STR("): error"), LOG_ERROR},
	{AT_END, STR(": command not found"), LOG_ERROR},
};

// Words of errors that no pattern knows; without a first letter, which may be a capital.
static const struct str hints[] = {
	STR("ould not "),
	STR("annot "),
	STR("an't "),
	STR("nable to "),
	STR("not found"),
	STR("not installed"),
	STR("o such "),
	STR("is required"),
	STR("is missing"),
	STR("is not set"),
	STR("ailed to "),
	STR("aused by: "),
};

static bool has_part(struct str line, struct str part)
{
	return memmem(line.ptr, line.len, part.ptr, part.len) != NULL;
}

// "pkg.SomeError: words", or without words.
static bool is_exception(struct str line)
{
	size_t end = 0;
	while (end < line.len && (ascii_is_alnum(line.ptr[end]) || line.ptr[end] == '_' || line.ptr[end] == '.'))
		end++;
	struct str name = str_slice(line, 0, end);
	bool is_name = str_ends(name, STR("Error")) || str_ends(name, STR("Exception")) ||
		       str_ends(name, STR("Failure")) || str_ends(name, STR("NotFound"));
	return is_name && (end == line.len || line.ptr[end] == ':');
}

// Cython: "pkg/demo.pyx:12:13: undeclared name".
static bool is_of_cython(struct str line)
{
	static const struct str names[] = {STR(".pyx:"), STR(".pxd:"), STR(".pxi:")};
	for (; line.len; line = str_slice(line, 1, line.len))
		for (size_t i = 0; *line.ptr == '.' && i < ARRAY_SIZE(names); i++)
			if (str_starts(line, names[i]) && line.len > names[i].len &&
				ascii_is_digit(line.ptr[names[i].len]))
				return true;
	return false;
}

static bool matches(const struct pattern *p, struct str line)
{
	switch (p->place) {
	case AT_START:
		return str_starts(line, p->text);
	case ANYWHERE:
		return has_part(line, p->text);
	case AT_END:
		return str_ends(line, p->text);
	}
	return false;
}

// The line has no blanks at its ends.
static enum log_class log_patterns_class(struct str line)
{
	for (const struct pattern *p = patterns; p < patterns + ARRAY_SIZE(patterns); p++)
		if (matches(p, line))
			return p->class;
	if (is_of_cython(line))
		return LOG_ERROR;
	if (is_exception(line))
		return LOG_END;
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (has_part(line, hints[i]))
			return LOG_HINT;
	return LOG_WORDS;
}

// What to do about this reason, which the program that gave it cannot know; empty: nothing.
static struct str log_patterns_advice(struct str reason)
{
	static const struct {
		struct str part, advice;
	} advices[] = {
		{STR("rustup could not choose a version"),
			STR("builds have a HOME of their own: set RUSTUP_HOME to the builder's .rustup")},
		{STR("no override and no default toolchain set"), // an older rustup
			STR("builds have a HOME of their own: set RUSTUP_HOME to the builder's .rustup")},
	};
	for (size_t i = 0; i < ARRAY_SIZE(advices); i++)
		if (has_part(reason, advices[i].part))
			return advices[i].advice;
	return (struct str){0};
}

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

// Removes escape sequences; control characters become blanks.
static void clean_line(struct str line, struct buf *out)
{
	while (line.len) {
		if (*line.ptr == ESCAPE) {
			line = skip_escape(line);
			continue;
		}
		buf_putc(out, (unsigned char)(*line.ptr) < ' ' || (*line.ptr) == DELETE ? ' ' : *line.ptr);
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
	CLEANUP(buf_release) struct buf line = buf_up_to(LINE);
	clean_line(str_slice(text, 0, text.len < LINE ? text.len : LINE), &line);
	append_text(str_trim(buf_view(&line)), out);
}

// A line of the output.
struct choice {
	enum log_class class;
	size_t end; // of the line, an offset; 0: none
};

static bool is_cause(enum log_class class)
{
	return class == LOG_ERROR || class == LOG_MESSAGE || class == LOG_AWAY;
}

// The last line that says why a program failed: not far above the end, behind advice; otherwise the last line that
// looks like an error, otherwise the last one. A summary is better than nothing.
static struct choice find_last_word(struct str output, struct buf *line)
{
	struct choice last = {0}, hint = {0}, summary = {0};
	size_t lines = 0;
	for (struct str rest = output; rest.len && lines < ADVICE;) {
		size_t end = rest.len;
		struct str text = take_last_line(&rest, line);
		struct choice found = {has_words(text) ? log_patterns_class(text) : LOG_REMARK, end};
		if (found.class >= LOG_ABSENT)
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

// The last of the causes that cargo names below an error.
static void append_cause(struct str behind, struct buf *line, struct buf *reason)
{
	bool is_next = false;
	CLEANUP(buf_release) struct buf cause = buf_up_to(LINE);
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
	CLEANUP(buf_release) struct buf line = buf_up_to(LINE);
	CLEANUP(buf_release) struct buf reason = buf_up_to(2 * LINE);
	output = last_lines(output, LINES);
	struct choice found = find_last_word(output, &line);
	if (found.class == LOG_TOOL || found.class == LOG_ERROR)
		find_first(output, found.end, is_cause, &line, &found);
	if (found.class == LOG_ABSENT)
		find_first(output, found.end, is_retry, &line, &found);
	if (found.class == LOG_TOOL) {
		find_first(output, found.end, is_tool, &line, &found);
		find_hint(output, &line, &found);
	}
	if (!found.end)
		return LOG_CAUSE_PROGRAM;
	// Appends the line, and what belongs to it.
	struct str rest = str_slice(output, 0, found.end), behind = str_slice(output, found.end, output.len);
	buf_str(&reason, take_last_line(&rest, &line));
	str_cut(&behind, '\n');
	if (str_ends(buf_view(&reason), STR(":")))
		append_paragraph(behind, &line, &reason);
	else if (str_starts(buf_view(&reason), STR("error: ")))
		append_cause(behind, &line, &reason);
	struct str advice = log_patterns_advice(buf_view(&reason));
	if (advice.len)
		buf_printf(&reason, " (" STR_FMT ")", STR_ARG(advice));
	append_text(buf_view(&reason), out);
	return found.class == LOG_AWAY || found.class == LOG_RETRY ? LOG_CAUSE_AWAY : LOG_CAUSE_PROGRAM;
}

int log_reason_signal(struct str output)
{
	enum { MOST_DIGITS = 2 };
	const struct str before = STR("exit code: -");
	CLEANUP(buf_release) struct buf line = buf_up_to(LINE);
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
