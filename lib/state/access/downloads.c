// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/downloads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"

enum {
	DAY = 86400,
	LOCK_MS = 3000, // wait for another server that writes its counts
	POLL_MS = 10,
	DAY_TEXT = 11, // "2026-11-21": sorts as text like the days
};

static const struct str title = STR("wheelcache-downloads 1 ");

struct downloads {
	struct buf text;
	char since[DAY_TEXT];
	struct str lines; // of files, with line ends
};

struct line {
	struct str key, day;
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

// Parses from the end, because a key may have blanks.
static bool parse_count_line(struct str text, struct line *out)
{
	long day = str_rfind(text, ' ');
	if (day < 0)
		return false;
	out->day = str_slice(text, (size_t)day + 1, text.len);
	text = str_slice(text, 0, (size_t)day);
	long count = str_rfind(text, ' ');
	if (count <= 0)
		return false;
	out->key = str_slice(text, 0, (size_t)count);
	return out->day.len == DAY_TEXT - 1 && read_count(str_slice(text, (size_t)count + 1, text.len), &out->count);
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

static bool is_ordered(struct str lines, uint64_t count)
{
	struct line line, before = {.key = {"", 0}};
	uint64_t found = 0;
	for (; lines.len; found++) {
		if (!parse_count_line(str_cut(&lines, '\n'), &line) || str_cmp(before.key, line.key) >= 0)
			return false;
		before = line;
	}
	return found == count;
}

static bool parse_downloads(struct downloads *d)
{
	int64_t since;
	uint64_t count;
	struct str rest = buf_view(&d->text), head = str_cut(&rest, '\n');
	if (!str_starts(head, title) || !rest.ptr)
		return false;
	head = str_slice(head, title.len, head.len);
	if (!read_day(head, &since) || !take_end(&rest, &count) || !is_ordered(rest, count))
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
	if (!parse_downloads(d))
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

// The start of the day on which counting began, in seconds since 1970.
static int64_t counts_since(const struct downloads *d)
{
	int64_t seconds = 0;
	return read_day(str_from(d->since), &seconds) ? seconds : INT64_MAX;
}

// A binary search over the bytes of the text.
static bool search_lines(struct str text, struct str key, struct line *out)
{
	while (text.len) {
		size_t middle = (size_t)(str_rfind(str_slice(text, 0, text.len / 2), '\n') + 1);
		struct str rest = str_slice(text, middle, text.len);
		if (!parse_count_line(str_cut(&rest, '\n'), out))
			return false;
		int order = str_cmp(key, out->key);
		if (order == 0)
			return true;
		text = order < 0 ? str_slice(text, 0, middle) : rest;
	}
	return false;
}

bool downloads_find(const struct downloads *d, const char *platform, const char *filename, struct download *out)
{
	struct line line;
	CLEANUP(mem_free) char *key = xasprintf("%s/%s", platform, filename);
	if (!search_lines(d->lines, str_from(key), &line))
		return false;
	out->count = line.count;
	if (!read_day(line.day, &out->last))
		out->last = INT64_MAX; // unknown
	return true;
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
	bool is_known = seconds <= (int64_t)DOWNLOADS_DAYS * DAY && counts_since(d) <= since;
	return is_known ? DOWNLOADED_NO : DOWNLOADED_UNKNOWN;
}

// --- adding ---

// The new file, which replaces the old one.
struct sheet {
	FILE *file;
	const char *today;
	char oldest[DAY_TEXT]; // files not downloaded since are dropped
	uint64_t lines;
};

static void write_count(struct sheet *s, struct str key, uint64_t count, struct str day)
{
	fprintf(s->file, STR_FMT " %llu " STR_FMT "\n", STR_ARG(key), (unsigned long long)count, STR_ARG(day));
	s->lines++;
}

static void write_new_key(struct sheet *s, const struct downloads_news *news)
{
	if (news->count)
		write_count(s, str_from(news->key), news->count, str_from(s->today));
}

static void write_merged_line(struct sheet *s, const struct line *line, uint64_t more)
{
	struct str today = str_from(s->today);
	bool is_newer = more && str_cmp(line->day, today) < 0; // the clock may have been set back
	if (!more && str_cmp(line->day, str_from(s->oldest)) < 0)
		return;
	write_count(s, line->key, line->count + more, is_newer ? today : line->day);
}

static void merge_lines(struct sheet *s, struct str lines, const struct downloads_news *news, size_t count)
{
	struct line line;
	size_t i = 0;
	while (lines.len && parse_count_line(str_cut(&lines, '\n'), &line)) {
		int order = 1;
		while (i < count && (order = str_cmp(str_from(news[i].key), line.key)) < 0)
			write_new_key(s, &news[i++]);
		write_merged_line(s, &line, i < count && order == 0 ? news[i].count : 0);
		i += i < count && order == 0;
	}
	while (i < count)
		write_new_key(s, &news[i++]);
}

static int by_key(const void *a, const void *b)
{
	const struct downloads_news *x = a, *y = b;
	return strcmp(x->key, y->key);
}

static void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
	*file = NULL;
}

static int write_sheet(int folder, const char *name, const struct downloads *before, const struct downloads_news *news,
	size_t count, int64_t now, struct err *e)
{
	char today[DAY_TEXT];
	CLEANUP(mem_free) char *tmp = xasprintf("%s.new", name);
	CLEANUP(fs_tmp_release) struct fs_tmp t;
	struct sheet s = {.today = today};
	write_day(now, today);
	write_day(now - (int64_t)DOWNLOADS_DAYS * DAY, s.oldest);
	if (fs_tmp_open_mode(&t, folder, tmp, name, SAFEFILE_MODE, e) < 0)
		return -1;
	fs_give_to_owner(t.fd, folder);
	CLEANUP(close_file) FILE *file = fdopen(fcntl(t.fd, F_DUPFD_CLOEXEC, 0), "w");
	if (!file)
		return err_errno(e, ERR_IO, "%s", name);
	s.file = file;
	fprintf(file, STR_FMT "%s\n", STR_ARG(title), before ? before->since : today);
	merge_lines(&s, before ? before->lines : STR(""), news, count);
	fprintf(file, "end %llu\n", (unsigned long long)s.lines);
	bool is_bad = ferror(file);
	if (fclose(STEAL_PTR(file)) != 0 || is_bad)
		return err_errno(e, fs_kind_of_write(), "%s", name);
	return fs_tmp_publish(&t, e);
}

// Locks the folder, so that no lock file is needed. An account that can read the folder may hold the lock forever; the
// counts are then written later.
static int lock_folder(const char *path, char **name, struct err *e)
{
	CLEANUP(mem_close) int folder = safefile_parent(path, false, name, e);
	if (folder < 0)
		return -1;
	for (int64_t until = clock_ms() + LOCK_MS; flock(folder, LOCK_EX | LOCK_NB) < 0; poll(NULL, 0, POLL_MS)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(e, ERR_IO, "cannot lock the folder of %s", path);
		if (clock_ms() >= until)
			return err_set(e, ERR_BUSY, "another process holds the lock of the folder of %s", path);
	}
	return mem_steal_fd(&folder);
}

int downloads_add(const char *path, struct downloads_news *news, size_t count, int64_t now, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(downloads_cleanup) struct downloads *before = NULL;
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = lock_folder(path, &name, e);
	if (folder < 0)
		return -1;
	bool is_there = downloads_open(path, &before, &missing) == 0;
	if (!is_there && missing.kind != ERR_NOT_FOUND && missing.kind != ERR_INVALID) {
		*e = missing;
		return -1;
	}
	if (is_there && !count)
		return 0;
	if (count)
		qsort(news, count, sizeof(*news), by_key);
	return write_sheet(folder, name, before, news, count, now, e);
}
