// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/plan-entry.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"

static void fill_evidence(const struct simplepage_file *file, bool is_identical, const struct upstream_answer *answer,
	struct planfile_evidence *out)
{
	*out = (struct planfile_evidence){
		.filename = file->filename,
		.url = file->url,
		.index = answer->index,
		.has_sha256 = file->has_sha256,
		.is_identical = is_identical,
		.uploaded = file->uploaded,
		.fetched = answer->fetched,
		.etag = answer->etag,
	};
	memcpy(out->sha256, file->sha256, SHA256_SIZE);
}

// For each environment, upstream's file for it.
static void fill_covers(struct plan_entry *entry, const struct replacement_answer *from)
{
	struct planfile_evidence *out = &entry->plan.evidence;
	entry->cover = xcalloc(from->places + 1, sizeof(*entry->cover));
	entry->label = xcalloc(from->places + 1, sizeof(*entry->label));
	out->cover = entry->cover;
	for (size_t i = 0; i < from->places; i++) {
		const struct replacement_place *place = &from->place[i];
		if (!place->file)
			continue;
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, PLAN_ENTRY_LABEL - 1);
		python_print(&place->environment->python, &text);
		memcpy(entry->label[i], text.data, text.len + 1);
		entry->cover[out->covers++] = (struct planfile_cover){entry->label[i], place->file->filename};
	}
}

void plan_entry_init(struct plan_entry *entry, const char *platform, const char *project,
	const struct catalog_candidate *file, const struct verdict *verdict, const struct upstream_answer *answer)
{
	*entry = (struct plan_entry){.plan = {
					     .platform = platform,
					     .filename = file->filename,
					     .path = file->path,
					     .project = project,
					     .version = file->version,
					     .requires_python = file->requires_python,
					     .size = file->size,
					     .mtime_ns = file->mtime_ns,
					     .has_sha256 = file->sha256 != NULL,
					     .verdict = verdict_name[verdict->kind],
					     .removes = verdict->removes,
					     .why = verdict_why_name[verdict->why],
					     .reason = verdict->reason.data,
				     }};
	if (file->sha256)
		memcpy(entry->plan.sha256, file->sha256, SHA256_SIZE);
	if (!verdict->file || !answer)
		return;
	fill_evidence(verdict->file, verdict->is_identical, answer, &entry->plan.evidence);
	fill_covers(entry, &verdict->evidence);
}

void plan_entry_release(struct plan_entry *entry)
{
	free(entry->cover);
	free(entry->label);
}
