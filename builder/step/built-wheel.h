// SPDX-License-Identifier: Apache-2.0
// The wheel that a step has made: found in its output folder, and checked as strictly as an upload. No foreign program
// of the attempt runs meanwhile. One thread at a time.
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"
#include "lib/domain/machine/environment.h"
#include "lib/format/digest.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"
#include "uploader/upload-client.h"

struct built_wheel {
	char *path, *filename; // owned; NULL: none
	char *requires_python; // owned; NULL: none
	char sha256[SHA256_HEX + 1];
	uint64_t size;
};

// What the wheel has to be.
struct built_wheel_want {
	const char *project, *version;         // in any spelling (PEP 503, 440); a local part belongs to the version
	const struct environment *environment; // it has to install there
};

// Replaces *wheel, the one before the step, by the only wheel in the folder. A step may leave the one before beside its
// own: that one is removed. ERR_INVALID: no wheel, several wheels, a link, another project or version, tags that do not
// install there, or what the checks of an upload say. ERR_LIMIT, ERR_IO. On an error *wheel stays.
int built_wheel_find(const char *folder, const struct built_wheel_want *want, struct built_wheel *wheel,
	struct err *e) MUST_CHECK;
// Whether the wheel is for any platform.
bool built_wheel_is_pure(const struct built_wheel *wheel);
void built_wheel_release(struct built_wheel *wheel); // for CLEANUP; all zero is fine

// Publishes a built wheel: on a server, as `wheelcache push` does, or in our own store, by the way that an upload
// takes. Any thread.

// Everything is borrowed.
struct wheel_target {
	const struct upload_url *server; // NULL: the own store
	struct fetch_options fetch;      // of the server; its progress is not called
	// Of the own store; its audit log gets a line. A running server runs the release command of a platform that has
	// one.
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

// statement: of the wheel's provenance; it is kept beside the wheel, unless the same bytes have another one. *why is
// set unless it returns WHEEL_PUSH_DONE.
enum wheel_push_end wheel_push(const struct wheel_target *target, const struct built_wheel *wheel,
	const char *statement, struct err *why);
