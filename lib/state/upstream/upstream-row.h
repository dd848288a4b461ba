// SPDX-License-Identifier: Apache-2.0
// The upstreams with their indexes, and a project, with a row for each index. Only for the upstream-*.c. Threads as in
// upstream.h.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/buf.h"
#include "lib/domain/index/simplepage.h"
#include "lib/format/digest.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"

enum {
	UPSTREAM_ROW_URL = 4096,        // an index's URL and a project's name
	UPSTREAM_DOUBT_S = 86400,       // an older page that stays the same for so long is accepted
	UPSTREAM_FIRST_RETRY_MS = 500,  // doubled for each further retry
	UPSTREAM_GIVE_UP = 10,          // after so many failures in a row the index is down
	UPSTREAM_UNKNOWN_NAMES = 10000, // names that no index has and that stay in the catalog
	UPSTREAM_REST_S = 3600,         // longest Retry-After of a 5xx
	UPSTREAM_THROTTLED_S = 300,     // longest Retry-After of a 429
	UPSTREAM_RESTS_OF_ALL = 3,      // so many projects with Retry-After and none answered: the whole index rests
	UPSTREAM_RESTING = 64,          // projects whose Retry-After is remembered
	UPSTREAM_PROBE_MS = 5000,       // between requests to an index that is down
};

struct owned_names;
struct mirror_pins;
struct right_clock;
struct advisories;
struct offering_rules;
struct read_holds;
struct rule_list;

// A set of projects, by hash.
struct upstream_some {
	uint64_t project[UPSTREAM_GIVE_UP];
	unsigned count;
};

struct upstream_index {
	struct upstream *upstream;
	char *url;   // with "/" at the end
	char *shown; // without password
	_Atomic int64_t answered_s, failed_s; // the last time, seconds since 1970; 0: never
	_Atomic enum upstream_result failed_by;
	atomic_bool is_failing; // the last response was a failure
	// Only the thread of the upstream's pool:
	unsigned failures;                      // in a row; 5xx count once per project
	struct upstream_some failed, throttled; // since the last good answer: projects with a 5xx; with a Retry-After
	int64_t rest_ms;                        // no request before (429),
	int64_t throttled_ms;                   // or before this (several projects with Retry-After)
	struct {
		uint64_t project;
		int64_t until_ms;
	} resting[UPSTREAM_RESTING]; // by hash
	int64_t probe_ms;            // if it is down: the time of the next request
	enum upstream_result last_failure;
};

struct upstream {
	char *name;
	struct fetch_pool *pool; // of its pages
	unsigned timeout, retries, concurrency;
	uint64_t max_page;
	bool trust_404;
	_Atomic int64_t max_age, negative_max_age, stale; // seconds; a reload may change them
	struct strset noted; // names that are recorded as ours by the last look-up; sorted
};

struct upstreams {
	struct upstream *item; // in the order of the configuration
	size_t count;
	struct upstream_index *index; // of all upstreams, in their order
	size_t indexes;
	struct config_order order; // of the default view
	atomic_size_t asked; // projects that were requested and not answered yet
	struct name_rules rules;
	pthread_mutex_t lock;               // of ours, offer_rules, and what projects keep of decisions
	struct upstream_rules *offer_rules; // of what is offered; NULL only while it begins
	pthread_mutex_t change_lock;        // of what follows up to clock; it is held while the disk is waited for
	atomic_bool has_offers;             // offers and clock are there, and stay
	struct config config;               // what offer_rules are made of
	struct advisories *lists;           // NULL: none yet, or no key names one
	uint64_t holds_mark;            // holds_mark() of those in rules
	uint64_t rules_made;            // how often offer_rules were made
	char *offers;                   // the folder of STATE_FILE_OFFERS; NULL: no catalog was used yet
	struct right_clock *clock;      // NULL: the same
	uint64_t clock_changes;         // right_clock_follow() of the last look
	char *state;                    // [state] path; NULL: beside the catalog
	struct mirror_pins *pins;       // NULL: none
	struct owned_names *ours;       // of the first catalog that was used; NULL: none yet
	struct strset hidden[LIMIT_UPSTREAMS]; // platforms, by upstream; sorted
	atomic_bool is_ending; // no request begins any more
};

// The response of one index, not parsed.
struct upstream_response {
	bool is_there;
	enum upstream_result result; // KNOWN: 200 or 304
	bool is_same;                // 304
	bool is_packed;              // body is gzip
	char *why, *url, *etag, *type;
	struct buf body;
	uint64_t serial; // 0: unknown
	int64_t max_age;
	int64_t sent;  // seconds since 1970: when it was asked for
	int64_t as_of; // the same, less the time that it was in other caches
};

