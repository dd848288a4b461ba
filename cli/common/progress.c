// SPDX-License-Identifier: Apache-2.0
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/base/mem.h"

enum { BAR_CELLS = 20, BAR_TEXT = 400 };

static int64_t monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void progress_bytes(double bytes, char out[PROGRESS_TEXT])
{
	static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
	size_t i = 0;
	for (; bytes >= 1000 && i + 1 < ARRAY_SIZE(unit); i++)
		bytes /= 1000;
	snprintf(out, PROGRESS_TEXT, "%.*f %s", i ? 1 : 0, bytes, unit[i]);
}

// "1:02:03" or "2:03".
static void write_time(double seconds, char out[PROGRESS_TEXT])
{
	unsigned long s = seconds < 0 ? 0 : seconds > 359999 ? 359999 : (unsigned long)seconds;
	if (s >= 3600)
		snprintf(out, PROGRESS_TEXT, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(out, PROGRESS_TEXT, "%lu:%02lu", s / 60, s % 60);
}

void progress_begin(struct progress *p, bool wanted)
{
	*p = (struct progress){.is_on = wanted && isatty(STDERR_FILENO), .begun_ns = monotonic_ns()};
}

// Replaces the line.
PRINTF_LIKE(2, 3) static void draw(struct progress *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	fputs("\r\033[K", stderr);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fflush(stderr);
	p->is_drawn = true;
}

// "[####................]  20%"; done: 0 to 1.
static const char *write_bar(double done, char out[BAR_TEXT])
{
	char bar[BAR_CELLS + 1] = {0};
	for (int i = 0; i < BAR_CELLS; i++)
		bar[i] = i < (int)(done * BAR_CELLS) ? '#' : '.';
	snprintf(out, BAR_TEXT, "[%s] %3.0f%%", bar, done * 100);
	return out;
}

static void draw_files(struct progress *p, uint64_t files, uint64_t bytes, double done)
{
	char bar[BAR_TEXT], size[PROGRESS_TEXT], rate[PROGRESS_TEXT], left[PROGRESS_TEXT] = "?";
	double seconds = (double)(monotonic_ns() - p->begun_ns) / 1e9;
	done = done > 1 ? 1 : done;
	progress_bytes((double)bytes, size);
	progress_bytes(seconds > 0 ? (double)bytes / seconds : 0, rate);
	if (done > 0.01)
		write_time(seconds * (1 - done) / done, left);
	draw(p, "%s  %s  %s  %s/s  %s left", write_bar(done, bar), COUNTED(files, "file|files"), size, rate, left);
}

void progress_walk(void *ctx, const struct walk_progress *walk)
{
	struct progress *p = ctx;
	char bar[BAR_TEXT];
	if (!p->is_on)
		return;
	switch (walk->phase) {
	case WALK_WAITS:
		draw(p, "waiting for another indexer");
		break;
	case WALK_READS:
		draw_files(p, walk->files, walk->bytes, walk->done);
		break;
	case WALK_LOOKS_INSIDE:
		draw(p, "%s  looking inside wheels: %" PRIu64 " of %" PRIu64,
			write_bar(walk->all ? (double)walk->files / (double)walk->all : 1, bar), walk->files,
			walk->all);
		break;
	case WALK_ENDS:
		draw(p, "computing the summary");
		break;
	}
}

void progress_export(void *ctx, uint64_t done, uint64_t all)
{
	enum { EVERY = 64 };
	struct progress *p = ctx;
	if (p->is_on && done % EVERY == 0)
		draw(p, "writing %" PRIu64 " of %" PRIu64, done, all);
}

void progress_push(struct progress *p, size_t files, size_t all_files, uint64_t bytes, uint64_t all_bytes)
{
	if (p->is_on && all_files)
		draw_files(p, files, bytes, all_bytes ? (double)bytes / (double)all_bytes : 1);
}

void progress_look(void *ctx, uint64_t done, uint64_t all, uint64_t failed)
{
	struct progress *p = ctx;
	char bar[BAR_TEXT], failures[PROGRESS_TEXT] = "";
	if (!p->is_on || !all)
		return;
	if (failed)
		snprintf(failures, sizeof(failures), ", %" PRIu64 " failed", failed);
	draw(p, "%s  %" PRIu64 " of %s looked up%s", write_bar((double)done / (double)all, bar), done,
		COUNTED(all, "project|projects"), failures);
}

void progress_end(struct progress *p)
{
	if (p->is_drawn)
		fputs("\r\033[K", stderr);
	p->is_drawn = false;
}
