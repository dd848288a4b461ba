// SPDX-License-Identifier: Apache-2.0
#include "lib/format/jsonmap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/os/clock.h"

static const struct jsonmap_field text_value[] = {{.kind = JSONMAP_KIND_TEXT}};
static const struct jsonmap_field sha256_value[] = {{.kind = JSONMAP_KIND_SHA256}};
const struct jsonmap jsonmap_text = JSONMAP(const char *, text_value);
const struct jsonmap jsonmap_sha256 = JSONMAP(uint8_t[SHA256_SIZE], sha256_value);

// --- members of a struct, by their offsets ---

static const char *member_text(const char *row, size_t offset)
{
	const char *text;
	memcpy(&text, row + offset, sizeof(text));
	return text;
}

static size_t count_at(const char *row, const struct jsonmap_field *f)
{
	size_t count;
	memcpy(&count, row + f->count, sizeof(count));
	return count;
}

static int64_t integer_at(const char *row, const struct jsonmap_field *f)
{
	int32_t narrow; // none of ours has 32 bits and exceeds INT32_MAX
	int64_t wide;
	if (f->width == sizeof(narrow)) {
		memcpy(&narrow, row + f->offset, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, row + f->offset, sizeof(wide));
	return wide;
}

static void set_integer(char *row, const struct jsonmap_field *f, int64_t value)
{
	int32_t narrow = (int32_t)value;
	if (f->width == sizeof(narrow))
		memcpy(row + f->offset, &narrow, sizeof(narrow));
	else
		memcpy(row + f->offset, &value, sizeof(value));
}

static void set_bool(char *row, size_t offset, bool value)
{
	memcpy(row + offset, &value, sizeof(value));
}

static bool bool_at(const char *row, size_t offset)
{
	bool value;
	memcpy(&value, row + offset, sizeof(value));
	return value;
}

static bool is_absent(const char *row, const struct jsonmap_field *f)
{
	switch (f->kind) {
	case JSONMAP_KIND_TEXT:
		return !member_text(row, f->offset);
	case JSONMAP_KIND_INTEGER:
		return integer_at(row, f) == f->none;
	case JSONMAP_KIND_TIME:
		return integer_at(row, f) <= 0;
	case JSONMAP_KIND_BOOL:
		return !bool_at(row, f->offset);
	case JSONMAP_KIND_SHA256:
		return f->has && !bool_at(row, f->has);
	case JSONMAP_KIND_OBJECT:
		return !member_text(row + f->offset, f->map->present);
	case JSONMAP_KIND_LIST:
		return !count_at(row, f);
	case JSONMAP_KIND_REAL:
	case JSONMAP_KIND_NAME:
	case JSONMAP_KIND_TOTALS:
	case JSONMAP_KIND_OTHER:
		break;
	}
	return false;
}

// --- writing ---

static struct jsondoc *json_of_value(const char *row, const struct jsonmap_field *f);

static struct jsondoc *json_of_time(int64_t seconds)
{
	char text[CLOCK_TEXT];
	clock_write(seconds, text);
	return jsondoc_of_str(text);
}

static struct jsondoc *json_of_totals(const char *row, const struct jsonmap_field *f)
{
	struct jsondoc *totals = jsondoc_object();
	for (size_t i = 0; i < f->names; i++) {
		int64_t total;
		memcpy(&total, row + f->offset + i * sizeof(total), sizeof(total));
		jsondoc_put_int(totals, f->name[i], total);
	}
	return totals;
}

struct jsondoc *jsonmap_list(const struct jsonmap *map, const void *rows, size_t count)
{
	struct jsondoc *list = jsondoc_array();
	const char *row = rows;
	for (size_t i = 0; i < count; i++, row += map->size)
		jsondoc_add(list, map->field->key ? jsonmap_json(map, row) : json_of_value(row, map->field));
	return list;
}

static struct jsondoc *json_of_value(const char *row, const struct jsonmap_field *f)
{
	const char *text;
	switch (f->kind) {
	case JSONMAP_KIND_TEXT:
		text = member_text(row, f->offset);
		return jsondoc_of_str(text ? text : "");
	case JSONMAP_KIND_INTEGER:
		return jsondoc_of_int(integer_at(row, f));
	case JSONMAP_KIND_REAL: {
		double real;
		memcpy(&real, row + f->offset, sizeof(real));
		return jsondoc_of_real(real);
	}
	case JSONMAP_KIND_BOOL:
		return jsondoc_of_bool(bool_at(row, f->offset));
	case JSONMAP_KIND_TIME:
		return json_of_time(integer_at(row, f));
	case JSONMAP_KIND_SHA256:
		return jsondoc_of_sha256((const uint8_t *)row + f->offset);
	case JSONMAP_KIND_NAME:
		return jsondoc_of_str(f->name[integer_at(row, f)]);
	case JSONMAP_KIND_TOTALS:
		return json_of_totals(row, f);
	case JSONMAP_KIND_OBJECT:
		return jsonmap_json(f->map, row + f->offset);
	case JSONMAP_KIND_LIST:
		return jsonmap_list(f->map, member_text(row, f->offset), count_at(row, f));
	case JSONMAP_KIND_OTHER:
		break;
	}
	return jsondoc_of_str(NULL);
}

// Puts all fields into the object.
static void put_fields_of(const struct jsonmap *map, const void *row, struct jsondoc *object)
{
	for (size_t i = 0; i < map->fields; i++) {
		const struct jsonmap_field *f = &map->field[i];
		if (f->kind == JSONMAP_KIND_OTHER)
			f->put(row, f->key, object);
		else if (f->absent == JSONMAP_REQUIRED || f->absent == JSONMAP_OLDER || !is_absent(row, f))
			jsondoc_put(object, f->key, json_of_value(row, f));
		else if (f->absent == JSONMAP_NULL)
			jsondoc_put_str(object, f->key, NULL);
	}
}

struct jsondoc *jsonmap_json(const struct jsonmap *map, const void *row)
{
	struct jsondoc *object = jsondoc_object();
	put_fields_of(map, row, object);
	return object;
}

void jsonmap_write(const struct jsonmap *map, const void *row, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *object = jsonmap_json(map, row);
	jsondoc_write(object, 0, out);
}

// --- refusals ---

// Where a value is read into.
struct map_reader {
	const struct jsonmap *map;
	struct arena *text;
	char *row;
	struct err *e;
};

// words: "is …" or "has …", the same behind both forms of a key.
static int refuse_field(const struct map_reader *p, const char *key, enum err_kind kind, const char *words)
{
	static const char *const verbs[] = {"is ", "has "};
	if (p->map->wrong)
		return err_set(p->e, ERR_INVALID, "%s", p->map->wrong);
	if (p->map->words == JSONMAP_BARE)
		return err_set(p->e, ERR_INVALID, "%s is not valid", key);
	if (p->map->words == JSONMAP_QUOTED)
		return err_set(p->e, kind, "\"%s\" %s", key, words);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strncmp(words, verbs[i], strlen(verbs[i])) == 0)
			words += strlen(verbs[i]);
	return err_set(p->e, kind, "%s: %s", key, words);
}

