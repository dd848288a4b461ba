// SPDX-License-Identifier: Apache-2.0
// The parts of an upload form that become attachments of the file: "build_provenance", a statement of provenance, and
// "attestations", the JSON array of PEP 740. They are fields or files, before or after the content. Like
// all that bodies keep in memory, they count for LIMIT_BODIES_ARRIVING. One thread at a time.
#pragma once

#include "lib/state/publish/publish.h"
#include "server/message/body-handler.h"

// All zero, except handler, is an empty one.
struct upload_attachments {
	struct body_handler *handler;      // of the form
	struct buf text[ATTACHMENT_COUNT]; // data NULL: none
	struct buf *part;                  // that arrives; NULL: another part
};

// 1: the part of this name is one of them; 0: it is not. ERR_INVALID: there was one before.
int upload_attachments_begin(struct upload_attachments *a, const char *part, struct err *e) MUST_CHECK;
// ERR_LIMIT: it is too long. ERR_BUSY: too many arrive at once.
int upload_attachments_add(struct upload_attachments *a, struct str bytes, struct err *e) MUST_CHECK;
// Hands all of them to the file of this name. An empty one counts as none. ERR_INVALID, ERR_LIMIT: attestations that are
// not valid.
int upload_attachments_put(const struct upload_attachments *a, const char *filename, struct publish *p,
	struct err *e) MUST_CHECK;
uint64_t upload_attachments_size(const struct upload_attachments *a); // bytes
void upload_attachments_release(struct upload_attachments *a);
