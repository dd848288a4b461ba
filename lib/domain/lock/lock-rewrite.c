// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/lock/lock-read.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/format/json-sax.h"
#include "lib/format/toml.h"
#include "lib/net/url.h"

// A URL in the text, and what stands there then.
struct replaced_url {
	size_t at, len;
	const char *with;
};

struct rewriter {
	const struct lock_rewriting *how;
	struct str text;       // as it is
	const char *decoded;   // the same, in which the parser has decoded strings
	enum lock_kind kind;
	struct replaced_url *url;
	size_t urls, room;
	struct lock_rewritten *done;
	struct arena strings;
	bool has_prefix; // the caller puts the line in front of errors
	struct err *e;
};

static int refuse_url(struct rewriter *r, unsigned line, const char *why)
{
	err_set(r->e, ERR_INVALID, "%s", why);
	return r->has_prefix ? -1 : err_prefix(r->e, "%s:%u: ", r->how->path, line);
}

static bool is_http(struct str url)
{
	return str_starts(url, STR("http://")) || str_starts(url, STR("https://"));
}

// --- one URL ---

static int replace_at(struct rewriter *r, size_t at, struct str url, const char *with, unsigned line)
{
	bool is_there = at <= r->text.len && url.len <= r->text.len - at && memcmp(r->text.ptr + at, url.ptr, url.len) == 0;
	if (!is_there)
		return refuse_url(r, line, "the URL is written with escapes, so it cannot be replaced alone");
	GROW(r->url, r->urls, r->room);
	r->url[r->urls++] = (struct replaced_url){at, url.len, with};
	return 0;
}

static int replace_index(struct rewriter *r, size_t at, struct str url, unsigned line)
{
	r->done->indexes++;
	return replace_at(r, at, url, r->how->index, line);
}

// "sha256=HEX&egg=NAME", which pip checks.
static const uint8_t *sha256_of_fragment(struct str fragment, uint8_t sha256[SHA256_SIZE])
{
	static const struct str prefix = STR("sha256=");
	while (fragment.len) {
		struct str part = str_cut(&fragment, '&');
		if (str_starts(part, prefix) && hex_decode(str_slice(part, prefix.len, part.len), sha256, SHA256_SIZE))
			return sha256;
	}
	return NULL;
}

// What is behind "#" stays.
static int replace_file(struct rewriter *r, size_t at, struct str url, const uint8_t *sha256, unsigned line)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename parsed = {0};
	CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_FILE_NAME), with = buf_up_to(LIMIT_PATH);
	struct str fragment = url, front = str_cut(&fragment, '#');
	uint8_t own[SHA256_SIZE];
	if (!url_filename(front, &name) || name.failed || filename_parse(buf_view(&name), &parsed, &ignored) < 0)
		return refuse_url(r, line, "the URL names no wheel and no source archive");
	if (r->how->fn(r->how->ctx, parsed.project, name.data, sha256 ? sha256 : sha256_of_fragment(fragment, own), &with,
		    r->e) < 0)
		return r->has_prefix ? -1 : err_prefix(r->e, "%s:%u: ", r->how->path, line);
	if (with.failed || strpbrk(with.data, "\"'\\ \t#"))
		return refuse_url(r, line, "the new index has a URL for it that no lock can have");
	if (fragment.ptr)
		buf_printf(&with, "#" STR_FMT, STR_ARG(fragment));
	r->done->files++;
	return replace_at(r, at, url, arena_copy(&r->strings, buf_view(&with)), line);
}

// --- TOML ---

static size_t offset_of(const struct rewriter *r, struct str text)
{
	return (size_t)(text.ptr - r->decoded);
}

static struct str text_at(const struct toml *t, const struct toml_value *table, const char *key)
{
	const struct toml_value *v = toml_get(t, table, str_from(key));
	return v && v->kind == TOML_STRING ? toml_text(v) : STR("");
}

// {hash = "sha256:…"}, or {hashes = {sha256 = "…"}}.
static const uint8_t *find_sha256(const struct toml *t, const struct toml_value *table, uint8_t sha256[SHA256_SIZE])
{
	static const struct str prefix = STR("sha256:");
	struct str hash = text_at(t, table, "hash");
	hash = str_starts(hash, prefix) ? str_slice(hash, prefix.len, hash.len)
					: text_at(t, toml_get(t, table, STR("hashes")), "sha256");
	return hash.len && hex_decode(hash, sha256, SHA256_SIZE) ? sha256 : NULL;
}

