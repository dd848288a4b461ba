// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/wheel-compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auditor/compare/member-pairs.h"
#include "auditor/compare/metadata-diff.h"
#include "lib/audit/audit-wheel.h"
#include "lib/base/limits.h"

const char *const compare_verdict_name[COMPARE_VERDICT_COUNT] = {
	"identical", "same-contents", "same-code", "different"};
const char *const compare_verdict_words[COMPARE_VERDICT_COUNT] = {
	"Identical: the same bytes",
	"Same contents, other ZIP file: only time stamps, order or compression differ",
	"Same code, other metadata: all members outside of .dist-info are equal",
	"Different",
};
const char *const compare_change_name[COMPARE_CHANGE_COUNT] = {"changed", "renamed", "added", "removed"};

// --- members and verdict ---

static bool is_same_bytes(const struct wheel_compare *c, const struct member_pair *p)
{
	return p->a && p->b && wheel_content_is_same(c->a.content, p->a, c->b.content, p->b);
}

static enum compare_change change_of(const struct member_pair *p, bool is_same)
{
	if (!p->a || !p->b)
		return p->a ? COMPARE_REMOVED : COMPARE_ADDED;
	return is_same ? COMPARE_RENAMED : COMPARE_CHANGED;
}

static void note_member(struct wheel_compare *c, const struct member_pair *p)
{
	struct compare_members *m = &c->members;
	bool is_same = is_same_bytes(c, p);
	m->other_modes += is_same && p->a->is_executable != p->b->is_executable;
	if (is_same && !p->has_own_name) {
		m->equal++;
		return;
	}
	enum compare_change change = change_of(p, is_same);
	m->count[change]++;
	if (m->listed < LIMIT_COMPARE_ROWS)
		m->row[m->listed++] = (struct compare_member){change, p->a ? p->a->path : NULL,
			p->b ? p->b->path : NULL, p->a ? p->a->size : 0, p->b ? p->b->size : 0};
}

static bool is_metadata_pair(const struct wheel_compare *c, const struct member_pair *p)
{
	return p->a ? member_is_metadata(c->a.content, p->a->path) : member_is_metadata(c->b.content, p->b->path);
}

// Whether both are RECORD and list the same files: their lines may stand in another order.
static bool is_same_record(const struct wheel_compare *c, const struct member_pair *p)
{
	const struct wheel_content *a = c->a.content, *b = c->b.content;
	return p->a && p->b && a->has_record && b->has_record && strcmp(p->a->path, p->b->path) == 0 &&
	       is_metadata_pair(c, p) && strcmp(p->a->path + strlen(a->dist_info), "/RECORD") == 0 &&
	       memcmp(a->record, b->record, SHA256_SIZE) == 0;
}

static enum compare_verdict judge_pairs(const struct wheel_compare *c, const struct member_pairs *pairs)
{
	enum compare_verdict verdict = COMPARE_SAME_CONTENTS;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct member_pair *p = &pairs->pair[i];
		bool is_same = is_same_bytes(c, p);
		if ((is_same && strcmp(p->a->path, p->b->path) == 0) || is_same_record(c, p))
			continue;
		if ((!is_same || p->has_own_name) && !is_metadata_pair(c, p))
			return COMPARE_DIFFERENT;
		verdict = COMPARE_SAME_CODE;
	}
	return verdict;
}

static void compare_members(struct wheel_compare *c, const struct member_pairs *pairs)
{
	c->is_by_crc = !c->a.content->has_hashes || !c->b.content->has_hashes;
	c->members.row = ARENA_NEW(&c->text, struct compare_member, LIMIT_COMPARE_ROWS);
	for (size_t i = 0; i < pairs->count; i++)
		note_member(c, &pairs->pair[i]);
	c->verdict = memcmp(c->a.sha256, c->b.sha256, SHA256_SIZE) == 0 ? COMPARE_IDENTICAL : judge_pairs(c, pairs);
}

// --- the files ---

static const char *print_hash(struct arena *text, const uint8_t sha256[SHA256_SIZE])
{
	char hex[SHA256_HEX];
	hex_encode(sha256, SHA256_SIZE, hex);
	return arena_copy(text, (struct str){hex, sizeof(hex)});
}

static void add_number(struct wheel_compare *c, const char *name, uint64_t a, uint64_t b)
{
	diff_rows_add_text(&c->file, name, arena_printf(&c->text, "%" PRIu64, a),
		arena_printf(&c->text, "%" PRIu64, b));
}

static void list_tags(const char *name, struct str set, struct arena *text, struct diff_values *out)
{
	while (set.ptr) {
		const char *tag = arena_copy(text, str_cut(&set, '.'));
		diff_values_add(out, (struct diff_value){name, tag, tag, NULL});
	}
}

static void add_tags(struct wheel_compare *c, const char *name, struct str a, struct str b)
{
	struct diff_values left = {.in = &c->text}, right = {.in = &c->text};
	list_tags(name, a, &c->text, &left);
	list_tags(name, b, &c->text, &right);
	diff_rows_add_sets(&c->file, &left, &right);
}

static const char *build_of(struct wheel_compare *c, const struct compare_side *s)
{
	return s->name->build.len ? arena_copy(&c->text, s->name->build) : NULL;
}

// The lowest tag that the wheel really keeps; NULL: unknown.
static const char *kept_tag(struct wheel_compare *c, const struct compare_side *s)
{
	const struct audit_options options = {0};
	struct audit_report report;
	if (!s->facts)
		return NULL;
	audit_wheel(s->facts, s->name, &options, &report);
	const char *tag = arena_copy(&c->text, str_from(report.tag));
	audit_report_release(&report);
	return tag;
}

