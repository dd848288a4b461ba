// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/yanked-releases.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/state/store/sidecar.h"

struct yanked_release {
	struct version version;
	bool is_offered;    // a file of it is not yanked
	const char *reason; // the first that the page gives; valid while the page is read
	char *text;         // of the mark; NULL: it is offered
};

struct yanked_releases {
	struct yanked_release *release; // by version, each once
	size_t count;
	bool has_any;
};

static int compare_versions(const void *a, const void *b)
{
	const struct yanked_release *x = a, *y = b;
	return version_cmp(&x->version, &y->version);
}

static void add_page_file(struct yanked_releases *y, const struct simplepage_file *file, const char *project)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(file->filename), &name, &ignored) < 0 || strcmp(name.project, project) != 0)
		return;
	y->release[y->count++] = (struct yanked_release){.version = name.version,
		.is_offered = !file->yanked,
		.reason = file->yanked && *file->yanked ? file->yanked : NULL};
	name.version = (struct version){0};
}

// Merges the entries of one version into one.
static void merge_files_of_version(struct yanked_releases *y)
{
	size_t kept = 0;
	for (size_t i = 0; i < y->count; i++) {
		struct yanked_release *one = &y->release[i], *before = kept ? &y->release[kept - 1] : NULL;
		if (!before || version_cmp(&before->version, &one->version) != 0) {
			y->release[kept++] = *one;
			continue;
		}
		before->is_offered |= one->is_offered;
		before->reason = before->reason ? before->reason : one->reason;
		version_release(&one->version);
	}
	y->count = kept;
}

// The reason in one line, and a line with the index that it follows.
static char *make_mark_text(const struct yanked_release *r, const char *index)
{
	struct buf text;
	buf_init(&text, LIMIT_SIDECAR);
	mark_reason(MARK_YANKED, str_from(r->reason ? r->reason : ""), &text);
	buf_printf(&text, "\n" MARK_FROM_UPSTREAM "%s\n", index);
	return buf_steal(&text);
}

struct yanked_releases *yanked_releases_new(const struct simplepage *page, const char *project, const char *index)
{
	struct yanked_releases *y = xcalloc(1, sizeof(*y));
	y->release = xcalloc(page->files + 1, sizeof(*y->release));
	for (size_t i = 0; i < page->files; i++)
		add_page_file(y, &page->file[i], project);
	qsort(y->release, y->count, sizeof(*y->release), compare_versions);
	merge_files_of_version(y);
	for (size_t i = 0; i < y->count; i++) {
		struct yanked_release *r = &y->release[i];
		r->text = r->is_offered ? NULL : make_mark_text(r, index);
		y->has_any |= !r->is_offered;
	}
	return y;
}

void yanked_releases_free(struct yanked_releases *y)
{
	if (!y)
		return;
	for (size_t i = 0; i < y->count; i++) {
		version_release(&y->release[i].version);
		free(y->release[i].text);
	}
	free(y->release);
	free(y);
}

void yanked_releases_cleanup(struct yanked_releases **y)
{
	yanked_releases_free(*y);
	*y = NULL;
}

bool yanked_releases_has_any(const struct yanked_releases *y)
{
	return y->has_any;
}

static const struct yanked_release *find_release(const struct yanked_releases *y, struct str version_key)
{
	const struct yanked_release key = {.version = {.key = version_key}};
	return bsearch(&key, y->release, y->count, sizeof(key), compare_versions);
}

static const struct yanked_release *find_release_of_file(const struct yanked_releases *y, const char *filename)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse(str_from(filename), &name, &ignored) < 0 ? NULL : find_release(y, name.version.key);
}

const char *yanked_releases_of_key(const struct yanked_releases *y, struct str version_key)
{
	const struct yanked_release *r = find_release(y, version_key);
	return r ? r->text : NULL;
}

const char *yanked_releases_of_name(const struct yanked_releases *y, const char *filename)
{
	const struct yanked_release *r = find_release_of_file(y, filename);
	return r ? r->text : NULL;
}

bool yanked_releases_offers(const struct yanked_releases *y, const char *filename)
{
	const struct yanked_release *r = find_release_of_file(y, filename);
	return r && r->is_offered;
}
