// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/index/simplepage-make.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/net/url.h"
#include "lib/os/clock.h"

void simplepage_make_init(struct simplepage_make *m, const char *project, struct str base)
{
	*m = (struct simplepage_make){.base = base};
	buf_init(&m->url, LIMIT_PATH);
	m->page.project = arena_copy(&m->page.text, str_from(project));
}

void simplepage_make_release(struct simplepage_make *m)
{
	buf_release(&m->url);
	simplepage_release(&m->page);
}

static bool is_over_limit(const struct simplepage_make *m)
{
	const struct simplepage *page = &m->page;
	return page->files > LIMIT_SIMPLEPAGE_FILES || page->versions > LIMIT_SIMPLEPAGE_FILES ||
	       page->text.total > LIMIT_SIMPLEPAGE_TEXT;
}

// Copies the text with control bytes replaced by blanks. It is shown on terminals and written to logs and sidecars,
// where control bytes of another index could do harm.
static const char *copy_line(struct simplepage_make *m, struct str s)
{
	char *line = arena_alloc(&m->page.text, s.len + 1);
	for (size_t i = 0; i < s.len; i++)
		line[i] = (unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f ? ' ' : s.ptr[i];
	line[s.len] = '\0';
	return line;
}

// NULL stays NULL.
static const char *copy_optional(struct simplepage_make *m, struct str s)
{
	return s.ptr ? copy_line(m, s) : NULL;
}

bool simplepage_make_is_named(const struct simplepage_make *m, struct str name)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(name, &normal);
	return !normal.failed && str_eq(buf_view(&normal), str_from(m->page.project));
}

// Whether a file belongs to the project. The project in a wheel's name ends at the first dash. In an sdist's name its
// end is ambiguous ("q-2.3.macosx-10.8-intel.tar.gz"), so that name only has to begin with the project.
static bool is_of_project(const struct simplepage_make *m, struct str copy_filename)
{
	struct str rest = copy_filename, name = str_cut(&rest, '-');
	if (name.len && str_eq(name, m->last_name))
		return true;
	if (filename_kind(copy_filename) == FILENAME_WHEEL)
		return simplepage_make_is_named(m, name);
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(copy_filename, &normal);
	size_t len = strlen(m->page.project);
	return normal.len > len && memcmp(normal.data, m->page.project, len) == 0 && !ascii_is_alnum(normal.data[len]);
}

// Copies a reason, cut to LIMIT_REASON.
static const char *copy_reason(struct simplepage_make *m, struct str reason)
{
	return copy_line(m, str_head(reason, LIMIT_REASON));
}

// Copies the text if it is a valid time (PEP 700: UTC, with or without a fraction); else NULL.
static const char *copy_upload_time(struct simplepage_make *m, struct str text, int64_t *seconds)
{
	char whole[CLOCK_TEXT];
	size_t at = CLOCK_TEXT - 2; // after the seconds
	if (text.len < CLOCK_TEXT - 1 || text.len > LIMIT_UPLOAD_TIME)
		return NULL;
	memcpy(whole, text.ptr, at);
	memcpy(whole + at, "Z", 2);
	if (text.ptr[at] == '.')
		at++;
	while (at < text.len && ascii_is_digit(text.ptr[at]) && text.ptr[CLOCK_TEXT - 2] == '.')
		at++;
	struct str zone = str_slice(text, at, text.len);
	if ((!str_eq(zone, STR("Z")) && !str_eq(zone, STR("+00:00"))) || !clock_read(whole, seconds))
		return NULL;
	return copy_optional(m, text);
}

static const char *copy_requires_python(struct simplepage_make *m, struct str text)
{
	if (!text.len || text.len > LIMIT_REQUIRES_PYTHON)
		return NULL;
	if (!m->last_python || !str_eq(text, str_from(m->last_python)))
		m->last_python = copy_optional(m, text);
	return m->last_python;
}

// Most URLs end with the file name; then the name shares the bytes of the URL.
static const char *copy_filename(struct simplepage_make *m, struct str name, struct str url)
{
	if (str_ends(url, name) && url.ptr[url.len - name.len - 1] == '/')
		return url.ptr + url.len - name.len;
	return copy_optional(m, name);
}

static const char *copy_provenance(struct simplepage_make *m, struct str url)
{
	return url.len && url.len <= LIMIT_PROVENANCE ? copy_optional(m, url) : NULL;
}

static bool has_cut_field(const struct simplepage_link *link)
{
	return link->requires_python.len > LIMIT_REQUIRES_PYTHON || link->provenance.len > LIMIT_PROVENANCE ||
	       link->reason.len > LIMIT_REASON;
}

