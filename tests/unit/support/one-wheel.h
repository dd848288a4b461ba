// SPDX-License-Identifier: Apache-2.0
// For cmocka: a store of one wheel, a catalog that knows it, and a server context without a socket. One thread.
#pragma once

#include "server/core/server-context.h"

enum { WHEEL_SIZE = 10000 };

#define WHEEL "foo_bar-1.0+local.1-py3-none-any.whl"
#define WHEEL_URL "/files/wheels/foo-bar/foo_bar-1.0%2Blocal.1-py3-none-any.whl"

#define METADATA "Metadata-Version: 2.1\nName: foo-bar\nVersion: 1.0+local.1\n"

struct fixture {
	char folder[32];
	char wheel[128];
	char bytes[WHEEL_SIZE];
	struct site site;
	struct server_context context;
};

// *state becomes the struct fixture, which lasts until one_wheel_tear_down().
int one_wheel_set_up(void **state);
int one_wheel_tear_down(void **state);
