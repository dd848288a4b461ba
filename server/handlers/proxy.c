// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/proxy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/os/byte-source.h"
#include "lib/state/upstream/file-cache.h"
#include "server/core/auth.h"
#include "server/handlers/files.h"
#include "server/message/conditional.h"
#include "server/upstream/name-guard.h"
#include "server/upstream/upstream-files.h"
#include "server/upstream/upstream-pages.h"

enum { KEPT_SECONDS = 60 }; // so long an open file answers: what has its hash in its path does not change

// What a request is about.
struct wanted {
	struct server_context *context;
	const struct route_match *match;
	char *project;
	char *filename;  // of the wheel or sdist
	char *kept_name; // what the depot calls it: the same, or with .metadata behind it
	bool is_metadata;
	// What upstream's page says; url NULL: nothing.
	char *url, *home;
	int64_t size;
	bool has_sha256, has_metadata_sha256;
	uint8_t sha256[SHA256_SIZE], metadata_sha256[SHA256_SIZE];
	bool has_metadata;
	bool is_known; // upstream has said whether it has the project
	bool is_quarantined;
	struct name_presence here;
	enum name_owner owner; // of the name
	char why[256];         // where it has not
};

static void wanted_release(struct wanted *w)
{
	free(w->project);
	free(w->filename);
	free(w->kept_name);
	free(w->url);
	free(w->home);
}

static bool wanted_init(struct wanted *w, struct server_context *s, const struct route_match *match)
{
	struct str file = match->file;
	*w = (struct wanted){.context = s, .match = match, .size = -1};
	w->is_metadata = str_ends(file, STR(".metadata"));
	w->kept_name = xstrndup(file.ptr, file.len);
	w->filename = xstrndup(file.ptr, file.len - (w->is_metadata ? strlen(".metadata") : 0));
	w->project = xstrndup(match->project.ptr, match->project.len);
	return name_is_valid(match->project) && name_is_normal(match->project) && *w->filename;
}

static int take_facts(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct wanted *w = ctx;
	const struct simplepage *page = answer->last_definitive == UPSTREAM_KNOWN ? answer->stale : NULL;
	const struct simplepage_file *f = page ? simplepage_find(page, w->filename) : NULL;
	w->owner = name_guard_owner(w->context, &w->here, answer);
	w->is_quarantined = answer->last_definitive == UPSTREAM_QUARANTINED;
	w->is_known =
		page || answer->result == UPSTREAM_NOT_FOUND || answer->result == UPSTREAM_ABSENT || w->is_quarantined;
	snprintf(w->why, sizeof(w->why), "%s", upstream_result_name[answer->result]);
	if (!f)
		return 0;
	w->url = w->is_metadata ? xasprintf("%s.metadata", f->url) : xstrdup(f->url);
	w->home = xstrdup(upstream_home(answer, w->filename));
	w->size = f->size;
	w->has_metadata = f->has_metadata;
	w->has_sha256 = f->has_sha256;
	w->has_metadata_sha256 = f->has_metadata_sha256;
	memcpy(w->sha256, f->sha256, SHA256_SIZE);
	memcpy(w->metadata_sha256, f->metadata_sha256, SHA256_SIZE);
	return 0;
}

static const uint8_t *hash_of(const struct wanted *w)
{
	if (w->is_metadata)
		return w->has_metadata_sha256 ? w->metadata_sha256 : NULL;
	return w->has_sha256 ? w->sha256 : NULL;
}

// --- replies ---

static struct reply *dress(const struct wanted *w, struct reply *r, const uint8_t *sha256)
{
	char etag[SHA256_HEX + 3] = "\"";
	reply_header(r, "Cache-Control", "%s, max-age=365000000, immutable",
		server_context_site(w->context)->merges_publicly ? "public" : "private");
	reply_header(r, "Accept-Ranges", "bytes");
	if (sha256) {
		hex_encode(sha256, SHA256_SIZE, etag + 1);
		etag[SHA256_HEX + 1] = '"';
		reply_set_etag(r, etag);
	}
	return r;
}

static struct reply *send_kept(const struct wanted *w, const struct file_cache_file *file)
{
	struct err e = ERR_INIT;
	struct blob *body = blob_map(file->fd, (size_t)file->size, &e);
	if (!body)
		return server_context_error(&e);
	blob_prefetch(body);
	struct reply *r = dress(w, reply_new(200, "application/octet-stream", body), file->sha256);
	files_keep(w->context, w->match, r, KEPT_SECONDS);
	return r;
}

// NULL where it is not kept. By its name alone where nobody says which hash it is to have.
static struct reply *find_kept(const struct wanted *w)
{
	struct err e = ERR_INIT;
	struct file_cache_file file;
	if (file_cache_find(w->context->file_cache, w->project, w->kept_name, hash_of(w), &file, &e) < 0)
		return NULL;
	struct reply *r = send_kept(w, &file);
	close(file.fd);
	return r;
}

