// SPDX-License-Identifier: Apache-2.0
// Parses responses into rows, and combines the rows of a project into an answer.
#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/base/strset.h"
#include "lib/format/compress.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/mirror-pins.h"
#include "lib/state/upstream/upstream-row.h"

static int64_t newest_upload(const struct simplepage *page)
{
	int64_t newest = 0;
	for (size_t i = 0; i < page->files; i++)
		newest = page->file[i].uploaded > newest ? page->file[i].uploaded : newest;
	return newest;
}

// For pages without serials and upload times: whether the page lacks files of the other and has no other files.
static bool only_lacks_files(const struct simplepage *page, const struct simplepage *before)
{
	CLEANUP(strset_release) struct strset had = {0};
	if (page->files >= before->files)
		return false;
	for (size_t i = 0; i < before->files; i++)
		strset_add(&had, before->file[i].filename);
	strset_sort(&had);
	for (size_t i = 0; i < page->files; i++)
		if (!strset_has(&had, page->file[i].filename))
			return false;
	return true;
}

bool upstream_page_is_older(const struct simplepage *page, const struct simplepage *before)
{
	int64_t now = newest_upload(page), then = newest_upload(before);
	bool has_serials = page->serial && before->serial;
	if (has_serials && page->serial != before->serial)
		return page->serial < before->serial;
	if (then && now && now != then)
		return now < then;
	return (has_serials || !then || !now) && only_lacks_files(page, before);
}

const char *const upstream_result_name[UPSTREAM_RESULT_COUNT] = {
	[UPSTREAM_KNOWN] = "known",
	[UPSTREAM_ABSENT] = "absent",
	[UPSTREAM_NOT_FOUND] = "404",
	[UPSTREAM_REFUSED] = "refused",
	[UPSTREAM_RESOLVE] = "no address",
	[UPSTREAM_TIMEOUT] = "timeout",
	[UPSTREAM_TLS] = "TLS",
	[UPSTREAM_CLIENT_ERROR] = "4xx",
	[UPSTREAM_SERVER_ERROR] = "5xx",
	[UPSTREAM_THROTTLED] = "429",
	[UPSTREAM_REDIRECTED] = "redirect",
	[UPSTREAM_NOT_A_PAGE] = "not a simple page",
	[UPSTREAM_TRUNCATED] = "truncated",
	[UPSTREAM_TOO_LARGE] = "too large",
	[UPSTREAM_WRONG_PROJECT] = "wrong project",
	[UPSTREAM_OLDER] = "older",
	[UPSTREAM_QUARANTINED] = "quarantined",
	[UPSTREAM_NEVER_ASKED] = "never asked",
	[UPSTREAM_PRIVATE] = "private",
	[UPSTREAM_PASSWORD] = "password-file",
	[UPSTREAM_OTHER] = "other",
};

static const enum upstream_result by_fault[] = {
	[SIMPLEPAGE_GOOD] = UPSTREAM_OTHER, // unused: not a failure
	[SIMPLEPAGE_NOT_A_PAGE] = UPSTREAM_NOT_A_PAGE,
	[SIMPLEPAGE_TRUNCATED] = UPSTREAM_TRUNCATED,
	[SIMPLEPAGE_WRONG_PROJECT] = UPSTREAM_WRONG_PROJECT,
	[SIMPLEPAGE_TOO_LARGE] = UPSTREAM_TOO_LARGE,
};

void upstream_response_release(struct upstream_response *s)
{
	free(s->why);
	free(s->url);
	free(s->etag);
	free(s->type);
	if (s->body.data)
		buf_release(&s->body);
	*s = (struct upstream_response){0};
}

static void drop_page(struct upstream_row *row)
{
	if (row->has_page)
		simplepage_release(&row->page);
	row->has_page = false;
}

void upstream_row_release(struct upstream_row *row)
{
	drop_page(row);
	upstream_response_release(&row->response);
	buf_release(&row->packed);
	free(row->why);
	free(row->etag);
}

static void set_text(char **field, const char *text)
{
	free(*field);
	*field = text ? xstrdup(text) : NULL;
}

// Pages depend only on these definitive facts; a failed look-up does not change them.
static bool is_certain(enum upstream_result r)
{
	return r == UPSTREAM_KNOWN || r == UPSTREAM_NOT_FOUND || r == UPSTREAM_QUARANTINED;
}

