// SPDX-License-Identifier: Apache-2.0
#include "lib/format/jsondoc.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format/json-sax.h"
#include "lib/os/clock.h"

struct jsondoc {
	json_t value; // never allocated as such: a jsondoc is jansson's json_t under our name
};

static struct jsondoc *check_allocated(json_t *value)
{
	if (!value)
		abort(); // out of memory
	return (struct jsondoc *)value;
}

static json_t *new_string(const char *text)
{
	if (!text)
		return json_null();
	json_t *value = json_string(text);
	if (value)
		return value;
	CLEANUP(mem_free) char *repaired = xstrdup(text);
	for (char *at = repaired; *at; at++)
		if (*at & 0x80)
			*at = '?';
	return json_string(repaired);
}

static void put_value(struct jsondoc *object, const char *key, json_t *value)
{
	if (json_object_set_new(&object->value, key, value) < 0)
		abort();
}

struct jsondoc *jsondoc_object(void)
{
	return check_allocated(json_object());
}

struct jsondoc *jsondoc_array(void)
{
	return check_allocated(json_array());
}

static json_t *load_json(struct str text, size_t flags, json_error_t *why, struct err *e)
{
	json_t *value = json_loadb(text.ptr ? text.ptr : "", text.len, flags, why);
	if (!value)
		err_set(e, ERR_INVALID, "not JSON: line %d: %s", why->line, why->text);
	return value;
}

struct jsondoc *jsondoc_read(struct str text, struct err *e)
{
	json_error_t why;
	return (struct jsondoc *)load_json(text, 0, &why, e);
}

struct tree_size {
	size_t values;
	bool is_too_deep; // its values are not counted
};

static void add_to_size(void *ctx, const struct json_sax_value *v)
{
	struct tree_size *s = ctx;
	s->values += v->kind != JSON_SAX_OBJECT_END && v->kind != JSON_SAX_ARRAY_END;
	s->is_too_deep |= (v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY) && v->depth == JSON_SAX_DEPTH;
}

struct jsondoc *jsondoc_read_bounded(struct str text, size_t values, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct tree_size size = {0};
	bool is_cut;
	if (json_sax_read(text, &room, add_to_size, &size, &is_cut, e) < 0)
		return NULL;
	if (!size.is_too_deep && size.values <= values)
		return jsondoc_read(text, e);
	if (size.is_too_deep)
		err_set(e, ERR_INVALID, "it is nested too deeply");
	else
		err_set(e, ERR_LIMIT, "more than %zu JSON values", values);
	return NULL;
}

struct jsondoc *jsondoc_next(struct str *rest, struct err *e)
{
	json_error_t why;
	json_t *value = load_json(*rest, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &why, e);
	if (value)
		*rest = str_slice(*rest, (size_t)why.position, rest->len);
	return (struct jsondoc *)value;
}

const char *jsondoc_get_str(const struct jsondoc *object, const char *key)
{
	return json_string_value(json_object_get(&object->value, key));
}

const struct jsondoc *jsondoc_get(const struct jsondoc *object, const char *key)
{
	const json_t *value = json_object_get(&object->value, key);
	return json_is_object(value) || json_is_array(value) ? (const struct jsondoc *)value : NULL;
}

bool jsondoc_is_null(const struct jsondoc *object, const char *key)
{
	const json_t *value = json_object_get(&object->value, key);
	return !value || json_is_null(value);
}

bool jsondoc_is_true(const struct jsondoc *object, const char *key)
{
	return json_is_true(json_object_get(&object->value, key));
}

bool jsondoc_get_int(const struct jsondoc *object, const char *key, int64_t *out)
{
	const json_t *value = json_object_get(&object->value, key);
	if (json_is_integer(value))
		*out = json_integer_value(value);
	return json_is_integer(value);
}

size_t jsondoc_count(const struct jsondoc *array)
{
	return json_array_size(&array->value);
}

const struct jsondoc *jsondoc_at(const struct jsondoc *array, size_t i)
{
	return (const struct jsondoc *)json_array_get(&array->value, i);
}

const char *jsondoc_at_str(const struct jsondoc *array, size_t i)
{
	return json_string_value(json_array_get(&array->value, i));
}

const struct jsondoc *jsondoc_value(const struct jsondoc *object, const char *key)
{
	return (const struct jsondoc *)json_object_get(&object->value, key);
}

enum jsondoc_kind jsondoc_kind(const struct jsondoc *value)
{
	static const enum jsondoc_kind kind[] = {
		[JSON_OBJECT] = JSONDOC_OBJECT,
		[JSON_ARRAY] = JSONDOC_ARRAY,
		[JSON_STRING] = JSONDOC_STRING,
		[JSON_INTEGER] = JSONDOC_INTEGER,
		[JSON_REAL] = JSONDOC_REAL,
		[JSON_TRUE] = JSONDOC_BOOL,
		[JSON_FALSE] = JSONDOC_BOOL,
		[JSON_NULL] = JSONDOC_NONE,
	};
	return value ? kind[json_typeof(&value->value)] : JSONDOC_NONE;
}

const char *jsondoc_as_str(const struct jsondoc *value)
{
	return value ? json_string_value(&value->value) : NULL;
}

int64_t jsondoc_as_int(const struct jsondoc *value)
{
	return value ? json_integer_value(&value->value) : 0;
}

