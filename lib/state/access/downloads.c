// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/downloads.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/place/record.h"

enum {
	DAY = 86400,
	DAY_TEXT = 11, // "2026-11-21": sorts as text like the days
	BLOCK = 64 << 10,
	AROUND_KEY = 48, // bytes of a line besides its key, at most
};

static const struct str title = STR("wheelcache-downloads 2 ");
static const struct str old_title = STR("wheelcache-downloads 1 "); // its lines have no first day
#define NO_DAY "-" // the first day of what an earlier release has counted

struct downloads {
	struct buf text;
	char since[DAY_TEXT];
	struct str lines; // of files, with line ends
	bool is_old;      // they have no first day
};

struct line {
	struct str key, first, last;
	uint64_t count;
};

static void write_day(int64_t seconds, char out[DAY_TEXT])
{
	char text[CLOCK_TEXT];
	clock_write(seconds, text);
	memcpy(out, text, DAY_TEXT - 1);
	out[DAY_TEXT - 1] = '\0';
}

static bool read_day(struct str day, int64_t *seconds)
{
	char text[CLOCK_TEXT] = "";
	if (day.len != DAY_TEXT - 1)
		return false;
	memcpy(text, day.ptr, day.len);
	memcpy(text + day.len, "T00:00:00Z", sizeof("T00:00:00Z"));
	return clock_read(text, seconds);
}

// A number beyond 64 bits counts as the largest.
static bool read_count(struct str s, uint64_t *out)
{
	return decimal_cut(&s, UINT64_MAX, out) && !s.len;
}

// Cuts the last word off.
static struct str cut_last_word(struct str *text)
{
	long blank = str_rfind(*text, ' ');
	struct str word = str_slice(*text, (size_t)(blank + 1), text->len);
	*text = str_slice(*text, 0, blank < 0 ? 0 : (size_t)blank);
	return word;
}

// Parses from the end, because a key may have blanks.
static bool parse_count_line(struct str text, bool is_old, struct line *out)
{
	out->last = cut_last_word(&text);
	out->first = is_old ? STR(NO_DAY) : cut_last_word(&text);
	bool is_count = read_count(cut_last_word(&text), &out->count);
	out->key = text;
	return is_count && text.len && out->last.len == DAY_TEXT - 1 &&
	       (out->first.len == DAY_TEXT - 1 || str_eq(out->first, STR(NO_DAY)));
}

// Cuts off the last line, which has the number of lines before it.
static bool take_end(struct str *lines, uint64_t *count)
{
	struct str text = *lines;
	if (!str_ends(text, STR("\n")))
		return false;
	text.len--;
	long start = str_rfind(text, '\n') + 1;
	struct str end = str_slice(text, (size_t)start, text.len);
	if (!str_starts(end, STR("end ")) || !read_count(str_slice(end, 4, end.len), count))
		return false;
	*lines = str_slice(*lines, 0, (size_t)start);
	return true;
}

static bool is_ordered(struct str lines, bool is_old, uint64_t count)
{
	struct line line, before = {.key = {"", 0}};
	uint64_t found = 0;
	for (; lines.len; found++) {
		if (!parse_count_line(str_cut(&lines, '\n'), is_old, &line) || str_cmp(before.key, line.key) >= 0)
			return false;
		before = line;
	}
	return found == count;
}

// Borrows from the text.
static bool parse_downloads(struct str text, struct downloads *d)
{
	int64_t since;
	uint64_t count;
	struct str rest = text, head = str_cut(&rest, '\n');
	d->is_old = str_starts(head, old_title);
	if (!(d->is_old || str_starts(head, title)) || !rest.ptr)
		return false;
	head = str_slice(head, title.len, head.len);
	if (!read_day(head, &since) || !take_end(&rest, &count) || !is_ordered(rest, d->is_old, count))
		return false;
	write_day(since, d->since);
	d->lines = rest;
	return true;
}