static int refuse_kind(const struct map_reader *p, const struct jsonmap_field *f, const char *usual)
{
	return refuse_field(p, f->key, ERR_INVALID, f->wrong ? f->wrong : usual);
}

static int refuse_length(const struct map_reader *p, const struct jsonmap_field *f, enum err_kind kind,
	const char *of)
{
	char words[64];
	snprintf(words, sizeof(words), "has more than %zu %s", f->limit, of);
	return refuse_field(p, f->key, kind, words);
}

// --- reading ---

static int read_any_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value);

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static int read_text_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	const char *text = jsondoc_as_str(value);
	if (!text)
		return refuse_field(p, f->key, ERR_INVALID, f->is_valid || !f->wrong ? "is not a string" : f->wrong);
	struct str s = str_from(text);
	if (f->limit && s.len > f->limit)
		return refuse_length(p, f, ERR_INVALID, "bytes");
	char *copy = arena_alloc(p->text, s.len + 1);
	memcpy(copy, text, s.len + 1);
	for (char *c = copy; *c; c++)
		if (is_control(*c) && f->is_sentence)
			*c = ' ';
		else if (is_control(*c) && !p->map->is_lenient && !(f->is_valid && f->wrong))
			return refuse_field(p, f->key, ERR_INVALID, "has a control character");
	if (f->is_valid && !f->is_valid(s))
		return f->no ? err_set(p->e, ERR_INVALID, "\"%s\" is no %s", text, f->no)
			     : refuse_kind(p, f, "is not valid");
	memcpy(p->row + f->offset, &copy, sizeof(copy));
	return 0;
}

