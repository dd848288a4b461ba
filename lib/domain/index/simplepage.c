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

// The packed form is one zstd frame: a head, then one array of each of these structs, then all strings, each with its
// NUL. A field that stands for a string is its offset among the strings; 0: none. Hashes are separate, because they do
// not compress.
struct packed_head {
	uint32_t magic, files, versions, status;
	uint32_t project, status_reason;
	uint64_t serial, text;
};
struct packed_file {
	uint32_t filename, url, requires_python, yanked, provenance, upload_time;
	uint32_t flags, unused;
	int64_t uploaded, size;
};
struct packed_hash {
	uint8_t byte[SHA256_SIZE];
};
enum { HAS_SHA256 = 1, HAS_METADATA = 2, HAS_METADATA_SHA256 = 4, IS_CUT = 8 };
enum { MAGIC = 0x77637031, LEVEL = 1 }; // a change of the format changes the magic

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

static uint32_t put_string(struct buf *text, const char *s)
{
	uint32_t at = (uint32_t)text->len;
	if (!s)
		return 0;
	buf_add(text, s, strlen(s) + 1);
	return at;
}

// A string that equals that of the file before, or that is the end of the URL, is stored once.
static struct packed_file pack_file(const struct simplepage_file *f, const struct simplepage_file *last,
	const struct packed_file *above, struct buf *text)
{
	struct packed_file r = {.uploaded = f->uploaded, .size = f->size};
	struct str url = str_from(f->url), name = str_from(f->filename);
	r.url = put_string(text, f->url);
	r.filename = str_ends(url, name) ? r.url + (uint32_t)(url.len - name.len) : put_string(text, f->filename);
	bool same = last && last->requires_python == f->requires_python;
	r.requires_python = same ? above->requires_python : put_string(text, f->requires_python);
	r.yanked = put_string(text, f->yanked);
	r.provenance = put_string(text, f->provenance);
	r.upload_time = put_string(text, f->upload_time);
	r.flags = (f->has_sha256 ? HAS_SHA256 : 0) | (f->has_metadata ? HAS_METADATA : 0) |
		  (f->has_metadata_sha256 ? HAS_METADATA_SHA256 : 0) | (f->is_cut ? IS_CUT : 0);
	return r;
}

int simplepage_pack(const struct simplepage *page, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf image = buf_up_to(UINT32_MAX);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIMPLEPAGE_TEXT);
	buf_putc(&text, '\0');
	struct packed_head head = {
		.magic = MAGIC,
		.files = (uint32_t)page->files,
		.versions = (uint32_t)page->versions,
		.status = page->status,
		.project = put_string(&text, page->project),
		.status_reason = put_string(&text, page->status_reason),
		.serial = page->serial,
	};
	buf_add(&image, &head, sizeof(head));
	struct packed_file r = {0};
	for (size_t i = 0; i < page->files; i++) {
		r = pack_file(&page->file[i], i ? &page->file[i - 1] : NULL, &r, &text);
		buf_add(&image, &r, sizeof(r));
	}
	for (size_t i = 0; i < page->files; i++)
		buf_add(&image, page->file[i].sha256, SHA256_SIZE);
	for (size_t i = 0; i < page->files; i++)
		buf_add(&image, page->file[i].metadata_sha256, SHA256_SIZE);
	for (size_t i = 0; i < page->versions; i++) {
		uint32_t at = put_string(&text, page->version[i]);
		buf_add(&image, &at, sizeof(at));
	}
	head.text = text.len;
	memcpy(image.data, &head, sizeof(head));
	buf_str(&image, buf_view(&text));
	if (text.failed || image.failed)
		return err_set(e, ERR_LIMIT, "the page of %s is too large", page->project);
	return compress_zstd(buf_view(&image), LEVEL, out, e);
}

// The arrays of an unpacked image, and its strings, which the page owns.
struct image {
	struct packed_head head;
	const struct packed_file *row; // not aligned, so entries are copied out
	const struct packed_hash *sha256, *metadata;
	const uint32_t *version; // not aligned
	const char *text;
};

// False if the offset is beyond the strings.
static bool get_string(const struct image *im, uint32_t at, const char **out)
{
	*out = at ? im->text + at : NULL;
	return at < im->head.text;
}

static bool is_not_longer(const char *s, size_t most)
{
	return !s || strnlen(s, most + 1) <= most;
}

// Applies a limit again, because older versions packed pages with fewer limits.
static const char *limit_string(const char *s, size_t most, const char *otherwise, bool *is_cut)
{
	if (is_not_longer(s, most))
		return s;
	*is_cut = true;
	return otherwise;
}

