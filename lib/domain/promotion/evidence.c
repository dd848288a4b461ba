// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/promotion/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/os/clock.h"

bool evidence_kind_is_valid(struct str kind)
{
	bool is_dash = true;
	for (size_t i = 0; i < kind.len; i++) {
		char c = kind.ptr[i];
		bool was_dash = is_dash;
		is_dash = c == '-';
		if (is_dash ? was_dash : !ascii_is_digit(c) && !(c >= 'a' && c <= 'z'))
			return false;
	}
	return kind.len && !is_dash && kind.len <= LIMIT_EVIDENCE_KIND;
}

bool evidence_python_is_valid(struct str text)
{
	struct python python;
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_EVIDENCE_KIND);
	if (python_parse(text, &python, &ignored) < 0)
		return false;
	python_print(&python, &normal);
	return str_eq(text, buf_view(&normal));
}

// --- reading ---

static int read_line(const struct jsondoc *doc, const char *key, size_t limit, struct arena *text, const char **out,
	struct err *e)
{
	const char *value = jsondoc_get_str(doc, key);
	if (!value)
		return err_set(e, ERR_INVALID, "\"%s\" is not a string", key);
	if (strlen(value) > limit)
		return err_set(e, ERR_INVALID, "\"%s\" has more than %zu bytes", key, limit);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_INVALID, "\"%s\" has a control character", key);
	*out = arena_copy(text, str_from(value));
	return 0;
}

static int read_count(const struct jsondoc *doc, const char *key, uint64_t *out, struct err *e)
{
	int64_t value;
	if (!jsondoc_get_int(doc, key, &value) || value < 0 || value > LIMIT_EVIDENCE_TESTS)
		return err_set(e, ERR_INVALID, "\"%s\" is not a number of tests", key);
	*out = (uint64_t)value;
	return 0;
}

static int read_cell(const struct jsondoc *doc, struct evidence *r, struct err *e)
{
	const char *made;
	if (read_line(doc, "kind", LIMIT_EVIDENCE_KIND, &r->text, &r->kind, e) < 0 ||
		read_line(doc, "platform", LIMIT_FILE_NAME, &r->text, &r->platform, e) < 0 ||
		read_line(doc, "python", LIMIT_EVIDENCE_KIND, &r->text, &r->python, e) < 0 ||
		read_line(doc, "made", CLOCK_TEXT, &r->text, &made, e) < 0)
		return -1;
	if (!evidence_kind_is_valid(str_from(r->kind)))
		return err_set(e, ERR_INVALID, "\"%s\" is no kind of evidence", r->kind);
	if (!platform_name_is_valid(str_from(r->platform)))
		return err_set(e, ERR_INVALID, "\"%s\" is no name of a platform", r->platform);
	if (!evidence_python_is_valid(str_from(r->python)))
		return err_set(e, ERR_INVALID, "\"%s\" is no Python", r->python);
	if (!clock_read(made, &r->made))
		return err_set(e, ERR_INVALID, "\"made\" is not a time as 2026-01-02T03:04:05Z");
	return 0;
}

static int read_failures(const struct jsondoc *doc, struct evidence *r, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "failures");
	struct junit_failure *failure;
	if (!list || jsondoc_count(list) > LIMIT_JUNIT_FAILURES)
		return err_set(e, ERR_INVALID, "\"failures\" is not an array of at most %d", LIMIT_JUNIT_FAILURES);
	r->failures = jsondoc_count(list);
	r->failure = failure = arena_alloc_aligned(&r->text, (r->failures + 1) * sizeof(*failure));
	for (size_t i = 0; i < r->failures; i++) {
		const struct jsondoc *one = jsondoc_at(list, i);
		if (read_line(one, "name", LIMIT_JUNIT_NAME, &r->text, &failure[i].name, e) < 0 ||
			read_line(one, "message", LIMIT_JUNIT_NAME, &r->text, &failure[i].message, e) < 0)
			return err_prefix(e, "failures[%zu]: ", i);
	}
	return 0;
}

