// SPDX-License-Identifier: Apache-2.0
// A page with a file of any name, version and Requires-Python: the JSON parses to exactly these, and none of their
// bytes becomes page structure. An input is the three texts, separated by NULs.
#include "lib/view/page.h"

#include <string.h>

#include <jansson.h>

#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/support/fake-catalog.h"

static char platform_name[] = "wheels";

static void render(const struct fake_file *file, enum page_format format, struct buf *out)
{
	static const struct platform platform = {.name = platform_name, .id = 1};
	static const struct platform *platforms[] = {&platform};
	static const struct view view = {.platform = platforms, .platform_count = 1};
	struct err e = ERR_INIT;
	buf_init(out, LIMIT_PAGE);
	fake_file = file;
	fake_file_count = 1;
	HOLDS(page_project(&view, NULL, "demo", NULL, format, out, &e) == 0 && str_is_utf8(buf_view(out)));
}

// Compares a value with its text. Bytes that are not UTF-8 are replaced on a page.
static void check_text(const json_t *value, const char *text)
{
	struct str s = str_from(text);
	HOLDS(json_is_string(value));
	HOLDS(!str_is_utf8(s) || str_eq(s, (struct str){json_string_value(value), json_string_length(value)}));
}

static void check_json(const struct fake_file *file)
{
	CLEANUP(buf_release) struct buf page;
	render(file, PAGE_JSON, &page);
	json_t *top = json_loadb(page.data, page.len, JSON_REJECT_DUPLICATES, NULL), *first;
	HOLDS(top && json_array_size(json_object_get(top, "files")) == 1);
	first = json_array_get(json_object_get(top, "files"), 0);
	check_text(json_object_get(first, "filename"), file->filename);
	check_text(json_array_get(json_object_get(top, "versions"), 0), file->version);
	HOLDS(!file->requires_python == !json_object_get(first, "requires-python"));
	if (file->requires_python)
		check_text(json_object_get(first, "requires-python"), file->requires_python);
	HOLDS(!strpbrk(json_string_value(json_object_get(first, "url")), "\"'<>\\&?# "));
	json_decref(top);
}

// Reduces a page to the bytes that make up its structure. Tabs and line ends are text in HTML.
static void skeleton(struct buf *page)
{
	size_t kept = 0;
	for (size_t i = 0; i < page->len; i++) {
		char c = page->data[i];
		bool is_control = ((unsigned char)c < ' ' && c != '\t' && c != '\n') || c == 0x7f;
		if (is_control || c == '<' || c == '>' || c == '"')
			page->data[kept++] = c;
	}
	page->len = kept;
}

static void check_html(const struct fake_file *file, enum page_format format)
{
	CLEANUP(buf_release) struct buf page, harmless;
	struct fake_file plain = *file;
	plain.filename = "x";
	plain.requires_python = file->requires_python ? "x" : NULL;
	render(file, format, &page);
	render(&plain, format, &harmless);
	skeleton(&page);
	skeleton(&harmless);
	HOLDS(str_eq(buf_view(&page), buf_view(&harmless)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str rest = fuzz_text(bytes, size);
	CLEANUP(mem_free) char *filename = fuzz_take(&rest, '\0');
	CLEANUP(mem_free) char *version = fuzz_take(&rest, '\0');
	CLEANUP(mem_free) char *python = fuzz_take(&rest, '\0');
	const struct fake_file file = {.platform = 1,
		.project = "demo",
		.filename = filename,
		.version = version ? version : "1",
		.key = "1",
		.requires_python = python,
		.size = size,
		.mtime_ns = (int64_t)size << 48,
		.sha = 1,
		.metadata_sha = (uint8_t)size};
	check_json(&file);
	check_html(&file, PAGE_HTML);
	check_html(&file, PAGE_HTML_OLD_PIP);
	return 0;
}
