// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/missing-json.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/digest.h"
#include "lib/format/jsonmap.h"
#include "lib/os/clock.h"

// A document comes from another server, so every value is checked before it is used.

// --- texts ---

static bool is_visible(struct str text, size_t most)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
			return false;
	return text.len && text.len <= most;
}

// Visible ASCII, one byte at least.
static bool is_word(struct str text)
{
	return is_visible(text, LIMIT_FILE_NAME);
}

static bool is_python_text(struct str text)
{
	struct python python;
	struct err ignored = ERR_INIT;
	return is_visible(text, LIMIT_NOTE) && python_parse(text, &python, &ignored) == 0;
}

static bool is_normal_project(struct str text)
{
	return text.len <= LIMIT_FILE_NAME && name_is_valid(text) && name_is_normal(text);
}

static bool is_date(struct str text)
{
	int64_t ignored;
	char noon[sizeof("2026-01-01T12:00:00Z") + 1];
	snprintf(noon, sizeof(noon), "%.11sT12:00:00Z", text.ptr);
	return clock_read(noon, &ignored);
}

static bool is_hash_text(struct str text)
{
	uint8_t ignored[SHA256_SIZE];
	return hex_decode(text, ignored, SHA256_SIZE);
}

static bool is_file_kind(struct str text)
{
	return str_eq(text, STR("constraints")) || str_eq(text, STR("requirements"));
}

static bool is_sdist_name(struct str text)
{
	struct err ignored = ERR_INIT;
	return filename_check(text, &ignored) == 0 && filename_kind(text) == FILENAME_SDIST;
}

// "file:" and a path in the store, which does not lead out of it; or a URL of HTTP.
static bool is_source(struct str url)
{
	if (!is_visible(url, LIMIT_PATH) || str_starts(url, STR("http://")) || str_starts(url, STR("https://")))
		return is_visible(url, LIMIT_PATH);
	if (!str_starts(url, STR("file:")))
		return false;
	struct str rest = str_slice(url, strlen("file:"), url.len);
	do {
		struct str part = str_cut(&rest, '/');
		if (!part.len || str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
	} while (rest.ptr);
	return true;
}

// --- micros: where only some patch releases of the Python want a row ---

static void put_micros(const void *of, const char *key, struct jsondoc *row)
{
	enum { TEXT = SPECIFIER_MICROS * 4 };
	uint64_t micros = ((const struct missing_row *)of)->micros;
	if (!micros || micros == UINT64_MAX)
		return;
	CLEANUP(buf_release) struct buf text = buf_up_to(TEXT);
	for (int from = 0, to; from < SPECIFIER_MICROS; from = to + 1) {
		for (to = from; to + 1 < SPECIFIER_MICROS && (micros >> from & 1) && (micros >> (to + 1) & 1);)
			to++;
		if (micros >> from & 1)
			buf_printf(&text, "%s%d-%d", text.len ? "," : "", from, to);
	}
	jsondoc_put_str(row, key, text.data);
}

static int get_micros(const struct jsondoc *from, const char *key, void *of, struct arena *a UNUSED, struct err *e)
{
	struct missing_row *row = of;
	const char *text = jsondoc_get_str(from, key);
	row->micros = 0;
	if (!text)
		return jsondoc_is_null(from, key) ? 0 : err_set(e, ERR_INVALID, "%s: not a string", key);
	for (struct str rest = str_from(text); rest.ptr;) {
		struct str range = str_cut(&rest, ','), first = str_cut(&range, '-');
		uint64_t low, high;
		if (!decimal_parse(first, SPECIFIER_MICROS - 1, &low) ||
			!decimal_parse(range, SPECIFIER_MICROS - 1, &high))
			return err_set(e, ERR_INVALID, "%s: not ranges of patch releases", key);
		for (; low <= high; low++)
			row->micros |= (uint64_t)1 << low;
	}
	return 0;
}

// --- totals: in the order of the list of the manual ---

static void put_totals(const uint64_t total[WHEEL_STATUS_COUNT], const char *key, struct jsondoc *object)
{
	struct jsondoc *totals = jsondoc_object();
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++)
		jsondoc_put_int(totals, wheel_status_name[wheel_status_missing[i]], (int64_t)total[wheel_status_missing[i]]);
	jsondoc_put(object, key, totals);
}

static int get_totals(const struct jsondoc *object, const char *key, uint64_t total[WHEEL_STATUS_COUNT], struct err *e)
{
	const struct jsondoc *totals = jsondoc_get(object, key);
	if (!totals)
		return err_set(e, ERR_INVALID, "%s: not an object", key);
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++) {
		int64_t number = 0;
		const char *name = wheel_status_name[wheel_status_missing[i]];
		if (!jsondoc_is_null(totals, name) && (!jsondoc_get_int(totals, name, &number) || number < 0))
			return err_set(e, ERR_INVALID, "%s: not a number, or too large", name);
		total[wheel_status_missing[i]] = (uint64_t)number;
	}
	return 0;
}

