// SPDX-License-Identifier: Apache-2.0
#include "lib/advisories/advisory-build.h"

#include <stdlib.h>
#include <string.h>

#include "lib/advisories/advisory-format.h"
#include "lib/base/buf.h"
#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/domain/text/cvss.h"
#include "lib/format/compress.h"
#include "lib/format/digest.h"
#include "lib/os/clock.h"

enum { COMPRESSION = 3, TEXT_MOST = UINT16_MAX, WORST = 101 };

// A growing array of the index.
#define ARRAY_OF(type)                                                                                                 \
	struct {                                                                                                       \
		type *item;                                                                                            \
		size_t count, room;                                                                                    \
	}
#define ADD_TO(array)                                                                                                  \
	(*__extension__({                                                                                              \
		GROW((array).item, (array).count, (array).room);                                                       \
		&(array).item[(array).count++];                                                                        \
	}))

struct advisory_interval {
	uint32_t from, to;
	uint32_t record;
};

struct advisory_build {
	struct place_write *write; // NULL: it only checks
	struct compress *compress;
	uint64_t written;
	size_t most; // bytes of the index
	struct advisory_head head;
	struct buf text, notes, frame, packed;
	uint32_t *bucket; // of texts; 0: empty
	size_t texts, buckets;
	ARRAY_OF(struct advisory_frame) frames;
	ARRAY_OF(struct advisory_row) rows;
	ARRAY_OF(struct advisory_entry) entries;
	ARRAY_OF(struct advisory_range) ranges;
	ARRAY_OF(uint32_t) versions;
	ARRAY_OF(struct advisory_step) steps;
	ARRAY_OF(struct advisory_project) projects;
	// Of one project, for its steps.
	ARRAY_OF(struct advisory_interval) intervals;
	ARRAY_OF(uint32_t) places;
	uint32_t *worst, *next;
	size_t places_room;
};

struct advisory_build *advisory_build_new(struct place_folder *folder, const char *name, size_t most, struct err *e)
{
	struct place_write *write = folder ? place_write_begin(folder, name, e) : NULL;
	if (folder && !write)
		return NULL;
	struct advisory_build *b = xcalloc(1, sizeof(*b));
	b->write = write;
	b->most = most;
	b->compress = compress_new();
	buf_init(&b->text, most);
	buf_init(&b->notes, TEXT_MOST);
	buf_init(&b->frame, LIMIT_ADVISORY + ADVISORY_FRAME);
	buf_init(&b->packed, LIMIT_ADVISORY + 2 * ADVISORY_FRAME);
	buf_putc(&b->text, '\0'); // no text is at 0
	return b;
}

void advisory_build_free(struct advisory_build *b)
{
	if (!b)
		return;
	void *const arrays[] = {b->frames.item, b->rows.item, b->entries.item, b->ranges.item, b->versions.item,
		b->steps.item, b->projects.item, b->intervals.item, b->places.item, b->worst, b->next, b->bucket};
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++)
		free(arrays[i]);
	place_write_free(&b->write);
	compress_free(b->compress);
	buf_release(&b->text);
	buf_release(&b->notes);
	buf_release(&b->frame);
	buf_release(&b->packed);
	free(b);
}

// --- texts ---

static struct str built_text(const struct advisory_build *b, uint32_t ref)
{
	uint16_t len;
	memcpy(&len, b->text.data + ref, sizeof(len));
	return (struct str){b->text.data + ref + sizeof(len), len};
}

static uint32_t add_text(struct advisory_build *b, struct str s)
{
	uint32_t ref = (uint32_t)b->text.len;
	uint16_t len = (uint16_t)s.len;
	buf_add(&b->text, &len, sizeof(len));
	buf_str(&b->text, s);
	return ref;
}

static void spread_buckets(struct advisory_build *b)
{
	size_t before = b->buckets;
	uint32_t *old = b->bucket;
	b->buckets = before ? before * 2 : 1024;
	b->bucket = xcalloc(b->buckets, sizeof(*b->bucket));
	for (size_t i = 0; i < before; i++) {
		if (!old[i])
			continue;
		size_t at = hash_of(built_text(b, old[i]), 0) % b->buckets;
		while (b->bucket[at])
			at = (at + 1) % b->buckets;
		b->bucket[at] = old[i];
	}
	free(old);
}

// Equal texts have one place.
static uint32_t intern(struct advisory_build *b, struct str s)
{
	if (b->texts * 2 >= b->buckets)
		spread_buckets(b);
	size_t at = hash_of(s, 0) % b->buckets;
	for (; b->bucket[at]; at = (at + 1) % b->buckets)
		if (str_eq(built_text(b, b->bucket[at]), s))
			return b->bucket[at];
	uint32_t ref = add_text(b, s);
	if (b->text.failed)
		return 0;
	b->texts++;
	return b->bucket[at] = ref;
}