static int read_result(const struct jsondoc *doc, struct evidence *r, struct err *e)
{
	if (!jsondoc_is_null(doc, "override"))
		return read_line(doc, "override", LIMIT_REASON, &r->text, &r->overrides, e);
	if (read_count(doc, "passed", &r->passed, e) < 0 || read_count(doc, "failed", &r->failed, e) < 0 ||
		read_count(doc, "skipped", &r->skipped, e) < 0)
		return -1;
	return read_failures(doc, r, e);
}

// What ties the wheel to other builds. Records of an older wheelcache have none of it.
static int read_build(const struct jsondoc *doc, struct arena *text, struct evidence_wheel *out, struct err *e)
{
	const char *content = jsondoc_get_str(doc, "content_sha256");
	out->has_content = content && hex_decode(str_from(content), out->content, SHA256_SIZE);
	out->commit = NULL;
	if (!out->has_content && !jsondoc_is_null(doc, "content_sha256"))
		return err_set(e, ERR_INVALID, "%s: \"content_sha256\" is not 64 hexadecimal digits", out->filename);
	if (jsondoc_is_null(doc, "commit"))
		return 0;
	if (read_line(doc, "commit", PROVENANCE_COMMIT, text, &out->commit, e) < 0)
		return -1;
	return provenance_commit_is_valid(str_from(out->commit))
		       ? 0
		       : err_set(e, ERR_INVALID, "%s: \"commit\" is not a commit of git, 40 or 64 of 0-9 and a-f",
				 out->filename);
}

static int read_tested_wheel(const struct jsondoc *doc, struct arena *text, struct evidence_wheel *out, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	const char *sha256 = jsondoc_get_str(doc, "sha256");
	if (read_line(doc, "filename", LIMIT_FILE_NAME, text, &out->filename, e) < 0 ||
		filename_parse(str_from(out->filename), &name, e) < 0)
		return -1;
	if (name.kind != FILENAME_WHEEL)
		return err_set(e, ERR_INVALID, "%s is no wheel", out->filename);
	if (!sha256 || !hex_decode(str_from(sha256), out->sha256, SHA256_SIZE))
		return err_set(e, ERR_INVALID, "%s: \"sha256\" is not 64 hexadecimal digits", out->filename);
	return read_build(doc, text, out, e);
}

static int by_filename(const void *a, const void *b)
{
	return strcmp(((const struct evidence_wheel *)a)->filename, ((const struct evidence_wheel *)b)->filename);
}

static int read_wheels(const struct jsondoc *doc, struct evidence *r, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "wheels");
	size_t count = list ? jsondoc_count(list) : 0;
	struct evidence_wheel *wheel;
	if (!count)
		return err_set(e, ERR_INVALID, "\"wheels\" names no wheel that was tested");
	if (count > LIMIT_EVIDENCE_WHEELS)
		return err_set(e, ERR_LIMIT, "more than %d wheels", LIMIT_EVIDENCE_WHEELS);
	r->wheel = wheel = arena_alloc_aligned(&r->text, count * sizeof(*wheel));
	r->wheels = count;
	for (size_t i = 0; i < count; i++)
		if (read_tested_wheel(jsondoc_at(list, i), &r->text, &wheel[i], e) < 0)
			return err_prefix(e, "wheels[%zu]: ", i);
	qsort(wheel, count, sizeof(*wheel), by_filename);
	for (size_t i = 1; i < count; i++)
		if (strcmp(wheel[i - 1].filename, wheel[i].filename) == 0)
			return err_set(e, ERR_INVALID, "%s stands in \"wheels\" twice", wheel[i].filename);
	return 0;
}

int evidence_read(struct str json, struct evidence *out, struct err *e)
{
	*out = (struct evidence){0};
	if (json.len > LIMIT_EVIDENCE)
		return err_set(e, ERR_LIMIT, "evidence of more than %d bytes", LIMIT_EVIDENCE);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(json, e);
	if (!doc || read_cell(doc, out, e) < 0 || read_result(doc, out, e) < 0 || read_wheels(doc, out, e) < 0) {
		evidence_release(out);
		return err_prefix(e, "evidence: ");
	}
	return 0;
}

