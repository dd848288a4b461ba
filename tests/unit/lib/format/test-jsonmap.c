// SPDX-License-Identifier: Apache-2.0
#include "lib/format/jsonmap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum state { STATE_NEW, STATE_OLD, STATE_COUNT };
static const char *const state_name[STATE_COUNT] = {"new", "old"};

struct part {
	const char *name;
	int64_t size;
};

struct sample {
	const char *title, *note, *link;
	unsigned number;
	int64_t size, signed_number;
	double seconds;
	bool is_on;
	int64_t made, ended;
	bool has_hash;
	uint8_t id[SHA256_SIZE], hash[SHA256_SIZE];
	enum state state;
	uint64_t total[STATE_COUNT];
	struct part main_part;
	const struct part *part;
	size_t parts;
	const char *const *word;
	size_t words;
	const uint8_t (*sum)[SHA256_SIZE];
	size_t sums;
	size_t bytes; // of note
};

static bool is_lower(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] < 'a' || text.ptr[i] > 'z')
			return false;
	return text.len;
}

static void put_bytes(const void *row, const char *key, struct jsondoc *object)
{
	const struct sample *s = row;
	jsondoc_put_int(object, key, (int64_t)s->bytes);
}

static int get_bytes(const struct jsondoc *object, const char *key UNUSED, void *row, struct arena *text UNUSED,
	struct err *e UNUSED)
{
	struct sample *s = row;
	s->bytes = strlen(jsondoc_get_str(object, "note"));
	return 0;
}

static const struct jsonmap_field part_fields[] = {
	JSONMAP_TEXT("name", struct part, name, .is_valid = is_lower, .no = "part"),
	JSONMAP_INTEGER("size", struct part, size, .none = -1, .absent = JSONMAP_NULL),
};
static const struct jsonmap part_map =
	JSONMAP(struct part, part_fields, .present = offsetof(struct part, name));
static const struct jsonmap_field inner_fields[] = {
	JSONMAP_INTEGER("signed", struct sample, signed_number, .least = INT64_MIN),
	JSONMAP_REAL("seconds", struct sample, seconds),
};
static const struct jsonmap inner_map = JSONMAP(struct sample, inner_fields);

static int check_sample(void *row, struct arena *text UNUSED, struct err *e)
{
	const struct sample *s = row;
	return s->number < 10 ? 0 : err_set(e, ERR_INVALID, "ten");
}

#define SAMPLE struct sample
static const struct jsonmap_field sample_fields[] = {
	JSONMAP_TEXT("title", SAMPLE, title, .limit = 5),
	JSONMAP_TEXT("note", SAMPLE, note, .is_sentence = true),
	JSONMAP_TEXT("link", SAMPLE, link, .absent = JSONMAP_NULL, .is_valid = is_lower, .wrong = "is not a link"),
	JSONMAP_INTEGER("number", SAMPLE, number, .least = 1, .most = 10),
	JSONMAP_INTEGER("size", SAMPLE, size, .absent = JSONMAP_OMITTED),
	JSONMAP_INNER("inner", &inner_map),
	JSONMAP_BOOL("on", SAMPLE, is_on),
	JSONMAP_TIME("made", SAMPLE, made),
	JSONMAP_TIME("ended", SAMPLE, ended, .absent = JSONMAP_OMITTED),
	JSONMAP_SHA256("id", SAMPLE, id),
	JSONMAP_SHA256("hash", SAMPLE, hash, .has = offsetof(SAMPLE, has_hash), .absent = JSONMAP_OMITTED),
	JSONMAP_NAME("state", SAMPLE, state, state_name),
	JSONMAP_TOTALS("totals", SAMPLE, total, state_name),
	JSONMAP_OBJECT("main", SAMPLE, main_part, &part_map, .absent = JSONMAP_NULL),
	JSONMAP_LIST("parts", SAMPLE, part, parts, &part_map, .limit = 2, .one = "part"),
	JSONMAP_LIST("words", SAMPLE, word, words, &jsonmap_text, .absent = JSONMAP_OMITTED),
	JSONMAP_LIST("sums", SAMPLE, sum, sums, &jsonmap_sha256),
	JSONMAP_OTHER("bytes", put_bytes, get_bytes),
};
static const struct jsonmap sample_map = JSONMAP(SAMPLE, sample_fields, .check = check_sample);
static const struct jsonmap colon_map = JSONMAP(SAMPLE, sample_fields, .words = JSONMAP_COLON);
static const struct jsonmap bare_map = JSONMAP(SAMPLE, sample_fields, .words = JSONMAP_BARE);
static const struct jsonmap one_map = JSONMAP(SAMPLE, sample_fields, .wrong = "it is no sample");
static const struct jsonmap lenient_map = JSONMAP(SAMPLE, sample_fields, .is_lenient = true);