// --- records ---

static int write_part(struct advisory_build *b, struct str bytes, struct err *e)
{
	return b->write ? place_write_add(b->write, bytes, e) : 0;
}

static int flush_frame(struct advisory_build *b, struct err *e)
{
	if (!b->frame.len)
		return 0;
	buf_clear(&b->packed);
	if (compress_zstd_by(b->compress, buf_view(&b->frame), COMPRESSION, &b->packed, e) < 0 ||
		write_part(b, buf_view(&b->packed), e) < 0)
		return -1;
	ADD_TO(b->frames) =
		(struct advisory_frame){b->written, (uint32_t)b->packed.len, (uint32_t)b->frame.len};
	b->written += b->packed.len;
	buf_clear(&b->frame);
	return 0;
}

static void add_note(struct advisory_build *b, const char *name, const char *why)
{
	b->head.wrong++;
	if (b->head.wrong <= LIMIT_ADVISORIES_NAMED)
		buf_printf(&b->notes, "%s%.*s: %s", b->notes.len ? "\n" : "", LIMIT_FILE_NAME, name, why);
}

static void add_affected(struct advisory_build *b, const struct osv_affected *a, uint32_t record)
{
	const struct advisory_entry entry = {
		.project = intern(b, a->project),
		.record = record,
		.range = (uint32_t)b->ranges.count,
		.ranges = (uint32_t)a->ranges,
		.version = (uint32_t)b->versions.count,
		.versions = (uint32_t)(a->versions + a->others),
	};
	for (size_t i = 0; i < a->ranges; i++) {
		const struct osv_range *r = &a->range[i];
		uint32_t from = r->from.len ? intern(b, r->from) : 0, to = r->to.len ? intern(b, r->to) : 0;
		ADD_TO(b->ranges) =
			(struct advisory_range){from, r->includes_to ? to | (uint32_t)ADVISORY_BEHIND : to};
	}
	for (size_t i = 0; i < a->versions; i++) {
		uint32_t version = intern(b, a->version[i]);
		ADD_TO(b->versions) = version;
	}
	for (size_t i = 0; i < a->others; i++) {
		uint32_t version = intern(b, a->other[i]);
		ADD_TO(b->versions) = version | (uint32_t)ADVISORY_OTHER;
	}
	ADD_TO(b->entries) = entry;
}

static size_t index_size(const struct advisory_build *b)
{
	return sizeof(b->head) + b->frames.count * sizeof(*b->frames.item) + b->rows.count * sizeof(*b->rows.item) +
	       b->entries.count * sizeof(*b->entries.item) + b->ranges.count * sizeof(*b->ranges.item) +
	       b->versions.count * sizeof(*b->versions.item) + b->steps.count * sizeof(*b->steps.item) +
	       b->projects.count * sizeof(*b->projects.item) + b->text.len;
}

static int check_size(const struct advisory_build *b, struct err *e)
{
	if (b->text.failed || index_size(b) > b->most)
		return err_set(e, ERR_LIMIT, "the index of its records has more than %zu bytes", b->most);
	return 0;
}

// What a wrong record would hide is not known: it is worse than the highest score, so that no other one conceals it.
static uint8_t severity_of(const struct osv_record *r)
{
	return r->wrong ? WORST : r->severity == CVSS_NONE ? 0 : (uint8_t)r->severity;
}

int advisory_build_add(struct advisory_build *b, const struct osv_record *r, struct str text, const char *name,
	struct err *e)
{
	b->head.unpacked += text.len;
	if (r->wrong)
		add_note(b, name, r->wrong);
	else if (!r->count)
		b->head.skipped++;
	if (!r->count)
		return 0;
	if (!r->wrong && b->frame.len && b->frame.len + text.len > ADVISORY_FRAME && flush_frame(b, e) < 0)
		return -1;
	unsigned flags = (r->is_malicious ? ADVISORY_MALICIOUS : 0u) | (r->is_withdrawn ? ADVISORY_WITHDRAWN : 0u) |
			 (r->wrong ? ADVISORY_WRONG : 0u);
	uint32_t record = (uint32_t)b->rows.count;
	ADD_TO(b->rows) = (struct advisory_row){
		.id = add_text(b, r->id),
		.frame = (uint32_t)b->frames.count,
		.at = (uint32_t)b->frame.len,
		.size = r->wrong ? 0 : (uint32_t)text.len,
		.modified = {(uint32_t)r->modified, (uint32_t)((uint64_t)r->modified >> 32)},
		.severity = severity_of(r),
		.flags = (uint8_t)flags,
	};
	if (!r->wrong)
		buf_str(&b->frame, text);
	for (size_t i = 0; i < r->count && !r->is_withdrawn; i++)
		add_affected(b, &r->affected[i], record);
	return check_size(b, e);
}

