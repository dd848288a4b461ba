// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648). Strict: no other bytes, no stray bits at the end. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

enum base64_form {
	BASE64_PLAIN, // section 4: "+" and "/", padded
	BASE64_URL,   // section 5: "-" and "_", without padding
};

// How many bytes the text stands for, if it is one.
size_t base64_size(struct str text);
// Writes base64_size(text) bytes to out.
bool base64_decode(struct str text, enum base64_form form, uint8_t *out) MUST_CHECK;
// Adds the text in BASE64_URL.
void base64_encode_url(const uint8_t *bytes, size_t len, struct buf *out);
