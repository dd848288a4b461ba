// SPDX-License-Identifier: Apache-2.0
#include "builder/step/log-patterns.h"

#include "lib/base/mem.h"

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

enum log_class log_patterns_class(struct str line)
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

struct str log_patterns_advice(struct str reason)
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
