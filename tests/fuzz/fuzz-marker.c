// SPDX-License-Identifier: Apache-2.0
// Environment markers: whether a text is one depends on no environment, and a marker can be part of another.
#include "lib/domain/machine/marker.h"

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

static const struct machine machine = {.arch = "aarch64"};

static bool ask_python(struct str marker, unsigned minor, bool is_pypy, uint64_t *micros)
{
	struct err e = ERR_INIT;
	const struct python python = {.is_pypy = is_pypy, .major = 3, .minor = minor};
	if (marker_micros(marker, &machine, &python, micros, &e) == 0)
		return true;
	HOLDS(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
	HOLDS(*e.msg);
	return false;
}

// The marker in parentheses with something behind it.
static uint64_t ask_with(struct str marker, const char *more)
{
	CLEANUP(buf_release) struct buf all;
	uint64_t micros = 0;
	buf_init(&all, LIMIT_MARKER);
	buf_puts(&all, "(");
	buf_str(&all, marker);
	buf_puts(&all, ")");
	buf_puts(&all, more);
	HOLDS(ask_python(buf_view(&all), 11, false, &micros));
	return micros;
}

static size_t parentheses(struct str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += text.ptr[i] == '(';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	struct err unsaid = ERR_INIT;
	uint64_t micros, other;
	bool is_marker = marker_check(text, &unsaid) == 0;
	HOLDS(is_marker == ask_python(text, 11, false, &micros));
	HOLDS(is_marker == ask_python(text, 9, true, &other));
	if (!is_marker || size > LIMIT_MARKER - 64 || parentheses(text) >= LIMIT_MARKER_DEPTH)
		return 0;
	HOLDS(ask_with(text, "") == micros);
	HOLDS(ask_with(text, "or os_name == 'posix'") == UINT64_MAX);
	HOLDS(ask_with(text, "and os_name == 'nt'") == 0);
	HOLDS(ask_with(text, "and python_full_version<'3.11.4'") == (micros & 0xf));
	return 0;
}