void evidence_release(struct evidence *r)
{
	arena_release(&r->text);
	*r = (struct evidence){0};
}

static int compare_counts(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int evidence_compare(const void *a, const void *b)
{
	const struct evidence *x = a, *y = b;
	int order = (x->made > y->made) - (x->made < y->made);
	order = order ? order : compare_counts(x->failed, y->failed);
	order = order ? order : compare_counts(x->skipped, y->skipped);
	return order ? order : compare_counts(y->passed, x->passed);
}

// --- several records ---

// Whether the first line is an object, and more follows it.
static bool has_line_each(struct str text)
{
	struct err ignored = ERR_INIT;
	struct str rest = text, line = str_cut(&rest, '\n');
	if (!str_trim(rest).len || line.len > LIMIT_EVIDENCE)
		return false;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(line, &ignored);
	return doc != NULL;
}

static int read_one(struct str json, evidence_record_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(evidence_release) struct evidence r = {0};
	return evidence_read(json, &r, e) < 0 ? -1 : fn(ctx, &r, e);
}

int evidence_read_each(struct str text, evidence_record_fn *fn, void *ctx, struct err *e)
{
	if (!has_line_each(text))
		return read_one(text, fn, ctx, e);
	for (size_t number = 1; text.len; number++) {
		struct str line = str_trim(str_cut(&text, '\n'));
		if (line.len && read_one(line, fn, ctx, e) < 0)
			return err_prefix(e, "line %zu: ", number);
	}
	return 0;
}

// --- writing ---

static void put_failures(struct jsondoc *doc, const struct evidence *r)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < r->failures; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "message", r->failure[i].message);
		jsondoc_put_str(one, "name", r->failure[i].name);
		jsondoc_add(list, one);
	}
	jsondoc_put(doc, "failures", list);
}

static void put_hash(struct jsondoc *doc, const char *key, const uint8_t hash[SHA256_SIZE])
{
	char hex[SHA256_HEX + 1] = "";
	hex_encode(hash, SHA256_SIZE, hex);
	jsondoc_put_str(doc, key, hex);
}

static void put_wheels(struct jsondoc *doc, const struct evidence *r)
{
	struct jsondoc *list = jsondoc_array();
	CLEANUP(mem_free) struct evidence_wheel *wheel = xcalloc(r->wheels + 1, sizeof(*wheel));
	for (size_t i = 0; i < r->wheels; i++)
		wheel[i] = r->wheel[i];
	qsort(wheel, r->wheels, sizeof(*wheel), by_filename);
	for (size_t i = 0; i < r->wheels; i++) {
		struct jsondoc *one = jsondoc_object();
		if (wheel[i].commit)
			jsondoc_put_str(one, "commit", wheel[i].commit);
		if (wheel[i].has_content)
			put_hash(one, "content_sha256", wheel[i].content);
		jsondoc_put_str(one, "filename", wheel[i].filename);
		put_hash(one, "sha256", wheel[i].sha256);
		jsondoc_add(list, one);
	}
	jsondoc_put(doc, "wheels", list);
}

void evidence_write(const struct evidence *r, struct buf *out)
{
	char made[CLOCK_TEXT];
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	clock_write(r->made, made);
	if (!r->overrides) {
		jsondoc_put_int(doc, "failed", (int64_t)r->failed);
		put_failures(doc, r);
	}
	jsondoc_put_str(doc, "kind", r->kind);
	jsondoc_put_str(doc, "made", made);
	if (r->overrides)
		jsondoc_put_str(doc, "override", r->overrides);
	else
		jsondoc_put_int(doc, "passed", (int64_t)r->passed);
	jsondoc_put_str(doc, "platform", r->platform);
	jsondoc_put_str(doc, "python", r->python);
	if (!r->overrides)
		jsondoc_put_int(doc, "skipped", (int64_t)r->skipped);
	put_wheels(doc, r);
	jsondoc_write(doc, 0, out);
}
