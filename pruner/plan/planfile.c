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
#include "lib/format/jsonmap.h"
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

// --- fields ---

// A person may have edited a plan: what is not valid counts as absent, and a reader checks what it needs.
#define LENIENT(type, rows, ...) JSONMAP(type, rows, .is_lenient = true, __VA_ARGS__)
#define OMITTED .absent = JSONMAP_OMITTED

#define EVIDENCE struct planfile_evidence
static void put_covers(const void *row, const char *key, struct jsondoc *object)
{
	const struct planfile_evidence *v = row;
	if (!v->covers)
		return;
	struct jsondoc *covers = jsondoc_object();
	for (size_t i = 0; i < v->covers; i++)
		jsondoc_put_str(covers, v->cover[i].environment, v->cover[i].filename);
	jsondoc_put(object, key, covers);
}

// They are for people alone.
static int skip_covers(const struct jsondoc *object UNUSED, const char *key UNUSED, void *row, struct arena *text UNUSED,
	struct err *e UNUSED)
{
	struct planfile_evidence *v = row;
	v->covers = 0;
	return 0;
}

static const struct jsonmap_field plan_evidence_fields[] = {
	JSONMAP_TEXT("filename", EVIDENCE, filename, OMITTED),
	JSONMAP_TEXT("url", EVIDENCE, url, OMITTED),
	JSONMAP_SHA256("sha256", EVIDENCE, sha256, .has = offsetof(EVIDENCE, has_sha256), OMITTED),
	JSONMAP_BOOL("identical", EVIDENCE, is_identical),
	JSONMAP_TIME("uploaded", EVIDENCE, uploaded, OMITTED),
	JSONMAP_TEXT("index", EVIDENCE, index, OMITTED),
	JSONMAP_TIME("fetched", EVIDENCE, fetched, OMITTED),
	JSONMAP_TEXT("etag", EVIDENCE, etag, OMITTED),
	JSONMAP_OTHER("environments", put_covers, skip_covers),
};
static const struct jsonmap plan_evidence_map =
	LENIENT(EVIDENCE, plan_evidence_fields, .present = offsetof(EVIDENCE, filename));

#define ENTRY struct planfile_entry
static const struct jsonmap_field entry_fields[] = {
	JSONMAP_TEXT("platform", ENTRY, platform),
	JSONMAP_TEXT("project", ENTRY, project, OMITTED),
	JSONMAP_TEXT("version", ENTRY, version, OMITTED),
	JSONMAP_TEXT("filename", ENTRY, filename),
	JSONMAP_TEXT("path", ENTRY, path),
	JSONMAP_INTEGER("size", ENTRY, size, .none = -1),
	JSONMAP_INTEGER("mtime_ns", ENTRY, mtime_ns, .least = INT64_MIN),
	JSONMAP_SHA256("sha256", ENTRY, sha256, .has = offsetof(ENTRY, has_sha256), OMITTED),
	JSONMAP_TEXT("verdict", ENTRY, verdict),
	JSONMAP_BOOL("removes", ENTRY, removes),
	JSONMAP_TEXT("why", ENTRY, why, .absent = JSONMAP_NULL),
	JSONMAP_TEXT("reason", ENTRY, reason, OMITTED),
	JSONMAP_OBJECT("evidence", ENTRY, evidence, &plan_evidence_map, OMITTED),
};
static const struct jsonmap entry_map = LENIENT(ENTRY, entry_fields);

#define PLATFORM struct planfile_platform
static const struct jsonmap_field plan_platform_fields[] = {
	JSONMAP_TEXT("name", PLATFORM, name),
	JSONMAP_INTEGER("files", PLATFORM, files),
	JSONMAP_INTEGER("bytes", PLATFORM, bytes),
};
static const struct jsonmap plan_platform_map = LENIENT(PLATFORM, plan_platform_fields);

#define FAILURE struct planfile_failure
static const struct jsonmap_field plan_failure_fields[] = {
	JSONMAP_TEXT("project", FAILURE, project),
	JSONMAP_TEXT("result", FAILURE, result),
	JSONMAP_TEXT("why", FAILURE, why),
};
static const struct jsonmap plan_failure_map = LENIENT(FAILURE, plan_failure_fields);

