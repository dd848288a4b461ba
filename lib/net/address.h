// SPDX-License-Identifier: Apache-2.0
// Whether an address is one of the Internet at large, or somebody's own: private (RFC 1918, RFC 4193, RFC 6598), loopback,
// link-local, or of no single host (RFC 6890). One that holds an IPv4 address inside is what that one is. Pure; thread-safe.
#pragma once

#include <stdbool.h>

struct sockaddr;

bool address_is_public(const struct sockaddr *address);
// The same of its text, without brackets; false where it is none.
bool address_text_is_public(const char *text);