static void conclude_row(struct upstream_row *row, enum upstream_result result, const char *why)
{
	row->result = result;
	set_text(&row->why, why);
	if (!is_certain(result))
		return;
	row->is_changed = row->is_changed || row->last_definitive != result;
	row->last_definitive = result;
	row->certain = row->response.as_of;
}

// Whether an older page is accepted.
static bool is_there_for_long(struct upstream_row *row, struct str packed)
{
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(packed, sha256);
	int64_t now = clock_wall_seconds();
	if (row->has_doubt && digest_equal(sha256, row->doubt) && row->doubted <= now)
		return now - row->doubted >= UPSTREAM_DOUBT_S;
	row->has_doubt = true;
	row->doubted = now;
	memcpy(row->doubt, sha256, SHA256_SIZE);
	return false;
}

int64_t upstream_row_arrived(const struct upstream_row *row)
{
	return row->project->here[upstream_number(row->project->upstreams, row->index->upstream)].arrived;
}

// Whether it is known since when the index has the project, by this catalog or by an earlier one.
static bool has_since(const struct upstream_row *row)
{
	return row->had_since && (row->last_definitive == UPSTREAM_KNOWN || row->last_definitive == UPSTREAM_NEVER_ASKED);
}

// The first answer after the arrival of our first file decides the owner of the name; earlier answers do not count. One
// of an earlier catalog came after it.
static void note_since(struct upstream_row *row)
{
	bool is_anew = !has_since(row) ||
		       (row->last_definitive == UPSTREAM_KNOWN && row->certain < upstream_row_arrived(row));
	int64_t oldest = name_owner_oldest_upload(row->has_page ? &row->page : NULL);
	if (is_anew)
		row->had_since = oldest ? oldest : row->response.as_of - NAME_OWNER_AT_ONCE_S;
	else if (oldest && oldest < row->had_since)
		row->had_since = oldest;
}

// An answer that was in other caches since before our first file came does not say that upstream had the project then,
// so it counts as read before. Otherwise its time is that of the request: an old page is still the one to be served.
static void confirm(struct upstream_row *row)
{
	const struct upstream_response *s = &row->response;
	int64_t arrived = upstream_row_arrived(row);
	note_since(row);
	row->fetched = s->as_of < arrived && arrived <= s->sent ? arrived - 1 : s->sent;
	row->has_doubt = false;
	row->doubted = 0;
	row->max_age = s->max_age < 0 ? s->max_age : s->max_age + row->asked - s->sent; // it is fresh from then on
	conclude_row(row, UPSTREAM_KNOWN, "");
}

// Takes ownership of page and packed if the page is accepted. packed is empty without an earlier page: it is packed
// when it is saved, after the waiters have been answered.
static void take_page(struct upstream_row *row, struct simplepage *page, struct buf *packed)
{
	bool is_same = row->has_page && str_eq(buf_view(&row->packed), buf_view(packed));
	if (row->has_page && !is_same && upstream_page_is_older(page, &row->page) &&
		!is_there_for_long(row, buf_view(packed))) {
		conclude_row(row, UPSTREAM_OLDER, "the page is older than the one that was there before");
		return;
	}
	if (!is_same) {
		drop_page(row);
		row->page = *page;
		row->has_page = true;
		*page = (struct simplepage){0};
		buf_release(&row->packed);
		row->packed = *packed;
		buf_init(packed, SIZE_MAX / 2);
		row->has_new_page = row->is_changed = true;
		upstream_row_note_seen(row);
	}
	set_text(&row->etag, row->response.etag);
	confirm(row);
}

static bool unpack_body(struct upstream_row *row)
{
	struct upstream_response *s = &row->response;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf plain;
	buf_init(&plain, row->index->upstream->max_page);
	if (s->is_packed && decompress_gzip_whole(buf_view(&s->body), &plain, &e) < 0) {
		conclude_row(row, e.kind == ERR_LIMIT ? UPSTREAM_TOO_LARGE : UPSTREAM_TRUNCATED, e.msg);
		return false;
	}
	if (s->is_packed) {
		buf_release(&s->body);
		s->body = plain;
		plain = (struct buf){0};
	}
	return true;
}

// Pages do not have values beyond the limits.
static void log_what_is_cut(const struct upstream_row *row)
{
	size_t count = 0;
	for (size_t i = 0; i < row->page.files; i++)
		count += row->page.file[i].is_cut;
	if (count)
		log_warn("%s: of %s, %s more than a page may: values beyond the limits are left out", row->index->shown,
			row->project->name, COUNTED(count, "file says|files say"));
}

