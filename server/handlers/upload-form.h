// SPDX-License-Identifier: Apache-2.0
// The form of the legacy upload API, as far as it is read: which fields there are, and what they say. All other
// fields are the page's facts once more, and the page takes those from the file. Pure.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/wheel/declared.h"

enum upload_form_field {
	UPLOAD_FORM_ACTION,
	UPLOAD_FORM_PROTOCOL,
	UPLOAD_FORM_NAME,
	UPLOAD_FORM_VERSION,
	UPLOAD_FORM_FILETYPE,
	UPLOAD_FORM_SHA256,
	UPLOAD_FORM_BLAKE2B_256,
	UPLOAD_FORM_MD5,
	UPLOAD_FORM_COUNT,
};

// All zero is an empty one.
struct upload_form {
	char *value[UPLOAD_FORM_COUNT]; // NULL: absent, or empty, or "UNKNOWN" as old tools say it
};

void upload_form_release(struct upload_form *f);
// The field of this name; UPLOAD_FORM_COUNT where it is one that nobody reads.
enum upload_form_field upload_form_find(struct str name);
// ERR_INVALID where the field came before with another value.
int upload_form_put(struct upload_form *f, enum upload_form_field field, struct str value, struct err *e) MUST_CHECK;
// Whether it asks to upload a file: ERR_INVALID, or ERR_DENIED for what the API could once.
int upload_form_check(const struct upload_form *f, struct err *e) MUST_CHECK;
// Borrowed from f.
struct declared upload_form_claims(const struct upload_form *f);
