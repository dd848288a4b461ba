// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-checks.h"
#include "lib/base/limits.h"

// What is said of the folders of a search path, by where they lead; NULL: nothing.
static const struct {
	enum audit_code code;
	const char *why;
} words[] = {
	[LAYOUT_HERE] = {AUDIT_CODE_COUNT, NULL},
	[LAYOUT_ABSENT] = {AUDIT_CODE_COUNT, NULL},
	[LAYOUT_UNKNOWN] = {AUDIT_CODE_COUNT, NULL},
	[LAYOUT_ABSOLUTE] = {AUDIT_ABSOLUTE_RPATH,
		"the system may have another library there, or an attacker put one there: it loads before the right one"},
	[LAYOUT_OUTSIDE] = {AUDIT_RPATH, "that is outside of the installed packages, and depends on where they are"},
	[LAYOUT_PACKAGE] = {AUDIT_RPATH,
		"that is a folder of another package, whose libraries may be absent or of another version"},
	[LAYOUT_RELATIVE] = {AUDIT_RPATH,
		"without $ORIGIN, it is relative to the folder in which a program is started"},
};
enum { COST_ENTRY = 256 }; // searches among the names of members
enum { PLACES = ARRAY_SIZE(words), PATH_MOST = 256 << 10, SHOWN = 100 };

struct path_list {
	struct buf names;
	size_t count;
};

static void take_entry(struct audit_work *w, const struct layout_file *f, struct str entry, struct path_list *lists,
	struct buf *room)
{
	enum layout_place place = layout_resolve(&w->layout, f->dir, entry, room);
	if (!words[place].why)
		return;
	CLEANUP(mem_free)
	char *text =
		entry.len ? xasprintf("\"" STR_FMT "\"", STR_ARG(str_head(entry, SHOWN))) : xstrdup("an empty name");
	audit_list_name(&lists[place].names, lists[place].count++, text);
}

static void judge_path(struct audit_work *w, const struct layout_file *f, const char *path)
{
	struct path_list lists[PLACES] = {0};
	CLEANUP(buf_release) struct buf room;
	struct str rest = str_from(path);
	buf_init(&room, PATH_MOST);
	for (size_t i = 0; i < PLACES; i++)
		buf_init(&lists[i].names, LIMIT_AUDIT_WHY);
	for (size_t i = 0; rest.ptr && i < LIMIT_AUDIT_SEARCH_PATHS && audit_links_step(&w->links, COST_ENTRY); i++)
		take_entry(w, f, str_cut(&rest, ':'), lists, &room);
	for (size_t i = 0; i < PLACES; i++) {
		audit_list_end(&lists[i].names, lists[i].count);
		if (lists[i].count)
			audit_find(w, words[i].code, f->elf->path, "searches %s: %s", lists[i].names.data,
				words[i].why);
		buf_release(&lists[i].names);
	}
}

void audit_check_paths(struct audit_work *w)
{
	for (size_t i = 0; i < w->layout.count; i++) {
		const char *path = layout_search_path(&w->layout.file[i].elf->elf);
		if (path && elf_arch_is_host(&w->layout.file[i].elf->elf))
			judge_path(w, &w->layout.file[i], path);
	}
}
