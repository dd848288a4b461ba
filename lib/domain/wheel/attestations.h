// SPDX-License-Identifier: Apache-2.0
// Attestations of PEP 740: signed statements about one wheel or sdist. Their structure is checked, and that they are
// about the file; signatures and certificates are not verified. Pure functions; any thread.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

// Reads the upload field "attestations", a JSON array, for the file of this name. sha256: the digest that all of them
// give for it. An empty array has none: *count is 0. ERR_INVALID: no such array, or an attestation that is not valid or
// not about this file. ERR_LIMIT: longer than LIMIT_STATEMENT, more than LIMIT_ATTESTATIONS, or more than
// LIMIT_ATTESTATION_VALUES values.
int attestations_read(struct str array, const char *filename, uint8_t sha256[SHA256_SIZE], size_t *count,
	struct err *e) MUST_CHECK;
// Appends the provenance object with such an array, which keeps its bytes. The publisher is a token of this server.
void attestations_put_object(struct str array, struct buf *out);
// Reads a provenance object likewise.
int attestations_read_object(struct str object, const char *filename, uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;