#define ONES "0101010101010101010101010101010101010101010101010101010101010101"
#define TWOS "0202020202020202020202020202020202020202020202020202020202020202"
static const char least[] =
	"{\"title\": \"t\", \"note\": \"n\", \"link\": null, \"number\": 3, "
	"\"inner\": {\"signed\": -4, \"seconds\": 1.5}, \"on\": true, \"made\": \"2026-11-22T20:00:00Z\", "
	"\"id\": \"" ONES "\", \"state\": \"old\", \"totals\": {\"new\": 1, \"old\": 2}, \"main\": null, "
	"\"parts\": [], \"sums\": [], \"bytes\": 1}\n";
static const char most[] =
	"{\"title\": \"t\", \"note\": \"n\", \"link\": \"l\", \"number\": 3, \"size\": 5000000000, "
	"\"inner\": {\"signed\": -4, \"seconds\": 1.5}, \"on\": false, \"made\": \"2026-11-22T20:00:00Z\", "
	"\"ended\": \"2026-11-22T20:00:01Z\", \"id\": \"" ONES "\", \"hash\": \"" TWOS "\", \"state\": \"new\", "
	"\"totals\": {\"new\": 1, \"old\": 2}, \"main\": {\"name\": \"m\", \"size\": null}, "
	"\"parts\": [{\"name\": \"a\", \"size\": 1}, {\"name\": \"b\", \"size\": 0}], \"words\": [\"x\", \"\"], "
	"\"sums\": [\"" TWOS "\"], \"bytes\": 1}\n";

static int read_sample(const struct jsonmap *map, const char *json, struct arena *text, struct sample *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(str_from(json), e);
	assert_non_null(doc);
	return jsonmap_read(map, doc, out, text, e);
}

static void what_is_read_is_written(void **state UNUSED)
{
	const char *const all[] = {least, most};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct err e = ERR_INIT;
		struct sample s;
		CLEANUP(arena_release) struct arena text = {0};
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, 1 << 12);
		if (read_sample(&sample_map, all[i], &text, &s, &e) < 0)
			fail_msg("%s", e.msg);
		jsonmap_write(&sample_map, &s, &out);
		assert_string_equal(out.data, all[i]);
	}
}

static void absent_values_are_none(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct sample s;
	memset(&s, 0x5a, sizeof(s));
	CLEANUP(arena_release) struct arena text = {0};
	assert_int_equal(read_sample(&sample_map, least, &text, &s, &e), 0);
	assert_null(s.link);
	assert_int_equal(s.size, 0);
	assert_int_equal(s.ended, 0);
	assert_false(s.has_hash);
	assert_null(s.main_part.name);
	assert_int_equal(s.main_part.size, -1);
	assert_int_equal(s.words, 0);
	assert_int_equal(s.state, STATE_OLD);
}

static char *replace_part(const char *from, const char *to)
{
	const char *at = strstr(most, from);
	assert_non_null(at);
	return xasprintf("%.*s%s%s", (int)(at - most), most, to, at + strlen(from));
}

static const struct {
	const char *from, *to, *quoted, *colon;
} wrong[] = {
	{"\"title\": \"t\"", "\"title\": 1", "\"title\" is not a string", "title: not a string"},
	{"\"title\": \"t\"", "\"title\": \"123456\"", "\"title\" has more than 5 bytes", "title: more than 5 bytes"},
	{"\"title\": \"t\"", "\"title\": \"a\\n\"", "\"title\" has a control character", "title: a control character"},
	{"\"link\": \"l\"", "\"link\": \"L\"", "\"link\" is not a link", "link: not a link"},
	{"\"number\": 3", "\"number\": 11", "\"number\" is not a number from 1 to 10", "number: not a number from 1 to 10"},
	{"\"number\": 3", "\"number\": 3.0", "\"number\" is not a number from 1 to 10", "number: not a number from 1 to 10"},
	{"\"number\": 3", "\"number\": null", "\"number\" is not a number from 1 to 10", "number: not a number from 1 to 10"},
	{"\"seconds\": 1.5", "\"seconds\": \"1\"", "inner: \"seconds\" is not a number", "inner: \"seconds\" is not a number"},
	{"2026-11-22T20:00:00Z", "now", "\"made\" is not a time as 2026-01-02T03:04:05Z",
		"made: not a time as 2026-01-02T03:04:05Z"},
	{"\"" ONES "\"", "\"01\"", "\"id\" is not 64 hexadecimal digits", "id: not 64 hexadecimal digits"},
	{"\"state\": \"new\"", "\"state\": \"newer\"", "\"state\" is not known", "state: not known"},
	{"\"old\": 2", "\"old\": -2", "\"old\" is not a number, or too large", "old: not a number, or too large"},
	{"\"totals\"", "\"total\"", "\"totals\" is not an object", "totals: not an object"},
	{"\"name\": \"m\"", "\"name\": \"M\"", "main: \"M\" is no part", "main: \"M\" is no part"},
	{"\"main\": {", "\"main\": 1, \"other\": {", "\"main\" is not an object", "main: not an object"},
	{"\"parts\": [", "\"parts\": {}, \"other\": [", "\"parts\" is not an array", "parts: not an array"},
	{"\"parts\": [", "\"parts\": [1, 2, ", "\"parts\" has more than 2 entries", "parts: more than 2 entries"},
	{"\"name\": \"b\"", "\"name\": 1", "part 2: \"name\" is not a string", "part 2: \"name\" is not a string"},
	{"[\"x\"", "[1", "\"words[0]\" is not a string", "words[0]: not a string"},
	{"[\"" TWOS "\"]", "[\"" TWOS "\", 1]", "\"sums[1]\" is not 64 hexadecimal digits", "sums[1]: not 64 hexadecimal digits"},
};

