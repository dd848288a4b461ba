// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/evidence-file.h"

#include <stdio.h>
#include <string.h>

#include "lib/domain/text/filename.h"
#include "lib/format/compress.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/views/views-file.h"

enum { ZSTD_LEVEL = 6, SECOND = 1000000000, DAY = 86400, NANO_TEXT = CLOCK_TEXT + 10 };
static const char ending[] = ".json";

// --- names ---

void evidence_file_folder(uint8_t first, char out[EVIDENCE_FILE_FOLDER])
{
	snprintf(out, EVIDENCE_FILE_FOLDER, "%s/%02x", VIEWS_FILE_EVIDENCE, first);
}

void evidence_file_name(const uint8_t id[SHA256_SIZE], char out[EVIDENCE_FILE_NAME])
{
	hex_encode(id, SHA256_SIZE, out);
	memcpy(out + SHA256_HEX, ending, sizeof(ending));
}

bool evidence_file_is(const char *name, uint8_t id[SHA256_SIZE])
{
	char same[EVIDENCE_FILE_NAME];
	if (strlen(name) != EVIDENCE_FILE_NAME - 1 || !hex_decode((struct str){name, SHA256_HEX}, id, SHA256_SIZE))
		return false;
	evidence_file_name(id, same); // lower case alone
	return strcmp(name, same) == 0;
}

// --- times with nanoseconds ---

static void write_nano(int64_t ns, char out[NANO_TEXT])
{
	unsigned rest = (unsigned)(ns % SECOND) % (unsigned)SECOND;
	clock_write(ns / SECOND, out);
	snprintf(out + CLOCK_TEXT - 2, NANO_TEXT - (CLOCK_TEXT - 2), ".%09uZ", rest);
}

static bool read_nano(const char *text, int64_t *ns)
{
	char whole[CLOCK_TEXT], same[NANO_TEXT];
	int64_t seconds, rest = 0;
	if (strlen(text) != NANO_TEXT - 1)
		return false;
	memcpy(whole, text, CLOCK_TEXT - 2);
	memcpy(whole + CLOCK_TEXT - 2, "Z", 2);
	for (const char *c = text + CLOCK_TEXT - 1; ascii_is_digit(*c); c++)
		rest = rest * 10 + (*c - '0');
	if (!clock_read(whole, &seconds) || seconds > INT64_MAX / SECOND - 1 || rest >= SECOND)
		return false;
	*ns = seconds * SECOND + rest;
	write_nano(*ns, same);
	return strcmp(text, same) == 0;
}

// --- fields ---

struct evidence_document {
	const char *text; // of the record, for writing
	struct evidence_file *file;
	struct catalog_evidence note;
	bool is_again; // a further file of this record
};

static void put_record(const void *row, const char *key, struct jsondoc *object)
{
	struct err ignored = ERR_INIT;
	const struct evidence_document *d = row;
	struct jsondoc *record = jsondoc_read(str_from(d->text), &ignored);
	jsondoc_put(object, key, record ? record : jsondoc_object());
}

static int get_record(const struct jsondoc *object, const char *key, void *row, struct arena *text UNUSED, struct err *e)
{
	struct evidence_document *d = row;
	const struct jsondoc *record = jsondoc_get(object, key);
	if (!record)
		return err_set(e, ERR_INVALID, "\"%s\" is not an object", key);
	return evidence_read_json(record, &d->file->record, e);
}

static void put_received(const void *row, const char *key, struct jsondoc *object)
{
	char received[NANO_TEXT];
	write_nano(((const struct evidence_document *)row)->note.order, received);
	jsondoc_put_str(object, key, received);
}

static int get_received(const struct jsondoc *object, const char *key, void *row, struct arena *text UNUSED,
	struct err *e)
{
	struct catalog_evidence *note = &((struct evidence_document *)row)->note;
	const char *received = jsondoc_get_str(object, key);
	if (!received || !read_nano(received, &note->order))
		return err_set(e, ERR_INVALID, "\"%s\" is not a time as 2026-01-02T03:04:05.123456789Z", key);
	note->received = note->order / SECOND;
	if (note->received > clock_wall_seconds() + DAY)
		return err_set(e, ERR_INVALID,
			"\"%s\" is more than a day after this machine's clock: wheelcache view repair", key);
	return 0;
}

