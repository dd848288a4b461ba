// SPDX-License-Identifier: Apache-2.0
// Look-ups of projects at other indexes (PyPI, unless the configuration says otherwise) over HTTP, and their results in
// the catalog. The upstreams of a configuration are a list. Each has a name, settings, rules for names, connections and
// one index or several; that one of them fails does not touch another. Who asks names an order: which of them, first or
// together. A project has one answer for it, of their indexes. One conditional request per project and index; temporary
// failures are retried. No failure means "absent": each has a name, and good facts stay beside a later failure.
//
// A command calls upstream_lookup. A server takes the same steps in several threads: upstream_load and upstream_save
// where the catalog is, upstream_request anywhere, upstream_parse where there is time to parse. A catalog is one
// thread's at a time. Errors are those of catalog.h, if not said otherwise.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/net/fetch-pool.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/upstream/owned-names.h"

struct advisories; // lib/advisories/advisories.h
struct mirror_pins; // lib/state/upstream/mirror-pins.h
struct offering;   // lib/state/upstream/offering.h
struct offering_rules;
struct right_clock;
struct simplepage; // lib/domain/index/simplepage.h
struct simplepage_file;
struct name_presence; // lib/state/upstream/name-owner.h
struct upstreams; // all of a configuration, in its order
struct upstream;   // one of the list
struct upstream_rows;
struct upstream_rules;
struct waiver; // lib/state/upstream/holds.h

enum upstream_result {
	UPSTREAM_KNOWN,  // the page is there, and current
	UPSTREAM_ABSENT, // 404, and the operator trusts it (trust-404 = yes): no such project
	// All that follow are "unknown".
	UPSTREAM_NOT_FOUND, // 404, which is not trusted
	UPSTREAM_REFUSED,   // no connection, or it was lost before the response
	UPSTREAM_RESOLVE,   // the host name has no address
	UPSTREAM_TIMEOUT,
	UPSTREAM_TLS,
	UPSTREAM_CLIENT_ERROR, // any other 4xx, or an unexpected status
	UPSTREAM_SERVER_ERROR, // 5xx
	UPSTREAM_THROTTLED,    // 429
	UPSTREAM_REDIRECTED,   // to a forbidden host or address, or too often
	UPSTREAM_NOT_A_PAGE,
	UPSTREAM_TRUNCATED,
	UPSTREAM_TOO_LARGE,
	UPSTREAM_WRONG_PROJECT,
	UPSTREAM_OLDER,       // older than the stored page: see upstream_parse
	UPSTREAM_QUARANTINED, // PEP 792
	UPSTREAM_NEVER_ASKED, // the catalog has no row
	UPSTREAM_PRIVATE,     // not asked, or ignored: the name is ours alone (owned-names.h)
	UPSTREAM_PASSWORD,   // [upstream] password-file cannot be used
	UPSTREAM_OTHER,
	UPSTREAM_RESULT_COUNT,
};
extern const char *const upstream_result_name[UPSTREAM_RESULT_COUNT]; // "known", "404", "timeout", "429", …

// How long a page may be used: [upstream] max-age, negative-max-age and stale, in seconds.
struct upstream_ages {
	int64_t max_age, negative, stale;
};