// --- order ---

static int compare_record_ids(const void *a, const void *b, void *ctx)
{
	const struct advisory_build *build = ctx;
	const uint32_t *x = a, *y = b;
	int order = str_cmp(built_text(build, build->rows.item[*x].id), built_text(build, build->rows.item[*y].id));
	return order ? order : *x < *y ? -1 : *x > *y;
}

static int compare_entries(const void *a, const void *b, void *ctx)
{
	const struct advisory_entry *x = a, *y = b;
	if (x->project != y->project)
		return str_cmp(built_text(ctx, x->project), built_text(ctx, y->project));
	return x->record < y->record ? -1 : x->record > y->record;
}

static void sort_rows(struct advisory_build *b)
{
	size_t count = b->rows.count;
	CLEANUP(mem_free) uint32_t *order = xcalloc(count + 1, sizeof(*order));
	CLEANUP(mem_free) uint32_t *place = xcalloc(count + 1, sizeof(*place));
	struct advisory_row *sorted = xcalloc(count + 1, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_record_ids, b);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = b->rows.item[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	free(b->rows.item);
	b->rows.item = sorted;
	for (size_t i = 0; i < b->entries.count; i++)
		b->entries.item[i].record = place[b->entries.item[i].record];
	if (b->entries.count)
		qsort_r(b->entries.item, b->entries.count, sizeof(*b->entries.item), compare_entries, b);
}

// --- steps ---

static int compare_step_places(const struct advisory_build *b, uint32_t x, uint32_t y)
{
	uint32_t one = x & ~(uint32_t)ADVISORY_BEHIND, other = y & ~(uint32_t)ADVISORY_BEHIND;
	if (one == other)
		return x < y ? -1 : x > y;
	if (!one || !other)
		return one ? 1 : -1;
	return str_cmp(built_text(b, one), built_text(b, other));
}

static int compare_sorted_places(const void *a, const void *b, void *ctx)
{
	return compare_step_places(ctx, *(const uint32_t *)a, *(const uint32_t *)b);
}

static unsigned badness(const struct advisory_build *b, uint32_t record)
{
	const struct advisory_row *r = &b->rows.item[record];
	return (r->flags & ADVISORY_MALICIOUS ? WORST + 1u : 0) + r->severity;
}

static int compare_intervals(const void *x, const void *y, void *ctx)
{
	const struct advisory_interval *a = x, *b = y;
	unsigned one = badness(ctx, a->record), other = badness(ctx, b->record);
	if (one != other)
		return one > other ? -1 : 1;
	return a->record < b->record ? -1 : a->record > b->record;
}

static void add_interval(struct advisory_build *b, uint32_t from, uint32_t to, uint32_t record)
{
	ADD_TO(b->intervals) = (struct advisory_interval){from, to, record};
	ADD_TO(b->places) = from;
	if (to)
		ADD_TO(b->places) = to;
}

static void collect_intervals(struct advisory_build *b, const struct advisory_entry *entry)
{
	for (uint32_t i = 0; i < entry->ranges; i++) {
		struct advisory_range r = b->ranges.item[entry->range + i];
		add_interval(b, r.from, r.to, entry->record);
	}
	for (uint32_t i = 0; i < entry->versions; i++) {
		uint32_t key = b->versions.item[entry->version + i];
		if (!(key & (uint32_t)ADVISORY_OTHER))
			add_interval(b, key, key | (uint32_t)ADVISORY_BEHIND, entry->record);
	}
}

static void sort_places(struct advisory_build *b)
{
	size_t kept = 0;
	qsort_r(b->places.item, b->places.count, sizeof(*b->places.item), compare_sorted_places, b);
	for (size_t i = 0; i < b->places.count; i++)
		if (!kept || b->places.item[i] != b->places.item[kept - 1])
			b->places.item[kept++] = b->places.item[i];
	b->places.count = kept;
	if (kept < b->places_room)
		return;
	b->places_room = kept + 1;
	b->worst = xreallocarray(b->worst, b->places_room, sizeof(*b->worst));
	b->next = xreallocarray(b->next, b->places_room, sizeof(*b->next));
}

static size_t find_step_place(const struct advisory_build *b, uint32_t place)
{
	size_t low = 0, high = b->places.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (compare_step_places(b, b->places.item[middle], place) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// The first place from this one on that no interval has taken.
static uint32_t find_free(uint32_t *next, uint32_t place)
{
	uint32_t end = place;
	while (next[end] != end)
		end = next[end];
	while (next[place] != end) {
		uint32_t behind = next[place];
		next[place] = end;
		place = behind;
	}
	return end;
}

// The worst intervals come first, and each takes what is free: each place is taken once.
static void take_places(struct advisory_build *b)
{
	uint32_t count = (uint32_t)b->places.count;
	for (uint32_t i = 0; i <= count; i++) {
		b->next[i] = i;
		b->worst[i] = ADVISORY_NOBODY;
	}
	for (size_t i = 0; i < b->intervals.count; i++) {
		const struct advisory_interval *x = &b->intervals.item[i];
		uint32_t end = x->to ? (uint32_t)find_step_place(b, x->to) : count;
		uint32_t at = find_free(b->next, (uint32_t)find_step_place(b, x->from));
		for (; at < end; at = find_free(b->next, at)) {
			b->worst[at] = x->record;
			b->next[at] = at + 1;
		}
	}
}

static void add_steps(struct advisory_build *b, const struct advisory_entry *entry, size_t entries)
{
	uint32_t before = ADVISORY_NOBODY;
	b->intervals.count = b->places.count = 0;
	for (size_t i = 0; i < entries; i++)
		collect_intervals(b, &entry[i]);
	if (!b->intervals.count)
		return;
	qsort_r(b->intervals.item, b->intervals.count, sizeof(*b->intervals.item), compare_intervals, b);
	sort_places(b);
	take_places(b);
	for (size_t i = 0; i < b->places.count; i++) {
		if (b->worst[i] != before)
			ADD_TO(b->steps) = (struct advisory_step){b->places.item[i], b->worst[i]};
		before = b->worst[i];
	}
}

static int add_projects(struct advisory_build *b, struct err *e)
{
	const struct advisory_entry *entry = b->entries.item;
	for (size_t i = 0, end; i < b->entries.count; i = end) {
		for (end = i + 1; end < b->entries.count && entry[end].project == entry[i].project;)
			end++;
		ADD_TO(b->projects) =
			(struct advisory_project){entry[i].project, (uint32_t)i, (uint32_t)b->steps.count};
		add_steps(b, &entry[i], end - i);
		if (check_size(b, e) < 0)
			return -1;
	}
	ADD_TO(b->projects) = (struct advisory_project){0, (uint32_t)b->entries.count, (uint32_t)b->steps.count};
	return 0;
}

// --- the file ---

static int write_index(struct advisory_build *b, struct err *e)
{
	struct advisory_tail tail = {.magic = ADVISORY_MAGIC, .offset = b->written, .size = index_size(b)};
	const struct str parts[] = {
		{(const char *)&b->head, sizeof(b->head)},
		{(const char *)b->frames.item, b->frames.count * sizeof(*b->frames.item)},
		{(const char *)b->rows.item, b->rows.count * sizeof(*b->rows.item)},
		{(const char *)b->entries.item, b->entries.count * sizeof(*b->entries.item)},
		{(const char *)b->ranges.item, b->ranges.count * sizeof(*b->ranges.item)},
		{(const char *)b->versions.item, b->versions.count * sizeof(*b->versions.item)},
		{(const char *)b->steps.item, b->steps.count * sizeof(*b->steps.item)},
		{(const char *)b->projects.item, b->projects.count * sizeof(*b->projects.item)},
		buf_view(&b->text),
	};
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	digest_begin(digest);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		digest_add(digest, parts[i].ptr, parts[i].len);
		if (write_part(b, parts[i], e) < 0)
			return -1;
	}
	digest_end(digest, tail.sha256);
	return write_part(b, (struct str){(const char *)&tail, sizeof(tail)}, e);
}

int advisory_build_end(struct advisory_build *b, uint64_t fingerprint, struct err *e)
{
	if (flush_frame(b, e) < 0)
		return -1;
	sort_rows(b);
	b->head.notes = b->notes.len ? add_text(b, buf_view(&b->notes)) : 0;
	if (add_projects(b, e) < 0)
		return -1;
	b->head.fingerprint = fingerprint;
	b->head.loaded = clock_wall_seconds();
	b->head.frames = (uint32_t)b->frames.count;
	b->head.rows = (uint32_t)b->rows.count;
	b->head.entries = (uint32_t)b->entries.count;
	b->head.ranges = (uint32_t)b->ranges.count;
	b->head.versions = (uint32_t)b->versions.count;
	b->head.steps = (uint32_t)b->steps.count;
	b->head.projects = (uint32_t)b->projects.count;
	b->head.text = (uint32_t)b->text.len;
	if (write_index(b, e) < 0)
		return -1;
	return !b->write ? 0 : place_write_sync(b->write, e) < 0 ? -1 : place_replace(b->write, NULL, e);
}
