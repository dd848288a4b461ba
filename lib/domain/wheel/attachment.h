// SPDX-License-Identifier: Apache-2.0
// The documents beside a wheel or an sdist that say where it comes from. X.whl.intoto.json is a statement of provenance
// (provenance.h). X.whl.provenance is the provenance object of PEP 740, with the attestations of the upload
// (attestations.h). Both are about one file with one SHA-256, their subject. Pure functions; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
