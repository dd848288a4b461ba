// SPDX-License-Identifier: Apache-2.0
#include "server/pages/trend-picture.h"

#include <inttypes.h>

#include "lib/base/counted.h"
#include "lib/os/clock.h"
#include "server/pages/html-layout.h"

// In units of the picture.
enum { LEFT = 72, SLOT = 12, BAR = 9, TOP = 16, BARS = 120, BOTTOM = 30 };
enum { TEXT_ROOM = 30 }; // between two numbers, of the largest letters of the style

static const char *const kind_class[TREND_KIND_COUNT] = {"good", "idle", "bad"};

struct trend_sum {
	uint64_t all[TREND_KIND_COUNT];  // of all days
	uint64_t most[TREND_KIND_COUNT]; // of one day
	double most_up;                  // good and neither, of one day
	const struct trend_words *words;
};

static struct trend_sum sum_days(const struct trend_day *day, size_t count, const struct trend_words *words)
{
	struct trend_sum sum = {.words = words};
	for (size_t i = 0; i < count; i++) {
		double up = (double)day[i].count[TREND_GOOD] + (double)day[i].count[TREND_IDLE];
		sum.most_up = up > sum.most_up ? up : sum.most_up;
		for (int k = 0; k < TREND_KIND_COUNT; k++) {
			uint64_t n = day[i].count[k];
			sum.all[k] += n;
			sum.most[k] = n > sum.most[k] ? n : sum.most[k];
		}
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
static double bar_height(double n, const struct trend_sum *sum)
{
	double height = n > 0 ? BARS * n / (sum->most_up + (double)sum->most[TREND_BAD]) : 0;
	return n > 0 && height < 2 ? 2 : height;
}

static void put_bar(struct buf *out, enum trend_kind kind, size_t slot, double y, double height)
{
	if (height > 0)
		buf_printf(out, "<rect class=\"%s\" x=\"%zu\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"1.5\"/>",
			kind_class[kind], LEFT + slot * SLOT, y, BAR, height);
}

// "7 good, 1 failed"; before the last one stands `last`.
static void put_counts(struct buf *out, const uint64_t count[TREND_KIND_COUNT], const struct trend_words *words,
	const char *last)
{
	const char *before = "";
	static const enum trend_kind order[] = {TREND_GOOD, TREND_IDLE, TREND_BAD};
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!words->name[order[i]])
			continue;
		buf_printf(out, "%s%" PRIu64 " %s", before, count[order[i]], words->name[order[i]]);
		before = i + 2 == ARRAY_SIZE(order) || !words->name[TREND_IDLE] ? last : ", ";
	}
}

// A day on which something happened: its bars, and its numbers for a pointer that rests on it.
static void put_day(const struct trend_day *d, size_t slot, const struct trend_sum *sum, double line, struct buf *out)
{
	if (!d->count[TREND_GOOD] && !d->count[TREND_IDLE] && !d->count[TREND_BAD])
		return;
	double good = bar_height((double)d->count[TREND_GOOD], sum),
	       idle = bar_height((double)d->count[TREND_IDLE], sum);
	buf_puts(out, "<g><title>");
	put_date(d->day, out);
	buf_puts(out, ": ");
	put_counts(out, d->count, sum->words, ", ");
	buf_puts(out, "</title>");
	put_bar(out, TREND_GOOD, slot, line - good - 0.5, good);
	put_bar(out, TREND_IDLE, slot, line - good - idle - 0.5, idle);
	put_bar(out, TREND_BAD, slot, line + 0.5, bar_height((double)d->count[TREND_BAD], sum));
	buf_puts(out, "</g>\n");
}

// Beside the line, where few digits have room: "950", "1.2k", "118k".
static void put_number(struct buf *out, double y, double n)
{
	static const char *const unit[] = {"", "k", "M", "G", "T", "P", "E"};
	size_t i = 0;
	for (; n >= 999.5 && i + 1 < ARRAY_SIZE(unit); i++)
		n /= 1000;
	buf_printf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*f%s</text>\n", LEFT - 8, y, i && n < 9.95, n,
		unit[i]);
}