// The facts about a project from all configured indexes. Borrowed for the call.
struct upstream_answer {
	enum upstream_result result;   // of the last request
	const char *project;           // normalised
	const char *index;             // the URL of the index that result is about, without password
	const char *why;               // in words; "" for KNOWN
	const char *etag;              // NULL: none
	bool is_unchanged;             // KNOWN, just asked: each index that has it answered 304
	int64_t asked;                 // seconds since 1970; 0: never
	int64_t fetched;               // when page or stale was last confirmed
	int64_t max_age;               // its lifetime since then in seconds, less Age; -1: unknown
	struct upstream_ages ages;     // of the upstreams that it depends on, of several the least
	bool is_changed;               // just asked: the facts differ from those before
	// If KNOWN, else NULL: the files that are offered (offering.h); of several indexes the union, of a file name
	// the first's.
	const struct simplepage *page;
	// The last page, for serving, not for decisions; NULL: none. If KNOWN, it is page.
	const struct simplepage *stale;
	const struct simplepage *listed; // the same with the files that are hidden: for whose the name is, and what is yanked
	const char *blocked; // by what all of its files are blocked, for PEP 792; NULL: they are not
	const bool *hidden;              // which of its files are hidden; NULL: none is, and listed is stale
	int64_t next; // when more or fewer files are offered, if no rule changes, in seconds since 1970; 0: never
	int64_t now;  // the time by which they are
	const struct upstream_rules *rules; // for upstream_judge(); NULL: there is none
	// The last definitive result: KNOWN, ABSENT, NOT_FOUND or QUARANTINED; NEVER_ASKED: none.
	enum upstream_result last_definitive;
	int64_t certain; // as of when that was; 0: never
	// Since when it has the project: its oldest upload time, else a minute before it was first asked; 0: it does
	// not.
	int64_t had_since;
	bool is_ours;                // if PRIVATE: because the name was ours first (name-owner.h)
	struct upstream_project *of; // never NULL where a page is
	const uint8_t *origin;       // of each file of stale, the number of its row; NULL: of all that of home
	const uint8_t *listed_origin; // the same of listed
	uint8_t home;
	bool is_lacking;  // the project is nowhere, so that with indexes = first the next one would be asked
	bool is_partial;  // one of together was never asked
	uint32_t depends; // bits by number: the upstreams that it depends on
	const struct upstream_rows *rows; // that it is of; for upstream_conflicts()
};
typedef int upstream_fn(void *ctx, const struct upstream_answer *answer, struct err *e);
// Where a file of the answer's stale or listed page is from. Borrowed.
struct upstream_home {
	const char *url; // of the index, with user and password: for requests only, never to be shown
	struct upstream *upstream;
	size_t number; // of the upstream
	// What stands for the upstream in the URLs of its files, before the project: its name; NULL: nothing, which is
	// so of a plain [upstream] that is the first one.
	const char *url_name;
};
// f NULL: of an answer of one upstream.
struct upstream_home upstream_home(const struct upstream_answer *answer, const struct simplepage_file *f);
// Calls fn for each file name of the order that a later upstream of it lists with another SHA-256 than the first one,
// with both names. Borrowed.
typedef void upstream_conflict_fn(void *ctx, const char *filename, const char *first, const char *other);
void upstream_conflicts(const struct upstream_answer *answer, upstream_conflict_fn *fn, void *ctx);

// Decides about a file of the answer's `listed` page, whose upstream upstream_home() tells, or about one that no page
// has.
// *out borrows from the answer.
void upstream_judge(const struct upstream_answer *answer, const struct upstream *upstream,
	const struct simplepage_file *file, struct offering *out);

// ERR_USAGE: [upstream] is invalid, or two have one index. c is borrowed for the call. The caller frees *out.
int upstreams_new(const struct config *c, struct upstreams **out, struct err *e) MUST_CHECK;
void upstreams_free(struct upstreams *u);     // NULL is fine. Ends the pools; requests under way are answered as OTHER
void upstreams_cleanup(struct upstreams **u); // for CLEANUP
// Takes over the lifetimes of pages and the rules of what is offered. ERR_USAGE: a list of the rules cannot be read;
// then the rules stay as they were. Any thread.
int upstreams_configure(struct upstreams *u, const struct config *c, struct err *e) MUST_CHECK;
// Appends those of the names, sorted with a line end after each, of which the upstream may offer files, now or later.
// False: there is no rule, so it offers all; nothing is appended.
bool upstreams_offered_names(struct upstreams *u, const struct upstream *upstream, struct str names, struct buf *out);
// Reads what of the rules of what is offered lies in the catalog's state: holds and block lists. Whatever loads a
// project does it; any thread may call it again. Errors of right_clock_open(), advisories_open() and holds_read().
int upstream_rules_open(struct upstreams *u, struct catalog *c, struct err *e) MUST_CHECK;
// Whether a line of `deny` or a record of `block` hides this version of a project, in normal form, at the upstream of
// this name, or there is none of it; NULL: at any. seen: whose lines of [upstream] deny count, bits by number. version
// NULL: unknown. *denied: what the line says, in the arena; NULL: no line has it. Any thread.
bool upstreams_hide_version(struct upstreams *u, const char *upstream, uint32_t seen, const char *project,
	const struct version *version, struct arena *a, const char **denied);
