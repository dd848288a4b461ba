// SPDX-License-Identifier: Apache-2.0
#include "promoter/generation-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/compress.h"
#include "lib/state/views/evidence-file.h"

static struct generation_file copy_file(struct arena *text, const struct membership_file *f, bool is_removed)
{
	struct generation_file out = {.platform = arena_strdup(text, f->platform),
		.project = arena_strdup(text, f->project),
		.filename = arena_strdup(text, f->filename),
		.is_removed = is_removed};
	memcpy(out.sha256, f->sha256, SHA256_SIZE);
	out.tested = membership_tested_copy(text, f->tested, f->testeds);
	out.testeds = f->testeds;
	return out;
}

// An override of which the generation speaks.
struct found_override {
	struct arena *text;
	const char *by, *reason; // NULL: it is none
};

static int note_override_words(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	struct found_override *f = ctx;
	if (!row->overrides)
		return 0;
	f->by = arena_strdup(f->text, row->by);
	f->reason = arena_strdup(f->text, row->overrides);
	return 0;
}

static void mark_wheel(struct generation_files *out, const struct evidence_wheel *w, const struct found_override *f)
{
	for (size_t i = 0; i < out->files; i++) {
		struct generation_file *file = &out->file[i];
		if (!file->is_removed && memcmp(file->sha256, w->sha256, SHA256_SIZE) == 0 &&
			strcmp(file->filename, w->filename) == 0) {
			file->override_by = f->by;
			file->override = f->reason;
		}
	}
}

static int mark_override(struct catalog *c, const uint8_t id[SHA256_SIZE], struct generation_files *out, struct err *e)
{
	struct found_override f = {.text = &out->text};
	CLEANUP(buf_release) struct buf text = buf_up_to(2 * LIMIT_EVIDENCE);
	CLEANUP(evidence_file_release) struct evidence_file file = {0};
	if (catalog_evidence_find(c, id, note_override_words, &f, e) < 0)
		return -1;
	if (!f.reason)
		return 0;
	if (catalog_evidence_get(c, id, &text, e) < 0 || evidence_file_read(buf_view(&text), &file, e) < 0)
		return -1;
	for (size_t i = 0; i < file.record.wheels; i++)
		mark_wheel(out, &file.record.wheel[i], &f);
	return 0;
}

// --- what a rollback brings back ---

// A file that has an override, and the generation that brought it first.
struct brought_back {
	struct generation_file *file;
	int64_t generation;
};

struct rollback_search {
	struct catalog *catalog;
	const struct membership_change *rollback;
	struct generation_files *out;
	size_t most; // bytes
	struct brought_back *found;
	size_t count;
	int64_t reads; // the generation that is read
};

static int note_override(void *ctx, const struct catalog_evidence *row, struct err *e UNUSED)
{
	*(bool *)ctx |= row->overrides != NULL;
	return 0;
}

static int compare_brought_back(const void *a, const void *b)
{
	const struct brought_back *x = a, *y = b;
	int order = (x->generation > y->generation) - (x->generation < y->generation);
	order = order ? order : strcmp(x->file->filename, y->file->filename);
	return order ? order : strcmp(x->file->platform, y->file->platform);
}

static int find_brought_back(struct rollback_search *s, struct err *e)
{
	for (size_t i = 0; i < s->out->files; i++) {
		struct generation_file *f = &s->out->file[i];
		const struct catalog_tested wheel = {.project = f->project, .sha256 = f->sha256};
		struct brought_back *b = &s->found[s->count];
		bool has_override = false;
		*b = (struct brought_back){.file = f};
		if (f->is_removed)
			continue;
		if (catalog_evidence_of(s->catalog, &wheel, UINT32_MAX, note_override, &has_override, e) < 0 ||
			(has_override && catalog_view_came(s->catalog, s->rollback->view, f->platform, f->filename, f->sha256,
						 s->rollback->generation, &b->generation, e) < 0))
			return -1;
		s->count += b->generation != 0;
	}
	if (s->count)
		qsort(s->found, s->count, sizeof(*s->found), compare_brought_back);
	return 0;
}

