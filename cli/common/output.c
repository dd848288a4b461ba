// SPDX-License-Identifier: Apache-2.0
#include "cli/common/output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/fs.h"
#include "lib/os/safefile.h"

int output_summary(struct session *s, const struct summary *summary, struct err *e)
{
	if (s->is_json) {
		summary_json(summary, &s->out);
		return session_print(s, e);
	}
	(s->is_quiet ? summary_print_problems : summary_print)(summary, stdout);
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the summary") : 0;
}

int output_write_file(const char *option, const char *path, struct str bytes, struct err *e)
{
	struct stat st;
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "%s %s: it is there, and no regular file", option, path);
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	CLEANUP(mem_free) char *name = NULL;
	CLEANUP(mem_close) int folder = safefile_parent(path, false, &name, e);
	CLEANUP(mem_free) char *tmp = xasprintf(".%s.%ld", name ? name : "", (long)getpid());
	if (folder < 0 || fs_tmp_open(&file, folder, tmp, name, e) < 0 || fs_tmp_write(&file, bytes, e) < 0 ||
		fs_tmp_publish(&file, e) < 0)
		return err_prefix(e, "cannot write %s: ", path);
	return fs_sync_dir(folder, e);
}

void output_table_add(struct arena *arena, struct output_table *t, const char *const *cell)
{
	for (size_t i = 0; i < t->columns; i++) {
		ARENA_GROW(arena, t->cell, t->count, t->room);
		t->cell[t->count++] = cell[i];
	}
}

void output_table_print(const struct output_table *t, struct buf *out)
{
	size_t last = t->columns - 1;
	CLEANUP(mem_free) size_t *width = xcalloc(t->columns, sizeof(*width));
	for (size_t i = 0; i < t->count; i++) {
		size_t len = strlen(t->cell[i]), *widest = &width[i % t->columns];
		*widest = len > *widest ? len : *widest;
	}
	for (size_t i = 0; i < t->count; i++)
		if (i % t->columns == last)
			buf_printf(out, "%s\n", t->cell[i]);
		else
			buf_printf(out, "%-*s  ", (int)width[i % t->columns], t->cell[i]);
}
