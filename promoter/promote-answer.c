// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-answer.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/jsonmap.h"

const char *const promote_result_name[PROMOTE_RESULT_COUNT] = {
	[PROMOTE_DONE] = "done",
	[PROMOTE_ALREADY] = "already",
	[PROMOTE_REFUSED] = "refused",
	[PROMOTE_HELD] = "held",
	[PROMOTE_LEFT] = "left",
	[PROMOTE_OVERTAKEN] = "overtaken",
	[PROMOTE_ENDED] = "ended",
};

static const char *copy_row_text(struct arena *a, const char *text)
{
	return text && *text ? arena_copy(a, str_from(text)) : "";
}

struct promote_row *promote_answer_add(struct promote_answer *a, const struct promote_row *row)
{
	ARENA_GROW(&a->text, a->row, a->rows, a->room);
	struct promote_row *copy = &a->row[a->rows++];
	*copy = *row;
	copy->platform = copy_row_text(&a->text, row->platform);
	copy->project = copy_row_text(&a->text, row->project);
	copy->version = copy_row_text(&a->text, row->version);
	copy->filename = copy_row_text(&a->text, row->filename);
	copy->reason = copy_row_text(&a->text, row->reason);
	return copy;
}

void promote_answer_set(struct promote_answer *a, struct promote_row *row, enum promote_result result,
	struct str reason)
{
	row->result = result;
	row->reason = reason.len ? arena_copy(&a->text, reason) : "";
}

void promote_answer_set_tested(struct promote_answer *a, struct promote_row *row, const struct membership_tested *tested,
	size_t testeds)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(LIMIT_REASON);
	row->testeds = testeds;
	row->tested = testeds ? membership_tested_copy(&a->text, tested, testeds) : NULL;
	membership_tested_words(tested, testeds, &words);
	if (words.len)
		row->reason = arena_copy(&a->text, buf_view(&words));
}

void promote_answer_count(struct promote_answer *a)
{
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++)
		a->count[i] = 0;
	for (size_t i = 0; i < a->rows; i++)
		a->count[a->row[i].result]++;
}

size_t promote_answer_cut(struct promote_answer *a, size_t most)
{
	size_t kept = 0, all = a->rows;
	if (all <= most)
		return 0;
	for (size_t i = 0; i < all; i++)
		if (a->row[i].result != PROMOTE_ALREADY)
			a->row[kept++] = a->row[i];
	a->rows = kept < most ? kept : most;
	return all - a->rows;
}

static bool is_told_before(const struct promote_row *row)
{
	return row->result == PROMOTE_LEFT || (row->result == PROMOTE_OVERTAKEN && row->is_repeated);
}

void promote_answer_shorten(struct promote_answer *a)
{
	size_t kept = 0, told[PROMOTE_RESULT_COUNT] = {0};
	for (size_t i = 0; i < a->rows; i++)
		told[a->row[i].result] += is_told_before(&a->row[i]);
	for (size_t i = 0; i < a->rows; i++)
		if (!is_told_before(&a->row[i]) || told[a->row[i].result]-- <= LIMIT_PROMOTE_LEFT)
			a->row[kept++] = a->row[i];
	a->rows = kept;
}

void promote_answer_clear(struct promote_answer *a)
{
	int64_t generation = a->generation;
	arena_release(&a->text);
	*a = (struct promote_answer){.generation = generation};
}

void promote_answer_release(struct promote_answer *a)
{
	arena_release(&a->text);
	*a = (struct promote_answer){0};
}

// --- the audit log ---

