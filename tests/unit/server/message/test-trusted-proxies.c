// SPDX-License-Identifier: Apache-2.0
#include "server/message/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/mem.h"

static const char proxies[] = "192.0.2.7  10.0.0.0/8 fd00::/8";

static void networks_are_trusted(void **state UNUSED)
{
	static const struct {
		const char *peer;
		bool is_trusted;
	} row[] = {
		{"192.0.2.7", true},
		{"192.0.2.8", false},
		{"10.255.0.1", true},
		{"::ffff:10.1.1.1", true},
		{"11.0.0.1", false},
		{"fd12::1", true},
		{"fe00::1", false},
		{"::", false},
		{"unix", true},
		{"", false},
	};
	struct trusted_proxies *t = trusted_proxies_new(proxies);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (trusted_proxies_has(t, row[i].peer) != row[i].is_trusted)
			fail_msg("%s", row[i].peer);
	trusted_proxies_free(t);
	assert_false(trusted_proxies_has(NULL, "10.0.0.1"));
	assert_true(trusted_proxies_has(NULL, "unix"));
}

static void last_address_that_is_no_proxy_is_the_client(void **state UNUSED)
{
	static const struct {
		const char *peer, *forwarded_for, *client;
	} row[] = {
		{"10.0.0.1", NULL, "10.0.0.1"},
		{"10.0.0.1", "", "10.0.0.1"},
		{"10.0.0.1", "203.0.113.5", "203.0.113.5"},
		{"10.0.0.1", "198.51.100.1, 203.0.113.5", "203.0.113.5"}, // the first is the client's own word
		{"10.0.0.1", "198.51.100.1,203.0.113.5 , 10.9.9.9,\t192.0.2.7", "203.0.113.5"},
		{"10.0.0.1", "10.9.9.9, 192.0.2.7", "10.9.9.9"}, // a proxy asks for itself
		{"10.0.0.1", "203.0.113.5, unknown", "10.0.0.1"},
		{"10.0.0.1", "203.0.113.5, nonsense, 192.0.2.7", "192.0.2.7"},
		{"10.0.0.1", "203.0.113.5,", "10.0.0.1"},
		{"10.0.0.1", "203.0.113.5:4711", "203.0.113.5"},
		{"10.0.0.1", "2001:db8::5", "2001:db8::5"},
		{"10.0.0.1", "[2001:DB8:0::5]:4711", "2001:db8::5"},
		{"10.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"},
		{"10.0.0.1", "203.0.113.5, \"[2001:db8::5]\"", "10.0.0.1"},
		{"unix", "203.0.113.5", "203.0.113.5"},
		{"unix", NULL, "unix"},
	};
	struct trusted_proxies *t = trusted_proxies_new(proxies);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char client[REQUEST_PEER];
		trusted_proxies_client(t, row[i].peer, row[i].forwarded_for, client);
		assert_string_equal(client, row[i].client);
	}
	char client[REQUEST_PEER];
	trusted_proxies_client(NULL, "unix", "198.51.100.1, 10.0.0.1", client); // no other proxy is trusted
	assert_string_equal(client, "10.0.0.1");
	trusted_proxies_free(t);
}

static void prefix_is_a_path(void **state UNUSED)
{
	static const struct {
		const char *value, *path;
	} row[] = {
		{"/wheels", "/wheels"},
		{"/a/b-c_d.e~f/", "/a/b-c_d.e~f"},
		{NULL, ""},
		{"", ""},
		{"/", ""},
		{"wheels", ""},
		{"//evil.example", ""},
		{"/a/../b", ""},
		{"/a\"><script>", ""},
		{"/a%0d", ""},
		{"/a b", ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (!str_eq(trusted_proxies_prefix(row[i].value), str_from(row[i].path)))
			fail_msg("%s", row[i].value);
	char longest[258] = "/";
	memset(longest + 1, 'x', 255);
	assert_int_equal(trusted_proxies_prefix(longest).len, 0);
	longest[255] = '\0';
	assert_int_equal(trusted_proxies_prefix(longest).len, 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networks_are_trusted),
		cmocka_unit_test(last_address_that_is_no_proxy_is_the_client),
		cmocka_unit_test(prefix_is_a_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
