// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/requirements-file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/pyspace.h"
#include "lib/domain/text/specifier.h"

static bool is_line_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct str trim_blanks(struct str s)
{
	while (s.len && is_line_blank(s.ptr[0]))
		s = str_slice(s, 1, s.len);
	while (s.len && is_line_blank(s.ptr[s.len - 1]))
		s = str_slice(s, 0, s.len - 1);
	return s;
}

// --- options ---

static const struct option {
	const char *name, *letter; // "--requirement", "-r"; letter NULL: none
	enum requirements_line_kind kind;
	bool has_value;
} options[] = {
	{"--requirement", "-r", REQUIREMENTS_LINE_INCLUDE, true},
	{"--constraint", "-c", REQUIREMENTS_LINE_CONSTRAINTS, true},
	{"--pre", NULL, REQUIREMENTS_LINE_PRE, false},
	{"--index-url", "-i", REQUIREMENTS_LINE_OPTION, true},
	{"--pypi-url", NULL, REQUIREMENTS_LINE_OPTION, true},
	{"--extra-index-url", NULL, REQUIREMENTS_LINE_OPTION, true},
	{"--find-links", "-f", REQUIREMENTS_LINE_OPTION, true},
	{"--trusted-host", NULL, REQUIREMENTS_LINE_OPTION, true},
	{"--no-binary", NULL, REQUIREMENTS_LINE_OPTION, true},
	{"--only-binary", NULL, REQUIREMENTS_LINE_OPTION, true},
	{"--use-feature", NULL, REQUIREMENTS_LINE_OPTION, true},
	{"--no-index", NULL, REQUIREMENTS_LINE_OPTION, false},
	{"--prefer-binary", NULL, REQUIREMENTS_LINE_OPTION, false},
	{"--require-hashes", NULL, REQUIREMENTS_LINE_OPTION, false},
};

// Parses the value of "--name value", "--name=value" and "-nvalue". False: the text is not this option.
static bool match_option(const struct option *o, struct str text, struct str *value)
{
	struct str name = str_from(o->name), letter = o->letter ? str_from(o->letter) : STR("");
	if (str_starts(text, name)) {
		*value = str_slice(text, name.len, text.len);
		if (value->len && value->ptr[0] != '=' && !is_line_blank(value->ptr[0]))
			return false;
		if (value->len)
			*value = str_slice(*value, 1, value->len);
	} else if (letter.len && str_starts(text, letter) && !str_starts(text, STR("--"))) {
		*value = str_slice(text, letter.len, text.len);
	} else {
		return false;
	}
	*value = trim_blanks(*value);
	return true;
}

// Removes shell quotes that enclose the whole value.
static struct str unquote(struct str value)
{
	bool is_quoted = value.len >= 2 && (value.ptr[0] == '"' || value.ptr[0] == '\'') &&
			 value.ptr[value.len - 1] == value.ptr[0];
	return is_quoted ? str_slice(value, 1, value.len - 1) : value;
}

static int read_option(struct requirements_line *line, struct str text, struct err *e)
{
	if (str_starts(text, STR("-e")) || str_starts(text, STR("--editable"))) {
		line->kind = REQUIREMENTS_LINE_EDITABLE;
		line->argument = text;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct str value;
		if (!match_option(&options[i], text, &value))
			continue;
		value = unquote(value);
		if (options[i].has_value != (value.len > 0))
			return err_set(e, ERR_USAGE, "%s %s", options[i].name,
				options[i].has_value ? "needs a value" : "takes no value");
		line->kind = options[i].kind;
		line->argument = line->kind == REQUIREMENTS_LINE_OPTION ? text : value;
		return 0;
	}
	return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is not an option of a requirements file",
		STR_ARG(str_head(text, 80)));
}

// --- requirements ---

struct file_reader {
	const char *path;
	requirements_line_fn *fn;
	void *ctx;
	struct requirements_line line;
	struct buf name;
	struct str *hash;
	size_t hash_room;
};

