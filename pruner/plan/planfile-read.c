// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/planfile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"

struct planfile_reader {
	struct planfile *plan;
	struct str rest; // of the text
	size_t room;     // of plan->entry
};

// --- an entry ---

static const char *copy_member(struct planfile *p, const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	return text ? arena_copy(&p->text, str_from(text)) : NULL;
}

static int64_t get_int_or(const struct jsondoc *object, const char *key, int64_t otherwise)
{
	jsondoc_get_int(object, key, &otherwise);
	return otherwise;
}

static int64_t get_time(const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	int64_t seconds = 0;
	return text && clock_read(text, &seconds) ? seconds : 0;
}

static bool get_sha256(const struct jsondoc *object, uint8_t out[SHA256_SIZE])
{
	const char *hex = jsondoc_get_str(object, "sha256");
	return hex && hex_decode(str_from(hex), out, SHA256_SIZE);
}

static void read_evidence(struct planfile *p, const struct jsondoc *from, struct planfile_evidence *v)
{
	if (!from)
		return;
	v->filename = copy_member(p, from, "filename");
	v->url = copy_member(p, from, "url");
	v->index = copy_member(p, from, "index");
	v->has_sha256 = get_sha256(from, v->sha256);
	v->is_identical = jsondoc_is_true(from, "identical");
	v->uploaded = get_time(from, "uploaded");
	v->fetched = get_time(from, "fetched");
	v->etag = copy_member(p, from, "etag");
}

// A person may have edited the file: apply rechecks the path and unlists the name, so both must agree.
static bool is_last_component(const char *filename, const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(filename, slash ? slash + 1 : path) == 0;
}

static int read_entry(struct planfile_reader *r, const struct jsondoc *from, struct err *e)
{
	struct planfile *p = r->plan;
	int64_t size = get_int_or(from, "size", -1);
	struct planfile_entry f = {
		.platform = copy_member(p, from, "platform"),
		.filename = copy_member(p, from, "filename"),
		.path = copy_member(p, from, "path"),
		.project = copy_member(p, from, "project"),
		.version = copy_member(p, from, "version"),
		.size = (uint64_t)size,
		.mtime_ns = get_int_or(from, "mtime_ns", 0),
		.verdict = copy_member(p, from, "verdict"),
		.removes = jsondoc_is_true(from, "removes"),
		.why = copy_member(p, from, "why"),
		.reason = copy_member(p, from, "reason"),
	};
	f.has_sha256 = get_sha256(from, f.sha256);
	read_evidence(p, jsondoc_get(from, "evidence"), &f.evidence);
	if (!f.platform || !f.filename || !f.path || !f.verdict || size < 0)
		return err_set(e, ERR_INVALID, "it lacks platform, filename, path, verdict or size");
	if (!is_last_component(f.filename, f.path))
		return err_set(e, ERR_INVALID, "its path %s does not end in %s", f.path, f.filename);
	GROW(p->entry, p->count, r->room);
	p->entry[p->count++] = f;
	return 0;
}

// --- the head, which borrows from the document ---

// array may be NULL.
static size_t count_or_zero(const struct jsondoc *array)
{
	return array ? jsondoc_count(array) : 0;
}

static const char *const *get_texts(const struct jsondoc *array, size_t *count)
{
	*count = count_or_zero(array);
	const char **text = xcalloc(*count + 1, sizeof(*text));
	for (size_t i = 0; i < *count; i++) {
		const char *one = jsondoc_at_str(array, i);
		text[i] = one ? one : "";
	}
	return text;
}

static uint64_t get_count(const struct jsondoc *object, const char *key)
{
	int64_t value = get_int_or(object, key, 0);
	return value < 0 ? 0 : (uint64_t)value;
}

static const char *get_text(const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	return text ? text : "";
}

static void read_platforms(struct planfile_head *h, const struct jsondoc *from)
{
	h->platforms = count_or_zero(from);
	struct planfile_platform *all = xcalloc(h->platforms + 1, sizeof(*all));
	for (size_t i = 0; i < h->platforms; i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		all[i].name = get_text(one, "name");
		all[i].files = get_count(one, "files");
		all[i].bytes = get_count(one, "bytes");
	}
	h->platform = all;
}

static void read_failures(struct planfile_head *h, const struct jsondoc *from)
{
	h->failures = count_or_zero(from);
	struct planfile_failure *all = xcalloc(h->failures + 1, sizeof(*all));
	for (size_t i = 0; i < h->failures; i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		all[i].project = get_text(one, "project");
		all[i].result = get_text(one, "result");
		all[i].why = get_text(one, "why");
	}
	h->failure = all;
}

static void read_totals(struct planfile_head *h, const struct jsondoc *from)
{
	h->totals = count_or_zero(from);
	struct planfile_total *all = xcalloc(h->totals + 1, sizeof(*all));
	for (size_t i = 0; i < h->totals; i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		all[i].platform = get_text(one, "platform");
		all[i].verdict = get_text(one, "verdict");
		all[i].why = jsondoc_get_str(one, "why");
		all[i].removes = jsondoc_is_true(one, "removes");
		all[i].files = get_count(one, "files");
		all[i].bytes = get_count(one, "bytes");
	}
	h->total = all;
}

