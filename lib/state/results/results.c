// SPDX-License-Identifier: Apache-2.0
// Names and ids. results-write.c has the connection and what writes, results-read.c what reads.
#include "lib/state/results/results.h"

#include <stdlib.h>
#include <sys/random.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

const char *const results_result_name[RESULTS_RESULT_COUNT] = {
	[RESULTS_RUNNING] = "running",
	[RESULTS_OK] = "ok",
	[RESULTS_FAILED] = "failed",
	[RESULTS_TIMED_OUT] = "timed-out",
	[RESULTS_REPAIR_FAILED] = "repair-failed",
	[RESULTS_TEST_FAILED] = "test-failed",
	[RESULTS_REFUSED] = "refused",
	[RESULTS_CRASHED] = "crashed",
	[RESULTS_INTERRUPTED] = "interrupted",
	[RESULTS_WAITING] = "waiting",
};

bool results_is_failure(enum results_result r)
{
	return r != RESULTS_RUNNING && r != RESULTS_OK && r != RESULTS_INTERRUPTED && r != RESULTS_WAITING;
}

char *results_path(const struct config *c, const char *catalog_path)
{
	return c->build_results ? xstrdup(c->build_results) : xasprintf("%s.builds", catalog_path);
}

void results_new_id(char out[RESULTS_ID + 1])
{
	static const char digit[] = "0123456789abcdef";
	unsigned char random[RESULTS_ID / 2];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort(); // so few bytes are never cut short once the system has started (getrandom(2))
	for (size_t i = 0; i < RESULTS_ID; i++)
		out[i] = digit[(random[i / 2] >> (i % 2 ? 0 : 4)) & 0xf];
	out[RESULTS_ID] = '\0';
}

void results_one_line(struct str text, struct buf *out)
{
	CLEANUP(mem_free) char *line = xstrndup(text.ptr ? text.ptr : "", text.len);
	bool is_good = str_is_utf8(text);
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = ' ';
		else if (!is_good && (line[i] & 0x80))
			line[i] = '?';
	buf_str(out, str_head(str_trim((struct str){line, text.len}), LIMIT_REASON));
}