// Takes these block lists, of which a server has one copy; a command reads its own. Any thread.
void upstreams_use_lists(struct upstreams *u, struct advisories *lists);
// Has the pages of the projects that these pin stay, and never be too old. Borrowed; before other threads use u.
void upstreams_use_pins(struct upstreams *u, struct mirror_pins *pins);
// Reads holds, waivers and lists again, if they have changed, and the clock. What cannot be read counts as it was
// before. True: other files may be offered now. A server calls it several times a second. Any thread.
bool upstreams_look(struct upstreams *u);
// A list of packages of the keys `deny` and `allow`, or the folder of the holds. Borrowed for the call.
struct upstreams_list {
	const char *upstream; // NULL: of all
	size_t number;        // of the upstream
	const char *key;      // "deny", "allow", "holds"
	const char *path;
	const char *error; // why it could not be read again, so that what it said before counts; NULL: it could
	int64_t failed;    // since when, in seconds since 1970
};
typedef void upstreams_list_fn(void *ctx, const struct upstreams_list *l);
// Of each upstream; and the holds. Not [server] deny, which a server without upstreams has too.
void upstreams_lists(struct upstreams *u, upstreams_list_fn *fn, void *ctx);
// What a start of the server would find of the lists of the configuration, each with its error. Any thread.
void upstreams_check_lists(const struct config *c, upstreams_list_fn *fn, void *ctx);
// Calls fn with the rules that count now, of each upstream, with the holds and waivers of all. Borrowed for the call.
// If those of the catalog's state were not read yet, they are.
typedef void upstreams_rules_fn(void *ctx, const struct offering_rules *rules, size_t count);
int upstreams_rules(struct upstreams *u, struct catalog *c, upstreams_rules_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Removes the waivers whose time is over: calls fn with each that this call has removed, of all processes.
typedef void upstreams_waiver_fn(void *ctx, const struct waiver *ended);
void upstreams_end_waivers(struct upstreams *u, upstreams_waiver_fn *fn, void *ctx);
// The time by which files are offered; NULL: no catalog was used yet. Borrowed.
struct right_clock *upstreams_clock(struct upstreams *u);
// A server starts the threads of their pools before upstream_request; upstream_lookup runs the pools itself.
void upstreams_start(struct upstreams *u);
// Runs the pools in the calling thread until all that was requested is answered. Not after upstreams_start().
void upstreams_run(struct upstreams *u);
// Cancels the requests in flight; no other one begins, until upstream_lookup has ended. Any thread.
void upstreams_cancel(struct upstreams *u);
// How many requests may be in flight, of all together.
unsigned upstreams_concurrency(const struct upstreams *u);

size_t upstreams_count(const struct upstreams *u);
// One of them, borrowed; NULL: there are not so many.
struct upstream *upstreams_item(struct upstreams *u, size_t i);
const char *upstream_name(const struct upstream *u);
// The URL of its first index, with "/" at its end, user and password. Borrowed.
const char *upstream_url(const struct upstreams *u, const struct upstream *one);
// The pool of its pages, borrowed.
struct fetch_pool *upstream_pool(const struct upstream *u);
// A second pool with the same settings, for files, so that downloads do not delay pages. The caller frees it.
struct fetch_pool *upstream_new_pool(const struct config_upstream *c);
// How requests for the pages of an index went, since the upstreams are there. Times are seconds since 1970; 0: never.
struct upstream_health {
	size_t number;               // of the upstream
	const char *name;            // its name, borrowed as the URL; NULL: it is the only one
	const char *url;             // without password
	int64_t answered;            // the last answer, with a page or without the project
	int64_t failed;              // the last failure
	enum upstream_result failure; // what that was
	bool is_failing;             // it came after the last answer
};
// False: there is no index of this number, from 0 on. Any thread.
bool upstream_health(const struct upstreams *u, size_t index, struct upstream_health *out);

// Looks up each of the projects (normalised) at the upstreams of the default view, except those that are ours alone and
// those that only private platforms have. Calls fn once for each project, in this thread, in any order, and writes the
// results to the catalog in batches. A failed look-up is an answer, not an error. fn must not write to the catalog; if
// it fails, the look-up ends. The pools must not have been started. At the end, names that the store has and upstream
// does not know are recorded as ours. An index that knows none of several projects and is not trusted (trust-404) is
// excepted; that is logged.
int upstream_lookup(struct upstreams *u, struct catalog *c, const char *const *projects, size_t count, upstream_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
// Calls fn with the catalog's facts about a project, without a request. A name that is ours alone has none, unless the
// last look-up of this u recorded it. Any thread.
int upstream_load_cached(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The same for clients that do not know of private platforms: that only such ones have the project does not count.
int upstream_load_cached_open(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The same for any name, of this order; NULL: that of the default view.
int upstream_load_cached_any(struct upstreams *u, struct catalog *c, const char *project,
	const struct config_order *order, upstream_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Which upstreams may be asked for a project, of those of the default view. c NULL: by the rules alone. ERR_DENIED:
// none, as its name is ours alone.
int upstream_find_order(struct upstreams *u, struct catalog *c, const char *project, struct config_order *out,
	struct err *e) MUST_CHECK;
// What a line of the owned names says of the upstream: its name; NULL: nothing, where it is the only one.
const char *upstream_noted_name(const struct upstreams *u, size_t upstream);
// The operator's rule for the name, of the upstreams of the default view (name_rules_admit).
enum name_rule upstream_rule(const struct upstreams *u, const char *project);
// Called for an upstream at which the name is ours, or (is_ours false) that has not decided it; one: its answer alone,
// borrowed.
typedef int upstream_owner_fn(void *ctx, size_t upstream, bool is_ours, const struct upstream_answer *one, struct err *e);
// Judges each upstream of the order that the answer is of, with here as name_owner_look() filled it, and sets those
// aside for which it calls fn. With indexes = first it judges none after the one that has the project. Errors of fn.
int upstream_settle_owner(struct upstreams *u, const struct name_rules *rules, const struct name_presence *here,
	const struct upstream_answer *a, struct config_order *order, upstream_owner_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// Why a name is ours alone, in words; NULL: it is not. is_ours: the store had it first (owned-names.h). is_hidden: only
// private platforms have it, and upstream is not asked. The text is constant.
const char *upstream_owner(enum name_rule rule, bool is_ours, bool is_hidden);

// The single steps. A struct upstream_project is one thread's at a time until it is parsed; then several threads may
// report it while one saves it. It is reference-counted; each holder has a reference.
struct upstream_project;

// Loads the catalog's rows of a project, for any name; none if c is NULL. *out has one reference.
int upstream_load(struct upstreams *u, struct catalog *c, const char *project, struct upstream_project **out,
	struct err *e) MUST_CHECK;
struct upstream_project *upstream_project_ref(struct upstream_project *p);
void upstream_project_unref(struct upstream_project *p); // NULL is fine
const char *upstream_project_name(const struct upstream_project *p);
// Whether another server on the catalog has saved a later answer, which replaces this one.
bool upstream_project_is_superseded(const struct upstream_project *p);
size_t upstream_project_unread(const struct upstream_project *p); // bytes of responses that are not parsed
size_t upstream_project_bytes(const struct upstream_project *p);  // of memory, about
// The change number (catalog-upstream.h) of its rows; 0: it was never saved.
int64_t upstream_project_changed(const struct upstream_project *p);
// Sends the requests. done is called once, by a pool's thread; until then p is the pools'. The responses are not parsed
// yet.
typedef void upstream_done(void *ctx, struct upstream_project *p);
// order: not empty; the upstreams of it are asked as it says, and no other. The caller has seen to it that each may be.
void upstream_request(struct upstreams *u, struct upstream_project *p, const struct config_order *order,
	upstream_done *done, void *ctx);
// Whether the last request asked this one; and the order of that request.
bool upstream_project_asked(const struct upstream_project *p, size_t upstream);
const struct config_order *upstream_project_order(const struct upstream_project *p);
// After upstream_parse(), before other threads have p: what it did not ask for it takes of an earlier answer in memory,
// which may not be in the catalog yet. NULL: there is none.
void upstream_project_adopt(struct upstream_project *p, struct upstream_project *before);
// Parses the responses. A page that is older than the stored one (by its serial, else its newest upload; if it has
// neither, one that only lacks files) is suspect: the result is OLDER until the page is newer again, or has been the
// same for a day.
void upstream_parse(struct upstreams *u, struct upstream_project *p);
// Calls fn with the facts about the project at the upstreams of the order that are not set aside (all are: at all of
// it); NULL: the order of the default view.
int upstream_report(struct upstreams *u, struct upstream_project *p, const struct config_order *order, upstream_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
// The same, without judging each file: the pages have the hidden files too. For who judges single files, or needs none.
int upstream_report_listed(struct upstreams *u, struct upstream_project *p, const struct config_order *order,
	upstream_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// That at one, with indexes = together for its own indexes, or first.
int upstream_report_one(struct upstreams *u, struct upstream_project *p, size_t upstream, bool is_together,
	upstream_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Bounds the catalog's rows of names that no index has, and of pages of projects that no platform has and no mirror
// pins. In a transaction of its own.
int upstream_forget(struct upstreams *u, struct catalog *c, struct err *e) MUST_CHECK;
// Writes the new facts about the projects, in one transaction.
int upstream_save(struct upstreams *u, struct catalog *c, struct upstream_project *const *projects, size_t count,
	struct err *e) MUST_CHECK;
