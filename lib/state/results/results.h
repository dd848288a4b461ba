// SPDX-License-Identifier: Apache-2.0
// The results of builds: each attempt to build a wheel, with its log. Each is a file (attempt-file.h); an SQLite file
// beside the catalog is their index, and made again of them if it is missing. A struct results is one connection to
// both: one thread at a time; any number of connections in any number of processes. Errors as in
// lib/state/database/database.h. Strings given to a callback are borrowed for the call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/state/config/config.h"

enum results_result {
	RESULTS_RUNNING, // not ended
	RESULTS_OK,
	RESULTS_FAILED, // a step before the wheel was made: fetch, build, extra
	RESULTS_TIMED_OUT,
	RESULTS_REPAIR_FAILED,
	RESULTS_TEST_FAILED,
	RESULTS_REFUSED,     // the server or the file's checks refused the wheel
	RESULTS_CRASHED,     // a signal, out of memory
	RESULTS_INTERRUPTED, // the builder ended before: it counts neither as good nor as failed
	RESULTS_WAITING,     // the index or a file host was out of reach: neither, as well
	RESULTS_RESULT_COUNT,
};
extern const char *const results_result_name[RESULTS_RESULT_COUNT]; // "running", "ok", "failed", "timed-out", …
bool results_is_failure(enum results_result r);

enum { RESULTS_ID = 32 }; // hexadecimal digits of an id
void results_new_id(char out[RESULTS_ID + 1]);
// Appends the text as one line of UTF-8, at most LIMIT_REASON bytes, as "why" has to be.
void results_one_line(struct str text, struct buf *out);

struct results_attempt {
	const char *id; // random, RESULTS_ID digits: the same attempt has it on every machine
	const char *platform, *python, *project, *version;
	enum results_result result;
	const char *step;     // "fetch", "build", "repair", "extra", "audit", "test", "push": the last one that ran
	const char *why;      // a sentence in one line (results_one_line); "" for OK
	int64_t begun;        // seconds since 1970
	double seconds;       // that it took
	uint64_t peak_memory; // bytes; 0: unknown
	const char *files;    // of the wheels made: "FILENAME SHA256 SIZE" lines; ""
	const char *sdist;    // "FILENAME SHA256"; ""
	const char *awaiting; // names of missing build requirements, with blanks between; ""
	const char *recipe;   // SHA-256, hexadecimal, of the commands and the sdist: another recipe is a new beginning
	const char *builder;  // the name of the host
	const char *
		provenance; // a JSON object: image or root, compiler, libc, build requirements, versions, branches, note
	bool has_log;
	bool is_sent; // the server has it, or there is none to send it to
};

struct results;

// Opens or creates the index. files: the folder of the attempts; NULL: PATH.attempts. An index of an older wheelcache,
// which has the attempts themselves, is taken over. The caller closes *out.
int results_open(const char *path, const char *files, struct results **out, struct err *e) MUST_CHECK;
// Opens it for reading; makes it if there are attempts. ERR_NOT_FOUND: there are none, so nothing was built yet.
int results_open_read(const char *path, const char *files, struct results **out, struct err *e) MUST_CHECK;
// Opens those of the configuration: creates them, or, only for reading, sets *out to NULL if there are none.
int results_open_of(const struct config *c, const char *catalog_path, bool writes, struct results **out,
	struct err *e) MUST_CHECK;
void results_close(struct results *r);    // NULL is fine
void results_cleanup(struct results **r); // for CLEANUP
// From now on a call that reads takes at most so many milliseconds; then it fails with ERR_TIME. 0: no limit.
void results_limit(struct results *r, unsigned milliseconds);

// How the state of a (platform, Python, project) changed with an attempt.
enum results_change { RESULTS_UNCHANGED, RESULTS_NOW_FAILS, RESULTS_NOW_GOOD };

