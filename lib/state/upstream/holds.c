// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/advisories/osv-record.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/version.h"
#include "lib/format/digest.h"
#include "lib/format/jsonmap.h"
#include "lib/place/record.h"

enum { RECORD_MOST = 16 << 10, VALUES_MOST = 32, DIGITS = 8 };

static const char hold_prefix[] = "hold-", waiver_prefix[] = "waiver-";

// --- the form ---

static bool is_normal_project(struct str text)
{
	return name_is_valid(text) && name_is_normal(text);
}

static const struct jsonmap_field hold_fields[] = {
	JSONMAP_TIME("after", struct hold, after),
	JSONMAP_TEXT("upstream", struct hold, upstream, .limit = LIMIT_FILE_NAME, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("reason", struct hold, reason, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_TEXT("by", struct hold, who, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_TIME("made", struct hold, made),
};
static const struct jsonmap hold_map = JSONMAP(struct hold, hold_fields);

static int make_specifier(void *row, struct arena *text, struct err *e UNUSED)
{
	struct waiver *w = row;
	w->specifier = w->version ? arena_printf(text, "==%s", w->version) : NULL;
	return 0;
}

static const struct jsonmap_field waiver_fields[] = {
	JSONMAP_TEXT("project", struct waiver, project, .limit = LIMIT_FILE_NAME, .is_valid = is_normal_project),
	JSONMAP_TEXT("version", struct waiver, version, .limit = LIMIT_FILE_NAME, .is_valid = version_is_valid,
		.absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("upstream", struct waiver, upstream, .limit = LIMIT_FILE_NAME, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("record", struct waiver, record, .is_valid = osv_id_is_valid, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("reason", struct waiver, reason, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_TEXT("by", struct waiver, who, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_TIME("until", struct waiver, until),
	JSONMAP_TIME("made", struct waiver, made),
};
static const struct jsonmap waiver_map = JSONMAP(struct waiver, waiver_fields, .check = make_specifier);

// --- holds_reading ---

static bool is_of_kind(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncmp(name, prefix, len) == 0 && strspn(name + len, "0123456789abcdef") == DIGITS &&
	       !name[len + DIGITS];
}

static bool is_record(const char *name)
{
	return is_of_kind(name, hold_prefix) || is_of_kind(name, waiver_prefix);
}

struct holds_reading {
	struct place_folder *folder;
	struct holds *out;
	size_t hold_room, waiver_room;
};

static int read_row(const struct holds_reading *r, const char *name, const struct jsonmap *map, void *row, struct err *e)
{
	CLEANUP(buf_release) struct buf json = buf_up_to(RECORD_MOST);
	if (record_read(r->folder, name, RECORD_MOST, &json, e) < 0)
		return -1;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(buf_view(&json), VALUES_MOST, e);
	return doc ? jsonmap_read(map, doc, row, &r->out->text, e) : -1;
}

static int take_hold(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	struct holds_reading *r = ctx;
	struct holds *h = r->out;
	struct err why = ERR_INIT;
	struct hold hold = {0};
	struct waiver waiver = {0};
	bool is_hold = is_of_kind(name, hold_prefix);
	if (!is_record(name))
		return 0;
	if (h->holds + h->waivers >= LIMIT_HOLDS)
		return err_set(e, ERR_INVALID, "there are more than %d holds and waivers", LIMIT_HOLDS);
	if (read_row(r, name, is_hold ? &hold_map : &waiver_map, is_hold ? (void *)&hold : &waiver, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND) // it has just been ended
			return 0;
		*e = why;
		e->kind = why.kind == ERR_IO ? ERR_IO : ERR_INVALID;
		return err_prefix(e, "%s: ", name);
	}
	hold.id = waiver.id = arena_copy(&h->text, str_from(name));
	if (is_hold) {
		ARENA_GROW(&h->text, h->hold, h->holds, r->hold_room);
		h->hold[h->holds++] = hold;
	} else {
		ARENA_GROW(&h->text, h->waiver, h->waivers, r->waiver_room);
		h->waiver[h->waivers++] = waiver;
	}
	return 0;
}

static int compare_holds(const void *a, const void *b)
{
	const struct hold *x = a, *y = b;
	return x->after != y->after ? (x->after > y->after) - (x->after < y->after) : strcmp(x->id, y->id);
}

static int compare_waivers(const void *a, const void *b)
{
	const struct waiver *x = a, *y = b;
	int order = strcmp(x->project, y->project);
	return order ? order : strcmp(x->id, y->id);
}

// *folder NULL: there is none.
static int open_holds(const char *path, struct place_folder **folder, struct err *e)
{
	struct err missing = ERR_INIT;
	*folder = record_secret_folder(path, "", false, &missing);
	return *folder ? 0 : err_unless_missing(e, &missing);
}

int holds_read(const char *path, struct holds *out, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	*out = (struct holds){0};
	if (open_holds(path, &folder, e) < 0)
		return err_prefix(e, "holds and waivers: ");
	struct holds_reading r = {.folder = folder, .out = out};
	if (folder && record_names(folder, take_hold, &r, e) < 0) {
		holds_release(out);
		return err_prefix(e, "holds and waivers: %s: ", path);
	}
	if (out->holds)
		qsort(out->hold, out->holds, sizeof(*out->hold), compare_holds);
	if (out->waivers)
		qsort(out->waiver, out->waivers, sizeof(*out->waiver), compare_waivers);
	return 0;
}

void holds_release(struct holds *h)
{
	arena_release(&h->text);
	*h = (struct holds){0};
}

// Names are random, so the sum of their hashes tells sets of them apart.
static int add_to_mark(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	uint8_t sha256[SHA256_SIZE];
	uint64_t part = 0;
	if (!is_record(name))
		return 0;
	digest_sha256(str_from(name), sha256);
	memcpy(&part, sha256, sizeof(part));
	*(uint64_t *)ctx += part;
	return 0;
}

int holds_mark(const char *path, uint64_t *mark, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	*mark = 0;
	return open_holds(path, &folder, e) < 0 ? -1 : folder ? record_names(folder, add_to_mark, mark, e) : 0;
}

static bool is_waiver_before(const void *element, const void *key)
{
	return strcmp(((const struct waiver *)element)->project, key) < 0;
}

const struct waiver *holds_waivers_of(const struct holds *h, const char *project, size_t *count)
{
	size_t first = lower_bound(project, h->waiver, h->waivers, sizeof(*h->waiver), is_waiver_before), end = first;
	while (end < h->waivers && strcmp(h->waiver[end].project, project) == 0)
		end++;
	*count = end - first;
	return h->waiver + first;
}

// --- writing ---

static int count_record(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	*(size_t *)ctx += is_record(name);
	return 0;
}

static int make_record(const char *path, const char *prefix, const struct jsonmap *map, const void *row, const char *reason,
	char id[HOLD_ID + 1], struct err *e)
{
	uint32_t number;
	size_t count = 0;
	CLEANUP(buf_release) struct buf json = buf_up_to(RECORD_MOST);
	if (strlen(reason) > LIMIT_WORDS)
		return err_set(e, ERR_LIMIT, "the reason is longer than %d bytes", LIMIT_WORDS);
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(path, "", true, e);
	if (!folder || record_names(folder, count_record, &count, e) < 0)
		return -1;
	if (count >= LIMIT_HOLDS)
		return err_set(e, ERR_LIMIT, "there are %d holds and waivers already: end some", LIMIT_HOLDS);
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_set(e, ERR_IO, "no random number");
	snprintf(id, HOLD_ID + 1, "%s%08x", prefix, number);
	jsonmap_write(map, row, &json);
	return json.failed ? err_set(e, ERR_LIMIT, "%s is too long", id) : record_create(folder, id, buf_view(&json), e);
}

int holds_add(const char *path, const struct hold *h, char id[HOLD_ID + 1], struct err *e)
{
	return make_record(path, hold_prefix, &hold_map, h, h->reason, id, e);
}

int holds_waive(const char *path, const struct waiver *w, char id[HOLD_ID + 1], struct err *e)
{
	return make_record(path, waiver_prefix, &waiver_map, w, w->reason, id, e);
}

int holds_end(const char *path, const char *id, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	if (!is_record(id))
		return 0;
	if (open_holds(path, &folder, e) < 0)
		return -1;
	int removed = folder ? place_remove(folder, id, NULL, e) : 0;
	return removed > 0 && place_sync(folder, e) < 0 ? -1 : removed;
}

struct jsondoc *holds_json(const struct holds *h, bool has_names)
{
	struct jsondoc *holds = jsondoc_array(), *waivers = jsondoc_array();
	for (size_t i = 0; i < h->holds; i++) {
		const struct hold *o = &h->hold[i];
		jsondoc_add(holds, jsondoc_new("id:s after:t upstream:s reason:s by:k made:t", o->id, o->after, o->upstream,
					   o->reason, has_names ? o->who : NULL, o->made));
	}
	for (size_t i = 0; i < h->waivers; i++) {
		const struct waiver *w = &h->waiver[i];
		jsondoc_add(waivers, jsondoc_new("id:s project:s version:s until:t upstream:s record:s reason:s by:k made:t",
					     w->id, w->project, w->version, w->until, w->upstream, w->record, w->reason,
					     has_names ? w->who : NULL, w->made));
	}
	return jsondoc_new("holds:j waivers:j", holds, waivers);
}
