// SPDX-License-Identifier: Apache-2.0
// Ready-made configuration of clients and CI systems for an index of this server: pip.conf, uv.toml, workflows.
// The command and the page show the same. No state: any thread.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

// One file of a client. A line of its text that begins with "?" stands there in some cases only: "?token ", where
// clients need a token; "?open ", where they do not; "?http ", where pip must be told to trust the host. These words
// are replaced: <index>, the URL of the index; <scheme> and <rest>, what stands before and behind its "://"; <netloc>,
// the host and the port; <host>, the host alone.
struct client_template {
	const char *client; // "pip"; a client's files follow each other
	const char *title;  // "pip", as people write it
	const char *path;   // which file it is
	const char *marker; // what begins a comment there
	bool is_for_token;  // needed only where clients need a token
	const char *text;
};
extern const struct client_template client_template[];
extern const size_t client_template_count;

// Which index. Borrowed.
struct client_index {
	const char *base; // the URL of the server, with or without "/" at its end
	const char *view; // or platform; NULL: the default view
	const char *platform; // the only one of the view that the client gets files of; NULL: all
	bool needs_token;
	// Of a view that shows several platforms as one: their names; and the view of the configuration, NULL: none.
	const char *const *platforms;
	size_t platform_count;
	const char *whole;
};

bool client_config_has(const char *client);
// Adds the URL of the index, "https://HOST/VIEW/simple/" or "https://HOST/VIEW/PLATFORM/simple/".
void client_config_url(const struct client_index *x, struct buf *out);
// Adds the host and port where pip refuses this URL without --trusted-host: plain HTTP, to another machine than this
// one.
void client_config_distrusted(struct str base, struct buf *out);
// Whether the file is needed for this index.
bool client_config_needs(const struct client_index *x, const struct client_template *t);
// Adds the file's text, with a comment before it that says which file it is.
void client_config_write(const struct client_index *x, const struct client_template *t, struct buf *out);
// What the view shows of one of its platforms. Of all platforms as one it is the index of the platform itself.
struct client_index client_config_part(const struct client_index *x, const char *platform);
// The index, and the files of one client (NULL: of all). The caller owns the result.
struct jsondoc *client_config_json(const struct client_index *x, const char *client);
