// SPDX-License-Identifier: Apache-2.0
#include "server/pages/html-layout.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/format/digest.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "server/pages/html-script.h"
#include "server/pages/html-style.h"

// A wheel with eight spokes; also the favicon, with its colour written out.
#define WHEEL_PICTURE(colour)                                                                                            \
	"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32' width='26' height='26' fill='none' stroke='" colour \
	"' stroke-width='2.5' stroke-linecap='round' aria-hidden='true'><circle cx='16' cy='16' r='13'/>"                \
	"<circle cx='16' cy='16' r='4'/><path d='M16 3v9M16 20v9M3 16h9M20 16h9M6.8 6.8l6.4 6.4"                         \
	"M18.8 18.8l6.4 6.4M6.8 25.2l6.4-6.4M18.8 13.2l6.4-6.4'/></svg>"

const char html_policy[] = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
			   "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

static const struct {
	const char *path, *words; // path: from "/"
} section[HTML_SECTION_COUNT] = {
	[HTML_SECTION_HOME] = {"", "Overview"},
	[HTML_SECTION_COVERAGE] = {"-/coverage", "Coverage"},
	[HTML_SECTION_BUILDS] = {"-/builds/", "Builds"},
	[HTML_SECTION_PLAN] = {"-/plan/", "Prune plan"},
	[HTML_SECTION_DOCS] = {"-/docs/", "Docs"},
};

// --- the style and the script ---

const struct html_asset html_asset[HTML_ASSET_COUNT] = {
	[HTML_STYLE] = {"-/style.css", "text/css; charset=utf-8", style_text},
	[HTML_SCRIPT] = {"-/page.js", "text/javascript; charset=utf-8", script_text},
};

static char asset_version[HTML_ASSET_COUNT][HTML_ASSET_VERSION];

static void make_versions(void)
{
	for (int i = 0; i < HTML_ASSET_COUNT; i++) {
		uint8_t digest[SHA256_SIZE];
		digest_sha256(str_from(html_asset[i].text), digest);
		hex_encode(digest, HTML_ASSET_VERSION / 2, asset_version[i]);
	}
}

const char *html_asset_version(enum html_asset_name which)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_versions);
	return asset_version[which];
}

// --- elements ---

void html_text(struct buf *out, const char *text)
{
	escape_html(out, str_from(text));
}

// words: "file|files"
static void put_many(struct buf *out, uint64_t n, const char *words)
{
	html_count(out, n);
	buf_putc(out, ' ');
	buf_str(out, counted_words(n, words));
}

void html_put_values(struct buf *out, const struct form_value *value)
{
	const char *form = value++->text;
	for (const char *at; (at = strchr(form, '%')); form = at + 2) {
		buf_add(out, form, (size_t)(at - form));
		if (at[1] == '%') {
			buf_putc(out, '%');
			continue;
		}
		const char *text = value->text ? value->text : "";
		switch (at[1]) {
		case 's':
			html_text(out, text);
			break;
		case 'u':
			escape_url(out, str_from(text));
			break;
		case 'h':
			buf_puts(out, text);
			break;
		case 'm':
			put_many(out, (uint64_t)value->number, value[1].text);
			value++;
			break;
		case 'd':
			buf_printf(out, "%" PRId64, value->number);
			break;
		case 'n':
			html_count(out, (uint64_t)value->number);
			break;
		case 't':
			html_time(out, value->number);
			break;
		case 'b':
			html_size(out, (uint64_t)value->number);
			break;
		default:
			assert(!"a letter that html_put() has");
		}
		value++;
	}
	buf_puts(out, form);
}

void html_begin_project_row(struct buf *out, const char *up, const char *project)
{
	buf_printf(out, "<tr><th scope=\"row\"><a href=\"%sproject/", up);
	escape_url(out, str_from(project));
	buf_puts(out, "\">");
	html_text(out, project);
	buf_puts(out, "</a></th>");
}

void html_time(struct buf *out, int64_t seconds)
{
	char when[CLOCK_TEXT];
	clock_write(seconds, when);
	html_time_of(out, when);
}

void html_time_of(struct buf *out, const char *when)
{
	buf_printf(out,
		"<time datetime=\"%s\"><span class=\"name\">%.10s</span> <span class=\"name\">%.5s UTC</span></time>",
		when, when, when + 11);
}

const char *html_get(const struct jsondoc *doc, const char *key)
{
	const char *text = jsondoc_get_str(doc, key);
	return text ? text : "";
}

uint64_t html_get_count(const struct jsondoc *doc, const char *key)
{
	int64_t n = 0;
	return jsondoc_get_int(doc, key, &n) && n > 0 ? (uint64_t)n : 0;
}

