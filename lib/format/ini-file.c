// SPDX-License-Identifier: Apache-2.0
#include "lib/format/ini-file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/os/fs.h"

struct ini_file {
	ini_file_handler *handler;
	void *ctx;
	char *section; // "" before the first one
	char *key;     // of the line above; NULL: none in this section yet
	int line;
	int empty_line; // of a key without a value, which may be in the lines below; 0: none
};

static const char neither[] = "neither a [section] nor a key = value";

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str trim_blanks(struct str s)
{
	while (s.len && is_blank(s.ptr[0]))
		s = str_slice(s, 1, s.len);
	while (s.len && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

// Without the comment that a ";" or "#" behind a blank begins.
static struct str cut_comment(struct str line)
{
	for (size_t i = 1; i < line.len; i++)
		if ((line.ptr[i] == ';' || line.ptr[i] == '#') && is_blank(line.ptr[i - 1]))
			return trim_blanks(str_slice(line, 0, i));
	return line;
}

// Lists are split at blanks.
static void replace_tabs(char *value)
{
	for (; *value; value++)
		if (*value == '\t')
			*value = ' ';
}

static int hand_over_value(struct ini_file *f, struct str text, struct err *e)
{
	CLEANUP(mem_free) char *value = xstrndup(text.ptr, text.len);
	replace_tabs(value);
	const struct ini_file_line one = {f->line, f->section, f->key, value};
	f->empty_line = 0;
	return f->handler(f->ctx, &one, e);
}

// The line above is a key without a value, and no indented line follows it. An error is about that line.
static int hand_over_empty(struct ini_file *f, struct err *e)
{
	if (!f->empty_line)
		return 0;
	int line = f->line;
	f->line = f->empty_line;
	if (hand_over_value(f, STR(""), e) < 0)
		return -1;
	f->line = line;
	return 0;
}

static int read_key(struct ini_file *f, struct str line, struct err *e)
{
	size_t end = 0;
	while (end < line.len && line.ptr[end] != '=' && line.ptr[end] != ':')
		end++;
	if (end == line.len)
		return err_set(e, ERR_USAGE, "%s", neither);
	struct str key = trim_blanks(str_slice(line, 0, end));
	free(f->key);
	f->key = xstrndup(key.ptr, key.len);
	for (char *c = f->key; *c; c++)
		*c = ascii_lower(*c);
	struct str value = trim_blanks(str_slice(line, end + 1, line.len));
	if (value.len)
		return hand_over_value(f, value, e);
	f->empty_line = f->line;
	return 0;
}

static int read_ini_line(struct ini_file *f, struct str line, struct err *e)
{
	struct str text = trim_blanks(line);
	if (!text.len || (text.len && (text.ptr[0] == '#' || text.ptr[0] == ';')))
		return 0;
	if (line.len > LIMIT_CONFIG_LINE)
		return err_set(e, ERR_USAGE, "longer than %d bytes", LIMIT_CONFIG_LINE);
	text = cut_comment(text);
	if (f->key && is_blank(line.ptr[0]))
		return hand_over_value(f, text, e);
	if (hand_over_empty(f, e) < 0)
		return -1;
	if (text.ptr[0] != '[')
		return read_key(f, text, e);
	long end = str_find(text, ']');
	if (end < 0)
		return err_set(e, ERR_USAGE, "%s", neither);
	free(f->section);
	free(STEAL_PTR(f->key));
	f->section = xstrndup(text.ptr + 1, (size_t)end - 1);
	const struct ini_file_line begin = {.number = f->line, .section = f->section};
	return f->handler(f->ctx, &begin, e);
}

static int read_text(struct str text, const char *name, ini_file_handler *handler, void *ctx, struct err *e)
{
	struct ini_file f = {.handler = handler, .ctx = ctx, .section = xstrdup("")};
	int result = 0;
	if (str_starts(text, STR("\xef\xbb\xbf"))) // a byte order mark, which editors of Windows write
		text = str_slice(text, 3, text.len);
	for (f.line = 1; result == 0 && text.ptr; f.line++)
		if ((result = read_ini_line(&f, str_cut(&text, '\n'), e)) < 0)
			err_prefix(e, "%s:%d: ", name, f.line);
	if (result == 0 && (result = hand_over_empty(&f, e)) < 0)
		err_prefix(e, "%s:%d: ", name, f.line);
	free(f.section);
	free(f.key);
	return result;
}

int ini_file_read_file(const char *path, ini_file_handler *handler, void *ctx, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_CONFIG);
	if (fs_read_file(path, &text, e) < 0)
		return -1;
	if (strlen(text.data) != text.len)
		return err_set(e, ERR_USAGE, "%s: holds a NUL byte", path);
	return read_text(buf_view(&text), path, handler, ctx, e);
}