static bool unpack_file(const struct image *im, size_t i, struct simplepage_file *f)
{
	struct packed_file r;
	memcpy(&r, (const char *)im->row + i * sizeof(r), sizeof(r));
	memcpy(f->sha256, im->sha256[i].byte, SHA256_SIZE);
	memcpy(f->metadata_sha256, im->metadata[i].byte, SHA256_SIZE);
	f->has_sha256 = r.flags & HAS_SHA256;
	f->has_metadata = r.flags & HAS_METADATA;
	f->has_metadata_sha256 = r.flags & HAS_METADATA_SHA256;
	f->is_cut = r.flags & IS_CUT;
	f->uploaded = r.uploaded;
	f->size = r.size;
	return r.filename && r.url && get_string(im, r.filename, &f->filename) && get_string(im, r.url, &f->url) &&
	       get_string(im, r.requires_python, &f->requires_python) && get_string(im, r.yanked, &f->yanked) &&
	       get_string(im, r.provenance, &f->provenance) && get_string(im, r.upload_time, &f->upload_time);
}

static bool unpack_all(const struct image *im, struct simplepage *out)
{
	const struct packed_head *head = &im->head;
	out->serial = head->serial;
	out->status =
		head->status < SIMPLEPAGE_STATUS_COUNT ? (enum simplepage_status)head->status : SIMPLEPAGE_UNFAMILIAR;
	out->file = head->files ? xcalloc(head->files, sizeof(out->file[0])) : NULL;
	out->version = head->versions ? xcalloc(head->versions, sizeof(out->version[0])) : NULL;
	bool good = head->project && get_string(im, head->project, &out->project) &&
		    get_string(im, head->status_reason, &out->status_reason);
	for (; good && out->files < head->files; out->files++) {
		good = unpack_file(im, out->files, &out->file[out->files]);
		if (good) {
			struct simplepage_file *f = &out->file[out->files];
			f->requires_python = limit_string(f->requires_python, LIMIT_REQUIRES_PYTHON, NULL, &f->is_cut);
			f->yanked = limit_string(f->yanked, LIMIT_REASON, "", &f->is_cut);
			f->provenance = limit_string(f->provenance, LIMIT_PROVENANCE, NULL, &f->is_cut);
		}
	}
	for (size_t i = 0; good && i < head->versions; i++) {
		uint32_t at;
		memcpy(&at, (const char *)im->version + i * sizeof(at), sizeof(at));
		good = at && get_string(im, at, &out->version[out->versions]);
		out->versions += good && is_not_longer(out->version[out->versions], LIMIT_FILE_NAME);
	}
	if (good && !is_not_longer(out->status_reason, LIMIT_REASON))
		out->status_reason = NULL;
	return good;
}

// Finds the arrays. False if they do not fill the bytes exactly or the last string has no NUL.
static bool split_image(struct str bytes, struct image *im)
{
	if (bytes.len < sizeof(im->head))
		return false;
	memcpy(&im->head, bytes.ptr, sizeof(im->head));
	uint64_t files = im->head.files, versions = im->head.versions;
	const char *at = bytes.ptr + sizeof(im->head);
	uint64_t arrays =
		files * (sizeof(struct packed_file) + 2 * sizeof(struct packed_hash)) + versions * sizeof(uint32_t);
	if (im->head.magic != MAGIC || !im->head.text || im->head.text > bytes.len ||
		sizeof(im->head) + arrays != bytes.len - im->head.text || bytes.ptr[bytes.len - 1])
		return false;
	im->row = (const void *)at;
	im->sha256 = (const void *)(at + files * sizeof(struct packed_file));
	im->metadata = im->sha256 + files;
	im->version = (const void *)(im->metadata + files);
	return true;
}

int simplepage_unpack(struct str packed, struct simplepage *out, struct err *e)
{
	CLEANUP(buf_release) struct buf bytes = buf_up_to(UINT32_MAX);
	CLEANUP(simplepage_release) struct simplepage page = {0};
	struct image im = {0};
	if (decompress_zstd(packed, &bytes, e) < 0)
		return -1;
	if (!split_image(buf_view(&bytes), &im))
		return err_set(e, ERR_INVALID, "not a packed page of this version");
	char *text = arena_alloc(&page.text, im.head.text);
	memcpy(text, bytes.data + bytes.len - im.head.text, im.head.text);
	im.text = text;
	if (!unpack_all(&im, &page))
		return err_set(e, ERR_INVALID, "a packed page is damaged");
	*out = page;
	page = (struct simplepage){0};
	return 0;
}
