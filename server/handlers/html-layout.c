// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/html-layout.h"

#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/handlers/web-style.h"

const char html_plain_policy[] = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
				 "form-action 'none'; frame-ancestors 'none'";

void html_text(struct buf *out, const char *text)
{
	escape_html(out, str_from(text));
}

void html_time(struct buf *out, int64_t seconds)
{
	char when[CLOCK_TEXT];
	clock_write(seconds, when);
	buf_printf(out,
		"<time datetime=\"%s\"><span class=\"name\">%.10s</span> <span class=\"name\">%.5s UTC</span></time>",
		when, when, when + 11);
}

// "1,234,567"
void html_count(struct buf *out, uint64_t n)
{
	char digits[32];
	size_t at = sizeof(digits);
	for (size_t i = 0; i == 0 || n; i++, n /= 10) {
		if (i && i % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + n % 10);
	}
	buf_add(out, digits + at, sizeof(digits) - at);
}

void html_size(struct buf *out, uint64_t bytes)
{
	static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double n = (double)bytes;
	size_t i = 0;
	for (; n >= 999.5 && i + 1 < ARRAY_SIZE(unit); i++)
		n /= 1000;
	buf_printf(out, i && n < 99.95 ? "%.1f %s" : "%.0f %s", n, unit[i]);
}

void html_total(struct buf *out, const char *name, uint64_t n)
{
	buf_printf(out, "<div><dt>%s</dt><dd>", name);
	html_count(out, n);
	buf_puts(out, "</dd></div>");
}

void html_begin(struct buf *out, const char *title, const char *words)
{
	buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	escape_html(out, str_from(title));
	buf_puts(out, "</title>\n<link rel=\"icon\" href=\"data:image/svg+xml," WEB_WHEEL("teal") "\">\n<style>\n");
	buf_puts(out, web_style);
	buf_puts(out, "</style>\n</head>\n<body>\n<main>\n<header>" WEB_WHEEL("currentColor") "<div><h1>");
	escape_html(out, str_from(title));
	buf_puts(out, "</h1><p>");
	escape_html(out, str_from(words));
	buf_puts(out, "</p></div>");
}

static void put_footer(struct buf *out, const char *links)
{
	buf_puts(out, "</main>\n<footer>wheelcache " PACKAGE_VERSION " · ");
	buf_puts(out, links);
	buf_puts(out, "</footer>\n");
}

void html_end(struct buf *out, const char *links)
{
	put_footer(out, links);
	buf_puts(out, "<script>");
	buf_puts(out, web_script);
	buf_puts(out, "</script>\n</body>\n</html>\n");
}

void html_end_plain(struct buf *out, const char *links)
{
	put_footer(out, links);
	buf_puts(out, "</body>\n</html>\n");
}

void html_begin_table(struct buf *out, const char *class, const char *const *column, size_t columns)
{
	buf_printf(out, "<div class=\"%s\"><table>\n<thead><tr>", class);
	for (size_t i = 0; i < columns; i++)
		buf_printf(out, "<th scope=\"col\">%s</th>", column[i]);
	buf_puts(out, "</tr></thead>\n<tbody>\n");
}

void html_end_table(struct buf *out)
{
	buf_puts(out, "</tbody>\n</table></div>\n");
}