static bool is_named_key(const struct toml_value *v, const char *key)
{
	return v->key && str_eq((struct str){v->key, v->key_len}, str_from(key));
}

enum url_kind { URL_STAYS, URL_INDEX, URL_FILE };

// under: the key of the table that has the value, or of the array that has the table.
static enum url_kind find_url_kind(const struct rewriter *r, const struct toml *t, const struct toml_value *table,
	const struct toml_value *v, struct str under)
{
	struct str type = text_at(t, table, "type");
	if (r->kind == LOCK_UV && (is_named_key(v, "registry") || is_named_key(v, "index")))
		return URL_INDEX;
	if (r->kind == LOCK_PYLOCK && is_named_key(v, "index"))
		return URL_INDEX;
	if (!is_named_key(v, "url") || str_eq(under, STR("vcs")))
		return URL_STAYS;
	if (r->kind != LOCK_POETRY || !str_eq(under, STR("source")) || str_eq(type, STR("url")))
		return URL_FILE;
	return str_eq(type, STR("legacy")) ? URL_INDEX : URL_STAYS;
}

static int rewrite_toml(struct rewriter *r, const struct toml *t, const struct toml_value *of, struct str under)
{
	uint8_t sha256[SHA256_SIZE];
	for (const struct toml_value *v = toml_first(of); v; v = toml_next(v)) {
		struct str key = v->key ? (struct str){v->key, v->key_len} : under, url = toml_text(v);
		int result = 0;
		if (v->kind == TOML_TABLE || v->kind == TOML_ARRAY) {
			result = rewrite_toml(r, t, v, key); // LIMIT_TOML_DEPTH
		} else if (v->kind == TOML_STRING && is_http(url)) {
			enum url_kind kind = find_url_kind(r, t, of, v, under);
			result = kind == URL_STAYS   ? 0
				 : kind == URL_INDEX ? replace_index(r, offset_of(r, url), url, v->line)
						     : replace_file(r, offset_of(r, url), url, find_sha256(t, of, sha256), v->line);
		}
		if (result < 0)
			return -1;
	}
	return 0;
}

static int read_toml_again(struct rewriter *r)
{
	CLEANUP(toml_release) struct toml t = {0};
	CLEANUP(mem_free) char *copy = xstrndup(r->text.ptr, r->text.len);
	r->decoded = copy;
	if (toml_read(copy, r->text.len, &t, r->e) < 0)
		return err_prefix(r->e, "%s:", r->how->path);
	return rewrite_toml(r, &t, &t.root, STR(""));
}

// --- Pipfile.lock ---

static unsigned line_of(const struct rewriter *r, const char *at)
{
	unsigned line = 1;
	for (const char *c = r->text.ptr; c < at && c < r->text.ptr + r->text.len; c++)
		line += *c == '\n';
	return line;
}

// _meta.sources[].url, and SECTION.PROJECT.file.
static void on_pipfile_value(void *ctx, const struct json_sax_value *v)
{
	struct rewriter *r = ctx;
	if (r->e->kind != ERR_NONE || v->kind != JSON_SAX_STRING || !is_http(v->text))
		return;
	bool is_meta = v->depth && str_eq(v->key[0], STR("_meta")), is_here = v->text.ptr >= r->text.ptr &&
									      v->text.ptr < r->text.ptr + r->text.len;
	size_t at = is_here ? (size_t)(v->text.ptr - r->text.ptr) : SIZE_MAX; // with escapes it lies elsewhere
	unsigned line = line_of(r, is_here ? v->text.ptr : r->text.ptr);
	if (is_meta && v->depth == 4 && str_eq(v->key[1], STR("sources")) && str_eq(v->key[3], STR("url")))
		replace_index(r, at, v->text, line);
	else if (!is_meta && v->depth == 3 && str_eq(v->key[2], STR("file")))
		replace_file(r, at, v->text, NULL, line); // an error ends it
}

static int read_json_again(struct rewriter *r)
{
	bool is_cut;
	struct err broken = ERR_INIT;
	if (json_sax_read(r->text, &r->strings, on_pipfile_value, r, &is_cut, &broken) < 0 && r->e->kind == ERR_NONE)
		*r->e = broken;
	return r->e->kind == ERR_NONE ? 0 : -1;
}

// --- requirements ---