#define DOCUMENT struct evidence_document
static const struct jsonmap_field file_fields[] = {
	JSONMAP_OTHER("record", put_record, get_record),
	JSONMAP_OTHER("received", put_received, get_received),
	JSONMAP_TEXT("by", DOCUMENT, note.by, .limit = LIMIT_WORDS),
	JSONMAP_TEXT("address", DOCUMENT, note.address, .limit = LIMIT_NOTE),
	JSONMAP_TEXT("views", DOCUMENT, note.views, .limit = LIMIT_EVIDENCE_VIEWS),
	JSONMAP_BOOL("again", DOCUMENT, is_again, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap file_map = JSONMAP(DOCUMENT, file_fields);

// --- reading ---

static void note_record(const struct evidence *r, struct catalog_evidence *row)
{
	row->kind = r->kind;
	row->platform = r->platform;
	row->python = r->python;
	row->made = r->made;
	row->overrides = r->overrides;
	row->passed = r->passed;
	row->failed = r->failed;
	row->skipped = r->skipped;
	row->wheels = r->wheels;
}

// What identifies a file: its record, and, in a further file of that record, the views for which it counts.
static void make_id(const struct buf *record, const char *views, uint8_t id[SHA256_SIZE])
{
	CLEANUP(buf_release) struct buf both;
	buf_init(&both, EVIDENCE_FILE_MOST);
	buf_str(&both, buf_view(record));
	buf_puts(&both, views);
	digest_sha256(buf_view(&both), id);
}

int evidence_file_read(struct str json, struct evidence_file *out, struct err *e)
{
	*out = (struct evidence_file){0};
	struct evidence_document d = {.file = out};
	CLEANUP(buf_release) struct buf form;
	buf_init(&form, LIMIT_EVIDENCE);
	if (json.len > EVIDENCE_FILE_MOST)
		return err_set(e, ERR_LIMIT, "a file of evidence of more than %d bytes", EVIDENCE_FILE_MOST);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_EVIDENCE_VALUES, e);
	if (!doc || jsonmap_read(&file_map, doc, &d, &out->text, e) < 0) {
		evidence_file_release(out);
		return -1;
	}
	evidence_write(&out->record, &form);
	if (form.failed) {
		evidence_file_release(out);
		return err_set(e, ERR_LIMIT, "evidence of more than %d bytes", LIMIT_EVIDENCE);
	}
	out->row = d.note;
	make_id(&form, d.is_again ? d.note.views : "", out->row.id);
	note_record(&out->record, &out->row);
	return 0;
}

void evidence_file_release(struct evidence_file *f)
{
	evidence_release(&f->record);
	arena_release(&f->text);
	*f = (struct evidence_file){0};
}

int evidence_file_tested(const struct evidence_wheel *w, struct arena *text, struct catalog_tested *out, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	*out = (struct catalog_tested){.project = arena_copy(text, str_from(name.project)),
		.sha256 = w->sha256,
		.version = {arena_copy(text, name.version.key), name.version.key.len},
		.filename = w->filename,
		.content = w->has_content ? w->content : NULL,
		.commit = w->commit};
	return 0;
}

int evidence_file_put(struct catalog *c, const struct evidence_file *f, struct str text, struct err *e)
{
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, EVIDENCE_FILE_MOST + EVIDENCE_FILE_MOST / 8);
	CLEANUP(arena_release) struct arena projects = {0};
	CLEANUP(mem_free) struct catalog_tested *wheel = xcalloc(f->record.wheels + 1, sizeof(*wheel));
	for (size_t i = 0; i < f->record.wheels; i++)
		if (evidence_file_tested(&f->record.wheel[i], &projects, &wheel[i], e) < 0)
			return -1;
	if (compress_zstd(text, ZSTD_LEVEL, &packed, e) < 0)
		return -1;
	return catalog_evidence_put(c, &f->row, wheel, buf_view(&packed), e);
}

