// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648), decoded strictly: no other bytes, no stray bits at the end. Any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum base64_form {
	BASE64_PLAIN, // section 4: "+" and "/", padded
	BASE64_URL,   // section 5: "-" and "_", without padding
};

// The number of bytes that base64_decode writes for this text.
size_t base64_size(struct str text);
// Writes base64_size(text) bytes to out. False if the text is malformed; out may then have been written.
bool base64_decode(struct str text, enum base64_form form, uint8_t *out) MUST_CHECK;
// Adds the bytes to out.
void base64_encode(const uint8_t *bytes, size_t len, enum base64_form form, struct buf *out);
