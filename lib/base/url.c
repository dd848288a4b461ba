// SPDX-License-Identifier: Apache-2.0
#include "lib/base/url.h"

#include <string.h>

#include "lib/base/digest.h"
#include "lib/base/escape.h"

// Slices of a reference; ptr is NULL where the part is missing, which is another thing than empty.
struct parts {
	struct str scheme, authority, path, query;
};

static bool is_scheme(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && !strchr("+-.", s.ptr[i]))
			return false;
	return s.len && ascii_is_alpha(s.ptr[0]);
}

// Appendix B, without its regular expression.
static struct parts split(struct str s)
{
	struct parts p = {0};
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

// How many bytes there are from the last segment on that begins with a dot; more than all where none does.
static size_t from_last_dots(struct str path)
{
	struct str before = path;
	for (long at; (at = str_rfind(before, '.')) > 0; before.len = (size_t)at)
		if (path.ptr[at - 1] == '/')
			return path.len - (size_t)at + 1;
	return path.len + 1;
}

// Adds a path that begins with "/", without its dot segments (section 5.2.4); start is where it began in out.
static void add_path(struct buf *out, size_t start, struct str path)
{
	size_t dots = from_last_dots(path);
	while (path.len >= dots) {
		struct str rest = str_slice(path, 1, path.len);
		struct str segment = str_cut(&rest, '/');
		bool is_last = !rest.ptr, up = str_eq(segment, STR("..")), here = str_eq(segment, STR("."));
		if (up) {
			while (out->len > start && out->data[out->len - 1] != '/')
				out->len--;
			if (out->len > start)
				out->len--;
		}
		if (!up && !here) {
			buf_putc(out, '/');
			escape_reference(out, segment);
		} else if (is_last) {
			buf_putc(out, '/');
		}
		path = is_last ? (struct str){0} : str_slice(path, 1 + segment.len, path.len);
	}
	escape_reference(out, path);
	out->data[out->len] = '\0';
}

// Section 5.2.3.
static void merge(struct str base, struct str reference, struct buf *out)
{
	long slash = str_rfind(base, '/');
	if (slash >= 0)
		buf_str(out, str_slice(base, 0, (size_t)slash + 1));
	else
		buf_putc(out, '/');
	buf_str(out, reference);
}

// Section 5.2.2.
static void transform(const struct parts *base, struct parts *r, struct buf *merged)
{
	bool is_other = r->scheme.ptr || r->authority.ptr;
	if (!r->scheme.ptr)
		r->scheme = base->scheme;
	if (is_other)
		return;
	r->authority = base->authority;
	if (!r->path.len) {
		r->path = base->path;
		r->query = r->query.ptr ? r->query : base->query;
	} else if (r->path.ptr[0] != '/') {
		merge(base->path, r->path, merged);
		r->path = buf_view(merged);
	}
}

bool url_resolve(struct str base, struct str reference, struct buf *out)
{
	struct parts from = split(base), to = split(str_trim(reference));
	CLEANUP(buf_release) struct buf merged;
	buf_init(&merged, out->cap);
	transform(&from, &to, &merged);
	struct str host = without_user(to.authority);
	bool is_tls = str_eq_nocase(to.scheme, STR("https"));
	if ((!is_tls && !str_eq_nocase(to.scheme, STR("http"))) || !host.len || merged.failed)
		return false;
	buf_puts(out, is_tls ? "https://" : "http://");
	escape_reference(out, host);
	size_t start = out->len;
	add_path(out, start, to.path.len ? to.path : STR("/"));
	if (to.query.ptr) {
		buf_putc(out, '?');
		escape_reference(out, to.query);
	}
	return true;
}

char *url_base(struct str url)
{
	static const char others[] = "-._~:/[]%+"; // no "@": a password would stand in every link
	struct parts p = split(url);
	bool is_http = str_eq(p.scheme, STR("http")) || str_eq(p.scheme, STR("https"));
	bool is_good = is_http && p.authority.len && (ascii_is_alnum(p.authority.ptr[0]) || p.authority.ptr[0] == '[');
	for (size_t i = 0; i < url.len; i++)
		is_good = is_good && (ascii_is_alnum(url.ptr[i]) || (url.ptr[i] && strchr(others, url.ptr[i])));
	if (!is_good || str_ends(url, STR("//")))
		return NULL;
	return xasprintf(STR_FMT "%s", STR_ARG(url), str_ends(url, STR("/")) ? "" : "/");
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
