// SPDX-License-Identifier: Apache-2.0
// The fields of the legacy upload form that are read, and the parts that become attachments of the file:
// "build_provenance", a statement of provenance, and "attestations", the JSON array of PEP 740. These are fields or
// files, before or after the content, and count for LIMIT_BODIES_ARRIVING, like all that bodies keep in memory. The
// other fields repeat the file's metadata, which is taken from the file itself. One thread for each form.
#pragma once

#include "lib/base/err.h"
#include "lib/base/str.h"
#include "lib/domain/wheel/declared.h"
#include "lib/state/publish/publish.h"
#include "server/message/body-handler.h"

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

// All zero, except handler, is an empty one.
struct upload_form {
	char *value[UPLOAD_FORM_COUNT]; // owned; NULL: absent, empty, or "UNKNOWN", which old tools send
	struct buf attachment[ATTACHMENT_COUNT]; // data NULL: none
	struct buf *part;                        // the attachment that arrives; NULL: another part
	struct body_handler *handler;            // of the form, for attachments
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

// 1: the part of this name is an attachment; 0: it is not. ERR_INVALID: there was one before.
int upload_form_attach(struct upload_form *f, const char *part, struct err *e) MUST_CHECK;
// ERR_LIMIT: it is too long. ERR_BUSY: too many arrive at once.
int upload_form_attach_more(struct upload_form *f, struct str bytes, struct err *e) MUST_CHECK;
// Hands all of them to the file of this name. An empty one counts as none. ERR_INVALID, ERR_LIMIT: attestations that
// are not valid.
int upload_form_put_attachments(const struct upload_form *f, const char *filename, struct publish *p,
	struct err *e) MUST_CHECK;
uint64_t upload_form_attached(const struct upload_form *f); // bytes
