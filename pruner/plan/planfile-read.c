// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/planfile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"

struct reading {
	struct planfile *plan;
	struct str rest; // of the text
	size_t room;     // of plan->entry
};

// --- an entry ---

static const char *keep(struct planfile *p, const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	return text ? arena_copy(&p->text, str_from(text)) : NULL;
}

static int64_t int_of(const struct jsondoc *object, const char *key, int64_t otherwise)
{
	jsondoc_get_int(object, key, &otherwise);
	return otherwise;
}

static int64_t time_of(const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	int64_t seconds = 0;
	return text && clock_read(text, &seconds) ? seconds : 0;
}

static bool sha256_of(const struct jsondoc *object, uint8_t out[SHA256_SIZE])
{
	const char *hex = jsondoc_get_str(object, "sha256");
	return hex && hex_decode(str_from(hex), out, SHA256_SIZE);
}

static void take_evidence(struct planfile *p, const struct jsondoc *from, struct planfile_evidence *v)
{
	if (!from)
		return;
	v->filename = keep(p, from, "filename");
	v->url = keep(p, from, "url");
	v->index = keep(p, from, "index");
	v->has_sha256 = sha256_of(from, v->sha256);
	v->is_identical = jsondoc_is_true(from, "identical");
	v->uploaded = time_of(from, "uploaded");
	v->fetched = time_of(from, "fetched");
	v->etag = keep(p, from, "etag");
}

// Somebody may have changed a line: what is looked at again is the path, what is unlisted is the name.
static bool is_name_of(const char *filename, const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(filename, slash ? slash + 1 : path) == 0;
}

static int take_entry(struct reading *r, const struct jsondoc *from, struct err *e)
{
	struct planfile *p = r->plan;
	int64_t size = int_of(from, "size", -1);
	struct planfile_entry f = {
		.platform = keep(p, from, "platform"),
		.filename = keep(p, from, "filename"),
		.path = keep(p, from, "path"),
		.project = keep(p, from, "project"),
		.version = keep(p, from, "version"),
		.size = (uint64_t)size,
		.mtime_ns = int_of(from, "mtime_ns", 0),
		.verdict = keep(p, from, "verdict"),
		.removes = jsondoc_is_true(from, "removes"),
		.why = keep(p, from, "why"),
		.reason = keep(p, from, "reason"),
	};
	f.has_sha256 = sha256_of(from, f.sha256);
	take_evidence(p, jsondoc_get(from, "evidence"), &f.evidence);
	if (!f.platform || !f.filename || !f.path || !f.verdict || size < 0)
		return err_set(e, ERR_INVALID, "it lacks platform, filename, path, verdict or size");
	if (!is_name_of(f.filename, f.path))
		return err_set(e, ERR_INVALID, "its path %s is not one of %s", f.path, f.filename);
	GROW(p->entry, p->count, r->room);
	p->entry[p->count++] = f;
	return 0;
}

// --- the head, whose document stays and is borrowed from ---

// Of a list that may be missing.
static size_t count_of(const struct jsondoc *array)
{
	return array ? jsondoc_count(array) : 0;
}

static const char *const *texts_of(const struct jsondoc *array, size_t *count)
{
	*count = count_of(array);
	const char **text = xcalloc(*count + 1, sizeof(*text));
	for (size_t i = 0; i < *count; i++) {
		const char *one = jsondoc_at_str(array, i);
		text[i] = one ? one : "";
	}
	return text;
}

static uint64_t number_of(const struct jsondoc *object, const char *key)
{
	int64_t value = int_of(object, key, 0);
	return value < 0 ? 0 : (uint64_t)value;
}

static const char *text_of(const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	return text ? text : "";
}

static void take_platforms(struct planfile_head *h, const struct jsondoc *from)
{
	h->platforms = count_of(from);
	struct planfile_platform *all = xcalloc(h->platforms + 1, sizeof(*all));
	for (size_t i = 0; i < h->platforms; i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		all[i].name = text_of(one, "name");
		all[i].files = number_of(one, "files");
		all[i].bytes = number_of(one, "bytes");
	}
	h->platform = all;
}

static void take_failures(struct planfile_head *h, const struct jsondoc *from)
{
	h->failures = count_of(from);
	struct planfile_failure *all = xcalloc(h->failures + 1, sizeof(*all));
	for (size_t i = 0; i < h->failures; i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		all[i].project = text_of(one, "project");
		all[i].result = text_of(one, "result");
		all[i].why = text_of(one, "why");
	}
	h->failure = all;
}