double jsondoc_as_real(const struct jsondoc *value)
{
	return value ? json_number_value(&value->value) : 0;
}

bool jsondoc_as_bool(const struct jsondoc *value)
{
	return value && json_is_true(&value->value);
}

struct jsondoc *jsondoc_of_str(const char *value)
{
	return check_allocated(new_string(value));
}

struct jsondoc *jsondoc_of_sha256(const uint8_t sha256[SHA256_SIZE])
{
	char hex[SHA256_HEX];
	hex_encode(sha256, SHA256_SIZE, hex);
	return check_allocated(json_stringn(hex, SHA256_HEX));
}

struct jsondoc *jsondoc_of_int(int64_t value)
{
	return check_allocated(json_integer(value));
}

struct jsondoc *jsondoc_of_real(double value)
{
	return check_allocated(json_real(value));
}

struct jsondoc *jsondoc_of_bool(bool value)
{
	return check_allocated(json_boolean(value));
}

struct jsondoc *jsondoc_copy(const struct jsondoc *doc)
{
	return check_allocated(json_deep_copy(&doc->value));
}

void jsondoc_cleanup(struct jsondoc **doc)
{
	if (*doc)
		json_decref(&(*doc)->value);
	*doc = NULL;
}

void jsondoc_put_str(struct jsondoc *object, const char *key, const char *value)
{
	put_value(object, key, new_string(value));
}

void jsondoc_put_int(struct jsondoc *object, const char *key, int64_t value)
{
	put_value(object, key, json_integer(value));
}

void jsondoc_put_time(struct jsondoc *object, const char *key, int64_t seconds)
{
	char text[CLOCK_TEXT];
	clock_write(seconds, text);
	jsondoc_put_str(object, key, seconds > 0 ? text : NULL);
}

void jsondoc_put_known_str(struct jsondoc *object, const char *key, const char *value)
{
	if (value && *value)
		jsondoc_put_str(object, key, value);
}

void jsondoc_put_known_time(struct jsondoc *object, const char *key, int64_t seconds)
{
	if (seconds > 0)
		jsondoc_put_time(object, key, seconds);
}

void jsondoc_put_sha256(struct jsondoc *object, const char *key, const uint8_t sha256[SHA256_SIZE])
{
	jsondoc_put(object, key, jsondoc_of_sha256(sha256));
}

void jsondoc_put_real(struct jsondoc *object, const char *key, double value)
{
	put_value(object, key, json_real(value));
}

void jsondoc_put_bool(struct jsondoc *object, const char *key, bool value)
{
	put_value(object, key, json_boolean(value));
}

void jsondoc_put(struct jsondoc *object, const char *key, struct jsondoc *value)
{
	put_value(object, key, &value->value);
}

void jsondoc_add(struct jsondoc *array, struct jsondoc *value)
{
	if (json_array_append_new(&array->value, &value->value) < 0)
		abort();
}

static void put_letter(struct jsondoc *object, const char *key, char letter, const struct form_value *v)
{
	bool is_known = v->text && *v->text;
	char day[CLOCK_TEXT];
	if (letter == 's' || (letter == 'e' && is_known) || (letter == 'k' && is_known))
		jsondoc_put_str(object, key, v->text);
	else if (letter == 'e')
		jsondoc_put_str(object, key, NULL);
	else if (letter == 'd')
		jsondoc_put_int(object, key, v->number);
	else if (letter == 'r')
		jsondoc_put_real(object, key, v->real);
	else if (letter == 'b')
		jsondoc_put_bool(object, key, v->number != 0);
	else if (letter == 't' || (letter == 'T' && v->number > 0))
		jsondoc_put_time(object, key, v->number);
	else if (letter == 'D') {
		clock_write(v->number, day);
		day[strcspn(day, "T")] = '\0';
		jsondoc_put_str(object, key, day);
	} else if (letter == 'x')
		jsondoc_put_sha256(object, key, v->bytes);
	else if (letter == 'j')
		put_value(object, key, (json_t *)(uintptr_t)v->bytes);
	else
		assert(letter == 'k' || letter == 'T');
}

struct jsondoc *jsondoc_set_values(struct jsondoc *object, const struct form_value *value)
{
	enum { KEY = 64 };
	struct str rest = str_from(value->text);
	while (rest.len) {
		char key[KEY];
		struct str word = str_cut(&rest, ' ');
		assert(word.len > 2 && word.len < KEY && word.ptr[word.len - 2] == ':');
		memcpy(key, word.ptr, word.len - 2);
		key[word.len - 2] = '\0';
		put_letter(object, key, word.ptr[word.len - 1], ++value);
	}
	return object;
}

static int add_bytes(const char *bytes, size_t len, void *out)
{
	buf_add(out, bytes, len);
	return 0;
}

void jsondoc_add_str(struct jsondoc *array, const char *value)
{
	if (json_array_append_new(&array->value, new_string(value)) < 0)
		abort();
}

void jsondoc_write(const struct jsondoc *doc, unsigned indent, struct buf *out)
{
	json_dump_callback(&doc->value, add_bytes, out, JSON_INDENT(indent) | JSON_REAL_PRECISION(6));
	buf_putc(out, '\n');
}

void jsondoc_write_compact(const struct jsondoc *doc, struct buf *out)
{
	json_dump_callback(&doc->value, add_bytes, out, JSON_COMPACT);
}
