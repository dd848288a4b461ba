// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/results-json.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/format/jsonmap.h"
#include "lib/os/clock.h"

enum { TEXT_MOST = LIMIT_RESULT_AWAITING + LIMIT_RESULT_PROVENANCE }; // of one value

// --- fields ---

struct attempt_file {
	const char *filename, *sha256;
	int64_t size; // -1: unknown
};

// An attempt whose lines of words are lists.
struct attempt_document {
	struct results_attempt a;
	const struct attempt_file *file;
	size_t files;
	struct attempt_file sdist;
	const char *const *awaiting;
	size_t awaitings;
};

// A word of a line.
static bool is_part(struct str text)
{
	return text.len && str_find(text, ' ') < 0 && str_find(text, '\n') < 0;
}

#define FILE_ struct attempt_file
static const struct jsonmap_field attempt_file_fields[] = {
	JSONMAP_TEXT("filename", FILE_, filename, .is_valid = is_part),
	JSONMAP_TEXT("sha256", FILE_, sha256, .is_valid = is_part),
	JSONMAP_INTEGER("size", FILE_, size, .none = -1, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap attempt_file_map =
	JSONMAP(FILE_, attempt_file_fields, .words = JSONMAP_BARE, .present = offsetof(FILE_, filename));

static const struct jsonmap_field name_field[] = {{.kind = JSONMAP_KIND_TEXT, .is_valid = is_part}};
static const struct jsonmap name_map = JSONMAP(const char *, name_field);

static void put_build_provenance(const void *row, const char *key, struct jsondoc *object)
{
	struct err ignored = ERR_INIT;
	const char *text = ((const struct attempt_document *)row)->a.provenance;
	struct jsondoc *doc = text && *text ? jsondoc_read(str_from(text), &ignored) : NULL;
	jsondoc_put(object, key, doc ? doc : jsondoc_object());
}

static int get_build_provenance(const struct jsondoc *object, const char *key, void *row, struct arena *text,
	struct err *e)
{
	struct attempt_document *d = row;
	const struct jsondoc *provenance = jsondoc_get(object, key);
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, TEXT_MOST);
	if (provenance)
		jsondoc_write(provenance, 0, &line);
	d->a.provenance = arena_copy(text, str_trim(buf_view(&line)));
	return !provenance || line.failed ? err_set(e, ERR_INVALID, "%s is not valid", key) : 0;
}

#define ATTEMPT struct attempt_document
#define PLAIN(key) JSONMAP_TEXT(#key, ATTEMPT, a.key)
static const struct jsonmap_field attempt_fields[] = {
	PLAIN(id),
	PLAIN(platform),
	PLAIN(python),
	PLAIN(project),
	PLAIN(version),
	PLAIN(step),
	PLAIN(why),
	PLAIN(recipe),
	PLAIN(builder),
	JSONMAP_NAME("result", ATTEMPT, a.result, results_result_name),
	JSONMAP_TIME("begun", ATTEMPT, a.begun),
	JSONMAP_REAL("seconds", ATTEMPT, a.seconds),
	JSONMAP_INTEGER("peak_memory", ATTEMPT, a.peak_memory),
	JSONMAP_LIST("files", ATTEMPT, file, files, &attempt_file_map, .limit = LIMIT_RESULT_FILES),
	JSONMAP_OBJECT("sdist", ATTEMPT, sdist, &attempt_file_map, .absent = JSONMAP_NULL),
	JSONMAP_LIST("awaiting", ATTEMPT, awaiting, awaitings, &name_map),
	JSONMAP_OTHER("provenance", put_build_provenance, get_build_provenance),
	JSONMAP_BOOL("has_log", ATTEMPT, a.has_log),
};
static const struct jsonmap attempt_map = JSONMAP(ATTEMPT, attempt_fields, .words = JSONMAP_BARE);

// --- writing ---

static const char *copy_field(struct arena *text, struct str *rest)
{
	return arena_copy(text, str_cut(rest, ' '));
}

static struct attempt_file split_file(struct arena *text, struct str line)
{
	uint64_t size = 0;
	struct attempt_file f = {.filename = copy_field(text, &line), .sha256 = copy_field(text, &line), .size = -1};
	if (decimal_parse(line, INT64_MAX, &size))
		f.size = (int64_t)size;
	return f;
}

static size_t count_parts(const char *text, char separator)
{
	size_t count = 0;
	for (struct str rest = str_from(text); rest.len; count++)
		str_cut(&rest, separator);
	return count;
}

static void split_lines(const struct results_attempt *a, struct arena *text, struct attempt_document *d)
{
	struct attempt_file *file;
	const char **name;
	const char *files = a->files ? a->files : "", *awaiting = a->awaiting ? a->awaiting : "";
	d->file = file = arena_alloc_aligned(text, (count_parts(files, '\n') + 1) * sizeof(*file));
	d->awaiting = name = arena_alloc_aligned(text, (count_parts(awaiting, ' ') + 1) * sizeof(*name));
	for (struct str rest = str_from(files); rest.len;)
		file[d->files++] = split_file(text, str_cut(&rest, '\n'));
	for (struct str rest = str_from(awaiting); rest.len;)
		name[d->awaitings++] = copy_field(text, &rest);
	if (a->sdist && *a->sdist)
		d->sdist = split_file(text, str_from(a->sdist));
}

struct jsondoc *results_json(const struct results_attempt *a)
{
	CLEANUP(arena_release) struct arena text = {0};
	struct attempt_document d = {.a = *a};
	split_lines(a, &text, &d);
	return jsonmap_json(&attempt_map, &d);
}

void results_json_put_log(struct jsondoc *doc, struct str log)
{
	CLEANUP(mem_free) char *text = xmalloc(log.len + 1);
	for (size_t i = 0; i < log.len; i++)
		text[i] = log.ptr[i] ? log.ptr[i] : '?';
	text[log.len] = '\0';
	jsondoc_put_str(doc, "log", text);
}

// --- reading ---

static const char *join_files(const struct attempt_document *d, struct arena *text)
{
	CLEANUP(buf_release) struct buf lines;
	buf_init(&lines, TEXT_MOST);
	for (size_t i = 0; i < d->files; i++)
		buf_printf(&lines, "%s%s %s %" PRId64, i ? "\n" : "", d->file[i].filename, d->file[i].sha256,
			d->file[i].size);
	return lines.failed ? NULL : arena_copy(text, buf_view(&lines));
}

static const char *join_names(const struct attempt_document *d, struct arena *text)
{
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, TEXT_MOST);
	for (size_t i = 0; i < d->awaitings; i++)
		buf_printf(&words, "%s%s", i ? " " : "", d->awaiting[i]);
	return words.failed ? NULL : arena_copy(text, buf_view(&words));
}

