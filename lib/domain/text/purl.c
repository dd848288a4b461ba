// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/purl.h"

#include "lib/format/digest.h"

// In the arena. Empty: it is not percent-encoded.
static struct str percent_decode(struct str text, struct arena *a)
{
	char *out = arena_alloc(a, text.len + 1);
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		uint8_t byte = (uint8_t)text.ptr[i];
		if (byte == '%' && (i + 2 >= text.len || !hex_decode(str_slice(text, i + 1, i + 3), &byte, 1)))
			return (struct str){0};
		i += text.ptr[i] == '%' ? 2 : 0;
		out[len++] = (char)byte;
	}
	return (struct str){out, len};
}

bool purl_read(struct str text, struct arena *a, struct purl *out)
{
	struct str scheme = str_cut(&text, ':');
	text = str_cut(&text, '#');
	struct str path = str_cut(&text, '?');
	while (path.len && *path.ptr == '/')
		path = str_slice(path, 1, path.len);
	struct str type = str_cut(&path, '/'), name = str_cut(&path, '@');
	if (!str_eq_nocase(scheme, STR("pkg")) || !type.len || !name.len)
		return false;
	*out = (struct purl){.type = type, .name = percent_decode(name, a)};
	if (path.len)
		out->version = percent_decode(path, a);
	return out->name.len > 0;
}
