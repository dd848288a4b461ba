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
	struct service *service;
	const struct call *call;
	char *project;
	char *filename; // of the wheel or sdist
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
	struct presence here;
	enum owner owner; // of the name
	char why[256]; // where it has not
};

static void wanted_release(struct wanted *w)
{
	free(w->project);
	free(w->filename);
	free(w->kept_name);
	free(w->url);
	free(w->home);
}

static bool wanted_init(struct wanted *w, struct service *s, const struct call *call)
{
	struct str file = call->file;
	*w = (struct wanted){.service = s, .call = call, .size = -1};
	w->is_metadata = str_ends(file, STR(".metadata"));
	w->kept_name = xstrndup(file.ptr, file.len);
	w->filename = xstrndup(file.ptr, file.len - (w->is_metadata ? strlen(".metadata") : 0));
	w->project = xstrndup(call->project.ptr, call->project.len);
	return name_is_valid(call->project) && name_is_normal(call->project) && *w->filename;
}

static int take_facts(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	struct wanted *w = ctx;
	const struct simplepage *page = answer->standing == UPSTREAM_KNOWN ? answer->stale : NULL;
	const struct simplepage_file *f = page ? simplepage_find(page, w->filename) : NULL;
	w->owner = owned_judge(w->service, &w->here, answer);
	w->is_quarantined = answer->standing == UPSTREAM_QUARANTINED;
	w->is_known = page || answer->result == UPSTREAM_NOT_FOUND || answer->result == UPSTREAM_ABSENT ||
		w->is_quarantined;
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
		service_site(w->service)->merges_publicly ? "public" : "private");
	reply_header(r, "Accept-Ranges", "bytes");
	if (sha256) {
		hex_encode(sha256, SHA256_SIZE, etag + 1);
		etag[SHA256_HEX + 1] = '"';
		reply_set_etag(r, etag);
	}
	return r;
}

static struct reply *send_kept(const struct wanted *w, const struct depot_file *file)
{
	struct err e = ERR_INIT;
	struct blob *body = blob_map(file->fd, (size_t)file->size, &e);
	if (!body)
		return service_error(&e);
	blob_prefetch(body);
	struct reply *r = dress(w, reply_new(200, "application/octet-stream", body), file->sha256);
	files_keep(w->service, w->call, r, KEPT_SECONDS);
	return r;
}

// NULL where it is not kept. By its name alone where nobody says which hash it is to have.
static struct reply *find_kept(const struct wanted *w)
{
	struct err e = ERR_INIT;
	struct depot_file file;
	if (depot_find(w->service->depot, w->project, w->kept_name, hash_of(w), &file, &e) < 0)
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

static struct reply *bad_gateway(const struct wanted *w, const char *why)
{
	return no_store(reply_text(502, "502 Bad Gateway: %s: upstream: %s", w->kept_name, why));
}

// What has just come, and may not be in the depot yet.
static struct reply *send_file(const struct wanted *w, struct retrieve_result *result)
{
	if (result->file.fd < 0)
		return bad_gateway(w, "it was kept, and is gone");
	struct reply *r = send_kept(w, &result->file);
	mem_close(&result->file.fd);
	return r;
}

// A HEAD is answered from what upstream's page says; such a body is never read.
static ssize_t read_nothing(struct stream *s UNUSED, uint64_t at UNUSED, char *out UNUSED, size_t room UNUSED)
{
	return -1;
}

static void await_nothing(struct stream *s UNUSED, uint64_t at UNUSED, struct waiter *w)
{
	w->wake(w);
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
	struct source bytes = source_file(fd, size);
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(w->filename), &name, e) < 0)
		return -1;
	if (wheel_examine(&bytes, &name, LENIENT, wheel, e) < 0)
		return -1;
	if (w->has_metadata_sha256 && memcmp(wheel->metadata_sha256, w->metadata_sha256, SHA256_SIZE) != 0)
		return err_set(e, ERR_INVALID, "%s: its METADATA does not have the hash that upstream's page says", w->filename);
	return 0;
}

static int keep_metadata(const struct wanted *w, const struct wheel *wheel, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	struct arrival *a = depot_begin(w->service->depot, w->project, w->kept_name, wheel->metadata_sha256, wheel->metadata.len, e);
	if (!a)
		return -1;
	int kept = arrival_write(a, wheel->metadata.data, wheel->metadata.len, e) < 0 ||
		arrival_check(a, sha256, e) < 0 || arrival_keep(a, sha256, e) < 0 ? -1 : 0;
	arrival_free(a);
	return kept;
}

// The wheel whose metadata is wanted; fd is -1 where it is not kept.
static struct depot_file find_wheel(const struct wanted *w)
{
	struct err e = ERR_INIT;
	struct depot_file file;
	if (depot_find(w->service->depot, w->project, w->filename, w->has_sha256 ? w->sha256 : NULL, &file, &e) < 0)
		file.fd = -1;
	return file;
}

// Closes the wheel.
static struct reply *extract(const struct wanted *w, struct depot_file *file)
{
	struct err e = ERR_INIT;
	CLEANUP(wheel_release) struct wheel wheel;
	wheel_init(&wheel);
	int taken = take_metadata(w, file->fd, file->size, &wheel, &e);
	mem_close(&file->fd);
	if (taken < 0 || keep_metadata(w, &wheel, &e) < 0)
		return bad_gateway(w, e.msg);
	struct reply *r = find_kept(w);
	return r ? r : bad_gateway(w, "its metadata is not kept here");
}

// --- fetching ---

