// SPDX-License-Identifier: Apache-2.0
// Publishes a built wheel: on a server, as `wheelcache push` does, or in our own store, by the way that an upload
// takes. Any thread.
#pragma once

#include <stdbool.h>

#include "builder/step/built-wheel.h"
#include "lib/base/err.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "uploader/upload-url.h"

// Everything is borrowed.
struct wheel_target {
	const struct upload_url *server; // NULL: the own store
	struct fetch_options fetch;      // of the server; its progress is not called
	// Of the own store; its audit log gets a line. A running server runs the release command of a platform that has one.
	const struct config *config;
	const struct platform *platform;
	const char *catalog;
};

enum wheel_push_end {
	WHEEL_PUSH_DONE,     // it is there, also if the same contents were there before
	WHEEL_PUSH_TAKEN,    // another wheel has its name, with other contents
	WHEEL_PUSH_REFUSED,  // this wheel is refused
	WHEEL_PUSH_FAILED,   // this time; another try may succeed
	WHEEL_PUSH_HOPELESS, // other wheels would fail likewise: the token, the URL, a full disk
};

// statement: of the wheel's provenance; it is kept beside the wheel, unless the same bytes have another one. *why is set
// unless it returns WHEEL_PUSH_DONE.
enum wheel_push_end wheel_push(const struct wheel_target *target, const struct built_wheel *wheel,
	const char *statement, struct err *why);
