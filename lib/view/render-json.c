// SPDX-License-Identifier: Apache-2.0
// uv drops the whole page if an optional key is null. So absent facts have no key.
#include "lib/view/render.h"

#include <string.h>
#include <time.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"

static void json_put_status(struct render_state *r)
{
	if (!r->status)
		return;
	buf_str(r->out, STR(",\"project-status\":{\"status\":"));
	escape_json(r->out, str_from(r->status));
	if (r->status_reason) {
		buf_str(r->out, STR(",\"reason\":"));
		escape_json(r->out, str_from(r->status_reason));
	}
	buf_putc(r->out, '}');
}

static void json_begin(struct render_state *r)
{
	buf_str(r->out, STR("{\"meta\":{\"api-version\":\"1.4\"},"));
	if (r->project) {
		buf_str(r->out, STR("\"name\":"));
		escape_json(r->out, str_from(r->project));
		json_put_status(r);
		buf_str(r->out, STR(",\"files\":[\n"));
	} else {
		buf_str(r->out, STR("\"projects\":[\n"));
	}
}

static void json_put_number(struct buf *out, uint64_t n, size_t digits)
{
	char text[20];
	size_t at = sizeof(text);
	do
		text[--at] = (char)('0' + n % 10);
	while (n /= 10);
	while (sizeof(text) - at < digits)
		text[--at] = '0';
	buf_add(out, text + at, sizeof(text) - at);
}

// Writes "2026-01-02T03:04:05Z". Nanoseconds in 64 bits only reach years with four digits.
static void json_put_time(struct buf *out, int64_t mtime_ns)
{
	const int64_t second = 1000000000;
	time_t t = (time_t)(mtime_ns / second - (mtime_ns % second < 0));
	struct tm tm;
	gmtime_r(&t, &tm);
	const struct {
		int value;
		char end;
	} part[] = {{tm.tm_year + 1900, '-'}, {tm.tm_mon + 1, '-'}, {tm.tm_mday, 'T'}, {tm.tm_hour, ':'},
		{tm.tm_min, ':'}, {tm.tm_sec, 'Z'}};
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		json_put_number(out, (uint64_t)part[i].value, 2);
		buf_putc(out, part[i].end);
	}
}

// Adds a version to the list. Equal versions are adjacent, in any spelling (1.0, 1.0.0); each spelling is listed once.
static void json_add_version(struct render_state *r, const char *text, struct str key)
{
	struct buf *all = &r->versions;
	if (!str_eq(buf_view(&r->key), key)) {
		buf_clear(&r->key);
		buf_str(&r->key, key);
		r->key_start = all->len;
	}
	size_t before = all->len;
	buf_putc(all, ',');
	escape_json(all, str_from(text));
	size_t length = all->len - before;
	const char *first = memmem(all->data + r->key_start, all->len - r->key_start, all->data + before, length);
	if (first != all->data + before)
		all->len = before;
}

// PEP 691: the reason if there is one, else true.
static void json_put_yanked(struct buf *out, struct str reason)
{
	buf_str(out, STR(",\"yanked\":"));
	if (reason.len)
		escape_json(out, reason);
	else
		buf_str(out, STR("true"));
}

// Ours are always known. Upstream's are copied from its page if it has them.
static void json_put_size_and_time(struct buf *out, const struct page_file *listed)
{
	const struct simplepage_file *u = listed->upstream;
	if (!u || u->size >= 0) {
		buf_str(out, STR(",\"size\":"));
		json_put_number(out, u ? (uint64_t)u->size : listed->file.size, 1);
	}
	if (u && u->upload_time) {
		buf_str(out, STR(",\"upload-time\":"));
		escape_json(out, str_from(u->upload_time));
	} else if (!u) {
		buf_str(out, STR(",\"upload-time\":\""));
		json_put_time(out, listed->file.mtime_ns);
		buf_putc(out, '"');
	}
}

// It omits "dist-info-metadata", whose dict crashes pip 22.3 to 23.1 (PEP 714).
static void json_put_metadata(struct buf *out, const uint8_t *sha256)
{
	buf_str(out, STR(",\"core-metadata\":{\"sha256\":\""));
	render_sha256(out, sha256);
	buf_str(out, STR("\"}"));
}

static void json_put_provenance(struct render_state *r, const struct page_file *listed)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PAGE);
	if (!render_provenance(r, listed, &url))
		return;
	buf_str(r->out, STR(",\"provenance\":"));
	escape_json(r->out, buf_view(&url));
}

// filename and url are adjacent, so that compression finds the repetition.
static void json_file(struct render_state *r, const struct page_file *listed)
{
	struct buf *out = r->out;
	const struct catalog_file *file = &listed->file;
	buf_str(out, r->separator);
	r->separator = STR(",\n");
	buf_str(out, STR("{\"filename\":"));
	escape_json(out, str_from(file->filename));
	buf_str(out, STR(",\"url\":\""));
	render_url(r, listed->place, file->filename);
	buf_str(out, STR("\",\"hashes\":{"));
	if (file->sha256) {
		buf_str(out, STR("\"sha256\":\""));
		render_sha256(out, file->sha256);
		buf_putc(out, '"');
	}
	buf_putc(out, '}');
	json_put_size_and_time(out, listed);
	if (file->requires_python) {
		buf_str(out, STR(",\"requires-python\":"));
		escape_json(out, str_from(file->requires_python));
	}
	if (file->yanked)
		json_put_yanked(out, str_from(file->yanked));
	if (file->metadata_sha256)
		json_put_metadata(out, file->metadata_sha256);
	if (render_has_unhashed_metadata(listed))
		buf_str(out, STR(",\"core-metadata\":true"));
	json_put_provenance(r, listed);
	buf_putc(out, '}');
	if (file->version)
		json_add_version(r, file->version, file->version_key);
}

// PEP 700: the versions are a set.
static void json_version(struct render_state *r, const struct version *version)
{
	json_add_version(r, version->text, version->key);
}

static void json_project(struct render_state *r, const char *project)
{
	buf_str(r->out, r->separator);
	r->separator = STR(",\n");
	buf_str(r->out, STR("{\"name\":"));
	escape_json(r->out, str_from(project));
	buf_putc(r->out, '}');
}

static void json_end(struct render_state *r)
{
	buf_str(r->out, STR("\n]"));
	if (r->project) {
		struct str versions = buf_view(&r->versions);
		buf_str(r->out, STR(",\"versions\":["));
		buf_str(r->out, versions.len ? str_slice(versions, 1, versions.len) : versions);
		buf_putc(r->out, ']');
	}
	if (r->left_out) { // PEP 691: keys with an underscore are the server's own
		buf_str(r->out, STR(",\"_left-out\":"));
		escape_json(r->out, str_from(r->left_out));
	}
	buf_str(r->out, STR("}\n"));
}

const struct renderer render_json = {json_begin, json_file, json_version, json_project, json_end};
