// SPDX-License-Identifier: Apache-2.0
#include "builder/run/run-log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LEAST = 4096,     // bytes: the smallest limit
	MARK = 64,        // bytes of the line that says how much is left out
	BLOCK = 64 << 10, // bytes that are moved at once
	LINE_MOST = 8 << 10,
};

// The file is its beginning, and once it was full: a line of MARK bytes at `cut`, and the end of what was added. When
// it is full again, the older half of that end is dropped.
struct run_log {
	char *path;
	int fd;
	uint64_t limit, size;
	uint64_t cut;     // where the line of MARK bytes is; 0: none
	uint64_t dropped; // bytes that are left out there
	uint64_t lost;    // bytes that could not be written since the last line that says so
};

int run_log_open(const char *path, uint64_t limit, struct run_log **out, struct err *e)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return err_errno(e, ERR_IO, "%s", path);
	*out = xmalloc(sizeof(**out));
	**out = (struct run_log){.path = xstrdup(path), .fd = fd, .limit = limit < LEAST ? LEAST : limit};
	return 0;
}

void run_log_close(struct run_log *l)
{
	if (!l)
		return;
	close(l->fd);
	free(l->path);
	free(l);
}

void run_log_cleanup(struct run_log **l)
{
	run_log_close(*l);
}

static bool write_all(int fd, const char *bytes, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, bytes, len, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

// Returns the offset behind the first or last newline in the `window` bytes from `at`; at if there is none.
static uint64_t find_line(const struct run_log *l, uint64_t at, size_t window, bool last)
{
	char block[LINE_MOST];
	ssize_t n = pread(l->fd, block, window < sizeof(block) ? window : sizeof(block), (off_t)at);
	const char *newline = n <= 0 ? NULL : last ? memrchr(block, '\n', (size_t)n) : memchr(block, '\n', (size_t)n);
	return newline ? at + (uint64_t)(newline - block) + 1 : at;
}

// Moves the bytes from `from` to the end of the file to `to`, and cuts the file behind them.
static bool move_down(struct run_log *l, uint64_t from, uint64_t to)
{
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	bool is_good = true;
	while (from < l->size && is_good) {
		ssize_t n = pread(l->fd, block, BLOCK, (off_t)from);
		is_good = n > 0 && write_all(l->fd, block, (size_t)n, to);
		if (is_good) {
			from += (uint64_t)n;
			to += (uint64_t)n;
		}
	}
	l->lost += l->size - from;
	l->size = to;
	return ftruncate(l->fd, (off_t)to) == 0 && is_good;
}

static void append_to_file(struct run_log *l, struct str bytes)
{
	while (bytes.len) {
		if (l->size >= l->limit) {
			// Makes room in a full file.
			size_t window = (size_t)(l->limit / 16);
			uint64_t begin = l->cut + MARK;
			if (!l->cut)
				begin = l->cut = find_line(l, l->limit / 2 - window, window, true);
			uint64_t from = find_line(l, l->size - l->limit / 4, window, false);
			l->dropped += from - begin;
			move_down(l, from, l->cut + MARK);
			char mark[MARK + 1];
			int n = snprintf(mark, sizeof(mark), "\n--- %" PRIu64 " bytes are left out here ---",
				l->dropped);
			memset(mark + n, ' ', (size_t)(MARK - n));
			mark[MARK - 1] = '\n';
			if (!write_all(l->fd, mark, MARK, l->cut))
				l->lost += MARK;
		}
		uint64_t room = l->limit - l->size;
		size_t n = bytes.len < room ? bytes.len : (size_t)room;
		if (!write_all(l->fd, bytes.ptr, n, l->size)) {
			l->lost += bytes.len;
			return;
		}
		l->size += n;
		bytes = (struct str){bytes.ptr + n, bytes.len - n};
	}
}

static int print_lost(const struct run_log *l, char *line, size_t room)
{
	return snprintf(line, room, "\n--- %" PRIu64 " bytes are lost here: the disk took no more ---\n", l->lost);
}

void run_log_add(struct run_log *l, struct str bytes)
{
	if (l->lost) {
		// Says that bytes were lost before, if the disk takes that now.
		char line[2 * MARK];
		uint64_t lost = l->lost;
		int n = print_lost(l, line, sizeof(line));
		l->lost = 0;
		append_to_file(l, (struct str){line, (size_t)n});
		if (l->lost)
			l->lost = lost;
	}
	append_to_file(l, bytes);
}

void run_log_line(struct run_log *l, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	CLEANUP(mem_free) char *text = xvasprintf(format, ap);
	va_end(ap);
	run_log_add(l, str_from(text));
	run_log_add(l, STR("\n"));
}

int run_log_text(const struct run_log *l, struct buf *out, struct err *e)
{
	char *at = buf_reserve(out, (size_t)l->size);
	if (!at)
		return err_set(e, ERR_LIMIT, "%s: the log has %" PRIu64 " bytes", l->path, l->size);
	ssize_t n = pread(l->fd, at, (size_t)l->size, 0);
	if (n < 0)
		return err_errno(e, ERR_IO, "%s", l->path);
	out->len += (size_t)n;
	out->data[out->len] = '\0';
	char line[2 * MARK];
	if (l->lost)
		buf_add(out, line, (size_t)print_lost(l, line, sizeof(line)));
	return 0;
}
