// SPDX-License-Identifier: Apache-2.0
// One attempt to build one wheel: fetches the sdist, builds, repairs, runs the extra steps, audits, tests, and
// publishes the wheel if it is good. Whatever happens, the outcome says so: an attempt itself does not fail. Foreign
// programs run through builder/run, behind [build] wrap. Any thread, several at once; their ids differ.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/strset.h"
#include "lib/domain/machine/environment.h"
#include "lib/format/digest.h"
#include "builder/missing/missing.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/results/results.h"
#include "lib/state/store/store.h"
#include "lib/audit/wheel-gate.h"
#include "uploader/upload-client.h"

// In this order. ATTEMPT_NONE is before the first one.
enum attempt_step {
	ATTEMPT_NONE,
	ATTEMPT_FETCH,
	ATTEMPT_BUILD,
	ATTEMPT_REPAIR,
	ATTEMPT_EXTRA,
	ATTEMPT_AUDIT,
	ATTEMPT_TEST,
	ATTEMPT_PUSH,
	ATTEMPT_STEP_COUNT,
};
extern const char *const attempt_step_name[ATTEMPT_STEP_COUNT]; // "", "fetch", "build", …: in results and displays

// Everything is borrowed for the call.
struct attempt_options {
	const char *id;                        // RESULTS_ID digits, of this attempt alone
	const struct config *config;           // [build], [upstream] for the download
	const struct environment *environment; // which wheels install there
	struct wheel_gate *gate;               // of the configuration; NULL: wheels are not audited
	const char *index;                     // %i: a simple index
	const char *work;                      // an existing folder; the attempt makes, and removes, ID in it
	// Where the row's "file:" sdist is. from: the base URL of the server that listed the row, with "/" at its end;
	// NULL: the platform's folder.
	const char *from;
	// Where a good wheel goes: to the server of the upload URL; NULL: into the platform's folder and this catalog,
	// as an upload would. platform and catalog may be NULL if from and target are given.
	const struct upload_url *target;
	const struct platform *platform;
	const char *catalog; // the path of the file
	// How to reach these servers: user and password are the token's. It is shown to no foreign program, and to no
	// other server.
	struct fetch_options fetch;
	// Sorted: projects that are themselves missing, failed or awaiting there, for awaiting; NULL: none.
	const struct strset *missing;
	const struct missing *listed; // the document that has the row, for the files of its branches; NULL: none
	const char *host;             // the name of this machine, for the results
	const atomic_bool *stop;      // ends the attempt when it becomes true, as RESULTS_INTERRUPTED; NULL: never
	void (*on_step)(void *ctx, enum attempt_step step); // before each step, in the calling thread; NULL: none
	void *ctx;
};

struct attempt_outcome {
	struct results_attempt attempt; // the strings are in text; is_sent is false
	char *wheel;                    // the file name of the published wheel; NULL: none
	char *requires_python;          // of that wheel: on which Pythons it installs too; NULL: none. Owned, as wheel
	struct buf log;                 // its text
	bool is_taken;                  // another wheel has the name of this one, with other contents, and stays
	bool is_elsewhere;              // for the caller: that one is as good, and this attempt did not fail
	bool is_hopeless; // the token or the URL is refused, or the disk is full: other attempts would end likewise
	struct arena text;
};

// The platform, Python, project, version and sdist of the row are set. The caller releases *out.
void attempt_run(const struct attempt_options *options, const struct missing_row *row, struct attempt_outcome *out);
void attempt_outcome_release(struct attempt_outcome *out); // for CLEANUP
// The path of the log of the attempt of this id, which grows while it runs; attempt_run removes it. The caller frees
// it.
char *attempt_log_path(const char *work, const char *id);
// Removes what attempts of a killed builder left in the work folder. No attempt runs there meanwhile. ERR_IO.
int attempt_clean(const char *work, struct err *e) MUST_CHECK;
// SHA-256, hexadecimal, of what decides the result besides the machine: the commands, the sdist, the index. Equal to
// results_attempt.recipe of an attempt of this row.
void attempt_recipe(const struct config *config, const char *index, const struct missing_row *row,
	char out[SHA256_HEX + 1]);