static void read_page(struct upstream_row *row)
{
	struct upstream_response *s = &row->response;
	struct err e = ERR_INIT;
	if (!unpack_body(row))
		return;
	enum simplepage_fault fault = SIMPLEPAGE_GOOD;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	if (simplepage_parse(buf_view(&s->body), str_from(s->type ? s->type : ""), s->url, row->project->name, &page,
		    &fault, &e) < 0) {
		page = (struct simplepage){0};
		conclude_row(row, by_fault[fault], e.msg);
		return;
	}
	if (page.status == SIMPLEPAGE_QUARANTINED) {
		row->had_since = has_since(row) ? row->had_since : row->asked - NAME_OWNER_AT_ONCE_S;
		conclude_row(row, UPSTREAM_QUARANTINED, page.status_reason ? page.status_reason : "no reason is given");
		return;
	}
	if (!page.serial)
		page.serial = s->serial;
	upstream_row_keep_times(row, &page);
	CLEANUP(buf_release) struct buf packed;
	buf_init(&packed, SIZE_MAX / 2);
	if (row->has_page && simplepage_pack(&page, &packed, &e) < 0) // to be held against the one before
		conclude_row(row, UPSTREAM_TOO_LARGE, e.msg);
	else
		take_page(row, &page, &packed);
	if (row->has_new_page)
		log_what_is_cut(row);
}

static void settle_row(struct upstream_row *row)
{
	struct upstream_response *s = &row->response;
	if (!s->is_there)
		return;
	row->asked = clock_wall_seconds();
	row->is_dirty = true;
	row->is_unchanged = s->is_same;
	if (s->result != UPSTREAM_KNOWN)
		conclude_row(row, s->result, s->why);
	else if (!s->is_same)
		read_page(row);
	else if (row->has_page)
		confirm(row);
	else
		conclude_row(row, UPSTREAM_CLIENT_ERROR, "304 without having been asked for it");
	upstream_row_note_health(row);
	upstream_response_release(s);
}

void upstream_parse(struct upstreams *u, struct upstream_project *p)
{
	upstream_decisions_drop(p);
	for (size_t i = 0; i < u->indexes; i++)
		settle_row(&p->row[i]);
}

void upstream_row_unpack(struct upstream_row *row)
{
	struct err e = ERR_INIT;
	row->has_page = row->packed.len && simplepage_unpack(buf_view(&row->packed), &row->page, &e) == 0;
	if (row->has_page)
		upstream_row_note_seen(row);
	if (row->has_page || !row->packed.len)
		return;
	// Another version of wheelcache wrote it: as if the index had never been asked.
	buf_clear(&row->packed);
	set_text(&row->etag, NULL);
	row->result = row->last_definitive = UPSTREAM_NEVER_ASKED;
	row->fetched = row->certain = row->had_since = 0;
}

struct str upstream_row_packed(const struct upstream_row *row, struct buf *room)
{
	struct err e = ERR_INIT;
	if (!row->has_new_page || row->packed.len)
		return buf_view(&row->packed);
	return simplepage_pack(&row->page, room, &e) < 0 ? (struct str){0} : buf_view(room);
}

void upstream_project_slim(struct upstream_project *p)
{
	for (size_t i = 0; i < p->upstreams->indexes; i++) {
		struct upstream_row *row = &p->row[i];
		CLEANUP(buf_release) struct buf room;
		buf_init(&room, SIZE_MAX / 2);
		if (upstream_row_packed(row, &room).len && room.len) {
			buf_release(&row->packed);
			row->packed = room;
			room = (struct buf){0};
		}
		drop_page(row);
	}
}

// --- the answer for an order ---

struct upstream_rows upstream_rows_of(struct upstream_project *p, const struct config_order *order, bool has_aside)
{
	struct upstream_rows out = {.is_together = order->is_together, .aside = order->aside};
	const struct upstreams *u = p->upstreams;
	bool keeps_aside = has_aside || config_order_has_none(order);
	for (size_t i = 0; i < order->count; i++)
		for (size_t k = 0; k < u->indexes && (keeps_aside || !(order->aside & (uint32_t)1 << order->item[i])); k++)
			if (u->index[k].upstream == &u->item[order->item[i]])
				out.row[out.count++] = &(p->from[k] ? p->from[k] : p)->row[k];
	return out;
}

// Merges several pages into one, which borrows their strings.
struct sum {
	struct simplepage page;
	struct simplepage_file *file;
	uint8_t *origin; // of each file, the number of its row
	const char **version;
};

static void release_sum(struct sum *s)
{
	free(s->file);
	free(s->origin);
	free(s->version);
}

