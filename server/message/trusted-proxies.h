// SPDX-License-Identifier: Apache-2.0
// The client's address where proxies stand before the server ([server] trusted-proxies). What a trusted proxy says of its
// client counts; the same headers of anyone else are ignored. A unix socket is trusted: its folder decides who connects.
// Any thread.
#pragma once

#include "server/message/request.h"

struct trusted_proxies;

// text: addresses and networks with blanks between, which the configuration has checked; NULL: none. The caller frees the
// result.
struct trusted_proxies *trusted_proxies_new(const char *text);
void trusted_proxies_free(struct trusted_proxies *t); // NULL is fine
// Whether the other end of a connection is a trusted proxy. peer: its address, "unix" for a socket file.
bool trusted_proxies_has(const struct trusted_proxies *t, const char *peer);
// Sets the address of the client that a trusted proxy at peer speaks for: of the list in X-Forwarded-For the last address
// that is no trusted proxy. Where the list has none, it is the farthest one that is known. An entry may have a port; one
// that is no address ends the search, as nobody vouches for what stands before it. forwarded_for NULL: peer.
void trusted_proxies_client(const struct trusted_proxies *t, const char *peer, const char *forwarded_for,
	char out[REQUEST_PEER]);
// The value of X-Forwarded-Prefix as a path without "/" at its end; empty if it is none that may stand in a page.
struct str trusted_proxies_prefix(const char *value);
