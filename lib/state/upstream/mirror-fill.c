// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/mirror-fill.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/net/fetch-pool.h"
#include "lib/os/safefile.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/kept-metadata.h"
#include "lib/state/upstream/mirror-pages.h"
#include "lib/state/upstream/mirror-pins.h"
#include "lib/state/upstream/mirror.h"

enum {
	TRIES = 4,
	FIRST_PAUSE_MS = 250, // before the second try; doubled for each further one
	ROUNDS = 2,           // a server may just have removed what was pinned after its look
	STATUS_OK = 200,
	STATUS_PART = 206,
};

static char *cache_of(const struct mirror_filling *f, size_t upstream)
{
	return state_file_upstream(&f->config->upstreams.item[upstream], catalog_path(f->catalog));
}

// --- the plan ---

// What the caches on one disk need.
struct disk {
	dev_t device;
	uint64_t left, needed;
	char *path;
};

static int look_at_disk(const char *path, struct disk *out, struct err *e)
{
	struct stat st;
	struct statvfs room;
	CLEANUP(mem_close) int fd = safefile_folder(path, true, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || fstatvfs(fd, &room) < 0)
		return err_errno(e, ERR_IO, "%s", path);
	out->device = st.st_dev;
	out->left = (uint64_t)room.f_bavail * room.f_frsize;
	return 0;
}

static int ask_disks(const struct disk *disk, size_t count, struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t needed = 0;
		for (size_t k = 0; k < count; k++)
			needed += disk[k].device == disk[i].device ? disk[k].needed : 0;
		if (needed > disk[i].left)
			return err_set(e, ERR_FULL, "%s: the disk has %llu bytes left, and the mirror needs %llu",
				disk[i].path, (unsigned long long)disk[i].left, (unsigned long long)needed);
	}
	return 0;
}

static void count_rest(struct mirror_rest *rest, int64_t size)
{
	rest->files++;
	rest->bytes += size < 0 ? 0 : (uint64_t)size;
	rest->unsized += size < 0;
}

int mirror_fill_plan(const struct mirror_filling *f, struct mirror_rest *rest, struct err *e)
{
	int result = 0;
	struct disk disk[LIMIT_UPSTREAMS] = {0};
	*rest = (struct mirror_rest){0};
	for (size_t i = 0; i < f->wants; i++) {
		struct mirror_want *w = &f->want[i];
		if (!disk[w->upstream].path)
			disk[w->upstream].path = cache_of(f, w->upstream);
		w->is_kept = file_cache_has(disk[w->upstream].path, w->project, w->filename, w->sha256, w->size);
		if (w->is_kept)
			continue;
		count_rest(rest, w->size);
		disk[w->upstream].needed += w->size < 0 ? 0 : (uint64_t)w->size;
	}
	struct disk used[LIMIT_UPSTREAMS];
	size_t count = 0;
	for (size_t i = 0; i < LIMIT_UPSTREAMS && result == 0; i++) {
		result = disk[i].needed ? look_at_disk(disk[i].path, &disk[i], e) : 0;
		if (disk[i].needed)
			used[count++] = disk[i];
	}
	result = result < 0 ? -1 : ask_disks(used, count, e);
	for (size_t i = 0; i < LIMIT_UPSTREAMS; i++)
		free(disk[i].path);
	return result;
}

// --- fetching ---

struct filling {
	const struct mirror_filling *order;
	struct mirror_pins *pins;
	struct file_cache *cache[LIMIT_UPSTREAMS];
	size_t next, upstream; // which want is fetched next, of this upstream
	struct mirror_rest *done;
	struct mirror_rest all;
};

struct mirror_fetch {
	struct filling *of;
	struct mirror_want *want;
	struct file_cache_writer *writer;
	uint64_t written, skip; // bytes; those of an answer that are here already
	unsigned tries;
	bool has_failed; // for good
};

static void note_failure(struct filling *x, struct mirror_want *w, const char *why)
{
	if (!w->failure)
		w->failure = arena_strdup(x->order->text, why);
}

static enum fetch_flow stop(struct mirror_fetch *t, const char *why)
{
	note_failure(t->of, t->want, why);
	t->has_failed = true;
	return FETCH_STOP;
}

