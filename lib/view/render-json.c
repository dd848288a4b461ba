// SPDX-License-Identifier: Apache-2.0
// uv parses strictly: null for an optional key makes it drop the whole page. So what is not there is left out.
#include "lib/view/render.h"

#include <string.h>
#include <time.h>

#include "lib/format/escape.h"

static void put_status(struct rendering *r)
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

static void json_begin(struct rendering *r)
{
	buf_str(r->out, STR("{\"meta\":{\"api-version\":\"1.4\"},"));
	if (r->project) {
		buf_str(r->out, STR("\"name\":"));
		escape_json(r->out, str_from(r->project));
		put_status(r);
		buf_str(r->out, STR(",\"files\":[\n"));
	} else {
		buf_str(r->out, STR("\"projects\":[\n"));
	}
}

static void add_number(struct buf *out, uint64_t n, size_t digits)
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

// "2026-01-02T03:04:05Z". Nanoseconds in 64 bits reach no year that has not four digits.
static void add_time(struct buf *out, int64_t mtime_ns)
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
		add_number(out, (uint64_t)part[i].value, 2);
		buf_putc(out, part[i].end);
	}
}

// Equal versions come one after another, in any spelling (1.0, 1.0.0): each spelling is listed once.
static void add_version(struct rendering *r, const char *text, struct str key)
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

// PEP 691: the reason, where there is one.
static void put_yanked(struct buf *out, struct str reason)
{
	buf_str(out, STR(",\"yanked\":"));
	if (reason.len)
		escape_json(out, reason);
	else
		buf_str(out, STR("true"));
}

// Size and time: ours are always known, upstream's where it says so, as it says it.
static void put_age(struct buf *out, const struct listed *listed)
{
	const struct simplepage_file *u = listed->upstream;
	if (!u || u->size >= 0) {
		buf_str(out, STR(",\"size\":"));
		add_number(out, u ? (uint64_t)u->size : listed->file.size, 1);
	}
	if (u && u->upload_time) {
		buf_str(out, STR(",\"upload-time\":"));
		escape_json(out, str_from(u->upload_time));
	} else if (!u) {
		buf_str(out, STR(",\"upload-time\":\""));
		add_time(out, listed->file.mtime_ns);
		buf_putc(out, '"');
	}
}

// Never "dist-info-metadata" too: its dict crashes pip 22.3 to 23.1 (PEP 714).
static void put_metadata(struct buf *out, const uint8_t *sha256)
{
	buf_str(out, STR(",\"core-metadata\":{\"sha256\":\""));
	render_sha256(out, sha256);
	buf_str(out, STR("\"}"));
}

// filename and url beside each other: the second is packed as a copy of the first.
static void json_file(struct rendering *r, const struct listed *listed)
{
	struct buf *out = r->out;
	const struct catalog_file *file = &listed->file;
	buf_str(out, r->rule);
	r->rule = STR(",\n");
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
	put_age(out, listed);
	if (file->requires_python) {
		buf_str(out, STR(",\"requires-python\":"));
		escape_json(out, str_from(file->requires_python));
	}
	if (file->yanked)
		put_yanked(out, str_from(file->yanked));
	if (file->metadata_sha256)
		put_metadata(out, file->metadata_sha256);
	if (render_has_unhashed_metadata(listed))
		buf_str(out, STR(",\"core-metadata\":true"));
	if (listed->upstream && listed->upstream->provenance) {
		buf_str(out, STR(",\"provenance\":"));
		escape_json(out, str_from(listed->upstream->provenance));
	}
	buf_putc(out, '}');
	if (file->version)
		add_version(r, file->version, file->version_key);
}

// PEP 700: a set.
static void json_version(struct rendering *r, const struct version *version)
{
	add_version(r, version->text, version->key);
}

static void json_project(struct rendering *r, const char *project)
{
	buf_str(r->out, r->rule);
	r->rule = STR(",\n");
	buf_str(r->out, STR("{\"name\":"));
	escape_json(r->out, str_from(project));
	buf_putc(r->out, '}');
}

static void json_end(struct rendering *r)
{
	buf_str(r->out, STR("\n]"));
	if (r->project) {
		struct str versions = buf_view(&r->versions);
		buf_str(r->out, STR(",\"versions\":["));
		buf_str(r->out, versions.len ? str_slice(versions, 1, versions.len) : versions);
		buf_putc(r->out, ']');
	}
	buf_str(r->out, STR("}\n"));
}

const struct renderer render_json = {json_begin, json_file, json_version, json_project, json_end};
