// SPDX-License-Identifier: Apache-2.0
#include "lib/advisories/advisory-list.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/advisories/advisory-format.h"
#include "lib/base/limits.h"
#include "lib/format/compress.h"
#include "lib/format/digest.h"

struct advisory_list {
	_Atomic unsigned owners;
	struct place_file *file;
	struct byte_source source;
	char *index; // owned: the arrays below are in it
	size_t index_size;
	const struct advisory_head *head;
	const struct advisory_frame *frame;
	const struct advisory_row *row;
	const struct advisory_entry *entry;
	const struct advisory_range *range;
	const uint32_t *version;
	const struct advisory_step *step;
	const struct advisory_project *project;
	const char *text;
};

// --- the file ---

static int damaged(struct err *e)
{
	return err_set(e, ERR_INVALID, "the list is damaged, or of another release");
}

static int read_tail(const struct byte_source *s, struct advisory_tail *out, struct err *e)
{
	if (s->size < sizeof(*out))
		return damaged(e);
	uint64_t at = s->size - sizeof(*out);
	if (byte_source_read(s, at, out, sizeof(*out), e) < 0)
		return -1;
	bool is_ours = memcmp(out->magic, ADVISORY_MAGIC, sizeof(out->magic)) == 0 &&
		       out->size <= LIMIT_ADVISORY_INDEX && out->size >= sizeof(struct advisory_head) && out->offset <= at && out->size == at - out->offset;
	return is_ours ? 0 : damaged(e);
}

// Cuts the arrays out of the index. Its digest is right, so they are as advisory-build wrote them.
static int cut_arrays(struct advisory_list *l, struct err *e)
{
	const struct advisory_head *h = l->head = (const struct advisory_head *)(const void *)l->index;
	const struct {
		const void *array;
		size_t size;
	} parts[] = {
		{&l->frame, h->frames * sizeof(*l->frame)},
		{&l->row, h->rows * sizeof(*l->row)},
		{&l->entry, h->entries * sizeof(*l->entry)},
		{&l->range, h->ranges * sizeof(*l->range)},
		{&l->version, h->versions * sizeof(*l->version)},
		{&l->step, h->steps * sizeof(*l->step)},
		{&l->project, h->projects * sizeof(*l->project)},
		{&l->text, h->text},
	};
	size_t at = sizeof(*h);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		const char *begin = l->index + at;
		if (parts[i].size > l->index_size - at)
			return damaged(e);
		memcpy((void *)(uintptr_t)parts[i].array, &begin, sizeof(begin));
		at += parts[i].size;
	}
	return at == l->index_size && h->projects ? 0 : damaged(e);
}

static int read_index(struct advisory_list *l, struct err *e)
{
	struct advisory_tail tail;
	uint8_t sha256[SHA256_SIZE];
	if (read_tail(&l->source, &tail, e) < 0)
		return -1;
	l->index_size = (size_t)tail.size;
	l->index = xmalloc(l->index_size);
	if (byte_source_read(&l->source, tail.offset, l->index, l->index_size, e) < 0)
		return -1;
	digest_sha256((struct str){l->index, l->index_size}, sha256);
	return memcmp(sha256, tail.sha256, SHA256_SIZE) == 0 ? cut_arrays(l, e) : damaged(e);
}

struct advisory_list *advisory_list_open(struct place_folder *folder, const char *name, struct err *e)
{
	struct place_info info;
	struct place_file *file = place_open_in(folder, name, e);
	if (!file)
		return NULL;
	struct advisory_list *l = xcalloc(1, sizeof(*l));
	atomic_init(&l->owners, 1);
	l->file = file;
	if (place_file_info(file, &info, e) == 0) {
		l->source = place_file_source(file, info.version.size);
		if (info.kind != PLACE_FILE)
			damaged(e);
		else if (read_index(l, e) == 0)
			return l;
	}
	advisory_list_unref(l);
	return NULL;
}

struct advisory_list *advisory_list_ref(struct advisory_list *l)
{
	atomic_fetch_add(&l->owners, 1);
	return l;
}

void advisory_list_unref(struct advisory_list *l)
{
	if (!l || atomic_fetch_sub(&l->owners, 1) > 1)
		return;
	place_file_close(&l->file);
	free(l->index);
	free(l);
}

static struct str listed_text(const struct advisory_list *l, uint32_t ref)
{
	uint16_t len;
	memcpy(&len, l->text + ref, sizeof(len));
	return (struct str){l->text + ref + sizeof(len), len};
}

void advisory_list_state(const struct advisory_list *l, struct advisory_list_state *out)
{
	const struct advisory_head *h = l->head;
	*out = (struct advisory_list_state){
		.fingerprint = h->fingerprint,
		.loaded = h->loaded,
		.records = h->rows,
		.skipped = h->skipped,
		.wrong = h->wrong,
		.notes = h->notes ? listed_text(l, h->notes) : STR(""),
		.bytes = sizeof(*l) + l->index_size,
	};
}

// --- records ---

static struct advisory advisory_at(const struct advisory_list *l, uint32_t number)
{
	const struct advisory_row *r = &l->row[number];
	return (struct advisory){
		.id = listed_text(l, r->id),
		.modified = (int64_t)((uint64_t)r->modified[1] << 32 | r->modified[0]),
		.severity = r->severity,
		.is_malicious = r->flags & ADVISORY_MALICIOUS,
		.is_withdrawn = r->flags & ADVISORY_WITHDRAWN,
		.is_wrong = r->flags & ADVISORY_WRONG,
		.number = number,
	};
}

