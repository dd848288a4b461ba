// SPDX-License-Identifier: Apache-2.0
// One download of a file of upstream: which clients wait for it, which bytes they may have, and how it ended.
//
// Made and filled by upstream-files. One thread at a time writes it: the fetch pool's, then one that saves it to the
// file cache. Any thread may call any function here, unless it says otherwise, and read the bytes as a stream.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "lib/format/digest.h"
#include "lib/state/upstream/file-cache.h"
#include "server/http/fair-queue.h"
#include "server/message/stream.h"

struct metrics;
struct upstream_files;

// What a client wants. All pointers are borrowed.
struct file_request {
	const char *project, *filename; // its name in the file cache
	const char *url;
	const char *home;      // the URL of the index that named url
	const uint8_t *sha256; // expected; NULL: not known
	int64_t size;          // expected, in bytes; -1: not known
	const char *peer;      // the client's address
};

enum file_fetch_state {
	FILE_FETCH_LATER,  // the continuation is kept: the client asks again when it is resumed
	FILE_FETCH_STREAM, // the bytes arrive
	FILE_FETCH_KEPT,   // the file is whole; the file cache has it, or will have it soon
	FILE_FETCH_ABSENT, // upstream has no such file
	FILE_FETCH_FULL,   // the cache has no room for it
	FILE_FETCH_FAILED,
	FILE_FETCH_BUSY, // the queue is full, for this client or for all: the client may ask again
};

// What a client gets.
struct file_fetch_result {
	enum file_fetch_state state;
	struct stream *stream;       // FILE_FETCH_STREAM: a reference for the caller
	uint64_t length;             // of the stream, in bytes
	struct file_cache_file file; // FILE_FETCH_KEPT: the caller closes fd; else fd is -1
	char why[256];               // of ABSENT, FULL, FAILED and BUSY
};

// Whether any client still wants a download.
enum inflight_file_demand {
	INFLIGHT_FILE_WANTED,    // a client wants it, or it has ended, or it is to be completed anyway
	INFLIGHT_FILE_DEQUEUED,  // it was removed from the queue: the caller drops the queue's reference
	INFLIGHT_FILE_CANCELLED, // the caller cancels its request, and calls inflight_file_pause() when that has ended
};

// The references: one of the table, one of each stream, and one of the queue, from ensure_queued() until its request
// has ended. A download that no client wants is paused: it is not queued, and keeps its bytes, and the next client
// continues it.
struct inflight_file {
	struct stream base;
	struct inflight_file *next;   // of the table
	struct upstream_files *owner; // whose table it is in
	struct metrics *metrics;
	char *project, *filename, *url, *home;
	bool is_known; // sha256 is
	uint8_t sha256[SHA256_SIZE];
	int64_t size; // by upstream's page; -1: not known
	_Atomic unsigned owners;

	pthread_mutex_t lock;        // for the following
	enum file_fetch_state state; // LATER: no response yet
	char why[256];
	struct continuation *byte_waiters;   // of streams, for the next bytes
	struct continuation *answer_waiters; // resumed by the response's header and by the end, not by each piece
	uint64_t written, length;            // bytes. length is known from STREAM on, if has_length
	bool has_length;
	long expires_at; // seconds of the monotonic clock, once it has ended or is paused: then the table drops it
	struct fair_queue *queue;
	struct fair_queue_entry queue_entry;
	bool is_queued;           // it is queued, or its request is in flight
	bool is_cancelled;        // the request was cancelled, because no client wants it
	unsigned streams;         // that clients read
	unsigned unwanted_checks; // checks in a row that found no client
	uint64_t request;         // its number in the fetch pool; 0: none yet
	bool is_cached;           // KEPT: the file cache has it, or could not take it

	// Used by the writing thread only.
	struct file_cache_writer *file_cache_writer;
	uint64_t skip;        // bytes of the response that are here already
	uint64_t notified_at; // written, when byte_waiters were resumed last
	int64_t notified_ms;
	unsigned tries;
	bool has_stopped;                   // the writing thread has set the final state
	uint8_t actual_sha256[SHA256_SIZE]; // once it is KEPT any thread may read it
};

// A new download with one reference, for the caller. metrics may be NULL.
struct inflight_file *inflight_file_new(const struct file_request *w, struct fair_queue *queue,
	struct metrics *metrics);
struct inflight_file *inflight_file_ref(struct inflight_file *p);
void inflight_file_unref(struct inflight_file *p);

enum file_fetch_state inflight_file_state(struct inflight_file *p);
// The response's header has arrived: the state becomes FILE_FETCH_STREAM, unless the download has ended. Writing
// thread.
void inflight_file_begin_stream(struct inflight_file *p, uint64_t length, bool has_length);
// So many more bytes are written. Writing thread.
void inflight_file_grow(struct inflight_file *p, size_t bytes);
// Sets the final state, if none is set yet, and resumes all continuations.
void inflight_file_end(struct inflight_file *p, enum file_fetch_state state, const char *why);
// The file cache has the file, or could not take it.
void inflight_file_set_cached(struct inflight_file *p);
// Resumes the continuations whose clients have left, and says whether any other client wants the file. *request: its
// number in the fetch pool.
enum inflight_file_demand inflight_file_drop_left(struct inflight_file *p, uint64_t *request);
// Lets the table drop it, if it is paused.
void inflight_file_expire(struct inflight_file *p);
// Its request was cancelled. True: it is paused now, and the caller drops the queue's reference. False: it was
// cancelled for another reason, or (*is_wanted) a client wants it again.
bool inflight_file_pause(struct inflight_file *p, bool *is_wanted);
// Whether the table may drop it: it ended, or was paused, some time ago. It is kept that long for clients that looked
// into the file cache just before the file was put there.
bool inflight_file_is_over(struct inflight_file *p);
// Fills out, whose state is FILE_FETCH_LATER. If the state stays so, the continuation is kept, and the download is
// queued: the caller then calls fair_queue_run().
void inflight_file_get(struct inflight_file *p, const char *peer, bool wants_whole, struct continuation *continuation,
	struct file_fetch_result *out);
