// SPDX-License-Identifier: Apache-2.0
// The state of a running build, which its workers share. One lock for each thing that only one thread at a time may
// use.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "builder/build-display.h"
#include "builder/build-report.h"
#include "builder/result-sender.h"
#include "builder/row-source.h"
#include "builder/work-folder.h"
#include "lib/base/err.h"
#include "lib/base/strset.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/results/change-hook.h"
#include "lib/state/results/results.h"
#include "lib/audit/wheel-gate.h"
#include "uploader/upload-url.h"

struct build_options {
	const struct config *config;
	const char *catalog; // the path of the file; NULL: there is no store of our own
	const char *platform;
	const char *from; // base URL of the server that lists what is missing, with "/" at its end; NULL: our own store
	const char *to;   // upload URL; NULL: that of from, or our own store
	const char *const *python; // none: all
	size_t pythons;
	const char *const *project; // in normal form; none: all
	size_t projects;
	struct missing_shard shard; // 0 of 0: all
	enum schedule_retry retry;
	const struct rebuild_set *rebuild; // wheels that count as not there; NULL: none
	bool is_dry_run;
	bool is_quiet; // only problems are logged
	// How to reach the server; user and password are the token's.
	struct fetch_options fetch;
	const atomic_bool *stop; // ends running attempts and takes no more rows when it becomes true
};

enum { BUILD_STATE_HOST = 256 };

struct build_state {
	const struct build_options *options;
	const struct config *config;
	struct upload_url target; // where wheels go; upload NULL: our own store
	char *base;               // of the server that is fed, for results; NULL: none
	char host[BUILD_STATE_HOST];
	struct work_folder work;
	char *results_path;
	struct wheel_gate *gate; // NULL: wheels are not audited

	pthread_mutex_t source_lock; // of source
	struct row_source *source;
	pthread_mutex_t results_lock; // of results
	struct results *results;      // NULL: a dry run, and nothing was built before
	pthread_mutex_t sender_lock;  // of sender and sent
	struct results *sent;         // its connection
	struct result_sender *sender; // NULL: no server
	struct hook_queue *hook;     // on-change; NULL: a server runs its own

	pthread_mutex_t lock; // of all below
	pthread_cond_t changed;
	struct build_report *report;
	struct build_display display;
	struct strset interrupted; // "PROJECT VERSION", sorted
	int *micro;                // of the environments of the report: python_check_micro()
	unsigned workers;          // that run
};

// All zero but these. The caller releases it, after its threads have ended.
void build_state_init(struct build_state *b, const struct build_options *options, struct build_report *report);
void build_state_release(struct build_state *b);

bool build_state_is_stopped(const struct build_state *b);
// No more rows are taken, for this reason. Under the lock.
void build_state_stop(struct build_state *b, const struct err *why);
// What the report says beside the schedule's row. Under the lock.
struct build_row *build_state_row(struct build_state *b, const struct schedule_row *r);
// Waits so long without the lock. False if the build is stopped, or takes no more rows.
bool build_state_wait(struct build_state *b, int64_t ms);
// row_source_list(), which is tried again while the server does not answer, for half a minute at most. Without the
// lock.
int build_state_list(struct build_state *b, const char *python, const char *project, struct missing *out,
	struct err *e) MUST_CHECK;