void html_hash_cell(struct buf *out, const char *name, const char *hex)
{
	enum { SHOWN = 12 };
	if (hex && *hex)
		buf_printf(out, "<td class=\"kind\" data-of=\"%s\"><code class=\"name\" title=\"%s\">%.*s…</code></td>", name,
			hex, SHOWN, hex);
	else
		buf_puts(out, "<td class=\"zero\">–</td>");
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

void html_count_cell(struct buf *out, uint64_t n, const char *units)
{
	buf_printf(out, "<td class=\"n\" data-of=\"" STR_FMT "\">", STR_ARG(counted_words(n, units)));
	html_count(out, n);
	buf_puts(out, "</td>");
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

void html_field(struct buf *out, const char *name, const char *label, const char *value)
{
	buf_printf(out,
		"<input name=\"%s\" aria-label=\"%s\" placeholder=\"%s\" autocapitalize=\"none\" spellcheck=\"false\" "
		"value=\"",
		name, label, label);
	html_text(out, value);
	buf_puts(out, "\">");
}

static void put_top(struct buf *out, const struct html_frame *f)
{
	buf_puts(out, "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header class=\"top\"><div>");
	buf_printf(out, "<a class=\"brand\" href=\"%s\">" WHEEL_PICTURE("currentColor") "wheelcache</a>",
		*f->root ? f->root : "./");
	if (f->sections) {
		buf_puts(out, "<nav aria-label=\"Sections\">");
		for (int i = 0; i < HTML_SECTION_COUNT; i++)
			if (f->sections & 1U << i)
				buf_printf(out, "<a href=\"%s%s\"%s>%s</a>", *f->root || *section[i].path ? f->root
					: "./", section[i].path, (int)f->here == i ? " aria-current=\"page\"" : "",
					section[i].words);
		buf_puts(out, "</nav>");
	}
	if (f->has_search)
		buf_printf(out,
			"<form role=\"search\" method=\"get\" action=\"%s-/search\"><label class=\"sr\" for=\"search\">"
			"Search projects</label><input type=\"search\" id=\"search\" name=\"q\" maxlength=\"200\" "
			"placeholder=\"Search projects\"><button>Search</button></form>",
			f->root);
	buf_puts(out, "</div></header>\n");
}

void html_begin(struct buf *out, const struct html_frame *frame, const char *title, const char *words)
{
	buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	html_text(out, title);
	buf_puts(out, strcmp(title, "wheelcache") == 0 ? "" : " · wheelcache");
	buf_puts(out, "</title>\n<link rel=\"icon\" href=\"data:image/svg+xml," WHEEL_PICTURE("teal") "\">\n");
	if (!frame->root) {
		buf_puts(out, "<style>\n");
		buf_puts(out, html_asset[HTML_STYLE].text);
		buf_puts(out, "</style>\n");
	} else {
		buf_printf(out, "<link rel=\"stylesheet\" href=\"%s%s?v=%s\">\n", frame->root,
			html_asset[HTML_STYLE].path, html_asset_version(HTML_STYLE));
		buf_printf(out, "<script src=\"%s%s?v=%s\" defer></script>\n", frame->root,
			html_asset[HTML_SCRIPT].path, html_asset_version(HTML_SCRIPT));
	}
	buf_puts(out, "</head>\n<body>\n");
	if (frame->root)
		put_top(out, frame);
	buf_puts(out, "<main id=\"main\">\n<header class=\"title\"><div><h1>");
	html_text(out, title);
	buf_puts(out, *words ? "</h1><p>" : "</h1>");
	html_text(out, words);
	buf_puts(out, *words ? "</p></div>" : "</div>");
}

void html_end_values(struct buf *out, const struct form_value *links)
{
	buf_puts(out, "</main>\n<footer>wheelcache " PACKAGE_VERSION " · ");
	html_put_values(out, links);
	buf_puts(out, "</footer>\n</body>\n</html>\n");
}

void html_begin_box(struct buf *out, const char *label, const char *class)
{
	buf_printf(out, "<div class=\"%s\" role=\"region\"%s aria-label=\"", class,
		strstr(class, "matrix") ? " tabindex=\"0\"" : "");
	html_text(out, label);
	buf_puts(out, "\">");
}

void html_begin_table(struct buf *out, const char *label, const char *class, const char *heads)
{
	html_begin_box(out, label, class);
	buf_puts(out, "<table>\n<thead><tr>");
	for (struct str rest = str_from(heads); rest.len;) {
		struct str head = str_cut(&rest, '|');
		buf_puts(out, "<th scope=\"col\">");
		buf_str(out, head);
		buf_puts(out, "</th>");
	}
	buf_puts(out, "</tr></thead>\n<tbody>\n");
}

void html_end_table(struct buf *out)
{
	buf_puts(out, "</tbody>\n</table></div>\n");
}
