// SPDX-License-Identifier: Apache-2.0
#include "lib/state/results/results-json.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/state/results/results-check.h"

enum { TEXT_MOST = LIMIT_RESULT_AWAITING + LIMIT_RESULT_PROVENANCE }; // of one value

// Strings that are the same in the struct and in the document.
static const struct {
	const char *key;
	size_t field;
} plain[] = {
	{"id", offsetof(struct results_attempt, id)},
	{"platform", offsetof(struct results_attempt, platform)},
	{"python", offsetof(struct results_attempt, python)},
	{"project", offsetof(struct results_attempt, project)},
	{"version", offsetof(struct results_attempt, version)},
	{"step", offsetof(struct results_attempt, step)},
	{"why", offsetof(struct results_attempt, why)},
	{"recipe", offsetof(struct results_attempt, recipe)},
	{"builder", offsetof(struct results_attempt, builder)},
};

static const char **plain_field(struct results_attempt *a, size_t i)
{
	return (const char **)(void *)((char *)a + plain[i].field);
}

// --- writing ---

static void put_slice(struct jsondoc *object, const char *key, struct str value)
{
	CLEANUP(mem_free) char *text = xstrndup(value.ptr ? value.ptr : "", value.len);
	jsondoc_put_str(object, key, text);
}

static struct jsondoc *json_of_files(const char *files)
{
	struct jsondoc *array = jsondoc_array();
	for (struct str rest = str_from(files); rest.len;) {
		struct jsondoc *file = jsondoc_object();
		struct str line = str_cut(&rest, '\n');
		uint64_t size = 0;
		put_slice(file, "filename", str_cut(&line, ' '));
		put_slice(file, "sha256", str_cut(&line, ' '));
		if (decimal_parse(line, INT64_MAX, &size))
			jsondoc_put_int(file, "size", (int64_t)size);
		jsondoc_add(array, file);
	}
	return array;
}

static void put_attempt_sdist(struct jsondoc *doc, const char *sdist)
{
	struct str rest = str_from(sdist);
	if (!rest.len) {
		jsondoc_put_str(doc, "sdist", NULL);
		return;
	}
	struct jsondoc *object = jsondoc_object();
	put_slice(object, "filename", str_cut(&rest, ' '));
	put_slice(object, "sha256", rest);
	jsondoc_put(doc, "sdist", object);
}

static struct jsondoc *json_of_awaiting(const char *awaiting)
{
	struct jsondoc *array = jsondoc_array();
	for (struct str rest = str_from(awaiting); rest.len;) {
		CLEANUP(mem_free) char *name = NULL;
		struct str word = str_cut(&rest, ' ');
		name = xstrndup(word.ptr, word.len);
		jsondoc_add_str(array, name);
	}
	return array;
}

static struct jsondoc *json_of_provenance(const char *text)
{
	struct err ignored = ERR_INIT;
	struct jsondoc *doc = *text ? jsondoc_read(str_from(text), &ignored) : NULL;
	return doc ? doc : jsondoc_object();
}

struct jsondoc *results_json(const struct results_attempt *a)
{
	struct jsondoc *doc = jsondoc_object();
	struct results_attempt copy = *a;
	char begun[CLOCK_TEXT];
	clock_write(a->begun, begun);
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		jsondoc_put_str(doc, plain[i].key, *plain_field(&copy, i) ? *plain_field(&copy, i) : "");
	jsondoc_put_str(doc, "result", results_result_name[a->result]);
	jsondoc_put_str(doc, "begun", begun);
	jsondoc_put_real(doc, "seconds", a->seconds);
	jsondoc_put_int(doc, "peak_memory", (int64_t)a->peak_memory);
	jsondoc_put(doc, "files", json_of_files(a->files ? a->files : ""));
	put_attempt_sdist(doc, a->sdist ? a->sdist : "");
	jsondoc_put(doc, "awaiting", json_of_awaiting(a->awaiting ? a->awaiting : ""));
	jsondoc_put(doc, "provenance", json_of_provenance(a->provenance ? a->provenance : ""));
	jsondoc_put_bool(doc, "has_log", a->has_log);
	return doc;
}

void results_json_put_log(struct jsondoc *doc, struct str log)
{
	CLEANUP(mem_free) char *text = xmalloc(log.len + 1);
	for (size_t i = 0; i < log.len; i++)
		text[i] = log.ptr[i] ? log.ptr[i] : '?';
	text[log.len] = '\0';
	jsondoc_put_str(doc, "log", text);
}

// --- reading ---

static int bad_value(const char *key, struct err *e)
{
	return err_set(e, ERR_INVALID, "build result: %s is not valid", key);
}

static int read_plain(const struct jsondoc *doc, struct results_attempt *out, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (!(*plain_field(out, i) = jsondoc_get_str(doc, plain[i].key)))
			return bad_value(plain[i].key, e);
	return 0;
}