// Where the URL stands in the lines that are one requirement, from its first line on. A URL has no blanks, so a line
// that goes on does not cut it.
static size_t find_in_lines(const struct rewriter *r, unsigned number, struct str url)
{
	struct str rest = r->text;
	for (unsigned i = 1; i < number; i++)
		str_cut(&rest, '\n');
	struct str all = rest;
	for (bool goes_on = true; goes_on && rest.ptr;) {
		struct str line = str_cut(&rest, '\n');
		line = str_ends(line, STR("\r")) ? str_slice(line, 0, line.len - 1) : line;
		goes_on = str_ends(line, STR("\\"));
	}
	all.len = rest.ptr ? (size_t)(rest.ptr - all.ptr) : all.len;
	const char *found = memmem(all.ptr, all.len, url.ptr, url.len);
	return found ? (size_t)(found - r->text.ptr) : SIZE_MAX;
}

static struct str value_of_option(struct str argument, const char *const *names)
{
	for (; *names; names++) {
		struct str name = str_from(*names);
		if (!str_starts(argument, name))
			continue;
		struct str value = str_slice(argument, name.len, argument.len);
		bool is_whole = !value.len || strchr("= \t", value.ptr[0]) || !str_starts(name, STR("--"));
		while (value.len && strchr("= \t\"'", value.ptr[0]))
			value = str_slice(value, 1, value.len);
		while (value.len && strchr(" \t\"'", value.ptr[value.len - 1]))
			value = str_slice(value, 0, value.len - 1);
		if (is_whole && is_http(value))
			return value;
	}
	return STR("");
}

static int rewrite_requirement(void *ctx, const struct requirements_line *line, struct err *e)
{
	static const char *const indexes[] = {"--index-url", "--extra-index-url", "--pypi-url", "-i", NULL};
	static const char *const links[] = {"--find-links", "-f", NULL};
	struct rewriter *r = ctx;
	struct str option = line->kind == REQUIREMENTS_LINE_OPTION ? value_of_option(line->argument, indexes) : STR("");
	r->e = e;
	if (line->kind == REQUIREMENTS_LINE_OPTION && value_of_option(line->argument, links).len)
		return refuse_url(r, line->number, "--find-links is a page of links, and no index: take it out");
	if (option.len)
		return replace_index(r, find_in_lines(r, line->number, option), option, line->number);
	if (line->url.len && is_http(line->url))
		return replace_file(r, find_in_lines(r, line->number, line->url), line->url, NULL, line->number);
	return 0;
}

static int read_requirements_again(struct rewriter *r)
{
	struct err *e = r->e;
	r->has_prefix = true;
	return requirements_file_read(r->text, r->how->path, rewrite_requirement, r, e);
}

// --- all ---

static int compare_replaced(const void *a, const void *b)
{
	const struct replaced_url *x = a, *y = b;
	return (x->at > y->at) - (x->at < y->at);
}

static void write_copy(const struct rewriter *r, struct buf *out)
{
	size_t at = 0;
	if (r->urls)
		qsort(r->url, r->urls, sizeof(*r->url), compare_replaced);
	for (size_t i = 0; i < r->urls; i++) {
		buf_str(out, str_slice(r->text, at, r->url[i].at));
		buf_puts(out, r->url[i].with);
		at = r->url[i].at + r->url[i].len;
	}
	buf_str(out, str_slice(r->text, at, r->text.len));
}

static int find_kind(struct rewriter *r)
{
	CLEANUP(lock_release) struct lock l = {0};
	CLEANUP(buf_release) struct buf copy = buf_up_to(LIMIT_LOCK);
	buf_str(&copy, r->text);
	if (copy.failed)
		return err_set(r->e, ERR_LIMIT, "%s: more than %d bytes", r->how->path, LIMIT_LOCK);
	int result = lock_parse(&copy, r->how->path, &l, r->e);
	r->kind = r->done->kind = l.kind;
	return result;
}

int lock_rewrite(struct str text, const struct lock_rewriting *how, struct buf *out, struct lock_rewritten *done,
	struct err *e)
{
	struct rewriter r = {.how = how, .text = text, .done = done, .e = e};
	*done = (struct lock_rewritten){0};
	int result = find_kind(&r);
	if (result == 0)
		result = r.kind == LOCK_PIPFILE         ? read_json_again(&r)
			 : r.kind == LOCK_REQUIREMENTS ? read_requirements_again(&r)
						       : read_toml_again(&r);
	if (result == 0)
		write_copy(&r, out);
	free(r.url);
	arena_release(&r.strings);
	return result == 0 && out->failed ? err_set(e, ERR_LIMIT, "%s: the copy is too long", how->path) : result;
}