static bool is_project_byte(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

static int read_name(struct file_reader *r, struct str *rest, struct err *e)
{
	size_t len = 0;
	while (len < rest->len && is_project_byte(rest->ptr[len]))
		len++;
	struct str name = str_slice(*rest, 0, len);
	struct str after = trim_blanks(str_slice(*rest, len, rest->len));
	bool is_path = len < rest->len && (rest->ptr[len] == '/' || str_starts(after, STR(":")));
	if (!name_is_valid(name) || is_path)
		return err_set(e, ERR_USAGE, "the line does not begin with a project name%s",
			is_path ? " (for a URL write NAME @ URL)" : "");
	buf_clear(&r->name);
	name_normalize(name, &r->name);
	r->line.project = r->name.data;
	*rest = after;
	return 0;
}

static int read_extras(struct requirements_line *line, struct str *rest, struct err *e)
{
	if (!str_starts(*rest, STR("[")))
		return 0;
	long end = str_find(*rest, ']');
	if (end < 0)
		return err_set(e, ERR_USAGE, "the extras have no \"]\" at their end");
	line->extras = trim_blanks(str_slice(*rest, 1, (size_t)end));
	for (struct str extras = line->extras; line->extras.len && extras.ptr;)
		if (!name_is_valid(trim_blanks(str_cut(&extras, ','))))
			return err_set(e, ERR_USAGE, "[" STR_FMT "] is not a list of extras", STR_ARG(line->extras));
	*rest = trim_blanks(str_slice(*rest, (size_t)end + 1, rest->len));
	return 0;
}

// The part of a URL before " ;", where its marker begins.
static struct str cut_url(struct str *rest)
{
	for (size_t i = 1; i < rest->len; i++) {
		if (rest->ptr[i] != ';' || !is_line_blank(rest->ptr[i - 1]))
			continue;
		struct str url = trim_blanks(str_slice(*rest, 0, i));
		*rest = trim_blanks(str_slice(*rest, i + 1, rest->len));
		return url;
	}
	struct str url = *rest;
	*rest = STR("");
	return url;
}

static int read_version_part(struct requirements_line *line, struct str rest, struct err *e)
{
	if (str_starts(rest, STR("@"))) {
		rest = trim_blanks(str_slice(rest, 1, rest.len));
		line->url = cut_url(&rest);
		line->marker = rest;
		if (!line->url.len || pyspace_is_in(line->url))
			return err_set(e, ERR_USAGE, "no URL after \"@\"");
		return 0;
	}
	struct str specifier = trim_blanks(str_cut(&rest, ';'));
	bool has_marker = rest.ptr != NULL;
	if (str_starts(specifier, STR("(")) && str_ends(specifier, STR(")")))
		specifier = trim_blanks(str_slice(specifier, 1, specifier.len - 1));
	line->specifier = specifier;
	line->marker = has_marker ? trim_blanks(rest) : STR("");
	if (specifier.len && (!strchr("=<>!~", specifier.ptr[0]) || !specifier_set_is_valid(specifier)))
		return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is not a specifier (such as ==1.2 or >=1.2,<2)",
			STR_ARG(specifier));
	if (has_marker && !line->marker.len)
		return err_set(e, ERR_USAGE, "no marker after \";\"");
	return 0;
}

// Cuts off the part before the first word that begins with "-". pip parses the rest as options of the requirement.
static struct str cut_requirement(struct str *text)
{
	for (size_t i = 1; i < text->len; i++) {
		if (text->ptr[i] != '-' || !is_line_blank(text->ptr[i - 1]))
			continue;
		struct str front = trim_blanks(str_slice(*text, 0, i));
		*text = str_slice(*text, i, text->len);
		return front;
	}
	struct str all = *text;
	*text = STR("");
	return all;
}

static int read_hashes(struct file_reader *r, struct str rest, struct err *e)
{
	const struct str option = STR("--hash");
	while (rest.len) {
		if (!str_starts(rest, option) || rest.len == option.len ||
			(rest.ptr[option.len] != '=' && !is_line_blank(rest.ptr[option.len])))
			return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is not an option of a requirement",
				STR_ARG(str_head(rest, 80)));
		rest = trim_blanks(str_slice(rest, option.len + 1, rest.len));
		size_t len = 0;
		while (len < rest.len && !is_line_blank(rest.ptr[len]))
			len++;
		struct str hash = unquote(str_slice(rest, 0, len));
		if (str_find(hash, ':') <= 0)
			return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is not a hash (such as sha256:…)",
				STR_ARG(str_head(hash, 80)));
		GROW(r->hash, r->line.hashes, r->hash_room);
		r->hash[r->line.hashes++] = hash;
		rest = trim_blanks(str_slice(rest, len, rest.len));
	}
	r->line.hash = r->hash;
	return 0;
}

static int read_requirement(struct file_reader *r, struct str text, struct err *e)
{
	r->line.kind = REQUIREMENTS_LINE_PROJECT;
	return read_name(r, &text, e) < 0 || read_extras(&r->line, &text, e) < 0 ? -1 : read_version_part(&r->line, text, e);
}

