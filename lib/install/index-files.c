// SPDX-License-Identifier: Apache-2.0
#include "lib/install/index-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/search.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/state/catalog/catalog.h"

// The releases that a specifier set admits. Branches repeat the same few sets on every platform.
struct index_memo {
	char *specifier;
	struct index_release *release;
	size_t count, room;
};

void index_files_init(struct index_files *all, const char *project, struct fits *fits)
{
	*all = (struct index_files){.project = project, .fits = fits};
}

void index_files_reopen(struct index_files *all)
{
	for (size_t i = 0; i < all->memos; i++) {
		free(all->memo[i].specifier);
		free(all->memo[i].release);
	}
	all->memos = 0;
	all->is_sorted = false;
}

void index_files_release(struct index_files *all)
{
	for (size_t i = 0; i < all->count; i++)
		version_release(&all->file[i].version);
	index_files_reopen(all);
	free(all->file);
	free(all->memo);
	arena_release(&all->text);
	*all = (struct index_files){0};
}

void index_files_add(struct index_files *all, const struct index_file *file, const char *requires_python)
{
	struct err ignored = ERR_INIT;
	struct filename name;
	if (filename_parse_listed(str_from(file->filename), all->project, &name, &ignored) < 0)
		return;
	GROW(all->file, all->count, all->room);
	struct index_file *f = &all->file[all->count];
	*f = *file;
	f->order = all->count++;
	f->is_wheel = name.kind == FILENAME_WHEEL;
	f->is_pure = f->is_wheel && str_eq(name.abi, STR("none")) && str_eq(name.platform, STR("any"));
	f->build = name.build;
	f->tags = f->is_wheel ? fits_tags(all->fits, &name) : 0;
	f->python = fits_python(all->fits, requires_python);
	f->version = name.version;
	name.version = (struct version){0};
	filename_release(&name);
}

void index_files_add_page(struct index_files *all, const struct simplepage *page, unsigned sources)
{
	for (size_t i = 0; i < page->files; i++) {
		const struct simplepage_file *u = &page->file[i];
		const struct index_file file = {
			.filename = u->filename,
			.is_yanked = u->yanked != NULL,
			.sources = sources,
			.sha256 = u->has_sha256 ? u->sha256 : NULL,
			.size = u->size,
			.came = u->uploaded,
			.upstream = u,
		};
		if (!u->is_cut)
			index_files_add(all, &file, u->requires_python);
	}
}

void index_files_add_ours(struct index_files *all, int64_t platform, const struct catalog_file *ours, bool is_promoted)
{
	const struct index_file file = {
		.filename = arena_copy(&all->text, str_from(ours->filename)),
		.platform = platform,
		.is_yanked = ours->yanked != NULL,
		.is_unpromoted = !is_promoted,
		.sha256 = (const uint8_t *)arena_copy(&all->text, (struct str){(const char *)ours->sha256, SHA256_SIZE}),
		.size = (int64_t)ours->size,
		.came = catalog_file_came(ours),
	};
	index_files_add(all, &file, ours->requires_python);
}

// The newest first; equal versions by their spelling, because "===" tells them apart.
static int compare_index_files(const void *a, const void *b)
{
	const struct index_file *left = a, *right = b;
	int order = version_cmp(&right->version, &left->version);
	if (order == 0)
		order = strcmp(left->version.text, right->version.text);
	return order ? order : strcmp(left->filename, right->filename);
}

// The end of the files that have the same spelling of their version as this one.
static size_t end_of_spelling(const struct index_files *all, size_t first)
{
	size_t end = first + 1;
	while (end < all->count && strcmp(all->file[end].version.text, all->file[first].version.text) == 0)
		end++;
	return end;
}

static bool continues_release(const struct index_files *all, const struct index_memo *m, size_t first)
{
	return m->count && m->release[m->count - 1].end == first &&
	       version_cmp(&all->file[first - 1].version, &all->file[first].version) == 0;
}

const struct index_release *index_files_admitted(struct index_files *all, const char *specifier, size_t *count)
{
	if (!all->is_sorted && all->count)
		qsort(all->file, all->count, sizeof(*all->file), compare_index_files);
	all->is_sorted = true;
	size_t i = 0;
	while (i < all->memos && strcmp(all->memo[i].specifier, specifier) != 0)
		i++;
	if (i == all->memos) {
		GROW(all->memo, all->memos, all->memo_room);
		all->memo[all->memos++] = (struct index_memo){.specifier = xstrdup(specifier)};
		struct index_memo *m = &all->memo[i];
		for (size_t first = 0, end; first < all->count; first = end) {
			end = end_of_spelling(all, first);
			if (*m->specifier && !specifier_set_admits(str_from(m->specifier), &all->file[first].version))
				continue;
			if (continues_release(all, m, first)) {
				m->release[m->count - 1].end = end;
				continue;
			}
			GROW(m->release, m->count, m->room);
			m->release[m->count++] = (struct index_release){first, end};
		}
	}
	*count = all->memo[i].count;
	return all->memo[i].release;
}

static bool is_newer_file(const void *file, const void *version)
{
	return version_cmp(&((const struct index_file *)file)->version, version) > 0;
}

struct index_release index_files_of_version(struct index_files *all, const struct version *version)
{
	size_t count;
	index_files_admitted(all, "", &count); // sorts
	struct index_release r = {0, 0};
	if (!all->count)
		return r;
	r.first = r.end = lower_bound(version, all->file, all->count, sizeof(*all->file), is_newer_file);
	while (r.end < all->count && version_cmp(&all->file[r.end].version, version) == 0)
		r.end++;
	return r.end > r.first ? r : (struct index_release){0, 0};
}

uint64_t index_files_micros(const struct index_files *all, size_t place, const struct index_file *file)
{
	if (file->is_wheel && fits_rank(all->fits, file->tags, place) < 0)
		return 0;
	return fits_micros(all->fits, file->python, place);
}
