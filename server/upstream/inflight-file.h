// SPDX-License-Identifier: Apache-2.0
// A file of upstream's on its way: who waits for it, what may be sent of it, and how it ended. Made and filled by
// server/upstream/upstream-files: one thread at a time writes it (the pool's, then a keeper's); any may read it, as a stream.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "lib/format/digest.h"
#include "lib/state/upstream/file-cache.h"
#include "server/http/fair-queue.h"
#include "server/message/stream.h"

struct metrics;
struct upstream_files;

// What somebody wants.
struct file_request {
	const char *project, *filename; // of the depot
	const char *url;                // where it is
	const char *home;               // the index that said so
	const uint8_t *sha256;          // what it is to have; NULL: not known
	int64_t size;                   // the same; -1: not known
	const char *peer;               // who wants it: its address
};

enum file_fetch_state {
	FILE_FETCH_LATER,  // again was taken: ask once more when it is woken
	FILE_FETCH_STREAM, // it is coming
	FILE_FETCH_KEPT,   // it is whole: here it is, and soon in the depot
	FILE_FETCH_ABSENT, // upstream says that it is not there
	FILE_FETCH_FULL,   // there is no room for it here
	FILE_FETCH_FAILED,
	RETRIEVE_BUSY, // too many are wanted at once, by this address or by all: it may ask again
};

// What he gets.
struct file_fetch_result {
	enum file_fetch_state state;
	struct stream *stream;       // of FILE_FETCH_STREAM: a reference for the caller
	uint64_t length;             // of it
	struct file_cache_file file; // of FILE_FETCH_KEPT: fd is the caller's; else -1
	char why[256];               // of the last three; they are remembered for some seconds
};

// What may become of one that nobody wants any more.
enum inflight_file_op_result {
	INFLIGHT_FILE_WANTED,  // or it has ended, or goes on to its end
	INFLIGHT_FILE_LEFT,    // it waits for its turn no more: the turn's reference is the caller's
	INFLIGHT_FILE_DROPPED, // its request is to be cancelled: inflight_file_pause() when that is done
};

// Owned by the table while it comes, by each stream, and by its turn: while it waits for that, and while its request is under way.
// What nobody wants for a while rests without a turn, with the bytes that came, and goes on with the next one who wants it.
struct inflight_file {
	struct stream base;
	struct inflight_file *next; // of the table
	struct upstream_files *all; // whose it is
	struct metrics *metrics;
	char *project, *filename, *url, *home;
	bool is_known; // sha256
	uint8_t sha256[SHA256_SIZE];
	int64_t size; // that upstream's page says; -1
	_Atomic unsigned owners;

	pthread_mutex_t lock;
	enum file_fetch_state state; // LATER: nothing has come yet
	char why[256];
	struct continuation *readers; // for bytes: of a stream
	struct continuation *askers;  // for an answer: woken by the head and by the end, not by each piece
	uint64_t written, length;     // length: once it is STREAM
	bool has_length;
	long rests_until; // of one that has ended, or rests: when it is forgotten
	struct fair_queue *turns;
	struct fair_queue_entry turn;
	bool has_turn;     // it waits for its turn, or its request is under way
	bool is_dropped;   // that request was cancelled, since nobody wants it
	unsigned streams;  // that are read
	unsigned unwanted; // so often in a row nobody was found who wants it
	uint64_t request;  // of the pool; 0: none was made yet
	bool is_put;       // KEPT: the depot has it, or could not take it

	// The pool's thread alone, and then a keeper.
	struct file_cache_writer *file_cache_writer;
	uint64_t skip, woken_at;
	int64_t woken_ms;
	unsigned rate_limit;
	bool has_stopped;           // with a state of its own
	uint8_t found[SHA256_SIZE]; // of KEPT; all threads may read it then
};

struct inflight_file *inflight_file_new(const struct file_request *w, struct fair_queue *turns,
	struct metrics *metrics);
struct inflight_file *inflight_file_ref(struct inflight_file *p);
void inflight_file_unref(struct inflight_file *p);

enum file_fetch_state inflight_file_state(struct inflight_file *p);
// The head has come: from now on it is a stream, unless it has ended.
void inflight_file_begin(struct inflight_file *p, uint64_t length, bool has_length);
void inflight_file_grow(struct inflight_file *p, size_t bytes); // so many more are written
// The first end is the one. Wakes all.
void inflight_file_end(struct inflight_file *p, enum file_fetch_state state, const char *why);
void inflight_file_put(struct inflight_file *p); // the depot has it, or will not
// Wakes those whose clients have left; what becomes of it if nobody else is left.
enum inflight_file_op_result inflight_file_let_go(struct inflight_file *p, uint64_t *request);
void inflight_file_forget(struct inflight_file *p); // what rests is over
// Its request was cancelled. True: it rests, and its turn's reference is the caller's. False: it was not since nobody wants it,
// or somebody wants it again.
bool inflight_file_pause(struct inflight_file *p, bool *is_wanted);
// Whether nobody needs it any more: it ended or rests some time ago. Who found nothing in the depot a moment before it was put there
// comes here next, and is not to have it fetched again.
bool inflight_file_is_over(struct inflight_file *p);
// Fills out, where out->state is LATER; where it stays so, again was taken. It waits for its turn by then, if it has none yet: fair_queue_run().
void inflight_file_tell(struct inflight_file *p, const char *peer, bool wants_whole, struct continuation *continuation,
	struct file_fetch_result *out);
