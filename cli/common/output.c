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

int output_print(const struct buf *text, struct err *e)
{
	if (text->failed)
		return err_set(e, ERR_LIMIT, "the report is too long");
	if (fwrite(text->data, 1, text->len, stdout) != text->len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

int output_json(struct jsondoc *doc, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *owned = doc;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, SIZE_MAX / 2);
	jsondoc_write(owned, 2, &text);
	return output_print(&text, e);
}

int output_summary(const struct summary *summary, bool is_json, bool is_quiet, struct err *e)
{
	if (is_json) {
		CLEANUP(buf_release) struct buf out;
		buf_init(&out, SIZE_MAX / 2);
		summary_json(summary, &out);
		fwrite(out.data, 1, out.len, stdout);
	} else {
		(is_quiet ? summary_print_problems : summary_print)(summary, stdout);
	}
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

void output_table_add(struct output_table *t, const char *const *cell)
{
	for (size_t i = 0; i < t->columns; i++) {
		GROW(t->cell, t->count, t->room);
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

void output_table_release(struct output_table *t)
{
	free(t->cell);
}
