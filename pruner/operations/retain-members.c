// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/retain-members.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/text/filename.h"
#include "lib/state/views/membership.h"
#include "pruner/plan/pins.h"

enum { ATTEMPTS = 20 }; // each lost to another writer

// A member, with its version's key.
struct ending_member {
	struct membership_file file;
	int64_t platform; // its id
	struct str key;
	bool ends;
};

struct ending_members {
	const struct retain_members *retain;
	struct ending_member *item; // by project
	size_t count, room;
	struct arena text;
};

static void ending_members_release(struct ending_members *all)
{
	free(all->item);
	arena_release(&all->text);
}

// A member whose name cannot be parsed does not end.
static int add_any_member(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct ending_members *all = ctx;
	struct err wrong = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	const struct platform *p = store_platform(&all->retain->site->store, m->platform);
	if (!p || filename_parse_listed(str_from(m->filename), m->project, &name, &wrong) < 0)
		return 0;
	GROW(all->item, all->count, all->room);
	struct ending_member *one = &all->item[all->count++];
	struct str key = {arena_copy(&all->text, name.version.key), name.version.key.len};
	*one = (struct ending_member){.platform = m->platform,
		.key = key,
		.file = {.platform = p->name,
			.project = arena_copy(&all->text, str_from(m->project)),
			.filename = arena_copy(&all->text, str_from(m->filename))}};
	memcpy(one->file.sha256, m->sha256, SHA256_SIZE);
	return 0;
}

static bool is_key_of_ending(const struct view_channel_project *p, struct str key)
{
	for (size_t i = 0; i < p->files; i++)
		if (str_eq(p->file[i].file.version_key, key))
			return p->version[p->file[i].version].decision == RETENTION_ENDS;
	return false;
}

// Marks the members of the versions that end, of one project: `count` items from `first` on.
static int mark_ending(struct ending_members *all, struct view_channel *c, size_t first, size_t count, struct err *e)
{
	CLEANUP(view_channel_project_release) struct view_channel_project p = {0};
	if (view_channel_read(c, all->item[first].file.project, &p, e) < 0)
		return -1;
	for (size_t i = first; i < first + count; i++)
		all->item[i].ends = is_key_of_ending(&p, all->item[i].key);
	return 0;
}

static int mark_all_ending(struct ending_members *all, struct err *e)
{
	const struct retain_members *r = all->retain;
	CLEANUP(view_channel_cleanup) struct view_channel *c = NULL;
	if (view_channel_open(r->site, r->view, r->operation->catalog, r->now, &c, e) < 0)
		return -1;
	view_channel_keep(c, r->kept);
	view_channel_look_at_disk(c);
	for (size_t i = 0, count; i < all->count; i += count) {
		for (count = 1; i + count < all->count; count++)
			if (strcmp(all->item[i].file.project, all->item[i + count].file.project) != 0)
				break;
		if (mark_ending(all, c, i, count, e) < 0)
			return -1;
	}
	return 0;
}

static int audit_members(const struct retain_members *r, const struct membership_file *file, size_t count,
	struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		const struct platform *p = store_platform_named(&r->site->store, str_from(file[i].platform));
		char digits[SHA256_HEX + 1] = "";
		hex_encode(file[i].sha256, SHA256_SIZE, digits);
		CLEANUP(mem_free) char *reason = xasprintf("view %s: %s", r->view->name, r->reason);
		const struct audit_entry entry = {.who = r->operation->who,
			.action = "retain",
			.platform = p->name,
			.project = file[i].project,
			.file = file[i].filename,
			.sha256 = digits,
			.result = "done",
			.reason = reason};
		if (audit_write(r->operation->audit, &entry, e) < 0)
			return -1;
	}
	return 0;
}

static int append_generation(struct retain_members *r, const struct membership_file *file, size_t count, int64_t newest,
	struct err *e)
{
	struct membership_change change = {.view = r->view->name,
		.generation = newest + 1,
		.action = "retain",
		.by = r->operation->who,
		.address = "",
		.reason = r->reason,
		.remove = file,
		.removes = count};
	CLEANUP(mem_free) char *folder = NULL;
	if (views_folder(&r->site->config, &folder, e) < 0 ||
		membership_append(folder, r->operation->catalog, &change, e) < 0)
		return -1;
	r->generation = newest + 1;
	return audit_members(r, file, count, e);
}

static void report_members(const struct retain_members *r, const struct ending_members *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].ends)
			operation_report(r->operation, store_platform(&r->site->store, all->item[i].platform),
				all->item[i].file.filename, r->is_dry ? OPERATION_WOULD : OPERATION_DONE, 0, r->reason);
}

static int try_to_end(struct retain_members *r, struct err *e)
{
	CLEANUP(ending_members_release) struct ending_members all = {.retain = r};
	struct catalog_view v;
	if (pins_sync(&r->site->config, r->operation->catalog, e) < 0 ||
		catalog_view_find(r->operation->catalog, r->view->name, &v, e) < 0 ||
		catalog_view_members(r->operation->catalog, r->view->name, v.generation, NULL, add_any_member, &all,
			e) < 0 ||
		mark_all_ending(&all, e) < 0)
		return -1;
	CLEANUP(mem_free) struct membership_file *file = xcalloc(all.count + 1, sizeof(*file));
	size_t count = 0;
	for (size_t i = 0; i < all.count; i++)
		if (all.item[i].ends)
			file[count++] = all.item[i].file;
	if (count && !r->is_dry && append_generation(r, file, count, v.generation, e) < 0)
		return -1;
	r->files = count;
	report_members(r, &all);
	return 0;
}

int retain_members_end(struct retain_members *r, struct err *e)
{
	for (int i = 1;; i++) {
		struct err why = ERR_INIT;
		if (try_to_end(r, &why) == 0)
			return 0;
		if (why.kind != ERR_CONFLICT || i == ATTEMPTS) {
			*e = why;
			return -1;
		}
	}
}
