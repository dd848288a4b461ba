// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/yanked-releases.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/state/store/sidecar.h"

struct release {
	struct version version;
	bool is_offered;    // a file of it is not yanked
	const char *reason; // the first one that is given; the page's, while it is read
	char *text;         // NULL: it is offered
};

struct yanked_releases {
	struct release *release; // by version, each once
	size_t count;
	bool has_any;
};

static int by_version(const void *a, const void *b)
{
	const struct release *x = a, *y = b;
	return version_cmp(&x->version, &y->version);
}

static void add_file(struct yanked_releases *y, const struct simplepage_file *file, const char *project)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(file->filename), &name, &unsaid) < 0 || strcmp(name.project, project) != 0)
		return;
	y->release[y->count++] = (struct release){.version = name.version,
		.is_offered = !file->yanked,
		.reason = file->yanked && *file->yanked ? file->yanked : NULL};
	name.version = (struct version){0};
}

// Those of one version become one.
static void merge(struct yanked_releases *y)
{
	size_t kept = 0;
	for (size_t i = 0; i < y->count; i++) {
		struct release *one = &y->release[i], *before = kept ? &y->release[kept - 1] : NULL;
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

// The reason in one line, and a line that says whose it is.
static char *compose(const struct release *r, const char *index)
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
		add_file(y, &page->file[i], project);
	qsort(y->release, y->count, sizeof(*y->release), by_version);
	merge(y);
	for (size_t i = 0; i < y->count; i++) {
		struct release *r = &y->release[i];
		r->text = r->is_offered ? NULL : compose(r, index);
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

static const struct release *find(const struct yanked_releases *y, struct str version_key)
{
	const struct release key = {.version = {.key = version_key}};
	return bsearch(&key, y->release, y->count, sizeof(key), by_version);
}

static const struct release *find_name(const struct yanked_releases *y, const char *filename)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse(str_from(filename), &name, &unsaid) < 0 ? NULL : find(y, name.version.key);
}

const char *yanked_releases_of_key(const struct yanked_releases *y, struct str version_key)
{
	const struct release *r = find(y, version_key);
	return r ? r->text : NULL;
}

const char *yanked_releases_of_name(const struct yanked_releases *y, const char *filename)
{
	const struct release *r = find_name(y, filename);
	return r ? r->text : NULL;
}

bool yanked_releases_offers(const struct yanked_releases *y, const char *filename)
{
	const struct release *r = find_name(y, filename);
	return r && r->is_offered;
}