static void append_file(struct simplepage_make *m, const struct simplepage_link *link, struct str url)
{
	struct simplepage *page = &m->page;
	GROW(page->file, page->files, m->file_room);
	struct simplepage_file *f = &page->file[page->files++];
	*f = (struct simplepage_file){
		.url = arena_copy(&page->text, url),
		.requires_python = copy_requires_python(m, link->requires_python),
		.yanked = link->is_yanked ? copy_reason(m, link->reason) : NULL,
		.provenance = copy_provenance(m, link->provenance),
		.is_cut = has_cut_field(link),
		.size = link->size,
		.has_metadata = link->has_metadata,
	};
	f->has_sha256 = hex_decode(link->sha256, f->sha256, SHA256_SIZE);
	f->has_metadata_sha256 = link->has_metadata && hex_decode(link->metadata, f->metadata_sha256, SHA256_SIZE);
	f->filename = copy_filename(m, link->filename, (struct str){f->url, url.len});
	struct str name = {f->filename, link->filename.len};
	if (filename_kind(name) == FILENAME_WHEEL)
		m->last_name = str_cut(&name, '-');
	f->upload_time = copy_upload_time(m, link->upload_time, &f->uploaded);
}

void simplepage_make_link(struct simplepage_make *m, const struct simplepage_link *link)
{
	struct err ignored = ERR_INIT;
	buf_clear(&m->url);
	m->lost += !link->filename.len;
	if (is_over_limit(m) || !link->filename.len || filename_check(link->filename, &ignored) < 0)
		return;
	m->seen++;
	if (!is_of_project(m, link->filename))
		m->foreign++;
	else if (link->url.len && url_resolve(m->base, link->url, &m->url) && !m->url.failed)
		append_file(m, link, buf_view(&m->url));
	else
		m->lost++;
}

void simplepage_make_version(struct simplepage_make *m, struct str version)
{
	struct simplepage *page = &m->page;
	if (is_over_limit(m) || !version.len ||
		version.len > LIMIT_FILE_NAME) // no file name can contain a longer version
		return;
	GROW(page->version, page->versions, m->version_room);
	page->version[page->versions++] = copy_optional(m, version);
}

void simplepage_make_status(struct simplepage_make *m, struct str status, struct str reason)
{
	struct simplepage *page = &m->page;
	page->status_reason = reason.len ? copy_reason(m, reason) : NULL;
	page->status = SIMPLEPAGE_ACTIVE;
	while (page->status < SIMPLEPAGE_UNFAMILIAR && !str_eq(status, str_from(simplepage_status_name[page->status])))
		page->status++;
}

int64_t simplepage_make_number(struct str digits)
{
	uint64_t number;
	return decimal_parse(digits, INT64_MAX / 2, &number) ? (int64_t)number : -1;
}

int simplepage_make_api(struct str version, struct err *e)
{
	struct str rest = version, major = str_cut(&rest, '.');
	if (!str_eq(major, STR("1")))
		return err_set(e, ERR_INVALID, "unsupported API version \"%.*s\" of a simple page",
			version.len > 40 ? 40 : (int)version.len, version.ptr ? version.ptr : "");
	return 0;
}

static int compare_name_and_place(const void *a, const void *b)
{
	const struct simplepage_file *const *one = a, *const *other = b;
	int order = strcmp((*one)->filename, (*other)->filename);
	return order ? order : (*one > *other) - (*one < *other);
}

// Removes all but the first file of each name. It clears the names of the others, then compacts the list.
static void remove_duplicates(struct simplepage *page)
{
	if (!page->files)
		return;
	CLEANUP(mem_free)
	struct simplepage_file **sorted = xreallocarray(NULL, page->files, sizeof(struct simplepage_file *));
	for (size_t i = 0; i < page->files; i++)
		sorted[i] = &page->file[i];
	qsort(sorted, page->files, sizeof(sorted[0]), compare_name_and_place);
	const char *last = "";
	for (size_t i = 0; i < page->files; i++) {
		bool is_again = strcmp(last, sorted[i]->filename) == 0;
		last = sorted[i]->filename;
		if (is_again)
			sorted[i]->filename = NULL;
	}
	size_t kept = 0;
	for (size_t i = 0; i < page->files; i++)
		if (page->file[i].filename)
			page->file[kept++] = page->file[i];
	page->files = kept;
}

enum simplepage_fault simplepage_make_finish(struct simplepage_make *m, struct simplepage *out, struct err *e)
{
	if (is_over_limit(m)) {
		err_set(e, ERR_LIMIT, "the page of %s has too many files", m->page.project);
		return SIMPLEPAGE_TOO_LARGE;
	}
	if (m->seen && m->foreign == m->seen) {
		err_set(e, ERR_INVALID, "the page belongs to another project: none of its files is of %s",
			m->page.project);
		return SIMPLEPAGE_WRONG_PROJECT;
	}
	if (m->lost && !m->page.files) {
		err_set(e, ERR_INVALID, "not a simple page: none of its files has a name and a usable URL");
		return SIMPLEPAGE_NOT_A_PAGE;
	}
	remove_duplicates(&m->page);
	*out = m->page;
	m->page = (struct simplepage){0};
	return SIMPLEPAGE_GOOD;
}