bool advisory_list_by_id(const struct advisory_list *l, struct str id, struct advisory *out)
{
	uint32_t low = 0, high = l->head->rows;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (str_cmp(listed_text(l, l->row[middle].id), id) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == l->head->rows || !str_eq(listed_text(l, l->row[low].id), id))
		return false;
	*out = advisory_at(l, low);
	return true;
}

int advisory_list_text(const struct advisory_list *l, const struct advisory *a, struct buf *out, struct err *e)
{
	const struct advisory_row *row = &l->row[a->number];
	if (!row->size || row->frame >= l->head->frames)
		return damaged(e);
	const struct advisory_frame *frame = &l->frame[row->frame];
	CLEANUP(buf_release) struct buf packed = buf_up_to(frame->packed);
	CLEANUP(buf_release) struct buf text = buf_up_to(frame->size);
	char *room = buf_reserve(&packed, frame->packed);
	if (!room)
		return damaged(e);
	if (byte_source_read(&l->source, frame->offset, room, frame->packed, e) < 0)
		return -1;
	packed.len = frame->packed;
	if (decompress_zstd(buf_view(&packed), &text, e) < 0)
		return -1;
	if (row->at > text.len || row->size > text.len - row->at)
		return damaged(e);
	buf_add(out, text.data + row->at, row->size);
	return out->failed ? err_set(e, ERR_LIMIT, "the answer is too large") : 0;
}

// --- versions ---

uint32_t advisory_list_project(const struct advisory_list *l, struct str name)
{
	uint32_t low = 0, high = l->head->projects - 1; // the last row is none
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = str_cmp(listed_text(l, l->project[middle].name), name);
		if (!order)
			return middle + 1;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

static bool is_behind(const struct advisory_list *l, uint32_t place, struct str key)
{
	uint32_t ref = place & ~(uint32_t)ADVISORY_BEHIND;
	int order = ref ? str_cmp(listed_text(l, ref), key) : -1;
	return order > 0 || (order == 0 && place != ref);
}

static uint32_t worst_of_key(const struct advisory_list *l, const struct advisory_project *p, struct str key)
{
	uint32_t low = p->step, high = p[1].step;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (is_behind(l, l->step[middle].at, key))
			high = middle;
		else
			low = middle + 1;
	}
	return low == p->step ? ADVISORY_NOBODY : l->step[low - 1].record;
}

static bool is_in_range(const struct advisory_list *l, const struct advisory_range *r, struct str key)
{
	if (!key.len) // no version of PEP 440: only a range of all versions has it
		return !r->from && !r->to;
	return !(r->from && is_behind(l, r->from, key)) && (!r->to || is_behind(l, r->to, key));
}

static bool is_about(const struct advisory_list *l, const struct advisory_entry *x, struct str version, struct str key)
{
	for (uint32_t i = 0; i < x->ranges; i++)
		if (is_in_range(l, &l->range[x->range + i], key))
			return true;
	for (uint32_t i = 0; i < x->versions; i++) {
		uint32_t ref = l->version[x->version + i], other = ref & (uint32_t)ADVISORY_OTHER;
		if (!other == (key.len > 0) && str_eq(listed_text(l, ref ^ other), key.len ? key : version))
			return true;
	}
	return false;
}

void advisory_list_each(const struct advisory_list *l, uint32_t project, struct str version, struct str key,
	advisory_fn *fn, void *ctx)
{
	uint32_t before = ADVISORY_NOBODY;
	if (!project)
		return;
	const struct advisory_project *p = &l->project[project - 1];
	for (uint32_t i = p->entry; i < p[1].entry; i++) {
		const struct advisory_entry *x = &l->entry[i];
		if (x->record == before || (version.len && !is_about(l, x, version, key)))
			continue;
		struct advisory a = advisory_at(l, before = x->record);
		if (!fn(ctx, &a))
			return;
	}
}

static bool take_worse(void *ctx, const struct advisory *a)
{
	struct advisory *worst = ctx;
	if (!worst->id.len || advisory_is_worse(a, worst))
		*worst = *a;
	return true;
}

bool advisory_is_worse(const struct advisory *a, const struct advisory *b)
{
	return a->is_malicious == b->is_malicious ? a->severity > b->severity : a->is_malicious;
}

bool advisory_list_worst(const struct advisory_list *l, uint32_t project, struct str version, struct str key,
	struct advisory *out)
{
	if (!key.len) {
		*out = (struct advisory){0};
		advisory_list_each(l, project, version, key, take_worse, out);
		return out->id.len > 0;
	}
	uint32_t record = project ? worst_of_key(l, &l->project[project - 1], key) : ADVISORY_NOBODY;
	if (record != ADVISORY_NOBODY)
		*out = advisory_at(l, record);
	return record != ADVISORY_NOBODY;
}

void advisory_list_stretches(const struct advisory_list *l, uint32_t project, advisory_fn *fn, void *ctx)
{
	if (!project)
		return;
	const struct advisory_project *p = &l->project[project - 1];
	bool goes_on = (p->step < p[1].step && !l->step[p->step].at) || fn(ctx, NULL);
	for (uint32_t i = p->step; i < p[1].step && goes_on; i++) {
		struct advisory a = {0};
		bool is_hit = l->step[i].record != ADVISORY_NOBODY;
		if (is_hit)
			a = advisory_at(l, l->step[i].record);
		goes_on = fn(ctx, is_hit ? &a : NULL);
	}
}