static int read_head(struct planfile *p, struct err *e)
{
	struct planfile_head *h = &p->head;
	const struct jsondoc *doc = p->document, *policy = jsondoc_get(doc, "policy");
	const struct jsondoc *options = jsondoc_get(doc, "options"), *look_ups = jsondoc_get(doc, "look-ups");
	int64_t version = get_int_or(doc, "wheelcache-plan", -1);
	if (version < 0)
		return err_set(e, ERR_INVALID, "not a plan of \"wheelcache prune plan\"");
	if (version != PLANFILE_VERSION)
		return err_set(e, ERR_INVALID, "a plan of version %lld, not %d: make a new one", (long long)version,
			PLANFILE_VERSION);
	h->id = jsondoc_get_str(doc, "id");
	h->made = get_time(doc, "made");
	h->store = get_text(doc, "store");
	h->change = get_int_or(doc, "catalog-change", 0);
	h->policy_hash = policy ? get_text(policy, "hash") : "";
	h->option = get_texts(options ? jsondoc_get(options, "classes") : NULL, &h->options);
	h->glob = get_texts(options ? jsondoc_get(options, "platforms") : NULL, &h->globs);
	h->projects = look_ups ? get_count(look_ups, "projects") : 0;
	h->failed = look_ups ? get_count(look_ups, "failed") : 0;
	read_failures(h, look_ups ? jsondoc_get(look_ups, "failures") : NULL);
	read_platforms(h, jsondoc_get(doc, "platforms"));
	read_totals(h, jsondoc_get(doc, "totals"));
	return h->id && *h->id ? 0 : err_set(e, ERR_INVALID, "it has no id");
}

// --- the text ---

static bool skip_char(struct planfile_reader *r, char c)
{
	r->rest = str_trim(r->rest);
	if (!r->rest.len || r->rest.ptr[0] != c)
		return false;
	r->rest = str_slice(r->rest, 1, r->rest.len);
	return true;
}

// A person may have deleted lines, so there may be extra commas.
static int read_files(struct planfile_reader *r, struct err *e)
{
	if (!skip_char(r, '['))
		return err_set(e, ERR_INVALID, "\"files\" is no list");
	for (;;) {
		while (skip_char(r, ','))
			;
		if (skip_char(r, ']'))
			return 0;
		CLEANUP(jsondoc_cleanup) struct jsondoc *entry = jsondoc_next(&r->rest, e);
		if (!entry || read_entry(r, entry, e) < 0)
			return err_prefix(e, "file %zu: ", r->plan->count + 1);
	}
}

// One member of the top object: "files" goes to the entries, all others to the document of the head.
static int read_member(struct planfile_reader *r, struct err *e)
{
	if (!skip_char(r, '"'))
		return err_set(e, ERR_INVALID, "not JSON: no key where one belongs");
	const char *key = arena_copy(&r->plan->text, str_cut(&r->rest, '"'));
	if (!str_is_utf8(str_from(key)))
		return err_set(e, ERR_INVALID, "not JSON: a key that is no UTF-8");
	if (!skip_char(r, ':'))
		return err_set(e, ERR_INVALID, "not JSON: no value for \"%.40s\"", key);
	if (strcmp(key, "files") == 0)
		return read_files(r, e);
	struct jsondoc *value = jsondoc_next(&r->rest, e);
	if (!value)
		return err_prefix(e, "\"%.40s\": ", key);
	jsondoc_put(r->plan->document, key, value);
	return 0;
}

static int read_plan(struct planfile_reader *r, struct err *e)
{
	if (!skip_char(r, '{'))
		return err_set(e, ERR_INVALID, "not a plan of \"wheelcache prune plan\"");
	do {
		if (read_member(r, e) < 0)
			return -1;
	} while (skip_char(r, ','));
	if (!skip_char(r, '}') || str_trim(r->rest).len)
		return err_set(e, ERR_INVALID, "its end is missing, or more text follows");
	return read_head(r->plan, e);
}

int planfile_read(const char *path, struct planfile *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_PLAN);
	*out = (struct planfile){.document = jsondoc_object()};
	if (safefile_read(path, &text, e) < 0)
		return -1;
	struct planfile_reader r = {.plan = out, .rest = buf_view(&text)};
	return read_plan(&r, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

static void release_head(struct planfile_head *h)
{
	const void *const array[] = {h->option, h->glob, h->failure, h->platform, h->total};
	for (size_t i = 0; i < ARRAY_SIZE(array); i++)
		free((void *)(uintptr_t)array[i]);
}

void planfile_release(struct planfile *p)
{
	release_head(&p->head);
	free(p->entry);
	arena_release(&p->text);
	jsondoc_cleanup(&p->document);
	*p = (struct planfile){0};
}
