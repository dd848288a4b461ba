// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit-recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "lib/state/config/config-type.h"

enum {
	LINE_VALUES = 64,     // an entry has about ten
	LINE_MOST = 1 << 20,  // bytes; each field of an entry is bounded
	READ_BYTES = 64 << 10 // at once
};

struct log_reader {
	const struct audit_query *query;
	audit_recent_fn *fn;
	void *ctx;
	struct buf project, file; // what a line of theirs contains; empty: nothing
	struct buf rest;          // the beginning of a line
	bool skips;               // the rest of a line that is too long, or whose beginning is not read
	int fd[LIMIT_AUDIT_FILES];
	size_t files; // the newest first
	off_t at;     // where the oldest is read from
};

static void release_log_reader(struct log_reader *r)
{
	for (size_t i = 0; i < r->files; i++)
		mem_close(&r->fd[i]);
	buf_release(&r->project);
	buf_release(&r->file);
	buf_release(&r->rest);
}

// --- the files ---

// Whether the last line of the file is before the time of the query.
static bool is_before_query(const struct audit_query *q, const struct stat *st)
{
	char last[CLOCK_TEXT];
	clock_write((int64_t)st->st_mtime + 1, last);
	return q->since && strcmp(last, q->since) < 0;
}

static int open_files(struct log_reader *r, bool *is_whole, struct err *e)
{
	const struct audit_query *q = r->query;
	struct stat st, newer = {0};
	uint64_t bytes = 0;
	*is_whole = true;
	for (unsigned number = 0; *is_whole; number++) {
		struct err why = ERR_INIT;
		CLEANUP(mem_close) int fd = audit_open_moved(q->path, number, &why);
		if (fd < 0 && why.kind == ERR_NOT_FOUND && !number)
			continue; // it was moved, and nothing was written since
		if (fd < 0 && why.kind == ERR_NOT_FOUND)
			return 0;
		if (fd < 0) {
			*e = why;
			return -1;
		}
		if (fstat(fd, &st) < 0)
			return err_errno(e, ERR_IO, "audit log %s", q->path);
		if (number && st.st_dev == newer.st_dev && st.st_ino == newer.st_ino)
			continue; // it was moved between the two
		if (is_before_query(q, &st))
			return 0;
		newer = st;
		bytes += (uint64_t)st.st_size;
		r->fd[r->files++] = mem_steal_fd(&fd);
		r->at = q->most && bytes > q->most ? (off_t)(bytes - q->most) : 0;
		*is_whole = !r->at && r->files < LIMIT_AUDIT_FILES;
	}
	return 0;
}

// --- lines ---

static bool contains(struct str line, const struct buf *mark)
{
	return !mark->len || memmem(line.ptr, line.len, mark->data, mark->len);
}

static bool is_value(const char *wanted, const char *value)
{
	return !wanted || (value && strcmp(wanted, value) == 0);
}

static int report_line(struct log_reader *r, struct str line, struct err *e)
{
	struct err ignored = ERR_INIT;
	const struct audit_query *q = r->query;
	if (!contains(line, &r->project) || !contains(line, &r->file))
		return 0;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(line, LINE_VALUES, &ignored);
	const char *time = doc ? jsondoc_get_str(doc, "time") : NULL;
	if (!time || (q->since && strcmp(time, q->since) < 0))
		return 0;
	const struct audit_entry entry = {
		.who = jsondoc_get_str(doc, "who"),
		.peer = jsondoc_get_str(doc, "peer"),
		.action = jsondoc_get_str(doc, "action"),
		.view = jsondoc_get_str(doc, "view"),
		.platform = jsondoc_get_str(doc, "platform"),
		.project = jsondoc_get_str(doc, "project"),
		.file = jsondoc_get_str(doc, "file"),
		.sha256 = jsondoc_get_str(doc, "sha256"),
		.result = jsondoc_get_str(doc, "result"),
		.reason = jsondoc_get_str(doc, "reason"),
	};
	if (!is_value(q->project, entry.project) || !is_value(q->file, entry.file))
		return 0;
	return r->fn(r->ctx, &entry, time, e);
}

