// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/index/simplepage.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/compress.h"

const char *const simplepage_status_name[SIMPLEPAGE_STATUS_COUNT] = {
	[SIMPLEPAGE_ACTIVE] = "active",
	[SIMPLEPAGE_ARCHIVED] = "archived",
	[SIMPLEPAGE_DEPRECATED] = "deprecated",
	[SIMPLEPAGE_QUARANTINED] = "quarantined",
	[SIMPLEPAGE_UNFAMILIAR] = "unfamiliar",
};

// The packed form: one zstd frame of a head, then an array of each of these, then all strings, each with its NUL. A
// number below stands for a string: where it begins among them, 0 for none. Hashes are apart, since they do not pack.
struct head {
	uint32_t magic, files, versions, status;
	uint32_t project, status_reason;
	uint64_t serial, text;
};
struct row {
	uint32_t filename, url, requires_python, yanked, provenance, upload_time;
	uint32_t flags, unused;
	int64_t uploaded, size;
};
struct hash {
	uint8_t byte[SHA256_SIZE];
};
enum { HAS_SHA256 = 1, HAS_METADATA = 2, HAS_METADATA_SHA256 = 4, IS_CUT = 8 };
enum { MAGIC = 0x77637031, LEVEL = 1 }; // with another form the magic changes

const char simplepage_accept[] = "Accept: application/vnd.pypi.simple.v1+json, "
				 "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";

void simplepage_release(struct simplepage *page)
{
	free(page->file);
	free(page->version);
	arena_release(&page->text);
	*page = (struct simplepage){0};
}

const struct simplepage_file *simplepage_find(const struct simplepage *page, const char *filename)
{
	for (size_t i = 0; i < page->files; i++)
		if (strcmp(page->file[i].filename, filename) == 0)
			return &page->file[i];
	return NULL;
}

static uint32_t put(struct buf *text, const char *s)
{
	uint32_t at = (uint32_t)text->len;
	if (!s)
		return 0;
	buf_add(text, s, strlen(s) + 1);
	return at;
}

// What a file shares with the one before it, or with its own URL, is there once.
static struct row row_of(const struct simplepage_file *f, const struct simplepage_file *last, const struct row *above,
	struct buf *text)
{
	struct row r = {.uploaded = f->uploaded, .size = f->size};
	struct str url = str_from(f->url), name = str_from(f->filename);
	r.url = put(text, f->url);
	r.filename = str_ends(url, name) ? r.url + (uint32_t)(url.len - name.len) : put(text, f->filename);
	bool same = last && last->requires_python == f->requires_python;
	r.requires_python = same ? above->requires_python : put(text, f->requires_python);
	r.yanked = put(text, f->yanked);
	r.provenance = put(text, f->provenance);
	r.upload_time = put(text, f->upload_time);
	r.flags = (f->has_sha256 ? HAS_SHA256 : 0) | (f->has_metadata ? HAS_METADATA : 0) |
		  (f->has_metadata_sha256 ? HAS_METADATA_SHA256 : 0) | (f->is_cut ? IS_CUT : 0);
	return r;
}

static void write_arrays(const struct simplepage *page, struct buf *image, struct buf *text)
{
	struct row r = {0};
	for (size_t i = 0; i < page->files; i++) {
		r = row_of(&page->file[i], i ? &page->file[i - 1] : NULL, &r, text);
		buf_add(image, &r, sizeof(r));
	}
	for (size_t i = 0; i < page->files; i++)
		buf_add(image, page->file[i].sha256, SHA256_SIZE);
	for (size_t i = 0; i < page->files; i++)
		buf_add(image, page->file[i].metadata_sha256, SHA256_SIZE);
	for (size_t i = 0; i < page->versions; i++) {
		uint32_t at = put(text, page->version[i]);
		buf_add(image, &at, sizeof(at));
	}
}

int simplepage_pack(const struct simplepage *page, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf image;
	CLEANUP(buf_release) struct buf text;
	buf_init(&image, UINT32_MAX);
	buf_init(&text, LIMIT_SIMPLEPAGE_TEXT);
	buf_putc(&text, '\0');
	struct head head = {
		.magic = MAGIC,
		.files = (uint32_t)page->files,
		.versions = (uint32_t)page->versions,
		.status = page->status,
		.project = put(&text, page->project),
		.status_reason = put(&text, page->status_reason),
		.serial = page->serial,
	};
	buf_add(&image, &head, sizeof(head));
	write_arrays(page, &image, &text);
	head.text = text.len;
	memcpy(image.data, &head, sizeof(head));
	buf_str(&image, buf_view(&text));
	if (text.failed || image.failed)
		return err_set(e, ERR_LIMIT, "the page of %s is too large", page->project);
	return compress_zstd(buf_view(&image), LEVEL, out, e);
}

// The arrays of an image, and its text as the page owns it.
struct image {
	struct head head;
	const struct row *row; // not aligned: to be copied out
	const struct hash *sha256, *metadata;
	const uint32_t *version; // not aligned either
	const char *text;
};

