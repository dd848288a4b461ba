// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/attempt-file.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/jsonmap.h"
#include "lib/place/record.h"
#include "lib/state/results/results-json.h"

enum {
	PART = 2, // digits of an id that name its folder
	FILE_MOST = LIMIT_RESULT_TEXT + 2 * LIMIT_RESULT_LOG,
};

void attempt_file_release(struct kept_attempt *f)
{
	arena_release(&f->text);
	buf_release(&f->bytes);
}

// --- the form ---

static void put_attempt_key(const void *row, const char *key, struct jsondoc *object)
{
	jsondoc_put(object, key, results_json(&((const struct kept_attempt *)row)->attempt));
}

static int get_attempt(const struct jsondoc *object, const char *key, void *row, struct arena *text, struct err *e)
{
	struct str log;
	const struct jsondoc *attempt = jsondoc_get(object, key);
	if (!attempt)
		return err_set(e, ERR_INVALID, "%s is not valid", key);
	return results_json_read(attempt, &((struct kept_attempt *)row)->attempt, text, &log, e);
}

#define FILE_ struct kept_attempt
static const struct jsonmap_field file_fields[] = {
	JSONMAP_OTHER("attempt", put_attempt_key, get_attempt),
	JSONMAP_INTEGER("number", FILE_, number),
	JSONMAP_BOOL("sent", FILE_, attempt.is_sent),
	JSONMAP_TOTALS("totals", FILE_, totals, results_result_name, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap file_map = JSONMAP(FILE_, file_fields, .words = JSONMAP_BARE);

void attempt_file_line(const struct kept_attempt *f, struct buf *out)
{
	jsonmap_write(&file_map, f, out);
}

int attempt_file_parse(struct str bytes, struct kept_attempt *out, struct err *e)
{
	struct str line = str_cut(&bytes, '\n');
	if (!bytes.ptr || line.len > LIMIT_RESULT_TEXT)
		return err_set(e, ERR_INVALID, "it does not begin with a line");
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(line, LIMIT_RESULT_VALUES, e);
	if (!doc || jsonmap_read(&file_map, doc, out, &out->text, e) < 0)
		return -1;
	out->packed = bytes.len ? bytes : (struct str){NULL, 0};
	out->attempt.has_log = out->packed.ptr != NULL;
	return 0;
}

// --- files ---

static struct place_folder *part_of(const char *folder, const char *id, bool make, struct err *e)
{
	const char part[PART + 1] = {id[0], id[1], '\0'};
	return record_secret_folder(folder, part, make, e);
}

int attempt_file_write(const char *folder, const struct kept_attempt *f, struct err *e)
{
	const char *id = f->attempt.id;
	CLEANUP(buf_release) struct buf bytes;
	CLEANUP(place_folder_close) struct place_folder *part = part_of(folder, id, true, e);
	buf_init(&bytes, FILE_MOST);
	attempt_file_line(f, &bytes);
	buf_str(&bytes, f->packed);
	if (bytes.failed)
		return err_set(e, ERR_LIMIT, "build result %s is too large", id);
	return part ? record_replace(part, id, buf_view(&bytes), e) : -1;
}

int attempt_file_read(const char *folder, const char *id, struct kept_attempt *out, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *part = part_of(folder, id, false, e);
	buf_init(&out->bytes, FILE_MOST);
	if (!part || record_read(part, id, FILE_MOST, &out->bytes, e) < 0)
		return -1;
	if (attempt_file_parse(buf_view(&out->bytes), out, e) < 0)
		return -1;
	return strcmp(out->attempt.id, id) == 0 ? 0 : err_set(e, ERR_INVALID, "it is not the attempt that its name says");
}

int attempt_file_remove(const char *folder, const char *id, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *part = part_of(folder, id, false, &missing);
	if (!part)
		return err_unless_missing(e, &missing);
	return place_remove(part, id, NULL, e) < 0 ? -1 : 0;
}

struct files_walk {
	const char *folder;
	attempt_files_fn *fn;
	void *ctx;
};

static bool is_hexadecimal_name(const char *name, size_t digits)
{
	return strlen(name) == digits && strspn(name, "0123456789abcdef") == digits;
}

static int tell_attempt_file(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	const struct files_walk *w = ctx;
	return is_hexadecimal_name(name, RESULTS_ID) ? w->fn(w->ctx, name, e) : 0;
}

static int walk_part(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	struct files_walk *w = ctx;
	if (!is_hexadecimal_name(name, PART))
		return 0;
	CLEANUP(place_folder_close) struct place_folder *part = part_of(w->folder, name, false, e);
	return part ? record_names(part, tell_attempt_file, w, e) : -1;
}

int attempt_files_each(const char *folder, attempt_files_fn *fn, void *ctx, struct err *e)
{
	struct err missing = ERR_INIT;
	struct files_walk w = {folder, fn, ctx};
	CLEANUP(place_folder_close) struct place_folder *top = record_secret_folder(folder, "", false, &missing);
	if (top)
		return record_names(top, walk_part, &w, e);
	return err_unless_missing(e, &missing);
}
