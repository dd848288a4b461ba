// SPDX-License-Identifier: Apache-2.0
// The documents beside a wheel or an sdist that say where it comes from. X.whl.intoto.json is a statement of provenance
// (provenance.h). X.whl.provenance is the provenance object of PEP 740, with the attestations of the upload
// (attestations_read_object). Both are about one file with one SHA-256, their subject. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/format/digest.h"

enum attachment { ATTACHMENT_STATEMENT, ATTACHMENT_PROVENANCE, ATTACHMENT_COUNT };

// ".intoto.json", ".provenance"
extern const char *const attachment_ending[ATTACHMENT_COUNT];

// Whether the name is that of an attachment of a wheel or an sdist. *filename, a slice of name: of which file.
bool attachment_is(struct str name, struct str *filename, enum attachment *kind);
// The SHA-256 that the document gives for the file of this name. ERR_INVALID, ERR_LIMIT: it is no such document, or
// about another file.
int attachment_subject(enum attachment kind, struct str text, const char *filename, uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;
// Whether this subject is the SHA-256 of the file of this name. ERR_INVALID: they differ.
int attachment_check_subject(enum attachment kind, const char *filename, const uint8_t subject[SHA256_SIZE],
	const uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
// Both: reads the subject, and compares it.
int attachment_check(enum attachment kind, struct str text, const char *filename, const uint8_t sha256[SHA256_SIZE],
	struct err *e) MUST_CHECK;

// Attestations of PEP 740: signed statements about one wheel or sdist. Their structure is checked, and that they are
// about the file; signatures and certificates are not verified. Pure functions; any thread.

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
