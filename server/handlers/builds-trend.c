// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/builds-trend.h"

#include <inttypes.h>

#include "lib/os/clock.h"

// In units of the picture.
enum { LEFT = 44, SLOT = 12, BAR = 9, TOP = 16, BARS = 120, BOTTOM = 26 };

struct trend_sum {
	uint64_t good, failed;           // of all days
	uint64_t most_good, most_failed; // of one day
};

static struct trend_sum sum_days(const struct builds_day *day, size_t count)
{
	struct trend_sum sum = {0};
	for (size_t i = 0; i < count; i++) {
		sum.good += day[i].good;
		sum.failed += day[i].failed;
		sum.most_good = day[i].good > sum.most_good ? day[i].good : sum.most_good;
		sum.most_failed = day[i].failed > sum.most_failed ? day[i].failed : sum.most_failed;
	}
	return sum;
}

// "2026-01-02"
static void put_date(int64_t seconds, struct buf *out)
{
	char text[CLOCK_TEXT];
	clock_write(seconds, text);
	buf_add(out, text, 10);
}

// At least 2, so that one attempt beside a thousand is seen.
static double bar_height(uint64_t n, const struct trend_sum *sum)
{
	double height = n ? BARS * (double)n / (double)(sum->most_good + sum->most_failed) : 0;
	return n && height < 2 ? 2 : height;
}

static void put_bar(struct buf *out, const char *class, size_t slot, double y, double height)
{
	if (height > 0)
		buf_printf(out, "<rect class=\"%s\" x=\"%zu\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"1.5\"/>",
			class, LEFT + slot * SLOT, y, BAR, height);
}

// A day with attempts: its bars, and its numbers for a pointer that rests on it.
static void put_day(const struct builds_day *d, size_t slot, const struct trend_sum *sum, double line, struct buf *out)
{
	if (!d->good && !d->failed)
		return;
	double up = bar_height(d->good, sum), down = bar_height(d->failed, sum);
	buf_puts(out, "<g><title>");
	put_date(d->day, out);
	buf_printf(out, ": %" PRIu64 " good, %" PRIu64 " failed</title>", d->good, d->failed);
	put_bar(out, "good", slot, line - up - 0.5, up);
	put_bar(out, "bad", slot, line + 0.5, down);
	buf_puts(out, "</g>\n");
}

static void put_number(struct buf *out, double y, uint64_t n)
{
	if (n)
		buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%" PRIu64 "</text>\n", LEFT - 8, y, n);
}

static void put_words(const struct builds_day *day, size_t count, const struct trend_sum *sum, struct buf *out)
{
	buf_printf(out, "<title id=\"trend-title\">Attempts on each of the last %zu days</title>\n", count);
	buf_printf(out, "<desc id=\"trend-words\">%" PRIu64 " good and %" PRIu64 " failed from ", sum->good,
		sum->failed);
	put_date(day[0].day, out);
	buf_puts(out, " to ");
	put_date(day[count - 1].day, out);
	buf_printf(out, "; at most %" PRIu64 " good and %" PRIu64 " failed on one day.</desc>\n", sum->most_good,
		sum->most_failed);
}

void builds_trend_write(const struct builds_day *day, size_t count, struct buf *out)
{
	const struct trend_sum sum = sum_days(day, count);
	double line = TOP + bar_height(sum.most_good, &sum);
	size_t width = LEFT + count * SLOT;
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"trend\" viewBox=\"0 0 %zu %d\" role=\"img\" "
		"aria-labelledby=\"trend-title trend-words\">\n",
		width, TOP + BARS + BOTTOM);
	put_words(day, count, &sum, out);
	for (size_t i = 0; i < count; i++)
		put_day(&day[i], i, &sum, line, out);
	buf_printf(out, "<path class=\"axis\" d=\"M%d %.1fH%zu\"/>\n", LEFT, line, width);
	put_number(out, TOP + 4, sum.most_good);
	put_number(out, line + bar_height(sum.most_failed, &sum) + 4, sum.most_failed);
	buf_printf(out, "<text x=\"%d\" y=\"%d\">", LEFT, TOP + BARS + BOTTOM - 6);
	put_date(day[0].day, out);
	buf_printf(out, "</text>\n<text x=\"%zu\" y=\"%d\" text-anchor=\"end\">", width, TOP + BARS + BOTTOM - 6);
	put_date(day[count - 1].day, out);
	buf_puts(out, "</text>\n</svg>\n");
}
