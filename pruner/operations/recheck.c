// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/recheck.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/verdict.h"

static bool has_verdict(const struct tombstone *t, enum verdict_kind kind)
{
	return t->verdict && strcmp(t->verdict, verdict_name[kind]) == 0;
}

bool recheck_is_due_to_upstream(const struct tombstone *t)
{
	static const enum verdict_kind kinds[] = {VERDICT_DUPLICATE, VERDICT_SUPERSEDED, VERDICT_PURE};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (has_verdict(t, kinds[i]))
			return true;
	return false;
}

static enum recheck_result set_unknown(const char *why, struct buf *words)
{
	buf_clear(words);
	buf_puts(words, why);
	return RECHECK_UNKNOWN;
}

// Compares the file that the tombstone names with what upstream has now.
static enum recheck_result recheck_named_file(const struct tombstone_upstream *was, const struct simplepage_file *now,
	struct buf *words)
{
	if (!now) {
		buf_printf(words, "upstream no longer has %s", was->filename);
		return RECHECK_GONE;
	}
	if (now->yanked) {
		buf_printf(words, "upstream has yanked %s%s%s", now->filename, *now->yanked ? ": " : "", now->yanked);
		return RECHECK_YANKED;
	}
	if (was->has_sha256 && now->has_sha256 && memcmp(was->sha256, now->sha256, SHA256_SIZE) != 0) {
		buf_printf(words, "upstream has other bytes under the name %s", now->filename);
		return RECHECK_GONE;
	}
	return RECHECK_HOLDS;
}

// Whether upstream's files, together, still install wherever ours did.
static enum recheck_result recheck_environments(const struct platform *p, const struct replacement_file *ours,
	struct replacement *replacement, enum recheck_result named, struct buf *words)
{
	struct err why = ERR_INIT;
	struct replacement_answer a;
	if (replacement_compute(replacement, &p->profile, ours, INT64_MAX, &a, &why) < 0)
		return set_unknown(why.msg, words);
	CLEANUP(replacement_answer_release) struct replacement_answer answer = a;
	if (answer.kind == REPLACEMENT_NOWHERE)
		return set_unknown("no Python of the platform's profile installs it now", words);
	if (replacement_is_complete(&answer))
		return RECHECK_HOLDS;
	if (named != RECHECK_HOLDS)
		return named;
	size_t i = 0;
	while (i < answer.places && !answer.place[i].missing)
		i++;
	buf_clear(words);
	buf_puts(words, "upstream no longer has a replacement");
	if (i < answer.places) {
		buf_puts(words, " on Python ");
		python_print(&answer.place[i].environment->python, words);
	}
	return RECHECK_NARROWER;
}

static enum recheck_result recheck_replacement(const struct platform *p, const struct recheck_file *file,
	struct replacement *replacement, enum recheck_result named, struct buf *words)
{
	struct err why = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool is_wheel = filename_kind(str_from(file->filename)) == FILENAME_WHEEL;
	if (is_wheel && filename_parse(str_from(file->filename), &name, &why) < 0)
		return set_unknown(why.msg, words);
	const struct replacement_file ours = {.filename = file->filename,
		.name = is_wheel ? &name : NULL,
		.requires_python = file->has_bytes ? file->requires_python : file->tombstone->requires_python};
	return recheck_environments(p, &ours, replacement, named, words);
}

enum recheck_result recheck_tombstone(const struct platform *platform, const struct recheck_file *file,
	const struct upstream_answer *answer, struct replacement *replacement, struct buf *words)
{
	const struct tombstone *t = file->tombstone;
	if (!recheck_is_due_to_upstream(t))
		return RECHECK_HOLDS;
	if (answer->result == UPSTREAM_ABSENT) {
		buf_puts(words, "upstream no longer has the project");
		return RECHECK_GONE;
	}
	if (answer->result != UPSTREAM_KNOWN || !t->upstream.filename || !replacement)
		return set_unknown(*answer->why ? answer->why : "the tombstone does not say what upstream had", words);
	CLEANUP(buf_release) struct buf reason = buf_up_to(words->cap);
	const struct simplepage_file *now = simplepage_find(answer->page, t->upstream.filename);
	enum recheck_result result = recheck_named_file(&t->upstream, now, &reason);
	bool is_other = result == RECHECK_GONE && now;
	if (!has_verdict(t, VERDICT_PURE) && !is_other)
		result = recheck_replacement(platform, file, replacement, result, &reason);
	if (result != RECHECK_HOLDS)
		buf_str(words, buf_view(&reason));
	return result;
}

