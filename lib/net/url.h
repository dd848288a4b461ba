// SPDX-License-Identifier: Apache-2.0
// URLs and references in pages (RFC 3986, section 5). Any thread.
// These functions compute text. To which host a request connects is decided by libcurl alone (lib/net/fetch.h).
//
// Why libcurl's URL API does not resolve references: libcurl 7.88 (Debian 12) agrees on all 1,048,712 pairs of
// recorded links and bases, but not on 1,041,875 of 3,057,600 awkward pairs. With libcurl, "#x" and "?x" lose the
// last segment of the base's path (113,737), "./?x" loses the folder's slash, and "%2e" in a host is decoded
// (118,408, with other such cases), "http:///x" has the host x (113,750), and new escapes are lower-case, "%c3"
// (243,570). libcurl also refuses an impossible host or port at once (452,410), which here the request does. Ours
// follows RFC 3986, and takes 0.7 us a pair without optimisation, libcurl 1.7. "make bench-url" prints these figures.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"

// Adds the absolute URL of a reference in the page at base to out, without fragment, user and password: a client must
// not see the operator's password. Bytes that no URL may hold (blanks, control characters, non-ASCII) become %XX.
// Returns false, with out unchanged, unless the result is an http: or https: URL with a host.
bool url_resolve(struct str base, struct str reference, struct buf *out);
// Returns a copy of the URL that ends in "/", to which paths can be appended; the caller frees it. NULL if it is not
// usable for that: not http: or https:, no host or an impossible one, an impossible port, a query, or characters that
// HTML or JSON must escape.
char *url_base(struct str url);
// Adds the file name, the decoded last segment of the URL's path, to out. False if it is empty or has a malformed %XX;
// out may then hold a part of it.
bool url_filename(struct str url, struct buf *out);