// --- writing ---

static int save_numbers(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	struct catalog_evidence *note = ctx;
	note->received = row->received;
	note->order = row->order;
	return 0;
}

// Whether each of these globs, with blanks between, is among the others.
static bool has_all_globs(const char *globs, const char *wanted)
{
	struct str rest = str_from(wanted);
	while (rest.len) {
		struct str one = str_cut(&rest, ' '), others = str_from(globs);
		bool is_there = false;
		while (others.len && !is_there)
			is_there = str_eq(str_cut(&others, ' '), one);
		if (!is_there)
			return false;
	}
	return true;
}

// A record that is known; its row says for which views.
struct known_evidence {
	struct catalog_evidence *note;
	bool has_views;
};

static int take_known(void *ctx, const struct catalog_evidence *row, struct err *e)
{
	struct known_evidence *k = ctx;
	k->has_views = has_all_globs(row->views, k->note->views);
	return save_numbers(k->note, row, e);
}

// Looks for the record of this id in the catalog, and for its further file with these views. 1: it is there and counts
// for these views; 0: it is not; then *is_again is whether the record is there, and note has its numbers.
static int find_evidence(struct catalog *c, const struct buf *record, struct catalog_evidence *note, bool *is_again,
	struct err *e)
{
	struct known_evidence k = {.note = note};
	make_id(record, "", note->id);
	int known = catalog_evidence_find(c, note->id, take_known, &k, e);
	*is_again = known > 0;
	if (known <= 0 || k.has_views)
		return known;
	make_id(record, note->views, note->id);
	return catalog_evidence_find(c, note->id, save_numbers, note, e);
}

// This machine's clock is wrong, or was: the sender is not to blame.
static int refuse_clock(int64_t last, struct err *e)
{
	char newest[CLOCK_TEXT], now[CLOCK_TEXT];
	clock_write(last / SECOND, newest);
	clock_write(clock_wall_seconds(), now);
	return err_set(e, ERR_BUSY,
		"the newest record came at %s, and this machine's clock says %s: set the clock, or, if it was ahead once, "
		"run wheelcache view repair",
		newest, now);
}

// A record that comes later is newer, also if the clock was set back.
static int set_time(struct catalog *c, struct catalog_evidence *note, struct err *e)
{
	int64_t last, now = clock_wall_ns();
	if (catalog_evidence_last(c, &last, e) < 0)
		return -1;
	if (last / SECOND > now / SECOND + DAY)
		return refuse_clock(last, e);
	note->order = now > last ? now : last + 1;
	note->received = note->order / SECOND;
	return 0;
}

// Reads what the store has by now under the name, and puts it into the catalog.
static int take_stored_file(struct place_folder *open, const char *name, struct catalog *c, struct catalog_evidence *note,
	struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	buf_init(&text, EVIDENCE_FILE_MOST);
	if (record_read(open, name, EVIDENCE_FILE_MOST, &text, e) < 0 ||
		evidence_file_read(buf_view(&text), &f, e) < 0)
		return err_prefix(e, "%s: ", name);
	if (memcmp(f.row.id, note->id, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "%s: it is not the record that its name says", name);
	if (catalog_begin(c, &t, e) < 0 || evidence_file_put(c, &f, buf_view(&text), e) < 0 ||
		catalog_commit(&t, e) < 0)
		return -1;
	return save_numbers(note, &f.row, e);
}

// Reads its own text again, since a file that cannot be read is worse than none. 1: it is new; 0: the name is taken.
static int create_file(struct place_folder *open, const char *name, struct str text, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(evidence_file_release) struct evidence_file again = {0};
	if (evidence_file_read(text, &again, e) < 0)
		return -1;
	if (record_create(open, name, text, &why) == 0)
		return 1;
	if (why.kind == ERR_CONFLICT)
		return 0;
	*e = why;
	return -1;
}

// The time of a record that is there already is that of its first file.
static int write_evidence(const char *folder, struct catalog *c, struct str record, struct catalog_evidence *note,
	bool is_again, struct err *e)
{
	char below[EVIDENCE_FILE_FOLDER], name[EVIDENCE_FILE_NAME];
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, EVIDENCE_FILE_MOST);
	evidence_file_folder(note->id[0], below);
	evidence_file_name(note->id, name);
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	if (views_write_enter(folder, &hold, e) < 0 || (!is_again && set_time(c, note, e) < 0))
		return -1;
	const struct evidence_document d = {.text = record.ptr, .note = *note, .is_again = is_again};
	jsonmap_write(&file_map, &d, &text);
	CLEANUP(place_folder_close) struct place_folder *open = record_folder(folder, below, true, e);
	int created = open ? create_file(open, name, buf_view(&text), e) : -1;
	if (created < 0 || take_stored_file(open, name, c, note, e) < 0)
		return -1;
	return created;
}

