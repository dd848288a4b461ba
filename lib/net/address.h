// SPDX-License-Identifier: Apache-2.0
// Tells public addresses of the Internet from private (RFC 1918, RFC 4193, RFC 6598), loopback, link-local and special
// ones (RFC 6890). An IPv6 address that contains an IPv4 address is as public as that one. Reads addresses and
// networks. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/str.h"

enum { ADDRESS_SIZE = 16 };

// The addresses that begin with the same bits.
struct address_network {
	uint8_t prefix[ADDRESS_SIZE];
	unsigned bits;
};

struct sockaddr;

bool address_is_public(const struct sockaddr *address); // false for other families than IPv4 and IPv6
// The same for an address as text, without brackets. False if it is no address.
bool address_text_is_public(const char *text);
// Reads an address as text, without brackets. IPv4 is written as IPv4-mapped IPv6. False: it is none.
bool address_read(struct str text, uint8_t out[ADDRESS_SIZE]);
// Reads "10.0.0.0/8", "fd00::/8", or one address. False: it is none.
bool address_read_network(struct str text, struct address_network *out);
bool address_is_in(const uint8_t address[ADDRESS_SIZE], const struct address_network *network);
// What counts as one client, of an address as text: all of an IPv6 /64 is one, as one machine may have them. All texts
// that are no address, such as "unix", count as another one.
void address_client(const char *text, uint8_t out[ADDRESS_SIZE]);
