// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/provenance.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/filename.h"

const char *const provenance_kind_name[PROVENANCE_KIND_COUNT] = {
	[PROVENANCE_BUILDER] = "builder",
	[PROVENANCE_DEPENDENCY] = "dependency",
	[PROVENANCE_TOOL] = "tool",
	[PROVENANCE_MACHINE] = "machine",
	[PROVENANCE_PARAMETER] = "parameter",
};

void provenance_release(struct provenance *p)
{
	free(p->subject);
	free(p->row);
	arena_release(&p->text);
	*p = (struct provenance){0};
}

// --- the file ---

static bool names_mean_same(const char *one, const struct filename *parsed, const char *other)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename b = {0};
	if (strcmp(one, other) == 0)
		return true;
	if (!parsed->project || filename_parse(str_from(other), &b, &ignored) < 0)
		return false;
	return parsed->kind == b.kind && strcmp(parsed->project, b.project) == 0 &&
	       version_cmp(&parsed->version, &b.version) == 0 && str_eq(parsed->build, b.build) &&
	       str_eq(parsed->python, b.python) && str_eq(parsed->abi, b.abi) && str_eq(parsed->platform, b.platform);
}

// The subject of this name; NULL: none, or (*is_again) several.
static const struct provenance_subject *find_subject(const struct provenance *p, const char *filename, bool *is_again)
{
	struct err ignored = ERR_INIT;
	const struct provenance_subject *found = NULL;
	CLEANUP(filename_release) struct filename parsed = {0};
	if (filename_parse(str_from(filename), &parsed, &ignored) < 0)
		parsed = (struct filename){0};
	if (p->subjects == 1 && !p->subject[0].name)
		return &p->subject[0];
	for (size_t i = 0; i < p->subjects; i++) {
		if (!p->subject[i].name || !names_mean_same(filename, &parsed, p->subject[i].name))
			continue;
		*is_again = found != NULL;
		if (found)
			return NULL;
		found = &p->subject[i];
	}
	return found;
}

int provenance_digest(const struct provenance *p, const char *filename, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	bool is_again = false;
	const struct provenance_subject *s = find_subject(p, filename, &is_again);
	if (is_again)
		return err_set(e, ERR_INVALID, "provenance: several subjects are %s", filename);
	if (!s)
		return err_set(e, ERR_INVALID, "provenance: %s is not among its subjects", filename);
	if (!s->has_sha256)
		return err_set(e, ERR_INVALID, "provenance: the subject %s has no sha256", filename);
	memcpy(sha256, s->sha256, SHA256_SIZE);
	return 0;
}

// --- its source ---

bool provenance_commit_is_valid(struct str commit)
{
	for (size_t i = 0; i < commit.len; i++)
		if (!ascii_is_digit(commit.ptr[i]) && !(commit.ptr[i] >= 'a' && commit.ptr[i] <= 'f'))
			return false;
	return commit.len == 40 || commit.len == PROVENANCE_COMMIT;
}

// The only commit of the dependencies that are the source, or of all.
static const char *only_commit(const struct provenance *p, bool of_source)
{
	const char *found = NULL;
	for (size_t i = 0; i < p->rows; i++) {
		const struct provenance_row *row = &p->row[i];
		if (!row->commit || (of_source && strcmp(row->component, "source") != 0))
			continue;
		if (found && strcmp(found, row->commit) != 0)
			return NULL;
		found = row->commit;
	}
	return found;
}

static bool has_source(const struct provenance *p)
{
	for (size_t i = 0; i < p->rows; i++)
		if (p->row[i].commit && strcmp(p->row[i].component, "source") == 0)
			return true;
	return false;
}

const char *provenance_commit(const struct provenance *p)
{
	const char *found = p->is_cut ? NULL : only_commit(p, has_source(p));
	return found && *found ? found : NULL;
}
