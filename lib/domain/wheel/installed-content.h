// SPDX-License-Identifier: Apache-2.0
// A digest of all of a wheel that decides what pip and uv install from it. Any thread.
#pragma once

#include "lib/domain/archive/member-hashes.h"

// SHA-256 of sorted lines "<sha256><mark> <name>\n". The mark is "x" for a member that pip and uv make executable, "p" and
// "u" for one of which only pip or uv does so, and else empty. Folders are left out but for those without members, which uv
// makes. If the .data folder has members of several schemes, a further line has the digest of their names in order, the
// mark "o" and the name ".data": of two members for one place pip installs the last. So time stamps and compression do not
// count, nor does the order elsewhere.
// ERR_INVALID: clients differ in what the name of a member is, or two names may be one place; such a wheel has no digest.
int installed_content_digest(const struct member_hashes *c, const struct zipdirectory *zip, uint8_t out[SHA256_SIZE],
	struct err *e) MUST_CHECK;
