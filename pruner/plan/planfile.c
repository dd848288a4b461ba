// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/planfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"

enum { BLOCK = 256 << 10 };

// The entries go to a temporary file of their own first, because the head precedes them and has their totals.
struct planfile_writer {
	bool is_on; // false: nothing is written
	int folder;
	char *name, *tmp;
	struct fs_tmp entries; // unlinked when it is opened, so that a killed process leaves nothing
	struct buf out;        // entries that are not written yet, less than a block
	bool has_entry;
};

// --- an entry ---

// Appends "key":, after a comma unless it is the first of its object.
static void put_key(struct buf *out, const char *key)
{
	if (out->data[out->len - 1] != '{')
		buf_putc(out, ',');
	buf_putc(out, '"');
	buf_puts(out, key);
	buf_puts(out, "\":");
}

static void put_str(struct buf *out, const char *key, const char *value)
{
	if (!value)
		return;
	put_key(out, key);
	escape_json(out, str_from(value));
}

static void put_int(struct buf *out, const char *key, int64_t value)
{
	char text[24];
	snprintf(text, sizeof(text), "%" PRId64, value);
	put_key(out, key);
	buf_puts(out, text);
}

static void put_bool(struct buf *out, const char *key, bool value)
{
	put_key(out, key);
	buf_puts(out, value ? "true" : "false");
}

static void put_time(struct buf *out, const char *key, int64_t seconds)
{
	char text[CLOCK_TEXT];
	clock_write(seconds, text);
	if (seconds)
		put_str(out, key, text);
}

static void put_sha256(struct buf *out, const uint8_t sha256[SHA256_SIZE], bool is_known)
{
	char hex[SHA256_HEX + 1] = "";
	hex_encode(sha256, SHA256_SIZE, hex);
	if (is_known)
		put_str(out, "sha256", hex);
}

static void put_evidence(struct buf *out, const struct planfile_evidence *v)
{
	put_key(out, "evidence");
	buf_putc(out, '{');
	put_str(out, "filename", v->filename);
	put_str(out, "url", v->url);
	put_sha256(out, v->sha256, v->has_sha256);
	put_bool(out, "identical", v->is_identical);
	put_time(out, "uploaded", v->uploaded);
	put_str(out, "index", v->index);
	put_time(out, "fetched", v->fetched);
	put_str(out, "etag", v->etag);
	if (v->covers) {
		put_key(out, "environments");
		buf_putc(out, '{');
		for (size_t i = 0; i < v->covers; i++)
			put_str(out, v->cover[i].environment, v->cover[i].filename);
		buf_putc(out, '}');
	}
	buf_putc(out, '}');
}

static void put_planfile_entry(struct buf *out, const struct planfile_entry *f)
{
	buf_putc(out, '{');
	put_str(out, "platform", f->platform);
	put_str(out, "project", f->project);
	put_str(out, "version", f->version);
	put_str(out, "filename", f->filename);
	put_str(out, "path", f->path);
	put_int(out, "size", (int64_t)f->size);
	put_int(out, "mtime_ns", f->mtime_ns);
	put_sha256(out, f->sha256, f->has_sha256);
	put_str(out, "verdict", f->verdict);
	put_bool(out, "removes", f->removes);
	put_key(out, "why");
	buf_puts(out, f->why ? "" : "null");
	if (f->why)
		escape_json(out, str_from(f->why));
	put_str(out, "reason", f->reason);
	if (f->evidence.filename)
		put_evidence(out, &f->evidence);
	buf_putc(out, '}');
}

// --- the head ---

static struct jsondoc *texts_json(const char *const *text, size_t count)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < count; i++)
		jsondoc_add_str(all, text[i]);
	return all;
}

static struct jsondoc *policy_json(const struct planfile_head *h)
{
	struct err e = ERR_INIT;
	struct jsondoc *policy = h->policy ? jsondoc_read(str_from(h->policy), &e) : NULL;
	if (!policy)
		policy = jsondoc_object();
	jsondoc_put_str(policy, "hash", h->policy_hash);
	return policy;
}

static struct jsondoc *options_json(const struct planfile_head *h)
{
	struct jsondoc *options = jsondoc_object();
	jsondoc_put(options, "classes", texts_json(h->option, h->options));
	jsondoc_put(options, "platforms", texts_json(h->glob, h->globs));
	return options;
}

static struct jsondoc *platforms_json(const struct planfile_head *h)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < h->platforms; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "name", h->platform[i].name);
		jsondoc_put_int(one, "files", (int64_t)h->platform[i].files);
		jsondoc_put_int(one, "bytes", (int64_t)h->platform[i].bytes);
		jsondoc_add(all, one);
	}
	return all;
}

static struct jsondoc *look_ups_json(const struct planfile_head *h)
{
	struct jsondoc *all = jsondoc_array(), *look_ups = jsondoc_object();
	for (uint64_t i = 0; i < h->failures; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "project", h->failure[i].project);
		jsondoc_put_str(one, "result", h->failure[i].result);
		jsondoc_put_str(one, "why", h->failure[i].why);
		jsondoc_add(all, one);
	}
	jsondoc_put_int(look_ups, "projects", (int64_t)h->projects);
	jsondoc_put_int(look_ups, "failed", (int64_t)h->failed);
	jsondoc_put(look_ups, "failures", all);
	return look_ups;
}

