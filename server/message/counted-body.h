// SPDX-License-Identifier: Apache-2.0
// A reply of one client with a large body in memory, which is counted until it is sent: many clients that read slowly
// must not fill the memory. Any thread.
#pragma once

#include <stdatomic.h>

#include "lib/base/buf.h"
#include "server/message/reply.h"

// Takes over the bytes, and leaves body released. *counter has its length in addition until the reply is freed; the
// counter must outlive it.
struct reply *counted_body_reply(const char *type, struct buf *body, _Atomic uint64_t *counter);
