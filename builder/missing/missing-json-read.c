// SPDX-License-Identifier: Apache-2.0
// The reader of missing-json.h. A document comes from another server, so every value is checked before it is used.
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/digest.h"
#include "builder/missing/missing-json.h"
#include "lib/os/clock.h"

// --- values ---

static int refuse_value(const char *key, const char *what, struct err *e)
{
	return err_set(e, ERR_INVALID, "%s: %s", key, what);
}

// Visible ASCII, one byte at least.
static bool is_word(const char *text, size_t most)
{
	size_t len = text ? strlen(text) : 0;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return len && len <= most;
}

static int read_word(struct arena *a, const struct jsondoc *from, const char *key, const char **out, struct err *e)
{
	const char *text = jsondoc_get_str(from, key);
	if (!is_word(text, LIMIT_FILE_NAME))
		return refuse_value(key, "not a word", e);
	*out = arena_copy(a, str_from(text));
	return 0;
}

static int read_optional_word(struct arena *a, const struct jsondoc *from, const char *key, const char **out,
	struct err *e)
{
	return jsondoc_is_null(from, key) ? 0 : read_word(a, from, key, out, e);
}

// Text for people: line ends and other control characters become blanks.
static int read_sentence(struct arena *a, const struct jsondoc *from, const char *key, const char **out, struct err *e)
{
	const char *text = jsondoc_get_str(from, key);
	if (!text || strlen(text) > LIMIT_WORDS)
		return refuse_value(key, text ? "too long" : "not a string", e);
	char *copy = arena_alloc(a, strlen(text) + 1);
	memcpy(copy, text, strlen(text) + 1);
	for (char *at = copy; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = ' ';
	*out = copy;
	return 0;
}

static int read_moment(const struct jsondoc *from, const char *key, int64_t *out, struct err *e)
{
	const char *text = jsondoc_get_str(from, key);
	return text && clock_read(text, out) ? 0 : refuse_value(key, "not a time", e);
}

static int read_natural(const struct jsondoc *from, const char *key, int64_t most, int64_t *out, struct err *e)
{
	int64_t number = -1;
	if (!jsondoc_get_int(from, key, &number) || number < 0 || number > most)
		return refuse_value(key, "not a number, or too large", e);
	*out = number;
	return 0;
}

static int read_platform_name(struct arena *a, const struct jsondoc *from, const char **out, struct err *e)
{
	const char *text = jsondoc_get_str(from, "platform");
	if (!text || !platform_name_is_valid(str_from(text)))
		return refuse_value("platform", "not the name of a platform", e);
	*out = arena_copy(a, str_from(text));
	return 0;
}

static int read_python(struct arena *a, const struct jsondoc *from, const char **out, struct err *e)
{
	struct python python;
	const char *text = jsondoc_get_str(from, "python");
	if (!text)
		return refuse_value("python", "not a string", e);
	if (!is_word(text, LIMIT_NOTE) || python_parse(str_from(text), &python, e) < 0)
		return refuse_value("python", "not a version of Python", e);
	*out = arena_copy(a, str_from(text));
	return 0;
}

static int read_totals(const struct jsondoc *from, uint64_t total[WHEEL_STATUS_COUNT], struct err *e)
{
	const struct jsondoc *totals = jsondoc_get(from, "totals");
	if (!totals)
		return refuse_value("totals", "not an object", e);
	for (size_t i = 0; i < WHEEL_STATUSES_OF_MISSING; i++) {
		int64_t number = 0;
		const char *name = wheel_status_name[wheel_status_missing[i]];
		if (!jsondoc_is_null(totals, name) && read_natural(totals, name, INT64_MAX, &number, e) < 0)
			return -1;
		total[wheel_status_missing[i]] = (uint64_t)number;
	}
	return 0;
}

static int read_digest(struct arena *a, const struct jsondoc *from, const char **out, struct err *e)
{
	uint8_t ignored[SHA256_SIZE];
	const char *text = jsondoc_get_str(from, "sha256");
	if (jsondoc_is_null(from, "sha256"))
		return 0;
	if (!text || !hex_decode(str_from(text), ignored, SHA256_SIZE))
		return refuse_value("sha256", "not a SHA-256", e);
	*out = arena_copy(a, str_from(text));
	return 0;
}

// --- branches and environments ---

static int read_file(struct missing *m, const struct jsondoc *from, struct missing_file *out, struct err *e)
{
	const char *kind = jsondoc_get_str(from, "kind");
	if (read_sentence(&m->text, from, "name", &out->name, e) < 0 ||
		read_digest(&m->text, from, &out->sha256, e) < 0)
		return -1;
	out->kind = kind && strcmp(kind, "constraints") == 0    ? "constraints"
		    : kind && strcmp(kind, "requirements") == 0 ? "requirements"
								: NULL;
	return out->kind && out->sha256 ? 0 : refuse_value(out->kind ? "sha256" : "kind", "not known", e);
}

// A server of an earlier release does not name them.
static int read_branch_files(struct missing *m, const struct jsondoc *from, struct missing_branch *out, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(from, "files");
	size_t count = list ? jsondoc_count(list) : 0;
	if (!list && !jsondoc_is_null(from, "files"))
		return refuse_value("files", "not a list", e);
	if (count > LIMIT_BRANCH_FILES)
		return err_set(e, ERR_INVALID, "files: more than %d", LIMIT_BRANCH_FILES);
	struct missing_file *file = arena_alloc_aligned(&m->text, (count + 1) * sizeof(*file));
	memset(file, 0, (count + 1) * sizeof(*file));
	for (size_t i = 0; i < count; i++)
		if (read_file(m, jsondoc_at(list, i), &file[i], e) < 0)
			return err_prefix(e, "file %zu: ", i + 1);
	out->file = file;
	out->files = count;
	return 0;
}

static int read_branch(struct missing *m, const struct jsondoc *from, struct missing_branch *out, struct err *e)
{
	int64_t ignored;
	const char *until = jsondoc_get_str(from, "until");
	CLEANUP(mem_free) char *noon = xasprintf("%.11sT12:00:00Z", until ? until : "");
	if (read_word(&m->text, from, "name", &out->name, e) < 0)
		return -1;
	if (!jsondoc_is_null(from, "until") && (!until || !clock_read(noon, &ignored)))
		return refuse_value("until", "not a date", e);
	out->until = until ? arena_copy(&m->text, str_from(until)) : NULL;
	out->is_over = jsondoc_is_true(from, "is_over");
	return read_branch_files(m, from, out, e);
}

static int read_environment(struct missing *m, const struct jsondoc *from, struct missing_environment *out,
	struct err *e)
{
	return read_platform_name(&m->text, from, &out->platform, e) < 0 ||
			       read_python(&m->text, from, &out->python, e) < 0 || read_totals(from, out->total, e) < 0
		       ? -1
		       : 0;
}

// --- rows ---

static int read_status(const struct jsondoc *from, enum wheel_status *out, struct err *e)
{
	const char *text = jsondoc_get_str(from, "status");
	*out = wheel_status_find(str_from(text ? text : ""), wheel_status_missing, WHEEL_STATUSES_OF_MISSING);
	return *out != WHEEL_STATUS_COUNT ? 0 : refuse_value("status", "not a status", e);
}

static int read_project(struct arena *a, const struct jsondoc *from, const char **out, struct err *e)
{
	const char *text = jsondoc_get_str(from, "project");
	if (!text || strlen(text) > LIMIT_FILE_NAME || !name_is_valid(str_from(text)) ||
		!name_is_normal(str_from(text)))
		return refuse_value("project", "not the normal form of a project's name", e);
	*out = arena_copy(a, str_from(text));
	return 0;
}

// The names of a row are names of the document's branches, in the same order. So a row costs one pass over these.
static int read_row_branches(struct missing *m, const struct jsondoc *from, struct missing_row *row, struct err *e)
{
	const struct jsondoc *names = jsondoc_get(from, "branches");
	size_t count = names ? jsondoc_count(names) : 0, at = 0;
	if (!names || count > m->branches)
		return refuse_value("branches", "not a list of branches of this document", e);
	const char **name = arena_alloc_aligned(&m->text, count * sizeof(*name));
	for (size_t i = 0; i < count; i++) {
		const char *text = jsondoc_at_str(names, i);
		while (text && at < m->branches && strcmp(text, m->branch[at].name) != 0)
			at++;
		if (!text || at == m->branches)
			return refuse_value("branches", "a branch that the document does not have, or in another order",
				e);
		name[i] = m->branch[at++].name;
	}
	row->branch = name;
	row->branches = count;
	return 0;
}

// "file:" and a path in the store, which does not lead out of it; or a URL of HTTP.
static bool is_source(const char *url)
{
	struct str rest = str_from(url ? url : "");
	if (!is_word(url, LIMIT_PATH) || str_starts(rest, STR("http://")) || str_starts(rest, STR("https://")))
		return is_word(url, LIMIT_PATH);
	if (!str_starts(rest, STR("file:")))
		return false;
	rest = str_slice(rest, strlen("file:"), rest.len);
	do {
		struct str part = str_cut(&rest, '/');
		if (!part.len || str_eq(part, STR(".")) || str_eq(part, STR("..")))
			return false;
	} while (rest.ptr);
	return true;
}

static int read_sdist(struct missing *m, const struct jsondoc *from, struct missing_sdist *out, struct err *e)
{
	struct err bad = ERR_INIT;
	const char *filename = jsondoc_get_str(from, "filename"), *url = jsondoc_get_str(from, "url");
	if (!filename || filename_check(str_from(filename), &bad) < 0 ||
		filename_kind(str_from(filename)) != FILENAME_SDIST)
		return refuse_value("filename", "not the file name of an sdist", e);
	if (!is_source(url))
		return refuse_value("url", "not the URL of an sdist", e);
	out->filename = arena_copy(&m->text, str_from(filename));
	out->url = arena_copy(&m->text, str_from(url));
	if (!jsondoc_is_null(from, "size") && read_natural(from, "size", INT64_MAX, &out->size, e) < 0)
		return -1;
	return read_digest(&m->text, from, &out->sha256, e);
}

static int read_attempts(struct missing *m, const struct jsondoc *from, struct missing_attempts *out, struct err *e)
{
	int64_t count = 0;
	if (read_natural(from, "count", INT32_MAX, &count, e) < 0 || read_moment(from, "last", &out->last, e) < 0 ||
		read_word(&m->text, from, "result", &out->result, e) < 0 ||
		read_optional_word(&m->text, from, "step", &out->step, e) < 0 ||
		read_optional_word(&m->text, from, "recipe", &out->recipe, e) < 0)
		return -1;
	out->count = (unsigned)count;
	return jsondoc_is_null(from, "retry") ? 0 : read_moment(from, "retry", &out->retry, e);
}

static int read_build(const struct jsondoc *from, struct missing_row *row, struct err *e)
{
	int64_t build = 0;
	if (!jsondoc_is_null(from, "build") && read_natural(from, "build", LIMIT_BUILD_TAG, &build, e) < 0)
		return -1;
	row->build = (unsigned)build;
	return 0;
}

static int read_micros(const struct jsondoc *from, struct missing_row *row, struct err *e)
{
	const char *text = jsondoc_get_str(from, "micros");
	if (!text)
		return jsondoc_is_null(from, "micros") ? 0 : refuse_value("micros", "not a string", e);
	for (struct str rest = str_from(text); rest.ptr;) {
		struct str range = str_cut(&rest, ','), first = str_cut(&range, '-');
		uint64_t low, high;
		if (!decimal_parse(first, SPECIFIER_MICROS - 1, &low) ||
			!decimal_parse(range, SPECIFIER_MICROS - 1, &high))
			return refuse_value("micros", "not ranges of patch releases", e);
		for (; low <= high; low++)
			row->micros |= (uint64_t)1 << low;
	}
	return 0;
}

// A version is a word. Of a row with an sdist, it is one that PEP 440 knows, because a builder names files after it.
static int read_version(struct missing *m, const struct jsondoc *from, struct missing_row *row, struct err *e)
{
	if (read_optional_word(&m->text, from, "version", &row->version, e) < 0)
		return -1;
	bool is_valid = row->version && version_is_valid(str_from(row->version));
	return is_valid || !row->sdist.filename ? 0 : refuse_value("version", "not a version", e);
}

static int read_row(struct missing *m, const struct jsondoc *from, struct missing_row *row, struct err *e)
{
	const struct jsondoc *sdist = jsondoc_get(from, "sdist"), *attempts = jsondoc_get(from, "attempts");
	*row = (struct missing_row){.sdist = {.size = -1}};
	if (read_platform_name(&m->text, from, &row->platform, e) < 0 ||
		read_python(&m->text, from, &row->python, e) < 0 ||
		read_project(&m->text, from, &row->project, e) < 0 || read_status(from, &row->status, e) < 0 ||
		read_sentence(&m->text, from, "why", &row->why, e) < 0 || read_row_branches(m, from, row, e) < 0 ||
		read_build(from, row, e) < 0 || read_micros(from, row, e) < 0)
		return -1;
	if (!sdist && (row->status == WHEEL_MISSING || !jsondoc_is_null(from, "sdist")))
		return refuse_value("sdist", "not an sdist", e);
	if (sdist && read_sdist(m, sdist, &row->sdist, e) < 0)
		return err_prefix(e, "sdist: ");
	if (attempts ? read_attempts(m, attempts, &row->attempts, e) < 0 : !jsondoc_is_null(from, "attempts"))
		return attempts ? err_prefix(e, "attempts: ") : refuse_value("attempts", "not an object", e);
	return read_version(m, from, row, e);
}

// --- the document ---

static int count_of(const struct jsondoc *doc, const char *key, size_t most, const struct jsondoc **list, size_t *count,
	struct err *e)
{
	*list = jsondoc_get(doc, key);
	*count = *list ? jsondoc_count(*list) : 0;
	if (!*list)
		return refuse_value(key, "not a list", e);
	return *count <= most ? 0 : err_set(e, ERR_INVALID, "%s: more than %zu", key, most);
}

static int read_branches(struct missing *m, const struct jsondoc *doc, struct err *e)
{
	const struct jsondoc *list;
	if (count_of(doc, "branches", LIMIT_MISSING_BRANCHES, &list, &m->branches, e) < 0)
		return -1;
	m->branch = xcalloc(m->branches + 1, sizeof(*m->branch));
	for (size_t i = 0; i < m->branches; i++)
		if (read_branch(m, jsondoc_at(list, i), &m->branch[i], e) < 0)
			return err_prefix(e, "branch %zu: ", i + 1);
	return 0;
}

static int read_environments(struct missing *m, const struct jsondoc *doc, struct err *e)
{
	const struct jsondoc *list;
	if (count_of(doc, "environments", LIMIT_MISSING_ENVIRONMENTS, &list, &m->environments, e) < 0)
		return -1;
	m->environment = xcalloc(m->environments + 1, sizeof(*m->environment));
	for (size_t i = 0; i < m->environments; i++)
		if (read_environment(m, jsondoc_at(list, i), &m->environment[i], e) < 0)
			return err_prefix(e, "environment %zu: ", i + 1);
	return 0;
}

static int read_rows(struct missing *m, const struct jsondoc *doc, struct err *e)
{
	const struct jsondoc *list;
	if (count_of(doc, "rows", LIMIT_MISSING_ROWS, &list, &m->rows, e) < 0)
		return -1;
	m->row = xcalloc(m->rows + 1, sizeof(*m->row));
	for (size_t i = 0; i < m->rows; i++)
		if (read_row(m, jsondoc_at(list, i), &m->row[i], e) < 0)
			return err_prefix(e, "row %zu: ", i + 1);
	return 0;
}

int missing_json_read(struct str text, struct missing *out, struct err *e)
{
	CLEANUP(missing_release) struct missing m = {0};
	if (text.len > LIMIT_MISSING)
		return err_set(e, ERR_INVALID, "more than %d bytes", LIMIT_MISSING);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, e);
	if (!doc || read_moment(doc, "made", &m.made, e) < 0 || read_totals(doc, m.total, e) < 0 ||
		read_branches(&m, doc, e) < 0 || read_environments(&m, doc, e) < 0 || read_rows(&m, doc, e) < 0)
		return -1;
	*out = m;
	m = (struct missing){0};
	return 0;
}
