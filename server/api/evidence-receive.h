// SPDX-License-Identifier: Apache-2.0
// POST /-/evidence/: a client sends the record of a test run (lib/domain/promotion/evidence.h). Its token has the right
// evidence, and the record counts for the views of that token. The function fits route-table.h.
#pragma once

#include "server/core/server-context.h"

struct evidence;
struct token_grant;
struct catalog_evidence;

struct body_handler *evidence_receive(struct server_context *s, const struct route_match *match,
	struct reply **refusal);

// For a promotion, too. Whether the token may send this record: appends the views for which it counts. ERR_DENIED: it is
// for other platforms or projects; ERR_INVALID: it is an override, which only a promotion makes; ERR_BUSY: the token sent
// too much in the last hour, and *wait_ms becomes when it may send more.
int evidence_receive_check(struct server_context *s, const struct token_grant *grant, const struct evidence *r,
	size_t bytes, struct buf *views, int64_t *wait_ms, struct err *e) MUST_CHECK;
// Runs on-change of the views in which this new record changes something.
void evidence_receive_tell(struct server_context *s, struct catalog *c, const struct evidence *r,
	const struct catalog_evidence *note);
