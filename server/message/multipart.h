// SPDX-License-Identifier: Apache-2.0
// A parser for multipart/form-data bodies that arrive in pieces (RFC 7578, RFC 2046 section 5.1). The parts do not
// depend on how the body is cut. It buffers a part's header, never its bytes. No I/O. One thread at a time.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

enum { MULTIPART_BOUNDARY = 70 };

// The header of a part: UTF-8 without control characters, valid during the call. Not checked further: a file name may
// be "..", or a path.
struct multipart_part {
	const char *name;
	const char *filename; // NULL: the part is a field, not a file
	const char *type;     // its Content-Type as sent; NULL: none
};

// Each callback returns 0, or -1 with *e set, which ends the parsing. data gets the bytes of a part in pieces; it is
// not called for an empty part.
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
	size_t matched;    // bytes of the delimiter that the input so far ends with
	struct buf header; // of the present part; or the bytes after a delimiter
	unsigned parts;
	size_t outside;         // bytes before the first part and after the last
	uint64_t came, data_at; // bytes so far; bytes before the data of the present part
};

// content_type: of the request. ops and ctx are borrowed. ERR_INVALID where content_type is not multipart/form-data
// with a boundary; then the caller need not release m.
int multipart_init(struct multipart *m, const char *content_type, const struct multipart_ops *ops, void *ctx,
	struct err *e) MUST_CHECK;
void multipart_release(struct multipart *m);
// Parses the next piece. ERR_INVALID where it is malformed, ERR_LIMIT beyond a limit of limits.h, or the error of a
// callback. After an error the caller may only release m.
int multipart_add(struct multipart *m, struct str piece, struct err *e) MUST_CHECK;
// An estimate of the present part's size in bytes, if it is the last part of a body of body_len bytes; 0 where that is
// impossible. The real size is less where other parts follow, and two more where the body does not end with CR LF.
uint64_t multipart_expected(const struct multipart *m, uint64_t body_len);
// Called after the last piece. ERR_INVALID where the body is not complete.
int multipart_end(struct multipart *m, struct err *e) MUST_CHECK;