void trend_picture_write(const struct trend_day *day, size_t count, const struct trend_words *words, struct buf *out)
{
	const struct trend_sum sum = sum_days(day, count, words);
	double line = TOP + bar_height(sum.most_up, &sum);
	size_t width = LEFT + count * SLOT;
	buf_printf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"trend\" viewBox=\"0 0 %zu %d\" role=\"img\" "
		"aria-labelledby=\"trend-title trend-words\">\n",
		width, TOP + BARS + BOTTOM);
	buf_printf(out, "<title id=\"trend-title\">%s on each of the last %s</title>\n", sum.words->what,
		COUNTED(count, "day|days"));
	buf_puts(out, "<desc id=\"trend-words\">");
	put_counts(out, sum.all, sum.words, " and ");
	buf_puts(out, " from ");
	put_date(day[0].day, out);
	buf_puts(out, " to ");
	put_date(day[count - 1].day, out);
	buf_puts(out, "; at most ");
	put_counts(out, sum.most, sum.words, " and ");
	buf_puts(out, " on one day.</desc>\n");
	for (size_t i = 0; i < count; i++)
		put_day(&day[i], i, &sum, line, out);
	buf_printf(out, "<path class=\"axis\" d=\"M%d %.1fH%zu\"/>\n", LEFT, line, width);
	// The most that is good and the most that is bad, and the line's 0 where it has room.
	enum { HALF_LETTER = 4 };
	double below = bar_height((double)sum.most[TREND_BAD], &sum), above = line - TOP;
	if (sum.most_up > 0)
		put_number(out, TOP + HALF_LETTER, sum.most_up);
	if (below > 0)
		put_number(out, line + below + HALF_LETTER, (double)sum.most[TREND_BAD]);
	if ((above <= 0 || above >= TEXT_ROOM) && (below <= 0 || below >= TEXT_ROOM))
		put_number(out, line + HALF_LETTER, 0);
	buf_printf(out, "<text x=\"%d\" y=\"%d\">", LEFT, TOP + BARS + BOTTOM - 6);
	put_date(day[0].day, out);
	buf_printf(out, "</text>\n<text x=\"%zu\" y=\"%d\" text-anchor=\"end\">", width, TOP + BARS + BOTTOM - 6);
	put_date(day[count - 1].day, out);
	buf_puts(out, "</text>\n</svg>\n");
	buf_printf(out, "<p class=\"legend\">%s a day:", words->what);
	for (int i = 0; i < TREND_KIND_COUNT; i++)
		if (words->name[i])
			buf_printf(out, " <span class=\"%s\">%s</span>", kind_class[i], words->name[i]);
	buf_puts(out, "</p>\n");
}

// --- the last days of a page ---

enum { DAY_SECONDS = 86400 };

static const enum trend_kind column_order[] = {TREND_GOOD, TREND_BAD, TREND_IDLE};

void trend_begin(struct trend_day day[TREND_DAYS], int64_t now)
{
	for (int i = 0; i < TREND_DAYS; i++)
		day[i] = (struct trend_day){.day = now - now % DAY_SECONDS - (int64_t)(TREND_DAYS - 1 - i) * DAY_SECONDS};
}

struct trend_day *trend_day_of(struct trend_day day[TREND_DAYS], int64_t seconds)
{
	int64_t number = (seconds - day[0].day) / DAY_SECONDS;
	return seconds >= day[0].day && number < TREND_DAYS ? &day[number] : NULL;
}

void trend_write(const struct trend_day day[TREND_DAYS], const struct trend_words *words, struct buf *out)
{
	CLEANUP(buf_release) struct buf heads = buf_up_to(256);
	buf_puts(&heads, "Day");
	for (size_t k = 0; k < ARRAY_SIZE(column_order); k++) {
		const char *name = words->name[column_order[k]];
		if (name)
			buf_printf(&heads, "|%c%s", *name - 'a' + 'A', name + 1);
	}
	buf_puts(out, "<div class=\"card chart\">\n");
	trend_picture_write(day, TREND_DAYS, words, out);
	buf_puts(out, "</div>\n<details><summary>The numbers of each day</summary>\n");
	html_begin_table(out, "The numbers of each day", "card wide builds", heads.data);
	for (size_t i = TREND_DAYS; i-- > 0;) {
		if (!day[i].count[TREND_GOOD] && !day[i].count[TREND_IDLE] && !day[i].count[TREND_BAD])
			continue;
		buf_puts(out, "<tr><th scope=\"row\">");
		put_date(day[i].day, out);
		buf_puts(out, "</th>");
		for (size_t k = 0; k < ARRAY_SIZE(column_order); k++)
			if (words->name[column_order[k]])
				html_put(out, "<td class=\"n\" data-of=\"%h\">%d</td>", words->name[column_order[k]],
					day[i].count[column_order[k]]);
		buf_puts(out, "</tr>\n");
	}
	html_end_table(out);
	buf_puts(out, "</details>\n");
}

struct jsondoc *trend_json(const struct trend_day day[TREND_DAYS], const struct trend_words *words)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < TREND_DAYS; i++) {
		struct jsondoc *one = jsondoc_new("day:D", day[i].day);
		for (size_t k = 0; k < ARRAY_SIZE(column_order); k++)
			if (words->name[column_order[k]])
				jsondoc_put_int(one, words->name[column_order[k]], (int64_t)day[i].count[column_order[k]]);
		jsondoc_add(list, one);
	}
	return list;
}
