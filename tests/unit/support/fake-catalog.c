// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/fake-catalog.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-write.h"

const struct fake_file *fake_file;
size_t fake_file_count;
bool fake_fails;
const char *const *fake_platform;
size_t fake_platform_count;
const struct fake_member *fake_member;
size_t fake_member_count;
struct catalog_view fake_view;

int catalog_platform_find(struct catalog *c UNUSED, const char *name, int64_t *id, struct err *e)
{
	for (size_t i = 0; i < fake_platform_count; i++) {
		if (strcmp(fake_platform[i], name) == 0) {
			*id = (int64_t)i + 1;
			return 0;
		}
	}
	return err_set(e, ERR_NOT_FOUND, "not in the catalog");
}

int catalog_claim(struct catalog *c UNUSED, const char *store UNUSED, struct err *e UNUSED)
{
	return 0;
}

int catalog_adopt(struct catalog *c UNUSED, const char *store UNUSED, struct err *e UNUSED)
{
	return 0;
}

int catalog_platforms(struct catalog *c UNUSED, catalog_platform_fn *fn UNUSED, void *ctx UNUSED, struct err *e UNUSED)
{
	return 0;
}

int catalog_store(struct catalog *c UNUSED, char **out, struct err *e UNUSED)
{
	*out = NULL;
	return 0;
}

int catalog_is_of(struct catalog *c UNUSED, const char *store UNUSED, struct err *e UNUSED)
{
	return 0;
}

int catalog_platform_add(struct catalog *c, const char *name, int64_t *id, struct err *e)
{
	return catalog_platform_find(c, name, id, e);
}

static int give_file(const struct fake_file *f, catalog_file_fn *fn, void *ctx, struct err *e)
{
	uint8_t sha256[SHA256_SIZE], metadata[SHA256_SIZE];
	memset(sha256, f->sha, sizeof(sha256));
	memset(metadata, f->metadata_sha, sizeof(metadata));
	const struct catalog_file file = {
		.platform = f->platform,
		.filename = f->filename,
		.version = f->version,
		.version_key = f->version_key.ptr ? f->version_key : str_from(f->key),
		.size = f->size,
		.mtime_ns = f->mtime_ns,
		.sha256 = sha256,
		.metadata_sha256 = f->metadata_sha ? metadata : NULL,
		.requires_python = f->requires_python,
		.yanked = f->yanked,
	};
	return fn(ctx, &file, e);
}

int catalog_platform_scanned(struct catalog *c UNUSED, int64_t platform UNUSED, enum catalog_scanned *out,
	struct err *e UNUSED)
{
	*out = CATALOG_SCANNED;
	return 0;
}

int catalog_project_files(struct catalog *c UNUSED, int64_t platform, const char *project, catalog_file_fn *fn,
	void *ctx, struct err *e)
{
	if (fake_fails)
		return err_set(e, ERR_DB, "fake failure");
	for (size_t i = 0; i < fake_file_count; i++) {
		const struct fake_file *f = &fake_file[i];
		if (f->platform == platform && strcmp(f->project, project) == 0 && give_file(f, fn, ctx, e) < 0)
			return -1;
	}
	return 0;
}

int catalog_projects(struct catalog *c UNUSED, int64_t platform, catalog_project_fn *fn, void *ctx, struct err *e)
{
	const char *last = "";
	if (fake_fails)
		return err_set(e, ERR_DB, "fake failure");
	for (size_t i = 0; i < fake_file_count; i++) {
		const struct fake_file *f = &fake_file[i];
		if (f->platform != platform || strcmp(f->project, last) == 0)
			continue;
		last = f->project;
		if (fn(ctx, &(struct catalog_project){.platform = platform, .project = last, .files = 1}, e) < 0)
			return -1;
	}
	return 0;
}

int catalog_project_folder(struct catalog *c UNUSED, int64_t platform, const char *project, char **folder,
	struct err *e)
{
	*folder = NULL;
	for (size_t i = 0; i < fake_file_count && !*folder; i++)
		if (fake_file[i].platform == platform && strcmp(fake_file[i].project, project) == 0)
			*folder = xstrdup("");
	return fake_fails ? err_set(e, ERR_DB, "fake failure") : 0;
}

int catalog_view_find(struct catalog *c UNUSED, const char *view UNUSED, struct catalog_view *out, struct err *e)
{
	*out = fake_view;
	return fake_fails ? err_set(e, ERR_DB, "fake failure") : 0;
}

int catalog_view_at(struct catalog *c UNUSED, const char *view UNUSED, int64_t when, int64_t *generation, struct err *e)
{
	*generation = when;
	return fake_fails ? err_set(e, ERR_DB, "fake failure") : 0;
}

int catalog_view_has(struct catalog *c UNUSED, const char *view UNUSED, int64_t generation, int64_t platform,
	const char *filename, const uint8_t sha256[SHA256_SIZE], struct err *e UNUSED)
{
	int64_t at = generation == GENERATION_NEWEST ? fake_view.generation : generation;
	for (size_t i = 0; i < fake_member_count; i++) {
		const struct fake_member *m = &fake_member[i];
		if (m->platform == platform && strcmp(m->filename, filename) == 0 && m->sha == sha256[0] &&
			m->since <= at && (!m->until || at < m->until))
			return 1;
	}
	return 0;
}

int catalog_view_projects(struct catalog *c, const char *view, int64_t generation, int64_t platform,
	catalog_project_fn *fn, void *ctx, struct err *e)
{
	const char *last = "";
	if (fake_fails)
		return err_set(e, ERR_DB, "fake failure");
	for (size_t i = 0; i < fake_file_count; i++) {
		const struct fake_file *f = &fake_file[i];
		uint8_t sha256[SHA256_SIZE];
		memset(sha256, f->sha, sizeof(sha256));
		if (f->platform != platform || strcmp(f->project, last) == 0 ||
			!catalog_view_has(c, view, generation, platform, f->filename, sha256, e))
			continue;
		last = f->project;
		if (fn(ctx, &(struct catalog_project){.platform = platform, .project = last}, e) < 0)
			return -1;
	}
	return 0;
}

int catalog_statuses(struct catalog *c UNUSED, const char *project UNUSED, catalog_status_fn *fn UNUSED, void *ctx UNUSED,
	struct err *e UNUSED)
{
	return 0;
}

int catalog_marks(struct catalog *c UNUSED, int64_t platform UNUSED, enum mark mark UNUSED, catalog_marked_fn *fn UNUSED,
	void *ctx UNUSED, struct err *e UNUSED)
{
	return 0;
}
