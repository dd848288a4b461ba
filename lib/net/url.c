// SPDX-License-Identifier: Apache-2.0
#include "lib/net/url.h"

#include <string.h>

#include "lib/format/digest.h"
#include "lib/format/escape.h"
#include "lib/net/fetch.h"

// The parts of a reference, as slices. ptr is NULL if the part is missing, which differs from an empty part.
struct url_parts {
	struct str scheme, authority, path, query;
};

static bool is_scheme(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && !strchr("+-.", s.ptr[i]))
			return false;
	return s.len && ascii_is_alpha(s.ptr[0]);
}

// Does what the regular expression of appendix B does.
static struct url_parts split_reference(struct str s)
{
	struct url_parts p = {0};
	s = str_cut(&s, '#');
	struct str rest = s;
	struct str first = str_cut(&rest, ':');
	if (rest.ptr && is_scheme(first)) {
		p.scheme = first;
		s = rest;
	}
	if (str_starts(s, STR("//"))) {
		size_t end = 2;
		while (end < s.len && s.ptr[end] != '/' && s.ptr[end] != '?')
			end++;
		p.authority = str_slice(s, 2, end);
		s = str_slice(s, end, s.len);
	}
	p.path = str_cut(&s, '?');
	p.query = s;
	return p;
}

static struct str without_user(struct str authority)
{
	long at = str_rfind(authority, '@');
	return at < 0 ? authority : str_slice(authority, (size_t)at + 1, authority.len);
}

// Returns the number of bytes from the last segment that begins with a dot to the end; len + 1 if none does.
static size_t from_last_dots(struct str path)
{
	struct str before = path;
	for (long at; (at = str_rfind(before, '.')) >= 0; before.len = (size_t)at)
		if (at == 0 || path.ptr[at - 1] == '/')
			return path.len - (size_t)at;
	return path.len + 1;
}

// Adds "/" and each segment, and resolves dot segments (section 5.2.4). start is where the path began in out. is_end:
// this is the end of the URL's path, where a dot segment leaves a slash.
static void add_segments(struct buf *out, size_t start, struct str path, bool is_end)
{
	size_t dots = from_last_dots(path);
	while (path.ptr && path.len >= dots) {
		struct str segment = str_cut(&path, '/');
		bool is_up = str_eq(segment, STR("..")), is_dots = is_up || str_eq(segment, STR("."));
		if (is_up) {
			// Removes the last segment of out, but nothing before start.
			while (out->len > start && out->data[out->len - 1] != '/')
				out->len--;
			if (out->len > start)
				out->len--;
		}
		if (!is_dots || (is_end && !path.ptr))
			buf_putc(out, '/');
		if (!is_dots)
			escape_reference(out, segment);
	}
	if (path.ptr) {
		buf_putc(out, '/');
		escape_reference(out, path);
	}
	out->data[out->len] = '\0';
}

// Section 5.2.3: the base's path up to its last slash, without its first and last slash.
static struct str path_folder(struct str path)
{
	long slash = str_rfind(path, '/');
	return slash > 0 ? str_slice(path, 1, (size_t)slash) : (struct str){0};
}

// Section 5.2.2, for a reference without a scheme. Returns the folder that its path is relative to; ptr is NULL for
// none.
static struct str complete_reference(struct str base_url, struct url_parts *r)
{
	struct url_parts base = split_reference(base_url);
	struct str folder = {0};
	r->scheme = base.scheme;
	if (r->authority.ptr)
		return folder;
	r->authority = base.authority;
	if (!r->path.len) {
		r->path = base.path;
		r->query = r->query.ptr ? r->query : base.query;
	} else if (r->path.ptr[0] != '/') {
		folder = path_folder(base.path);
	}
	return folder;
}

bool url_resolve(struct str base, struct str reference, struct buf *out)
{
	struct url_parts to = split_reference(str_trim(reference));
	struct str folder = to.scheme.ptr ? (struct str){0} : complete_reference(base, &to);
	struct str host = without_user(to.authority);
	bool is_tls = str_eq_nocase(to.scheme, STR("https"));
	if ((!is_tls && !str_eq_nocase(to.scheme, STR("http"))) || !host.len)
		return false;
	buf_puts(out, is_tls ? "https://" : "http://");
	escape_reference(out, host);
	size_t start = out->len;
	add_segments(out, start, folder, false);
	add_segments(out, start, str_slice(to.path, str_starts(to.path, STR("/")) ? 1 : 0, to.path.len), true);
	if (to.query.ptr) {
		buf_putc(out, '?');
		escape_reference(out, to.query);
	}
	return true;
}

char *url_base(struct str url)
{
	static const char others[] = "-._~:/[]%+"; // no "@": every link would show the password
	struct url_parts p = split_reference(url);
	bool is_http = str_eq(p.scheme, STR("http")) || str_eq(p.scheme, STR("https"));
	bool is_good = is_http && p.authority.len && (ascii_is_alnum(p.authority.ptr[0]) || p.authority.ptr[0] == '[');
	for (size_t i = 0; i < url.len; i++)
		is_good = is_good && (ascii_is_alnum(url.ptr[i]) || (url.ptr[i] && strchr(others, url.ptr[i])));
	if (!is_good || str_ends(url, STR("//")))
		return NULL;
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url read = {0};
	CLEANUP(mem_free) char *base = xasprintf(STR_FMT "%s", STR_ARG(url), str_ends(url, STR("/")) ? "" : "/");
	return fetch_url_parse(base, &read, &ignored) == 0 ? STEAL_PTR(base) : NULL;
}

bool url_filename(struct str url, struct buf *out)
{
	struct str rest = str_cut(&url, '#');
	struct str path = str_cut(&rest, '?');
	struct str name = str_slice(path, (size_t)(str_rfind(path, '/') + 1), path.len);
	for (size_t i = 0; i < name.len; i++) {
		uint8_t byte = (uint8_t)name.ptr[i];
		if (byte == '%') {
			if (name.len - i < 3 || !hex_decode(str_slice(name, i + 1, i + 3), &byte, 1))
				return false;
			i += 2;
		}
		buf_putc(out, (char)byte);
	}
	return name.len > 0;
}
