// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/bare-links.h"

#include "lib/base/charclass.h"

// Offset of the scheme of the next URL at or behind from; text.len: there is none.
static size_t find_url(struct str text, size_t from)
{
	for (size_t at = from; at < text.len; at++) {
		const char *h = memchr(text.ptr + at, ':', text.len - at);
		size_t colon = h ? (size_t)(h - text.ptr) : text.len;
		size_t begin = 0;
		if (!h)
			break;
		if (colon >= from + 5 && str_eq_nocase(str_slice(text, colon - 5, colon), STR("https")))
			begin = colon - 5;
		else if (colon >= from + 4 && str_eq_nocase(str_slice(text, colon - 4, colon), STR("http")))
			begin = colon - 4;
		else
			colon = text.len; // no URL ends here
		if (colon < text.len && text.len - colon > 3 && text.ptr[colon + 1] == '/' &&
			text.ptr[colon + 2] == '/' && ascii_is_alnum(text.ptr[colon + 3]) &&
			(begin == 0 || !ascii_is_alnum(text.ptr[begin - 1])))
			return begin;
		at = (size_t)(h - text.ptr);
	}
	return text.len;
}

// The length of the URL at the start of s, without the signs of the sentence around it.
static size_t url_length(struct str s)
{
	size_t len = charclass_run(s, CHARCLASS_URL), opened = 0, closed = 0;
	for (size_t i = 0; i < len; i++) {
		opened += s.ptr[i] == '(';
		closed += s.ptr[i] == ')';
	}
	while (len && (memchr(".,:;!?'*_~[]", s.ptr[len - 1], 12) || (s.ptr[len - 1] == ')' && closed > opened)))
		closed -= s.ptr[--len] == ')';
	return len;
}

void bare_links_write(struct safe_html *w, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t url = w->links ? text.len : find_url(text, at);
		size_t end = url + url_length(str_slice(text, url, text.len));
		safe_html_text(w, str_slice(text, at, url));
		bool is_link = url < end && safe_html_begin_link(w, str_slice(text, url, end));
		safe_html_text(w, str_slice(text, url, end));
		if (is_link)
			safe_html_end(w);
		at = end;
	}
}