static int join_lines(struct attempt_document *d, struct arena *text, struct err *e)
{
	CLEANUP(buf_release) struct buf sdist;
	buf_init(&sdist, TEXT_MOST);
	if (d->sdist.filename)
		buf_printf(&sdist, "%s %s", d->sdist.filename, d->sdist.sha256);
	d->a.files = join_files(d, text);
	d->a.awaiting = join_names(d, text);
	d->a.sdist = sdist.failed ? NULL : arena_copy(text, buf_view(&sdist));
	const char *bad = !d->a.files ? "files" : !d->a.awaiting ? "awaiting" : !d->a.sdist ? "sdist" : NULL;
	return bad ? err_set(e, ERR_INVALID, "build result: %s is not valid", bad) : 0;
}

int results_json_read(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct str *log,
	struct err *e)
{
	struct attempt_document d = {.a = {.is_sent = true}};
	if (jsonmap_read(&attempt_map, doc, &d, text, e) < 0)
		return err_prefix(e, "build result: ");
	if (join_lines(&d, text, e) < 0 || results_check(&d.a, clock_wall_seconds(), e) < 0)
		return -1;
	const char *bytes = jsondoc_get_str(doc, "log");
	*log = bytes ? str_from(bytes) : (struct str){NULL, 0};
	if (log->len > LIMIT_RESULT_LOG)
		return err_set(e, ERR_INVALID, "build result: log is not valid");
	d.a.has_log = d.a.has_log || bytes;
	*out = d.a;
	return 0;
}
