// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "lib/audit/audit-checks.h"
#include "lib/base/limits.h"

static int compare_bytes(const void *a, const void *b)
{
	const struct wheel_elf *one = *(const struct wheel_elf *const *)a, *other = *(const struct wheel_elf *const *)b;
	int order = memcmp(one->sha256, other->sha256, SHA256_SIZE);
	return order ? order : strcmp(one->path, other->path);
}

static int compare_sonames(const void *a, const void *b)
{
	const struct wheel_elf *one = *(const struct wheel_elf *const *)a, *other = *(const struct wheel_elf *const *)b;
	int order = strcmp(one->elf.soname, other->elf.soname);
	if (!order && one->elf.machine != other->elf.machine)
		order = one->elf.machine < other->elf.machine ? -1 : 1;
	if (!order && one->elf.is_64 != other->elf.is_64)
		order = one->elf.is_64 ? 1 : -1;
	return order ? order : compare_bytes(a, b);
}

static bool has_same_bytes(const struct wheel_elf *one, const struct wheel_elf *other)
{
	return memcmp(one->sha256, other->sha256, SHA256_SIZE) == 0;
}

static bool has_same_soname(const struct wheel_elf *one, const struct wheel_elf *other)
{
	return strcmp(one->elf.soname, other->elf.soname) == 0 && one->elf.machine == other->elf.machine &&
	       one->elf.is_64 == other->elf.is_64;
}

static void list_others(struct buf *out, const struct wheel_elf *const *group, size_t count)
{
	buf_init(out, LIMIT_AUDIT_WHY);
	for (size_t i = 1; i < count; i++)
		audit_list_name(out, i - 1, group[i]->path);
	audit_list_end(out, count - 1);
}

static void find_equal_bytes(struct audit_work *w, const struct wheel_elf *const *group, size_t count)
{
	CLEANUP(buf_release) struct buf others;
	list_others(&others, group, count);
	audit_find(w, AUDIT_TWIN_BYTES, group[0]->path,
		"has the same bytes as %s: copies are loaded as separate libraries, each with state of its own",
		others.data);
}

// Of files with equal bytes the other finding tells more.
static void find_equal_sonames(struct audit_work *w, const struct wheel_elf *const *group, size_t count)
{
	CLEANUP(buf_release) struct buf others = {0};
	if (has_same_bytes(group[0], group[count - 1]))
		return;
	list_others(&others, group, count);
	audit_find(w, AUDIT_TWIN_SONAME, group[0]->path,
		"has the SONAME %s, as %s: the first one that is loaded serves all that need this name",
		group[0]->elf.soname, others.data);
}

typedef bool is_twin_fn(const struct wheel_elf *one, const struct wheel_elf *other);
typedef void find_twins_fn(struct audit_work *w, const struct wheel_elf *const *group, size_t count);

static void each_group(struct audit_work *w, const struct wheel_elf **files, size_t count, is_twin_fn *is_twin,
	find_twins_fn *find)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && is_twin(files[i], files[end]);)
			end++;
		if (end - i > 1)
			find(w, files + i, end - i);
	}
}

// Python loads modules by their paths, so that their SONAMEs mean nothing.
void audit_check_twins(struct audit_work *w)
{
	size_t count = 0, named = 0;
	CLEANUP(mem_free) const struct wheel_elf **files = xcalloc(w->layout.count + 1, sizeof(*files));
	CLEANUP(mem_free) const struct wheel_elf **sonames = xcalloc(w->layout.count + 1, sizeof(*sonames));
	for (size_t i = 0; i < w->layout.count; i++) {
		const struct layout_file *f = &w->layout.file[i];
		if (!f->elf->elf.is_shared || !elf_arch_is_host(&f->elf->elf))
			continue;
		files[count++] = f->elf;
		if (f->elf->elf.soname && !f->is_module)
			sonames[named++] = f->elf;
	}
	qsort(files, count, sizeof(*files), compare_bytes);
	each_group(w, files, count, has_same_bytes, find_equal_bytes);
	qsort(sonames, named, sizeof(*sonames), compare_sonames);
	each_group(w, sonames, named, has_same_soname, find_equal_sonames);
}