static void put_environment_totals(const void *row, const char *key, struct jsondoc *object)
{
	put_totals(((const struct missing_environment *)row)->total, key, object);
}

static int get_environment_totals(const struct jsondoc *object, const char *key, void *row, struct arena *text UNUSED,
	struct err *e)
{
	return get_totals(object, key, ((struct missing_environment *)row)->total, e);
}

static void put_all_totals(const void *row, const char *key, struct jsondoc *object)
{
	put_totals(((const struct missing *)row)->total, key, object);
}

static int get_all_totals(const struct jsondoc *object, const char *key, void *row, struct arena *text UNUSED,
	struct err *e)
{
	return get_totals(object, key, ((struct missing *)row)->total, e);
}

// --- fields ---

#define WORD .is_valid = is_word, .wrong = "is not a word"
#define NUMBER .wrong = "is not a number, or too large"
#define MAP(type, rows, ...) JSONMAP(type, rows, .words = JSONMAP_COLON, __VA_ARGS__)
#define PLATFORM(type)                                                                                                 \
	JSONMAP_TEXT("platform", type, platform, .is_valid = platform_name_is_valid,                                   \
		.wrong = "is not the name of a platform")
#define PYTHON(type)                                                                                                   \
	JSONMAP_TEXT("python", type, python, .is_valid = is_python_text, .wrong = "is not a version of Python")
#define HASH(type, ...)                                                                                                \
	JSONMAP_TEXT("sha256", type, sha256, .is_valid = is_hash_text, .wrong = "is not a SHA-256", __VA_ARGS__)