#define TOTAL struct planfile_total
static const struct jsonmap_field plan_total_fields[] = {
	JSONMAP_TEXT("platform", TOTAL, platform),
	JSONMAP_TEXT("verdict", TOTAL, verdict),
	JSONMAP_TEXT("why", TOTAL, why, OMITTED),
	JSONMAP_BOOL("removes", TOTAL, removes),
	JSONMAP_INTEGER("files", TOTAL, files),
	JSONMAP_INTEGER("bytes", TOTAL, bytes),
};
static const struct jsonmap plan_total_map = LENIENT(TOTAL, plan_total_fields);

#define VIEW struct planfile_view
static const struct jsonmap_field plan_view_fields[] = {
	JSONMAP_TEXT("view", VIEW, view),
	JSONMAP_INTEGER("projects", VIEW, projects),
	JSONMAP_INTEGER("versions", VIEW, versions),
	JSONMAP_TEXT("first", VIEW, first),
};
static const struct jsonmap plan_view_map = LENIENT(VIEW, plan_view_fields);

struct plan_document {
	int64_t version; // -1: it is no plan
	struct planfile_head h;
};
#define HEAD struct plan_document

static void put_policy(const void *row, const char *key, struct jsondoc *object)
{
	struct err ignored = ERR_INIT;
	const struct plan_document *d = row;
	struct jsondoc *policy = d->h.policy ? jsondoc_read(str_from(d->h.policy), &ignored) : NULL;
	if (!policy)
		policy = jsondoc_object();
	jsondoc_put_str(policy, "hash", d->h.policy_hash);
	jsondoc_put(object, key, policy);
}

static int get_policy(const struct jsondoc *object, const char *key, void *row, struct arena *text, struct err *e UNUSED)
{
	struct plan_document *d = row;
	const struct jsondoc *policy = jsondoc_get(object, key);
	const char *hash = policy ? jsondoc_get_str(policy, "hash") : NULL;
	d->h.policy_hash = hash ? arena_copy(text, str_from(hash)) : "";
	return 0;
}

static const struct jsonmap_field option_fields[] = {
	JSONMAP_LIST("classes", HEAD, h.option, h.options, &jsonmap_text),
	JSONMAP_LIST("platforms", HEAD, h.glob, h.globs, &jsonmap_text),
};
static const struct jsonmap option_map = LENIENT(HEAD, option_fields);

static const struct jsonmap_field look_up_fields[] = {
	JSONMAP_INTEGER("projects", HEAD, h.projects),
	JSONMAP_INTEGER("failed", HEAD, h.failed),
	JSONMAP_LIST("failures", HEAD, h.failure, h.failures, &plan_failure_map),
};
static const struct jsonmap look_up_map = LENIENT(HEAD, look_up_fields);

static const struct jsonmap_field head_fields[] = {
	JSONMAP_INTEGER("wheelcache-plan", HEAD, version, .none = -1),
	JSONMAP_TEXT("id", HEAD, h.id),
	JSONMAP_TIME("made", HEAD, h.made),
	JSONMAP_TEXT("store", HEAD, h.store),
	JSONMAP_TEXT("file", HEAD, h.file, OMITTED),
	JSONMAP_INTEGER("catalog-change", HEAD, h.change),
	JSONMAP_OTHER("policy", put_policy, get_policy),
	JSONMAP_INNER("options", &option_map),
	JSONMAP_LIST("platforms", HEAD, h.platform, h.platforms, &plan_platform_map),
	JSONMAP_INNER("look-ups", &look_up_map),
	JSONMAP_LIST("totals", HEAD, h.total, h.totals, &plan_total_map),
	JSONMAP_LIST("views", HEAD, h.view, h.views, &plan_view_map),
};
static const struct jsonmap head_map = LENIENT(HEAD, head_fields);

void planfile_write_head(const struct planfile_head *h, struct buf *out)
{
	const struct plan_document d = {PLANFILE_VERSION, *h};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsonmap_json(&head_map, &d);
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
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsonmap_json(&entry_map, entry);
	buf_puts(&w->out, w->has_entry ? ",\n" : "\n");
	w->has_entry = true;
	jsondoc_write_compact(doc, &w->out);
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
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PLAN);
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

// --- reading ---

struct planfile_reader {
	struct planfile *plan;
	struct jsondoc *head;
	struct str rest; // of the text
	size_t room;     // of plan->entry
};

