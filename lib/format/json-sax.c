// SPDX-License-Identifier: Apache-2.0
#include "lib/format/json-sax.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

struct walk {
	struct str all;
	json_sax_fn *fn;
	void *ctx;
	size_t depth;
	struct str key[JSON_SAX_DEPTH];
	struct arena *room;
	yajl_handle parser;
	size_t end; // of the outermost object or array; 0: it has not ended, or there is none
};

// yajl gives a string with escapes up at the next one.
static struct str lasting(struct walk *w, const unsigned char *bytes, size_t len)
{
	struct str s = {(const char *)bytes, len};
	if (s.ptr < w->all.ptr || s.ptr > w->all.ptr + w->all.len)
		s.ptr = arena_copy(w->room, s);
	return s;
}

static int tell(struct walk *w, enum json_sax_kind kind, struct str text)
{
	const struct json_sax_value value = {.kind = kind, .depth = w->depth, .key = w->key, .text = text};
	if (w->depth <= JSON_SAX_DEPTH)
		w->fn(w->ctx, &value);
	return 1;
}

static int enter(struct walk *w, enum json_sax_kind kind)
{
	tell(w, kind, (struct str){0});
	if (w->depth < JSON_SAX_DEPTH)
		w->key[w->depth] = (struct str){0};
	w->depth++;
	return 1;
}

static int leave(struct walk *w, enum json_sax_kind kind)
{
	w->depth--;
	if (w->depth == 0)
		w->end = yajl_get_bytes_consumed(w->parser);
	return tell(w, kind, (struct str){0});
}

static int on_null(void *ctx)
{
	return tell(ctx, JSON_SAX_NULL, (struct str){0});
}

static int on_bool(void *ctx, int value)
{
	return tell(ctx, value ? JSON_SAX_TRUE : JSON_SAX_FALSE, (struct str){0});
}

static int on_number(void *ctx, const char *digits, size_t len)
{
	return tell(ctx, JSON_SAX_NUMBER, lasting(ctx, (const unsigned char *)digits, len));
}

static int on_string(void *ctx, const unsigned char *bytes, size_t len)
{
	return tell(ctx, JSON_SAX_STRING, lasting(ctx, bytes, len));
}

static int on_key(void *ctx, const unsigned char *bytes, size_t len)
{
	struct walk *w = ctx;
	if (w->depth <= JSON_SAX_DEPTH)
		w->key[w->depth - 1] = lasting(w, bytes, len);
	return 1;
}

static int on_object(void *ctx)
{
	return enter(ctx, JSON_SAX_OBJECT);
}

static int on_object_end(void *ctx)
{
	return leave(ctx, JSON_SAX_OBJECT_END);
}

static int on_array(void *ctx)
{
	return enter(ctx, JSON_SAX_ARRAY);
}

static int on_array_end(void *ctx)
{
	return leave(ctx, JSON_SAX_ARRAY_END);
}

static const yajl_callbacks told = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_object_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

// --- yajl's memory is ours, which ends the program where there is none ---

static void *take(void *ctx UNUSED, size_t size)
{
	return xmalloc(size);
}

static void *take_more(void *ctx UNUSED, void *memory, size_t size)
{
	return xreallocarray(memory, 1, size);
}

static void give(void *ctx UNUSED, void *memory)
{
	free(memory);
}

static int fail(yajl_handle parser, struct err *e)
{
	unsigned char *why = yajl_get_error(parser, 0, NULL, 0);
	err_set(e, ERR_INVALID, "not JSON: at byte %zu: " STR_FMT, yajl_get_bytes_consumed(parser),
		STR_ARG(str_trim(str_from((const char *)why))));
	yajl_free_error(parser, why);
	return -1;
}

// yajl takes the beginning of a token behind the document, such as a quote, for nothing.
static int check_end(const struct walk *w, struct err *e)
{
	for (size_t i = w->end; w->end && i < w->all.len; i++)
		if (!strchr(" \t\r\n", w->all.ptr[i]) || !w->all.ptr[i])
			return err_set(e, ERR_INVALID, "not JSON: at byte %zu: there is more behind the document", i);
	return 0;
}

int jsonwalk(struct str text, struct arena *room, json_sax_fn *fn, void *ctx, bool *is_cut, struct err *e)
{
	struct walk w = {.all = {text.ptr ? text.ptr : "", text.len}, .fn = fn, .ctx = ctx, .room = room};
	yajl_alloc_funcs memory = {.malloc = take, .realloc = take_more, .free = give};
	yajl_handle parser = yajl_alloc(&told, &memory, &w);
	w.parser = parser;
	bool is_good = yajl_parse(parser, (const unsigned char *)w.all.ptr, w.all.len) == yajl_status_ok;
	*is_cut = is_good && yajl_complete_parse(parser) != yajl_status_ok;
	int result = is_good && !*is_cut ? check_end(&w, e) : fail(parser, e);
	yajl_free(parser);
	return result;
}
