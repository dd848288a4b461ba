// SPDX-License-Identifier: Apache-2.0
#include "server/message/trusted-proxies.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/address.h"

enum { PREFIX_BYTES = 255 };

struct trusted_proxies {
	struct address_network *network;
	size_t count;
};

struct trusted_proxies *trusted_proxies_new(const char *text)
{
	struct trusted_proxies *t = xcalloc(1, sizeof(*t));
	for (struct str rest = str_trim(str_from(text ? text : "")); rest.len; rest = str_trim(rest)) {
		t->network = xreallocarray(t->network, t->count + 1, sizeof(*t->network));
		t->count += address_read_network(str_cut(&rest, ' '), &t->network[t->count]);
	}
	return t;
}

void trusted_proxies_free(struct trusted_proxies *t)
{
	if (t)
		free(t->network);
	free(t);
}

static bool has_address(const struct trusted_proxies *t, const uint8_t address[ADDRESS_SIZE])
{
	for (size_t i = 0; i < t->count; i++)
		if (address_is_in(address, &t->network[i]))
			return true;
	return false;
}

bool trusted_proxies_has(const struct trusted_proxies *t, const char *peer)
{
	uint8_t address[ADDRESS_SIZE];
	return strcmp(peer, "unix") == 0 || (t && t->count && address_read(str_from(peer), address) && has_address(t, address));
}

// "1.2.3.4", "1.2.3.4:5678", "::1", "[::1]" or "[::1]:5678", without brackets and port.
static struct str cut_port(struct str entry)
{
	if (str_starts(entry, STR("["))) {
		long end = str_find(entry, ']');
		return str_slice(entry, 1, end < 0 ? entry.len : (size_t)end);
	}
	long colon = str_find(entry, ':');
	return colon >= 0 && colon == str_rfind(entry, ':') ? str_slice(entry, 0, (size_t)colon) : entry;
}

static void print_address(const uint8_t address[ADDRESS_SIZE], char out[REQUEST_PEER])
{
	bool is_v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address);
	inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? address + ADDRESS_SIZE - sizeof(struct in_addr) : address, out,
		REQUEST_PEER);
}

void trusted_proxies_client(const struct trusted_proxies *t, const char *peer, const char *forwarded_for,
	char out[REQUEST_PEER])
{
	struct str rest = str_from(forwarded_for ? forwarded_for : "");
	bool is_proxy = true;
	snprintf(out, REQUEST_PEER, "%s", peer);
	while (is_proxy && rest.len) {
		uint8_t address[ADDRESS_SIZE];
		long comma = str_rfind(rest, ',');
		struct str entry = str_trim(str_slice(rest, (size_t)(comma + 1), rest.len));
		rest = str_slice(rest, 0, comma < 0 ? 0 : (size_t)comma);
		if (!address_read(cut_port(entry), address))
			return;
		print_address(address, out);
		is_proxy = t && has_address(t, address);
	}
}

struct str trusted_proxies_prefix(const char *value)
{
	struct str path = str_trim(str_from(value ? value : ""));
	while (str_ends(path, STR("/")))
		path.len--;
	if (!str_starts(path, STR("/")) || path.len > PREFIX_BYTES)
		return STR("");
	for (size_t i = 0; i < path.len; i++)
		if ((!ascii_is_alnum(path.ptr[i]) && !strchr("/-._~", path.ptr[i])) ||
			(i && strchr("/.", path.ptr[i]) && path.ptr[i - 1] == '/'))
			return STR("");
	return path;
}