static int read_line_of_project(struct file_reader *r, struct str text, struct err *e)
{
	struct str requirement = cut_requirement(&text);
	return read_requirement(r, requirement, e) < 0 ? -1 : read_hashes(r, text, e);
}

// --- lines ---

// A comment begins at the start of a line or after a blank.
static struct str strip_comment(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.ptr[i] == '#' && (!i || is_line_blank(line.ptr[i - 1])))
			return str_slice(line, 0, i);
	return line;
}

static void begin_line(struct file_reader *r, unsigned number)
{
	r->line = (struct requirements_line){.number = number,
		.argument = STR(""),
		.extras = STR(""),
		.specifier = STR(""),
		.marker = STR(""),
		.url = STR("")};
}

static int read_logical_line(struct file_reader *r, struct str text, unsigned number, struct err *e)
{
	text = trim_blanks(strip_comment(text));
	if (!text.len)
		return 0;
	begin_line(r, number);
	int read = text.ptr[0] == '-' ? read_option(&r->line, text, e) : read_line_of_project(r, text, e);
	return read < 0 ? -1 : r->fn(r->ctx, &r->line, e);
}

// Cuts a logical line off the text. A backslash at the end of a line that is not a comment joins it with the next line.
static int cut_logical(struct str *text, struct buf *out, unsigned *lines, struct err *e)
{
	buf_clear(out);
	for (bool goes_on = true; goes_on && text->ptr;) {
		struct str line = str_cut(text, '\n');
		if (str_ends(line, STR("\r")))
			line = str_slice(line, 0, line.len - 1);
		bool is_comment = str_starts(trim_blanks(line), STR("#"));
		goes_on = !is_comment && str_ends(line, STR("\\"));
		while (goes_on && str_ends(line, STR("\\")))
			line = str_slice(line, 0, line.len - 1);
		buf_puts(out, is_comment && out->len ? " " : "");
		buf_str(out, line);
		++*lines;
	}
	return out->failed ? err_set(e, ERR_USAGE, "the line is longer than %d bytes", LIMIT_REQUIREMENT_LINE) : 0;
}

static int read_logical_lines(struct file_reader *r, struct str text, struct err *e)
{
	CLEANUP(buf_release) struct buf line = buf_up_to(LIMIT_REQUIREMENT_LINE);
	for (unsigned lines = 0, number; text.ptr;) {
		number = lines + 1;
		if (cut_logical(&text, &line, &lines, e) < 0 || read_logical_line(r, buf_view(&line), number, e) < 0)
			return err_prefix(e, "%s:%u: ", r->path, number);
	}
	return 0;
}

int requirements_file_read(struct str text, const char *path, requirements_line_fn *fn, void *ctx, struct err *e)
{
	const struct str mark = STR("\xEF\xBB\xBF"); // a byte order mark, which some editors write
	struct file_reader r = {.path = path, .fn = fn, .ctx = ctx};
	// The lines of the file are counted, not the logical ones.
	struct str rest = text;
	for (unsigned number = 1; rest.ptr && rest.len; number++) {
		struct str line = str_cut(&rest, '\n');
		if (memchr(line.ptr, '\0', line.len))
			return err_set(e, ERR_USAGE, "%s:%u: it has a NUL byte, so it is no text", path, number);
		if (!str_is_utf8(line))
			return err_set(e, ERR_USAGE, "%s:%u: not UTF-8 text", path, number);
	}
	if (str_starts(text, mark))
		text = str_slice(text, mark.len, text.len);
	buf_init(&r.name, LIMIT_REQUIREMENT_LINE);
	int read = read_logical_lines(&r, text, e);
	buf_release(&r.name);
	free(r.hash);
	return read;
}

int requirements_line_read(struct str text, requirements_line_fn *fn, void *ctx, struct err *e)
{
	struct file_reader r = {.fn = fn, .ctx = ctx};
	buf_init(&r.name, LIMIT_REQUIREMENT_LINE);
	begin_line(&r, 0);
	int read = text.len > LIMIT_REQUIREMENT_LINE
			   ? err_set(e, ERR_USAGE, "the line is longer than %d bytes", LIMIT_REQUIREMENT_LINE)
			   : read_requirement(&r, trim_blanks(text), e);
	read = read < 0 ? -1 : fn(ctx, &r.line, e);
	buf_release(&r.name);
	return read;
}