int downloads_open(const char *path, struct downloads **out, struct err *e)
{
	CLEANUP(downloads_cleanup) struct downloads *d = xcalloc(1, sizeof(*d));
	buf_init(&d->text, LIMIT_DOWNLOADS);
	if (safefile_read(path, &d->text, e) < 0)
		return -1;
	if (!parse_downloads(buf_view(&d->text), d))
		return err_set(e, ERR_INVALID, "%s: torn, or not what we wrote", path);
	*out = STEAL_PTR(d);
	return 0;
}

void downloads_close(struct downloads *d)
{
	if (!d)
		return;
	buf_release(&d->text);
	free(d);
}

void downloads_cleanup(struct downloads **d)
{
	downloads_close(*d);
	*d = NULL;
}

int64_t downloads_since(const struct downloads *d)
{
	int64_t seconds = 0;
	return read_day(str_from(d->since), &seconds) ? seconds : INT64_MAX;
}

// A binary search over the bytes of the text.
static bool search_lines(const struct downloads *d, struct str key, struct line *out)
{
	struct str text = d->lines;
	while (text.len) {
		size_t middle = (size_t)(str_rfind(str_slice(text, 0, text.len / 2), '\n') + 1);
		struct str rest = str_slice(text, middle, text.len);
		if (!parse_count_line(str_cut(&rest, '\n'), d->is_old, out))
			return false;
		int order = str_cmp(key, out->key);
		if (order == 0)
			return true;
		text = order < 0 ? str_slice(text, 0, middle) : rest;
	}
	return false;
}

static struct download download_of(const struct line *line)
{
	struct download d = {.count = line->count};
	if (!read_day(line->last, &d.last))
		d.last = INT64_MAX; // unknown
	if (!read_day(line->first, &d.first))
		d.first = 0;
	return d;
}

bool downloads_find(const struct downloads *d, const char *platform, const char *filename, struct download *out)
{
	struct line line;
	CLEANUP(mem_free) char *key = xasprintf("%s/%s", platform, filename);
	if (!search_lines(d, str_from(key), &line))
		return false;
	*out = download_of(&line);
	return true;
}

// A key of upstream has three slashes, as no other one has.
static struct downloaded_file counted_file_of(struct str key)
{
	struct str file = str_cut(&key, DOWNLOADS_WHO), rest = file, place = str_cut(&rest, '/'), upstream, project;
	if (!str_eq(place, STR("upstream")) || str_find(rest, '/') < 0)
		return (struct downloaded_file){.platform = place, .filename = rest, .who = key};
	upstream = str_cut(&rest, '/');
	project = str_cut(&rest, '/');
	return (struct downloaded_file){.upstream = upstream, .project = project, .filename = rest, .who = key};
}

int downloads_each(const struct downloads *d, downloads_fn *fn, void *ctx, struct err *e)
{
	struct line line;
	struct str rest = d->lines;
	while (rest.len && parse_count_line(str_cut(&rest, '\n'), d->is_old, &line)) {
		struct download download = download_of(&line);
		struct downloaded_file file = counted_file_of(line.key);
		if (fn(ctx, &file, &download, e) < 0)
			return -1;
	}
	return 0;
}

enum downloaded downloads_within(const struct downloads *d, const char *platform, const char *filename, int64_t now,
	int64_t seconds)
{
	struct download found;
	int64_t since = now - seconds;
	if (!d)
		return DOWNLOADED_UNKNOWN;
	if (downloads_find(d, platform, filename, &found) && found.last > since - DAY)
		return DOWNLOADED_YES;
	bool is_known = seconds <= (int64_t)DOWNLOADS_DAYS * DAY && downloads_since(d) <= since;
	return is_known ? DOWNLOADED_NO : DOWNLOADED_UNKNOWN;
}

// --- adding ---

// The new file, which replaces the old one.
struct sheet {
	struct place_write *to;
	struct buf text; // that is not yet written
	const char *today;
	char oldest[DAY_TEXT]; // files not downloaded since are dropped
	uint64_t lines;
	// Of the lines that say who.
	struct line *group; // those of one file
	size_t grouped, room;
	struct str file;   // whose
	size_t each;       // so many of a file have a line of their own
	struct buf others; // the key of the line of all the others
	struct err *e;
	bool has_failed;
};