static int read_integer_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	char words[80];
	int64_t number = jsondoc_as_int(value), most = f->most ? f->most : INT64_MAX;
	snprintf(words, sizeof(words), "is not a number from %" PRId64 " to %" PRId64, f->least, most);
	if (jsondoc_kind(value) != JSONDOC_INTEGER || number < f->least || number > most)
		return refuse_kind(p, f, words);
	set_integer(p->row, f, number);
	return 0;
}

static int read_real_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	double real = jsondoc_as_real(value);
	if (jsondoc_kind(value) != JSONDOC_INTEGER && jsondoc_kind(value) != JSONDOC_REAL)
		return refuse_kind(p, f, "is not a number");
	memcpy(p->row + f->offset, &real, sizeof(real));
	return 0;
}

static int read_bool_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	if (f->wrong && jsondoc_kind(value) != JSONDOC_BOOL && jsondoc_kind(value) != JSONDOC_NONE)
		return refuse_kind(p, f, f->wrong);
	set_bool(p->row, f->offset, jsondoc_as_bool(value));
	return 0;
}

static int read_time_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	int64_t seconds;
	const char *text = jsondoc_as_str(value);
	if (!text || !clock_read(text, &seconds))
		return refuse_kind(p, f, "is not a time as 2026-01-02T03:04:05Z");
	set_integer(p->row, f, seconds);
	return 0;
}

static int read_sha256_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	const char *hex = jsondoc_as_str(value);
	if (!hex || !hex_decode(str_from(hex), (uint8_t *)p->row + f->offset, SHA256_SIZE))
		return refuse_kind(p, f, "is not 64 hexadecimal digits");
	if (f->has)
		set_bool(p->row, f->has, true);
	return 0;
}

static int read_name_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	const char *text = jsondoc_as_str(value);
	for (size_t i = 0; text && i < f->names; i++)
		if (f->name[i] && strcmp(text, f->name[i]) == 0) {
			set_integer(p->row, f, (int64_t)i);
			return 0;
		}
	return refuse_kind(p, f, "is not known");
}

// A total that may be absent is 0 then.
static int read_totals_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	if (jsondoc_kind(value) != JSONDOC_OBJECT)
		return refuse_kind(p, f, "is not an object");
	for (size_t i = 0; i < f->names; i++) {
		const struct jsondoc *one = jsondoc_value(value, f->name[i]);
		int64_t total = jsondoc_as_int(one);
		bool is_number = jsondoc_kind(one) == JSONDOC_INTEGER && total >= 0;
		if (!is_number && (f->absent == JSONMAP_REQUIRED || jsondoc_kind(one) != JSONDOC_NONE))
			return refuse_field(p, f->name[i], ERR_INVALID, "is not a number, or too large");
		memcpy(p->row + f->offset + i * sizeof(total), &total, sizeof(total));
	}
	return 0;
}

static int read_object_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	if (jsondoc_kind(value) != JSONDOC_OBJECT)
		return refuse_kind(p, f, "is not an object");
	if (jsonmap_read(f->map, value, p->row + f->offset, p->text, p->e) < 0)
		return err_prefix(p->e, "%s: ", f->key);
	return 0;
}

static int read_list_element(const struct map_reader *list, const struct jsonmap_field *f,
	const struct jsondoc *value, size_t i, char *row)
{
	char key[80];
	struct map_reader p = *list;
	struct jsonmap_field bare = *f->map->field;
	p.row = row;
	if (bare.key && jsonmap_read(f->map, value, row, p.text, p.e) < 0)
		return f->one ? err_prefix(p.e, "%s %zu: ", f->one, i + 1) : err_prefix(p.e, "%s[%zu]: ", f->key, i);
	if (bare.key)
		return 0;
	snprintf(key, sizeof(key), "%s[%zu]", f->key, i);
	bare.key = key;
	return read_any_value(&p, &bare, value);
}

