// SPDX-License-Identifier: Apache-2.0
#include "lib/format/ini-file.h"

#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/os/fs.h"

struct reading {
	ini_file_handler *handler;
	void *ctx;
	struct err *e;
	const char *rest; // of the text
	char *section;    // its whole name: inih keeps 49 bytes of it
	int line;         // of the last one handed to inih
	int failed_line;  // 0: none
};

static int fail(struct reading *r)
{
	r->failed_line = r->line;
	return 0;
}

// inih as Debian builds it tells of a section only with its first key, and cuts a long line in two,
// of which it takes the second for a line of its own.
static void look_ahead(struct reading *r, struct str line, size_t room)
{
	if (line.len >= room - 2) {
		err_set(r->e, ERR_USAGE, "longer than %zu bytes", room - 3);
		fail(r);
		return;
	}
	long end = str_find(line, ']');
	if (end < 0 || line.ptr[0] != '[')
		return;
	free(r->section);
	r->section = xstrndup(line.ptr + 1, (size_t)end - 1);
	if (r->handler(r->ctx, r->section, NULL, NULL, r->e) < 0)
		fail(r);
}

// inih asks for a line like fgets does. Lines are counted here: a build of inih need not tell them.
static char *next_line(char *out, int room, void *stream)
{
	struct reading *r = stream;
	if (!*r->rest || r->failed_line)
		return NULL;
	struct str line = {r->rest, strcspn(r->rest, "\n")};
	r->rest += line.len + (r->rest[line.len] == '\n');
	r->line++;
	struct str text = str_trim(line);
	if (str_starts(text, STR("#")) || str_starts(text, STR(";")))
		line.len = 0;
	look_ahead(r, line, (size_t)room);
	if (r->failed_line)
		return NULL;
	memcpy(out, line.ptr, line.len);
	memcpy(out + line.len, "\n", 2);
	return out;
}

static int on_key(void *user, const char *section UNUSED, const char *key, const char *value)
{
	struct reading *r = user;
	if (r->failed_line)
		return 0;
	if (r->handler(r->ctx, r->section ? r->section : "", key, value ? value : "", r->e) == 0)
		return 1;
	return fail(r);
}

static int read_text(const char *text, const char *name, ini_file_handler *handler, void *ctx, struct err *e)
{
	struct reading r = {.handler = handler, .ctx = ctx, .e = e, .rest = text};
	int line = ini_parse_stream(next_line, &r, on_key, &r);
	free(r.section);
	if (r.failed_line)
		return err_prefix(e, "%s:%d: ", name, r.failed_line);
	if (line > 0)
		return err_set(e, ERR_USAGE, "%s:%d: neither a [section] nor a key = value", name, line);
	return 0;
}

int ini_file_read_file(const char *path, ini_file_handler *handler, void *ctx, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_CONFIG);
	if (fs_read_file(path, &text, e) < 0)
		return -1;
	if (strlen(text.data) != text.len)
		return err_set(e, ERR_USAGE, "%s: holds a NUL byte", path);
	return read_text(text.data, path, handler, ctx, e);
}
