// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-writes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor/file-system.h"
#include "lib/base/mem.h"
#include "lib/os/fs.h"
#include "lib/state/access/audit.h"
#include "lib/state/access/tokens.h"
#include "lib/state/results/results.h"
#include "lib/state/views/membership.h"

void doctor_writes_release(struct doctor_writes *w)
{
	for (size_t i = 0; i < w->count; i++) {
		free(w->item[i].what);
		free(w->item[i].folder);
	}
	free(w->item);
	*w = (struct doctor_writes){0};
}

// The folder that the path is in, in place; "." of a name alone.
static void cut_last_part(char *path)
{
	char *slash = strrchr(path, '/');
	if (!slash)
		*path = '.';
	char *end = slash && slash != path ? slash : path + 1;
	*end = '\0';
}

// Goes up to the nearest folder that is there, in place: the server makes those below it.
static char *cut_missing(char *path)
{
	while (access(path, F_OK) < 0 && strcmp(path, "/") != 0 && strcmp(path, ".") != 0)
		cut_last_part(path);
	return path;
}

// Takes over what and path. A folder that is there already is not added again.
static void add_write(struct doctor_writes *w, char *what, char *path, bool is_needed)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *name = what;
	CLEANUP(mem_free) char *owned = path;
	CLEANUP(mem_free) char *real = fs_real_path(path, &ignored);
	CLEANUP(mem_free) char *folder = real ? STEAL_PTR(real) : STEAL_PTR(owned);
	for (size_t i = 0; i < w->count; i++)
		if (strcmp(w->item[i].folder, folder) == 0)
			return;
	w->item = xreallocarray(w->item, w->count + 1, sizeof(*w->item));
	w->item[w->count++] = (struct doctor_write){STEAL_PTR(name), STEAL_PTR(folder), is_needed};
}

// Takes over path.
static void add_file(struct doctor_writes *w, const char *what, char *path)
{
	cut_last_part(path);
	add_write(w, xstrdup(what), cut_missing(path), true);
}

void doctor_writes_platform(struct doctor_writes *w, const struct platform *p)
{
	add_write(w, xasprintf("platform %s", p->name), xstrdup(p->write_path ? p->write_path : p->path),
		p->write_path != NULL);
}

static bool has_membership(const struct config *c)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].from)
			return true;
	return false;
}

static bool merges_upstream(const struct config *c)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].upstream && strcmp(c->views[i].upstream, "merge") == 0)
			return true;
	return c->upstream_merge;
}

void doctor_writes_state(struct doctor_writes *w, const struct config *c, const char *catalog_path)
{
	static const char unix_socket[] = "unix:";
	char *views = has_membership(c) ? views_folder_or_none(c) : NULL;
	add_file(w, "the catalog", xstrdup(catalog_path));
	add_file(w, "the tokens", tokens_path(c, catalog_path));
	add_file(w, "the audit log", audit_path(c, catalog_path));
	if (views)
		add_write(w, xstrdup("the memberships of views"), cut_missing(views), true);
	if (merges_upstream(c) && c->upstream_files_path)
		add_write(w, xstrdup("the cache of upstream's files"), cut_missing(xstrdup(c->upstream_files_path)),
			true);
	if (c->branch_count)
		add_file(w, "the results of builds", results_path(c, catalog_path));
	if (c->branch_count && c->build_work_path)
		add_write(w, xstrdup("the work of builds"), cut_missing(xstrdup(c->build_work_path)), true);
	if (c->access_log && strcmp(c->access_log, "-") != 0)
		add_file(w, "the access log", xstrdup(c->access_log));
	if (strncmp(c->listen, unix_socket, strlen(unix_socket)) == 0)
		add_file(w, "the socket", xstrdup(c->listen + strlen(unix_socket)));
}

// The file server decides who may write to it, and only a write tells.
static int may_write(const char *folder, struct err *e)
{
	if (access(folder, W_OK | X_OK) < 0)
		return err_errno(e, ERR_IO, "%s", folder);
	return file_system_of(folder).is_remote ? file_system_try_write(folder, e) : 0;
}

void doctor_writes_report(const struct doctor_writes *w, struct doctor_report *r)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct doctor_write *x = &w->item[i];
		struct err why = ERR_INIT;
		if (may_write(x->folder, &why) == 0)
			doctor_report_add(r, DOCTOR_FINE, "writing", "", "%s: %s can be written", x->what, x->folder);
		else
			doctor_report_add(r, x->is_needed ? DOCTOR_WRONG : DOCTOR_WARNING, "writing",
				x->is_needed ? "give the account of the service the right to write there: chown, chmod"
					     : "give the account of the service the right to write there, if files are "
					       "to be uploaded, yanked or pruned",
				"%s: this account cannot write to %s", x->what, why.msg);
	}
}
