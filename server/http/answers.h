// SPDX-License-Identifier: Apache-2.0
// The memory of answers that clients have not read yet, and of pages while they are made: at most LIMIT_ANSWERS_SENT,
// of which an address has a quarter. Answers in files of their own (blob_map_own) count apart, up to
// LIMIT_ANSWERS_SPOOLED bytes of disk. An answer that many clients read counts once, and once for each of their
// addresses. Those below LIMIT_ANSWERS_SMALL do not count: the number of connections bounds them. Other files do not
// count either: they are in the kernel's page cache. Any thread.
#pragma once

#include "lib/base/buf.h"
#include "server/message/reply.h"
#include "server/message/share.h"

enum { ANSWERS_STREAM_BLOCK = 1 << 16 }; // bytes of a stream that a connection has in memory

// What a client is told whose share is used up.
extern const char answers_unread[];

struct answers;
struct answer;

// Embedded in the connection; zeros at first.
struct answer_reader {
	struct answer *answer; // NULL: nothing is counted
	struct answer_payer *payer;
};

// A page that is made for a client, and whose buffers have the meter. Embedded, zeros at first.
struct answer_making {
	struct buf_meter meter;
	struct answers *answers;
	const char *peer; // borrowed
	struct share_part all, address;
};

struct answers *answers_new(void);
void answers_free(struct answers *a); // NULL is fine
// A client at peer begins to read the reply. False: there is no room for it, in all or for this address.
bool answers_begin(struct answers *a, struct answer_reader *r, const struct reply *reply, const char *peer);
void answers_end(struct answers *a, struct answer_reader *r); // does nothing where nothing is counted
// Of a page that is made for the client at peer. a NULL: nothing is counted. An address has half of the memory for
// that, or one page of any size.
void answers_make_begin(struct answers *a, struct answer_making *m, const char *peer);
void answers_make_end(struct answer_making *m); // for CLEANUP, after the buffers were freed or handed on
// Whether the address has its share already, so that nothing large needs to be made for it.
bool answers_is_used_up(struct answers *a, const char *peer);