static struct reply *no_store(struct reply *r)
{
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static struct reply *redirect(const struct wanted *w)
{
	struct reply *r = reply_text(302, "302 Found: it is upstream's");
	reply_header(r, "Location", "%s", w->url);
	return no_store(r);
}

static struct reply *bad_upstream_pages(const struct wanted *w, const char *why)
{
	return no_store(reply_text(502, "502 Bad Gateway: %s: upstream: %s", w->kept_name, why));
}

// What has just come, and may not be in the depot yet.
static struct reply *send_file(const struct wanted *w, struct file_fetch_result *result)
{
	if (result->file.fd < 0)
		return bad_upstream_pages(w, "it was kept, and is gone");
	struct reply *r = send_kept(w, &result->file);
	mem_close(&result->file.fd);
	return r;
}

// A HEAD is answered from what upstream's page says; such a body is never read.
static ssize_t read_nothing(struct stream *s UNUSED, uint64_t at UNUSED, char *out UNUSED, size_t room UNUSED)
{
	return -1;
}

static void await_nothing(struct stream *s UNUSED, uint64_t at UNUSED, struct continuation *w)
{
	w->resume(w);
}

static void unref_nothing(struct stream *s UNUSED)
{
}

static struct reply *send_head(const struct wanted *w)
{
	static const struct stream_ops ops = {read_nothing, await_nothing, unref_nothing};
	static struct stream nothing = {&ops};
	return dress(w, reply_stream(200, "application/octet-stream", &nothing, (uint64_t)w->size), hash_of(w));
}

// --- metadata that upstream does not give, out of the wheel ---

static int take_metadata(const struct wanted *w, int fd, uint64_t size, struct wheel *wheel, struct err *e)
{
	struct byte_source bytes = byte_source_file(fd, size);
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	if (wheel_examine(&bytes, &name, LENIENT, wheel, e) < 0)
		return -1;
	if (w->has_metadata_sha256 && memcmp(wheel->metadata_sha256, w->metadata_sha256, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "%s: its METADATA does not have the hash that upstream's page says",
			w->filename);
	return 0;
}

static int keep_metadata(const struct wanted *w, const struct wheel *wheel, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	struct file_cache_writer *a = file_cache_begin(w->context->file_cache, w->project, w->kept_name,
		wheel->metadata_sha256, wheel->metadata.len, e);
	if (!a)
		return -1;
	int kept = file_cache_writer_write(a, wheel->metadata.data, wheel->metadata.len, e) < 0 ||
				   file_cache_writer_check(a, sha256, e) < 0 || file_cache_writer_keep(a, sha256, e) < 0
			   ? -1
			   : 0;
	file_cache_writer_free(a);
	return kept;
}

// The wheel whose metadata is wanted; fd is -1 where it is not kept.
static struct file_cache_file find_wheel(const struct wanted *w)
{
	struct err e = ERR_INIT;
	struct file_cache_file file;
	if (file_cache_find(w->context->file_cache, w->project, w->filename, w->has_sha256 ? w->sha256 : NULL, &file,
		    &e) < 0)
		file.fd = -1;
	return file;
}

// Closes the wheel.
static struct reply *extract(const struct wanted *w, struct file_cache_file *file)
{
	struct err e = ERR_INIT;
	CLEANUP(wheel_release) struct wheel wheel;
	wheel_init(&wheel);
	int taken = take_metadata(w, file->fd, file->size, &wheel, &e);
	mem_close(&file->fd);
	if (taken < 0 || keep_metadata(w, &wheel, &e) < 0)
		return bad_upstream_pages(w, e.msg);
	struct reply *r = find_kept(w);
	return r ? r : bad_upstream_pages(w, "its metadata is not kept here");
}

// --- fetching ---

static struct reply *answer(const struct wanted *w, struct file_fetch_result *result)
{
	switch (result->state) {
	case FILE_FETCH_LATER:
		return NULL;
	case FILE_FETCH_STREAM:
		return dress(w, reply_stream(200, "application/octet-stream", result->stream, result->length),
			hash_of(w));
	case FILE_FETCH_FULL:
		return redirect(w); // who cannot keep it can still say where it is
	case FILE_FETCH_ABSENT:
		return no_store(reply_text(404, "404 Not Found: %s: %s", w->kept_name, result->why));
	case FILE_FETCH_KEPT:
		return send_file(w, result);
	case FILE_FETCH_BUSY:
		return server_context_busy();
	case FILE_FETCH_FAILED:
	default:
		return bad_upstream_pages(w, result->why);
	}
}

static void upstream_files(const struct wanted *w, bool is_wheel, struct file_fetch_result *result)
{
	const struct request *r = w->match->request;
	size_t length = strlen(w->url) - (w->is_metadata && is_wheel ? strlen(".metadata") : 0);
	CLEANUP(mem_free) char *url = xstrndup(w->url, length);
	const struct file_request wish = {
		.project = w->project,
		.filename = is_wheel ? w->filename : w->kept_name,
		.url = url,
		.home = w->home,
		.sha256 = is_wheel ? (w->has_sha256 ? w->sha256 : NULL) : hash_of(w),
		.size = is_wheel ? w->size : -1,
		.peer = r->peer,
	};
	upstream_files_get(w->context->upstream_files, &wish, w->is_metadata || r->header[HEADER_RANGE],
		w->match->continuation, result);
}

enum { STEP_METADATA, STEP_WHEEL };

// The metadata is not asked for once more because the wheel took longer than its failure is remembered for: where both
// fail there would be no end.
static struct reply *fetch_metadata(const struct wanted *w)
{
	struct file_fetch_result result = {.state = FILE_FETCH_FAILED};
	if (w->match->continuation->step == STEP_METADATA)
		upstream_files(w, false, &result);
	bool is_wheel = filename_kind(str_from(w->filename)) == FILENAME_WHEEL; // nothing else has any in it
	if (!is_wheel || (result.state != FILE_FETCH_ABSENT && result.state != FILE_FETCH_FAILED))
		return answer(w, &result);
	w->match->continuation->step = STEP_WHEEL;
	struct file_cache_file wheel = find_wheel(w);
	if (wheel.fd < 0)
		upstream_files(w, true, &result);
	if (wheel.fd < 0 && result.state != FILE_FETCH_KEPT)
		return answer(w, &result);
	if (wheel.fd < 0)
		wheel = result.file;
	return extract(w, &wheel);
}

// Whether the client has it already: 304, which needs no bytes.
static bool is_held(const struct wanted *w)
{
	char etag[SHA256_HEX + 3] = "\"";
	if (!w->has_sha256)
		return false;
	hex_encode(w->sha256, SHA256_SIZE, etag + 1);
	etag[SHA256_HEX + 1] = '"';
	return etag_matches(w->match->request->header[HEADER_IF_NONE_MATCH], etag);
}

static struct reply *fetch(const struct wanted *w)
{
	struct file_fetch_result result;
	if (w->size >= 0 && (w->match->request->method == METHOD_HEAD || is_held(w)))
		return send_head(w);
	upstream_files(w, true, &result);
	return answer(w, &result);
}

// The same words whether upstream said so or is not to hear the name: they tell nobody which names are here.
static const char no_such_file[] = "upstream has no such file";

static struct reply *send(const struct wanted *w)
{
	const struct site *site = server_context_site(w->context);
	if (w->owner == NAME_OWNER_OURS)
		return server_context_not_found(w->context, no_such_file);
	if (w->owner == NAME_OWNER_UNDECIDED)
		return bad_upstream_pages(w, "it has not said whether the name is ours");
	if (w->is_quarantined)
		return server_context_not_found(w->context, "upstream has this project in quarantine");
	struct reply *kept = find_kept(w);
	if (kept)
		return kept;
	if (!w->url)
		return w->is_known ? server_context_not_found(w->context, no_such_file) : bad_upstream_pages(w, w->why);
	if (w->is_metadata && !w->has_metadata)
		return server_context_not_found(w->context, "this file has no metadata");
	if (site->redirects)
		return redirect(w);
	if (site->is_offline)
		return bad_upstream_pages(w, "it is not kept here, and the server is offline");
	return w->is_metadata ? fetch_metadata(w) : fetch(w);
}

// What is said to whoever may read none of the views that merge; NULL: he may.
static struct reply *guard(const struct wanted *w)
{
	const struct site *site = server_context_site(w->context);
	struct reply *refused = NULL;
	for (size_t i = 0; i < site->view_count && !site->merges_publicly; i++) {
		if (!site->view[i].merges)
			continue;
		reply_unref(refused);
		refused = auth_read(w->context, w->match->request, &site->view[i], w->project);
		if (!refused)
			return NULL;
	}
	return refused;
}

struct reply *proxy_inline(struct server_context *s, const struct route_match *match)
{
	return server_context_site(s)->merges_publicly ? files_inline(s, match) : NULL;
}

struct reply *proxy_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	struct err e = ERR_INIT;
	CLEANUP(wanted_release) struct wanted w;
	bool is_name = wanted_init(&w, s, match);
	if (!s->upstream_pages || !is_name ||
		!name_rule_asks_upstream(name_rules_find(&server_context_site(s)->rules, w.project)))
		return server_context_not_found(s, no_such_file);
	struct reply *refused = guard(&w);
	if (refused)
		return refused;
	if (name_guard_lookup(s, c, w.project, &w.here, &e) < 0)
		return server_context_error(&e);
	if (name_guard_is_hidden(s, c, NULL, &w.here, w.project))
		return server_context_not_found(s, no_such_file);
	int64_t since = name_guard_since(s, &w.here, w.project);
	int told = upstream_pages_get(s->upstream_pages, c, w.project, match->request->peer, since, match->continuation,
		take_facts, &w, &e);
	if (told < 0)
		return server_context_error(&e);
	if (told == UPSTREAM_PAGES_BUSY)
		return server_context_busy();
	return told == UPSTREAM_PAGES_LATER ? NULL : send(&w);
}