// The lines of a part of a file, and the beginning of one.
static int report_lines(struct log_reader *r, struct str text, struct err *e)
{
	while (text.len) {
		long end = str_find(text, '\n');
		struct str part = str_slice(text, 0, end < 0 ? text.len : (size_t)end);
		text = str_slice(text, end < 0 ? text.len : (size_t)end + 1, text.len);
		r->skips = r->skips || r->rest.len + part.len > LINE_MOST;
		if (!r->skips)
			buf_str(&r->rest, part);
		if (end < 0)
			return 0;
		if (!r->skips && r->rest.len && report_line(r, buf_view(&r->rest), e) < 0)
			return -1;
		buf_clear(&r->rest);
		r->skips = false;
	}
	return 0;
}

static int read_log_file(struct log_reader *r, int fd, off_t at, struct err *e)
{
	char room[READ_BYTES];
	ssize_t n;
	r->skips = at > 0;
	while ((n = pread(fd, room, sizeof(room), at)) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && report_lines(r, (struct str){room, (size_t)n}, e) < 0)
			return -1;
		at += n > 0 ? n : 0;
	}
	if (n < 0)
		return err_errno(e, ERR_IO, "audit log %s", r->query->path);
	return report_lines(r, STR("\n"), e); // a last line without an end is no entry, or a whole one
}

static void write_line_mark(struct buf *out, const char *key, const char *value)
{
	buf_init(out, SIZE_MAX / 2);
	if (!value)
		return;
	buf_printf(out, "\"%s\":", key);
	escape_json(out, str_from(value));
}

int audit_recent(const struct audit_query *q, audit_recent_fn *fn, void *ctx, bool *is_whole, struct err *e)
{
	CLEANUP(release_log_reader) struct log_reader r = {.query = q, .fn = fn, .ctx = ctx};
	write_line_mark(&r.project, "project", q->project);
	write_line_mark(&r.file, "file", q->file);
	buf_init(&r.rest, LINE_MOST);
	if (open_files(&r, is_whole, e) < 0)
		return -1;
	for (size_t i = r.files; i-- > 0;)
		if (read_log_file(&r, r.fd[i], i == r.files - 1 ? r.at : 0, e) < 0)
			return -1;
	return 0;
}

// --- what a person asks of it ---

int audit_asked_subject(struct audit_asked *a, const char *word, struct err *e)
{
	const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;
	if (filename_kind(str_from(base)) != FILENAME_OTHER) {
		a->file = xstrdup(base);
		return 0;
	}
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	if (name_is_valid(str_from(word)))
		name_normalize(str_from(word), &normal);
	if (normal.failed || !normal.len)
		return err_set(e, ERR_USAGE, "%s is not a valid project name, nor the name of a file", word);
	a->project = xstrdup(normal.data);
	return 0;
}

int audit_asked_since(struct audit_asked *a, const char *text, struct err *e)
{
	int64_t since;
	if (since_read(text, &since, e) < 0)
		return -1;
	clock_write(since, a->since);
	a->since[CLOCK_TEXT - 2] = '\0'; // without "Z", as a time in the log has a fraction
	return 0;
}

void audit_asked_release(struct audit_asked *a)
{
	free(a->file);
	free(a->project);
	*a = (struct audit_asked){0};
}

void audit_asked_query(const struct audit_asked *a, struct audit_query *out)
{
	out->project = a->project;
	out->file = a->file;
	out->since = *a->since ? a->since : NULL;
}

void audit_entry_text(const struct audit_entry *a, const char *time, struct buf *out)
{
	// The fields in the order of a line, with what stands before each.
	const struct {
		const char *before, *text;
	} part[] = {{" ", a->who ? a->who : "-"}, {" from ", a->peer}, {": ", a->action}, {" ", a->platform},
		{" into view ", a->view}, {" ", a->file ? a->file : a->project}, {": ", a->result}, {" (", a->reason}};
	buf_puts(out, time);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i].text)
			buf_printf(out, "%s%s", part[i].before, part[i].text);
	if (a->reason)
		buf_putc(out, ')');
}
