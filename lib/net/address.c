// SPDX-License-Identifier: Apache-2.0
#include "lib/net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/mem.h"

enum {
	V6_SIZE = ADDRESS_SIZE,
	V4_SIZE = 4,
	V4_BITS = 96,
	NETWORK = 8, // bytes of an IPv6 address that name a network
};

// IPv4 addresses are written as IPv4-mapped IPv6 addresses (::ffff:0:0/96).
#define V4(a, b, c, d)                                                                                                 \
	{                                                                                                              \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d                                                   \
	}

static const struct {
	uint8_t prefix[V6_SIZE];
	unsigned bits;
} special[] = {
	{V4(0, 0, 0, 0), V4_BITS + 8},      // this network
	{V4(10, 0, 0, 0), V4_BITS + 8},     // private
	{V4(100, 64, 0, 0), V4_BITS + 10},  // shared by a provider's customers
	{V4(127, 0, 0, 0), V4_BITS + 8},    // loopback
	{V4(169, 254, 0, 0), V4_BITS + 16}, // link-local
	{V4(172, 16, 0, 0), V4_BITS + 12},  // private
	{V4(192, 0, 0, 0), V4_BITS + 24},   // for protocols
	{V4(192, 168, 0, 0), V4_BITS + 16}, // private
	{V4(198, 18, 0, 0), V4_BITS + 15},  // benchmarks
	{V4(224, 0, 0, 0), V4_BITS + 4},    // multicast
	{V4(240, 0, 0, 0), V4_BITS + 4},    // reserved, broadcast
	{{0}, 96},                          // unspecified, loopback, IPv4-compatible
	{{0, 0x64, 0xff, 0x9b, 0, 1}, 48},  // translation within a network
	{{1, 0}, 64},                       // discarded
	{{0x20, 0x01, 0, 0}, 32},           // Teredo
	{{0xfc}, 7},                        // unique local
	{{0xfe, 0x80}, 10},                 // link-local
	{{0xfe, 0xc0}, 10},                 // site-local
	{{0xff}, 8},                        // multicast
};

// Prefixes whose addresses contain an IPv4 address, from byte at on.
static const struct {
	uint8_t prefix[V6_SIZE];
	unsigned bits, at;
} embedding[] = {
	{{0, 0x64, 0xff, 0x9b}, 96, 12}, // NAT64
	{{0x20, 0x02}, 16, 2},           // 6to4
};

static bool has_prefix(const uint8_t *address, const uint8_t *prefix, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;
	if (memcmp(address, prefix, whole) != 0)
		return false;
	return !rest || (address[whole] ^ prefix[whole]) >> (8 - rest) == 0;
}

static bool is_public(const uint8_t *address)
{
	for (size_t i = 0; i < ARRAY_SIZE(special); i++)
		if (has_prefix(address, special[i].prefix, special[i].bits))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(embedding); i++) {
		if (!has_prefix(address, embedding[i].prefix, embedding[i].bits))
			continue;
		uint8_t embedded[V6_SIZE] = V4(0, 0, 0, 0);
		memcpy(embedded + V6_SIZE - V4_SIZE, address + embedding[i].at, V4_SIZE);
		return is_public(embedded);
	}
	return true;
}

static bool v4_is_public(const struct in_addr *v4)
{
	uint8_t address[V6_SIZE] = V4(0, 0, 0, 0);
	memcpy(address + V6_SIZE - V4_SIZE, v4, V4_SIZE);
	return is_public(address);
}

bool address_is_public(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return v4_is_public(&((const struct sockaddr_in *)(const void *)address)->sin_addr);
	if (address->sa_family == AF_INET6)
		return is_public(((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr);
	return false;
}

bool address_read(struct str text, uint8_t out[ADDRESS_SIZE])
{
	static const uint8_t mapped[V6_SIZE] = V4(0, 0, 0, 0);
	char room[INET6_ADDRSTRLEN];
	if (text.len >= sizeof(room) || str_find(text, '\0') >= 0)
		return false;
	memcpy(room, text.ptr ? text.ptr : "", text.len);
	room[text.len] = '\0';
	memcpy(out, mapped, V6_SIZE);
	return inet_pton(AF_INET, room, out + V6_SIZE - V4_SIZE) == 1 || inet_pton(AF_INET6, room, out) == 1;
}

bool address_read_network(struct str text, struct address_network *out)
{
	struct str rest = text, address = str_cut(&rest, '/');
	uint64_t bits = str_find(address, ':') < 0 ? V6_SIZE * 8 - V4_BITS : V6_SIZE * 8;
	if (!address_read(address, out->prefix) ||
		(address.len < text.len && !decimal_parse(rest, bits, &bits)))
		return false;
	out->bits = (unsigned)bits + (str_find(address, ':') < 0 ? V4_BITS : 0);
	return true;
}

bool address_is_in(const uint8_t address[ADDRESS_SIZE], const struct address_network *network)
{
	return has_prefix(address, network->prefix, network->bits);
}

void address_client(const char *text, uint8_t out[ADDRESS_SIZE])
{
	static const uint8_t mapped[V6_SIZE] = V4(0, 0, 0, 0);
	if (!address_read(str_from(text), out))
		memset(out, 0xff, ADDRESS_SIZE); // a multicast address, which no client has
	else if (!has_prefix(out, mapped, V4_BITS))
		memset(out + NETWORK, 0, ADDRESS_SIZE - NETWORK);
}

bool address_text_is_public(const char *text)
{
	uint8_t address[V6_SIZE];
	return address_read(str_from(text), address) && is_public(address);
}