// A person may have edited the file: apply rechecks the path and unlists the name, so both must agree.
static bool is_last_component(const char *filename, const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(filename, slash ? slash + 1 : path) == 0;
}

static int read_entry(struct planfile_reader *r, const struct jsondoc *from, struct err *e)
{
	struct planfile *p = r->plan;
	struct planfile_entry f = {0};
	if (jsonmap_read(&entry_map, from, &f, &p->text, e) < 0)
		return -1;
	if (!*f.platform || !*f.filename || !*f.path || !*f.verdict || (int64_t)f.size < 0)
		return err_set(e, ERR_INVALID, "it lacks platform, filename, path, verdict or size");
	if (!is_last_component(f.filename, f.path))
		return err_set(e, ERR_INVALID, "its path %s does not end in %s", f.path, f.filename);
	GROW(p->entry, p->count, r->room);
	p->entry[p->count++] = f;
	return 0;
}

static bool skip_char(struct planfile_reader *r, char c)
{
	r->rest = str_trim(r->rest);
	if (!r->rest.len || r->rest.ptr[0] != c)
		return false;
	r->rest = str_slice(r->rest, 1, r->rest.len);
	return true;
}

// A person may have deleted lines, so there may be extra commas.
static int read_files(struct planfile_reader *r, struct err *e)
{
	if (!skip_char(r, '['))
		return err_set(e, ERR_INVALID, "\"files\" is no list");
	for (;;) {
		while (skip_char(r, ','))
			;
		if (skip_char(r, ']'))
			return 0;
		CLEANUP(jsondoc_cleanup) struct jsondoc *entry = jsondoc_next(&r->rest, e);
		if (!entry || read_entry(r, entry, e) < 0)
			return err_prefix(e, "file %zu: ", r->plan->count + 1);
	}
}

// One member of the top object: "files" goes to the entries, all others to the document of the head.
static int read_member(struct planfile_reader *r, struct err *e)
{
	if (!skip_char(r, '"'))
		return err_set(e, ERR_INVALID, "not JSON: no key where one belongs");
	const char *key = arena_copy(&r->plan->text, str_cut(&r->rest, '"'));
	if (!str_is_utf8(str_from(key)))
		return err_set(e, ERR_INVALID, "not JSON: a key that is no UTF-8");
	if (!skip_char(r, ':'))
		return err_set(e, ERR_INVALID, "not JSON: no value for \"%.40s\"", key);
	if (strcmp(key, "files") == 0)
		return read_files(r, e);
	struct jsondoc *value = jsondoc_next(&r->rest, e);
	if (!value)
		return err_prefix(e, "\"%.40s\": ", key);
	jsondoc_put(r->head, key, value);
	return 0;
}

static int read_plan(struct planfile_reader *r, struct err *e)
{
	if (!skip_char(r, '{'))
		return err_set(e, ERR_INVALID, "not a plan of \"wheelcache prune plan\"");
	do {
		if (read_member(r, e) < 0)
			return -1;
	} while (skip_char(r, ','));
	if (!skip_char(r, '}') || str_trim(r->rest).len)
		return err_set(e, ERR_INVALID, "its end is missing, or more text follows");
	struct plan_document d = {0};
	if (jsonmap_read(&head_map, r->head, &d, &r->plan->text, e) < 0)
		return -1;
	if (d.version < 0)
		return err_set(e, ERR_INVALID, "not a plan of \"wheelcache prune plan\"");
	if (d.version != PLANFILE_VERSION)
		return err_set(e, ERR_INVALID, "a plan of version %lld, not %d: make a new one", (long long)d.version,
			PLANFILE_VERSION);
	r->plan->head = d.h;
	return *d.h.id ? 0 : err_set(e, ERR_INVALID, "it has no id");
}

int planfile_read(const char *path, struct planfile *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PLAN);
	CLEANUP(jsondoc_cleanup) struct jsondoc *head = jsondoc_object();
	*out = (struct planfile){0};
	if (safefile_read(path, &text, e) < 0)
		return -1;
	struct planfile_reader r = {.plan = out, .head = head, .rest = buf_view(&text)};
	return read_plan(&r, e) < 0 ? err_prefix(e, "%s: ", path) : 0;
}

void planfile_release(struct planfile *p)
{
	free(p->entry);
	arena_release(&p->text);
	*p = (struct planfile){0};
}