// Whether the range begins at the next byte: "bytes 100-199/200" (RFC 9110, section 14.4).
static bool goes_on(const struct mirror_fetch *t, struct str range)
{
	CLEANUP(mem_free) char *wanted = xasprintf("bytes %llu-", (unsigned long long)t->written);
	return str_starts(range, str_from(wanted));
}

static enum fetch_flow on_mirror_head(void *ctx, const struct fetch_answer *answer, const char *url UNUSED)
{
	struct mirror_fetch *t = ctx;
	uint64_t length = 0;
	struct str coding = fetch_header(answer, "Content-Encoding");
	bool is_part = answer->status == STATUS_PART && goes_on(t, fetch_header(answer, "Content-Range"));
	if (answer->status == 429 || answer->status >= 500)
		return FETCH_STOP;
	if (answer->status != STATUS_OK && !is_part) {
		CLEANUP(mem_free) char *why = xasprintf("upstream answers %u", answer->status);
		return stop(t, why);
	}
	if (coding.len && !str_eq_nocase(coding, STR("identity")))
		return stop(t, "upstream sends it packed, which it was not asked for");
	t->skip = is_part ? 0 : t->written;
	if (t->want->size >= 0 && !is_part &&
		decimal_parse(fetch_header(answer, "Content-Length"), INT64_MAX, &length) &&
		length != (uint64_t)t->want->size)
		return stop(t, "upstream sends another size than its page says");
	return FETCH_GO_ON;
}

static void tell_progress(const struct filling *x)
{
	if (x->order->progress)
		x->order->progress(x->order->ctx, x->done, &x->all);
}

static enum fetch_flow on_mirror_body(void *ctx, struct str piece)
{
	struct mirror_fetch *t = ctx;
	struct err e = ERR_INIT;
	size_t skipped = piece.len < t->skip ? piece.len : (size_t)t->skip;
	t->skip -= skipped;
	piece = str_slice(piece, skipped, piece.len);
	if (t->want->size >= 0 && t->written + piece.len > (uint64_t)t->want->size)
		return stop(t, "upstream sends more than its page says");
	if (piece.len && file_cache_writer_write(t->writer, piece.ptr, piece.len, &e) < 0)
		return stop(t, e.msg);
	t->written += piece.len;
	t->of->done->bytes += piece.len;
	tell_progress(t->of);
	return FETCH_GO_ON;
}

static void fetch_next(struct filling *x);
static void send_request(struct mirror_fetch *t);

static void keep_fetched(struct mirror_fetch *t)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	struct mirror_want *w = t->want;
	if (w->size >= 0 && t->written != (uint64_t)w->size) {
		note_failure(t->of, w, "upstream sends less than its page says");
	} else if (file_cache_writer_check(t->writer, sha256, &e) < 0 || file_cache_writer_keep(t->writer, sha256,
		&e) < 0) {
		note_failure(t->of, w, e.msg);
	} else {
		w->is_kept = true;
		w->size = (int64_t)t->written;
		t->of->done->files++;
	}
}

static void on_mirror_done(void *ctx, const struct fetch_result *result)
{
	struct mirror_fetch *t = ctx;
	struct filling *x = t->of;
	unsigned status = result->answer ? result->answer->status : 0;
	bool is_whole = result->failure == FETCH_WHOLE && status < 400;
	if (!t->has_failed && !is_whole && ++t->tries < TRIES) {
		send_request(t);
		return;
	}
	if (is_whole && !t->has_failed)
		keep_fetched(t);
	else if (!t->has_failed)
		note_failure(x, t->want, *result->why ? result->why : "upstream answers with an error again and again");
	file_cache_writer_free(t->writer);
	free(t);
	fetch_next(x);
}

static void send_request(struct mirror_fetch *t)
{
	struct filling *x = t->of;
	CLEANUP(mem_free) char *range = xasprintf("Range: bytes=%llu-", (unsigned long long)t->written);
	const char *const headers[] = {t->written ? range : NULL, NULL};
	const struct fetch_request request = {
		.url = t->want->url,
		.headers = headers,
		.configured_url = t->want->home,
		.delay_ms = t->tries ? (uint64_t)FIRST_PAUSE_MS << t->tries : 0,
		.limit = t->want->size >= 0 ? (uint64_t)t->want->size : x->order->config->max_file,
		.on_head = on_mirror_head,
		.on_body = on_mirror_body,
		.is_raw = true,
		.on_done = on_mirror_done,
		.ctx = t,
	};
	fetch_pool_get(upstream_pool(upstreams_item(x->order->upstreams, x->upstream)), &request);
}

