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
#include "lib/os/clock.h"
#include "lib/place/record.h"
#include "lib/state/upstream/offering.h"

// Behind the key of a line stands what its time is.
enum { KEY = 24, SEEN = ' ', UPLOADED = '=', LINE = KEY + sizeof(" 1700000000\n") - 1 };

static const char below[] = "seen";

// The lines of the record, sorted by key and kind; slices of its text.
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
	return memcmp(*(const char *const *)a, *(const char *const *)b, KEY + 1);
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

static void make_seen_key(struct digest *d, const char *upstream, const struct simplepage_file *f, int kind,
	char out[KEY + 2])
{
	uint8_t sha256[SHA256_SIZE];
	digest_begin(d);
	digest_add(d, upstream, strlen(upstream) + 1);
	digest_add(d, f->filename, strlen(f->filename) + 1);
	if (f->has_sha256)
		digest_add(d, (const char *)f->sha256, SHA256_SIZE);
	digest_end(d, sha256);
	hex_encode(sha256, KEY / 2, out);
	out[KEY] = (char)kind;
	out[KEY + 1] = '\0';
}

// A line that is no line counts for nothing.
static bool is_line(struct str line)
{
	return line.len == LINE - 1 && (line.ptr[KEY] == SEEN || line.ptr[KEY] == UPLOADED);
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

static int64_t time_of_line(const char *line)
{
	uint64_t seconds = 0;
	return decimal_parse((struct str){line + KEY + 1, LINE - KEY - 2}, INT64_MAX, &seconds) ? (int64_t)seconds : 0;
}

// 0: it is not there.
static int64_t find_seen(const struct seen_list *l, const char *key)
{
	const char **found = l->count ? bsearch(&key, l->line, l->count, sizeof(*l->line), compare_seen) : NULL;
	return found ? time_of_line(*found) : 0;
}

static int write_seen(const char *folder, const char *project, const struct buf *text, struct err *e)
{
	if (text->failed)
		return err_set(e, ERR_LIMIT, "more than %d bytes of times of files", LIMIT_FIRST_SEEN);
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
		char key[KEY + 2];
		struct simplepage_file *f = &page->file[i];
		if (!is_untimed(f))
			continue;
		make_seen_key(d, upstream, f, SEEN, key);
		int64_t seen = find_seen(&known, key);
		f->seen = seen ? seen : at;
		if (!seen)
			buf_printf(&text, "%s%010" PRId64 "\n", key, at);
		has_news |= !seen;
	}
	if (read < 0 || (has_news && write_seen(folder, page->project, &text, e) < 0))
		return err_prefix(e, "when files of %s were first seen: ", page->project);
	return 0;
}

// --- files that left their page ---

// All lines have one length.
static int64_t noted_time(const struct simplepage_file *f)
{
	const int64_t last = 9999999999;
	return f->uploaded < last ? f->uploaded : last;
}

static bool is_to_keep(const struct simplepage_file *f, bool stays, int64_t since)
{
	return !stays && f->has_sha256 && !is_untimed(f) && f->uploaded > since;
}

static int keep_lines(const char *folder, const char *upstream, const struct simplepage *before, const bool *stays,
	int64_t since, struct err *e)
{
	CLEANUP(seen_list_release) struct seen_list known = {0};
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_FIRST_SEEN);
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	bool has_news = false;
	buf_init(&known.text, LIMIT_FIRST_SEEN + 1);
	if (read_seen(folder, before->project, &known, e) < 0)
		return -1;
	sort_list(&known);
	for (size_t i = 0; i < known.count; i++)
		if (known.line[i][KEY] == SEEN || time_of_line(known.line[i]) > since)
			buf_printf(&text, "%.*s\n", LINE - 1, known.line[i]);
	for (size_t i = 0; i < before->files; i++) {
		char key[KEY + 2];
		if (!is_to_keep(&before->file[i], stays[i], since))
			continue;
		make_seen_key(d, upstream, &before->file[i], UPLOADED, key);
		bool is_new = !find_seen(&known, key);
		if (is_new)
			buf_printf(&text, "%s%010" PRId64 "\n", key, noted_time(&before->file[i]));
		has_news |= is_new;
	}
	return has_news ? write_seen(folder, before->project, &text, e) : 0;
}

int first_seen_keep(const char *folder, const char *upstream, const struct simplepage *before, const bool *stays,
	int64_t since, struct err *e)
{
	size_t i = 0;
	while (i < before->files && !is_to_keep(&before->file[i], stays[i], since))
		i++;
	if (i < before->files && keep_lines(folder, upstream, before, stays, since, e) < 0)
		return err_prefix(e, "upload times of files that left the page of %s: ", before->project);
	return 0;
}

static bool has_kept(const struct seen_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->line[i][KEY] == UPLOADED)
			return true;
	return false;
}

int first_seen_recall(const char *folder, const char *upstream, struct simplepage *page, const bool *is_old,
	const char **changed, size_t *count, struct err *e)
{
	CLEANUP(seen_list_release) struct seen_list known = {0};
	buf_init(&known.text, LIMIT_FIRST_SEEN + 1);
	if (read_seen(folder, page->project, &known, e) < 0)
		return err_prefix(e, "upload times of files that left the page of %s: ", page->project);
	sort_list(&known);
	if (!has_kept(&known))
		return 0;
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	for (size_t i = 0; i < page->files; i++) {
		char key[KEY + 2], when[CLOCK_TEXT];
		struct simplepage_file *f = &page->file[i];
		if (is_old[i] || !f->has_sha256)
			continue;
		make_seen_key(d, upstream, f, UPLOADED, key);
		int64_t kept = find_seen(&known, key);
		if (!kept || kept == noted_time(f))
			continue;
		if (f->uploaded && !(*count)++)
			*changed = f->filename;
		clock_write(kept, when);
		f->uploaded = kept;
		f->upload_time = arena_strdup(&page->text, when);
	}
	return 0;
}
