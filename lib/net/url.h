// SPDX-License-Identifier: Apache-2.0
// References in pages: RFC 3986, section 5. Pure; thread-safe. Who is really connected to is for libcurl to say
// (lib/net/fetch), not for this.
#pragma once

#include <stdbool.h>

#include "lib/base/buf.h"

// Adds the absolute URL that reference means in a page at base, without its fragment, and without user and password:
// these are nobody's but the asker's. What no URL may hold (blanks, controls, bytes beyond ASCII) becomes %XX.
// False where that is no http: or https: URL with a host; out then has what it had.
bool url_resolve(struct str base, struct str reference, struct buf *out);
// The address as a copy that ends in "/", for paths to be put behind it; to be freed. NULL where it is none for that: not
// http: or https:, without a host or with an impossible one, with a port that is none, with a query, or with what has to be escaped in HTML or JSON.
char *url_base(struct str url);
// The last segment of a URL's path, decoded, added to out: the name of the file. False where it has none, or %XX of it
// are malformed.
bool url_filename(struct str url, struct buf *out);
