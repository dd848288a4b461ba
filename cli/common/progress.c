// SPDX-License-Identifier: Apache-2.0
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/mem.h"

enum { BAR_CELLS = 20 };

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

// done: 0 to 1.
static void fill_bar(double done, char bar[BAR_CELLS + 1])
{
	for (int i = 0; i < BAR_CELLS; i++)
		bar[i] = i < (int)(done * BAR_CELLS) ? '#' : '.';
	bar[BAR_CELLS] = '\0';
}

// done: 0 to 1.
static void draw_line(struct progress *p, uint64_t files, uint64_t bytes, double done)
{
	char bar[BAR_CELLS + 1], size[PROGRESS_TEXT], rate[PROGRESS_TEXT], left[PROGRESS_TEXT] = "?";
	double seconds = (double)(monotonic_ns() - p->begun_ns) / 1e9;
	done = done > 1 ? 1 : done;
	fill_bar(done, bar);
	progress_bytes((double)bytes, size);
	progress_bytes(seconds > 0 ? (double)bytes / seconds : 0, rate);
	if (done > 0.01)
		write_time(seconds * (1 - done) / done, left);
	fprintf(stderr, "\r\033[K[%s] %3.0f%%  %" PRIu64 " files  %s  %s/s  %s left", bar, done * 100, files, size,
		rate, left);
}

static void draw_inside(uint64_t done, uint64_t all)
{
	char bar[BAR_CELLS + 1];
	double share = all ? (double)done / (double)all : 1;
	fill_bar(share, bar);
	fprintf(stderr, "\r\033[K[%s] %3.0f%%  looking inside wheels: %" PRIu64 " of %" PRIu64, bar, share * 100, done,
		all);
}

void progress_walk(void *ctx, const struct walk_progress *walk)
{
	static const char *const word[] = {
		[WALK_WAITS] = "waiting for another indexer",
		[WALK_READS] = NULL,
		[WALK_LOOKS_INSIDE] = NULL,
		[WALK_ENDS] = "computing the summary",
	};
	struct progress *p = ctx;
	if (!p->is_on)
		return;
	if (word[walk->phase])
		fprintf(stderr, "\r\033[K%s", word[walk->phase]);
	else if (walk->phase == WALK_LOOKS_INSIDE)
		draw_inside(walk->files, walk->all);
	else
		draw_line(p, walk->files, walk->bytes, walk->done);
	fflush(stderr);
	p->is_drawn = true;
}

void progress_export(void *ctx, uint64_t done, uint64_t all)
{
	enum { EVERY = 64 };
	struct progress *p = ctx;
	if (!p->is_on || done % EVERY)
		return;
	fprintf(stderr, "\r\033[Kwriting %" PRIu64 " of %" PRIu64, done, all);
	fflush(stderr);
	p->is_drawn = true;
}

void progress_push(struct progress *p, size_t files, size_t all_files, uint64_t bytes, uint64_t all_bytes)
{
	if (!p->is_on || !all_files)
		return;
	draw_line(p, files, bytes, all_bytes ? (double)bytes / (double)all_bytes : 1);
	fflush(stderr);
	p->is_drawn = true;
}

void progress_look(void *ctx, uint64_t done, uint64_t all, uint64_t failed)
{
	struct progress *p = ctx;
	char bar[BAR_CELLS + 1];
	if (!p->is_on || !all)
		return;
	fill_bar((double)done / (double)all, bar);
	fprintf(stderr, "\r\033[K[%s] %3.0f%%  %" PRIu64 " of %" PRIu64 " projects looked up", bar,
		(double)done * 100 / (double)all, done, all);
	if (failed)
		fprintf(stderr, ", %" PRIu64 " failed", failed);
	fflush(stderr);
	p->is_drawn = true;
}

void progress_end(struct progress *p)
{
	if (p->is_drawn)
		fputs("\r\033[K", stderr);
	p->is_drawn = false;
}