struct upstream_row {
	// As in the catalog.
	enum upstream_result result, last_definitive;
	char *why, *etag;
	int64_t asked, fetched, max_age, doubted, certain, had_since;
	_Atomic int64_t changed; // written while other threads may report the project
	bool has_doubt;
	uint8_t doubt[SHA256_SIZE];
	struct buf packed;      // empty: none, or page is new and is packed when it is saved
	struct simplepage page; // unpacked
	bool has_page;
	// What is to be saved.
	bool is_dirty, is_changed, has_new_page;
	bool is_unchanged; // the answer was a 304
	struct upstream_project *project;
	struct upstream_index *index;
	// During a request.
	unsigned tries;
	int64_t end_ms; // no retry after this
	struct upstream_response response;
};

// Rows of a project, in the order in which they are asked.
struct upstream_rows {
	struct upstream_row *row[LIMIT_UPSTREAM_INDEXES];
	size_t count;
	bool is_together;
	uint32_t aside; // as in config_order
};

struct upstream_project {
	atomic_uint refs;
	char *name;
	struct upstreams *upstreams;
	atomic_bool is_superseded;
	struct name_presence here[LIMIT_UPSTREAMS]; // by upstream, when it was loaded
	struct upstream_rows asked;                 // by the last request
	atomic_size_t left;                         // of them, those without a response
	upstream_done *done;
	void *ctx;
	struct config_order order;                             // of the last request
	struct upstream_project *from[LIMIT_UPSTREAM_INDEXES]; // whose row counts for its own one, with a reference; NULL
	struct upstream_decision *kept;                        // which of its files are offered, the newest one first
	struct upstream_row row[];                             // one an index, in their order
};

// Which one it is.
size_t upstream_number(const struct upstreams *u, const struct upstream *one);
// The rows of the upstreams of an order, with those that are set aside or, if there are others, without.
struct upstream_rows upstream_rows_of(struct upstream_project *p, const struct config_order *order, bool has_aside);
// When our first file came to a platform for whose projects the upstream of the row may be asked; 0: unknown, or never.
int64_t upstream_row_arrived(const struct upstream_row *row);
void upstream_response_release(struct upstream_response *s);
// For upstream_health(): a request was sent, and its response gave row->result. Any thread.
void upstream_row_note_health(const struct upstream_row *row);
void upstream_row_release(struct upstream_row *row);
// Unpacks the page. If another version of wheelcache packed it in another form, the row becomes NEVER_ASKED.
void upstream_row_unpack(struct upstream_row *row);
// The packed page, to be saved. Packs it into room if needed; borrowed from the row or from room. ptr NULL: it is too
// large.
struct str upstream_row_packed(const struct upstream_row *row, struct buf *room);
// Whether a 404 is believed: the index never had the project, or the operator trusts it.
bool upstream_row_may_lack(const struct upstream_row *row);
// Whether a page is older: by serial, else by newest upload, else because it only lacks files.
bool upstream_page_is_older(const struct simplepage *page, const struct simplepage *before);
// Constant once it is made, so that answers can borrow from it.
struct upstream_rules {
	atomic_uint refs;
	uint64_t number; // no others of these upstreams have it
	struct right_clock *clock; // NULL: the wall clock
	const char *offers;       // the folder of the holds, of the upstreams; NULL: none was read yet
	struct read_holds *holds;
	char *holds_error;        // why they could not be read again, so that those before count; NULL: they could
	int64_t holds_failed;     // since when, in seconds since 1970
	char *contact;
	size_t count;
	struct offering_rules *of; // of each upstream
	struct rule_list **deny, **allow; // the same
	struct rule_list *denied;         // [server] deny
	struct advisories *lists;
	bool are_none;
};

// The rules of what is offered, from the lists (ERR_USAGE) and without holds: upstream_rules_open() reads those.
int upstream_rules_configure(struct upstreams *u, const struct config *c, struct err *e) MUST_CHECK;
void upstream_rules_release(struct upstreams *u);
// A reference; with no rule at all: NULL.
struct upstream_rules *upstream_rules_take(struct upstreams *u);
void upstream_rules_drop(struct upstream_rules *r); // NULL is fine
// Only files that were uploaded later can be hidden by age or a hold, at any upstream. INT64_MAX: there is neither.
int64_t upstream_rules_young_since(struct upstreams *u);
// Sets what answer says of rules, and makes its stale page of the listed one, if some files are hidden. A reference to
// what it borrows from then; NULL: nothing.
struct upstream_decision *upstream_offer(const struct upstream_rules *r, struct upstream_answer *answer);
void upstream_decision_unref(struct upstream_decision *d); // NULL is fine
// Forgets what the project keeps, before its rows change and before its end. No other thread has it.
void upstream_decisions_drop(struct upstream_project *p);
// Keeps the times that were believed first: a later page says other ones, or none, of the same bytes. With a cooldown
// or a hold also those of young files that a page between had not.
void upstream_row_keep_times(const struct upstream_row *row, struct simplepage *page);
// Notes when files without a time were first seen: those of a new page now.
void upstream_row_note_seen(struct upstream_row *row);
// Frees the unpacked pages after they were packed. The project can no longer be reported.
void upstream_project_slim(struct upstream_project *p);
