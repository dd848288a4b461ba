// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/name.h"

#include "lib/base/buf.h"

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == '.';
}

bool name_is_valid(struct str name)
{
	if (!name.len || !ascii_is_alnum(name.ptr[0]) || !ascii_is_alnum(name.ptr[name.len - 1]))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!ascii_is_alnum(name.ptr[i]) && !is_separator(name.ptr[i]))
			return false;
	return true;
}

bool name_is_normal(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (c != ascii_lower(c) || c == '_' || c == '.')
			return false;
		if (c == '-' && i > 0 && name.ptr[i - 1] == '-')
			return false;
	}
	return true;
}

void name_normalize(struct str name, struct buf *out)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!is_separator(name.ptr[i]))
			buf_putc(out, ascii_lower(name.ptr[i]));
		else if (i == 0 || !is_separator(name.ptr[i - 1]))
			buf_putc(out, '-');
	}
}
