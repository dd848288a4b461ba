// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/recheck.h"

#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/verdict.h"

static bool is_verdict(const struct tombstone *t, enum verdict_kind kind)
{
	return t->verdict && strcmp(t->verdict, verdict_name[kind]) == 0;
}

bool recheck_is_upstreams(const struct tombstone *t)
{
	static const enum verdict_kind kinds[] = {VERDICT_DUPLICATE, VERDICT_SUPERSEDED, VERDICT_PURE};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (is_verdict(t, kinds[i]))
			return true;
	return false;
}

static enum recheck_result nobody_can_tell(const char *why, struct buf *words)
{
	buf_clear(words);
	buf_puts(words, why);
	return RECHECK_UNKNOWN;
}

// How upstream's file that the tombstone names is today.
static enum recheck_result look_at_named(const struct tombstone_upstream *was, const struct simplepage_file *now,
	struct buf *words)
{
	if (!now) {
		buf_printf(words, "upstream has no %s any more", was->filename);
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

static enum recheck_result tell_gap(const struct coverage_answer *a, struct buf *words)
{
	size_t i = 0;
	while (i < a->places && !a->place[i].missing)
		i++;
	buf_clear(words);
	buf_puts(words, "upstream has nothing any more that does the same");
	if (i < a->places) {
		buf_puts(words, " on Python ");
		python_print(&a->place[i].environment->python, words);
	}
	return RECHECK_NARROWER;
}

// Of what other files do in its place, or the one of its name.
static enum recheck_result look_at_all(const struct platform *p, const struct coverage_file *ours,
	struct coverage *coverage, enum recheck_result named, struct buf *words)
{
	struct err unsaid = ERR_INIT;
	struct coverage_answer a;
	if (coverage_ask(coverage, &p->profile, ours, INT64_MAX, &a, &unsaid) < 0)
		return nobody_can_tell(unsaid.msg, words);
	CLEANUP(coverage_answer_release) struct coverage_answer answer = a;
	if (answer.kind == COVERAGE_NOWHERE)
		return nobody_can_tell("the platform's profile says nothing of it any more", words);
	if (coverage_is_whole(&answer))
		return RECHECK_HOLDS;
	return named == RECHECK_HOLDS ? tell_gap(&answer, words) : named;
}

static enum recheck_result look_at_coverage(const struct platform *p, const struct recheck_file *file,
	struct coverage *coverage, enum recheck_result named, struct buf *words)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool is_wheel = filename_kind(str_from(file->filename)) == FILENAME_WHEEL;
	if (is_wheel && filename_parse(str_from(file->filename), &name, &unsaid) < 0)
		return nobody_can_tell(unsaid.msg, words);
	const struct coverage_file ours = {.filename = file->filename,
		.name = is_wheel ? &name : NULL,
		.requires_python = file->has_bytes ? file->requires_python : file->tombstone->requires_python};
	return look_at_all(p, &ours, coverage, named, words);
}

enum recheck_result justify(const struct platform *platform, const struct recheck_file *file,
	const struct upstream_answer *answer, struct coverage *coverage, struct buf *words)
{
	const struct tombstone *t = file->tombstone;
	if (!recheck_is_upstreams(t))
		return RECHECK_HOLDS;
	if (answer->result == UPSTREAM_ABSENT) {
		buf_puts(words, "upstream has no such project any more");
		return RECHECK_GONE;
	}
	if (answer->result != UPSTREAM_KNOWN || !t->upstream.filename || !coverage)
		return nobody_can_tell(*answer->why ? answer->why : "nobody knows what upstream had", words);
	CLEANUP(buf_release) struct buf unsaid;
	buf_init(&unsaid, words->cap);
	const struct simplepage_file *now = simplepage_find(answer->page, t->upstream.filename);
	enum recheck_result result = look_at_named(&t->upstream, now, &unsaid);
	bool is_other = result == RECHECK_GONE && now;
	if (!is_verdict(t, VERDICT_PURE) && !is_other)
		result = look_at_coverage(platform, file, coverage, result, &unsaid);
	if (result != RECHECK_HOLDS)
		buf_str(words, buf_view(&unsaid));
	return result;
}
