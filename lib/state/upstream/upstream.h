// SPDX-License-Identifier: Apache-2.0
// What other indexes (PyPI, unless the configuration says otherwise) have of a project: asked over HTTP, and kept in
// the catalog. One conditional request a project and index; what fails for a moment is tried again. Doubt is never
// "absent": each failure has its name, and facts that were good outlive it.
//
// upstream_lookup() is all that a command needs. A server goes the same way in single steps, so that its threads share
// the work: upstream_load() where the catalog is, upstream_request() anywhere, upstream_parse() where there is time to
// parse, upstream_save() where the catalog is.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch-pool.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/upstream/name-rules.h"

struct simplepage; // lib/domain/index/simplepage.h

enum upstream_result {
	UPSTREAM_KNOWN,  // the page is there, and as it is now
	UPSTREAM_ABSENT, // 404, and the operator trusts it (trust-404 = yes): no such project
	// All that follow are "unknown".
	UPSTREAM_NOT_FOUND, // 404, which is not trusted
	UPSTREAM_REFUSED,   // no connection, or it was lost before an answer
	UPSTREAM_RESOLVE,   // its name has no address
	UPSTREAM_TIMEOUT,
	UPSTREAM_TLS,
	UPSTREAM_CLIENT_ERROR, // any other 4xx, or a status that makes no sense here
	UPSTREAM_SERVER_ERROR, // 5xx
	UPSTREAM_THROTTLED,    // 429
	UPSTREAM_REDIRECTED,   // where it may not lead, or too often
	UPSTREAM_NOT_A_PAGE,
	UPSTREAM_TRUNCATED,
	UPSTREAM_TOO_LARGE,
	UPSTREAM_WRONG_PROJECT,
	UPSTREAM_OLDER,       // than what we had: see upstream_parse()
	UPSTREAM_QUARANTINED, // PEP 792
	UPSTREAM_NEVER_ASKED, // the catalog has nothing of it
	UPSTREAM_PRIVATE, // it is not asked, or does not count: the name is ours alone (lib/state/upstream/name-rules.h, ours.h)
	UPSTREAM_OTHER,
	UPSTREAM_RESULT_COUNT,
};
extern const char *const upstream_result_name[UPSTREAM_RESULT_COUNT]; // "known", "404", "timeout", "429", …

// What is known of a project over all configured indexes. Borrowed for the call.
struct upstream_answer {
	enum upstream_result result; // of the last time that it was asked
	const char *project;         // normalised
	const char *index;           // the URL of the index that result is about, without password
	const char *why;             // in words; "" for KNOWN
	const char *etag;            // NULL: none
	bool is_unchanged;           // of KNOWN, where it has just been asked: each index that has it said 304
	int64_t asked;               // seconds since 1970; 0: never
	int64_t fetched;             // when page or stale was confirmed last
	int64_t max_age; // seconds since then that it may be used for, as it said (less its Age); -1: it did not say
	bool is_changed; // where it has just been asked: what is known is other than before
	const struct simplepage
		*page; // of KNOWN; else NULL. Of several indexes: their union, of a file name the first one's
	// What was known when the page was there last, for whoever serves rather than decides; NULL: nothing. Where
	// result is KNOWN, it is the page.
	const struct simplepage *stale;
	// What was said for certain last: KNOWN, ABSENT, NOT_FOUND or QUARANTINED; NEVER_ASKED: nothing.
	enum upstream_result last_definitive;
	int64_t certain; // when that was; 0: never
	int64_t had_since; // since when it has the project: its oldest file's upload, else a minute before it was first asked; 0: it has not
	bool is_ours; // of PRIVATE: since the name was ours first (lib/state/upstream/name-owner.h)
	const struct upstream_project *of; // for upstream_home()
};
typedef int upstream_fn(void *ctx, const struct upstream_answer *answer, struct err *e);
// The URL of the index that a file of the answer's pages is from, as it is configured: with user and password, for
// requests and for nobody's eyes.
const char *upstream_home(const struct upstream_answer *answer, const char *filename);

