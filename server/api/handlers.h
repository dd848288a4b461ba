// SPDX-License-Identifier: Apache-2.0
// The handlers of the routes that clients read and post to; what each one is called with and returns is in
// server/core/server-context.h. The functions with _inline, and those that receive, run on the event loop; the others
// on a worker thread.
#pragma once

#include "server/core/server-context.h"

// The simple API (PEP 503, 691): the list of projects and a page for each project, in the format and coding that the
// client prefers. They need match->found_view.
struct reply *simple_inline(struct server_context *s, const struct route_match *match);
struct reply *simple_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
// /-/view/NAME: which platforms a view shows, and whether upstream is merged in, as JSON. A builder learns from it
// whether an index holds the platform that it builds for.
struct reply *simple_view_inline(struct server_context *s, const struct route_match *match);

// The files of the store under their URLs, the METADATA of wheels beside them (PEP 658), and their attachments:
// FILE.intoto.json, and FILE.provenance (PEP 740).
struct reply *files_inline(struct server_context *s, const struct route_match *match);
struct reply *files_worker(struct server_context *s, struct catalog *c, const struct route_match *match);
// Keeps a reply in the page cache, for files_inline() of the same path, for so many milliseconds, unless the cache was
// cleared since the request came. Takes a reference. Any thread.
void files_cache_reply(struct server_context *s, const struct route_match *match, struct reply *r, int64_t ms);

// Files of upstream under URLs of ours, /files/upstream/<project>/<file>, and their METADATA (PEP 658). The URLs are
// stable, because lock files hold them. The bytes come from the file cache, or from upstream through it. If only
// private views merge, the client must be allowed to read one of them.
struct reply *proxy_inline(struct server_context *s, const struct route_match *match);
struct reply *proxy_worker(struct server_context *s, struct catalog *c, const struct route_match *match);

// For monitoring: /-/health (the state of the server; private platforms only if the request's token may read them),
// /-/ready (whether it may get traffic), /-/metrics (for Prometheus; private platforms are omitted).
struct reply *status_health_inline(struct server_context *s, const struct route_match *match);
struct reply *status_ready_inline(struct server_context *s, const struct route_match *match);
struct reply *status_metrics(struct server_context *s, struct catalog *c, const struct route_match *match);

// /-/osv/v1/vulns/ID: a record of a block list, as it was.
struct reply *osv_record(struct server_context *s, struct catalog *c, const struct route_match *match);

// /-/style.css and /-/page.js: what the pages for people load. Clients keep them for a year, because the pages name
// them with their version.
struct reply *asset_style_inline(struct server_context *s, const struct route_match *match);
struct reply *asset_script_inline(struct server_context *s, const struct route_match *match);
struct reply *asset_style(struct server_context *s, struct catalog *c, const struct route_match *match);
struct reply *asset_script(struct server_context *s, struct catalog *c, const struct route_match *match);

// What is posted. The body and the answer of each are in wheelcache(1). All write the audit log, except
// missing_receive().
//
// The legacy upload API that twine, uv, flit, poetry and pdm use.
struct body_handler *upload_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
// POST /-/builds/PLATFORM/: the result of a build.
struct body_handler *builds_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
// POST /-/missing/PLATFORM: what is missing if the wheels of a list of rebuilds were not there.
struct body_handler *missing_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
// POST /-/evidence/: the record of a test run (lib/domain/promotion/evidence.h), for the views of a token with the
// right evidence.
struct body_handler *evidence_receive(struct server_context *s, const struct route_match *match,
	struct reply **refusal);
// POST /-/promote/VIEW: promotes files into a view.
struct body_handler *promote_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
// POST /-/yank/: yanks or unyanks files, as the commands do, for a token that has the right yank for all of them; else
// none is.
struct body_handler *yank_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
// POST /-/status/: sets the status of a project, as the command does, for a token that has the right yank for it.
struct body_handler *status_receive(struct server_context *s, const struct route_match *match, struct reply **refusal);
// POST /-/osv/v1/query and querybatch: which records are about a version.
struct body_handler *osv_query_receive(struct server_context *s, const struct route_match *match,
	struct reply **refusal);
struct body_handler *osv_batch_receive(struct server_context *s, const struct route_match *match,
	struct reply **refusal);
