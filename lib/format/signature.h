// SPDX-License-Identifier: Apache-2.0
// Ed25519 (RFC 8032) with libcrypto: signatures of a SHA-256. Keys are PEM, as `openssl genpkey -algorithm ed25519` and
// `openssl pkey -pubout` write them, without a password. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"

enum { SIGNATURE_SIZE = 64 };

// ERR_USAGE: pem is no private key of this kind.
int signature_make(struct str pem, const uint8_t sha256[SHA256_SIZE], uint8_t out[SIGNATURE_SIZE],
	struct err *e) MUST_CHECK;
// 1: it is the signature by the key; 0: it is not. ERR_USAGE: pem is no public key of this kind.
int signature_check(struct str pem, const uint8_t sha256[SHA256_SIZE], const uint8_t signature[SIGNATURE_SIZE],
	struct err *e) MUST_CHECK;
