// SPDX-License-Identifier: Apache-2.0
// A multipart/form-data body that arrives piece by piece (RFC 7578, RFC 2046 section 5.1). In whatever pieces: the
// parts are the same. It keeps a part's header, never its bytes. One thread at a time. Pure.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

enum { MULTIPART_BOUNDARY = 70 };

// What a part's header says: UTF-8 without control characters, borrowed for the call. Nothing else is known of it: a
// file name may be "..", or a path.
struct multipart_part {
	const char *name;
	const char *filename; // NULL: a field, no file
	const char *type;     // its Content-Type, as it came; NULL: none
};

// Each returns 0, or -1 with *e set: the reading ends. What data is called with adds up to the part's bytes; for an
// empty part it is not called.
struct multipart_ops {
	int (*begin)(void *ctx, const struct multipart_part *part, struct err *e);
	int (*data)(void *ctx, struct str bytes, struct err *e);
	int (*end)(void *ctx, struct err *e);
};

struct multipart {
	const struct multipart_ops *ops;
	void *ctx;
	char delimiter[4 + MULTIPART_BOUNDARY]; // CR LF "--" boundary
	size_t delimiter_len;
	int (*state)(struct multipart *m, struct str *rest, struct err *e);
	size_t matched;    // of the delimiter, at the end of what came so far
	struct buf header; // of the present part; what stands behind a delimiter
	unsigned parts;
	size_t outside;         // bytes before the first part and behind the last
	uint64_t came, data_at; // bytes so far; before those of the present part
};

// content_type is that of the request. ERR_INVALID where it is not multipart/form-data with a boundary; there is
// nothing to release then.
int multipart_init(struct multipart *m, const char *content_type, const struct multipart_ops *ops, void *ctx,
	struct err *e) MUST_CHECK;
void multipart_release(struct multipart *m);
// Takes the next piece. ERR_INVALID where it is malformed, ERR_LIMIT where it passes a limit of limits.h, or what a
// callback has set. After an error nothing more may be added.
int multipart_add(struct multipart *m, struct str piece, struct err *e) MUST_CHECK;
// How many bytes the present part has, where the body has body_len and ends with this part as clients end it; 0 where it
// cannot be so. It may have less, where other parts follow, and two more, where the last line has no end.
uint64_t multipart_expected(const struct multipart *m, uint64_t body_len);
// Behind the last piece: ERR_INVALID where more should have come.
int multipart_end(struct multipart *m, struct err *e) MUST_CHECK;
