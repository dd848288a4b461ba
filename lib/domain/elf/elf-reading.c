// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/elf/elf-reading.h"

#include "lib/base/limits.h"
#include "lib/base/mem.h"

int elf_damaged(struct err *e, const char *what)
{
	return err_set(e, ERR_INVALID, "damaged ELF: %s", what);
}

uint64_t elf_reading_room(const struct elf_reading *r, uint64_t offset)
{
	if (offset >= r->bytes.len)
		return 0;
	return r->parts ? elf_outline_room(r->parts, offset) : r->bytes.len - offset;
}

int elf_reading_spend(struct elf_reading *r, size_t size, struct err *e)
{
	bool is_enough = size <= *r->left;
	*r->left -= is_enough ? size : *r->left;
	return is_enough ? 0 : err_set(e, ERR_LIMIT, "the ELF files of the wheel have too many names");
}

int elf_list_add(struct elf_list *list, const char *text, struct err *e)
{
	if (list->count >= LIMIT_ELF_STRINGS)
		return err_set(e, ERR_LIMIT, "the ELF file has more than %d names of a kind", LIMIT_ELF_STRINGS);
	if (list->count % 8 == 0)
		list->item = xreallocarray(list->item, list->count + 8, sizeof(*list->item));
	list->item[list->count++] = text;
	return 0;
}