static struct jsondoc *totals_json(const struct planfile_head *h)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < h->totals; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", h->total[i].platform);
		jsondoc_put_str(one, "verdict", h->total[i].verdict);
		if (h->total[i].why)
			jsondoc_put_str(one, "why", h->total[i].why);
		jsondoc_put_bool(one, "removes", h->total[i].removes);
		jsondoc_put_int(one, "files", (int64_t)h->total[i].files);
		jsondoc_put_int(one, "bytes", (int64_t)h->total[i].bytes);
		jsondoc_add(all, one);
	}
	return all;
}

static struct jsondoc *views_json(const struct planfile_head *h)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < h->views; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "view", h->view[i].view);
		jsondoc_put_int(one, "projects", (int64_t)h->view[i].projects);
		jsondoc_put_int(one, "versions", (int64_t)h->view[i].versions);
		jsondoc_put_str(one, "first", h->view[i].first);
		jsondoc_add(all, one);
	}
	return all;
}

void planfile_write_head(const struct planfile_head *h, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	char made[CLOCK_TEXT];
	clock_write(h->made, made);
	jsondoc_put_int(doc, "wheelcache-plan", PLANFILE_VERSION);
	jsondoc_put_str(doc, "id", h->id);
	jsondoc_put_str(doc, "made", made);
	jsondoc_put_str(doc, "store", h->store);
	if (h->file)
		jsondoc_put_str(doc, "file", h->file);
	jsondoc_put_int(doc, "catalog-change", h->change);
	jsondoc_put(doc, "policy", policy_json(h));
	jsondoc_put(doc, "options", options_json(h));
	jsondoc_put(doc, "platforms", platforms_json(h));
	jsondoc_put(doc, "look-ups", look_ups_json(h));
	jsondoc_put(doc, "totals", totals_json(h));
	jsondoc_put(doc, "views", views_json(h));
	jsondoc_write(doc, 2, out);
}

void planfile_new_id(int64_t now, char out[PLANFILE_ID])
{
	uint32_t random = 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint32_t)clock_wall_ns();
	time_t t = (time_t)now;
	struct tm tm;
	gmtime_r(&t, &tm);
	size_t len = strftime(out, PLANFILE_ID, "%Y%m%dT%H%M%SZ", &tm);
	snprintf(out + len, PLANFILE_ID - len, "-%06" PRIx32, random & 0xffffff);
}

// --- the file ---

int planfile_create(const char *path, struct planfile_writer **out, struct err *e)
{
	CLEANUP(planfile_cleanup) struct planfile_writer *w = xcalloc(1, sizeof(*w));
	w->folder = w->entries.fd = -1;
	w->is_on = path != NULL;
	buf_init(&w->out, LIMIT_PLAN);
	if (path) {
		w->folder = safefile_parent(path, false, &w->name, e);
		w->tmp = xasprintf(".%s.%ld", w->name ? w->name : "", (long)getpid());
		if (w->folder < 0 || fs_tmp_open_mode(&w->entries, w->folder, w->tmp, w->name, SAFEFILE_MODE, e) < 0)
			return err_prefix(e, "cannot write the plan %s: ", path);
		unlinkat(w->folder, w->tmp, 0);
		w->entries.tmp = NULL;
	}
	*out = STEAL_PTR(w);
	return 0;
}

static int flush_entries(struct planfile_writer *w, struct err *e)
{
	int result = fs_tmp_write(&w->entries, buf_view(&w->out), e);
	buf_clear(&w->out);
	return result;
}

int planfile_add(struct planfile_writer *w, const struct planfile_entry *entry, struct err *e)
{
	if (!w->is_on)
		return 0;
	buf_puts(&w->out, w->has_entry ? ",\n" : "\n");
	w->has_entry = true;
	put_planfile_entry(&w->out, entry);
	return w->out.len < BLOCK ? 0 : flush_entries(w, e);
}

static int copy_entries(struct planfile_writer *w, struct fs_tmp *file, struct err *e)
{
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	for (off_t at = 0;;) {
		ssize_t n = pread(w->entries.fd, block, BLOCK, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_errno(e, ERR_IO, "%s", w->name) : 0;
		if (fs_tmp_write(file, (struct str){block, (size_t)n}, e) < 0)
			return -1;
		at += n;
	}
}

int planfile_finish(struct planfile_writer *w, const struct planfile_head *head, struct err *e)
{
	if (!w->is_on)
		return 0;
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_PLAN);
	planfile_write_head(head, &text);
	text.len -= strlen("\n}\n");
	buf_puts(&text, ",\n  \"files\": [");
	if (flush_entries(w, e) < 0 || fs_tmp_open_mode(&file, w->folder, w->tmp, w->name, SAFEFILE_MODE, e) < 0 ||
		fs_tmp_write(&file, buf_view(&text), e) < 0 || copy_entries(w, &file, e) < 0 ||
		fs_tmp_write(&file, STR("\n]}\n"), e) < 0 || fs_tmp_publish(&file, e) < 0)
		return -1;
	return fs_sync_dir(w->folder, e);
}

void planfile_free(struct planfile_writer *w)
{
	if (!w)
		return;
	fs_tmp_release(&w->entries);
	mem_close(&w->folder);
	buf_release(&w->out);
	free(w->name);
	free(w->tmp);
	free(w);
}

void planfile_cleanup(struct planfile_writer **w)
{
	planfile_free(*w);
}
