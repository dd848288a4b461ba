// SPDX-License-Identifier: Apache-2.0
// The memory of answers that clients have not read yet: at most LIMIT_ANSWERS_SENT, of which an address has a quarter. An answer
// that many clients read counts once, and once for each of their addresses. Those below LIMIT_ANSWERS_SMALL do not count: the
// number of connections bounds them. Files do not count either: they are in the kernel's page cache. Any thread.
#pragma once

#include "server/message/reply.h"

enum { ANSWERS_STREAM_BLOCK = 1 << 16 }; // bytes of a stream that a connection has in memory

struct answers;
struct answer;

// Embedded in the connection; zeros at first.
struct answer_reader {
	struct answer *answer; // NULL: nothing is counted
	struct answer_payer *payer;
};

struct answers *answers_new(void);
void answers_free(struct answers *a); // NULL is fine
// A client at peer begins to read the reply. False: there is no room for it, in all or for this address.
bool answers_begin(struct answers *a, struct answer_reader *r, const struct reply *reply, const char *peer);
void answers_end(struct answers *a, struct answer_reader *r); // does nothing where nothing is counted
// Whether the address has its share already, so that nothing large needs to be made for it.
bool answers_is_used_up(struct answers *a, const char *peer);