int evidence_file_is_known(struct catalog *c, const struct evidence *r, const char *views, struct err *e)
{
	bool is_again;
	struct catalog_evidence note = {.views = views};
	CLEANUP(buf_release) struct buf record;
	buf_init(&record, LIMIT_EVIDENCE);
	evidence_write(r, &record);
	return find_evidence(c, &record, &note, &is_again, e);
}

int evidence_file_add(const char *folder, struct catalog *c, const struct evidence *r, struct catalog_evidence *note,
	struct err *e)
{
	enum { TRIES = 2 }; // a file that the catalog did not have may count for other views
	bool is_again = false;
	CLEANUP(buf_release) struct buf record;
	buf_init(&record, LIMIT_EVIDENCE);
	evidence_write(r, &record);
	if (record.failed)
		return err_set(e, ERR_LIMIT, "evidence of more than %d bytes", LIMIT_EVIDENCE);
	note_record(r, note);
	for (int i = 0; i < TRIES; i++) {
		int known = find_evidence(c, &record, note, &is_again, e);
		if (known)
			return known < 0 ? -1 : 0;
		int written = write_evidence(folder, c, buf_view(&record), note, is_again, e);
		if (written)
			return written;
	}
	return 0;
}

// --- other times ---

bool evidence_file_order(struct str json, int64_t *order)
{
	struct err ignored = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_EVIDENCE_VALUES, &ignored);
	const char *received = doc ? jsondoc_get_str(doc, "received") : NULL;
	return received && read_nano(received, order);
}

static int compose_retimed(struct place_folder *open, const char *name, int64_t order, struct buf *out, struct err *e)
{
	char received[NANO_TEXT];
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, EVIDENCE_FILE_MOST);
	if (record_read(open, name, EVIDENCE_FILE_MOST, &text, e) < 0)
		return -1;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(buf_view(&text), LIMIT_EVIDENCE_VALUES, e);
	if (!doc)
		return -1;
	write_nano(order, received);
	jsondoc_put_str(doc, "received", received);
	jsondoc_write(doc, 0, out);
	return 0;
}

static int replace_row(struct catalog *c, const struct evidence_file *f, struct str text, struct err *e)
{
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_begin(c, &t, e) < 0 || catalog_evidence_remove(c, f->row.id, e) < 0 ||
		evidence_file_put(c, f, text, e) < 0)
		return -1;
	return catalog_commit(&t, e);
}

int evidence_file_retime(struct place_folder *folder, const char *name, int64_t order, struct catalog *c, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(evidence_file_release) struct evidence_file f = {0};
	buf_init(&text, EVIDENCE_FILE_MOST);
	if (compose_retimed(folder, name, order, &text, e) < 0 || evidence_file_read(buf_view(&text), &f, e) < 0)
		return err_prefix(e, "%s: ", name);
	if (record_replace(folder, name, buf_view(&text), e) < 0)
		return err_prefix(e, "%s: ", name);
	return replace_row(c, &f, buf_view(&text), e);
}
