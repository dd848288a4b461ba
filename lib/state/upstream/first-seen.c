// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/first-seen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/index/simplepage.h"
#include "lib/format/digest.h"
#include "lib/place/record.h"
#include "lib/state/upstream/offering.h"

enum { KEY = 24, LINE = KEY + sizeof(" 1700000000\n") - 1 };

static const char below[] = "seen";

// The keys of the record, sorted; slices of its text.
struct seen_list {
	struct buf text;
	const char **line;
	size_t count;
};

static void seen_list_release(struct seen_list *l)
{
	buf_release(&l->text);
	free(l->line);
}

static int compare_seen(const void *a, const void *b)
{
	return memcmp(*(const char *const *)a, *(const char *const *)b, KEY);
}

static bool is_untimed(const struct simplepage_file *f)
{
	return f->uploaded < OFFERING_OLDEST;
}

static bool has_untimed(const struct simplepage *page)
{
	for (size_t i = 0; i < page->files; i++)
		if (is_untimed(&page->file[i]))
			return true;
	return false;
}

static void make_seen_key(struct digest *d, const char *upstream, const struct simplepage_file *f, char out[KEY + 1])
{
	uint8_t sha256[SHA256_SIZE];
	digest_begin(d);
	digest_add(d, upstream, strlen(upstream) + 1);
	digest_add(d, f->filename, strlen(f->filename) + 1);
	if (f->has_sha256)
		digest_add(d, (const char *)f->sha256, SHA256_SIZE);
	digest_end(d, sha256);
	hex_encode(sha256, KEY / 2, out);
	out[KEY] = '\0';
}

// A line that is no line counts for nothing.
static bool is_line(struct str line)
{
	return line.len == LINE - 1 && line.ptr[KEY] == ' ';
}

static void sort_list(struct seen_list *l)
{
	struct str rest = buf_view(&l->text);
	l->line = xreallocarray(NULL, rest.len / LINE + 1, sizeof(*l->line));
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (is_line(line) && l->count < l->text.len / LINE)
			l->line[l->count++] = line.ptr;
	}
	if (l->count)
		qsort(l->line, l->count, sizeof(*l->line), compare_seen);
}

static int read_seen(const char *folder, const char *project, struct seen_list *out, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *open = record_secret_folder(folder, below, false, &missing);
	if (open && record_read(open, project, LIMIT_FIRST_SEEN, &out->text, &missing) == 0)
		return 0;
	return err_unless_missing(e, &missing);
}

// 0: it is not there.
static int64_t find_seen(const struct seen_list *l, const char *key)
{
	uint64_t seconds = 0;
	const char **found = l->count ? bsearch(&key, l->line, l->count, sizeof(*l->line), compare_seen) : NULL;
	struct str digits = found ? (struct str){*found + KEY + 1, LINE - KEY - 2} : STR("0");
	return decimal_parse(digits, INT64_MAX, &seconds) ? (int64_t)seconds : 0;
}

static int write_seen(const char *folder, const char *project, const struct buf *text, struct err *e)
{
	if (text->failed)
		return err_set(e, ERR_LIMIT, "more than %d bytes of files without an upload time", LIMIT_FIRST_SEEN);
	CLEANUP(place_folder_close) struct place_folder *open = record_secret_folder(folder, below, true, e);
	return open ? record_replace(open, project, buf_view(text), e) : -1;
}

int first_seen_fill(const char *folder, const char *upstream, struct simplepage *page, int64_t at, struct err *e)
{
	CLEANUP(seen_list_release) struct seen_list known = {0};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_FIRST_SEEN);
	bool has_news = false;
	if (!has_untimed(page))
		return 0;
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	buf_init(&known.text, LIMIT_FIRST_SEEN + 1);
	int read = read_seen(folder, page->project, &known, e);
	sort_list(&known);
	buf_str(&text, buf_view(&known.text));
	for (size_t i = 0; i < page->files; i++) {
		char key[KEY + 1];
		struct simplepage_file *f = &page->file[i];
		if (!is_untimed(f))
			continue;
		make_seen_key(d, upstream, f, key);
		int64_t seen = find_seen(&known, key);
		f->seen = seen ? seen : at;
		if (!seen)
			buf_printf(&text, "%s %010" PRId64 "\n", key, at);
		has_news |= !seen;
	}
	if (read < 0 || (has_news && write_seen(folder, page->project, &text, e) < 0))
		return err_prefix(e, "when files of %s were first seen: ", page->project);
	return 0;
}
