// SPDX-License-Identifier: Apache-2.0
// URLs and references in pages (RFC 3986, section 5). Any thread.
// These functions compute text. To which host a request connects is decided by libcurl alone (lib/net/fetch.h).
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
