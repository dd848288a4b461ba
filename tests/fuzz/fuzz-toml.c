// SPDX-License-Identifier: Apache-2.0
// TOML: the tree is whole, its texts lie in the document, and it takes no more memory than a document of this size may.
#include "lib/format/toml.h"

#include <string.h>

#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

// NOLINTNEXTLINE(misc-no-recursion): as deep as LIMIT_TOML_DEPTH
static size_t check_value(const struct toml *t, const struct toml_value *v, struct str document, size_t depth)
{
	bool is_table = v->kind == TOML_TABLE, has_values = is_table || v->kind == TOML_ARRAY;
	size_t count = 0, all = 1;
	HOLDS(depth <= 2 * LIMIT_TOML_DEPTH + 2);
	HOLDS(v->line >= 1 && v->line <= document.len + 1);
	HOLDS(has_values || (fuzz_lies_within(toml_text(v), document) && str_is_utf8(toml_text(v))));
	HOLDS(v->kind != TOML_STRING || toml_text(v).ptr[v->len] == '\0');
	for (const struct toml_value *in = toml_first(v); in; in = toml_next(in), count++) {
		struct str key = {in->key, in->key_len};
		HOLDS(has_values && is_table == (in->key != NULL));
		HOLDS(!is_table || (str_is_utf8(key) && toml_get(t, v, key) == in));
		all += check_value(t, in, document, depth + 1);
	}
	HOLDS(!has_values || count == v->len);
	return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(mem_free) char *text = xcalloc(size + 1, 1);
	CLEANUP(toml_release) struct toml t = {0};
	struct err e = ERR_INIT;
	if (size)
		memcpy(text, bytes, size);
	if (toml_read(text, size, &t, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
		HOLDS(ascii_is_digit(e.msg[0]));
		return 0;
	}
	size_t values = check_value(&t, &t.root, (struct str){text, size + 1}, 0);
	HOLDS(values <= LIMIT_TOML_VALUES + size / LIMIT_TOML_VALUE + 1);
	HOLDS(t.values.total + t.index_room * sizeof(*t.index) <= 7 * size + (640 << 10));
	return 0;
}