struct upstream;

// ERR_USAGE where [upstream] is not sound. c is borrowed.
int upstream_new(const struct config *c, struct upstream **out, struct err *e) MUST_CHECK;
void upstream_free(struct upstream *u);     // NULL is fine; ends the pool: what is asked is answered as OTHER before
void upstream_cleanup(struct upstream **u); // for CLEANUP
// One more as it has, for files: large ones are not to take the places of pages.
struct fetch_pool *upstream_new_pool(const struct config *c);
// Of the first index, as it is asked: with "/" at its end, user and password.
const char *upstream_first_url(const struct upstream *u);
// Its own, to be started (fetch_pool_start) where upstream_request() is to be used without upstream_lookup().
struct fetch_pool *upstream_pool(struct upstream *u);

// Asks for each of the projects (normalised) but those that are ours alone and those that only private platforms have,
// and calls fn once for each, in this thread, in any order; what was learned is written to the catalog, in batches. A
// failed look-up is an answer, no error. fn must not use the catalog for writing; where it fails, the rest is left. The
// pool must not have been started. At the end the names that upstream does not know, and that are here, are noted as
// ours: but for an index that knows none of several projects and is not trusted (trust-404), which is logged.
int upstream_lookup(struct upstream *u, struct catalog *c, const char *const *projects, size_t count, upstream_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
// What the catalog has of one, without asking: the result of the last time. Of a name that is ours alone nothing,
// unless the last look of this u noted it.
int upstream_load_cached(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The same whosever the name is. Any thread, and so is upstream_load_cached().
int upstream_load_cached_any(struct upstream *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// What the operator wants of the name.
enum name_rule upstream_rule(const struct upstream *u, const char *project);
// Why a name is ours alone, whatever is upstream under it; NULL: it is not. is_ours: it was here first
// (lib/state/upstream/owned-names.h). is_hidden: only private platforms have it, and upstream is not asked.
const char *upstream_owner(enum name_rule rule, bool is_ours, bool is_hidden);

// The single steps. A struct upstream_project is one thread's at a time until it is settled; then all may be told of
// it, while one keeps it. Whoever has it has a reference.
struct upstream_project;

// What the catalog has of it, whosever the name is; without any catalog (NULL): nothing.
int upstream_load(struct upstream *u, struct catalog *c, const char *project, struct upstream_project **out,
	struct err *e) MUST_CHECK;
struct upstream_project *upstream_project_ref(struct upstream_project *p);
void upstream_project_unref(struct upstream_project *p); // NULL is fine
const char *upstream_project_name(const struct upstream_project *p);
// Another server on the catalog wrote down what it was told later: that counts.
bool upstream_project_is_superseded(const struct upstream_project *p);
size_t upstream_project_unread(const struct upstream_project *p); // bytes that were answered and are not settled
size_t upstream_project_bytes(const struct upstream_project *p);  // of memory, about
// The change (catalog-upstream.h) that it is as new as; 0: it was never kept.
int64_t upstream_project_changed(const struct upstream_project *p);
// done is called once, by the pool's thread, which has p until then; nothing is parsed yet.
typedef void upstream_done(void *ctx, struct upstream_project *p);
void upstream_request(struct upstream *u, struct upstream_project *p, upstream_done *done, void *ctx);
// Takes in what was answered. A page that is older than what is known (by its serial, else its newest upload; where it
// has neither, one that only lacks files) is not believed, and known as OLDER, until it is newer again, or has been the
// same for a day.
void upstream_parse(struct upstream *u, struct upstream_project *p);
// Calls fn with what is known of it.
int upstream_report(struct upstream *u, struct upstream_project *p, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Bounds what the catalog has of names that nobody has, and of pages of projects that no platform has, as a server is
// asked for them: a transaction of its own.
int upstream_forget(struct catalog *c, struct err *e) MUST_CHECK;
// Writes what was learned of them, in one transaction.
int upstream_save(struct upstream *u, struct catalog *c, struct upstream_project *const *projects, size_t count,
	struct err *e) MUST_CHECK;
