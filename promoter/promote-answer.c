// SPDX-License-Identifier: Apache-2.0
#include "promoter/promote-answer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"

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
	GROW(a->row, a->rows, a->room);
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
	CLEANUP(buf_release) struct buf words;
	buf_init(&words, LIMIT_REASON);
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
	a->rows = 0;
	arena_release(&a->text);
	promote_answer_count(a);
}

void promote_answer_release(struct promote_answer *a)
{
	free(a->row);
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
			.reason = *row->reason ? row->reason
				  : *reason    ? reason
					       : NULL};
		if (audit_write(audit, &entry, e) < 0)
			return -1;
	}
	return 0;
}

// --- JSON ---

static struct jsondoc *promote_row_json(const struct promote_row *row)
{
	char sha256[SHA256_HEX + 1] = "";
	struct jsondoc *doc = jsondoc_object();
	hex_encode(row->sha256, SHA256_SIZE, sha256);
	jsondoc_put_str(doc, "platform", row->platform);
	jsondoc_put_str(doc, "project", row->project);
	jsondoc_put_str(doc, "version", row->version);
	jsondoc_put_str(doc, "filename", row->filename);
	jsondoc_put_str(doc, "sha256", sha256);
	jsondoc_put_str(doc, "result", promote_result_name[row->result]);
	jsondoc_put_str(doc, "reason", row->reason);
	jsondoc_put_bool(doc, "override", row->is_override);
	jsondoc_put_bool(doc, "repeated", row->result == PROMOTE_OVERTAKEN && row->is_repeated);
	jsondoc_put(doc, "tested", membership_tested_json(row->tested, row->result == PROMOTE_DONE ? row->testeds : 0));
	return doc;
}

void promote_write_json(const struct promote_answer *a, const char *view, bool dry_run, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *counts = jsondoc_object(), *files = jsondoc_array();
	jsondoc_put_str(doc, "view", view);
	jsondoc_put_int(doc, "generation", a->generation);
	jsondoc_put_bool(doc, "dry_run", dry_run);
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++)
		jsondoc_put_int(counts, promote_result_name[i], (int64_t)a->count[i]);
	jsondoc_put(doc, "counts", counts);
	for (size_t i = 0; i < a->rows; i++)
		jsondoc_add(files, promote_row_json(&a->row[i]));
	jsondoc_put(doc, "files", files);
	jsondoc_write(doc, 2, out);
}

static int find_result(const char *name)
{
	for (int i = 0; name && i < PROMOTE_RESULT_COUNT; i++)
		if (strcmp(name, promote_result_name[i]) == 0)
			return i;
	return -1;
}

static int read_answer_row(const struct jsondoc *doc, struct promote_answer *out, struct err *e)
{
	const char *sha256 = jsondoc_get_str(doc, "sha256");
	int result = find_result(jsondoc_get_str(doc, "result"));
	struct promote_row row = {.platform = jsondoc_get_str(doc, "platform"),
		.project = jsondoc_get_str(doc, "project"),
		.version = jsondoc_get_str(doc, "version"),
		.filename = jsondoc_get_str(doc, "filename"),
		.reason = jsondoc_get_str(doc, "reason"),
		.is_override = jsondoc_is_true(doc, "override"),
		.is_repeated = jsondoc_is_true(doc, "repeated")};
	if (result < 0 || !row.platform || !row.filename || !sha256 ||
		!hex_decode(str_from(sha256), row.sha256, SHA256_SIZE))
		return err_set(e, ERR_INVALID, "a file without a result, a platform, a name or a hash");
	if (membership_tested_read(jsondoc_get(doc, "tested"), &out->text, &row.tested, &row.testeds, e) < 0)
		return -1;
	row.result = (enum promote_result)result;
	promote_answer_add(out, &row);
	return 0;
}

static int read_answer_counts(const struct jsondoc *doc, struct promote_answer *out, struct err *e)
{
	const struct jsondoc *counts = jsondoc_get(doc, "counts");
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++) {
		int64_t count;
		if (!counts || !jsondoc_get_int(counts, promote_result_name[i], &count) || count < 0)
			return err_set(e, ERR_INVALID, "no number of files that are %s", promote_result_name[i]);
		out->count[i] = (size_t)count;
	}
	return 0;
}

int promote_answer_read(struct str json, struct promote_answer *out, struct err *e)
{
	*out = (struct promote_answer){0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_PROMOTE_VALUES, e);
	const struct jsondoc *files = doc ? jsondoc_get(doc, "files") : NULL;
	if (!doc)
		return -1;
	if (!files || !jsondoc_get_int(doc, "generation", &out->generation))
		return err_set(e, ERR_INVALID, "it is no answer of a promotion");
	for (size_t i = 0; i < jsondoc_count(files); i++)
		if (read_answer_row(jsondoc_at(files, i), out, e) < 0)
			return err_prefix(e, "files[%zu]: ", i);
	return read_answer_counts(doc, out, e);
}
