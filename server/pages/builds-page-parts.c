// SPDX-License-Identifier: Apache-2.0
#include "server/pages/builds-page-parts.h"

#include <inttypes.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "server/pages/html-layout.h"

void builds_part_duration(struct buf *out, double seconds)
{
	uint64_t s = (uint64_t)(seconds + 0.5);
	if (seconds < 9.95)
		buf_printf(out, "%.1f s", seconds);
	else if (s < 60)
		buf_printf(out, "%" PRIu64 " s", s);
	else if (s < 3600)
		buf_printf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		buf_printf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
}

void builds_part_result(struct buf *out, enum results_result result)
{
	const char *colour = result == RESULTS_OK ? " good" : results_is_failure(result) ? " goes" : "";
	buf_printf(out, "<span class=\"verdict%s\">%s</span>", colour, results_result_name[result]);
}

void builds_part_log(struct buf *out, const char *folder, const struct results_attempt *a)
{
	if (!a->has_log)
		return;
	buf_puts(out, "<a href=\"");
	buf_puts(out, folder);
	escape_url(out, str_from(a->id));
	buf_puts(out, "\">log</a>");
}

// --- the facts ---

static void begin_fact(struct buf *out, const char *name)
{
	buf_printf(out, "<div><dt>%s</dt><dd>", name);
}

static void put_fact(struct buf *out, const char *name, struct str value)
{
	if (!value.len)
		return;
	begin_fact(out, name);
	escape_html(out, value);
	buf_puts(out, "</dd></div>");
}

// "FILENAME SHA256 SIZE" lines.
static void put_made_files(struct buf *out, const char *files)
{
	struct str rest = str_from(files);
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		struct str name = str_cut(&line, ' '), sha256 = str_cut(&line, ' ');
		begin_fact(out, "Made");
		escape_html(out, name);
		buf_puts(out, " <code>");
		escape_html(out, sha256);
		buf_puts(out, "</code> ");
		escape_html(out, line);
		buf_puts(out, " bytes</dd></div>");
	}
}

static void put_provenance(struct buf *out, const char *provenance)
{
	struct err none = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = *provenance ? jsondoc_read(str_from(provenance), &none) : NULL;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_BUILDS_TEXT);
	if (!doc)
		return;
	jsondoc_write(doc, 2, &text);
	buf_puts(out, "<pre><code>");
	escape_html(out, str_trim(buf_view(&text)));
	buf_puts(out, "</code></pre>");
}

void builds_part_facts(struct buf *out, const struct results_attempt *a)
{
	struct str sdist = str_from(a->sdist);
	struct str name = str_cut(&sdist, ' ');
	buf_puts(out, "<details><summary>Facts</summary><dl class=\"facts\">");
	put_fact(out, "Builder", str_from(a->builder));
	put_fact(out, "Sdist", name);
	put_fact(out, "Its SHA-256", sdist);
	put_made_files(out, a->files);
	put_fact(out, "Missing build requirements", str_from(a->awaiting));
	if (a->peak_memory) {
		begin_fact(out, "Peak memory");
		html_size(out, a->peak_memory);
		buf_puts(out, "</dd></div>");
	}
	put_fact(out, "Recipe", str_from(a->recipe));
	put_fact(out, "Attempt", str_from(a->id));
	buf_puts(out, "</dl>");
	put_provenance(out, a->provenance);
	buf_puts(out, "</details>");
}
