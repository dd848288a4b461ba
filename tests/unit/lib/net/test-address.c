// SPDX-License-Identifier: Apache-2.0
#include "lib/net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static const struct {
	const char *text;
	bool is_public;
} table[] = {
	{"151.101.0.223", true},
	{"1.1.1.1", true},
	{"9.255.255.255", true},
	{"11.0.0.0", true},
	{"0.0.0.0", false},
	{"10.0.0.1", false},
	{"10.255.255.255", false},
	{"127.0.0.1", false},
	{"127.1.2.3", false},
	{"100.63.255.255", true},
	{"100.64.0.0", false},
	{"100.127.255.255", false},
	{"100.128.0.0", true},
	{"169.253.255.255", true},
	{"169.254.169.254", false},
	{"169.255.0.0", true},
	{"172.15.255.255", true},
	{"172.16.0.0", false},
	{"172.31.255.255", false},
	{"172.32.0.0", true},
	{"192.0.0.8", false},
	{"192.0.1.0", true},
	{"192.167.1.1", true},
	{"192.168.1.1", false},
	{"192.169.0.0", true},
	{"198.17.255.255", true},
	{"198.19.0.1", false},
	{"198.20.0.0", true},
	{"223.255.255.255", true},
	{"224.0.0.1", false},
	{"239.1.1.1", false},
	{"240.0.0.1", false},
	{"255.255.255.255", false},
	{"2a04:4e42::223", true},
	{"2606:4700::1111", true},
	{"::", false},
	{"::1", false},
	{"::10.0.0.1", false},
	{"::8.8.8.8", false},
	{"::ffff:8.8.8.8", true},
	{"::ffff:127.0.0.1", false},
	{"::ffff:192.168.0.1", false},
	{"64:ff9b::8.8.8.8", true},
	{"64:ff9b::10.1.2.3", false},
	{"64:ff9b:1::1", false},
	{"100::1", false},
	{"2001::1", false},
	{"2001:4860:4860::8888", true},
	{"2002:808:808::1", true},
	{"2002:7f00:1::1", false},
	{"fbff::1", true},
	{"fc00::1", false},
	{"fdff::1", false},
	{"fe7f::1", true},
	{"fe80::1", false},
	{"febf::1", false},
	{"fec0::1", false},
	{"ff02::1", false},
	{"", false},
	{"localhost", false},
	{"127.1", false},
	{"[::1]", false},
};

static void text_is_judged(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (address_text_is_public(table[i].text) != table[i].is_public)
			fail_msg("%s", table[i].text);
}

static void address_is_judged(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct sockaddr_in v4 = {.sin_family = AF_INET};
		struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
		if (inet_pton(AF_INET, table[i].text, &v4.sin_addr) == 1)
			assert_int_equal(address_is_public((struct sockaddr *)&v4), table[i].is_public);
		if (inet_pton(AF_INET6, table[i].text, &v6.sin6_addr) == 1)
			assert_int_equal(address_is_public((struct sockaddr *)&v6), table[i].is_public);
	}
	assert_false(address_is_public(&(struct sockaddr){.sa_family = AF_UNIX}));
}

static void networks_are_read(void **state UNUSED)
{
	static const char *const bad[] = {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "fd00::/129",
		"localhost", "10.0.0", "[::1]", "1.2.3.4 "};
	static const struct {
		const char *network, *address;
		bool has;
	} row[] = {
		{"10.0.0.0/8", "10.255.255.255", true},
		{"10.0.0.0/8", "11.0.0.0", false},
		{"10.0.0.0/8", "a00::", false},
		{"10.1.2.128/25", "10.1.2.127", false},
		{"10.1.2.128/25", "10.1.2.200", true},
		{"0.0.0.0/0", "203.0.113.1", true},
		{"0.0.0.0/0", "2001:db8::1", false},
		{"::/0", "2001:db8::1", true},
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.0", false},
		{"::1", "::1", true},
		{"fd00::/7", "fc12::", true},
	};
	struct address_network network;
	uint8_t address[ADDRESS_SIZE];
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (address_read_network(str_from(bad[i]), &network))
			fail_msg("%s", bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		assert_true(address_read_network(str_from(row[i].network), &network));
		assert_true(address_read(str_from(row[i].address), address));
		if (address_is_in(address, &network) != row[i].has)
			fail_msg("%s %s", row[i].network, row[i].address);
	}
}

static void client_is_an_address_or_a_network(void **state UNUSED)
{
	static const struct {
		const char *a, *b;
		bool is_one;
	} row[] = {
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:2", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"unix", "::1", false},
		{"unix", "127.0.0.1", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		uint8_t a[ADDRESS_SIZE], b[ADDRESS_SIZE];
		address_client(row[i].a, a);
		address_client(row[i].b, b);
		if ((memcmp(a, b, sizeof(a)) == 0) != row[i].is_one)
			fail_msg("%s %s", row[i].a, row[i].b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_judged),
		cmocka_unit_test(address_is_judged),
		cmocka_unit_test(networks_are_read),
		cmocka_unit_test(client_is_an_address_or_a_network),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
