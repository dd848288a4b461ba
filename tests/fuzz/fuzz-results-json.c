// SPDX-License-Identifier: Apache-2.0
// A build result from outside: what is accepted is written and read again as the same, and a page that shows it has no
// markup of it. Any text as a log is harmless.
#include "lib/state/results/results-json.h"

#include <string.h>

#include "lib/base/limits.h"
#include "server/pages/builds-page.h"
#include "tests/fuzz/fuzz.h"

static void check_log(struct str log)
{
	CLEANUP(buf_release) struct buf clean, again;
	buf_init(&clean, LIMIT_PAGE);
	buf_init(&again, LIMIT_PAGE);
	builds_log_clean(log, &clean);
	builds_log_clean(buf_view(&clean), &again);
	HOLDS(str_is_utf8(buf_view(&clean)) && str_eq(buf_view(&clean), buf_view(&again)));
	for (size_t i = 0; i < clean.len; i++) {
		unsigned char c = (unsigned char)clean.data[i];
		HOLDS(c == '\n' || c == '\t' || (c >= ' ' && c != 0x7f));
		HOLDS(c != 0xc2 || (unsigned char)clean.data[i + 1] >= 0xa0);
	}
}

static void print_again(const struct results_attempt *a, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = results_json(a);
	buf_init(out, LIMIT_PAGE);
	jsondoc_write(doc, 0, out);
}

static void check_read_again(const struct results_attempt *a)
{
	struct err e = ERR_INIT;
	struct results_attempt other;
	struct str log;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(buf_release) struct buf first, second;
	print_again(a, &first);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&first), &e);
	HOLDS(doc && results_json_read(doc, &other, &text, &log, &e) == 0 && !log.ptr);
	print_again(&other, &second);
	HOLDS(str_eq(buf_view(&first), buf_view(&second)));
	HOLDS(strcmp(a->files, other.files) == 0 && strcmp(a->provenance, other.provenance) == 0);
}

// Each "<" is one of ours.
static void check_page(struct results_attempt *a)
{
	static const char *const foreign[] = {"<script", "<img", "<b>", "<i>", "<!--"};
	const struct builds_data data = {.attempt = a, .attempts = 1};
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, LIMIT_PAGE);
	builds_page_project(&(struct html_frame){0}, &data, a->project, 1, &page);
	HOLDS(!page.failed);
	HOLDS(str_is_utf8(buf_view(&page)));
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		HOLDS(!strstr(page.data, foreign[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str input = fuzz_text(bytes, size), log;
	struct err e = ERR_INIT;
	struct results_attempt a;
	CLEANUP(arena_release) struct arena text = {0};
	check_log(input);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(input, &e);
	if (!doc)
		return 0;
	if (results_json_read(doc, &a, &text, &log, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID && *e.msg);
		return 0;
	}
	HOLDS(strlen(a.id) == RESULTS_ID && a.is_sent && a.seconds >= 0);
	check_read_again(&a);
	check_page(&a);
	return 0;
}