static void fetch_next(struct filling *x)
{
	while (x->next < x->order->wants) {
		struct err e = ERR_INIT;
		struct mirror_want *w = &x->order->want[x->next++];
		if (!w->filename || w->upstream != x->upstream || w->is_kept || w->failure)
			continue;
		struct file_cache_writer *writer = file_cache_begin(x->cache[w->upstream], w->project, w->filename,
			w->sha256,
			w->size < 0 ? 0 : (uint64_t)w->size, &e);
		if (!writer) {
			note_failure(x, w, e.msg);
			continue;
		}
		struct mirror_fetch *t = xcalloc(1, sizeof(*t));
		*t = (struct mirror_fetch){.of = x, .want = w, .writer = writer};
		send_request(t);
		return;
	}
}

static void fetch_files(struct filling *x)
{
	const struct mirror_filling *f = x->order;
	for (x->upstream = 0; x->upstream < f->config->upstreams.count; x->upstream++) {
		x->next = 0;
		for (uint64_t i = 0; i < f->config->upstreams.item[x->upstream].concurrency; i++)
			fetch_next(x);
		fetch_pool_run(upstream_pool(upstreams_item(f->upstreams, x->upstream)));
	}
}

// --- metadata ---

static bool wants_metadata(const struct mirror_want *w)
{
	return w->has_metadata && filename_kind(str_from(w->filename)) == FILENAME_WHEEL;
}

static bool find_metadata(struct filling *x, const struct mirror_want *wheel, struct mirror_want *out)
{
	struct err e = ERR_INIT;
	struct file_cache_file file = {.fd = -1};
	if (file_cache_find(x->cache[out->upstream], out->project, out->filename,
		    wheel->has_metadata_sha256 ? wheel->metadata_sha256 : NULL, &file, &e) < 0)
		return false;
	memcpy(out->sha256, file.sha256, SHA256_SIZE);
	out->size = (int64_t)file.size;
	out->is_kept = true;
	mem_close(&file.fd);
	return true;
}

// As the server does for a client: from the wheel, or, if that has other bytes, from upstream. That it is to be fetched
// needs its hash.
static void take_metadata(struct filling *x, struct mirror_want *w, struct mirror_want *out)
{
	struct err e = ERR_INIT;
	struct file_cache_file file = {.fd = -1};
	const uint8_t *expected = w->has_metadata_sha256 ? w->metadata_sha256 : NULL;
	*out = (struct mirror_want){.project = w->project,
		.filename = arena_printf(x->order->text, "%s.metadata", w->filename),
		.url = arena_printf(x->order->text, "%s.metadata", w->url),
		.home = w->home,
		.upstream = w->upstream,
		.size = -1};
	if (expected)
		memcpy(out->sha256, expected, SHA256_SIZE);
	if (find_metadata(x, w, out) ||
		file_cache_find(x->cache[w->upstream], w->project, w->filename, w->sha256, &file, &e) < 0)
		return;
	int kept = kept_metadata_add(x->cache[w->upstream], w->project, w->filename, &file, expected, out->sha256, &e);
	mem_close(&file.fd);
	if ((kept < 0 || !find_metadata(x, w, out)) && !expected) {
		note_failure(x, w, e.kind ? e.msg : "its metadata is not kept here");
		out->filename = NULL;
	}
}

// Of each wheel that is kept; filename NULL: it has none.
static struct mirror_want *take_all_metadata(struct filling *x)
{
	const struct mirror_filling *f = x->order;
	struct mirror_want *all = ARENA_NEW(f->text, struct mirror_want, f->wants);
	for (size_t i = 0; i < f->wants; i++)
		if (f->want[i].is_kept && wants_metadata(&f->want[i]))
			take_metadata(x, &f->want[i], &all[i]);
	return all;
}

static void fetch_metadata(struct filling *x, struct mirror_want *metadata)
{
	struct mirror_rest unseen = {0};
	struct mirror_filling order = *x->order;
	struct filling inner = *x;
	order.want = metadata;
	order.progress = NULL;
	inner.order = &order;
	inner.done = &unseen;
	fetch_files(&inner);
	for (size_t i = 0; i < order.wants; i++)
		if (metadata[i].failure)
			note_failure(x, &x->order->want[i], arena_printf(order.text, "its metadata: %s",
				metadata[i].failure));
}