static int by_filename(const void *a, const void *b)
{
	const struct simplepage_file *const *x = a, *const *y = b;
	int order = strcmp((*x)->filename, (*y)->filename);
	return order ? order : (*x > *y) - (*x < *y);
}

static bool has_page(const struct upstream_row *row)
{
	return row->last_definitive == UPSTREAM_KNOWN && row->has_page;
}

// The files of all pages, by name, those of one name in the order of the rows. The caller frees them.
static const struct simplepage_file **sort_files(const struct simplepage_file *file, size_t count)
{
	const struct simplepage_file **sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));
	for (size_t i = 0; i < count; i++)
		sorted[i] = &file[i];
	qsort(sorted, count, sizeof(*sorted), by_filename);
	return sorted;
}

static size_t join_pages(const struct upstream_rows *rows, struct sum *out)
{
	size_t files = 0, versions = 0;
	for (size_t i = 0; i < rows->count; i++) {
		const struct upstream_row *row = rows->row[i];
		const struct simplepage *page = &row->page;
		if (!has_page(row))
			continue;
		if (!out->file)
			out->page = *page;
		out->file = xreallocarray(out->file, files + page->files + 1, sizeof(*out->file));
		out->origin = xreallocarray(out->origin, files + page->files + 1, sizeof(*out->origin));
		out->version = xreallocarray(out->version, versions + page->versions + 1, sizeof(*out->version));
		memset(out->origin + files, (int)(row->index - row->project->upstreams->index), page->files);
		for (size_t k = 0; k < page->files; k++)
			out->file[files++] = page->file[k];
		for (size_t k = 0; k < page->versions; k++)
			out->version[versions++] = page->version[k];
	}
	out->page.version = out->version;
	out->page.versions = versions;
	return files;
}

// Keeps the first file of each name, in the order of the pages.
static void add_up(const struct upstream_rows *rows, struct sum *out)
{
	size_t count = join_pages(rows, out);
	const struct simplepage_file **sorted = sort_files(out->file, count);
	bool *is_later = xcalloc(count + 1, sizeof(*is_later));
	for (size_t i = 1; i < count; i++)
		is_later[sorted[i] - out->file] = strcmp(sorted[i]->filename, sorted[i - 1]->filename) == 0;
	out->page.files = 0;
	for (size_t i = 0; i < count; i++) {
		if (is_later[i])
			continue;
		out->origin[out->page.files] = out->origin[i];
		out->file[out->page.files++] = out->file[i];
	}
	out->page.file = out->file;
	free(sorted);
	free(is_later);
}

static bool has_other_hash(const struct simplepage_file *a, const struct simplepage_file *b)
{
	return a->has_sha256 && b->has_sha256 && !digest_equal(a->sha256, b->sha256);
}

// Indexes of one upstream are told apart by their URLs.
static void report_conflict(const struct upstream_index *first, const struct upstream_index *other, const char *filename,
	upstream_conflict_fn *fn, void *ctx)
{
	bool is_one = first->upstream == other->upstream;
	fn(ctx, filename, is_one ? first->shown : first->upstream->name, is_one ? other->shown : other->upstream->name);
}

void upstream_conflicts(const struct upstream_answer *answer, upstream_conflict_fn *fn, void *ctx)
{
	CLEANUP(release_sum) struct sum sum = {0};
	if (!answer->origin)
		return;
	size_t count = join_pages(answer->rows, &sum);
	const struct simplepage_file **sorted = sort_files(sum.file, count), *first = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!first || strcmp(first->filename, sorted[i]->filename) != 0)
			first = sorted[i];
		else if (has_other_hash(first, sorted[i]))
			report_conflict(answer->of->row[sum.origin[first - sum.file]].index,
				answer->of->row[sum.origin[sorted[i] - sum.file]].index, first->filename, fn, ctx);
	}
	free(sorted);
}

// A 404 of an index that never had the project does not affect the other indexes.
static bool is_missing(const struct upstream_row *row)
{
	return row->result == UPSTREAM_NOT_FOUND && upstream_row_may_lack(row);
}

bool upstream_row_may_lack(const struct upstream_row *row)
{
	return row->index->upstream->trust_404 || !row->has_page;
}

// For indexes = first: the number, in the list, of the first index that has the project, if those before it answered
// that they do not. Else the first uncertain row, or the last one.
static size_t find_home(const struct upstream_rows *rows)
{
	size_t i = 0;
	while (i + 1 < rows->count && rows->row[i]->last_definitive == UPSTREAM_NOT_FOUND &&
		upstream_row_may_lack(rows->row[i]))
		i++;
	return i;
}

