// SPDX-License-Identifier: Apache-2.0
#include "lib/place/s3-probe.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/place/s3.h"

enum {
	DRIFT = 60,        // seconds of the clock that are worth a word
	WRONG_DRIFT = 900, // more is refused by engines
	OLD = 3600,        // seconds: a signature as old has expired, and a probe as old was left behind
};

enum known { KNOWN_NOTHING, KNOWN_YES, KNOWN_NO };

// What is known of a bucket in this process.
struct probed {
	struct probed *next;
	struct s3_bucket *bucket;
	enum known create, complete;
};

static struct {
	pthread_mutex_t lock; // held while one probes: others wait for what it finds
	struct probed *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct probed *find_probed(struct s3_bucket *b)
{
	struct probed *p = all.first;
	while (p && p->bucket != b)
		p = p->next;
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	*p = (struct probed){.next = all.first, .bucket = b};
	all.first = p;
	return p;
}

static char *probe_key(const char *prefix)
{
	uint64_t random;
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort(); // so few bytes are never cut short once the system has started (getrandom(2))
	return xasprintf("%s.wheelcache/probe/%016" PRIx64, prefix, random);
}

static int put_text(struct s3_bucket *b, const char *key, const char *text, bool is_new, const char *if_match, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	const struct byte_source body = byte_source_memory(str_from(text));
	digest_sha256(str_from(text), sha256);
	const struct s3_put put = {
		.key = key, .body = &body, .size = body.size, .sha256 = sha256, .is_new = is_new, .if_match = if_match};
	return s3_put(b, &put, e);
}

static void remove_probe(struct s3_bucket *b, const char *key)
{
	struct err e = ERR_INIT;
	if (s3_delete(b, key, NULL, &e) < 0)
		log_debug("a probe stays in the bucket: %s", e.msg);
}

// 1: the second of two writers is told; 0: it is not; -1: neither is known.
static int try_create(struct s3_bucket *b, const char *key, struct err *e)
{
	struct err why = ERR_INIT;
	if (put_text(b, key, "first", true, NULL, &why) < 0) {
		*e = why;
		return why.kind == ERR_INVALID ? 0 : -1;
	}
	if (put_text(b, key, "second", true, NULL, &why) == 0)
		return 0;
	*e = why;
	return why.kind == ERR_CONFLICT ? 1 : -1;
}

static int refuse_writes(const struct s3_bucket *b, struct err *e)
{
	return err_set(e, ERR_BUSY,
		"%s: its engine does not honour If-None-Match: of two uploads of one name one would be lost, so nothing is "
		"written",
		s3_bucket_title(b));
}

int s3_probe_create(struct s3_bucket *b, const char *prefix, struct err *e)
{
	struct err why = ERR_INIT;
	pthread_mutex_lock(&all.lock);
	struct probed *p = find_probed(b);
	if (p->create == KNOWN_NOTHING) {
		CLEANUP(mem_free) char *key = probe_key(prefix);
		int found = try_create(b, key, &why);
		p->create = found < 0 ? KNOWN_NOTHING : found ? KNOWN_YES : KNOWN_NO;
		remove_probe(b, key);
	}
	enum known known = p->create;
	pthread_mutex_unlock(&all.lock);
	if (known == KNOWN_NOTHING)
		*e = why;
	return known == KNOWN_YES ? 0 : known == KNOWN_NO ? refuse_writes(b, e) : -1;
}

bool s3_probe_complete(struct s3_bucket *b, const char *prefix)
{
	struct err why = ERR_INIT;
	pthread_mutex_lock(&all.lock);
	struct probed *p = find_probed(b);
	bool is_conditional = p->complete == KNOWN_YES;
	if (p->complete == KNOWN_NOTHING) {
		CLEANUP(mem_free) char *key = probe_key(prefix);
		int result = put_text(b, key, "first", false, NULL, &why);
		if (result == 0)
			result = s3_complete_is_conditional(b, key, &is_conditional, &why);
		if (result == 0)
			p->complete = is_conditional ? KNOWN_YES : KNOWN_NO;
		remove_probe(b, key);
	}
	pthread_mutex_unlock(&all.lock);
	return is_conditional;
}

// --- all of it ---

struct probing {
	struct s3_bucket *bucket;
	const char *key;
	s3_probe_fn *fn;
	void *ctx;
	enum s3_probe_result worst;
};

static void tell_finding(struct probing *p, enum s3_probe_result result, const char *what, const char *words)
{
	p->worst = result > p->worst ? result : p->worst;
	p->fn(p->ctx, result, what, words);
}

static bool probe_writing(struct probing *p, const char *prefix)
{
	struct err e = ERR_INIT;
	int created = s3_probe_create(p->bucket, prefix, &e);
	if (created == 0)
		created = put_text(p->bucket, p->key, "first", true, NULL, &e);
	tell_finding(p, created == 0 ? S3_PROBE_FINE : S3_PROBE_NO_WRITE, "conditional create",
		created == 0 ? "of two writers of a name the first one wins" : e.msg);
	return created == 0;
}

static void probe_replace(struct probing *p)
{
	struct err e = ERR_INIT, wrong = ERR_INIT;
	struct s3_object now = {0};
	bool is_refused = put_text(p->bucket, p->key, "other", false, "0123456789abcdef0123456789abcdef", &wrong) < 0 &&
			  wrong.kind == ERR_CONFLICT;
	bool is_taken = s3_head(p->bucket, p->key, &now, NULL, &e) > 0 &&
			put_text(p->bucket, p->key, "second", false, now.etag, &e) == 0;
	tell_finding(p, is_refused && is_taken ? S3_PROBE_FINE : S3_PROBE_WEAK, "conditional replace",
		is_refused && is_taken ? "a change of an object that has changed meanwhile is refused"
		: is_taken	     ? "the engine ignores If-Match: of two changes of a mark at once one may be lost"
				     : "the engine refuses If-Match with the right ETag: marks cannot be changed");
}

struct listed_probe {
	const char *name;
	struct s3_object found;
	bool is_there;
};

static int find_probe(void *ctx, const struct s3_listed *one, struct err *e UNUSED)
{
	struct listed_probe *l = ctx;
	if (strcmp(one->name, l->name) != 0)
		return 0;
	l->is_there = true;
	l->found = one->object;
	return 1;
}

static void probe_listing(struct probing *p, const char *prefix)
{
	struct err e = ERR_INIT;
	struct s3_object now = {0};
	CLEANUP(mem_free) char *folder = xasprintf("%s.wheelcache/probe/", prefix);
	struct listed_probe l = {.name = p->key + strlen(folder)};
	bool is_whole = s3_head(p->bucket, p->key, &now, NULL, &e) > 0 &&
			s3_list(p->bucket, folder, false, 0, find_probe, &l, &e) > 0;
	bool is_same = is_whole && s3_object_is(&now, &l.found);
	tell_finding(p, is_same ? S3_PROBE_FINE : S3_PROBE_WEAK, "listing after write",
		is_same    ? "what was written is listed at once, as it is read"
		: is_whole ? "the listing has another size, time or ETag than the object: each file is asked for alone"
			   : "what was written is not listed at once: a scan may come too early");
}

static bool has_status(struct s3_bucket *b, const struct s3_request *r, unsigned status, unsigned *got)
{
	struct err e = ERR_INIT;
	CLEANUP(s3_answer_release) struct s3_answer a;
	*got = s3_request_send(b, r, &a, &e) < 0 ? 0 : a.http.status;
	return *got == status;
}

static void probe_range(struct probing *p)
{
	unsigned got;
	const struct s3_request r = {.method = "GET", .key = p->key, .header = {"Range: bytes=1-2"}};
	bool is_part = has_status(p->bucket, &r, 206, &got);
	tell_finding(p, is_part ? S3_PROBE_FINE : S3_PROBE_WRONG, "ranges",
		is_part ? "a part of an object can be read" : "the engine has no ranges: large files cannot be read");
}

static void probe_body(struct probing *p)
{
	unsigned got;
	static const uint8_t zeros[SHA256_SIZE];
	const struct byte_source body = byte_source_memory(STR("third"));
	const struct s3_request r = {
		.method = "PUT", .key = p->key, .body = &body, .size = body.size, .sha256 = zeros, .is_single = true};
	bool is_checked = !has_status(p->bucket, &r, 200, &got);
	tell_finding(p, is_checked ? S3_PROBE_FINE : S3_PROBE_WEAK, "hash of the body",
		is_checked ? "a body that was changed on its way is refused"
			   : "the engine does not look at the hash of a body: what the network changes is not noticed");
}

static void probe_delete(struct probing *p)
{
	struct err e = ERR_INIT;
	bool is_refused = s3_delete(p->bucket, p->key, "0123456789abcdef0123456789abcdef", &e) < 0 && e.kind == ERR_CONFLICT;
	tell_finding(p, is_refused ? S3_PROBE_FINE : S3_PROBE_WEAK, "conditional delete",
		is_refused ? "an object that has changed meanwhile is not deleted"
			   : "the engine ignores If-Match of a DELETE: a mark that changes while it is removed is lost");
}

static void probe_complete(struct probing *p, const char *prefix)
{
	bool is_conditional = s3_probe_complete(p->bucket, prefix);
	tell_finding(p, is_conditional ? S3_PROBE_FINE : S3_PROBE_WEAK, "conditional upload in parts",
		is_conditional ? "of two writers of a large file the first one wins"
			       : "uploads in parts ignore If-None-Match: large files are sent in one piece");
}

static void probe_signature(struct probing *p, const char *what, const struct s3_request *r, const char *fine, const char *bad)
{
	unsigned got;
	bool is_refused = has_status(p->bucket, r, 403, &got) || got == 400 || got == 401;
	bool is_trusted = s3_bucket_is_trusted(p->bucket);
	tell_finding(p, is_refused ? S3_PROBE_FINE : !got ? S3_PROBE_WEAK : is_trusted ? S3_PROBE_WEAK : S3_PROBE_WRONG, what,
		is_refused ? fine : got ? bad : "it does not answer");
}

static void probe_signatures(struct probing *p)
{
	// Reading what is there: an engine that answers anything but a refusal has not looked.
	const struct s3_request forged = {.method = "GET",
		.query = "delimiter=%2F&list-type=2&max-keys=1&prefix=",
		.secret = "this-is-not-the-secret",
		.is_single = true};
	struct s3_request old = forged;
	old.secret = NULL;
	old.age_s = OLD;
	probe_signature(p, "wrong secret", &forged, "a request that was signed with another secret is refused",
		"the engine accepts a wrong secret: anybody can write there; [place] trust-engine = yes uses it all the same");
	probe_signature(p, "expired signature", &old, "a request that was signed an hour ago is refused",
		"the engine accepts an expired signature: who has seen a request can repeat it; [place] trust-engine = yes uses "
		"it all the same");
}

static void probe_clock(struct probing *p)
{
	char words[200];
	int64_t off = s3_bucket_skew(p->bucket), far = off < 0 ? -off : off;
	snprintf(words, sizeof(words), "this machine's clock is %" PRId64 " s %s that of the engine", far,
		off > 0 ? "behind" : "ahead of");
	tell_finding(p, far <= DRIFT ? S3_PROBE_FINE : far <= WRONG_DRIFT ? S3_PROBE_WEAK : S3_PROBE_WRONG, "clock",
		far <= DRIFT ? "this machine and the engine have the same time" : words);
}

// What killed processes left.
struct leftovers {
	struct s3_bucket *bucket;
	const char *folder;
	int64_t before;
};

static int remove_leftover(void *ctx, const struct s3_listed *one, struct err *e UNUSED)
{
	const struct leftovers *l = ctx;
	CLEANUP(mem_free) char *key = xasprintf("%s%s", l->folder, one->name);
	if (!one->is_prefix && one->object.time < l->before)
		remove_probe(l->bucket, key);
	return 0;
}

enum s3_probe_result s3_probe(struct s3_bucket *b, const char *prefix, bool is_full, s3_probe_fn *fn, void *ctx)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *key = probe_key(prefix);
	CLEANUP(mem_free) char *folder = xasprintf("%s.wheelcache/probe/", prefix);
	struct probing p = {.bucket = b, .key = key, .fn = fn, .ctx = ctx};
	struct leftovers old = {b, folder, clock_wall_seconds() - OLD};
	if (s3_list(b, folder, false, 0, remove_leftover, &old, &e) < 0) {
		tell_finding(&p, S3_PROBE_AWAY, "reading", e.msg);
		return p.worst;
	}
	tell_finding(&p, S3_PROBE_FINE, "reading", "the bucket can be listed");
	if (probe_writing(&p, prefix)) {
		probe_replace(&p);
		probe_listing(&p, prefix);
		probe_range(&p);
		probe_body(&p);
		probe_delete(&p);
		probe_complete(&p, prefix);
		remove_probe(b, key);
	}
	if (is_full)
		probe_signatures(&p);
	probe_clock(&p);
	return p.worst;
}
