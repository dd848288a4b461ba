// SPDX-License-Identifier: Apache-2.0
#include "lib/base/conf.h"

#include <ini.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/fs.h"
#include "lib/base/limits.h"

struct reading {
	conf_handler *handler;
	void *ctx;
	struct err *e;
	const char *rest; // of the text
	int line;         // of the last one handed to inih
	int failed_line;  // 0: none
};

// inih asks for a line like fgets does. Lines are counted here: a build of inih need not tell them.
static char *next_line(char *out, int room, void *stream)
{
	struct reading *r = stream;
	if (!*r->rest)
		return NULL;
	size_t len = strcspn(r->rest, "\n");
	size_t whole = len + (r->rest[len] == '\n');
	size_t take = whole < (size_t)room ? whole : (size_t)room - 1;
	memcpy(out, r->rest, take);
	out[take] = '\0';
	r->rest += take;
	r->line += take == whole;
	return out;
}

static int on_key(void *user, const char *section, const char *key, const char *value)
{
	struct reading *r = user;
	if (r->failed_line)
		return 0;
	if (r->handler(r->ctx, section, key, value ? value : "", r->e) == 0)
		return 1;
	r->failed_line = r->line;
	return 0;
}

int conf_read_text(const char *text, const char *name, conf_handler *handler, void *ctx, struct err *e)
{
	struct reading r = {.handler = handler, .ctx = ctx, .e = e, .rest = text};
	int line = ini_parse_stream(next_line, &r, on_key, &r);
	if (r.failed_line)
		return err_prefix(e, "%s:%d: ", name, r.failed_line);
	if (line > 0)
		return err_set(e, ERR_USAGE, "%s:%d: neither a [section] nor a key = value", name, line);
	return 0;
}

int conf_read_file(const char *path, conf_handler *handler, void *ctx, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_CONFIG);
	if (fs_read_file(path, &text, e) < 0)
		return -1;
	if (strlen(text.data) != text.len)
		return err_set(e, ERR_USAGE, "%s: holds a NUL byte", path);
	return conf_read_text(text.data, path, handler, ctx, e);
}