static void compare_files(struct wheel_compare *c)
{
	const struct compare_side *a = &c->a, *b = &c->b;
	struct diff_rows *r = &c->file;
	diff_rows_add_text(r, "file name", a->filename, b->filename);
	diff_rows_add_text(r, "project", a->name->project, b->name->project);
	diff_rows_add(r, "version", a->name->version.text, b->name->version.text,
		version_cmp(&a->name->version, &b->name->version) == 0);
	diff_rows_add_text(r, "build tag", build_of(c, a), build_of(c, b));
	add_tags(c, "Python tag", a->name->python, b->name->python);
	add_tags(c, "ABI tag", a->name->abi, b->name->abi);
	add_tags(c, "platform tag", a->name->platform, b->name->platform);
	diff_rows_add_text(r, "lowest tag kept", kept_tag(c, a), kept_tag(c, b));
	add_number(c, "bytes", a->size, b->size);
	add_number(c, "bytes unpacked", a->content->unpacked, b->content->unpacked);
	add_number(c, "members", a->content->members, b->content->members);
	diff_rows_add_text(r, "SHA-256", print_hash(&c->text, a->sha256), print_hash(&c->text, b->sha256));
	if (!c->is_by_crc)
		diff_rows_add_text(r, "SHA-256 of the contents", print_hash(&c->text, a->content->sha256),
			print_hash(&c->text, b->content->sha256));
}

// --- libraries ---

static int compare_elf_paths(const void *a, const void *b)
{
	return strcmp((*(const struct wheel_elf *const *)a)->path, (*(const struct wheel_elf *const *)b)->path);
}

struct elf_index {
	const struct wheel_elf **elf; // by path
	size_t count;
};

static void index_elfs(const struct wheel_facts *f, struct arena *text, struct elf_index *out)
{
	out->elf = ARENA_NEW(text, const struct wheel_elf *, f->elfs);
	for (; out->count < f->elfs; out->count++)
		out->elf[out->count] = &f->elf[out->count];
	if (out->count)
		qsort(out->elf, out->count, sizeof(*out->elf), compare_elf_paths);
}

static const struct wheel_elf *find_elf(const struct elf_index *x, const struct wheel_content_member *m)
{
	const struct wheel_elf wanted = {.path = m ? m->path : ""}, *key = &wanted;
	const struct wheel_elf **found =
		x->count ? bsearch(&key, x->elf, x->count, sizeof(*x->elf), compare_elf_paths) : NULL;
	return found ? *found : NULL;
}

static void compare_library(struct wheel_compare *c, const struct wheel_elf *a, const struct wheel_elf *b)
{
	if (!a && !b)
		return;
	if (a && b && memcmp(a->sha256, b->sha256, SHA256_SIZE) == 0) {
		c->libraries_equal++;
		return;
	}
	c->libraries_different++;
	if (c->libraries < LIMIT_COMPARE_LIBRARIES)
		library_diff_make(a, b, &c->text, &c->library[c->libraries++]);
}

static void compare_libraries(struct wheel_compare *c, const struct member_pairs *pairs)
{
	struct elf_index a = {0}, b = {0};
	index_elfs(c->a.facts, &c->text, &a);
	index_elfs(c->b.facts, &c->text, &b);
	c->library = ARENA_NEW(&c->text, struct library_diff, LIMIT_COMPARE_LIBRARIES);
	for (size_t i = 0; i < pairs->count; i++)
		compare_library(c, find_elf(&a, pairs->pair[i].a), find_elf(&b, pairs->pair[i].b));
}

// --- components ---

static void list_components(const struct wheel_facts *f, struct arena *text, struct diff_values *out)
{
	for (size_t i = 0; i < f->components; i++) {
		const struct wheel_component *x = &f->component[i];
		const char *same =
			arena_printf(text, "%s\n%s\n%s", x->name, x->version ? x->version : "", x->purl ? x->purl : "");
		const char *shown = x->purl ? x->purl : x->version ? x->version : "?";
		diff_values_add(out, (struct diff_value){x->name, shown, same, x->name});
	}
}

static void compare_components(struct wheel_compare *c)
{
	struct diff_values a = {.in = &c->text}, b = {.in = &c->text};
	list_components(c->a.facts, &c->text, &a);
	list_components(c->b.facts, &c->text, &b);
	diff_rows_add_sets(&c->components, &a, &b);
	diff_rows_sort(&c->components);
}

void wheel_compare_make(const struct compare_side *a, const struct compare_side *b, struct wheel_compare *out)
{
	struct member_pairs pairs;
	*out = (struct wheel_compare){.a = *a, .b = *b, .has_facts = a->facts && b->facts};
	out->file.in = out->components.in = &out->text;
	member_pairs_make(a->content, b->content, &out->text, &pairs);
	compare_members(out, &pairs);
	compare_files(out);
	metadata_diff_make(buf_view(&a->content->metadata), buf_view(&b->content->metadata), &out->text,
		&out->metadata);
	if (out->has_facts) {
		compare_libraries(out, &pairs);
		compare_components(out);
	}
	provenance_diff_make(a->provenance, b->provenance, &out->text, &out->provenance);
}

void wheel_compare_release(struct wheel_compare *c)
{
	arena_release(&c->text);
	*c = (struct wheel_compare){0};
}