static const struct upstream_row *home_of(const struct upstream_rows *rows)
{
	return rows->row[find_home(rows)];
}

// The same for the last results: an index that is down may have the project meanwhile.
static const struct upstream_row *first_deciding_index(const struct upstream_rows *rows)
{
	size_t home = find_home(rows);
	for (size_t i = 0; i < home; i++)
		if (!is_missing(rows->row[i]))
			return rows->row[i];
	return rows->row[home];
}

// The row that decides the result. For indexes = together: an uncertain row, else one that has the project, else one
// that does not.
static const struct upstream_row *deciding_index(const struct upstream_rows *rows)
{
	const struct upstream_row *known = NULL;
	if (!rows->is_together)
		return first_deciding_index(rows);
	for (size_t i = 0; i < rows->count; i++) {
		const struct upstream_row *row = rows->row[i];
		if (row->result != UPSTREAM_KNOWN && !is_missing(row))
			return row;
		if (row->result == UPSTREAM_KNOWN && !known)
			known = row;
	}
	return known ? known : rows->row[0];
}

// A 404 is trusted if each of them is.
static enum upstream_result shown(const struct upstream_rows *rows, enum upstream_result r)
{
	for (size_t i = 0; i < rows->count && r == UPSTREAM_NOT_FOUND; i++)
		if (!rows->row[i]->index->upstream->trust_404)
			return r;
	return r == UPSTREAM_NOT_FOUND ? UPSTREAM_ABSENT : r;
}

// Combines definitive results: quarantined by one index is quarantined; else known by one is known.
static enum upstream_result last_definitive_of(const struct upstream_rows *rows)
{
	static const enum upstream_result order[] = {UPSTREAM_QUARANTINED, UPSTREAM_KNOWN, UPSTREAM_NOT_FOUND};
	if (!rows->is_together)
		return shown(rows, home_of(rows)->last_definitive);
	for (size_t k = 0; k < ARRAY_SIZE(order); k++)
		for (size_t i = 0; i < rows->count; i++)
			if (rows->row[i]->last_definitive == order[k])
				return shown(rows, order[k]);
	return UPSTREAM_NEVER_ASKED;
}

static bool is_unchanged(const struct upstream_rows *rows)
{
	if (!rows->is_together)
		return home_of(rows)->result == UPSTREAM_KNOWN && home_of(rows)->is_unchanged;
	bool is_any_new = false, is_any_same = false;
	for (size_t i = 0; i < rows->count; i++) {
		const struct upstream_row *row = rows->row[i];
		is_any_same = is_any_same || (row->result == UPSTREAM_KNOWN && row->is_unchanged);
		is_any_new = is_any_new || (row->result == UPSTREAM_KNOWN && !row->is_unchanged);
	}
	return is_any_same && !is_any_new;
}

// Of a file of one of the answer's two pages.
static uint8_t origin_of(const struct upstream_answer *a, const struct simplepage_file *f)
{
	bool is_listed = f >= a->listed->file && f < a->listed->file + a->listed->files;
	return is_listed ? a->listed_origin[f - a->listed->file] : a->origin[f - a->stale->file];
}