#define FILE_ struct missing_file
static const struct jsonmap_field file_fields[] = {
	JSONMAP_TEXT("name", FILE_, name, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_TEXT("kind", FILE_, kind, .is_valid = is_file_kind, .wrong = "is not known"),
	HASH(FILE_),
};
static const struct jsonmap file_map = MAP(FILE_, file_fields);

#define BRANCH struct missing_branch
static const struct jsonmap_field branch_fields[] = {
	JSONMAP_TEXT("name", BRANCH, name, WORD),
	JSONMAP_TEXT("until", BRANCH, until, .is_valid = is_date, .wrong = "is not a date", .absent = JSONMAP_NULL),
	JSONMAP_BOOL("is_over", BRANCH, is_over),
	JSONMAP_LIST("files", BRANCH, file, files, &file_map, .limit = LIMIT_BRANCH_FILES, .one = "file",
		.wrong = "is not a list", .absent = JSONMAP_OLDER),
};
static const struct jsonmap branch_map = MAP(BRANCH, branch_fields);

#define ENVIRONMENT struct missing_environment
static const struct jsonmap_field environment_fields[] = {
	PLATFORM(ENVIRONMENT),
	PYTHON(ENVIRONMENT),
	JSONMAP_OTHER("totals", put_environment_totals, get_environment_totals),
};
static const struct jsonmap environment_map = MAP(ENVIRONMENT, environment_fields);

#define SDIST struct missing_sdist
static const struct jsonmap_field sdist_fields[] = {
	JSONMAP_TEXT("filename", SDIST, filename, .is_valid = is_sdist_name, .wrong = "is not the file name of an sdist"),
	JSONMAP_TEXT("url", SDIST, url, .is_valid = is_source, .wrong = "is not the URL of an sdist"),
	HASH(SDIST, .absent = JSONMAP_NULL),
	JSONMAP_INTEGER("size", SDIST, size, .none = -1, NUMBER, .absent = JSONMAP_NULL),
};
static const struct jsonmap sdist_map = MAP(SDIST, sdist_fields, .present = offsetof(SDIST, filename));

#define ATTEMPTS struct missing_attempts
static const struct jsonmap_field attempts_fields[] = {
	JSONMAP_INTEGER("count", ATTEMPTS, count, .most = INT32_MAX, NUMBER),
	JSONMAP_TIME("last", ATTEMPTS, last),
	JSONMAP_TIME("retry", ATTEMPTS, retry, .absent = JSONMAP_NULL),
	JSONMAP_TEXT("result", ATTEMPTS, result, WORD),
	JSONMAP_TEXT("step", ATTEMPTS, step, WORD, .absent = JSONMAP_NULL),
	JSONMAP_TEXT("recipe", ATTEMPTS, recipe, WORD, .absent = JSONMAP_NULL),
};
static const struct jsonmap attempts_map = MAP(ATTEMPTS, attempts_fields, .present = offsetof(ATTEMPTS, result));

// A version is a word. Of a row with an sdist, it is one that PEP 440 knows, because a builder names files after it.
static int check_missing_row(void *of, struct arena *text UNUSED, struct err *e)
{
	const struct missing_row *row = of;
	struct str status = str_from(wheel_status_name[row->status]);
	if (wheel_status_find(status, wheel_status_missing, WHEEL_STATUSES_OF_MISSING) == WHEEL_STATUS_COUNT)
		return err_set(e, ERR_INVALID, "status: not a status");
	if (row->status == WHEEL_MISSING && !row->sdist.filename)
		return err_set(e, ERR_INVALID, "sdist: not an sdist");
	if (row->sdist.filename && !(row->version && version_is_valid(str_from(row->version))))
		return err_set(e, ERR_INVALID, "version: not a version");
	return 0;
}

#define ROW struct missing_row
static const struct jsonmap_field missing_row_fields[] = {
	PLATFORM(ROW),
	PYTHON(ROW),
	JSONMAP_TEXT("project", ROW, project, .is_valid = is_normal_project,
		.wrong = "is not the normal form of a project's name"),
	JSONMAP_TEXT("version", ROW, version, WORD, .absent = JSONMAP_NULL),
	JSONMAP_NAME("status", ROW, status, wheel_status_name, .wrong = "is not a status"),
	JSONMAP_TIME("offered", ROW, offered, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("why", ROW, why, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_LIST("branches", ROW, branch, branches, &jsonmap_text, .limit = LIMIT_MISSING_BRANCHES,
		.wrong = "is not a list of branches of this document"),
	JSONMAP_OBJECT("sdist", ROW, sdist, &sdist_map, .wrong = "is not an sdist", .absent = JSONMAP_NULL),
	JSONMAP_OBJECT("attempts", ROW, attempts, &attempts_map, .absent = JSONMAP_NULL),
	JSONMAP_INTEGER("build", ROW, build, .most = LIMIT_BUILD_TAG, NUMBER, .absent = JSONMAP_OMITTED),
	JSONMAP_OTHER("micros", put_micros, get_micros),
};
static const struct jsonmap missing_row_map = MAP(ROW, missing_row_fields, .check = check_missing_row);

// The names of a row are names of the document's branches, in the same order. So a row costs one pass over these.
static int find_branches(const struct missing *m, struct missing_row *row, struct arena *text, struct err *e)
{
	size_t at = 0;
	const char **name = arena_alloc_aligned(text, row->branches * sizeof(*name));
	for (size_t i = 0; i < row->branches; i++, at++) {
		while (at < m->branches && strcmp(row->branch[i], m->branch[at].name) != 0)
			at++;
		if (at == m->branches)
			return err_set(e, ERR_INVALID,
				"branches: a branch that the document does not have, or in another order");
		name[i] = m->branch[at].name;
	}
	row->branch = name;
	return 0;
}

static int check_missing_rows(void *of, struct arena *text, struct err *e)
{
	const struct missing *m = of;
	for (size_t i = 0; i < m->rows; i++)
		if (find_branches(m, &m->row[i], text, e) < 0)
			return err_prefix(e, "row %zu: ", i + 1);
	return 0;
}

#define DOCUMENT struct missing
static const struct jsonmap_field missing_fields[] = {
	JSONMAP_TIME("made", DOCUMENT, made),
	JSONMAP_LIST("branches", DOCUMENT, branch, branches, &branch_map, .limit = LIMIT_MISSING_BRANCHES, .one = "branch",
		.wrong = "is not a list"),
	JSONMAP_LIST("environments", DOCUMENT, environment, environments, &environment_map,
		.limit = LIMIT_MISSING_ENVIRONMENTS, .one = "environment", .wrong = "is not a list"),
	JSONMAP_OTHER("totals", put_all_totals, get_all_totals),
	JSONMAP_LIST("rows", DOCUMENT, row, rows, &missing_row_map, .limit = LIMIT_MISSING_ROWS, .one = "row",
		.wrong = "is not a list"),
};
static const struct jsonmap missing_map = MAP(DOCUMENT, missing_fields, .check = check_missing_rows);

struct jsondoc *missing_json(const struct missing *m)
{
	return jsonmap_json(&missing_map, m);
}

static void *copy_array(const void *items, size_t count, size_t size)
{
	void *copy = xcalloc(count + 1, size);
	memcpy(copy, items, count * size);
	return copy;
}

int missing_json_read(struct str text, struct missing *out, struct err *e)
{
	struct missing m = {0};
	if (text.len > LIMIT_MISSING)
		return err_set(e, ERR_INVALID, "more than %d bytes", LIMIT_MISSING);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, e);
	if (!doc || jsonmap_read(&missing_map, doc, &m, &m.text, e) < 0) {
		arena_release(&m.text);
		e->kind = ERR_INVALID;
		return -1;
	}
	m.branch = copy_array(m.branch, m.branches, sizeof(*m.branch));
	m.environment = copy_array(m.environment, m.environments, sizeof(*m.environment));
	m.row = copy_array(m.row, m.rows, sizeof(*m.row));
	*out = m;
	return 0;
}
