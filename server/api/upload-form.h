// SPDX-License-Identifier: Apache-2.0
// The fields of the legacy upload form that are read. The other fields repeat the file's metadata, which is taken from
// the file itself. No state: one thread for each form.
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
	UPLOAD_FORM_MD5,
	UPLOAD_FORM_COUNT,
};

// All zero is an empty one.
struct upload_form {
	char *value[UPLOAD_FORM_COUNT]; // owned; NULL: absent, empty, or "UNKNOWN", which old tools send
};

void upload_form_release(struct upload_form *f);
// The field of this name; UPLOAD_FORM_COUNT if it is ignored.
enum upload_form_field upload_form_find(struct str name);
// Copies the value. ERR_INVALID if the field has another value already.
int upload_form_put(struct upload_form *f, enum upload_form_field field, struct str value, struct err *e) MUST_CHECK;
// Whether the form uploads a file. ERR_INVALID, or ERR_DENIED for actions that the API no longer has.
int upload_form_check(const struct upload_form *f, struct err *e) MUST_CHECK;
// Borrowed from f.
struct declared upload_form_declared(const struct upload_form *f);
