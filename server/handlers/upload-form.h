// SPDX-License-Identifier: Apache-2.0
// The form of the legacy upload API, as far as it is read: which fields there are, and what they say. All other
// fields are the page's facts once more, and the page takes those from the file. Pure.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/wheel/declared.h"

enum form_field {
	FORM_ACTION,
	FORM_PROTOCOL,
	FORM_NAME,
	FORM_VERSION,
	FORM_FILETYPE,
	FORM_SHA256,
	FORM_BLAKE2B_256,
	FORM_MD5,
	FORM_COUNT,
};

// All zero is an empty one.
struct form {
	char *value[FORM_COUNT]; // NULL: absent, or empty, or "UNKNOWN" as old tools say it
};

void form_release(struct form *f);
// The field of this name; FORM_COUNT where it is one that nobody reads.
enum form_field form_find(struct str name);
// ERR_INVALID where the field came before with another value.
int form_put(struct form *f, enum form_field field, struct str value, struct err *e) MUST_CHECK;
// Whether it asks to upload a file: ERR_INVALID, or ERR_DENIED for what the API could once.
int form_check(const struct form *f, struct err *e) MUST_CHECK;
// Borrowed from f.
struct claims form_claims(const struct form *f);
