// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/wheel-elves.h"

#include <stdlib.h>

#include "lib/facts/large-elf.h"
#include "lib/base/limits.h"
#include "lib/domain/wheel/distinfo.h"
#include "lib/domain/wheel/record.h"

enum { MAGIC = 4 };

// A member that begins as an ELF file does.
struct elf_member {
	const struct zipmember *member;
	bool has_sha256; // of RECORD
	uint8_t sha256[SHA256_SIZE];
};

struct elf_members {
	struct elf_member *item; // in the order of the archive
	struct elf_member **by_name;
	size_t count, room;
	size_t facts_left; // bytes that the facts of further files may have
};

static void elf_members_release(struct elf_members *l)
{
	free(l->item);
	free(l->by_name);
}

static int find_elf_members(struct wheel_reading *r, struct elf_members *l, struct err *e)
{
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = &r->zip.members[i];
		char magic[MAGIC];
		if (m->is_folder || m->size < MAGIC)
			continue;
		long n = zipload_head(r->load, m, magic, MAGIC, e);
		if (n < 0)
			return -1;
		if (!elf_is_elf((struct str){magic, (size_t)n}))
			continue;
		if (l->count == LIMIT_ELF_MEMBERS) {
			wheel_reading_cut(r, "too many ELF files");
			return 0;
		}
		GROW(l->item, l->count, l->room);
		l->item[l->count++] = (struct elf_member){.member = m};
	}
	return 0;
}

static int compare_elf_names(const void *a, const void *b)
{
	const struct elf_member *const *left = a, *const *right = b;
	return str_cmp((*left)->member->name, (*right)->member->name);
}

static int take_record_row(void *ctx, const struct record_row *row, struct err *e UNUSED)
{
	const struct elf_members *l = ctx;
	const struct zipmember member = {.name = row->path};
	const struct elf_member wanted = {.member = &member}, *key = &wanted;
	struct elf_member **found = bsearch(&key, l->by_name, l->count, sizeof(*l->by_name), compare_elf_names);
	if (found)
		(*found)->has_sha256 = record_hash_decode(row->hash, (*found)->sha256) == RECORD_HASH_SHA256;
	return 0;
}

// RECORD has most hashes, which takes a quarter off the time. Where it lies, only its own wheel's facts are wrong.
static int take_record(struct wheel_reading *r, struct elf_members *l, struct err *e)
{
	const struct zipmember *m = distinfo_member(&r->zip, r->folder, "RECORD");
	struct err why = ERR_INIT;
	struct str text;
	if (!l->count || !m)
		return 0;
	l->by_name = xcalloc(l->count, sizeof(*l->by_name));
	for (size_t i = 0; i < l->count; i++)
		l->by_name[i] = &l->item[i];
	qsort(l->by_name, l->count, sizeof(*l->by_name), compare_elf_names);
	if (wheel_reading_load(r, m, LIMIT_RECORD, &text, &why) == 0 &&
		record_foreach(text, take_record_row, l, &why) == 0)
		return 0;
	if (why.kind != ERR_IO)
		return 0;
	*e = why;
	return -1;
}

static size_t size_of_facts(const struct elf_facts *f)
{
	return f->text.total + f->symbols * sizeof(*f->symbol) +
	       (f->needed_versions + f->defined_versions) * sizeof(*f->needed_version) +
	       (f->needed.count + f->toolchain.count) * sizeof(*f->needed.item);
}

static int read_whole_elf(struct wheel_reading *r, struct elf_members *l, const struct elf_member *m,
	struct wheel_elf *elf, struct err *e)
{
	struct str bytes;
	if (wheel_reading_load(r, m->member, LIMIT_ELF_WHOLE, &bytes, e) < 0)
		return -1;
	if (!m->has_sha256)
		digest_sha256(bytes, elf->sha256);
	return elf_facts_read_parts(bytes, NULL, &l->facts_left, &elf->elf, e);
}

static int read_large_elf(struct wheel_reading *r, struct elf_members *l, const struct elf_member *m,
	struct wheel_elf *elf, struct err *e)
{
	CLEANUP(large_elf_release) struct large_elf large = {0};
	if (wheel_reading_spend(r, m->member->size, e) < 0 ||
		large_elf_load(r->load->source, m->member, m->has_sha256 ? NULL : elf->sha256, &large, e) < 0)
		return -1;
	if (elf_facts_read_parts(large.bytes, &large.parts, &l->facts_left, &elf->elf, e) == 0)
		return 0;
	e->kind = ERR_LIMIT; // its sections may not show all that it has
	return err_prefix(e, "of more than %d bytes, the sections lead to the facts: ", LIMIT_ELF_WHOLE);
}

static int read_elf(struct wheel_reading *r, struct elf_members *l, const struct elf_member *m, struct wheel_elf *elf,
	struct err *e)
{
	bool is_large = m->member->size > LIMIT_ELF_WHOLE;
	size_t before = l->facts_left;
	memcpy(elf->sha256, m->sha256, SHA256_SIZE);
	if ((is_large ? read_large_elf(r, l, m, elf, e) : read_whole_elf(r, l, m, elf, e)) < 0)
		return -1;
	size_t size = size_of_facts(&elf->elf), spent = before - l->facts_left;
	if (size <= before) { // the reading counts names, without what memory for them takes more
		l->facts_left = size > spent ? before - size : l->facts_left;
		return 0;
	}
	elf_facts_release(&elf->elf);
	return err_set(e, ERR_LIMIT, "the ELF files of the wheel have too many symbols");
}

int wheel_elves_read(struct wheel_reading *r, struct err *e)
{
	CLEANUP(elf_members_release) struct elf_members l = {.facts_left = LIMIT_FACTS};
	struct wheel_facts *f = r->out;
	if (find_elf_members(r, &l, e) < 0 || take_record(r, &l, e) < 0)
		return -1;
	f->elf = xcalloc(l.count + 1, sizeof(*f->elf));
	for (; f->elfs < l.count; f->elfs++) {
		const struct elf_member *m = &l.item[f->elfs];
		struct wheel_elf *elf = &f->elf[f->elfs];
		struct err why = ERR_INIT;
		*elf = (struct wheel_elf){.path = arena_copy(&f->text, m->member->name), .size = m->member->size};
		if (read_elf(r, &l, m, elf, &why) == 0)
			continue;
		if (why.kind == ERR_IO) {
			*e = why;
			return -1;
		}
		elf->damage = arena_copy(&f->text, str_from(why.msg));
		elf->is_beyond_limit = why.kind == ERR_LIMIT;
		if (elf->is_beyond_limit)
			wheel_reading_cut(r, why.msg);
	}
	return 0;
}