static int read_result_name(const struct jsondoc *doc, struct results_attempt *out, struct err *e)
{
	const char *name = jsondoc_get_str(doc, "result");
	for (int i = 0; name && i < RESULTS_RESULT_COUNT; i++)
		if (strcmp(results_result_name[i], name) == 0) {
			out->result = (enum results_result)i;
			return 0;
		}
	return bad_value("result", e);
}

static int read_numbers(const struct jsondoc *doc, struct results_attempt *out, struct err *e)
{
	const char *begun = jsondoc_get_str(doc, "begun");
	int64_t memory = -1;
	if (!begun || !clock_read(begun, &out->begun))
		return bad_value("begun", e);
	if (!jsondoc_get_real(doc, "seconds", &out->seconds))
		return bad_value("seconds", e);
	if (!jsondoc_get_int(doc, "peak_memory", &memory) || memory < 0)
		return bad_value("peak_memory", e);
	out->peak_memory = (uint64_t)memory;
	return 0;
}

// A word of a line that is made of words: NULL if it is missing or has a separator.
static const char *get_word(const struct jsondoc *object, const char *key)
{
	const char *word = object ? jsondoc_get_str(object, key) : NULL;
	return word && *word && !strpbrk(word, " \n") ? word : NULL;
}

static int read_files(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct err *e)
{
	const struct jsondoc *array = jsondoc_get(doc, "files");
	CLEANUP(buf_release) struct buf lines;
	buf_init(&lines, TEXT_MOST);
	if (!array || jsondoc_count(array) > LIMIT_RESULT_FILES)
		return bad_value("files", e);
	for (size_t i = 0; i < jsondoc_count(array); i++) {
		const struct jsondoc *file = jsondoc_at(array, i);
		const char *name = get_word(file, "filename"), *sha256 = get_word(file, "sha256");
		int64_t size = -1;
		if (!name || !sha256 || !jsondoc_get_int(file, "size", &size) || size < 0)
			return bad_value("files", e);
		buf_printf(&lines, "%s%s %s %lld", lines.len ? "\n" : "", name, sha256, (long long)size);
	}
	out->files = arena_copy(text, buf_view(&lines));
	return lines.failed ? bad_value("files", e) : 0;
}

static int read_sdist(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct err *e)
{
	const struct jsondoc *sdist = jsondoc_get(doc, "sdist");
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, TEXT_MOST);
	if (sdist && (!get_word(sdist, "filename") || !get_word(sdist, "sha256")))
		return bad_value("sdist", e);
	if (sdist)
		buf_printf(&words, "%s %s", get_word(sdist, "filename"), get_word(sdist, "sha256"));
	out->sdist = arena_copy(text, buf_view(&words));
	return words.failed ? bad_value("sdist", e) : 0;
}

static int read_awaiting(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct err *e)
{
	const struct jsondoc *array = jsondoc_get(doc, "awaiting");
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, TEXT_MOST);
	if (!array)
		return bad_value("awaiting", e);
	for (size_t i = 0; i < jsondoc_count(array); i++) {
		const char *name = jsondoc_at_str(array, i);
		if (!name || !*name || strpbrk(name, " \n"))
			return bad_value("awaiting", e);
		buf_printf(&words, "%s%s", words.len ? " " : "", name);
	}
	out->awaiting = arena_copy(text, buf_view(&words));
	return words.failed ? bad_value("awaiting", e) : 0;
}

static int read_provenance(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct err *e)
{
	const struct jsondoc *object = jsondoc_get(doc, "provenance");
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, TEXT_MOST);
	if (!object)
		return bad_value("provenance", e);
	jsondoc_write(object, 0, &line);
	out->provenance = arena_copy(text, str_trim(buf_view(&line)));
	return line.failed ? bad_value("provenance", e) : 0;
}

int results_json_read(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct str *log,
	struct err *e)
{
	struct results_attempt a = {.is_sent = true};
	if (read_plain(doc, &a, e) < 0 || read_result_name(doc, &a, e) < 0 || read_numbers(doc, &a, e) < 0 ||
		read_files(doc, &a, text, e) < 0 || read_sdist(doc, &a, text, e) < 0 ||
		read_awaiting(doc, &a, text, e) < 0 || read_provenance(doc, &a, text, e) < 0 ||
		results_check(&a, clock_wall_seconds(), e) < 0)
		return -1;
	const char *bytes = jsondoc_get_str(doc, "log");
	*log = bytes ? str_from(bytes) : (struct str){NULL, 0};
	if (log->len > LIMIT_RESULT_LOG)
		return bad_value("log", e);
	a.has_log = bytes || jsondoc_is_true(doc, "has_log");
	*out = a;
	return 0;
}
