// SPDX-License-Identifier: Apache-2.0
// JSON of any kind: the streaming parser accepts and rejects the same texts as jansson and passes on the same values.
// It may accept texts that exceed limits of jansson.
#include "lib/format/json-sax.h"

#include <string.h>

#include <jansson.h>

#include "lib/base/buf.h"
#include "tests/fuzz/fuzz.h"

static void put_line(struct buf *out, size_t depth, struct str key, const char *kind, struct str text)
{
	buf_printf(out, "%zu %zu:", depth, key.len);
	buf_str(out, key);
	buf_printf(out, " %s %zu:", kind, text.len);
	buf_str(out, text);
	buf_putc(out, '\n');
}

// Prints a number as jansson stores it.
static void put_number(struct buf *out, size_t depth, struct str key, struct str digits)
{
	CLEANUP(mem_free) char *text = xstrndup(digits.ptr, digits.len);
	CLEANUP(mem_free)
	char *value =
		strpbrk(text, ".eE") ? xasprintf("%a", strtod(text, NULL)) : xasprintf("%lld", strtoll(text, NULL, 10));
	put_line(out, depth, key, "number", str_from(value));
}

static void on_value(void *ctx, const struct json_sax_value *v)
{
	static const char *const names[] = {[JSON_SAX_STRING] = "string",
		[JSON_SAX_TRUE] = "true",
		[JSON_SAX_FALSE] = "false",
		[JSON_SAX_NULL] = "null",
		[JSON_SAX_OBJECT] = "{",
		[JSON_SAX_ARRAY] = "[",
		[JSON_SAX_OBJECT_END] = "}",
		[JSON_SAX_ARRAY_END] = "]"};
	struct str key = v->depth ? v->key[v->depth - 1] : (struct str){0};
	HOLDS(v->depth <= JSON_SAX_DEPTH);
	HOLDS(str_is_utf8(v->text) && str_is_utf8(key));
	if (v->kind == JSON_SAX_NUMBER)
		put_number(ctx, v->depth, key, v->text);
	else
		put_line(ctx, v->depth, key, names[v->kind], v->text);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as JSON_SAX_DEPTH
static void put_tree(struct buf *out, size_t depth, struct str key, json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;
	if (depth > JSON_SAX_DEPTH)
		return;
	if (json_is_object(value)) {
		put_line(out, depth, key, "{", (struct str){0});
		json_object_foreach(value, name, member) put_tree(out, depth + 1, str_from(name), member);
		put_line(out, depth, key, "}", (struct str){0});
	} else if (json_is_array(value)) {
		put_line(out, depth, key, "[", (struct str){0});
		json_array_foreach(value, i, member) put_tree(out, depth + 1, (struct str){0}, member);
		put_line(out, depth, key, "]", (struct str){0});
	} else if (json_is_string(value)) {
		put_line(out, depth, key, "string", (struct str){json_string_value(value), json_string_length(value)});
	} else if (json_is_number(value)) {
		CLEANUP(mem_free)
		char *text = json_is_integer(value) ? xasprintf("%lld", json_integer_value(value))
						    : xasprintf("%a", json_real_value(value));
		put_line(out, depth, key, "number", str_from(text));
	} else {
		put_line(out, depth, key,
			json_is_null(value)   ? "null"
			: json_is_true(value) ? "true"
					      : "false",
			(struct str){0});
	}
}

// Whether the error is a limit of jansson: numbers of 64 bits, no half of a surrogate pair, no NUL in a key, a depth;
// or a duplicate key, of which a tree has only the last.
static bool is_of_jansson_alone(const json_error_t *why)
{
	enum json_error_code code = json_error_code(why);
	return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
	       code == json_error_stack_overflow || code == json_error_duplicate_key ||
	       strncmp(why->text, "invalid Unicode", 15) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	enum { ALL = 64 << 20 };
	struct err e = ERR_INIT;
	json_error_t why;
	bool is_cut;
	struct str text = fuzz_text(bytes, size);
	CLEANUP(arena_release) struct arena room = {0};
	CLEANUP(buf_release) struct buf ours, theirs;
	buf_init(&ours, ALL);
	buf_init(&theirs, ALL);
	bool is_good = json_sax_read(text, &room, on_value, &ours, &is_cut, &e) == 0;
	HOLDS(!is_good || !is_cut);
	if (memchr(text.ptr, '\0', text.len)) { // not JSON, but jansson 2.14 accepts a NUL after a number
		HOLDS(!is_good);
		return 0;
	}
	json_t *tree = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &why);
	if (tree) {
		put_tree(&theirs, 0, (struct str){0}, tree);
		HOLDS(is_good && str_eq(buf_view(&ours), buf_view(&theirs)));
	} else {
		HOLDS(!is_good || is_of_jansson_alone(&why));
	}
	json_decref(tree);
	return 0;
}
