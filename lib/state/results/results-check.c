// SPDX-License-Identifier: Apache-2.0
// Names, ids, and what an attempt may be. Pure.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/version.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "lib/state/results/results.h"

const char *const results_result_name[RESULTS_RESULT_COUNT] = {
	[RESULTS_RUNNING] = "running",
	[RESULTS_OK] = "ok",
	[RESULTS_FAILED] = "failed",
	[RESULTS_TIMED_OUT] = "timed-out",
	[RESULTS_REPAIR_FAILED] = "repair-failed",
	[RESULTS_TEST_FAILED] = "test-failed",
	[RESULTS_REFUSED] = "refused",
	[RESULTS_CRASHED] = "crashed",
	[RESULTS_INTERRUPTED] = "interrupted",
	[RESULTS_WAITING] = "waiting",
};

bool results_is_failure(enum results_result r)
{
	return r != RESULTS_RUNNING && r != RESULTS_OK && r != RESULTS_INTERRUPTED && r != RESULTS_WAITING;
}

void results_new_id(char out[RESULTS_ID + 1])
{
	static const char digit[] = "0123456789abcdef";
	unsigned char random[RESULTS_ID / 2];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort(); // so few bytes are never cut short once the system has started (getrandom(2))
	for (size_t i = 0; i < RESULTS_ID; i++)
		out[i] = digit[(random[i / 2] >> (i % 2 ? 0 : 4)) & 0xf];
	out[RESULTS_ID] = '\0';
}

void results_one_line(struct str text, struct buf *out)
{
	CLEANUP(mem_free) char *line = xstrndup(text.ptr ? text.ptr : "", text.len);
	bool is_good = str_is_utf8(text);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
		else if (!is_good && (line[i] & 0x80))
			line[i] = '?';
	buf_str(out, str_head(str_trim((struct str){line, text.len}), LIMIT_REASON));
}

// --- checks ---

enum {
	DAY = 86400,
	SECONDS_MOST = 10 * 365 * DAY, // as the time limits of the configuration
};

static bool is_hexadecimal(struct str text, size_t digits)
{
	for (size_t i = 0; i < text.len; i++)
		if (!ascii_is_digit(text.ptr[i]) && (text.ptr[i] < 'a' || text.ptr[i] > 'f'))
			return false;
	return text.len == digits;
}

// A part of a path or of a line: no blank, no control character, no "/".
static bool is_word(struct str text, size_t most)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '/' || text.ptr[i] == 0x7f)
			return false;
	return text.len > 0 && text.len <= most && str_is_utf8(text);
}

static bool is_line(struct str text, size_t most)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7f)
			return false;
	return text.len <= most && str_is_utf8(text);
}

// --- one value each ---

static bool check_id(const struct results_attempt *a)
{
	return is_hexadecimal(str_from(a->id), RESULTS_ID);
}

static bool check_platform(const struct results_attempt *a)
{
	return platform_name_is_valid(str_from(a->platform));
}

static bool check_python(const struct results_attempt *a)
{
	struct err ignored = ERR_INIT;
	struct python python;
	if (python_parse(str_from(a->python), &python, &ignored) < 0)
		return false;
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_NOTE);
	python_print(&python, &normal);
	return str_eq(buf_view(&normal), str_from(a->python));
}

static bool check_project(const struct results_attempt *a)
{
	struct str name = str_from(a->project);
	return name.len <= LIMIT_FILE_NAME && name_is_valid(name) && name_is_normal(name);
}

static bool check_version(const struct results_attempt *a)
{
	return is_word(str_from(a->version), LIMIT_FILE_NAME) && version_is_valid(str_from(a->version));
}

static bool check_result(const struct results_attempt *a)
{
	return (unsigned)a->result < RESULTS_RESULT_COUNT;
}

static bool check_step(const struct results_attempt *a)
{
	static const char *const step[] = {"", "fetch", "build", "repair", "extra", "audit", "test", "push"};
	for (size_t i = 0; i < ARRAY_SIZE(step); i++)
		if (strcmp(a->step, step[i]) == 0)
			return true;
	return false;
}

static bool check_why(const struct results_attempt *a)
{
	return is_line(str_from(a->why), LIMIT_REASON);
}

static bool check_seconds(const struct results_attempt *a)
{
	return isfinite(a->seconds) && a->seconds >= 0 && a->seconds <= SECONDS_MOST;
}

static bool check_memory(const struct results_attempt *a)
{
	return a->peak_memory <= INT64_MAX;
}

static bool check_files(const struct results_attempt *a)
{
	struct str rest = str_from(a->files);
	size_t count = 0;
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		struct str name = str_cut(&line, ' '), digest = str_cut(&line, ' ');
		uint64_t size;
		if (!is_word(name, LIMIT_FILE_NAME) || !is_hexadecimal(digest, 2 * SHA256_SIZE) ||
			!decimal_parse(line, INT64_MAX, &size) || ++count > LIMIT_RESULT_FILES)
			return false;
	}
	return true;
}

static bool check_sdist(const struct results_attempt *a)
{
	struct str rest = str_from(a->sdist);
	if (!rest.len)
		return true;
	struct str name = str_cut(&rest, ' ');
	return is_word(name, LIMIT_FILE_NAME) && is_hexadecimal(rest, 2 * SHA256_SIZE);
}

static bool check_awaiting(const struct results_attempt *a)
{
	struct str rest = str_from(a->awaiting);
	if (rest.len > LIMIT_RESULT_AWAITING)
		return false;
	while (rest.ptr && *a->awaiting) {
		struct str name = str_cut(&rest, ' ');
		if (!name_is_valid(name) || !name_is_normal(name))
			return false;
	}
	return true;
}

static bool check_recipe(const struct results_attempt *a)
{
	return !*a->recipe || is_hexadecimal(str_from(a->recipe), 2 * SHA256_SIZE);
}

static bool check_builder(const struct results_attempt *a)
{
	return is_line(str_from(a->builder), LIMIT_NOTE);
}

static bool check_provenance(const struct results_attempt *a)
{
	struct err ignored = ERR_INIT;
	struct str text = str_from(a->provenance);
	if (text.len == 0)
		return true;
	if (text.len > LIMIT_RESULT_PROVENANCE || *text.ptr != '{')
		return false;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, &ignored);
	return doc != NULL;
}

int results_check(const struct results_attempt *a, int64_t now, struct err *e)
{
	static const struct {
		const char *name;
		bool (*is_good)(const struct results_attempt *a);
	} value[] = {
		{"id", check_id},
		{"platform", check_platform},
		{"python", check_python},
		{"project", check_project},
		{"version", check_version},
		{"result", check_result},
		{"step", check_step},
		{"why", check_why},
		{"seconds", check_seconds},
		{"peak_memory", check_memory},
		{"files", check_files},
		{"sdist", check_sdist},
		{"awaiting", check_awaiting},
		{"recipe", check_recipe},
		{"builder", check_builder},
		{"provenance", check_provenance},
	};
	for (size_t i = 0; i < ARRAY_SIZE(value); i++)
		if (!value[i].is_good(a))
			return err_set(e, ERR_INVALID, "build result: %s is not valid", value[i].name);
	if (a->begun < 0 || a->begun > now + DAY)
		return err_set(e, ERR_INVALID, "build result: begun is not valid: the builder's clock is wrong");
	return 0;
}
