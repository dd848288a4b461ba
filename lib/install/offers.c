// SPDX-License-Identifier: Apache-2.0
#include "lib/install/offers.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/specifier.h"
#include "lib/state/catalog/catalog.h"

// The releases that a specifier set admits. Branches repeat the same few sets on every platform.
struct offers_memo {
	char *specifier;
	struct offers_release *release;
	size_t count, room;
};

void offers_init(struct offers *o, const char *project, struct fits *fits)
{
	*o = (struct offers){.project = project, .fits = fits};
}

void offers_reopen(struct offers *o)
{
	for (size_t i = 0; i < o->memos; i++) {
		free(o->memo[i].specifier);
		free(o->memo[i].release);
	}
	o->memos = 0;
	o->is_sorted = false;
}

void offers_release(struct offers *o)
{
	for (size_t i = 0; i < o->count; i++)
		version_release(&o->offer[i].version);
	offers_reopen(o);
	free(o->offer);
	free(o->memo);
	arena_release(&o->text);
	*o = (struct offers){0};
}

static bool is_pure_wheel(const struct filename *f)
{
	return str_eq(f->abi, STR("none")) && str_eq(f->platform, STR("any"));
}

// Completes an offer by its file name, and adds it.
static void add_offer(struct offers *o, struct offer *offer, const char *requires_python)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse_listed(str_from(offer->filename), o->project, &name, &ignored) < 0)
		return;
	offer->is_wheel = name.kind == FILENAME_WHEEL;
	offer->is_pure = offer->is_wheel && is_pure_wheel(&name);
	offer->build = offer->is_wheel ? filename_build_number(&name) : 0;
	offer->tags = offer->is_wheel ? fits_tags(o->fits, &name) : 0;
	offer->python = fits_python(o->fits, requires_python);
	offer->version = name.version;
	name.version = (struct version){0};
	GROW(o->offer, o->count, o->room);
	o->offer[o->count++] = *offer;
}

void offers_add_page(struct offers *o, const struct simplepage *page)
{
	for (size_t i = 0; i < page->files; i++) {
		const struct simplepage_file *f = &page->file[i];
		struct offer offer = {
			.filename = f->filename,
			.is_yanked = f->yanked != NULL,
			.sha256 = f->has_sha256 ? f->sha256 : NULL,
			.size = f->size,
			.url = f->url,
		};
		if (!f->is_cut)
			add_offer(o, &offer, f->requires_python);
	}
}

void offers_add_ours(struct offers *o, int64_t platform, const struct catalog_file *file, bool is_promoted)
{
	struct offer offer = {
		.filename = arena_copy(&o->text, str_from(file->filename)),
		.platform = platform,
		.is_yanked = file->yanked != NULL,
		.is_unpromoted = !is_promoted,
		.sha256 = (const uint8_t *)arena_copy(&o->text, (struct str){(const char *)file->sha256, SHA256_SIZE}),
		.size = (int64_t)file->size,
	};
	add_offer(o, &offer, file->requires_python);
}

// The newest first; equal versions by their spelling, because "===" tells them apart.
static int compare_offers(const void *a, const void *b)
{
	const struct offer *left = a, *right = b;
	int order = version_cmp(&right->version, &left->version);
	if (order == 0)
		order = strcmp(left->version.text, right->version.text);
	return order ? order : strcmp(left->filename, right->filename);
}

// The end of the offers that have the same spelling of their version as this one.
static size_t end_of_spelling(const struct offers *o, size_t first)
{
	size_t end = first + 1;
	while (end < o->count && strcmp(o->offer[end].version.text, o->offer[first].version.text) == 0)
		end++;
	return end;
}

static bool continues_release(const struct offers *o, const struct offers_memo *m, size_t first)
{
	if (!m->count || m->release[m->count - 1].end != first)
		return false;
	return version_cmp(&o->offer[first - 1].version, &o->offer[first].version) == 0;
}

static void fill_memo(const struct offers *o, struct offers_memo *m)
{
	for (size_t first = 0, end; first < o->count; first = end) {
		end = end_of_spelling(o, first);
		if (*m->specifier && !specifier_set_admits(str_from(m->specifier), &o->offer[first].version))
			continue;
		if (continues_release(o, m, first)) {
			m->release[m->count - 1].end = end;
			continue;
		}
		GROW(m->release, m->count, m->room);
		m->release[m->count++] = (struct offers_release){first, end};
	}
}

const struct offers_release *offers_admitted(struct offers *o, const char *specifier, size_t *count)
{
	if (!o->is_sorted && o->count)
		qsort(o->offer, o->count, sizeof(*o->offer), compare_offers);
	o->is_sorted = true;
	size_t i = 0;
	while (i < o->memos && strcmp(o->memo[i].specifier, specifier) != 0)
		i++;
	if (i == o->memos) {
		GROW(o->memo, o->memos, o->memo_room);
		o->memo[o->memos++] = (struct offers_memo){.specifier = xstrdup(specifier)};
		fill_memo(o, &o->memo[i]);
	}
	*count = o->memo[i].count;
	return o->memo[i].release;
}