int promote_answer_audit(const struct promote_answer *a, struct audit *audit, const char *action, const char *view,
	const char *by, const char *address, const char *reason, struct err *e)
{
	char sha256[SHA256_HEX + 1] = "";
	for (size_t i = 0; i < a->rows; i++) {
		const struct promote_row *row = &a->row[i];
		if (row->result == PROMOTE_ALREADY || row->result == PROMOTE_HELD || is_told_before(row))
			continue;
		hex_encode(row->sha256, SHA256_SIZE, sha256);
		const struct audit_entry entry = {.who = by,
			.peer = *address ? address : NULL,
			.action = action,
			.view = view,
			.platform = row->platform,
			.project = row->project,
			.file = row->filename,
			.sha256 = sha256,
			.result = promote_result_name[row->result],
			.reason = *row->reason && (!*reason || row->result != PROMOTE_ENDED) ? row->reason
				  : *reason                                                  ? reason
											     : NULL};
		if (audit_write(audit, &entry, e) < 0)
			return -1;
	}
	return 0;
}

// --- JSON ---

#define ROW struct promote_row
static const struct jsonmap_field row_fields[] = {
	JSONMAP_TEXT("platform", ROW, platform),
	JSONMAP_TEXT("project", ROW, project),
	JSONMAP_TEXT("version", ROW, version),
	JSONMAP_TEXT("filename", ROW, filename),
	JSONMAP_SHA256("sha256", ROW, sha256),
	JSONMAP_NAME("result", ROW, result, promote_result_name),
	JSONMAP_TEXT("reason", ROW, reason),
	JSONMAP_BOOL("override", ROW, is_override),
	JSONMAP_BOOL("repeated", ROW, is_repeated),
	JSONMAP_LIST("tested", ROW, tested, testeds, &membership_tested_map, .absent = JSONMAP_OLDER),
};
static const struct jsonmap row_map =
	JSONMAP(ROW, row_fields, .wrong = "a file without a result, a platform, a name or a hash");

struct answer_document {
	const char *view;
	int64_t generation;
	bool dry_run;
	uint64_t count[PROMOTE_RESULT_COUNT];
	const struct promote_row *row;
	size_t rows;
};
#define ANSWER struct answer_document
static const struct jsonmap_field answer_fields[] = {
	JSONMAP_TEXT("view", ANSWER, view, .absent = JSONMAP_OMITTED),
	JSONMAP_INTEGER("generation", ANSWER, generation),
	JSONMAP_BOOL("dry_run", ANSWER, dry_run),
	JSONMAP_TOTALS("counts", ANSWER, count, promote_result_name, .absent = JSONMAP_NULL),
	JSONMAP_LIST("files", ANSWER, row, rows, &row_map),
};
static int check_counts(void *row, struct arena *text UNUSED, struct err *e)
{
	const struct answer_document *d = row;
	uint64_t sum = 0;
	for (int i = 0; i < PROMOTE_RESULT_COUNT && sum < d->rows; i++)
		sum += d->count[i];
	return sum < d->rows ? err_set(e, ERR_INVALID, "it counts fewer files than it has") : 0;
}
static const struct jsonmap answer_map =
	JSONMAP(ANSWER, answer_fields, .wrong = "it is no answer of a promotion", .check = check_counts);

void promote_write_json(const struct promote_answer *a, const char *view, bool dry_run, struct buf *out)
{
	CLEANUP(mem_free) struct promote_row *row = xcalloc(a->rows + 1, sizeof(*row));
	struct answer_document d = {view, a->generation, dry_run, {0}, row, a->rows};
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++)
		d.count[i] = a->count[i];
	for (size_t i = 0; i < a->rows; i++) {
		row[i] = a->row[i];
		row[i].is_repeated = row[i].result == PROMOTE_OVERTAKEN && row[i].is_repeated;
		row[i].testeds = row[i].result == PROMOTE_DONE ? row[i].testeds : 0;
	}
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsonmap_json(&answer_map, &d);
	jsondoc_write(doc, 2, out);
}

int promote_answer_read(struct str json, struct promote_answer *out, struct err *e)
{
	*out = (struct promote_answer){0};
	struct answer_document d;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_PROMOTE_VALUES, e);
	if (!doc || jsonmap_read(&answer_map, doc, &d, &out->text, e) < 0)
		return -1;
	out->generation = d.generation;
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++)
		out->count[i] = (size_t)d.count[i];
	for (size_t i = 0; i < d.rows; i++)
		promote_answer_add(out, &d.row[i]);
	return 0;
}
