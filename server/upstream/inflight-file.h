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
struct retrieve;

// What somebody wants.
struct retrieve_wish {
	const char *project, *filename; // of the depot
	const char *url;                // where it is
	const char *home;               // the index that said so
	const uint8_t *sha256;          // what it is to have; NULL: not known
	int64_t size;                   // the same; -1: not known
	const char *peer;               // who wants it: its address
};

enum retrieve_state {
	RETRIEVE_LATER,  // again was taken: ask once more when it is woken
	RETRIEVE_STREAM, // it is coming
	RETRIEVE_KEPT,   // it is whole: here it is, and soon in the depot
	RETRIEVE_ABSENT, // upstream says that it is not there
	RETRIEVE_FULL,   // there is no room for it here
	RETRIEVE_FAILED,
	RETRIEVE_BUSY, // too many are wanted at once, by this address or by all: it may ask again
};

// What he gets.
struct retrieve_result {
	enum retrieve_state state;
	struct stream *stream; // of RETRIEVE_STREAM: a reference for the caller
	uint64_t length;       // of it
	struct depot_file file; // of RETRIEVE_KEPT: fd is the caller's; else -1
	char why[256];         // of the last three; they are remembered for some seconds
};

// What may become of one that nobody wants any more.
enum parcel_fate {
	PARCEL_WANTED, // or it has ended, or goes on to its end
	PARCEL_LEFT,   // it waits for its turn no more: the turn's reference is the caller's
	PARCEL_DROPPED, // its request is to be cancelled: parcel_pause() when that is done
};

// Owned by the table while it comes, by each stream, and by its turn: while it waits for that, and while its request is under way.
// What nobody wants for a while rests without a turn, with the bytes that came, and goes on with the next one who wants it.
struct parcel {
	struct stream base;
	struct parcel *next; // of the table
	struct retrieve *all; // whose it is
	struct metrics *metrics;
	char *project, *filename, *url, *home;
	bool is_known; // sha256
	uint8_t sha256[SHA256_SIZE];
	int64_t size; // that upstream's page says; -1
	_Atomic unsigned owners;

	pthread_mutex_t lock;
	enum retrieve_state state; // LATER: nothing has come yet
	char why[256];
	struct waiter *readers; // for bytes: of a stream
	struct waiter *askers;  // for an answer: woken by the head and by the end, not by each piece
	uint64_t written, length; // length: once it is STREAM
	bool has_length;
	long rests_until; // of one that has ended, or rests: when it is forgotten
	struct turns *turns;
	struct turn turn;
	bool has_turn;          // it waits for its turn, or its request is under way
	bool is_dropped;        // that request was cancelled, since nobody wants it
	unsigned streams;       // that are read
	unsigned unwanted;      // so often in a row nobody was found who wants it
	uint64_t request;       // of the pool; 0: none was made yet
	bool is_put;      // KEPT: the depot has it, or could not take it

	// The pool's thread alone, and then a keeper.
	struct arrival *arrival;
	uint64_t skip, woken_at;
	int64_t woken_ms;
	unsigned tries;
	bool has_stopped; // with a state of its own
	uint8_t found[SHA256_SIZE]; // of KEPT; all threads may read it then
};

struct parcel *parcel_new(const struct retrieve_wish *w, struct turns *turns, struct metrics *metrics);
struct parcel *parcel_ref(struct parcel *p);
void parcel_unref(struct parcel *p);

enum retrieve_state parcel_state(struct parcel *p);
// The head has come: from now on it is a stream, unless it has ended.
void parcel_begin(struct parcel *p, uint64_t length, bool has_length);
void parcel_grow(struct parcel *p, size_t bytes); // so many more are written
// The first end is the one. Wakes all.
void parcel_end(struct parcel *p, enum retrieve_state state, const char *why);
void parcel_put(struct parcel *p); // the depot has it, or will not
// Wakes those whose clients have left; what becomes of it if nobody else is left.
enum parcel_fate parcel_let_go(struct parcel *p, uint64_t *request);
void parcel_forget(struct parcel *p); // what rests is over
// Its request was cancelled. True: it rests, and its turn's reference is the caller's. False: it was not since nobody wants it,
// or somebody wants it again.
bool parcel_pause(struct parcel *p, bool *is_wanted);
// Whether nobody needs it any more: it ended or rests some time ago. Who found nothing in the depot a moment before it was put there
// comes here next, and is not to have it fetched again.
bool parcel_is_over(struct parcel *p);
// Fills out, where out->state is LATER; where it stays so, again was taken. It waits for its turn by then, if it has none yet: turns_run().
void parcel_tell(struct parcel *p, const char *peer, bool wants_whole, struct waiter *again, struct retrieve_result *out);
