// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit-recent.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/safefile.h"

enum { LINE_VALUES = 64 }; // an entry has about ten

// Reads the last bytes of the file. *is_whole: these are all.
static int read_end(int fd, const char *path, struct buf *out, bool *is_whole, struct err *e)
{
	struct stat st;
	char room[64 << 10];
	ssize_t n;
	if (fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "audit log %s", path);
	off_t at = st.st_size > LIMIT_AUDIT_READ ? st.st_size - LIMIT_AUDIT_READ : 0;
	*is_whole = at == 0;
	while ((n = pread(fd, room, sizeof(room), at)) > 0 && out->len < LIMIT_AUDIT_READ) {
		buf_add(out, room, (size_t)n);
		at += n;
	}
	return n < 0 ? err_errno(e, ERR_IO, "audit log %s", path) : 0;
}

static int report_line(struct str line, const char *project, audit_recent_fn *fn, void *ctx, struct err *e)
{
	struct err ignored = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(line, LINE_VALUES, &ignored);
	const char *of = doc ? jsondoc_get_str(doc, "project") : NULL,
		   *time = doc ? jsondoc_get_str(doc, "time") : NULL;
	if (!of || !time || strcmp(of, project) != 0)
		return 0;
	const struct audit_entry entry = {
		.who = jsondoc_get_str(doc, "who"),
		.peer = jsondoc_get_str(doc, "peer"),
		.action = jsondoc_get_str(doc, "action"),
		.view = jsondoc_get_str(doc, "view"),
		.platform = jsondoc_get_str(doc, "platform"),
		.project = of,
		.file = jsondoc_get_str(doc, "file"),
		.sha256 = jsondoc_get_str(doc, "sha256"),
		.result = jsondoc_get_str(doc, "result"),
		.reason = jsondoc_get_str(doc, "reason"),
	};
	return fn(ctx, &entry, time, e);
}

int audit_recent(const char *path, const char *project, audit_recent_fn *fn, void *ctx, bool *is_whole, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_close) int fd = safefile_open(path, O_RDONLY, &why);
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *mark = xasprintf("\"project\":\"%s\"", project);
	buf_init(&text, LIMIT_AUDIT_READ + (64 << 10));
	*is_whole = true;
	if (fd < 0 && why.kind == ERR_NOT_FOUND)
		return 0;
	if (fd < 0) {
		*e = why;
		return -1;
	}
	if (read_end(fd, path, &text, is_whole, e) < 0)
		return -1;
	struct str rest = buf_view(&text);
	if (!*is_whole)
		str_cut(&rest, '\n'); // the rest of a line
	while (rest.len) {
		struct str line = str_cut(&rest, '\n');
		if (memmem(line.ptr, line.len, mark, strlen(mark)) && report_line(line, project, fn, ctx, e) < 0)
			return -1;
	}
	return 0;
}
