// SPDX-License-Identifier: Apache-2.0
// Tells public addresses of the Internet from private (RFC 1918, RFC 4193, RFC 6598), loopback, link-local and special
// ones (RFC 6890). An IPv6 address that contains an IPv4 address is as public as that one. Any thread.
#pragma once

#include <stdbool.h>

struct sockaddr;

bool address_is_public(const struct sockaddr *address); // false for other families than IPv4 and IPv6
// The same for an address as text, without brackets. False if it is no address.
bool address_text_is_public(const char *text);
