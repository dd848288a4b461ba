// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/format/escape.h"

static const char *const level_name[DOCTOR_COUNT] = {"ok", "warning", "wrong"};

enum { SENTENCE_MOST = 2048 };

void doctor_report_init(struct doctor_report *r)
{
	*r = (struct doctor_report){.rows = jsondoc_array()};
}

void doctor_report_release(struct doctor_report *r)
{
	jsondoc_cleanup(&r->rows);
}

void doctor_report_add(struct doctor_report *r, enum doctor_level level, const char *what, const char *advice,
	const char *fmt, ...)
{
	char sentence[SENTENCE_MOST];
	struct jsondoc *row = jsondoc_object();
	va_list args;
	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	jsondoc_put_str(row, "level", level_name[level]);
	jsondoc_put_str(row, "what", what);
	jsondoc_put_str(row, "found", sentence);
	jsondoc_put_str(row, "advice", advice);
	jsondoc_add(r->rows, row);
	r->count[level]++;
}

void doctor_report_text(const struct doctor_report *r, bool is_quiet, struct buf *out)
{
	for (size_t i = 0; i < jsondoc_count(r->rows); i++) {
		const struct jsondoc *row = jsondoc_at(r->rows, i);
		if (!is_quiet || strcmp(jsondoc_get_str(row, "level"), level_name[DOCTOR_FINE]) != 0) {
			const char *advice = jsondoc_get_str(row, "advice");
			buf_printf(out, "%-8s %-12s ", jsondoc_get_str(row, "level"), jsondoc_get_str(row, "what"));
			escape_terminal(out, str_from(jsondoc_get_str(row, "found")));
			if (advice && *advice) {
				buf_puts(out, ". To do: ");
				escape_terminal(out, str_from(advice));
			}
			buf_putc(out, '\n');
		}
	}
	if (!is_quiet)
		buf_printf(out, "%zu ok, %s, %zu wrong\n", r->count[DOCTOR_FINE],
			COUNTED(r->count[DOCTOR_WARNING], "warning|warnings"), r->count[DOCTOR_WRONG]);
}

struct jsondoc *doctor_report_json(struct doctor_report *r)
{
	struct jsondoc *doc = jsondoc_object();
	jsondoc_put_int(doc, "ok", (int64_t)r->count[DOCTOR_FINE]);
	jsondoc_put_int(doc, "warnings", (int64_t)r->count[DOCTOR_WARNING]);
	jsondoc_put_int(doc, "wrong", (int64_t)r->count[DOCTOR_WRONG]);
	jsondoc_put(doc, "rows", r->rows);
	r->rows = NULL;
	return doc;
}