// --- all ---

static void filling_release(struct filling *x)
{
	for (size_t i = 0; i < LIMIT_UPSTREAMS; i++)
		file_cache_close(x->cache[i]);
	mirror_pins_free(x->pins);
}

static int open_caches(struct filling *x, const char *folder, struct err *e)
{
	const struct mirror_filling *f = x->order;
	x->pins = mirror_pins_new(folder);
	for (size_t i = 0; i < f->config->upstreams.count; i++) {
		CLEANUP(mem_free) char *path = cache_of(f, i);
		if (file_cache_open(path, f->config->upstreams.item[i].files_size, x->pins, &x->cache[i], e) < 0)
			return -1;
	}
	return 0;
}

static void add_record_row(const struct mirror_filling *f, struct mirror *m, const struct mirror_want *w)
{
	struct mirror_file *row = &m->file[m->files++];
	*row = (struct mirror_file){.upstream = f->config->upstreams.item[w->upstream].name,
		.project = w->project,
		.filename = w->filename,
		.size = w->size};
	memcpy(row->sha256, w->sha256, SHA256_SIZE);
}

// Of the record: the files, and their metadata as far as its hashes are known. metadata NULL: by the pages.
static struct mirror rows_of(const struct mirror_filling *f, const struct mirror_want *metadata)
{
	struct mirror m = {.name = f->name, .who = f->who};
	m.file = ARENA_NEW(f->text, struct mirror_file, 2 * f->wants);
	for (size_t i = 0; i < f->wants; i++) {
		const struct mirror_want *w = &f->want[i];
		struct mirror_want own = *w;
		add_record_row(f, &m, w);
		if (metadata && metadata[i].filename) {
			add_record_row(f, &m, &metadata[i]);
		} else if (wants_metadata(w) && w->has_metadata_sha256) {
			own.filename = arena_printf(f->text, "%s.metadata", w->filename);
			own.size = -1;
			memcpy(own.sha256, w->metadata_sha256, SHA256_SIZE);
			add_record_row(f, &m, &own);
		}
	}
	return m;
}

// What was here before it was pinned may be gone.
static void look_again(const struct mirror_filling *f)
{
	for (size_t i = 0; i < f->wants; i++) {
		struct mirror_want *w = &f->want[i];
		CLEANUP(mem_free) char *path = cache_of(f, w->upstream);
		w->is_kept = file_cache_has(path, w->project, w->filename, w->sha256, w->size);
	}
}

static int keep_pages(const struct mirror_filling *f, const char *folder, struct err *e)
{
	const char *last = "";
	for (size_t i = 0; i < f->wants; i++) {
		if (strcmp(f->want[i].project, last) != 0 && mirror_pages_keep(folder, f->catalog, f->want[i].project,
			e) < 0)
			return -1;
		last = f->want[i].project;
	}
	return 0;
}

static bool has_failures(const struct mirror_want *want, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (want[i].failure)
			return true;
	return false;
}

int mirror_fill_run(const struct mirror_filling *f, struct mirror_rest *done, struct err *e)
{
	CLEANUP(filling_release) struct filling x = {.order = f, .done = done};
	CLEANUP(mem_free) char *folder = state_file(f->config, catalog_path(f->catalog), STATE_FILE_MIRRORS);
	struct mirror rows = rows_of(f, NULL);
	*done = (struct mirror_rest){0};
	if (mirror_fill_plan(f, &x.all, e) < 0 || mirror_change(folder, MIRROR_ADD, &rows, e) < 0 ||
		open_caches(&x, folder, e) < 0)
		return -1;
	for (int round = 0; round < ROUNDS; round++) {
		look_again(f);
		fetch_files(&x);
	}
	struct mirror_want *metadata = take_all_metadata(&x);
	fetch_metadata(&x, metadata);
	rows = rows_of(f, metadata);
	bool becomes = f->is_exact && !has_failures(f->want, f->wants);
	if (mirror_change(folder, becomes ? MIRROR_REPLACE : MIRROR_EXTEND, &rows, e) < 0 || keep_pages(f, folder,
		e) < 0)
		return -1;
	return becomes ? mirror_pages_sweep(folder, x.pins, e) : 0;
}