static void wrong_values_are_named(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const struct {
			const struct jsonmap *map;
			const char *says;
		} row[] = {{&sample_map, wrong[i].quoted}, {&colon_map, wrong[i].colon}};
		CLEANUP(mem_free) char *json = replace_part(wrong[i].from, wrong[i].to);
		for (size_t k = 0; k < ARRAY_SIZE(row); k++) {
			struct err e = ERR_INIT;
			struct sample s;
			CLEANUP(arena_release) struct arena text = {0};
			assert_int_equal(read_sample(row[k].map, json, &text, &s, &e), -1);
			assert_int_equal(e.kind, strstr(e.msg, "entries") ? ERR_LIMIT : ERR_INVALID);
			assert_string_equal(e.msg, row[k].says);
		}
	}
}

static void a_map_has_words_of_its_own(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct sample s;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(mem_free) char *ten = replace_part("\"number\": 3", "\"number\": 10");
	assert_int_equal(read_sample(&bare_map, "{}", &text, &s, &e), -1);
	assert_string_equal(e.msg, "title is not valid");
	assert_int_equal(read_sample(&one_map, "{}", &text, &s, &e), -1);
	assert_string_equal(e.msg, "it is no sample");
	assert_int_equal(read_sample(&sample_map, ten, &text, &s, &e), -1);
	assert_string_equal(e.msg, "ten");
}

static void control_characters_of_a_sentence_become_blanks(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct sample s;
	CLEANUP(arena_release) struct arena text = {0};
	CLEANUP(mem_free) char *json = replace_part("\"note\": \"n\"", "\"note\": \"n\\u001b\\nm\"");
	assert_int_equal(read_sample(&sample_map, json, &text, &s, &e), 0);
	assert_string_equal(s.note, "n  m");
}

static void a_form_has_a_letter_for_each_value(void **state UNUSED)
{
	static const uint8_t hash[SHA256_SIZE] = {0xab};
	const char *none = NULL;
	CLEANUP(buf_release) struct buf out = buf_up_to(1 << 10);
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_new("s:s n:s e:e k:k K:k d:d r:r b:b t:t", "a", none, "", "", "k", (size_t)7, 0.5, 2, 0);
	jsondoc_set(doc, "T:T D:D at:T j:j", -1, 1767323045, 1767323045, jsondoc_new("x:x", hash));
	jsondoc_write_compact(doc, &out);
	assert_string_equal(out.data, "{\"s\":\"a\",\"n\":null,\"e\":null,\"K\":\"k\",\"d\":7,\"r\":0.5,\"b\":true,\"t\":null,"
				      "\"D\":\"2026-01-02\",\"at\":\"2026-01-02T03:04:05Z\",\"j\":{\"x\":\"ab0000000000000000000"
				      "0000000000000000000000000000000000000000000\"}}");
}

static void a_lenient_map_refuses_nothing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct sample s;
	CLEANUP(arena_release) struct arena text = {0};
	assert_int_equal(read_sample(&lenient_map, "{\"note\": \"n\\n\", \"number\": 77, \"link\": 1, \"main\": 2, \"id\": []}",
				 &text, &s, &e), 0);
	assert_string_equal(s.title, "");
	assert_string_equal(s.note, "n ");
	assert_null(s.link);
	assert_int_equal(s.number, 0);
	assert_null(s.main_part.name);
	assert_int_equal(s.parts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_written),
		cmocka_unit_test(absent_values_are_none),
		cmocka_unit_test(wrong_values_are_named),
		cmocka_unit_test(a_map_has_words_of_its_own),
		cmocka_unit_test(control_characters_of_a_sentence_become_blanks),
		cmocka_unit_test(a_form_has_a_letter_for_each_value),
		cmocka_unit_test(a_lenient_map_refuses_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