// --- yanked releases ---

struct yanked_release {
	struct version version;
	bool is_offered;    // a file of it is not yanked
	const char *reason; // the first that the page gives; valid while the page is read
	const char *text;   // of the mark; NULL: it is offered
};

struct yanked_releases {
	struct yanked_release *release; // by version, each once
	size_t count;
	bool has_any;
	struct arena room; // of all
};

static int compare_versions(const void *a, const void *b)
{
	const struct yanked_release *x = a, *y = b;
	return version_cmp(&x->version, &y->version);
}

static void add_page_file(struct yanked_releases *y, const struct simplepage_file *file, const char *project)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(file->filename), &name, &ignored) < 0 || strcmp(name.project, project) != 0)
		return;
	y->release[y->count++] = (struct yanked_release){.version = name.version,
		.is_offered = !file->yanked,
		.reason = file->yanked && *file->yanked ? file->yanked : NULL};
	name.version = (struct version){0};
}

// The reason in one line, and a line with the index that it follows.
static const char *make_mark_text(struct arena *room, const struct yanked_release *r, const char *index)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	mark_reason(MARK_YANKED, str_from(r->reason ? r->reason : ""), &text);
	buf_printf(&text, "\n" MARK_FROM_UPSTREAM "%s\n", index);
	return arena_copy(room, buf_view(&text));
}

struct yanked_releases *yanked_releases_new(const struct simplepage *page, const char *project, const char *index)
{
	struct yanked_releases *y = xcalloc(1, sizeof(*y));
	y->release = ARENA_NEW(&y->room, struct yanked_release, page->files);
	for (size_t i = 0; i < page->files; i++)
		add_page_file(y, &page->file[i], project);
	qsort(y->release, y->count, sizeof(*y->release), compare_versions);
	// Merges the entries of one version into one.
	size_t kept = 0;
	for (size_t i = 0; i < y->count; i++) {
		struct yanked_release *one = &y->release[i], *before = kept ? &y->release[kept - 1] : NULL;
		if (!before || version_cmp(&before->version, &one->version) != 0) {
			y->release[kept++] = *one;
			continue;
		}
		before->is_offered |= one->is_offered;
		before->reason = before->reason ? before->reason : one->reason;
		version_release(&one->version);
	}
	y->count = kept;
	for (size_t i = 0; i < y->count; i++) {
		struct yanked_release *r = &y->release[i];
		r->text = r->is_offered ? NULL : make_mark_text(&y->room, r, index);
		y->has_any |= !r->is_offered;
	}
	return y;
}

static void free_yanked_releases(struct yanked_releases *y)
{
	if (!y)
		return;
	for (size_t i = 0; i < y->count; i++)
		version_release(&y->release[i].version);
	arena_release(&y->room);
	free(y);
}

void yanked_releases_cleanup(struct yanked_releases **y)
{
	free_yanked_releases(*y);
	*y = NULL;
}

bool yanked_releases_has_any(const struct yanked_releases *y)
{
	return y->has_any;
}

static const struct yanked_release *find_release(const struct yanked_releases *y, struct str version_key)
{
	const struct yanked_release key = {.version = {.key = version_key}};
	return bsearch(&key, y->release, y->count, sizeof(key), compare_versions);
}

static const struct yanked_release *find_release_of_file(const struct yanked_releases *y, const char *filename)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse(str_from(filename), &name, &ignored) < 0 ? NULL : find_release(y, name.version.key);
}

const char *yanked_releases_of_key(const struct yanked_releases *y, struct str version_key)
{
	const struct yanked_release *r = find_release(y, version_key);
	return r ? r->text : NULL;
}

const char *yanked_releases_of_name(const struct yanked_releases *y, const char *filename)
{
	const struct yanked_release *r = find_release_of_file(y, filename);
	return r ? r->text : NULL;
}

bool yanked_releases_offers(const struct yanked_releases *y, const char *filename)
{
	const struct yanked_release *r = find_release_of_file(y, filename);
	return r && r->is_offered;
}
