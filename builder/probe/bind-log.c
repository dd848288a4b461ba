// SPDX-License-Identifier: Apache-2.0
#include "builder/probe/bind-log.h"

#include <string.h>

#include "lib/base/mem.h"

// Cuts the text before the mark off *rest, and the mark. False: *rest has no such mark.
static bool cut_at(struct str *rest, struct str mark, struct str *before)
{
	const char *at = rest->len ? memmem(rest->ptr, rest->len, mark.ptr, mark.len) : NULL;
	if (!at)
		return false;
	*before = (struct str){rest->ptr, (size_t)(at - rest->ptr)};
	*rest = str_slice(*rest, before->len + mark.len, rest->len);
	return true;
}

// "FILE [0" at the end of a text: the number is that of a namespace (dlmopen(3)). A path may have brackets too.
static bool take_path(struct str text, struct str *path)
{
	size_t at = text.len;
	while (at && ascii_is_digit(text.ptr[at - 1]))
		at--;
	*path = str_slice(text, 0, at >= 2 ? at - 2 : 0);
	return at < text.len && path->len && path->ptr[path->len] == ' ' && path->ptr[path->len + 1] == '[';
}

// "f'" or "f' [B_1.0]": the symbol's name, then its version.
static bool take_symbol(struct str text, struct bind_log_line *out)
{
	if (!cut_at(&text, STR("'"), &out->symbol) || !out->symbol.len)
		return false;
	out->version = STR("");
	if (str_starts(text, STR(" [")) && str_ends(text, STR("]")))
		out->version = str_slice(text, 2, text.len - 1);
	return true;
}

bool bind_log_parse(struct str line, struct bind_log_line *out)
{
	// A newer loader may quote as 'f'.
	static const struct str kinds[] = {STR("]: normal symbol `"), STR("]: protected symbol `"),
		STR("]: normal symbol '"), STR("]: protected symbol '")};
	struct str pid, from, to;
	if (!cut_at(&line, STR(":\tbinding file "), &pid) || !cut_at(&line, STR("] to "), &from))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (cut_at(&line, kinds[i], &to))
			return take_path(from, &out->from) && take_path(to, &out->to) && take_symbol(line, out);
	return false;
}