static int read_list_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	if (jsondoc_kind(value) != JSONDOC_ARRAY)
		return refuse_kind(p, f, "is not an array");
	size_t count = jsondoc_count(value), size = f->map->size;
	if (f->limit && count > f->limit)
		return refuse_length(p, f, ERR_LIMIT, "entries");
	char *items = arena_alloc_aligned(p->text, (count + 1) * size);
	memset(items, 0, (count + 1) * size);
	for (size_t i = 0; i < count; i++)
		if (read_list_element(p, f, jsondoc_at(value, i), i, items + i * size) < 0)
			return -1;
	memcpy(p->row + f->offset, &items, sizeof(items));
	memcpy(p->row + f->count, &count, sizeof(count));
	return 0;
}

static int read_any_value(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *value)
{
	static int (*const reader[])(const struct map_reader *, const struct jsonmap_field *, const struct jsondoc *) = {
		[JSONMAP_KIND_TEXT] = read_text_value,
		[JSONMAP_KIND_INTEGER] = read_integer_value,
		[JSONMAP_KIND_REAL] = read_real_value,
		[JSONMAP_KIND_BOOL] = read_bool_value,
		[JSONMAP_KIND_TIME] = read_time_value,
		[JSONMAP_KIND_SHA256] = read_sha256_value,
		[JSONMAP_KIND_NAME] = read_name_value,
		[JSONMAP_KIND_TOTALS] = read_totals_value,
		[JSONMAP_KIND_OBJECT] = read_object_value,
		[JSONMAP_KIND_LIST] = read_list_value,
	};
	return reader[f->kind](p, f, value);
}

// The value of what is not there. An object's members too, because its `none` values may be others than 0.
static void set_absent(const struct jsonmap *map, const struct jsonmap_field *f, char *row)
{
	static const char *const empty = "";
	if (f->kind == JSONMAP_KIND_INTEGER)
		set_integer(row, f, f->none);
	else if (f->kind == JSONMAP_KIND_OBJECT)
		for (size_t i = 0; i < f->map->fields; i++)
			set_absent(f->map, &f->map->field[i], row + f->offset);
	else if (f->kind != JSONMAP_KIND_OTHER)
		memset(row + f->offset, 0, f->width);
	if (f->kind == JSONMAP_KIND_TEXT && map->is_lenient && f->absent == JSONMAP_REQUIRED)
		memcpy(row + f->offset, &empty, sizeof(empty));
	if (f->count)
		memset(row + f->count, 0, sizeof(size_t));
	if (f->has)
		set_bool(row, f->has, false);
}

static int read_field(const struct map_reader *p, const struct jsonmap_field *f, const struct jsondoc *object)
{
	if (f->kind == JSONMAP_KIND_OTHER)
		return f->get(object, f->key, p->row, p->text, p->e);
	const struct jsondoc *value = jsondoc_value(object, f->key);
	set_absent(p->map, f, p->row);
	enum jsonmap_absent least = f->kind == JSONMAP_KIND_TOTALS ? JSONMAP_NULL : JSONMAP_OMITTED;
	if (jsondoc_kind(value) == JSONDOC_NONE && f->absent >= least)
		return 0;
	if (read_any_value(p, f, value) == 0)
		return 0;
	if (!p->map->is_lenient)
		return -1;
	set_absent(p->map, f, p->row);
	return 0;
}

int jsonmap_read(const struct jsonmap *map, const struct jsondoc *object, void *row, struct arena *text, struct err *e)
{
	struct err ignored = ERR_INIT;
	const struct map_reader p = {map, text, row, map->is_lenient ? &ignored : e};
	for (size_t i = 0; i < map->fields; i++)
		if (read_field(&p, &map->field[i], object) < 0)
			return -1;
	return map->check ? map->check(row, text, e) : 0;
}