static int read_first_generation(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct rollback_search *s = ctx;
	CLEANUP(generation_files_release) struct generation_files first = {0};
	size_t left = s->most > s->out->bytes ? s->most - s->out->bytes : 0;
	if (generation_files_read(s->catalog, g->packed, left, &first, e) < 0)
		return -1;
	s->out->bytes += first.bytes;
	s->out->is_cut |= first.is_cut;
	for (size_t i = 0; i < first.files; i++) {
		const struct generation_file *f = &first.file[i];
		const struct brought_back key = {&first.file[i], s->reads};
		struct brought_back *to =
			f->override ? bsearch(&key, s->found, s->count, sizeof(key), compare_brought_back) : NULL;
		if (!to)
			continue;
		to->file->override = arena_strdup(&s->out->text, f->override);
		to->file->override_by = arena_strdup(&s->out->text, f->override_by);
	}
	return 0;
}

static int mark_files(struct catalog *c, const struct membership_change *m, size_t most, struct generation_files *out,
	struct err *e)
{
	if (strcmp(m->action, "rollback") != 0) {
		for (size_t i = 0; i < m->evidences; i++)
			if (mark_override(c, m->evidence[i], out, e) < 0)
				return -1;
		return 0;
	}
	struct brought_back *found = ARENA_NEW(&out->text, struct brought_back, out->files);
	struct rollback_search s = {c, m, out, most, found, 0, 0};
	// A rollback stands on no evidence of its own.
	if (find_brought_back(&s, e) < 0)
		return -1;
	for (size_t i = 0; i < s.count; i++) {
		if (i && s.found[i].generation == s.found[i - 1].generation)
			continue;
		s.reads = s.found[i].generation;
		if (catalog_view_generation(s.catalog, s.rollback->view, s.reads, read_first_generation, &s, e) < 0)
			return -1;
	}
	return 0;
}

int generation_files_read(struct catalog *c, struct str packed, size_t most, struct generation_files *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(most);
	CLEANUP(membership_release) struct membership_change m = {0};
	struct err why = ERR_INIT;
	*out = (struct generation_files){0};
	if (decompress_zstd(packed, &text, &why) < 0) {
		out->is_cut = why.kind == ERR_LIMIT;
		*e = why;
		return out->is_cut ? 0 : -1;
	}
	if (membership_read(buf_view(&text), &m, e) < 0)
		return -1;
	out->bytes = text.len;
	out->file = ARENA_NEW(&out->text, struct generation_file, m.adds + m.removes);
	for (size_t i = 0; i < m.adds; i++)
		out->file[out->files++] = copy_file(&out->text, &m.add[i], false);
	for (size_t i = 0; i < m.removes; i++)
		out->file[out->files++] = copy_file(&out->text, &m.remove[i], true);
	if (mark_files(c, &m, most, out, e) == 0)
		return 0;
	generation_files_release(out);
	return -1;
}

void generation_files_release(struct generation_files *g)
{
	arena_release(&g->text);
	*g = (struct generation_files){0};
}

struct jsondoc *generation_file_json(const struct generation_file *f)
{
	char sha256[SHA256_HEX + 1] = "";
	struct jsondoc *doc = jsondoc_object();
	hex_encode(f->sha256, SHA256_SIZE, sha256);
	jsondoc_put_str(doc, "platform", f->platform);
	jsondoc_put_str(doc, "project", f->project);
	jsondoc_put_str(doc, "filename", f->filename);
	jsondoc_put_str(doc, "sha256", sha256);
	jsondoc_put_str(doc, "change", f->is_removed ? "removed" : "added");
	jsondoc_put_str(doc, "override", f->override);
	jsondoc_put_str(doc, "override_by", f->override_by);
	jsondoc_put(doc, "tested", jsonmap_list(&membership_tested_map, f->tested, f->testeds));
	return doc;
}