// Adds an attempt, or replaces the one of this id. A string that is NULL counts as "". log: the text, compressed here;
// ptr NULL: none, an earlier one stays. *change: from good or never tried to failed, or from failed to good. Also
// removes what keep (keep-results; NULL: its default) says: attempts older than its age, and beyond its number for the
// same platform, Python and project, but never the last good and the last failed one. The attempt is stored durably and
// whole, or not at all. ERR_INVALID: a value that is not valid or too long; ERR_CONFLICT: the id is that of an attempt
// for another platform, Python, project or version; ERR_FULL: LIMIT_RESULTS, or the disk.
int results_put(struct results *r, const struct results_attempt *a, struct str log, const char *keep,
	enum results_change *change, struct err *e) MUST_CHECK;
// What results_put() said of this attempt, if it was the newest one then: for a server whose file a builder shares.
int results_change(struct results *r, const struct results_attempt *a, enum results_change *change,
	struct err *e) MUST_CHECK;
int results_mark_sent(struct results *r, const char *id, struct err *e) MUST_CHECK;

struct results_filter {                 // NULL, 0 and false: any
	const char *platform, *project; // globs; project in normal form
	// names: no other platform, so that a server shows a client only what it may read; NULL: any
	const char *const *platforms;
	size_t platform_count; // 0 with platforms set: none at all
	const char *python, *version;
	const char *result; // a results_result_name
	bool only_failed;   // the newest ended attempt of its platform, Python and project is a failure: that attempt
	bool only_unsent;
	bool only_running;
	int64_t since;  // begun at or after
	uint64_t limit; // at most this many
};
typedef int results_fn(void *ctx, const struct results_attempt *a, struct err *e);
// The newest first.
int results_list(struct results *r, const struct results_filter *filter, results_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The id that begins with these digits. ERR_USAGE: several do; ERR_NOT_FOUND.
int results_find_id(struct results *r, const char *digits, char out[RESULTS_ID + 1], struct err *e) MUST_CHECK;
// ERR_NOT_FOUND.
int results_find(struct results *r, const char *id, results_fn *fn, void *ctx, struct err *e) MUST_CHECK;
// Appends the log of an attempt to out. ERR_NOT_FOUND: the attempt or its log.
int results_log(struct results *r, const char *id, struct buf *out, struct err *e) MUST_CHECK;

// What attempts say about a row of builder/missing: the failures since its last good attempt, of the recipe of the
// newest. Attempts that lie more than a day ahead do not count.
struct results_history {
	unsigned failures;    // in a row; 0: the newest one is good, or there is none
	int64_t last;         // when the newest began
	int64_t first_failed; // when the first of these failures began
	enum results_result result;
	char *step, *why, *awaiting, *recipe; // of the newest; owned; NULL: no attempt
};
int results_history(struct results *r, const char *platform, const char *python, const char *project,
	const char *version, struct results_history *out, struct err *e) MUST_CHECK;
void results_history_release(struct results_history *h);
// When a row with these failures is to be tried again, by [build] retries and retry-after; 0: never by itself. After
// pauses of a day and more it is due twelve hours early, so that a nightly run takes it. Without failures: the time of
// the newest attempt.
int64_t results_retry_time(const struct config *c, const struct results_history *h);

// Ended attempts a day (UTC), the oldest first, for the last `days` days: good and failed ones, of the filter's
// platform, platforms and project (NULL: all). day: its first second. Days without attempts may be left out.
typedef int results_day_fn(void *ctx, int64_t day, uint64_t good, uint64_t failed, struct err *e);
int results_days(struct results *r, const struct results_filter *filter, int64_t now, unsigned days, results_day_fn *fn,
	void *ctx, struct err *e) MUST_CHECK;
// How many attempts at wheels of a platform (NULL: all) ended with each result since the file was made, for metrics.
// They never become fewer. RUNNING: those that were recorded while they ran. Cheap.
int results_totals(struct results *r, const char *platform, uint64_t count[RESULTS_RESULT_COUNT],
	struct err *e) MUST_CHECK;

// Whether an attempt may be stored: a builder, which may be foreign, has filled it. Pure; any thread.

// Checks every value but is_sent and has_log. now: seconds since 1970; an attempt that begins more than a day later has
// the time of a wrong clock, and would stay the newest. ERR_INVALID names the value.
int results_check(const struct results_attempt *a, int64_t now, struct err *e) MUST_CHECK;