static void sheet_release(struct sheet *s)
{
	buf_release(&s->text);
	buf_release(&s->others);
	free(s->group);
}

static void write_out(struct sheet *s)
{
	s->has_failed = s->has_failed || place_write_add(s->to, buf_view(&s->text), s->e) < 0;
	buf_clear(&s->text);
}

static void write_count(struct sheet *s, const struct line *line)
{
	buf_printf(&s->text, STR_FMT " %llu " STR_FMT " " STR_FMT "\n", STR_ARG(line->key), (unsigned long long)line->count,
		STR_ARG(line->first), STR_ARG(line->last));
	s->lines++;
	if (s->text.len >= BLOCK)
		write_out(s);
}

static int by_line_key(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	return str_cmp(x->key, y->key);
}

// The latest first, then those who took most.
static int by_recency(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = str_cmp(y->last, x->last);
	order = order ? order : (x->count < y->count) - (x->count > y->count);
	return order ? order : str_cmp(x->key, y->key);
}

static void add_to_others(struct line *others, const struct line *more)
{
	others->first = others->count && str_cmp(others->first, more->first) < 0 ? others->first : more->first;
	others->last = others->count && str_cmp(others->last, more->last) > 0 ? others->last : more->last;
	others->count += more->count;
}

// No file, however many clients take it, leaves no room for those of others.
static void write_group(struct sheet *s)
{
	struct line others = {.count = 0};
	size_t kept = 0;
	buf_clear(&s->others);
	buf_printf(&s->others, STR_FMT "%c" DOWNLOADS_OTHERS, STR_ARG(s->file), DOWNLOADS_WHO);
	others.key = buf_view(&s->others);
	for (size_t i = 0; i < s->grouped; i++)
		if (str_eq(s->group[i].key, others.key))
			add_to_others(&others, &s->group[i]);
		else
			s->group[kept++] = s->group[i];
	if (kept > s->each) {
		qsort(s->group, kept, sizeof(*s->group), by_recency);
		for (size_t i = s->each; i < kept; i++)
			add_to_others(&others, &s->group[i]);
		kept = s->each;
	}
	if (others.count) {
		GROW(s->group, kept, s->room);
		s->group[kept++] = others;
	}
	if (kept)
		qsort(s->group, kept, sizeof(*s->group), by_line_key);
	for (size_t i = 0; i < kept; i++)
		write_count(s, &s->group[i]);
	s->grouped = 0;
}

static struct str file_of_key(struct str key)
{
	return str_cut(&key, DOWNLOADS_WHO);
}

static void put_line(struct sheet *s, const struct line *line)
{
	struct str file = file_of_key(line->key);
	if (!s->each) {
		write_count(s, line);
		return;
	}
	if (s->grouped && !str_eq(file, s->file))
		write_group(s);
	s->file = file;
	GROW(s->group, s->grouped, s->room);
	s->group[s->grouped++] = *line;
}

static void write_new_key(struct sheet *s, const struct downloads_news *news)
{
	struct str today = str_from(s->today);
	const struct line line = {.key = str_from(news->key), .count = news->count, .first = today, .last = today};
	if (news->count)
		put_line(s, &line);
}

// The clock may have been set back.
static void write_merged_line(struct sheet *s, struct line line, uint64_t more)
{
	struct str today = str_from(s->today);
	if (!more && str_cmp(line.last, str_from(s->oldest)) < 0)
		return;
	line.count += more;
	if (more && str_cmp(line.last, today) < 0)
		line.last = today;
	if (more && str_cmp(line.first, today) > 0)
		line.first = today;
	put_line(s, &line);
}

struct adding_counts {
	const struct downloads_place *place;
	const struct downloads_news *news;
	size_t count;
	int64_t now;
};

// Bytes of lines, at most, if no file has more than so many of its own.
struct room_for_lines {
	size_t each, of_file;
	struct str file;
	uint64_t bytes;
};

