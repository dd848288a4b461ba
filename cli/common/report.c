// SPDX-License-Identifier: Apache-2.0
#include "cli/common/report.h"

#include <stdio.h>

int report_print(const struct cli_config *s, const struct summary *summary, struct err *e)
{
	if (s->is_json) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, SIZE_MAX / 2);
		summary_json(summary, &out);
		fwrite(out.data, 1, out.len, stdout);
	} else if (s->is_quiet) {
		summary_print_problems(summary, stdout);
	} else {
		summary_print(summary, stdout);
	}
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the summary") : 0;
}