// False where a number leads beyond the text.
static bool take(const struct image *im, uint32_t at, const char **out)
{
	*out = at ? im->text + at : NULL;
	return at < im->head.text;
}

static bool is_within(const char *s, size_t most)
{
	return !s || strnlen(s, most + 1) <= most;
}

// What an older version packed had fewer limits.
static const char *limit(const char *s, size_t most, const char *otherwise, bool *is_cut)
{
	if (is_within(s, most))
		return s;
	*is_cut = true;
	return otherwise;
}

static void limit_file(struct simplepage_file *f)
{
	f->requires_python = limit(f->requires_python, LIMIT_REQUIRES_PYTHON, NULL, &f->is_cut);
	f->yanked = limit(f->yanked, LIMIT_REASON, "", &f->is_cut);
	f->provenance = limit(f->provenance, LIMIT_PROVENANCE, NULL, &f->is_cut);
}

static bool take_file(const struct image *im, size_t i, struct simplepage_file *f)
{
	struct row r;
	memcpy(&r, (const char *)im->row + i * sizeof(r), sizeof(r));
	memcpy(f->sha256, im->sha256[i].byte, SHA256_SIZE);
	memcpy(f->metadata_sha256, im->metadata[i].byte, SHA256_SIZE);
	f->has_sha256 = r.flags & HAS_SHA256;
	f->has_metadata = r.flags & HAS_METADATA;
	f->has_metadata_sha256 = r.flags & HAS_METADATA_SHA256;
	f->is_cut = r.flags & IS_CUT;
	f->uploaded = r.uploaded;
	f->size = r.size;
	return r.filename && r.url && take(im, r.filename, &f->filename) && take(im, r.url, &f->url) &&
	       take(im, r.requires_python, &f->requires_python) && take(im, r.yanked, &f->yanked) &&
	       take(im, r.provenance, &f->provenance) && take(im, r.upload_time, &f->upload_time);
}

static bool take_all(const struct image *im, struct simplepage *out)
{
	const struct head *head = &im->head;
	out->serial = head->serial;
	out->status =
		head->status < SIMPLEPAGE_STATUS_COUNT ? (enum simplepage_status)head->status : SIMPLEPAGE_UNFAMILIAR;
	out->file = head->files ? xcalloc(head->files, sizeof(out->file[0])) : NULL;
	out->version = head->versions ? xcalloc(head->versions, sizeof(out->version[0])) : NULL;
	bool good = head->project && take(im, head->project, &out->project) &&
		    take(im, head->status_reason, &out->status_reason);
	for (; good && out->files < head->files; out->files++) {
		good = take_file(im, out->files, &out->file[out->files]);
		if (good)
			limit_file(&out->file[out->files]);
	}
	for (size_t i = 0; good && i < head->versions; i++) {
		uint32_t at;
		memcpy(&at, (const char *)im->version + i * sizeof(at), sizeof(at));
		good = at && take(im, at, &out->version[out->versions]);
		out->versions += good && is_within(out->version[out->versions], LIMIT_FILE_NAME);
	}
	if (good && !is_within(out->status_reason, LIMIT_REASON))
		out->status_reason = NULL;
	return good;
}

// Where the arrays are; false where they do not fill the bytes exactly, or the last string has no end.
static bool divide(struct str bytes, struct image *im)
{
	if (bytes.len < sizeof(im->head))
		return false;
	memcpy(&im->head, bytes.ptr, sizeof(im->head));
	uint64_t files = im->head.files, versions = im->head.versions;
	const char *at = bytes.ptr + sizeof(im->head);
	uint64_t arrays = files * (sizeof(struct row) + 2 * sizeof(struct hash)) + versions * sizeof(uint32_t);
	if (im->head.magic != MAGIC || !im->head.text || im->head.text > bytes.len ||
		sizeof(im->head) + arrays != bytes.len - im->head.text || bytes.ptr[bytes.len - 1])
		return false;
	im->row = (const void *)at;
	im->sha256 = (const void *)(at + files * sizeof(struct row));
	im->metadata = im->sha256 + files;
	im->version = (const void *)(im->metadata + files);
	return true;
}

int simplepage_unpack(struct str packed, struct simplepage *out, struct err *e)
{
	CLEANUP(buf_release) struct buf bytes;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	struct image im = {0};
	buf_init(&bytes, UINT32_MAX);
	if (decompress_zstd(packed, &bytes, e) < 0)
		return -1;
	if (!divide(buf_view(&bytes), &im))
		return err_set(e, ERR_INVALID, "no packed page of this version");
	char *text = arena_alloc(&page.text, im.head.text);
	memcpy(text, bytes.data + bytes.len - im.head.text, im.head.text);
	im.text = text;
	if (!take_all(&im, &page))
		return err_set(e, ERR_INVALID, "a packed page is damaged");
	*out = page;
	page = (struct simplepage){0};
	return 0;
}
