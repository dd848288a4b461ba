// SPDX-License-Identifier: Apache-2.0
// What the upstream-*.c share, and nobody else: a project, with a row for each of the configured indexes.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/buf.h"
#include "lib/domain/index/simplepage.h"
#include "lib/format/digest.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"

enum {
	UPSTREAM_ROW_URL = 4096,       // an index's URL and a project's name
	UPSTREAM_DOUBT_S = 86400,      // an older page that stays the same for so long is believed
	UPSTREAM_FIRST_RETRY_MS = 500, // then twice as long, and so on
	UPSTREAM_GIVE_UP = 10,         // so many look-ups in a row failed: the index is down, and is asked
	UPSTREAM_STRANGERS = 10000,    // so many names that nobody has are remembered
	UPSTREAM_REST_S = 3600,        // with a 5xx it may ask for a longer rest (Retry-After), and does not get it
	UPSTREAM_THROTTLED_S = 300,    // the same with a 429
	UPSTREAM_SPEAKERS = 3,         // so many projects have to ask for a rest, and none answer, until all have it
	UPSTREAM_RESTING = 64,         // projects whose rests are remembered
	UPSTREAM_PROBE_MS = 5000,      // only so often, until it answers
};

struct owned_names;

// Projects by their hashes, each once.
struct upstream_some {
	uint64_t project[UPSTREAM_GIVE_UP];
	unsigned count;
};

struct upstream_index {
	char *url;   // with "/" at the end
	char *shown; // without password
	// Of the thread that runs the pool:
	unsigned failures;                  // in a row; of a 5xx each project's counts once
	struct upstream_some failed, tired; // since it answered one well: with a 5xx; which asked for a rest
	int64_t rest_ms;                    // it asked not to be asked before,
	int64_t tired_ms;                   // or several projects did, and none was answered since
	struct {
		uint64_t project;
		int64_t until_ms;
	} resting[UPSTREAM_RESTING]; // a place by hash
	int64_t probe_ms;            // when it may be asked again, where it is down
	enum upstream_result last_failure;
};

struct upstream {
	struct fetch_pool *pool;
	struct upstream_index *index;
	size_t count;
	unsigned timeout, retries, concurrency;
	uint64_t max_page;
	bool trust_404;
	bool is_together; // what several indexes have of a project is one; else the first's that has it
	struct name_rules rules;
	pthread_mutex_t lock;           // of the next
	struct owned_names *ours;       // beside the first catalog that was looked into; NULL: none yet
	struct strset hidden_platforms; // sorted
	struct strset noted;            // as ours, by the last look; sorted
	bool is_leaving;                // of the thread that runs the pool: nobody wants answers any more
};

// What one index answered, before anybody has looked into it.
struct upstream_said {
	bool is_there;
	enum upstream_result result; // KNOWN: 200 or 304
	bool is_same;                // 304
	bool is_packed;              // body, by gzip
	char *why, *url, *etag, *type;
	struct buf body;
	uint64_t serial; // 0: not said
	int64_t max_age;
};

struct upstream_row {
	// As the catalog has it.
	enum upstream_result result, last_definitive;
	char *why, *etag;
	int64_t asked, fetched, max_age, doubted, certain, had_since;
	_Atomic int64_t changed; // written while others may read what was learned
	bool has_doubt;
	uint8_t doubt[SHA256_SIZE];
	struct buf packed;      // empty: none, or page is new and will be packed when it is written down
	struct simplepage page; // of packed
	bool has_page;
	// What is to be written.
	bool is_dirty, is_changed, has_new_page;
	bool is_unchanged; // the answer was a 304
	struct upstream *upstream;
	struct upstream_project *project;
	struct upstream_index *index;
	// While it is asked.
	unsigned tries;
	int64_t end_ms; // no try begins later
	struct upstream_said said;
};

struct upstream_project {
	atomic_uint refs;
	char *name;
	struct upstream *upstream;
	atomic_bool is_superseded;
	struct name_presence here; // when it was loaded
	size_t left;               // rows that are not answered
	upstream_done *done;
	void *ctx;
	struct upstream_row row[]; // one an index, in their order
};

void upstream_said_release(struct upstream_said *s);
void upstream_row_release(struct upstream_row *row);
// The page of what is packed. Where another version of us wrote that, the index was never asked.
void upstream_row_unpack(struct upstream_row *row);
// The page as it is to be written; room is where it is packed, if it has to be. ptr NULL: it is too large for that.
struct str upstream_row_packed(const struct upstream_row *row, struct buf *room);
// Whether a 404 is to be believed: it never had the project, or the operator trusts it.
bool upstream_row_may_lack(const struct upstream_row *row);
// Of two pages: by their serials, their newest files, or what only one of them has.
bool upstream_page_is_older(const struct simplepage *page, const struct simplepage *before);
// Gives the pages up, which are packed by then: nothing can be told of it any more.
void upstream_project_slim(struct upstream_project *p);