static void take_totals(struct planfile_head *h, const struct jsondoc *from)
{
	h->totals = count_of(from);
	struct planfile_total *all = xcalloc(h->totals + 1, sizeof(*all));
	for (size_t i = 0; i < h->totals; i++) {
		const struct jsondoc *one = jsondoc_at(from, i);
		all[i].platform = text_of(one, "platform");
		all[i].verdict = text_of(one, "verdict");
		all[i].why = jsondoc_get_str(one, "why");
		all[i].removes = jsondoc_is_true(one, "removes");
		all[i].files = number_of(one, "files");
		all[i].bytes = number_of(one, "bytes");
	}
	h->total = all;
}

static int take_head(struct planfile *p, struct err *e)
{
	struct planfile_head *h = &p->head;
	const struct jsondoc *doc = p->document, *policy = jsondoc_get(doc, "policy");
	const struct jsondoc *options = jsondoc_get(doc, "options"), *look_ups = jsondoc_get(doc, "look-ups");
	int64_t version = int_of(doc, "wheelcache-plan", -1);
	if (version < 0)
		return err_set(e, ERR_INVALID, "no plan of \"wheelcache prune plan\"");
	if (version != PLANFILE_VERSION)
		return err_set(e, ERR_INVALID, "a plan of version %lld, not %d: make a new one", (long long)version,
			PLANFILE_VERSION);
	h->id = jsondoc_get_str(doc, "id");
	h->made = time_of(doc, "made");
	h->store = text_of(doc, "store");
	h->change = int_of(doc, "catalog-change", 0);
	h->policy_hash = policy ? text_of(policy, "hash") : "";
	h->option = texts_of(options ? jsondoc_get(options, "classes") : NULL, &h->options);
	h->glob = texts_of(options ? jsondoc_get(options, "platforms") : NULL, &h->globs);
	h->projects = look_ups ? number_of(look_ups, "projects") : 0;
	h->failed = look_ups ? number_of(look_ups, "failed") : 0;
	take_failures(h, look_ups ? jsondoc_get(look_ups, "failures") : NULL);
	take_platforms(h, jsondoc_get(doc, "platforms"));
	take_totals(h, jsondoc_get(doc, "totals"));
	return h->id && *h->id ? 0 : err_set(e, ERR_INVALID, "it has no id");
}

// --- the text ---

static bool is_next(struct reading *r, char c)
{
	r->rest = str_trim(r->rest);
	if (!r->rest.len || r->rest.ptr[0] != c)
		return false;
	r->rest = str_slice(r->rest, 1, r->rest.len);
	return true;
}

// Somebody may have taken lines out: there may be a comma too many.
static int take_files(struct reading *r, struct err *e)
{
	if (!is_next(r, '['))
		return err_set(e, ERR_INVALID, "\"files\" is no list");
	for (;;) {
		while (is_next(r, ','))
			;
		if (is_next(r, ']'))
			return 0;
		CLEANUP(jsondoc_cleanup) struct jsondoc *entry = jsondoc_next(&r->rest, e);
		if (!entry || take_entry(r, entry, e) < 0)
			return err_prefix(e, "file %zu: ", r->plan->count + 1);
	}
}

// A member of the whole: "files" as entries, all others into the head.
static int take_member(struct reading *r, struct err *e)
{
	if (!is_next(r, '"'))
		return err_set(e, ERR_INVALID, "not JSON: no key where one belongs");
	const char *key = arena_copy(&r->plan->text, str_cut(&r->rest, '"'));
	if (!str_is_utf8(str_from(key)))
		return err_set(e, ERR_INVALID, "not JSON: a key that is no UTF-8");
	if (!is_next(r, ':'))
		return err_set(e, ERR_INVALID, "not JSON: no value for \"%.40s\"", key);
	if (strcmp(key, "files") == 0)
		return take_files(r, e);
	struct jsondoc *value = jsondoc_next(&r->rest, e);
	if (!value)
		return err_prefix(e, "\"%.40s\": ", key);
	jsondoc_put(r->plan->document, key, value);
	return 0;
}

static int take_whole(struct reading *r, struct err *e)
{
	if (!is_next(r, '{'))
		return err_set(e, ERR_INVALID, "no plan of \"wheelcache prune plan\"");
	do {
		if (take_member(r, e) < 0)
			return -1;
	} while (is_next(r, ','));
	if (!is_next(r, '}') || str_trim(r->rest).len)
		return err_set(e, ERR_INVALID, "its end is missing, or something is behind it");
	return take_head(r->plan, e);
}

int planfile_read(const char *path, struct planfile *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_PLAN);
	*out = (struct planfile){.document = jsondoc_object()};
	if (safefile_read(path, &text, e) < 0)
		return -1;
	struct reading r = {.plan = out, .rest = buf_view(&text)};
	return take_whole(&r, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
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
