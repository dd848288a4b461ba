// SPDX-License-Identifier: Apache-2.0
// Properties of a parsed page of another index, for any input.
#pragma once

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "tests/fuzz/fuzz.h"

static inline void holds_of_url(struct str url)
{
	for (size_t i = 0; i < url.len; i++)
		HOLDS(url.ptr[i] > ' ' && url.ptr[i] < 0x7f && !strchr("\"#<>\\", url.ptr[i]));
	HOLDS(str_starts(url, STR("https://")) || str_starts(url, STR("http://")));
	str_cut(&url, '/');
	str_cut(&url, '/');
	struct str authority = str_cut(&url, '/');
	HOLDS(authority.len && str_find(authority, '@') < 0 && url.ptr);
}

// Fields that appear on our pages are limited.
static inline void holds_of_length(const char *text, size_t most)
{
	HOLDS(!text || strlen(text) <= most);
}

static inline void holds_of_file(const struct simplepage_file *f)
{
	struct err e = ERR_INIT;
	HOLDS(f->filename[0] && filename_check(str_from(f->filename), &e) == 0);
	holds_of_url(str_from(f->url));
	HOLDS(f->size >= -1);
	HOLDS(!f->has_metadata_sha256 || f->has_metadata);
	HOLDS(!f->uploaded || f->upload_time);
	HOLDS(!f->requires_python || f->requires_python[0]);
	holds_of_length(f->filename, LIMIT_FILE_NAME);
	holds_of_length(f->url, LIMIT_PATH);
	holds_of_length(f->requires_python, LIMIT_REQUIRES_PYTHON);
	holds_of_length(f->yanked, LIMIT_REASON);
	holds_of_length(f->provenance, LIMIT_PROVENANCE);
	holds_of_length(f->upload_time, LIMIT_UPLOAD_TIME);
}

static inline bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline void holds_of_packed(const struct simplepage *page)
{
	struct err e = ERR_INIT;
	CLEANUP(simplepage_release) struct simplepage unpacked = {0};
	CLEANUP(buf_release) struct buf packed, twice;
	buf_init(&packed, 64 << 20);
	buf_init(&twice, 64 << 20);
	HOLDS(simplepage_pack(page, &packed, &e) == 0 && simplepage_unpack(buf_view(&packed), &unpacked, &e) == 0);
	HOLDS(unpacked.files == page->files && unpacked.versions == page->versions && unpacked.serial == page->serial);
	HOLDS(unpacked.status == page->status && is_same(unpacked.status_reason, page->status_reason));
	for (size_t i = 0; i < page->versions; i++)
		HOLDS(is_same(page->version[i], unpacked.version[i]));
	for (size_t i = 0; i < page->files; i++) {
		const struct simplepage_file *a = &page->file[i], *b = &unpacked.file[i];
		HOLDS(is_same(a->filename, b->filename) && is_same(a->url, b->url) && is_same(a->yanked, b->yanked));
		HOLDS(is_same(a->requires_python, b->requires_python) && is_same(a->provenance, b->provenance));
		HOLDS(is_same(a->upload_time, b->upload_time) && a->uploaded == b->uploaded && a->size == b->size);
		HOLDS(a->is_cut == b->is_cut);
		HOLDS(a->has_sha256 == b->has_sha256 && memcmp(a->sha256, b->sha256, SHA256_SIZE) == 0);
		HOLDS(memcmp(a->metadata_sha256, b->metadata_sha256, SHA256_SIZE) == 0);
		HOLDS(simplepage_find(page, a->filename) == a);
	}
	HOLDS(simplepage_pack(&unpacked, &twice, &e) == 0 && str_eq(buf_view(&packed), buf_view(&twice)));
}

// Checks the properties and returns whether the body is a page.
static inline bool holds_of_page(struct str body, const char *type)
{
	struct err e = ERR_INIT;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	enum simplepage_fault fault;
	const char *url = "https://me:secret@example.org/simple/demo/";
	int result = simplepage_parse(body, str_from(type), url, "demo", &page, &fault, &e);
	HOLDS((result == 0) == (fault == SIMPLEPAGE_GOOD) && (result == 0) == (e.kind == ERR_NONE));
	if (result < 0)
		return false;
	HOLDS(strcmp(page.project, "demo") == 0);
	for (size_t i = 0; i < page.files; i++)
		holds_of_file(&page.file[i]);
	for (size_t i = 0; i < page.versions; i++)
		holds_of_length(page.version[i], LIMIT_FILE_NAME);
	holds_of_length(page.status_reason, LIMIT_REASON);
	holds_of_packed(&page);
	return true;
}