struct upstream_home upstream_home(const struct upstream_answer *answer, const struct simplepage_file *f)
{
	const struct upstream_project *p = answer->of;
	if (!p)
		return (struct upstream_home){0};
	const struct upstream_index *index =
		p->row[f && answer->origin ? origin_of(answer, f) : answer->home].index;
	size_t number = upstream_number(p->upstreams, index->upstream);
	bool is_short = !number && strcmp(index->upstream->name, "upstream") == 0;
	return (struct upstream_home){index->url, index->upstream, number, is_short ? NULL : index->upstream->name};
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// The oldest times of all rows that the answer depends on. For indexes = first these include the 404s of the indexes
// before.
static void fill_times(const struct upstream_rows *rows, struct upstream_answer *out)
{
	if (rows->is_together) {
		for (size_t i = 0; i < rows->count; i++) {
			const struct upstream_row *row = rows->row[i];
			bool is_had = row->last_definitive == UPSTREAM_KNOWN && row->had_since;
			out->certain = i ? least(out->certain, row->certain) : row->certain;
			out->fetched = row->fetched > out->fetched ? row->fetched : out->fetched;
			out->had_since = is_had && (!out->had_since || row->had_since < out->had_since)
						 ? row->had_since
						 : out->had_since;
		}
		return;
	}
	const struct upstream_row *home = home_of(rows);
	out->certain = home->certain;
	out->fetched = home->fetched;
	out->had_since = home->had_since;
	for (size_t i = 0; rows->row[i] != home; i++) {
		out->certain = least(out->certain, rows->row[i]->certain);
		out->fetched = least(out->fetched, rows->row[i]->certain);
	}
}

// The least of all upstreams that have a part in the answer.
static struct upstream_ages ages_of(const struct upstream_rows *rows, uint32_t *depends)
{
	struct upstream_ages ages = {INT64_MAX, INT64_MAX, INT64_MAX};
	size_t count = rows->is_together ? rows->count : find_home(rows) + 1;
	for (size_t i = 0; i < count; i++) {
		const struct upstream *one = rows->row[i]->index->upstream;
		ages.max_age = least(ages.max_age, one->max_age);
		ages.negative = least(ages.negative, one->negative_max_age);
		ages.stale = least(ages.stale, one->stale);
		*depends |= (uint32_t)1 << upstream_number(rows->row[i]->project->upstreams, one);
	}
	return ages;
}

static void drop_rules(struct upstream_rules **r)
{
	upstream_rules_drop(*r);
}

static int report(struct upstreams *u, struct upstream_project *p, const struct config_order *order, bool is_offer,
	upstream_fn *fn, void *ctx, struct err *e)
{
	const struct upstream_rows rows = upstream_rows_of(p, order ? order : &u->order, false);
	const struct upstream_row *row = deciding_index(&rows), *home = home_of(&rows);
	bool is_one = rows.count == 1 || !rows.is_together;
	struct upstream_answer answer = {
		.result = shown(&rows, row->result),
		.project = p->name,
		.index = row->index->shown,
		.why = row->why ? row->why : "",
		.etag = row->etag,
		.is_unchanged = is_unchanged(&rows),
		.asked = row->asked,
		.max_age = row->max_age,
		.last_definitive = last_definitive_of(&rows),
		.of = p,
		.home = (uint8_t)(home->index - u->index),
		.rows = &rows,
		.is_lacking = home->last_definitive == UPSTREAM_NOT_FOUND && upstream_row_may_lack(home),
	};
	answer.ages = ages_of(&rows, &answer.depends);
	if (mirror_pins_has_project(u->pins, p->name))
		answer.ages.stale = INT64_MAX;
	for (size_t i = 0; i < rows.count; i++) {
		answer.is_changed = answer.is_changed || rows.row[i]->is_changed;
		answer.is_partial = answer.is_partial || (rows.is_together && rows.row[i]->result == UPSTREAM_NEVER_ASKED);
	}
	fill_times(&rows, &answer);
	CLEANUP(release_sum) struct sum sum = {0};
	if (!is_one && answer.last_definitive == UPSTREAM_KNOWN)
		add_up(&rows, &sum);
	answer.origin = sum.origin;
	if (answer.last_definitive == UPSTREAM_KNOWN)
		answer.stale = sum.file ? &sum.page : home->has_page ? &home->page : NULL;
	const struct simplepage *all = answer.stale;
	answer.listed = is_offer ? all : NULL; // the files of no page are judged quickly
	answer.listed_origin = answer.origin;
	CLEANUP(drop_rules) struct upstream_rules *rules = upstream_rules_take(u);
	struct upstream_decision *decision = rules ? upstream_offer(rules, &answer) : NULL;
	answer.listed = all;
	answer.page = answer.result == UPSTREAM_KNOWN ? answer.stale : NULL;
	int result = fn(ctx, &answer, e);
	upstream_decision_unref(decision);
	return result;
}

int upstream_report(struct upstreams *u, struct upstream_project *p, const struct config_order *order, upstream_fn *fn,
	void *ctx, struct err *e)
{
	return report(u, p, order, true, fn, ctx, e);
}

int upstream_report_listed(struct upstreams *u, struct upstream_project *p, const struct config_order *order,
	upstream_fn *fn, void *ctx, struct err *e)
{
	return report(u, p, order, false, fn, ctx, e);
}

int upstream_report_one(struct upstreams *u, struct upstream_project *p, size_t upstream, bool is_together,
	upstream_fn *fn, void *ctx, struct err *e)
{
	const struct config_order one = {.item = {(uint8_t)upstream}, .count = 1, .is_together = is_together};
	return upstream_report_listed(u, p, &one, fn, ctx, e);
}