static void add_room(struct room_for_lines *r, struct str key)
{
	struct str file = file_of_key(key);
	r->of_file = r->file.ptr && str_eq(r->file, file) ? r->of_file + 1 : 1;
	r->file = file;
	if (r->of_file <= r->each)
		r->bytes += (r->of_file == 1 ? 2 : 1) * (key.len + AROUND_KEY); // the first one stands for the others, too
}

static uint64_t room_for_each(const struct downloads *old, const struct adding_counts *a, size_t each)
{
	struct line line;
	struct room_for_lines r = {.each = each};
	struct str lines = old->lines;
	while (lines.len && parse_count_line(str_cut(&lines, '\n'), old->is_old, &line))
		add_room(&r, line.key);
	r.file = (struct str){0};
	for (size_t i = 0; i < a->count; i++)
		add_room(&r, str_from(a->news[i].key));
	return r.bytes;
}

// The more files, the fewer lines for each.
static size_t lines_of_each(const struct downloads *old, const struct adding_counts *a)
{
	size_t each = a->place->each;
	while (each > 1 && room_for_each(old, a, each) > a->place->most)
		each /= 2;
	return each;
}

static void merge_lines(struct sheet *s, const struct downloads *old, const struct downloads_news *news, size_t count)
{
	struct line line;
	size_t i = 0;
	struct str lines = old->lines;
	while (lines.len && parse_count_line(str_cut(&lines, '\n'), old->is_old, &line)) {
		int order = 1;
		while (i < count && (order = str_cmp(str_from(news[i].key), line.key)) < 0)
			write_new_key(s, &news[i++]);
		write_merged_line(s, line, i < count && order == 0 ? news[i].count : 0);
		i += i < count && order == 0;
	}
	while (i < count)
		write_new_key(s, &news[i++]);
	if (s->grouped)
		write_group(s);
}

static int by_key(const void *a, const void *b)
{
	const struct downloads_news *x = a, *y = b;
	return strcmp(x->key, y->key);
}

static int add_counts(void *ctx, struct str before, struct place_write *now, struct err *e)
{
	char today[DAY_TEXT];
	const struct adding_counts *a = ctx;
	struct downloads old = {.lines = STR("")};
	CLEANUP(sheet_release) struct sheet s = {.to = now, .today = today, .e = e};
	buf_init(&s.text, SIZE_MAX / 2);
	buf_init(&s.others, SIZE_MAX / 2);
	write_day(a->now, today);
	write_day(a->now - a->place->kept, s.oldest);
	bool is_whole = parse_downloads(before, &old);
	s.each = lines_of_each(&old, a);
	buf_printf(&s.text, STR_FMT "%s\n", STR_ARG(title), is_whole ? old.since : today);
	merge_lines(&s, &old, a->news, a->count);
	buf_printf(&s.text, "end %llu\n", (unsigned long long)s.lines);
	write_out(&s);
	return s.has_failed ? -1 : 1;
}

// Whether a line is too old. Those that say nobody may stay longer.
static bool has_expired(const struct downloads *d, const struct downloads_place *place, int64_t now)
{
	struct line line;
	char oldest[DAY_TEXT];
	struct str lines = place->each ? d->lines : STR("");
	write_day(now - place->kept, oldest);
	while (lines.len && parse_count_line(str_cut(&lines, '\n'), d->is_old, &line))
		if (str_cmp(line.last, str_from(oldest)) < 0)
			return true;
	return false;
}

int downloads_add(const struct downloads_place *place, struct downloads_news *news, size_t count, int64_t now,
	struct err *e)
{
	struct err missing = ERR_INIT;
	struct adding_counts a = {place, news, count, now};
	CLEANUP(downloads_cleanup) struct downloads *before = NULL;
	if (!count && downloads_open(place->path, &before, &missing) == 0 && !has_expired(before, place, now))
		return 0;
	if (count)
		qsort(news, count, sizeof(*news), by_key);
	return record_change(place->path, place->each > 0, place->most, add_counts, &a, e);
}
