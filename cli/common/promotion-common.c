// SPDX-License-Identifier: Apache-2.0
#include "cli/common/promotion-common.h"

#include <inttypes.h>

#include "lib/format/escape.h"
#include "promoter/promote.h"

// The last files that left earlier have a line, which says how they come back; after many nights there are too many.
enum { LEFT_SHOWN = 10 };

int promotion_common_check_view(const struct session *s, const char *name, struct err *e)
{
	if (promote_view(&s->config, name, e))
		return 0;
	e->kind = ERR_USAGE;
	return -1;
}

static void print_promote_row(const struct promote_row *row, struct buf *out)
{
	buf_printf(out, "%-8s %s/", promote_result_name[row->result], row->platform);
	escape_terminal(out, str_from(row->filename));
	buf_puts(out, row->is_override ? " (override)" : "");
	buf_puts(out, *row->reason ? ": " : "");
	escape_terminal(out, str_from(row->reason));
	buf_putc(out, '\n');
}

static void print_counts(const struct promote_answer *a, const char *view, bool is_dry_run, struct buf *out)
{
	const char *separator = ": ";
	buf_printf(out, "%s: generation %" PRId64, view, a->generation);
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++) {
		if (!a->count[i])
			continue;
		buf_printf(out, "%s%zu %s", separator, a->count[i], promote_result_name[i]);
		separator = ", ";
	}
	buf_puts(out, !a->rows ? ": nothing to do" : "");
	buf_puts(out, is_dry_run ? " (dry run: nothing was changed)\n" : "\n");
}

void promotion_common_print(struct session *s, const struct promote_answer *answer, const char *view)
{
	if (s->is_json) {
		promote_write_json(answer, view, s->is_dry_run, &s->out);
		return;
	}
	size_t left = 0;
	for (size_t i = 0; i < answer->rows; i++)
		left += answer->row[i].result == PROMOTE_LEFT;
	for (size_t i = 0; i < answer->rows; i++) {
		const struct promote_row *row = &answer->row[i];
		bool is_problem = row->result == PROMOTE_REFUSED || row->result == PROMOTE_HELD;
		bool is_change = row->result == PROMOTE_DONE || row->result == PROMOTE_ENDED ||
				 (row->result == PROMOTE_OVERTAKEN && !row->is_repeated) ||
				 (row->result == PROMOTE_LEFT && left-- <= LEFT_SHOWN);
		if (is_problem || (!s->is_quiet && is_change))
			print_promote_row(row, &s->out);
	}
	if (!s->is_quiet)
		print_counts(answer, view, s->is_dry_run, &s->out);
}
