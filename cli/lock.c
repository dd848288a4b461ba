// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/domain/lock/lock-read.h"
#include "lib/format/escape.h"

// The groups, or the extras, of the project in which each package stands, by package.
struct named {
	struct jsondoc **groups, **extras; // arrays; NULL: none
};

static void add_group_name(struct jsondoc **list, const char *name)
{
	if (!name)
		return;
	if (!*list)
		*list = jsondoc_array();
	for (size_t i = 0; i < jsondoc_count(*list); i++)
		if (strcmp(jsondoc_at_str(*list, i), name) == 0)
			return;
	jsondoc_add_str(*list, name);
}

static void find_names(const struct lock *l, struct session *s, struct named *out)
{
	out->groups = ARENA_NEW(&s->arena, struct jsondoc *, l->packages);
	out->extras = ARENA_NEW(&s->arena, struct jsondoc *, l->packages);
	for (size_t i = 0; i < l->slots; i++)
		for (size_t k = 0; l->slot[i].is_root && k < l->slot[i].edges; k++) {
			size_t package = l->slot[l->edge[l->slot[i].edge + k].to].package;
			add_group_name(&out->groups[package], l->slot[i].group);
			add_group_name(&out->extras[package], l->slot[i].extra);
		}
}

static struct jsondoc *lock_file_json(const struct lock_file *f)
{
	struct jsondoc *doc = jsondoc_new("filename:k url:k line:d", f->filename, f->url, (int64_t)f->line);
	if (f->has_sha256)
		jsondoc_put_sha256(doc, "sha256", f->sha256);
	if (f->size >= 0)
		jsondoc_put_int(doc, "size", f->size);
	return doc;
}

static void put_package(const struct lock *l, size_t number, struct named *names, struct buf *out)
{
	const struct lock_package *p = &l->package[number];
	struct jsondoc *files = jsondoc_array();
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_new("project:s version:s line:d marker:s requires-python:k source:k", p->project,
		p->version, (int64_t)p->line, p->marker, p->requires_python, p->source);
	for (size_t i = 0; i < p->files; i++)
		jsondoc_add(files, lock_file_json(&l->file[p->file + i]));
	struct jsondoc **lists[] = {&names->groups[number], &names->extras[number]};
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		jsondoc_put(doc, i ? "extras" : "groups", *lists[i] ? STEAL_PTR(*lists[i]) : jsondoc_array());
	jsondoc_put(doc, "files", files);
	jsondoc_write_compact(doc, out);
}

// A package a line, without a tree of the whole: a lock may have a million files.
static void put_json(const struct lock *l, const char *path, struct session *s)
{
	struct buf *out = &s->out;
	struct named names;
	find_names(l, s, &names);
	buf_puts(out, "{\"lock\": ");
	escape_json(out, str_from(path));
	buf_printf(out, ", \"kind\": \"%s\", \"requires-python\": ", lock_kind_name[l->kind]);
	if (l->requires_python)
		escape_json(out, str_from(l->requires_python));
	else
		buf_puts(out, "null");
	buf_printf(out, ", \"skipped\": %zu, \"rows\": [", l->skipped);
	for (size_t i = 0; i < l->packages; i++) {
		buf_puts(out, i ? ",\n" : "\n");
		put_package(l, i, &names, out);
	}
	buf_puts(out, "\n]}\n");
}

static void put_table(const struct lock *l, const char *path, struct buf *out)
{
	escape_terminal_line(out, "%s: %s, %s, %s%s", path, lock_kind_name[l->kind],
		COUNTED(l->packages, "package|packages"), COUNTED(l->files, "file or hash|files or hashes"),
		l->requires_python ? ", for Python " : "");
	if (l->requires_python) {
		out->len--; // the line goes on
		escape_terminal_line(out, "%s", l->requires_python);
	}
	for (size_t i = 0; i < l->packages; i++) {
		const struct lock_package *p = &l->package[i];
		escape_terminal_line(out, "  %s %s  %s%s%s%s%s", p->project, p->version ? p->version : "?",
			COUNTED(p->files, "file|files"), p->source ? ", not of an index: " : "",
			p->source ? p->source : "", p->marker ? "  ; " : "", p->marker ? p->marker : "");
	}
}

static int run_lock_show(void *self, struct err *e)
{
	struct session *s = self;
	CLEANUP(lock_release) struct lock l = {0};
	if (s->words != 1)
		return err_set(e, ERR_USAGE, "expected one FILE: a lock file");
	if (lock_read(s->word[0], &l, e) < 0)
		return -1;
	if (s->is_json)
		put_json(&l, s->word[0], s);
	else
		put_table(&l, s->word[0], &s->out);
	return 0;
}

static const struct command command_lock_show = {
	.name = "lock show",
	.arguments = "FILE",
	.help = "print the packages and files that a lock file names",
	.shared = SHARED(JSON),
	.run = run_lock_show,
};

static const struct command *const rows[] = {&command_lock_show, NULL};

const struct command command_lock = {
	.name = "lock",
	.help = "lock files of Python projects: show",
	.rows = rows,
};