static struct reply *answer(const struct wanted *w, struct retrieve_result *result)
{
	switch (result->state) {
	case RETRIEVE_LATER:
		return NULL;
	case RETRIEVE_STREAM:
		return dress(w, reply_stream(200, "application/octet-stream", result->stream, result->length), hash_of(w));
	case RETRIEVE_FULL:
		return redirect(w); // who cannot keep it can still say where it is
	case RETRIEVE_ABSENT:
		return no_store(reply_text(404, "404 Not Found: %s: %s", w->kept_name, result->why));
	case RETRIEVE_KEPT:
		return send_file(w, result);
	case RETRIEVE_BUSY:
		return service_busy();
	case RETRIEVE_FAILED:
	default:
		return bad_gateway(w, result->why);
	}
}

static void retrieve(const struct wanted *w, bool is_wheel, struct retrieve_result *result)
{
	const struct request *r = w->call->request;
	size_t length = strlen(w->url) - (w->is_metadata && is_wheel ? strlen(".metadata") : 0);
	CLEANUP(mem_free) char *url = xstrndup(w->url, length);
	const struct retrieve_wish wish = {
		.project = w->project,
		.filename = is_wheel ? w->filename : w->kept_name,
		.url = url,
		.home = w->home,
		.sha256 = is_wheel ? (w->has_sha256 ? w->sha256 : NULL) : hash_of(w),
		.size = is_wheel ? w->size : -1,
		.peer = r->peer,
	};
	retrieve_file(w->service->retrieve, &wish, w->is_metadata || r->header[HEADER_RANGE], w->call->again, result);
}

enum { STEP_METADATA, STEP_WHEEL };

// The metadata is not asked for once more because the wheel took longer than its failure is remembered for: where both
// fail there would be no end.
static struct reply *fetch_metadata(const struct wanted *w)
{
	struct retrieve_result result = {.state = RETRIEVE_FAILED};
	if (w->call->again->step == STEP_METADATA)
		retrieve(w, false, &result);
	bool is_wheel = filename_kind(str_from(w->filename)) == FILENAME_WHEEL; // nothing else has any in it
	if (!is_wheel || (result.state != RETRIEVE_ABSENT && result.state != RETRIEVE_FAILED))
		return answer(w, &result);
	w->call->again->step = STEP_WHEEL;
	struct depot_file wheel = find_wheel(w);
	if (wheel.fd < 0)
		retrieve(w, true, &result);
	if (wheel.fd < 0 && result.state != RETRIEVE_KEPT)
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
	return etag_matches(w->call->request->header[HEADER_IF_NONE_MATCH], etag);
}

static struct reply *fetch(const struct wanted *w)
{
	struct retrieve_result result;
	if (w->size >= 0 && (w->call->request->method == METHOD_HEAD || is_held(w)))
		return send_head(w);
	retrieve(w, true, &result);
	return answer(w, &result);
}

// The same words whether upstream said so or is not to hear the name: they tell nobody which names are here.
static const char no_such_file[] = "upstream has no such file";

static struct reply *send(const struct wanted *w)
{
	const struct site *site = service_site(w->service);
	if (w->owner == OWNER_OURS)
		return service_not_found(w->service, no_such_file);
	if (w->owner == OWNER_UNDECIDED)
		return bad_gateway(w, "it has not said whether the name is ours");
	if (w->is_quarantined)
		return service_not_found(w->service, "upstream has this project in quarantine");
	struct reply *kept = find_kept(w);
	if (kept)
		return kept;
	if (!w->url)
		return w->is_known ? service_not_found(w->service, no_such_file) : bad_gateway(w, w->why);
	if (w->is_metadata && !w->has_metadata)
		return service_not_found(w->service, "this file has no metadata");
	if (site->redirects)
		return redirect(w);
	if (site->is_offline)
		return bad_gateway(w, "it is not kept here, and the server is offline");
	return w->is_metadata ? fetch_metadata(w) : fetch(w);
}

// What is said to whoever may read none of the views that merge; NULL: he may.
static struct reply *guard(const struct wanted *w)
{
	const struct site *site = service_site(w->service);
	struct reply *refused = NULL;
	for (size_t i = 0; i < site->view_count && !site->merges_publicly; i++) {
		if (!site->view[i].merges)
			continue;
		reply_unref(refused);
		refused = auth_read(w->service, w->call->request, &site->view[i], w->project);
		if (!refused)
			return NULL;
	}
	return refused;
}

struct reply *proxy_quick(struct service *s, const struct call *call)
{
	return service_site(s)->merges_publicly ? files_quick(s, call) : NULL;
}

struct reply *proxy_work(struct service *s, struct catalog *c, const struct call *call)
{
	struct err e = ERR_INIT;
	CLEANUP(wanted_release) struct wanted w;
	bool is_name = wanted_init(&w, s, call);
	if (!s->gateway || !is_name || !rule_asks(rules_find(&service_site(s)->rules, w.project)))
		return service_not_found(s, no_such_file);
	struct reply *refused = guard(&w);
	if (refused)
		return refused;
	if (owned_look(s, c, w.project, &w.here, &e) < 0)
		return service_error(&e);
	if (owned_is_hidden(s, c, NULL, &w.here, w.project))
		return service_not_found(s, no_such_file);
	int64_t since = owned_since(s, &w.here, w.project);
	int told = gateway_project(s->gateway, c, w.project, call->request->peer, since, call->again, take_facts, &w, &e);
	if (told < 0)
		return service_error(&e);
	if (told == GATEWAY_BUSY)
		return service_busy();
	return told == GATEWAY_LATER ? NULL : send(&w);
}
