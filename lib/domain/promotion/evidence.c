// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/promotion/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"

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
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_EVIDENCE_KIND);
	if (python_parse(text, &python, &ignored) < 0)
		return false;
	python_print(&python, &normal);
	return str_eq(text, buf_view(&normal));
}

// --- fields, in the order of their keys: the only form of a record ---

static const struct jsonmap_field failure_fields[] = {
	JSONMAP_TEXT("message", struct junit_failure, message, .limit = LIMIT_JUNIT_NAME),
	JSONMAP_TEXT("name", struct junit_failure, name, .limit = LIMIT_JUNIT_NAME),
};
static const struct jsonmap failure_map = JSONMAP(struct junit_failure, failure_fields);

static int check_wheel(void *row, struct arena *text UNUSED, struct err *e)
{
	const struct evidence_wheel *w = row;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	return name.kind == FILENAME_WHEEL ? 0 : err_set(e, ERR_INVALID, "%s is no wheel", w->filename);
}

// What ties a wheel to other builds is not in records of an older wheelcache.
#define WHEEL struct evidence_wheel
static const struct jsonmap_field wheel_fields[] = {
	JSONMAP_TEXT("commit", WHEEL, commit, .limit = PROVENANCE_COMMIT, .is_valid = provenance_commit_is_valid,
		.wrong = "is not a commit of git, 40 or 64 of 0-9 and a-f", .absent = JSONMAP_OMITTED),
	JSONMAP_SHA256("content_sha256", WHEEL, content, .has = offsetof(WHEEL, has_content), .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("filename", WHEEL, filename, .limit = LIMIT_FILE_NAME),
	JSONMAP_SHA256("sha256", WHEEL, sha256),
};
static const struct jsonmap wheel_map = JSONMAP(WHEEL, wheel_fields, .check = check_wheel);

#define RECORD struct evidence
#define TESTS(key) JSONMAP_INTEGER(#key, RECORD, key, .most = LIMIT_EVIDENCE_TESTS, .wrong = "is not a number of tests")
#define KIND                                                                                                           \
	JSONMAP_TEXT("kind", RECORD, kind, .limit = LIMIT_EVIDENCE_KIND, .is_valid = evidence_kind_is_valid,           \
		.no = "kind of evidence")
#define MADE JSONMAP_TIME("made", RECORD, made)
#define CELL                                                                                                           \
	JSONMAP_TEXT("platform", RECORD, platform, .limit = LIMIT_FILE_NAME, .is_valid = platform_name_is_valid,       \
		.no = "name of a platform"),                                                                           \
		JSONMAP_TEXT("python", RECORD, python, .limit = LIMIT_EVIDENCE_KIND,                                   \
			.is_valid = evidence_python_is_valid, .no = "Python")
#define WHEELS                                                                                                         \
	JSONMAP_LIST("wheels", RECORD, wheel, wheels, &wheel_map, .limit = LIMIT_EVIDENCE_WHEELS,                      \
		.wrong = "names no wheel that was tested")

static const struct jsonmap_field run_fields[] = {
	TESTS(failed),
	JSONMAP_LIST("failures", RECORD, failure, failures, &failure_map, .limit = LIMIT_JUNIT_FAILURES),
	KIND,
	MADE,
	TESTS(passed),
	CELL,
	TESTS(skipped),
	WHEELS,
};
static const struct jsonmap_field override_fields[] = {
	KIND,
	MADE,
	JSONMAP_TEXT("override", RECORD, overrides, .limit = LIMIT_REASON),
	CELL,
	WHEELS,
};

static int by_filename(const void *a, const void *b)
{
	return strcmp(((const struct evidence_wheel *)a)->filename, ((const struct evidence_wheel *)b)->filename);
}

static struct evidence_wheel *sort_wheels(const struct evidence *r, struct arena *text)
{
	struct evidence_wheel *wheel = arena_alloc_aligned(text, r->wheels * sizeof(*wheel));
	memcpy(wheel, r->wheel, r->wheels * sizeof(*wheel));
	qsort(wheel, r->wheels, sizeof(*wheel), by_filename);
	return wheel;
}

static int check_wheels(void *row, struct arena *text, struct err *e)
{
	struct evidence *r = row;
	if (!r->wheels)
		return err_set(e, ERR_INVALID, "\"wheels\" names no wheel that was tested");
	r->wheel = sort_wheels(r, text);
	for (size_t i = 1; i < r->wheels; i++)
		if (by_filename(&r->wheel[i - 1], &r->wheel[i]) == 0)
			return err_set(e, ERR_INVALID, "%s stands in \"wheels\" twice", r->wheel[i].filename);
	return 0;
}

static const struct jsonmap run_map = JSONMAP(RECORD, run_fields, .check = check_wheels);
static const struct jsonmap override_map = JSONMAP(RECORD, override_fields, .check = check_wheels);

int evidence_read_json(const struct jsondoc *doc, struct evidence *out, struct err *e)
{
	const struct jsonmap *map = jsondoc_is_null(doc, "override") ? &run_map : &override_map;
	*out = (struct evidence){0};
	if (jsonmap_read(map, doc, out, &out->text, e) == 0)
		return 0;
	evidence_release(out);
	return err_prefix(e, "evidence: ");
}

int evidence_read(struct str json, struct evidence *out, struct err *e)
{
	*out = (struct evidence){0};
	if (json.len > LIMIT_EVIDENCE)
		return err_set(e, ERR_LIMIT, "evidence of more than %d bytes", LIMIT_EVIDENCE);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(json, e);
	return doc ? evidence_read_json(doc, out, e) : err_prefix(e, "evidence: ");
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

void evidence_write(const struct evidence *r, struct buf *out)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct evidence sorted = *r;
	sorted.wheel = sort_wheels(r, &room);
	jsonmap_write(r->overrides ? &override_map : &run_map, &sorted, out);
}
